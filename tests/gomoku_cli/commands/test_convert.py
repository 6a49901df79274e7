"""`gomoku convert`: games of either format into one file."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.records.formats import read_games, write_games
from core.records.record import GameRecord
from core.rules import WHITE, Rules
from gomoku_cli import app
from gomoku_cli.exit_codes import ExitCode

GAMES = [
    GameRecord(Rules(9), (40, 41, 31), black="Łukasz", white="碁", note="one"),
    GameRecord(Rules(15, 4), (112, 113, 97), WHITE, black="A", comments=("value -0.125\n400 visits", "", "[\\]")),
]


def kept_by_psq(game: GameRecord) -> GameRecord:
    return replace(game, comments=(), note="", date="")


def convert(capsys: pytest.CaptureFixture[str], *files: Path) -> tuple[int, str, str]:
    capsys.readouterr()
    code = app.run(["convert", *map(str, files)])
    return code, *capsys.readouterr()


def test_convert_writes_the_games_of_all_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in ("one.sgf", "two.psq", "three.sgf"))
    write_games(one, GAMES)
    assert convert(capsys, one, two) == (ExitCode.DONE, f"{two}: 2 games\n", "")
    assert convert(capsys, two, one, three) == (ExitCode.DONE, f"{three}: 4 games\n", "")
    assert read_games(three) == [*map(kept_by_psq, GAMES), *GAMES]
    write_games(two, GAMES[:1])
    assert convert(capsys, two, three)[1] == f"{three}: 1 game\n"


@pytest.mark.parametrize(
    ("names", "code", "why"),
    [
        (("one.sgf",), ExitCode.USAGE, "Missing argument"),
        (("one.sgf", "two.txt"), ExitCode.USAGE, "two.txt is no file of games"),
        (("one.txt", "two.sgf"), ExitCode.USAGE, "one.txt is no file of games"),
        (("one.sgf", "one.sgf"), ExitCode.USAGE, "one.sgf is both input and output"),
        (("broken.psq", "one.sgf", "sub/../broken.psq"), ExitCode.USAGE, "is both input and output"),
        (("loop.sgf", "two.psq"), ExitCode.BAD_DATA, "loop.sgf: Too many levels of symbolic links"),
        (("one.sgf", "loop.sgf"), ExitCode.FAILED, "loop.sgf: Too many levels of symbolic links"),
        (("one.sgf", "link.sgf"), ExitCode.USAGE, "link.sgf is both input and output"),
        (("missing.sgf", "missing.sgf"), ExitCode.USAGE, "missing.sgf is both input and output"),
        ((f"{'x' * 300}.sgf", "two.psq"), ExitCode.BAD_DATA, "File name too long"),
        (("one.sgf", f"{'x' * 300}.sgf"), ExitCode.FAILED, "File name too long"),
        (("missing.sgf", "two.psq"), ExitCode.BAD_DATA, "missing.sgf: No such file"),
        (("one.sgf", "broken.psq", "two.psq"), ExitCode.BAD_DATA, "broken.psq, line 2: 'h8 i9' is no move"),
    ],
)
def test_convert_reports_an_error_in_one_line(
    names: tuple[str, ...], code: ExitCode, why: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    write_games(tmp_path / "one.sgf", GAMES)
    (tmp_path / "broken.psq").write_text("Piskvorky 15x15, 0:0, 0\nh8 i9\n8,8,0\n")
    (tmp_path / "loop.sgf").symlink_to(tmp_path / "loop.sgf")
    (tmp_path / "link.sgf").symlink_to(tmp_path / "one.sgf")
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.iterdir()}
    found, out, err = convert(capsys, *(tmp_path / name for name in names))
    assert (found, out, err.count("\n")) == (code, "", 1)
    assert why in err
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.iterdir()} == before
