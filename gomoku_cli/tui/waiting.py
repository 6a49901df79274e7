"""The work of the engine that is awaited, in words."""

import math
import time

from core.rules import Cell
from gomoku_cli.tui.engine.messages import Moved, PlayerChoice
from gomoku_cli.tui.engine.tasks import Tasks
from gomoku_cli.tui.game import Game
from gomoku_cli.tui.widgets.texts import thinking_text
from search.analysis import Analysis


class Waiting:
    """The loads in progress, and the search for a move; it says what a human waits for."""

    def __init__(self, tasks: Tasks) -> None:
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
        self._tasks = tasks
        self._since = 0.0

    def begin(self) -> None:
        """Count the time of a search from now on."""
        self._since, self.held = time.monotonic(), None

    def move_text(self, game: Game) -> str:
        """Return the engine's activity while its move is awaited."""
        choice = game.player_to_move
        assert choice is not None
        if choice in self.loads.values():
            return self._loading_text(choice)
        if self.held is not None:
            return f"{choice.spec} has chosen its move."
        return thinking_text(choice, time.monotonic() - self._since, self.live, game.side_to_move, game.rules)

    def other_text(self, game: Game, pending: Cell) -> str:
        """Return what is awaited beside a move, such as a hint; an empty text for nothing."""
        if "check" in self._tasks:
            text = f"Looking at {game.name_of(pending)}..."
        elif "hint" in self._tasks:
            text = "Looking for a good move..."
        elif "analysis" in self._tasks and game.analysis_at(game.ply) is None:
            text = "Analysing..."
        else:
            text = "Looking for threats..." if "threats" in self._tasks else ""
        if (loading := next(iter(self.loads.values()), None)) and (text or self.compiling):
            return f"{text} {self._loading_text(loading)}".lstrip()
        return f"{text} {self.compiling}" if text and self.compiling else text

    def _loading_text(self, choice: PlayerChoice) -> str:
        return f"Loading {choice.spec}{f': {self.compiling}' if self.compiling else '...'}"
