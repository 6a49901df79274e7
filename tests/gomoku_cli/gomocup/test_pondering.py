"""INFO pondering and INFO thread_num of the Yixin board: thinking in the opponent's turn, and threads."""

import threading
from collections.abc import Callable

from core.cores import cores, limit_cores
from core.position import Position
from gomoku_cli.gomocup.players import EnginePlayers
from tests.support.gomocup import FIRST, SECOND, FirstCellPlayer, Talk
from tests.support.waiting import wait_until

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
