"""`gomoku play`: a game against a model on the board in the terminal."""

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
        _Side, typer.Option("--colour", help="Your stones; black moves first.", case_sensitive=False)
    ] = _Side.BLACK,
    simulations: options.Simulations = None,
    seconds: options.Seconds = None,
    ponder: Annotated[
        bool, typer.Option("--ponder", help="Let the model think during your turns; for players with a net.")
    ] = False,
    policy: options.PolicyChoice = Policy.SEMI_STOCHASTIC,
    switch_stage: options.SwitchStage = 6,
    board_size: options.BoardSize = None,
    connect: options.Connect = None,
    ascii_only: Annotated[
        bool, typer.Option("--ascii", help="Draw with ASCII characters, for fonts without the stones.")
    ] = False,
    backend: options.BackendChoice = Backend.AUTO,
    precision: options.PrecisionChoice = Precision.AUTO,
) -> None:
    """Play against a model on a board in the terminal, by mouse or keyboard."""
    from core.position import Position
    from curriculum.arena.players import model_path, parse_player
    from gomoku_cli.runtime import choose_runtime
    from gomoku_cli.seats import common_rules, player_settings
    from gomoku_cli.tui.app import BoardSetup, run_board
    from search.players import Ponders

    choose_runtime(backend, precision)
    settings = player_settings(simulations, seconds, policy, switch_stage)
    rules = common_rules((model,), board_size, connect)
    has_net = model_path(model) is not None  # other players take neither policy nor limits
    if ponder and not has_net:
        raise typer.BadParameter(f"{model} cannot ponder: only players with a net can", param_hint="--ponder")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise typer.BadParameter("the board needs a terminal")
    policy_text = f"{policy.value} up to {switch_stage} stones" if policy is Policy.SEMI_STOCHASTIC else policy.value
    limit = f"{seconds:g} s a move" if seconds is not None else f"{settings.simulations} simulations"

    def prepared_player() -> "Player":
        player = parse_player(model, rules=rules, settings=settings)
        # Compiles the kernels of its first decision before the game begins.
        position = Position.from_moves(rules, [0])
        if ponder and isinstance(player, Ponders):
            player.ponder(position, lambda: True)
            position.push(1)
        player.choose(position, stop=lambda: True)
        return player

    setup = BoardSetup(
        rules=rules,
        human=BLACK if colour is _Side.BLACK else WHITE,
        model_text=f"{model}, {limit}" if has_net else model,
        policy_text=policy_text if has_net else "its own",
        ponders=ponder,
        ascii_only=ascii_only,
    )
    run_board(prepared_player, setup)
