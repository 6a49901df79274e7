"""`gomoku play`: a game against a model on the board in the terminal."""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from core.rules import BLACK, WHITE
from gomoku_cli import options
from gomoku_cli.expansion import expand_options
from search.tree.settings import Policy

if TYPE_CHECKING:
    from curriculum.arena.players import PlayerSettings
    from search.players import Player

NAME = "play"
EXAMPLES = (
    "gomoku play",
    "gomoku play --colour white --simulations 800 --policy deterministic",
    "gomoku play --model runs/mine --seconds 3 --ponder",
)


class _Side(StrEnum):
    BLACK = "black"
    WHITE = "white"


@expand_options
def command(
    *,
    model: options.Model = "default",
    colour: Annotated[
        _Side, typer.Option("--colour", help="Your stones; black moves first.", case_sensitive=False)
    ] = _Side.BLACK,
    search: options.SearchOptions,
    ponder: Annotated[
        bool, typer.Option("--ponder", help="Let the model think during your turns; for players with a net.")
    ] = False,
    rules: options.RulesOptions,
    ascii_only: Annotated[
        bool, typer.Option("--ascii", help="Draw with ASCII characters, for fonts without the stones.")
    ] = False,
    runtime: options.RuntimeOptions,
) -> None:
    """Play against a model on a board in the terminal, by mouse or keyboard."""
    from core.position import Position
    from curriculum.arena.players import model_path, parse_player
    from gomoku_cli.tui.app import BoardSetup, run_board
    from search.players import Ponders

    runtime.apply()
    settings = search.player_settings()
    common_rules = rules.resolve((model,))
    if ponder and model_path(model) is None:
        raise typer.BadParameter(f"{model} cannot ponder: only players with a net can", param_hint="--ponder")
    search.check_effect((model,))
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise typer.BadParameter("the board needs a terminal")

    def prepared_player() -> "Player":
        from search.tree.player import MctsPlayer

        player = parse_player(model, rules=common_rules, settings=settings)
        # All that its first decision needs is compiled before the game begins.
        position = Position.from_moves(common_rules, [0])
        if ponder and isinstance(player, Ponders):
            player.ponder(position, lambda: True)
            position.push(1)
        player.choose(position, stop=lambda: True)
        if isinstance(player, MctsPlayer):
            player.prepare()
        return player

    setup = BoardSetup(
        rules=common_rules,
        human=BLACK if colour is _Side.BLACK else WHITE,
        model_text=_model_text(model, settings),
        policy_text=_policy_text(model, settings),
        ponders=ponder,
        ascii_only=ascii_only,
    )
    run_board(prepared_player, setup)


def _model_text(model: str, settings: "PlayerSettings") -> str:
    """Return the model and the options that affect its search."""
    from curriculum.arena.players import settings_of

    effective, text = settings_of(model), model
    if settings.seconds is not None and "seconds" in effective:
        text += f", {settings.seconds:g} s a move"
    elif "simulations" in effective:
        text += f", {settings.simulations} simulations"
    return text if settings.tactics else f"{text}, no tactics"


def _policy_text(model: str, settings: "PlayerSettings") -> str:
    """Return the choice of the model's moves from visit counts."""
    from curriculum.arena.players import model_path

    if model_path(model) is None:
        return "its own"
    if settings.policy is Policy.SEMI_STOCHASTIC:
        return f"{settings.policy.value} up to {settings.switch_stage} stones"
    return settings.policy.value
