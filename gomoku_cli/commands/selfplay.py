"""`gomoku selfplay`: phase 3."""

from typing import TYPE_CHECKING

from gomoku_cli import options
from nets.config import Backend, Precision

if TYPE_CHECKING:
    from curriculum.reporting import Conduct
    from curriculum.run.folder import RunFolder

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
    backend: options.BackendChoice = Backend.AUTO,
    precision: options.PrecisionChoice = Precision.AUTO,
    quiet: options.Quiet = False,
) -> None:
    """Improve by gated self-play (phase 3): games, training, and a match that decides which model stays.

    Continues from the best model that the run has; without one, from fresh nets.
    """
    from gomoku_cli.runs import Choice, run_phase
    from gomoku_cli.runtime import choose_runtime

    choose_runtime(backend, precision)

    def work(folder: "RunFolder", conduct: "Conduct") -> None:
        from curriculum.phases.all import run_selfplay

        run_selfplay(folder, conduct)

    run_phase(3, NAME, run, Choice(preset, config_file, assignments or (), {"seed": seed}), work, quiet=quiet)
