"""The layout of a screen with a board: its widgets, and the room of board and panel on a terminal."""

import asyncio
import os
import sys
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import Console, RenderableType
from rich.control import Control
from textual import events
from textual._compositor import ChopsUpdate
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer, Static
from textual.widgets._footer import FooterKey

from core.rules import Cell, Rules
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.printable import sentence
from gomoku_cli.tui.drivers.answers import SIZE_QUESTION, USUAL_CHARACTER, Graphics, Told, window_character
from gomoku_cli.tui.terminal import is_gone, is_served, restored_terminal, terminal_driver
from gomoku_cli.tui.widgets.board import BoardWidget, BoardWindow, best_scale, draw_boards_anew
from gomoku_cli.tui.widgets.entry import MoveEntry
from gomoku_cli.tui.widgets.glyphs import ASCII, MONOCHROME, UNICODE
from gomoku_cli.tui.widgets.painting import Geometry
from gomoku_cli.tui.widgets.status import StatusKind, StatusLine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.actions import ActionParseResult
    from textual.dom import DOMNode

    from gomoku_cli.tui.graphics.pictures import Pictures

TERMINAL_THEME = "ansi-dark"
"""The terminal's own colours, so that a screen suits a dark and a light one. The board brings its own."""
MIN_TERMINAL = (24, 8)
"""Columns and rows below which a screen with a board asks for more."""
TOO_SMALL = f"The board needs {MIN_TERMINAL[0]} columns and {MIN_TERMINAL[1]} rows."
KEYS_DROPPED = "keys typed before the board was shown are lost: type them again"
_PANEL_COLUMNS = 28
"""Width of the side panel at least."""
_MAX_PANEL_COLUMNS = 60
_COLUMNS_FOR_PANEL = 100
"""From this width on the panel stands beside the board, whatever the size of the cells."""
_ROWS_AROUND = 3
"""Title, status and key bar."""


class TerminalApp(App[None]):
    """An app that ends with its terminal; its return code is the exit code."""

    TITLE = "Gomoku"
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+z", "suspend_process", "To the shell", show=False),
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),
    ]
    graphics = Graphics.NONE
    """The protocol for pictures that was asked for."""
    pictures: "Pictures | None" = None
    """The pictures of the boards; None for characters."""
    is_shown = True
    """False drops keys: what the terminal kept while the app was imported comes as one text, and reads as a paste."""
    _told = Told()

    def __init__(self, *, ansi_color: bool | None) -> None:
        super().__init__(driver_class=terminal_driver(), ansi_color=ansi_color)
        self._own_loop: asyncio.AbstractEventLoop | None = None

    def on_load(self) -> None:
        """Take the loop, which signals need, and look for the end of the terminal from now on."""
        self._own_loop = asyncio.get_running_loop()
        self.set_interval(0.5, self._leave_lost_terminal)

    async def run_action(
        self,
        action: "str | ActionParseResult",
        default_namespace: "DOMNode | None" = None,
        namespaces: "Mapping[str, DOMNode] | None" = None,
    ) -> bool:
        """Run an action. A list without room, as before its layout, has no pages: Textual fails there."""
        lists = self.screen.query("OptionList:focus, CommandList") if "page_" in str(action) else ()
        has_room = all(each.scrollable_content_region for each in lists)
        return has_room and await super().run_action(action, default_namespace, namespaces)

    def interrupt(self) -> None:
        """End the app as interrupted. A signal handler may call this."""
        if self._own_loop is not None:
            self._own_loop.call_soon_threadsafe(self.exit, None, ExitCode.INTERRUPTED)

    def hear(self, told: Told) -> None:
        """Draw pictures, if the terminal has a protocol for them, in the present size of its characters."""
        self._told = told
        protocol = told.protocol if self.graphics is Graphics.AUTO else self.graphics
        if protocol is Graphics.NONE:
            return
        character = told.character or window_character() or USUAL_CHARACTER
        if self.pictures is None:
            from gomoku_cli.tui.graphics.pictures import Pictures

            self.pictures = Pictures(protocol, character)
        elif character == self.pictures.character:
            return
        self.pictures.clear(character)
        draw_boards_anew(self)

    def say_dropped(self) -> None:
        """Say that keys came before the screen was shown."""

    def _leave_lost_terminal(self) -> None:
        """End the app if its terminal is gone: no signal comes if another session owns it."""
        if not self.is_headless and is_gone(sys.__stdin__.fileno() if sys.__stdin__ else 0):
            self.exit(return_code=ExitCode.INTERRUPTED)

    def run_to_end(self) -> None:
        """Run the app and give the terminal back. Any other end than the human's raises `SystemExit` with its code."""
        with restored_terminal(self.interrupt):
            self.run()
        if self.return_code != ExitCode.DONE:
            raise SystemExit(self.return_code or ExitCode.FAILED)  # Textual has already printed an error


class KeyBar(Footer):
    """The keys that have room, whole; the help has all of them."""

    def compose(self) -> ComposeResult:
        """Yield keys that are as compact as this bar from the start: Textual styled each of them twice."""
        for key in super().compose():
            if isinstance(key, FooterKey):
                key.set_reactive(FooterKey.compact, self.compact)
            yield key

    async def recompose(self) -> None:
        """Show the keys of the focus."""
        await super().recompose()
        self.call_after_refresh(self.on_resize)

    def on_resize(self) -> None:
        """Hide a key that the edge of the terminal would cut."""
        end = 0
        for key in self.query(FooterKey):
            end += key.render().cell_len  # a hidden key has no region
            key.visible = end <= self.size.width


class CroppedUpdate(ChopsUpdate):
    """Textual's update, which writes each changed line from the left edge of its widget on.

    Over a slow line that costs more than the change; a board of pictures would draw half of them anew at each key.
    """

    def render_segments(self, console: Console) -> str:
        """Return the text for the terminal, of the changed cells alone."""
        texts = []
        for y, first, last in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                left, right = max(x, first), min(end, last)
                if strip is not None and left < right:
                    texts += [Control.move_to(left, y).segment.text, strip.crop(left - x, right - x).render(console)]
        return "".join(texts)


class BoardApp(TerminalApp):
    """A screen with a board and a panel beside it."""

    CSS_PATH = Path(__file__).with_name("board.tcss")

    def __init__(self, *, ascii_only: bool, theme: str | None, graphics: Graphics = Graphics.AUTO) -> None:
        # Without native colours from the start Textual shows greys under NO_COLOR instead of no colours.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.theme = theme or TERMINAL_THEME
        self.set_class(ascii_only, "-ascii")
        self._glyphs = ASCII if ascii_only else MONOCHROME if self.no_color else UNICODE
        self._main: Screen[object] | None = None
        """The screen of the board, once it is mounted."""
        self.is_shown = False
        self.graphics = Graphics.NONE if ascii_only or self.no_color or is_served() else graphics

    def _widgets(self, rules: Rules, panel: Widget) -> ComposeResult:
        """Build title, board with its panel, status and key bar."""
        # Attributes, not queries: a query looks at the top screen, and an answer may come while a dialog is open.
        self._board = BoardWidget(rules, self.press_cell, self._glyphs)
        self._status = StatusLine(id="status", markup=False)
        self._title = Static(id="title", markup=False)
        self._entry = MoveEntry(id="entry")
        yield self._title
        with Horizontal(id="table"):
            with BoardWindow():
                yield self._board
            yield panel
        # Over the board: a status of several rows, or the line for a move, must not move it.
        with Vertical(id="foot"):
            yield self._status
            yield self._entry
        yield KeyBar(show_command_palette=False)
        yield Static(TOO_SMALL, id="small", markup=False)

    def _mounted(self) -> None:
        """Take the mounted screen for that of the board."""
        self._main = self.screen
        # After Ctrl-Z and `fg` Textual repaints only what changed meanwhile.
        self.app_resume_signal.subscribe(self, lambda _: self._draw_anew())
        self._board.focus()
        self.hear(self._told)

    async def on_event(self, event: events.Event) -> None:
        """Take the keys of a coordinate, from `/` or a capital letter to Enter: here, in the order of their coming."""
        if not (isinstance(event, events.Key | events.Paste) and self.screen is self._main):
            await super().on_event(event)
        elif isinstance(taken := self._entry.takes(event), str):
            self.play_typed(taken)
        elif not taken and isinstance(event, events.Paste):
            self.play_pasted(event.text)
        elif not taken:
            await super().on_event(event)

    def action_type_move(self) -> None:
        """Open the line for a coordinate."""
        self._entry.open()

    def show_state(self, text: str, kind: StatusKind = "", *, at_once: bool = False) -> None:
        """Show a state under the board, after a fresh message or `at_once`."""
        self._status.show_state(text, kind, at_once=at_once)

    def show_message(self, text: str, kind: StatusKind = "") -> None:
        """Show a message there, which holds for some seconds."""
        self._status.show_message(text, kind)

    @abstractmethod
    def press_cell(self, cell: Cell) -> None:
        """Take the press of a cell."""

    @abstractmethod
    def play_typed(self, text: str) -> None:
        """Play what was typed into the line."""

    @abstractmethod
    def play_pasted(self, text: str) -> None:
        """Play what was pasted."""

    def say_dropped(self) -> None:
        """See `TerminalApp.say_dropped`."""
        self.show_message(sentence(KEYS_DROPPED), "error")

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        self.is_shown = self.is_shown or self._main is not None
        if isinstance(renderable, ChopsUpdate):
            renderable = CroppedUpdate(renderable.chops, renderable.spans, renderable.chop_ends)
        super()._display(screen, renderable)

    def _draw_anew(self) -> None:
        draw_boards_anew(self)
        self.refresh(layout=True)

    def _fit(self, rules: Rules, panel: Widget, terminal: Size, panel_wanted: bool | None = None) -> None:
        """Choose the size of the cells and the panel's width; None for `panel_wanted` leaves it to the terminal's."""
        columns, rows = terminal
        (self._main or self.screen).set_class(columns < MIN_TERMINAL[0] or rows < MIN_TERMINAL[1], "-small")
        room = rows - _ROWS_AROUND
        # One column for a scrollbar: a board too high for the terminal must not scroll sideways as well.
        alone = columns - 1
        beside = alone - _PANEL_COLUMNS
        if panel_wanted is None:
            panel_wanted = columns >= _COLUMNS_FOR_PANEL
            if not panel_wanted and best_scale(rules, alone, room) == best_scale(rules, max(beside, 0), room):
                panel_wanted = Geometry(rules.size, 1).columns <= beside  # it takes no room from the board
        board = Geometry(rules.size, best_scale(rules, beside if panel_wanted else alone, room))
        self._board.set_scale(board.scale)
        panel.styles.width = min(max(alone - board.columns, _PANEL_COLUMNS), _MAX_PANEL_COLUMNS)
        panel.display = panel_wanted and board.columns <= beside
        if self.pictures is not None and self._driver is not None:
            self._driver.write(SIZE_QUESTION)  # the characters may have another size, too
            self.hear(self._told)
