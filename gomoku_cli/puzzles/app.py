"""The app of `gomoku puzzles`: one puzzle after another on the board."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum, auto
from functools import cache, partial
from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from core.notation import NotationError, parse_cell
from core.position import IllegalMoveError, Position
from core.rules import BLACK, EMPTY, NO_CELL, WHITE, Cell, colour_name
from curriculum.bench.compiling import Compilation, progress_text, watching_compilation
from gomoku_cli.printable import sentence
from gomoku_cli.puzzles.rated import Progress, RatedPuzzle, daily_set, level_of
from gomoku_cli.puzzles.referee import Hint, Referee, Verdict
from gomoku_cli.tui.drivers.answers import Graphics
from gomoku_cli.tui.drivers.bursts import moves_in
from gomoku_cli.tui.keys import BOARD, MARKS, Command
from gomoku_cli.tui.layout import BoardApp
from gomoku_cli.tui.picture import MAX_NUMBERED, stone_looks
from gomoku_cli.tui.widgets.painting import CellLook
from gomoku_cli.tui.widgets.status import StatusKind

_T = TypeVar("_T")
_TICK_S = 0.5
_KEYS = (
    Command("question_mark", "help", "Keys", "this help"),
    Command("q", "quit", "Quit", "quit; what was tried is kept"),
    Command("slash", "type_move", "Type a move", "type a move: / h 8 enter; or a capital letter"),
    Command("i", "hint", "Hint", "hint: the idea; once more: a right move. Solved so counts half"),
    Command("s", "solution", "Solution", "play the solution out: counts as not solved"),
    Command("u", "again", "Again", "take a wrong move back, or begin again: the rating stays"),
    Command("n", "next", "Next", "next puzzle: one without a try does not count"),
    Command("d", "daily", "Daily", "the daily set: a puzzle without a try does not count"),
)
"""The keys in the footer's order, with their words in the help."""
_RATING = (
    ("1", "right at the first try"),
    ("0.5", "right at the first try, with a hint"),
    ("0", "a wrong try, or the solution"),
)
"""The score of a puzzle, which counts the first time that it is tried, as a game against its rating."""


class Phase(Enum):
    """The state of the puzzle on the board."""

    ASKING = auto()
    THINKING = auto()
    """A proof is under way."""
    PLAYING = auto()
    """Moves are played out: a reply, a refutation or a solution."""
    REFUTED = auto()
    """The refutation of a wrong move stands on the board, to be taken back."""
    DONE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class PuzzleSetup:
    """Configuration of the app."""

    puzzles: Sequence[RatedPuzzle]
    progress: Progress
    daily: bool = False
    """True begins with what is left of the daily set."""
    day: str = field(default_factory=lambda: date.today().isoformat())
    ascii_only: bool = False
    theme: str | None = None
    graphics: Graphics = Graphics.AUTO
    pace_s: float = 0.5
    """Time between two moves that are played out."""
    draw: random.Random = field(default_factory=random.Random)


class PuzzlesApp(BoardApp):
    """One puzzle after another."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding(each.key, each.action, each.name) for each in _KEYS]

    def __init__(self, setup: PuzzleSetup) -> None:
        super().__init__(ascii_only=setup.ascii_only, theme=setup.theme, graphics=setup.graphics)
        self._setup, self.progress = setup, setup.progress
        self._referee = cache(Referee)
        self._proving = threading.Lock()  # a referee is for one thread
        self._compilation: Compilation | None = None
        """That of the proof under way, or of the last one."""
        self._question = 0
        """The number of the last question to the referee; an answer to an older one is dropped."""
        self._asked_at = 0.0
        self._timer: Timer | None = None
        self._set = daily_set(setup.puzzles, setup.day)
        self._is_daily = setup.daily
        self._solved = self._tried = self._streak = 0
        self._change = 0.0
        self._unsaved = ""
        """A remark after the last result could not be written."""
        self._take(self._drawn())

    def _drawn(self) -> RatedPuzzle:
        """Return the next puzzle: of the daily set, or one near the player's rating."""
        left = [each for each in self._set if each.key not in self.progress.tried(self._setup.day)]
        self._is_daily = self._is_daily and bool(left)
        return left[0] if self._is_daily else self.progress.next(self._setup.puzzles, self._setup.draw)

    def _take(self, puzzle: RatedPuzzle) -> None:
        self.puzzle = puzzle
        self.position = Position.from_moves(puzzle.rules, puzzle.puzzle.moves)
        self.phase = Phase.ASKING
        self._before_mistake = self._first_ply = self.position.ply
        self._is_rated = self._has_hint = False
        self._is_known = puzzle.key in self.progress.tried()
        self._mark = NO_CELL

    def compose(self) -> ComposeResult:
        """Build title, board with panel, status and key bar."""
        self._panel = Static(id="panel", markup=False)
        yield from self._widgets(self.puzzle.rules, self._panel)

    def on_mount(self) -> None:
        """Show the first puzzle."""
        self._mounted()
        self.set_interval(_TICK_S, self._tick)
        self._show_puzzle(after_daily=self._setup.daily)

    def on_resize(self, event: events.Resize) -> None:
        """Give the board its room and the panel the rest."""
        self._fit(self.puzzle.rules, self._panel, event.size)
        self._show()

    def _tick(self) -> None:
        if self.phase is Phase.THINKING and (waited := time.monotonic() - self._asked_at) > _TICK_S:
            compilation = self._compilation
            if compilation is not None and compilation.is_under_way:
                text = sentence(progress_text(len(compilation.kernels), compilation.seconds))
            else:
                text = f"Looking for a proof... {waited:.0f} s"
            self._say(text, "busy")

    # The solver's moves

    def press_cell(self, cell: Cell) -> None:
        """Play a move; or take a wrong one back, or go on to the next puzzle."""
        if self.phase is Phase.REFUTED:
            self.action_again()
        elif self.phase is Phase.DONE:
            self.action_next()
        elif self.phase is Phase.ASKING:
            self._play(cell)

    def play_pasted(self, text: str) -> None:
        """Play the first move of pasted text, and of keys that come faster than anyone types."""
        self.play_typed(" ".join(moves_in(text)[:1]))

    def play_typed(self, text: str) -> None:
        """Play a move as `press_cell` does."""
        if not text.strip():
            return
        try:
            cell = parse_cell(text.strip(), self.puzzle.rules.size)
        except NotationError as error:
            self._say(sentence(error), "error")
            self._entry.open()
            return
        if self.phase is Phase.REFUTED:
            self.action_again()
        if self.phase is Phase.ASKING:
            self._board.cursor = cell
            if not self.position.is_legal(cell):
                self._entry.open()  # as on the board of `play`: the next try is no row of keys
            self._play(cell)

    def _play(self, cell: Cell) -> None:
        before = self.position.copy()
        try:
            self.position.push(cell)
        except IllegalMoveError as error:
            self._say(sentence(error), "error")
            return
        self._mark = NO_CELL
        self._ask(lambda referee: referee.verdict(self.puzzle, before, cell), self._answer)

    def _answer(self, verdict: Verdict) -> None:
        if not verdict.is_right:
            self._before_mistake = self.position.ply - 1
            self._rate(0)
            name = self.puzzle.name_of(self.position.moves[-1])
            self._say(f"{name} is wrong. {verdict.sentence} Enter takes it back.", "error")
            self._play_out(verdict.line, Phase.REFUTED)
        elif verdict.line:
            self._say("Right. Go on.")
            self._play_out(verdict.line, Phase.ASKING)
        else:
            self._finish()

    def _finish(self) -> None:
        how = "" if not self._is_rated and not self._has_hint else ", with help" if self._has_hint else ", at last"
        self._rate(0.5 if self._has_hint else 1)
        self._say(f"Solved{how}. Enter shows the next puzzle.", "over")
        self._enter(Phase.DONE)

    def _rate(self, score: float) -> None:
        """Note the first result of a puzzle."""
        if self._is_rated:
            return
        self._is_rated = True
        self._tried, self._solved = self._tried + 1, self._solved + (score == 1)
        self._streak = self._streak + 1 if score == 1 else 0
        before = self.progress.rating
        self._unsaved = ""
        try:
            self.progress.add(self.puzzle, score)
        except OSError as error:
            self._unsaved = f" The progress is not saved: {error.strerror}."
        self._change = self.progress.rating - before

    # Proofs and moves that are played out

    def _ask(self, question: Callable[[Referee], _T], then: Callable[[_T], None]) -> None:
        """Put a question to the referee, on another thread; `then` gets the answer unless another one follows."""
        self._question += 1
        self._asked_at = time.monotonic()
        self._enter(Phase.THINKING)
        threading.Thread(target=self._prove, args=(self._question, question, then), daemon=True).start()

    def _prove(self, number: int, question: Callable[[Referee], _T], then: Callable[[_T], None]) -> None:
        try:
            with self._proving, watching_compilation() as self._compilation:
                answer = partial(then, question(self._referee(self.puzzle.rules)))
        except Exception as error:  # a defect: the app ends with it
            answer = partial(self._raise, error)
        self.call_later(self._receive, number, answer)

    def _receive(self, number: int, answer: Callable[[], None]) -> None:
        if number == self._question and self.phase is Phase.THINKING:
            answer()

    def _raise(self, error: Exception) -> None:
        raise error

    def _play_out(self, line: Sequence[Cell], then: Phase) -> None:
        """Play moves one by one."""
        if not line:
            self._enter(then)
            return

        def step() -> None:
            self.position.push(line[0])
            self._play_out(line[1:], then)

        self._enter(Phase.PLAYING)
        self._timer = self.set_timer(self._setup.pace_s, step)

    def _enter(self, phase: Phase) -> None:
        if self._timer is not None:
            self._timer.stop()
        self.phase = phase
        self._show()

    # Keys

    def action_hint(self) -> None:
        """Say what the position is about; once more: mark a right move."""
        if self.phase is Phase.ASKING:
            position = self.position.copy()
            self._ask(lambda referee: referee.hint(self.puzzle, position), self._hinted)

    def _hinted(self, hint: Hint) -> None:
        if self._has_hint:
            self._mark = hint.move
        self._has_hint = True
        marked = self._mark != NO_CELL
        more = f"{self.puzzle.name_of(hint.move)} is right." if marked else "Once more: the move."
        self._say(f"{hint.sentence} {more}")
        self._enter(Phase.ASKING)

    def action_solution(self) -> None:
        """Play the solution out; the puzzle counts as not solved."""
        self._back_to(self._first_ply)
        self._ask(lambda referee: referee.solution(self.puzzle), self._shown)

    def _shown(self, line: tuple[Cell, ...]) -> None:
        self._rate(0)
        self._say("The solution. Enter shows the next puzzle.")
        self._play_out(line, Phase.DONE)

    def action_again(self) -> None:
        """Take a wrong move back with its refutation; else begin the puzzle again."""
        self._back_to(self._before_mistake if self.phase is not Phase.DONE else self._first_ply)
        self._show_task()

    def _back_to(self, ply: int) -> None:
        self._question += 1
        while self.position.ply > ply:
            self.position.pop()
        self._before_mistake, self._mark = self._first_ply, NO_CELL
        self._enter(Phase.ASKING)

    def action_next(self) -> None:
        """Go on to the next puzzle; one without a try is not rated."""
        was_daily = self._is_daily
        self._question += 1
        self._take(self._drawn())
        self._show_puzzle(after_daily=was_daily)

    def action_daily(self) -> None:
        """Go on with the set of this day."""
        self._is_daily = True
        self.action_next()

    def action_help(self) -> None:
        """Show the keys, and their effect on the rating."""
        from gomoku_cli.tui.screens.help import HelpScreen

        keys = [(each.shown, each.help) for each in _KEYS]
        enter = ("enter", "play; take a wrong move back; go on after the end")
        self.push_screen(
            HelpScreen(
                {"Keys": [BOARD[0], enter, *keys, *MARKS], "What counts for the rating, once for each puzzle": _RATING}
            )
        )

    def action_change_focus(self) -> None:
        """Nothing else takes the keys."""

    # The picture

    def _say(self, text: str, kind: StatusKind = "") -> None:
        self.show_state(text + self._unsaved, kind, at_once=True)

    @property
    def _request(self) -> str:
        return f"{self.puzzle.goal}: {colour_name(self.position.side_to_move).capitalize()} to move."

    def _of_the_set(self) -> str:
        solved = self.progress.solved(self._setup.day)
        return f"{sum(each.key in solved for each in self._set)} of {len(self._set)} solved"

    def _show_task(self) -> None:
        self._say(self._request)
        self._show()

    def _show_puzzle(self, *, after_daily: bool) -> None:
        if self._board.geometry.size != self.puzzle.rules.size:
            self._board.set_rules(self.puzzle.rules)
            self._fit(self.puzzle.rules, self._panel, self.size)
        self._enter(Phase.ASKING)
        self._show_task()
        if after_daily and not self._is_daily:
            self._say(f"The daily set is done: {self._of_the_set()}. {self._request}")

    def _show(self) -> None:
        position, first = self.position, self._first_ply
        looks = stone_looks(position, range(first, first + MAX_NUMBERED))
        looks |= {cell: CellLook(mark="x", mark_colour=position.side_to_move) for cell in position.fouls()}
        if self._mark != NO_CELL:
            looks[self._mark] = CellLook(mark=self._glyphs.hint)
        self._board.ghost = position.side_to_move if self.phase is Phase.ASKING else EMPTY
        self._board.show(looks)
        puzzle, progress = self.puzzle, self.progress
        player = f"You {progress.rating:.0f}" + (f" ({self._change:+.0f})" if self._tried else "")
        title = "Puzzles, daily set" if self._is_daily else "Puzzles"
        level = f"level {puzzle.level}, " + ("tried before" if self._is_known else f"rating {puzzle.rating}")
        facts = str(puzzle.rules) if self._panel.display else f"level {puzzle.level}   {player}"
        self._title.update(Content.assemble((title, "bold"), (f"   {facts}", "dim")))
        solver = BLACK if first % 2 == 0 else WHITE
        played = " ".join(map(puzzle.name_of, position.moves[first:]))
        self._panel.update(
            Content.assemble(
                (f"{puzzle.goal}\n", "bold"),
                f"{self._glyphs.stone(solver)} {colour_name(solver).capitalize()} to move\n",
                (f"{level}\n\n", "dim"),
                (f"{player}, level {level_of(progress.rating)}\n", "bold"),
                f"Now   {self._solved} of {self._tried} solved, {self._streak} in a row\n",
                f"Today {self._of_the_set()}\n\n",
                f"{played}\n\n",
                (f"{puzzle.puzzle.kind}: {puzzle.puzzle.note}" if self.phase is Phase.DONE else "", "dim"),
            )
        )
