"""Cells as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.notation import NotationError, cell_name, column_letter, parse_cell
from core.rules import MAX_SIZE, MIN_SIZE
from tests.support.cases import cases


@pytest.mark.parametrize(("name", "size", "cell"), cases("cells"))
def test_columns_are_letters_from_the_left_and_rows_numbers_from_the_bottom(name: str, size: int, cell: int) -> None:
    assert parse_cell(name, size) == cell
    assert cell_name(cell, size) == name


@pytest.mark.parametrize("size", range(MIN_SIZE, MAX_SIZE + 1))
def test_every_cell_of_every_board_is_read_back_from_its_name(size: int) -> None:
    assert [parse_cell(cell_name(cell, size), size) for cell in range(size * size)] == list(range(size * size))


def test_no_letter_is_skipped() -> None:
    assert "".join(column_letter(column) for column in range(MAX_SIZE)) == "abcdefghijklmnopqrstuvwxy"


def test_capitals_and_spaces_around_do_not_matter() -> None:
    assert parse_cell(" H8\r\n", 15) == 112


@pytest.mark.parametrize("text", cases("no_cells"))
def test_text_that_is_no_cell_is_refused_with_what_would_be(text: str) -> None:
    with pytest.raises(NotationError, match="a1 to o15"):
        parse_cell(text, 15)


@pytest.mark.parametrize("text", ["p1", "a16", "y25", "o16", "A99"])
def test_a_cell_off_the_board_is_refused_with_its_corners(text: str) -> None:
    with pytest.raises(NotationError, match="off the board: its cells are a1 to o15"):
        parse_cell(text, 15)


@given(st.text(max_size=6), st.integers(MIN_SIZE, MAX_SIZE))
def test_any_text_is_either_a_cell_of_the_board_or_a_notation_error(text: str, size: int) -> None:
    try:
        cell = parse_cell(text, size)
    except NotationError:
        return
    assert cell_name(cell, size) == text.strip().lower()
