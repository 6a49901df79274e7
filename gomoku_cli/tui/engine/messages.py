"""The messages between the screen and its engine. Pickle carries them, and they import nothing heavy.

They are named tuples, since thirty data classes would take a tenth of the time of our own imports before the board.
"""

import math
import os
import shlex
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple

from core.opening_rules import Choice, Opening
from core.position import Position
from core.rules import Cell, Colour, Rules
from curriculum.arena import player_names
from gomoku_cli.study.game import StudiedGame, StudiedTree
from search.analysis import Analysis
from search.tree.settings import DEFAULT_SIMULATIONS, DEFAULT_SWITCH_STAGE, Policy

MAX_NODES = 10_000
"""Nodes of a game with its variations: the whole game passes to the engine's process at every move."""


class PlayerChoice(NamedTuple):
    """A player by its name, and the settings that the human chose for it."""

    spec: str
    """As on the command line: `default`, `mentor:3`, a model file."""
    simulations: int | None = DEFAULT_SIMULATIONS
    seconds: float | None = None
    policy: Policy = Policy.SEMI_STOCHASTIC
    switch_stage: int = DEFAULT_SWITCH_STAGE
    tactics: bool = True

    def absolute(self) -> "PlayerChoice":
        """Return the choice with the whole paths of a model's file or run, or of the files in an engine's command."""
        if self.is_program:
            return self._with_words(
                lambda program: os.path.abspath(program) if os.path.dirname(program) else program,
                lambda word: os.path.abspath(word) if os.path.isfile(word) else word,
            )
        path, _ = player_names.own_simulations(self.spec)
        is_name = path in (*player_names.EXAMPLES, *player_names.PAPER_MODELS)
        return self if is_name or not os.path.exists(path) else self._replace(spec=os.path.abspath(self.spec))

    def relative(self) -> "PlayerChoice":
        """Return the choice with the path of a model or a program below the current folder as it is from there."""
        with suppress(OSError):  # the folder may have been removed
            here = os.path.join(os.getcwd(), "")
            if self.is_program:
                return self._with_words(
                    lambda program: program.replace(here, "./", 1) if program.startswith(here) else program,
                    lambda word: word.removeprefix(here),
                )
            return self._replace(spec=self.spec.removeprefix(here))
        return self

    @property
    def is_program(self) -> bool:
        """True for an engine by its command."""
        return self.spec.partition(":")[0] == player_names.ENGINE

    def _with_words(self, program: Callable[[str], str], others: Callable[[str], str]) -> "PlayerChoice":
        kind, colon, command = self.spec.partition(":")
        with suppress(ValueError, IndexError):  # no command, or one that cannot be read, is refused when it is opened
            first, *rest = shlex.split(command)
            changed = [program(first), *map(others, rest)]
            if changed != [first, *rest]:
                return self._replace(spec=f"{kind}{colon}{shlex.join(changed)}")
        return self


# Requests


class Load(NamedTuple):
    """Load a player, so that it answers at once later."""

    choice: PlayerChoice
    rules: Rules
    ponders: bool = False


class Search(NamedTuple):
    """Search a position: `Progress` follows while it goes on, then `Moved`, `Analysed` or `Done`."""

    choice: PlayerChoice
    position: Position
    purpose: Literal["move", "analysis", "ponder"] = "move"
    """The choice of a move, an analysis for the panes, or the use of the opponent's turn."""
    seconds: float = math.inf
    """Time of an analysis, and at most of a move."""
    keeps_tree: bool = False
    """True for an analysis that goes on from the tree of the last one where its position follows from that one."""


class ChooseOpening(NamedTuple):
    """Place the stones of an opening rule, or choose by it: `Opened` follows."""

    choice: PlayerChoice
    position: Position
    opening: Opening


class FindThreats(NamedTuple):
    """Find the threats of both colours."""

    position: Position


class CheckMove(NamedTuple):
    """Find out if a move loses, and why."""

    choice: PlayerChoice
    position: Position
    """The position before the move."""
    move: Cell


class GradeMoves(NamedTuple):
    """Grade the moves of a game by the analyses of its positions."""

    game: StudiedGame


class Keep(NamedTuple):
    """Save a game: `Kept` follows."""

    number: int
    """That of the game in this session: each has a file of its own."""
    path: str | None
    """The file of a game that was loaded; None for a new game."""
    game: StudiedTree
    known: bytes | None = None
    """The bytes of that file when the game was read, with its first `Keep`."""


class ListGames(NamedTuple):
    """List the saved games: `GameList` or `Remark` follows."""

    limit: int | None = None
    """So many of the newest ones; None for all."""


class RenameGame(NamedTuple):
    """Give a saved game another name: `GameList` or `Remark` follows."""

    path: str
    name: str


class DeleteGame(NamedTuple):
    """Delete a saved game: `GameList` or `Remark` follows."""

    path: str


class RestoreGame(NamedTuple):
    """Bring the last deleted game back: `GameList` or `Remark` follows."""


class OpenGame(NamedTuple):
    """Read a saved game: `OpenedGame` or `Remark` follows."""

    path: str


class Draw(NamedTuple):
    """Draw a game into a file, .png, .svg or .gif: `Remark` follows."""

    path: str
    game: StudiedGame


class Stop(NamedTuple):
    """Let a search answer with its result so far; it has the number of that request."""

    drop: bool
    """True to leave out one that has not begun."""


class RateGame(NamedTuple):
    """Note the result of a game against a level: `Rated` follows."""

    level: str
    score: float
    """1 for a win of the human, 0.5 for a draw, 0 for a loss."""
    colour: str
    """That of the human."""


FileTask = RateGame | Keep | ListGames | RenameGame | DeleteGame | RestoreGame | OpenGame
Task = Load | Search | ChooseOpening | FindThreats | CheckMove | GradeMoves | FileTask | Draw | Stop

# Answers


class Done(NamedTuple):
    """The task is done, or was stopped, and has no result."""


class OtherBoard(NamedTuple):
    """The player of a `Load` plays other rules."""

    rules: Rules


class Progress(NamedTuple):
    """The view of a search that goes on."""

    analysis: Analysis


class Moved(NamedTuple):
    """The choice of a move."""

    move: Cell
    simulations: int
    seconds: float
    analysis: Analysis | None
    """The search's view of the position before the move, None for a player without a value."""


class Opened(NamedTuple):
    """The choice by an opening rule, or the cells of stones in turn."""

    found: Choice | tuple[Cell, ...]


class Analysed(NamedTuple):
    """The final view of an analysis."""

    analysis: Analysis


class Threats(NamedTuple):
    """The threats of a position, and a win by continuous fours of the side to move."""

    marks: dict[Cell, tuple[str, Colour]]
    """The mark and the colour of the strongest pattern that a stone on a cell makes; of equal ones that of the side to
    move, which comes first in play."""
    win: tuple[Cell, ...]
    """The moves of both sides in a win by continuous fours; empty without one."""


class Verdict(NamedTuple):
    """The answer to a `CheckMove`: a sentence on why the move loses; None for a move that is fine."""

    reason: str | None


class Graded(NamedTuple):
    """The moves that lost much win probability."""

    moves: dict[int, tuple[str, float]]
    """By their ply from 1: `?!` an inaccuracy, `?` a mistake, `??` a blunder, and the loss, 0 to 1."""


class Failed(NamedTuple):
    """The task raised an error."""

    text: str


class Notice(NamedTuple):
    """A remark on the runtime; it belongs to no task."""

    text: str


class Compiling(NamedTuple):
    """The kernels are being compiled, which takes a while in the first run; it belongs to no task."""

    text: str
    """The progress so far."""


class Ended(NamedTuple):
    """The process of the engine has ended by itself."""

    text: str


class ListedGame(NamedTuple):
    """A saved game in words."""

    path: str
    date: str
    name: str
    """Nothing for a file that is named by its time."""
    players: str
    result: str
    rules: str
    opening: str
    """Nothing without an opening rule."""
    moves: str


class GameList(NamedTuple):
    """The saved games, the newest first."""

    games: tuple[ListedGame, ...]
    limit: int | None = None
    """That of the task."""
    remark: str = ""
    """The change before, or the reason why it failed."""
    renamed: tuple[str, str] | None = None
    """The file of a game before and after a change of its name."""


class Rated(NamedTuple):
    """A sentence on the human's rating after a game, or on why it is not saved."""

    text: str


class OpenedGame(NamedTuple):
    """A saved game."""

    path: str
    """Its file."""
    game: StudiedTree
    remark: str
    """A contradiction between the board and the result, a guessed charset, or variations that were left out."""
    known: bytes
    """The bytes of the file."""


class Kept(NamedTuple):
    """The game is in its file, or not."""

    remark: str = ""
    """A sentence where it goes on in another file."""
    problem: str = ""
    """A sentence where it is not saved."""


class Remark(NamedTuple):
    """A sentence about a file: the reason why it could not be written or read, or that a picture is in it."""

    text: str
    is_error: bool = True


FileAnswer = GameList | Rated | OpenedGame | Remark | Kept
View = Progress | Moved | Opened | Analysed | Threats | Verdict | Graded
Answer = Done | OtherBoard | View | Failed | Notice | Compiling | Ended | FileAnswer

NO_TASK = 0
"""The number of answers that belong to no task."""
Request = tuple[int, Task]
"""Frame of the screen: a task and its number, above 0, which its answers carry."""
Reply = tuple[int, Answer]
"""Frame of the engine: an answer and the number of its task."""
