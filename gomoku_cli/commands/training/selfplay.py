"""`gomoku selfplay`: phase 3."""

from typing import TYPE_CHECKING

from gomoku_cli import options
from gomoku_cli.expansion import expand_options
from gomoku_cli.runs import ConfigOptions
from gomoku_cli.workers import WorkerOptions

if TYPE_CHECKING:
    from curriculum.reporting import Context
    from curriculum.run.folder import RunFolder

NAME = "selfplay"
EXAMPLES = (
    "gomoku selfplay --run runs/mine",
    "gomoku selfplay --run runs/new --new --preset quick --seed 7",
)


@expand_options
def command(
    run: options.Run,
    *,
    new: options.New = False,
    resume: options.Resume = False,
    config: ConfigOptions,
    runtime: options.RuntimeOptions,
    workers: WorkerOptions,
    quiet: options.Quiet = False,
) -> None:
    """Improve by gated self-play (phase 3): games, training, and a match that decides which model stays.

    Continues the run from its best model; --new makes a run with fresh nets.
    """
    from gomoku_cli.runs import Choice, run_phase

    runtime.apply()

    def work(folder: "RunFolder", context: "Context") -> None:
        from curriculum.phases.all import run_selfplay

        run_selfplay(folder, context)

    run_phase(3, NAME, run, Choice.of(config), work, new=new, resume=resume, quiet=quiet, workers=workers)
