"""The time of a move: within every limit, with a margin for delays, and spread over the game."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomoku_cli.gomocup.clock import DEFAULT_MOVE_S, MIN_MOVE_S, Clock


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
    clock = Clock()
    clock.set_game_limit(0)
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
def test_a_move_uses_its_limit_less_a_margin(limit_ms: int) -> None:
    clock = Clock()
    clock.set_move_limit(limit_ms)
    margin_s = limit_ms / 1000 - budget_s(clock)
    assert 0.04 <= margin_s <= 0.13 + limit_ms / 10_000


def test_a_limit_of_0_gives_the_minimum_time() -> None:
    clock = Clock()
    clock.set_move_limit(0)
    assert budget_s(clock) == pytest.approx(MIN_MOVE_S)


def test_the_margin_grows_with_the_longest_delay_up_to_a_maximum() -> None:
    clock = Clock()
    clock.set_move_limit(1000)
    before = budget_s(clock)
    clock.record_delay(0.07)
    clock.record_delay(0.01)
    assert budget_s(clock) == pytest.approx(before - 0.07)
    clock.record_delay(3600.0)  # the machine slept
    assert before / 2 < budget_s(clock) < before


def test_the_margin_is_smaller_where_the_machine_is_known_to_be_calm() -> None:
    clock = Clock()
    clock.set_move_limit(500)
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
    clock = Clock()
    clock.set_move_limit(1000)
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
    clock = Clock()
    clock.set_game_limit(60_000)
    spent = 0.0
    for number in range(60):
        seconds = budget_s(clock)
        assert seconds <= (60 - spent) / 8 + 1e-9
        if number < 20:
            assert seconds >= 1.0
        move(clock)
        spent += seconds
    assert 50 < spent < 60


def test_the_managers_time_left_replaces_our_count() -> None:
    clock = Clock()
    clock.set_game_limit(60_000)
    clock.set_time_left(3000)
    assert budget_s(clock) < 0.2
    clock.set_time_left(2**31 - 1)
    assert budget_s(clock) == DEFAULT_MOVE_S


def test_the_time_left_shrinks_with_every_move_after_one_report() -> None:
    clock = Clock()
    clock.set_time_left(10_000)
    before = budget_s(clock)
    clock.record_move(9.0)
    assert budget_s(clock) < before / 5


def test_the_preparation_counts_for_the_game_and_not_for_a_move() -> None:
    clock = Clock()
    clock.set_move_limit(1000)
    before = budget_s(clock)
    clock.charge(5.0)
    assert budget_s(clock) == before
    clock.set_game_limit(5000)
    assert budget_s(clock) <= 0


def test_a_new_game_begins_with_all_of_its_time() -> None:
    clock = Clock()
    clock.set_game_limit(60_000)
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
    clock = Clock()
    if move_ms is not None:
        clock.set_move_limit(move_ms)
    if game_ms is not None:
        clock.set_game_limit(game_ms)
    for left_ms, late_s in moves:
        clock.set_time_left(left_ms)
        seconds = budget_s(clock)
        assert not math.isnan(seconds)
        assert seconds < max(left_ms / 1000, 1e-9)
        assert move_ms is None or seconds < move_ms / 1000
        move(clock, late_s=late_s)


def test_an_increment_gives_each_move_more_of_a_games_time() -> None:
    clock, plain = Clock(), Clock()
    for each in (clock, plain):
        each.set_game_limit(30_000)
    clock.set_increment(2000)
    assert budget_s(clock) == pytest.approx(budget_s(plain) + 2.0)
    for each in (clock, plain):
        for _ in range(200):
            move(each)
    assert 1.0 < budget_s(clock) <= 2.5, "with all of its time spent a move has its increment"
    assert budget_s(plain) < 0.1
    clock.set_increment(-5)
    assert budget_s(clock) < 1.0
