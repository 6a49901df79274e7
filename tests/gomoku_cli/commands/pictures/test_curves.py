"""`gomoku curves`: the metrics of runs, joined; runs in progress and of other versions."""

import json
from pathlib import Path
from typing import Any

import pytest

from curriculum.presets import resolve
from curriculum.run.folder import RunFolder
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.reports.curves import curves_of, run_names
from tests.support.commands import Capsys, done, refused
from tests.support.commands import run as run_command


def train(phase: str, step: int, loss: float, **more: Any) -> dict[str, Any]:
    losses = {"policy_loss": loss, "value_loss": loss / 10, "policy_entropy": 2 * loss}
    return {"phase": phase, "event": "train", "step": step, **losses, **more}


def games(iteration: int, count: int, **more: Any) -> dict[str, Any]:
    record = {"phase": "selfplay", "iteration": iteration, "event": "games", "games": count}
    return record | {"game_length": 20.0, "black_share": 0.5, "draws": 0, "seconds": 10.0} | more


RECORDS = [
    train("basics", 40, 5.0),
    train("basics", 80, 4.5),
    {"phase": "basics", "event": "measure", "step": 80, "right_moves": {"black": 0.5}},
    games(0, 30, draws=10, black_share=0.75),
    games(0, 10, draws=10, black_share=None, game_length=40.0),
    train("selfplay", 40, 3.0, iteration=0),
    {"phase": "selfplay", "iteration": 0, "event": "gate", "score": 0.6, "accepted": True, "result": {}},
    games(1, 40, seconds=None),
    train("selfplay", 30, 2.0, iteration=1),
]


def run_of(path: Path, records: list[dict[str, Any]]) -> Path:
    """A run with these metrics."""
    with RunFolder.create(path, resolve("smoke")) as folder:
        for record in records:
            folder.append_metrics(record)
    return path


def curves(capsys: Capsys, *arguments: object) -> tuple[int, str, str]:
    return run_command(capsys, "curves", *arguments)


def test_steps_are_counted_through_phases_and_rounds(tmp_path: Path) -> None:
    training = curves_of(run_of(tmp_path / "run", RECORDS))["training"]
    found = [(row["phase"], row["step"], row["policy_loss"]) for row in training]
    assert found == [("basics", 40, 5.0), ("basics", 80, 4.5), ("selfplay", 120, 3.0), ("selfplay", 150, 2.0)]
    assert [row["policy_entropy"] for row in training] == [10.0, 9.0, 6.0, 4.0]


def test_a_round_has_the_means_of_all_its_files(tmp_path: Path) -> None:
    first, second = curves_of(run_of(tmp_path / "run", RECORDS))["rounds"]
    means = {"draws": 20, "game_length": 25.0, "black_share": 0.75, "game_seconds": 0.5}
    expected = {"round": 1, "games": 40, **means, "gate_score": 0.6, "accepted": True}
    assert {key: value for key, value in first.items() if value is not None} == expected
    assert (second["round"], second["game_seconds"], second["accepted"]) == (2, None, None)


def test_the_terminal_shows_the_ends_of_the_curves(capsys: Capsys, tmp_path: Path) -> None:
    code, out, _ = curves(capsys, run_of(tmp_path / "small", RECORDS), run_of(tmp_path / "new", []))
    text = " ".join(out.split())
    assert code == ExitCode.DONE
    assert "small (15x15)" in text
    assert "basics │ 80 │ 5.000 to 4.500 │ 0.500 to 0.450 │ 10.000 to 9.000" in text
    for part in ("self-play │ 70 │ 3.000 to 2.000", "games 80 in 2 rounds", "gates 1 of 1 passed"):
        assert part in text
    assert text.endswith("new (15x15) games none of self-play yet")


def test_runs_with_the_same_name_are_told_apart_by_their_paths() -> None:
    runs = [{"run": "first/mine", "board_size": 9}, {"run": "second/mine", "board_size": None}]
    assert run_names(runs) == ["first/mine (9x9)", "second/mine"]
    assert run_names(runs[:1]) == ["mine (9x9)"]


def test_json_has_all_runs(capsys: Capsys, tmp_path: Path) -> None:
    paths = [run_of(tmp_path / name, RECORDS) for name in ("one", "two")]
    out = done(curves(capsys, *paths, "--json"))
    assert out == done(curves(capsys, tmp_path, paths[1], "--json"))
    assert [run["run"] for run in json.loads(out)["runs"]] == list(map(str, paths))
    assert json.loads(out)["runs"][0]["board_size"] == 15


def test_a_run_in_progress_and_one_of_another_version_have_curves(tmp_path: Path) -> None:
    path = run_of(tmp_path / "run", RECORDS)
    with (path / "metrics.jsonl").open("a") as metrics:
        metrics.write('{"phase": "basics", "ev')
    assert len(curves_of(path)["training"]) == 4
    with (path / "config.toml").open("a") as config:
        config.write("[later]\nsetting = 1\n")
    found = curves_of(path)
    assert found["board_size"] is None
    assert len(found["training"]) == 4


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"event": "train", "phase": "basics", "step": "x"}, "step should be a whole number"),
        ({"event": "games", "iteration": 0, "games": 0, "draws": 0}, "games should be 1 or more"),
        ({"event": "gate", "iteration": 0, "score": 0.5}, "accepted is missing"),
    ],
)
def test_metrics_that_cannot_be_read_are_bad_data(
    record: dict[str, Any], why: str, capsys: Capsys, tmp_path: Path
) -> None:
    assert why in refused(capsys, ExitCode.BAD_DATA, "curves", run_of(tmp_path / "run", [record]))


@pytest.mark.usefixtures("text_in_figures")
def test_the_figure_names_each_run_where_it_begins(capsys: Capsys, tmp_path: Path) -> None:
    figure = tmp_path / "curves.svg"
    paths = [run_of(tmp_path / name, RECORDS) for name in ("small", "large")]
    assert curves(capsys, *paths, "--figure", figure)[0] == ExitCode.DONE
    text = figure.read_text(encoding="utf-8")
    for title in ("Policy loss", "Value loss", "Entropy of the policy", "Length of a game", "Gate"):
        assert f">{title}</text>" in text
    assert text.count(">large (15x15)</text>") == 7
    assert "small (15x15), then large (15x15)" in text


def test_any_metrics_can_be_drawn(capsys: Capsys, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    kinds = ([], RECORDS[:1], RECORDS[4:6], RECORDS[7:8], [train("basics", 4, 0.0)])
    empty, *others = (run_of(tmp_path / str(number), records) for number, records in enumerate(kinds))
    done(curves(capsys, *others, empty, "--figure", tmp_path / "curves.png"))
    why = refused(capsys, ExitCode.USAGE, "curves", empty, "--figure", tmp_path / "none.png")
    assert "there is nothing to draw" in why
