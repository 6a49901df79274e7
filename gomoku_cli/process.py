"""The process of a command: the signals that end it, and standard streams whose other end may go away.

Only light imports: a signal may come while the rest of the program is still being imported.
"""

import atexit
import errno
import gc
import io
import os
import signal
import stat
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from gomoku_cli.exit_codes import ExitCode, TerminalClosedError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
SIGNALS = tuple(
    getattr(signal, name)
    for name in _NAMES
    if hasattr(signal, name) and not (name == "SIGHUP" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)
)
"""The signals that end a command: Ctrl-C, `kill`, a closed terminal unless `nohup` started the process, Ctrl-\\."""
ORDERLY_SIGNALS = tuple(number for number in SIGNALS if number.name != "SIGQUIT")
"""Those after which long work finishes its step and saves."""

_SHOW_CURSOR = b"\x1b[?25h"
_CLEAR_LINE = b"\r\x1b[K"


def write_remark(text: str) -> None:
    """Write a line to the descriptor of stderr: a signal may have interrupted a write to `sys.stderr`."""
    with suppress(OSError):  # the other end may be closed
        os.write(2, (_CLEAR_LINE if os.isatty(2) else b"") + text.encode() + b"\n")


def stop_at_once(resume: str | None = None) -> NoReturn:
    """End the process without unwinding. `resume`: the command that continues the work."""
    if os.isatty(2):
        with suppress(OSError):
            os.write(2, _SHOW_CURSOR)  # progress bars hide it
    write_remark(f"stopped; continue with: {resume}" if resume else "stopped")
    os._exit(ExitCode.INTERRUPTED)


def share_processors() -> None:
    """Let waiting threads of torch sleep soon, so that training beside other programs keeps most of its speed.

    GNU OpenMP reads the variable when torch loads it. By itself a thread that waits for others spins for milliseconds,
    on the processor that they may need (docs/results/speed.md).
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")


def end_soon() -> None:
    """Let Python leave the objects of imported packages to the system at its end.

    It would look through all of them for garbage: nearly a second of work after torch was imported, and several on a
    busy machine.
    """
    atexit.register(gc.freeze)


def end_on_signals() -> None:
    """Let the signals end the process at once, until long work takes them over (`interruption.interruptible`)."""

    def end(number: int, frame: FrameType | None) -> None:
        stop_at_once()

    def ignore() -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    for number in SIGNALS:
        signal.signal(number, end)
    # A closing terminal sends its signal twice. At its very end Python would give the second one its default action,
    # which is a death by a signal, although the command has ended as it should.
    atexit.register(ignore)


class _Results(io.FileIO):
    """The descriptor of stdout. The process ends when its reader is gone, as programs do that SIGPIPE kills.

    But what the command has worked out is saved before: the files of a match, the analyses of a game.
    """

    _reader_is_gone = False

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write `data`. Raises an `OSError` that names the stream, and `SystemExit` once the reader is gone."""
        try:
            return super().write(data)
        except BrokenPipeError:
            was_gone, self._reader_is_gone = self._reader_is_gone, True
            if was_gone or threading.current_thread() is not threading.main_thread():
                os._exit(ExitCode.READER_GONE)
            raise SystemExit(ExitCode.READER_GONE) from None
        except OSError as error:
            closed = error.errno == errno.EIO and stat.S_ISCHR(os.fstat(self.fileno()).st_mode)
            kind = TerminalClosedError if closed else OSError
            raise kind(error.errno, error.strerror, "standard output") from error


class _Remarks(io.FileIO):
    """A descriptor whose reader may go away: what cannot be written is dropped."""

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write `data`, or drop it."""
        written: int | None = None  # also of a descriptor that would block
        with suppress(OSError):
            written = super().write(data)
        return memoryview(data).nbytes if written is None else written


def open_remarks(descriptor: int) -> io.TextIOWrapper:
    """Return a stream that drops what nobody can read. Work must not fail since its terminal or its log has gone."""
    buffer = io.BufferedWriter(_Remarks(descriptor, "w", closefd=False))
    return io.TextIOWrapper(buffer, encoding="utf-8", errors="backslashreplace", line_buffering=True)


def open_streams() -> None:
    """Prepare stdin, stdout and stderr for a command, those too that the caller has closed."""
    if os.environ.get("COLUMNS", "").strip("0") == "":
        os.environ.pop("COLUMNS", None)  # a width of 0 is an unknown one, and rich would show nothing at all
    if sys.platform == "win32":
        return
    for descriptor, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            # A file opened later would take this number, and what is printed would go into it. Reading a closed stdin
            # and writing to a closed stdout stay errors.
            os.open(os.devnull, flags)
            os.set_inheritable(descriptor, True)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115  # open as long as the process
    before = sys.stdout
    if before is not None:
        before.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Results(1, "w", closefd=False)),
        encoding=before.encoding if before is not None else "utf-8",
        errors=before.errors if before is not None else "backslashreplace",
        line_buffering=os.isatty(1),
    )
    sys.stderr = open_remarks(2)


def flush_results(code: int) -> int:
    """Write what stdout still holds; return `code`, or that of a failure where it cannot be written."""
    try:
        sys.stdout.flush()
    except TerminalClosedError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return ExitCode.INTERRUPTED
    except OSError as error:
        if code != ExitCode.FAILED:  # else this has been said
            write_remark(f"gomoku: {error.filename}: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for the interpreter's own flush
        return ExitCode.FAILED
    return code
