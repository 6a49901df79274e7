"""Options that several commands share. Options that belong together form a dataclass for `expand_options`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from core.input_limits import MAX_MOVE_SECONDS, MAX_SIMULATIONS
from core.rules import MAX_CONNECT, MAX_SIZE, MIN_CONNECT, MIN_SIZE, Rules, Variant
from curriculum.arena import player_names
from gomoku_cli import completion
from gomoku_cli.exit_codes import for_error
from gomoku_cli.match_options import MatchOptions
from gomoku_cli.tui.drivers.answers import Graphics
from nets.config import AUTO_DEVICE, DEVICE_NAME, Backend, Precision, RuntimeChoice, set_runtime
from search.tree.settings import DEFAULT_SIMULATIONS, DEFAULT_SWITCH_STAGE, Policy

if TYPE_CHECKING:
    from curriculum.arena.players import PlayerSettings


# Options of one parameter

Run = Annotated[Path, typer.Option("--run", "-r", metavar="DIR", help="Folder of the run, which continues.")]
New = Annotated[bool, typer.Option("--new", help="Make the run if there is none, with fresh nets.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue a stopped run, and make none.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="Show numbers in place of colours, as NO_COLOR does.")]
Ascii = Annotated[bool, typer.Option("--ascii", help="Draw with ASCII characters only.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of every random stream.")]
Figure = Annotated[Path | None, typer.Option(help="Draw it, as .png or .svg; needs matplotlib.")]

PLAYER: dict[str, Any] = {"metavar": "PLAYER", "autocompletion": completion.players}
"""Settings of an option that names a player."""
Player = Annotated[str, typer.Argument(**PLAYER, help=f"A player: {player_names.HELP}.")]
Model = Annotated[str, typer.Option(**PLAYER, help=f"The opponent: {player_names.HELP}.")]
Plays = Annotated[
    str, typer.Option(**PLAYER, help="The player: any but another engine. gomoku --help lists the spellings.")
]
Analyst = Annotated[
    str | None,
    typer.Option(
        **PLAYER,
        help="The player that analyses: a model, mentor or pure-mcts:N.",
        show_default="default; mentor on boards that it does not play",
    ),
]
Opponent = Annotated[
    str | None,
    typer.Argument(metavar="[OPPONENT]", autocompletion=completion.players, help="The player that it meets."),
]
Against = Annotated[str | None, typer.Option(**PLAYER, help="Another way to name the opponent.")]
RuleVariant = Annotated[
    Variant | None,
    typer.Option(
        case_sensitive=False,
        help="freestyle: a longer line wins too; standard: it wins nothing; renju: nor for Black, whom overlines, "
        "two fours and two threes are forbidden; caro: five between two of the opponent's stones win nothing; "
        "caro-exact: nor does a longer line.",
        show_default="the model's",
    ),
]
Simulations = Annotated[
    int | None,
    typer.Option(
        "--simulations",
        "-n",
        min=0,
        max=MAX_SIMULATIONS,
        help="New simulations a move, for players with a net.",
        show_default=str(DEFAULT_SIMULATIONS),
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        metavar="S", help="Seconds a move: of players with a net instead of a number of simulations, and of the mentor."
    ),
]
Tactics = Annotated[
    bool,
    typer.Option(
        "--tactics/--no-tactics",
        help="Let the search of a model see forced wins; without, it is the one of its training, as in the papers.",
    ),
]
_OF_PLAYERS = ("simulations", "seconds", "policy", "switch_stage", "tactics", "engine_seconds", "match_seconds", "book")
"""Options of `SearchOptions` and `MatchOptions` that only some players read."""


def model_of(player: str, option: str | None = None) -> Path:
    """Return the model file of a player. Raises a usage error for one without a net, and the errors of `model_path`."""
    from curriculum.arena.players import model_path

    path = model_path(player)
    if path is None:
        raise typer.BadParameter(f"{player} is a player without a net", param_hint=option)
    return path


# Groups of options


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeOptions:
    """Execution of nets."""

    PANEL: ClassVar[str] = "Nets"

    backend: Annotated[Backend, typer.Option(envvar="GOMOKU_BACKEND")] = Backend.AUTO
    """Library that evaluates nets; auto: torch on a GPU, OpenVINO elsewhere, numba for line-pattern nets. If it is
    missing, torch replaces it, with a note."""
    precision: Annotated[Precision, typer.Option(envvar="GOMOKU_PRECISION")] = Precision.AUTO
    """Precision of evaluations; auto: the fastest of this machine. fp16 is for GPUs, int16 for line-pattern nets."""
    device: Annotated[str, typer.Option(envvar="GOMOKU_DEVICE", metavar="cpu|cuda|cuda:N")] = AUTO_DEVICE
    """Device of the nets, in training too; auto: a GPU if torch finds one."""

    def apply(self) -> None:
        """Evaluate all nets of this process as these options say. Raises a usage error for no name of a device."""
        if not DEVICE_NAME.fullmatch(self.device):
            raise typer.BadParameter(f"{self.device!r} is no device: auto, cpu, cuda or cuda:N", param_hint="--device")
        set_runtime(RuntimeChoice(backend=self.backend, precision=self.precision, device=self.device))


@dataclass(frozen=True, slots=True, kw_only=True)
class LookOptions:
    """Look of a board in the terminal."""

    ascii_only: Annotated[bool, typer.Option("--ascii", show_default=False)] = False
    """Draw with ASCII characters, for fonts without the stones."""
    theme: Annotated[str | None, typer.Option(metavar="NAME", show_default="the terminal's")] = None
    """Colours around the board, such as textual-light."""
    graphics: Annotated[Graphics, typer.Option(envvar="GOMOKU_GRAPHICS", case_sensitive=False)] = Graphics.AUTO
    """Pictures of the board by a protocol of the terminal, or characters; auto: as the terminal answers."""

    def settings(self) -> dict[str, Any]:
        """Return the settings of an app. Raises a usage error without a terminal, and for a name of no theme."""
        from gomoku_cli.tui.terminal import is_served, shows_unicode

        if not is_served() and not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise typer.BadParameter("the board needs a terminal")
        if self.theme is not None:
            from textual.theme import BUILTIN_THEMES

            if self.theme not in BUILTIN_THEMES:
                known = ", ".join(sorted(BUILTIN_THEMES))
                raise typer.BadParameter(f"{self.theme} is no theme: choose among {known}", param_hint="--theme")
        ascii_only = self.ascii_only or not shows_unicode(sys.stdout.encoding)
        return {"ascii_only": ascii_only, "theme": self.theme, "graphics": self.graphics}


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesOptions:
    """Rules of the games."""

    board_size: Annotated[int | None, typer.Option(min=MIN_SIZE, max=MAX_SIZE, show_default="the model's")] = None
    """Edge of the board."""
    connect: Annotated[int | None, typer.Option(min=MIN_CONNECT, max=MAX_CONNECT, show_default="the model's")] = None
    """Stones in a line that win."""

    variant: RuleVariant = None

    @property
    def given(self) -> dict[str, Any]:
        """The fields of `Rules` that were given."""
        fields = {"size": self.board_size, "connect": self.connect, "variant": self.variant}
        return {name: value for name, value in fields.items() if value is not None}

    def resolve(self, players: Sequence[str]) -> Rules:
        """Return the rules of games between these players.

        Raises a usage error if there are none, `nets.checkpoint.CheckpointError` for a broken model.
        """
        from curriculum.arena.players import resolve_rules

        try:
            return resolve_rules(players, **self.given)
        except ValueError as error:
            if for_error(error) is not None:
                raise
            raise typer.BadParameter(str(error), param_hint="--board-size, --connect, --variant") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Search of the players: its limits, the choice of a move, and tactics."""

    simulations: Simulations = None
    seconds: Seconds = None
    policy: Annotated[Policy | None, typer.Option(show_default=Policy.SEMI_STOCHASTIC.value)] = None
    """Choice of a move from the visit counts: drawn, the most visited, or drawn at first and the most visited later."""
    switch_stage: Annotated[int | None, typer.Option(min=0, show_default=str(DEFAULT_SWITCH_STAGE))] = None
    """semi-stochastic: moves are drawn while the board holds at most N stones."""
    tactics: Tactics = True

    def player_settings(self, match: MatchOptions = MatchOptions()) -> "PlayerSettings":  # noqa: B008 - frozen
        """Return the settings of the players in a game.

        Raises a usage error for a time out of range and for options that exclude each other.
        """
        from curriculum.arena.players import PlayerSettings

        check_seconds(match.engine_seconds, "--engine-seconds")
        check_seconds(match.match_seconds, "--match-seconds")
        self.check()
        return PlayerSettings(
            **self.settings(),
            engine_seconds=match.engine_seconds,
            match_seconds=match.match_seconds,
            book=match.book,
        )

    def settings(self) -> dict[str, Any]:
        """Return these options by name, those that were not given with their defaults."""
        return {
            "simulations": DEFAULT_SIMULATIONS if self.simulations is None else self.simulations,
            "seconds": self.seconds,
            "policy": self.policy or Policy.SEMI_STOCHASTIC,
            "switch_stage": DEFAULT_SWITCH_STAGE if self.switch_stage is None else self.switch_stage,
            "tactics": self.tactics,
        }

    def check(self) -> None:
        """Raise a usage error for a time out of range and for options that exclude each other. Imports nothing."""
        check_seconds(self.seconds, "--seconds")
        if self.seconds is not None and self.simulations is not None:
            raise typer.BadParameter(
                "a search ends after a time or after a number of simulations: give one of them",
                param_hint="--seconds, --simulations",
            )
        policy = self.policy or Policy.SEMI_STOCHASTIC
        if self.switch_stage is not None and policy is not Policy.SEMI_STOCHASTIC:
            raise typer.BadParameter(f"it has no effect on --policy {policy.value}", param_hint="--switch-stage")

    def check_effect(
        self,
        players: Sequence[str],
        match: MatchOptions = MatchOptions(),  # noqa: B008 - frozen
        *,
        of: str = "",
    ) -> None:
        """Raise a usage error for a given option that affects none of the players, `PlayerSpecError` for no player.

        `of`: the players in words, in place of their names.
        """
        from curriculum.arena.players import settings_of

        effective = {name for player in players for name in settings_of(player)}
        for name in _OF_PLAYERS:
            value = getattr(self if hasattr(self, name) else match, name)
            is_given = value is not None and value is not True  # tactics are on by default
            if is_given and name not in effective:
                option = "--no-tactics" if name == "tactics" else f"--{name.replace('_', '-')}"
                raise typer.BadParameter(f"it has no effect on {of or ' and '.join(players)}", param_hint=option)


def check_seconds(seconds: float | None, option: str) -> None:
    """Raise a usage error for a time out of range; None is no time."""
    if seconds is not None and not 0 < seconds <= MAX_MOVE_SECONDS:
        raise typer.BadParameter(
            f"{seconds:g} is no time: give seconds above 0, {MAX_MOVE_SECONDS:,} at most", param_hint=option
        )
