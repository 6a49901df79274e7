"""The screen's side of the engine: it starts the process, sends tasks, and passes the answers on."""

import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Protocol

from gomoku_cli.tui.engine.messages import (
    NO_TASK,
    Answer,
    Begin,
    Ended,
    Errand,
    FileFailed,
    Keep,
    Kept,
    Reply,
    Stop,
    Task,
)
from nets.config import RuntimeChoice

Receives = Callable[[int, Answer], object]
"""Gets an answer and the number of its task. It must be safe to call from any thread."""

_END_S = 0.1
"""Time for the engine to end by itself."""
_SAVE_S = 5.0
"""Time for it to save a game first."""


class Engine(Protocol):
    """Handles tasks outside the screen's thread; the answers come to the receiver that `connect` names."""

    def connect(self, receive: Receives) -> None:
        """Send the answers to `receive` from now on; those that came before follow at once."""

    def begin(self, task: Task) -> int:
        """Begin a task and return its number, above 0; its answers carry the number."""

    def stop(self, number: int, *, drop: bool) -> None:
        """Stop a task, which then answers with its result so far; `drop` leaves out a task that has not begun."""

    def run(self, errand: Errand) -> None:
        """Run an errand about saved games; its answer belongs to no task."""

    def close(self) -> None:
        """End the engine without waiting for its task, but after the errands."""


class EngineProcess:
    """An engine in a process of its own: it shares no lock with the screen, and ends whatever it is doing.

    A process that has ended by itself starts anew with the next task.
    """

    def __init__(self, runtime: RuntimeChoice) -> None:
        """Start the process; it imports its libraries while the screen imports its own."""
        self._runtime = runtime
        self._receive: Receives | None = None
        self._early: list[tuple[int, Answer]] = []
        self._lock = threading.Lock()
        self._number = 0
        self._closed = False
        self._unsaved = 0
        """Games on their way to a file."""
        self._start()

    def connect(self, receive: Receives) -> None:
        """See `Engine`."""
        with self._lock:
            self._receive = receive
            early, self._early = self._early, []
        for number, answer in early:
            receive(number, answer)

    def begin(self, task: Task) -> int:
        """See `Engine`."""
        self._number += 1
        self._revive()
        self._write(Begin(self._number, task))
        return self._number

    def _revive(self) -> None:
        if self._process.poll() is not None and not self._closed:
            self._close_input()
            self._start()

    def stop(self, number: int, *, drop: bool) -> None:
        """See `Engine`."""
        self._write(Stop(number, drop))

    def run(self, errand: Errand) -> None:
        """See `Engine`."""
        self._revive()
        self._unsaved += isinstance(errand, Keep)
        self._write(errand)

    def close(self) -> None:
        """See `Engine`."""
        self._closed = True
        self._close_input()  # it ends with its input, and ends the programs that it has started
        with suppress(subprocess.TimeoutExpired):
            # A game that is not saved yet may wait until the libraries are imported.
            self._process.wait(_SAVE_S if self._unsaved > 0 else _END_S)
        self._process.kill()
        self._process.wait()
        self._reader.join()

    def _close_input(self) -> None:
        with suppress(OSError):
            self._input.close()

    def _start(self) -> None:
        # As the interpreter of this process would: installed, from a folder, or with a changed path.
        code = (
            f"import sys; sys.path[:] = {sys.path!r}\n"
            "from gomoku_cli.tui.engine.process import main\n"
            "from nets.config import Backend, Precision, RuntimeChoice\n"
            f"main(RuntimeChoice(backend=Backend({str(self._runtime.backend)!r}), "
            f"precision=Precision({str(self._runtime.precision)!r})))"
        )
        errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        self._input = self._process.stdin
        self._reader = threading.Thread(target=self._read, args=(self._process, errors), daemon=True)
        self._reader.start()

    def _write(self, frame: Begin | Stop | Errand) -> None:
        with suppress(OSError, ValueError):  # a process that has ended reports this itself
            self._input.write(pickle.dumps(frame))
            self._input.flush()

    def _read(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        assert process.stdout is not None
        while True:
            try:
                reply = pickle.load(process.stdout)
            except (EOFError, OSError, ValueError, pickle.UnpicklingError):
                break
            if isinstance(reply, Reply):
                self._unsaved -= isinstance(reply.answer, Kept | FileFailed)
                self._pass_on(reply.number, reply.answer)
        code = process.wait()
        process.stdout.close()
        with errors:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
        if not self._closed:
            self._pass_on(NO_TASK, Ended(said or f"it ended with code {code}"))

    def _pass_on(self, number: int, answer: Answer) -> None:
        with self._lock:
            if self._receive is None:
                self._early.append((number, answer))
                return
            receive = self._receive
        receive(number, answer)
