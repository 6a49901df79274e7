"""The time of the engine's moves: it chooses each move within the manager's limits."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

from core.notation import point_name
from core.position import Position
from core.rules import Cell, Rules
from core.streams import stream_key
from gomoku_cli.gomocup import swap2
from gomoku_cli.gomocup.clock import MIN_MOVE_S, Clock
from search.analysis import Analysis
from search.players import Decision, Player, Ponders, TellsBest, Thinks

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


class PlayerSource(Protocol):
    """The source of the engine's players. Instants are those of `time.monotonic`, in seconds."""

    notes: list[str]
    """Messages for the user that no answer has carried yet. The reader clears them."""

    def progress(self) -> str | None:
        """Return how far a long preparation is that is under way; None if there is nothing to say."""

    def prepare(self, rules: Rules, max_simulations: int | None, until: float) -> None:
        """Prepare the player for these rules. Preparation that is not done by `until` goes on in the background."""

    def get(self, rules: Rules, max_simulations: int | None, until: float) -> Player:
        """Return the player for these rules with at most `max_simulations` a move, as ready as it can be by `until`."""

    def quick_decision(self, position: Position) -> Decision:
        """Return a decision at once, while a player may be thinking on another thread."""

    def limit_threads(self, threads: int) -> None:
        """Use at most this number of threads from the next move on, 1 or more."""

    def limit_memory(self, max_bytes: int | None) -> None:
        """Keep this process within this memory from the next move on."""

    def limit_depth(self, plies: int | None) -> None:
        """Search no deeper than this from the next move on, where the player's search has a depth."""


class Thinker:
    """Chooses the engine's moves with the players of a source and the limits of a clock.

    Players think on a thread of their own. On a busy machine it may wait for a processor while the time runs out. A
    thread that sleeps does not: it wakes up at the deadline and answers with the best move so far.
    """

    def __init__(
        self,
        players: PlayerSource,
        clock: Clock,
        *,
        seed: int,
        hurry: Callable[[], bool],
        is_asked: Callable[[], bool],
        tell: Callable[[str], None] | None,
        now: Callable[[], float],
    ) -> None:
        """See `gomoku_cli.gomocup.engine.Engine`.

        `is_asked()`: True if the manager wants the move in progress at once; called often, on the answering thread.
        """
        self.max_bytes: int | None = None
        """The limit of memory; None for no limit."""
        self.max_simulations: int | None = None
        """The limit of simulations a move; None for no limit."""
        self.max_depth: int | None = None
        """The limit of plies of a search; None for no limit."""
        self.shows_best = False
        """True if the manager wants to see the best move so far during a move."""
        self.may_ponder = False
        """True if the manager lets the engine think during the opponent's turn."""
        self._players = players
        self._clock = clock
        self._seed = seed
        self._hurry = hurry
        self._is_asked = is_asked
        self._asked_at = math.inf
        """The instant at which the manager asked for the move in progress."""
        self._tell = tell
        self._analysis: Analysis | None = None
        """The last one of the move in progress, if it is analysed."""
        self._now = now
        self._games = 0
        self._executor = ThreadPoolExecutor(1, "think")
        self._preparer = ThreadPoolExecutor(1, "start")
        self._search: Future[Decision] | Future[None] | None = None
        """The last search. It may outlast its answer."""
        self._turn = threading.Event()
        """Set when the opponent's turn is over, in which that search ponders."""

    def prepare(self, rules: Rules, read_at: float) -> Iterator[str]:
        """Prepare the player for a START that was read at `read_at`; yield a MESSAGE each second of a compilation."""
        until = read_at + _START_S
        preparation = self._preparer.submit(self._players.prepare, rules, self.max_simulations, until)
        while not wait([preparation], _MESSAGE_S).done:
            if (text := self._players.progress()) is not None:
                yield f"MESSAGE {text}"
        preparation.result()

    def new_game(self, read_at: float) -> None:
        """Begin a game. Its time limit covers the time since `read_at`."""
        self._games += 1
        self._clock.new_game()
        self._clock.charge(self._now() - read_at)

    def player(self, rules: Rules, read_at: float) -> Player:
        """Return the player for a move that was requested at `read_at`, within the current limits."""
        now = self._now()
        until = now + (self._clock.deadline(read_at) - now) / 2
        player = self._players.get(rules, self.max_simulations, until)
        self._players.limit_memory(self.max_bytes)
        self._players.limit_depth(self.max_depth)
        return player

    def decide(self, player: Player, position: Position, read_at: float, *, analyses: bool = False) -> Decision:
        """Return the player's decision, in time for a request that was read at `read_at`.

        The deadline may become earlier meanwhile, but no later. `analyses`: keep what `best_moves` shows, if the player
        has that.
        """
        self._begin_move()
        first = self._clock.deadline(read_at)
        return self._decide(player, position, lambda: min(first, self._clock.deadline(read_at)), analyses=analyses)

    def best_moves(self, count: int, size: int) -> Iterator[str]:
        """Yield the best moves of the last decision as MESSAGE lines, the best first, on a board of this size."""
        if self._analysis is not None:
            for number, move in enumerate(self._analysis.moves[:count], 1):
                chance = "" if move.value is None else f", {(1 + move.value) / 2:.1%} to win"
                yield f"MESSAGE {number}: {point_name(move.move, size)}{chance}"

    def three_stones(self, player: Player, rules: Rules, read_at: float) -> list[Cell]:
        """Return the stones of a swap2 opening, with the time of one move for all evaluations together."""
        self._begin_move()

        def evaluate(position: Position, left: int) -> float:
            now = self._now()
            share = now + (self._clock.deadline(read_at) - now) / left
            return self._decide(player, position, lambda: share).value or 0.0

        return swap2.three_stones(rules, stream_key(self._seed, self._games), evaluate)

    def ponder(self, player: Player, position: Position) -> None:
        """Let the player think about the opponent's move until `stop_pondering`, if it can and may."""
        if not (self.may_ponder and isinstance(player, Ponders)) or position.is_game_over():
            return
        if self._search is not None and not self._search.done():
            return
        turn = self._turn = threading.Event()
        self._search = self._executor.submit(player.ponder, position.copy(), turn.is_set)

    def stop_pondering(self) -> None:
        """End the opponent's turn."""
        self._turn.set()

    def record_move(self, read_at: float) -> None:
        """Record on the clock that the request of `read_at` is answered."""
        self._clock.record_move(self._now() - read_at)

    def messages(self) -> Iterator[str]:
        """Yield the new notes of the source as MESSAGE lines, and clear them."""
        notes = self._players.notes
        while notes:
            yield f"MESSAGE {notes.pop(0)}"

    def _begin_move(self) -> None:
        self._asked_at = math.inf
        self._analysis = None

    def _decide(
        self, player: Player, position: Position, limit: Callable[[], float], *, analyses: bool = False
    ) -> Decision:
        def deadline() -> float:
            return min(limit(), self._asked_at)

        if self._search is not None and (not self._ends(self._search, deadline) or self._now() >= deadline()):
            return self._players.quick_decision(position)
        if isinstance(player, TellsBest):
            player.best_so_far = None
        started = self._now()

        def stop() -> bool:
            now = self._now()
            return now >= deadline() or (now >= started + MIN_MOVE_S and self._hurry())

        seed = stream_key(self._seed, self._games, position.ply)
        shows = self._tell is not None and self.shows_best
        awaited = threading.Event()
        awaited.set()

        def report(analysis: Analysis) -> None:
            if awaited.is_set():
                self._analysis = analysis
                if shows and self._tell is not None:
                    self._tell(f"MESSAGE REALTIME BEST {point_name(analysis.best_move, position.rules.size)}")

        def choose(position: Position) -> Decision:
            if not ((analyses or shows) and isinstance(player, Thinks)):
                return player.choose(position, seed=seed, stop=stop)
            decision, self._analysis = player.think(position, seed=seed, stop=stop, report=report)
            return decision

        search = self._search = self._executor.submit(choose, position.copy())
        try:
            has_ended = self._ends(search, deadline)
        finally:
            awaited.clear()
        if has_ended:
            self._search = None
            return search.result()
        best = player.best_so_far if isinstance(player, TellsBest) else None
        return best or self._players.quick_decision(position)

    def _ends(self, search: Future[Any], deadline: Callable[[], float]) -> bool:
        """Wait for a search until a little after the deadline; return True if it has ended."""
        started = self._now()
        while not search.done():
            if self._asked_at == math.inf and self._is_asked():
                self._asked_at = self._now()
            grace_s = _GRACE_S if self._asked_at == math.inf else _ASKED_GRACE_S
            left = max(deadline(), started) + grace_s - self._now()
            if left <= 0:
                return False
            due = time.monotonic() + min(left, _PROBE_S)
            wait([search], min(left, _PROBE_S))
            self._clock.record_delay(time.monotonic() - due)
        return True
