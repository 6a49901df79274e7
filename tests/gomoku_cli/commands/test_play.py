"""`gomoku play`: the texts of the panel and the options without an effect."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from core.rules import WHITE, Rules
from gomoku_cli import app
from gomoku_cli.commands import play
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.tui import app as tui
from gomoku_cli.tui.app import BoardSetup
from search.players import Player


@pytest.fixture
def setups(monkeypatch: pytest.MonkeyPatch) -> list[BoardSetup]:
    """The setups of the boards that the command would show; it shows none, as if in a terminal."""
    shown: list[BoardSetup] = []

    def keep(player_factory: Callable[[], Player], setup: BoardSetup) -> None:
        shown.append(setup)

    monkeypatch.setattr(tui, "run_board", keep)
    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(play, "sys", SimpleNamespace(stdin=terminal, stdout=terminal))
    return shown


@pytest.mark.parametrize(
    ("options", "model_text", "policy_text"),
    [
        ([], "default, 400 simulations", "semi-stochastic up to 6 stones"),
        (["--simulations", "50", "--policy", "deterministic"], "default, 50 simulations", "deterministic"),
        (["--seconds", "1.5", "--switch-stage", "0"], "default, 1.5 s a move", "semi-stochastic up to 0 stones"),
        (["--no-tactics"], "default, 400 simulations, no tactics", "semi-stochastic up to 6 stones"),
        (["--model", "mentor"], "mentor", "its own"),
        (["--model", "mentor", "--seconds", "2"], "mentor, 2 s a move", "its own"),
        (["--model", "random"], "random", "its own"),
    ],
)
def test_the_panel_names_the_model_its_limit_and_its_policy(
    options: list[str], model_text: str, policy_text: str, setups: list[BoardSetup]
) -> None:
    assert app.run(["play", *options]) == ExitCode.DONE
    assert setups[0].model_text == model_text
    assert setups[0].policy_text == policy_text


def test_colour_rules_and_the_look_of_the_board_follow_the_options(setups: list[BoardSetup]) -> None:
    options = ["--model", "random", "--colour", "white", "--board-size", "9", "--connect", "4", "--ascii"]
    assert app.run(["play", *options]) == ExitCode.DONE
    assert setups[0].human == WHITE
    assert setups[0].rules == Rules(9, 4)
    assert setups[0].ascii_only
    assert not setups[0].ponders


@pytest.mark.parametrize("options", [["--simulations", "5"], ["--switch-stage", "3"], ["--no-tactics"]])
def test_an_option_without_an_effect_on_the_model_is_an_error(
    options: list[str], setups: list[BoardSetup], capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["play", "--model", "mentor", *options]) == ExitCode.USAGE
    assert f"{options[0]}: it has no effect on mentor" in capsys.readouterr().err
    assert setups == []
