"""The screen of `gomoku puzzles`: every key and the mouse, a whole session, and pictures of it."""

import random
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from numba.core import event

from core.notation import cell_name
from core.rules import NO_CELL, Rules
from curriculum.arena.suite import Puzzle, load_suite
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.puzzles.app import Phase, PuzzlesApp, PuzzleSetup
from gomoku_cli.puzzles.rated import Progress, RatedPuzzle
from gomoku_cli.puzzles.referee import Referee
from gomoku_cli.tui.widgets.board import BoardWidget
from tests.support.screens import check_snapshot, screen_text
from tests.support.tui import BoardDriver

SNAPSHOTS = Path(__file__).parent / "snapshots"
SHIPPED = [RatedPuzzle(puzzle, Rules()) for puzzle in load_suite("tactics")]


def some(kind: str, number: int = 1) -> list[RatedPuzzle]:
    """Return the first puzzles of a kind."""
    return [each for each in SHIPPED if each.puzzle.kind == kind][:number]


class PuzzleDriver(BoardDriver):
    """The running app, and actions of the solver."""

    app: PuzzlesApp  # type: ignore[assignment]

    @property
    def status(self) -> str:
        """All that is on the screen, without line breaks."""
        return " ".join(screen_text(self.app).split())

    @property
    def played(self) -> list[str]:
        """The moves since the beginning of the puzzle."""
        return [cell_name(cell, 15) for cell in self.app.position.moves[len(self.app.puzzle.puzzle.moves) :]]

    async def press(self, *keys: str, **then: str) -> None:
        """Press keys and wait until no proof is under way and nothing is played out."""
        await self.pilot.press(*keys)
        await self.until(lambda: self.app.phase not in (Phase.THINKING, Phase.PLAYING))

    @property
    def _size(self) -> int:
        return 15


@asynccontextmanager
async def puzzles_app(
    puzzles: list[RatedPuzzle], folder: Path, *, terminal: tuple[int, int] = (80, 24), **changes: Any
) -> AsyncIterator[PuzzleDriver]:
    """Run the app for a new player on a fixed day."""
    changes = {"pace_s": 0.001, "day": "2026-11-26", "draw": random.Random(1)} | changes
    app = PuzzlesApp(PuzzleSetup(puzzles=puzzles, progress=Progress.read(folder / "puzzles.jsonl"), **changes))
    async with app.run_test(size=terminal) as pilot:
        ui = PuzzleDriver(app, pilot)
        await ui.until(lambda: "to move. ? Keys" in ui.status)
        yield ui


async def test_a_wrong_try_is_refuted_and_taken_back_and_then_the_win_is_played(tmp_path: Path) -> None:
    async with puzzles_app(some("fours-3"), tmp_path) as ui:
        assert "Win by fours: White to move." in ui.status
        await ui.type_moves("o1")
        assert ui.app.phase is Phase.REFUTED
        assert len(ui.played) > 3
        assert ui.app.position.is_game_over()
        assert "o1 is wrong. This leaves Black's open three" in ui.status
        check_snapshot(ui.app, SNAPSHOTS / "80x24-refuted.txt")
        await ui.click("a15")
        await ui.press()
        assert (ui.played, ui.app.phase) == ([], Phase.ASKING)
        answer = ui.app.puzzle.name_of(ui.app.puzzle.puzzle.answers[0])
        await ui.click(answer)
        await ui.press()
        assert ui.played[0] == answer
        assert len(ui.played) == 2
        assert "Right. Go on." in ui.status
        await ui.type_moves(answer)
        assert f"{answer} already holds a stone." in ui.status
        await ui.type_moves("o1")
        await ui.press("u")
        assert len(ui.played) == 2, "back to the position before the mistake"
        while ui.app.phase is Phase.ASKING:
            await ui.press("i")
            await ui.press("i")
            await ui.type_moves(ui.app.puzzle.name_of(ui.app._mark))
        assert "Solved, with help." in ui.status
        assert [each.score for each in ui.app.progress.results] == [0]


async def test_hints_solution_next_and_again(tmp_path: Path) -> None:
    async with puzzles_app([*some("three-three", 2)], tmp_path, terminal=(120, 40)) as ui:
        await ui.press("i")
        assert "Once more: the move." in ui.status
        await ui.press("i")
        first = ui.app.puzzle
        assert f"{first.name_of(first.puzzle.answers[0])} is right." in ui.status
        check_snapshot(ui.app, SNAPSHOTS / "120x40-hint.txt")
        await ui.press("n")
        assert not ui.app.progress.results, "without a try nothing is rated"
        second = ui.app.puzzle
        await ui.press("s")
        assert ui.app.phase is Phase.DONE
        assert ui.app.position.is_game_over()
        assert "The solution." in ui.status
        assert f"{second.puzzle.kind}:" in ui.status
        await ui.press("u")
        assert (ui.played, ui.app.phase) == ([], Phase.ASKING)
        await ui.press("i", "i", "s")
        assert ui.app._mark == NO_CELL, "the stones of the solution cover the hint"
        await ui.press("n")
        assert ui.app.puzzle is first
        assert [each.score for each in ui.app.progress.results] == [0]
        await ui.paste("H8\r")
        await ui.until(lambda: "h8" in ui.played or "h8" in ui.status)
        await ui.press("tab", "slash", "z", "enter")
        assert "is no cell" in ui.status
        await ui.press("q", "escape")
        assert ui.app.return_code is None, "the line stays open for the next try"
        await ui.press("q")
    assert ui.app.return_code == ExitCode.DONE


async def test_the_help_says_what_each_key_does_to_the_rating(tmp_path: Path) -> None:
    async with puzzles_app(some("win-in-1"), tmp_path) as ui:
        assert "d Daily" in ui.status, "the key bar has room for all keys"
        await ui.press("question_mark")
        check_snapshot(ui.app, SNAPSHOTS / "80x24-help.txt")
        await ui.press("s")
        assert ui.app.phase is Phase.ASKING, "keys are for the help"
        await ui.press("q", "s")
        assert ui.app.phase is Phase.DONE


async def test_a_session_with_the_daily_set_moves_the_rating_and_is_kept(tmp_path: Path) -> None:
    async with puzzles_app(SHIPPED, tmp_path, daily=True, ascii_only=True) as ui:
        check_snapshot(ui.app, SNAPSHOTS / "80x24-ascii.txt")
        for number in range(1, 7):
            assert ui.app.puzzle.level == number
            for _ in range(20):
                if ui.app.phase is not Phase.ASKING:
                    break
                found = ui.app._referee(Rules()).hint(ui.app.puzzle, ui.app.position)
                await ui.type_moves(ui.app.puzzle.name_of(found.move))
            for text in ("Solved.", f"Today {number} of 6 solved", f"{number} of {number} solved, {number} in a row"):
                assert text in ui.status
            await ui.press("enter")
        assert "The daily set is done: 6 of 6 solved." in ui.status
        rating = ui.app.progress.rating
        assert rating > 1300
        await ui.press("d")
        assert "The daily set is done" in ui.status
        await ui.press("ctrl+c")
    async with puzzles_app(SHIPPED, tmp_path, daily=True) as ui:
        assert "The daily set is done: 6 of 6 solved." in ui.status
    async with puzzles_app(SHIPPED, tmp_path, terminal=(50, 20)) as ui:
        assert f"You {rating:.0f}" in ui.status


async def test_a_puzzle_on_a_board_of_another_size_fits_the_terminal(tmp_path: Path) -> None:
    small = RatedPuzzle(Puzzle("win-in-1", (0, 3, 1, 4), (2,), "a row"), Rules(size=3, connect=3))
    async with puzzles_app([small, *some("block")], tmp_path) as ui:
        for size in (15, 3, 15):
            while ui.app.puzzle.rules.size != size:
                await ui.press("n")
            assert ui.app.query_one(BoardWidget).geometry.scale == {15: 1, 3: 3}[size]


async def test_progress_that_cannot_be_kept_is_said_and_the_session_goes_on(tmp_path: Path) -> None:
    (tmp_path / "puzzles.jsonl").mkdir()
    async with puzzles_app(some("win-in-1"), tmp_path / "other") as ui:
        ui.app.progress.path = tmp_path / "puzzles.jsonl"
        await ui.type_moves(ui.app.puzzle.name_of(ui.app.puzzle.puzzle.answers[0]))
        assert "Solved." in ui.status
        assert "Solved. Enter shows the next puzzle. The progress is not saved: Is a directory." in ui.status


async def test_a_proof_that_waits_for_a_first_compilation_says_so(tmp_path: Path) -> None:
    done = threading.Event()

    def compile_first(referee: Referee) -> None:
        with event.trigger_event("numba:compile", {"dispatcher": SimpleNamespace(py_func=compile_first)}):
            done.wait(60)

    async with puzzles_app(some("win-in-1"), tmp_path) as ui:
        ui.app._ask(compile_first, lambda found: ui.app.action_again())
        await ui.until(lambda: "Compiling, once: 1 of up to" in ui.status)
        done.set()
        await ui.until(lambda: ui.app.phase is Phase.ASKING)


async def test_a_defect_of_a_proof_ends_the_app(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with puzzles_app(some("win-in-1"), tmp_path) as ui:
            ui.app._ask(lambda referee: 1 / 0, lambda found: None)
            await ui.until(lambda: not ui.app.is_running)
