"""Games that end without their board, the rematch after any end, and ratings, which count once and without help."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.notation import parse_cell
from core.records.formats import read_games
from core.records.record import Ending, GameRecord
from core.records.tree import GameTree
from core.rules import BLACK, WHITE, Rules
from gomoku_cli.app import app
from gomoku_cli.study.played import accepts_draw, offers_draw
from gomoku_cli.study.rating import LEVEL_RATINGS, Rating
from gomoku_cli.tui.engine.files import opened
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.setup import BoardSetup, Course
from tests.support.cases import cases
from tests.support.scripted_players import AnalysingPlayer, ScriptedPlayer
from tests.support.tui import TWO_PLAYERS, BoardDriver, ThreadEngine, board_app

FIFTEEN_PAIRS = " ".join(f"{column}{row}" for row in (1, 5, 9) for column in "acegikmobd")


async def test_a_resignation_is_asked_for_recorded_and_read_back(tmp_path: Path) -> None:
    async with board_app(ScriptedPlayer(15, ["i9", "a1", "b2"]), folder=tmp_path, terminal=(120, 40)) as ui:
        await ui.play("h8")
        await ui.play("c3")
        await ui.press("u", "minus", dialog="Black resigns?")
        await ui.press("n", "minus", "y", status="Black has resigned: scripted [b] has won.", panel="White has won")
        await ui.press("minus", status="There is no game under way.")
        await ui.click("o1")
        assert "s plays a rematch" in ui.status and len(ui.moves) == 2
        (path,) = tmp_path.iterdir()
        assert "RE[W+R]" in path.read_text()
        record, again = read_games(path)[0], Game.from_saved(opened(path).game)
        assert (len(record.moves), record.winner, record.ending) == (2, WHITE, Ending.RESIGNATION)
        assert again.is_game_over() and again.is_for_review and again.winner == WHITE
        assert len(again.node.variations) == 1, "the moves that were taken back are there"
        again.pop()
        assert not again.is_game_over(), "the moves before go on"
        await ui.press("s")
        await ui.until(lambda: ui.moves == ["b2"])
        assert ui.app.game.seats.human == WHITE, "a rematch with the other colours"
        assert len(list(tmp_path.iterdir())) == 2


async def test_two_players_agree_on_a_draw(tmp_path: Path) -> None:
    async with board_app(AnalysingPlayer(15), folder=tmp_path, setup=TWO_PLAYERS) as ui:
        await ui.press("slash", *"h8", "enter", "equals_sign", dialog="White offers a draw. Does Black accept?")
        await ui.press("escape")
        assert not ui.app.game.is_game_over()
        await ui.press("equals_sign", "y", status="A draw by agreement.")
        (path,) = tmp_path.iterdir()
        assert "RE[0]" in path.read_text()
        assert Game.from_saved(opened(path).game).result == (None, Ending.BOARD)
        await ui.press("b", "c")
        await ui.until(lambda: ui.app.control.analysis is not None)
        assert "Candidates for white" in ui.panel, "the last position can be analysed"


def game_of_thirty_stones(player: AnalysingPlayer, value: float) -> Game:
    """A game against an engine that saw this value before each of its moves."""
    game = Game(TWO_PLAYERS.rules, Seats(None, PlayerChoice(spec="scripted [b]")), range(0))
    for name in FIFTEEN_PAIRS.split():
        game.play(parse_cell(name, 15))
    for ply in range(1, game.ply, 2):
        game.learn(ply, player.view_of(game.moves[:ply], value), "scripted [b]")
    return game


async def test_an_engine_takes_a_draw_by_its_own_values() -> None:
    for value, takes in ((0.2, False), (0.01, True)):
        player = AnalysingPlayer(15, value=value)
        async with board_app(player, setup=BoardSetup(game=game_of_thirty_stones(player, value))) as ui:
            assert ui.app.game.ply == 30 and ui.app.game.is_humans_turn
            await ui.press("equals_sign")
            shown = "A draw by agreement." if takes else "scripted [b] takes no draw: it plays on."
            assert ui.status == shown
    async with board_app(ScriptedPlayer(15)) as ui:
        await ui.press("equals_sign", status="scripted [b] takes no draw before 30 stones stand.")


async def test_an_engine_offers_a_draw_once_in_a_while_and_goes_on_after_a_move() -> None:
    player = AnalysingPlayer(15, value=-0.01)
    async with board_app(player, setup=BoardSetup(game=game_of_thirty_stones(player, -0.01))) as ui:
        offered = []
        for name in ("o13", "m13", "k13", "i13", "g13", "e13"):
            await ui.play(name)
            offered.append(ui.status == "Your move. scripted [b] offers a draw: = takes it, a move declines it.")
        assert offered == [True, False, False, False, False, True]
        await ui.press("u")
        assert ui.status == "Your move.", "taken back with the move"
        await ui.press("r", "equals_sign", status="A draw by agreement.")
    player = AnalysingPlayer(15, value=-0.5)
    async with board_app(player, setup=BoardSetup(game=game_of_thirty_stones(player, -0.5))) as ui:
        await ui.play("o13")
        assert ui.status == "Your move.", "it takes a draw where it loses, and asks for none"


async def test_an_engine_that_does_not_consent_lets_no_move_be_taken_back() -> None:
    setup = BoardSetup(seats=Seats(None, PlayerChoice(spec="scripted [b]")), course=Course(takes_back=False))
    async with board_app(ScriptedPlayer(15, ["i9", "i10", "a1"]), setup=setup) as ui:
        await ui.play("h8")
        await ui.play("c3")
        for keys in (("u",), ("comma", "comma", "slash", *"d4", "enter"), ("d",)):
            await ui.press(*keys, status="scripted [b] lets no move be taken back.")
            assert [ui.app.game.name_of(move) for move in ui.app.game.line] == ["h8", "i9", "c3", "i10"]
        await ui.press("b")
        await ui.play("d4")
        assert ui.moves[4:] == ["d4", "a1"]
        await ui.press("minus", "y", "u")
        assert ui.status == "Your move, in a variation.", "after the end it is a study"


@pytest.mark.parametrize(("values", "stones", "takes", "offers"), cases("draws_wanted"))
def test_a_draw_needs_thirty_stones_and_five_low_values(
    values: list[float], stones: int, takes: bool, offers: bool
) -> None:
    assert (accepts_draw(values, stones), offers_draw(values, stones)) == (takes, offers)


def test_a_game_that_ended_without_its_board_goes_on_where_its_end_is_deleted() -> None:
    game = Game(TWO_PLAYERS.rules, Seats(None, None), (112, 113))
    game.end(BLACK, Ending.TIME)
    assert game.result_text() == "White has no time left: the game is over."
    assert not game.may_promote and game.result == (BLACK, Ending.TIME)
    game.delete()
    assert (game.result, game.is_game_over()) == ((None, Ending.UNKNOWN), False)


# Ratings

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
    rated = [(line["opponent"], line["score"], line["colour"]) for line in lines(file)]
    assert rated == [("level:3", 1.0, "black"), ("level:3", 0.0, "white")]
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


def test_the_command_prints_the_rating(data_folder: Path) -> None:
    assert "rating       1000" in CliRunner().invoke(app, ["play", "--rating"]).output
    rating = Rating(data_folder / "ratings.jsonl")
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
