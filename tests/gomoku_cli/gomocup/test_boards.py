"""The answers to BOARD and SWAP2BOARD, and to the commands of Yixin's board."""

import threading

import pytest

from core.notation import parse_point
from core.position import Position
from gomoku_cli.gomocup.commands import Engine
from search.analysis import Analysis, MoveAnalysis
from search.limit import Limit
from search.opening_choice import CANDIDATES
from search.players import PLAIN, Decision, How
from tests.support.cases import cases
from tests.support.gomocup import ABOUT, FIRST, SECOND, FirstCellPlayer, OnePlayer, Talk


def test_stones_may_come_in_any_order(talk: Talk) -> None:
    stones = ["10,10,1", "10,11,2", "11,11,1", "9,10,2"]
    cells = {owner: [parse_point(stone[:-2], 15) for stone in stones if stone[-1] == owner] for owner in "12"}
    for order in (stones, stones[::-1], sorted(stones, key=lambda stone: stone[-1])):
        (answer,) = talk.say("BOARD", *order, "DONE")
        assert answer == FIRST
        moves = talk.player.requests[-1]
        assert set(moves[::2]) == set(cells["1"])
        assert set(moves[1::2]) == set(cells["2"])


def test_stones_in_the_order_of_the_game_are_taken_for_the_game(talk: Talk) -> None:
    talk.say("BOARD", "7,7,2", "8,8,1", "6,6,2", "DONE")
    assert talk.player.requests == [[parse_point(point, 15) for point in ("7,7", "8,8", "6,6")]]


@pytest.mark.parametrize(("command", "stones", "reason"), cases("boards_refused"))
def test_a_wrong_board_is_one_error_and_the_old_position_stays(
    talk: Talk, command: str, stones: list[str], reason: str
) -> None:
    """SWAP2BOARD takes 0, 3 or 5 stones."""
    talk.say("BEGIN")
    (answer,) = talk.say(command, *stones, "DONE")
    assert answer.startswith("ERROR ")
    assert reason in answer
    assert talk.say("TURN 7,7") == [SECOND]


def test_a_full_board_is_a_game_that_is_over() -> None:
    talk = Talk()
    talk.say("START 5")
    cells = [f"{x},{y},{1 + (x + y // 2) % 2}" for x in range(5) for y in range(5)]
    owners = [cell[-1] for cell in cells]
    assert sorted((owners.count("1"), owners.count("2"))) == [12, 13]
    if owners.count("1") == 13:
        cells = [f"{cell[:-1]}{3 - int(cell[-1])}" for cell in cells]
    assert talk.say("BOARD", *cells, "DONE") == ["ERROR the game is over"]


def test_swap2_opens_with_the_candidate_of_the_value_closest_to_0(talk: Talk) -> None:
    talk.say("SWAP2BOARD", "DONE")
    candidates = [tuple(moves) for moves in talk.player.requests]
    assert len(set(candidates)) == CANDIDATES
    talk.player.value = -0.5
    talk.player.values = {candidates[5]: -0.04, candidates[7]: 0.05}
    fresh = Talk(talk.player)
    fresh.say("START 15")
    (answer,) = fresh.say("SWAP2BOARD", "DONE")
    assert tuple(parse_point(point, 15) for point in answer.split()) == candidates[5]


@pytest.mark.parametrize("stones", [3, 5])
def test_swap2_takes_the_better_colour(talk: Talk, stones: int) -> None:
    points = ["7,7", "8,7", "9,9", "8,8", "8,6"][:stones]
    talk.player.value = -0.1
    assert talk.say("SWAP2BOARD", *points, "DONE") == ["SWAP"]
    for talk.player.value in (0.1, 0.0, None):
        assert talk.say("SWAP2BOARD", *points, "DONE") == [FIRST]
    assert talk.player.requests[-1] == [parse_point(point, 15) for point in points]


@pytest.mark.parametrize(
    ("value", "board", "turn"),
    [
        (0.1, ["7,7,2", "8,7,1", "9,9,2", f"{FIRST},1", "3,3,2"], "3,3"),  # the engine kept White and moved
        (-0.1, ["7,7,1", "8,7,2", "9,9,1", "3,3,2"], "3,3"),  # the engine took Black, and White has answered
    ],
)
def test_the_game_after_swap2_goes_on_by_board_or_by_turn(
    talk: Talk, value: float, board: list[str], turn: str
) -> None:
    talk.player.value = value
    swap2 = ["SWAP2BOARD", "7,7", "8,7", "9,9", "DONE"]
    talk.say(*swap2)
    by_turn = talk.say(f"TURN {turn}")
    talk.say(*swap2)
    assert talk.say("BOARD", *board, "DONE") == by_turn
    assert talk.player.requests[-1] == talk.player.requests[-3]


# Yixin Board


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
    assert first == f"MESSAGE 1: {FIRST}, 75.0 % to win"
    assert second == f"MESSAGE 2: {SECOND}, 25.0 % to win"
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
