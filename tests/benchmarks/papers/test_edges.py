"""Fours at the edge, as `benchmarks.papers.edges` draws them."""

from collections import Counter

import pytest

from benchmarks.papers.edges import blocked_four, fours
from core.position import Position
from core.rules import EMPTY, Rules


def wins(rules: Rules, stones: list[int], colour: int) -> dict[int, set[int]]:
    """Return the cells where a stone of `colour` makes a row, with that row, by counting along the four lines."""
    found = {}
    for cell in range(rules.cells):
        if stones[cell] != EMPTY:
            continue
        for step in ((0, 1), (1, 0), (1, 1), (1, -1)):
            line = {cell}
            for sign in (1, -1):
                row, column = cell // rules.size + sign * step[0], cell % rules.size + sign * step[1]
                while (
                    0 <= row < rules.size and 0 <= column < rules.size and stones[row * rules.size + column] == colour
                ):
                    line.add(row * rules.size + column)
                    row, column = row + sign * step[0], column + sign * step[1]
            if len(line) >= rules.connect:
                found[cell] = line
    return found


def test_each_position_has_one_four_to_block_in_its_place() -> None:
    rules = Rules(9)
    found = fours(rules, 20)
    assert Counter(four.kind for four in found) == {"edge": 20, "next row": 20, "inside": 20}
    for four in found:
        position = Position.from_moves(rules, four.moves)
        to_move, stones = position.side_to_move, list(position.stones)
        assert not wins(rules, stones, to_move)
        (block, line), *others = wins(rules, stones, -to_move).items()
        assert ((block,), others) == (four.answers, [])
        rows, columns = {cell // 9 for cell in line}, {cell % 9 for cell in line}
        (number,) = rows if len(rows) == 1 else columns
        assert four.kind == ("edge", "next row", "inside")[min(number, 8 - number, 2)]


@pytest.mark.parametrize(
    "moves",
    [
        pytest.param("a1 a9 b1 b9 c1 c9 d1 d9", id="the side to move wins itself"),
        pytest.param("d1 a9 e1 c9 f1 e9 g1", id="two cells to block"),
        pytest.param("a1 b9 b2 d9 c3 f9 d4", id="diagonal"),
        pytest.param("a1 b9 b1 d9 c1 f9 h5", id="no four"),
    ],
)
def test_other_positions_are_left_out(moves: str) -> None:
    rules = Rules(9)
    assert blocked_four(rules, Position.from_moves(rules, moves.split()).moves) is None
