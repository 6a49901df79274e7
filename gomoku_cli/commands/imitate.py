"""`gomoku imitate`: phase 2."""

from typing import TYPE_CHECKING

from gomoku_cli import options
from nets.config import Backend, Precision

if TYPE_CHECKING:
    from curriculum.reporting import Conduct
    from curriculum.run.folder import RunFolder

NAME = "imitate"
EXAMPLES = (
    "gomoku imitate --run runs/mine",
    "gomoku imitate --run runs/new --preset quick --seed 7",
)


def command(
    run: options.Run,
    preset: options.Preset = None,
    config_file: options.ConfigFile = None,
    assignments: options.Assignments = None,
    seed: options.Seed = None,
    backend: options.BackendChoice = Backend.AUTO,
    precision: options.PrecisionChoice = Precision.AUTO,
    quiet: options.Quiet = False,
) -> None:
    """Imitate the mentor (phase 2): play its games, train both nets on them, and measure until the bar is met.

    Continues from the best model that the run has; without one, from fresh nets.
    """
    from gomoku_cli.runs import Choice, run_phase
    from gomoku_cli.runtime import choose_runtime

    choose_runtime(backend, precision)

    def work(folder: "RunFolder", conduct: "Conduct") -> None:
        from curriculum.phases.all import run_imitation

        run_imitation(folder, conduct)

    run_phase(2, NAME, run, Choice(preset, config_file, assignments or (), {"seed": seed}), work, quiet=quiet)
