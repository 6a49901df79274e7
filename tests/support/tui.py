"""Helpers for tests of the board on the screen: players with known moves, and the app under Textual's pilot."""

import asyncio
import functools
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, ParamSpec

from textual.geometry import Offset
from textual.pilot import Pilot
from textual.widgets import Static

from core.notation import cell_name, parse_cell
from core.position import Position
from core.rules import BLACK, Cell, Colour, Rules
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.tui.app import BoardSetup, GomokuApp
from gomoku_cli.tui.board import BoardWidget
from search.limits import Limit
from search.players import Decision, Player, never

LIMIT_S = 10.0
"""The time after which anything awaited fails the test."""

Parameters = ParamSpec("Parameters")


def async_test(test: Callable[Parameters, Coroutine[None, None, None]]) -> Callable[Parameters, None]:
    """Decorate a test that is a coroutine: it runs in an event loop of its own."""

    @functools.wraps(test)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), 3 * LIMIT_S))

    return run


class ScriptedPlayer(Player):
    """Plays the given moves, then the first empty cell. An exception among the moves is raised in its turn."""

    name = "scripted"

    def __init__(self, size: int, moves: Iterable[str | Exception] = ()) -> None:
        self.size = size
        self.moves = list(moves)
        self.requests: list[list[Cell]] = []
        """The moves of each position on which a decision was requested."""
        self.threads: set[threading.Thread] = set()

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """See `Player`."""
        (position,) = positions
        self.requests.append(list(position.moves))
        self.threads.add(threading.current_thread())
        move = self.moves.pop(0) if self.moves else cell_name(int(position.legal_moves()[0]), self.size)
        if isinstance(move, Exception):
            raise move
        return [Decision(parse_cell(move, self.size), 0.25, None, 1234)]


class GatedPlayer(ScriptedPlayer):
    """Decides only after `release` is set; with `obeys_stop`, also after a stop."""

    def __init__(self, size: int, moves: Iterable[str | Exception] = (), *, obeys_stop: bool = True) -> None:
        super().__init__(size, moves)
        self.release = threading.Event()
        self.thinking = threading.Event()
        self.stopped = False
        self.obeys_stop = obeys_stop

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """See `Player`."""
        self.thinking.set()
        deadline = time.monotonic() + LIMIT_S
        while not self.release.wait(0.005) and time.monotonic() < deadline:
            if stop():
                self.stopped = True
                if self.obeys_stop:
                    break
        return super().choose_batch(positions, seeds=seeds, limit=limit, stop=stop)


class PonderingPlayer(ScriptedPlayer):
    """Ponders until it is stopped, or until `full` is set."""

    def __init__(self, size: int, moves: Iterable[str | Exception] = (), failure: Exception | None = None) -> None:
        super().__init__(size, moves)
        self.pondered: list[list[Cell]] = []
        """The moves of each pondered position, in order."""
        self.ended = 0
        self.full = threading.Event()
        self.failure = failure

    @property
    def is_pondering(self) -> bool:
        """True between the start and the end of pondering."""
        return len(self.pondered) > self.ended

    def ponder(self, position: Position, stop: Callable[[], bool]) -> None:
        """See `search.players.Ponders`."""
        self.threads.add(threading.current_thread())
        self.pondered.append(list(position.moves))
        deadline = time.monotonic() + LIMIT_S
        try:
            if self.failure is not None:
                raise self.failure
            while not stop() and not self.full.wait(0.002):
                assert time.monotonic() < deadline, "nothing stopped the pondering"
        finally:
            self.ended += 1

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """See `Player`."""
        assert not self.is_pondering
        return super().choose_batch(positions, seeds=seeds, limit=limit, stop=stop)


class BoardDriver:
    """The running app: actions of the user, and the texts on the screen."""

    def __init__(self, app: GomokuApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot
        self.board = app.screen.query_one(BoardWidget)
        self.main_screen = app.screen

    @property
    def moves(self) -> list[str]:
        """The names of the cells played so far."""
        return [cell_name(move, self._size) for move in self.app.game.position.moves]

    @property
    def status(self) -> str:
        """The status line."""
        return self._text("#status")

    @property
    def title(self) -> str:
        """The title line."""
        return self._text("#title")

    @property
    def panel(self) -> str:
        """All texts of the side panel."""
        return "\n".join(str(static.render()) for static in self.main_screen.query("#panel Static").results(Static))

    def line(self, row: int) -> str:
        """Return the text of a row of the board, counted from 1 as on its edge; 0 is the line of letters."""
        return self.board.render_line(self._size - row).text

    def background(self, name: str) -> str:
        """Return the name of the colour behind a cell."""
        region = self.board.cell_region(self._cell(name))
        style = next(iter(self.board.render_line(region.y).crop(region.x + 1, region.x + 2))).style
        assert style is not None
        assert style.bgcolor is not None
        return style.bgcolor.name

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until `holds()` is true; fail after `LIMIT_S`."""
        deadline = time.monotonic() + LIMIT_S
        while not holds():
            assert time.monotonic() < deadline, f"the condition never held; the status is {self.status!r}"
            await asyncio.sleep(0.005)
        await self.pilot.pause(0.0)

    async def click(self, name: str, button: int = 1) -> None:
        """Click a cell."""
        region = self.board.cell_region(self._cell(name))
        await self.pilot.click(self.board, offset=Offset(region.x + 1, region.y), button=button)

    async def play(self, name: str) -> None:
        """Click a cell and wait for the model's answer."""
        await self.click(name)
        await self.until(lambda: not self.app.is_busy)

    @property
    def _size(self) -> int:
        return self.app.game.position.rules.size

    def _cell(self, name: str) -> Cell:
        return parse_cell(name, self._size)

    def _text(self, selector: str) -> str:
        return str(self.main_screen.query_one(selector, Static).render())


def board_setup(
    *, size: int = 15, connect: int = 5, human: Colour = BLACK, ponders: bool = False, ascii_only: bool = False
) -> BoardSetup:
    """Return a setup with texts that contain markup characters."""
    return BoardSetup(
        rules=Rules(size, connect),
        human=human,
        model_text="scripted [b]",
        policy_text="deterministic [a]",
        ponders=ponders,
        ascii_only=ascii_only,
    )


@asynccontextmanager
async def board_app(
    player: Player,
    *,
    size: int = 15,
    connect: int = 5,
    human: Colour = BLACK,
    terminal: tuple[int, int] = (80, 24),
    ascii_only: bool = False,
    ponders: bool = False,
) -> AsyncIterator[BoardDriver]:
    """Run the app with its model loaded."""
    setup = board_setup(size=size, connect=connect, human=human, ponders=ponders, ascii_only=ascii_only)
    app = GomokuApp(lambda: player, setup)
    async with app.run_test(size=terminal) as pilot:
        try:
            driver = BoardDriver(app, pilot)
            await driver.until(lambda: not app.is_loading)
            yield driver
        finally:
            app.close()


class HeadlessApp(GomokuApp):
    """The app without a terminal. It presses `keys` after the model is loaded."""

    keys: tuple[str, ...] = ()

    def inspect(self) -> None:
        """Called before the keys are pressed."""

    def run(self, **_: object) -> ExitCode | None:
        async def press(pilot: Pilot[object]) -> None:
            await BoardDriver(self, pilot).until(lambda: not self.is_loading)
            await pilot.pause()
            self.inspect()
            await pilot.press(*self.keys)

        return super().run(headless=True, size=(80, 24), auto_pilot=press)
