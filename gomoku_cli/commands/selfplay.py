"""`gomoku selfplay`: phase 3."""

import shlex

import typer

from gomoku_cli import options

NAME = "selfplay"
EXAMPLES = (
    "gomoku selfplay --run runs/mine",
    "gomoku selfplay --run runs/new --preset quick --seed 7",
)


def command(
    run: options.Run,
    preset: options.Preset = None,
    config_file: options.ConfigFile = None,
    assignments: options.Assignments = None,
    seed: options.Seed = None,
    quiet: options.Quiet = False,
) -> None:
    """Improve by gated self-play (phase 3): games, training, and a match that decides which model stays.

    Continues from the best model that the run has; without one, from fresh nets.
    """
    from gomoku_cli.console import say_if_kernels_are_cold
    from gomoku_cli.interruption import conducting
    from gomoku_cli.runs import Choice, open_or_create

    resume = f"gomoku selfplay --run {shlex.quote(str(run))}"
    choice = Choice(preset, config_file, assignments or (), {"seed": seed})
    with (
        open_or_create(run, choice) as folder,
        conducting(quiet=quiet, resume=resume) as conduct,
    ):
        from curriculum.phases import run_selfplay

        say_if_kernels_are_cold(conduct.reporter)
        run_selfplay(folder, conduct)
        typer.echo(f"phase 3 is done: {folder.best_model}")
