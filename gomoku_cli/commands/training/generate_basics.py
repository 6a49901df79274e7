"""`gomoku generate-basics`: phase 1."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gomoku_cli import options
from gomoku_cli.expansion import check_output, check_suffix, expand_options
from gomoku_cli.printable import echo
from gomoku_cli.runs import ConfigOptions, resolved, run_phase

if TYPE_CHECKING:
    from curriculum.config import Config
    from curriculum.reporting import Context
    from curriculum.run.folder import RunFolder

NAME = "generate-basics"


def _kinds(text: str | None) -> list[str] | None:
    """Return the kinds of `--kinds`; `paper` and `repository` are whole sets."""
    from curriculum.games.kinds import LITERAL_KINDS, REPOSITORY_KINDS

    if text is None:
        return None
    sets = {"paper": LITERAL_KINDS, "repository": REPOSITORY_KINDS}
    return list(sets[text]) if text in sets else [kind.strip() for kind in text.split(",")]


def _write_file(path: Path, config: "Config", context: "Context") -> None:
    from curriculum.games.basics import draw
    from curriculum.training.files import write_samples

    basics = config.basics
    samples = draw(config.rules, basics.kinds, basics.positions, basics.noise_stones, config.seed, context)
    metadata = {"content": "basics", "kinds": list(basics.kinds), "seed": config.seed, "rules": asdict(config.rules)}
    write_samples(path, samples, metadata)
    echo(f"{path}: {len(samples):,} positions")


@expand_options
def command(
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", dir_okay=False)] = None,
    run: Annotated[Path | None, typer.Option("--run", "-r", metavar="DIR")] = None,
    positions: Annotated[int | None, typer.Option(min=1, show_default="80000")] = None,
    kinds: Annotated[str | None, typer.Option(metavar="KIND,KIND", show_default="paper")] = None,
    resume: options.Resume = False,
    config: ConfigOptions,
    runtime: options.RuntimeOptions,
    quiet: options.Quiet = False,
) -> None:
    """Draw basic attack and defence positions (phase 1), and train both nets on them with --run.

    The same seed gives the same file.

    Args:
        output: Save the positions here.
        run: Train both nets on the positions in the folder of a run. A missing one is created, an existing run
            continues.
        positions: Number of positions.
        kinds: Kinds of position, in equal numbers; paper: the two of the paper, repository: the eight of its
            repository.

    Examples:
        gomoku generate-basics --output basics.npz
        gomoku generate-basics --kinds repository --positions 8000 --output eight.npz
        gomoku generate-basics --run runs/mine --preset quick
    """
    from gomoku_cli.interruption import interruptible

    if output is not None:
        check_suffix(output, (".npz",), "--output")  # any other may be a text of the user's
        check_output(output, "--output")
    runtime.apply()
    choice = config.choice({"basics.positions": positions, "basics.kinds": _kinds(kinds)})

    def work(folder: "RunFolder", context: "Context") -> None:
        from curriculum.phases.all import run_basics

        if output is not None:
            _write_file(output, folder.config, context)
        run_basics(folder, context)

    if run is not None:
        run_phase(1, NAME, run, choice, work, new=not resume, resume=resume, quiet=quiet)
    elif resume:
        raise typer.BadParameter("it continues a run: give --run DIR", param_hint="--resume")
    elif output is not None:
        settings = resolved(choice)
        with interruptible(quiet=quiet) as context:
            _write_file(output, settings, context)
    else:
        raise typer.BadParameter("give --output FILE to save the positions, or --run DIR to train on them")
