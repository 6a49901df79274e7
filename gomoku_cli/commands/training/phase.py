"""The commands of phases 2 and 3: the same options, in a run that goes on."""

from collections.abc import Callable

from gomoku_cli import options
from gomoku_cli.expansion import expand_options
from gomoku_cli.runs import ConfigOptions, run_phase
from gomoku_cli.workers import WorkerOptions


def _phase_command(number: int, name: str, text: str) -> Callable[..., None]:
    """Return the command `gomoku NAME`, which does phase `number`; `text`: its help."""

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
        from curriculum.phases.all import run_imitation, run_selfplay

        runtime.apply()
        work = {2: run_imitation, 3: run_selfplay}[number]
        run_phase(number, name, run, config.choice(), work, new=new, resume=resume, quiet=quiet, workers=workers)

    command.__doc__ = f"""{text}

    Continues the run from its best model; --new makes a run with fresh nets.

    Examples:
        gomoku {name} --run runs/mine
        gomoku {name} --run runs/new --new --preset quick --seed 7
    """
    return command


imitate = _phase_command(
    2, "imitate", "Imitate a teacher (phase 2): play its games and train both nets on them, until they meet the bar."
)
selfplay = _phase_command(
    3, "selfplay", "Improve by gated self-play (phase 3): games, training, and a match that decides which model stays."
)
