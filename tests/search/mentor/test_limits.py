"""Limits of the mentor's search: nodes, depth, time, stop; its levels."""

from collections.abc import Callable

import pytest

from core.rules import BLACK
from curriculum.arena.players import PlayerSettings, PlayerSpecError, parse_player
from search.analysis import Analysis
from search.limit import Limit
from search.mentor import deepening
from search.mentor.player import DEFAULT_LIMIT, LEVELS, Mentor
from search.players import Decision, How
from search.solvers.vcf import NOT_KNOWN
from search.tree.settings import Policy
from tests.support.mentor_positions import RULES, openings, position, takes_many_nodes


@takes_many_nodes
def test_more_nodes_are_spent_when_allowed_and_a_stop_ends_the_search() -> None:
    board = position(BLACK, "g7 h8", "h7 i9")
    few, many = (Mentor(Limit(nodes=nodes)).choose_batch([board], seeds=[0])[0].simulations for nodes in (1000, 20000))
    stopped = Mentor(Limit(nodes=20000)).choose_batch([board, board], seeds=[0, 1], stop=lambda: True)
    # Searches for fours at the last node may take some more.
    assert few <= 1100 < 10000 < many <= 20100
    assert len(stopped) == 2
    assert all(decision.simulations <= few and board.is_legal(decision.move) for decision in stopped)


def test_the_clock_ends_a_search() -> None:
    board = position(BLACK, "g7 h8", "h7 i9")
    analysis = Mentor(Limit(seconds=0.05)).search(board)[1]
    assert analysis.depth > 0
    assert analysis.seconds < 10


def test_a_depth_ends_a_search() -> None:
    board = position(BLACK, "g7 h8", "h7 i9")
    for depth in (1, 2, 3):
        assert Mentor().search(board, Limit(depth=depth))[1].depth == depth


@takes_many_nodes
def test_a_search_by_the_clock_uses_the_table_of_the_last_one() -> None:
    mentor, limit = Mentor(Limit(nodes=3000)), Limit(depth=9, seconds=600.0)
    boards = openings()
    first, again = (sum(mentor.search(board, limit)[1].nodes for board in boards) for _ in range(2))
    assert again < 0.75 * first
    fresh = Mentor().search(boards[0], Limit(nodes=3000))[1]
    by_nodes = mentor.search(boards[0])[1]
    assert (by_nodes.nodes, by_nodes.variation) == (fresh.nodes, fresh.variation), "where nodes count all is forgotten"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Limit(depth=0), "depth is 0"),
        (lambda: Limit(nodes=-1), "nodes is -1"),
        (lambda: Limit(seconds=0.0), "seconds is 0.0"),
        (lambda: Limit(), "at least one"),
        (lambda: Mentor(variety=-1), "variety"),
        (lambda: Mentor(memory_bytes=0), "memory_bytes"),
        (lambda: Mentor(threads=0), "threads is 0"),
    ],
)
def test_numbers_out_of_range_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_levels_are_players_and_may_have_a_time_limit_too() -> None:
    for spec, nodes in (("mentor", None), *((f"mentor:{level}", LEVELS[level]) for level in LEVELS)):
        player = parse_player(spec, rules=RULES, settings=PlayerSettings())
        timed = parse_player(spec, rules=RULES, settings=PlayerSettings(seconds=0.5))
        assert isinstance(player, Mentor)
        assert isinstance(timed, Mentor)
        assert player.name == timed.name == spec
        assert player.limit == Limit(nodes=nodes or DEFAULT_LIMIT.nodes)
        assert timed.limit == Limit(nodes=nodes, seconds=0.5), "without a level the time alone limits it"
    sure = parse_player("mentor", rules=RULES, settings=PlayerSettings(policy=Policy.DETERMINISTIC))
    assert isinstance(sure, Mentor)
    assert sure.variety == 0
    with pytest.raises(PlayerSpecError, match="names no player"):
        parse_player("mentor:6", rules=RULES, settings=PlayerSettings())


def test_the_best_move_so_far_is_known_from_the_first_check_on() -> None:
    board = position(BLACK, "g7 h8", "h7 i9")
    mentor = Mentor(Limit(seconds=float("inf")))
    told: list[Decision | Analysis] = []
    checks = 0

    def stop() -> bool:
        nonlocal checks
        checks += 1
        assert told
        return checks > 20

    mentor.search(board, how=How(0, stop, told.append))
    assert all(isinstance(best, Analysis) or board.is_legal(best.move) for best in told)


def test_a_search_by_the_clock_looks_for_fours_in_short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[int] = []

    def give_up(board: object, work: object, side: int, nodes: int) -> int:
        pieces.append(nodes)
        return NOT_KNOWN

    monkeypatch.setattr(deepening, "solve_vcf", give_up)
    board = position(BLACK, "g7 h8", "h7 i9")
    checks = iter(range(100))
    Mentor(Limit(seconds=float("inf"))).search(board, how=How(stop=lambda: next(checks) >= 2))
    assert pieces == [2000, 4000]
    Mentor().search(board, Limit(nodes=40_000, depth=1))[1]
    assert pieces == [2000, 4000, 10_000]
