"""The tactical suite: positions with all their right answers, and how many of them a player gets right."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, NamedTuple

from core.errors import UsageError
from core.notation import cell_name, parse_cell
from core.position import Position
from core.rules import Cell, Rules
from core.streams import stream_key
from curriculum.reporting import Conduct, Interrupted
from search.players import Player

RULES = Rules()
"""The rules of the shipped suite."""
_AT_ONCE = 32
"""Positions that a player is given in one call: enough to keep its cores busy, few enough to show progress."""


class SuiteError(UsageError, ValueError):
    """A suite that cannot be read; says where and why."""


class Puzzle(NamedTuple):
    """One position of a suite."""

    kind: str
    """What it asks for, such as `block`; the kinds are explained at the head of the file."""
    moves: tuple[Cell, ...]
    """From the empty board, black first; whose turn it then is has to find the answer."""
    answers: tuple[Cell, ...]
    """All right moves."""
    note: str
    """A line that proves the first answer, and where the position comes from."""


@dataclass(slots=True)
class Solved:
    """How much of some positions was solved."""

    solved: int = 0
    positions: int = 0

    @property
    def share(self) -> float:
        """Solved ones of all; 0 where there was none."""
        return self.solved / self.positions if self.positions else 0.0

    def to_json(self) -> dict[str, int]:
        """Both counts by name."""
        return {"solved": self.solved, "positions": self.positions}


@dataclass(slots=True)
class SuiteResult:
    """What a player made of a suite."""

    player: str
    kinds: dict[str, Solved] = field(default_factory=dict)
    """By kind, in the order of the suite."""
    missed: list[tuple[Puzzle, Cell]] = field(default_factory=list)
    """What was not solved, and what was played instead."""
    seconds: float = 0.0

    @property
    def total(self) -> Solved:
        """All kinds together."""
        some = self.kinds.values()
        return Solved(sum(kind.solved for kind in some), sum(kind.positions for kind in some))

    def to_json(self) -> dict[str, Any]:
        """The result as `gomoku evaluate --suite --json` prints it."""
        return {
            "player": self.player,
            **self.total.to_json(),
            "share": self.total.share,
            "kinds": {name: kind.to_json() for name, kind in self.kinds.items()},
            "missed": [
                {
                    "kind": puzzle.kind,
                    "moves": _names(puzzle.moves),
                    "answers": _names(puzzle.answers),
                    "played": cell_name(played, RULES.size),
                }
                for puzzle, played in self.missed
            ],
            "seconds": round(self.seconds, 3),
        }


def _names(cells: Sequence[Cell]) -> str:
    return " ".join(cell_name(cell, RULES.size) for cell in cells)


def puzzle_line(puzzle: Puzzle) -> str:
    """The puzzle as a line of a suite."""
    return f"{puzzle.kind} | {_names(puzzle.moves)} | {_names(puzzle.answers)} | {puzzle.note}".rstrip()


def parse_suite(text: str, source: str = "suite") -> list[Puzzle]:
    """The puzzles of a suite: a line `kind | moves | answers | note` each; lines with `#` in front are comments.

    Raises `SuiteError` naming the line, also where the game is over or an answer is no legal move.
    """
    puzzles = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            puzzles.append(_parse_puzzle(line))
        except ValueError as error:
            raise SuiteError(f"{source}, line {number}: {error}") from error
    return puzzles


def _parse_puzzle(line: str) -> Puzzle:
    parts = [part.strip() for part in line.split("|")]
    if len(parts) != 4:
        raise ValueError(f"a puzzle is 'kind | moves | answers | note', and this has {len(parts)} of the 4 parts")
    kind, moves, answers, note = parts
    position = Position.from_moves(RULES, (parse_cell(word, RULES.size) for word in moves.split()))
    right = tuple(parse_cell(word, RULES.size) for word in answers.split())
    if not kind or not right:
        raise ValueError("the kind or the answers are missing")
    for cell in right:
        if not position.is_legal(cell):
            raise ValueError(f"the answer {cell_name(cell, RULES.size)} is no legal move")
    return Puzzle(kind, tuple(position.moves), right, note)


def load_suite(name: str = "tactics") -> list[Puzzle]:
    """The puzzles of a suite that is shipped. Raises `SuiteError` if there is none of this name."""
    file = resources.files("curriculum") / "suites" / f"{name}.txt"
    if not file.is_file():
        raise SuiteError(f"there is no suite {name!r}: the one that is shipped is tactics")
    return parse_suite(file.read_text(encoding="utf-8"), file.name)


def score_player(player: Player, suite: Sequence[Puzzle], *, seed: int = 42, conduct: Conduct) -> SuiteResult:
    """What the player makes of each position once: it is solved if the move is among the answers.

    The player draws from streams of the seed, so that equal settings give equal results. Raises `Interrupted` when the
    conduct says stop.
    """
    start = time.perf_counter()
    result = SuiteResult(player.name)
    with conduct.reporter.task("positions", len(suite), "positions") as progress:
        for first in range(0, len(suite), _AT_ONCE):
            some = suite[first : first + _AT_ONCE]
            positions = [Position.from_moves(RULES, puzzle.moves) for puzzle in some]
            seeds = [stream_key(seed, first + row) for row in range(len(some))]
            decisions = player.choose_batch(positions, seeds=seeds, stop=conduct.stop)
            if conduct.stop():
                raise Interrupted
            for puzzle, decision in zip(some, decisions, strict=True):
                tally = result.kinds.setdefault(puzzle.kind, Solved())
                tally.positions += 1
                if decision.move in puzzle.answers:
                    tally.solved += 1
                else:
                    result.missed.append((puzzle, decision.move))
            progress.update(first + len(some), solved=f"{result.total.share:.3f}")
    result.seconds = time.perf_counter() - start
    return result
