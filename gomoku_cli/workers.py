"""The options of workers, and the pool that they name."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from curriculum.workers.games import Pool
from gomoku_cli.expansion import require

_PROCESSES = "processes"
_ADDRESSES = f"{_PROCESSES}|ray|auto|ray://HOST:PORT"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """Processes that play the games."""

    PANEL: ClassVar[str] = "Workers"

    workers: Annotated[
        str | None, typer.Option(envvar="GOMOKU_WORKERS", metavar=_ADDRESSES, show_default="this process")
    ] = None
    """Play the games in processes of this machine, and evaluate for all in one more, as for a GPU; or on Ray: on this
    machine alone, on the cluster that it belongs to, or on that of a head node."""
    num_workers: Annotated[
        int | None,
        typer.Option(min=1, show_default="as many as there is room for; of processes, one core less than there are"),
    ] = None
    """Number of workers."""
    cpus_per_worker: Annotated[int | None, typer.Option(min=1, show_default="1")] = None
    """Cores of each worker."""
    gpus_per_worker: Annotated[float | None, typer.Option(min=0, metavar="N", show_default="0")] = None
    """GPUs of each worker on Ray; 0.5 lets two share one."""

    def __post_init__(self) -> None:
        if self.workers is None and (given := self.words()):
            raise typer.BadParameter("it says how workers are: give --workers too", param_hint=given[0])

    def words(self) -> list[str]:
        """Return the options as words of a command line."""
        named = {
            "--workers": self.workers,
            "--num-workers": self.num_workers,
            "--cpus-per-worker": self.cpus_per_worker,
            "--gpus-per-worker": self.gpus_per_worker,
        }
        return [word for option, value in named.items() if value is not None for word in (option, str(value))]

    def pool(self) -> AbstractContextManager[Pool]:
        """Return the processes that play, which end with the context. Raises a usage error."""
        if self.workers is None:
            from curriculum.workers.local import Local

            return nullcontext(Local())
        if self.workers == _PROCESSES:
            if self.gpus_per_worker is not None:
                raise typer.BadParameter("one process has the GPU for all of them", param_hint="--gpus-per-worker")
            from core.cores import cores
            from curriculum.workers.processes import ProcessPool

            each = self.cpus_per_worker or 1
            return ProcessPool(self.num_workers or max(1, (cores() - 1) // each), cpus=each)
        if self.workers not in ("ray", "auto") and not self.workers.startswith("ray://"):
            raise typer.BadParameter(f"{self.workers} names no workers: give {_ADDRESSES}", param_hint="--workers")
        require("ray", "--workers", extra="ray")
        from curriculum.workers.ray_pool import RayPool

        cpus, gpus = self.cpus_per_worker or 1, self.gpus_per_worker or 0.0
        return RayPool(self.workers, workers=self.num_workers, cpus=cpus, gpus=gpus)
