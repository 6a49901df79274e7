"""Suites: positions with all their right answers, and the share that a player solves."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib import resources
from typing import Any, NamedTuple

from core.errors import BadDataError, UsageError
from core.input_limits import quoted
from core.notation import cell_name, cell_words, parse_cell
from core.position import Position
from core.records.lines import filled_lines, line_number, with_line_feeds
from core.rules import Cell, Rules, Variant, shipped_variant
from core.streams import stream_key
from curriculum.reporting import Context
from search.players import Player

RULES = Rules()
"""Rules of the shipped suites; those of `tactics` have a suite for each variant too."""
SUITES = ("tactics", "hard")
"""Names of the shipped suites."""
_AT_ONCE = 32
"""Positions in a batch: enough to keep the cores busy, few enough to show progress."""


class SuiteError(UsageError, ValueError):
    """A suite that does not exist; the message says why."""


class SuiteFileError(BadDataError, SuiteError):
    """A suite that cannot be read; the message says where and why."""


class Puzzle(NamedTuple):
    """One position of a suite."""

    kind: str
    """Task of the position, such as `block`; the head of the file explains the kinds."""
    moves: tuple[Cell, ...]
    """Moves from the empty board, black first; the side to move has to find the answer."""
    answers: tuple[Cell, ...]
    """All right moves."""
    note: str
    """A line that proves the first answer, and where the position comes from."""


@dataclass(slots=True)
class Solved:
    """Counts of solved positions."""

    solved: int = 0
    positions: int = 0

    @property
    def share(self) -> float:
        """Share of the solved positions; 0 without positions."""
        return self.solved / self.positions if self.positions else 0.0


@dataclass(slots=True)
class SuiteResult:
    """Result of a player in a suite."""

    player: str
    kinds: dict[str, Solved] = field(default_factory=dict)
    """Counts by kind, in the order of the suite."""
    missed: list[tuple[Puzzle, Cell]] = field(default_factory=list)
    """Unsolved positions, each with the played move."""
    seconds: float = 0.0

    @property
    def total(self) -> Solved:
        """Counts of all kinds together."""
        some = self.kinds.values()
        return Solved(sum(kind.solved for kind in some), sum(kind.positions for kind in some))

    def to_json(self) -> dict[str, Any]:
        """Return the result, as `gomoku suite --json` prints it with the name of the suite."""
        return {
            "player": self.player,
            **asdict(self.total),
            "share": self.total.share,
            "kinds": {name: asdict(kind) for name, kind in self.kinds.items()},
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
    """Return the puzzle as a line of a suite."""
    return f"{puzzle.kind} | {_names(puzzle.moves)} | {_names(puzzle.answers)} | {puzzle.note}".rstrip()


def parse_suite(text: str, source: str = "suite", *, rules: Rules = RULES) -> list[Puzzle]:
    """Return the puzzles of a suite: a line `kind | moves | answers | note` each; `#` starts a comment line.

    `rules`: of its positions, on the board of `RULES`.

    Raises `SuiteFileError` with the line, also if the game is over or an answer is no legal move, and without a puzzle.
    """
    puzzles = []
    text = with_line_feeds(text)
    for offset, line in filled_lines(text):
        if line.startswith("#"):
            continue
        try:
            puzzles.append(_parse_puzzle(line, rules))
        except ValueError as error:
            raise SuiteFileError(f"{source}, line {line_number(text, offset)}: {error}") from error
    if not puzzles:
        raise SuiteFileError(f"{source} holds no puzzle")
    return puzzles


def _parse_puzzle(line: str, rules: Rules) -> Puzzle:
    separators = line.count("|")
    if separators != 3:
        raise ValueError(f"a puzzle is 'kind | moves | answers | note', and this has {separators + 1} of the 4 parts")
    kind, moves, answers, note = (part.strip() for part in line.split("|"))
    position = Position.from_moves(rules, _cells(moves))
    right = []
    for cell in _cells(answers):
        if not position.is_legal(cell):
            raise ValueError(f"the answer {cell_name(cell, RULES.size)} is no legal move")
        right.append(cell)
    if not kind or not right:
        raise ValueError("the kind or the answers are missing")
    return Puzzle(kind, tuple(position.moves), tuple(right), note)


def _cells(names: str) -> Iterator[Cell]:
    return (parse_cell(word, RULES.size) for _, word in cell_words(names))


def load_suite(name: str, rules: Rules = RULES) -> list[Puzzle]:
    """Return the puzzles of a shipped suite. Raises `SuiteError` if there is none of this name for these rules."""
    if name not in SUITES:
        raise SuiteError(f"there is no suite {quoted(name)}; there are {' and '.join(SUITES)}")
    variant = shipped_variant(rules.variant)
    own = name if variant == Variant.FREESTYLE else f"{name}-{variant}"
    file = resources.files("curriculum") / "suites" / f"{own}.txt"
    if not file.is_file():
        raise SuiteError(f"there is no suite {name} for {rules}; it is for {RULES}")
    return parse_suite(file.read_text(encoding="utf-8"), file.name, rules=rules)


def score_player(
    player: Player, suite: Sequence[Puzzle], *, rules: Rules = RULES, seed: int = 42, context: Context
) -> SuiteResult:
    """Return the player's result: a position is solved if the chosen move is among its answers.

    The player draws from streams of the seed, so equal settings give equal results. Raises `Interrupted` if the context
    stops it.
    """
    start = time.perf_counter()
    result = SuiteResult(player.name)
    with context.reporter.task("positions", len(suite), "positions") as progress:
        for first in range(0, len(suite), _AT_ONCE):
            some = suite[first : first + _AT_ONCE]
            positions = [Position.from_moves(rules, puzzle.moves) for puzzle in some]
            seeds = [stream_key(seed, first + row) for row in range(len(some))]
            decisions = player.choose_batch(positions, seeds=seeds, stop=context.stop)
            context.check()
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
