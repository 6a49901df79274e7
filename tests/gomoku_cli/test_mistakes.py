"""Mistakes of a user: one line, the exit code of their kind, and nothing written."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from core.rules import Rules
from gomoku_cli.exit_codes import ExitCode
from nets.checkpoint import save_model
from nets.config import NetConfig
from nets.dual import make_model
from tests.support.cases import cases
from tests.support.commands import Capsys, refused


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(("line", "expected"), cases("wrong_commands"))
def test_a_wrong_command_line_is_one_line_and_exit_code_2(line: str, expected: str, capsys: Capsys, here: Path) -> None:
    assert expected in refused(capsys, ExitCode.USAGE, *line.split())
    assert not list(here.iterdir())


@pytest.mark.parametrize(
    "line", [["train", "--run", ""], ["train", "--run="], ["watch", "run", ""], ["convert", "", "x.sgf"]]
)
def test_an_empty_path_is_no_current_folder(line: list[str], capsys: Capsys, here: Path) -> None:
    assert "it is empty: is a variable of the shell not set?" in refused(capsys, ExitCode.USAGE, *line)
    assert not list(here.iterdir())


@pytest.mark.parametrize(("line", "expected"), cases("bad_data"))
@pytest.mark.usefixtures("here")
def test_bad_data_is_one_line_and_exit_code_3(line: str, expected: str, capsys: Capsys) -> None:
    Path("junk.safetensors").write_bytes(bytes(range(256)) * 4)
    Path("broken").mkdir()
    Path("broken/config.toml").write_text("[search]\nsimulatoins = 5\n")
    assert expected in refused(capsys, ExitCode.BAD_DATA, *line.split())


def test_a_model_with_infinite_evaluations_is_refused(capsys: Capsys, tmp_path: Path) -> None:
    model = make_model(NetConfig.tower(4, 1), Rules(9, 5), 1)
    for parameter in model.parameters():
        parameter.data.fill_(1e30)
    save_model(tmp_path / "wild.safetensors", model, {})
    line = "--against random --games 2 --simulations 4 --backend torch --quiet".split()
    error = refused(capsys, ExitCode.BAD_DATA, "evaluate", tmp_path / "wild.safetensors", *line)
    assert "not a finite number" in error


def test_a_folder_that_cannot_be_written_is_one_line(capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    error = refused(capsys, ExitCode.FAILED, "train", "--preset", "smoke", "--run", tmp_path / "file" / "run")
    assert "Not a directory" in error
    if find_spec("tensorboard"):
        options = ("--run", tmp_path / "run", "--tensorboard", tmp_path / "file")
        assert "file is no folder" in refused(capsys, ExitCode.USAGE, "train", "--preset", "smoke", *options)
        options = ("--run", tmp_path / "run", "--tensorboard", tmp_path / "new" / "events")
        assert "no key wrong" in refused(capsys, ExitCode.USAGE, "train", *options, "--set", "wrong=1")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
