"""The run folder that a command works in, and the configuration of a new one."""

import shlex
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from curriculum.config import Config
    from curriculum.reporting import Conduct
    from curriculum.run.folder import RunFolder


@dataclass(frozen=True, slots=True)
class Choice:
    """What the options say of a run's configuration."""

    preset: str | None
    file: Path | None
    assignments: Sequence[str]
    flags: Mapping[str, Any]
    """Dotted keys and values; None was not given."""

    def resolve(self) -> "Config":
        """The whole configuration, its names checked. Raises `ConfigError` or `PlayerSpecError`."""
        from curriculum.presets import resolve

        config = resolve(self.preset, file=self.file, assignments=self.assignments, flags=self.flags)
        check(config)
        return config


def check(config: "Config") -> None:
    """Tries the names that a configuration holds, so that a wrong one is found before hours of work.

    Raises `ConfigError` or `PlayerSpecError`.
    """
    from curriculum.arena.players import PlayerSettings, parse_player
    from curriculum.games.basics import KINDS
    from curriculum.games.basics import check as check_basics
    from curriculum.presets import ConfigError, nearest

    for kind in config.basics.kinds:
        if kind not in KINDS:
            raise ConfigError(f"basics.kinds: there is no kind {kind}{nearest(kind, KINDS)}")
    check_basics(config.rules, config.basics.kinds, config.basics.noise_stones)
    if config.imitation.games < 2 or config.imitation.held_out_share > 0.5:
        raise ConfigError("imitation needs 2 games or more, and at most half of them held out")
    if config.search.simulations < 2:
        raise ConfigError(f"search.simulations is {config.search.simulations}; training needs 2 or more")
    settings = PlayerSettings(search=config.search, switch_stage=config.evaluation.switch_stage)
    for spec in (config.imitation.teacher, config.imitation.bar_opponent):
        parse_player(spec, rules=config.rules, settings=settings)


def open_or_create(path: Path, choice: Choice) -> "RunFolder":
    """The run in `path`, or a new one there made from the options."""
    from curriculum.run.folder import RunFolder, is_run

    return open_run(path, choice) if is_run(path) else RunFolder.create(path, choice.resolve())


def open_run(path: Path, choice: Choice) -> "RunFolder":
    """The run in `path`. It keeps the configuration it was made with: options that say otherwise are refused.

    Raises `RunFolderError`, and `ConfigError` for the options.
    """
    from curriculum.presets import ConfigError, difference
    from curriculum.run.folder import RunFolder

    with ExitStack() as undo:
        run = undo.enter_context(RunFolder.open(path))
        other = difference(
            run.config, choice.preset, file=choice.file, assignments=choice.assignments, flags=choice.flags
        )
        if other is not None:
            raise ConfigError(
                f"the run in {path} keeps the configuration it was made with: {other} (--run names another folder)"
            )
        check(run.config)
        undo.pop_all()
        return run


def run_phase(
    number: int,
    command: str,
    path: Path,
    choice: Choice,
    work: "Callable[[RunFolder, Conduct], None]",
    *,
    quiet: bool,
) -> None:
    """Does the `work` of a phase in the run in `path`, made if it is missing, and says where its model is.

    `command`: the subcommand, to be told to whoever stops it.
    """
    from curriculum.run.folder import is_run
    from gomoku_cli.compilation import reporting_compilation
    from gomoku_cli.console import program
    from gomoku_cli.interruption import conducting

    resume = f"{program()} {command} --run {shlex.quote(str(path))}"
    is_new = not is_run(path)
    with open_or_create(path, choice) as folder, conducting(quiet=quiet, resume=resume) as conduct:
        if is_new:
            conduct.reporter.say(f"{path} is a new run: it starts from fresh nets")
        with reporting_compilation(conduct.reporter):
            work(folder, conduct)
        typer.echo(f"phase {number} is done: {folder.best_model}")
