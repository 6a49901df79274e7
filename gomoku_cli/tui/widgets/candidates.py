"""The table of candidates: the moves that a search likes, with their numbers."""

from textual.content import Content
from textual.widgets import Static

from core.rules import NO_CELL, Cell, Colour, Rules, colour_name
from gomoku_cli.tui.widgets.texts import line_text, move_value
from search.analysis import Analysis, MoveAnalysis

_ROWS = 8


def ranked(analysis: Analysis) -> list[MoveAnalysis]:
    """Return the root's moves that were searched or have a prior worth a line, the best first."""
    return [move for move in analysis.moves if move.visits or move.visits is None or (move.prior or 0) >= 0.01]


class CandidatesView(Static):
    """A table of the best moves; the row of the cell under the cursor is marked."""

    DEFAULT_CSS = """
    CandidatesView { height: auto; display: none; }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, analysis: Analysis | None, rules: Rules, mover: Colour, source: str, cursor: Cell) -> None:
        """Draw the candidates of the side to move, `mover`; `source` names the net or engine that speaks."""
        if analysis is None:
            self.update(Content.styled(f"Candidates: {source}", "dim"))
            return
        parts: list[tuple[str, str]] = [(f"Candidates for {colour_name(mover)}: {source}\n", "dim")]
        parts.append((f"{'move':<6}{'visits':>8}{'prior':>7}{'win':>12}\n", "dim"))
        for move in ranked(analysis)[:_ROWS]:
            visits = "-" if move.visits is None else f"{move.visits:,}"
            prior = "-" if move.prior is None else f"{100 * move.prior:.1f}"
            name = line_text([move.move], rules)
            style = "reverse" if move.move == cursor != NO_CELL else ""
            parts.append((f"{name:<6}{visits:>8}{prior:>7}{move_value(move):>12}", style))
            parts.append(("\n", ""))
        parts.append((f"line  {line_text(analysis.variation, rules)}\n", ""))
        parts.append((f"{analysis.nodes:,} positions, {analysis.seconds:.1f} s", "dim"))
        self.update(Content.assemble(*parts))
