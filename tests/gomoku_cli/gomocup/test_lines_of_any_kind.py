"""The answers of the engine to lines that are no commands, and to random lines."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.campaigns.fuzz_engine import Expected, fault
from core.limits import MAX_COMMAND_LENGTH
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


@st.composite
def scripts(draw: st.DrawFn) -> list[str]:
    """Lines of a broken manager: commands, points and noise."""
    point = st.builds("{},{}".format, st.integers(-1, 7), st.integers(-1, 7))
    commands = st.sampled_from(
        ["START 6", "START 7", "START x", "RECTSTART 6,6", "RESTART", "BEGIN", "BOARD", "DONE", "SWAP2BOARD", "ABOUT"]
    )
    line = st.one_of(
        commands,
        st.builds("{} {}".format, st.sampled_from(["TURN", "TAKEBACK", "PLAY"]), point),
        st.builds("{},{}".format, point, st.integers(0, 4)),
        point,
        st.builds("INFO {} {}".format, st.sampled_from(["timeout_turn", "rule", "time_left", "x"]), st.integers()),
        st.text(st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=20),
    )
    return ["START 6", *draw(st.lists(line, max_size=40))]


@given(scripts())
def test_every_line_gets_the_answers_of_the_protocol(lines: Sequence[str]) -> None:
    talk, expected = Talk(), Expected()
    for line in lines:
        assert fault(line, talk.say(line), expected.answers(line)) is None
