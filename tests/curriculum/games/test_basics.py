"""Claims about phase 1's positions: their patterns, the right labels, and that they depend on the seed alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.compiled.rules import compile_rules
from core.compiled.tactics import DOUBLE_THREAT, QUIET, STOP_WIN, WIN, deciding_tactic, immediate_wins
from core.rules import BLACK, EMPTY, NO_CELL, Rules
from curriculum.games.basics import are_right, draw, with_colours_swapped
from curriculum.games.kinds import KINDS, LITERAL_KINDS, OWN_KINDS, REPOSITORY_KINDS, BasicsError
from curriculum.training.samples import Samples
from tests.conftest import WAYS, naive_lines

BOARD = Rules(15, 5)
DECIDED_BY = {
    **dict.fromkeys(("attack-four", "open-four-attack"), (WIN, 1.0)),
    **dict.fromkeys(("four-first", "split-four-first", "broken-four-first"), (WIN, 1.0)),
    **dict.fromkeys(("defend-four", "split-four-defend", "broken-four-defend"), (STOP_WIN, 0.0)),
    "open-four-defend": (STOP_WIN, -1.0),
    **dict.fromkeys(("open-three-attack", "split-three-attack"), (DOUBLE_THREAT, 1.0)),
    **dict.fromkeys(("open-three-defend", "split-three-defend"), (QUIET, 0.0)),
}
"""The tactic that decides a position of each kind, and its z (A IV-B, and the paper's repository)."""
SHARES = {
    **dict.fromkeys(("open-four-attack", "open-four-defend"), ("_oooo_", (0.5, 0.5))),
    **dict.fromkeys(("open-three-attack", "open-three-defend"), ("._ooo_.", (0.5, 0.5))),
    "split-three-attack": (".oo_o.", (1.0,)),
    "split-three-defend": ("_oo_o_", (0.25, 0.5, 0.25)),
    "split-four-defend": ("oo_oo", (1.0,)),
    "broken-four-defend": ("ooo_o", (1.0,)),
}
"""The repository's kinds at a connect length of 5: pattern and pi on its answers."""


def drawn(kind: str, count: int, rules: Rules = BOARD, noise: tuple[int, int] = (0, 30), seed: int = 1) -> Samples:
    return draw(rules, kinds=[kind], positions=count, noise_stones=noise, seed=seed)


def answers_where_laid(stones: NDArray[np.int8], attacker: int, pattern: str, size: int) -> list[list[int]]:
    """The cells of `_` for each way in which the pattern lies on the board, in the pattern's order."""
    found = []
    for row_step, column_step in (*WAYS, *((-rows, -columns) for rows, columns in WAYS)):
        for start in np.ndindex(size + 2, size + 2):
            row, column = start[0] - 1, start[1] - 1
            answers = []
            for i, mark in enumerate(pattern):
                r, c = row + i * row_step, column + i * column_step
                on_board = 0 <= r < size and 0 <= c < size
                stone = stones[r * size + c] if on_board else -attacker
                if not on_board and mark != "x":
                    break
                if stone != {"o": attacker, "_": EMPTY, ".": EMPTY, "x": -attacker}[mark]:
                    break
                if mark == "_":
                    answers.append(r * size + c)
            else:
                found.append(answers)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_pattern_stands_where_the_labels_say(kind: str) -> None:
    samples = drawn(kind, 24)
    pattern = KINDS[kind].pattern(5)
    for row in range(len(samples)):
        stones, to_move = samples.positions.stones[row], int(samples.positions.to_move[row])
        attacker = to_move if KINDS[kind].attacks else -to_move
        laid = answers_where_laid(stones, attacker, pattern, 15)
        policy = samples.policies[row]
        if KINDS[kind].weights is None:
            (answer,) = np.flatnonzero(policy)
            assert policy[answer] == 1.0
            assert any(answer in answers for answers in laid)
        else:
            written, shares = SHARES[kind]
            assert written == pattern
            assert any(np.allclose(policy[answers], shares) for answers in laid)
            assert np.count_nonzero(policy) == len(shares)


@pytest.mark.parametrize("kind", KINDS)
def test_every_label_is_right_by_brute_force(kind: str) -> None:
    samples = drawn(kind, 24, noise=(0, 60))
    decides, value = DECIDED_BY[kind]
    assert np.array_equal(samples.values, np.full(24, value, dtype=np.float32))
    assert samples.policies.sum(axis=1) == pytest.approx(1.0)
    for row in range(len(samples)):
        stones, to_move = samples.positions.stones[row].copy(), int(samples.positions.to_move[row])
        assert not naive_lines(stones, 15, 5), "the game is not over"
        assert deciding_tactic(compile_rules(BOARD), stones, to_move) == decides
        cells = np.flatnonzero(samples.policies[row])
        alone = samples.positions.rows(np.full(len(cells), row))
        assert are_right(BOARD, alone, cells).all()
        if decides in (WIN, STOP_WIN):
            for cell in cells:
                stones[cell] = to_move if decides == WIN else -to_move
                assert any(cell in line for line in naive_lines(stones, 15, 5))
                stones[cell] = EMPTY


@pytest.mark.parametrize("kind", OWN_KINDS)
def test_both_sides_could_win_and_the_side_to_move_does(kind: str) -> None:
    positions = drawn(kind, 24, noise=(0, 60)).positions
    wins = np.empty(225, dtype=np.bool_)
    for stones, to_move in zip(positions.stones, positions.to_move, strict=True):
        assert immediate_wins(compile_rules(BOARD), stones.copy(), int(to_move), wins)
        assert immediate_wins(compile_rules(BOARD), stones.copy(), -int(to_move), wins)


@given(
    size=st.integers(7, 15),
    connect=st.integers(4, 6),
    most=st.integers(0, 12),
    kind=st.sampled_from(tuple(KINDS)),
    seed=st.integers(0, 2**32),
)
def test_colours_stones_and_last_moves_agree(size: int, connect: int, most: int, kind: str, seed: int) -> None:
    if len(KINDS[kind].pattern(connect)) > size:
        return
    samples = drawn(kind, 2, Rules(size, connect), (0, most), seed)
    positions = samples.positions
    for row in range(2):
        stones, to_move = positions.stones[row], int(positions.to_move[row])
        black, white = np.count_nonzero(stones == 1), np.count_nonzero(stones == -1)
        assert black - white == (0 if to_move == BLACK else 1), "a position that a game can reach"
        last, before = (int(cell) for cell in positions.last_moves[row])
        assert stones[last] == -to_move
        assert before == NO_CELL or stones[before] == to_move
        assert not samples.policies[row][stones != EMPTY].any()


def test_the_papers_attacker_is_black_and_the_repositorys_is_either() -> None:
    assert (drawn("attack-four", 30).positions.to_move == 1).all()
    assert (drawn("defend-four", 30).positions.to_move == -1).all()
    for kind in ("open-four-attack", "split-four-defend"):
        assert 5 < np.count_nonzero(drawn(kind, 30).positions.to_move == BLACK) < 25


def test_kinds_come_in_turn_and_equal_numbers() -> None:
    samples = draw(BOARD, kinds=LITERAL_KINDS, positions=40, noise_stones=(0, 20), seed=3)
    assert samples.values.tolist() == [1.0, 0.0] * 20


def test_the_same_seed_draws_the_same_samples() -> None:
    draws = [draw(BOARD, kinds=REPOSITORY_KINDS, positions=24, noise_stones=(0, 20), seed=seed) for seed in (5, 5, 6)]
    assert np.array_equal(draws[0].positions.stones, draws[1].positions.stones)
    assert np.array_equal(draws[0].positions.last_moves, draws[1].positions.last_moves)
    assert np.array_equal(draws[0].policies, draws[1].policies)
    assert not np.array_equal(draws[0].positions.stones, draws[2].positions.stones)
    shorter = draw(BOARD, kinds=REPOSITORY_KINDS, positions=8, noise_stones=(0, 20), seed=5)
    assert np.array_equal(shorter.policies, draws[0].policies[:8]), "each position has a stream of its own"


def test_edges_and_corners_occur() -> None:
    samples = draw(BOARD, kinds=LITERAL_KINDS, positions=3000, noise_stones=(0, 10), seed=2)
    answers = set(samples.policies.argmax(axis=1).tolist())
    assert {0, 14, 210, 224} <= answers, "each corner is an answer"
    edge = {cell for cell in range(225) if cell // 15 in (0, 14) or cell % 15 in (0, 14)}
    assert edge <= answers
    # A four that the edge itself blocks: one white stone fewer is needed.
    stones = samples.positions.stones[1::2]
    without_white = np.maximum(stones[:200], 0)
    assert any(answers_where_laid(row, BLACK, "xoooo_", 15) for row in without_white)


def test_the_number_of_noise_stones_is_in_its_range() -> None:
    counts = np.count_nonzero(drawn("open-four-attack", 60, noise=(20, 40)).positions.stones, axis=1) - 4
    assert counts.min() >= 19, "one fewer where the colours would not come out even"
    assert counts.max() <= 40
    assert counts.max() - counts.min() > 10


def test_swapping_colours_shows_each_net_both_sides() -> None:
    samples = drawn("defend-four", 10)
    both = with_colours_swapped(BOARD, samples)
    assert len(both) == 20
    assert np.array_equal(both.positions.stones[10:], -samples.positions.stones)
    assert np.array_equal(both.positions.to_move[10:], -samples.positions.to_move)
    assert np.array_equal(both.policies[10:], samples.policies)
    assert np.array_equal(both.values[10:], samples.values)
    assert are_right(BOARD, both.positions, both.policies.argmax(axis=1)).all()


@pytest.mark.parametrize(
    ("rules", "kinds", "noise", "message"),
    [
        (BOARD, ["attack-fore"], (0, 9), "there is no kind of basic position 'attack-fore'; did you mean attack-four"),
        (BOARD, [], (0, 9), "at least one kind"),
        (Rules(5, 5), ["attack-four"], (0, 9), "does not fit on a board of 5x5"),
        (Rules(9, 3), ["split-three-attack"], (0, 9), "connect length of 4 or more"),
        (BOARD, ["attack-four"], (9, 0), "noise of 9 to 0 stones makes no sense"),
        (BOARD, ["attack-four"], (-1, 0), "makes no sense"),
        (Rules(7, 3), ["attack-four"], (40, 40), "allow fewer"),
        (Rules(7, 5), ["attack-four"], (48, 48), "do not fit"),
    ],
)
def test_impossible_positions_are_refused(rules: Rules, kinds: list[str], noise: tuple[int, int], message: str) -> None:
    with pytest.raises(BasicsError, match=message):
        draw(rules, kinds=kinds, positions=2, noise_stones=noise, seed=0)
