"""The tasks whose answers are awaited: one for each purpose, so that late answers can be told from others."""

from typing import Literal

from gomoku_cli.tui.engine.client import EngineProcess
from gomoku_cli.tui.engine.messages import NO_TASK, Stop, Task

Role = Literal["move", "ponder", "analysis", "hint", "review", "grades", "threats", "check"]
"""The purpose of a task."""
OF_POSITION: tuple[Role, ...] = ("move", "ponder", "analysis", "hint", "threats", "check")
"""The purposes that end with the position that they are about."""

REVIEWING: tuple[Role, ...] = ("review", "grades")
"""The purposes of a review of a whole line."""


class Tasks:
    """The newest task of each purpose."""

    def __init__(self, engine: EngineProcess) -> None:
        self._engine = engine
        self._numbers: dict[Role, int] = {}
        self._known = 0

    def __contains__(self, role: Role) -> bool:
        return role in self._numbers

    def begin(self, role: Role, task: Task) -> None:
        """Begin a task and drop the one before it."""
        self.drop(role)
        self._numbers[role] = self._engine.request(task)

    def expect(self, role: Role) -> int:
        """Return the number of an answer that is known without the engine, below 0."""
        self.drop(role)
        self._known -= 1
        self._numbers[role] = self._known
        return self._known

    def drop(self, *roles: Role) -> None:
        """Stop tasks; their answers count no longer."""
        for role in roles:
            number = self._numbers.pop(role, None)
            if number is not None and number > NO_TASK:
                self._engine.request(Stop(drop=True), number)

    def finish(self, role: Role) -> None:
        """Let a task answer with its result so far."""
        if self._numbers.get(role, NO_TASK) > NO_TASK:
            self._engine.request(Stop(drop=False), self._numbers[role])

    def role_of(self, number: int) -> Role | None:
        """Return the purpose of an awaited task; None for a number that counts no longer."""
        return next((role for role, awaited in self._numbers.items() if awaited == number), None)

    def end(self, role: Role) -> None:
        """Await no more of a task, which has answered."""
        self._numbers.pop(role, None)

    def forget(self) -> list[Role]:
        """Await nothing more of an engine that has ended; return the purposes of its tasks."""
        roles = list(self._numbers)
        self._numbers.clear()
        return roles
