"""Positions that are set up by hand, and games that are pasted."""

from pathlib import Path

from core.notation import parse_cell
from core.records.formats import open_games
from core.rules import BLACK, Rules
from gomoku_cli.study.review import review_of
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.screens.set_up import SetUpScreen
from gomoku_cli.tui.widgets.board import BoardWidget
from tests.support.scripted_players import AnalysingPlayer, ScriptedPlayer
from tests.support.tui import TWO_PLAYERS, BoardDriver, ThreadEngine, board_app


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
    async with board_app(ThreadEngine({}), setup=TWO_PLAYERS) as ui:
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
