"""Files of RenLib: libraries with variations, comments and texts, games, and bytes that are none."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.records.formats import open_games, read_games, read_trees, write_games
from core.records.record import RecordError
from core.records.renlib import parse_library
from core.records.tree import Node
from core.rules import Rules, Variant

HEADER = b"\xffRenLib\xff\x03\x04" + b"\xff" * 10
MORE, LAST, OLD, COMMENT, NO_MOVE, EXTENDED = 0x80, 0x40, 0x20, 0x08, 0x02, 0x01


def at(name: str) -> int:
    """Return RenLib's byte of a point: its rows are counted from the top, as those of the names from the bottom."""
    return (15 - int(name[1:])) * 16 + ord(name[0]) - ord("a") + 1


def padded(text: bytes) -> bytes:
    return text + (b"\0" if len(text) % 2 else b"\0\0")


def node(name: str, flags: int = 0, comment: bytes = b"", text: bytes = b"") -> bytes:
    flags |= (COMMENT if comment else 0) | (EXTENDED if text else 0)
    extension = b"\0\1" if text else b""
    return bytes([at(name) if name else 0, flags]) + extension + b"".join(map(padded, filter(None, (comment, text))))


LIBRARY = HEADER + b"".join(
    (
        node(""),
        node("h8", comment="the centre\b天元".encode("gb18030")),
        node("i9", MORE, text=b"A"),
        node("g7", MORE | LAST),
        node("h10", comment=b"direct"),
        node("j7", LAST),
        node("h9", LAST, text=b"B"),
    )
)


def shape(tree: Node) -> list[object]:
    return [(child.root.position().name_of(child.move), shape(child)) for child in tree.variations]


def test_a_library_is_read_with_its_variations_comments_and_texts(tmp_path: Path) -> None:
    path = tmp_path / "lines.lib"
    path.write_bytes(LIBRARY)
    (tree,) = read_trees(path)
    assert tree.rules == Rules(15, 5, Variant.RENJU)
    assert shape(tree) == [("h8", [("i9", [("g7", []), ("h10", [("j7", [])])]), ("h9", [])])]
    centre = tree.variations[0]
    assert centre.comment == "the centre\n天元"
    assert centre.variations[0].variations[1].comment == "direct"
    assert centre.properties["LB"] == "[ig:A][hg:B]"
    assert [len(game.moves) for game in read_games(path)] == [3]
    write_games(tmp_path / "lines.sgf", [tree])
    (again,) = read_trees(tmp_path / "lines.sgf")
    assert shape(again) == shape(tree)
    with pytest.raises(RecordError, match=r"ends neither in \.sgf nor in \.psq"):
        write_games(path, [tree])


def test_the_oldest_libraries_have_no_header_and_seven_bits(tmp_path: Path) -> None:
    path = tmp_path / "old.lib"
    comment = bytes([*b"l{g", ord("e") | 0x80])
    path.write_bytes(bytes([at("h8"), OLD]) + comment + bytes([at("i9"), LAST]))
    (tree,) = read_trees(path)
    assert tree.variations[0].comment == "läge"
    assert shape(tree) == [("h8", [("i9", [])])]


def test_moves_that_cannot_be_played_are_left_out_with_what_follows(tmp_path: Path) -> None:
    path = tmp_path / "lines.lib"
    path.write_bytes(
        HEADER
        + node("h8")
        + node("h8", MORE)  # occupied
        + node("a1", LAST)
        + node("", MORE)  # a pass
        + node("b1", LAST)
        + node("c1", MORE | LAST | NO_MOVE, text=b"x")  # a text alone
        + node("h9", LAST)
    )
    file = open_games(path)
    (tree,) = file.trees()
    assert shape(tree) == [("h8", [("h9", [])])]
    assert tree.variations[0].properties["LB"] == "[co:x]"
    assert "2 moves that cannot be played are left out" in file.remark
    path.write_bytes(HEADER + node("h8") + node("h8", LAST))
    assert "1 move that cannot be played is left out" in open_games(path).remark


def test_a_game_is_read_and_its_moves_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "game.pos"
    path.write_bytes(bytes([3, 112, 98, 14]))
    (game,) = read_games(path)
    assert [game.rules.size * 15 - 15 - move // 15 * 15 + move % 15 for move in game.moves] == [112, 98, 14]
    for data, why in ((b"", "number of its moves"), (bytes([3, 1]), "number"), (bytes([2, 7, 7]), "move 2")):
        path.write_bytes(data)
        with pytest.raises(RecordError, match=why):
            read_games(path)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "first bytes"),
        (b"\xffRenLib\xff\x04\x00" + b"\xff" * 10, r"4\.0 is newer"),
        (HEADER, "no move"),
        (HEADER + b"\x71", "cut short"),
        (HEADER + bytes([0x70, 0]), "byte 20: 112 is no point"),
        (HEADER + node("h8", comment=b"abc")[:-1], "cut short"),
    ],
)
def test_what_is_no_library_is_refused_with_the_place(data: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "lines.lib"
    path.write_bytes(data)
    with pytest.raises(RecordError, match=why):
        open_games(path)


@given(st.binary(max_size=400))
def test_no_bytes_make_any_other_error(data: bytes) -> None:
    for start in (b"", HEADER, bytes([at("h8"), 0])):
        try:
            tree, _ = parse_library(start + data, "x.lib")
        except RecordError:
            continue
        for each, position in tree.positions():
            assert each.path() == [] or position.moves[-1] == each.move
