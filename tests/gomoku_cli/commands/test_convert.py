"""`gomoku convert`: games of either format into one file."""

from pathlib import Path

import pytest

from core.records.formats import GamesFile, read_games, write_games
from gomoku_cli.exit_codes import ExitCode
from tests.support.cases import cases
from tests.support.commands import Capsys
from tests.support.commands import run as run_command
from tests.support.game_records import GAMES, kept_by_psq


def convert(capsys: Capsys, *arguments: Path | str) -> tuple[int, str, str]:
    return run_command(capsys, "convert", *arguments)


def test_convert_writes_the_games_of_all_files(capsys: Capsys, tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in ("one.sgf", "two.psq", "three.sgf"))
    write_games(one, GAMES)
    note = f"note: {one}: not kept in two.psq: note, comments\n"
    assert convert(capsys, one, two) == (ExitCode.DONE, f"{two}: 2 games\n", note)
    assert convert(capsys, two, one, three) == (ExitCode.DONE, f"{three}: 4 games\n", "")
    assert read_games(three) == [*map(kept_by_psq, GAMES), *GAMES]
    write_games(two, GAMES[:1])
    assert convert(capsys, two, three, "-f")[1] == f"{three}: 1 game\n"


@pytest.mark.parametrize(("names", "code", "why"), cases("conversions_refused"))
def test_convert_reports_an_error_in_one_line(
    names: tuple[str, ...], code: ExitCode, why: str, capsys: Capsys, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    write_games(tmp_path / "one.sgf", GAMES)
    (tmp_path / "broken.psq").write_text("Piskvorky 15x15, 0:0, 0\nh8 i9\n8,8,0\n")
    (tmp_path / "loop.sgf").symlink_to(tmp_path / "loop.sgf")
    (tmp_path / "link.sgf").symlink_to(tmp_path / "one.sgf")
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.iterdir()}
    found, out, err = convert(capsys, *(tmp_path / name for name in names))
    assert (found, out, err.count("\n")) == (code, "", 1 + ("broken.psq" in names[:-1] and code == ExitCode.BAD_DATA))
    assert why in err
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_an_unreadable_file_of_several_is_reported_and_the_others_are_converted(capsys: Capsys, tmp_path: Path) -> None:
    one, broken, other, target = (tmp_path / name for name in ("one.sgf", "broken.psq", "other.psq", "all.sgf"))
    write_games(one, GAMES)
    broken.write_text("Piskvorky 15x15, 0:0, 0\nh8 i9\n8,8,0\n")
    lines = ["Piskvorky 15x15, 11:11, 0", *(f"{column},5,1" for column in (5, 1, 6, 2, 7, 3, 9, 12, 10, 13, 8, 14))]
    other.write_text("\n".join([*lines, "a", "b", "-1", "2,Pente", ""]))
    code, out, err = convert(capsys, broken, one, other, target)
    assert (code, out) == (ExitCode.BAD_DATA, f"{target}: 2 games\n")
    assert read_games(target) == GAMES
    first, second = err.splitlines()
    assert first == f"gomoku: {broken}, line 2: 'h8 i9' is no move, and after the moves come two players and a number"
    assert second.startswith(f"gomoku: {other}, line 13: the game is over")
    assert second.endswith("this file has other rules ('Pente')")


@pytest.mark.parametrize(("name", "text", "lost"), cases("conversions"))
def test_convert_says_what_it_drops(name: str, text: str, lost: str, capsys: Capsys, tmp_path: Path) -> None:
    source, target = tmp_path / name, tmp_path / ("copy.psq" if name.endswith("sgf") else "copy.sgf")
    source.write_text(text, encoding="utf-8")
    code, _, err = convert(capsys, source, target)
    assert code == ExitCode.DONE
    assert err == (f"note: {source}: not kept in {target.name}: {lost}\n" if lost else "")


def test_between_sgf_files_everything_is_kept(capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "a.sgf", tmp_path / "copy.sgf"
    text = "(;GM[4]SZ[9]RU[Pente]RE[黑胜];B[ee]LB[aa:A](;W[ff]C[fine];C[no move])(;W[gg](;W[])(;B[aa])))"
    source.write_text(text, encoding="utf-8")
    assert convert(capsys, source, target) == (ExitCode.DONE, f"{target}: 1 game\n", "")
    written = "".join(target.read_text(encoding="utf-8").split())
    assert written == text.replace("黑胜]", "黑胜]CA[UTF-8]").replace(" ", "")
    code, _, err = convert(capsys, source, target)
    why = f"gomoku convert: Invalid value for OUT: {target} exists; --force overwrites it\n"
    assert (code, err) == (ExitCode.USAGE, why)
    monkeypatch.setattr(GamesFile.trees, "__defaults__", (3,))
    err = convert(capsys, source, target, "--force")[2]
    assert err == f"note: {source}: not kept in copy.sgf: variations, RU, RE, LB, C\n", "too many nodes for a tree"


def test_convert_names_a_guessed_charset(capsys: Capsys, tmp_path: Path) -> None:
    source, target = tmp_path / "a.sgf", tmp_path / "copy.sgf"
    source.write_bytes("(;GM[4]SZ[15]PB[高橋ソ]PW[表];B[hh];W[hg])".encode("cp932"))
    code, _, err = convert(capsys, source, target)
    assert code == ExitCode.DONE
    assert err == f"note: {source}: it names no charset; its names and comments are read as Shift_JIS\n"
    assert (read_games(target)[0].black, read_games(target)[0].white) == ("高橋ソ", "表")
