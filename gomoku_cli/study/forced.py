"""Forced wins with at most one quiet move: proofs of moves, longest defences, and the lines that show them.

A win is one by continuous fours, or a quiet move after which every reply loses to such fours. Up to `_LEADING_FOURS`
fours may come before the quiet move, and the defender may put the end off by fours of its own. Nothing else is proven.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.threats import FIVE, FOUR, side_of
from core.position import Position
from core.rules import EMPTY, NO_CELL, Cell, Colour, Rules
from gomoku_cli.study.threats import Threats

_LEADING_FOURS = 2
_DELAYS = 12
"""Fours in a row by which a defender may put the end off in a proof."""
_MAX_KNOWN = 50_000
_NODES = 100_000
"""Limit of each search for fours."""


class Proof(NamedTuple):
    """The result of a question: `plies` until the win, 0 if none is proven, and the move to make."""

    plies: int
    move: Cell


NOTHING = Proof(0, NO_CELL)


class ForcedWins:
    """Proofs by the rules of one board. For one thread."""

    def __init__(self, rules: Rules, threats: Threats | None = None) -> None:
        self._threats = threats or Threats(rules)
        self._known: dict[tuple[bytes, Colour, int, int, int], Proof] = {}
        """Answers of `longest_defence`: the same fours in another order lead to the same position."""

    def attack(self, position: Position) -> Proof:
        """Return the win of the side to move, by fours the shortest one, and its first move."""
        return self._attack(stones_of(position).copy(), position.side_to_move, 1, _LEADING_FOURS, _DELAYS)

    def defence(self, position: Position) -> Proof:
        """Return the win of the side that has just moved, and the reply that puts it off for longest.

        Where no win is proven, the move is a reply that escapes, `NO_CELL` if there is not even a threat.
        """
        stones, defender = stones_of(position).copy(), position.side_to_move
        has_fives = (self._threats.cells(stones)[side_of(-defender)] == FIVE).any()
        last = position.moves[-1]
        stones[last] = EMPTY
        was_forced = self._threats.cells(stones)[side_of(defender), last] == FIVE
        stones[last] = -defender
        return self.longest_defence(stones, defender, quiet=int(has_fives or was_forced))

    def line(self, position: Position) -> list[Cell]:
        """Return the moves of both sides up to the stone that wins for the side to move; none without a proof."""
        shown = position.copy()
        while not shown.is_game_over():
            fours = self._fours(stones_of(shown), shown.side_to_move)
            move = fours[0] if fours else self.attack(shown).move
            if move == NO_CELL:
                break
            shown.push(move)
            if not shown.is_game_over():
                shown.push(fours[1] if fours else self.defence(shown).move)
        return shown.moves[position.ply :]

    def longest_defence(
        self,
        stones: NDArray[np.int8],
        defender: Colour,
        *,
        quiet: int = 0,
        fours: int = _LEADING_FOURS,
        delays: int = _DELAYS,
    ) -> Proof:
        """Do the same as `defence` for `stones` [A], which are left as they were.

        `quiet`: quiet moves left to the attacker; `fours`: fours before it; `delays`: fours left to the defender.
        """
        key = (stones.tobytes(), defender, quiet, fours, delays)
        if key not in self._known:
            if len(self._known) > _MAX_KNOWN:
                self._known.clear()
            self._known[key] = self._longest_defence(stones, defender, quiet, fours, delays)
        return self._known[key]

    def _longest_defence(
        self, stones: NDArray[np.int8], defender: Colour, quiet: int, fours: int, delays: int
    ) -> Proof:
        attacker = -defender
        if not self._fours(stones, attacker):
            return NOTHING  # this is not even a threat
        own, legal = self._threats.cells(stones)[side_of(defender)], self._threats.legal(stones, defender)
        longest = Proof(2, NO_CELL)
        # The strongest replies first, since they refute most.
        for reply in np.argsort(-own.astype(np.int64), kind="stable").tolist():
            if not legal[reply]:
                continue
            if own[reply] == FIVE:
                return Proof(0, reply)
            stones[reply] = defender
            plies = self._attack(stones, attacker, quiet, fours, delays).plies
            stones[reply] = EMPTY
            if not plies:
                return Proof(0, reply)
            if plies + 1 > longest.plies or longest.move == NO_CELL:
                longest = Proof(plies + 1, reply)
        return longest

    def _attack(self, stones: NDArray[np.int8], attacker: Colour, quiet: int, fours: int, delays: int) -> Proof:
        if line := self._fours(stones, attacker):
            return Proof(len(line), line[0])
        cells, legal = self._threats.cells(stones), self._threats.legal(stones, attacker)
        own, must = cells[side_of(attacker)], np.flatnonzero(cells[side_of(-attacker)] == FIVE).tolist()
        if must:
            if len(must) > 1 or not legal[must[0]] or not delays:
                return NOTHING
            return self._with(stones, attacker, must[0], quiet, fours, delays - 1)
        if not quiet:
            return NOTHING
        # Quiet moves first: the fours before them are seldom needed.
        for wants_four in (False, True) if fours else (False,):
            for move in np.argsort(-own.astype(np.int64), kind="stable").tolist():
                if legal[move] and (own[move] >= FOUR) == wants_four:
                    left = quiet if wants_four else quiet - 1
                    proof = self._with(stones, attacker, move, left, fours - wants_four, delays)
                    if proof.plies:
                        return proof
        return NOTHING

    def _with(
        self, stones: NDArray[np.int8], attacker: Colour, move: Cell, quiet: int, fours: int, delays: int
    ) -> Proof:
        """Return the win that begins with a move."""
        stones[move] = attacker
        plies = self.longest_defence(stones, -attacker, quiet=quiet, fours=fours, delays=delays).plies
        stones[move] = EMPTY
        return Proof(plies + 1, move) if plies else NOTHING

    def _fours(self, stones: NDArray[np.int8], attacker: Colour) -> tuple[Cell, ...]:
        return self._threats.win_by_fours(stones, attacker, nodes=_NODES)
