"""`gomoku play`: the game that the options ask for, and options that make no sense."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.records.formats import write_games
from core.rules import Rules
from gomoku_cli import app, options
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.study.saved import SavedGame
from gomoku_cli.tui import app as tui_app
from gomoku_cli.tui.engine import client
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.setup import BoardSetup
from nets.checkpoint import DEFAULT_MODEL, read_info
from tests.support.cases import cases
from tests.support.commands import Capsys
from tests.support.tui import ThreadEngine

pytestmark = pytest.mark.usefixtures("data_folder")


@pytest.fixture
def setups(monkeypatch: pytest.MonkeyPatch) -> list[BoardSetup]:
    """The setups of the boards that the command would show; it shows none, as if in a terminal."""
    shown: list[BoardSetup] = []

    def keep(engine: ThreadEngine, setup: BoardSetup) -> None:
        engine.close()
        shown.append(setup)

    monkeypatch.setattr(tui_app, "run_board", keep)
    monkeypatch.setattr(client, "EngineProcess", lambda runtime: ThreadEngine({}))
    terminal = SimpleNamespace(isatty=lambda: True, encoding="utf-8")
    monkeypatch.setattr(options, "sys", SimpleNamespace(stdin=terminal, stdout=terminal))
    return shown


@pytest.mark.parametrize(("given", "players"), cases("seats"))
def test_the_options_choose_the_players(
    given: str, players: list[dict[str, Any] | None], setups: list[BoardSetup]
) -> None:
    assert app.run(["play", *given.split()]) == ExitCode.DONE
    choices = [None if each is None else PlayerChoice(**{"spec": "default"} | each) for each in players]
    assert setups[0].seats == Seats(*choices)
    assert setups[0].rules == Rules()
    assert not setups[0].ascii_only
    assert not setups[0].ponders


def test_the_built_in_model_plays_the_default_rules() -> None:
    """`gomoku play` relies on it: it shows the board before it looks at the model."""
    assert read_info(DEFAULT_MODEL).rules == Rules()


def test_rules_look_and_theme_follow_the_options(setups: list[BoardSetup], monkeypatch: pytest.MonkeyPatch) -> None:
    given = ["--model", "random", "--board-size", "9", "--connect", "4", "--ascii", "--theme", "textual-light"]
    assert app.run(["play", *given, "--choose"]) == ExitCode.DONE
    setup = setups[0]
    assert setup.rules == Rules(9, 4)
    assert setup.ascii_only
    assert setup.theme == "textual-light"
    assert setup.asks_first
    terminal = SimpleNamespace(isatty=lambda: True, encoding="iso-8859-1")
    monkeypatch.setattr(options, "sys", SimpleNamespace(stdin=terminal, stdout=terminal))
    assert app.run(["play", "--theme", "plaid"]) == ExitCode.USAGE
    assert app.run(["play", "--board-size", "9"]) == ExitCode.DONE
    assert setups[1].ascii_only, "the encoding lacks the stones"
    assert setups[1].rules == Rules(9), "the mentor will play in the model's place"


def test_saved_games_are_resumed_and_others_reviewed(
    setups: list[BoardSetup], data_folder: Path, tmp_path: Path, capsys: Capsys
) -> None:
    saved = SavedGame(data_folder / "games")
    game = Game(Rules(9), Seats(None, PlayerChoice(spec="mentor:2", seconds=1.5)), [40, 41])
    saved.save(game.to_save())
    assert app.run(["play", "--resume"]) == ExitCode.DONE
    resumed = setups[0]
    assert (resumed.game.moves, resumed.game.seats) == ([40, 41], game.seats)
    assert (resumed.path, resumed.reviews) == (str(saved.path), False)
    assert saved.path is not None and resumed.known == saved.path.read_bytes()
    other = tmp_path / "other.sgf"
    other.write_text("(;GM[4]SZ[15];B[hh];W[hi])")
    assert app.run(["play", "--load", str(other)]) == ExitCode.DONE
    assert (setups[1].path, setups[1].reviews) == (str(other), True)
    theirs = Game(Rules(9), Seats(None, PlayerChoice(spec="engine:touch owned")), [40, 41])
    write_games(other, [theirs.to_save().tree])
    assert app.run(["play", "--load", str(other)]) == ExitCode.DONE
    assert setups[2].game is not None and setups[2].game.seats == Seats(None, None), "a stranger's file runs nothing"
    other.write_text("nonsense")
    assert app.run(["play", "--load", str(other)]) == ExitCode.BAD_DATA
    assert app.run(["play", "--load", str(tmp_path / "missing.sgf")]) != ExitCode.DONE
    assert "Traceback" not in capsys.readouterr().err
