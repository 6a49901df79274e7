"""`gomoku report`: one page without a network, its key games, and TensorBoard's event files."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from core.notation import parse_cell
from core.records.record import GameRecord
from core.rules import BLACK, Rules
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.reports.page.games import board_svg, decisive_mistake
from tests.support.commands import refused, run
from tests.support.runs import GAME, make_run


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


def test_a_report_compares_runs_on_one_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    paths = [make_run(tmp_path / "one<b>"), make_run(tmp_path / "two", rounds=4)]
    output = tmp_path / "report.html"
    code, out, _ = run(capsys, "report", *paths, "--output", output)
    assert code == 0
    assert str(output) in out
    text = output.read_text(encoding="utf-8")
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert [each for each in page.loaded if not each.startswith("data:")] == []
    assert re.findall(r"url\((?!#)[^)]*\)|@import|<script", text) == []
    assert "one&lt;b&gt;" in text
    assert "one<b>" not in text
    assert page.counts["svg"] == 9 + 2 * 3
    assert "White played i11, which cost 1.10 of the value; black won in 9 moves" in text
    assert "mentor:paper" in text
    assert "2 gates" in text
    assert "#0101" not in text


def test_a_report_has_the_machines_of_workers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = make_run(tmp_path / "many")
    metrics = path / "metrics.jsonl"
    lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    played = [line for line in lines if line["event"] == "games"]
    with metrics.open("a", encoding="utf-8") as file:
        for number, rates in enumerate(({"one/0a": 2.0, "b<": 0.5}, {"one/0a": 4.0})):
            more = {"file": f"selfplay-0001-{number:06d}", "seconds": 10.0, "games_per_second_by_node": rates}
            file.write(json.dumps({**played[-1], **more}) + "\n")
    assert run(capsys, "report", path, "--output", tmp_path / "report.html")[0] == 0
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "2 machines with workers" in text
    assert '<td>one/0a</td><td class="n">60</td><td class="n">3.00</td>' in text
    assert '<td>b&lt;</td><td class="n">5</td><td class="n">0.50</td>' in text


def test_a_young_run_has_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = make_run(tmp_path / "young", rounds=0)
    (path / "metrics.jsonl").unlink()
    (path / "environment.json").unlink()
    (path / "games" / "selfplay-0000-000000.sgf").unlink()
    code, _, _ = run(capsys, "report", path, "--output", tmp_path / "report.html")
    assert code == 0
    assert "No metrics yet." in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_mistakes_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make_run(tmp_path / "run")
    assert "must end in .html" in refused(capsys, ExitCode.USAGE, "report", path, "--output", "report.pdf")
    assert "there is no folder" in refused(
        capsys, ExitCode.USAGE, "report", path, "--output", tmp_path / "no" / "r.html"
    )
    assert "there is no folder" in refused(capsys, ExitCode.USAGE, "report", tmp_path / "none")


def test_the_decisive_mistake_is_the_losers() -> None:
    rules = Rules(15, 5)
    moves = [parse_cell(name, 15) for name in GAME.split()]
    values = (0.0, 0.1, -0.9, 0.1, 0.2, -0.4, 0.7, 0.9, 1.0)
    game = GameRecord(rules, moves, BLACK, comments=[f"value {value:+.3f} for black" for value in values])
    ply, loss = decisive_mistake(game) or (-1, 0.0)
    assert (ply, round(loss, 3)) == (5, -0.0 + 1.1)
    assert decisive_mistake(GameRecord(rules, moves, None)) is None
    assert decisive_mistake(GameRecord(rules, moves, BLACK)) is None
    assert board_svg(game, 3).count("<circle") == 3 + 1


def test_event_files_open_in_tensorboard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    path = make_run(tmp_path / "run")
    assert run(capsys, "report", path, "--tensorboard", tmp_path / "events")[0] == 0
    events = EventAccumulator(str(tmp_path / "events" / "run"))
    events.Reload()
    assert "training/policy_loss" in events.Tags()["scalars"] or "training/policy_loss" in events.Tags()["tensors"]
