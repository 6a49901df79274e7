"""An opening leaves each step once in the metrics, whatever a kill left in the file."""

import json
from pathlib import Path

import pytest

from curriculum.config import Config
from curriculum.run.folder import RunFolder, read_metrics
from tests.support.runs import append

UNSAVED = {
    "train": {"phase": "basics", "event": "train", "step": 2},
    "basics": {"phase": "basics", "event": "measure", "step": 4},
    "pass": {"phase": "imitation", "event": "measure", "step": 2, "pass": 1},
    "match": {"phase": "imitation", "event": "match", "step": 2, "opponent": "mentor"},
    "games": {"phase": "selfplay", "event": "games", "iteration": 0, "file": "selfplay-0000-000000"},
    "gate": {"phase": "selfplay", "event": "gate", "iteration": 0},
    "final match": {"phase": "evaluation", "event": "match", "opponent": "mentor", "games": 2},
}


@pytest.mark.parametrize("name", UNSAVED)
def test_opening_cuts_off_lines_whose_work_was_not_saved(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    RunFolder.create(path, Config()).close()
    kept = {"phase": "custom", "event": "note"}
    append(path, kept, UNSAVED[name])
    RunFolder.open(path).close()
    assert read_metrics(path) == [kept]


def test_opening_keeps_lines_whose_work_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "run"
    RunFolder.create(path, Config()).close()
    saved = {
        "phases": {"basics": True, "imitation": True},
        "gate": {"0": {"accepted": True, "result": {}}},
        "matches": {"mentor": {"opponent": "mentor", "games": 2}},
    }
    for state, value in saved.items():
        (path / "state" / f"{state}.json").write_text(json.dumps(value))
    (path / "models" / "best.safetensors").touch()
    (path / "replay" / "selfplay-0000-000000.npz").touch()
    for line in UNSAVED.values():
        append(path, line)
        RunFolder.open(path).close()
        assert read_metrics(path)[-1] == line
    assert len(read_metrics(path)) == len(UNSAVED)
