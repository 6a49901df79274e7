"""The rules of the game in `core.rules` and `core.position`, and their compiled twin in `core.compiled.lines`."""

import copy
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from core.compiled import stones_of
from core.compiled.rules import compile_rules, wins
from core.notation import NotationError, parse_cell
from core.position import IllegalMoveError, Outcome, Position, Termination
from core.rules import BLACK, EMPTY, NO_CELL, WHITE, Cell, Rules
from tests.conftest import games, naive_lines, rules


def play(text: str, rules: Rules) -> Position:
    return Position.from_moves(rules, text.split())


def state(position: Position) -> tuple[bytes, tuple[Cell, ...], Outcome | None]:
    return position.stones.tobytes(), tuple(position.moves), position.outcome()


# The rules.


def test_defaults_are_freestyle_gomoku_on_15x15() -> None:
    assert Rules() == Rules(size=15, connect=5) == Position().rules
    assert [rules.cells for rules in (Rules(), Rules(3, 3), Rules(25, 6))] == [225, 9, 625]
    assert str(Rules(9, 4)) == "4 in a row on 9x9"


@pytest.mark.parametrize(("size", "connect"), [(2, 3), (26, 5), (15, 2), (15, 7), (4, 5), (0, 0), (-15, 5)])
def test_rules_outside_the_range_are_refused(size: int, connect: int) -> None:
    with pytest.raises(ValueError, match="is outside"):
        Rules(size, connect)
    with pytest.raises(TypeError, match="it must be a whole number"):
        Rules(size + 0.5, connect)  # type: ignore[arg-type]


# How a game begins and goes on.


def test_last_moves_are_the_newest_first() -> None:
    assert Position().last_moves == (NO_CELL, NO_CELL) == (-1, -1), "files of samples hold it"
    position = play("h8", Rules())
    assert position.last_moves == (112, NO_CELL)
    position.push(parse_cell("i9", 15))
    assert position.last_moves == (128, 112)
    position.push(parse_cell("a1", 15))
    assert position.last_moves == (0, 128)


@given(st.data())
def test_stones_are_the_moves_in_alternating_colours(data: st.DataObject) -> None:
    drawn = data.draw(rules())
    moves = data.draw(games(drawn))
    position = Position.from_moves(drawn, moves)
    expected = np.zeros(drawn.cells, dtype=np.int8)
    expected[moves[0::2]] = BLACK
    expected[moves[1::2]] = WHITE
    assert np.array_equal(stones_of(position), expected)
    assert position.moves == moves
    assert position.side_to_move == (BLACK if len(moves) % 2 == 0 else WHITE)


def test_moves_are_plain_integers_whatever_integer_was_played() -> None:
    position = Position.from_moves(Rules(), [np.int16(112), np.uint8(128), *Position(Rules()).legal_moves()[:1]])  # type: ignore[list-item]
    assert [type(move) for move in position.moves] == [int, int, int]
    assert position.moves == [112, 128, 0]


@given(st.data())
def test_every_free_cell_is_legal_until_the_end_and_none_after_it(data: st.DataObject) -> None:
    drawn = data.draw(rules(max_size=9))
    position = Position.from_moves(drawn, data.draw(games(drawn)))
    free = [] if position.is_game_over() else np.flatnonzero(stones_of(position) == EMPTY).tolist()
    assert position.legal_moves() == free
    assert [cell for cell in range(-2, drawn.cells + 2) if position.is_legal(cell)] == free


# Names and pictures.


@pytest.mark.parametrize("name", ["p1", "a16", "h", "8h", "", "112"])
def test_a_name_of_no_cell_is_unreadable_rather_than_illegal(name: str) -> None:
    position = Position()
    with pytest.raises(NotationError) as caught:
        position.push(name)
    assert not isinstance(caught.value, IllegalMoveError)
    assert isinstance(caught.value, ValueError)
    assert position.ply == 0


def test_a_position_prints_its_board_with_the_last_move_in_brackets() -> None:
    position = play("b2 a1 c3 c1", Rules(3, 3))
    assert str(position).split("\n") == [" 3 . . X", " 2 . X .", " 1 O .[O]", "   a b c"]
    assert str(Position(Rules(3, 3))).split("\n")[2] == " 1 . . ."


def test_the_representation_of_a_position_makes_it_again() -> None:
    position = play("h8 i9 g7", Rules())
    assert repr(position) == "Position.from_moves(Rules(size=15, connect=5, variant='freestyle'), ['h8', 'i9', 'g7'])"
    assert state(eval(repr(position))) == state(position)


# Undoing.


@given(st.data())
def test_pop_after_push_restores_every_position_of_the_game(data: st.DataObject) -> None:
    drawn = data.draw(rules())
    moves = data.draw(games(drawn))
    position = Position(drawn)
    states = []
    for move in moves:
        states.append(state(position))
        position.push(move)
    for move in reversed(moves):
        assert position.pop() == move
        assert state(position) == states.pop()
    assert state(position) == state(Position(drawn))


@pytest.mark.parametrize("copied", [Position.copy, copy.copy, copy.deepcopy])
def test_a_copy_goes_its_own_way(copied: Callable[[Position], Position]) -> None:
    position = play("a1 a2 b1 b2", Rules(5, 3))
    before = state(position)
    twin = copied(position)
    assert state(twin) == before
    twin.push(parse_cell("c1", 5))
    assert twin.is_game_over()
    assert state(position) == before
    assert state(twin.copy()) == state(twin)


def test_an_empty_board_has_no_move_to_take_back() -> None:
    with pytest.raises(IndexError, match="the board is empty: there is no move to take back"):
        Position().pop()


# Illegal moves.


def test_a_move_on_a_stone_is_refused_by_name() -> None:
    for name in ("h8", "a1", "o15"):
        position = play(name, Rules())
        with pytest.raises(IllegalMoveError, match=f"{name} already holds a stone"):
            position.push(position.moves[0])


@pytest.mark.parametrize("cell", [NO_CELL, -225, 225, 10**9])
def test_a_move_off_the_board_is_refused(cell: Cell) -> None:
    with pytest.raises(IllegalMoveError, match="off the board of 15x15"):
        Position(Rules()).push(cell)


def test_a_move_after_the_end_is_refused() -> None:
    position = play("a1 a2 b1 b2 c1", Rules(5, 3))
    with pytest.raises(IllegalMoveError, match="the game is over"):
        position.push(24)


@given(st.data())
def test_a_refused_move_changes_nothing(data: st.DataObject) -> None:
    drawn = data.draw(rules(max_size=8))
    position = Position.from_moves(drawn, data.draw(games(drawn)))
    before = state(position)
    legal = set(position.legal_moves())
    for cell in set(range(-1, drawn.cells + 1)) - legal:
        with pytest.raises(IllegalMoveError):
            position.push(cell)
        assert state(position) == before


# How a game ends.


def test_a_line_made_on_the_last_cell_wins_and_is_no_draw() -> None:
    position = play("a1 b3 b1 c1 b2 a3 a2 c2 c3", Rules(3, 3))
    assert position.ply == 9
    assert position.outcome() == Outcome(Termination.LINE, BLACK)


@given(st.data())
def test_a_game_ends_exactly_when_a_line_stands_or_no_cell_is_free(data: st.DataObject) -> None:
    drawn = data.draw(rules(max_size=12))
    moves = data.draw(games(drawn))
    assume(moves)
    position = Position(drawn)
    for move in moves[:-1]:
        position.push(move)
        assert not position.is_game_over()
    assert naive_lines(stones_of(position), drawn.size, drawn.connect) == []
    position.push(moves[-1])
    lines = naive_lines(stones_of(position), drawn.size, drawn.connect)
    if lines:
        expected = Outcome(Termination.LINE, -position.side_to_move)
    elif position.ply == drawn.cells:
        expected = Outcome(Termination.FULL_BOARD, None)
    else:
        expected = None
    event(f"ended by {expected and expected.termination}")
    assert position.outcome() == expected
    assert position.winning_line() == sorted(set().union(*lines))


# The compiled scan of lines.


@given(st.data())
def test_compiled_scan_agrees_with_looking_at_every_window(data: st.DataObject) -> None:
    """On boards of any content, also such as no game leads to: long lines, many at once."""
    drawn = data.draw(rules(max_size=12))
    chance = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    black, empty = data.draw(st.sampled_from(((0.3, 0.4), (0.5, 0.0), (0.75, 0.05), (0.05, 0.1))))
    stones = chance.choice(np.array([BLACK, EMPTY, WHITE], np.int8), drawn.cells, p=(black, empty, 1 - black - empty))
    lines = naive_lines(stones, drawn.size, drawn.connect)
    for cell in np.flatnonzero(stones).tolist():
        through = [line for line in lines if cell in line]
        assert wins(compile_rules(drawn), stones, cell) == drawn.wins(stones.tolist(), cell) == bool(through)
        shown = set(drawn.winning_line(stones.tolist(), cell))
        assert set().union(*through) <= shown <= set().union(*lines)
        assert bool(shown) == bool(through)


def test_moves_come_as_cells_names_or_one_text_and_nothing_else() -> None:
    texts = (Position.from_moves(Rules(), moves).moves for moves in ("h8 i9", "h8i9", ["h8", "i9"], [112, 128]))
    assert list(texts) == [[112, 128]] * 4
    position = Position()
    assert position.is_legal("h8")
    assert not Position.from_moves(Rules(), "h8").is_legal("h8")
    for wrong in (None, 1.5, [3], object()):
        for asks in (position.push, position.is_legal, position.foul, position.name_of):
            with pytest.raises(TypeError, match="a move is a cell or its name, not"):
                asks(wrong)  # type: ignore[operator]
    assert position.name_of("H8") == "h8"
    assert position.foul("h8") is None
    with pytest.raises(TypeError, match="rules are those of Rules"):
        Position(15)  # type: ignore[arg-type]
    for cell in (NO_CELL, 225):
        with pytest.raises(ValueError, match="is no cell of a board of 15x15"):
            position.name_of(cell)
