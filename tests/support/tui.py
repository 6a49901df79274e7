"""Helpers for tests of the screen: an engine in this process, and the app under its pilot."""

import asyncio
import os
import pickle
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import textual.app
import textual.pilot
import textual.screen
from textual import events
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from core.notation import cell_name, parse_cell
from core.rules import BLACK, Cell, Colour, Rules
from gomoku_cli.tui.app import GomokuApp
from gomoku_cli.tui.engine import worker
from gomoku_cli.tui.engine.client import Receives
from gomoku_cli.tui.engine.files import Files
from gomoku_cli.tui.engine.lanes import Lanes
from gomoku_cli.tui.engine.messages import NO_TASK, Answer, FileTask, PlayerChoice, Stop, Task
from gomoku_cli.tui.engine.worker import Worker
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.setup import BoardSetup
from gomoku_cli.tui.widgets.board import BoardWidget
from search.players import Player
from tests.support.scripted_players import LIMIT_S


async def wait_for_idle(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Wait until this thread has had nothing to do for 6 ms.

    Textual's own waits for the whole process, searches included, in steps of 20 ms.
    """
    started, quiet = time.monotonic(), 0
    while quiet < 3 and time.monotonic() - started < max_sleep:
        busy = time.thread_time()
        await asyncio.sleep(0.002)
        quiet = quiet + 1 if time.thread_time() - busy < 2e-4 else 0


textual.app.wait_for_idle = textual.pilot.wait_for_idle = wait_for_idle  # type: ignore[attr-defined]
textual.screen.UPDATE_PERIOD = 0.004  # type: ignore[misc]  # so that nothing waits to be drawn after that
_RULE_SETS: dict[tuple[Any, ...], list[RuleSet]] = {}
_parse_rules = Stylesheet._parse_rules


def _parsed_once(self: Stylesheet, *source: Any, **more: Any) -> list[RuleSet]:
    """Return the rules of a style sheet, which each app would parse three times for itself."""
    key = (frozenset(self._variables.items()), source, *more.items())
    if key not in _RULE_SETS:
        _RULE_SETS[key] = _parse_rules(self, *source, **more)
    return _RULE_SETS[key]


Stylesheet._parse_rules = _parsed_once  # type: ignore[method-assign]
worker.give_back_memory = lambda: None  # which looks through all of the tests' memory, once for each board


class ThreadEngine:
    """An engine on a thread of this process; `players` has its players by name."""

    def __init__(
        self, players: dict[str, Player], *, rules: dict[str, Rules] | None = None, folder: Path | None = None
    ) -> None:
        """`rules`: the rules of players that play no others. `folder`: of saved games; None saves none."""
        self.players = players
        self.tasks: list[Task] = []
        """All tasks so far."""
        self.loading = threading.Event()
        """Set for players that load at once; clear it before the start to keep them loading."""
        self.loading.set()
        self._receive: Receives | None = None
        self._number = 0
        self._files = None if folder is None else Files(folder)
        own = rules or {}

        def other_rules(spec: str, played: Rules) -> Rules | None:
            return None if own.get(spec) in (None, played) else own[spec]

        lanes = Lanes(self._answer)
        stdin, requests = os.pipe()
        self._requests = os.fdopen(requests, "wb", buffering=0)
        threading.Thread(target=Worker(lanes, self._open, other_rules).run, daemon=True).start()
        self._reader = threading.Thread(target=self._read, args=(lanes, stdin), daemon=True)
        self._reader.start()

    def _read(self, lanes: Lanes, stdin: int) -> None:
        with os.fdopen(stdin, "rb") as stream:
            lanes.read(stream)

    def _open(self, choice: PlayerChoice, rules: Rules, keeps_tree: bool) -> Player:
        assert self.loading.wait(LIMIT_S)
        if choice.spec not in self.players:
            raise ValueError(f"{choice.spec} is broken")
        return self.players[choice.spec]

    def _answer(self, number: int, answer: Answer) -> None:
        if self._receive is not None:
            self._receive(number, answer)

    def connect(self, receive: Receives) -> None:
        """See `Engine`."""
        self._receive = receive

    def request(self, task: Task, number: int = NO_TASK) -> int:
        """See `Engine`."""
        if isinstance(task, Stop):
            self._send(number, task)
            return number
        self._number += 1
        task = pickle.loads(pickle.dumps(task))  # as the pipe copies it
        self.tasks.append(task)
        if not isinstance(task, FileTask):
            self._send(self._number, task)
        elif self._files is not None:  # at once, so that a test finds the file
            self._answer(self._number, self._files.run(self._number, task))
        return self._number

    def _send(self, number: int, task: Task) -> None:
        with suppress(ValueError):  # the app may ask for more after the end
            self._requests.write(pickle.dumps((number, task)))

    def close(self) -> None:
        """See `Engine`."""
        self._receive = None
        self._requests.close()
        self._reader.join(LIMIT_S)


class BoardDriver:
    """The running app: actions of the user, and the texts on the screen."""

    def __init__(self, app: GomokuApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot
        self.main_screen = app.screen_stack[0]
        self.board = self.main_screen.query_one(BoardWidget)

    @property
    def moves(self) -> list[str]:
        """The names of the cells played so far."""
        return [cell_name(move, self._size) for move in self.app.game.moves]

    @property
    def status(self) -> str:
        """The status line."""
        return self.text("#status")

    @property
    def title(self) -> str:
        """The title line."""
        return self.text("#title")

    @property
    def panel(self) -> str:
        """All texts of the side panel."""
        return "\n".join(str(static.render()) for static in self.main_screen.query("#panel Static").results(Static))

    @property
    def visible_panel(self) -> str:
        """The texts of the side panel that are shown."""
        views = self.main_screen.query("#panel Static").results(Static)
        return "\n".join(str(view.render()) for view in views if view.display)

    @property
    def dialog(self) -> str:
        """All texts of the top screen."""
        return "\n".join(str(static.render()) for static in self.app.screen.query(Static).results(Static))

    def line(self, row: int) -> str:
        """Return the text of a row of the board, counted from 1 as on its edge; 0 is the line of letters."""
        scale = self.board.geometry.scale
        return self.board.render_line(scale * (self._size - row) + (scale - 1) // 2 * (row > 0)).text

    def background(self, name: str) -> str:
        """Return the name of the colour behind a cell."""
        region = self.board.cell_region(self._cell(name))
        scale = self.board.geometry.scale
        line = self.board.render_line(region.bottom - scale)
        style = next(iter(line.crop(region.x + scale, region.x + scale + 1))).style
        return style.bgcolor.name

    async def press(self, *keys: str, **then: str) -> None:
        """Press keys; `then` is what `check` compares."""
        await self.pilot.press(*keys)
        self.check(**then)

    def check(
        self, status: str | None = None, moves: str | None = None, panel: str | None = None, dialog: str | None = None
    ) -> None:
        """Compare the status line and the names of all moves; find texts in the side panel and on the top screen."""
        assert status in (None, self.status)
        assert moves is None or self.moves == moves.split()
        assert panel is None or panel in self.panel
        assert dialog is None or dialog in self.dialog

    async def type_moves(self, typed: str, **then: str) -> None:
        """Type moves into their line; `then` is what `check` compares."""
        await self.press("slash", *typed, "enter", **then)

    async def paste(self, text: str, **then: str) -> None:
        """Paste text as a terminal does that marks it; `then` is what `check` compares."""
        self.app.post_message(events.Paste(text))
        await self.pilot.pause()
        self.check(**then)

    async def shows(self, screen: type[Screen[Any]]) -> None:
        """Wait until the top screen is one of these."""
        await self.until(lambda: isinstance(self.app.screen, screen))

    async def until(self, holds: Callable[[], bool], limit_s: float = LIMIT_S) -> None:
        """Wait until `holds()` is true; fail after `limit_s`."""
        deadline = time.monotonic() + limit_s
        while not holds():
            assert time.monotonic() < deadline, f"the condition never held; the status is {self.status!r}"
            await asyncio.sleep(0.005)
        await self.pilot.pause(0.0)

    async def click(self, name: str, button: int = 1, **then: str) -> None:
        """Click a cell; `then` is what `check` compares."""
        region = self.board.cell_region(self._cell(name))
        offset = Offset(region.x + self.board.geometry.scale, region.bottom - 1)
        await self.pilot.click(self.board, offset=offset, button=button)
        self.check(**then)

    async def play(self, name: str, **then: str) -> None:
        """Click a cell and wait for the engine's answer; `then` is what `check` compares."""
        await self.click(name)
        await self.until(lambda: not self.app.control.is_busy)
        self.check(**then)

    def text(self, selector: str) -> str:
        """Return the text of a widget of the main screen."""
        return str(self.main_screen.query_one(selector, Static).render())

    @property
    def _size(self) -> int:
        return self.app.game.rules.size

    def _cell(self, name: str) -> Cell:
        return parse_cell(name, self._size)


TWO_PLAYERS = BoardSetup(seats=Seats(None, None))


def shown_game(moves: str, seats: Seats = TWO_PLAYERS.seats, **more: Any) -> BoardSetup:
    """Return a setup with a game of these moves, of two humans unless `seats` names others."""
    return BoardSetup(game=Game(Rules(), seats, [parse_cell(move, 15) for move in moves.split()]), **more)


def board_setup(
    *, size: int = 15, connect: int = 5, human: Colour = BLACK, ponders: bool = False, ascii_only: bool = False
) -> BoardSetup:
    """Return a setup with a player whose name contains markup characters."""
    choice = PlayerChoice(spec="scripted [b]")
    seats = Seats(None, choice) if human == BLACK else Seats(choice, None)
    return BoardSetup(rules=Rules(size, connect), seats=seats, ponders=ponders, ascii_only=ascii_only)


@asynccontextmanager
async def board_app(
    players: Player | dict[str, Player] | ThreadEngine,
    *,
    folder: Path | None = None,
    setup: BoardSetup | None = None,
    terminal: tuple[int, int] = (80, 24),
    wait: bool = True,
    **changes: Any,
) -> AsyncIterator[BoardDriver]:
    """Run the app with its player loaded, or without waiting for it.

    `players` and `folder` are those of the engine, `changes` those of `board_setup`.
    """
    if isinstance(players, Player):
        players = {"scripted [b]": players, "default": players}
    engine = players if isinstance(players, ThreadEngine) else ThreadEngine(players, folder=folder)
    app = GomokuApp(engine, setup or board_setup(**changes))
    async with app.run_test(size=terminal) as pilot:
        try:
            driver = BoardDriver(app, pilot)
            if wait:
                await driver.until(lambda: not app.control.is_loading)
            yield driver
        finally:
            engine.close()


class HeadlessApp(GomokuApp):
    """The app without a terminal. It presses `keys` after the player is loaded."""

    keys: tuple[str, ...] = ()

    def inspect(self) -> None:
        """Called before the keys are pressed."""

    def run(self, **_: object) -> None:
        async def press(pilot: Pilot[object]) -> None:
            await BoardDriver(self, pilot).until(lambda: not self.control.is_loading)
            await pilot.pause()
            self.inspect()
            await pilot.press(*self.keys)

        super().run(headless=True, size=(80, 24), auto_pilot=press)
