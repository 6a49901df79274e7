"""The work of the engine that is awaited: one task for each purpose, so that late answers can be told from others."""

import math
import time
from typing import Literal

from core.rules import Cell
from gomoku_cli.tui.engine.client import EngineProcess
from gomoku_cli.tui.engine.messages import NO_TASK, Moved, PlayerChoice, Stop, Task
from gomoku_cli.tui.game import Game
from gomoku_cli.tui.widgets.texts import thinking_text
from search.analysis import Analysis

Role = Literal["move", "ponder", "analysis", "hint", "review", "grades", "threats", "check"]
"""The purpose of a task."""
OF_POSITION: tuple[Role, ...] = ("move", "ponder", "analysis", "hint", "threats", "check")
"""The purposes that end with the position that they are about."""

REVIEWING: tuple[Role, ...] = ("review", "grades")
"""The purposes of a review of a whole line."""


class Tasks:
    """The newest task of each purpose, and in words what a human waits for."""

    def __init__(self, engine: EngineProcess) -> None:
        self.loads: dict[int, PlayerChoice] = {}
        """The players that are being loaded, by the numbers of the tasks."""
        self.compiling = ""
        """The progress of a compilation under way, up to the first result."""
        self.live: Analysis | None = None
        """The newest view of the search for a move."""
        self.held: tuple[int, Moved] | None = None
        """The move of one of two engines that waits for its time, with the number of its task."""
        self.moved_at = -math.inf
        """The instant of the last move of an engine."""
        self._engine = engine
        self._numbers: dict[Role, int] = {}
        self._known = 0
        self._since = 0.0

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
        if "move" in roles:
            self.held = None
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
        self.held = None
        return roles

    def start_clock(self) -> None:
        """Count the time of a search from now on."""
        self._since = time.monotonic()

    def move_text(self, game: Game) -> str:
        """Return the engine's activity while its move is awaited."""
        choice = game.player_to_move
        assert choice is not None
        if choice in self.loads.values():
            return self._loading_text(choice)
        if self.held is not None:
            return f"{choice.spec} has chosen its move."
        text = thinking_text(choice, time.monotonic() - self._since, self.live, game.side_to_move, game.rules)
        return f"{text}, {self.compiling}" if self.compiling else text

    def other_text(self, game: Game, pending: Cell) -> str:
        """Return what is awaited beside a move, such as a hint; an empty text for nothing."""
        if "check" in self:
            text = f"Looking at {game.name_of(pending)}..."
        elif "hint" in self:
            text = "Looking for a good move..."
        elif "analysis" in self and game.analysis_at(game.ply) is None:
            text = "Analysing..."
        else:
            text = "Looking for threats..." if "threats" in self else ""
        if (loading := next(iter(self.loads.values()), None)) and (text or self.compiling):
            return f"{text} {self._loading_text(loading)}".lstrip()
        return f"{text} {self.compiling}".strip() if text or "review" in self else text

    def _loading_text(self, choice: PlayerChoice) -> str:
        return f"Loading {choice.spec}{f': {self.compiling}' if self.compiling else '...'}"
