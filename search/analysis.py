"""Analysis of a position: the result of one search of any kind, or its view so far."""

from dataclasses import dataclass

from core.rules import Cell


def _proven(proof: int | None, value: float | None) -> float | None:
    """Return the result that a proof makes sure, else the value; a search may decay its own values by plies."""
    return (1.0 if proof > 0 else -1.0) if proof else value


@dataclass(frozen=True, slots=True)
class MoveAnalysis:
    """A root move and its numbers; None for a number that the search does not have. A proof decides the value.

    >>> position = gomoku.Position.from_moves(gomoku.Rules(), "h8 i9")
    >>> move: gomoku.MoveAnalysis = gomoku.open_engine("mentor:1").analysis(position).wait().moves[0]
    >>> move.move == move.line[0], move.visits
    (True, None)
    """

    move: Cell
    value: float | None = None
    """Expected result for the side that makes the move, -1 to 1."""
    prior: float | None = None
    """Probability of the move before the search, from the net, 0 to 1."""
    visits: int | None = None
    """Visit count."""
    proof: int | None = None
    """Proven result: `n` wins and `-n` loses in `n` plies, the move included; None without a proof."""
    line: tuple[Cell, ...] = ()
    """The expected moves of both sides from this one on; empty where the search does not know them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _proven(self.proof, self.value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A search's view of a position that is not over. A proof of the best move decides the value.

    >>> with gomoku.open_engine("mentor:1") as engine:
    ...     analysis = engine.analysis(gomoku.Position.from_moves(gomoku.Rules(), ["h8", "i9"])).wait()
    >>> analysis.best_move == analysis.variation[0], -1 < analysis.value < 1
    (True, True)
    """

    moves: tuple[MoveAnalysis, ...]
    """Root moves, the best first."""
    value: float
    """Expected result for the side to move, -1 to 1."""
    variation: tuple[Cell, ...]
    """The expected moves of both sides, the best move first."""
    nodes: int
    """Positions searched, in the unit of `search.limit.Limit.nodes`."""
    seconds: float
    """Time of the search."""
    depth: int | None = None
    """Plies of the last iteration that was finished; None for a search without iterations, such as that of a tree."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _proven(self.moves[0].proof if self.moves else None, self.value))

    @property
    def best_move(self) -> Cell:
        """The best move."""
        return self.moves[0].move

    @property
    def plies_to_end(self) -> int | None:
        """Plies until the game is over where its result is proven, else None."""
        proof = self.moves[0].proof if self.moves else None
        return None if proof is None else abs(proof)
