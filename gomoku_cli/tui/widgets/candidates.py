"""The table of candidates: the moves that a search likes and those of an opening book, with their numbers."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from core.rules import NO_CELL, Cell, colour_name
from gomoku_cli.printable import counted
from gomoku_cli.study.values import percent
from gomoku_cli.tui.game import Game
from gomoku_cli.tui.widgets.texts import line_text, move_value
from search.analysis import Analysis, MoveAnalysis

if TYPE_CHECKING:
    from core.book import BookMove

MOST_ROWS = 8
_LEAST_ROWS = 1
"""Moves in the table at least."""
_WIDTHS, _NARROW_WIDTHS = (6, 8, 7, 12), (5, 7, 6, 8)
"""Widths of the columns, and those in a panel that has no room for the first; they fit the narrowest one."""


def ranked(analysis: Analysis) -> list[MoveAnalysis]:
    """Return the root's moves that were searched or have a prior worth a line, the best first."""
    return [move for move in analysis.moves if move.visits or move.visits is None or (move.prior or 0) >= 0.01]


def _row(widths: tuple[int, int, int, int], move: str, visits: str, prior: str, win: str) -> str:
    first, second, third, fourth = widths
    return f"{move:<{first}}{visits:>{second}}{prior:>{third}}{win:>{fourth}}"


def _short(visits: int) -> str:
    """Return a number of at most six characters: `9,999`, `16k`, `2.5M`."""
    if visits < 10_000:
        return f"{visits:,}"
    return f"{visits // 1_000}k" if visits < 1_000_000 else f"{visits / 1_000_000:.1f}M"


class CandidatesView(Static):
    """A table of the best moves; the row of the cell under the cursor is marked."""

    def show(
        self, game: Game, analysis: Analysis | None, source: str, cursor: Cell, book: "Sequence[BookMove]", room: Size
    ) -> None:
        """Draw the candidates of the side to move; `source` names the player that speaks.

        The table has the columns of `room`, and as many moves as fit into its rows. `book`: the moves of an opening
        book, which stand below.
        """
        columns, rows = room
        narrow = columns < sum(_WIDTHS)
        parts: list[tuple[str, str]] = []
        if book:
            widths = (5, 6, 7, 8) if narrow else _WIDTHS
            parts += [("\n", ""), (_row(widths, "book", "games", "points", "win"), "dim")]
            for known in book:
                win = "" if known.value is None else percent(known.value)
                numbers = (_short(known.games), f"{100 * known.points / known.games:.0f} %", win)
                style = "reverse" if known.move == cursor != NO_CELL else ""
                parts += [("\n", ""), (_row(widths, game.name_of(known.move), *numbers), style)]
        if analysis is None:
            self.update(Content.assemble((f"Candidates: {source}", "dim"), *parts))
            return
        widths = _NARROW_WIDTHS if narrow else _WIDTHS
        mover, columns_text = colour_name(game.side_to_move), _row(widths, "move", "visits", "prior", "win")
        heading = f"Candidates for {mover}: {source}\n{columns_text}\n"
        line = f"line  {line_text(analysis.variation, game.rules)}\n"
        work = f"{counted(analysis.nodes, 'position')}, {analysis.seconds:.1f} s"
        wrapped = (textwrap.wrap(text, columns) for text in f"{heading}{line}{work}".splitlines())
        rows -= sum(len(lines) or 1 for lines in wrapped) + (len(book) + 1 if book else 0)
        below, parts = parts, [(heading, "dim")]
        for number, move in enumerate(ranked(analysis)[: min(max(rows, _LEAST_ROWS), MOST_ROWS)], 1):
            visits = "-" if move.visits is None else _short(move.visits) if narrow else f"{move.visits:,}"
            prior = "-" if move.prior is None else f"{100 * move.prior:.1f}"
            name = f"{number} {game.name_of(move.move)}"
            style = "reverse" if move.move == cursor != NO_CELL else ""
            parts += [(_row(widths, name, visits, prior, move_value(move, short=narrow)), style), ("\n", "")]
        self.update(Content.assemble(*parts, (line, ""), (work, "dim"), *below))
