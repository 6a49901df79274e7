"""The time of a move: inside every limit, with room for what may come between, and spread over the game."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomoku_cli.gomocup.clock import GLANCE_S, UNSAID_S, Clock


def thinks(clock: Clock) -> float:
    """What it gives a move, in seconds."""
    return clock.deadline(100.0) - 100.0


def move(clock: Clock, *, late_s: float = 0.0) -> None:
    """A move that took all of its time, and once did not ask for so long whether to stop."""
    seconds = max(thinks(clock), 0.0)
    clock.delayed(late_s)
    clock.answered(seconds)


def test_a_move_takes_its_own_time_where_no_limit_is_named() -> None:
    assert thinks(Clock()) == UNSAID_S
    assert thinks(Clock(unsaid_s=7.0)) == 7.0
    clock = Clock()
    clock.set_match(0)
    clock.set_left(2**31 - 1)
    assert thinks(clock) == UNSAID_S


def test_no_move_takes_more_than_it_is_to_take_at_most() -> None:
    clock = Clock(max_s=0.5)
    assert thinks(clock) == 0.5
    clock.set_turn(60_000)
    assert thinks(clock) == 0.5
    clock.set_turn(100)
    assert thinks(clock) < 0.1


@pytest.mark.parametrize("limit_ms", [100, 300, 1000, 5000, 30_000])
def test_a_move_uses_its_limit_but_for_a_margin(limit_ms: int) -> None:
    clock = Clock()
    clock.set_turn(limit_ms)
    margin_s = limit_ms / 1000 - thinks(clock)
    assert 0.04 <= margin_s <= 0.13 + limit_ms / 10_000


def test_a_limit_of_nothing_asks_for_a_glance() -> None:
    clock = Clock()
    clock.set_turn(0)
    assert thinks(clock) == pytest.approx(GLANCE_S)


def test_the_margin_grows_with_the_worst_delay_but_not_without_end() -> None:
    clock = Clock()
    clock.set_turn(1000)
    before = thinks(clock)
    clock.delayed(0.07)
    clock.delayed(0.01)
    assert thinks(clock) == pytest.approx(before - 0.07)
    clock.delayed(3600.0)  # the machine slept
    assert before / 2 < thinks(clock) < before


def test_a_delay_is_forgotten_in_time() -> None:
    clock = Clock()
    clock.set_turn(1000)
    before = thinks(clock)
    move(clock, late_s=0.2)
    margins = []
    for _ in range(200):
        margins.append(before - thinks(clock))
        move(clock)
    assert 0.15 < margins[0] < 0.2
    assert margins == sorted(margins, reverse=True)
    assert margins[-1] < 0.01


def test_a_match_is_spread_over_its_moves() -> None:
    clock = Clock()
    clock.set_match(60_000)
    spent = 0.0
    for number in range(60):
        seconds = thinks(clock)
        assert seconds <= (60 - spent) / 8 + 1e-9
        if number < 20:
            assert seconds >= 1.0
        move(clock)
        spent += seconds
    assert 50 < spent < 60


def test_what_the_manager_says_is_left_counts_not_what_was_counted_here() -> None:
    clock = Clock()
    clock.set_match(60_000)
    clock.set_left(3000)
    assert thinks(clock) < 0.2
    clock.set_left(2**31 - 1)
    assert thinks(clock) == UNSAID_S


def test_what_is_left_shrinks_with_every_move_where_it_is_told_but_once() -> None:
    clock = Clock()
    clock.set_left(10_000)
    before = thinks(clock)
    clock.answered(9.0)
    assert thinks(clock) < before / 5


@pytest.mark.parametrize("left_ms", [0, -1, -5000])
def test_with_nothing_left_there_is_no_thinking(left_ms: int) -> None:
    clock = Clock()
    clock.set_turn(5000)
    clock.set_left(left_ms)
    assert thinks(clock) <= 0


def test_getting_ready_counts_to_the_match_and_not_to_a_move() -> None:
    clock = Clock()
    clock.set_turn(1000)
    before = thinks(clock)
    clock.charge(5.0)
    assert thinks(clock) == before
    clock.set_match(5000)
    assert thinks(clock) <= 0


def test_a_new_game_begins_with_all_of_its_time() -> None:
    clock = Clock()
    clock.set_match(60_000)
    before = thinks(clock)
    for _ in range(5):
        move(clock)
    clock.new_game()
    assert thinks(clock) == before


@given(
    st.one_of(st.none(), st.integers(1, 100_000)),
    st.one_of(st.none(), st.integers(0, 1_000_000)),
    st.lists(st.tuples(st.integers(-1000, 1_000_000), st.floats(0, 0.5)), max_size=10),
)
def test_no_limit_is_ever_passed(turn_ms: int | None, match_ms: int | None, moves: list[tuple[int, float]]) -> None:
    clock = Clock()
    if turn_ms is not None:
        clock.set_turn(turn_ms)
    if match_ms is not None:
        clock.set_match(match_ms)
    for left_ms, late_s in moves:
        clock.set_left(left_ms)
        seconds = thinks(clock)
        assert not math.isnan(seconds)
        assert seconds < max(left_ms / 1000, 1e-9)
        assert turn_ms is None or seconds < turn_ms / 1000
        move(clock, late_s=late_s)
