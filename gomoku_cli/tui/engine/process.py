"""The process of the engine: frames come on its stdin and go out on what was its stdout."""

import os
import pickle
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from gomoku_cli.tui.engine.messages import NO_TASK, Answer, Begin, Compiling, Errand, Keep, Notice, Reply, Stop
from nets.config import RuntimeChoice, set_runtime

if TYPE_CHECKING:
    from gomoku_cli.tui.engine.files import Files
    from gomoku_cli.tui.engine.worker import Worker

_EVERY_S = 1.0
"""Interval of the messages about a compilation."""
_END_S = 1.0
"""Time for the task in progress to stop after the screen has gone."""
_ERRANDS_S = 20.0
"""Time for games to be saved after that: on a busy machine the libraries may still be imported."""
_ERRANDS_EVERY_S = 0.02


def main(runtime: RuntimeChoice) -> None:
    """Handle tasks until stdin ends, as it does when the screen's process ends in any way."""
    for number in (signal.SIGINT, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])):
        signal.signal(number, signal.SIG_IGN)  # they are the screen's; its end is ours
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not break the frames
    lock = threading.Lock()

    def send(number: int, answer: Answer) -> None:
        # The screen may have ended; what it wrote before is still handled.
        with lock, suppress(OSError):
            pickle.dump(Reply(number, answer), output)
            output.flush()

    frames = _Frames()
    threading.Thread(target=frames.read, args=(sys.stdin.buffer,), daemon=True).start()
    set_runtime(runtime)
    # Imported here: the signals' handlers and the pipe are in place first, and the screen's end is noticed meanwhile.
    from core.compiled.jit import KERNELS_ARE_COLD
    from gomoku_cli.notices import notices_to
    from gomoku_cli.tui.engine.files import Files
    from gomoku_cli.tui.engine.worker import Worker

    if KERNELS_ARE_COLD:
        threading.Thread(target=_compile, args=(send,), daemon=True).start()
    worker, files = Worker(send), Files(lambda answer: send(NO_TASK, answer))
    threading.Thread(target=_handle, args=(frames, worker, files), daemon=True).start()
    with notices_to(lambda text: send(NO_TASK, Notice(text))):
        worker.run()
    sys.stdout.flush()
    os._exit(0)  # no thread of a library may keep the process


def _compile(send: Callable[[int, Answer], None]) -> None:
    """Compile a part of the kernels beside the tasks of this process; tell each second of it how far it all is."""
    from curriculum.bench.compiling import helper_for, progress_text, watching_compilation
    from curriculum.bench.warmup import compile_beside_search

    begun = threading.Event()
    with watching_compilation(lambda kernel: begun.set()) as compilation:
        helper = helper_for(compile_beside_search)
        while begun.wait():
            begun.clear()
            while compilation.is_under_way:
                kernels = compilation.kernels | (helper.kernels() if helper else set())
                send(NO_TASK, Compiling(progress_text(len(kernels), compilation.seconds)))
                time.sleep(_EVERY_S)


class _Frames:
    """The frames of the screen, in order."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Begin | Stop | Errand | None] = queue.SimpleQueue()
        self._errands = 0
        """Errands that are not done."""
        self._lock = threading.Lock()
        self._has_worker = False

    def read(self, stream: BinaryIO) -> None:
        """Read until the screen ends; then end this process, unless there are errands to do."""
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                frame = pickle.load(stream)
                with self._lock:
                    self._errands += not isinstance(frame, Begin | Stop)
                self._queue.put(frame)
        self._queue.put(None)
        deadline = time.monotonic() + _ERRANDS_S
        while self._errands and time.monotonic() < deadline:
            time.sleep(_ERRANDS_EVERY_S)
        if self._has_worker:
            time.sleep(_END_S)
        os._exit(0)

    def __iter__(self) -> Iterator[Begin | Stop | Errand]:
        self._has_worker = True
        return iter(self._queue.get, None)

    def done(self) -> None:
        """Count an errand as done."""
        with self._lock:
            self._errands -= 1


def _handle(frames: _Frames, worker: "Worker", files: "Files") -> None:
    """Hand tasks to the worker, and run errands. What the screen has written before its end is still handled."""

    def run(errand: Errand) -> None:
        try:
            files.run(errand)
        finally:
            frames.done()

    for frame in frames:
        if isinstance(frame, Begin):
            worker.begin(frame.number, frame.task)
        elif isinstance(frame, Stop):
            worker.stop(frame.number, drop=frame.drop)
        elif isinstance(frame, Keep):
            run(frame)
        else:
            # Reading hundreds of games takes seconds, for which neither a stop nor a save may wait.
            threading.Thread(target=run, args=(frame,), daemon=True).start()
    worker.end()
