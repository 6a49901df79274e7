"""Strength by training time: the minutes of work, the models of a run, and their ratings against a pool."""

import json
from pathlib import Path

import pytest

from core.rules import Rules
from curriculum.config import Config
from curriculum.phases.steps import keep_model
from curriculum.phases.strength import kept_models, read_strength, working_minutes
from curriculum.run.folder import RunFolder
from nets.config import NetConfig
from nets.dual import make_model
from tests.support.commands import Capsys, refused, run


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
    for name in ("best", "basics", "imitation", "candidate", "rejected-0001", "selfplay-0000", "selfplay-0002"):
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
    names = ["basics", "imitation", "selfplay-0000", "rejected-0001", "selfplay-0002"]
    found = [(model.name, model.minutes) for model in kept_models(tmp_path)]
    assert found == list(zip(names, (1.0, 5.0, 9.0, 12.0, 15.0), strict=True))


def test_the_models_of_a_run_are_rated_on_one_scale(tmp_path: Path, capsys: Capsys) -> None:
    """Games are kept: the same command plays the new ones alone, also of a model that came later."""
    path, config = tmp_path / "mine", Config(rules=Rules(6, 4), net=NetConfig.tower(2, 0, hidden=2))
    command = ["strength", path, *"--games 2 --simulations 2 --opponent random --opponent mentor:1 --quiet".split()]
    with RunFolder.create(path, config) as folder:
        error = refused(capsys, 2, *command)
        assert "has kept no model yet" in error
        for seed, phase in enumerate(("basics", "imitation")):
            keep_model(folder, phase, make_model(config.net, config.rules, seed), {"phase": phase, "step": 1})
            folder.append_metrics({"phase": phase, "event": "train", "step": 1})
            if phase == "basics":
                assert run(capsys, *command)[0] == 0
                games = {file: file.read_bytes() for file in path.glob("strength/*/games.jsonl")}
                assert len(games) == 2
    code, out, _ = run(capsys, *command, "--json")
    assert code == 0
    (rated,) = json.loads(out)["runs"]
    assert (rated["run"], rated["zero"]) == ("mine", "random")
    assert [row["model"] for row in rated["models"]] == ["basics", "imitation"]
    assert {row["player"]: row["elo"] for row in rated["pool"]}["random"] == 0
    assert all(row["elo_interval"][0] < row["elo"] < row["elo_interval"][1] for row in rated["models"])
    assert [row["elo"] for row in read_strength(path)] == [row["elo"] for row in rated["models"]]
    assert all(file.read_bytes() == text for file, text in games.items())
    path = path.rename(path.with_name("renamed"))
    command[1] = path
    assert run(capsys, *command)[0] == 0, "the games of a run that was renamed count"
    assert all((path / file.relative_to(tmp_path / "mine")).read_bytes() == text for file, text in games.items())
    pytest.importorskip("matplotlib")
    assert run(capsys, *command, "--figure", tmp_path / "strength.svg")[0] == 0
    assert "mentor:1" in (tmp_path / "strength.svg").read_text()
    assert run(capsys, "report", path, "--output", tmp_path / "report.html")[0] == 0
    assert "Elo of each kept model against a fixed pool" in (tmp_path / "report.html").read_text()
