"""`gomoku warmup`: compiles all kernels ahead of the first run."""

from dataclasses import asdict
from typing import Annotated

import typer

from core.rules import Variant
from gomoku_cli import options
from gomoku_cli.printable import echo, echo_json

NAME = "warmup"


def command(
    variant: Annotated[Variant, typer.Option(case_sensitive=False)] = Variant.FREESTYLE,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compile all kernels and prepare the built-in model, so that other commands start at once.

    Renju and caro have kernels of their own, which `--variant` compiles. It also measures the batch size and the
    threads with which the nets are fastest on this machine. The results stay in the user's cache folder until this
    program, its compiler or OpenVINO changes version.

    Args:
        variant: Compile the kernels for games under these rules; standard plays with those of freestyle.

    Examples:
        gomoku warmup
        gomoku warmup --variant renju
        gomoku warmup --json
    """
    import time

    from core.compiled.jit import KERNELS
    from core.files.cache_folder import problems
    from curriculum.bench.tuning import tune
    from curriculum.bench.warmup import compile_all
    from gomoku_cli.compilation import ESTIMATE
    from gomoku_cli.console import duration, program
    from gomoku_cli.interruption import interruptible

    started = time.perf_counter()
    KERNELS.use()
    tuning = None
    compiled = 0
    if KERNELS.can_keep():
        with interruptible(quiet=quiet, resume=f"{program()} {NAME}", notes=False) as context:
            compiled = compile_all(context, variant)
            tuning = tune(context)
    seconds = time.perf_counter() - started
    reason = next(iter(problems()), None)
    if as_json:
        facts = {"folder": str(KERNELS.path), "kept": reason is None, "reason": reason}
        facts |= {"tuning": asdict(tuning) if tuning else None}
        echo_json(facts | {"compiled": compiled, "seconds": round(seconds, 2)})
    elif reason is not None:
        echo(f"not everything could be kept: {reason}; what is missing is made by each run, {ESTIMATE}")
    elif compiled:
        echo(f"compiled {compiled} kernels for {variant} in {duration(seconds)}, kept in {KERNELS.path}")
    else:
        echo(f"all kernels for {variant} are compiled already, kept in {KERNELS.path}")
    if tuning is not None and not as_json:
        threads = f"{tuning.threads} threads" if tuning.threads else "all cores"
        echo(f"the nets run in batches of up to {tuning.largest_batch} on {threads}, as measured here")
