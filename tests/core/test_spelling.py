"""Lists of moves as people and programs write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.notation import NotationError, cell_name, cell_words, link_text, parse_cell, spelled_cells
from tests.support.cases import cases


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
