"""Games against levels count for a rating, once, and only without help."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.notation import parse_cell
from core.records.record import Ending, GameRecord
from core.records.tree import GameTree
from core.rules import Rules
from gomoku_cli.app import app
from gomoku_cli.study.rating import LEVEL_RATINGS, Rating
from gomoku_cli.tui.engine.files import opened
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.setup import BoardSetup
from tests.support.cases import cases
from tests.support.scripted_players import AnalysingPlayer
from tests.support.tui import BoardDriver, ThreadEngine, board_app

_WINNING = ("h8", "h9", "h10", "h11", "h12")


def setup(spec: str = "level:3", rules: Rules = Rules()) -> BoardSetup:  # noqa: B008 - frozen
    return BoardSetup(rules=rules, seats=Seats(None, PlayerChoice(spec=spec)))


def engine(folder: Path) -> ThreadEngine:
    players = dict.fromkeys(("level:3", "default", "mentor:1"), AnalysingPlayer(15, ["a1", "a3", "a5", "a7"] * 3))
    return ThreadEngine({**players}, folder=folder)


async def win(ui: BoardDriver) -> None:
    for name in _WINNING:
        await ui.play(name)
    assert ui.app.game.is_game_over()


def lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def test_a_game_from_a_set_up_position_counts_for_nothing(tmp_path: Path) -> None:
    stones = [parse_cell(name, 15) for name in ("h8", "o1")]
    record = GameRecord(Rules(), tuple(stones), ending=Ending.UNKNOWN, set_up=2)
    game = Game(Rules(), Seats(None, PlayerChoice(spec="level:3")), tree=GameTree.of(record))
    async with board_app(engine(tmp_path / "games"), setup=BoardSetup(game=game)) as ui:
        assert not ui.app.control.match.is_rated
        for name in _WINNING[1:]:
            await ui.play(name)
        assert ui.app.game.is_game_over()
    assert lines(tmp_path / "ratings.jsonl") == []


async def test_a_win_a_loss_and_a_draw_change_the_rating(tmp_path: Path) -> None:
    folder, file = tmp_path / "games", tmp_path / "ratings.jsonl"
    async with board_app(engine(folder), setup=setup()) as ui:
        await win(ui)
        await ui.until(lambda: "after 1 rated game." in ui.status)
        expected = 1000 + 120 * (1 - 1 / (1 + 10 ** ((LEVEL_RATINGS["level:3"] - 1000) / 400)))
        assert f"Rating {expected:.0f} (+{expected - 1000:.0f})" in ui.status
        await ui.press("b", "d", "y", "b")
        await ui.play("h12")
        assert ui.app.game.is_game_over() and len(lines(file)) == 1, "a game counts once"
        await ui.press("s")
        await ui.until(lambda: ui.app.game.ply == 1)
        await ui.play("c3")
        await ui.press("minus", "y")
        await ui.until(lambda: len(lines(file)) == 2)
        (path,) = (path for path in folder.iterdir() if "RE[B+R]" in path.read_text())
    assert [(line["opponent"], line["score"], line["colour"]) for line in lines(file)] == [
        ("level:3", 1.0, "black"),
        ("level:3", 0.0, "white"),
    ]
    found = Rating.read(file)
    assert found.history() == [expected, found.rating]
    async with board_app(engine(folder), setup=BoardSetup(game=Game.from_saved(opened(path).game), reviews=True)) as ui:
        await ui.press("b", "comma", "b")
        assert len(lines(file)) == 2, "a game that was over when it came does not count"


@pytest.mark.parametrize(("keys", "why"), cases("ratings_lost"))
async def test_a_game_with_help_does_not_count(keys: tuple[str, ...], why: str, tmp_path: Path) -> None:
    async with board_app(engine(tmp_path / "games"), setup=setup()) as ui:
        await ui.play("o1")
        assert ui.title.startswith("Gomoku   rated")
        await ui.press(*keys)
        await ui.until(lambda: ui.app.game.unrated == why and "rated" not in ui.title)
        if ui.app.control.review.active:
            assert ui.status == f"The game does not count for your rating now: {why}."
            await ui.press("b")
        (path,) = (tmp_path / "games").iterdir()
        await ui.until(lambda: not ui.app.control.is_busy)
        await ui.press("minus", "y")
        assert ui.status.endswith(f"Not rated: {why}.")
        assert Game.from_saved(opened(path).game).unrated == why
    assert not (tmp_path / "ratings.jsonl").exists()


async def test_other_opponents_and_rules_do_not_count(tmp_path: Path) -> None:
    for each in (setup("mentor:1"), setup(rules=Rules(15, 4))):
        async with board_app(engine(tmp_path / "games"), setup=each) as ui:
            await ui.play("o1")
            await ui.press("u")
            await ui.play("c3")
            await ui.press("minus", "y")
            assert ui.app.game.is_game_over() and "ated" not in ui.status
    assert not (tmp_path / "ratings.jsonl").exists()


def test_the_command_prints_the_rating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert "rating       1000" in CliRunner().invoke(app, ["play", "--rating"]).output
    rating = Rating(tmp_path / "gomoku" / "ratings.jsonl")
    for level, score in (("level:2", 1.0), ("level:9", 0.0), ("level:2", 0.5)):
        rating.note(level, LEVEL_RATINGS[level], score)
    text = CliRunner().invoke(app, ["play", "--rating"]).output
    assert f"rating       {rating.rating:.0f}" in text
    (row, *days) = (line.replace("│", " ").split() for line in text.splitlines() if "level:2" in line)
    assert row == ["level:2", "730", "1", "1", "0"]
    assert [day[1:3] for day in days] == [["level:2", "won"], ["level:2", "drawn"]]


async def test_a_rating_that_cannot_be_saved_is_named_beside_the_result(tmp_path: Path) -> None:
    file = tmp_path / "ratings.jsonl"
    file.mkdir()
    async with board_app(engine(tmp_path / "games"), setup=setup()) as ui:
        await win(ui)
        await ui.until(lambda: f"you have won. The rating is not saved: {file} is no file." in ui.status)
