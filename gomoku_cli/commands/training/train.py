"""`gomoku train`: the three phases in order."""

import math
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from curriculum.config import Config
from gomoku_cli import options
from gomoku_cli.expansion import check_folder, expand_options, require
from gomoku_cli.printable import echo, echo_json
from gomoku_cli.runs import ConfigOptions, resolved, work_in
from gomoku_cli.workers import WorkerOptions

_COUNTS = ("games", "wins", "draws", "losses")


def _dry_run(config: Config, *, speed: bool, as_json: bool) -> None:
    from curriculum.presets import to_toml
    from gomoku_cli.reports.training.work import describe_work

    estimate = describe_work(config)
    if speed:
        from curriculum.phases.estimate import describe_times

        estimate += describe_times(config)
    if as_json:
        echo_json({"config": asdict(config), "estimate": dict(estimate)})
        return
    echo(to_toml(config))
    width = max(len(name) for name, _ in estimate)
    for name, value in estimate:
        echo(f"# {name:<{width}}  {value}")


def _show(results: Sequence[Mapping[str, Any]]) -> None:
    from gomoku_cli.console import duration
    from gomoku_cli.reports.terminal import print_table

    rows = [
        (
            result["opponent"],
            *(str(result[name]) for name in _COUNTS),
            f"{result['score']:.2f}",
            duration(result["seconds"]),
        )
        for result in results
    ]
    if rows:
        title = "The new model, with the search of its training"
        print_table(("against", *_COUNTS, "score", "time"), rows, title=title)


@expand_options
def command(
    run: Annotated[Path | None, typer.Option("--run", "-r", metavar="DIR", show_default="runs/PRESET")] = None,
    *,
    config: ConfigOptions,
    start: Annotated[str | None, typer.Option("--from", metavar="MODEL")] = None,
    resume: options.Resume = False,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
    speed: Annotated[bool, typer.Option("--speed")] = False,
    minutes: Annotated[float | None, typer.Option(min=0.01, metavar="N", show_default="no limit")] = None,
    tensorboard: Annotated[Path | None, typer.Option(metavar="DIR")] = None,
    runtime: options.RuntimeOptions,
    workers: WorkerOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a model from nothing: basics, imitation of a teacher, gated self-play.

    Ctrl-C finishes the step, saves, and prints the command that continues; --resume also continues a killed run.

    Args:
        run: Folder of the run.
        start: Start from the weights of default, a model file or a run folder, instead of fresh nets; also of another
            board's, where its net allows.
        dry_run: Print the resolved configuration, the work and the memory that it takes; do nothing.
        speed: With --dry-run: measure this machine for some seconds, and estimate the time.
        minutes: End after so many minutes, at a step and with everything saved; --resume continues.
        tensorboard: Write event files for TensorBoard into this folder while it trains; needs tensorboard.

    Examples:
        gomoku train --preset quick
        gomoku train --preset quick --run runs/demo
        gomoku train --run runs/demo --resume
        gomoku train --preset hour --minutes 20 --tensorboard events
        gomoku train --preset hour --device cuda:1
        gomoku train --preset alphagomoku --set search.simulations=400 --dry-run --speed
        gomoku train --preset y-chain --scale 0.1 --run runs/chain
        gomoku train --preset y-12x12 --scale 0.1 --from runs/8x8 --run runs/12x12
    """
    from curriculum.presets import chain_of
    from gomoku_cli.console import program

    runtime.apply()
    chain = chain_of(config.preset)
    if start is not None and Path(start).exists():
        start = str(Path(start).absolute())  # a run outlives the current folder
    choice = config.choice({"start": start})
    if dry_run:
        if resume:
            raise typer.BadParameter("the estimate is that of a new run: leave --resume out")
        if chain:
            raise typer.BadParameter(f"{config.preset} is a chain: name one of its presets, {', '.join(chain)}")
        _dry_run(resolved(choice), speed=speed, as_json=as_json)
        return
    if speed:
        raise typer.BadParameter("it belongs to --dry-run", param_hint="--speed")
    if tensorboard is not None:
        require("tensorboard", "--tensorboard", extra="tensorboard")
        check_folder(tensorboard, "--tensorboard")
        from gomoku_cli.reports.page.tensorboard import following
    deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
    if run is None:
        if config.preset is None:
            raise typer.BadParameter("give the folder of the run, or a preset for runs/PRESET", param_hint="--run")
        run = Path("runs", config.preset)
    from curriculum.phases.all import run_all
    from curriculum.run.folder import best_model, is_run, why_no_run
    from curriculum.run.locking import FolderError

    if resume and not chain and not is_run(run):
        raise FolderError(f"{why_no_run(run)}; without --resume the command makes one")
    words = ["train", *(("--preset", str(config.preset)) if chain else ()), "--run", str(run), "--resume"]
    trained: list[dict[str, Any]] = []
    for preset in chain or (config.preset,):
        path = run / str(preset) if chain else run
        stage = replace(choice, preset=preset)
        goes_on = resume and (not chain or is_run(path))
        work = work_in(path, stage, workers, words, is_new=not goes_on, quiet=quiet, deadline=deadline, whole=True)
        with work as (folder, context):
            if chain:
                begun = f", from {stage.flags['start']}" if stage.flags["start"] else ""
                context.reporter.say(f"{preset}: {folder.config.rules}{begun}")
            with nullcontext() if tensorboard is None else following(path, tensorboard):
                results = run_all(folder, context)
            trained.append({"run": str(path), "model": str(folder.best_model), "matches": results})
            if not as_json:
                _show(results)
        # Each run of a chain starts from the model of the one before.
        choice = replace(choice, flags={**choice.flags, "start": str(best_model(path).absolute())})
    model, name = trained[-1]["model"], shlex.quote(trained[-1]["run"])
    if as_json:
        echo_json(trained if chain else trained[0])
    elif chain:
        echo(f"The last model is {model}. Play it:\n\n  {program()} play --model {name}")
    else:
        echo(f"The model is {model}. Play it, and look at its training:\n")
        echo(f"  {program()} play --model {name}\n  {program()} watch {name}\n  {program()} report {name}")
