"""Review of a game: win probabilities, their loss by each move, mistakes, and the moments that decided it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.position import Position
from core.rules import BLACK, Cell, Colour
from gomoku_cli.study.game import KeptAnalysis, StudiedGame, black_value
from gomoku_cli.study.values import win_probability


class Grade(StrEnum):
    """Grade of a move by its loss of win probability."""

    GOOD = "good"
    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"


GRADES = {Grade.BLUNDER: 0.3, Grade.MISTAKE: 0.15, Grade.INACCURACY: 0.05}
"""Smallest loss of win probability of each grade, the worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveReview:
    """A move of the game. Probabilities are those of the side that made it to win, 0 to 1."""

    ply: int
    """Its number, from 1."""
    move: Cell
    colour: Colour
    before: float | None
    """Before the move; None without an analysis."""
    after: float | None
    best: Cell | None
    """The move that the analysis would have played; None without an analysis."""
    loss: float | None
    """Loss by the move, 0 or more. The best move has none: a deeper look one move later is no fault of it."""
    ends_forced_win: bool = False
    """True for a move that gave a proven win away."""
    allows_forced_win: bool = False
    """True for a move that let the opponent have a proven win, which it had not before."""

    @property
    def grade(self) -> Grade | None:
        """The grade; None without analyses."""
        if self.loss is None:
            return None
        return next((grade for grade, least in GRADES.items() if self.loss >= least), Grade.GOOD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The review of a game, as far as its positions are analysed."""

    black: tuple[float | None, ...]
    """Black's probability to win in each position, [moves + 1]; None without an analysis. The end of a game is sure."""
    proofs: tuple[int | None, ...]
    """The proven result of each position, [moves + 1]: `n` wins for Black in `n` plies, `-n` for White; else None."""
    moves: tuple[MoveReview, ...]

    def mistakes(self, *, least: float = GRADES[Grade.MISTAKE]) -> list[MoveReview]:
        """Return the moves that lose at least this much, in order."""
        return [move for move in self.moves if move.loss is not None and move.loss >= least]

    def key_moments(self) -> list[int]:
        """Return the plies that decided the game, from 0, in order.

        They are the positions before each mistake, and the first one from which the result stays proven.
        """
        plies = {move.ply - 1 for move in self.mistakes()}
        if decided := self.decided_at():
            plies.add(decided)
        return sorted(plies)

    def decided_at(self) -> int | None:
        """Return the first ply from which on the result is proven, and the same side wins; None without one."""
        first = None
        for ply in reversed(range(len(self.proofs))):
            proof = self.proofs[ply]
            if proof is None or (first is not None and proof * (self.proofs[first] or 1) < 0):
                break
            first = ply
        return first

    def of(self, colour: Colour) -> list[MoveReview]:
        """Return the moves of a colour with a known loss, in order."""
        return [move for move in self.moves if move.colour == colour and move.loss is not None]

    def mean_loss(self, colour: Colour) -> float | None:
        """Return the mean loss of win probability a move of a colour; None without analyses."""
        losses = [move.loss or 0.0 for move in self.of(colour)]
        return sum(losses) / len(losses) if losses else None

    def missed_wins(self, colour: Colour) -> int:
        """Return the number of proven wins that a colour gave away."""
        return sum(move.ends_forced_win for move in self.of(colour))

    def missed_defences(self, colour: Colour) -> int:
        """Return the number of moves of a colour after which the opponent's win is proven, and was not before."""
        return sum(move.allows_forced_win for move in self.of(colour))


def review_of(game: StudiedGame) -> Review:
    """Return the review of a game from the analyses that it has."""
    black: list[float | None] = []
    proofs: list[int | None] = []
    moves: list[MoveReview] = []
    for ply, (kept, position) in enumerate(zip(game.analyses, game.record.positions(), strict=True)):
        black.append(_black(kept, position))
        proofs.append(_black_proof(kept, position))
        if ply:
            moves.append(_move_review(game, position, black, proofs))
    return Review(black=tuple(black), proofs=tuple(proofs), moves=tuple(moves))


def _black(kept: KeptAnalysis | None, position: Position) -> float | None:
    outcome = position.outcome()
    if outcome is not None:
        return win_probability(float((outcome.winner or 0) * BLACK))
    return None if kept is None else win_probability(black_value(kept.analysis, position))


def _black_proof(kept: KeptAnalysis | None, position: Position) -> int | None:
    """Return the proven result of a position; the end of a game is proven by the board, in 0 plies, written as 1."""
    outcome = position.outcome()
    if outcome is not None:
        return outcome.winner * BLACK if outcome.winner is not None else None
    proof = None if kept is None else kept.analysis.moves[0].proof
    return None if proof is None else proof * position.side_to_move * BLACK


def _move_review(
    game: StudiedGame, position: Position, black: Sequence[float | None], proofs: Sequence[int | None]
) -> MoveReview:
    ply, move, colour = position.ply, position.moves[-1], -position.side_to_move
    before, after = (
        None if each is None else each if colour == BLACK else 1 - each for each in (black[ply - 1], black[ply])
    )
    kept = game.analyses[ply - 1]
    best = kept.analysis.best_move if kept else None
    loss = None
    if ply <= game.record.given:
        best = None
    elif best == move:
        loss = 0.0
    elif before is not None and after is not None:
        loss = max(0.0, before - after)
    proof, proof_after = ((proofs[each] or 0) * colour * BLACK for each in (ply - 1, ply))
    is_fault = loss is not None and loss >= GRADES[Grade.INACCURACY]
    return MoveReview(
        ply=ply,
        move=move,
        colour=colour,
        before=before,
        after=after,
        best=best,
        loss=loss,
        ends_forced_win=is_fault and proof > 0 >= proof_after,
        allows_forced_win=is_fault and proof >= 0 > proof_after,
    )
