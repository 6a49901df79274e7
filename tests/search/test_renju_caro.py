"""Renju and caro: rules, kernels, threats, solvers and searches against the slow referee of `tests.support.referee`."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.renju import ALLOWED, DOUBLE_FOUR, DOUBLE_THREE, MAKES_FIVE, OVERLINE, verdict
from core.compiled.rules import compile_rules, has_moves, legal_masks, wins
from core.compiled.symmetry import targets
from core.compiled.threats import FIVE, FOUR, NONE, OPEN_FOUR, load, new_threat_board, packed_patterns, place, remove
from core.evaluation import PositionBatch
from core.notation import parse_cell
from core.position import IllegalMoveError, Outcome, Position, Termination
from core.rules import BLACK, DIRECTIONS, EMPTY, WHITE, Rules, Variant
from curriculum.games import basics
from curriculum.games.kinds import KINDS
from curriculum.training.samples import Samples
from search.limit import Limit
from search.mentor.casual import CasualPlayer, Habits
from search.mentor.evaluation import MAYBE_FOUL, built_in_network, new_evaluation
from search.mentor.paper import PaperMentor
from search.mentor.player import Mentor
from search.pure_mcts.player import PureMcts
from search.solvers.vcf import VcfVerdict, find_vcf
from search.tree.mcts import ForestSearch, search_all
from search.tree.settings import SearchSettings
from tests.support import referee
from tests.support.evaluators import ScriptedEvaluator

CARO = (Variant.CARO, Variant.CARO_EXACT)
ALL = (Variant.RENJU, *CARO)
FOULS = {ALLOWED: "", MAKES_FIVE: "five", OVERLINE: "overline", DOUBLE_FOUR: "4-4", DOUBLE_THREE: "3-3"}


def board_of(text: str, size: int = 15) -> list[int]:
    """The stones of a picture: rows from the top, `X` black, `O` white, one character a cell."""
    rows = ["".join(line.split()) for line in text.strip().splitlines()]
    rows = [row.ljust(size, ".") for row in [*rows, *[""] * (size - len(rows))]]
    return ["XO.".index(mark) * -2 + 1 if mark in "XO" else 0 for row in reversed(rows) for mark in row]


def strewn(rules: Rules, random: np.random.Generator) -> NDArray[np.int8]:
    """Random stones with more of Black, as double threes need them."""
    share, black = random.uniform(0.1, 0.8), random.uniform(0.4, 0.8)
    chances = [1 - share, share * black, share * (1 - black)]
    return random.choice(np.array([0, 1, -1], np.int8), rules.cells, p=chances)


def played(rules: Rules, plies: int, random: np.random.Generator) -> Position | None:
    """A game of so many random moves near each other; None if it ended before."""
    position = Position(rules)
    while position.ply < plies:
        if position.is_game_over():
            return None
        legal = position.legal_moves()
        position.push(int(legal[random.integers(len(legal))]))
    return None if position.is_game_over() else position


# By the texts of the rules.

EXAMPLES = [
    # The International Rules of Renju, https://renju.net/rifrules, chapter 9: five before all else, overline, double
    # four, double three; pictures of our own, moves at `h8`.
    ("five wins beside an overline", "h8", ["i8 j8 k8 l8", "h9 h10 h11 h12 h6 h7"], "five"),
    ("five wins beside two fours", "h8", ["i8 j8 k8 l8", "h9 h10 h11", "g9 f10 e11"], "five"),
    ("overline of six", "h8", ["e8 f8 g8 i8 j8"], "overline"),
    ("overline of nine", "h8", ["d8 e8 f8 g8 i8 j8 k8 l8"], "overline"),
    ("two fours in two lines", "h8", ["i8 j8 k8", "h9 h10 h11"], "4-4"),
    ("two fours in one line", "h8", ["d8 f8 g8 j8"], "4-4"),
    ("two fours in one line of pairs", "h8", ["e8 f8 i8 k8 l8"], "4-4"),
    ("a straight four is one four", "h8", ["i8 j8 k8"], ""),
    ("a four and a three", "h8", ["i8 j8 k8", "h9 h10"], ""),
    ("two threes", "h8", ["i8 j8", "h9 h10"], "3-3"),
    ("two threes with gaps", "h8", ["i8 k8", "h9 h11"], "3-3"),
    ("three threes", "h8", ["g8 i8", "h7 h9", "g7 i9"], "3-3"),
    ("a four and two threes", "h8", ["i8 j8 k8", "h9 h10", "g9 f10"], "3-3"),
    ("a three beside a closed one", "h8", ["i8 j8", "h9 h10"], "", "h11"),
    ("a three near the edge", "b2", ["c2 d2", "b3 b4"], "3-3"),
    ("a three at the edge", "a2", ["a3 a4", "b2 c2"], ""),
    # Rémi Coulom at https://ludii.games/forums/showthread.php?tid=87 (2020): `o.xxx..x` is no three, since at one side
    # a stone would make an overline, and at the other White's stone is in the way.
    ("no three beside an overline", "h8", ["i8 j8 m8", "h9 h10"], "", "f8"),
    # The cell of the straight four is itself a foul: an overline across it.
    ("no three by an overline", "h8", ["i8 j8", "h9 h10", "k5 k6 k7 k9 k10", "g5 g6 g7 g9 g10"], ""),
    # A double four across both cells of the straight four.
    ("no three by a double four", "h8", ["i8 j8", "h9 h10", "k5 k6 k7", "g5 g6 g7"], "", "k9 g9"),
    # One of the two cells is free of fouls; a row of four that cannot grow is no four.
    ("a three beside an overline", "h8", ["i8 j8", "h9 h10", "g5 g6 g7 g9 g10"], "3-3"),
    ("a three beside dead rows", "h8", ["i8 j8", "h9 h10", "k5 k6 k7", "g5 g6 g7"], "3-3", "k4 k9 g4 g9"),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example[0]))
def test_published_forbidden_and_allowed_moves(example: tuple[str, ...]) -> None:
    _, move, lines, expected, *white = example
    stones, cell = [0] * 225, parse_cell(move, 15)
    for name in " ".join(lines).split():
        stones[parse_cell(name, 15)] = BLACK
    for name in " ".join(white).split():
        stones[parse_cell(name, 15)] = WHITE
    rules = Rules(variant=Variant.RENJU)
    assert referee.foul(stones, cell, 15) == expected
    for carried in targets(15):
        turned = np.zeros(225, np.int8)
        turned[carried] = stones
        at = int(carried[cell])
        assert FOULS[verdict(turned, 15, at)] == expected
        reason = rules.foul(turned.tolist(), at, BLACK)
        assert (reason.kind if reason else "") == expected.replace("five", "")
        assert rules.foul(turned.tolist(), at, WHITE) is None


def test_a_three_depends_on_moves_that_depend_on_others() -> None:
    random, deepest = np.random.default_rng(5), 0
    rules = Rules(variant=Variant.RENJU)

    def depth_of(stones: list[int], cell: int) -> int:
        """Return the moves in the referee's longest chain: each call of `foul` puts one stone more."""
        before, calls = sum(stone != EMPTY for stone in stones), []

        class Counting(list[int]):
            def __setitem__(self, at: object, stone: object) -> None:
                super().__setitem__(at, stone)  # type: ignore[index, assignment]
                calls.append(sum(each != EMPTY for each in self) - before)

        referee.foul(Counting(stones), cell, 15)
        return max(calls)

    for _ in range(40):
        share = random.uniform(0.25, 0.5)
        stones = random.choice(np.array([0, 1, -1], np.int8), 225, p=[1 - share, share * 0.7, share * 0.3])
        for cell in np.flatnonzero(stones == EMPTY).tolist():
            expected = referee.foul(stones.tolist(), cell, 15)
            assert FOULS[verdict(stones, 15, cell)] == expected
            if expected in ("", "3-3"):
                deepest = max(deepest, depth_of(stones.tolist(), cell))
    assert deepest >= 3
    assert not rules.has_moves([BLACK] * 225, BLACK)


# Rules and kernels.


@pytest.mark.parametrize("variant", ALL)
@pytest.mark.parametrize("size", [5, 8, 15])
def test_rules_and_kernels_are_those_of_the_referee(variant: Variant, size: int) -> None:
    rules, random = Rules(size, variant=variant), np.random.default_rng(size)
    compiled = compile_rules(rules)
    for _ in range(16):
        stones = strewn(rules, random)
        plain = stones.tolist()
        for cell in np.flatnonzero(stones).tolist():
            expected = referee.wins(plain, cell, size, variant)
            assert wins(compiled, stones, cell) == expected
            assert rules.wins(plain, cell) == expected
        for colour in (BLACK, WHITE):
            legal = referee.legal_moves(plain, colour, size, variant)
            assert rules.legal_moves(plain, colour) == legal
            mask = legal_masks(compiled, stones[None], np.array([colour], np.int8))[0]
            assert np.flatnonzero(mask).tolist() == legal
            assert has_moves(compiled, stones, colour) == rules.has_moves(plain, colour) == bool(legal)
        assert stones.tolist() == plain


@pytest.mark.parametrize("variant", ALL)
def test_another_length_is_refused_in_one_line(variant: Variant) -> None:
    with pytest.raises(ValueError, match=rf"^{variant} is played with 5 in a row, not 4$"):
        Rules(9, 4, variant)


def test_a_foul_is_refused_with_its_reason_and_loses_in_a_record() -> None:
    rules = Rules(variant=Variant.RENJU)
    moves = "i8 a1 j8 a3 h9 a5 h10 a7".split()
    position = Position.from_moves(rules, moves)
    assert [position.name_of(cell) for cell in position.fouls()] == ["h8"]
    with pytest.raises(IllegalMoveError, match="renju forbids Black 3-3 at h8: h8-j8 and h8-h10"):
        position.push("h8")
    assert not position.is_legal(parse_cell("h8", 15))
    recorded = Position.from_moves(rules, [*moves, "h8"])
    assert recorded.outcome() == Outcome(Termination.FOUL, WHITE)
    assert recorded.winning_line() == []
    assert recorded.legal_moves() == []
    recorded.pop()
    recorded.push("o15")  # White may play there, of course
    recorded.push("h8")
    assert recorded.outcome() is None
    assert str(rules) == "renju on 15x15"


def test_overlines_of_white_win_in_renju() -> None:
    moves = "a15 a1 c15 b1 e15 c1 g15 e1 i15 f1 k15 d1".split()
    assert Position.from_moves(Rules(variant=Variant.RENJU), moves).winning_line() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("variant", CARO)
def test_caro_by_piskvork_9(variant: Variant) -> None:
    """`doMove1` of https://github.com/plastovicka/Piskvork: two stones enclose, the edge does not."""
    rules = Rules(variant=variant)
    enclosed = "b1 a1 c1 g1 d1 a15 e1 c15 f1".split()
    assert not Position.from_moves(rules, enclosed).is_game_over()
    at_the_edge = "a1 f1 b1 a15 c1 c15 d1 e15 e1".split()
    assert Position.from_moves(rules, at_the_edge).winning_line() == [0, 1, 2, 3, 4]
    six = "b1 a1 c1 h1 d1 a15 f1 c15 g1 e15 e1".split()
    assert Position.from_moves(rules, six).is_game_over() == (variant is Variant.CARO)


def test_five_are_enclosed_in_every_direction_but_not_by_the_edge() -> None:
    rules, stones = Rules(variant=Variant.CARO), [EMPTY] * 225
    for rows, columns in DIRECTIONS:
        first, *five, last = (112 + step * (15 * rows + columns) for step in range(-3, 4))
        for cell in (first, *five, last):
            stones[cell] = BLACK if cell in five else WHITE
        assert all(rules.is_worthless(stones, cell) for cell in five)
        assert not any(rules.wins(stones, cell) for cell in five)
        stones[last] = EMPTY
        assert rules.winning_line(stones, 112) == sorted(five)
        assert not any(rules.is_worthless(stones, cell) for cell in (*five, first))
        stones = [EMPTY] * 225
    # The cell before the first row or column would be one on the other side of the board.
    for line, ends in (("e1 e2 e3 e4 e5", "e6 e15"), ("a2 b2 c2 d2 e2", "f2 o1"), ("o2 n2 m2 l2 k2", "j2 a3")):
        stones = [EMPTY] * 225
        for name in (line + " " + ends).split():
            stones[parse_cell(name, 15)] = BLACK if name in line.split() else WHITE
        assert rules.wins(stones, parse_cell(line[:2], 15))


def test_black_without_a_legal_move_draws() -> None:
    """Both empty cells, d1 and c3, would join a row of six."""
    rules = Rules(6, variant=Variant.RENJU)
    moves = (
        "f1 e4 e1 b2 b6 c6 a2 d4 b4 d6 e6 c4 f2 e2 d3 b5 a3 f6 f5 e5 f3 f4 b1 a4 e3 a6 c5 d2 a1 c2 b3 a5 c1 d5"
    ).split()
    assert Position.from_moves(rules, moves[:-1]).outcome() is None, "White may play there"
    position = Position.from_moves(rules, moves)
    assert position.outcome() == Outcome(Termination.NO_MOVE, None)
    assert position.legal_moves() == []
    assert not has_moves(compile_rules(rules), stones_of(position), BLACK)


def test_fouls_are_found_in_the_corners_and_nowhere_off_the_board() -> None:
    def fouls_of(black: str) -> Position:
        white = "h1 h3 h5 h7 h9 h11 j1 j3 j5 j7 j9 j11".split()
        moves = [move for pair in zip(black.split(), white, strict=False) for move in pair]
        return Position.from_moves(Rules(variant=Variant.RENJU), moves)

    position = fouls_of("a2 a3 a4 b1 c1 d1 o14 o13 o12 n15 m15 l15")
    assert position.fouls() == [0, 224]
    assert [position.foul(cell) for cell in (-225, 225, *position.moves)] == [None] * 26
    assert fouls_of("o1 o2 o3 n1 m2 l3").foul(-1) is None, "two fours would meet below o1"
    over = Position.from_moves(position.rules, [*position.moves, "a1"])
    assert over.is_game_over()
    assert over.foul(224) is None


# Threats.


@cache
def naive_class(line: str, lines: str) -> int:
    """The class of a line of 11 cells with its own stone in the middle; `W` is the wall."""
    start = 5 - (len(line[:5]) - len(line[:5].rstrip("X")))
    end = 6 + len(line[6:]) - len(line[6:].lstrip("X"))
    row, before, after = end - start, line[:start][-1:], line[end:][:1]
    if row > 5:
        return {"exact": NONE, "caro-exact": NONE, "black": OPEN_FOUR}.get(lines, FIVE)
    if row == 5:
        return NONE if "caro" in lines and before == after == "O" else FIVE
    filled = [line[:at] + "X" + line[at + 1 :] for at, cell in enumerate(line) if cell == "."]
    classes = [naive_class(each, lines) for each in filled]
    if lines == "black":  # an overline is no open four
        classes = [NONE if _row_of(each) > 5 else kind for each, kind in zip(filled, classes, strict=True)]
    fives = sum(kind == FIVE and not _is_weak(each, lines) for each, kind in zip(filled, classes, strict=True))
    if fives:
        return OPEN_FOUR if fives > 1 else FOUR
    if OPEN_FOUR in classes:
        return 4
    if FOUR in classes or FIVE in classes:
        return 3
    return 2 if 4 in classes else 1 if 3 in classes else NONE


def _row_of(line: str) -> int:
    return 1 + len(line[:5]) - len(line[:5].rstrip("X")) + len(line[6:]) - len(line[6:].lstrip("X"))


def _is_weak(line: str, lines: str) -> bool:
    """True if a stone at its open end would enclose the five of the middle."""
    start = 5 - (len(line[:5]) - len(line[:5].rstrip("X")))
    end = start + _row_of(line)
    return "caro" in lines and end - start == 5 and {line[start - 1], line[end]} == {"O", "."}


@pytest.mark.parametrize("variant", ALL)
def test_threats_are_those_of_their_definitions(variant: Variant) -> None:
    rules, random = Rules(11, variant=variant), np.random.default_rng(11)
    board = new_threat_board(rules)
    kinds = ("black", "white") if variant is Variant.RENJU else (variant.value,) * 2
    for _ in range(25):
        stones = strewn(rules, random)
        load(board, stones)
        for cell in random.permutation(rules.cells)[:12].tolist():
            for side, colour in enumerate((BLACK, WHITE)):
                for direction, (rows, columns) in enumerate(DIRECTIONS):
                    line = ""
                    for offset in range(-5, 6):
                        row, column = cell // 11 + offset * rows, cell % 11 + offset * columns
                        inside = 0 <= row < 11 and 0 <= column < 11
                        stone = stones[row * 11 + column] if inside else 0
                        line += "X" if offset == 0 or stone == colour else "O" if stone else "." if inside else "W"
                    assert board.patterns[side, direction, cell] == naive_class(line, kinds[side]), line


@pytest.mark.parametrize("variant", ALL)
def test_placing_and_removing_equals_loading(variant: Variant) -> None:
    rules, random = Rules(9, variant=variant), np.random.default_rng(9)
    board, fresh, stones = new_threat_board(rules), new_threat_board(rules), np.zeros(rules.cells, np.int8)
    for step in range(3 * rules.cells):
        cell = int(random.integers(rules.cells))
        if stones[cell] == EMPTY:
            stones[cell] = int(random.choice([1, -1]))
            place(board, cell, int(stones[cell]))
        else:
            remove(board, cell)
            stones[cell] = EMPTY
        if step % 40 == 0:
            load(fresh, stones)
            assert np.array_equal(board.patterns, fresh.patterns)
            assert np.array_equal(board.counts, fresh.counts)


def test_every_foul_is_on_a_cell_with_the_flag() -> None:
    rules, random = Rules(variant=Variant.RENJU), np.random.default_rng(3)
    board, good_for = new_threat_board(rules), new_evaluation(rules, built_in_network()).good_for
    for _ in range(60):
        stones = strewn(rules, random)
        load(board, stones)
        for cell in np.flatnonzero(stones == EMPTY).tolist():
            if verdict(stones, 15, cell) > MAKES_FIVE:
                assert good_for[packed_patterns(board, 0, cell)] & MAYBE_FOUL


# Solvers and searches.


@pytest.mark.slow
@pytest.mark.parametrize("variant", ALL)
def test_wins_by_fours_are_those_of_the_referee(variant: Variant) -> None:
    rules, random = Rules(7, variant=variant), np.random.default_rng(77)
    found, missed = {"win": 0, "none": 0}, 0
    while min(found.values()) < 12:
        position = played(rules, int(random.integers(14, 30)), random)
        if position is None:
            continue
        colour, result = position.side_to_move, find_vcf(position)
        assert result.verdict is not VcfVerdict.UNKNOWN
        wins_it = referee.wins_by_fours(position.stones.tolist(), colour, 7, variant)
        if result.verdict is VcfVerdict.WIN:
            assert wins_it
            after = position.copy()
            for move in result.line:
                after.push(move)
            assert after.outcome() == Outcome(Termination.LINE, colour)
        elif variant is Variant.RENJU:
            assert not wins_it
        else:
            missed += wins_it  # caro's solver leaves out fours with two answers
        found[result.verdict.value] += 1
    assert missed <= 4


def test_a_forbidden_defence_wins_for_white() -> None:
    """White's four at h4 leaves Black h5 alone, where Black would make two threes."""
    rules = Rules(variant=Variant.RENJU)
    stones = {BLACK: "g5 f5 g4 f3 h9".split(), WHITE: "h6 h7 h8 o1 o3".split()}
    moves = [name for pair in zip(stones[BLACK], stones[WHITE], strict=True) for name in pair]
    position = Position.from_moves(rules, [*moves, "a15"])
    assert rules.foul(position.stones, parse_cell("h5", 15), BLACK) is not None
    result = find_vcf(position)
    assert result.verdict is VcfVerdict.WIN
    assert [position.name_of(cell) for cell in result.line[::2]] == ["h4", "h5"]
    assert len(result.line) == 3
    assert find_vcf(Position.from_moves(Rules(), [*moves, "a15"])).line != result.line
    decision = Mentor(Limit(nodes=2000), threads=1).choose(position, seed=0)
    assert position.name_of(decision.move) == "h4"
    assert decision.plies_to_end == 3
    settings = SearchSettings(simulations=100).with_tactics()
    search = ForestSearch(rules, ScriptedEvaluator(rules), settings, trees=1)
    search_all(search, [position], 100)
    assert position.name_of(search.best_move(0)) == "h4"


@pytest.mark.parametrize("variant", ALL)
def test_searches_prove_and_play_what_the_referee_finds(variant: Variant) -> None:
    rules, random = Rules(6, variant=variant), np.random.default_rng(66)
    positions: list[Position] = []
    results: list[int] = []
    known: dict[tuple[int, ...], int] = {}
    while len(positions) < 8:
        position = played(rules, int(random.integers(28, 32)), random)
        if position is not None:
            result = referee.worth(position.stones.tolist(), position.side_to_move, 6, variant, known)
            if result != 0 or results.count(0) < 2:
                positions.append(position)
                results.append(result)
    assert 1 in results
    settings = SearchSettings(simulations=4000).with_tactics()
    search = ForestSearch(rules, ScriptedEvaluator(rules), settings, trees=len(positions))
    search_all(search, positions, 4000)
    mentor = Mentor(Limit(depth=16), threads=1)
    for tree, position in enumerate(positions):
        proof = int(search.forest.nodes["proof"][tree, 0])
        # The proof of the root is that of the edge into it.
        assert (proof < 0) == (results[tree] == 1)
        assert (proof > 0) == (results[tree] == -1)
        for move in (search.best_move(tree), mentor.choose(position, seed=0).move):
            after = position.copy()
            after.push(move)
            outcome = after.outcome()
            got = -referee.worth(after.stones.tolist(), after.side_to_move, 6, variant, known)
            if outcome is not None:
                got = 0 if outcome.winner is None else 1
            assert got == results[tree]
        for player in (PaperMentor(), PureMcts(200), CasualPlayer(Habits())):
            assert position.is_legal(player.choose(position, seed=0).move)


@pytest.mark.parametrize("variant", ALL)
def test_whole_games_of_every_player_are_legal(variant: Variant) -> None:
    rules = Rules(9, variant=variant)
    for seed, player in enumerate((Mentor(Limit(nodes=300), threads=1), PaperMentor(), CasualPlayer(Habits()))):
        position = Position.from_moves(rules, ["e5", "d4", "e4"])
        while not position.is_game_over():
            position.push(player.choose(position, seed=seed + position.ply).move)
        assert position.outcome() is not None


@pytest.mark.parametrize("variant", ALL)
def test_basic_positions_are_right(variant: Variant) -> None:
    rules = Rules(9, variant=variant)
    drawn = basics.draw(rules, kinds=tuple(KINDS), positions=48, noise_stones=(0, 12), seed=1)
    samples = basics.with_colours_swapped(rules, drawn)
    assert 90 < len(samples) <= 96
    for row in range(len(samples)):
        stones, colour = samples.positions.stones[row].tolist(), int(samples.positions.to_move[row])
        assert not any(stones[cell] and referee.wins(stones, cell, 9, variant) for cell in range(rules.cells))
        for cell in np.flatnonzero(samples.policies[row]).tolist():
            assert referee.is_legal(stones, cell, colour, 9, variant)
    assert basics.are_right(rules, samples.positions, samples.policies.argmax(axis=1)).all()


def test_a_swapped_copy_with_a_forbidden_answer_is_left_out() -> None:
    """White stops a four on h5, where Black, in its place, would make two threes."""
    stones = np.zeros((1, 225), np.int8)
    for colour, names in ((BLACK, "h4 h6 h7 h8"), (WHITE, "g5 f5 g4 f3 h9")):
        stones[0, [parse_cell(name, 15) for name in names.split()]] = colour
    policy = np.zeros((1, 225), np.float32)
    policy[0, parse_cell("h5", 15)] = 1
    batch = PositionBatch(stones, np.array([WHITE], np.int8), np.full((1, 2), -1, np.int16))
    samples = Samples.plain(batch, policy, np.zeros(1, np.float32))
    for variant, copies in ((Variant.FREESTYLE, 1), (Variant.CARO, 1), (Variant.RENJU, 0)):
        assert len(basics.with_colours_swapped(Rules(variant=variant), samples)) == 1 + copies
