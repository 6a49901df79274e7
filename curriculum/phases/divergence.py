"""Diverged trainings: the error that ends the work before anything of it is saved, and tells how the run goes on."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from curriculum.config import Config, Phase
from curriculum.phases.steps import trainer_state
from curriculum.reporting import DivergedError
from curriculum.run.folder import RunFolder
from curriculum.training.trainer import StepError
from nets.tensor_file import NotFiniteError

_NAMES = {Phase.BASICS: "phase 1, basics", Phase.IMITATION: "phase 2, imitation", Phase.SELFPLAY: "phase 3, self-play"}
_SMALLER = 10.0


@contextmanager
def naming_divergence(run: RunFolder, phase: str, progress: Mapping[str, Any], rate: float) -> Iterator[None]:
    """Raise `DivergedError` for a `NotFiniteError` of the block, which trains.

    `progress`: that of the training, as the block goes on; `rate`: its first learning rate. A state that was saved, and
    whose nets cannot be used all the same, is removed: its training begins anew.
    """
    try:
        yield
    except NotFiniteError as error:
        place = [_NAMES[Phase(phase)]]
        if "iteration" in progress:
            place.append(f"round {progress['iteration'] + 1}")
        if "passes" in progress:
            place.append(f"pass {progress['passes'] + 1}")
        if isinstance(error, StepError):
            rate, step, reason = error.rate, error.step, error.reason
            kept = "nothing of it is saved; go on from the last good state with a smaller rate"
        else:
            step, reason = progress["step"], str(error)
            trainer_state(run, phase).unlink(missing_ok=True)
            kept = "its state is removed; begin this training anew with a smaller rate"
        raise DivergedError(
            f"{', '.join(place)}: the training diverged at step {step}, learning rate {rate:g}: {reason}; {kept}",
            _smaller_rates(run.config, phase, rate),
        ) from error


def _smaller_rates(config: Config, phase: str, rate: float) -> tuple[str, ...]:
    """Return the settings of a phase's rates, not above a tenth of `rate` nor above their defaults."""
    settings, defaults = getattr(config, phase), getattr(Config(), phase)
    first = min(rate / _SMALLER, defaults.learning_rate)
    found = [f"{phase}.learning_rate={first:.3g}"]
    if settings.final_learning_rate > first:
        found.append(f"{phase}.final_learning_rate={min(first, defaults.final_learning_rate):.3g}")
    return tuple(found)
