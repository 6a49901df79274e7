"""A search that does not end in time: the engine answers without it, and goes on."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from gomoku_cli.gomocup.clock import Clock
from gomoku_cli.gomocup.commands import Engine
from search.players import Decision
from tests.support.gomocup import ABOUT, FIRST, FirstCellPlayer, OnePlayer

LIMIT_S = 0.3
HANG_S = 30.0
"""Time of a search that nothing ends. An answer in much less did not wait for it, however busy the machine is."""


class Desk:
    """An engine with a real clock and a player that thinks until it is released, whatever `stop` says."""

    def __init__(self) -> None:
        self.player = FirstCellPlayer()
        self.players = OnePlayer(self.player)
        self.engine = Engine(self.players, about=ABOUT, clock=Clock())
        self.release = threading.Event()
        self.thinking = threading.Event()
        self.say("START 15", f"INFO timeout_turn {round(1000 * LIMIT_S)}")

    def hang(self, stop: Callable[[], bool]) -> None:
        self.thinking.set()
        self.release.wait(HANG_S)

    def say(self, *lines: str) -> list[str]:
        return [answer for line in lines for answer in self.engine.answer(line)]

    def answer_in_time(self, line: str) -> list[str]:
        started = time.monotonic()
        answers = self.say(line)
        assert time.monotonic() - started < HANG_S / 2
        return answers


@pytest.fixture
def desk() -> Iterator[Desk]:
    """A desk whose player hangs; it is released at the end."""
    desk = Desk()
    desk.player.while_thinking = desk.hang
    yield desk
    desk.release.set()


def test_a_search_that_tells_nothing_is_replaced_by_a_quick_decision(desk: Desk) -> None:
    assert desk.answer_in_time("BEGIN") == [FIRST]
    assert desk.players.quick_decisions == 1


def test_the_best_move_so_far_is_the_answer(desk: Desk) -> None:
    desk.player.best = Decision(112)
    assert desk.answer_in_time("BEGIN") == ["7,7"]
    assert desk.players.quick_decisions == 0


def test_moves_go_on_while_an_old_search_lasts_and_after_it(desk: Desk) -> None:
    desk.answer_in_time("BEGIN")
    assert desk.thinking.is_set()
    assert desk.answer_in_time("TURN 7,7") == ["1,14"]
    assert desk.players.quick_decisions == 2
    assert len(desk.player.requests) == 1
    desk.player.while_thinking = lambda stop: None
    desk.release.set()
    assert desk.answer_in_time("TURN 8,8") == ["2,14"]
    assert desk.players.quick_decisions == 2


def test_an_error_of_a_search_is_not_hidden(desk: Desk) -> None:
    def fail(stop: Callable[[], bool]) -> None:
        raise RuntimeError("broken")

    desk.player.while_thinking = fail
    with pytest.raises(RuntimeError, match="broken"):
        desk.say("BEGIN")
