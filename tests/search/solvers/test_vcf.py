"""Wins by continuous fours: a claimed win holds against every defence, and a denied one does not exist."""

import os
from collections.abc import Iterator
from itertools import chain

import numpy as np
import pytest
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.threats import ThreatBoard, load, new_threat_board, side_of
from core.notation import cell_name, parse_cell
from core.position import Position
from core.rules import BLACK, EMPTY, NO_CELL, WHITE, Cell, Colour, Rules, Variant
from search.solvers.vcf import NO_WIN, NOT_KNOWN, VcfVerdict, VcfWork, find_vcf, new_vcf_work, solve_vcf
from tests.support.cases import cases
from tests.support.naive_vcf import NaiveBoard

KERNELS_ARE_PYTHON = os.environ.get("NUMBA_DISABLE_JIT") == "1"

RULES = Rules(15, 5)
Stones = NDArray[np.int8]

SMALL = [(4, 3), (5, 3), (5, 4), (6, 4), (6, 5), (7, 5), (8, 5), (7, 6), (8, 6)]
"""Size and connect length of boards that brute force can take."""
LARGE = [(9, 4), (9, 5), (11, 5), (15, 5), (15, 6), (19, 6), (25, 5)]


def share(count: int) -> int:
    """Return `count`, or fewer where kernels are plain Python and slow."""
    return max(1, count // 50) if KERNELS_ARE_PYTHON else count


def drawn(rules: Rules, count: int, chance: np.random.Generator) -> Iterator[Stones]:
    """Yield boards without a line: equal stones of both colours at random on a part of the board, at any edge."""
    naive = NaiveBoard(rules.size, rules.connect)
    while count:
        span = int(chance.integers(min(rules.connect + 1, rules.size), min(rules.size, 11) + 1))
        stones = np.zeros((rules.size, rules.size), dtype=np.int8)
        part = np.zeros(span * span, dtype=np.int8)
        cells = chance.permutation(span * span)[: int(span * span * chance.uniform(0.1, 0.55))]
        part[cells[::2]], part[cells[1::2]] = BLACK, WHITE
        row, column = chance.integers(rules.size - span + 1, size=2)
        stones[row : row + span, column : column + span] = part.reshape(span, span)
        if not any(naive.has_line(side) for side in naive.of_stones(stones.ravel().tolist(), BLACK)):
            count -= 1
            yield stones.ravel()


def played(rules: Rules, games: int, chance: np.random.Generator, plies: int = 625) -> Iterator[Position]:
    """Yield the first positions of games in which both sides play for patterns, their own and the enemy's."""
    board = new_threat_board(rules)
    for _ in range(games):
        position = Position(rules)
        for cell in chance.permutation(rules.cells)[:6].tolist():
            position.push(cell)
        while not position.is_game_over() and position.ply < plies:
            yield position
            load(board, stones_of(position))
            worths = (3.0**board.patterns).sum(axis=(0, 1)) * chance.uniform(0.3, 1.0, size=rules.cells)
            position.push(int(np.argmax(np.where(stones_of(position) == EMPTY, worths, -1.0))))


def board_of(rules: Rules, colour: Colour, own: str, enemy: str) -> Position:
    """Return a position with `colour` to move, of stones by name. Black may have more stones than turns allow."""
    position = Position(rules)
    for names, stone in ((own, colour), (enemy, -colour)):
        for name in names.split():
            position.stones[parse_cell(name, rules.size)] = stone
    if colour == WHITE:
        position.moves.append(NO_CELL)  # so that it is White's turn
    return position


def names_of(line: tuple[Cell, ...], size: int) -> list[str]:
    return [cell_name(cell, size) for cell in line]


class Claims:
    """The solver on boards of one kind, and the checks of its claims."""

    def __init__(self, rules: Rules) -> None:
        self.rules, self.naive = rules, NaiveBoard(rules.size, rules.connect)
        self.board: ThreatBoard = new_threat_board(rules)
        self.vcf, self.in_depth = new_vcf_work(rules), new_vcf_work(rules, 8)
        self.wins = self.missed = 0
        """Wins found, and those of them that the search in depth gives up."""

    def vcf_plies(self, stones: Stones, colour: Colour, nodes: int = 50_000) -> int:
        """Return the solver's answer; check the line of a claimed win against every reply to every four."""
        load(self.board, stones)
        own, enemy = self.naive.of_stones(stones.tolist(), colour)

        def searched(work: VcfWork, *, shortest: bool) -> int:
            plies = solve_vcf(self.board, work, side_of(colour), nodes, shortest)
            np.testing.assert_array_equal(self.board.stones, stones)
            if plies > 0:
                assert self.naive.follows(own, enemy, work.line[:plies].tolist())
            return plies

        plies = searched(self.vcf, shortest=True)
        self.in_depth.table[:] = 0
        in_depth = searched(self.in_depth, shortest=False)
        if plies >= 0 and in_depth > 0:
            assert in_depth >= plies > 0
        self.wins += plies > 0
        self.missed += plies > 0 and in_depth == NO_WIN
        return plies


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize(("own", "enemy", "line", "plies", "why"), cases("wins_by_fours"))
def test_positions_that_a_player_would_know(
    own: str, enemy: str, line: str, plies: int, why: str, colour: Colour
) -> None:
    found = find_vcf(board_of(RULES, colour, own, enemy))
    assert (found.verdict == VcfVerdict.WIN, found.verdict == VcfVerdict.NONE) == (plies > 0, plies == 0), why
    assert names_of(found.line, 15)[: len(line.split())] == line.split()
    assert len(found.line) == plies or plies == 7


def test_in_caro_a_four_that_leaves_a_five_which_its_reply_does_not_prevent_wins() -> None:
    """The second five lies in another line; it is no four, since a stone at its open end would prevent it."""
    rules = Rules(15, variant=Variant.CARO)
    moves = ["e11", "e13", "e10", "e6", "e9", "a1", "a8", "o15", "b8", "l1", "c8", "o3"]
    found = find_vcf(Position.from_moves(rules, moves))
    assert (found.verdict, [cell_name(cell, 15) for cell in found.line[:2]]) == (VcfVerdict.WIN, ["e8", "d8"])
    assert len(found.line) == 3
    assert cell_name(found.line[2], 15) in ("e7", "e12")


def test_in_renju_the_search_in_depth_tries_fours_that_only_forbid_a_reply() -> None:
    """White's four at k7 makes nothing else; Black's reply at k8 makes the reply to the next four a foul."""
    rules = Rules(15, variant=Variant.RENJU)
    moves = "j12 k10 j9 l11 m10 k11 j11 j10 l12 h10 l10 k9 k12".split()
    board, work = new_threat_board(rules), new_vcf_work(rules, 8)
    load(board, stones_of(Position.from_moves(rules, moves)))
    plies = solve_vcf(board, work, side_of(WHITE), 30, False)
    assert names_of(tuple(work.line[:plies:2]), 15) == ["k7", "g10", "i10"]


@pytest.mark.parametrize("variant", [Variant.CARO, Variant.CARO_EXACT])
def test_in_caro_a_win_by_fours_holds_against_every_reply(variant: Variant) -> None:
    rules, chance, found = Rules(9, variant=variant), np.random.default_rng(3), 0
    # Full boards have hardly a win by fours: of most games they are left out.
    for position in chain(played(rules, share(100), chance), played(rules, share(500), chance, 40)):
        if plies := len(find_vcf(position).line):
            found += plies > 1
            check_win(position, plies)
    assert found > share(20)


def check_win(position: Position, plies: int) -> None:
    """Assert that the solver's win holds: each reply to its first move leaves a five, or a shorter win by fours."""
    line = find_vcf(position).line
    assert 0 < len(line) <= plies
    after = position.copy()
    after.push(line[0])
    if len(line) == 1:
        outcome = after.outcome()
        assert outcome is not None
        assert outcome.winner == position.side_to_move
        return
    for reply in after.legal_moves():
        tried = after.copy()
        tried.push(reply)
        assert not tried.is_game_over()
        check_win(tried, plies - 2)


def test_a_finished_game_and_a_search_of_nothing_are_refused() -> None:
    over = Position.from_moves(Rules(3, 3), [0, 3, 1, 4, 2])
    with pytest.raises(ValueError, match="over"):
        find_vcf(over)
    with pytest.raises(ValueError, match="nodes is 0"):
        find_vcf(Position(RULES), nodes=0)


def test_too_few_nodes_are_no_proof() -> None:
    board = board_of(RULES, BLACK, "g7 h7 i7 j8 j9", "f7 a1 a3")
    assert find_vcf(board, nodes=1).verdict == VcfVerdict.UNKNOWN


def test_a_repeated_search_takes_fewer_nodes() -> None:
    board = board_of(RULES, BLACK, "g7 h7 i7 j8 j9", "f7 a1 a3")
    work = new_vcf_work(RULES)
    first, again = find_vcf(board, work=work), find_vcf(board, work=work)
    assert first.verdict == again.verdict == VcfVerdict.WIN
    assert again.nodes < first.nodes
    work.table[:] = 0
    assert find_vcf(board, work=work) == first


def test_the_line_of_a_win_by_fours_is_a_game_that_ends_with_it() -> None:
    rules = Rules(9, 5)
    work, won = new_vcf_work(rules), 0
    for position in played(rules, share(20), np.random.default_rng(2)):
        found = find_vcf(position, nodes=500, work=work)
        if found.verdict == VcfVerdict.WIN:
            game = position.copy()
            for cell in found.line:
                game.push(cell)
            outcome = game.outcome()
            assert outcome is not None and outcome.winner == position.side_to_move
            won += 1
        else:
            assert found.line == ()
    assert won or KERNELS_ARE_PYTHON


@pytest.mark.parametrize(("size", "connect"), [(7, 4), (9, 5), (11, 5), (9, 4)])
def test_in_games_the_colours_are_alike(size: int, connect: int) -> None:
    rules = Rules(size, connect)
    claims, longest = Claims(rules), 0
    for position in played(rules, share(10), np.random.default_rng(size)):
        stones = stones_of(position)
        for colour in (BLACK, WHITE):
            plies = claims.vcf_plies(stones, colour, 2_000)
            if plies != NOT_KNOWN:
                assert claims.vcf_plies(-stones, -colour) == plies
            if plies > 0:
                longest = max(longest, plies)
    assert longest > 3 or KERNELS_ARE_PYTHON


@pytest.mark.parametrize(("size", "connect"), SMALL)
def test_a_win_by_fours_is_found_if_and_only_if_there_is_one(size: int, connect: int) -> None:
    claims, found = Claims(Rules(size, connect)), 0
    for stones in drawn(claims.rules, share(400), np.random.default_rng(size * connect)):
        for colour in (BLACK, WHITE):
            own, enemy = claims.naive.of_stones(stones.tolist(), colour)
            assert (claims.vcf_plies(stones, colour) > 0) == claims.naive.has_vcf(own, enemy)
            found += claims.naive.known.get((own, enemy), False)
    assert found or KERNELS_ARE_PYTHON
    assert claims.missed <= 0.2 * claims.wins


@pytest.mark.parametrize(("size", "connect"), LARGE)
def test_a_win_by_fours_holds_and_is_not_missed_on_large_boards(size: int, connect: int) -> None:
    claims = Claims(Rules(size, connect))
    for stones in drawn(claims.rules, share(100), np.random.default_rng(size * connect)):
        for colour in (BLACK, WHITE):
            plies = claims.vcf_plies(stones, colour, 2_000)
            if plies == NO_WIN and claims.vcf.tally[0] < 60:
                own, enemy = claims.naive.of_stones(stones.tolist(), colour)
                assert not claims.naive.has_vcf(own, enemy)
