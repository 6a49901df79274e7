"""The commands of Yixin's board: its opening sequence, boards without a move, and the best moves of a position."""

import threading

import pytest

from core.notation import parse_point
from core.position import Position
from gomoku_cli.gomocup.commands import Engine
from search.analysis import Analysis, MoveAnalysis
from search.limit import Limit
from search.players import PLAIN, Decision, How
from tests.support.cases import cases
from tests.support.gomocup import ABOUT, FIRST, SECOND, FirstCellPlayer, OnePlayer, Talk


class ThinkingPlayer(FirstCellPlayer):
    """Analyses the first three empty cells, reports that once, and then waits for a moment."""

    def __init__(self) -> None:
        super().__init__()
        self.is_shown = threading.Event()

    def search(self, position: Position, limit: Limit | None = None, how: How = PLAIN) -> tuple[Decision, Analysis]:
        seed, stop, report, _ = how
        decision = self.choose(position, limit, seed=seed or 0, stop=stop)
        cells = [int(cell) for cell in position.legal_moves()[:3]]
        moves = tuple(MoveAnalysis(cell, value=0.5 - number) for number, cell in enumerate(cells))
        analysis = Analysis(moves=moves, value=0.5, variation=(cells[0],), nodes=3, seconds=0.1)
        if report is not None:
            report(analysis)
            self.is_shown.wait(0.3)
        return decision, analysis


def test_a_yixin_board_sets_up_a_position_without_a_move(talk: Talk) -> None:
    assert talk.say("YXBOARD", "7,7,2", "8,8,1", "6,6,2", "DONE") == []
    assert talk.player.requests == []
    assert talk.say("YXNBEST 1") == [FIRST]
    assert talk.player.requests == [[parse_point(text, 15) for text in ("7,7", "8,8", "6,6")]]
    assert talk.say("TURN 9,9") == [SECOND]


def test_a_board_may_stand_in_one_line(talk: Talk) -> None:
    assert talk.say("yxboard 7,7,1 8,8,2 done", "yxnbest 1") == [FIRST]
    assert talk.player.requests == [[parse_point("7,7", 15), parse_point("8,8", 15)]]


def test_the_best_moves_come_as_messages_before_the_move() -> None:
    talk = Talk(ThinkingPlayer())
    talk.say("START 15")
    first, second, move = talk.say("YXNBEST 2")
    assert first == f"MESSAGE 1: {FIRST}, 75.0% to win"
    assert second == f"MESSAGE 2: {SECOND}, 25.0% to win"
    assert move == FIRST
    assert talk.say("TURN 7,7") == [SECOND], "other moves have no list"


@pytest.mark.parametrize(("detail", "shown"), [(1, [f"MESSAGE REALTIME BEST {FIRST}"]), (0, [])])
def test_the_best_move_so_far_is_shown_during_a_move_on_request(detail: int, shown: list[str]) -> None:
    told: list[str] = []
    player = ThinkingPlayer()

    def tell(line: str) -> None:
        told.append(line)
        player.is_shown.set()

    engine = Engine(OnePlayer(player), about=ABOUT, tell=tell)
    for line in ("START 15", f"INFO show_detail {detail}", "BEGIN"):
        answers = list(engine.answer(line))
    assert answers == [FIRST]
    assert told == shown


@pytest.mark.parametrize("stones", [[], ["7,7,1"], ["7,7,2", "8,8,1"]])
def test_an_unknown_command_with_a_board_is_answered_once(talk: Talk, stones: list[str]) -> None:
    (answer,) = talk.say("YXQUERYDATABASEALLT", *stones, "done")
    assert answer.startswith("UNKNOWN ")
    (answer,) = talk.say("DONE")
    assert answer.startswith("ERROR "), "the next one belongs to nothing"
    assert talk.say("YXBLOCK", "0,0", "done", "BEGIN")[1:] == [FIRST]


@pytest.mark.parametrize("key", cases("yixin_infos"))
def test_no_key_of_the_board_is_answered(talk: Talk, key: str) -> None:
    assert talk.say(f"INFO {key}", f"info {key}") == []
    assert talk.say("ABOUT", "BEGIN")[0] == ABOUT


def test_the_depth_reaches_the_players(talk: Talk) -> None:
    talk.say("INFO max_depth 6", "BEGIN")
    assert talk.players.max_depth == 6
    talk.say("INFO max_depth 0")
    assert talk.players.max_depth is None
