"""Maker of the suite `hard`: positions that ask for quiet moves, each proven by `benchmarks.suites.prover`.

    python -m benchmarks.suites.make_hard --out curriculum/suites/hard.txt

The suite is frozen; this script documents it and makes others. The games are the mentor's with itself, with a random
move now and then. Their last plies hold long wins, and the positions before them hold the only moves that avert one.
The places of the board come from the tactical suite: a position that stays a puzzle of its kind in the centre, at an
edge and in a corner is taken in all three.
"""

import random
from collections.abc import Collection, Sequence

from benchmarks.suites.make_tactics import RULES, SIZE, _player, make_suite, names
from benchmarks.suites.prover import Prover
from core.position import Position
from core.streams import stream_key
from curriculum.arena.suite import Puzzle, load_suite

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
    threat = names(line) if line else f"a win in {plies} plies"
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


def placed() -> dict[str, list[Puzzle]]:
    """Return the puzzles of the tactical suite that stay puzzles in all places."""
    prover, found = Prover(SIZE, RULES.connect, BUDGET), {place: list[Puzzle]() for place in PLACES}
    sources = [puzzle for puzzle in load_suite("tactics") if puzzle.kind not in ("win-in-1", "block")]
    random.Random(1).shuffle(sources)
    for source in sources:
        for puzzle in in_all_places(prover, source) if len(found["corner"]) < NUM_PUZZLES["corner"] else ():
            found[puzzle.kind].append(puzzle)
    return found


if __name__ == "__main__":
    make_suite(__doc__, "hard", NUM_PUZZLES, puzzles_of_game, placed)
