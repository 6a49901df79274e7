"""`gomoku generate-basics`: phase 1."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gomoku_cli import options
from nets.config import Backend, Precision

if TYPE_CHECKING:
    from curriculum.config import Config
    from curriculum.reporting import Conduct
    from curriculum.run.folder import RunFolder

NAME = "generate-basics"
EXAMPLES = (
    "gomoku generate-basics --output basics.npz",
    "gomoku generate-basics --kinds repository --positions 8000 --output eight.npz",
    "gomoku generate-basics --run runs/mine --preset quick",
)


def _kinds(text: str | None) -> list[str] | None:
    """The kinds that `--kinds` names; two words stand for whole sets."""
    from curriculum.games.basics import LITERAL_KINDS, REPOSITORY_KINDS

    if text is None:
        return None
    sets = {"paper": LITERAL_KINDS, "repository": REPOSITORY_KINDS}
    return list(sets[text]) if text in sets else [kind.strip() for kind in text.split(",")]


def _write_file(path: Path, config: "Config", conduct: "Conduct") -> None:
    from curriculum.games.basics import draw
    from curriculum.training.samples import write_samples

    basics = config.basics
    samples = draw(config.rules, basics.kinds, basics.positions, basics.noise_stones, config.seed, conduct)
    metadata = {"content": "basics", "kinds": list(basics.kinds), "seed": config.seed, "rules": asdict(config.rules)}
    write_samples(path, samples, metadata)
    typer.echo(f"{path}: {len(samples):,} positions")


def command(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Save the positions here.", dir_okay=False)
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run",
            "-r",
            metavar="DIR",
            help="Train both nets on the positions in this run's folder: made if missing, continued if it is a run.",
        ),
    ] = None,
    positions: Annotated[
        int | None, typer.Option("--positions", min=1, metavar="N", help="How many.", show_default="80000")
    ] = None,
    kinds: Annotated[
        str | None,
        typer.Option(
            "--kinds",
            metavar="KIND,KIND",
            help="Which kinds, in equal numbers; paper: the two of the paper, repository: the eight of its repository.",
            show_default="paper",
        ),
    ] = None,
    preset: options.Preset = None,
    config_file: options.ConfigFile = None,
    assignments: options.Assignments = None,
    seed: options.Seed = None,
    backend: options.BackendChoice = Backend.AUTO,
    precision: options.PrecisionChoice = Precision.AUTO,
    quiet: options.Quiet = False,
) -> None:
    """Draw basic attack and defence positions (phase 1), and train both nets on them with --run.

    The same seed gives the same file.
    """
    from gomoku_cli.compilation import reporting_compilation
    from gomoku_cli.interruption import conducting
    from gomoku_cli.runs import Choice, run_phase
    from gomoku_cli.runtime import choose_runtime

    choose_runtime(backend, precision)
    flags = {"seed": seed, "basics.positions": positions, "basics.kinds": _kinds(kinds)}
    choice = Choice(preset, config_file, assignments or (), flags)

    def work(folder: "RunFolder", conduct: "Conduct") -> None:
        from curriculum.phases.all import run_basics

        if output is not None:
            _write_file(output, folder.config, conduct)
        run_basics(folder, conduct)

    if run is not None:
        run_phase(1, NAME, run, choice, work, quiet=quiet)
    elif output is not None:
        config = choice.resolve()
        with conducting(quiet=quiet) as conduct, reporting_compilation(conduct.reporter):
            _write_file(output, config, conduct)
    else:
        raise typer.BadParameter("say where to: --output FILE saves the positions, --run DIR trains on them")
