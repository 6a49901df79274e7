"""Commands in this process and in one of their own: their exit code, stdout and stderr."""

import os
import subprocess
import sys
from typing import Any

import pytest

from gomoku_cli import app
from gomoku_cli.exit_codes import ExitCode
from tests.support.project import ROOT

Capsys = pytest.CaptureFixture[str]
"""The fixture `capsys`."""


def run(capsys: Capsys, *arguments: object) -> tuple[int, str, str]:
    """Run the command in this process; return its exit code, stdout and stderr."""
    capsys.readouterr()
    code = app.run([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def done(result: tuple[int, str, str]) -> str:
    """Return the stdout of a command that went well."""
    code, out, err = result
    assert code == ExitCode.DONE, err
    return out


def refused(capsys: Capsys, code: ExitCode, *arguments: object) -> str:
    """Return the one line of an error with this exit code."""
    found, out, err = run(capsys, *arguments)
    assert found == code, err
    assert out == ""
    assert err.startswith("gomoku")
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    return err


def python(script: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program of Python in a process of its own, with these arguments and options of the process."""
    options = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 300, "check": False} | options
    return subprocess.run([sys.executable, "-c", script, *map(str, arguments)], **options)


def gomoku(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    start = "from gomoku_cli.__main__ import main; main()"
    return python(start, *arguments, env=os.environ | environment, stdin=subprocess.DEVNULL)
