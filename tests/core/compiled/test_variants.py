"""Standard, renju and caro: rules, kernels and threats against the slow referee of `tests.support.referee`."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.renju import ALLOWED, DOUBLE_FOUR, DOUBLE_THREE, MAKES_FIVE, OVERLINE, verdict
from core.compiled.rules import compile_rules, has_moves, legal_masks, wins
from core.compiled.symmetry import targets
from core.compiled.tactics import immediate_wins
from core.compiled.threats import FIVE, FOUR, NONE, OPEN_FOUR, load, new_threat_board
from core.notation import parse_cell
from core.position import IllegalMoveError, Outcome, Position, Termination
from core.rules import BLACK, DIRECTIONS, EMPTY, WHITE, Rules, Variant
from tests.support import referee

CARO = (Variant.CARO, Variant.CARO_EXACT)
ALL = (Variant.STANDARD, Variant.RENJU, *CARO)
GAMES = [Rules(size, variant=variant) for variant in ALL for size in (5, 8, 15)]
GAMES += [Rules(size, connect, Variant.STANDARD) for size, connect in ((3, 3), (6, 3), (9, 4), (12, 6))]
FOULS = {ALLOWED: "", MAKES_FIVE: "five", OVERLINE: "overline", DOUBLE_FOUR: "4-4", DOUBLE_THREE: "3-3"}


def strewn(rules: Rules, random: np.random.Generator) -> NDArray[np.int8]:
    """Random stones with more of Black, as double threes need them."""
    share, black = random.uniform(0.1, 0.8), random.uniform(0.4, 0.8)
    chances = [1 - share, share * black, share * (1 - black)]
    return random.choice(np.array([0, 1, -1], np.int8), rules.cells, p=chances)


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
    """On boards this full the referee asks for fouls of fouls, three deep and more."""
    random = np.random.default_rng(5)
    for _ in range(40):
        share = random.uniform(0.25, 0.5)
        stones = random.choice(np.array([0, 1, -1], np.int8), 225, p=[1 - share, share * 0.7, share * 0.3])
        (mask,) = legal_masks(compile_rules(Rules(variant=Variant.RENJU)), stones[None], np.array([BLACK], np.int8))
        for cell in np.flatnonzero(stones == EMPTY).tolist():
            foul = referee.foul(stones.tolist(), cell, 15)
            assert FOULS[verdict(stones, 15, cell)] == foul
            assert mask[cell] == (foul in ("", "five"))
    assert not Rules(variant=Variant.RENJU).has_moves([BLACK] * 225, BLACK)


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: f"{rules.size}-{rules.variant}")
def test_rules_and_kernels_are_those_of_the_referee(rules: Rules) -> None:
    random, compiled, marks = np.random.default_rng(rules.size), compile_rules(rules), np.empty(rules.cells, np.bool_)
    size, variant, connect = rules.size, rules.variant, rules.connect
    for _ in range(16):
        stones = strewn(rules, random)
        plain = stones.tolist()
        for cell in np.flatnonzero(stones).tolist():
            expected = referee.wins(plain, cell, size, variant, connect)
            assert wins(compiled, stones, cell) == rules.wins(plain, cell) == expected
        for colour in (BLACK, WHITE):
            legal = referee.legal_moves(plain, colour, size, variant)
            assert rules.legal_moves(plain, colour) == legal
            mask = legal_masks(compiled, stones[None], np.array([colour], np.int8))[0]
            assert np.flatnonzero(mask).tolist() == legal
            assert has_moves(compiled, stones, colour) == rules.has_moves(plain, colour) == bool(legal)
            immediate_wins(compiled, stones, colour, marks)
            assert np.flatnonzero(marks).tolist() == referee.winning_moves(plain, colour, size, variant, connect)
        assert stones.tolist() == plain


@pytest.mark.parametrize("variant", ALL[1:])
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


def test_six_in_a_row_win_nothing_and_five_win() -> None:
    rules = Rules(variant=Variant.STANDARD)
    moves = "a1 a3 b1 b3 c1 c3 e1 e3 f1 o15 d1".split()
    assert not Position.from_moves(rules, moves).is_game_over()
    assert Position.from_moves(Rules(), moves).winning_line() == [0, 1, 2, 3, 4, 5]
    five = Position.from_moves(rules, "a1 a3 b1 b3 c1 c3 e1 e3 d1".split())
    assert five.winning_line() == [0, 1, 2, 3, 4]
    assert str(rules) == "exactly 5 in a row on 15x15"


# Threats.


def span_of(line: str) -> tuple[int, int]:
    """The beginning and the end of the row that holds the middle of a line."""
    middle = len(line) // 2
    after = line[middle:]
    return len(line[:middle].rstrip("X")), middle + len(after) - len(after.lstrip("X"))


@cache
def naive_class(line: str, lines: str) -> int:
    """The class of a line of 2 k + 1 cells, k in a row to win, with its own stone in the middle; `W` is the wall."""
    start, end = span_of(line)
    connect, row, before, after = len(line) // 2, end - start, line[:start][-1:], line[end:][:1]
    if row > connect:
        return {"standard": NONE, "caro-exact": NONE, "black": OPEN_FOUR}.get(lines, FIVE)
    if row == connect:
        return NONE if "caro" in lines and before == after == "O" else FIVE
    filled = [line[:at] + "X" + line[at + 1 :] for at, cell in enumerate(line) if cell == "."]
    classes = [naive_class(each, lines) for each in filled]
    spans = [span_of(each) for each in filled]
    if lines == "black":  # an overline is no open four
        classes = [NONE if b - a > connect else kind for (a, b), kind in zip(spans, classes, strict=True)]
    # In caro a stone at its open end would enclose such a five.
    weak = [
        "caro" in lines and b - a == connect and {each[a - 1], each[b]} == {"O", "."}
        for each, (a, b) in zip(filled, spans, strict=True)
    ]
    fives = sum(kind == FIVE and not is_weak for kind, is_weak in zip(classes, weak, strict=True))
    if fives:
        return OPEN_FOUR if fives > 1 else FOUR
    if OPEN_FOUR in classes:
        return 4
    if FOUR in classes or FIVE in classes:
        return 3
    return 2 if 4 in classes else 1 if 3 in classes else NONE


@pytest.mark.parametrize(
    "rules", [each for each in GAMES if each.size > 5], ids=lambda rules: f"{rules.size}-{rules.variant}"
)
def test_threats_are_those_of_their_definitions(rules: Rules) -> None:
    random, board, size = np.random.default_rng(11), new_threat_board(rules), rules.size
    kinds = ("black", "white") if rules.variant is Variant.RENJU else (rules.variant.value,) * 2
    for _ in range(12):
        stones = strewn(rules, random)
        load(board, stones)
        for cell in random.permutation(rules.cells)[:12].tolist():
            for side, colour in enumerate((BLACK, WHITE)):
                for direction, (rows, columns) in enumerate(DIRECTIONS):
                    line = ""
                    for offset in range(-rules.connect, rules.connect + 1):
                        row, column = cell // size + offset * rows, cell % size + offset * columns
                        inside = 0 <= row < size and 0 <= column < size
                        stone = stones[row * size + column] if inside else 0
                        line += "X" if offset == 0 or stone == colour else "O" if stone else "." if inside else "W"
                    assert board.patterns[side, direction, cell] == naive_class(line, kinds[side]), line
