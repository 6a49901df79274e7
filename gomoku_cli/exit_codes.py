"""The exit codes of `gomoku`, and the error that ends in each."""

from enum import IntEnum

from typer.exceptions import TyperException

from core.errors import BadDataError, FailedError, UsageError
from curriculum.reporting import Interrupted


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


_BY_ERROR: dict[type[BaseException], ExitCode] = {
    TyperException: ExitCode.USAGE,
    UsageError: ExitCode.USAGE,
    BadDataError: ExitCode.BAD_DATA,
    FailedError: ExitCode.FAILED,
    OSError: ExitCode.FAILED,
    MemoryError: ExitCode.FAILED,
    Interrupted: ExitCode.INTERRUPTED,
}


def for_error(error: BaseException) -> ExitCode | None:
    """Return the exit code of an error that a user can understand from its message; None for a defect of ours."""
    return next((_BY_ERROR[kind] for kind in type(error).__mro__ if kind in _BY_ERROR), None)
