"""Maker of the tactical suite: positions in which the slow solver of the tests proves every move right or wrong.

    python -m benchmarks.suites.make_tactics --out curriculum/suites/tactics.txt

The suite is frozen; this script documents it and makes others. The head of the file says what is proven. The games are
bad on purpose: players with random moves in between, and dice that lean to growing lines, so that both sides have
threats when one of them errs. A position is kept if the other side, were it to move, could win at once. Then nearly
every move loses, the few others can all be decided, and a right answer is never marked wrong. Long wins are rare in
games, so they are bred: a position with a win by fours is changed stone by stone as long as its shortest win grows.
"""

import argparse
import os
import random
import threading
from collections.abc import Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import resources
from itertools import chain, count
from multiprocessing import get_context, parent_process
from pathlib import Path

from core.compiled.symmetry import targets
from core.files.atomic import atomic_write_text
from core.notation import cell_name
from core.position import Position
from core.rules import Rules
from core.streams import stream_key
from curriculum.arena.suite import Puzzle, parse_suite, puzzle_line
from search.players import Player
from tests.support.slow_solver import DIRECTIONS, FREE, Solver, TooHard

RULES = Rules()
SIZE = RULES.size
NUM_PUZZLES = {kind: 50 for kind in ("win-in-1", "block", "four-four", "four-three", "three-three")}
NUM_PUZZLES |= {"fours-2": 30, "fours-3": 40, "fours-4": 40, "fours-5": 40, "fours-6": 40, "fours-7+": 70}
NUM_PUZZLES |= {"only-defence": 80}
"""Positions of each kind, in the order of the file."""
LONG = 7
"""Minimum of fours of a long win."""
MAX_ANSWERS = 8
"""Maximum of right answers of a position: with more it is too easy."""
LEVEL = 1
"""Quiet moves that a proof may use on a line."""
BUDGET = 20_000
"""Fours that the solver may try on one position; harder ones are left out."""
SOURCES = ("mentor", "dice", "dice", "default", "dice", "dice", "mentor:paper", "dice", "dice")
"""Players of the games, in turn."""
LEANINGS = ((1, 1), (3, 4), (3, 8), (4, 12))
"""Weights of the dice, for each stone of a window: of their own stones, of the other side's."""
MAX_STONES = 90
PLIES = 20
"""Positions of a game that are tried."""
BREEDING_STEPS = 500
BREEDING_GOALS = (2, 4, 5, 6, 15, 15, 15)
"""Fours of a bred win; for a long one the maximum."""
BRED = 4
"""Positions of a game from which wins are bred."""
COMPOSED = 100
"""Tries at composing a three-three, for each game."""

GAMES_AT_ONCE = 8
"""Games between two checks for complete kinds."""


def puzzle_of(moves: Sequence[int], kinds: Collection[str]) -> Puzzle | None:
    """Return the puzzle of a position; None if it is none of `kinds`, or if the solver cannot decide every move."""
    board = Solver.from_moves(moves, SIZE, RULES.connect, BUDGET)
    try:
        return _puzzle_on(board, tuple(moves), kinds)
    except TooHard:
        return None


def _puzzle_on(board: Solver, moves: tuple[int, ...], kinds: Collection[str]) -> Puzzle | None:
    side = len(moves) % 2
    other = 1 - side
    wins, must = board.five_cells(side), board.five_cells(other)
    if wins:
        if "win-in-1" not in kinds:
            return None
        rest = [move for move in board.free_cells() if move not in wins]
        decided = all(board.move_loses(move, side, LEVEL) for move in rest)
        return Puzzle("win-in-1", moves, tuple(sorted(wins)), "") if decided else None
    if must:
        if len(must) > 1 or "block" not in kinds or board.move_loses(min(must), side, LEVEL):
            return None
        return Puzzle("block", moves, tuple(must), "")
    matter = board.disturbing_moves(other)
    if matter is None:
        return None
    line = board.shortest_fours(side)
    possible = _possible_kinds(line).intersection(kinds)
    if not possible:
        return None
    # The quick proof comes first: most moves lose to fours.
    unclear = [move for move in sorted(matter) if not board.move_loses(move, side, 0)]
    if len(unclear) > MAX_ANSWERS:
        return None
    if possible == {"three-three"} and not any(len(board.lines_of_open_threes(move, side)) > 1 for move in unclear):
        return None
    right = [move for move in unclear if board.move_wins(move, side, 0)]
    unclear = [move for move in unclear if move not in right and not board.move_loses(move, side, LEVEL)]
    right += [move for move in unclear if board.move_wins(move, side, LEVEL)]
    if not right:
        if "only-defence" not in possible:
            return None
        threat = names(board.shortest_fours(other) or ())
        return Puzzle("only-defence", moves, tuple(unclear), f"wards off {threat}") if unclear else None
    if not all(move in right for move in unclear):
        return None
    kind = _kind_of_win(board, side, right, line)
    note = "" if line is None else names(line)
    if line is not None:
        right.sort(key=lambda move: move != line[0])
    return Puzzle(kind, moves, tuple(right), note) if kind in possible else None


def _possible_kinds(line: list[int] | None) -> set[str]:
    """Return the kinds that a position can be of, by its shortest win by fours."""
    if line is None:
        return {"three-three", "only-defence"}
    fours = (len(line) + 1) // 2
    return {"four-four"} if fours == 1 else {"four-three", "fours-2"} if fours == 2 else {_kind_of_fours(fours)}


def _kind_of_win(board: Solver, side: int, right: list[int], line: list[int] | None) -> str | None:
    if line is None:
        doubles = [move for move in right if len(board.lines_of_open_threes(move, side)) > 1]
        right.sort(key=lambda move: move not in doubles)
        return "three-three" if doubles else None
    fours = (len(line) + 1) // 2
    if fours == 1:
        # An open four is two fives too, but in one line: it asks for no more than the three.
        doubles = [move for move in right if _threatens_two(board, move, side)]
        return "four-four" if all(len(board.lines_of_fours(move, side)) > 1 for move in doubles) else None
    if fours == 2 and board.lines_of_open_threes(line[0], side):
        return "four-three"
    return _kind_of_fours(fours)


def _kind_of_fours(fours: int) -> str:
    return f"fours-{fours}" if fours < LONG else f"fours-{LONG}+"


def _threatens_two(board: Solver, move: int, side: int) -> bool:
    board.put(move, side)
    fives = len(board.five_cells(side))
    board.take(move)
    return fives > 1


def names(cells: Sequence[int]) -> str:
    return " ".join(cell_name(cell, SIZE) for cell in cells)


@cache
def around() -> list[list[int]]:
    """Return for each cell the cells within two rows and columns."""
    return [
        [
            row * SIZE + column
            for row in range(max(0, cell // SIZE - 2), min(SIZE, cell // SIZE + 3))
            for column in range(max(0, cell % SIZE - 2), min(SIZE, cell % SIZE + 3))
        ]
        for cell in range(RULES.cells)
    ]


def _near(board: Solver, moves: Sequence[int]) -> list[int]:
    return sorted({cell for move in moves for cell in around()[move] if board.owner[cell] == FREE})


def dice_game(draw: random.Random) -> list[int]:
    """Return a game of dice: they stop fives and never make one, so that both sides collect threats."""
    board, moves = Solver(SIZE, RULES.connect), [draw.randrange(RULES.cells)]
    board.put(moves[0], 0)
    own, theirs = draw.choice(LEANINGS)
    while len(moves) < MAX_STONES:
        side = len(moves) % 2
        must, banned = board.five_cells(1 - side), board.five_cells(side)
        cells = [cell for cell in _near(board, moves) if cell not in banned]
        if len(must) > 1 or must & banned or not cells:
            break
        if must:
            move = min(must)
        elif draw.random() < 0.2:
            move = draw.choice(cells)
        else:
            worth = [
                sum(
                    own ** board.count[side][window] * (board.count[1 - side][window] == 0)
                    + theirs ** board.count[1 - side][window] * (board.count[side][window] == 0)
                    for window in board.through[cell]
                )
                for cell in cells
            ]
            move = draw.choices(cells, [value + 1 for value in worth])[0]
        board.put(move, side)
        moves.append(move)
    return moves


@cache
def _player(spec: str) -> Player:
    from curriculum.arena.players import PlayerSettings, parse_player

    return parse_player(spec, rules=RULES, settings=PlayerSettings(simulations=24))


def player_game(spec: str, seed: int) -> list[int]:
    """Return a game of a player with itself, with random moves in between, without the move that makes five."""
    draw = random.Random(seed)
    random_share = draw.uniform(0.1, 0.4)
    position, board = Position(RULES), Solver(SIZE, RULES.connect)
    while position.ply < MAX_STONES:
        if not position.moves:
            move = draw.randrange(RULES.cells)
        elif draw.random() < random_share:
            move = draw.choice(_near(board, position.moves))
        else:
            move = _player(spec).choose_batch([position], seeds=[stream_key(seed, position.ply)])[0].move
        if move in board.five_cells(position.ply % 2):
            break
        board.put(move, position.ply % 2)
        position.push(move)
    return position.moves


def blunder(moves: Sequence[int], draw: random.Random) -> list[int] | None:
    """Return the game after one side made a four and the other, instead of an answer, made a four of its own."""
    board, side = Solver.from_moves(moves, SIZE, RULES.connect), len(moves) % 2
    if board.fours[0] or board.fours[1] or not board.four_moves(side):
        return None
    first = draw.choice(sorted(board.four_moves(side)))
    board.put(first, side)
    replies = board.four_moves(1 - side) - board.five_cells(side)
    return [*moves, first, draw.choice(sorted(replies))] if replies else None


def compose(draw: random.Random) -> list[int] | None:
    """Return moves to a position with a cell that makes two open threes and stops a three of the other side."""
    centre = draw.randrange(RULES.cells)
    ways = draw.sample(DIRECTIONS, 3)
    stones: tuple[list[int], list[int]] = ([], [])
    for number, (up, right) in enumerate(ways):
        first = draw.randrange(-4, 1)
        for step in draw.sample([step for step in range(first, first + 5) if step], 3 if number == 2 else 2):
            row, column = centre // SIZE + step * up, centre % SIZE + step * right
            if not (0 <= row < SIZE and 0 <= column < SIZE):
                return None
            stones[number == 2].append(row * SIZE + column)
    board = Solver(SIZE, RULES.connect)
    for side, cells in enumerate(stones):
        for cell in cells:
            board.put(cell, side)
    size = draw.randrange(4, 24)
    while len(stones[0]) < size or len(stones[0]) != len(stones[1]):
        side = int(len(stones[1]) < len(stones[0]) or (len(stones[1]) == len(stones[0]) and draw.random() < 0.5))
        free = [cell for cell in _near(board, stones[0] + stones[1]) if cell != centre]
        stones[side].append(draw.choice(free))
        board.put(stones[side][-1], side)
    # With as many stones on both sides the attacker is black; with one more on the other side it is white.
    if draw.random() < 0.5:
        free = [cell for cell in _near(board, stones[0] + stones[1]) if cell != centre]
        stones[1].append(draw.choice(free))
        board.put(stones[1][-1], 1)
        stones = (stones[1], stones[0])
    if board.fives or board.fours[0] or board.fours[1]:
        return None
    for cells in stones:
        draw.shuffle(cells)
    return [stones[ply % 2][ply // 2] for ply in range(len(stones[0]) + len(stones[1]))]


def breed(moves: Sequence[int], goal: int, draw: random.Random) -> Puzzle | None:
    """Change a position stone by stone until its shortest win is of the kind of `goal` fours; return the puzzle.

    On the way the win never gets shorter, nor longer than `goal`. Returns None if the steps run out.
    """
    kind = _kind_of_fours(goal)
    board, stones = Solver.from_moves(moves, SIZE, RULES.connect, BUDGET), list(moves)
    side = len(stones) % 2
    fours = (len(board.shortest_fours(side) or ()) + 1) // 2
    for _ in range(BREEDING_STEPS):
        at = draw.randrange(len(stones))
        old, new = stones[at], draw.choice(_near(board, stones))
        board.take(old)
        board.put(new, at % 2)
        now = _fours_with_both_threatening(board, side)
        if not fours <= now <= goal:
            board.take(new)
            board.put(old, at % 2)
            continue
        fours, stones[at] = now, new
        if _kind_of_fours(fours) == kind and (puzzle := puzzle_of(stones, (kind,))):
            return puzzle
    return None


def _fours_with_both_threatening(board: Solver, side: int) -> int:
    """Return the fours in the shortest win of `side`; 0 if a five is at hand, or if a side has no win by fours."""
    board.tried = 0
    try:
        if board.fives or board.fours[0] or board.fours[1] or board.fours_win(1 - side) is None:
            return 0
        return (len(board.shortest_fours(side) or ()) + 1) // 2
    except TooHard:
        return 0


def puzzles_of_game(number: int, kinds: Collection[str]) -> list[Puzzle]:
    """Return the puzzles of `kinds` from one game, at most one of each; the same number gives the same."""
    seed = stream_key(0, number)
    draw = random.Random(seed)
    source = SOURCES[number % len(SOURCES)]
    moves = dice_game(draw) if source == "dice" else player_game(source, seed)
    found: dict[str, Puzzle] = {}

    def keep(puzzle: Puzzle | None, origin: str) -> None:
        if puzzle:
            found[puzzle.kind] = puzzle._replace(note=f"{puzzle.note}; {origin}".lstrip("; "))

    def missing() -> list[str]:
        return [kind for kind in kinds if kind not in found]

    plies, starts = range(5, len(moves) + 1), []
    for ply in draw.sample(plies, min(len(plies), PLIES)):
        keep(puzzle_of(moves[:ply], missing()), source)
        if "win-in-1" in missing() and (blundered := blunder(moves[:ply], draw)):
            keep(puzzle_of(blundered, missing()), f"{source}, blunder")
        if _fours_with_both_threatening(Solver.from_moves(moves[:ply], SIZE, RULES.connect, BUDGET), ply % 2):
            starts.append(moves[:ply])
    for _ in range(COMPOSED):
        if "three-three" in missing() and (composed := compose(draw)):
            keep(puzzle_of(composed, missing()), "composed")
    for start in starts[:BRED]:
        goals = [goal for goal in BREEDING_GOALS if _kind_of_fours(goal) in missing()]
        if goals:
            keep(breed(start, draw.choice(goals), draw), "bred")
    return list(found.values())


def same_under_symmetry(moves: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return a key that two positions share if and only if a symmetry of board or colours turns one into the other."""
    mover = len(moves) % 2
    return min(
        tuple(tuple(sorted(int(way[cell]) for cell in moves[side::2])) for side in (mover, 1 - mover))
        for way in targets(SIZE)
    )


def end_with_the_parent() -> None:
    """Let this worker end when the maker was killed: it would wait for work forever, or go on with a game."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    """Add puzzles to a file until every kind is complete; its head is that of the package's suite."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the suite; its present puzzles stay")
    parser.add_argument("--first-game", type=int, default=0, help="number of the game to begin with")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    frozen = (resources.files("curriculum.suites") / "tactics.txt").read_text(encoding="utf-8")
    head = [line for line in frozen.splitlines() if line.startswith("#")]
    old = parse_suite(arguments.out.read_text(encoding="utf-8")) if arguments.out.exists() else []
    found = {kind: [puzzle for puzzle in old if puzzle.kind == kind] for kind in NUM_PUZZLES}
    seen = {same_under_symmetry(puzzle.moves) for puzzle in old}
    spawn = get_context("spawn")
    with ProcessPoolExecutor(arguments.processes, mp_context=spawn, initializer=end_with_the_parent) as pool:
        for first in count(arguments.first_game, GAMES_AT_ONCE):
            lines = [puzzle_line(puzzle) for some in found.values() for puzzle in some]
            atomic_write_text(arguments.out, "\n".join([*head, *lines]) + "\n")
            print(first, "games:", {kind: len(some) for kind, some in found.items()}, flush=True)
            kinds = [kind for kind, number in NUM_PUZZLES.items() if len(found[kind]) < number]
            if not kinds:
                break
            games = range(first, first + GAMES_AT_ONCE)
            for puzzle in chain.from_iterable(pool.map(puzzles_of_game, games, [kinds] * GAMES_AT_ONCE)):
                key = same_under_symmetry(puzzle.moves)
                if key not in seen and len(found[puzzle.kind]) < NUM_PUZZLES[puzzle.kind]:
                    seen.add(key)
                    found[puzzle.kind].append(puzzle)


if __name__ == "__main__":
    main()
