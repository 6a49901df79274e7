"""Kernels of renju and caro against the slow referee of the tests: `python -m benchmarks.campaigns.rules`.

Random positions, most on boards of 7 to 9 and some on 15x15, with more of Black's stones than of White's: both see one
empty cell beside a stone of Black and one stone of each, with Black's fouls, and the winning lines of renju, caro and
caro-exact; on 15x15 the rules in plain Python see the fouls too. Positions of random games are compared on all their
cells. Exit code 1 at a difference.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.renju import ALLOWED, DOUBLE_FOUR, DOUBLE_THREE, MAKES_FIVE, OVERLINE, verdict
from core.compiled.rules import CompiledRules, compile_rules, legal_masks, wins
from core.position import Position
from core.rules import BLACK, EMPTY, Rules, Variant
from gomoku_cli.exit_codes import ExitCode
from tests.support import referee

_FOULS = {ALLOWED: "", MAKES_FIVE: "five", OVERLINE: "overline", DOUBLE_FOUR: "4-4", DOUBLE_THREE: "3-3"}
_SIZES = (7, 8, 9, 15)
_CHANCES = (0.32, 0.32, 0.32, 0.04)
_BATCH = 1000
"""Positions drawn at once."""
_VARIANTS = (Variant.RENJU, Variant.CARO, Variant.CARO_EXACT)


class Difference(Exception):
    """Kernel, rules and referee do not agree."""


def strewn(size: int, random: np.random.Generator) -> tuple[NDArray[np.int8], NDArray[np.intp], NDArray[np.intp]]:
    """Return random stones [B, A], and of each board an empty cell beside a stone of Black, and a cell with a stone.

    -1 where there is none.
    """
    share, black = random.uniform(0.15, 0.75, (_BATCH, 1)), random.uniform(0.45, 0.85, (_BATCH, 1))
    draws = random.random((_BATCH, size * size))
    stones = np.where(draws < share * black, 1, np.where(draws < share, -1, 0)).astype(np.int8)
    padded = np.pad((stones == BLACK).reshape(_BATCH, size, size), ((0, 0), (1, 1), (1, 1)))
    near = np.zeros((_BATCH, size, size), dtype=np.bool_)
    for row in range(3):
        for column in range(3):
            near |= padded[:, row : row + size, column : column + size]
    return stones, _one_of(near.reshape(_BATCH, -1) & (stones == EMPTY), random), _one_of(stones != EMPTY, random)


def _one_of(mask: NDArray[np.bool_], random: np.random.Generator) -> NDArray[np.intp]:
    """Return a random cell of each row [B, A], -1 for a row without one."""
    cells = np.where(mask, random.random(mask.shape), -1.0).argmax(axis=1)
    return np.where(mask.any(axis=1), cells, -1)


def compared(size: int, stones: NDArray[np.int8], cell: int, stone: int, compiled: list[CompiledRules]) -> str:
    """Compare kernel and referee on an empty cell and a stone; return Black's foul there. Raises `Difference`."""
    plain: list[int] = stones.tolist()
    foul = "no cell"
    if cell >= 0:
        foul = referee.foul(plain, cell, size)
        found = _FOULS[verdict(stones, size, cell)]
        by_rules = Rules(size, variant=Variant.RENJU).foul(plain, cell, BLACK) if size == max(_SIZES) else None
        if found != foul or (by_rules is not None and by_rules.kind != foul):
            raise Difference(f"{foul!r} is {found!r} ({by_rules}) at {cell} of {plain}")
    if stone >= 0:
        for rules, variant in zip(compiled, _VARIANTS, strict=True):
            if wins(rules, stones, stone) != referee.wins(plain, stone, size, variant):
                raise Difference(f"the stone at {stone} of {plain} under {variant}")
    return foul


def games(positions: int, random: np.random.Generator) -> Iterator[Position]:
    """Yield positions of random games under renju, each after two moves more."""
    while positions > 0:
        position = Position(Rules(9, variant=Variant.RENJU))
        while not position.is_game_over() and positions > 0:
            legal = position.legal_moves()
            position.push(int(legal[random.integers(len(legal))]))
            if position.ply % 2 == 0 and not position.is_game_over():
                positions -= 1
                yield position


def main() -> ExitCode:
    """Compare all positions, and print how many there were of each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=int, default=1_000_000)
    parser.add_argument("--games", type=int, default=10_000, metavar="POSITIONS")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random, count = np.random.default_rng(options.seed), Counter[str]()
    compiled = {size: [compile_rules(Rules(size, variant=each)) for each in _VARIANTS] for size in _SIZES}
    try:
        for batch in range(options.positions // _BATCH):
            size = int(random.choice(_SIZES, p=_CHANCES))
            for stones, cell, stone in zip(*strewn(size, random), strict=True):
                count[compared(size, stones, int(cell), int(stone), compiled[size]) or "allowed"] += 1
            if batch % 100 == 99:
                print(f"{(batch + 1) * _BATCH:,} positions: {dict(count)}", flush=True)
        fouls = 0
        for position in games(options.games, random):
            mask = legal_masks(compiled[9][0], stones_of(position)[None], np.ones(1, np.int8))[0]
            legal = referee.legal_moves(position.stones.tolist(), BLACK, 9, Variant.RENJU)
            if np.flatnonzero(mask).tolist() != legal:
                raise Difference(f"the mask of {position.moves}")
            fouls += 81 - position.ply - len(legal)
    except Difference as difference:
        print(difference)
        return ExitCode.FAILED
    print(f"{count.total():,} random positions: {dict(count)}; 0 differences")
    print(f"{options.games:,} positions of games, all cells: {fouls:,} forbidden; 0 differences")
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main())
