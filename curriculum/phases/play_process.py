"""Self-play in a process of its own, beside the training in this one.

Threads of one process would wait for each other: the games' Python code holds the interpreter while torch needs it many
times a step, which made training a hundred times slower.
"""

import signal
import time
from collections.abc import Sequence
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from core.errors import FailedError
from core.rules import Cell
from curriculum.config import Config
from curriculum.games.selfplay_games import Progress, SelfPlay, SelfPlayGame
from nets.checkpoint import load_model
from nets.config import RuntimeChoice, default_runtime, set_runtime
from nets.runtimes.net_evaluator import NetEvaluator

_POLL_S = 0.05
_END_S = 10.0
"""Time that a process gets to end."""


class PlayProcessError(FailedError, RuntimeError):
    """The process of self-play has ended by itself."""


class _Work(NamedTuple):
    """The work of a process."""

    config: Config
    model: Path
    iteration: int
    number: int
    """Of the first game."""
    balanced: Sequence[Sequence[Cell]]
    runtime: RuntimeChoice


class PlayProcess:
    """Endless games of self-play in a process of its own, with weights that can be exchanged."""

    def __init__(
        self, config: Config, model: Path, *, iteration: int, number: int, balanced: Sequence[Sequence[Cell]]
    ) -> None:
        """`model`: a file with the first weights. `number`: of the first game."""
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        work = _Work(config, model, iteration, number, balanced, default_runtime())
        self._process = context.Process(target=_play, args=(theirs, work), name="self-play", daemon=True)
        self._process.start()
        theirs.close()
        self.progress = Progress(time.perf_counter(), 0, 0, 0, 0, 0)
        """Work done so far."""

    def games(self) -> list[SelfPlayGame]:
        """Return the games that have finished since the last call. Raises the error that ended the process."""
        games: list[SelfPlayGame] = []
        try:
            while self._connection.poll():
                message = self._connection.recv()
                if isinstance(message, BaseException):
                    raise message
                finished, self.progress = message
                games += finished
        except (EOFError, ConnectionError) as error:
            self._process.join(_END_S)
            raise PlayProcessError(
                f"the process of self-play ended by itself (exit code {self._process.exitcode})"
            ) from error
        return games

    def push(self, model: Path) -> None:
        """Play on with the weights of a model file, once it is read; the games in progress go on with them."""
        try:
            self._connection.send(model)
        except OSError:
            self.games()  # raises the reason
            raise

    def close(self) -> None:
        """End the process; games in progress are lost."""
        self._connection.close()
        self._process.join(_END_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _play(connection: Connection, work: _Work) -> None:
    """Play until the other end of the connection closes."""
    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, signal.SIG_IGN)  # the training saves what there is, and then closes the connection
    try:
        _play_until_closed(connection, work)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the training has ended
    except BaseException as error:
        connection.send(error)


def _play_until_closed(connection: Connection, work: _Work) -> None:
    set_runtime(work.runtime)
    evaluator = NetEvaluator(load_model(work.model)[0])
    player = SelfPlay(work.config, evaluator, iteration=work.iteration, balanced=work.balanced)
    finished: list[SelfPlayGame] = []
    next_poll = 0.0

    def exchange() -> bool:
        """Send finished games and take new weights, every few hundredths of a second."""
        nonlocal evaluator, next_poll
        now = time.perf_counter()
        if now < next_poll:
            return False
        next_poll = now + _POLL_S
        if finished:
            connection.send((finished[:], player.progress))
            finished.clear()
        model: Path | None = None
        while connection.poll():
            model = connection.recv()
        if model is not None:
            newer = NetEvaluator(load_model(model)[0])
            player.set_evaluator(newer)
            evaluator.close()
            evaluator = newer
        return False

    player.play(count(work.number), finished.append, exchange)
