"""Errors that a user can understand from their message: the bases of all such errors in every package.

The message is one line: the mistake, its place, and the right form. The command line maps each base to an exit code
(`gomoku_cli.exit_codes`). An error without one of these bases is a defect of the program, and keeps its traceback.
"""


class UserError(Exception):
    """The base of the bases; only they inherit from it.

    >>> try:
    ...     gomoku.open_player("nobody")
    ... except gomoku.UserError as error:
    ...     print("mistake")
    mistake
    """


class UsageError(UserError):
    """The command line, the configuration or a caller requests something that does not exist here.

    >>> gomoku.load_config("nothing")
    Traceback (most recent call last):
    curriculum.stated.ConfigError: ...
    """


class BadDataError(UserError):
    """A model, a run or another file cannot be used.

    >>> gomoku.read_games("missing.sgf")
    Traceback (most recent call last):
    core.records.record.RecordError: ...
    """


class FailedError(UserError):
    """The request was right and its data good, but the work could not be done.

    >>> issubclass(gomoku.ForfeitError, gomoku.FailedError)
    True
    """


class Notice(UserWarning):
    """A remark for the user: the work goes on, in another way than asked for."""
