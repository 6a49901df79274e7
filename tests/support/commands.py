"""Commands in this process: their exit code, stdout and stderr."""

import pytest

from gomoku_cli import app
from gomoku_cli.exit_codes import ExitCode


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command in this process; return its exit code, stdout and stderr."""
    capsys.readouterr()
    code = app.run([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def refused(capsys: pytest.CaptureFixture[str], code: ExitCode, *arguments: object) -> str:
    """Return the one line of an error with this exit code."""
    found, out, err = run(capsys, *arguments)
    assert found == code, err
    assert out == ""
    assert err.startswith("gomoku")
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    return err
