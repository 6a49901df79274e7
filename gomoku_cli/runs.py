"""The run folder of a command, and the configuration of a new run."""

import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from core.rules import Variant
from gomoku_cli import completion
from gomoku_cli.printable import echo
from gomoku_cli.workers import WorkerOptions

if TYPE_CHECKING:
    from curriculum.config import Config
    from curriculum.presets import Choice
    from curriculum.reporting import Context
    from curriculum.run.folder import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigOptions:
    """Configuration of a training run."""

    PANEL: ClassVar[str] = "Configuration"

    preset: Annotated[str | None, typer.Option("--preset", "-p", metavar="NAME", autocompletion=completion.presets)] = (
        None
    )
    """Start from a preset: strongest (hours), hour, quick (minutes), smoke (seconds), or those of the papers:
    alphagomoku, y-8x8, s-gp ... Without one: the recommended settings."""
    config_file: Annotated[Path | None, typer.Option("--config")] = None
    """A TOML file over the preset."""
    assignments: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", autocompletion=completion.settings)
    ] = None
    """One setting over preset and file, as in search.simulations=200. Repeatable."""
    variant: Annotated[Variant | None, typer.Option(case_sensitive=False)] = None
    """Rules of a new run: rules.variant."""
    scale: Annotated[float | None, typer.Option(metavar="SHARE")] = None
    """Multiply the budget, 0 to 1: simulations, games, positions, epochs and passes."""
    seed: Annotated[int | None, typer.Option(min=0)] = None
    """Seed of every random stream."""

    def choice(self, flags: Mapping[str, Any] = MappingProxyType({})) -> "Choice":
        """Return the choice of these options and of a command's own `flags`, dotted keys and values."""
        from curriculum.presets import Choice

        own = {"rules.variant": self.variant, "seed": self.seed, "scale": self.scale}
        return Choice(self.preset, self.config_file, self.assignments or (), {**own, **flags})


def resolved(choice: "Choice") -> "Config":
    """Return the whole configuration of a new run. Raises `ConfigError`, and the errors of `check_new`."""
    from curriculum.phases.steps import check_new
    from curriculum.presets import resolve

    config = resolve(choice.preset, file=choice.file, assignments=choice.assignments, flags=choice.flags)
    check_new(config)
    return config


def open_run(path: Path, choice: "Choice") -> "RunFolder":
    """Open the run in `path`. What the options state changes its settings from now on, where that is still possible.

    Raises `FolderError`, `ConfigError` for the options, and the errors of `check_players`.
    """
    from curriculum.phases.players import check_players
    from curriculum.presets import revised
    from curriculum.run.folder import RunFolder

    def revise(config: "Config") -> "Config":
        changed = revised(config, choice)
        check_players(changed)
        return changed

    return RunFolder.open(path, revise)


@contextmanager
def work_in(
    path: Path,
    choice: "Choice",
    workers: WorkerOptions,
    words: Sequence[str],
    *,
    is_new: bool,
    quiet: bool,
    deadline: float = math.inf,
    whole: bool = False,
) -> "Iterator[tuple[RunFolder, Context]]":
    """Yield the run in `path`, which is made if it `is_new`, and the context of the work in it.

    A run that exists comes before its workers, since these take seconds to start. A new one comes last, so that
    workers that cannot be had leave no folder behind. `words`: the command that continues the work, but for the
    options of workers. `deadline`: see `interruptible`. `whole`: the time left of the whole run is shown.
    """
    from curriculum.run.folder import RunFolder
    from gomoku_cli.console import headline, program
    from gomoku_cli.interruption import interruptible
    from gomoku_cli.reports.training.outlook import headline_of

    resume = shlex.join([*program().split(), *words, *workers.words()])
    with ExitStack() as stack:
        pool = stack.enter_context(workers.pool()) if is_new else None
        folder = stack.enter_context(RunFolder.create(path, resolved(choice)) if is_new else open_run(path, choice))
        if pool is None:
            pool = stack.enter_context(workers.pool())
        context = stack.enter_context(interruptible(quiet=quiet, resume=resume, pool=pool, deadline=deadline))
        for remark in folder.remarks:
            context.reporter.say(remark)
        place = headline_of(folder.path, folder.config, whole=whole)
        stack.enter_context(headline(context.reporter, place))
        yield folder, context


def run_phase(
    number: int,
    command: str,
    path: Path,
    choice: "Choice",
    work: "Callable[[RunFolder, Context], None]",
    *,
    new: bool,
    resume: bool,
    quiet: bool,
    workers: WorkerOptions = WorkerOptions(),  # noqa: B008 - frozen
) -> None:
    """Do the `work` of a phase in the run in `path`, and print the path of its model.

    `new`: make the run if there is none. `resume` refuses that. `command`: the subcommand that continues the work after
    an interruption.

    Raises `FolderError` without a run.
    """
    from curriculum.phases.steps import start_text
    from curriculum.run.folder import is_run, why_no_run
    from curriculum.run.locking import FolderError

    if new and resume:
        raise typer.BadParameter("--resume continues a run and --new makes one", param_hint="--new")
    is_new = not is_run(path)
    if is_new and not new:
        raise FolderError(why_no_run(path) + ("" if resume else "; --new makes one"))
    words = (command, "--run", str(path))
    with work_in(path, choice, workers, words, is_new=is_new, quiet=quiet) as (folder, context):
        if is_new:
            context.reporter.say(f"{path} is a new run: it starts from {start_text(folder.config)}")
        work(folder, context)
        echo(f"phase {number} is done: {folder.best_model}")
