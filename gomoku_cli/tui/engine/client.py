"""The screen's side of the engine: it starts the process, sends requests, and passes the answers on."""

import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from gomoku_cli.tui.engine.messages import NO_TASK, Answer, Ended, Keep, Reply, Stop, Task
from nets.config import RuntimeChoice

Receives = Callable[[int, Answer], object]
"""Gets an answer and the number of its task. It must be safe to call from any thread."""

_END_S = 0.1
"""Time for the engine to end by itself."""
_SAVE_S = 5.0
"""Time for it to save a game first."""


class EngineProcess:
    """An engine in a process of its own: it shares no lock with the screen, and ends whatever it is doing.

    It does tasks; the answers come to the receiver that `connect` names. A process that has ended by itself starts anew
    with the next task.
    """

    def __init__(self, runtime: RuntimeChoice) -> None:
        """Start the process; it imports its libraries while the screen imports its own."""
        self._runtime = runtime
        self._receive: Receives = lambda number, answer: None
        self._reader: threading.Thread | None = None
        self._number = 0
        self._closed = False
        self._unsaved: set[int] = set()
        """The numbers of games on their way to a file."""
        self._start()

    def connect(self, receive: Receives) -> None:
        """Send the answers to `receive`, with those that came before; call it once."""
        self._receive = receive
        self._listen()

    def request(self, task: Task, number: int = NO_TASK) -> int:
        """Send a task and return its number, above 0, which its answers carry. A `Stop` takes that of its search."""
        if not isinstance(task, Stop):
            if self._process.poll() is not None and not self._closed:
                self._close_input()
                self._start()
                self._listen()
            self._number += 1
            number = self._number
        if isinstance(task, Keep):
            self._unsaved.add(number)
        with suppress(OSError, ValueError):  # a process that has ended reports this itself
            self._input.write(pickle.dumps((number, task)))
            self._input.flush()
        return number

    def close(self) -> None:
        """End the engine without waiting for its searches, but after the games are saved."""
        self._closed = True
        self._close_input()  # it ends with its input, and ends the programs that it has started
        with suppress(subprocess.TimeoutExpired):
            # A game that is not saved yet may wait until the libraries are imported.
            self._process.wait(_SAVE_S if self._unsaved else _END_S)
        self._process.kill()
        self._process.wait()
        (self._reader or self._listen()).join()

    def _close_input(self) -> None:
        with suppress(OSError):
            self._input.close()

    def _start(self) -> None:
        # As the interpreter of this process would: installed, from a folder, or with a changed path.
        code = (
            f"import sys; sys.path[:] = {sys.path!r}\n"
            "from gomoku_cli.tui.engine.process import main\n"
            f"main({str(self._runtime.backend)!r}, {str(self._runtime.precision)!r}, {self._runtime.device!r})"
        )
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        self._input = self._process.stdin

    def _listen(self) -> threading.Thread:
        self._reader = threading.Thread(target=self._read, args=(self._process, self._errors), daemon=True)
        self._reader.start()
        return self._reader

    def _read(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        assert process.stdout is not None
        while True:
            try:
                reply: Reply = pickle.load(process.stdout)
            except (EOFError, OSError, ValueError, pickle.UnpicklingError):
                break
            number, answer = reply
            self._unsaved.discard(number)
            self._receive(number, answer)
        code = process.wait()
        process.stdout.close()
        with errors:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
        if not self._closed:
            self._receive(NO_TASK, Ended(said or f"it ended with code {code}"))
