"""Requests that must not wait behind a search, and the status meanwhile."""

import asyncio
import threading

import pytest

from core.notation import parse_cell
from core.position import Position
from core.rules import Rules
from gomoku_cli.tui.engine.messages import GradeMoves, PlayerChoice, Search
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.setup import BoardSetup
from gomoku_cli.tui.widgets import status
from search.analysis import Analysis
from search.limit import Limit
from search.players import PLAIN, Decision, How
from tests.support.tui import AnalysingPlayer, GatedAnalyst, GatedPlayer, ThreadEngine, board_app

LINES = "h8 i9 h9 h7 g8 i8 i10 j11 g10 f11 j8 e12"


def game(seats: Seats, moves: str = LINES) -> Game:
    return Game(Rules(), seats, [parse_cell(move, 15) for move in moves.split()])


async def test_a_message_holds_while_an_engine_thinks_and_then_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    player = GatedAnalyst(15, ["a1", "a2"])
    async with board_app(player, terminal=(120, 40)) as ui:
        await ui.press("enter")
        await ui.until(lambda: "is thinking" in ui.status)
        for key, text in (
            ("t", "Teaching is on"),
            ("i", "There is a hint when it is your turn."),
            ("t", "Teaching is"),
        ):
            await ui.press(key)
            await asyncio.sleep(1.1)  # two looks at the clock, and some reports of the search
            assert ui.status.startswith(text)
        player.release.set()
        await ui.until(lambda: ui.moves == ["h8", "a1"])
        assert ui.status.startswith("Teaching is off"), "an engine's move leaves a fresh message, too"
        await ui.press("left", "enter")
        assert ui.moves[2:3] == ["g8"]
        assert "Teaching" not in ui.status, "the human goes on, and the message goes"
        await ui.until(lambda: ui.moves[3:] == ["a2"])
        monkeypatch.setattr(status, "MESSAGE_S", 0.2)
        player.release.clear()
        await ui.press("right", "right", "enter")
        await ui.press("t")
        await ui.until(lambda: "is thinking" in ui.status)
        player.release.set()


async def test_a_failure_stays_until_the_human_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "ERROR_S", 0.0)
    monkeypatch.setattr(status, "MESSAGE_S", 0.0)
    player = GatedPlayer(15, [RuntimeError("no memory")])
    player.release.set()
    async with board_app(player) as ui:
        await ui.play("h8")
        await asyncio.sleep(1.1)
        assert "no memory" in ui.status
        await ui.press("u")
        assert ui.status == "Your move."


async def test_the_title_shows_that_teaching_is_on() -> None:
    async with board_app(AnalysingPlayer(15)) as ui:
        assert "teaching" not in ui.title
        await ui.press("t")
        assert ui.title == "Gomoku   teaching   5 in a row on 15x15"
        await ui.pilot.resize_terminal(59, 24)
        await ui.until(lambda: ui.title == "● you   ◉ scripted [b]   teaching   5 in a row on 15x15")
        await ui.press("t")
        assert "teaching" not in ui.title


@pytest.mark.parametrize("terminal", [(59, 24), (120, 40), (40, 10)])
async def test_neither_a_long_status_nor_a_typed_move_moves_the_board(terminal: tuple[int, int]) -> None:
    async with board_app(AnalysingPlayer(15), terminal=terminal) as ui:
        await ui.pilot.pause(0.1)  # a small window scrolls to the cursor first
        before, panel = ui.board.region, ui.main_screen.query_one("#panel").region
        ui.app.show_message("A sentence that is far too long for one row of any terminal here. " * 3, "warning")
        await ui.pilot.pause()
        foot = ui.main_screen.query_one("#foot")
        assert foot.region.height > 1
        assert foot.region.bottom == terminal[1] - 1, "above the keys"
        assert (ui.board.region, ui.main_screen.query_one("#panel").region) == (before, panel)
        await ui.press("slash", "h")
        await ui.pilot.pause()
        assert ui.main_screen.query_one("#entry").region.height == 1
        assert ui.board.region == before
        await ui.press("escape", "enter")
        await ui.pilot.pause()
        assert ui.board.region == before


class GatedReviewer(AnalysingPlayer):
    """Analyses a position only when `step` is released once for it."""

    def __init__(self) -> None:
        super().__init__(15, value=0.0)
        self.step = threading.Semaphore(0)

    def search(self, position: Position, limit: Limit | None = None, how: How = PLAIN) -> tuple[Decision, Analysis]:
        """See `Player`."""
        if how.seed is None:
            assert self.step.acquire(timeout=30)
        decision = super().search(position, limit, how._replace(report=None))[0]
        # Each side believes in its win after its move: every move is a blunder of the other.
        return decision, self.view_of(position.moves, 0.9)


async def test_a_mistake_is_looked_for_while_the_review_runs() -> None:
    player = GatedReviewer()
    engine = ThreadEngine({"default": player})
    setup = BoardSetup(game=game(Seats(None, PlayerChoice(spec="default")), "h8 i9 h9 h7 g8 i8"), reviews=True)
    async with board_app(engine, setup=setup, terminal=(120, 40)) as ui:
        assert "Analysed: 0 of 7." in ui.status
        await ui.press("z")
        await ui.until(lambda: ui.status.startswith("No mistake before this position so far"))
        assert ui.status.endswith("the review has 0 of 7 positions.")
        assert len(ui.moves) == 6
        player.step.release(3)  # the shown position comes first, then those from the start
        await ui.until(lambda: sum(ui.app.game.speaker_at(ply) == "default" for ply in range(7)) == 3)
        await ui.press("z")
        await ui.until(lambda: len(ui.moves) == 1)
        assert "h8 was a blunder" in ui.status
        assert "Analysed: 3 of 7." in ui.status
        player.step.release(9)
        await ui.until(lambda: "Keys" in ui.status)
        await ui.press("greater_than_sign", "z")
        assert len(ui.moves) == 5
    assert any(isinstance(task, GradeMoves) for task in engine.tasks)
    assert [task.position.ply for task in engine.tasks if isinstance(task, Search)][:3] == [6, 0, 1]
