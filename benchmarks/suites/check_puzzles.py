"""Check of the puzzles of `gomoku puzzles`: every legal move of every position, by the independent prover.

    python -m benchmarks.suites.check_puzzles

A puzzle passes if the board takes its answers alone for right moves, and each of them leads to the win on the board if
it is a win; if a move that is no answer is refuted on the board up to the five of the other side; and if the prover
proves both: the win of each answer, the loss of each other move, and of the answers of a defence that no win
with at most one quiet move is left against them.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.suites.prover import Prover
from core.position import Position
from core.rules import Cell, Rules
from curriculum.arena.suite import load_suite, parse_suite
from gomoku_cli.puzzles.rated import RatedPuzzle
from gomoku_cli.puzzles.referee import Referee

RULES = Rules()
_BUDGET = 5_000_000
_LEVELS = (1, 2)
"""Quiet moves on a line of its proofs; it counts a forced block as one."""


def flaws(each: RatedPuzzle, prover: Prover, referee: Referee) -> Iterator[str]:
    """Yield a sentence for each move of a puzzle about which board, file and prover differ."""
    position = Position.from_moves(each.rules, each.puzzle.moves)
    side, answers = position.ply % 2, each.puzzle.answers
    prover.show(each.puzzle.moves)
    is_win = not each.is_defence and prover.win(side, 1) > 0
    for move in position.legal_moves():
        verdict, name = referee.verdict(each, position, move), f"{each.puzzle.kind} {position.name_of(move)}"
        if verdict.is_right != (move in answers):
            yield f"{name}: the board takes it for {'right' if verdict.is_right else 'wrong'}"
        levels = _LEVELS[: 1 if move in answers else None]
        if any(prover.move_loses(move, side, level) for level in levels) != (move not in answers):
            yield f"{name}: the prover does not agree that it {'holds' if move in answers else 'loses'}"
        played = Position.from_moves(each.rules, (*position.moves, move))
        if move in answers and is_win:
            if not any(prover.move_wins(move, side, level) for level in _LEVELS):
                yield f"{name}: the prover finds no win"
            if not _is_won(each, played, referee, verdict.line):
                yield f"{name}: the win does not come to its end"
        elif move not in answers:
            for reply in verdict.line:
                played.push(reply)
            outcome = played.outcome()
            if outcome is None or outcome.winner != -position.side_to_move:
                yield f"{name}: it is not refuted"


def _is_won(each: RatedPuzzle, played: Position, referee: Referee, reply: tuple[Cell, ...]) -> bool:
    """Return True if the solver wins by the moves that the hints give, against the replies of the board."""
    while reply:
        played.push(reply[0])
        move = referee.hint(each, played).move
        verdict = referee.verdict(each, played, move)
        if not verdict.is_right:
            return False
        played.push(move)
        reply = verdict.line
    return played.is_game_over()


def main() -> None:
    """Run the command line: print each flaw, and the puzzles that passed, by kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, help="a suite; the shipped puzzles without it")
    arguments = parser.parse_args()
    puzzles = parse_suite(arguments.file.read_text(encoding="utf-8")) if arguments.file else load_suite("tactics")
    prover, referee = Prover(RULES.size, RULES.connect, _BUDGET), Referee(RULES)
    passed, checked = Counter[str](), Counter[str]()
    for number, puzzle in enumerate(puzzles, start=1):
        found = list(flaws(RatedPuzzle(puzzle, RULES), prover, referee))
        checked[puzzle.kind] += 1
        passed[puzzle.kind] += not found
        print(*found, sep="\n", end="\n" if found else "")
        if number % 20 == 0:
            print(f"{number} checked, {passed.total()} passed", flush=True)
    for kind, count in checked.items():
        print(f"{kind}: {passed[kind]} of {count}")
    print(f"all: {passed.total()} of {checked.total()}")


if __name__ == "__main__":
    main()
