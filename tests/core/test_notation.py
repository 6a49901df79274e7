"""Cells as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.notation import NotationError, cell_name, cell_words, column_letter, link_text, parse_cell, spelled_cells
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


@pytest.mark.parametrize(("text", "cells"), cases("moves_spellings"))
def test_every_usual_spelling_is_read(text: str, cells: str) -> None:
    assert " ".join(cell_name(cell, 15) for cell in spelled_cells(text, 15)) == cells


@given(data=st.data(), size=st.integers(3, 25))
def test_a_link_reads_back_as_its_moves(data: st.DataObject, size: int) -> None:
    moves = data.draw(st.lists(st.integers(0, size * size - 1), min_size=1, unique=True))
    link = link_text(moves, size)
    assert spelled_cells(f" {link}\n", size) == moves
    assert [parse_cell(word, size) for _, word in cell_words(link)] == moves


@pytest.mark.parametrize("text", ["quit, new game", "h8 9,9", "h16", "8,16", "0,15", "8 8", "h8 i", "-1,3"])
def test_other_text_is_an_error(text: str) -> None:
    with pytest.raises(NotationError):
        spelled_cells(text, 15)
