"""`gomoku play`: the board."""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from core.rules import BLACK, WHITE
from gomoku_cli import options
from nets.config import Backend, Precision
from search.tree.settings import Policy

if TYPE_CHECKING:
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


def command(
    model: options.Model = "default",
    colour: Annotated[
        _Side, typer.Option("--colour", help="Your stones; black begins.", case_sensitive=False)
    ] = _Side.BLACK,
    simulations: options.Simulations = None,
    seconds: options.Seconds = None,
    ponder: Annotated[
        bool, typer.Option("--ponder", help="The model goes on thinking while you do, if it is a player with a net.")
    ] = False,
    policy: options.PolicyChoice = Policy.SEMI_STOCHASTIC,
    switch_stage: options.SwitchStage = 6,
    board_size: options.BoardSize = None,
    connect: options.Connect = None,
    ascii_only: Annotated[
        bool, typer.Option("--ascii", help="Draw with plain letters, for fonts that lack the stones.")
    ] = False,
    backend: options.BackendChoice = Backend.AUTO,
    precision: options.PrecisionChoice = Precision.AUTO,
) -> None:
    """Play against a model on a board in the terminal, by mouse or keyboard."""
    from core.position import Position
    from curriculum.arena.players import model_path, parse_player
    from gomoku_cli.runtime import choose_runtime
    from gomoku_cli.seats import common_rules, player_settings
    from gomoku_cli.tui.app import run_board
    from search.players import Ponders

    choose_runtime(backend, precision)
    settings = player_settings(simulations, seconds, policy, switch_stage)
    rules = common_rules((model,), board_size, connect)
    searches = model_path(model) is not None  # the others take neither policy nor limits
    if ponder and not searches:
        raise typer.BadParameter(f"{model} cannot ponder, only players with a net can", param_hint="--ponder")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise typer.BadParameter("the board needs a terminal to be shown in")
    policy_text = f"{policy.value} up to {switch_stage} stones" if policy is Policy.SEMI_STOCHASTIC else policy.value
    limit = f"{seconds:g} s a move" if seconds is not None else f"{settings.simulations} simulations"

    def seated() -> "Player":
        player = parse_player(model, rules=rules, settings=settings)
        # Whatever its first decision compiles is compiled before the game begins.
        position = Position.from_moves(rules, [0])
        if ponder and isinstance(player, Ponders):
            player.ponder(position, lambda: True)
            position.push(1)
        player.choose_batch([position], seeds=[0], stop=lambda: True)
        return player

    run_board(
        player_factory=seated,
        rules=rules,
        human=BLACK if colour is _Side.BLACK else WHITE,
        policy_text=policy_text if searches else "its own",
        model_text=f"{model}, {limit}" if searches else model,
        ponders=ponder,
        ascii_only=ascii_only,
    )
