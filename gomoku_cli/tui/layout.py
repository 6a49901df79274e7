"""The room of the board and of the panel on a terminal."""

from dataclasses import dataclass

from core.rules import Rules
from gomoku_cli.tui.widgets.board import best_scale
from gomoku_cli.tui.widgets.painting import Geometry

TERMINAL_THEME = "ansi-dark"
"""The terminal's own colours, so that a screen suits a dark and a light one. The board brings its own."""
MIN_TERMINAL = (24, 8)
"""Columns and rows below which a screen with a board asks for more."""
TOO_SMALL = f"The board needs {MIN_TERMINAL[0]} columns and {MIN_TERMINAL[1]} rows."
BOARD_CSS = """
Screen { layers: default above; }
#title { height: 1; padding: 0 1; }
#table { height: 1fr; margin-bottom: 1; }
#foot { layer: above; dock: bottom; height: auto; margin-bottom: 1; }
BoardWindow { width: 1fr; height: 1fr; }
#panel { height: 1fr; }
#small { display: none; width: 1fr; height: 1fr; }
.-small #title, .-small #table, .-small #foot, .-small Footer { display: none; }
.-small #small { display: block; }
App.-ascii .arrow { display: none; }
App.-ascii ModalScreen > * { border: ascii $primary; }
App.-ascii BoardWindow, App.-ascii VerticalScroll, App.-ascii OptionList { scrollbar-size: 0 0; }
"""
"""Title, board with a panel beside it, and status and key bar below."""
_PANEL_COLUMNS = 28
"""Width of the side panel at least."""
_MAX_PANEL_COLUMNS = 60
_COLUMNS_FOR_PANEL = 100
"""From this width on the panel stands beside the board, whatever the size of the cells."""
_ROWS_AROUND = 3
"""Title, status and key bar."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The size of the cells, and the panel beside the board."""

    scale: int
    has_panel: bool
    panel_columns: int


def arrangement(rules: Rules, columns: int, rows: int, panel_wanted: bool | None) -> Arrangement:
    """Return the arrangement for a terminal; None for `panel_wanted` leaves the panel to the size of the terminal."""
    room = rows - _ROWS_AROUND
    # One column for a scrollbar: a board too high for the terminal must not scroll sideways as well.
    alone = columns - 1
    beside = alone - _PANEL_COLUMNS
    wanted = panel_wanted
    if wanted is None:
        wanted = columns >= _COLUMNS_FOR_PANEL
        if not wanted and best_scale(rules, alone, room) == best_scale(rules, max(beside, 0), room):
            wanted = Geometry(rules.size, 1).columns <= beside  # it takes no room from the board
    scale = best_scale(rules, beside if wanted else alone, room)
    left = alone - Geometry(rules.size, scale).columns
    return Arrangement(
        scale=scale,
        has_panel=wanted and Geometry(rules.size, scale).columns <= beside,
        panel_columns=min(max(left, _PANEL_COLUMNS), _MAX_PANEL_COLUMNS),
    )
