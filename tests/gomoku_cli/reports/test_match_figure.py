"""Figures of matches: their texts, and any match and any name can be drawn."""

import re
from pathlib import Path
from typing import Any

import pytest

from curriculum.arena.ladder import Ladder, Rung
from curriculum.arena.results import MatchResult
from gomoku_cli.reports import plots
from gomoku_cli.reports.match_figure import draw_ladder, draw_match
from tests.support.match_samples import match, tournament

pytestmark = pytest.mark.usefixtures("text_in_figures")


def words(path: Path) -> list[str]:
    """Return all texts of an SVG."""
    return re.findall(r"<text [^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


def test_a_match_shows_results_lengths_and_elo(tmp_path: Path) -> None:
    result = match("wwwdwlwwdl" * 4)
    draw_match([result], [], tmp_path / "match.svg")
    texts = words(tmp_path / "match.svg")
    assert {"new against old, 40 games", "Results by colour", "Lengths of games", "as black", "as white"} <= {*texts}
    wins = (result.as_black.wins, result.as_white.wins)
    assert {str(number) for number in wins} <= {*texts}
    low, high = result.to_json()["elo_interval"]
    assert f"measured: {result.to_json()['elo']:+.0f} ({low:+.0f} to {high:+.0f})" in texts


def test_a_tournament_shows_each_player_the_best_on_top(tmp_path: Path) -> None:
    pool = tournament(["a", "b", "c"])
    draw_match(list(pool.matches.values()), pool.standings(), tmp_path / "pool.svg")
    texts = words(tmp_path / "pool.svg")
    assert "3 players, 12 games" in texts
    assert [word for word in texts if word in ("a", "b", "c")] == ["a", "b", "c"]
    assert {f"{name}, {colour}" for name in "abc" for colour in ("black", "white")} <= {*texts}
    for standing in pool.standings():
        elo = round(standing.rating.elo)
        assert (f"{elo:+d}" if elo else "0") in texts


def test_a_ladder_shows_its_rungs_and_where_it_ends(tmp_path: Path) -> None:
    rungs = [Rung(200, match("wwww")), Rung(1300, match("wwwd")), Rung(2400, match("wwdd"))]
    draw_ladder(Ladder("new", 2, rungs), tmp_path / "ladder.svg")
    texts = words(tmp_path / "ladder.svg")
    assert "new against pure MCTS, 4 games a rung" in texts
    assert "ends at 2 wins or fewer" in texts
    assert texts.count("1,300") == 2  # under the results and under the times


def test_any_names_can_be_drawn(tmp_path: Path) -> None:
    path = tmp_path / "names.png"
    pool = tournament(["$x$", "a$b", "名前", "\ud800", "\x1b[31m", "x" * 500, "_^{", " ", "<&>"], games=2)
    draw_match(list(pool.matches.values()), pool.standings(), path)
    draw_match([match("wl", "$\\frac{$", "\ud800")], [], path)
    draw_ladder(Ladder("$x_{$\x1b", 2, [Rung(200, match("wl"))]), path)
    assert path.stat().st_size > 1000


def test_letters_that_a_font_lacks_come_from_one_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "_FONTS_OF_NAMES", ("no such font", "DejaVu Serif"))
    draw_match([match("wl", "名前", "old")], [], tmp_path / "match.svg")
    text = (tmp_path / "match.svg").read_text(encoding="utf-8")
    assert "DejaVu Serif" in text and "no such font" not in text


def test_a_match_of_many_games_is_drawn_from_few_estimates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from curriculum.arena.statistics import elo

    counted = []
    estimate = elo.estimate
    monkeypatch.setattr(elo, "estimate", lambda pairs: counted.append(pairs) or estimate(pairs))
    result: MatchResult = match("wdwl" * 500)
    draw_match([result], [], tmp_path / "match.png")
    assert len(counted) <= 101
    assert counted[-1] == result.pairs


@pytest.mark.parametrize("name", ["figure.svg", "figure.PNG"])
def test_a_figure_appears_whole_or_not_at_all(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    from gomoku_cli.reports.plots import drawn

    path = tmp_path / name
    path.write_text("the figure of before")
    save = Figure.savefig

    def half(figure: Figure, target: Path, **options: Any) -> None:
        Path(target).write_text("<svg")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", half)
    with pytest.raises(OSError, match="No space") as caught, drawn(path, "title", width=3, height=2):
        pass
    assert caught.value.filename == str(path)
    assert path.read_text() == "the figure of before"
    monkeypatch.setattr(Figure, "savefig", save)
    with drawn(path, "title", width=3, height=2):
        pass
    assert path.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")
    assert list(tmp_path.iterdir()) == [path]
