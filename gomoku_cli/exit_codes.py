"""What the exit code of `gomoku` says, and which error ends in which."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every command."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    """The command line or the configuration asks for what does not exist."""
    BAD_DATA = 3
    """A model, a run or another file cannot be used."""
    BAR_NOT_MET = 4
    """The work is done, and missed the minimum that was asked for."""
    INTERRUPTED = 130


_BY_ERROR = {
    "typer.exceptions.TyperException": ExitCode.USAGE,
    "curriculum.games.basics.BasicsError": ExitCode.USAGE,
    "curriculum.presets.ConfigError": ExitCode.USAGE,
    "curriculum.arena.players.PlayerSpecError": ExitCode.USAGE,
    "curriculum.run.folder.RunFolderTakenError": ExitCode.USAGE,
    "curriculum.run.locking.FolderBusyError": ExitCode.FAILED,
    "curriculum.arena.folder.OtherMatchError": ExitCode.USAGE,
    "curriculum.arena.suite.SuiteError": ExitCode.USAGE,
    "curriculum.arena.folder.MatchFolderError": ExitCode.BAD_DATA,
    "curriculum.run.folder.RunFolderError": ExitCode.BAD_DATA,
    "curriculum.training.samples.SamplesError": ExitCode.BAD_DATA,
    "core.records.record.RecordError": ExitCode.BAD_DATA,
    "nets.checkpoint.CheckpointError": ExitCode.BAD_DATA,
    "nets.runtimes.runtime.RuntimeUnavailableError": ExitCode.USAGE,
    "curriculum.reporting.Interrupted": ExitCode.INTERRUPTED,
    "search.tree.mcts.EvaluationError": ExitCode.BAD_DATA,
    "search.players.ForfeitError": ExitCode.FAILED,
    "builtins.OSError": ExitCode.FAILED,
    "builtins.MemoryError": ExitCode.FAILED,
}
"""By name: whoever asks for `--help` shall not wait for the modules these errors live in."""


def for_error(error: BaseException) -> ExitCode | None:
    """The exit code of an error that a user can understand from its message; None for a defect of ours."""
    for kind in type(error).__mro__:
        code = _BY_ERROR.get(f"{kind.__module__}.{kind.__qualname__}")
        if code is not None:
            return code
    return None
