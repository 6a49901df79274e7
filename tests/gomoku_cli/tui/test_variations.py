"""Variations on the screen: played, walked, promoted, deleted, described, saved and read back."""

from pathlib import Path

import pytest
from textual.geometry import Offset
from textual.widgets import Button, Static, TextArea

from core.records.formats import read_games, read_trees
from core.records.tree import Node
from core.rules import Rules
from gomoku_cli.tui.engine import messages
from gomoku_cli.tui.engine.files import opened
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.screens.comment import CommentScreen
from gomoku_cli.tui.screens.dialog import Question
from gomoku_cli.tui.screens.saved_games import SavedGamesScreen
from gomoku_cli.tui.setup import BoardSetup
from tests.support.scripted_players import AnalysingPlayer, GatedPlayer, ScriptedPlayer
from tests.support.tui import TWO_PLAYERS, BoardDriver, board_app


def line(ui: BoardDriver) -> list[str]:
    """The names of the whole line, those behind the shown position included."""
    return [ui.app.game.name_of(move) for move in ui.app.game.line]


def moves_text(ui: BoardDriver) -> str:
    return str(ui.main_screen.query_one("#moves Static", Static).render())


async def click_in_moves(ui: BoardDriver, text: str, button: int = 1) -> None:
    """Click the place of a text in the list of moves."""
    rows = moves_text(ui).split("\n")
    row = next(number for number, each in enumerate(rows) if text in each)
    widget = ui.main_screen.query_one("#moves Static", Static)
    await ui.pilot.click(widget, offset=Offset(rows[row].index(text) + 1, row), button=button)
    await ui.pilot.pause()


def names(node: Node) -> list[str]:
    return [each.position().name_of(each.move) for each in node.variations]


async def test_another_move_in_a_review_is_a_variation_that_is_listed_and_walked() -> None:
    async with board_app(AnalysingPlayer(15), setup=TWO_PLAYERS, terminal=(120, 40)) as ui:
        await ui.press("left_square_bracket", status="There is no move to review yet.")
        await ui.press("slash", *"h8i9h9h7g8i8", "enter", "right_square_bracket")
        assert ui.status == "No move up to here has a variation."
        await ui.press("comma", "comma")
        await ui.click("c3")
        await ui.pilot.pause()
        await ui.press("comma", "right_square_bracket")
        assert ui.status == "No move up to here has a variation, but the next one has: . goes there."
        await ui.click("c3")
        await ui.pilot.pause()
        assert ui.status == "c3 is a variation: w makes it the main line."
        assert (ui.moves, line(ui)) == (["h8", "i9", "h9", "h7", "c3"],) * 2
        await ui.type_moves("d4", panel="Moves of a variation")
        assert "main 3 g8 i8" in ui.panel
        await ui.press("left_square_bracket", moves="h8 i9 h9 h7 g8")
        assert line(ui)[4:] == ["g8", "i8"], "its own line follows"
        assert ui.status.startswith("Review: move 5 of 6, variation 1 of 2.")
        assert "or 3 c3 d4" in ui.panel and "Moves of a variation" not in ui.panel
        await ui.press("full_stop", "right_square_bracket")
        assert ui.moves[4:] == ["c3"], "from behind the move too"
        await ui.press("full_stop")
        assert ui.status.startswith("Review: move 6 of 6, in a variation.")
        for button, move in ((3, "c3"), (1, "g8")):
            await click_in_moves(ui, "main 3", button)
            assert ui.moves[4] == move
        await click_in_moves(ui, "i9")
        assert (ui.moves, line(ui)[4:]) == (["h8", "i9"], ["g8", "i8"])
        await ui.press("b")
        assert ui.moves[4:] == ["g8", "i8"] and ui.status == "Black to move."
        await click_in_moves(ui, "or 3 c3")
        assert ui.app.control.review.active and ui.moves[4:] == ["c3"]


async def test_of_many_variations_the_first_are_listed() -> None:
    game = Game(Rules(), Seats(None, None), [112, 113])
    for cell in range(8):
        game.tree.variations[0].add(cell)
    async with board_app({}, setup=BoardSetup(game=game), terminal=(120, 40)) as ui:
        rows = moves_text(ui).split("\n")
        assert [row.split() for row in rows[1:5]] == [["or", "1...", name] for name in ("a1", "b1", "c1", "d1")]
        assert rows[5:] == ["   and 4 others"]
        await click_in_moves(ui, "others")
        assert ui.moves == ["h8", "e1"]


async def test_a_variation_is_promoted_and_deleted(tmp_path: Path) -> None:
    async with board_app(AnalysingPlayer(15), folder=tmp_path, setup=TWO_PLAYERS, terminal=(120, 40)) as ui:
        await ui.press("w", "d", status="There is no move to delete here.")
        await ui.press("slash", *"h8i9h9h7", "enter", "comma", "comma")
        await ui.click("a1")
        (path,) = tmp_path.iterdir()
        assert len(read_games(path)[0].moves) == 4, "the main line stays"
        await ui.press("w", status="This is the main line now.")
        assert len(read_games(path)[0].moves) == 3
        await ui.press("w", status="This is the main line.")
        await ui.press("left_square_bracket", "d")
        await ui.shows(Question)
        assert "Delete h9 and 1 move after it? Until you leave the game, u brings them back." in ui.dialog
        await ui.press("n")
        assert names(read_trees(path)[0].main_line()[1]) == ["a1", "h9"]
        await ui.press("d", "y")
        await ui.until(lambda: "deleted" in ui.status)
        assert (ui.moves, line(ui)[2:]) == (["h8", "i9"], ["a1"])
        assert names(read_trees(path)[0].main_line()[1]) == ["a1"]


async def test_what_was_deleted_comes_back_where_it_was(tmp_path: Path) -> None:
    async with board_app(AnalysingPlayer(15), folder=tmp_path, setup=TWO_PLAYERS, terminal=(120, 40)) as ui:
        await ui.press("slash", *"h8i9h9h7", "enter")
        ui.app.control.review.describe(ui.app.game.node, "", "why")
        (path,) = tmp_path.iterdir()
        await ui.press("d", "y", status="h7 and all that followed are deleted: u brings them back.")
        await ui.press("d", "y", moves="h8 i9")
        assert len(read_games(path)[0].moves) == 2
        await ui.press("comma", "u", moves="")
        await ui.press("full_stop", "full_stop", "u", "u", moves="h8 i9 h9 h7")
        assert ui.status == "h7 and all that followed are back."
        assert read_games(path)[0].comments[-1] == "why"
        await ui.press("u", "d", "y")
        await ui.click("a1")
        await ui.press("comma", "u", moves="h8 i9 h9")
        assert names(read_trees(path)[0].main_line()[1]) == ["a1", "h9"], "what was played meanwhile keeps its place"


async def test_a_name_and_a_comment_are_written_shown_saved_and_read_back(tmp_path: Path) -> None:
    async with board_app(AnalysingPlayer(15), folder=tmp_path, setup=TWO_PLAYERS, terminal=(120, 40)) as ui:
        await ui.press("slash", *"h8i9", "enter", "comma")
        await ui.click("g7")
        await ui.press("e")
        await ui.shows(CommentScreen)
        await ui.press(*"why]", "enter", *"not", "shift+tab", *"trap", "ctrl+s")
        await ui.until(lambda: not isinstance(ui.app.screen, CommentScreen))
        assert "trap: why] not" in ui.panel
        await ui.press("e", *"x", "escape")
        assert ui.app.screen.query_one(TextArea).text == "why]\nnotx", "the cursor begins behind the text"
        await ui.until(lambda: str(ui.app.screen.query_one("#back", Button).label) == "esc again drops what was typed")
        await ui.press("escape")
        await ui.until(lambda: not isinstance(ui.app.screen, CommentScreen))
        await ui.press("left_square_bracket")
        assert "or 1... trap: g7" in ui.panel and "why]" not in ui.visible_panel
        await ui.press("right_square_bracket")
        await ui.until(lambda: ui.app.game.analysis_at(2) is not None and "Analysed" not in ui.status)
        await ui.press("o")
        await ui.shows(SavedGamesScreen)
        await ui.press("enter")
        await ui.until(lambda: not isinstance(ui.app.screen, SavedGamesScreen))
        await ui.press("comma", "right_square_bracket", "full_stop", "right_square_bracket")
        assert "trap: why] not" in ui.panel, "without the words of the analysis"
        assert ui.app.game.node.comment == "why]\nnot"
        assert ui.app.game.analysis_at(2) is not None
        await ui.press("e")
        await ui.shows(CommentScreen)
        await ui.pilot.click("#back")
        await ui.until(lambda: not isinstance(ui.app.screen, CommentScreen))


async def test_a_long_comment_scrolls_and_the_next_one_begins_at_its_start() -> None:
    async with board_app(AnalysingPlayer(15), setup=TWO_PLAYERS) as ui:
        await ui.paste(f"(;GM[4];B[hh]C[{100 * 'long '}];W[ii]C[{100 * 'other '}])")
        await ui.until(lambda: ui.app.control.review.active)
        comment = ui.main_screen.query_one("#comment")
        await ui.until(lambda: comment.max_scroll_y > 0)
        comment.scroll_end(animate=False)
        await ui.press("comma")
        await ui.until(lambda: comment.max_scroll_y > 0 and comment.scroll_y == 0)


async def test_the_engine_answers_along_the_line_and_what_was_taken_back_stays() -> None:
    async with board_app(ScriptedPlayer(15, ["i9", "a1", "a2", "a3"]), terminal=(120, 40)) as ui:
        await ui.play("h8")
        await ui.play("h9")
        await ui.press("u")
        await ui.play("c3", moves="h8 i9 c3 a2")
        assert ui.app.game.node.is_main(), "the game that goes on is the main line"
        assert "or 2 h9 a1" in ui.panel
        await ui.press("right_square_bracket", "b", moves="h8 i9 h9 a1")
        await ui.play("d4", moves="h8 i9 h9 a1 d4 a3")


async def test_a_move_is_deleted_while_the_engine_thinks() -> None:
    player = GatedPlayer(15, ["i9"])
    async with board_app(player) as ui:
        await ui.click("h8")
        await ui.until(player.thinking.is_set)
        await ui.press("d")
        await ui.shows(Question)
        assert "Delete h8? Until you leave the game, u brings it back." in ui.dialog
        await ui.press("y")
        await ui.until(lambda: ui.moves == [])
        await ui.press("b")
        player.release.set()
        await ui.play("c3")
        assert ui.moves[0] == "c3"


async def test_a_dialog_is_about_its_move_whatever_the_engine_answers_meanwhile() -> None:
    player = GatedPlayer(15, ["i9", "a1"])
    async with board_app(player) as ui:

        async def answer(count: int) -> None:
            player.release.set()
            await ui.until(lambda: len(ui.moves) == count)
            player.release.clear()
            player.thinking.clear()

        await ui.click("h8")
        await ui.press("e", *"why")
        await answer(2)
        await ui.press("ctrl+s")
        assert ui.app.game.tree.main_line()[0].comment == "why"
        await ui.click("h9")
        await ui.press("d", dialog="Delete h9?")
        await answer(4)
        await ui.press("y", moves="h8 i9")


FOREIGN = (
    "(;GM[4]SZ[15]PB[Ann]KM[6.5];B[hh]LB[cc:Z\\\\][hh:Q][zz:1]C[one]"
    "(;W[hi]N[main];B[ii])(;C[a remark];W[gg]C[two])(;W[];B[aa]))"
)


async def test_a_foreign_file_keeps_its_variations(tmp_path: Path) -> None:
    path, folder = tmp_path / "foreign.sgf", tmp_path / "games"
    path.write_text(FOREIGN)
    found = opened(path)
    setup = BoardSetup(game=Game.from_saved(found.game), path=found.path, reviews=True)
    async with board_app(AnalysingPlayer(15), folder=folder, setup=setup, terminal=(120, 40)) as ui:
        await ui.press("right_square_bracket")
        assert ui.moves == ["h8", "g9"] and "two" in ui.panel
        assert "Ann" in ui.panel and "human" not in ui.panel
        await ui.press("comma", moves="h8")
        assert "Z\\" in ui.line(13) and "Q" in ui.line(8), "labels"
        await ui.press("full_stop", moves="h8 g9")
        assert "Z" not in ui.line(13)
        await ui.click("o15")
        await ui.until(folder.exists)
    assert path.read_text() == FOREIGN
    (copy,) = folder.iterdir()
    text = copy.read_text()
    for written in (
        "KM[6.5]",
        "LB[cc:Z\\\\][hh:Q][zz:1]",
        "N[main]",
        "C[a remark]",
        "(;W[]\n;B[aa])",
        "SO[foreign.sgf]",
        "PB[Ann]",
    ):
        assert written in text
    assert names(read_trees(copy)[0].variations[0].variations[1]) == ["o15"]


def test_a_file_with_too_many_nodes_shows_its_main_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MAX_NODES", 5)
    path = tmp_path / "large.sgf"
    path.write_text(FOREIGN)
    found = opened(path)
    assert found.remark == "it has more than 5 nodes, so its variations are left out"
    assert [len(node.children) for node in found.game.tree.nodes()] == [1, 1, 1, 0]
