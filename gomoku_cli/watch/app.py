"""The app of `gomoku watch`: it reads the runs once a second and shows what has changed."""

import gc
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Grid, VerticalScroll
from textual.content import Content
from textual.style import Style
from textual.widgets import Footer, Static

from gomoku_cli.printable import printable
from gomoku_cli.reports.panels import GATE, STRENGTH, panels
from gomoku_cli.reports.training.metrics import LOSSES
from gomoku_cli.reports.training.overview import folder_names, scores
from gomoku_cli.tui.layout import TerminalApp
from gomoku_cli.watch.followed_run import FollowedRun
from gomoku_cli.watch.game_pane import GamePane
from gomoku_cli.watch.plots import PlotPane, marked

_WIDE = (120, 36)
"""Columns and rows of a terminal that has room for all panes."""
_INTERVAL_S = 1.0
_PAGES = {"learning": "1 Learning", "selfplay": "2 Self-play", "game": "3 Game"}
_NO_TRAINING, _NO_GAMES = "no training yet", "no self-play yet"


class _Shown(NamedTuple):
    """A pane with a plot."""

    page: str
    title: str
    empty: str = _NO_GAMES
    """Text in place of the plot before there is one."""


_SHOWN = {
    "policy_loss": _Shown("learning", "policy loss", _NO_TRAINING),
    "value_loss": _Shown("learning", "value loss", _NO_TRAINING),
    "policy_entropy": _Shown("learning", "policy entropy", _NO_TRAINING),
    "agreement": _Shown("learning", "agreement", "no imitation yet"),
    "game_length": _Shown("selfplay", "game length"),
    "black_share": _Shown("selfplay", "Black's share"),
    "simulations_per_second": _Shown("selfplay", "simulations/s"),
    GATE: _Shown("selfplay", "gate ●yes ○no", "no gate yet"),
    "elo": _Shown("selfplay", "Elo gained", "no candidate accepted yet"),
}
"""The panes by the keys of their panels."""
_ABOVE_GAME = 3
"""Curves before the newest game, which has two rows of the last column of a large terminal."""


class WatchApp(TerminalApp):
    """A view of runs."""

    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "watch.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "page('learning')", "Learning"),
        Binding("2", "page('selfplay')", "Self-play"),
        Binding("3", "page('game')", "Game"),
        Binding("tab", "next_page", "Next page", show=False, priority=True),
        Binding("left", "step(-1)", "Move back", key_display="←"),
        Binding("right", "step(1)", "Move on", key_display="→"),
        Binding("home", "step(-1000)", "First move", show=False),
        Binding("end", "follow", "Last move", show=False),
        Binding("up", "scroll(-1)", "Scroll the matches up", show=False),
        Binding("down", "scroll(1)", "Scroll the matches down", show=False),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__(ansi_color=True)
        self.runs = [FollowedRun(path, name) for path, name in zip(paths, folder_names(paths), strict=True)]
        self._lines = [Static() for _ in self.runs]
        self._pages = Static(id="pages")
        self._plots = [PlotPane(each.empty) for each in _SHOWN.values()]
        self._matches = Static()
        self._scrolled = VerticalScroll(self._matches, id="matches", classes="selfplay", can_focus=False)
        self._game = GamePane()

    def compose(self) -> ComposeResult:
        """Lay the panes into a grid; the size of the terminal and the page choose the ones that show."""
        with Container(id="runs"):
            yield from self._lines
        yield self._pages
        for shown, pane in zip(_SHOWN.values(), self._plots, strict=True):
            pane.add_class(shown.page)
        self._game.add_class("game")
        with Grid(id="panes"):
            yield from self._plots[:_ABOVE_GAME]
            yield self._game
            yield from self._plots[_ABOVE_GAME:]
            yield self._scrolled
        yield Footer()

    def on_mount(self) -> None:
        """Draw what is there, and look for more once a second."""
        self.action_page("learning")
        self._look(first=True)
        self.set_interval(_INTERVAL_S, self._look)
        self.call_after_refresh(gc.enable)

    def on_resize(self, event: events.Resize) -> None:
        """Show all panes where there is room for them."""
        self.screen.set_class(event.size.width >= _WIDE[0] and event.size.height >= _WIDE[1], "-wide")

    def action_page(self, name: str) -> None:
        """Show a page of a small terminal."""
        self._page = name
        for page in _PAGES:
            self.screen.set_class(page == name, f"-{page}")
        look = {page: Style(reverse=page == name) + Style.from_meta({"page": page}) for page in _PAGES}
        self._pages.update(Content.assemble(*((f" {title} ", look[page]) for page, title in _PAGES.items())))

    def on_click(self, event: events.Click) -> None:
        """Show the page under the mouse. Only the left button counts."""
        if event.button == 1 and (page := event.style.meta.get("page")):
            self.action_page(page)

    def action_next_page(self) -> None:
        """Show the page after this one."""
        pages = list(_PAGES)
        self.action_page(pages[(pages.index(self._page) + 1) % len(pages)])

    def action_step(self, plies: int) -> None:
        """Step through the moves of the newest game."""
        self._game.step(plies)

    def action_scroll(self, lines: int) -> None:
        """Scroll the matches, of which a small pane shows the first ones."""
        self._scrolled.scroll_relative(y=lines, animate=False)

    def action_follow(self) -> None:
        """Show the end of the newest game."""
        self._game.follow(self._newest)

    @property
    def _newest(self) -> Any:
        return next((run.game for run in reversed(self.runs) if run.game is not None), None)

    def _look(self, first: bool = False) -> None:
        """Read the runs and show the changes."""
        changed = [run.update() for run in self.runs]
        if any(changed) or first:
            self._show_curves()
        if any([run.update_game() for run in self.runs]) or first:
            self._game.show(self._newest)
        for at, (line, run) in enumerate(zip(self._lines, self.runs, strict=True)):
            line.update(Content.assemble(marked(at), (run.title, "bold"), f"  {run.place}"))

    def _show_curves(self) -> None:
        found = {panel.key: panel for panel in panels([run.curves for run in self.runs])}
        for (key, shown), pane in zip(_SHOWN.items(), self._plots, strict=True):
            panel, title = found.get(key), shown.title
            if key == "elo" and STRENGTH in found:
                panel, title = found[STRENGTH], "Elo, rated"
            if panel is not None and key in LOSSES:
                panel = replace(panel, low=math.inf)  # a small pane has no room down to 0
            pane.show(title, panel)
        self._matches.update(self._match_lines())

    def _match_lines(self) -> Content:
        parts: list[Any] = [("matches", "bold"), "\n"]
        for at, run in enumerate(self.runs):
            found = scores(run.curves["matches"])
            gates = [row["accepted"] for row in run.curves["rounds"] if row["accepted"] is not None]
            lines = [f"{score:.2f}  {opponent}" for opponent, score in found.items()]
            if gates:
                lines.append(f"{sum(gates)} of {len(gates)} candidates accepted")
            parts += self._lines_of(at, lines or ["none yet"])
        if any(run.changes for run in self.runs):
            parts += [("changed settings", "bold"), "\n"]
        for at, run in enumerate(self.runs):
            parts += self._lines_of(at, [printable(line) for line in reversed(run.changes)])
        return Content.assemble(*parts)

    def _lines_of(self, at: int, lines: Sequence[str]) -> list[Any]:
        """Return lines about a run, with its mark where there are several."""
        mark, colour = marked(at) if len(self.runs) > 1 else ("", "")
        return [(f"{mark}{line}\n", colour) for line in lines]
