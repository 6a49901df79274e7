"""`gomoku report`: one page without a network, its key games, and TensorBoard's event files."""

import errno
import os
import re
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from core.notation import parse_cell
from core.records.record import GameRecord
from core.rules import BLACK, Rules
from curriculum.config import Config
from curriculum.run.folder import RunFolder, read_metrics
from curriculum.run.metrics import GlobalSteps
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.reports.page import tensorboard
from gomoku_cli.reports.page.games import BoardPicture, decisive_mistake
from gomoku_cli.reports.page.report import template
from tests.support.commands import Capsys, done, refused, run
from tests.support.runs import GAME, append, make_run
from tests.support.waiting import wait_until


class _Page(HTMLParser):
    """Reader of a page: its open tags, and everything that would be loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.counts: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.loaded += [
            value or "" for name, value in attrs if name in ("src", "href") and not str(value).startswith("#")
        ]
        if tag not in ("meta", "br", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_report_compares_runs_on_one_page(tmp_path: Path, capsys: Capsys) -> None:
    paths = [make_run(tmp_path / "one<b>"), make_run(tmp_path / "two", rounds=4)]
    output = tmp_path / "report.html"
    out = done(run(capsys, "report", *paths, "--output", output))
    assert str(output) in out
    text = output.read_text(encoding="utf-8")
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert [each for each in page.loaded if not each.startswith("data:")] == []
    assert re.findall(r"url\((?!#)[^)]*\)|@import|<script", text) == []
    assert "one&lt;b&gt;" in text
    assert "one<b>" not in text
    assert page.counts["svg"] == 10 + 2 * 3
    for part in ("White played i11, which cost 1.10 of the value; black won in 9 moves", "mentor:paper", "2 gates"):
        assert part in text


def test_a_report_has_the_losses_of_further_targets_and_the_machines_of_workers(tmp_path: Path, capsys: Capsys) -> None:
    path = make_run(tmp_path / "many")
    played = [record for record in read_metrics(path) if record["event"] == "games"][-1]
    losses = {"policy_loss": 2.0, "value_loss": 0.1, "reply_loss": 1.5, "policy_entropy": 2.0}
    for step in (90, 130):
        append(path, {"phase": "selfplay", "iteration": 1, "event": "train", "step": step, **losses})
    for number, rates in enumerate(({"one/0a": 2.0, "b<": 0.5}, {"one/0a": 4.0})):
        more = {"file": f"selfplay-0001-{number:06d}", "seconds": 10.0, "games_per_second_by_node": rates}
        append(path, {**played, **more})
    done(run(capsys, "report", path, "--output", tmp_path / "report.html"))
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    for shown in (
        *("Loss of reply", "2 machines with workers"),
        '<td>one/0a</td><td class="n">60</td><td class="n">3.00</td>',
        '<td>b&lt;</td><td class="n">5</td><td class="n">0.50</td>',
    ):
        assert shown in text


def test_a_young_run_has_a_report(tmp_path: Path, capsys: Capsys) -> None:
    path = make_run(tmp_path / "young", rounds=0)
    (path / "metrics.jsonl").unlink()
    (path / "environment.json").unlink()
    (path / "games" / "selfplay-0000-000000.sgf").unlink()
    done(run(capsys, "report", path, "--output", tmp_path / "report.html"))
    assert "No metrics yet." in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_mistakes_are_named(tmp_path: Path, capsys: Capsys) -> None:
    path = make_run(tmp_path / "run")
    assert "must end in .html" in refused(capsys, ExitCode.USAGE, "report", path, "--output", "report.pdf")
    assert "there is no folder" in refused(
        capsys, ExitCode.USAGE, "report", path, "--output", tmp_path / "no" / "r.html"
    )
    other = tmp_path / "other.html"
    other.write_text("<p>Somebody's page</p>", encoding="utf-8")
    assert "is no report; --force" in refused(capsys, ExitCode.USAGE, "report", path, "--output", other)


def test_the_decisive_mistake_is_the_losers() -> None:
    rules = Rules(15, 5)
    moves = [parse_cell(name, 15) for name in GAME.split()]
    values = (0.0, 0.1, -0.9, 0.1, 0.2, -0.4, 0.7, 0.9, 1.0)
    game = GameRecord(rules, moves, BLACK, comments=[f"value {value:+.3f} for black" for value in values])
    ply, loss = decisive_mistake(game) or (-1, 0.0)
    assert (ply, round(loss, 3)) == (5, -0.0 + 1.1)
    assert decisive_mistake(GameRecord(rules, moves, None)) is None
    assert decisive_mistake(GameRecord(rules, moves, BLACK)) is None
    picture: Any = template("pictures.svg.j2").module
    assert picture.board(BoardPicture("", "", game, 3)).count("<circle") == 3 + 1


def scalars(folder: Path) -> dict[str, list[tuple[int, float, float]]]:
    """The curves that TensorBoard reads: step, wall time and value of each point by its tag."""
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(folder))
    events.Reload()
    assert "_hparams_/session_start_info" in events.PluginTagToContent("hparams")
    return {
        tag: [(each.step, each.wall_time, each.value) for each in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def out_of_space(descriptor: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_every_curve_is_a_scalar_of_tensorboard_at_its_real_time(tmp_path: Path, capsys: Capsys) -> None:
    pytest.importorskip("tensorboard")
    path = make_run(tmp_path / "run")
    for _ in range(2):  # the second one replaces the first
        assert run(capsys, "report", path, "--tensorboard", tmp_path / "events")[0] == 0
    found = scalars(tmp_path / "events" / "run")
    records = read_metrics(path)
    steps = GlobalSteps()
    places = [(steps.after(record), datetime.fromisoformat(record["time"]).timestamp()) for record in records]
    for event, keys in {
        "train": ("policy_loss", "value_loss", "policy_entropy", "learning_rate", "positions_per_second"),
        "measure": ("agreement", "right_moves/black"),
        "games": ("game_length", "black_share", "draws", "policy_entropy", "white_value", "simulations_per_second"),
        "gate": ("score", "accepted", "elo_gained"),
        "match/mentor:paper": ("score", "elo"),
    }.items():
        for key in keys:
            own = [
                (place, record)
                for place, record in zip(places, records, strict=True)
                if record["event"] == event.partition("/")[0]
                and (key == "elo_gained" or key.partition("/")[0] in record)
            ]
            assert [(step, wall_time) for step, wall_time, _ in found[f"{event}/{key}"]] == [place for place, _ in own]
    values = [value for _, _, value in found["train/policy_loss"]]
    assert values == pytest.approx([record["policy_loss"] for record in records if record["event"] == "train"])
    assert [step for step, _, _ in found["train/policy_loss"]][-1] == 200 + 200 + 2 * 50


def test_the_events_of_a_run_follow_it_while_it_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboard")
    monkeypatch.setattr(tensorboard, "_INTERVAL_S", 0.01)
    with (
        RunFolder.create(tmp_path / "run", Config()) as folder,
        tensorboard.following(folder.path, tmp_path / "events"),
    ):
        for step in (40, 80):
            folder.append_metrics({"phase": "basics", "event": "train", "step": step, "policy_loss": 5.0})
            wait_until(lambda: len(scalars(tmp_path / "events" / "run").get("train/policy_loss", ())) >= step / 40)  # noqa: B023
    assert [record["global_step"] for record in read_metrics(tmp_path / "run")] == [40, 80]


def test_a_full_disk_leaves_the_earlier_events(tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboard")
    path, place = make_run(tmp_path / "run"), tmp_path / "events" / "run"
    command = ("report", path, "--tensorboard", tmp_path / "events")
    assert run(capsys, *command)[0] == ExitCode.DONE
    before = {each.name: each.read_bytes() for each in place.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", out_of_space)
        code, _, err = run(capsys, *command)
    assert code == ExitCode.FAILED
    assert re.fullmatch(rf"gomoku: {place}/events\.out\.tfevents\S+: No space left on device\n", err)
    assert {each.name: each.read_bytes() for each in place.iterdir()} == before


def test_events_for_which_there_was_no_room_are_written_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboard")
    with RunFolder.create(tmp_path / "run", Config()) as folder:
        events = tensorboard.RunEvents(folder.path, tmp_path / "events")
        folder.append_metrics({"phase": "basics", "event": "train", "step": 40, "policy_loss": 5.0})
        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
            patch.setattr(os, "fsync", out_of_space)
            events.update()
        folder.append_metrics({"phase": "basics", "event": "train", "step": 80, "policy_loss": 5.0})
        events.update()
    assert [step for step, _, _ in scalars(tmp_path / "events" / "run")["train/policy_loss"]] == [40, 80]
