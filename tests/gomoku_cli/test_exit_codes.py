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

CODES: dict[ExitCode, tuple[type[BaseException], ...]] = {
    ExitCode.USAGE: (
        *(typer.BadParameter, BasicsError, ConfigError, PlayerSpecError),
        *(FolderTakenError, RuntimeUnavailableError, SuiteError),
    ),
    ExitCode.BAD_DATA: (
        *(CheckpointError, FileNotFoundError, EvaluationError, RecordError),
        *(FolderError, SamplesError, SuiteFileError),
    ),
    ExitCode.FAILED: (FolderBusyError, ForfeitError, MemoryError, OSError, PermissionError),
    ExitCode.INTERRUPTED: (Interrupted,),
}


@pytest.mark.parametrize(("error", "code"), [(error, code) for code, errors in CODES.items() for error in errors])
def test_every_error_has_its_exit_code(error: type[BaseException], code: ExitCode) -> None:
    assert for_error(error("some text")) == code


@pytest.mark.parametrize("defect", [ValueError, RuntimeError, AssertionError, KeyError])
def test_a_defect_has_no_exit_code(defect: type[BaseException]) -> None:
    assert for_error(defect("some text")) is None
