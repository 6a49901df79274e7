"""The messages between the screen and its engine. Pickle carries them, and they import nothing heavy."""

from dataclasses import dataclass

from core.position import Position
from core.rules import Cell, Colour, Rules
from gomoku_cli.study.game import StudiedGame
from search.analysis import Analysis, MoveAnalysis
from search.tree.settings import DEFAULT_SIMULATIONS, DEFAULT_SWITCH_STAGE, Policy


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


# Tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Load a player, so that it answers at once later."""

    choice: PlayerChoice
    rules: Rules
    ponders: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Think:
    """Choose a move."""

    choice: PlayerChoice
    position: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Ponder:
    """Search during the opponent's turn, until the task is stopped."""

    choice: PlayerChoice
    position: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyse:
    """Search a position for the panes."""

    choice: PlayerChoice
    position: Position
    seconds: float
    """Time of the search."""


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


Task = Load | Think | Ponder | Analyse | FindThreats | CheckMove | GradeMoves


# Answers


@dataclass(frozen=True, slots=True)
class Loaded:
    """The player of a `Load` is ready."""


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
    """The move of a `Think`."""

    move: Cell
    value: float | None
    """Expected result for the side that moves, -1 to 1."""
    simulations: int
    seconds: float
    plies_to_end: int | None
    analysis: Analysis | None
    """The search's view of the position before the move, None for a player without one."""

    @property
    def view(self) -> Analysis | None:
        """The search's view, or what the move alone tells; None for a player without a value."""
        if self.analysis is not None or self.value is None:
            return self.analysis
        proof = self.plies_to_end if self.plies_to_end is None or self.value > 0 else -self.plies_to_end
        move = MoveAnalysis(self.move, self.value, proof=proof)
        return Analysis(
            moves=(move,), value=self.value, variation=(self.move,), nodes=self.simulations, seconds=self.seconds
        )


@dataclass(frozen=True, slots=True)
class Analysed:
    """The result of an `Analyse`."""

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
class Stopped:
    """The task was stopped, or there is nothing left to do in it."""


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


# Files. They are handled at once, beside the tasks.


@dataclass(frozen=True, slots=True)
class Keep:
    """Save a game."""

    number: int
    """That of the game in this session: each has a file of its own."""
    path: str | None
    """The file of a game that was loaded; None for a new game."""
    game: StudiedGame


@dataclass(frozen=True, slots=True)
class ListGames:
    """List the saved games: `GameList` follows."""


@dataclass(frozen=True, slots=True)
class OpenGame:
    """Read a saved game: `OpenedGame` or `FileFailed` follows."""

    path: str


Errand = Keep | ListGames | OpenGame


@dataclass(frozen=True, slots=True)
class Kept:
    """The game of a `Keep` is saved."""


@dataclass(frozen=True, slots=True)
class GameList:
    """The saved games, the newest first: their files and a line about each."""

    games: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class OpenedGame:
    """A saved game."""

    path: str
    """Its file."""
    game: StudiedGame
    remark: str
    """A contradiction between the board and the result, or a guessed charset."""


@dataclass(frozen=True, slots=True)
class FileFailed:
    """A file could not be written or read."""

    text: str


Answer = (
    Loaded
    | OtherBoard
    | Progress
    | Moved
    | Analysed
    | Threats
    | Verdict
    | Graded
    | Stopped
    | Failed
    | Notice
    | Compiling
    | Ended
    | Kept
    | GameList
    | OpenedGame
    | FileFailed
)

NO_TASK = 0
"""The number of answers that belong to no task."""


# Frames between the processes


@dataclass(frozen=True, slots=True)
class Begin:
    """A task and its number, which its answers carry."""

    number: int
    task: Task


@dataclass(frozen=True, slots=True)
class Stop:
    """Finish a task with the result so far; `drop` leaves out a task that has not begun."""

    number: int
    drop: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to the task of this number."""

    number: int
    answer: Answer
