"""The graph of the win probability over the game."""

from collections.abc import Collection, Sequence

from textual.content import Content
from textual.widgets import Static

_ROWS = 5
_EIGHTHS = " ▁▂▃▄▅▆▇█"


class GraphView(Static):
    """Black's win probability after each ply, as bars; the shown ply and the mistakes are marked below."""

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__(markup=False)
        self._ascii_only = ascii_only
        self._state: tuple[Sequence[float | None], int, Collection[int]] = ((), 0, ())

    def show(self, chances: Sequence[float | None], shown: int, mistakes: Collection[int]) -> None:
        """Draw `chances`: black's win probability after each ply, 0 to 1, or None where it is unknown.

        `shown` is the ply on the board; `mistakes` are the plies, counted from 1, of moves that lost much.
        """
        self._state = (chances, shown, mistakes)
        self._draw()

    def on_resize(self) -> None:
        """Fit the graph to the width."""
        self._draw()

    def _draw(self) -> None:
        chances, shown, mistakes = self._state
        width = max(8, self.size.width - 5)
        first = max(0, len(chances) - width) if shown > len(chances) - width else max(0, shown - width // 2)
        window = list(chances[first : first + width])
        lines: list[tuple[str, str]] = [("Black's win probability\n", "dim")]
        for row in range(_ROWS - 1, -1, -1):
            label = {_ROWS - 1: "100 ", _ROWS // 2: " 50 ", 0: "  0 "}.get(row, "    ")
            lines.append((label, "dim"))
            bars = "".join(self._bar(chance, row) for chance in window)
            lines.append((f"{bars}\n", ""))
        marks = ["?" if first + place in mistakes else " " for place in range(len(window))]
        if first <= shown < first + len(window):
            marks[shown - first] = "^"
        lines.append((f"    {''.join(marks)}", "bold"))
        self.update(Content.assemble(*lines))

    def _bar(self, chance: float | None, row: int) -> str:
        if chance is None:
            return "." if row == 0 else " "
        filled = max(0.0, min(1.0, chance * _ROWS - row))
        if self._ascii_only:
            return "#" if filled >= 0.5 else " "
        return _EIGHTHS[round(8 * filled)]
