"""Metrics count each step once, whatever a kill left in the file."""

import json
from pathlib import Path
from typing import Any

import pytest

from curriculum.config import Config
from curriculum.run.folder import RunFolder, read_metrics
from curriculum.run.metrics import distinct
from gomoku_cli.reports.training.metrics import MetricsTail, curves_from
from tests.support.runs import append, match

TRAIN = {"phase": "basics", "event": "train", "step": 4, "policy_loss": 5.0, "seconds": 1.0}
LINES: dict[str, dict[str, Any]] = {
    "train": TRAIN,
    "train of a round": {**TRAIN, "phase": "selfplay", "iteration": 2},
    "basics": {"phase": "basics", "event": "measure", "step": 4, "right_moves": {"black": 0.5}},
    "pass": {"phase": "imitation", "event": "measure", "step": 8, "agreement": 0.5},
    "gate": {"phase": "selfplay", "iteration": 2, "event": "gate", "score": 0.5, "accepted": False, "result": {}},
    "match": {"phase": "imitation", "event": "match", "step": 8, **match("mentor", 1, 3)},
    "final match": {"phase": "evaluation", "event": "match", **match("mentor", 1, 3)},
    "games": {
        "phase": "selfplay",
        "iteration": 2,
        "event": "games",
        "file": "selfplay-0002-000000",
        "games": 4,
        "draws": 0,
        "game_length": 30.5,
        "black_share": 0.5,
        "white_value": -0.1,
        "policy_entropy": 1.7,
        "seconds": 3.0,
    },
}


def again(line: dict[str, Any]) -> dict[str, Any]:
    """The line of the same step, done once more: other times, and other last bits."""
    shifted = {key: value + 1e-9 for key, value in line.items() if isinstance(value, float) and key != "score"}
    return {**line, **shifted, "time": "2026-11-25T15:20:00+00:00", "seconds": 7.0}


@pytest.mark.parametrize("name", LINES)
def test_a_step_that_was_done_again_counts_once(name: str, tmp_path: Path) -> None:
    line = LINES[name]
    append(tmp_path, line, LINES["pass" if name == "train" else "train"], again(line))
    records = read_metrics(tmp_path)
    assert len(records) == 2
    assert records[-1]["seconds"] == 7.0, "the later one"
    tail = MetricsTail(tmp_path)
    assert tail.read()
    assert list(tail.records) == records
    assert curves_from(tail.records) == curves_from(records)


@pytest.mark.parametrize("name", LINES)
def test_other_steps_are_not_the_same(name: str) -> None:
    line = LINES[name]
    for key, value in (("phase", "other"), ("iteration", 7), ("step", 77), ("opponent", "random"), ("file", "x")):
        if key in line:
            assert len(distinct([line, {**line, key: value}])) == 2, key


def test_files_of_a_round_are_not_the_same_games() -> None:
    games = LINES["games"]
    assert len(distinct([{**games, "file": "a"}, {**games, "file": "b"}])) == 2
    assert len(distinct([{**games, "file": "a"}, {**games, "file": "a", "games": 3}])) == 1


@pytest.mark.parametrize("line", [{}, {"event": "train"}, {"event": ["train"]}])
def test_lines_that_name_no_step_are_kept(line: dict[str, Any]) -> None:
    assert distinct([line, line]) == [line, line]


def test_a_metrics_file_of_a_killed_run_counts_right(tmp_path: Path) -> None:
    """Five matches, of which one was played again after a kill."""
    opponents = ("random", "mentor:paper", "mentor", "pure-mcts:1000")
    append(tmp_path, {"phase": "imitation", "event": "match", "step": 2, **match("mentor:paper", 0, 2)})
    for opponent in (*opponents[:2], opponents[1], *opponents[2:]):
        append(tmp_path, {"phase": "evaluation", "event": "match", **match(opponent, 1, 1)})
    assert len(curves_from(read_metrics(tmp_path))["matches"]) == 5


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


def test_lines_of_older_versions_that_name_no_file_or_pass_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "run"
    RunFolder.create(path, Config()).close()
    old = [
        {key: value for key, value in UNSAVED[name].items() if key not in ("file", "pass")}
        for name in ("pass", "games")
    ]
    append(path, *old)
    RunFolder.open(path).close()
    assert read_metrics(path) == old
