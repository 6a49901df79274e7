"""The time of the engine's moves: it chooses each move within the manager's limits."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.notation import point_name
from core.opening_rules import Opening, OpeningRule
from core.position import Position
from core.rules import Cell, Rules
from core.streams import stream_key
from gomoku_cli.gomocup.clock import MIN_MOVE_S, Clock
from search.analysis import Analysis
from search.engine import Engine
from search.opening_choice import even_stones
from search.players import Decision
from search.running import RunningSearch

if TYPE_CHECKING:
    from gomoku_cli.gomocup.players import EnginePlayers

_START_S = 5.0
"""START is answered within this time, if the part of the preparation that cannot wait is done by then."""
_MESSAGE_S = 1.0
"""Interval of the messages before the answer to a START that takes long."""
_GRACE_S = 0.005
"""Time after the deadline in which a search may still end by itself."""
_ASKED_GRACE_S = 0.05
"""The same after the manager has asked for the move: a search that ends by itself answers best."""
_PROBE_S = 0.005
"""Interval between two measurements of the delay with which this process gets a processor."""


@dataclass(kw_only=True)
class Thinker:
    """Chooses the engine's moves with its players and the limits of a clock.

    A search has a thread of its own. On a busy machine it may wait for a processor while the time runs out. A thread
    that sleeps does not: it wakes up at the deadline and answers with the best move so far. Instants are those of
    `time.monotonic`, in seconds.
    """

    players: "EnginePlayers"
    clock: Clock
    seed: int
    hurry: Callable[[], bool]
    """This and `seed` and `tell` are those of `gomoku_cli.gomocup.commands.Engine`."""
    is_asked: Callable[[], bool]
    """Return True if the manager wants the move in progress at once; called often, on the answering thread."""
    tell: Callable[[str], None]

    def __post_init__(self) -> None:
        self.shows_best = False
        """True if the manager wants to see the best move so far during a move."""
        self.may_ponder = False
        """True if the manager lets the engine think during the opponent's turn."""
        self._asked_at = math.inf
        """The instant at which the manager asked for the move in progress."""
        self._analysis: Analysis | None = None
        """That of the last move."""
        self._games = 0
        self._preparer = ThreadPoolExecutor(1, "start")
        self._search: RunningSearch[object] | None = None
        """The last search: of a move, whose answer it may outlast, or in the opponent's turn."""

    def prepare(self, rules: Rules, read_at: float, within_s: float = _START_S) -> Iterator[str]:
        """Prepare the player for a command that was read at `read_at`; yield a MESSAGE each second of a compilation.

        What can wait goes on in the background after `within_s`.
        """
        until = read_at + within_s
        preparation = self._preparer.submit(self.players.prepare, rules, lambda: time.monotonic() >= until)
        while not wait([preparation], _MESSAGE_S).done:
            if (text := self.players.progress()) is not None:
                yield f"MESSAGE {text}"
        preparation.result()

    def new_game(self, read_at: float) -> None:
        """Begin a game. Its time limit covers the time since `read_at`."""
        self._games += 1
        self.clock.new_game()
        self.clock.charge(time.monotonic() - read_at)

    def begin_move(self, rules: Rules, read_at: float) -> Engine:
        """Return the player for a move that was requested at `read_at`, within the current limits."""
        self._asked_at, self._analysis = math.inf, None
        now = time.monotonic()
        until = now + (self.clock.deadline(read_at) - now) / 2

        def stop() -> bool:
            return self._is_asked_now() or time.monotonic() >= min(until, self.clock.deadline(read_at))

        return self.players.get(rules, stop)

    def decide(self, engine: Engine, position: Position, read_at: float) -> Decision:
        """Return the player's decision, in time for a request that was read at `read_at`.

        The deadline may become earlier meanwhile, but no later.
        """
        first = self.clock.deadline(read_at)
        return self._decide(engine, position, lambda: min(first, self.clock.deadline(read_at)))

    def best_moves(self, count: int, size: int) -> Iterator[str]:
        """Yield the best moves of the last decision as MESSAGE lines, the best first, on a board of this size."""
        if self._analysis is not None:
            for number, move in enumerate(self._analysis.moves[:count], 1):
                chance = "" if move.value is None else f", {50 * (1 + move.value):.1f} % to win"
                yield f"MESSAGE {number}: {point_name(move.move, size)}{chance}"

    def three_stones(self, engine: Engine, rules: Rules, read_at: float) -> tuple[Cell, ...]:
        """Return the stones of a swap2 opening, with the time of one move for all evaluations together."""

        def evaluate(positions: Sequence[Position], length: int) -> Iterator[float]:
            now = time.monotonic()
            until = now + (self.clock.deadline(read_at) - now) / (2 if length == 1 else 1)
            for number, position in enumerate(positions):
                now = time.monotonic()
                share = now + (min(until, self.clock.deadline(read_at)) - now) / (len(positions) - number)
                yield self._decide(engine, position, lambda: share).value or 0.0  # noqa: B023 - called here

        seed = stream_key(self.seed, self._games)
        return even_stones(Position(rules), Opening(OpeningRule.SWAP2), seed, lambda *of: [*evaluate(*of)])

    def ponder(self, engine: Engine, position: Position) -> None:
        """Let the player think about the opponent's move until `stop_pondering`, if it can and may."""
        is_busy = self._search is not None and not self._search.has_ended()
        if self.may_ponder and not is_busy and not position.is_game_over():
            self._search = engine.ponder(position)

    def stop_pondering(self) -> None:
        """End the opponent's turn."""
        if self._search is not None:
            self._search.stop()

    def record_move(self, read_at: float) -> None:
        """Record on the clock that the request of `read_at` is answered."""
        self.clock.record_move(time.monotonic() - read_at)

    def messages(self) -> Iterator[str]:
        """Yield the new notes of the players as MESSAGE lines, and clear them."""
        notes = self.players.notes
        while notes:
            yield f"MESSAGE {notes.pop(0)}"

    def _is_asked_now(self) -> bool:
        """Return True once the manager has asked for the move in progress."""
        if self._asked_at == math.inf and self.is_asked():
            self._asked_at = time.monotonic()
        return self._asked_at < math.inf

    def _decide(self, engine: Engine, position: Position, limit: Callable[[], float]) -> Decision:
        def deadline() -> float:
            return min(limit(), self._asked_at)

        if self._search is not None and (not self._ends(self._search, deadline) or time.monotonic() >= deadline()):
            return self.players.quick_decision(position)
        seed = stream_key(self.seed, self._games, position.ply)
        search = self._search = engine.start(position, seed=seed, until=deadline())
        has_ended = self._ends(search, deadline, shows_on=position.rules.size if self.shows_best else None)
        self._analysis = search.view
        if has_ended:
            self._search = None
            return search.wait()
        return search.best or self.players.quick_decision(position)

    def _ends(
        self, search: RunningSearch[object], deadline: Callable[[], float], *, shows_on: int | None = None
    ) -> bool:
        """Wait for a search until a little after the deadline; return True if it has ended.

        `shows_on`: the size of the board on which its best move so far is shown; None shows nothing.
        """
        started, shown = time.monotonic(), None
        while not search.has_ended():
            grace_s = _ASKED_GRACE_S if self._is_asked_now() else _GRACE_S
            now, due = time.monotonic(), max(deadline(), started)
            search.stop_at(due if not self.hurry() else min(due, started + MIN_MOVE_S))
            if (left := due + grace_s - now) <= 0:
                return False
            if (view := search.view) is not shown and view is not None and shows_on is not None:
                self.tell(f"MESSAGE REALTIME BEST {point_name(view.best_move, shows_on)}")
                shown = view
            wake_up = now + min(left, _PROBE_S)
            search.has_ended(min(left, _PROBE_S))
            self.clock.record_delay(time.monotonic() - wake_up)
        return True
