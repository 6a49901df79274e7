"""Errors that a user can understand from their message: the bases of all such errors in every package.

The message is one line: the mistake, its place, and the right form. The command line maps each base to an exit code
(`gomoku_cli.exit_codes`). An error without one of these bases is a defect of the program, and keeps its traceback.
"""


class UserError(Exception):
    """The base of the bases; only they inherit from it."""


class UsageError(UserError):
    """The command line, the configuration or a caller requests something that does not exist here."""


class BadDataError(UserError):
    """A model, a run or another file cannot be used."""


class FailedError(UserError):
    """The request was right and its data good, but the work could not be done."""
