"""Maker of the suite `hard`: positions that ask for quiet moves, each proven by `benchmarks.suites.prover`.

    python -m benchmarks.suites.make_hard --out curriculum/suites/hard.txt

The suite is frozen; this script documents it and makes others. The games are the mentor's with itself, with a random
move now and then. Their last plies hold long wins, and the positions before them hold the only moves that avert one.
The places of the board come from the tactical suite: a position that stays a puzzle of its kind in the centre, at an
edge and in a corner is taken in all three.
"""

import argparse
import random
from collections import deque
from collections.abc import Collection, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import count
from multiprocessing import get_context
from pathlib import Path

from benchmarks.suites.make_tactics import RULES, SIZE, _names, _player, end_with_the_parent, same_under_symmetry
from benchmarks.suites.prover import Prover
from core.files.atomic import atomic_write_text
from core.position import Position
from core.streams import stream_key
from curriculum.arena.suite import Puzzle, load_suite, parse_suite, puzzle_line

NUM_PUZZLES = {
    "long-win": 40,
    "deep-defence": 19,
    "quiet-defence": 5,
    "centre": 40,
    "edge": 40,
    "corner": 40,
}
"""Positions of each kind, in the order of the file."""
LONG, LONGEST = 15, 35
"""Plies of the shortest and of the longest win that is taken."""
MAX_ANSWERS = 4
"""Maximum of right answers of a position: with more it is too easy."""
MIN_DECOYS = 2
"""Minimum of the moves that lose only to the deepest proof."""
MAX_UNCLEAR = 20
"""Maximum of moves that the quick proof leaves; a position with more costs too much."""
DEEPEST = 3
"""Maximum of quiet moves on a line of a proof."""
BUDGET, CHECK_BUDGET = 40_000, 2_000_000
"""Fours that the prover may try on a question, while it looks for puzzles and when it checks one."""
RANDOM_SHARE = 0.08
"""Share of random moves in the games."""
PLIES = 24
"""Positions of a game that are tried, from its end."""
PLACES = ("centre", "edge", "corner")
GAMES_AHEAD = 4
"""Games in work, for each process: a game takes between seconds and minutes, and the results keep the games' order."""

HEADER = """\
# Suite `hard`, freestyle, 5 in a row on 15x15: `kind | moves | answers | note`, one position a line.
#
# moves    from the empty board, black first; the side to move is the one that asks. h8 is column h from the left, row 8
#          from the bottom.
# answers  all right moves, as far as they are proven.
# note     the plies of the longest line of the win, or what the answers avert.
#
# long-win       no win by continuous fours; a win with 1 to 3 quiet moves on a line, 15 to 35 plies to the five
# deep-defence   the other side does not threaten to win by fours, but by quiet moves and fours
# quiet-defence  the other side threatens to win by fours, and all right answers are quiet moves
# centre, edge, corner
#                positions of the tactical suite, each moved to all three places
#
# Proven by a solver that shares no code with what is measured. Every answer of a win is proven to win. A move that is
# no answer is not proven to lose: no win with as many quiet moves follows it, nor with one more if it threatens fours.
# Every move that is no answer of a defence is proven to lose to at most 3 quiet moves; against the answers no such
# win was found. A question tries up to 2,000,000 fours.
# Of the positions in three places, moves that are no answers lose.
#
# Made by benchmarks/suites/make_hard.py and frozen: scores can be compared as long as no line changes.
"""


def mentor_game(seed: int) -> list[int]:
    """Return a game of the mentor with itself: up to three stones and some later moves are random."""
    draw = random.Random(seed)
    position = Position(RULES)
    while not position.is_game_over():
        if (position.ply < 3 and draw.random() < 0.5) or draw.random() < RANDOM_SHARE:
            move = draw.choice(_near(position))
        else:
            move = _player("mentor:3").choose(position, seed=stream_key(seed, position.ply)).move
        position.push(move)
    return list(position.moves)


def _near(position: Position) -> list[int]:
    centre = (SIZE * SIZE) // 2
    stones = position.moves or [centre]
    return [
        cell
        for cell in range(RULES.cells)
        if position.is_legal(cell)
        and any(max(abs(cell // SIZE - m // SIZE), abs(cell % SIZE - m % SIZE)) <= 2 for m in stones)
    ]


def puzzle_of(prover: Prover, moves: Sequence[int], kinds: Collection[str]) -> Puzzle | None:
    """Return the puzzle of a position; None if it is none of `kinds`."""
    side = len(moves) % 2
    prover.show(moves)
    if prover.five_cells(side) or prover.five_cells(1 - side) or prover.fours(side):
        return None
    for level in range(1, DEEPEST + 1):
        if plies := prover.win(side, level):
            return _win(prover, tuple(moves), level) if LONG <= plies <= LONGEST else None
    return _defence(prover, tuple(moves), kinds)


def _win(prover: Prover, moves: tuple[int, ...], level: int) -> Puzzle | None:
    side = len(moves) % 2
    free = prover.free_cells()
    lengths = {move: plies for move in free if (plies := prover.move_wins(move, side, level))}
    if not 1 <= len(lengths) <= MAX_ANSWERS:
        return None
    for move in free:
        if move not in lengths and prover.threatens(move, side):
            plies = prover.move_wins(move, side, level + 1)
            if plies:
                lengths[move] = plies
    shortest = min(lengths.values(), default=0)
    if not (lengths and len(lengths) <= MAX_ANSWERS and LONG <= shortest <= LONGEST):
        return None
    answers = sorted(lengths, key=lambda move: (lengths[move], move))
    return Puzzle("long-win", moves, tuple(answers), f"{shortest} plies, {level} quiet; mentor:3")


def _defence(prover: Prover, moves: tuple[int, ...], kinds: Collection[str]) -> Puzzle | None:
    side = len(moves) % 2
    line = prover.fours(1 - side)
    kind = "quiet-defence" if line else "deep-defence"
    plies = 0 if line else prover.win(1 - side, 2)
    if kind not in kinds or not (line or plies):
        return None
    unclear = [move for move in prover.free_cells() if not prover.move_loses(move, side, 1)]
    if not line:
        unclear = [move for move in unclear if not prover.move_loses(move, side, 2)]
    if len(unclear) > MAX_UNCLEAR:
        return None
    right = unclear
    for level in range(2, DEEPEST + 1):
        right = [move for move in right if not prover.move_loses(move, side, level)]
    if not 1 <= len(right) <= MAX_ANSWERS or (line and len(unclear) - len(right) < MIN_DECOYS):
        return None
    if line and prover.four_moves(side).intersection(right):
        return None
    threat = _names(line) if line else f"a win in {plies} plies"
    return Puzzle(kind, moves, tuple(right), f"averts {threat}; mentor:3")


def holds(prover: Prover, puzzle: Puzzle) -> bool:
    """Return True if this prover, whose budget is large, proves the puzzle's claims on every free cell."""
    side = len(puzzle.moves) % 2
    prover.show(puzzle.moves)
    if puzzle.kind != "long-win":
        depths = range(1, DEEPEST + 1) if puzzle.kind not in PLACES else (1,)
        return all(
            any(prover.move_loses(move, side, level) for level in depths) != (move in puzzle.answers)
            for move in prover.free_cells()
        )
    plies, level = (int(part.split()[0]) for part in puzzle.note.partition(";")[0].split(", "))
    lengths = [
        prover.move_wins(move, side, level) or prover.move_wins(move, side, level + 1) for move in puzzle.answers
    ]
    if min(lengths) != plies:
        return False
    others = set(prover.free_cells()).difference(puzzle.answers)
    return not any(prover.move_wins(move, side, level) for move in others)


def puzzles_of_game(number: int, kinds: Collection[str]) -> list[Puzzle]:
    """Return the puzzles of `kinds` from one game, at most one of each; the same number gives the same."""
    moves = mentor_game(stream_key(1, number))
    prover = Prover(SIZE, RULES.connect, BUDGET)
    found: dict[str, Puzzle] = {}
    for ply in range(max(6, len(moves) - PLIES), len(moves) - 4):
        missing = [kind for kind in kinds if kind not in found]
        puzzle = puzzle_of(prover, moves[:ply], missing) if missing else None
        if puzzle and puzzle.kind in missing:
            found[puzzle.kind] = puzzle
    checker = Prover(SIZE, RULES.connect, CHECK_BUDGET)
    return [puzzle for puzzle in found.values() if holds(checker, puzzle)]


def in_all_places(prover: Prover, puzzle: Puzzle) -> list[Puzzle]:
    """Return the puzzle moved to the centre, to an edge and into a corner; none if it is not a puzzle everywhere."""
    rows, columns = ([cell // SIZE for cell in puzzle.moves], [cell % SIZE for cell in puzzle.moves])
    height, width = max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
    middle = ((SIZE - height) // 2, (SIZE - width) // 2)
    if min(middle) < 2:
        return []
    found = []
    for kind, (row, column) in zip(PLACES, (middle, (0, middle[1]), (0, 0)), strict=True):
        shift = (row - min(rows)) * SIZE + column - min(columns)
        moves = tuple(cell + shift for cell in puzzle.moves)
        side = len(moves) % 2
        prover.show(moves)
        if prover.five_cells(side) or prover.five_cells(1 - side):
            return []
        right = []
        for move in prover.free_cells():
            if not prover.move_loses(move, side, 1):
                right.append(move)
                if len(right) > 2 * MAX_ANSWERS:
                    return []
        wins = [move for move in right if prover.move_wins(move, side, 1)]
        if not right or len(wins) != (0 if puzzle.kind == "only-defence" else len(right)):
            return []
        found.append(Puzzle(kind, moves, tuple(right), f"{puzzle.kind} of the tactical suite"))
    return found


def main() -> None:
    """Make puzzles until every kind is complete."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the suite; its present puzzles stay")
    parser.add_argument("--first-game", type=int, default=0, help="number of the game to begin with")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    old = parse_suite(arguments.out.read_text(encoding="utf-8")) if arguments.out.exists() else []
    kept = {kind: [puzzle for puzzle in old if puzzle.kind == kind] for kind in NUM_PUZZLES}
    if not kept[PLACES[0]]:
        prover = Prover(SIZE, RULES.connect, BUDGET)
        sources = [puzzle for puzzle in load_suite("tactics") if puzzle.kind not in ("win-in-1", "block")]
        random.Random(1).shuffle(sources)
        for source in sources:
            for puzzle in in_all_places(prover, source) if len(kept["corner"]) < NUM_PUZZLES["corner"] else ():
                kept[puzzle.kind].append(puzzle)
    seen = {same_under_symmetry(puzzle.moves) for puzzle in old}
    spawn = get_context("spawn")
    with ProcessPoolExecutor(arguments.processes, mp_context=spawn, initializer=end_with_the_parent) as pool:
        in_work: deque[Future[list[Puzzle]]] = deque()
        numbers = count(arguments.first_game)
        for done in count(arguments.first_game):
            kinds = [kind for kind, number in NUM_PUZZLES.items() if kind not in PLACES and len(kept[kind]) < number]
            lines = [puzzle_line(puzzle) for kind in NUM_PUZZLES for puzzle in kept[kind]]
            atomic_write_text(arguments.out, HEADER + "\n".join(lines) + "\n")
            print(done, "games:", {kind: len(some) for kind, some in kept.items()}, flush=True)
            if not kinds:
                pool.shutdown(wait=False, cancel_futures=True)
                break
            while len(in_work) < GAMES_AHEAD * arguments.processes:
                in_work.append(pool.submit(puzzles_of_game, next(numbers), kinds))
            for puzzle in in_work.popleft().result():
                key = same_under_symmetry(puzzle.moves)
                if key not in seen and len(kept[puzzle.kind]) < NUM_PUZZLES[puzzle.kind]:
                    seen.add(key)
                    kept[puzzle.kind].append(puzzle)


if __name__ == "__main__":
    main()
