"""Players for tests of the screen, whose moves, analyses and waits are given."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from core.notation import cell_name, parse_cell
from core.position import Position
from core.rules import Cell, Rules
from search.analysis import Analysis, MoveAnalysis
from search.limit import Limit
from search.players import PLAIN, Decision, How
from tests.support.players import OneByOne
from tests.support.waiting import wait_until

LIMIT_S = 30.0
"""The time after which anything awaited fails the test."""


class ScriptedPlayer(OneByOne):
    """Plays the given moves, then the first empty cell. An exception among the moves is raised in its turn."""

    name = "scripted"

    def __init__(self, size: int = 15, moves: Iterable[str | Exception] = ()) -> None:
        self.size = size
        self.moves = list(moves)
        self.requests: list[list[Cell]] = []
        """The moves of each position on which a decision was requested."""

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        if position.moves in ([0], [0, 1]) and stop():
            return Decision(1)  # the preparation of loading
        self.requests.append(list(position.moves))
        move = self.moves.pop(0) if self.moves else cell_name(position.legal_moves()[0], self.size)
        if isinstance(move, Exception):
            raise move
        return Decision(parse_cell(move, self.size), 0.25, None, 1234)


class GatedPlayer(ScriptedPlayer):
    """Decides only after `release` is set; with `obeys_stop`, also after a stop."""

    def __init__(self, size: int = 15, moves: Iterable[str | Exception] = (), *, obeys_stop: bool = True) -> None:
        super().__init__(size, moves)
        self.release = threading.Event()
        self.thinking = threading.Event()
        self.stopped = False
        self.obeys_stop = obeys_stop

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        if position.moves != [0]:  # the preparation of loading
            self.thinking.set()
            deadline = time.monotonic() + LIMIT_S
            while not self.release.wait(0.005) and time.monotonic() < deadline:
                if stop():
                    self.stopped = True
                    if self.obeys_stop:
                        break
        return super().decide(position, seed, stop)


class AnalysingPlayer(ScriptedPlayer):
    """Reports one fixed view of every position, with the first empty cells as candidates."""

    limit = Limit(nodes=100)

    def __init__(self, size: int = 15, moves: Iterable[str | Exception] = (), *, value: float = 0.2) -> None:
        super().__init__(size, moves)
        self.value = value
        self.analysed: list[list[Cell]] = []
        """The moves of each position that was analysed."""
        self.proof: int | None = None

    def view(self, position: Position) -> Analysis:
        """Return the view of a position: the first three empty cells, with visits 60, 30, 10; two have a line."""
        cells = position.legal_moves()[:3]
        numbers = ((0.5, 60, self.proof), (0.3, 30, None), (0.2, 10, None))
        lines = (tuple(cells), tuple(cells[1::-1] + cells[2:]), ())
        moves = tuple(
            MoveAnalysis(cell, self.value, prior, visits, proof, line)
            for cell, (prior, visits, proof), line in zip(cells, numbers, lines, strict=False)
        )
        return Analysis(moves=moves, value=self.value, variation=tuple(cells), nodes=100, seconds=0.5)

    def view_of(self, moves: Sequence[Cell], value: float) -> Analysis:
        """Return the view of the position after `moves` with another value."""
        return replace(self.view(Position.from_moves(Rules(self.size), moves)), value=value)

    def search(self, position: Position, limit: Limit | None = None, how: How = PLAIN) -> tuple[Decision, Analysis]:
        """See `search.players.Player`."""
        seed, stop, report, _ = how
        if seed is None:
            self.analysed.append(list(position.moves))
        if report is not None:
            report(self.view(position))
        if seed is None:
            return Decision(position.legal_moves()[0]), self.view(position)
        return self.choose(position, limit, seed=seed, stop=stop), self.view(position)


class GatedAnalyst(AnalysingPlayer):
    """Thinks until `release` is set or it is stopped, after a first report."""

    def __init__(self, size: int = 15, moves: Iterable[str | Exception] = (), *, value: float = 0.2) -> None:
        super().__init__(size, moves, value=value)
        self.release = threading.Event()

    def search(self, position: Position, limit: Limit | None = None, how: How = PLAIN) -> tuple[Decision, Analysis]:
        """See `search.players.Player`."""
        seed, stop, report, _ = how
        if report is not None:
            report(self.view(position))
        if seed is not None:
            wait_until(lambda: self.release.is_set() or stop(), LIMIT_S)
        return super().search(position, limit, how._replace(report=None))


class PonderingPlayer(ScriptedPlayer):
    """Ponders until it is stopped, or until `full` is set."""

    def __init__(self, size: int = 15, moves: Iterable[str | Exception] = (), failure: Exception | None = None) -> None:
        super().__init__(size, moves)
        self.pondered: list[list[Cell]] = []
        """The moves of each pondered position, in order; the preparation of loading left out."""
        self.ended = 0
        self.full = threading.Event()
        self.failure = failure

    @property
    def is_pondering(self) -> bool:
        """True between the start and the end of pondering."""
        return len(self.pondered) > self.ended

    def ponder(self, position: Position, stop: Callable[[], bool]) -> None:
        """See `search.players.Player`."""
        if position.moves == [0]:
            return
        self.pondered.append(list(position.moves))
        try:
            if self.failure is not None:
                raise self.failure
            wait_until(lambda: stop() or self.full.is_set(), LIMIT_S)
        finally:
            self.ended += 1
