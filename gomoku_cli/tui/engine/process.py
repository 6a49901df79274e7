"""The process of the engine: requests come on its stdin, and answers go out on what was its stdout."""

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from gomoku_cli.tui.engine.lanes import Lanes
from gomoku_cli.tui.engine.messages import NO_TASK, Answer, Compiling, Notice
from nets.config import Backend, Precision, RuntimeChoice, set_runtime

_EVERY_S = 1.0
"""Interval of the messages about a compilation."""


def main(backend: str, precision: str, device: str) -> None:
    """Handle requests until stdin ends, as it does when the screen's process ends in any way."""
    for number in (signal.SIGINT, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])):
        signal.signal(number, signal.SIG_IGN)  # they are the screen's; its end is ours
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not break the answers
    lock = threading.Lock()

    def send(number: int, answer: Answer) -> None:
        # The screen may have ended; what it wrote before is still handled.
        with lock, suppress(OSError):
            pickle.dump((number, answer), output)
            output.flush()

    lanes = Lanes(send)

    def read() -> None:
        lanes.read(sys.stdin.buffer)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    set_runtime(RuntimeChoice(backend=Backend(backend), precision=Precision(precision), device=device))
    # Imported here: the signals' handlers and the pipe are in place first, and the screen's end is noticed meanwhile.
    from gomoku_cli.notices import notices_to
    from gomoku_cli.tui.engine.worker import Worker

    threading.Thread(target=_compile, args=(send,), daemon=True).start()
    with notices_to(lambda text: send(NO_TASK, Notice(text))):
        Worker(lanes).run()
    sys.stdout.flush()
    os._exit(0)  # no thread of a library may keep the process


def _compile(send: Callable[[int, Answer], None]) -> None:
    """Compile a part of cold kernels beside the tasks of this process; tell each second how far any compilation is."""
    from core.compiled.jit import KERNELS_ARE_COLD
    from curriculum.bench.compiling import Helper, helper_for, progress_text, watching_compilation

    begun = threading.Event()
    helper: Helper | None = None
    with watching_compilation(lambda kernel: begun.set()) as compilation:
        if KERNELS_ARE_COLD:
            from curriculum.bench.warmup import compile_beside_search

            helper = helper_for(compile_beside_search)
        while begun.wait():
            begun.clear()
            while compilation.is_under_way:
                kernels = compilation.kernels | (helper.kernels() if helper else set())
                send(NO_TASK, Compiling(progress_text(len(kernels), compilation.seconds)))
                time.sleep(_EVERY_S)
