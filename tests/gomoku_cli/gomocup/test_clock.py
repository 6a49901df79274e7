"""The time of a move, within every limit and spread over the game, and INFO, which sets the limits."""

import math
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rules import Rules, Variant
from gomoku_cli.gomocup import thinking
from gomoku_cli.gomocup.clock import DEFAULT_MOVE_S, MIN_MOVE_S, Clock
from nets.checkpoint import CheckpointError
from tests.support.cases import cases
from tests.support.gomocup import ABOUT, FIRST, SECOND, Talk
from tests.support.waiting import wait_until


def limited(move_ms: int | None = None, game_ms: int | None = None) -> Clock:
    """A clock with these limits of a move and of a game."""
    clock = Clock()
    if move_ms is not None:
        clock.set_move_limit(move_ms)
    if game_ms is not None:
        clock.set_game_limit(game_ms)
    return clock


def budget_s(clock: Clock) -> float:
    """The seconds that the clock gives a move."""
    return clock.deadline(100.0) - 100.0


def move(clock: Clock, *, late_s: float = 0.0) -> None:
    """Record a move that used all of its time, with one delay between two checks of `stop`."""
    seconds = max(budget_s(clock), 0.0)
    clock.record_delay(late_s)
    clock.record_move(seconds)


def test_a_move_takes_the_default_time_without_a_limit() -> None:
    assert budget_s(Clock()) == DEFAULT_MOVE_S
    assert budget_s(Clock(default_s=7.0)) == 7.0
    clock = limited(game_ms=0)
    clock.set_time_left(2**31 - 1)
    assert budget_s(clock) == DEFAULT_MOVE_S


def test_no_move_takes_more_than_the_maximum() -> None:
    clock = Clock(max_s=0.5)
    assert budget_s(clock) == 0.5
    clock.set_move_limit(60_000)
    assert budget_s(clock) == 0.5
    clock.set_move_limit(100)
    assert budget_s(clock) < 0.1


@pytest.mark.parametrize("limit_ms", [100, 300, 1000, 5000, 30_000])
def test_a_move_uses_its_limit_less_a_margin_or_the_minimum_time(limit_ms: int) -> None:
    clock = limited(limit_ms)
    margin_s = limit_ms / 1000 - budget_s(clock)
    assert 0.04 <= margin_s <= 0.13 + limit_ms / 10_000
    clock.set_move_limit(0)
    assert budget_s(clock) == pytest.approx(MIN_MOVE_S)


def test_the_margin_grows_with_the_longest_delay_up_to_a_maximum() -> None:
    clock = limited(1000)
    before = budget_s(clock)
    clock.record_delay(0.07)
    clock.record_delay(0.01)
    assert budget_s(clock) == pytest.approx(before - 0.07)
    clock.record_delay(3600.0)  # the machine slept
    assert before / 2 < budget_s(clock) < before


def test_the_margin_is_smaller_where_the_machine_is_known_to_be_calm() -> None:
    clock = limited(500)
    cautious = budget_s(clock)
    for _ in range(49):
        clock.record_delay(0.0)
    assert budget_s(clock) == cautious
    clock.record_delay(0.004)
    assert budget_s(clock) == pytest.approx(0.5 - 0.05 - 0.005 - 0.004)
    clock.record_delay(0.02)
    assert budget_s(clock) == pytest.approx(cautious - 0.02)
    for _ in range(40):
        move(clock)
    assert budget_s(clock) > cautious + 0.05


def test_a_delay_loses_its_weight_from_move_to_move() -> None:
    clock = limited(1000)
    before = budget_s(clock)
    move(clock, late_s=0.2)
    margins = []
    for _ in range(200):
        margins.append(before - budget_s(clock))
        move(clock)
    assert 0.15 < margins[0] < 0.2
    assert margins == sorted(margins, reverse=True)
    assert margins[-1] < 0.01


def test_the_time_of_a_game_is_spread_over_its_moves() -> None:
    clock = limited(game_ms=60_000)
    spent = 0.0
    for number in range(60):
        seconds = budget_s(clock)
        assert seconds <= (60 - spent) / 8 + 1e-9
        if number < 20:
            assert seconds >= 1.0
        move(clock)
        spent += seconds
    assert 50 < spent < 60


def test_the_managers_time_left_replaces_our_count_and_shrinks_with_every_move() -> None:
    clock = limited(game_ms=60_000)
    clock.set_time_left(3000)
    assert budget_s(clock) < 0.2
    clock.set_time_left(2**31 - 1)
    assert budget_s(clock) == DEFAULT_MOVE_S
    clock.set_time_left(10_000)
    before = budget_s(clock)
    clock.record_move(9.0)
    assert budget_s(clock) < before / 5


def test_the_preparation_counts_for_the_game_and_not_for_a_move() -> None:
    clock = limited(1000)
    before = budget_s(clock)
    clock.charge(5.0)
    assert budget_s(clock) == before
    clock.set_game_limit(5000)
    assert budget_s(clock) <= 0


def test_a_new_game_begins_with_all_of_its_time() -> None:
    clock = limited(game_ms=60_000)
    before = budget_s(clock)
    for _ in range(5):
        move(clock)
    clock.new_game()
    assert budget_s(clock) == before


@given(
    st.one_of(st.none(), st.integers(1, 100_000)),
    st.one_of(st.none(), st.integers(0, 1_000_000)),
    st.lists(st.tuples(st.integers(-1000, 1_000_000), st.floats(0, 0.5)), max_size=10),
)
def test_no_limit_is_ever_exceeded(move_ms: int | None, game_ms: int | None, moves: list[tuple[int, float]]) -> None:
    clock = limited(move_ms, game_ms)
    for left_ms, late_s in moves:
        clock.set_time_left(left_ms)
        seconds = budget_s(clock)
        assert not math.isnan(seconds)
        assert seconds < max(left_ms / 1000, 1e-9)
        assert move_ms is None or seconds < move_ms / 1000
        move(clock, late_s=late_s)


def test_an_increment_gives_each_move_more_of_a_games_time() -> None:
    clock, plain = limited(game_ms=30_000), limited(game_ms=30_000)
    clock.set_increment(2000)
    assert budget_s(clock) == pytest.approx(budget_s(plain) + 2.0)
    for each in (clock, plain):
        for _ in range(200):
            move(each)
    assert 1.0 < budget_s(clock) <= 2.5, "with all of its time spent a move has its increment"
    assert budget_s(plain) < 0.1
    clock.set_increment(-5)
    assert budget_s(clock) < 1.0


# Limits


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
