"""Games that take a thread each: most of their time they wait for other programs, or compute outside of Python."""

import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from curriculum.workers.games import PATIENCE_S, Game


def on_threads(
    numbers: Iterator[int | None],
    at_once: int,
    play: Callable[[int, Callable[[], bool]], Game],
    stop: Callable[[], bool],
) -> Generator[tuple[int, Game] | None]:
    """Play games as `curriculum.workers.games.Games` does, each on a thread of its own. Raises the errors of `play`.

    `play`: returns the game of a number. Its second argument returns True when the game is not wanted any more.
    """
    ending = threading.Event()

    def stop_each() -> bool:
        return ending.is_set() or stop()

    running: dict[Future[Game], int] = {}
    with ThreadPoolExecutor(at_once, thread_name_prefix="game") as pool:
        try:
            while not stop():
                while len(running) < at_once and (number := next(numbers, None)) is not None:
                    running[pool.submit(play, number, stop_each)] = number
                if not running:
                    return
                # A short timeout, because a signal's handler runs between this thread's own steps.
                for future in wait(running, timeout=PATIENCE_S, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
                yield None
        finally:
            ending.set()
