"""Maker of the tactical suites of other rules: small, and proven by `tests.support.rule_solver`.

    python -m benchmarks.suites.make_rules --variant renju --out curriculum/suites/tactics-renju.txt

The suites are frozen; this script documents them and makes others, and goes on with a file that lacks some. The games
are those of dice, as in `make_tactics`, by stones alone: a game ends where the rule forbids its next move. The suite of
caro holds under caro-exact too.
"""

import argparse
import random
from collections.abc import Collection, Sequence
from itertools import count
from pathlib import Path

from benchmarks.suites.make_tactics import SIZE, around, dice_game, names, same_under_symmetry
from core.files.atomic import atomic_write_text
from core.position import Position
from core.rules import BLACK, WHITE, Rules, Variant
from core.streams import stream_key
from curriculum.arena.suite import Puzzle, parse_suite, puzzle_line
from tests.support.rule_solver import RuleSolver, TooHard
from tests.support.slow_solver import DIRECTIONS

NUM_PUZZLES = {"win-in-1": 12, "block": 12, "fours-1": 10, "fours-2": 3, "fours-3+": 5, "no-five": 8}
"""Positions of each kind, in the order of the file."""
NUM_FOULS = {"foul-net": 4, "foul-trap": 6}
"""More of them in renju."""
ALL_KINDS = (*NUM_PUZZLES, *NUM_FOULS)
OVERLINES = ("XX.XXX", "XXX.XX")
ENCLOSED = ("OXXXX.O", "OXXX.XO", "OXX.XXO")
"""Rows whose empty cell makes a five in freestyle: under standard and renju, and under caro, it is none."""
PAIRS = ((1, 2), (-1, 1), (-2, -1), (1, 3), (-1, 2))
"""Distances of two stones from a cell that makes a three of them."""
COMPOSED = 12
"""Tries at composing a position, for each win by fours or each game."""
BUDGET = 200
"""Fours that the solver may try on one position; harder ones are left out."""
MAX_ANSWERS = 6
PLIES = 16
"""Positions of a game that are tried."""
_HEAD = """\
# Tactical suite of {variant}, 5 in a row on 15x15: `kind | moves | answers | note`, one position a line.
#
# moves    from the empty board, black first; the side to move is the one that asks. h8 is column h from the left, row 8
#          from the bottom.
# answers  all right moves.
# note     a line that proves the first answer; then where the position comes from.
#
# win-in-1   the answers win at once, and no other move does
# block      the other side could win at once, and after every legal move but the answers it does
# fours-N    the answers are all moves that begin a win by continuous fours, the shortest of which has N, 3+ is 3 or
#            more; the other side threatens to win by fours too
# no-five    the same, while on some cell a stone would win in freestyle, and wins nothing under this rule
{fouls}#
# Proven by a solver that shares no code with what is measured, against every legal reply. That no other move wins is
# proven for moves at once and for fours; a quiet move may win too.{exact}
#
# Made by `python -m benchmarks.suites.make_rules --variant {variant}` and frozen: scores can be compared as long as no
# line changes.
"""
_FOULS = """\
# foul-net   White wins by fours, the last of which leaves Black a forbidden move alone: without fouls there is no win
# foul-trap  Black wins by fours, and another four would win too if it were not forbidden
"""
_EXACT = " All of it holds under caro-exact too."


def puzzle_of(moves: Sequence[int], variant: Variant, kinds: Collection[str], budget: int = BUDGET) -> Puzzle | None:
    """Return the puzzle of a position under a rule; None if it is none of `kinds`, or too hard to decide."""
    board = RuleSolver(moves, variant, budget=budget)
    side = BLACK if len(moves) % 2 == 0 else WHITE
    wins, threats = board.fives(side), board.fives(-side)
    if wins or threats:
        kind, answers = ("win-in-1", wins) if wins else ("block", board.blocks(side))
        good = kind in kinds and 1 <= len(answers) <= MAX_ANSWERS
        return Puzzle(kind, tuple(moves), tuple(sorted(answers)), "") if good else None
    if not board.fours(side):
        return None
    try:
        lines = [line for four in sorted(board.fours(side)) if (line := board.line_after(four, side))]
        if not 1 <= len(lines) <= MAX_ANSWERS:
            return None
        lines.sort(key=len)
        kind = _kind(board, side, [line[0] for line in lines], (len(lines[0]) + 1) // 2)
    except TooHard:
        return None
    if kind not in kinds:
        return None
    return Puzzle(kind, tuple(moves), tuple(line[0] for line in lines), names(lines[0]))


def _kind(board: RuleSolver, side: int, answers: Sequence[int], fours: int) -> str:
    """Return the kind of a position that is won by fours; nothing if it is of none."""
    if board.fives_of_freestyle(side) or board.fives_of_freestyle(-side):
        return "no-five"
    if board.variant == Variant.RENJU:
        legal = board.fours(side)
        board.ignores_fouls = True
        won = {move for move in board.fours(side) if board.line_after(move, side)}
        board.ignores_fouls = False
        if side == WHITE and not won.intersection(answers):
            return "foul-net"
        if side == BLACK and won - legal:
            return "foul-trap"
    if board.win_by_fours(-side) is None:
        return ""
    return f"fours-{fours}" if fours < 3 else "fours-3+"


def compose(moves: Sequence[int], variant: Variant, draw: random.Random) -> list[int] | None:
    """Return a position with a row more on which a five of freestyle is none, and as many stones of the other side.

    None if the drawn place is not free.
    """
    colour = BLACK if variant == Variant.RENJU else draw.choice((BLACK, WHITE))
    pattern = draw.choice(ENCLOSED if variant == Variant.CARO else OVERLINES)
    (row, column), (up, right) = divmod(draw.randrange(SIZE * SIZE), SIZE), draw.choice(DIRECTIONS)
    points = [(row + up * step, column + right * step) for step in range(len(pattern))]
    line = [r * SIZE + c for r, c in points if 0 <= r < SIZE and 0 <= c < SIZE]
    if len(line) < len(pattern) or set(line).intersection(moves):
        return None
    stones = {
        side: [cell for cell, mark in zip(line, pattern, strict=True) if mark == sign]
        for side, sign in ((colour, "X"), (-colour, "O"))
    }
    free = sorted(set(range(SIZE * SIZE)).difference(moves, line))
    stones[-colour] += draw.sample(free, len(stones[colour]) - len(stones[-colour]))
    sides = [BLACK, WHITE] if len(moves) % 2 == 0 else [WHITE, BLACK]
    return [*moves, *(cell for pair in zip(*(stones[side] for side in sides), strict=True) for cell in pair)]


def compose_net(draw: random.Random) -> list[int] | None:
    """Return a position, White to move, with a cell that two pairs of Black and three stones of White lead to.

    None if it does not fit on the board.
    """
    row, column = divmod(draw.randrange(SIZE * SIZE), SIZE)
    first, second, third = draw.sample(DIRECTIONS, 3)
    start = draw.randrange(-4, 1)
    window = [step for step in range(start, start + 5) if step]
    steps = {BLACK: [(way, step) for way in (first, second) for step in draw.choice(PAIRS)]}
    steps[BLACK].append((third, draw.choice((start - 1, start + 5))))
    steps[WHITE] = [(third, step) for step in draw.sample(window, 3)]
    points = {side: [(row + up * n, column + right * n) for (up, right), n in some] for side, some in steps.items()}
    stones = {side: [r * SIZE + c for r, c in some if 0 <= r < SIZE and 0 <= c < SIZE] for side, some in points.items()}
    if len(stones[BLACK]) + len(stones[WHITE]) < 8:
        return None
    used = {*stones[BLACK], *stones[WHITE]}
    near = sorted({cell for stone in used for cell in around()[stone]} - used - {row * SIZE + column})
    others, count = draw.sample(near, len(near)), draw.randrange(6, 16)
    stones[WHITE] += others[: count - 1 - len(stones[WHITE])]
    stones[BLACK] += others[count:][: count - len(stones[BLACK])]
    if (len(stones[BLACK]), len(stones[WHITE])) != (count, count - 1):
        return None
    return [stones[BLACK if ply % 2 == 0 else WHITE][ply // 2] for ply in range(2 * count - 1)]


def puzzles_of_game(number: int, variant: Variant, kinds: Collection[str]) -> list[Puzzle]:
    """Return the puzzles of `kinds` from one game, at most one of each; the same number gives the same."""
    draw = random.Random(stream_key(2, number))
    position = _played(dice_game(draw), variant)
    moves, found = list(position.moves), dict[str, Puzzle]()

    def keep(puzzle: Puzzle | None, origin: str) -> None:
        if puzzle and puzzle.kind in kinds and puzzle.kind not in found:
            if variant == Variant.CARO:
                twin = puzzle_of(puzzle.moves, Variant.CARO_EXACT, (puzzle.kind,))
                if twin is None or set(twin.answers) != set(puzzle.answers):
                    return
            found[puzzle.kind] = puzzle._replace(note=f"{puzzle.note}; {origin}".lstrip("; "))

    plies = range(7, len(moves) + (not position.is_game_over()))
    for ply in draw.sample(plies, min(len(plies), PLIES)):
        game = moves[:ply]
        puzzle = puzzle_of(game, variant, ALL_KINDS)
        keep(puzzle, "dice")
        overlooks = draw.choice(sorted({cell for move in game for cell in around()[move]} - set(game)))
        board, side = RuleSolver(game, variant), BLACK if ply % 2 == 0 else WHITE
        if "win-in-1" in kinds and board.is_legal(overlooks, side) and overlooks not in board.fives(side):
            keep(puzzle_of([*game, overlooks], variant, ("win-in-1",)), "dice, blunder")
        for _ in range(COMPOSED if puzzle and puzzle.kind.startswith("fours") and "no-five" in kinds else 0):
            composed = compose(game, variant, draw) if "no-five" not in found else None
            end = _played(composed or [], variant)
            if composed and end.moves == composed and not end.is_game_over():
                keep(puzzle_of(composed, variant, ("no-five",)), "dice, composed")
    for _ in range(COMPOSED if "foul-net" in kinds else 0):
        composed = compose_net(draw) if "foul-net" not in found else None
        if composed and _played(composed, variant).moves == composed:
            keep(puzzle_of(composed, variant, ("foul-net",)), "composed")
    return list(found.values())


def _played(moves: Sequence[int], variant: Variant) -> Position:
    """Return the game up to the move that the rule forbids, or that ends it."""
    position = Position(Rules(variant=variant))
    for move in moves:
        if position.is_game_over() or not position.is_legal(move):
            break
        position.push(move)
    return position


def main() -> None:
    """Add puzzles to a file until every kind is complete."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", type=Variant, required=True)
    parser.add_argument("--out", type=Path, required=True, help="the suite; its present puzzles stay")
    parser.add_argument("--first-game", type=int, default=0, help="number of the game to begin with")
    arguments = parser.parse_args()
    variant, out = arguments.variant, arguments.out
    is_renju, rules = variant == Variant.RENJU, Rules(variant=arguments.variant)
    wanted = NUM_PUZZLES | (NUM_FOULS if is_renju else {})
    old = parse_suite(out.read_text(encoding="utf-8"), rules=rules) if out.exists() else []
    found = {kind: [puzzle for puzzle in old if puzzle.kind == kind] for kind in wanted}
    seen = {same_under_symmetry(puzzle.moves) for puzzle in old}
    head = _HEAD.format(variant=variant, fouls=_FOULS if is_renju else "", exact=_EXACT * (variant == Variant.CARO))
    for number in count(arguments.first_game):
        kinds = [kind for kind in wanted if len(found[kind]) < wanted[kind]]
        if not kinds:
            break
        for puzzle in puzzles_of_game(number, variant, kinds):
            key = same_under_symmetry(puzzle.moves)
            if key not in seen:
                seen.add(key)
                found[puzzle.kind].append(puzzle)
                lines = [puzzle_line(each) for kind in wanted for each in found[kind]]
                atomic_write_text(out, head + "\n".join(lines) + "\n")
        print(number, {kind: len(some) for kind, some in found.items()}, flush=True)


if __name__ == "__main__":
    main()
