"""`gomoku warmup`: compiles all kernels ahead of the first run."""

import json

import typer

from gomoku_cli import options
from gomoku_cli.printable import echo

NAME = "warmup"
EXAMPLES = (
    "gomoku warmup",
    "gomoku warmup --json",
)


def command(as_json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Compile all kernels and prepare the built-in model, so that other commands start at once.

    The result stays in the user's cache folder until this program or its compiler changes version.
    """
    import time

    from core.jit import KERNEL_FOLDER, KERNELS_ARE_KEPT
    from curriculum.bench.warmup import compile_all
    from gomoku_cli.compilation import ESTIMATE, watching_compilation
    from gomoku_cli.console import duration, program
    from gomoku_cli.interruption import conducting

    started = time.perf_counter()
    with watching_compilation() as compilation:
        if KERNELS_ARE_KEPT:
            with conducting(quiet=quiet, resume=f"{program()} {NAME}") as conduct:
                compile_all(conduct)
    seconds = time.perf_counter() - started
    if as_json:
        facts = {"folder": str(KERNEL_FOLDER), "kept": KERNELS_ARE_KEPT, "compiled": compilation.kernels}
        typer.echo(json.dumps(facts | {"seconds": round(seconds, 2)}))
    elif not KERNELS_ARE_KEPT:
        echo(f"kernels cannot be kept: {KERNEL_FOLDER} cannot be written; each run compiles its own, {ESTIMATE}")
    elif compilation.kernels:
        echo(f"compiled {compilation.kernels} kernels in {duration(seconds)}, kept in {KERNEL_FOLDER}")
    else:
        echo(f"all kernels are compiled already, kept in {KERNEL_FOLDER}")
