"""Commands that come while the engine thinks, and thinking in the opponent's turn, with any threads."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from core.cores import cores, limit_cores
from core.position import Position
from gomoku_cli.gomocup.clock import Clock
from gomoku_cli.gomocup.commands import Engine
from gomoku_cli.gomocup.lines import Line
from gomoku_cli.gomocup.players import EnginePlayers
from search.players import Decision
from tests.support.gomocup import ABOUT, FIRST, SECOND, FirstCellPlayer, OnePlayer, Talk
from tests.support.waiting import wait_until

LONG_S = 30.0
"""Time of a move. An answer in much less did not wait for it, however busy the machine is."""
SHORT_S = 0.3


class Manager:
    """A manager whose lines come while the player thinks; the player thinks until it is stopped."""

    def __init__(self, turn_s: float = LONG_S) -> None:
        self.player = FirstCellPlayer()
        self.player.while_thinking = self.think
        self.ahead: list[Line] = []
        self.players = OnePlayer(self.player)
        self.engine = Engine(self.players, about=ABOUT, clock=Clock(), ahead=lambda: list(self.ahead))
        self.comes: tuple[str, ...] = ()
        self.comes_after_s = 0.0
        self.release = threading.Event()
        self.ignores_stop = False
        self.say("START 15", f"INFO timeout_turn {round(1000 * turn_s)}")

    def think(self, stop: Callable[[], bool]) -> None:
        at = time.monotonic() + self.comes_after_s
        self.ahead += [Line(text, at) for text in self.comes]
        until = time.monotonic() + LONG_S
        while time.monotonic() < until and not self.release.wait(0.001) and (self.ignores_stop or not stop()):
            pass

    def say(self, *lines: str) -> list[str]:
        return [answer for line in lines for answer in self.engine.answer(line)]

    def answer_in_time(self, line: str) -> list[str]:
        """Return the answers to a line, which did not wait for a search that nothing ends."""
        started = time.monotonic()
        answers = self.say(line)
        assert time.monotonic() - started < LONG_S / 2
        return answers

    def seconds_of(self, line: str, *comes: str) -> float:
        """Return the time of the move that `line` asks for, while the lines `comes` come."""
        self.comes, self.ahead = comes, []
        started = time.monotonic()
        answers = self.say(line)
        assert len(answers) == 1 and answers[0][0].isdigit()
        return time.monotonic() - started


@pytest.fixture
def manager() -> Iterator[Manager]:
    manager = Manager()
    yield manager
    manager.release.set()


@pytest.mark.parametrize(
    "comes",
    [
        *("YXSTOP", "yxstop", "STOP", "INFO timeout_turn 0", "info TIMEOUT_TURN 0", "INFO timeout_turn -1"),
        *("INFO time_left 0", "INFO time_left 100", "INFO timeout_match 50", "RESTART", "START 15", "START 20 20"),
        *("RECTSTART 15,15", "TAKEBACK 7,7"),
    ],
)
@pytest.mark.parametrize("line", ["TURN 7,7", "BEGIN", "YXNBEST 3"])
def test_the_move_is_answered_at_once(manager: Manager, line: str, comes: str) -> None:
    assert manager.seconds_of(line, "INFO pondering 0", comes) < LONG_S / 2


@pytest.mark.parametrize("comes", ["YXSTOP", "INFO timeout_turn 0", "RESTART"])
def test_a_request_for_the_move_ends_the_wait_for_nets(manager: Manager, comes: str) -> None:
    manager.players.loads = manager.think
    assert manager.seconds_of("BEGIN", comes) < LONG_S / 4, "neither the nets nor the search that follows"


@pytest.mark.parametrize("comes", ["YXSTOP", "INFO timeout_turn 0"])
def test_a_search_that_does_not_stop_is_not_waited_for(manager: Manager, comes: str) -> None:
    manager.player.best, manager.ignores_stop = Decision(112), True
    manager.comes = (comes,)
    assert manager.say("TURN 0,0") == ["7,7"]


@pytest.mark.parametrize(
    "comes",
    ["ABOUT", "TURN 1,1", "INFO timeout_turn 99999", "INFO time_left 99999", "INFO pondering 1", "FOO", "BOARD"],
)
def test_other_commands_wait_for_the_move(comes: str) -> None:
    manager = Manager(SHORT_S)
    assert SHORT_S / 3 < manager.seconds_of("TURN 7,7", comes) < LONG_S / 2


def test_lines_that_came_with_the_command_keep_their_order() -> None:
    """A script sets the time of its second move; the first one keeps its own. A stop stops what stands before it."""
    manager = Manager(SHORT_S)
    manager.comes_after_s = -LONG_S
    assert manager.seconds_of("TURN 7,7", "INFO timeout_turn 0", "RESTART") > SHORT_S / 3
    manager = Manager()
    manager.comes_after_s = -LONG_S
    assert manager.seconds_of("TURN 7,7", "YXSTOP", "TURN 8,8") < LONG_S / 2


def test_a_stop_ends_one_move_only(manager: Manager) -> None:
    assert manager.seconds_of("BEGIN", "YXSTOP") < LONG_S / 2
    manager.say("YXSTOP", f"INFO timeout_turn {round(1000 * SHORT_S)}")
    assert SHORT_S / 3 < manager.seconds_of("TURN 7,7") < LONG_S / 2


def test_the_game_goes_on_after_a_stop(manager: Manager) -> None:
    manager.comes = ("YXSTOP",)
    assert manager.say("BEGIN", "TURN 7,7", "RESTART", "BEGIN") == [FIRST, "1,14", "OK", FIRST]


# A search that does not end in time: the engine answers without it, and goes on.


@pytest.fixture
def late() -> Iterator[Manager]:
    """A manager whose player thinks until it is released, whatever `stop` says."""
    late = Manager(SHORT_S)
    late.ignores_stop = True
    yield late
    late.release.set()


@pytest.mark.parametrize(("best", "answer", "quick_decisions"), [(None, FIRST, 1), (Decision(112), "7,7", 0)])
def test_the_best_move_so_far_is_the_answer_or_else_a_quick_decision(
    late: Manager, best: Decision | None, answer: str, quick_decisions: int
) -> None:
    late.player.best = best
    assert late.answer_in_time("BEGIN") == [answer]
    assert late.players.quick_decisions == quick_decisions


def test_moves_go_on_while_an_old_search_lasts_and_after_it(late: Manager) -> None:
    late.answer_in_time("BEGIN")
    assert late.answer_in_time("TURN 7,7") == ["1,14"]
    assert late.players.quick_decisions == 2
    assert len(late.player.requests) == 1
    late.player.while_thinking = lambda stop: None
    late.release.set()
    assert late.answer_in_time("TURN 8,8") == ["2,14"]
    assert late.players.quick_decisions == 2


def test_an_error_of_a_search_is_not_hidden(late: Manager) -> None:
    def fail(stop: Callable[[], bool]) -> None:
        raise RuntimeError("broken")

    late.player.while_thinking = fail
    with pytest.raises(RuntimeError, match="broken"):
        late.say("BEGIN")


# Pondering

PATIENCE_S = 30.0


class PonderingPlayer(FirstCellPlayer):
    """Keeps the positions on which it pondered, and signals the end of each."""

    def __init__(self) -> None:
        super().__init__()
        self.pondered: list[list[int]] = []
        self.ended = threading.Event()

    def ponder(self, position: Position, stop: Callable[[], bool]) -> None:
        self.pondered.append(position.moves.copy())
        wait_until(stop, PATIENCE_S)
        self.ended.set()


def pondering_talk() -> tuple[Talk, PonderingPlayer]:
    """An engine with an empty board whose player can ponder."""
    player = PonderingPlayer()
    talk = Talk(player)
    talk.say("START 15")
    return talk, player


def test_without_the_managers_leave_nothing_is_pondered() -> None:
    talk, player = pondering_talk()
    assert talk.say("BEGIN", "TURN 7,7") == [FIRST, SECOND]
    assert player.pondered == []


def test_the_opponents_turn_is_used_until_the_next_command() -> None:
    talk, player = pondering_talk()
    assert talk.say("INFO pondering 1", "BEGIN") == [FIRST]
    assert talk.say("INFO time_left 5000") == []
    assert not player.ended.is_set(), "INFO does not end the opponent's turn"
    assert talk.say("TURN 7,7") == [SECOND]
    assert player.ended.wait(PATIENCE_S)
    assert player.pondered[0] == [0]
    assert talk.players.quick_decisions == 0
    talk.say("RESTART")


def test_the_manager_may_take_its_leave_back() -> None:
    talk, player = pondering_talk()
    talk.say("INFO pondering 1", "BEGIN", "INFO pondering 0")
    assert player.ended.wait(PATIENCE_S)
    talk.say("TURN 7,7")
    assert len(player.pondered) == 1


def test_nothing_is_pondered_once_the_game_is_over() -> None:
    talk, player = pondering_talk()
    talk.say("INFO pondering 1", "BEGIN", "TURN 7,7", "TURN 7,8", "TURN 7,9", "TURN 6,6")
    assert player.requests[-1][::2] == [0, 1, 2, 3]
    assert len(player.pondered) == 4
    talk.say("RESTART")


def test_the_number_of_threads_reaches_the_players() -> None:
    talk = Talk()
    talk.say("INFO thread_num 2", "INFO thread_num 0", "INFO thread_num x")
    assert talk.players.threads == [2]


def test_the_option_is_the_maximum_of_threads() -> None:
    try:
        players = EnginePlayers("random", simulations=None, threads=1)
        assert cores() == 1
        players.limit_threads(64)
        assert cores() == 1
        players = EnginePlayers("random", simulations=None)
        players.limit_threads(1)
        assert cores() == 1
    finally:
        limit_cores(None)
