"""`gomoku imitate`: phase 2."""

from typing import TYPE_CHECKING

from gomoku_cli import options
from gomoku_cli.expansion import expand_options
from gomoku_cli.runs import ConfigOptions
from gomoku_cli.workers import WorkerOptions

if TYPE_CHECKING:
    from curriculum.reporting import Context
    from curriculum.run.folder import RunFolder

NAME = "imitate"
EXAMPLES = (
    "gomoku imitate --run runs/mine",
    "gomoku imitate --run runs/new --new --preset quick --seed 7",
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
    """Imitate a teacher (phase 2): play its games and train both nets on them, until they meet the bar.

    Continues the run from its best model; --new makes a run with fresh nets.
    """
    from gomoku_cli.runs import Choice, run_phase

    runtime.apply()

    def work(folder: "RunFolder", context: "Context") -> None:
        from curriculum.phases.all import run_imitation

        run_imitation(folder, context)

    run_phase(2, NAME, run, Choice.of(config), work, new=new, resume=resume, quiet=quiet, workers=workers)
