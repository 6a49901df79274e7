"""`run_board` and the engine's process: ends, signals, and what stays behind."""

import queue
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.position import Position
from core.records.formats import read_games
from core.rules import Rules, Variant
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.study.saved import saved_games
from gomoku_cli.tui import app as tui_app
from gomoku_cli.tui import terminal
from gomoku_cli.tui.app import GomokuApp
from gomoku_cli.tui.engine import messages
from gomoku_cli.tui.engine.client import EngineProcess
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.setup import BoardSetup
from nets.config import RuntimeChoice
from tests.support.commands import Capsys, python
from tests.support.scripted_players import LIMIT_S, ScriptedPlayer
from tests.support.tui import BoardDriver, HeadlessApp, ThreadEngine, board_setup, shown_game


@pytest.fixture
def headless(monkeypatch: pytest.MonkeyPatch) -> type[HeadlessApp]:
    """Make `run_board` use an app without a terminal, and never end this process, however busy the machine is."""
    monkeypatch.setattr(terminal, "_END_S", 6 * LIMIT_S)
    monkeypatch.setattr(tui_app, "GomokuApp", HeadlessApp)
    return HeadlessApp


def engine() -> ThreadEngine:
    return ThreadEngine({"scripted [b]": ScriptedPlayer(15)})


def test_notices_are_shown_again_after_the_game(
    headless: type[HeadlessApp], monkeypatch: pytest.MonkeyPatch, capsys: Capsys
) -> None:
    monkeypatch.setattr(headless, "inspect", lambda app: app.add_note("the abacus [a]\nis missing"))
    monkeypatch.setattr(headless, "keys", ("q",))
    tui_app.run_board(engine(), board_setup())
    assert capsys.readouterr().err == "note: the abacus [a] is missing\n"


@pytest.mark.parametrize(("keys", "is_kept"), [(("ctrl+c",), True), (("q", "y"), False)])
def test_a_game_that_cannot_be_saved_is_kept_where_nothing_was_asked(
    keys: tuple[str, ...],
    is_kept: bool,
    headless: type[HeadlessApp],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capsys,
    tmp_path: Path,
) -> None:
    (tmp_path / "full").write_text("")
    (tmp_path / "kept").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "kept"))
    setup = shown_game("h8 i8")
    monkeypatch.setattr(headless, "keys", ("slash", "a", "1", "enter", "wait:500", *keys))
    tui_app.run_board(ThreadEngine({}, folder=tmp_path / "full"), setup)
    kept = list((tmp_path / "kept").rglob("game.sgf"))
    note = capsys.readouterr().err
    assert len(kept) == is_kept
    if is_kept:
        assert (
            note == f"note: the game could not be saved, and is kept as {kept[0]}: gomoku play --load goes on with it\n"
        )
        assert list(read_games(kept[0])[0].moves) == [112, 113, 0]


def test_a_comment_that_is_being_written_is_saved_at_the_end(
    headless: type[HeadlessApp], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(headless, "keys", ("e", *"why", "ctrl+c"))
    tui_app.run_board(ThreadEngine({}, folder=tmp_path), shown_game("h8 i8"))
    (path,) = tmp_path.iterdir()
    assert read_games(path)[0].comments == ("", "why")


def test_an_error_of_the_app_is_a_failure(headless: type[HeadlessApp], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headless, "inspect", lambda app: app.panic("what happened"))
    with pytest.raises(SystemExit) as ended:
        tui_app.run_board(engine(), board_setup())
    assert ended.value.code == ExitCode.FAILED


_INTERRUPTED_BOARD = """
import os, signal
from gomoku_cli.tui import app as tui_app
from tests.support.scripted_players import ScriptedPlayer
from tests.support.tui import HeadlessApp, ThreadEngine, board_setup
tui_app.GomokuApp = HeadlessApp
HeadlessApp.inspect = lambda board: os.kill(os.getpid(), signal.SIGTERM)
try:
    tui_app.run_board(ThreadEngine({"scripted [b]": ScriptedPlayer(15)}), board_setup())
finally:
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
"""


def test_a_signal_ends_the_app_with_its_exit_code() -> None:
    # In a process of its own: a signal that the app did not handle would end the process of the tests.
    ended = python(_INTERRUPTED_BOARD, timeout=6 * LIMIT_S)
    assert (ended.returncode, ended.stderr) == (ExitCode.INTERRUPTED, "")


def search(board: Position, **more: Any) -> messages.Search:
    """Return the request for a move of the mentor, or for its analysis."""
    return messages.Search(choice=messages.PlayerChoice(spec="mentor"), position=board, **more)


class _Answers:
    """The answers of an engine's process, in order."""

    def __init__(self, process: EngineProcess) -> None:
        self._queue: queue.SimpleQueue[tuple[int, messages.Answer]] = queue.SimpleQueue()
        self._process = process
        process.connect(lambda number, answer: self._queue.put((number, answer)))

    def to(self, number: int) -> Any:
        """Return the last answer to a task."""
        while True:
            got, answer = self._queue.get(timeout=12 * LIMIT_S)
            if got == number and not isinstance(answer, messages.Progress):
                return answer

    def ask(self, task: messages.Task) -> Any:
        """Request a task, and return the last answer to it."""
        return self.to(self._process.request(task))


@pytest.mark.slow
def test_what_the_screen_wrote_before_its_end_is_saved(data_folder: Path) -> None:
    process = EngineProcess(RuntimeChoice())
    game = Game(Rules(), Seats(None, None))
    for cell in (1, 2, 3):
        game.play(cell)
        process.request(messages.Keep(0, None, game.to_save()))
    # As after a kill of the screen: both pipes close at once.
    process._input.close()
    process._closed = True
    process._process.wait(12 * LIMIT_S)
    (path,) = (data_folder / "games").glob("*.sgf")
    assert path.read_text().count("\n;") == 3
    process.close()


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_the_engines_process_loads_thinks_analyses_fails_and_starts_anew() -> None:
    rules, one_stone = Rules(9), Position.from_moves(Rules(9), (40,))

    def load(spec: str) -> Any:
        return answers.ask(messages.Load(choice=messages.PlayerChoice(spec=spec), rules=rules))

    with closing(EngineProcess(RuntimeChoice())) as process:
        answers = _Answers(process)
        assert load("mentor") == messages.Done()
        moved = answers.ask(search(one_stone))
        assert 0 <= moved.move < 81 and moved.analysis is not None
        dropped = process.request(search(one_stone, purpose="analysis", seconds=60.0))
        process.request(messages.Stop(drop=False), dropped)
        assert isinstance(answers.to(dropped), messages.Analysed)
        assert load("paper") == messages.OtherBoard(Rules())
        assert load("nobody").text.startswith("'nobody' names no player")
        assert_nothing_small_waits_behind_a_search(process, answers)
        process._process.kill()
        assert isinstance(answers.to(messages.NO_TASK), messages.Ended)
        assert isinstance(answers.ask(search(one_stone)), messages.Moved)
        # Closing does not wait for a search of any length.
        process.request(search(one_stone, purpose="analysis", seconds=600.0))
        time.sleep(0.2)
    assert process._process.returncode is not None


def assert_nothing_small_waits_behind_a_search(process: EngineProcess, answers: _Answers) -> None:
    """Threats, reasons, grades, saved games and their list are answered while a search of ten minutes goes on."""
    under_way = process.request(search(Position.from_moves(Rules(), (112,)), purpose="analysis", seconds=600.0))
    found = answers.ask(messages.FindThreats(position=Position.from_moves(Rules(), (112, 0, 113, 15, 114))))
    assert {mark for mark, _ in found.marks.values()} == {"4", "+"}
    # Black has a four, and white plays elsewhere.
    four = Position.from_moves(Rules(), (112, 111, 113, 15, 114, 30, 115))
    check = messages.CheckMove(choice=messages.PlayerChoice(spec="mentor:2"), position=four, move=60)
    assert answers.ask(check).reason is not None
    game = Game(Rules(variant=Variant.STANDARD), Seats(None, None), [112, 0, 113])
    assert isinstance(answers.ask(messages.GradeMoves(game=game.studied())), messages.Graded)
    assert answers.ask(messages.Keep(0, None, game.to_save())) == messages.Kept()
    assert [each.rules for each in answers.ask(messages.ListGames()).games] == ["15x15 standard"]
    process.request(messages.Stop(drop=False), under_way)
    assert isinstance(answers.to(under_way), messages.Analysed), "it was still under way"


@pytest.mark.slow
async def test_a_whole_game_against_the_built_in_model(data_folder: Path) -> None:
    engine = EngineProcess(RuntimeChoice())
    setup = BoardSetup(seats=Seats(None, messages.PlayerChoice(spec="default", simulations=20)))
    app = GomokuApp(engine, setup)
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            ui = BoardDriver(app, pilot)
            # Moves along the lowest row: the model wins within a few moves.
            for column in "acegikmobdfhjln":
                if app.game.is_game_over():
                    break
                await ui.press(column.upper(), "1", "enter")
                await ui.until(lambda: not app.control.is_busy, 6 * LIMIT_S)
            assert "default has won" in ui.status
            assert app.game.winner == -1
            known = [app.game.analysis_at(ply) for ply in range(app.game.ply)]
            assert sum(view is not None for view in known) >= app.game.ply // 2
        moves = list(app.game.moves)
    finally:
        engine.close()
    (entry,) = saved_games(data_folder / "games")
    assert entry.is_finished
    assert (entry.moves, entry.record.winner) == (len(moves), -1)
