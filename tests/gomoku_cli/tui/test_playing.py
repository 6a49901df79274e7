"""Playing by keyboard, mouse and typed coordinates; turns, undo, and results."""

import pytest
from textual import events
from textual.geometry import Offset, Region

from core.notation import parse_cell
from core.rules import EMPTY, NO_CELL, WHITE, Rules, Variant
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.game import Seats
from gomoku_cli.tui.setup import BoardSetup, Course
from gomoku_cli.tui.widgets.board import BoardWidget
from tests.support.scripted_players import GatedPlayer, ScriptedPlayer
from tests.support.tui import TWO_PLAYERS, ThreadEngine, board_app


async def test_a_game_by_keys_mouse_and_typed_moves() -> None:
    async with board_app(ScriptedPlayer(15, ["i9", "a1", "a2", "a3"])) as ui:
        assert ui.status == "Your move."
        assert ui.board.cursor == parse_cell("h8", 15)
        await ui.press("enter")
        await ui.until(lambda: ui.moves == ["h8", "i9"])
        assert "  1 h8   i9" in ui.panel
        assert "Black 38 %   White 62 %" in ui.panel
        assert "1,234 simulations, " in ui.panel
        assert "scripted [b]: 400 simulations, semi-stochastic up to 6 stones" in ui.panel
        assert ui.line(9) == " 9 ├─┼─┼─┼─┼─┼─┼─┼(◉)┼─┼─┼─┼─┼─┤ "
        await ui.press("up", "right", "right", "h", "j", "j", "k", "l", "space")
        await ui.until(lambda: ui.moves[2:] == ["j8", "a1"])
        await ui.press("slash", "c", "3", "enter")
        await ui.until(lambda: ui.moves[4:] == ["c3", "a2"])
        assert ui.board.cursor == parse_cell("c3", 15)
        await ui.press("D", "1", "2", "enter")
        await ui.until(lambda: ui.moves[6:] == ["d12", "a3"])
        await ui.click("i9", status="i9 already holds a stone.")
        for button in (2, 3):
            await ui.click("f2", button=button)
        start, end = (ui.board.cell_region(parse_cell(name, 15)).offset for name in ("f2", "g2"))
        await ui.pilot.mouse_down(ui.board, offset=start)
        ui.board.post_message(events.Click(ui.board, *end, 0, 0, 1, False, False, False))
        await ui.pilot.pause()
        await ui.pilot.click(ui.board, offset=Offset(0, 3))
        await ui.pilot.click(ui.board, offset=Offset(10, 15))
        assert len(ui.moves) == 8
        await ui.press("slash", "x", "9", "enter")
        assert "is off the board" in ui.status
        await ui.press("slash", "escape", "enter")
        assert len(ui.moves) == 8, "the typed line is closed, and the cursor is on a stone"
        assert ui.app.focused is ui.board


async def test_moves_that_are_typed_faster_than_the_screen_works_stay_apart() -> None:
    setup = TWO_PLAYERS
    async with board_app(ScriptedPlayer(15), setup=setup) as ui:
        for character in "/h8\r/i9\r/g7\rH9\r/a1\r/b1\r":
            key = {"/": "slash", "\r": "enter"}.get(character, character)
            ui.app.post_message(events.Key(key, character))
        await ui.until(lambda: len(ui.moves) == 6)
        assert ui.moves == ["h8", "i9", "g7", "h9", "a1", "b1"]
        await ui.press("slash", "8", "h", "backspace", "backspace", "c", "3", "enter")
        assert ui.moves[6:] == ["c3"]
        await ui.press("slash")
        ui.app.post_message(events.Paste("d4\n"))
        await ui.press("enter")
        assert ui.moves[7:] == ["d4"]
        await ui.press("slash", "z", "enter")
        assert ui.status == "'z' is no cell: write a column letter and a row number, a1 to o15."
        await ui.press("e", "5", "enter")
        assert ui.moves[8:] == ["e5"], "the line stays open, so the next try is no row of keys"
        await ui.press("slash", "e", "5", "enter", status="e5 already holds a stone.")
        await ui.press("g", "5", "enter")
        assert ui.moves[9:] == ["g5"]
        await ui.press("slash", "z", "enter", "enter")
        assert ui.status == "Black to move.", "an empty line takes the error away"
        await ui.press("slash", "z", "enter", "escape", "j")
        assert ui.moves[10:] == []


async def test_the_cursor_stops_at_the_edge_and_only_changed_cells_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    async with board_app(ScriptedPlayer(3), size=3, connect=3) as ui:
        await ui.press("left", "left", "left", "down", "down")
        assert ui.board.cursor == parse_cell("a1", 3)
        await ui.press("right", "right", "right", "up", "up", "up")
        assert ui.board.cursor == parse_cell("c3", 3)
        drawn: list[tuple[Region, ...]] = []
        refresh = ui.board.refresh

        def refresh_and_record(*regions: Region, **_: object) -> BoardWidget:
            drawn.append(regions)
            return refresh(*regions)

        monkeypatch.setattr(ui.board, "refresh", refresh_and_record)
        await ui.press("left")
        c3, b3 = (ui.board.cell_region(parse_cell(name, 3)) for name in ("c3", "b3"))
        assert drawn == [(c3, b3)]
        drawn.clear()
        await ui.pilot.click("#panel")
        await ui.press("enter")
        await ui.until(lambda: len(ui.moves) == 2)
        assert all(len(regions) in (1, 2) for regions in drawn), "a move draws its cell and the one before"


async def test_the_mouse_shows_a_stone_only_where_a_click_would_place_it() -> None:
    player = GatedPlayer(15, ["a1"])
    async with board_app(player) as ui:
        await ui.pilot.hover(ui.board, offset=Offset(3, 0))
        assert ui.line(15).startswith("15 ●─┬")
        await ui.click("h8")
        await ui.pilot.hover(ui.board, offset=Offset(3, 0))
        assert ui.board.ghost == EMPTY
        assert ui.line(15).startswith("15 ┌─┬")
        await ui.pilot.hover("#panel")
        assert ui.board.hover == NO_CELL
        player.release.set()


async def test_undo_redo_and_swapped_sides() -> None:
    async with board_app(ScriptedPlayer(15, ["a1", "a2", "a3", "b3"])) as ui:
        await ui.press("u", status="You have no move to take back.")
        await ui.press("r", status="There is no move to play again.")
        await ui.play("h8")
        await ui.play("h9")
        await ui.press("u", moves="h8 a1")
        await ui.press("u", moves="", panel="No value yet")
        await ui.press("r", "r", moves="h8 a1 h9 a2", status="Your move.")
        await ui.press("s")
        await ui.until(lambda: ui.moves[4:] == ["a3"])
        assert ui.app.game.seats.human == WHITE
        assert "white  you" in ui.panel
        await ui.play("c9")
        assert ui.moves[5:] == ["c9", "b3"]


async def test_the_engine_begins_when_the_human_is_white() -> None:
    async with board_app(ScriptedPlayer(15, ["h8", "h9"]), human=WHITE) as ui:
        await ui.until(lambda: ui.moves == ["h8"])
        assert "black  scripted [b]" in ui.panel
        await ui.press("u", status="You have no move to take back.")
        await ui.play("a1")
        await ui.press("u", moves="h8")


async def test_a_win_is_shown_in_words_and_on_the_board() -> None:
    async with board_app(ScriptedPlayer(15, ["a1", "b1", "c1", "d1"])) as ui:
        for name in ("c3", "d4", "e5", "f6"):
            await ui.play(name)
        before = {name: ui.background(name) for name in ("c3", "g7", "a1")}
        await ui.play("g7")
        await ui.click("o1", status="Black has 5 in a row: you have won. s plays a rematch, n a new game.")
        assert "Black has won" in ui.panel
        line = {ui.background(name) for name in ("d4", "e5", "f6", "g7")}
        assert len(line) == 1
        assert line.isdisjoint(before.values())
        assert ui.background("a1") == before["a1"]
        assert len(ui.moves) == 9
        await ui.press("i", status="There is a hint when it is your turn.")
        await ui.press("u")
        assert ui.moves[-1] == "d1"
        assert ui.background("d4") == before["c3"]


async def test_two_humans_play_without_an_engine() -> None:
    async with board_app({}, setup=TWO_PLAYERS) as ui:
        for name, then in (("h8", "White to move."), ("h9", "Black to move.")):
            await ui.click(name)
            assert ui.status == then
        await ui.press("u", moves="h8")
        await ui.press("s")
        assert ui.status.startswith("Sides are swapped where")


async def test_two_engines_play_each_other_and_can_be_paused() -> None:
    gated = GatedPlayer(15, ["i9", "a2"])
    engine = ThreadEngine({"one": ScriptedPlayer(15, ["h8", "h9", "a3", RuntimeError("enough")]), "two": gated})
    setup = BoardSetup(seats=Seats(PlayerChoice(spec="one"), PlayerChoice(spec="two")))
    async with board_app(engine, setup=setup) as ui:
        await ui.until(gated.thinking.is_set)
        assert ui.moves == ["h8"]
        await ui.press("enter", status="Paused. Press enter to go on.")
        await ui.press("enter")
        assert "two is thinking" in ui.status
        await ui.press("u", moves="", status="Paused. Press enter to go on.")
        gated.release.set()
        await ui.press("enter")
        await ui.until(lambda: len(ui.moves) >= 4)
        assert ui.moves[0] == "h9"
        assert ui.app.game.seats.human == EMPTY


async def test_two_engines_move_at_a_pace_which_esc_ends() -> None:
    seats = Seats(PlayerChoice(spec="one"), PlayerChoice(spec="two"))
    engine = ThreadEngine({"one": ScriptedPlayer(15, ["h8", "h9"]), "two": ScriptedPlayer(15, ["i9"])})
    async with board_app(engine, setup=BoardSetup(seats=seats, course=Course(pace_s=3600))) as ui:
        await ui.until(lambda: ui.status == "two has chosen its move.")
        assert ui.moves == ["h8"]
        await ui.press("enter")
        assert (ui.moves, ui.status) == (["h8"], "Paused. Press enter to go on.")
        await ui.press("enter")
        await ui.until(lambda: ui.app.control._tasks.held is not None)
        await ui.press("escape")
        assert ui.moves[0] == "h8" and len(ui.moves) == 2
    one = ScriptedPlayer(15, ["h8", "h9", RuntimeError("enough")])
    engine = ThreadEngine({"one": one, "two": ScriptedPlayer(15)})
    async with board_app(engine, setup=BoardSetup(seats=seats, course=Course(pace_s=0.05))) as ui:
        await ui.until(lambda: len(ui.moves) > 2)


async def test_the_bell_rings_when_it_is_the_humans_turn_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for bell, expected in ((False, []), (True, [2, 4, 4])):
        setup = BoardSetup(seats=Seats(None, PlayerChoice(spec="default")), course=Course(bell=bell))
        async with board_app(ScriptedPlayer(15, ["i9", "i10"]), setup=setup) as ui:
            rung: list[int] = []
            monkeypatch.setattr(ui.app, "bell", lambda rung=rung, ui=ui: rung.append(ui.app.game.ply))
            await ui.play("h8")
            await ui.play("c3")
            await ui.press("minus", "y")
            assert rung == expected


async def test_renju_marks_forbidden_cells_beside_threats_and_refuses_them_with_the_reason() -> None:
    setup = BoardSetup(rules=Rules(variant=Variant.RENJU), seats=Seats(None, None))
    async with board_app(ScriptedPlayer(15), setup=setup) as ui:
        for name in "i8 d4 j8 e5 h9 f6 h10 g7".split():
            await ui.click(name)
        assert len(ui.moves) == 8
        row = ui.line(8)
        assert row[3 + 2 * 7] == "x", row
        await ui.press("f")
        await ui.until(lambda: ui.line(8)[3 + 2 * 7 :].startswith("x5"))
        await ui.click("h8", status="Renju forbids Black 3-3 at h8: h8-j8 and h8-h10.")
        assert len(ui.moves) == 8
        await ui.click("o15")
        assert "x" not in ui.line(8), "White may play there"
