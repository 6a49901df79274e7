"""The exit code of every error that a user can meet."""

import pytest
import typer

from core.records.record import RecordError
from curriculum.arena.players import PlayerSpecError
from curriculum.arena.suite import SuiteError, SuiteFileError
from curriculum.games.kinds import BasicsError
from curriculum.reporting import Interrupted
from curriculum.run.locking import FolderBusyError, FolderError, FolderTakenError
from curriculum.stated import ConfigError
from curriculum.training.files import SamplesError
from gomoku_cli.exit_codes import ExitCode, for_error
from nets.checkpoint import CheckpointError
from nets.runtimes.runtime import RuntimeUnavailableError
from search.players import ForfeitError
from search.tree.groups import EvaluationError

CODES: dict[type[BaseException], ExitCode] = {
    typer.BadParameter: ExitCode.USAGE,
    BasicsError: ExitCode.USAGE,
    ConfigError: ExitCode.USAGE,
    PlayerSpecError: ExitCode.USAGE,
    FolderTakenError: ExitCode.USAGE,
    RuntimeUnavailableError: ExitCode.USAGE,
    SuiteError: ExitCode.USAGE,
    CheckpointError: ExitCode.BAD_DATA,
    FileNotFoundError: ExitCode.BAD_DATA,
    EvaluationError: ExitCode.BAD_DATA,
    RecordError: ExitCode.BAD_DATA,
    FolderError: ExitCode.BAD_DATA,
    SamplesError: ExitCode.BAD_DATA,
    SuiteFileError: ExitCode.BAD_DATA,
    FolderBusyError: ExitCode.FAILED,
    ForfeitError: ExitCode.FAILED,
    MemoryError: ExitCode.FAILED,
    OSError: ExitCode.FAILED,
    PermissionError: ExitCode.FAILED,
    Interrupted: ExitCode.INTERRUPTED,
}


@pytest.mark.parametrize(("error", "code"), CODES.items())
def test_every_error_has_its_exit_code(error: type[BaseException], code: ExitCode) -> None:
    assert for_error(error("some text")) == code


@pytest.mark.parametrize("defect", [ValueError, RuntimeError, AssertionError, KeyError])
def test_a_defect_has_no_exit_code(defect: type[BaseException]) -> None:
    assert for_error(defect("some text")) is None
