"""`gomoku train`: the three phases in order."""

import json
import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gomoku_cli import options
from gomoku_cli.expansion import expand_options
from gomoku_cli.printable import echo, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curriculum.config import Config

NAME = "train"
EXAMPLES = (
    "gomoku train --preset quick --run runs/demo",
    "gomoku train --run runs/demo --resume",
    "gomoku train --preset alphagomoku --set search.simulations=400 --dry-run",
)


def _dry_run(config: "Config", as_json: bool) -> None:
    from curriculum.phases.estimate import describe_estimate
    from curriculum.presets import to_toml

    estimate = describe_estimate(config)
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
    run: options.NewRun = None,
    *,
    config: options.ConfigOptions,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a stopped run, in any phase.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print the resolved configuration and an estimate of time and memory; do nothing."
        ),
    ] = False,
    runtime: options.RuntimeOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a model from nothing: basics, imitation of a teacher, gated self-play.

    Ctrl-C finishes the step, saves, and prints the command that continues; --resume also continues a killed run.
    """
    from gomoku_cli.compilation import reporting_compilation
    from gomoku_cli.console import program
    from gomoku_cli.interruption import conducting
    from gomoku_cli.runs import Choice, open_run

    runtime.apply()
    choice = Choice.of(config)
    if dry_run:
        if resume:
            raise typer.BadParameter("a resumed run keeps its configuration, config.toml in its folder")
        _dry_run(choice.resolve(), as_json)
        return
    if run is None:
        raise typer.BadParameter("give the folder of the run", param_hint="--run")
    from curriculum.run.folder import RunFolder

    command_line = f"{program()} train --run {shlex.quote(str(run))} --resume"
    with (
        open_run(run, choice) if resume else RunFolder.create(run, choice.resolve()) as folder,
        conducting(quiet=quiet, resume=command_line) as conduct,
    ):
        from curriculum.phases.all import run_all

        with reporting_compilation(conduct.reporter):
            results = run_all(folder, conduct)
        if as_json:
            typer.echo(json.dumps({"run": str(run), "model": str(folder.best_model), "matches": results}))
        else:
            _show(results)
            echo(f"The model is {folder.best_model}. Play it:\n\n  {program()} play --model {shlex.quote(str(run))}")
