"""The app of `gomoku watch`: it reads the runs once a second and shows what has changed."""

import gc
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Grid
from textual.content import Content
from textual.widgets import Footer, Static

from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.printable import printable
from gomoku_cli.reports.training.overview import scores
from gomoku_cli.tui.terminal import is_gone, restored_terminal, terminal_driver
from gomoku_cli.watch.followed_run import FollowedRun
from gomoku_cli.watch.game_pane import GamePane
from gomoku_cli.watch.plots import COLOURS, Curve, PlotPane

_WIDE = (120, 36)
"""Columns and rows of a terminal that has room for all panes."""
_INTERVAL_S = 1.0
_PAGES = ("learning", "selfplay", "game")
_NO_TRAINING, _NO_GAMES = "no training yet", "no self-play yet"
_MARKS = {"True": "●", "False": "○"}
"""Of accepted and rejected candidates."""
_STEPS: tuple[tuple[str, str], ...] = (
    ("policy_loss", "policy loss"),
    ("value_loss", "value loss"),
    ("policy_entropy", "policy entropy"),
)


class WatchApp(App[ExitCode]):
    """A view of runs; its result is the exit code."""

    TITLE = "Gomoku"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    # The terminal's own colours, so that the screen suits a dark and a light one.
    CSS = """
    Screen { background: ansi_default; color: ansi_default; }
    #runs { height: auto; }
    #runs Static { height: auto; padding: 0 1; }
    #pages { height: 1; padding: 0 1; color: ansi_bright_black; }
    #panes { height: 1fr; grid-size: 2 2; grid-gutter: 0 1; }
    #panes > * { display: none; }
    #matches { padding: 0 1; }
    .-learning #panes > .learning, .-selfplay #panes > .selfplay, .-game #panes > .game { display: block; }
    .-selfplay #panes { grid-size: 3 2; }
    .-game #panes { grid-size: 1 1; }
    .-wide #pages { display: none; }
    .-wide #panes { grid-size: 4 3; grid-columns: 1fr 1fr 1fr 38; }
    .-wide #panes > * { display: block; }
    .-wide #panes > GamePane { row-span: 2; }
    Footer { background: ansi_default; color: ansi_default; }
    Footer FooterKey { background: ansi_default; color: ansi_default; }
    Footer FooterKey .footer-key--key { background: ansi_default; color: ansi_bright_blue; }
    Footer FooterKey .footer-key--description { background: ansi_default; color: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "page('learning')", "Learning"),
        Binding("2", "page('selfplay')", "Self-play"),
        Binding("3", "page('game')", "Game"),
        Binding("tab", "next_page", "Next page", show=False, priority=True),
        Binding("left", "step(-1)", "Move back", key_display="←"),
        Binding("right", "step(1)", "Move on", key_display="→"),
        Binding("home", "rewind", "First move", show=False),
        Binding("end", "follow", "Last move", show=False),
        Binding("q", "end", "Quit"),
        Binding("ctrl+c,ctrl+q", "end", "Quit", show=False, priority=True),
    ]

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__(driver_class=terminal_driver(), ansi_color=True)
        self.runs = [FollowedRun(path) for path in paths]
        self._lines = [Static() for _ in self.runs]
        self._pages = Static(id="pages")
        self._steps = {key: PlotPane(title, empty=_NO_TRAINING) for key, title in _STEPS}
        self._agreement = PlotPane("agreement", empty="no imitation yet", low=0)
        self._lengths = PlotPane("game length", empty=_NO_GAMES, low=0)
        self._shares = PlotPane("Black's share", empty=_NO_GAMES, low=0, high=1)
        self._speeds = PlotPane("simulations/s", empty=_NO_GAMES, low=0)
        self._gates = PlotPane("gate ●yes ○no", empty="no gate yet", low=0, high=1)
        self._elo = PlotPane("Elo gained", empty="no candidate accepted yet", low=0)
        self._matches = Static(id="matches", classes="selfplay")
        self._game = GamePane()

    def compose(self) -> ComposeResult:
        """Lay the panes into a grid; the size of the terminal and the page choose the ones that show."""
        with Container(id="runs"):
            yield from self._lines
        yield self._pages
        for pane in (*self._steps.values(), self._agreement):
            pane.add_class("learning")
        selfplay = (self._lengths, self._shares, self._speeds, self._gates, self._elo)
        for pane in selfplay:
            pane.add_class("selfplay")
        self._game.add_class("game")
        with Grid(id="panes"):
            yield from self._steps.values()
            yield self._game
            yield self._agreement
            yield self._lengths
            yield self._shares
            yield self._speeds
            yield self._gates
            yield self._elo
            yield self._matches
        yield Footer()

    def on_mount(self) -> None:
        """Draw what is there, and look for more once a second."""
        self.action_page(_PAGES[0])
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
        titles = {"learning": "1 Learning", "selfplay": "2 Self-play", "game": "3 Game"}
        parts = [(f" {titles[page]} ", "reverse" if page == name else "") for page in _PAGES]
        self._pages.update(Content.assemble(*parts))

    def action_next_page(self) -> None:
        """Show the page after this one."""
        self.action_page(_PAGES[(_PAGES.index(self._page) + 1) % len(_PAGES)])

    def action_step(self, plies: int) -> None:
        """Step through the moves of the newest game."""
        self._game.step(plies)

    def action_rewind(self) -> None:
        """Show the empty board."""
        self._game.rewind()

    def action_follow(self) -> None:
        """Show the end of the newest game."""
        self._game.follow(self._newest)

    def action_end(self) -> None:
        """End the view."""
        self.exit(ExitCode.DONE)

    @property
    def _newest(self) -> Any:
        return next((run.game for run in reversed(self.runs) if run.game is not None), None)

    def _look(self, first: bool = False) -> None:
        """Read the runs and show the changes."""
        if not self.is_headless and is_gone(sys.__stdin__.fileno() if sys.__stdin__ else 0):
            self.exit(ExitCode.INTERRUPTED)
            return
        changed = [run.update() for run in self.runs]
        if any(changed) or first:
            self._show_curves()
        if any([run.update_game() for run in self.runs]) or first:
            self._game.show(self._newest)
        for at, (line, run) in enumerate(zip(self._lines, self.runs, strict=True)):
            colour = COLOURS[at % len(COLOURS)]
            line.update(Content.assemble(("● ", colour), (run.title, "bold"), f"  {run.place}"))

    def _show_curves(self) -> None:
        curves = [run.curves for run in self.runs]
        starts = _phase_starts(curves[0]["training"]) if len(curves) == 1 else []
        for key, pane in self._steps.items():
            pane.show([Curve.of(each["training"], "step", key) for each in curves], starts)
        self._agreement.show([Curve.of(each["measures"], "step", "agreement") for each in curves])
        for key, pane in (
            ("game_length", self._lengths),
            ("black_share", self._shares),
            ("simulations_per_second", self._speeds),
        ):
            pane.show([Curve.of(each["rounds"], "round", key) for each in curves])
        if any(each["strength"] for each in curves):
            self._elo.show([Curve.of(each["strength"], "minutes", "elo") for each in curves], title="Elo, rated")
        else:
            self._elo.show([Curve.of(each["rounds"], "round", "elo") for each in curves])
        self._gates.show([Curve.of(each["rounds"], "round", "gate_score", _MARKS) for each in curves])
        self._matches.update(self._match_lines())

    def _match_lines(self) -> Content:
        parts: list[Any] = [("matches", "bold"), "\n"]
        for at, run in enumerate(self.runs):
            colour = COLOURS[at % len(COLOURS)]
            found = scores(run.curves["matches"])
            gates = [row["accepted"] for row in run.curves["rounds"] if row["accepted"] is not None]
            lines = [f"{score:.2f}  {opponent}" for opponent, score in found.items()]
            if gates:
                lines.append(f"{sum(gates)} of {len(gates)} candidates accepted")
            parts += [(f"{line}\n", colour if len(self.runs) > 1 else "") for line in lines or ["none yet"]]
        if any(run.changes for run in self.runs):
            parts += [("changed settings", "bold"), "\n"]
        for at, run in enumerate(self.runs):
            colour = COLOURS[at % len(COLOURS)] if len(self.runs) > 1 else ""
            parts += [(f"{printable(line)}\n", colour) for line in reversed(run.changes)]
        return Content.assemble(*parts)


def _phase_starts(rows: Sequence[dict[str, Any]]) -> list[float]:
    """Return the steps at which a phase begins, the first one excepted."""
    return [float(before["step"]) for before, after in itertools.pairwise(rows) if before["phase"] != after["phase"]]


def watch(paths: Sequence[Path]) -> ExitCode:
    """Show runs until the user ends the view; return the exit code."""
    app = WatchApp(paths)
    with restored_terminal(lambda: app.exit(ExitCode.INTERRUPTED)):
        app.run()
    return app.return_value if app.return_value is not None else ExitCode.FAILED
