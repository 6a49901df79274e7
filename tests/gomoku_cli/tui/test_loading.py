"""The app from loading to exit: the board without a model yet, `run_board`, errors and notices."""

import subprocess
import sys
import threading
import warnings

import pytest
from textual.widgets import Static

from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.tui import app as app_module
from gomoku_cli.tui import side_panel, terminal
from gomoku_cli.tui.app import GomokuApp, run_board
from nets.config import RuntimeNotice
from search.players import Player
from tests.support.tui import LIMIT_S, BoardDriver, GatedPlayer, HeadlessApp, ScriptedPlayer, async_test, board_setup


@async_test
async def test_the_board_is_shown_while_the_model_loads() -> None:
    ready = threading.Event()
    player = ScriptedPlayer(15, ["a1"])

    def factory() -> Player:
        assert ready.wait(LIMIT_S)
        return player

    app = GomokuApp(factory, board_setup())
    async with app.run_test() as pilot:
        ui = BoardDriver(app, pilot)
        assert ui.status.startswith("Loading the model")
        await pilot.press("enter")
        assert ui.status.startswith("Your move h8 is played then. Loading the model")
        await pilot.press("u", "n")
        assert ui.status.startswith("Loading the model")
        assert ui.moves == []
        assert app.is_loading
        ready.set()
        await ui.until(lambda: not app.is_loading)
        await ui.play("h8")
        assert ui.moves == ["h8", "a1"]
    app.close()


@async_test
async def test_a_move_entered_while_the_model_loads_is_played_then() -> None:
    ready = threading.Event()

    def factory() -> Player:
        assert ready.wait(LIMIT_S)
        return ScriptedPlayer(15, ["a1"])

    app = GomokuApp(factory, board_setup())
    async with app.run_test() as pilot:
        ui = BoardDriver(app, pilot)
        await pilot.press("enter", "left", "enter")  # the last one counts
        ready.set()
        await ui.until(lambda: ui.moves == ["g8", "a1"])
    app.close()


@async_test
async def test_a_note_leaves_the_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_panel, "NOTE_S", 0.1)
    app = GomokuApp(lambda: ScriptedPlayer(15), board_setup())
    async with app.run_test() as pilot:
        ui = BoardDriver(app, pilot)
        app.add_notice("the abacus is missing")
        await ui.until(lambda: len(app.query("#about Horizontal")) == 3)
        await ui.until(lambda: len(app.query("#about Horizontal")) == 2)
    assert app.notices == ["the abacus is missing"]
    app.close()


@pytest.fixture
def headless(monkeypatch: pytest.MonkeyPatch) -> type[HeadlessApp]:
    """Make `run_board` use an app without a terminal, and never end this process, however busy the machine is."""
    monkeypatch.setattr(app_module, "_MODEL_END_S", 6 * LIMIT_S)
    monkeypatch.setattr(terminal, "_END_S", 6 * LIMIT_S)
    monkeypatch.setattr(app_module, "GomokuApp", HeadlessApp)
    return HeadlessApp


def test_run_board_raises_the_error_of_loading(headless: type[HeadlessApp]) -> None:
    error = ValueError("no such model")

    def factory() -> Player:
        raise error

    with pytest.raises(ValueError, match="no such model") as raised:
        run_board(factory, board_setup())
    assert raised.value is error


def test_run_board_leaves_no_thread_behind(headless: type[HeadlessApp], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headless, "keys", ("enter", "q", "q"))
    player = GatedPlayer(15)
    run_board(lambda: player, board_setup())
    assert not any(thread.name.startswith("model") for thread in threading.enumerate())


def test_notices_are_shown_in_the_panel_and_after_the_game(
    headless: type[HeadlessApp], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    panels: list[str] = []

    def read(app: GomokuApp) -> None:
        panels.append("\n".join(str(static.render()) for static in app.screen.query("#about Static").results(Static)))

    monkeypatch.setattr(headless, "inspect", read)
    monkeypatch.setattr(headless, "keys", ("q",))

    def factory() -> Player:
        for _ in range(2):
            warnings.warn("the abacus [a]\nis missing", RuntimeNotice, stacklevel=1)
        return ScriptedPlayer(15)

    run_board(factory, board_setup())
    assert "Note\nthe abacus [a] is missing" in panels[0]
    assert capsys.readouterr().err == "note: the abacus [a] is missing\n"


_INTERRUPTED_BOARD = """
import os, signal
from gomoku_cli.tui import app
from tests.support.tui import HeadlessApp, ScriptedPlayer, board_setup
app.GomokuApp = HeadlessApp
HeadlessApp.inspect = lambda board: os.kill(os.getpid(), signal.SIGTERM)
try:
    app.run_board(lambda: ScriptedPlayer(15), board_setup())
finally:
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
"""


def test_a_signal_ends_the_app_with_its_exit_code() -> None:
    # In a process of its own: a signal that the app did not handle would end the process of the tests.
    ended = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED_BOARD], capture_output=True, text=True, timeout=6 * LIMIT_S, check=False
    )
    assert (ended.returncode, ended.stderr) == (ExitCode.INTERRUPTED, "")


def test_an_error_of_the_app_is_a_failure(headless: type[HeadlessApp], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headless, "inspect", lambda app: app.panic("what happened"))
    with pytest.raises(SystemExit) as ended:
        run_board(lambda: ScriptedPlayer(15), board_setup())
    assert ended.value.code == ExitCode.FAILED
