"""Files of games: whole or not at all, in the format and the charset that they say."""

from pathlib import Path

import pytest

from core.position import Position
from core.records.formats import read_games, write_games
from core.records.openings import read_openings
from core.records.record import GameRecord, RecordError, is_own_text, recorded_rules, rules_text
from core.rules import BLACK, Rules, Variant
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
