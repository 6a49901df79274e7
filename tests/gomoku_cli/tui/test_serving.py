"""The board in a browser: the command that is served, and what is said without textual-serve."""

import sys
from types import ModuleType

import pytest

from gomoku_cli import app
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.tui.serving import without_options
from gomoku_cli.tui.terminal import terminal_driver


def test_the_served_command_has_the_other_options() -> None:
    given = ["--serve", "--level", "3", "--host", "0.0.0.0", "--port=80", "--ascii"]
    assert without_options(given, ("--host", "--port"), "--serve") == ["--level", "3", "--ascii"]


def test_serving_needs_its_package_and_warns_of_other_addresses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served: list[tuple[str, str, int]] = []

    class Server:
        def __init__(self, command: str, host: str, port: int, title: str) -> None:
            served.append((command, host, port))

        def serve(self) -> None:
            """Serve nothing."""

    module = ModuleType("textual_serve.server")
    module.Server = Server  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "textual_serve.server", module)
    given = ["play", "--serve", "--level", "3", "--host", "0.0.0.0"]
    monkeypatch.setattr(sys, "argv", ["gomoku", *given])
    assert app.run(given) == ExitCode.DONE
    command, host, port = served[0]
    assert command.endswith("-m gomoku_cli play --level 3")
    assert (host, port) == ("0.0.0.0", 8000)
    assert "warning: anyone who reaches 0.0.0.0:8000" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    assert app.run(["play", "--serve"]) == ExitCode.FAILED
    assert "pip install '.[serve]'" in capsys.readouterr().err


def test_a_served_board_uses_the_driver_of_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    assert terminal_driver() is not None or sys.platform == "win32"
    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")
    assert terminal_driver() is None
