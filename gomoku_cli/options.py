"""Options that several commands share, so that one thing has one name and one help text."""

from pathlib import Path
from typing import Annotated

import typer

from core.rules import MAX_CONNECT, MAX_SIZE, MIN_CONNECT, MIN_SIZE
from curriculum.arena import player_names
from nets.config import Backend, Precision
from search.tree.settings import MAX_SIMULATIONS, Policy

_MAX_SECONDS = 1_000_000
"""Of a move or a game: more than a week."""


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
        help="Start from a preset: strong (the strongest model), alphagomoku (the paper's numbers), quick (minutes) "
        "or smoke (seconds). "
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
    str | None,
    typer.Option("--against", metavar="PLAYER", autocompletion=_players, help=_OPPONENT),
]
Model = Annotated[str, typer.Option("--model", metavar="PLAYER", autocompletion=_players, help=_OPPONENT)]
Plays = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="PLAYER",
        autocompletion=_players,
        help="Who plays: any player but another engine; gomoku --help says how they are written.",
    ),
]
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
        "--seconds",
        metavar="S",
        help="Seconds a move: of players with a net instead of a number of simulations, and of the mentor.",
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

_REPORTS = "Reports"
_ENGINES = "Engines (engine:COMMAND)"

Openings = Annotated[
    str,
    typer.Option(
        "--openings",
        metavar="FILE|balanced|empty",
        help="Where games start: a file of openings, the package's balanced ones, or the empty board. "
        "Each opening is played with both colours.",
    ),
]
MatchSeed = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        metavar="N",
        help="Where every random stream grows from. With a fixed number of simulations the same seed plays the same "
        "games.",
    ),
]
MatchFolder = Annotated[
    Path | None,
    typer.Option(
        "--run",
        "-r",
        metavar="DIR",
        help="Keep the games in this folder as they end. The same command continues a match that was stopped.",
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        min=1,
        metavar="N",
        help="Games at once.",
        show_default="64; timed searches 2; engines one for two cores",
    ),
]
EngineSeconds = Annotated[
    float | None,
    typer.Option(
        "--engine-seconds",
        metavar="S",
        help="Most seconds a move.",
        show_default="--seconds, else 1",
        rich_help_panel=_ENGINES,
    ),
]
MatchSeconds = Annotated[
    float | None,
    typer.Option(
        "--match-seconds",
        metavar="S",
        help="Most seconds an engine has for all its moves of a game.",
        show_default="no limit",
        rich_help_panel=_ENGINES,
    ),
]
Records = Annotated[
    Path | None,
    typer.Option("--games-file", metavar="FILE", help="Write the games, as .sgf or .psq.", rich_help_panel=_REPORTS),
]
Figure = Annotated[
    Path | None,
    typer.Option(
        "--figure",
        metavar="FILE",
        help="Draw results, lengths and Elo, as .png or .svg; needs matplotlib.",
        rich_help_panel=_REPORTS,
    ),
]
JUnit = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write a JUnit report, for CI.", rich_help_panel=_REPORTS),
]
Markdown = Annotated[
    Path | None,
    typer.Option("--markdown", metavar="FILE", help="Write a report in Markdown.", rich_help_panel=_REPORTS),
]


def check_seconds(seconds: float | None, option: str) -> None:
    """Raises a usage error for what an option cannot take as a time; None is no time asked for."""
    if seconds is not None and not 0 < seconds <= _MAX_SECONDS:
        raise typer.BadParameter(
            f"{seconds:g} is no time: give seconds above 0, {_MAX_SECONDS:,} at most", param_hint=option
        )
