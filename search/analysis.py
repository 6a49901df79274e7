"""Analysis of a position: the result of one search, of whatever kind."""

from dataclasses import dataclass

from core.rules import Cell


@dataclass(frozen=True, slots=True)
class MoveAnalysis:
    """A root move and the search's numbers for it; None where this kind of search has no such number."""

    move: Cell
    value: float | None = None
    """Expected result for the side that makes the move, -1 to 1."""
    prior: float | None = None
    """Probability that the net gives it before the search, 0 to 1."""
    visits: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A search's view of a position that is not over."""

    moves: tuple[MoveAnalysis, ...]
    """Root moves, the best first."""
    value: float
    """Expected result for the side to move, -1 to 1."""
    variation: tuple[Cell, ...]
    """The moves that both sides are expected to play, the best move first."""
    nodes: int
    """Positions searched: nodes of the mentor, simulations of a tree search."""
    seconds: float
    """Time that the search took."""

    @property
    def best_move(self) -> Cell:
        """The move that the search would play."""
        return self.moves[0].move
