"""The answers of the engine to the commands of a game, turn by turn."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given

from benchmarks.campaigns.fuzz_engine import Expected, fault, scripts, through_the_protocol
from core.input_limits import MAX_COMMAND_LENGTH
from core.notation import parse_point
from core.rules import Variant
from gomoku_cli.gomocup.commands import Engine
from search.players import RandomPlayer
from tests.support.cases import cases
from tests.support.gomocup import ABOUT, FIRST, SECOND, THIRD, OnePlayer, Talk

POINT = re.compile(r"\d+,\d+")


@pytest.mark.parametrize("size", [5, 15, 20, 25])
@pytest.mark.parametrize("line", ["START {0}", "START {0} {0}", "RECTSTART {0},{0}"])
def test_start_is_answered_with_ok_and_no_move(line: str, size: int) -> None:
    talk = Talk()
    assert talk.say(line.format(size)) == ["OK"]
    assert talk.player.requests == []
    assert talk.say("BEGIN") == [f"0,{size - 1}"]


@pytest.mark.parametrize(
    "lines", [["BEGIN"], ["TURN 1,1"], ["RESTART"], ["TAKEBACK 1,1"], ["PLAY 1,1"], ["BOARD", "1,1,2", "DONE"]]
)
def test_before_start_there_is_no_board(lines: list[str]) -> None:
    assert Talk().say(*lines) == ["ERROR there is no board yet: START comes first"]


def test_points_count_columns_from_the_left_and_rows_from_the_top(talk: Talk) -> None:
    talk.say("TURN 3,0")
    assert talk.player.requests == [[parse_point("3,0", 15)]]
    assert divmod(talk.player.requests[0][0], 15) == (14, 3)


def test_a_game_goes_on_turn_by_turn(talk: Talk) -> None:
    assert talk.say("BEGIN", "TURN 7,7", "TURN 8,8") == [FIRST, SECOND, THIRD]
    assert len(talk.player.requests[-1]) == 4


def test_restart_clears_the_board_and_keeps_its_size(talk: Talk) -> None:
    assert talk.say("BEGIN", "RESTART", "BEGIN") == [FIRST, "OK", FIRST]


@pytest.mark.parametrize(("line", "reason"), cases("turns_refused"))
def test_an_impossible_command_is_an_error_and_changes_nothing(talk: Talk, line: str, reason: str) -> None:
    talk.say("BEGIN")
    (answer,) = talk.say(line)
    assert answer.startswith("ERROR ")
    assert reason in answer
    assert talk.say("TURN 9,9") == [SECOND]


def test_turn_is_an_error_when_the_engine_is_to_move(talk: Talk) -> None:
    talk.say("TURN 7,7", f"TAKEBACK {FIRST}")
    assert talk.say("TURN 8,8") == ["ERROR it is not the opponent's turn"]
    assert talk.say("PLAY 7,7") == ["ERROR 7,7 already holds a stone"]
    assert talk.say("PLAY 3,3", "TURN 8,8") == ["3,3", FIRST]


def test_after_the_end_of_the_game_there_are_no_more_turns(talk: Talk) -> None:
    talk.say("BEGIN")
    answers = talk.say("TURN 0,0", "TURN 2,0", "TURN 4,0", "TURN 6,0")  # meanwhile five in a row at the bottom
    assert answers[-1] == "4,14"
    assert talk.say("TURN 8,0") == ["ERROR the game is over"]
    assert talk.say("PLAY 8,0")[0].startswith("ERROR ")
    assert talk.say("RESTART", "BEGIN") == ["OK", FIRST]


def test_a_turn_that_ends_the_game_is_an_error_and_can_be_taken_back(talk: Talk) -> None:
    board = ["BOARD", *(f"{x},0,2" for x in range(4)), *(f"{3 * x},5,1" for x in range(3)), "DONE"]
    assert talk.say(*board) == [FIRST]
    assert talk.say("TURN 4,0") == ["ERROR the game is over"]
    assert talk.say("TAKEBACK 4,0", "TURN 9,9") == ["OK", SECOND]


def test_the_last_stones_can_be_taken_back_one_by_one(talk: Talk) -> None:
    talk.say("TURN 7,7", "TURN 8,8")
    assert talk.say("TAKEBACK 7,7") == [f"ERROR 7,7 is not the last stone, {SECOND} is"]
    assert talk.say(f"TAKEBACK {SECOND}", "TAKEBACK 8,8", "TURN 9,9") == ["OK", "OK", SECOND]
    assert talk.player.requests[-1] == [parse_point(text, 15) for text in ("7,7", FIRST, "9,9")]


def test_with_all_stones_taken_back_either_side_may_begin(talk: Talk) -> None:
    talk.say("BEGIN")
    assert talk.say(f"TAKEBACK {FIRST}", "TURN 3,3") == ["OK", FIRST]


def test_play_makes_a_move_for_the_engine(talk: Talk) -> None:
    assert talk.say("PLAY 7,7", "TURN 8,8") == ["7,7", FIRST]
    assert talk.say("PLAY 9,9") == ["ERROR it is not our turn"]


@pytest.mark.parametrize("size", [5, 6, 15])
def test_two_engines_play_whole_games_against_each_other(size: int) -> None:
    for game in range(5):
        sides = [Engine(OnePlayer(RandomPlayer()), about=ABOUT, seed=2 * game + number) for number in range(2)]
        for side in sides:
            assert list(side.answer(f"START {size}")) == ["OK"]
        seen: set[str] = set()
        (answer,) = sides[0].answer("BEGIN")
        while POINT.fullmatch(answer):
            assert answer not in seen
            seen.add(answer)
            (answer,) = sides[len(seen) % 2].answer(f"TURN {answer}")
        assert answer == "ERROR the game is over"
        assert 9 <= len(seen) <= size * size


def test_an_engine_has_a_rule_of_its_own_until_the_manager_names_one() -> None:
    engine = Engine(OnePlayer(RandomPlayer()), about=ABOUT, variant=Variant.RENJU)
    stones = ["8,7,1", "0,0,2", "9,7,1", "2,0,2", "7,6,1", "4,0,2", "7,5,1", "6,0,2"]
    for lines, forbidden in (([], "FORBID 0707."), (["INFO rule 0"], "FORBID .")):
        for line in (*lines, "START 15", "YXBOARD", *stones, "DONE", "YXSHOWFORBID"):
            answers = list(engine.answer(line))
        assert answers == [forbidden]


def test_players_that_draw_their_moves_play_other_games_after_restart() -> None:
    engine = Engine(OnePlayer(RandomPlayer()), about=ABOUT)
    for line in ("START 20", "BEGIN"):
        answers = list(engine.answer(line))
    for _ in range(5):
        assert list(engine.answer("RESTART")) == ["OK"]
        answers += engine.answer("BEGIN")
    assert len(set(answers)) > 1


# Lines that are no commands, and random ones.


@pytest.mark.parametrize(
    "line",
    [
        *("FOO", "YXFOO", "7,7", "SUGGEST 7,7", "#", "\x00\xff", "é", "7,7,1", "OK", "TURN7,7"),
        *("YXBALANCEONE", "YXBALANCETWO 3", "YXPONDER", "YXSETDATABASE c:\\x y", "yxfoo", "YX"),
        pytest.param("TURN 7,7" + " " * MAX_COMMAND_LENGTH + "x", id="too long"),
    ],
)
def test_other_lines_are_unknown(talk: Talk, line: str) -> None:
    (answer,) = talk.say(line)
    assert answer.startswith("UNKNOWN ")
    assert answer.isprintable()
    assert talk.say("BEGIN") == [FIRST]


def test_commands_may_be_written_in_any_case_and_with_any_spaces(talk: Talk) -> None:
    assert talk.say("begin", "Turn   7 , 7 ", "tUrN\t8,8", "", "  ") == [FIRST, SECOND, THIRD]


@given(scripts())
def test_every_line_gets_the_answers_of_the_protocol(lines: Sequence[str]) -> None:
    through_the_protocol(lines)


def test_a_wrong_answer_would_be_seen() -> None:
    assert fault("BEGIN", ["7,7"], Expected().answers("BEGIN")) is None
    assert "instead of 1" in str(fault("BEGIN", [], 1))
    assert "no answer" in str(fault("BEGIN", ["7;7"], 1))
