"""Strength by training time: the minutes of work, and the models of a run."""

import json
from pathlib import Path

import pytest

from benchmarks.strength import kept_models, working_minutes


def test_pauses_between_processes_are_no_work() -> None:
    starts, times = [0.0, 1000.0, 5000.0], [60.0, 600.0, 1060.0, 1300.0, 5030.0]
    assert working_minutes(starts, times, 60.0) == pytest.approx(1.0)
    assert working_minutes(starts, times, 600.0) == pytest.approx(10.0)
    assert working_minutes(starts, times, 1300.0) == pytest.approx(15.0)
    assert working_minutes(starts, times, 5030.0) == pytest.approx(15.5)


def test_a_process_that_wrote_nothing_did_no_work() -> None:
    assert working_minutes([0.0, 100.0, 4000.0], [60.0, 4060.0], 4060.0) == pytest.approx(2.0)


def test_models_come_in_the_order_of_training(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    for name in ("best", "basics", "imitation", "candidate", "selfplay-0000", "selfplay-0002"):
        (tmp_path / "models" / f"{name}.safetensors").touch()
    (tmp_path / "environment.json").write_text(json.dumps({"sessions": [{"time": "2026-01-01T00:00:00+00:00"}]}))
    records = [
        {"time": "2026-01-01T00:01:00+00:00", "phase": "basics"},
        {"time": "2026-01-01T00:05:00+00:00", "phase": "imitation"},
        {"time": "2026-01-01T00:09:00+00:00", "phase": "selfplay", "iteration": 0},
        {"time": "2026-01-01T00:12:00+00:00", "phase": "selfplay", "iteration": 1},
        {"time": "2026-01-01T00:15:00+00:00", "phase": "selfplay", "iteration": 2},
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    assert [(model.name, model.minutes) for model in kept_models(tmp_path)] == [
        ("basics", 1.0),
        ("imitation", 5.0),
        ("selfplay-0000", 9.0),
        ("selfplay-0002", 15.0),
    ]
