"""The metrics of a run in progress: each line is read once, and the outlook follows from them."""

from pathlib import Path

from curriculum.presets import read_config, resolve
from gomoku_cli.reports.training.metrics import MetricsTail, curves_from
from gomoku_cli.reports.training.outlook import outlook
from tests.support.runs import append, make_run


def test_new_lines_are_read_once(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run")
    tail = MetricsTail(path)
    assert tail.read()
    assert not tail.read()
    count = len(tail.records)
    with (path / "metrics.jsonl").open("a") as file:
        file.write('{"event": "train", "ph')
    assert not tail.read()
    with (path / "metrics.jsonl").open("a") as file:
        file.write('ase": "basics"}\nno JSON\n')
    assert tail.read()
    assert len(tail.records) == count + 1


def test_a_file_that_became_shorter_is_read_anew(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run")
    tail = MetricsTail(path)
    tail.read()
    (path / "metrics.jsonl").write_text('{"event": "train"}\n')
    assert tail.read()
    assert len(tail.records) == 1


def test_a_run_without_metrics_has_no_curves(tmp_path: Path) -> None:
    tail = MetricsTail(tmp_path)
    assert not tail.read()
    assert curves_from(tail.records) == {"training": [], "measures": [], "rounds": [], "matches": []}


def test_elo_adds_up_over_accepted_candidates(tmp_path: Path) -> None:
    tail = MetricsTail(make_run(tmp_path / "run", rounds=3))
    tail.read()
    assert [row["elo"] for row in curves_from(tail.records)["rounds"]] == [35.0, 35.0, 70.0]
    assert [row["step"] for row in curves_from(tail.records)["measures"]][:2] == [200, 240]


def test_the_time_left_follows_the_finished_rounds(tmp_path: Path) -> None:
    config = resolve("quick", assignments=["selfplay.iterations=4", "evaluation.final_games=0"])
    path = make_run(tmp_path / "run", config=config)
    tail = MetricsTail(path)
    tail.read()
    view = outlook(path, config, tail.records)
    assert view.text == "phase 3 of 3, self-play, round 3 of 4"
    assert view.seconds_left == 2 * (60 + 5 + 20 + 30), "with the pauses around gates"
    append(path, {"phase": "selfplay", "event": "games", "iteration": 2, "games": 50, "draws": 0, "seconds": 30.0})
    tail.read()
    left = outlook(path, config, tail.records).seconds_left
    assert left == 2 * 115 - 30


def test_a_new_run_has_no_time_left_yet(tmp_path: Path) -> None:
    config = read_config(make_run(tmp_path / "run") / "config.toml")
    view = outlook(tmp_path / "nothing", config, [])
    assert (view.text, view.seconds_left) == ("phase 1 of 3, basics", None)
