"""A run that changes: `--resume --set`, edits of its config.toml, more rounds after its end."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from curriculum.presets import read_config, resolve
from curriculum.run.folder import RunFolder
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.watch.followed_run import FollowedRun
from nets.checkpoint import read_info
from tests.support.commands import Capsys, done, refused, run

EMPTY = "--preset smoke --set phases=selfplay --set selfplay.iterations=0 --set evaluation.final_games=0".split()
"""A run without any work."""
ROUNDS = (
    *("--preset", "smoke", "--set", "phases=selfplay", "--set", "evaluation.final_games=2"),
    *("--set", "evaluation.opponents=random", "--set", "rules.size=5", "--set", "rules.connect=4"),
    *("--set", "selfplay.games=2", "--set", "selfplay.opening_stones=[0, 2]", "--set", "selfplay.rehearsal_share=0"),
    *("--set", "gate.games=2"),
)
"""One round of self-play on a small board."""


@pytest.fixture
def path(capsys: Capsys, tmp_path: Path) -> Path:
    assert run(capsys, "train", *EMPTY, "--quiet", "--run", tmp_path / "run")[0] == ExitCode.DONE
    return tmp_path / "run"


def changes(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (path / "settings.jsonl").read_text().splitlines()][1:]


def edit(path: Path, key: str, value: str) -> None:
    """Edit a setting in config.toml by hand."""
    file = path / "config.toml"
    text, count = re.subn(rf"^{key} = .*$", f"{key} = {value}", file.read_text(), count=1, flags=re.MULTILINE)
    assert count == 1
    file.write_text(text)


CHANGEABLE = (
    *("selfplay.iterations=0", "selfplay.games=7", "selfplay.learning_rate=0.002", "selfplay.window=500"),
    *("selfplay.final_learning_rate=0.0001", "selfplay.overlap=true", "search.simulations=33", "search.c_puct=1.5"),
    *("training.l2=0.001", "training.momentum=0.5", "gate.games=6", "gate.threshold=0.55", "basics.epochs=3"),
    *("evaluation.opponents=random,mentor:1", "evaluation.final_games=0", "imitation.bar_opponent=mentor:1"),
    *("imitation.learning_rate=0.01", "imitation.games=9", "schedule=5: search.simulations=50"),
)
FIXED = (
    *("rules.size=9", "rules.connect=4", "net.trunk=conv3-8", "net.planes=own-opponent", "net.dual=false", "seed=7"),
    *("scale=0.5", "start=default", "phases=basics", "training.batch_size=8", "training.optimiser=adam"),
    "selfplay.concurrent=true",
)
WRONG = ("selfplay.gams=3", "selfplay.games=no", "gate.threshold=2", "search.simulations=1", "preset=quick")


def test_settings_change_from_the_next_step_on(path: Path, capsys: Capsys) -> None:
    words = [word for each in CHANGEABLE for word in ("--set", each)]
    code, _, err = run(capsys, "train", "--run", path, "--resume", *words)
    assert code == ExitCode.DONE, err
    assert "selfplay.games: 4, then 7 from evaluation on" in err
    (change,) = changes(path)
    assert change["settings"]["selfplay.learning_rate"] == [0.01, 0.002]
    assert change["settings"].keys() == {each.partition("=")[0] for each in CHANGEABLE[1:]} - {"evaluation.final_games"}
    config = read_config(path / "config.toml")
    assert (config.selfplay.games, config.evaluation.opponents) == (7, ("random", "mentor:1"))
    # The same words again change nothing more.
    assert run(capsys, "train", "--run", path, "--resume", *words)[0] == ExitCode.DONE
    assert len(changes(path)) == 1


def test_what_the_models_are_made_for_stays_and_wrong_settings_are_refused(path: Path, capsys: Capsys) -> None:
    before = (path / "config.toml").read_bytes()
    for assignment in (*FIXED, *WRONG):
        error = refused(capsys, ExitCode.USAGE, "train", "--run", path, "--resume", "--set", assignment)
        assert assignment in WRONG or f"{assignment.partition('=')[0]} is " in error
        assert assignment in WRONG or "cannot become" in error
        assert ((path / "config.toml").read_bytes(), changes(path)) == (before, [])


@pytest.mark.parametrize(("phase", "later"), [("basics", "epochs=2"), ("imitation", "learning_rate=0.01")])
def test_a_phase_that_is_over_takes_no_settings(phase: str, later: str, path: Path, capsys: Capsys) -> None:
    (path / "state" / "phases.json").write_text(json.dumps({phase: True}))
    error = refused(capsys, ExitCode.USAGE, "train", "--run", path, "--resume", "--set", f"{phase}.{later}")
    assert f"the phase {phase} is over" in error


def test_samples_of_a_phase_fix_its_settings(path: Path, capsys: Capsys) -> None:
    (path / "replay" / "basics.npz").touch()
    (path / "replay" / "mentor-000000.npz").touch()
    for assignment in ("basics.positions=9000", "imitation.games=8", "imitation.teacher=mentor"):
        error = refused(capsys, ExitCode.USAGE, "train", "--run", path, "--resume", "--set", assignment)
        assert "has begun" in error
    assert run(capsys, "train", "--run", path, "--resume", "--set", "imitation.passes=9")[0] == ExitCode.DONE


def test_an_edit_by_hand_is_noticed(path: Path, capsys: Capsys) -> None:
    edit(path, "learning_rate", "0.5")  # the first one is that of the basics
    assert (
        "basics.learning_rate: 0.06 so far, 0.5 in config.toml, from the next start on" in run(capsys, "info", path)[1]
    )
    code, _, err = run(capsys, "train", "--run", path, "--resume")
    assert code == ExitCode.DONE
    assert "basics.learning_rate: 0.06, then 0.5 from evaluation on" in err
    assert "of these basics.learning_rate came from an edited config.toml" in err
    assert changes(path)[0]["settings"] == {"basics.learning_rate": [0.06, 0.5]}
    assert json.loads(run(capsys, "info", path, "--json")[1])["run"]["edited"] == {}
    edit(path, "size", "9")
    error = refused(capsys, ExitCode.USAGE, "train", "--run", path, "--resume")
    assert "rules.size is 15" in error
    assert "(its config.toml was edited)" in error


def test_a_kill_between_the_two_files_of_a_change_loses_nothing(path: Path) -> None:
    settings = (path / "settings.jsonl").read_bytes()
    with RunFolder.open(path, lambda config: resolve("smoke", assignments=[*EMPTY[3::2], "gate.games=8"])) as one:
        assert one.changes[0]["settings"] == {"gate.games": [4, 8]}
    (path / "settings.jsonl").write_bytes(settings)
    with RunFolder.open(path) as other:
        assert [{**change, "time": ""} for change in other.changes] == [{**one.changes[0], "time": ""}]


def test_changes_are_shown(path: Path, tmp_path: Path, capsys: Capsys) -> None:
    pytest.importorskip("matplotlib")
    assert run(capsys, "train", "--run", path, "--resume", "--set", "gate.games=8")[0] == ExitCode.DONE
    line = "gate.games: 4, then 8 from evaluation on"
    assert line in run(capsys, "info", path)[1]
    shown = json.loads(run(capsys, "info", path, "--json")[1])["run"]["changes"]
    assert shown[0]["settings"] == {"gate.games": [4, 8]}
    assert json.loads(run(capsys, "runs", path.parent, "--json")[1])["runs"][0]["changes"] == shown
    assert FollowedRun(path, "run").changes == [line]
    assert run(capsys, "report", path, "--output", tmp_path / "report.html")[0] == ExitCode.DONE
    page = (tmp_path / "report.html").read_text()
    assert "1 changed setting<" in page
    assert "<td>gate.games</td><td>4</td><td>8</td><td>evaluation</td>" in page


def test_a_watched_run_shows_a_change_while_it_is_watched(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = FollowedRun(path, "run")
    followed.update()
    with RunFolder.open(path, lambda config: resolve("smoke", assignments=[*EMPTY[3::2], "gate.games=8"])):
        pass
    monkeypatch.setattr("gomoku_cli.watch.followed_run._OUTLOOK_S", 0.0)
    assert followed.update()
    assert followed.changes == ["gate.games: 4, then 8 from evaluation on"]


@pytest.mark.slow
def test_a_finished_run_goes_on_with_more_rounds(tmp_path: Path, capsys: Capsys) -> None:
    path = tmp_path / "run"
    words = ("train", "--quiet", "--json")
    out = done(run(capsys, *words, *ROUNDS, "--run", path))
    assert [match["opponent"] for match in json.loads(out)["matches"]] == ["random"]
    assert run(capsys, "info", path, "--json")[1].count('"progress": "done"') == 1
    more = ("--set", "selfplay.iterations=3", "--set", "search.simulations=4")
    done(run(capsys, *words, "--run", path, "--resume", *more))
    (change,) = changes(path)
    assert (change["phase"], change["iteration"], change["step"]) == ("selfplay", 1, 0)
    curves = json.loads(run(capsys, "curves", path, "--json")[1])["runs"][0]
    assert [row["round"] for row in curves["rounds"]] == [1, 2, 3]
    assert [match["iteration"] for match in curves["matches"]] == [1, 3], "the new model is measured too"
    made = read_info(path / "models" / "best.safetensors").made
    if made.get("iteration", 0) > 0:
        assert made["changes"][0]["settings"]["search.simulations"] == [8, 4]
