"""The campaign of kills between two writes: a sample of its instants, and the differences that it would see."""

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.campaigns import kill_writes
from benchmarks.campaigns.results import differences
from curriculum.config import Phase
from nets.config import default_runtime, set_runtime

FEW = replace(
    kill_writes.SMALL,
    phases=(Phase.BASICS, Phase.SELFPLAY),
    selfplay=replace(kill_writes.SMALL.selfplay, iterations=1, rehearsal_share=0.0),
    evaluation=replace(kill_writes.SMALL.evaluation, opponents=("random",)),
)


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> object:
    """The process as the campaign prepares it; restored after the test."""
    before = default_runtime()
    for module, name in (
        (kill_writes.steps, "STEPS_PER_SAVE"),
        (kill_writes.mentor_games, "_GAMES_PER_FILE"),
        (kill_writes.round_games, "_SECONDS_PER_FILE"),
        (kill_writes.folder, "commit_of_source"),
        (os, "fsync"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name))
    kill_writes.prepare()
    yield
    set_runtime(before)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
@pytest.mark.usefixtures("prepared")
def test_a_run_killed_between_two_writes_comes_to_the_same_end(tmp_path: Path) -> None:
    whole, instants = kill_writes.make_run(FEW, tmp_path)
    assert instants.operations > 100
    assert len(instants.copies) > 20
    for copy in instants.copies[::5]:
        assert kill_writes.try_copy(copy, whole) == [], copy.name
    # Each loss would be seen.
    other = tmp_path / "other"
    shutil.copytree(whole, other)
    assert differences(other, whole) == []
    lines = (other / "metrics.jsonl").read_text().splitlines(keepends=True)
    (other / "metrics.jsonl").write_text("".join([*lines, lines[-1]]))
    shutil.copy(other / "models" / "basics.safetensors", other / "models" / "best.safetensors")
    (other / "state" / "gate.json").unlink()
    found = differences(other, whole)
    assert found[0] == "state/gate.json is missing"
    assert [line.partition(" differs")[0] for line in found[1:]] == ["metrics.jsonl", "models/best.safetensors"]
