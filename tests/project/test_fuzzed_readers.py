"""A small part of `benchmarks.campaigns.fuzz_readers`: mutated inputs are read or refused, and nothing else."""

from pathlib import Path

import pytest

from benchmarks.campaigns.fuzz_readers import input_of, outcome
from benchmarks.campaigns.readers import Reader, make_readers

INPUTS = {"sgf": 200, "psq": 200, "openings": 200, "suites": 300, "cells": 1000, "protocol": 100}


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reader]:
    return {reader.name: reader for reader in make_readers(tmp_path_factory.mktemp("fuzz"))}


@pytest.mark.parametrize("name", INPUTS)
def test_mutated_inputs_are_read_or_refused(name: str, readers: dict[str, Reader], tmp_path: Path) -> None:
    for number in range(INPUTS[name]):
        data = input_of(readers[name], 1, number)
        assert outcome(readers[name], data)[1] is None, (name, number, data[:200])
