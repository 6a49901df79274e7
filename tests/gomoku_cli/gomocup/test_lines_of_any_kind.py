"""The answers of the engine to lines that are no commands, and to random lines."""

from collections.abc import Sequence

import pytest
from hypothesis import given

from benchmarks.campaigns.fuzz_engine import Expected, fault, scripts, through_the_protocol
from core.input_limits import MAX_COMMAND_LENGTH
from tests.support.gomocup import FIRST, SECOND, THIRD, Talk


@pytest.mark.parametrize("line", ["FOO", "YXFOO", "7,7", "SUGGEST 7,7", "#", "\x00\xff", "é", "7,7,1", "OK", "TURN7,7"])
def test_other_lines_are_unknown(talk: Talk, line: str) -> None:
    (answer,) = talk.say(line)
    assert answer.startswith("UNKNOWN ")
    assert answer.isprintable()
    assert talk.say("BEGIN") == [FIRST]


def test_a_line_beyond_the_maximum_length_is_unknown(talk: Talk) -> None:
    (answer,) = talk.say("TURN 7,7" + " " * MAX_COMMAND_LENGTH + "x")
    assert answer.startswith("UNKNOWN ")
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
