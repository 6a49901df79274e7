"""Files of games: whole or not at all; results in the words of many programs; stones that are set up."""

import pickle
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.notation import cell_name, parse_cell
from core.position import Position
from core.records.formats import read_games, write_games
from core.records.openings import read_openings
from core.records.psq import parse_psq
from core.records.record import (
    Ending,
    GameRecord,
    RecordError,
    contradiction,
    is_own_text,
    recorded_rules,
    rules_text,
    won_text,
)
from core.records.sgf import parse_sgf, parse_trees, to_sgf
from core.records.sgf_analyses import main_line
from core.records.tree import GameTree
from core.rules import BLACK, WHITE, Rules, Variant
from core.set_up import moves_to
from gomoku_cli.reports.game import result_text
from tests.support.cases import cases
from tests.support.game_records import GAMES, kept_by_psq


def test_games_are_read_back_from_either_format(tmp_path: Path) -> None:
    for name in ("games.sgf", "GAMES.SGF"):
        write_games(tmp_path / name, GAMES)
        assert read_games(tmp_path / name) == GAMES
    write_games(tmp_path / "games.psq", GAMES)
    assert read_games(tmp_path / "games.psq") == list(map(kept_by_psq, GAMES))


def test_a_file_that_cannot_be_written_whole_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "games.psq"
    write_games(path, GAMES)
    broken = GameRecord(Rules(), (1, 2), times_ms=(1,))
    with pytest.raises(ValueError):
        write_games(path, [broken])
    assert read_games(path) == list(map(kept_by_psq, GAMES))
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_no_charset_holds_loses_no_game(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    write_games(path, [GameRecord(Rules(9), (40,), black="model-\udcff")])
    assert read_games(path) == [GameRecord(Rules(9), (40,), black="model-?")]


def test_names_in_a_psq_of_windows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "game.psq"
    path.write_bytes("Piskvorky 15x15, 0:0, 0\r\n8,8,0\r\nJörg\r\nb\r\n0\r\n".encode("cp1252"))
    assert read_games(path)[0].black == "Jörg"


@pytest.mark.parametrize(("name", "content", "why"), cases("files_refused"))
def test_a_file_that_cannot_be_read_is_named(name: str, content: str | None, why: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(RecordError, match=why) as refused:
        read_openings(path, Rules()) if name == "openings.txt" else read_games(path)
    assert str(refused.value).count(str(path)) == 1


def test_games_are_not_written_to_a_name_that_could_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"neither in \.sgf nor in \.psq"):
        write_games(tmp_path / "games.txt", GAMES)
    with pytest.raises(ValueError, match="there is no game to write"):
        write_games(tmp_path / "games.sgf", [])
    assert not list(tmp_path.iterdir())


def test_rules_that_are_not_written_are_five_in_a_row_or_what_fits() -> None:
    assert recorded_rules(15, "") == recorded_rules(15, "Freestyle15_1") == Rules(15, 5)
    assert recorded_rules(4, "") == Rules(4, 4)
    assert recorded_rules(9, str(Rules(9, 6))) == Rules(9, 6)


@pytest.mark.parametrize("text", ["1", "Standard", "exactly five", "exactly 5 in a row on 15x15"])
def test_rules_by_which_five_alone_win_are_read(text: str) -> None:
    rules = recorded_rules(15, text)
    assert is_own_text(rules_text(rules))
    assert is_own_text(text) is (text not in ("1", "exactly five"))
    assert rules == Rules(15, 5, Variant.STANDARD) == recorded_rules(15, str(rules))


@pytest.mark.parametrize("name", ["games.sgf", "games.psq"])
@pytest.mark.parametrize(
    ("moves", "winner"), [([1, 1], None), ([999], None), ([-1], None), ([112, 500], BLACK), ([112], 7)]
)
def test_a_record_of_no_game_is_not_written_over_good_ones(
    name: str, moves: list[int], winner: int | None, tmp_path: Path
) -> None:
    write_games(tmp_path / name, [GameRecord(Rules(), (112,))])
    before = (tmp_path / name).read_bytes()
    with pytest.raises(ValueError, match=r"off the board|already holds a stone|the winner is None"):
        write_games(tmp_path / name, [GameRecord(Rules(), moves, winner)])
    assert (tmp_path / name).read_bytes() == before


def test_a_record_takes_names_of_moves_and_keeps_its_own() -> None:
    position = Position.from_moves(Rules(), "h8 i9")
    record = GameRecord(position.rules, position.moves)
    position.push("g7")
    assert record == GameRecord(Rules(), ["h8", "i9"]) == GameRecord(Rules(), "h8 i9")  # type: ignore[arg-type, list-item]
    assert record.moves == (112, 128)
    with pytest.raises(ValueError, match="h8 already holds a stone"):
        GameRecord(Rules(), ["h8", "h8"])  # type: ignore[list-item]


# Results

BOARD, TIME, FORFEIT, RESIGNATION = Ending.BOARD, Ending.TIME, Ending.FORFEIT, Ending.RESIGNATION
FIVE = ";B[hh];W[aa];B[ih];W[ba];B[jh];W[ca];B[kh];W[da];B[lh]"


@pytest.mark.parametrize(("words", "winner", "ending"), cases("results_named"))
def test_a_result_is_read_in_the_words_of_its_program(words: str, winner: int | None, ending: str) -> None:
    ending = Ending(ending)
    (game,) = parse_sgf(f"(;GM[4]RE[{words}];B[hh];W[hi])")
    assert (game.winner, game.ending) == (winner, ending)
    how = {TIME: " on time", FORFEIT: " by forfeit", RESIGNATION: " by resignation"}.get(ending, "")
    drawn = "" if ending is Ending.UNKNOWN else "a draw"
    assert won_text(game) == {BLACK: f"black won{how}", WHITE: f"white won{how}", None: drawn}[winner]
    assert ("RE[?]" in to_sgf(game)) == (ending is Ending.UNKNOWN)


@pytest.mark.parametrize("record", ["", "RE[]", "RE[ ]", "RE[nonsense]", "RE[黑胜]", "RE[Bob wins]"])
def test_the_board_decides_where_the_record_does_not(record: str) -> None:
    (game,) = parse_sgf(f"(;GM[4]{record}{FIVE})")
    assert (game.winner, game.ending) == (BLACK, BOARD)
    assert result_text(game) == "black won in 9 moves"


@pytest.mark.parametrize(("moves", "winner", "ending"), cases("endings_by_the_board"))
def test_the_board_decides_where_no_ending_is_given(moves: str, winner: int | None, ending: str) -> None:
    cells = tuple(Position.from_moves(Rules(3, 3), moves).moves)
    record = GameRecord(Rules(3, 3), cells)
    assert (record.winner, record.ending) == (winner, Ending(ending))
    assert parse_sgf(to_sgf(record)) == [record]
    assert GameRecord(Rules(3, 3), cells, WHITE).ending is Ending.BOARD
    assert GameRecord(Rules(3, 3), cells, ending=Ending.BOARD).winner is None


@pytest.mark.parametrize("words", ["?", "Void", "Unfinished"])
def test_a_record_that_says_that_it_has_no_result_has_none(words: str) -> None:
    (game,) = parse_sgf(f"(;GM[4]RE[{words}]{FIVE})")
    assert (game.winner, game.ending) == (None, Ending.UNKNOWN)
    assert parse_sgf(to_sgf(game)) == [game]


@pytest.mark.parametrize(("words", "text"), cases("contradictions"))
def test_a_record_that_contradicts_the_board_is_shown_with_a_remark(words: str, text: str) -> None:
    (game,) = parse_sgf(f"(;GM[4]RE[{words}]{FIVE})")
    assert result_text(game) == text
    assert contradiction(game)


def test_a_remark_names_as_many_stones_as_stand_in_the_row() -> None:
    (game,) = parse_sgf("(;GM[4]RE[W+];B[aa];W[ac];B[ba];W[bc];B[ca];W[cc];B[ea];W[ec];B[fa];W[fc];B[da])")
    assert contradiction(game) == "the board shows 6 in a row of black"


def test_a_draw_may_be_agreed_and_a_game_given_up() -> None:
    for words in ("Draw", "B+R", "W+T", "W+"):
        (game,) = parse_sgf(f"(;GM[4]RE[{words}];B[hh];W[hi])")
        assert not contradiction(game)


def psq(moves: int, end: str) -> str:
    """A game of 20x20 in which nobody makes five: rows of pairs, shifted."""
    lines = ["Piskvorky 20x20, 11:11, 0"]
    columns = [(column, row) for row in range(20) for column in range(20)]
    first = [cell for cell in columns if (cell[0] // 2 + cell[1]) % 2]
    second = [cell for cell in columns if not (cell[0] // 2 + cell[1]) % 2]
    cells = [each for pair in zip(first, second, strict=True) for each in pair][:moves]
    return "\n".join([*lines, *(f"{column + 1},{row + 1},100" for column, row in cells), end, ""])


@pytest.mark.parametrize("end", ["pbrain-a.exe\npbrain-b.exe\n0", "-1", "a\nb\n-1", "0"])
def test_piskvork_draws_a_game_with_25_empty_cells_unless_a_clock_ends_it_or_our_own_line_says_more(end: str) -> None:
    (drawn,) = parse_psq(psq(375, end))
    assert (drawn.winner, drawn.ending) == (None, BOARD)
    (longer,) = parse_psq(psq(374, end))
    assert longer.ending is Ending.UNKNOWN
    (game,) = parse_psq(psq(375, "a\nb\n15"))
    assert (game.winner, game.ending) == (BLACK, TIME)
    (game,) = parse_psq(psq(375, "a\nb\n0\n3,5 in a row on 20x20"))
    assert game.ending is Ending.UNKNOWN


# Positions that are set up


def names(cells: Iterable[int]) -> str:
    return " ".join(cell_name(cell, 15) for cell in cells)


def cells(text: str) -> list[int]:
    return [parse_cell(name, 15) for name in text.split()]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 224), unique=True, max_size=60), st.sampled_from(list(Variant)))
def test_moves_lead_to_the_stones_of_any_game(order: list[int], variant: Variant) -> None:
    game = Position(Rules(15, 5, variant))
    for cell in order:
        if not game.is_game_over() and game.is_legal(cell):
            game.push(cell)
    black, white = ([cell for cell in sorted(game.moves) if game.stones[cell] == each] for each in (BLACK, WHITE))
    found = Position.from_moves(game.rules, moves_to(game.rules, black, white))
    assert found.stones == game.stones
    assert found.side_to_move == game.side_to_move


def test_stones_of_no_game_are_refused() -> None:
    with pytest.raises(ValueError, match="2 black, 0 white"):
        moves_to(Rules(), cells("h8 h9"), [])
    with pytest.raises(ValueError, match="0 black, 1 white"):
        moves_to(Rules(), [], cells("h8"))
    line, other = cells("a1 b1 c1 d1 e1"), cells("a3 b3 c3 d3 e3")
    with pytest.raises(ValueError, match="no game leads"):
        moves_to(Rules(), line, other)
    assert moves_to(Rules(), line, other[:4])[-1] in line


def test_a_line_that_is_too_long_at_the_end_is_built_in_an_order_that_does_not_win() -> None:
    black, white = cells("a1 b1 c1 d1 e1 f1"), cells("a5 c5 e5 g5 i5 k5")
    moves = moves_to(Rules(15, 5, Variant.STANDARD), black, white)
    assert Position.from_moves(Rules(15, 5, Variant.STANDARD), moves).ply == 12


SET_UP = "(;GM[4]SZ[15]AB[hh][ih:ji]AW[gg][gh][gi][gj]PL[White]C[a study]LB[hh:1];W[kk]C[out];B[aa](;W[ab])(;W[ac]))"


def test_set_up_stones_of_the_root_are_moves_of_the_tree_and_are_written_as_set_up() -> None:
    (tree,) = parse_trees(SET_UP)
    assert tree.set_up == 9
    line = tree.main_line()
    assert names(sorted(node.move for node in line[:9:2])) == names(sorted(cells("h8 i8 i7 j8 j7")))
    assert [names([node.move]) for node in line[9:]] == ["k5", "a15", "a14"]
    assert line[8].comment == "a study"
    assert [next(iter(node.properties)) for node in line[:2]] == ["B", "W"]
    for again in (tree, pickle.loads(pickle.dumps(tree)), GameTree.of(tree.record())):
        assert again.set_up == 9
    text = to_sgf(tree)
    assert text.count("AB[") == text.count("AW[") == text.count("PL[W]") == text.count("a study") == 1
    assert text.count(";") == 5
    (once,) = parse_trees(text)
    assert to_sgf(once) == text
    assert [node.move for node in once.main_line()] == [node.move for node in line]
    (record,) = parse_sgf(SET_UP)
    assert (record.set_up, list(record.moves)) == (9, [node.move for node in line])
    assert [ply for _, _, ply in main_line(SET_UP)] == [9, 10, 11, 12]


@pytest.mark.parametrize(("text", "why"), cases("set_ups_refused"))
def test_what_no_game_leads_to_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(RecordError, match=why):
        parse_sgf(text)


def test_empty_set_up_properties_change_nothing() -> None:
    (tree,) = parse_trees("(;GM[4]AB[]PL[B];B[hh])")
    assert tree.set_up == 0
    assert tree.properties["PL"] == "[B]"
    assert tree.main_line()[0].position().side_to_move == WHITE
