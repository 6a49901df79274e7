"""The table of candidates: the moves that a search likes and those of an opening book, with their numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from core.rules import NO_CELL, Cell, Colour, Rules, colour_name
from gomoku_cli.study.values import percent
from gomoku_cli.tui.widgets.texts import line_text, move_value
from search.analysis import Analysis, MoveAnalysis

if TYPE_CHECKING:
    from core.book import BookMove

MOST_ROWS = 8
_COLUMNS = 33
"""Width of the table; a narrower panel gets narrower columns."""


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

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(
        self,
        analysis: Analysis | None,
        rules: Rules,
        mover: Colour,
        source: str,
        cursor: Cell,
        rows: int = MOST_ROWS,
        book: "Sequence[BookMove]" = (),
    ) -> None:
        """Draw the candidates of the side to move, `mover`; `source` names the net or engine that speaks.

        `book`: the moves of an opening book, which stand below.
        """
        narrow = 0 < self.size.width < _COLUMNS
        widths = (5, 7, 6, 10) if narrow else (6, 8, 7, 12)
        parts: list[tuple[str, str]] = []
        if book:
            parts += [("\n", ""), (_row(widths, "book", "games", "points", "win"), "dim")]
            for known in book:
                win = "" if known.value is None else percent(known.value)
                numbers = (_short(known.games), f"{known.points / known.games:.0%}", win)
                style = "reverse" if known.move == cursor != NO_CELL else ""
                parts += [("\n", ""), (_row(widths, line_text([known.move], rules), *numbers), style)]
        if analysis is None:
            self.update(Content.assemble((f"Candidates: {source}", "dim"), *parts))
            return
        below, parts = parts, [(f"Candidates for {colour_name(mover)}: {source}\n", "dim")]
        parts.append((_row(widths, "move", "visits", "prior", "win") + "\n", "dim"))
        for number, move in enumerate(ranked(analysis)[:rows], 1):
            visits = "-" if move.visits is None else _short(move.visits) if narrow else f"{move.visits:,}"
            prior = "-" if move.prior is None else f"{100 * move.prior:.1f}"
            name = f"{number} {line_text([move.move], rules)}"
            style = "reverse" if move.move == cursor != NO_CELL else ""
            parts.append((_row(widths, name, visits, prior, move_value(move)), style))
            parts.append(("\n", ""))
        parts.append((f"line  {line_text(analysis.variation, rules)}\n", ""))
        parts.append((f"{analysis.nodes:,} positions, {analysis.seconds:.1f} s", "dim"))
        self.update(Content.assemble(*parts, *below))
