"""Opening rules, positions that are set up, and pasted games: stones of both colours, taken back and saved."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Select

from core.notation import parse_cell
from core.opening_rules import Choice, Opening, OpeningRule
from core.position import Position
from core.records.formats import open_games, read_games
from core.records.tree import GameTree
from core.rules import BLACK, WHITE, Cell, Rules
from gomoku_cli.study.game import StudiedTree
from gomoku_cli.study.review import review_of
from gomoku_cli.study.saved import newest_unfinished
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.screens.dialog import Question
from gomoku_cli.tui.screens.set_up import SetUpScreen
from gomoku_cli.tui.setup import BoardSetup
from gomoku_cli.tui.widgets.board import BoardWidget
from tests.support.screens import screen_text
from tests.support.scripted_players import AnalysingPlayer, ScriptedPlayer
from tests.support.tui import TWO_PLAYERS, BoardDriver, ThreadEngine, board_app, board_setup


class OpeningPlayer(ScriptedPlayer):
    """Places the first empty cells, and makes its choices in turn."""

    def __init__(self, *choices: Choice) -> None:
        super().__init__()
        self.choices = list(choices)

    def choose_opening(self, position: Position, opening: Opening, **asked: Any) -> Choice | tuple[Cell, ...]:
        """See `Player`."""
        if opening.options(position.ply):
            return self.choices.pop(0)
        return tuple(position.legal_moves()[: opening.stones - position.ply])


def setup(human: int, rule: OpeningRule = OpeningRule.SWAP2) -> BoardSetup:
    return replace(board_setup(human=human), opening=rule)


async def place(ui: BoardDriver, *names: str) -> None:
    for name in names:
        await ui.play(name)


@pytest.mark.parametrize(("choice", "colour"), [(Choice.WHITE, BLACK), (Choice.BLACK, WHITE)])
async def test_the_engine_chooses_after_three_stones_of_the_human(choice: Choice, colour: int) -> None:
    async with board_app(OpeningPlayer(choice), setup=setup(BLACK)) as ui:
        assert "Place a black stone, 3 to go" in ui.status
        assert "swap2" in ui.title
        await place(ui, "h8", "i9")
        assert ui.moves == ["h8", "i9"], "the human places for both colours"
        assert [line.split()[-1] for line in ui.panel.split("\n") if line.startswith(">")] == ["you"]
        await ui.press("u", moves="h8")
        await place(ui, "j9", "b2")
        await ui.until(lambda: not ui.app.control.is_busy)
        assert ui.app.game.seats.human == colour
        assert ui.app.game.opening.choices == (choice,)
        if colour == BLACK:
            assert ui.moves == ["h8", "j9", "b2", "a1"], "the engine has White and moves"
            await place(ui, "c3")
            await ui.press("u", moves="h8 j9 b2 a1")
            await ui.press("u")
            assert "no move to take back" in ui.status, "the stones of the opening stand"
        else:
            assert "takes Black" in ui.status
            assert len(ui.moves) == 3


async def test_the_human_chooses_black_white_or_two_stones_more() -> None:
    for key, placed, colour in (("w", 3, WHITE), ("b", 4, BLACK)):
        async with board_app(OpeningPlayer(), setup=setup(WHITE)) as ui:
            await ui.shows(Question)
            if key == "w":
                await ui.pilot.resize_terminal(40, 24)
                await ui.pilot.pause()
                frame, bar = ui.app.screen.query_one("Vertical").region, ui.main_screen.query_one("KeyBar").region
                assert all(frame.contains_region(each.region) for each in ui.app.screen.query("Button")), "all keys"
                assert frame.bottom <= bar.y, "the key bar stays in view"
            await ui.press("l")
            assert "Choose your colour" in ui.status
            await ui.press("s")
            assert "opening rule" in ui.status
            await ui.press("enter")
            await ui.press(key)
            await ui.until(lambda placed=placed: len(ui.moves) == placed and not ui.app.control.is_busy)  # type: ignore
            assert ui.app.game.seats.human == colour
    async with board_app(OpeningPlayer(Choice.BLACK), setup=setup(WHITE)) as ui:
        await ui.shows(Question)
        await ui.press("m")
        assert "Place a white stone, 2 to go" in ui.status
        await place(ui, "h8", "h9")
        assert str(ui.app.game.opening) == "swap2 more black"
        assert ui.app.game.seats.human == WHITE


async def test_swap_has_no_third_choice_and_two_humans_choose_too() -> None:
    both = replace(setup(BLACK, OpeningRule.SWAP), seats=Seats(None, None))
    async with board_app(ScriptedPlayer(), setup=both) as ui:
        await place(ui, "h8", "i9", "b2")
        assert isinstance(ui.app.screen, Question)
        assert "does the second player take" in ui.dialog
        assert "add two" not in " ".join(str(each.label) for each in ui.app.screen.query("Button"))  # type: ignore
        await ui.press("enter")
        assert str(ui.app.game.opening) == "swap", "a second Enter on the third stone chooses nothing"
        await ui.press("enter", "b")
        assert str(ui.app.game.opening) == "swap black"
        await place(ui, "c3")
        assert len(ui.moves) == 4


async def test_the_answers_of_a_question_come_into_view_in_a_small_terminal() -> None:
    async with board_app(ScriptedPlayer(), setup=replace(setup(BLACK), seats=Seats(None, None))) as ui:
        await place(ui, "h8", "i9", "b2")
        await ui.pilot.resize_terminal(24, 8)
        await ui.press("left")
        assert "b Black" in screen_text(ui.app)


async def test_a_game_is_saved_with_its_opening_and_goes_on_in_the_middle_of_it(tmp_path: Path) -> None:
    async with board_app(OpeningPlayer(Choice.BLACK), folder=tmp_path, setup=setup(WHITE)) as ui:
        await ui.shows(Question)
        await ui.press("m")
        await place(ui, "h8")
    entry = newest_unfinished(tmp_path)
    (record,) = read_games(entry.path)
    assert str(record.opening) == "swap2 more"
    game = Game.from_saved(StudiedTree.read(GameTree.of(record)))
    assert (game.is_opening, game.is_humans_turn, game.choices) == (True, True, ())
    engine = ThreadEngine({"scripted [b]": OpeningPlayer(Choice.BLACK)}, folder=tmp_path)
    async with board_app(engine, setup=replace(board_setup(), game=game, path=str(entry.path))) as ui:
        await place(ui, "h9")
        assert ui.app.game.seats.human == WHITE
    (record,) = read_games(entry.path)
    assert (str(record.opening), record.white) == ("swap2 more black", "you")


async def test_an_engine_that_makes_no_choice_leaves_it_to_another_one() -> None:
    players = {"scripted [b]": OpeningPlayer(), "random": OpeningPlayer(Choice.BLACK)}
    async with board_app(players, setup=setup(BLACK)) as ui:
        await place(ui, "h8")
        await ui.press("ctrl+o", status="The colours are chosen first.")
        await place(ui, "i9", "g7")
        await ui.until(lambda: "failed (enter: ask again, ctrl+o: another player)" in ui.status)
        await ui.press("ctrl+o", dialog="Players of this game")
        ui.app.screen.query_one("#opponent", Select).value = "random"
        await ui.press("ctrl+s")
        await ui.until(lambda: str(ui.app.game.opening) == "swap2 black")
        assert ui.app.game.seats.human == WHITE


async def test_a_stone_that_the_opening_forbids_is_refused_with_the_reason() -> None:
    async with board_app(OpeningPlayer(Choice.WHITE), setup=setup(BLACK, OpeningRule.RIF)) as ui:
        await place(ui, "a1")
        assert ui.moves == []
        assert "In rif stone 1 stands at the centre" in ui.status
        await place(ui, "h8", "i9")
        assert ui.moves == ["h8", "i9"]


@pytest.mark.parametrize(
    ("human", "choice", "stones", "asks"),
    [
        (BLACK, "", (), False),
        (BLACK, "", ("h8",), True),
        (WHITE, "l", (), False),
        (WHITE, "m", (), True),
    ],
)
async def test_leaving_asks_once_the_human_has_placed_a_stone_or_chosen(
    human: int, choice: str, stones: tuple[str, ...], asks: bool
) -> None:
    async with board_app(OpeningPlayer(Choice.WHITE), setup=setup(human)) as ui:
        if choice:
            await ui.shows(Question)
            await ui.press(choice)
        await place(ui, *stones)
        await ui.press("q")
        assert asks == ("Leave this game?" in ui.dialog)
        assert asks == (ui.app.return_code is None)


async def test_stones_that_colours_were_chosen_for_stand_in_a_review_too() -> None:
    async with board_app(OpeningPlayer(Choice.BLACK), setup=setup(BLACK)) as ui:
        await place(ui, "h8", "i9")
        await ui.press("u")
        await place(ui, "j9", "g7")
        await ui.until(lambda: not ui.app.control.is_busy)
        before = ui.moves
        await ui.press("b", "less_than_sign", "full_stop")
        await ui.play("a15")
        assert "The stones of the opening stand." in ui.status
        assert ui.app.game.tree.children[0].children[0].move == ui.app.game.nodes[1].move
        await ui.press("full_stop", "right_square_bracket", "w", moves="h8 i9")
        assert "decided the game or its colours" in ui.status
        await ui.press("b", moves=" ".join(before))
        assert len(ui.app.game.nodes[0].children) == 2


async def test_stones_stand_in_a_review_while_their_colours_are_to_be_chosen() -> None:
    both = replace(setup(BLACK), seats=Seats(None, None))
    async with board_app(ScriptedPlayer(), setup=both) as ui:
        await place(ui, "h8", "i9", "b2")
        await ui.press("l", "b", "comma", "comma")
        await ui.play("a15")
        assert "The stones of the opening stand." in ui.status


# Positions that are set up


def said(ui: BoardDriver) -> str:
    return ui.dialog.splitlines()[0]


async def test_stones_are_placed_and_removed_and_the_engine_answers_from_there(tmp_path: Path) -> None:
    engine = ThreadEngine(
        {"scripted [b]": ScriptedPlayer(15, ["a1", "b1"]), "default": AnalysingPlayer(15)}, folder=tmp_path
    )
    async with board_app(engine) as ui:
        await ui.press("plus", "enter", "up", "enter", "x", "up", "enter")
        assert said(ui) == "Placing white stones. 2 black, 1 white: White to move."
        await ui.press("up", "enter", "up", "enter", "ctrl+s")
        assert "2 black, 3 white: there must be as many stones of both" in said(ui)
        assert isinstance(ui.app.screen, SetUpScreen)
        await ui.press("enter")  # removes the last one
        assert said(ui) == "Placing white stones. 2 black, 2 white: Black to move."
        await ui.pilot.click(ui.app.screen.query_one(BoardWidget), offset=(3 + 2 * 2, 14))
        await ui.pilot.pause()
        assert "2 black, 3 white" in said(ui)
        await ui.pilot.click(ui.app.screen.query_one(BoardWidget), offset=(3 + 2 * 2, 14))
        await ui.pilot.pause()
        await ui.press("ctrl+s")
        assert ui.app.screen is ui.main_screen
        assert ui.moves == ["h8", "h10", "h9", "h11"]
        assert "none yet" in ui.panel
        assert [*tmp_path.glob("*.sgf")], "saved before the first move"
        await ui.press("m")
        await ui.play("i8")
        assert ui.moves[4:] == ["i8", "a1"]
        assert "3 i8" in ui.panel
        assert "h8" not in ui.panel
        await ui.press("u", "u", "u")
        assert ui.moves == ["h8", "h10", "h9", "h11"], "what was set up stays"
        await ui.press("d", "less_than_sign")
        assert ui.app.game.ply == 4
    (path,) = tmp_path.glob("*.sgf")
    (record,) = open_games(path).games
    assert record.set_up == 4
    assert "AB[hh][hg]AW[hf][he]PL[B]" in path.read_text()


async def test_a_set_up_is_given_up_cleared_and_pasted() -> None:
    async with board_app({}, setup=TWO_PLAYERS) as ui:
        await ui.play("h8")
        await ui.press("plus", "y")  # a game is left after a question
        await ui.press("c")
        assert said(ui).startswith("Placing black stones. 0 black, 0 white")
        await ui.paste("8,8 9,7 7,9")
        assert "2 black, 1 white: White to move" in said(ui)
        await ui.paste("no moves")
        assert "is no cell" in said(ui)
        await ui.paste("(;GM[1]SZ[19])")
        assert said(ui).startswith("The pasted text") and isinstance(ui.app.screen, SetUpScreen)
        await ui.press("escape")
        assert said(ui) == "Esc again drops these stones."
        await ui.press("escape", moves="h8")


async def test_an_sgf_that_is_pasted_on_the_set_up_opens_as_on_the_board() -> None:
    async with board_app(AnalysingPlayer(15), setup=TWO_PLAYERS) as ui:
        await ui.press("plus")
        await ui.paste("(;GM[4];B[hh];W[ii];B[gg])")
        await ui.until(lambda: ui.app.control.review.active)
        assert ui.app.screen is ui.main_screen
        assert ui.moves == ["h8", "i7", "g9"]


def test_stones_of_a_set_up_are_nobodys_mistakes() -> None:
    game = Game(Rules(), Seats(None, None), [parse_cell(name, 15) for name in ("h8", "c3", "h9")])
    player = AnalysingPlayer(15)
    for ply, value in enumerate((0.9, 0.9, 0.9, 0.9)):
        game.learn(ply, player.view_of(game.moves[:ply], value), "default")
    assert [move.grade for move in review_of(game.studied()).moves].count("blunder") == 3
    game.tree.set_up = 2
    review = review_of(game.studied())
    assert [move.loss is None for move in review.moves] == [True, True, False]
    assert review.mean_loss(-BLACK) is None


async def test_a_pasted_sgf_is_reviewed_after_a_question_and_a_broken_one_named() -> None:
    async with board_app(AnalysingPlayer(15), setup=TWO_PLAYERS) as ui:
        await ui.play("a1")
        await ui.paste(" (;GM[4]AB[hh]AW[ii]PL[B];B[gg]C[why];W[hg])")
        await ui.press("y")
        await ui.until(lambda: ui.app.control.review.active)
        assert ui.moves == ["h8", "i7", "g9", "h9"]
        await ui.paste("(;GM[1]SZ[19])")
        await ui.until(lambda: "game '1'" in ui.status or "game 1 is not Gomoku" in ui.status)
        assert ui.moves == ["h8", "i7", "g9", "h9"]
