"""Reports of matches: they show the match's numbers, and no name can break a file or the terminal."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from curriculum.arena.formats import Format
from curriculum.arena.ladder import Ladder, Rung
from gomoku_cli.reports import terminal
from gomoku_cli.reports.junit import match_junit
from gomoku_cli.reports.markdown import ladder_markdown, match_markdown
from gomoku_cli.reports.terminal import show_bars, show_ladder, show_match, show_standings
from gomoku_cli.reports.training.overview import show_overviews
from tests.support.commands import Capsys
from tests.support.match_samples import match, tournament

MET = {"name": "score", "wanted": "at least 0.55", "reached": "0.612", "met": True}
MISSED = {"name": "sequential test", "wanted": "50 Elo rather than 0", "reached": "undecided", "met": False}
ROUNDS = {"rounds": 12, "rounds_accepted": 1, "scores": {"mentor": 0.39}}
RUN = {"run": "mine", "progress": "done", "in_progress": False, **ROUNDS, "bytes": 2**30, "updated": None}
LATE = "white lost: no answer within 0.5 s"

# Texts from a command line or another program: markup, control characters, halves of surrogate pairs.
texts = st.text(st.characters(), min_size=1, max_size=30) | st.sampled_from(
    ["[bold]x[/]", "a|b", "\\|", "`", "<!--", "&amp;", "]]>", "\x1b[31m", "\x00", "\ud800", "\uffff", "a\r\nb", "$x$"]
)


def shown(capsys: Capsys, show: Callable[..., None], *what: Any) -> str:
    """Return the lines that `show` prints, with single blanks between words."""
    show(*what)
    return "\n".join(" ".join(line.split()) for line in capsys.readouterr().out.splitlines())


def test_the_terminal_shows_score_elo_interval_and_los(capsys: Capsys) -> None:
    result = match("wwwdwlwwdl").to_json()
    out = shown(capsys, show_match, result)
    low, high = result["elo_interval"]
    assert "new against old" in out
    assert "│ in all │ 10 │ 6 │ 2 │ 2 │ 0.700 │" in out
    assert "│ as black │ 5 │ 4 │ 1 │ 0 │ 0.900 │" in out
    assert "│ as white │ 5 │ 2 │ 1 │ 2 │ 0.500 │" in out
    assert f"Elo {result['elo']:+.0f} (95 %: {low:+.0f} to {high:+.0f})" in out
    assert f"LOS {100 * result['los']:.1f} %" in out
    for text in ("pairs 0 / 1 / 1 / 1 / 2 of 0 / 0.5 / 1 / 1.5 / 2 points", "10 distinct", "took 1:23"):
        assert text in out
    assert "Forfeits" not in out


def test_the_times_of_both_players_are_shown(capsys: Capsys) -> None:
    result = {**match("ww").to_json(), "mean_move_seconds": [0.0421, 12.3], "longest_move_seconds": [0.31, 14.0]}
    out = shown(capsys, show_match, result)
    assert "42.1 ms, the longest 0.31 s: new" in out
    assert "12 s, the longest 14 s: old" in out


@pytest.mark.parametrize(("results", "sign"), [("wwwwwwwwww", "+"), ("llllllllll", "-")])
def test_a_clean_sweep_has_no_end_on_its_side(results: str, sign: str, capsys: Capsys) -> None:
    result = match(results).to_json()
    out = shown(capsys, show_match, result)
    assert f"Elo {sign}inf (95 %:" in out
    assert out.count("inf") == 2  # the difference and one end of its interval
    report = match_markdown("t", [result], [], [])
    assert f"| {sign}∞ |" in report
    assert report.count("∞") == 2


def test_without_a_finished_pair_the_elo_is_unknown(capsys: Capsys) -> None:
    result = match("w").to_json()
    out = shown(capsys, show_match, result)
    assert "Elo unknown" in out
    assert "│ as white │ 0 │ 0 │ 0 │ 0 │ - │" in out
    assert "LOS" not in out
    assert "| unknown | -∞ to +∞ |" in match_markdown("t", [result], [], [])


def test_forfeits_are_listed_with_their_reasons(capsys: Capsys) -> None:
    result = match("wwww", why=LATE).to_json()
    out = shown(capsys, show_match, result)
    assert f"│ 3 │ old │ new │ {LATE} │" in out
    assert f"| 3 | old | new | {LATE} |" in match_markdown("t", [result], [], [])
    assert LATE in (ElementTree.fromstring(match_junit("t", [result], [], 1.0)).findtext(".//system-out") or "")
    assert f"│ 3 │ same │ same │ {LATE} │" in shown(
        capsys, show_match, match("wwww", "same", "same", why=LATE).to_json()
    )


def test_bars_come_first_with_their_result(capsys: Capsys) -> None:
    report = match_markdown("t", [match("wwll").to_json()], [], [MET, MISSED])
    lines = report.splitlines()
    assert lines[4:6] == [
        "| ✅ pass | score | at least 0.55 | 0.612 |",
        "| ❌ fail | sequential test | 50 Elo rather than 0 | undecided |",
    ]
    out = shown(capsys, show_bars, [MET, MISSED])
    assert "│ 0.612 │ met │" in out
    assert "│ undecided │ MISSED │" in out
    show_bars([])
    assert capsys.readouterr().out == ""


def test_a_cross_table_has_the_points_of_every_match(capsys: Capsys) -> None:
    pool = tournament(["a", "b", "c"])
    standings = [standing.to_json() for standing in pool.standings()]
    matches = [result.to_json() for result in pool.matches.values()]
    out = shown(capsys, show_standings, standings, matches)
    assert [standing["player"] for standing in standings] == ["a", "b", "c"]
    # Four games of each two: two wins and two draws, 3 points to 1.
    for text in ("│ 1 │ a │ x │ 3 │ 3 │", "│ 2 │ b │ 1 │ x │ 3 │", "│ 3 │ c │ 1 │ 1 │ x │"):
        assert text in out
    report = match_markdown("Tournament", matches, standings, [])
    assert "| 2 | b | 1 | x | 3 |" in report
    assert "| a | b | 4 | 2 / 2 / 0 | 0.750 |" in report


def test_of_a_gauntlet_the_matches_are_shown(capsys: Capsys) -> None:
    pool = tournament(["a", "b", "c"], Format.GAUNTLET)
    standings = [standing.to_json() for standing in pool.standings()]
    out = shown(capsys, show_standings, standings, [result.to_json() for result in pool.matches.values()])
    for text in ("a against each", "│ b │ 2 / 2 / 0 │ 0.750 │", "│ c │ 2 / 2 / 0 │ 0.750 │"):
        assert text in out


def test_a_ladder_reports_the_highest_rung_passed_and_draws_are_no_wins(capsys: Capsys) -> None:
    rungs = [Rung(200, match("wwww")), Rung(1300, match("wwwd")), Rung(2400, match("wwdd"))]
    ladder = Ladder("new", 2, rungs).to_json()
    out = shown(capsys, show_ladder, ladder)
    assert "│ 1,300 │ 3 │ 1 │ 0 │ 4 │" in out
    for report in (out, ladder_markdown(ladder)):
        assert "passed with more than 2 wins of 4; a draw is no win" in report
        assert re.search(r"Highest rung\spassed: 1,300 playouts", report)
    assert "| 2,400 | 2 | 2 | 0 | 4 |" in ladder_markdown(ladder)
    assert "None was passed." in shown(capsys, show_ladder, Ladder("new", 4, rungs[:1]).to_json())


def test_junit_has_a_case_a_bar_and_counts_what_failed() -> None:
    root = ElementTree.fromstring(match_junit("new against old", [match("wdll").to_json()], [MET, MISSED], 83.25))
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    assert [suite.get(name) for name in ("tests", "failures", "errors", "time")] == ["2", "1", "0", "83.250"]
    score, sprt = suite.findall("testcase")
    assert (score.get("classname"), score.get("name")) == ("new against old", "score")
    assert score.find("failure") is None
    failure = sprt.find("failure")
    assert failure.get("message") == "sequential test: undecided, required 50 Elo rather than 0"
    assert "1 wins, 1 draws, 2 losses" in (failure.text or "")
    assert sum(float(case.get("time", 0)) for case in (score, sprt)) == 83.25


def test_without_bars_junit_has_a_single_case() -> None:
    (suite,) = ElementTree.fromstring(match_junit("t", [match("ww").to_json()], [], 2.0))
    assert [case.get("name") for case in suite.findall("testcase")] == ["played"]
    assert suite.get("failures") == "0"


@given(texts, texts, texts)
def test_no_name_and_no_reason_breaks_a_file(player: str, opponent: str, why: str) -> None:
    results = [match("wwwl", player, opponent, why=why).to_json()]
    bars = [{**MISSED, "name": opponent, "reached": why}]
    xml = match_junit(player, results, bars, 1.0)
    assert ElementTree.fromstring(xml.encode())[0].get("failures") == "1"
    ladder = Ladder(player, 2, [Rung(200, match("wwwl", player, opponent, why=why))]).to_json()
    for report in (match_markdown(player, results, [], bars), ladder_markdown(ladder)):
        assert report.encode().decode() == report
        widths: set[int] = set()
        for line in report.split("\n"):
            if line.startswith("|"):
                widths.add(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)))
            else:
                assert len(widths) <= 1, "every row of a table has as many cells"
                widths = set()


@given(texts)
def test_no_name_can_steer_the_terminal_or_fail_on_it(name: str) -> None:
    for encoding in ("ascii", "utf-8"):
        with pytest.MonkeyPatch.context() as patch, io.BytesIO() as raw:
            file = io.TextIOWrapper(raw, encoding=encoding, newline="")
            patch.setattr(terminal, "STDOUT", Console(file=file, force_terminal=False, width=80))
            show_match(match("wwll", name, "old", why=name).to_json())
            show_ladder(Ladder(name, 2, [Rung(200, match("wl", name))]).to_json())
            file.flush()
            out = raw.getvalue().decode(encoding)
            file.detach()
        assert all(letter == "\n" or letter.isprintable() for letter in out)
        assert all(cell_len(line) <= 80 for line in out.split("\n"))


def test_markup_in_a_name_is_shown_as_it_is(capsys: Capsys) -> None:
    show_match(match("wwll", "[bold]new[/bold]").to_json())
    assert "[bold]new[/bold] against old" in capsys.readouterr().out


@pytest.mark.parametrize("width", [24, 40, 80])
def test_a_narrow_terminal_shows_each_cell_whole(width: int, capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    out = shown(capsys, show_overviews, Path(), [RUN])
    for cell in ("mine", "0.39 mentor", "1 of 12", "1,024 MiB"):
        assert cell in out
