"""A puzzle on the board: which moves are right, the longest defence, refutations, hints and solutions."""

from typing import NamedTuple

from core.compiled import stones_of
from core.position import Position
from core.rules import NO_CELL, Cell, Rules
from gomoku_cli.puzzles.rated import RatedPuzzle
from gomoku_cli.study.explain import Explainer
from gomoku_cli.study.forced import ForcedWins


class Verdict(NamedTuple):
    """The truth about a move."""

    is_right: bool
    line: tuple[Cell, ...] = ()
    """The other side's longest defence after a right move, and nothing if the task is done; after a wrong one the moves
    of both sides that refute it."""
    sentence: str = ""


class Hint(NamedTuple):
    """A sentence, and the move that it speaks of."""

    sentence: str
    move: Cell


class Referee:
    """Proofs for the puzzles of one board: those of the file, and wins with at most one quiet move. For one thread."""

    def __init__(self, rules: Rules) -> None:
        self._explainer = Explainer(rules)
        self._forced = ForcedWins(rules, self._explainer.threats)

    def verdict(self, each: RatedPuzzle, position: Position, move: Cell) -> Verdict:
        """Return the verdict on a legal move of the solver in a position that the puzzle has led to.

        A move is right if the puzzle says so or if it wins by a proof. An answer whose win no proof here can follow, as
        that of a defence, ends the task.
        """
        played = position.copy()
        played.push(move)
        outcome = played.outcome()
        if outcome is not None:
            return Verdict(outcome.winner == position.side_to_move)
        is_answer = position.ply == len(each.puzzle.moves) and move in each.puzzle.answers
        if is_answer and each.is_defence:
            return Verdict(True)
        proof = self._forced.defence(played)
        if proof.plies or is_answer:
            return Verdict(True, (proof.move,) if proof.plies else ())
        if line := tuple(self._forced.line(played)):
            return Verdict(False, line, self._explainer.loss(position, move) or "The other side wins by force.")
        if proof.move == NO_CELL:
            has_won = self._forced.attack(position).plies
            return Verdict(
                False, (), "It threatens nothing." if has_won else "Other moves are the answers of the file."
            )
        return Verdict(False, (proof.move,), f"No win is proven after {position.name_of(proof.move)}.")

    def hint(self, each: RatedPuzzle, position: Position) -> Hint:
        """Return the idea of the position, and a right move."""
        is_first = position.ply == len(each.puzzle.moves)
        move = each.puzzle.answers[0] if is_first else self._forced.attack(position).move
        win = self._explainer.threats.win_by_fours(stones_of(position), position.side_to_move)
        if win:
            fours = len(win) // 2
            text = f"{fours} fours in a row win." if fours > 1 else "One four wins." if fours else "Five is at hand."
            return Hint(text, move)
        return Hint(self._explainer.threat(position) or "It takes a move that is no four.", move)

    def solution(self, each: RatedPuzzle) -> tuple[Cell, ...]:
        """Return the first answer and the moves after it, as far as they are proven."""
        position = Position.from_moves(each.rules, (*each.puzzle.moves, each.puzzle.answers[0]))
        if not (position.is_game_over() or each.is_defence) and (reply := self._forced.defence(position)).plies:
            position.push(reply.move)
            return (*position.moves[-2:], *self._forced.line(position))
        return each.puzzle.answers[:1]
