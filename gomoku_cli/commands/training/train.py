"""`gomoku train`: the three phases in order."""

import json
import math
import shlex
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from gomoku_cli import options
from gomoku_cli.expansion import expand_options
from gomoku_cli.printable import echo, printable
from gomoku_cli.runs import ConfigOptions
from gomoku_cli.workers import WorkerOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curriculum.config import Config
    from curriculum.reporting import Context
    from curriculum.run.folder import RunFolder
    from gomoku_cli.runs import Choice

EXAMPLES = (
    "gomoku train --preset quick",
    "gomoku train --preset quick --run runs/demo",
    "gomoku train --run runs/demo --resume",
    "gomoku train --preset hour --minutes 20 --tensorboard events",
    "gomoku train --preset hour --device cuda:1",
    "gomoku train --preset alphagomoku --set search.simulations=400 --dry-run --speed",
    "gomoku train --preset y-chain --scale 0.1 --run runs/chain",
    "gomoku train --preset y-12x12 --scale 0.1 --from runs/8x8 --run runs/12x12",
)


def _dry_run(config: "Config", *, speed: bool, as_json: bool) -> None:
    from curriculum.presets import to_toml
    from gomoku_cli.reports.training.work import describe_work

    estimate = describe_work(config)
    if speed:
        from curriculum.phases.estimate import describe_times

        estimate += describe_times(config)
    if as_json:
        import dataclasses

        typer.echo(json.dumps({"config": dataclasses.asdict(config), "estimate": dict(estimate)}))
        return
    echo(to_toml(config))
    width = max(len(name) for name, _ in estimate)
    for name, value in estimate:
        echo(f"# {name:<{width}}  {value}")


def _show(results: "Sequence[Mapping[str, Any]]") -> None:
    from rich.table import Table
    from rich.text import Text

    from gomoku_cli.console import STDOUT, duration

    if not results:
        return
    table = Table(title="The new model", title_justify="left")
    table.add_column("against")
    for column in ("games", "wins", "draws", "losses", "score", "time"):
        table.add_column(column, justify="right")
    for result in results:
        counts = (str(result[name]) for name in ("games", "wins", "draws", "losses"))
        table.add_row(
            Text(printable(result["opponent"])), *counts, f"{result['score']:.2f}", duration(result["seconds"])
        )
    STDOUT.print(table)


@expand_options
def command(
    run: Annotated[
        Path | None,
        typer.Option("--run", "-r", metavar="DIR", help="Folder of the run.", show_default="runs/PRESET"),
    ] = None,
    *,
    config: ConfigOptions,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="MODEL",
            help="Start from the weights of default, a model file or a run folder, instead of fresh nets; also of "
            "another board's, where its net allows.",
        ),
    ] = None,
    resume: options.Resume = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print the resolved configuration, the work and the memory that it takes; do nothing."
        ),
    ] = False,
    speed: Annotated[
        bool,
        typer.Option("--speed", help="With --dry-run: measure this machine for some seconds, and estimate the time."),
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes",
            min=0.01,
            metavar="N",
            help="End after so many minutes, at a step and with everything saved; --resume continues.",
            show_default="no limit",
        ),
    ] = None,
    tensorboard: Annotated[
        Path | None,
        typer.Option(
            "--tensorboard",
            metavar="DIR",
            help="Write event files for TensorBoard into this folder while it trains; needs tensorboard.",
        ),
    ] = None,
    runtime: options.RuntimeOptions,
    workers: WorkerOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a model from nothing: basics, imitation of a teacher, gated self-play.

    Ctrl-C finishes the step, saves, and prints the command that continues; --resume also continues a killed run.
    """
    from curriculum.presets import chain_of
    from gomoku_cli.console import program
    from gomoku_cli.interruption import interruptible
    from gomoku_cli.runs import Choice, open_run, with_pool

    runtime.apply()
    chain = chain_of(config.preset)
    choice = Choice.of(config, {"start": _absolute(start)})
    if dry_run:
        if resume:
            raise typer.BadParameter("the estimate is that of a new run: leave --resume out")
        if chain:
            raise typer.BadParameter(f"{config.preset} is a chain: name one of its presets, {', '.join(chain)}")
        _dry_run(choice.resolve(with_players=speed), speed=speed, as_json=as_json)
        return
    if speed:
        raise typer.BadParameter("it belongs to --dry-run", param_hint="--speed")
    if tensorboard is not None:
        from gomoku_cli.reports.page.tensorboard import check_tensorboard

        check_tensorboard()
    limits = Limits(math.inf if minutes is None else time.monotonic() + 60 * minutes, tensorboard)
    if run is None:
        if config.preset is None:
            raise typer.BadParameter("give the folder of the run, or a preset for runs/PRESET", param_hint="--run")
        run = Path("runs", config.preset)
    from curriculum.run.folder import RunFolder

    if chain:
        _train_chain(chain, run, choice, workers, limits, resume=resume, as_json=as_json, quiet=quiet)
        return
    command_line = shlex.join([*program().split(), "train", "--run", str(run), "--resume", *workers.words()])

    def opened() -> RunFolder:
        return open_run(run, choice) if resume else RunFolder.create(run, choice.resolve())

    with (
        with_pool(workers, opened, is_new=not resume) as (folder, pool),
        interruptible(quiet=quiet, resume=command_line, pool=pool, deadline=limits.deadline) as context,
    ):
        results = _run_all(folder, context, limits)
        if as_json:
            typer.echo(json.dumps({"run": str(run), "model": str(folder.best_model), "matches": results}))
        else:
            _show(results)
            name = shlex.quote(str(run))
            echo(f"The model is {folder.best_model}. Play it, and look at its training:\n")
            echo(f"  {program()} play --model {name}\n  {program()} watch {name}\n  {program()} report {name}")


class Limits(NamedTuple):
    """The end of a training, and the place of its event files."""

    deadline: float
    """On the clock of `time.monotonic`."""
    events: Path | None


def _run_all(folder: "RunFolder", context: "Context", limits: Limits) -> list[dict[str, Any]]:
    from curriculum.phases.all import run_all
    from gomoku_cli.compilation import reporting_compilation
    from gomoku_cli.console import headline
    from gomoku_cli.reports.training.outlook import headline_of

    for remark in folder.remarks:
        context.reporter.say(remark)
    whole = headline_of(folder.path, folder.config)
    with ExitStack() as stack:
        if limits.events is not None:
            from gomoku_cli.reports.page.tensorboard import following

            stack.enter_context(following(folder.path, limits.events))
        stack.enter_context(headline(context.reporter, whole))
        stack.enter_context(reporting_compilation(context.reporter))
        return run_all(folder, context)


def _absolute(start: str | None) -> str | None:
    """Return the path of a model from the root, since a run outlives the current folder; `default` as it is."""
    return str(Path(start).absolute()) if start is not None and Path(start).exists() else start


def _train_chain(
    chain: "Sequence[str]",
    path: Path,
    choice: "Choice",
    workers: WorkerOptions,
    limits: Limits,
    *,
    resume: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train the runs of a chain in folders of `path`, each from the model of the one before."""
    from curriculum.run.folder import RunFolder, best_model, is_run
    from gomoku_cli.console import program
    from gomoku_cli.interruption import interruptible
    from gomoku_cli.runs import Choice, open_run, with_pool

    words = ["train", "--preset", str(choice.preset), "--run", str(path), "--resume", *workers.words()]
    command_line = shlex.join([*program().split(), *words])
    start = choice.flags["start"]
    trained: list[dict[str, Any]] = []
    for preset in chain:
        folder_path = path / preset
        stage = replace(choice, preset=preset, flags={**choice.flags, "start": start})
        goes_on = resume and is_run(folder_path)

        def opened(path: Path = folder_path, stage: Choice = stage, goes_on: bool = goes_on) -> RunFolder:
            return open_run(path, stage) if goes_on else RunFolder.create(path, stage.resolve())

        with (
            with_pool(workers, opened, is_new=not goes_on) as (folder, pool),
            interruptible(quiet=quiet, resume=command_line, pool=pool, deadline=limits.deadline) as context,
        ):
            context.reporter.say(f"{preset}: {folder.config.rules}" + (f", from {start}" if start else ""))
            results = _run_all(folder, context, limits)
            trained.append({"run": str(folder_path), "model": str(folder.best_model), "matches": results})
            if not as_json:
                _show(results)
        start = str(best_model(folder_path).absolute())
    if as_json:
        typer.echo(json.dumps(trained))
    else:
        echo(f"The last model is {start}. Play it:\n\n  {program()} play --model {shlex.quote(trained[-1]['run'])}")
