"""The board on the screen, played through Textual's pilot against a player whose moves are written down."""

import asyncio
import threading
import time
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.geometry import Offset, Region
from textual.pilot import Pilot

from core.notation import cell_name, parse_cell
from core.position import Position
from core.rules import BLACK, EMPTY, NO_CELL, WHITE, Cell, Colour, Rules
from gomoku_cli.tui import app as app_module
from gomoku_cli.tui.app import GomokuApp, run_board
from gomoku_cli.tui.board import BoardWidget, BoardWindow, star_points
from gomoku_cli.tui.panels import HelpScreen
from nets.config import RuntimeNotice
from search.players import Decision, Player, never

LIMIT_S = 10.0
"""How long anything awaited may take before the test fails."""


class Scripted:
    """Plays the moves it was given, then the first empty cell; one that raises stands for itself in the list."""

    name = "scripted"

    def __init__(self, size: int, moves: Iterable[str | Exception] = ()) -> None:
        self.size = size
        self.moves = list(moves)
        self.asked: list[list[Cell]] = []
        self.threads: set[threading.Thread] = set()

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], stop: Callable[[], bool] = never
    ) -> list[Decision]:
        (position,) = positions
        self.asked.append(list(position.moves))
        self.threads.add(threading.current_thread())
        move = self.moves.pop(0) if self.moves else cell_name(int(position.legal_moves()[0]), self.size)
        if isinstance(move, Exception):
            raise move
        return [Decision(parse_cell(move, self.size), 0.25, None, 1234)]


class Gated(Scripted):
    """Decides only once `release` is set; with `obedient`, also once it is told to stop."""

    def __init__(self, size: int, moves: Iterable[str | Exception] = (), *, obedient: bool = True) -> None:
        super().__init__(size, moves)
        self.release = threading.Event()
        self.thinking = threading.Event()
        self.stopped = False
        self.obedient = obedient

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], stop: Callable[[], bool] = never
    ) -> list[Decision]:
        self.thinking.set()
        deadline = time.monotonic() + LIMIT_S
        while not self.release.wait(0.005) and time.monotonic() < deadline:
            if stop():
                self.stopped = True
                if self.obedient:
                    break
        return super().choose_batch(positions, seeds=seeds, stop=stop)


class Pondering(Scripted):
    """Ponders until it is told to stop, or until `full` is set."""

    def __init__(self, size: int, moves: Iterable[str | Exception] = (), failure: Exception | None = None) -> None:
        super().__init__(size, moves)
        self.pondered: list[list[Cell]] = []
        """What was pondered, in order."""
        self.ended = 0
        self.full = threading.Event()
        self.failure = failure

    @property
    def is_pondering(self) -> bool:
        return len(self.pondered) > self.ended

    def ponder(self, position: Position, stop: Callable[[], bool]) -> None:
        self.threads.add(threading.current_thread())
        self.pondered.append(list(position.moves))
        deadline = time.monotonic() + LIMIT_S
        try:
            if self.failure is not None:
                raise self.failure
            while not stop() and not self.full.wait(0.002):
                assert time.monotonic() < deadline, "nobody stops it"
        finally:
            self.ended += 1

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], stop: Callable[[], bool] = never
    ) -> list[Decision]:
        assert not self.is_pondering
        return super().choose_batch(positions, seeds=seeds, stop=stop)


class Table:
    """The app with its pilot, and what a test wants to see of it."""

    def __init__(self, app: GomokuApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot
        self.board = app.screen.query_one(BoardWidget)
        self.main_screen = app.screen

    @property
    def moves(self) -> list[str]:
        return [cell_name(move, self.app.position.rules.size) for move in self.app.position.moves]

    @property
    def status(self) -> str:
        return str(self.main_screen.query_one("#status").render())

    @property
    def panel(self) -> str:
        return "\n".join(str(static.render()) for static in self.main_screen.query("#panel Static"))

    def line(self, row: int) -> str:
        """The text of a row of the board, counted from 1 as on its edge; 0 is the line of letters."""
        return self.board.render_line(self.app.position.rules.size - row).text

    def background(self, name: str) -> str:
        """The colour behind a cell, as its name."""
        cell = parse_cell(name, self.app.position.rules.size)
        region = self.board.cell_region(cell)
        style = next(iter(self.board.render_line(region.y).crop(region.x + 1, region.x + 2))).style
        assert style is not None
        assert style.bgcolor is not None
        return style.bgcolor.name

    async def until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LIMIT_S
        while not holds():
            assert time.monotonic() < deadline, f"it never came about; the status says {self.status!r}"
            await asyncio.sleep(0.005)
        await self.pilot.pause(0.0)

    async def click(self, name: str, button: int = 1) -> None:
        region = self.board.cell_region(parse_cell(name, self.app.position.rules.size))
        await self.pilot.click(self.board, offset=Offset(region.x + 1, region.y), button=button)

    async def play(self, name: str) -> None:
        """Clicks and waits for the model's answer."""
        await self.click(name)
        await self.until(lambda: not self.app.is_busy)


@asynccontextmanager
async def table(
    player: Player,
    *,
    size: int = 15,
    human: Colour = BLACK,
    terminal: tuple[int, int] = (80, 24),
    ascii_only: bool = False,
    ponders: bool = False,
    connect: int = 5,
) -> AsyncIterator[Table]:
    """The app with its model loaded."""
    app = GomokuApp(
        player_factory=lambda: player,
        rules=Rules(size, connect),
        human=human,
        policy_text="deterministic [a]",
        model_text="scripted [b]",
        ponders=ponders,
        ascii_only=ascii_only,
    )
    async with app.run_test(size=terminal) as pilot:
        try:
            seated = Table(app, pilot)
            await seated.until(lambda: not app.is_loading)
            yield seated
        finally:
            app.close()


def play(scene: Coroutine[None, None, None]) -> None:
    asyncio.run(asyncio.wait_for(scene, 3 * LIMIT_S))


def test_a_click_plays_and_the_model_answers() -> None:
    async def scene() -> None:
        async with table(Scripted(15, ["i9"])) as seated:
            assert seated.status == "Your move."
            await seated.play("a1")
            assert seated.moves == ["a1", "i9"]
            assert "  1 a1  i9" in seated.panel
            assert "+0.25 for the model\n-0.25 for you\n1,234 simulations, " in seated.panel
            assert "deterministic [a]" in seated.panel
            assert "scripted [b]" in seated.panel
            assert seated.line(1).startswith(" 1[●]┴─┴")
            assert seated.line(9) == " 9 ├─┼─┼─┼─┼─┼─┼─┼(○)┼─┼─┼─┼─┼─┤ "

    play(scene())


def test_other_mouse_buttons_play_nothing() -> None:
    async def scene() -> None:
        async with table(Scripted(15)) as seated:
            for button in (2, 3):
                await seated.click("h8", button=button)
            assert seated.moves == []

    play(scene())


def test_a_click_beside_the_grid_plays_nothing() -> None:
    async def scene() -> None:
        async with table(Scripted(15)) as seated:
            await seated.pilot.click(seated.board, offset=Offset(0, 3))
            await seated.pilot.click(seated.board, offset=Offset(10, 15))
            assert seated.moves == []

    play(scene())


def test_the_keyboard_moves_the_cursor_and_plays() -> None:
    async def scene() -> None:
        async with table(Scripted(15, ["a1", "a2"])) as seated:
            assert seated.board.cursor == parse_cell("h8", 15)
            await seated.pilot.press("up", "right", "right", "enter")
            await seated.until(lambda: len(seated.moves) == 2)
            await seated.pilot.press("h", "h", "h", "j", "j", "k", "l", "space")
            await seated.until(lambda: len(seated.moves) == 4)
            assert seated.moves == ["j9", "a1", "h8", "a2"]

    play(scene())


def test_the_cursor_stops_at_the_edge() -> None:
    async def scene() -> None:
        async with table(Scripted(3), size=3, connect=3) as seated:
            await seated.pilot.press("left", "left", "left", "down", "down")
            assert seated.board.cursor == parse_cell("a1", 3)
            await seated.pilot.press("right", "right", "right", "up", "up", "up")
            assert seated.board.cursor == parse_cell("c3", 3)

    play(scene())


def test_keys_still_reach_the_board_after_a_click_elsewhere() -> None:
    async def scene() -> None:
        async with table(Scripted(15)) as seated:
            await seated.pilot.click("#panel")
            await seated.pilot.press("left", "enter")
            assert seated.moves[:1] == ["g8"]

    play(scene())


def test_an_occupied_cell_is_refused_with_a_message() -> None:
    async def scene() -> None:
        async with table(Scripted(15, ["i9"])) as seated:
            await seated.play("h8")
            for name in ("h8", "i9"):
                await seated.click(name)
                assert seated.moves == ["h8", "i9"]
                assert seated.status == f"{name} already holds a stone."
            await seated.play("h9")
            assert seated.status == "Your move."

    play(scene())


def test_the_model_begins_when_the_human_is_white() -> None:
    async def scene() -> None:
        async with table(Scripted(15, ["h8", "h9"]), human=WHITE) as seated:
            await seated.until(lambda: seated.moves == ["h8"])
            assert "black  the model" in seated.panel
            await seated.pilot.press("u")
            assert seated.moves == ["h8"]
            assert seated.status == "You have no move to take back."
            await seated.play("a1")
            assert seated.moves == ["h8", "a1", "h9"]
            await seated.pilot.press("u")
            assert seated.moves == ["h8"]
            assert seated.status == "Your move."
            assert "+0.25 for the model" in seated.panel

    play(scene())


def test_undo_takes_back_the_answer_and_the_move() -> None:
    async def scene() -> None:
        async with table(Scripted(15, ["a1", "a2"])) as seated:
            await seated.play("h8")
            await seated.play("h9")
            await seated.pilot.press("u")
            assert seated.moves == ["h8", "a1"]
            await seated.pilot.press("u")
            assert seated.moves == []
            assert "no move yet" in seated.panel
            await seated.pilot.press("u")
            assert seated.status == "You have no move to take back."

    play(scene())


@pytest.mark.parametrize("obedient", [True, False], ids=["obedient", "deaf to stop"])
def test_undo_while_the_model_thinks_drops_its_answer(obedient: bool) -> None:
    async def scene() -> None:
        player = Gated(15, ["a1", "o15"], obedient=obedient)
        async with table(player) as seated:
            await seated.click("h8")
            await seated.until(player.thinking.is_set)
            await seated.pilot.press("u")
            assert seated.moves == []
            assert seated.status == "Your move."
            await seated.until(lambda: player.stopped)
            # The stale answer a1 comes at its leisure, beside a question asked after it.
            await seated.click("g7")
            player.release.set()
            await seated.until(lambda: not seated.app.is_busy)
            assert seated.moves == ["g7", "o15"]
            assert len(player.asked) == 2

    play(scene())


@pytest.mark.parametrize("key", ["n", "c"])
def test_a_new_game_while_the_model_thinks_drops_its_answer(key: str) -> None:
    async def scene() -> None:
        player = Gated(15, ["a1", "o15"])
        async with table(player) as seated:
            await seated.click("h8")
            await seated.until(player.thinking.is_set)
            await seated.pilot.press(key, key)
            await seated.until(lambda: player.stopped)
            player.release.set()
            await seated.until(lambda: not seated.app.is_busy)
            assert seated.app.human == (BLACK if key == "n" else WHITE)
            assert seated.moves == ([] if key == "n" else ["o15"])

    play(scene())


@pytest.mark.parametrize("key", ["n", "c"])
def test_a_game_in_progress_is_dropped_only_when_asked_twice(key: str) -> None:
    async def scene() -> None:
        async with table(Scripted(15, ["a1", "a2", "a3"])) as seated:
            await seated.play("h8")
            await seated.pilot.press(key)
            assert seated.status.startswith(f"A game is in progress. Press {key} again")
            await seated.play("h9")
            await seated.pilot.press(key)
            assert seated.moves == ["h8", "a1", "h9", "a2"], "the game went on since it was asked first"
            assert seated.app.human == BLACK
            await seated.pilot.press(key)
            await seated.until(lambda: not seated.app.is_busy)
            assert seated.moves == ([] if key == "n" else ["a3"])
            assert seated.app.human == (BLACK if key == "n" else WHITE)

    play(scene())


def test_a_game_that_the_human_has_not_begun_is_dropped_at_once() -> None:
    async def scene() -> None:
        async with table(Scripted(15, ["a1", "a2"]), human=WHITE) as seated:
            await seated.until(lambda: seated.moves == ["a1"])
            await seated.pilot.press("n")
            await seated.until(lambda: seated.moves == ["a2"])
            await seated.pilot.press("c")
            assert seated.moves == []
            assert seated.app.human == BLACK

    play(scene())


def test_the_question_stays_on_the_screen_while_the_model_thinks() -> None:
    async def scene() -> None:
        player = Gated(15, ["a1"])
        async with table(player) as seated:
            await seated.click("h8")
            await seated.until(player.thinking.is_set)
            await seated.pilot.press("n")
            await asyncio.sleep(0.7)  # longer than the status of a thinking model takes to be drawn again
            assert seated.status.startswith("A game is in progress.")
            player.release.set()
            await seated.until(lambda: seated.moves == ["h8", "a1"])
            assert seated.status == "Your move."

    play(scene())


def test_a_win_is_said_and_its_line_shown() -> None:
    async def scene() -> None:
        async with table(Scripted(15, ["a1", "b1", "c1", "d1"])) as seated:
            for name in ("c3", "d4", "e5", "f6"):
                await seated.play(name)
            before = {name: seated.background(name) for name in ("c3", "g7", "a1")}
            await seated.play("g7")
            await seated.click("o1")
            assert seated.status == "Black has 5 in a row: you have won. Press n for a new game."
            assert "The game is over" in seated.panel
            line = {seated.background(name) for name in ("d4", "e5", "f6", "g7")}
            assert len(line) == 1
            assert line.isdisjoint(before.values())
            assert seated.background("c3") in line
            assert seated.background("a1") == before["a1"]
            assert len(seated.moves) == 9
            await seated.pilot.press("u")
            assert seated.moves[-1] == "d1"
            assert seated.status == "Your move."
            assert seated.background("d4") == before["c3"]

    play(scene())


def test_the_models_win_is_said() -> None:
    async def scene() -> None:
        async with table(Scripted(5, ["a1", "b1", "c1"]), size=5, connect=3) as seated:
            for name in ("a5", "c5", "e5"):
                await seated.play(name)
            assert seated.status == "White has 3 in a row: the model has won."
            await seated.pilot.press("n")
            assert seated.moves == []
            assert seated.status == "Your move."

    play(scene())


def test_a_full_board_is_a_draw() -> None:
    async def scene() -> None:
        async with table(Scripted(3, ["b2", "a3", "b1", "c2"]), size=3, connect=3) as seated:
            for name in ("a1", "c3", "c1", "b3", "a2"):
                await seated.play(name)
            assert seated.status == "The board is full: a draw."

    play(scene())


def test_the_screen_stays_alive_while_the_model_thinks() -> None:
    async def scene() -> None:
        player = Gated(15, ["a1"])
        async with table(player) as seated:
            await seated.click("h8")
            await seated.until(player.thinking.is_set)
            assert seated.status.startswith("The model is thinking... ")
            await seated.pilot.press("left")
            assert seated.board.cursor == parse_cell("g8", 15)
            await seated.pilot.hover(seated.board, offset=Offset(3, 0))
            assert seated.board.hover == parse_cell("a15", 15)
            await seated.click("c3")
            assert seated.moves == ["h8"]
            assert seated.status.startswith("The model is thinking... ")
            player.release.set()
            await seated.until(lambda: seated.moves == ["h8", "a1"])

    play(scene())


def test_the_model_may_answer_while_the_help_is_open() -> None:
    async def scene() -> None:
        player = Gated(15, ["a1"])
        async with table(player) as seated:
            await seated.click("h8")
            await seated.until(player.thinking.is_set)
            await seated.pilot.press("question_mark")
            assert isinstance(seated.app.screen, HelpScreen)
            player.release.set()
            await seated.until(lambda: seated.moves == ["h8", "a1"])
            await seated.pilot.press("u")
            assert seated.moves == ["h8", "a1"], "the help keeps the keys to itself"
            await seated.pilot.press("q")
            assert seated.app.screen is seated.main_screen

    play(scene())


def test_quitting_while_the_model_thinks_ends_its_thread() -> None:
    async def scene() -> None:
        player = Gated(15)
        async with table(player) as seated:
            await seated.click("h8")
            await seated.until(player.thinking.is_set)
            await seated.pilot.press("q")
        assert player.stopped
        assert player.threads
        assert not any(thread.is_alive() for thread in player.threads)

    play(scene())


def test_the_model_ponders_while_the_human_thinks_and_only_then() -> None:
    async def scene() -> None:
        player = Pondering(15, ["a1", "a2"])
        async with table(player, ponders=True) as seated:
            await seated.until(lambda: player.pondered == [[]])
            assert "The model ponders" in seated.panel
            assert seated.status == "Your move."
            await seated.play("h8")
            await seated.until(lambda: len(player.pondered) == 2)
            assert player.asked == [player.pondered[1][:1]]
            assert player.pondered[1] == seated.app.position.moves
            await seated.click("h8")
            assert seated.status == "h8 already holds a stone."
            assert player.is_pondering, "a move that is none changes nothing"
            await seated.pilot.press("u")
            await seated.until(lambda: player.pondered[2:] == [[]])
            assert player.ended == 2
            await seated.pilot.press("c")
            await seated.until(lambda: len(player.pondered) == 4)
            assert seated.moves == ["a2"]
            await seated.pilot.press("n")
            await seated.until(lambda: len(player.pondered) == 5)
            assert len(player.threads) == 1
        assert not player.is_pondering
        assert not any(thread.is_alive() for thread in player.threads)

    play(scene())


def test_nobody_ponders_a_game_that_is_over() -> None:
    async def scene() -> None:
        player = Pondering(3, ["b1", "b2"])
        async with table(player, size=3, connect=3, ponders=True) as seated:
            for name in ("a1", "a2", "a3"):
                await seated.play(name)
            assert "you have won" in seated.status
            await seated.until(lambda: not player.is_pondering)
            assert "The model ponders" not in seated.panel

    play(scene())


def test_nobody_ponders_unless_asked_to() -> None:
    async def scene() -> None:
        player = Pondering(15)
        async with table(player) as seated:
            await seated.play("h8")
            assert player.pondered == []
            assert "The model ponders" not in seated.panel

    play(scene())


def test_quitting_stops_pondering_at_once() -> None:
    async def scene() -> None:
        player = Pondering(15)
        async with table(player, ponders=True) as seated:
            await seated.until(lambda: player.is_pondering)
            started = time.monotonic()
            await seated.pilot.press("q")
        assert time.monotonic() - started < 2
        assert player.ended == 1
        assert not any(thread.is_alive() for thread in player.threads)

    play(scene())


def test_pondering_that_ends_by_itself_is_no_longer_shown() -> None:
    async def scene() -> None:
        player = Pondering(15, ["a1"])
        async with table(player, ponders=True) as seated:
            player.full.set()
            await seated.until(lambda: "The model ponders" not in seated.panel)
            await seated.play("h8")
            assert seated.moves == ["h8", "a1"]

    play(scene())


def test_a_failure_to_ponder_is_shown_and_the_game_goes_on_without() -> None:
    async def scene() -> None:
        player = Pondering(15, ["a1"], failure=MemoryError("too many nodes"))
        async with table(player, ponders=True) as seated:
            await seated.until(lambda: "MemoryError: too many nodes" in seated.status)
            await seated.play("h8")
            assert seated.moves == ["h8", "a1"]
            assert seated.status == "Your move."
            assert len(player.pondered) == 1

    play(scene())


def test_how_the_model_runs_is_told_in_the_panel_and_after_the_game(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app_module, "GomokuApp", Headless)
    panels: list[str] = []

    def read(app: GomokuApp) -> None:
        panels.append("\n".join(str(static.render()) for static in app.screen.query("#about Static")))

    monkeypatch.setattr(Headless, "look", read)
    monkeypatch.setattr(Headless, "keys", ("q",))

    def factory() -> Player:
        for _ in range(2):
            warnings.warn("the abacus [a]\nis missing", RuntimeNotice, stacklevel=1)
        return Scripted(15)

    run_board(player_factory=factory, rules=Rules(), human=BLACK, policy_text="", model_text="")
    assert "Note\nthe abacus [a] is missing" in panels[0]
    assert capsys.readouterr().err == "note: the abacus [a] is missing\n"


def test_a_terminal_too_narrow_for_the_panel_still_says_who_plays_what() -> None:
    async def scene() -> None:
        async with table(Scripted(15), terminal=(59, 24)) as seated:
            assert str(seated.main_screen.query_one("#title").render()) == "You are black   5 in a row on 15x15"
            await seated.pilot.press("c")
            assert str(seated.main_screen.query_one("#title").render()).startswith("You are white")
            await seated.pilot.resize_terminal(60, 24)
            await seated.pilot.pause()
            assert str(seated.main_screen.query_one("#title").render()).startswith("Gomoku")
            assert "white  you" in seated.panel

    play(scene())


def test_an_error_of_the_model_is_shown_and_the_game_goes_on() -> None:
    async def scene() -> None:
        player = Scripted(15, [RuntimeError("[b]no\nmemory"), RuntimeError("none"), "a1", "h8"])
        async with table(player) as seated:
            await seated.play("h8")
            assert seated.status == "The model failed (enter: ask again, u: undo). RuntimeError: [b]no memory"
            assert seated.moves == ["h8"]
            await seated.pilot.press("u")
            assert seated.moves == []
            assert seated.status == "Your move."
            await seated.play("h8")
            assert seated.status.endswith("none")
            await seated.pilot.press("enter")
            await seated.until(lambda: seated.moves == ["h8", "a1"])
            await seated.play("g7")
            assert "IllegalMoveError: " in seated.status
            assert seated.moves == ["h8", "a1", "g7"]

    play(scene())


@pytest.mark.parametrize(("size", "terminal"), [(3, (80, 24)), (15, (80, 24)), (20, (80, 24)), (15, (120, 40))])
def test_board_and_panel_fit_side_by_side(size: int, terminal: tuple[int, int]) -> None:
    async def scene() -> None:
        async with table(Scripted(size), size=size, connect=3, terminal=terminal) as seated:
            board, panel = seated.board.region, seated.main_screen.query_one("#panel").region
            window = seated.main_screen.query_one(BoardWindow).region
            assert window.contains_region(board)
            assert board.height == size + 1
            assert not board.overlaps(panel)
            assert panel.right == terminal[0]
            assert panel.width >= 26
            assert seated.line(0).split() == [chr(ord("a") + column) for column in range(size)]
            assert seated.line(1).startswith(" 1")
            assert seated.line(size).startswith(f"{size:>2}")

    play(scene())


def test_a_large_board_scrolls_after_the_cursor() -> None:
    async def scene() -> None:
        async with table(Scripted(25), size=25) as seated:
            window = seated.main_screen.query_one(BoardWindow)
            assert seated.board.region.height > window.region.height
            seated.board.cursor = 1
            await seated.pilot.press("left")
            corner = seated.board.cell_region(0).translate(seated.board.region.offset)
            assert window.region.contains_region(corner)
            await seated.play("b1")
            assert seated.moves[0] == "b1"

    play(scene())


def test_resizing_keeps_the_cursor_in_sight() -> None:
    async def scene() -> None:
        async with table(Scripted(15), terminal=(120, 40)) as seated:
            seated.board.cursor = parse_cell("h1", 15)
            for width, height in ((80, 24), (62, 14), (40, 10), (10, 4), (120, 40)):
                await seated.pilot.resize_terminal(width, height)
                await seated.pilot.pause()
                if width >= 40:
                    cursor = seated.board.cell_region(seated.board.cursor).translate(seated.board.region.offset)
                    assert seated.main_screen.query_one(BoardWindow).region.contains_region(cursor)
            await seated.pilot.press("enter")
            await seated.until(lambda: len(seated.moves) == 2)

    play(scene())


def test_ascii_mode_draws_the_same_board() -> None:
    async def scene() -> None:
        async with table(Scripted(15, ["i8"]), ascii_only=True) as seated:
            await seated.play("h8")
            assert seated.line(8) == " 8 +-+-+-+-+-+-+[X]O)+-+-+-+-+-+ "
            assert seated.line(12) == "12 +-+-+-*-+-+-+-+-+-+-+-*-+-+-+ "

    play(scene())


@pytest.mark.parametrize(
    ("size", "keys"), [(15, ()), (15, ("question_mark",)), (25, ())], ids=["game", "help", "large"]
)
def test_ascii_mode_writes_nothing_but_ascii(size: int, keys: tuple[str, ...]) -> None:
    async def scene() -> None:
        async with table(Scripted(size), size=size, ascii_only=True) as seated:
            await seated.play("h8")
            await seated.pilot.press(*keys)
            text = "\n".join(strip.text for strip in seated.app.screen._compositor.render_strips())
            assert text.isascii(), sorted(set(text) - set(map(chr, range(128))))

    play(scene())


def test_moving_the_cursor_draws_two_cells_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        async with table(Scripted(15)) as seated:
            drawn: list[tuple[Region, ...]] = []
            refresh = seated.board.refresh

            def refresh_and_tell(*regions: Region, **_: object) -> BoardWidget:
                drawn.append(regions)
                return refresh(*regions)

            monkeypatch.setattr(seated.board, "refresh", refresh_and_tell)
            await seated.pilot.press("left")
            h8, g8 = (seated.board.cell_region(parse_cell(name, 15)) for name in ("h8", "g8"))
            assert drawn == [(h8, g8)]

    play(scene())


def test_a_stone_is_hinted_under_the_mouse_only_when_a_click_would_place_it() -> None:
    async def scene() -> None:
        player = Gated(15, ["a1"])
        async with table(player) as seated:
            await seated.pilot.hover(seated.board, offset=Offset(3, 0))
            assert seated.line(15).startswith("15 ●─┬")
            await seated.click("h8")
            await seated.pilot.hover(seated.board, offset=Offset(3, 0))
            assert seated.board.ghost == EMPTY
            assert seated.line(15).startswith("15 ┌─┬")
            await seated.pilot.hover("#panel")
            assert seated.board.hover == NO_CELL
            player.release.set()

    play(scene())


def test_no_color_leaves_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def scene() -> None:
        async with table(Scripted(15, ["i9"])) as seated:
            await seated.play("h8")
            for strip in seated.app.screen._compositor.render_strips():
                for segment in strip:
                    style = segment.style
                    if style is not None:
                        assert style.color is None or style.color.is_default, segment
                        assert style.bgcolor is None or style.bgcolor.is_default, segment

    play(scene())


def test_the_board_is_there_while_the_model_loads() -> None:
    async def scene() -> None:
        ready = threading.Event()
        player = Scripted(15, ["a1"])

        def factory() -> Player:
            assert ready.wait(LIMIT_S)
            return player

        app = GomokuApp(player_factory=factory, rules=Rules(), human=BLACK, policy_text="", model_text="")
        async with app.run_test() as pilot:
            seated = Table(app, pilot)
            assert seated.status.startswith("Loading the model")
            await pilot.press("enter", "n", "u")
            assert seated.moves == []
            assert app.is_loading
            ready.set()
            await seated.until(lambda: not app.is_loading)
            await seated.play("h8")
            assert seated.moves == ["h8", "a1"]
        app.close()

    play(scene())


class Headless(GomokuApp):
    """The app without a terminal, for `run_board` itself; `keys` are pressed once the model is loaded."""

    keys: tuple[str, ...] = ()

    def look(self) -> None:
        """What a test wants to see before the keys are pressed."""

    def run(self, **_: object) -> None:
        async def press(pilot: Pilot[object]) -> None:
            await Table(self, pilot).until(lambda: not self.is_loading)
            await pilot.pause()
            self.look()
            await pilot.press(*self.keys)

        super().run(headless=True, size=(80, 24), auto_pilot=press)


def test_run_board_raises_what_loading_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "GomokuApp", Headless)
    error = ValueError("no such model")

    def factory() -> Player:
        raise error

    with pytest.raises(ValueError, match="no such model") as raised:
        run_board(player_factory=factory, rules=Rules(), human=BLACK, policy_text="", model_text="")
    assert raised.value is error


def test_run_board_returns_with_no_thread_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "GomokuApp", Headless)
    monkeypatch.setattr(Headless, "keys", ("enter", "q"))
    player = Gated(15)
    run_board(player_factory=lambda: player, rules=Rules(), human=BLACK, policy_text="", model_text="")
    assert not any(thread.name.startswith("model") for thread in threading.enumerate())


@pytest.mark.parametrize(
    ("size", "names"),
    [
        (3, ""),
        (4, ""),
        (7, "d4"),
        (9, "c3 c7 e5 g3 g7"),
        (15, "d4 d12 h8 l4 l12"),
        (19, "d4 d10 d16 j4 j10 j16 p4 p10 p16"),
        (20, "d4 d17 q4 q17"),
    ],
)
def test_star_points_stand_where_players_expect_them(size: int, names: str) -> None:
    assert star_points(size) == {parse_cell(name, size) for name in names.split()}
