"""The players that a command seats, and the rules they meet under."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from core.rules import Rules
from gomoku_cli.exit_codes import for_error
from gomoku_cli.options import DEFAULT_SIMULATIONS, check_seconds
from search.tree.settings import Policy

if TYPE_CHECKING:
    from curriculum.arena.players import PlayerSettings


def common_rules(specs: Sequence[str], board_size: int | None, connect: int | None) -> Rules:
    """The rules under which the players that `specs` name can meet.

    Raises a usage error where there are none, `nets.checkpoint.CheckpointError` for a broken model.
    """
    from curriculum.arena.players import resolve_rules

    try:
        return resolve_rules(specs, board_size, connect)
    except ValueError as error:
        if for_error(error) is not None:
            raise
        raise typer.BadParameter(str(error), param_hint="--board-size, --connect") from error


def player_settings(
    simulations: int | None, seconds: float | None, policy: Policy, switch_stage: int
) -> "PlayerSettings":
    """How the players that search with a net do it, from a command's options.

    Raises a usage error for what is no time, and for a time and a number of simulations at once.
    """
    from curriculum.arena.players import PlayerSettings

    check_seconds(seconds, "--seconds")
    if seconds is not None and simulations is not None:
        raise typer.BadParameter(
            "a search ends after a time or after a number of simulations: give one of them",
            param_hint="--seconds, --simulations",
        )
    return PlayerSettings(
        simulations=DEFAULT_SIMULATIONS if simulations is None else simulations,
        seconds=seconds,
        policy=policy,
        switch_stage=switch_stage,
    )
