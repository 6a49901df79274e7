"""How long work tells of itself and can be stopped, whoever listens."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol


class Interrupted(Exception):
    """The user asked to stop; everything up to the last finished step is saved."""


class Task(Protocol):
    """One piece of long work with a known end."""

    def update(self, done: float, **figures: float | str) -> None:
        """`done` of the task's total so far, and figures worth showing beside it (`loss=0.31`)."""


class Reporter(Protocol):
    """Shows progress and remarks to whoever started the work."""

    def task(self, name: str, total: float, unit: str) -> AbstractContextManager[Task]:
        """Begins a piece of work of `total` units (`games`, `passes`); it ends with the context."""

    def say(self, text: str) -> None:
        """A remark, one line."""


class _QuietTask:
    def update(self, done: float, **figures: float | str) -> None:
        pass


class Quiet:
    """A reporter that shows nothing."""

    def task(self, name: str, total: float, unit: str) -> AbstractContextManager[Task]:
        """See `Reporter`."""
        return nullcontext(_QuietTask())

    def say(self, text: str) -> None:
        """See `Reporter`."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Conduct:
    """What long work is given to report with, and to ask whether it should stop."""

    reporter: Reporter = field(default_factory=Quiet)
    stop: Callable[[], bool] = _never
    """Asked between steps; work that hears yes finishes its step, saves, and raises `Interrupted`."""

    def check(self) -> None:
        """Raises `Interrupted` if the user asked to stop."""
        if self.stop():
            raise Interrupted
