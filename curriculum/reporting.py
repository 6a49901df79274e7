"""Progress reports of long work, and requests to stop it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from core.errors import FailedError
from curriculum.workers.games import Pool, never
from curriculum.workers.local import Local


class Interrupted(Exception):
    """The user stopped the work; everything up to the last finished step is saved."""


class DivergedError(FailedError, ArithmeticError):
    """A training diverged, and nothing of that is saved; the message names phase, step and learning rate."""

    def __init__(self, message: str, settings: Sequence[str]) -> None:
        super().__init__(message)
        self.settings = settings
        """Settings to go on with, as `key=value`."""


class Task(Protocol):
    """One piece of long work with a known end."""

    def update(self, done: float, **figures: float | str) -> None:
        """Report the part `done` of the task's total, and figures to show with it (`loss=0.31`)."""


class Reporter(Protocol):
    """Shows progress and remarks of the work."""

    def task(self, name: str, total: float, unit: str) -> AbstractContextManager[Task]:
        """Begin a piece of work of `total` units (`games`, `passes`); it ends with the context."""

    def say(self, text: str) -> None:
        """Show a remark of one line."""


class Quiet:
    """A reporter that shows nothing, of no task either."""

    def task(self, name: str, total: float, unit: str) -> AbstractContextManager[Task]:
        """See `Reporter`."""
        return nullcontext(self)

    def update(self, done: float, **figures: float | str) -> None:
        """See `Task`."""

    def say(self, text: str) -> None:
        """See `Reporter`."""


@dataclass(frozen=True, slots=True)
class Context:
    """Reporter, stop signal and workers of long work."""

    reporter: Reporter = field(default_factory=Quiet)
    stop: Callable[[], bool] = never
    """Called between steps. After True the work finishes its step, saves, and raises `Interrupted`."""
    pool: Pool = field(default_factory=Local)
    """The processes that play its games."""

    def check(self) -> None:
        """Raise `Interrupted` if the work should stop."""
        if self.stop():
            raise Interrupted
