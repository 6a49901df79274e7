"""The screen while the engine loads, thinks, ponders, analyses and fails, and what must not wait behind a search."""

import asyncio
import threading
from types import SimpleNamespace

import pytest
from numba.core import event
from textual.geometry import Offset

from core.compiled import jit
from core.notation import parse_cell
from core.position import Position
from core.rules import Rules
from curriculum.bench.compiling import progress_text
from curriculum.reporting import Interrupted
from gomoku_cli.tui.engine import process, worker
from gomoku_cli.tui.engine.messages import NO_TASK, Compiling, Ended, GradeMoves, Load, PlayerChoice, Search
from gomoku_cli.tui.engine.worker import open_choice
from gomoku_cli.tui.game import Seats
from gomoku_cli.tui.screens.dialog import Question
from gomoku_cli.tui.screens.help import HelpScreen
from gomoku_cli.tui.setup import BoardSetup
from gomoku_cli.tui.widgets import panel, status
from search.analysis import Analysis
from search.engine import Engine
from search.limit import Limit
from search.players import PLAIN, Decision, How
from search.tree.player import MctsPlayer
from tests.support.scripted_players import (
    LIMIT_S,
    AnalysingPlayer,
    GatedAnalyst,
    GatedPlayer,
    PonderingPlayer,
    ScriptedPlayer,
)
from tests.support.tui import TWO_PLAYERS, ThreadEngine, board_app, shown_game
from tests.support.waiting import wait_until


async def test_the_board_takes_moves_while_the_player_loads() -> None:
    engine = ThreadEngine({"scripted [b]": ScriptedPlayer(15, ["a1"])})
    engine.loading.clear()
    async with board_app(engine, wait=False) as ui:
        assert ui.status == "Your move."
        compiling = progress_text(100, 105)
        ui.app.control.receive(NO_TASK, Compiling(compiling))
        assert ui.status == f"Your move. Loading scripted [b]: {compiling}"
        assert len(f"Your move. Loading default: {compiling}") <= 78
        await ui.press("enter", moves="h8", status=f"Loading scripted [b]: {compiling}")
        await ui.press("left", "enter", moves="h8")
        await ui.press("u")
        await ui.paste("/g8\r", moves="g8")
        engine.loading.set()
        await ui.until(lambda: ui.moves == ["g8", "a1"])


async def test_the_search_is_shown_as_it_goes_and_escape_ends_it() -> None:
    player = GatedAnalyst(15, ["i9"])
    player.proof = 7
    async with board_app(player, terminal=(120, 40)) as ui:
        await ui.press("enter")
        await ui.until(lambda: " s, 100 simulations. White wins in 7, a1 b1 c1" in ui.status)
        assert ui.status.startswith("scripted [b] is thinking... ")
        await ui.press("left")
        assert ui.board.cursor == parse_cell("g8", 15)
        await ui.pilot.hover(ui.board, offset=Offset(5, 0))
        assert ui.board.hover == parse_cell("a15", 15)
        await ui.click("c3", moves="h8")
        ui.app.control.show_state()
        assert ui.status.startswith("scripted [b] is thinking... ")
        await ui.press("escape")
        await ui.until(lambda: ui.moves == ["h8", "i9"])
        assert ui.status == "Your move."
        assert "White wins in 7" in ui.panel


@pytest.mark.parametrize("obeys_stop", [True, False], ids=["stops", "does not stop"])
async def test_undo_while_the_engine_thinks_drops_its_answer(obeys_stop: bool) -> None:
    player = GatedPlayer(15, ["a1", "o15"], obeys_stop=obeys_stop)
    async with board_app(player) as ui:
        await ui.click("h8")
        await ui.until(player.thinking.is_set)
        await ui.press("u", moves="", status="Your move.")
        await ui.until(lambda: player.stopped)
        # The stale answer a1 may come while a later request is in progress.
        await ui.click("g7")
        player.release.set()
        await ui.until(lambda: not ui.app.control.is_busy)
        assert ui.moves == ["g7", "o15"]
        assert len(player.requests) == 2


async def test_the_engine_may_answer_while_a_dialog_is_open() -> None:
    player = GatedPlayer(15, ["a1"])
    async with board_app(player) as ui:
        await ui.click("h8")
        await ui.until(player.thinking.is_set)
        await ui.press("question_mark")
        assert isinstance(ui.app.screen, HelpScreen)
        assert "take" not in ui.status
        player.release.set()
        await ui.until(lambda: ui.moves == ["h8", "a1"])
        await ui.press("u")
        assert ui.moves == ["h8", "a1"], "the help screen must not pass keys to the board"
        await ui.press("q")
        assert ui.app.screen is ui.main_screen


async def test_an_error_of_the_engine_is_shown_and_the_game_goes_on() -> None:
    player = ScriptedPlayer(15, [RuntimeError("[b]no\nmemory"), RuntimeError("none"), "a1", "h8"])
    async with board_app(player) as ui:
        await ui.play("h8", status="scripted [b] failed (enter: ask again, u: undo). RuntimeError: [b]no memory")
        assert ui.moves == ["h8"]
        await ui.press("u", moves="")
        await ui.play("h8")
        assert ui.status.endswith("none")
        await ui.press("enter")
        await ui.until(lambda: ui.moves == ["h8", "a1"])
        await ui.play("g7")
        assert "h8 already holds a stone" in ui.status
        assert ui.moves == ["h8", "a1", "g7"]
        ui.app.control.receive(NO_TASK, Ended("killed"))
        assert ui.status == "The engine has ended: killed"
        await ui.press("u", "enter")
        assert ui.app.control.is_thinking or len(ui.moves) != 2
        ui.app.control.receive(NO_TASK, Ended("killed"))


async def test_a_player_that_cannot_be_loaded_leaves_a_way_on() -> None:
    setup = BoardSetup(seats=Seats(None, PlayerChoice(spec="models/[x].safetensors")))
    async with board_app({"mentor": ScriptedPlayer(15, ["i9"])}, setup=setup) as ui:
        await ui.shows(Question)
        assert "This player cannot be loaded.\nValueError: models/[x].safetensors is broken" in ui.dialog
        await ui.press("m")
        await ui.until(lambda: not ui.app.control.is_loading)
        assert "white  mentor" in ui.panel
        await ui.play("h8", moves="h8 i9")


async def test_the_mentor_replaces_a_model_of_another_board() -> None:
    engine = ThreadEngine({"mentor": ScriptedPlayer(9, ["a1"])}, rules={"default": Rules()})
    async with board_app(engine, setup=BoardSetup(rules=Rules(9))) as ui:
        await ui.until(lambda: ui.app.game.seats.white == PlayerChoice(spec="mentor"))
        assert "Note: default plays 5 in a row on 15x15: the mentor plays in its place" in ui.panel
        await ui.play("e5", moves="e5 a1")
        assert isinstance(engine.tasks[0], Load)


async def test_a_note_leaves_the_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel, "NOTE_S", 0.1)
    async with board_app(ScriptedPlayer(15)) as ui:
        ui.app.add_note("the abacus [a] is missing")
        assert "Note: the abacus [a] is missing" in ui.panel
        await ui.until(lambda: "abacus" not in ui.panel)
        assert ui.app.notices == ["the abacus [a] is missing"]


async def test_the_engine_ponders_only_during_the_humans_turns() -> None:
    player = PonderingPlayer(15, ["a1", "a2"])
    async with board_app(player, ponders=True) as ui:
        await ui.until(lambda: player.pondered == [[]])
        assert "it ponders during your turn" in ui.panel
        await ui.play("h8")
        await ui.until(lambda: len(player.pondered) == 2)
        assert player.requests == [player.pondered[1][:1]]
        assert player.pondered[1] == ui.app.game.moves
        await ui.click("h8", status="h8 already holds a stone.")
        assert player.is_pondering, "an illegal move changes nothing"
        await ui.press("u")
        await ui.until(lambda: player.pondered[2:] == [[]])
        assert player.ended == 2
        player.full.set()
        await ui.until(lambda: "ponders" not in ui.panel)
    assert not player.is_pondering


async def test_an_engine_that_cannot_ponder_says_so_once() -> None:
    player = PonderingPlayer(15, ["a1", "a2"], RuntimeError("no room"))
    async with board_app(player, ponders=True) as ui:
        await ui.until(lambda: "no room" in ui.status)
        await ui.play("h8")
        assert len(player.pondered) == 1
        assert ui.status == "Your move."


async def test_quitting_while_the_engine_thinks_asks_and_ends_it() -> None:
    player = GatedPlayer(15)
    async with board_app(player) as ui:
        await ui.click("h8")
        await ui.until(player.thinking.is_set)
        await ui.press("q", dialog="Leave this game?")
        await ui.press("n")
        assert ui.app.screen is ui.main_screen
        await ui.press("q", "y")
    assert player.stopped
    assert not any(thread.name == "engine" for thread in threading.enumerate())


# The status, and a review.


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
            assert ui.status.startswith(text)
        await asyncio.sleep(1.1)  # two looks at the clock, which shows another second
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
        ui.app.control.show_state()
        assert "no memory" in ui.status
        await ui.press("u", status="Your move.")


async def test_the_title_shows_that_teaching_is_on() -> None:
    async with board_app(AnalysingPlayer(15)) as ui:
        assert "teaching" not in ui.title
        await ui.press("t")
        assert ui.title == "Gomoku   teaching   5 in a row on 15x15"
        await ui.pilot.resize_terminal(59, 24)
        await ui.until(lambda: ui.title == "● you   ◉ scripted [b]   teaching   5 in a row on 15x15")
        await ui.press("t")
        assert "teaching" not in ui.title


async def test_neither_a_long_status_nor_a_typed_move_moves_the_board() -> None:
    async with board_app(AnalysingPlayer(15), setup=TWO_PLAYERS) as ui:
        for terminal in ((59, 24), (120, 40), (40, 10)):
            await ui.pilot.resize_terminal(*terminal)
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
            await ui.press("u")


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


def test_a_compilation_is_told_also_where_other_kernels_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "KERNELS_ARE_COLD", False)
    told = threading.Event()

    def send(number: int, answer: object) -> None:
        assert isinstance(answer, Compiling)
        told.set()
        raise Interrupted

    def compile_a_kernel() -> None:
        while not told.is_set():
            with event.trigger_event("numba:compile", data={"dispatcher": SimpleNamespace(py_func=send)}):
                told.wait(0.01)

    thread = threading.Thread(target=compile_a_kernel)
    thread.start()
    with pytest.raises(Interrupted):
        process._compile(send)
    thread.join()


async def test_a_mistake_is_looked_for_while_the_review_runs() -> None:
    player = GatedReviewer()
    engine = ThreadEngine({"default": player})
    setup = shown_game("h8 i9 h9 h7 g8 i8", Seats(None, PlayerChoice(spec="default")), reviews=True)
    async with board_app(engine, setup=setup, terminal=(120, 40)) as ui:
        ui.app.control.receive(NO_TASK, Compiling("compiling"))
        assert ui.status.endswith("Analysed: 0 of 7. compiling")
        await ui.press("z")
        await ui.until(lambda: ui.status.startswith("No mistake before this position so far"))
        assert ui.status.endswith("the review has 0 of 7 positions.")
        assert len(ui.moves) == 6
        player.step.release(3)  # the shown position comes first, then those from the start
        await ui.until(lambda: sum(ui.app.game.speaker_at(ply) == "default" for ply in range(7)) == 3)
        await ui.press("z")
        await ui.until(lambda: len(ui.moves) == 1)
        assert "h8 was a blunder" in ui.status
        assert ui.status.endswith("Analysed: 3 of 7.")
        player.step.release(9)
        await ui.until(lambda: "Keys" in ui.status)
        await ui.press("greater_than_sign", "z")
        assert len(ui.moves) == 5
    assert any(isinstance(task, GradeMoves) for task in engine.tasks)
    assert [task.position.ply for task in engine.tasks if isinstance(task, Search)][:3] == [6, 0, 1]


# Analyses without an end


class EndlessAnalyst(AnalysingPlayer):
    """Analyses until it is stopped."""

    def __init__(self) -> None:
        super().__init__(15, ["i9", "g7"])
        self.running = threading.Event()

    def search(self, position: Position, limit: Limit | None = None, how: How = PLAIN) -> tuple[Decision, Analysis]:
        """See `search.players.Player`."""
        seed, stop, report, _ = how
        if seed is None:
            report(self.view(position))
            self.running.set()
            wait_until(stop, LIMIT_S)
            self.running.clear()
        return super().search(position, limit, how)


async def test_an_analysis_is_paused_goes_on_and_holds_nothing_up() -> None:
    player = EndlessAnalyst()
    async with board_app(player, terminal=(120, 40)) as ui:
        await ui.press("0")
        assert "no analysis to pause" in ui.status
        await ui.press("c")
        await ui.until(player.running.is_set)
        await ui.until(lambda: "running" in ui.panel)
        await ui.press("0")
        await ui.until(lambda: not player.running.is_set())
        assert "paused" in ui.panel and "1 a1        60" in ui.panel, "the result so far stays"
        await ui.play("h8")
        await ui.until(lambda: ui.app.game.ply == 2)
        assert not player.running.is_set(), "a pause holds for the next positions"
        await ui.press("0")
        await ui.until(player.running.is_set)
        await ui.play("h9")
        await ui.until(lambda: ui.app.game.ply == 4 and player.running.is_set())


def test_the_tree_of_an_analysis_has_more_memory_than_that_of_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "machine_bytes", lambda: 16 << 30)
    analyst, player = (open_choice(PlayerChoice(spec="default"), Rules(), keeps) for keeps in (True, False))
    assert isinstance(analyst, MctsPlayer) and isinstance(player, MctsPlayer)
    assert (analyst.max_bytes, player.max_bytes) == (4 << 30, None)


def test_an_analysis_goes_on_from_the_tree_of_the_one_before() -> None:
    rules = Rules()
    cells = [parse_cell(cell, 15) for cell in ("h8", "i10", "g7")]  # after which no replies are symmetric
    position = Position.from_moves(rules, cells)
    with Engine(open_choice(PlayerChoice(spec="default"), rules, True)) as engine:
        first = engine.analysis(position, Limit(nodes=400)).wait()
        position.push(first.moves[0].move)
        second = engine.analysis(position, Limit(nodes=20)).wait()
        assert second.nodes > 20 + (first.moves[0].visits or 0) // 2
        assert first.variation[1] in [each.move for each in second.moves[:3]]
    with Engine(open_choice(PlayerChoice(spec="default"), rules)) as engine:
        engine.analysis(Position(rules), Limit(nodes=400)).wait()
        assert engine.analysis(position, Limit(nodes=20)).wait().nodes <= 21, "the engine that plays keeps nothing"
