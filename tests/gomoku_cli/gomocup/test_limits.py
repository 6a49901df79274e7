"""INFO and the limits that it sets: time, memory, nodes and rules."""

import threading
import time

import pytest

from core.rules import Rules, Variant
from gomoku_cli.gomocup import thinking
from nets.checkpoint import CheckpointError
from tests.support.cases import cases
from tests.support.gomocup import ABOUT, FIRST, SECOND, Talk
from tests.support.waiting import wait_until


@pytest.mark.parametrize("info", cases("infos"))
def test_info_has_no_answer(talk: Talk, info: str) -> None:
    assert talk.say(f"INFO {info}", f"info {info.upper()}") == []
    assert talk.say("ABOUT") == [ABOUT]  # and none later: a manager reads one line here
    assert talk.say("BEGIN")[-1] == FIRST


def test_limits_of_memory_and_nodes_apply_from_the_next_move(talk: Talk) -> None:
    talk.say("INFO max_memory 83886080", "INFO max_node 500", "BEGIN")
    assert talk.players.max_bytes == 83_886_080
    assert talk.players.max_simulations == 500
    talk.say("INFO max_memory 0", "INFO max_node 0", "TURN 7,7")
    assert talk.players.max_bytes is None
    assert talk.players.max_simulations is None


@pytest.mark.parametrize(("rule", "said"), cases("rules_unsupported"))
def test_unsupported_rules_are_reported_once_before_the_next_move(talk: Talk, rule: str, said: str) -> None:
    talk.say("INFO rule 0", f"INFO rule {rule}")
    message, move = talk.say("BEGIN")
    assert message.startswith(f"MESSAGE {said}")
    assert move == FIRST
    assert talk.say("TURN 7,7") == [SECOND]


@pytest.mark.parametrize(
    ("rule", "variant"), [(1, Variant.STANDARD), (4, Variant.RENJU), (8, Variant.CARO), (9, Variant.CARO_EXACT)]
)
@pytest.mark.parametrize("is_first", [True, False])
def test_rules_have_the_numbers_of_gomocup(talk: Talk, rule: int, variant: Variant, is_first: bool) -> None:
    lines = [f"INFO rule {rule}", "START 20"]
    talk.say(*(lines if is_first else reversed(lines)))
    assert talk.players.prepared[-1] == Rules(20, 5, variant), "the first move has no time to load its nets"
    talk.say("BEGIN")
    assert talk.players.rules[-1] == Rules(20, 5, variant)
    talk.say("INFO rule 0", "RESTART", "BEGIN")
    assert talk.players.rules[-1] == Rules(20)


def test_notes_come_before_a_move(talk: Talk) -> None:
    talk.players.notes.append("the mentor plays")
    assert talk.say("ABOUT", "START 20") == [ABOUT, "OK"]
    assert talk.say("BEGIN") == ["MESSAGE the mentor plays", "0,19"]


def test_a_long_start_sends_a_message_each_second(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinking, "_MESSAGE_S", 0.05)
    answers = talk.engine.answer("START 15")
    ready = threading.Event()
    talk.players.preparation = lambda: wait_until(ready.is_set)
    assert [next(answers), next(answers)] == ["MESSAGE compiling"] * 2
    ready.set()
    assert list(answers)[-1] == "OK"


@pytest.mark.parametrize("lines", [["INFO rule 4"], ["PLAY 7,7", "INFO rule 4", "RESTART"]])
def test_another_rule_after_start_prepares_its_player_with_a_message_each_second(
    talk: Talk, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thinking, "_MESSAGE_S", 0.05)
    talk.say(*lines[:-1])
    ready = threading.Event()
    talk.players.preparation = lambda: wait_until(ready.is_set)
    answers = talk.engine.answer(lines[-1])
    assert [next(answers), next(answers)] == ["MESSAGE compiling"] * 2
    ready.set()
    rest = [answer for answer in answers if not answer.startswith("MESSAGE")]
    assert rest == ([] if lines[-1].startswith("INFO") else ["OK"])
    assert talk.players.prepared[-1] == Rules(variant=Variant.RENJU)


def test_a_failed_start_is_an_error_of_the_engine(talk: Talk) -> None:
    def fail() -> None:
        raise CheckpointError("the model is gone")

    talk.players.preparation = fail
    with pytest.raises(CheckpointError, match="gone"):
        talk.say("START 15")


def test_thinking_time_counts_from_the_reading_of_the_line(talk: Talk) -> None:
    talk.player.while_thinking = wait_until
    talk.say("INFO timeout_turn 60000")
    started = time.monotonic()
    assert list(talk.engine.answer("BEGIN", started - 56.5)) == [FIRST]  # the line waited, and the margin is 3.1 s
    assert 0.3 < time.monotonic() - started < 30
    talk.say("INFO timeout_turn 60000", "INFO time_left 2000")
    started = time.monotonic()
    talk.say("TURN 7,7")
    assert time.monotonic() - started < 30


def test_a_move_is_made_after_the_clock_has_run_out(talk: Talk) -> None:
    stops = []
    talk.player.while_thinking = lambda stop: stops.append(stop())
    talk.say("INFO time_left -300", "BEGIN")
    assert stops == [True]


def test_a_short_search_is_enough_after_the_end_of_the_input() -> None:
    started = time.monotonic()
    talk = Talk(hurry=lambda: time.monotonic() > started + 0.3)
    talk.player.while_thinking = wait_until
    talk.say("START 15", "INFO timeout_turn 60000", "BEGIN")
    assert 0.3 < time.monotonic() - started < 30
    talk.say("TURN 7,7")
    assert time.monotonic() - started < 30
