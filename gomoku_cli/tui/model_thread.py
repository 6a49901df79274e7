"""The model's thread: it loads the model, thinks and ponders, and posts messages to the app."""

import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from textual.message import Message

from core.lines import winning_cells
from core.position import Position
from core.rules import Rules
from search.players import Decision, Player, Ponders


@dataclass
class PlayerLoaded(Message):
    """The model is ready."""

    player: Player


@dataclass
class LoadFailed(Message):
    """Loading the model raised an error."""

    error: BaseException


@dataclass
class ModelMoved(Message):
    """The model has chosen a move."""

    generation: int
    """The request that this message answers. The app drops an answer to an older request."""
    decision: Decision
    seconds: float


@dataclass
class ModelFailed(Message):
    """The model raised an error instead of choosing a move."""

    generation: int
    error: Exception


@dataclass
class PonderingEnded(Message):
    """The model stopped pondering without a request: it has no room left, or it failed."""

    generation: int
    error: Exception | None


class ModelThread:
    """One thread that handles requests to the model in order.

    Every request belongs to a generation. `cancel` begins the next generation: it stops the request in progress and
    makes its answer stale, which `accept` reports. Pondering is a request without an answer.
    """

    def __init__(self, player_factory: Callable[[], Player], post: Callable[[Message], object]) -> None:
        """`player_factory` runs on the thread. `post` takes the messages; it must be safe to call from any thread."""
        self.player: Player | None = None
        """The loaded model. The app sets it when it handles `PlayerLoaded`."""
        self.generation = 0
        self._player_factory = player_factory
        self._post = post
        self._stop = threading.Event()
        """Stops the request in progress. Every generation has its own event."""
        self._requested_at: float | None = None
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")

    @property
    def waiting_s(self) -> float | None:
        """Seconds since the app requested an answer that is still due; None if none is."""
        return None if self._requested_at is None else time.perf_counter() - self._requested_at

    def load(self, rules: Rules) -> None:
        """Request the model: `PlayerLoaded` or `LoadFailed` follows."""
        self._requested_at = time.perf_counter()
        self._executor.submit(self._load, rules)

    def think(self, position: Position) -> None:
        """Request a move: `ModelMoved` or `ModelFailed` follows."""
        assert self.player is not None, "moves are requested only after the model is loaded"
        self._requested_at = time.perf_counter()
        self._executor.submit(self._think, self.player, position.copy(), self.generation, self._stop)

    def ponder(self, position: Position) -> bool:
        """Let the model ponder until the next `cancel`. Return False if it cannot."""
        if not isinstance(self.player, Ponders):
            return False
        self._executor.submit(self._ponder, self.player, position.copy(), self.generation, self._stop)
        return True

    def accept(self, generation: int) -> bool:
        """Return True if `generation` is the current one; its answer is then no longer due."""
        if generation != self.generation:
            return False
        self._requested_at = None
        return True

    def cancel(self) -> None:
        """Stop the request in progress and begin the next generation."""
        self.generation += 1
        self._stop.set()
        self._stop = threading.Event()
        self._requested_at = None

    def close(self, timeout_s: float | None) -> bool:
        """Stop the model and wait for the thread; return False if it is still busy after `timeout_s`, if given.

        The interpreter must not exit while the thread is in a library.
        """
        self.cancel()
        end = self._executor.submit(lambda: None)
        self._executor.shutdown(wait=False)
        try:
            end.result(timeout_s)
        except TimeoutError:
            return False
        self._executor.shutdown(wait=True)
        return True

    def _load(self, rules: Rules) -> None:
        try:
            # Compiles the board's own kernels here too, not at the first click.
            winning_cells(Position.from_moves(rules, [0]).stones, 0, rules.size, rules.connect)
            player = self._player_factory()
        except BaseException as error:
            self._post(LoadFailed(error))
        else:
            self._post(PlayerLoaded(player))

    def _think(self, player: Player, position: Position, generation: int, stop: threading.Event) -> None:
        if stop.is_set():
            return
        started = time.perf_counter()
        try:
            decision = player.choose(position, seed=secrets.randbits(63), stop=stop.is_set)
        except Exception as error:
            self._post(ModelFailed(generation, error))
        else:
            self._post(ModelMoved(generation, decision, time.perf_counter() - started))

    def _ponder(self, player: Ponders, position: Position, generation: int, stop: threading.Event) -> None:
        failure = None
        try:
            player.ponder(position, stop.is_set)
        except Exception as error:
            failure = error
        if not stop.is_set():
            self._post(PonderingEnded(generation, failure))
