"""The exit codes of `gomoku`, and the error that ends in each."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every command."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    """The command line or the configuration requests something that does not exist."""
    BAD_DATA = 3
    """A model, a run or another file cannot be used."""
    BAR_NOT_MET = 4
    """The work is done, and missed a required minimum."""
    INTERRUPTED = 130
    """Ctrl-C, or a signal: SIGINT, SIGTERM, SIGHUP, SIGQUIT."""
    READER_GONE = 141
    """The reader of stdout has closed the pipe; a shell reports the same of programs that SIGPIPE ends."""


class TerminalClosedError(OSError):
    """The terminal of stdout is closed, of which SIGHUP tells too, a moment earlier or later."""


def for_error(error: BaseException) -> ExitCode | None:
    """Return the exit code of an error that a user can understand from its message; None for a defect of ours."""
    # Imported here, so that the signals' handlers are in place before anything heavy is imported.
    from typer.exceptions import TyperException

    from core.errors import BadDataError, FailedError, UsageError
    from curriculum.reporting import Interrupted

    by_error: dict[type[BaseException], ExitCode] = {
        TyperException: ExitCode.USAGE,
        UsageError: ExitCode.USAGE,
        BadDataError: ExitCode.BAD_DATA,
        FailedError: ExitCode.FAILED,
        FileNotFoundError: ExitCode.BAD_DATA,
        OSError: ExitCode.FAILED,
        MemoryError: ExitCode.FAILED,
        Interrupted: ExitCode.INTERRUPTED,
        TerminalClosedError: ExitCode.INTERRUPTED,
    }
    return next((by_error[kind] for kind in type(error).__mro__ if kind in by_error), None)
