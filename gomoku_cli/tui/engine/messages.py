"""The messages between the screen and its engine. Pickle carries them, and they import nothing heavy."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from core.opening_rules import Choice, Opening
from core.position import Position
from core.rules import Cell, Colour, Rules
from gomoku_cli.study.game import StudiedGame, StudiedTree
from search.analysis import Analysis
from search.tree.settings import DEFAULT_SIMULATIONS, DEFAULT_SWITCH_STAGE, Policy

MAX_NODES = 10_000
"""Nodes of a game with its variations: the whole game passes to the engine's process at every move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerChoice:
    """A player by its name, and the settings that the human chose for it."""

    spec: str
    """As on the command line: `default`, `mentor:3`, a model file."""
    simulations: int | None = DEFAULT_SIMULATIONS
    seconds: float | None = None
    policy: Policy = Policy.SEMI_STOCHASTIC
    switch_stage: int = DEFAULT_SWITCH_STAGE
    tactics: bool = True


# Requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Load a player, so that it answers at once later."""

    choice: PlayerChoice
    rules: Rules
    ponders: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Search a position: `Progress` follows while it goes on, then `Moved`, `Analysed` or `Done`."""

    choice: PlayerChoice
    position: Position
    purpose: Literal["move", "analysis", "ponder"] = "move"
    """The choice of a move, an analysis for the panes, or the use of the opponent's turn."""
    seconds: float = math.inf
    """Time of an analysis, and at most of a move."""
    keeps_tree: bool = False
    """True for an analysis that goes on from the tree of the last one where its position follows from that one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooseOpening:
    """Place the stones of an opening rule, or choose by it: `Opened` follows."""

    choice: PlayerChoice
    position: Position
    opening: Opening


@dataclass(frozen=True, slots=True, kw_only=True)
class FindThreats:
    """Find the threats of both colours."""

    position: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckMove:
    """Find out if a move loses, and why."""

    choice: PlayerChoice
    position: Position
    """The position before the move."""
    move: Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeMoves:
    """Grade the moves of a game by the analyses of its positions."""

    game: StudiedGame


@dataclass(frozen=True, slots=True)
class Keep:
    """Save a game: `Kept` follows."""

    number: int
    """That of the game in this session: each has a file of its own."""
    path: str | None
    """The file of a game that was loaded; None for a new game."""
    game: StudiedTree


@dataclass(frozen=True, slots=True)
class ListGames:
    """List the saved games: `GameList` or `Remark` follows."""

    limit: int | None = None
    """So many of the newest ones; None for all."""


@dataclass(frozen=True, slots=True)
class RenameGame:
    """Give a saved game another name: `GameList` or `Remark` follows."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class DeleteGame:
    """Delete a saved game: `GameList` or `Remark` follows."""

    path: str


@dataclass(frozen=True, slots=True)
class RestoreGame:
    """Bring the last deleted game back: `GameList` or `Remark` follows."""


@dataclass(frozen=True, slots=True)
class OpenGame:
    """Read a saved game: `OpenedGame` or `Remark` follows."""

    path: str


@dataclass(frozen=True, slots=True)
class Draw:
    """Draw a game into a file, .png, .svg or .gif: `Remark` follows."""

    path: str
    game: StudiedGame
    black: str
    """The name of the player; also `white`."""
    white: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Let a search answer with its result so far; it has the number of that request."""

    drop: bool
    """True to leave out one that has not begun."""


@dataclass(frozen=True, slots=True)
class RateGame:
    """Note the result of a game against a level: `Rated` or `Remark` follows."""

    level: str
    score: float
    """1 for a win of the human, 0.5 for a draw, 0 for a loss."""
    colour: str
    """That of the human."""


FileTask = RateGame | Keep | ListGames | RenameGame | DeleteGame | RestoreGame | OpenGame
Task = Load | Search | ChooseOpening | FindThreats | CheckMove | GradeMoves | FileTask | Draw | Stop

# Answers


@dataclass(frozen=True, slots=True)
class Done:
    """The task is done, or was stopped, and has no result."""


@dataclass(frozen=True, slots=True)
class OtherBoard:
    """The player of a `Load` plays other rules."""

    rules: Rules


@dataclass(frozen=True, slots=True)
class Progress:
    """The view of a search that goes on."""

    analysis: Analysis


@dataclass(frozen=True, slots=True)
class Moved:
    """The choice of a move."""

    move: Cell
    simulations: int
    seconds: float
    analysis: Analysis | None
    """The search's view of the position before the move, None for a player without a value."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The choice by an opening rule, or the cells of stones in turn."""

    found: Choice | tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Analysed:
    """The final view of an analysis."""

    analysis: Analysis


@dataclass(frozen=True, slots=True)
class Threat:
    """A threat of one colour: the cells that complete it, by their strongest pattern."""

    colour: Colour
    kind: str
    """`five`, `open four`, `four` or `open three`: the pattern that a stone on each of the cells makes."""
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Threats:
    """The threats of a position, and a win by continuous fours of the side to move."""

    threats: tuple[Threat, ...]
    win: tuple[Cell, ...]
    """The moves of both sides in a win by continuous fours; empty without one."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to a `CheckMove`: a sentence on why the move loses; None for a move that is fine."""

    reason: str | None


@dataclass(frozen=True, slots=True)
class Graded:
    """The moves that lost much win probability, by their ply from 1, with their losses, 0 to 1."""

    losses: tuple[tuple[int, float], ...]
    """Losses of inaccuracies, mistakes and blunders; `marks` has their signs."""
    marks: tuple[tuple[int, str], ...]
    """`?!` an inaccuracy, `?` a mistake, `??` a blunder."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The task raised an error."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A remark on the runtime; it belongs to no task."""

    text: str


@dataclass(frozen=True, slots=True)
class Compiling:
    """The kernels are being compiled, which takes a while in the first run; it belongs to no task."""

    text: str
    """The progress so far."""


@dataclass(frozen=True, slots=True)
class Ended:
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


@dataclass(frozen=True, slots=True)
class GameList:
    """The saved games, the newest first."""

    games: tuple[ListedGame, ...]
    limit: int | None = None
    """That of the task."""
    remark: str = ""
    """The change before, or the reason why it failed."""
    renamed: tuple[str, str] | None = None
    """The file of a game before and after a change of its name."""


@dataclass(frozen=True, slots=True)
class Rated:
    """The human's rating after a game."""

    rating: float
    change: float
    games: int
    """That count so far."""


@dataclass(frozen=True, slots=True)
class OpenedGame:
    """A saved game."""

    path: str
    """Its file."""
    game: StudiedTree
    remark: str
    """A contradiction between the board and the result, a guessed charset, or variations that were left out."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The game is in its file, or not."""

    remark: str = ""
    """A sentence where it goes on in another file."""
    problem: str = ""
    """A sentence where it is not saved."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence about a file: the reason why it could not be written or read, or that a picture is in it."""

    text: str
    is_error: bool = True


Answer = (
    Done
    | OtherBoard
    | Progress
    | Moved
    | Opened
    | Analysed
    | Threats
    | Verdict
    | Graded
    | Failed
    | Notice
    | Compiling
    | Ended
    | GameList
    | Rated
    | OpenedGame
    | Remark
    | Kept
)

NO_TASK = 0
"""The number of answers that belong to no task."""
Request = tuple[int, Task]
"""Frame of the screen: a task and its number, above 0, which its answers carry."""
Reply = tuple[int, Answer]
"""Frame of the engine: an answer and the number of its task."""
