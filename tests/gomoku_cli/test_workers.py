"""The options of workers: what they name, their errors, and their absence."""

import sys
from pathlib import Path

import pytest
import typer

from curriculum.run.locking import FolderError
from curriculum.workers.local import Local
from gomoku_cli.runs import ConfigOptions, work_in
from gomoku_cli.workers import WorkerOptions
from tests.support.commands import python


def test_without_the_option_this_process_plays() -> None:
    with WorkerOptions().pool() as pool:
        assert isinstance(pool, Local)
    assert WorkerOptions().words() == []


def test_the_words_of_a_command_line() -> None:
    given = WorkerOptions(workers="auto", num_workers=3, gpus_per_worker=0.5)
    assert given.words() == ["--workers", "auto", "--num-workers", "3", "--gpus-per-worker", "0.5"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (WorkerOptions(workers="mine"), "names no workers"),
        (WorkerOptions(workers="processes", gpus_per_worker=0.5), "one process has the GPU"),
    ],
)
def test_mistakes_are_named(given: WorkerOptions, why: str) -> None:
    with pytest.raises(typer.BadParameter, match=why), given.pool():
        raise AssertionError


def test_without_ray_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "curriculum.workers.ray_pool", raising=False)
    with pytest.raises(typer.BadParameter, match=r"pip install '\.\[ray\]'"), WorkerOptions(workers="ray").pool():
        raise AssertionError


@pytest.mark.parametrize("is_new", [True, False])
def test_a_new_run_waits_for_its_workers_and_they_for_an_old_one(is_new: bool, tmp_path: Path) -> None:
    """Without workers no new folder is left behind, and a missing run is named before workers start."""
    error, choice = typer.BadParameter if is_new else FolderError, ConfigOptions(preset="smoke").choice()
    mistaken = WorkerOptions(workers="mine")
    with pytest.raises(error), work_in(tmp_path / "run", choice, mistaken, (), is_new=is_new, quiet=True):
        raise AssertionError
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_without_the_option_nothing_of_ray_is_imported() -> None:
    code = (
        "import sys\nfrom gomoku_cli import app\n"
        "assert [app.run(line.split()) for line in ('--help', 'evaluate random random --games 2 --quiet')] == [0, 0]\n"
        "print([name for name in sys.modules if name.partition('.')[0] == 'ray' or '.ray_' in name])"
    )
    assert python(code).stdout.splitlines()[-1] == "[]"
