"""Options that several commands share, so that one thing has one name and one help text."""

from pathlib import Path
from typing import Annotated

import typer

from core.rules import MAX_CONNECT, MAX_SIZE, MIN_CONNECT, MIN_SIZE
from curriculum import player_names
from nets.config import Backend, Precision
from search.settings import MAX_SIMULATIONS, Policy


def _presets(incomplete: str) -> list[str]:
    from curriculum.presets import preset_names

    return [name for name in preset_names() if name.startswith(incomplete)]


def _players(incomplete: str) -> list[str]:
    return [name for name in player_names.EXAMPLES if name.startswith(incomplete)] or [
        str(path) for path in sorted(Path().glob(f"{incomplete}*"))
    ]


def _settings(incomplete: str) -> list[str]:
    from curriculum.presets import KEYS

    return [f"{key}=" for key in KEYS if key.startswith(incomplete)]


DEFAULT_SIMULATIONS = 400
"""New simulations a move where a command is told neither their number nor a time."""

_CONFIGURATION = "Configuration"
_NETS = "How nets are run"
_OPPONENT = f"The opponent: {player_names.HELP}."

Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        "-p",
        metavar="NAME",
        autocompletion=_presets,
        help="Start from a preset: alphagomoku (the paper's numbers), quick (minutes) or smoke (seconds). "
        "Without one: the recommended settings.",
        rich_help_panel=_CONFIGURATION,
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="A TOML file over the preset.", rich_help_panel=_CONFIGURATION),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        autocompletion=_settings,
        help="One setting over preset and file, as in search.simulations=200. Repeatable.",
        rich_help_panel=_CONFIGURATION,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        metavar="N",
        help="Where every random stream grows from.",
        rich_help_panel=_CONFIGURATION,
    ),
]
Run = Annotated[
    Path,
    typer.Option(
        "--run", "-r", metavar="DIR", help="The run's folder: made if it is missing, continued if it is a run."
    ),
]
NewRun = Annotated[Path | None, typer.Option("--run", "-r", metavar="DIR", help="The run's folder.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

Player = Annotated[
    str, typer.Argument(metavar="PLAYER", autocompletion=_players, help=f"A player: {player_names.HELP}.")
]
Against = Annotated[
    str,
    typer.Option("--against", metavar="PLAYER", autocompletion=_players, help=_OPPONENT),
]
Model = Annotated[str, typer.Option("--model", metavar="PLAYER", autocompletion=_players, help=_OPPONENT)]
Simulations = Annotated[
    int | None,
    typer.Option(
        "--simulations",
        "-n",
        min=0,
        max=MAX_SIMULATIONS,
        metavar="N",
        help="New simulations a move, for players with a net.",
        show_default=str(DEFAULT_SIMULATIONS),
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--seconds", metavar="S", help="Seconds a move instead of a number of simulations, for players with a net."
    ),
]
BoardSize = Annotated[
    int | None,
    typer.Option(
        "--board-size", min=MIN_SIZE, max=MAX_SIZE, metavar="N", help="Edge of the board.", show_default="the model's"
    ),
]
Connect = Annotated[
    int | None,
    typer.Option(
        "--connect",
        min=MIN_CONNECT,
        max=MAX_CONNECT,
        metavar="N",
        help="Stones in a line that win.",
        show_default="the model's",
    ),
]
PolicyChoice = Annotated[
    Policy,
    typer.Option(
        "--policy",
        help="How a move is chosen from the search's visits: drawn, the most visited, or drawn at first and then the "
        "most visited.",
    ),
]
SwitchStage = Annotated[
    int,
    typer.Option(
        "--switch-stage",
        min=0,
        metavar="N",
        help="semi-stochastic: moves are drawn while the board holds at most N stones.",
    ),
]
BackendChoice = Annotated[
    Backend,
    typer.Option(
        "--backend",
        envvar="GOMOKU_BACKEND",
        help="What runs them; auto: torch on a GPU, OpenVINO elsewhere. Where one cannot be had torch runs them, and a "
        "line says so.",
        rich_help_panel=_NETS,
    ),
]
PrecisionChoice = Annotated[
    Precision,
    typer.Option(
        "--precision",
        envvar="GOMOKU_PRECISION",
        help="What they compute with when they judge; auto: the fastest that the machine has. fp16 is for GPUs.",
        rich_help_panel=_NETS,
    ),
]
