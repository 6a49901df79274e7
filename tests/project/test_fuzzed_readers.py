"""A small part of `benchmarks.campaigns.fuzz`: mutated inputs are read or refused, and nothing else."""

import pytest
from hypothesis import HealthCheck, given, settings

from benchmarks.campaigns.readers import Reader, check, make_readers


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reader]:
    return {reader.name: reader for reader in make_readers(tmp_path_factory.mktemp("fuzz"))}


@pytest.mark.parametrize("name", ["sgf", "psq", "openings", "suites", "cells"])
def test_mutated_inputs_are_read_or_refused(name: str, readers: dict[str, Reader]) -> None:
    @settings(deadline=None, suppress_health_check=list(HealthCheck))
    @given(readers[name].inputs)
    def read(data: bytes) -> None:
        assert check(readers[name], data) in (f"{name} read", f"{name} refused")

    read()
