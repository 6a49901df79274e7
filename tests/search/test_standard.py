"""Standard: exactly `connect` stones win. Rules, kernels, searches and solvers against plain Python of their own."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from core.compiled.rules import compile_rules, wins
from core.compiled.symmetry import targets
from core.compiled.tactics import immediate_wins
from core.compiled.threats import FIVE, FOUR, NONE, OPEN_FOUR, load, new_threat_board, place, remove
from core.position import Position
from core.rules import EMPTY, Rules, Variant
from curriculum.games import basics
from curriculum.games.kinds import KINDS
from curriculum.games.mentor_games import random_opening
from search.limit import Limit
from search.mentor.paper import PaperMentor
from search.mentor.player import Mentor
from search.pure_mcts.player import PureMcts
from search.solvers.vcf import VcfVerdict, find_vcf
from search.tree.mcts import ForestSearch, search_all
from search.tree.settings import SearchSettings
from tests.support.evaluators import ScriptedEvaluator

WAYS = ((0, 1), (1, 0), (1, 1), (-1, 1))
Stones = tuple[int, ...]


def exact(size: int, connect: int = 5) -> Rules:
    return Rules(size, connect, Variant.STANDARD)


def line_of(stones: Stones | list[int], cell: int, size: int, way: tuple[int, int], reach: int) -> str:
    """The line through a cell of a colour: `X` for its own, `O` for others and the wall, its middle the cell."""
    colour, text = stones[cell], ""
    for offset in range(-reach, reach + 1):
        row, column = cell // size + offset * way[0], cell % size + offset * way[1]
        inside = 0 <= row < size and 0 <= column < size
        stone = stones[row * size + column] if inside else -colour
        text += "X" if stone == colour else "." if stone == EMPTY else "O"
    return text


def has_won(stones: Stones | list[int], cell: int, rules: Rules) -> bool:
    """Some run through the stone has exactly the length of a line."""
    for way in WAYS:
        line = line_of(stones, cell, rules.size, way, rules.connect)
        before, after = line[: rules.connect], line[rules.connect + 1 :]
        run = len(before) - len(before.rstrip("X")) + 1 + len(after) - len(after.lstrip("X"))
        if run == rules.connect:
            return True
    return False


@cache
def class_of(line: str, connect: int) -> int:
    """The class of a line of 2k+1 cells with its own stone in the middle, by the definitions of the classes."""
    before, after = line[:connect], line[connect + 1 :]
    run = len(before) - len(before.rstrip("X")) + 1 + len(after) - len(after.lstrip("X"))
    if run == connect:
        return FIVE
    filled = [line[:at] + "X" + line[at + 1 :] for at, cell in enumerate(line) if cell == "."]
    classes = [class_of(each, connect) for each in filled]
    fives = classes.count(FIVE)
    if fives:
        return OPEN_FOUR if fives > 1 else FOUR
    for stronger, weaker in ((OPEN_FOUR, 4), (FOUR, 3), (4, 2), (3, 1)):
        if stronger in classes:
            return weaker
    return NONE


def strewn(rules: Rules, random: np.random.Generator) -> NDArray[np.int8]:
    share = random.uniform(0.1, 0.9)
    return random.choice(np.array([0, 1, -1], np.int8), rules.cells, p=[1 - share, share / 2, share / 2])


def wins_of(stones: list[int], colour: int, rules: Rules) -> list[int]:
    """The empty cells on which a stone of a colour wins."""
    found = []
    for cell in range(rules.cells):
        if stones[cell] == EMPTY:
            stones[cell] = colour
            if has_won(stones, cell, rules):
                found.append(cell)
            stones[cell] = EMPTY
    return found


def test_six_in_a_row_win_nothing_and_five_win() -> None:
    moves = "a1 a3 b1 b3 c1 c3 e1 e3 f1 o15 d1".split()
    assert not Position.from_moves(exact(15), moves).is_game_over()
    assert Position.from_moves(Rules(), moves).winning_line() == [0, 1, 2, 3, 4, 5]
    five = Position.from_moves(exact(15), "a1 a3 b1 b3 c1 c3 e1 e3 d1".split())
    assert five.winning_line() == [0, 1, 2, 3, 4]
    assert str(exact(15)) == "exactly 5 in a row on 15x15"


@pytest.mark.parametrize(("size", "connect"), [(3, 3), (6, 3), (8, 4), (15, 5), (12, 6)])
def test_rules_kernels_and_threats_are_those_of_plain_python(size: int, connect: int) -> None:
    rules, random = exact(size, connect), np.random.default_rng(size)
    compiled, board = compile_rules(rules), new_threat_board(rules)
    marks = np.empty(rules.cells, dtype=np.bool_)
    for _ in range(12):
        stones = strewn(rules, random)
        plain = stones.tolist()
        for cell in np.flatnonzero(stones).tolist():
            assert wins(compiled, stones, cell) == rules.wins(plain, cell) == has_won(plain, cell, rules)
        load(board, stones)
        for side, colour in enumerate((1, -1)):
            immediate_wins(compiled, stones, colour, marks)
            assert np.flatnonzero(marks).tolist() == wins_of(plain, colour, rules)
            for cell in random.permutation(rules.cells)[:30].tolist():
                with_stone = [*plain[:cell], colour, *plain[cell + 1 :]]
                # The board's directions: along a row, a column, and the diagonals.
                ways = ((0, 1), (1, 0), (1, 1), (1, -1))
                expected = [class_of(line_of(with_stone, cell, size, way, connect), connect) for way in ways]
                assert board.patterns[side, :, cell].tolist() == expected


@pytest.mark.parametrize(("size", "connect"), [(7, 3), (15, 5)])
def test_placing_and_removing_equals_loading_in_every_symmetry(size: int, connect: int) -> None:
    rules, random = exact(size, connect), np.random.default_rng(connect)
    board, fresh, stones = new_threat_board(rules), new_threat_board(rules), np.zeros(rules.cells, np.int8)
    for step in range(3 * rules.cells):
        cell = int(random.integers(rules.cells))
        if stones[cell] == EMPTY:
            stones[cell] = int(random.choice([1, -1]))
            place(board, cell, int(stones[cell]))
        else:
            remove(board, cell)
            stones[cell] = EMPTY
        if step % 50 == 0:
            load(fresh, stones)
            assert np.array_equal(board.patterns, fresh.patterns)
            assert np.array_equal(board.counts, fresh.counts)
    strongest = board.patterns.max(axis=1)
    for carried in targets(size):
        turned = np.empty_like(stones)
        turned[carried] = stones
        load(fresh, turned)
        assert np.array_equal(fresh.patterns.max(axis=1)[:, carried], strongest)


def wins_by_fours(stones: list[int], colour: int, rules: Rules) -> bool:
    """True if a side to move wins by fours alone: each move but the last leaves one reply."""
    if wins_of(stones, colour, rules):
        return True
    must = wins_of(stones, -colour, rules)
    if len(must) > 1:
        return False
    for cell in must or [cell for cell in range(rules.cells) if stones[cell] == EMPTY]:
        if stones[cell] != EMPTY:
            continue
        stones[cell] = colour
        fives = wins_of(stones, colour, rules)
        won = len(fives) > 1
        if len(fives) == 1:
            stones[fives[0]] = -colour
            won = wins_by_fours(stones, colour, rules)
            stones[fives[0]] = EMPTY
        stones[cell] = EMPTY
        if won:
            return True
    return False


@pytest.mark.parametrize(("size", "connect"), [(5, 3), (6, 4), (7, 4), (7, 5)])
def test_wins_by_fours_are_those_of_plain_python(size: int, connect: int) -> None:
    rules, random = exact(size, connect), np.random.default_rng(100 * size + connect)
    found = set()
    for _ in range(25):
        position = random_opening(rules, (4, rules.cells // 2), random)
        plain, colour = position.stones.tolist(), position.side_to_move
        result = find_vcf(position)
        assert (result.verdict is VcfVerdict.WIN) == wins_by_fours(plain, colour, rules)
        assert result.verdict is not VcfVerdict.UNKNOWN
        played = position.copy()
        for move in result.line:
            played.push(move)
        if result.line:
            outcome = played.outcome()
            assert outcome is not None
            assert outcome.winner == colour
        found.add(result.verdict)
    assert found == {VcfVerdict.WIN, VcfVerdict.NONE}


@cache
def worth(stones: Stones, colour: int, size: int, connect: int) -> int:
    """The result for the side to move under best play: 1, 0 or -1."""
    rules, best = exact(size, connect), -2
    for cell in range(size * size):
        if stones[cell] == EMPTY:
            after = (*stones[:cell], colour, *stones[cell + 1 :])
            got = 1 if has_won(after, cell, rules) else -worth(after, -colour, size, connect)
            best = max(best, got)
            if best == 1:
                break
    return 0 if best == -2 else best


@pytest.mark.parametrize("connect", [3, 4])
def test_searches_prove_and_play_what_plain_python_finds(connect: int) -> None:
    rules, random = exact(4, connect), np.random.default_rng(connect)
    settings = SearchSettings(simulations=3000).with_tactics()
    positions = [random_opening(rules, (7, 8), random) for _ in range(6)]
    search = ForestSearch(rules, ScriptedEvaluator(rules), settings, trees=len(positions))
    search_all(search, positions, 3000)
    mentor = Mentor(Limit(depth=16), threads=1)
    for tree, position in enumerate(positions):
        result = worth(tuple(position.stones), position.side_to_move, 4, connect)
        proof = int(search.forest.nodes["proof"][tree, 0])
        # The proof of the root is that of the edge into it.
        assert (proof < 0) == (result == 1)
        assert (proof > 0) == (result == -1)
        for move in (search.best_move(tree), mentor.choose(position, seed=0).move):
            after = list(position.stones)
            after[move] = position.side_to_move
            got = 1 if has_won(after, move, rules) else -worth(tuple(after), -position.side_to_move, 4, connect)
            assert got == result
        for player in (PaperMentor(), PureMcts(500)):
            assert player.choose(position, seed=0).move in position.legal_moves()


def test_basic_positions_are_right_and_overlines_win_none() -> None:
    rules = exact(9)
    samples = basics.draw(rules, kinds=tuple(KINDS), positions=36, noise_stones=(0, 12), seed=1)
    for row in range(len(samples)):
        stones = samples.positions.stones[row].tolist()
        assert not any(stones[cell] and has_won(stones, cell, rules) for cell in range(rules.cells))
    assert basics.are_right(rules, samples.positions, samples.policies.argmax(axis=1)).all()
