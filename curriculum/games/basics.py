"""Basic positions of phase 1: attack and defence, drawn at random on a board with other stones around (A IV-B)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.compiled.rules import compile_rules, wins
from core.compiled.tactics import DOUBLE_THREAT, STOP_WIN, WIN, deciding_tactic, immediate_wins, is_right
from core.evaluation import PositionBatch
from core.rules import BLACK, DIRECTIONS, EMPTY, NO_CELL, WHITE, Rules
from core.streams import Purpose, generator
from curriculum.games.kinds import KINDS, BasicsError, Kind, check
from curriculum.reporting import Context
from curriculum.training.samples import Samples

_FOUR = KINDS["four-first"].pattern
"""The line of a defender who could win with the next stone."""
_TRIES = 2000
"""Draws of one position before it counts as impossible."""


def draw(
    rules: Rules,
    kinds: Sequence[str],
    positions: int,
    noise_stones: tuple[int, int],
    seed: int,
    context: Context = Context(),  # noqa: B008 - frozen
) -> Samples:
    """Draw `positions` samples, the kinds in equal numbers and in turn; the same seed gives the same samples.

    `noise_stones`: minimum and maximum of stones outside the pattern. Noise that makes a line of its own is drawn
    again, and so is noise after which another move than the pattern's answer is best. Raises `BasicsError`, and
    `Interrupted`.
    """
    check(rules, kinds, noise_stones)
    placements = {name: _placements(KINDS[name].pattern(rules.connect), rules.size) for name in kinds}
    batch = PositionBatch.empty(positions, rules.cells)
    policies = np.zeros((positions, rules.cells), dtype=np.float32)
    values = np.zeros(positions, dtype=np.float32)
    with context.reporter.task("drawing basics", positions, "positions") as task:
        for row in range(positions):
            name = kinds[row % len(kinds)]
            one = _Draw(rules, KINDS[name], placements[name], noise_stones, generator(seed, Purpose.BASICS, row))
            if not any(one.once() for _ in range(_TRIES)):
                raise BasicsError(f"no {name} could be drawn with {noise_stones[0]} or more other stones: allow fewer")
            batch.stones[row], batch.to_move[row], batch.last_moves[row] = one.stones, one.to_move, one.last_moves
            policies[row, one.answers] = one.weights
            values[row] = KINDS[name].value
            if row % 500 == 0:
                context.check()
                task.update(row)
        task.update(positions)
    return Samples.plain(batch, policies, values)


def with_colours_swapped(rules: Rules, samples: Samples) -> Samples:
    """Return the samples, followed by a copy of each with the colours of stones and side to move swapped.

    Where the colours are not alike, as in renju, only copies whose answers are right again follow.
    """
    positions = samples.positions
    swapped = PositionBatch(-positions.stones, -positions.to_move, positions.last_moves)
    copies = Samples(swapped, samples.targets)
    if rules.has_fouls:
        answers, attacks = samples.policies > 0, samples.values > 0
        rows = zip(swapped.stones, swapped.to_move.tolist(), answers, attacks.tolist(), strict=True)
        copies = copies.rows(np.array([_is_sound(rules, s, c, np.flatnonzero(a), attacks=w) for s, c, a, w in rows]))
    return Samples.concatenate([samples, copies])


def are_right(rules: Rules, positions: PositionBatch, moves: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return [B]: True if the move (an empty cell) is a right one by brute force (`core.compiled.tactics`)."""
    right, compiled = np.zeros(len(positions), dtype=np.bool_), compile_rules(rules)
    for row, move in enumerate(moves):
        stones, colour = positions.stones[row].copy(), int(positions.to_move[row])
        decides = deciding_tactic(compiled, stones, colour)
        right[row] = is_right(compiled, stones, colour, int(move), decides)
    return right


def _is_sound(
    rules: Rules, stones: NDArray[np.int8], to_move: int, answers: NDArray[np.intp], *, attacks: bool
) -> bool:
    """Return True if no line stands already and the pattern's answers are the right moves of the position."""
    compiled, plain = compile_rules(rules), stones.tolist()
    if not all(rules.is_legal(plain, int(cell), to_move) for cell in answers):
        return False
    for cell in np.flatnonzero(stones):
        if wins(compiled, stones, int(cell)):
            return False
    decides = deciding_tactic(compiled, stones, to_move)
    if not attacks and decides in (WIN, DOUBLE_THREAT):
        return False  # a defender who can win need not defend, and its z would be wrong
    if decides == STOP_WIN:
        # A second winning cell elsewhere would make a defence hopeless.
        count = immediate_wins(compiled, stones, -to_move, np.empty(rules.cells, dtype=np.bool_))
        if count != len(answers):
            return False
    return all(is_right(compiled, stones, to_move, int(cell), decides) for cell in answers)


def _placements(pattern: str, size: int) -> list[NDArray[np.int64]]:
    """Return the pattern's placements: the cell of each character, `NO_CELL` for an `x` beyond the edge."""
    forwards = list(DIRECTIONS)
    backwards = [] if pattern == pattern[::-1] else [(-rows, -columns) for rows, columns in DIRECTIONS]
    found = []
    for row_step, column_step in forwards + backwards:
        for row in range(-1, size + 1):
            for column in range(-1, size + 1):
                laid = [(row + row_step * i, column + column_step * i) for i in range(len(pattern))]
                cells = [r * size + c if 0 <= r < size and 0 <= c < size else NO_CELL for r, c in laid]
                if all(cell != NO_CELL or mark == "x" for cell, mark in zip(cells, pattern, strict=True)):
                    found.append(np.array(cells))
    return found


class _Draw:
    """A position in the making; `once` draws it and returns True if it is sound."""

    def __init__(
        self,
        rules: Rules,
        kind: Kind,
        placements: list[NDArray[np.int64]],
        noise_stones: tuple[int, int],
        random: np.random.Generator,
    ) -> None:
        self._rules, self._kind, self._placements = rules, kind, placements
        self._noise_stones, self._random = noise_stones, random
        self._fours = _placements(_FOUR(rules.connect), rules.size) if kind.against_four else []
        self._marks = np.array(list(kind.pattern(rules.connect)))
        self.stones: NDArray[np.int8] = np.empty(rules.cells, dtype=np.int8)
        self.to_move = BLACK
        self.last_moves: tuple[int, int] = (NO_CELL, NO_CELL)
        self.answers: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.weights: tuple[float, ...] = ()

    def once(self) -> bool:
        random, kind = self._random, self._kind
        attacker = WHITE if kind.any_colour and random.random() < 0.5 else BLACK
        self.to_move = attacker if kind.attacks else -attacker
        laid = self._placements[random.integers(len(self._placements))]
        self.stones[:] = EMPTY
        line = laid[self._marks == "o"]
        self.stones[line] = attacker
        blocks = laid[(self._marks == "x") & (laid != NO_CELL)]
        self.stones[blocks] = -attacker
        if kind.against_four:
            four = self._fours[random.integers(len(self._fours))]
            if np.isin(four, laid).any():
                return False
            blocks = four[:-1]
            self.stones[blocks] = -attacker
            laid = np.concatenate([laid, four])
        noise = self._add_noise(laid)
        answers = laid[: len(self._marks)][self._marks == "_"]
        if noise is None or not _is_sound(self._rules, self.stones, self.to_move, answers, attacks=kind.attacks):
            return False
        if kind.weights is None:
            self.answers, self.weights = random.choice(answers, 1), (1.0,)
        else:
            self.answers, self.weights = answers, kind.weights
        theirs = line if not kind.attacks else np.append(blocks, noise[self.stones[noise] == -self.to_move])
        ours = line if kind.attacks else np.append(blocks, noise[self.stones[noise] == self.to_move])
        self.last_moves = (self._pick(theirs), self._pick(ours))
        return True

    def _add_noise(self, laid: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Place other stones on the rest of the board and return their cells; None where they do not fit.

        Black has as many stones as White where Black is to move, one more where White is.
        """
        black = int(np.count_nonzero(self.stones == BLACK))
        white = int(np.count_nonzero(self.stones == WHITE))
        stones = int(self._random.integers(self._noise_stones[0], self._noise_stones[1] + 1))
        lead = 0 if self.to_move == BLACK else 1
        missing = black - lead - white  # white stones that even it out, black ones where negative
        pairs = max(0, stones - abs(missing)) // 2
        whites, blacks = pairs + max(missing, 0), pairs + max(-missing, 0)
        free = self.stones == EMPTY
        free[laid[laid != NO_CELL]] = False
        cells = np.flatnonzero(free)
        if len(cells) < whites + blacks:
            return None
        noise = self._random.permutation(cells)[: whites + blacks]
        self.stones[noise[:whites]] = WHITE
        self.stones[noise[whites:]] = BLACK
        return noise

    def _pick(self, cells: NDArray[np.int64]) -> int:
        return int(self._random.choice(cells)) if len(cells) else NO_CELL
