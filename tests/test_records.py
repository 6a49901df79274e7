"""Games and openings as text: what we write others can read, what others write we read or refuse with its place."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.position import Position
from core.records import GameRecord, RecordError, parse_openings, parse_sgf, read_openings, to_sgf
from core.rules import BLACK, WHITE, Rules
from tests.conftest import games, rules

OPENINGS = Path(__file__).resolve().parent.parent / "curriculum" / "openings"

# Without control characters, which SGF leaves open, and without the carriage return, which it makes a line end.
texts = st.text(st.one_of(st.sampled_from("\\]:[;()\n a"), st.characters(exclude_categories=("Cs", "Cc"))), max_size=12)
names = texts.map(lambda text: text.replace("\n", " "))


@st.composite
def records(draw: st.DrawFn) -> GameRecord:
    """Finished and unfinished games, with names and remarks full of what SGF must escape."""
    drawn = draw(rules())
    moves = draw(games(drawn))
    outcome = Position.from_moves(drawn, moves).outcome()
    winner = outcome.winner if outcome else draw(st.sampled_from((BLACK, WHITE, None)))
    comments = draw(st.lists(texts, min_size=len(moves), max_size=len(moves))) if len(moves) < 12 else []
    comments = comments if any(comments) else []
    return GameRecord(drawn, tuple(moves), winner, draw(names), draw(names), tuple(comments), draw(texts))


def read(text: str) -> GameRecord:
    (game,) = parse_sgf(text)
    return game


# SGF that we write.


def test_a_short_game_is_written_with_rows_from_the_top() -> None:
    game = GameRecord(Rules(5, 3), [0, 24, 1, 20, 2], BLACK, black="A", white="B")
    assert to_sgf(game) == (
        "(;FF[4]GM[4]CA[UTF-8]AP[gomoku]SZ[5]RE[B+]RU[3 in a row on 5x5]PB[A]PW[B]\n"
        ";B[ae]\n;W[ea]\n;B[be]\n;W[aa]\n;B[ce])\n"
    )


@pytest.mark.parametrize(("winner", "result"), [(BLACK, "B+"), (WHITE, "W+"), (None, "0")])
def test_the_result_is_written(winner: int | None, result: str) -> None:
    assert f"RE[{result}]" in to_sgf(GameRecord(Rules(), [112], winner))


@given(records())
def test_sgfmill_reads_the_game_that_we_wrote(record: GameRecord) -> None:
    sgf: Any = pytest.importorskip("sgfmill.sgf")
    tree = sgf.Sgf_game.from_string(to_sgf(record))
    root = tree.get_root()
    assert root.get("GM") == 4
    assert root.get("FF") == 4
    assert tree.get_size() == record.rules.size
    assert tree.get_winner() == {BLACK: "b", WHITE: "w", None: None}[record.winner]
    assert (root.get("RE") == "0") == (record.winner is None)
    for name, text in (("PB", record.black), ("PW", record.white), ("GC", record.note)):
        assert (root.get(name) if root.has_property(name) else "") == text
    nodes = tree.get_main_sequence()[1:]
    assert len(nodes) == len(record.moves)
    for ply, (node, cell) in enumerate(zip(nodes, record.moves, strict=True)):
        assert node.get_move() == ("bw"[ply % 2], divmod(cell, record.rules.size))
        if record.comments:
            assert (node.get("C") if node.has_property("C") else "") == record.comments[ply]


# SGF that we read.


@given(st.lists(records(), min_size=1, max_size=3))
def test_games_written_into_one_text_are_read_back(written: list[GameRecord]) -> None:
    again = parse_sgf("".join(map(to_sgf, written)))
    assert again == written


def test_a_game_of_another_program_is_read() -> None:
    """Line ends, blanks, unknown properties and lists of values, as other programs write them."""
    game = read(
        "saved by hand\r\n( ; GM [4] FF[3] SZ[9]\r\nPB[Li\\]\\\\ Na]XX[a][b][c]RE[W+Resign]C[root]\r\n"
        ";B[ee]C[cen\\\r\ntre]\r\n;W[aa]KO[]\n) \r\n"
    )
    assert game.rules == Rules(9, 5)
    assert game.moves == (40, 72)
    assert game.black == "Li]\\ Na"
    assert game.winner == WHITE
    assert game.comments == ("centre", "")


def test_variations_are_left_aside() -> None:
    main = "(;GM[4]SZ[15];B[hh](;W[hi](;B[ii];W[gg])(;B[jj]))(;W[zz];Q[unfinished \\] business])(;B[hh]))"
    assert read(main).moves == read("(;GM[4]SZ[15];B[hh];W[hi];B[ii];W[gg])").moves
    assert len(read(main).moves) == 4


def test_a_game_without_size_and_rules_is_five_in_a_row_on_15x15() -> None:
    assert read("(;GM[4];B[hh])").rules == Rules(15, 5)


def test_a_winner_that_is_not_written_is_read_from_the_board() -> None:
    won = "(;GM[4]SZ[5]RU[3 in a row];B[aa];W[ab];B[ba];W[bb];B[ca])"
    assert read(won).winner == BLACK
    assert read(won.replace("GM", "RE[?]GM")).winner is None


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("", "line 1, column 1", "no game"),
        (" \n ", "line 1, column 1", "no game"),
        ("h8 i9", "line 1, column 1", "neither a node"),
        ("(;GM[4];B[hh]", "line 1, column 14", "ends inside a game"),
        ("(;GM[4]\n;B[hh]C[open)", "line 2, column 8", "nor a closed value"),
        ("()", "line 1, column 2", "no node"),
        ("(GM[4])", "line 1, column 2", "';'"),
        ("(;GM[4];[hh])", "line 1, column 10", "without the name"),
        ("(;GM[4];B[hh])\n)", "line 2, column 1", "'(;'"),
        ("(;SZ[19];B[pd])", "line 1, column 2", "game 1 is not Gomoku"),
        ("(;GM[1]SZ[19];B[pd])", "line 1, column 2", "game 1 is not Gomoku"),
        ("(;GM[4]SZ[15:12])", "line 1, column 2", "SZ[15:12]"),
        ("(;GM[4]SZ[26])", "line 1, column 2", "outside 3 to 25"),
        ("(;GM[4]SZ[0])", "line 1, column 2", "outside 3 to 25"),
        ("(;GM[4]RU[9 in a row])", "line 1, column 2", "outside 3 to 6"),
        ("(;GM[4]\n;B[hh]\n;B[hi])", "line 3, column 1", "white's turn"),
        ("(;GM[4];W[hh])", "line 1, column 8", "black's turn"),
        ("(;GM[4];B[hh]W[hi])", "line 1, column 8", "black's turn"),
        ("(;GM[4]\n;B[hh]\n;W[hh])", "line 3, column 1", "h8 already holds a stone"),
        ("(;GM[4]SZ[9];B[jj])", "line 1, column 13", "'jj' is no point of a 9x9 board"),
        ("(;GM[4];B[])", "line 1, column 8", "'' is no point"),
        ("(;GM[4];B[h8])", "line 1, column 8", "'h8' is no point"),
        ("(;GM[4]AB[hh];W[hi])", "line 1, column 2", "stones set up"),
        ("(;GM[4]SZ[3]RU[3 in a row];B[aa];W[ab];B[ba];W[bb];B[ca]\n;W[cb])", "line 2, column 1", "the game is over"),
        ("(;GM[4];B[hh])\n(;GM[4];B[hh];\nW[hh])", "line 2, column 14", "already holds"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, place: str, why: str) -> None:
    with pytest.raises(RecordError) as refused:
        parse_sgf(text, "games.sgf")
    assert str(refused.value).startswith(f"games.sgf, {place}: ")
    assert why in str(refused.value)


@given(st.text(st.sampled_from("()[];\\\nBWGMSZ4h9"), max_size=30))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        read = parse_sgf("(;GM[4]" + text)
    except RecordError:
        return
    assert parse_sgf("".join(map(to_sgf, read))) == read


# Opening files.


def test_openings_are_one_a_line_with_comments() -> None:
    lines = ["# balanced", "", "h8 i9 g7  # the third is near", "   ", "A1 b2"]
    assert parse_openings(lines, Rules()) == [(112, 128, 96), (0, 16)]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("h8 k", "'k' is no cell"),
        ("h8, i9", "'h8,' is no cell"),
        ("a1 p1", "off the board"),
        ("h8 i9 h8", "h8 already holds a stone"),
        ("a1 a2 b1 b2 c1 c2 d1 d2 e1", "ends the game"),
        ("a1 a2 b1 b2 c1 c2 d1 d2 e1 e2", "the game is over"),
    ],
)
def test_a_broken_line_is_refused_by_its_number(line: str, why: str) -> None:
    with pytest.raises(RecordError) as refused:
        parse_openings(["# first", "h8 i9", line, "h8"], Rules(), "mine.txt")
    assert str(refused.value).startswith("mine.txt, line 3: ")
    assert why in str(refused.value)


@pytest.mark.parametrize("connect", [3, 4])
def test_an_opening_is_judged_by_the_rules_it_is_read_for(connect: int) -> None:
    line = ["a1 a2 b1 b2 c1"]
    if connect == 4:
        assert parse_openings(line, Rules(9, connect)) == [(0, 9, 1, 10, 2)]
    else:
        with pytest.raises(RecordError, match="line 1"):
            parse_openings(line, Rules(9, connect))


def write_text(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: None, "No such file"),
        (lambda path: path.mkdir(), "directory"),
        (lambda path: path.write_bytes(b"h8 \xff"), "UTF-8"),
        (write_text("# nothing but a comment\n"), "holds no opening"),
        (write_text("h8\nz99\n"), "line 2"),
    ],
)
def test_a_file_of_openings_that_cannot_be_read_is_named(
    tmp_path: Path, make: Callable[[Path], object], why: str
) -> None:
    path = tmp_path / "openings.txt"
    make(path)
    with pytest.raises(RecordError, match=why) as refused:
        read_openings(path, Rules())
    assert str(refused.value).count(str(path)) == 1


def test_a_file_from_an_editor_that_marks_utf_8_is_read(tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    path.write_bytes("\ufeffh8 i9\r\ng7\r\n".encode())
    assert read_openings(path, Rules()) == [(112, 128), (96,)]


@pytest.mark.parametrize(("size", "count"), [(9, 50), (11, 50), (15, 200), (20, 100)])
def test_our_own_openings_are_distinct_short_and_undecided(size: int, count: int) -> None:
    openings = read_openings(OPENINGS / f"freestyle{size}.txt", Rules(size))
    assert len(set(openings)) == len(openings) == count
    assert all(2 <= len(opening) <= 8 for opening in openings)
