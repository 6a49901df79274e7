"""Games of Piskvork and Gomocup, and libraries of RenLib: read as their programs write them, or refused by place."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.notation import parse_cell
from core.records.formats import open_games, read_games, read_trees, write_games
from core.records.psq import parse_psq, to_psq
from core.records.record import Ending, GameRecord, RecordError
from core.records.renlib import parse_library
from core.records.tree import Node
from core.rules import BLACK, Colour, Rules, Variant
from tests.support.cases import cases
from tests.support.game_records import kept_by_psq, records

HUMANS, WON = (text for _, text, *_ in cases("psq_results")[:2])
"""A person's game, saved while it was played, and a game of a tournament."""


def read(text: str) -> GameRecord:
    (game,) = parse_psq(text)
    return game


def cells(names: str, size: int) -> tuple[int, ...]:
    return tuple(parse_cell(name, size) for name in names.split())


# What we write.


def test_a_game_is_written_as_piskvork_reads_it() -> None:
    """Columns and rows are counted from 1 and the top left."""
    game = GameRecord(
        Rules(), cells("h8 a15 o1", 15), black="A", white="B", times_ms=[1500, 0, 30], ending=Ending.BOARD
    )
    assert to_psq(game) == ("Piskvorky 15x15, 0:0, 0\n8,8,1500\n1,1,0\n15,15,30\nA\nB\n0\n0,5 in a row on 15x15\n")


@pytest.mark.parametrize(
    ("ending", "code"), [(Ending.BOARD, 0), (Ending.TIME, 15), (Ending.FORFEIT, -2), (Ending.RESIGNATION, -2)]
)
def test_the_number_after_the_names_says_how_the_game_ended(ending: Ending, code: int) -> None:
    assert to_psq(GameRecord(Rules(), [112], BLACK, ending=ending)).splitlines()[4] == str(code)


def test_people_have_the_names_that_piskvork_gives_them() -> None:
    text = to_psq(GameRecord(Rules(), [112]))
    assert text.splitlines()[2:4] == ["homo-1", "homo-2"]
    assert (read(text).black, read(text).white) == ("", "")


@pytest.mark.parametrize(
    "name", ["8,8", "8,8,0", "-1", "0", "0,5 in a row", "Piskvorky 9x9, 0:0, 0", "a\nb", "a\u2028b"]
)
def test_no_name_can_be_taken_for_something_else(name: str) -> None:
    game = GameRecord(Rules(9), (40, 41), BLACK, black=name, white=name, ending=Ending.TIME)
    again = read(to_psq(game))
    assert replace(again, black=name, white=name) == game
    assert again.black == again.white
    assert again.black.endswith(" ".join(name.split()))


@given(st.lists(records(), min_size=1, max_size=3))
def test_games_written_into_one_text_are_read_back(written: list[GameRecord]) -> None:
    """But for what the format does not hold."""
    for game in written:
        assume(not {game.black.strip()[:1], game.white.strip()[:1]} & set("0123456789+-"))
        assume(not {game.black.strip(), game.white.strip()} & {"homo-1", "homo-2"})
    kept = list(map(kept_by_psq, written))
    assert parse_psq("".join(map(to_psq, written))) == kept
    assert "".join(map(to_psq, kept)) == "".join(map(to_psq, written))


# What others write.


@pytest.mark.parametrize(("why", "text", "winner", "ending", "black", "white"), cases("psq_results"))
def test_the_board_or_the_numbers_say_who_won_and_how(
    why: str, text: str, winner: Colour | None, ending: Ending, black: str, white: str
) -> None:
    """Gomocup names a player of the pairing: where the game did not end on the board, the side to move failed."""
    game = read(text)
    assert (game.winner, game.ending, game.black, game.white) == (winner, ending, black, white), why


def test_moves_and_times_are_read() -> None:
    assert (read(HUMANS).rules, read(HUMANS).moves) == (Rules(15, 5), cells("h8 i7 h7", 15))
    assert read(HUMANS).times_ms == (4210, 312, 2005)
    assert (read(WON).rules, read(WON).moves[:3]) == (Rules(20, 5), cells("j11 a20 k11", 20))


def test_several_games_in_a_file_are_told_by_their_headers() -> None:
    assert parse_psq(HUMANS + WON + "\n" + HUMANS) == [read(HUMANS), read(WON), read(HUMANS)]


@pytest.mark.parametrize("text", cases("psq_spellings"))
def test_other_ways_to_write_it_are_the_same_game(text: str) -> None:
    assert read(text) == read(HUMANS)


def test_moves_without_times_have_none() -> None:
    assert read("Piskvorky 15x15, 0:0, 0\n8,8\n9, 9\n-1").times_ms == ()
    assert read("Piskvorky 15x15, 0:0, 0\n8,8,0\n9,9,0\n-1").times_ms == ()
    assert read("Piskvorky 15x15, 0:0, 0\n8,8,-3\n9,9,7\n-1").times_ms == (0, 7)


@pytest.mark.parametrize(("text", "line", "why"), cases("psq_refused"))
def test_what_cannot_be_read_is_refused_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(RecordError) as refused:
        parse_psq(text, "game.psq")
    assert str(refused.value).startswith(f"game.psq, line {line}: ")
    assert why in str(refused.value)


# RenLib

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


CENTRE = node("h8", comment="the centre\b天元".encode("gb18030"))
BRANCHES = node("i9", MORE, text=b"A") + node("g7", MORE | LAST) + node("h10", comment=b"direct") + node("j7", LAST)
LIBRARY = HEADER + node("") + CENTRE + BRANCHES + node("h9", LAST, text=b"B")


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
    occupied, a_pass = node("h8", MORE) + node("a1", LAST), node("", MORE) + node("b1", LAST)
    text_alone = node("c1", MORE | LAST | NO_MOVE, text=b"x")
    path.write_bytes(HEADER + node("h8") + occupied + a_pass + text_alone + node("h9", LAST))
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
