"""The answers of the engine to the commands of a game, turn by turn."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given

from benchmarks.campaigns.fuzz_engine import answers_due, check_answers, scripts, through_the_protocol
from core.input_limits import MAX_COMMAND_LENGTH
from core.notation import parse_point
from core.rules import Variant
from gomoku_cli.gomocup.commands import Engine
from search.players import RandomPlayer
from tests.support.cases import cases
from tests.support.gomocup import ABOUT, FIRST, SECOND, OnePlayer, Talk

POINT = re.compile(r"\d+,\d+")


@pytest.mark.parametrize("size", [5, 15, 20, 25])
@pytest.mark.parametrize("line", ["START {0}", "START {0} {0}", "RECTSTART {0},{0}"])
def test_start_is_answered_with_ok_and_no_move(line: str, size: int) -> None:
    talk = Talk()
    assert talk.say(line.format(size)) == ["OK"]
    assert talk.player.requests == []
    assert talk.say("BEGIN") == [f"0,{size - 1}"]


@pytest.mark.parametrize(("why", "lines", "answers"), cases("conversations"))
def test_each_line_of_a_conversation_has_its_answers(why: str, lines: list[str], answers: list[str]) -> None:
    """`FirstCellPlayer` moves to 0,14, then 1,14, then 2,14."""
    assert Talk().say(*lines) == answers, why


def test_points_count_columns_from_the_left_and_rows_from_the_top(talk: Talk) -> None:
    talk.say("TURN 3,0")
    assert talk.player.requests == [[parse_point("3,0", 15)]]
    assert divmod(talk.player.requests[0][0], 15) == (14, 3)


@pytest.mark.parametrize(("line", "reason"), cases("turns_refused"))
def test_an_impossible_command_is_an_error_and_changes_nothing(talk: Talk, line: str, reason: str) -> None:
    talk.say("BEGIN")
    (answer,) = talk.say(line)
    assert answer.startswith("ERROR ")
    assert reason in answer
    assert talk.say("TURN 9,9") == [SECOND]


def test_the_last_stones_can_be_taken_back_one_by_one(talk: Talk) -> None:
    talk.say("TURN 7,7", "TURN 8,8")
    assert talk.say("TAKEBACK 7,7") == [f"ERROR 7,7 is not the last stone, {SECOND} is"]
    assert talk.say(f"TAKEBACK {SECOND}", "TAKEBACK 8,8", "TURN 9,9") == ["OK", "OK", SECOND]
    assert talk.player.requests[-1] == [parse_point(text, 15) for text in ("7,7", FIRST, "9,9")]


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


@given(scripts())
def test_every_line_gets_the_answers_of_the_protocol(lines: Sequence[str]) -> None:
    through_the_protocol(lines)


def test_a_wrong_answer_would_be_seen() -> None:
    (due,) = answers_due(["BEGIN"])
    check_answers("BEGIN", ["7,7"], due)
    for answers, why in (([], "instead of 1"), (["7;7"], "no answer")):
        with pytest.raises(AssertionError, match=why):
            check_answers("BEGIN", answers, due)
