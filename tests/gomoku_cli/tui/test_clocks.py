"""Clocks of both sides: shown, charged, saved and read back; who has no time left loses."""

import math
import time as real_time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.position import Position
from core.records.formats import read_games
from core.records.record import Ending
from core.records.tree import GameTree
from core.rules import BLACK, WHITE, Rules
from gomoku_cli.gomocup.clock import move_budget
from gomoku_cli.study import clocks
from gomoku_cli.study.clocks import Clock, TimeControl
from gomoku_cli.tui.engine.files import opened
from gomoku_cli.tui.engine.messages import PlayerChoice, Search
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.setup import BoardSetup, Course
from search.players import Decision
from tests.support.cases import cases
from tests.support.scripted_players import GatedPlayer, ScriptedPlayer
from tests.support.tui import ThreadEngine, board_app


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that stands still unless its `now` is set."""
    clock = SimpleNamespace(now=100.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(clocks, "time", clock)
    return clock


@pytest.mark.parametrize(("text", "written", "numbers"), cases("time_controls"))
def test_a_clock_is_written_as_players_and_as_sgf_write_it(text: str, written: str, numbers: list[int]) -> None:
    control = TimeControl(*numbers)
    assert TimeControl.parse(text) == control
    assert str(control) == written
    tree = GameTree(Rules())
    control.write(tree)
    assert TimeControl.of(tree) == control


@pytest.mark.parametrize("text", ["", "x", "0", "0+5", "-1", "5+", "5+3/30", "5/0x30", "5/3x0", "0/0", "5m+3s"])
def test_other_words_are_no_clock(text: str) -> None:
    with pytest.raises(ValueError, match=r"minutes, as in 10"):
        TimeControl.parse(text)


def test_a_move_is_charged_to_the_main_time_and_then_to_periods() -> None:
    def after(control: TimeControl, *moves: float) -> tuple[Clock, str]:
        tree = GameTree(Rules())
        clocks = control.clocks([])
        for used in moves:
            clocks[BLACK] = control.pressed(clocks[BLACK], used)
        control.note(tree, clocks)
        assert control.clocks([tree]) == clocks, "the record says the same"
        return clocks[BLACK], control.text(clocks[BLACK])

    fischer, byo_yomi = TimeControl(60, 5), TimeControl(60, 0, 3, 10)
    assert after(fischer, 10, 20) == (Clock(40), "0:40")
    assert after(fischer, 59.5, 3) == (Clock(7.5), "0:07.5")
    assert after(fischer, 60) == (Clock(0), "0:00.0")
    assert after(byo_yomi, 59) == (Clock(1, 3), "0:01.0")
    assert after(byo_yomi, 60, 9.9, 9.9) == (Clock(0, 3), "0:10 (3)"), "a period that is not over stays whole"
    assert after(byo_yomi, 85, 10) == (Clock(0, 0), "0:00.0")
    assert after(byo_yomi, 75) == (Clock(0, 2), "0:10 (2)")
    assert byo_yomi.text(Clock(5, 3), 12) == "0:03.0 (3)"
    assert TimeControl(3700).text(Clock(3700)) == "1:01:40"


async def test_clocks_run_stop_in_a_review_and_are_kept(tmp_path: Path, time: SimpleNamespace) -> None:
    setup = BoardSetup(seats=Seats(None, None), clock=TimeControl.parse("1+2"))
    async with board_app(ScriptedPlayer(15), folder=tmp_path, setup=setup, terminal=(120, 40)) as ui:
        time.now += 50
        await ui.type_moves("h8")
        assert "human  1:00" in ui.panel, "the first move takes no time"
        time.now += 20
        await ui.until(lambda: "0:40" in ui.panel)
        await ui.type_moves("i9")
        assert ui.app.control.match.clock_texts == ("1:00", "0:42")
        time.now += 5
        await ui.press("b")
        time.now += 500
        await ui.press("comma", "b")
        assert ui.app.control.match.clock_texts == ("0:55", "0:42"), "a review takes no time"
        time.now += 5
        await ui.type_moves("g7")
        (path,) = tmp_path.iterdir()
        assert "TM[60]OT[2 fischer]" in path.read_text()
        assert "\n;W[ig]BL[60.0]WL[42.0]\n;B[gi]BL[52.0]WL[42.0])" in path.read_text()
        game = Game.from_saved(opened(path).game)
        assert game.clocks == {BLACK: Clock(52.0), WHITE: Clock(42.0)}
        time.now += 42
        await ui.until(lambda: ui.app.game.is_game_over())
        assert ui.status == "White has no time left: the game is over."
        (record,) = read_games(path)
        assert (record.winner, record.ending) == (BLACK, Ending.TIME)
        await ui.press("s")
        assert (ui.app.game.control, ui.app.game.ply) == (game.control, 0), "a rematch has the same clocks"
    async with board_app(engine := ThreadEngine({}), setup=BoardSetup(game=game), terminal=(64, 24)) as ui:
        await ui.press("p")
        assert "0:52" in ui.title + ui.panel and "0:42" in ui.title + ui.panel
        engine.close()


@pytest.mark.usefixtures("time")  # the human's own clock stands still
async def test_an_engine_that_would_think_for_ever_moves_within_its_clock() -> None:
    player = GatedPlayer(15)
    main, period = ((3, "h9"), (5, "c3")), ((3, "h9"),)
    for clock, moves, longest in ((TimeControl(3), main, 0.9), (TimeControl(0, 0, 1, 2), period, 1.9)):
        engine = ThreadEngine({"default": player, "other": player})
        choice = PlayerChoice(spec="default")
        game = Game(Rules(), Seats(choice, None), clock=clock)
        async with board_app(engine, setup=BoardSetup(game=game)) as ui:
            await ui.until(lambda: ui.app.game.ply == 1)
            for ply, name in moves:
                await ui.click(name)
                await ui.until(lambda ply=ply: ui.app.game.ply == ply or ui.app.game.is_game_over())  # type: ignore[misc]
                assert not ui.app.game.is_game_over(), ui.status
        asked = [task.seconds for task in engine.tasks if isinstance(task, Search) and task.purpose == "move"]
        assert len(asked) == 1 + len(moves) and max(asked) < longest
        assert ui.app.game.clocks[BLACK] != Clock(0)


class LatePlayer(ScriptedPlayer):
    """Answers a fifth of a second late, whatever stops it."""

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        real_time.sleep(0.2 if position.ply > 1 else 0)
        return super().decide(position, seed, stop)


@pytest.mark.usefixtures("time")
async def test_a_delay_is_charged_to_programs_alone() -> None:
    for spec, left in (("default", (0.8, 1.0)), ("engine:late", (0.0, 0.8))):
        setup = BoardSetup(seats=Seats(None, PlayerChoice(spec=spec)), clock=TimeControl(1))
        async with board_app({"default": LatePlayer(15), spec: LatePlayer(15)}, setup=setup) as ui:
            for ply, name in ((2, "h9"), (4, "c3"), (6, "h11")):
                await ui.click(name)
                await ui.until(lambda ply=ply: ui.app.game.ply == ply or ui.app.game.is_game_over())  # type: ignore[misc]
            assert left[0] <= ui.app.game.clocks[WHITE].left_s <= left[1]


def test_the_budget_of_a_move_is_that_of_matches() -> None:
    assert math.isclose(move_budget(300, 0, 0, 0), 10)
    assert math.isclose(move_budget(300, 3, 0, 0), 13)
    assert math.isclose(move_budget(80, 0, 30, 100), 10)
    assert 25 < move_budget(0, 0, 30, 20) < 30, "a whole period"
    assert 0 <= move_budget(0.01, 0, 0, 0) < 0.01


async def test_neither_undo_nor_swapped_sides_give_time_back(time: SimpleNamespace) -> None:
    setup = BoardSetup(seats=Seats(None, PlayerChoice(spec="default")), clock=TimeControl.parse("1"))
    async with board_app(ScriptedPlayer(15), setup=setup, terminal=(120, 40)) as ui:
        await ui.play("h8")
        await ui.play("h9")
        time.now += 20
        await ui.press("u")
        assert ui.app.control.match.clock_texts[0] == "0:40"
        time.now += 10
        await ui.press("r")
        assert ui.app.control.match.clock_texts[0] == "0:30"
        await ui.press("r")
        time.now += 5
        assert ui.app.control.match.clock_texts[0] == "0:25", "the clock runs on behind a key that does nothing"
        time.now += 5
        await ui.press("s")
        assert ui.app.control.match.clock_texts[0] in ("0:20", "0:19")  # the engine has it now


async def test_a_move_that_waits_for_the_pace_takes_no_time(time: SimpleNamespace) -> None:
    seats = Seats(PlayerChoice(spec="one"), PlayerChoice(spec="two"))
    setup = BoardSetup(seats=seats, clock=TimeControl.parse("1"), course=Course(pace_s=3600))
    async with board_app({"one": ScriptedPlayer(15), "two": ScriptedPlayer(15)}, setup=setup, terminal=(120, 40)) as ui:
        for ply in (1, 2):
            await ui.until(lambda: ui.status.endswith("has chosen its move.") and ui.app.game.ply == ply)  # noqa: B023
            time.now += 20
            assert {*ui.app.control.match.clock_texts} <= {"1:00", "0:59"}, "a moment was charged at most"
            await ui.press("escape")


async def test_the_time_of_a_period_counts_for_the_player_who_takes_the_side_over(time: SimpleNamespace) -> None:
    player = GatedPlayer(15)
    engine = ThreadEngine({"default": player})
    game = Game(Rules(), Seats(None, PlayerChoice(spec="default")), (112, 113), clock=TimeControl(0, 0, 2, 10))
    async with board_app(engine, setup=BoardSetup(game=game), terminal=(120, 40)) as ui:
        time.now += 8
        await ui.press("s")
        assert ui.app.control.match.clock_texts[0] == "0:02.0 (2)", "not a whole period"
        (asked,) = [task.seconds for task in engine.tasks if isinstance(task, Search)]
        assert asked < 2
        time.now += 1
        player.release.set()
        await ui.until(lambda: ui.app.game.ply == 3)
        assert ui.app.game.clocks[BLACK] == Clock(0, 2), "within the period, which is whole again"


async def test_after_undo_both_clocks_and_the_record_are_those_of_the_turn(
    tmp_path: Path, time: SimpleNamespace
) -> None:
    setup = BoardSetup(seats=Seats(None, None), clock=TimeControl.parse("1"))
    async with board_app({}, folder=tmp_path, setup=setup) as ui:
        for name, used in (("h8", 0), ("i9", 10), ("c3", 10), ("d4", 20)):
            time.now += used
            await ui.press("slash", *name, "enter")
        await ui.press("u", "u", "slash", *"e5", "enter")
        (path,) = tmp_path.iterdir()
        again = Game.from_saved(opened(path).game)
        assert again.line == ui.app.game.moves
        assert again.clocks == ui.app.game.clocks == {BLACK: Clock(50), WHITE: Clock(30)}
