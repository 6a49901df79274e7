"""Paper S, figure 6: fours at the edge of the board, which a net must block, by a net alone and by its search.

    python -m benchmarks.papers.edges runs/padding-1 runs/padding-3

The positions are fours among random stones: the opponent wins on one cell and the side to move nowhere. All models of a
board get the same ones, as many along the edge as along the next row and further inside. `example` is a position along
the edge that the first model's net misses and the last one's blocks, for `gomoku analyze MOVES --player MODEL --figure
FILE`.
"""

import argparse
import json
import random
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from benchmarks.papers.models import first_learnt, right_moves, shares
from core.compiled.rules import compile_rules
from core.compiled.tactics import immediate_wins
from core.position import IllegalMoveError, Position
from core.records.openings import format_opening
from core.rules import Cell, Rules, Stones
from curriculum.arena.players import resolve_rules
from curriculum.arena.suite import Puzzle

_PLACES = ("edge", "next row", "inside")
_MORE_STONES = 8
"""Random stones of each side beside the four, at most."""


def place_of(rules: Rules, stones: Stones, cell: Cell) -> str | None:
    """Return the place of the line that the stone on `cell` has completed; None for a diagonal."""
    line = rules.winning_line(stones, cell)
    for row in ({cell // rules.size for cell in line}, {cell % rules.size for cell in line}):
        if len(row) == 1:
            distance = min(*row, rules.size - 1 - max(row))
            return _PLACES[min(distance, len(_PLACES) - 1)]
    return None


def blocked_four(rules: Rules, moves: Sequence[Cell]) -> Puzzle | None:
    """Return the four that the side to move must block, by its place; None without one alone, and for a diagonal."""
    position = Position.from_moves(rules, moves)
    compiled, marks = compile_rules(rules), np.zeros(rules.cells, dtype=np.bool_)
    stones, colour = np.array(position.stones, dtype=np.int8), position.side_to_move
    if position.is_game_over() or immediate_wins(compiled, stones, colour, marks):
        return None
    if immediate_wins(compiled, stones, -colour, marks) != 1:
        return None
    block = int(marks.argmax())
    stones[block] = -colour
    place = place_of(rules, stones.tolist(), block)
    return None if place is None else Puzzle(place, tuple(moves), (block,), "")


def drawn_moves(rules: Rules, draw: random.Random) -> list[Cell]:
    """Return moves that end with a four along a row or a column, among random stones of both sides."""
    size, number = rules.size, rules.connect - 1
    row, first = draw.randrange(size), draw.randrange(size - number)
    step, start = draw.choice(((1, row * size + first), (size, first * size + row)))
    line = [start + step * place for place in range(rules.connect)]
    four = draw.sample(line, number)
    plies = draw.randrange(2 * number - 1, 2 * number + 2 * _MORE_STONES)
    others = draw.sample([cell for cell in range(rules.cells) if cell not in line], plies - number)
    own = draw.sample(four + others[: (plies + 1) // 2 - number], (plies + 1) // 2)
    own.append(own.pop(own.index(four[0])))
    rest = iter(others[(plies + 1) // 2 - number :])
    return [own.pop(0) if (plies - ply) % 2 else next(rest) for ply in range(plies)]


def fours(rules: Rules, count: int) -> list[Puzzle]:
    """Return `count` positions of each place."""
    left, draw, found = dict.fromkeys(_PLACES, count), random.Random(1), []
    while any(left.values()):
        with suppress(IllegalMoveError):  # the random stones have won before
            four = blocked_four(rules, drawn_moves(rules, draw))
            if four is not None and left[four.kind]:
                left[four.kind] -= 1
                found.append(four)
    return found


def main() -> None:
    """Find the positions, let the models play them, and print a line of JSON for each model, and the example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="run folders or model files of one board")
    parser.add_argument("--playouts", type=int, nargs="+", default=[0, 400])
    parser.add_argument("--count", type=int, default=300, help="positions of each place")
    arguments = parser.parse_args()
    rules = resolve_rules(arguments.models)
    found, fewest = fours(rules, arguments.count), min(arguments.playouts)
    alone: list[list[bool]] = []
    for model in arguments.models:
        right = {playouts: right_moves(model, playouts, found, rules) for playouts in arguments.playouts}
        alone.append(right[fewest])
        print(json.dumps({"model": model} | shares(_PLACES, found, right)), flush=True)
    at_edge = [is_right and four.kind == _PLACES[0] for four, is_right in zip(found, alone[-1], strict=True)]
    if example := first_learnt(found, alone[0], at_edge):
        print(json.dumps({"example": format_opening(example.moves, rules.size)}))


if __name__ == "__main__":
    main()
