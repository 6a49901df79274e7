"""Explanations: one sentence on why a move loses, or what a side threatens.

Each sentence is proven: by the patterns on the board, by a search for wins by fours, by a look at all replies to a
double threat, or by the proof of a search.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.threats import FIVE, FOUR, OPEN_FOUR, OPEN_THREE
from core.notation import cell_name
from core.position import Position
from core.rules import Cell, Colour, Rules, colour_name
from gomoku_cli.study.forced import ForcedWins
from gomoku_cli.study.threats import Threats, kind_name
from search.analysis import Analysis

_MAX_SHOWN = 6
"""Moves of a line in a sentence."""


class _Win(NamedTuple):
    """A win of a side if it were to move."""

    clause: str
    """The win as a clause without its subject: `makes an open four at h11`."""
    line: str = ""
    """The fours or the open threes that grow, as a noun: `White's open three on h8-h10`."""


class Explainer:
    """Explanations by the rules of one board. For one thread."""

    def __init__(self, rules: Rules) -> None:
        self.threats = Threats(rules)
        self._forced = ForcedWins(rules, self.threats)
        self._rules = rules

    def loss(self, position: Position, move: Cell, after: Analysis | None = None) -> str:
        """Return the reason why a legal `move` loses the game by force; nothing if no such reason is known.

        `after`: an analysis of the position after the move; its proof counts where the patterns show nothing.
        """
        attacker = -position.side_to_move
        played = position.copy()
        played.push(move)
        if played.is_game_over():
            return ""
        name = _name(attacker)
        if win := self._win(stones_of(played), attacker):
            return f"{f'This leaves {win.line}: {name}' if win.line else f'{name} then'} {win.clause}."
        proof = after.moves[0].proof if after is not None else None
        if after is not None and proof is not None and proof > 0:
            return f"{name} has a forced win in {proof}: {self._names(after.variation)}."
        return ""

    def threat(self, position: Position) -> str:
        """Return the win that the opponent of the side to move threatens, nothing without one."""
        attacker = -position.side_to_move
        if position.is_game_over() or (win := self._win(stones_of(position), attacker)) is None:
            return ""
        return f"{f'{win.line} is a threat:' if win.line else 'Without an answer'} {_name(attacker)} {win.clause}."

    def _win(self, stones: NDArray[np.int8], attacker: Colour) -> _Win | None:
        """Return a win of the attacker if it were to move, the shortest kind first."""
        line = self.threats.win_by_fours(stones, attacker)
        return self._win_by_fours(stones, attacker, line) if line else self._double_threat(stones, attacker)

    def _win_by_fours(self, stones: NDArray[np.int8], attacker: Colour, line: tuple[Cell, ...]) -> _Win:
        """Return the win by fours of this line in words."""
        first, four = self._names(line[:1]), self._kind(FOUR)
        lines = [
            f"{self._kind(kind)} on {self._names((held[0], held[-1]), '-')}"
            for kind, held in self.threats.grown_lines(stones, attacker, line[0])
        ]
        grown = f"{_name(attacker)}'s {' together with the '.join(lines)}" if lines else ""
        if len(line) == 1:
            return _Win(f"makes {self._kind(FIVE)} at {first}", grown)
        patterns = self.threats.patterns(stones, attacker, line[0])
        if len(line) == 3 and OPEN_FOUR in patterns:
            return _Win(f"makes an {self._kind(OPEN_FOUR)} at {first}", grown)
        if len(line) == 3 and patterns.count(FOUR) > 1:
            return _Win(f"makes two {four}s at once at {first}")
        if len(line) == 5 and FOUR in patterns and OPEN_THREE in patterns:
            return _Win(f"makes a {four} and an {self._kind(OPEN_THREE)} at once at {first}")
        return _Win(f"wins by {four}s with {self._names(line[::2], ', ')}")

    def _double_threat(self, stones: NDArray[np.int8], attacker: Colour) -> _Win | None:
        """Return a win by two open threes at once, proven against all replies."""
        for cell in self.threats.double_threes(stones, attacker):
            grown = stones.copy()
            grown[cell] = attacker
            if self._forced.longest_defence(grown, -attacker).plies:
                return _Win(f"makes two {self._kind(OPEN_THREE)}s at once at {self._names((cell,))}")
        return None

    def _kind(self, kind: int) -> str:
        return kind_name(kind, self._rules.connect)

    def _names(self, cells: tuple[Cell, ...], between: str = " ") -> str:
        names = [cell_name(cell, self._rules.size) for cell in cells[:_MAX_SHOWN]]
        return between.join([*names, "\N{HORIZONTAL ELLIPSIS}"] if len(cells) > _MAX_SHOWN else names)


def _name(colour: Colour) -> str:
    return colour_name(colour).capitalize()
