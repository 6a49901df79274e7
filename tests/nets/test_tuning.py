"""Measured numbers of this machine: kept, found again, and doubted."""

from pathlib import Path

import pytest

from core.cores import cores
from nets import tuning
from nets.config import Precision
from nets.tuning import LARGEST_BATCHES, Tuning, keep_tuning, kept_tuning


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tuning, "user_cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def test_what_is_kept_is_found_for_the_same_library_and_precision() -> None:
    assert kept_tuning("1.0", Precision.BF16) is None
    measured = Tuning(LARGEST_BATCHES[-1], 1)
    assert keep_tuning("1.0", Precision.BF16, measured)
    assert kept_tuning("1.0", Precision.BF16) == measured
    assert kept_tuning("1.1", Precision.BF16) is None
    assert kept_tuning("1.0", Precision.FP32) is None


def test_another_processor_or_number_of_cores_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert keep_tuning("1.0", Precision.BF16, Tuning())
    monkeypatch.setattr(tuning, "processor_name", lambda: "abacus")
    assert kept_tuning("1.0", Precision.BF16) is None
    monkeypatch.undo()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"largest_batch": 7, "threads": null}', '{"largest_batch": 128, "threads": 0}', "{"]
)
def test_numbers_that_no_measurement_gives_count_as_missing(text: str) -> None:
    folder, name = tuning._folder(), tuning._file_name("1.0", Precision.BF16)
    assert folder.write(name, text.encode())
    assert kept_tuning("1.0", Precision.BF16) is None


def test_more_threads_than_cores_count_as_missing() -> None:
    assert keep_tuning("1.0", Precision.BF16, Tuning(128, cores() + 1))
    assert kept_tuning("1.0", Precision.BF16) is None
