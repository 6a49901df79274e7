"""The course of a game: turns, and requests to the engine."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.opening_rules import FREE, Choice, Opening
from core.position import IllegalMoveError
from core.rules import EMPTY, NO_CELL, Cell
from gomoku_cli.printable import sentence
from gomoku_cli.tui.engine import messages
from gomoku_cli.tui.engine.client import EngineProcess
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.match import Match
from gomoku_cli.tui.review import Review
from gomoku_cli.tui.setup import BoardSetup
from gomoku_cli.tui.tasks import OF_POSITION, REVIEWING, Tasks
from gomoku_cli.tui.view import View
from gomoku_cli.tui.widgets.status import StatusKind
from gomoku_cli.tui.widgets.texts import turn_text
from search.analysis import Analysis

if TYPE_CHECKING:
    from core.book import BookMove

ANALYSIS_S = 86_400.0
"""Time of an analysis for the panes, which runs until the position changes, it is paused, or its tree is full."""


class Turns(ABC):
    """One game after another. Every change of the position drops the tasks about the one before."""

    def __init__(self, game: Game, engine: EngineProcess, view: View, setup: BoardSetup) -> None:
        self.game = game
        self._book = setup.book
        self.teaching = False
        """True to check a human's move before it counts."""
        self.wants_analysis = False
        """True while a pane shows the analysis of the position."""
        self.may_analyse = True
        """False while the human has paused the analyses for the panes."""
        self.wants_threats = self.wants_graph = False
        self.hint = self.pending = NO_CELL
        """The hint's move; the human's move that is being checked, or that loses and waits for a confirmation."""
        self._engine, self._view, self.course = engine, view, setup.course
        self._tasks = Tasks(engine)
        self.review = Review(self, self._tasks, view)
        self.match = Match(game, self, engine, view)
        self._ponders = setup.ponders
        self._path, self._known = setup.path, setup.known
        """The file of a game that was loaded, and what it held, until the first save."""
        self._game_number = 0
        self._saved: tuple[int, Opening] = (0, FREE)
        """The changes of the tree and the choices of colours that are in the file."""
        self._saving = 0
        """The number of the last request to save, until its answer."""
        self.unsaved = ""
        """The reason why the game is not in its file, as a sentence; nothing where it is."""
        self._paused = False
        self._problem: tuple[str, StatusKind] | None = None
        """The obstacle to the next move: a warning about the pending move, or a failure of the engine."""
        self._analysed: tuple[Cell, ...] | None = None
        """The position whose analysis has ended by itself."""
        self._threats: tuple[tuple[Cell, ...], messages.Threats] | None = None

    @abstractmethod
    def receive(self, number: int, answer: messages.Answer) -> None:
        """Handle an answer of the engine."""

    # State

    @property
    def is_thinking(self) -> bool:
        """True while an engine's move is awaited."""
        return "move" in self._tasks

    @property
    def pondering(self) -> bool:
        """True while an engine thinks during the human's turn."""
        return "ponder" in self._tasks

    @property
    def is_loading(self) -> bool:
        """True while a player is loaded."""
        return bool(self._tasks.loads)

    @property
    def is_busy(self) -> bool:
        """True while a move or the check of one is awaited, or a player loads."""
        return self.is_thinking or self.is_loading or "check" in self._tasks

    @property
    def is_held_up(self) -> bool:
        """True while the game waits for something else than its players: a pause, an engine's loading, or the pace."""
        is_loading = self.game.player_to_move in self._tasks.loads.values()
        return self._paused or is_loading or self._tasks.held is not None

    @property
    def analysis(self) -> Analysis | None:
        """The newest analysis of the shown position."""
        return self.game.analysis_at(self.game.ply)

    @property
    def analysis_state(self) -> str:
        """The state of the analysis for the panes: `running`, `paused`, `ended`; nothing without one."""
        if "analysis" in self._tasks:
            return "running"
        if not self.wants_analysis:
            return ""
        return "paused" if not self.may_analyse else "ended" if self._analysed == tuple(self.game.moves) else ""

    @property
    def speaker(self) -> str:
        """The player whose analysis is shown, or would be."""
        choice = self.game.player_to_move if self.is_thinking else None
        if choice is not None:
            return choice.spec
        return self.game.speaker_at(self.game.ply) or self.game.analyst.spec

    @property
    def threats(self) -> messages.Threats | None:
        """The threats of the shown position; None until they are found."""
        known = self._threats
        return known[1] if known is not None and known[0] == tuple(self.game.moves) else None

    def book_moves(self) -> "list[BookMove]":
        """Return the moves of the opening book in the shown position, the best first; a damaged book is left."""
        if self._book is None:
            return []
        from core.book import BookError

        try:
            return self._book.moves(self.game.copy())
        except BookError as error:
            self._book = None
            self._view.add_note(str(error))
            return []

    @property
    def may_play(self) -> bool:
        """True if a pressed cell would get a human's stone."""
        return self.game.is_humans_turn and not self.review.active

    # Games

    def start(self, *, reviewing: bool = False) -> None:
        """Load the players and begin, with a review of the game if requested."""
        self._load()
        self._saved = self.game.changes, self.game.opening
        (self.review.begin if reviewing else self.continue_game)()

    def new_game(
        self, game: Game, *, path: str | None = None, known: bytes | None = None, reviewing: bool = False
    ) -> None:
        """Leave this game for another, which is kept in the file `path`, which held `known`, or in a new one."""
        self._tasks.drop(*OF_POSITION, *REVIEWING)
        self.review.forget()
        self.game, self.match = game, Match(game, self, self._engine, self._view)
        self._path, self._known, self._analysed, self.unsaved = path, known, None, ""
        self._game_number += 1
        self._paused = False
        self.start(reviewing=reviewing)

    def change_seats(self, seats: Seats) -> None:
        """Go on with other players."""
        self.game.seats = seats
        self._load()
        self.keep()
        (self.review.begin_anew if self.review.active else self.continue_game)()

    def keep(self) -> None:
        """Save the game as it stands."""
        if self.game.tree.children or self._saved[0]:
            self._saved = self.game.changes, self.game.opening
            game = self.game.to_save(anywhere=True)
            self._saving = self._engine.request(messages.Keep(self._game_number, self._path, game, self._known))
            self._known = None

    def _load(self) -> None:
        self._tasks.loads.clear()
        for choice in {self.game.seats.black: None, self.game.seats.white: None}:
            if choice is not None:
                load = messages.Load(choice=choice, rules=self.game.rules, ponders=self._ponders)
                self._tasks.loads[self._engine.request(load)] = choice

    # Moves

    def press(self, cell: Cell) -> None:
        """Play a human's move, or say why not; in a pause and after a failure ask the engine again."""
        game, was_review = self.game, self.review.active
        if self.match.check_clock():
            return
        clocked, used_s = self.match.has_clock and not was_review, self.match.watch.seconds
        if was_review and not game.is_at_end and self.match.refuses():
            return
        if was_review and game.stands:
            self._view.show_message("The stones of the opening stand.", "error")
            return
        if was_review:
            self.review.leave(here=True)
            if not (game.is_humans_turn and game.is_legal(cell)):
                self.continue_game()
                return
        if game.is_game_over():
            self._view.show_message(f"{game.result_text()} s plays a rematch, n a new game.", "over")
        elif not game.is_humans_turn:
            if None not in (game.seats.black, game.seats.white) or not self.is_thinking:
                self._paused = self.is_thinking
                self.continue_game()
            self.show_state(at_once=True)
        elif game.choices:
            self._view.ask_choice(game.choices)
        elif self.teaching and not game.is_opening and not was_review and self.pending != cell and game.is_legal(cell):
            self._check(cell)
        else:
            try:
                game.play(cell, first=not was_review)
            except IllegalMoveError as error:
                self._view.show_message(sentence(error), "error")
            else:
                if clocked:
                    self.match.press_clock(used_s)
                self._paused, is_variation = False, not game.node.is_main()
                self.continue_game()
                if was_review and is_variation:
                    how = ": w makes it the main line" if game.may_promote else ""
                    self._view.show_message(f"{game.name_of(cell)} is a variation{how}.")

    def _check(self, cell: Cell) -> None:
        self._tasks.drop("ponder", "analysis", "hint")
        self.pending = cell
        self.match.unrate("teaching was on")
        self._tasks.begin("check", messages.CheckMove(choice=self.game.analyst, position=self.game.copy(), move=cell))
        self._problem = None
        self.show_state(at_once=True)
        self._view.show_game()

    def undo(self) -> None:
        """Take back the last move of a human and what followed, or a deletion; stop an engine that thinks."""
        if self.pending != NO_CELL:
            self.continue_game()
        elif not (self.review.restore() or self.match.refuses()):
            self._travel(-1, self.game.undo, "You have no move to take back.")

    def redo(self) -> None:
        """Play moves again that were taken back."""
        self._travel(1, self.game.redo, "There is no move to play again.")

    def _travel(self, plies: int, go: Callable[[], bool], otherwise: str) -> None:
        if self.review.active:
            self.review.step(plies)
            return
        colour, used_s = self.game.side_to_move, self.match.watch.seconds
        if go():
            self._paused = self.game.seats.human == EMPTY
            self.continue_game()
            if self.game.side_to_move == colour:
                self.match.watch.add(used_s)
            self.match.unrate("a move was taken back")
        else:
            self._view.show_message(otherwise, "error")

    def swap_sides(self) -> None:
        """Give the human the engine's stones, and the engine the human's; after the end play a rematch so."""
        if self.game.recorded is None and (self.game.is_game_over() or (self.review.active and self.game.is_decided)):
            if self.unsaved:
                self._view.show_message(f"{self.unsaved} n asks before it is left.", "error")
                return
            self.new_game(self.game.rematch())
            self._view.show_message("A rematch: the colours are swapped.")
        elif self.game.is_opening:
            self._view.show_message("The colours are chosen by the opening rule.", "error")
        elif self.game.seats.human == EMPTY:
            self._view.show_message("Sides are swapped where one player is a human and the other an engine.", "error")
        elif self.review.active or self.game.is_game_over():
            self._view.show_message("Sides are swapped during a game: n begins another.", "error")
        else:
            self.match.unrate("sides were swapped")
            self.match.note_swap()
            self.change_seats(self.game.seats.swapped())

    def move_now(self) -> None:
        """Let the engine play the best move so far; or forget the move that waits for a confirmation."""
        if self.pending != NO_CELL:
            self.continue_game()
        elif self._tasks.held is not None:
            self._tasks.moved_at = -math.inf
            self.receive(*self._tasks.held)
        elif self.is_thinking:
            self.match.unrate("the level was hurried")
            self._tasks.finish("move")

    def pause_analysis(self) -> None:
        """Pause the analyses for the open panes, or go on with them."""
        if not self.wants_analysis:
            self._view.show_message("There is no analysis to pause: a, c and v open one.", "error")
            return
        self.may_analyse = not self.may_analyse
        if self.may_analyse:
            self._analysed = None
            self.use_turn()
        else:
            self._tasks.finish("analysis")
        self._view.show_message("The analysis goes on." if self.may_analyse else "The analysis is paused: 0 goes on.")
        self._view.show_analysis()

    # The course

    def continue_game(self, *, by_engine: bool = False) -> None:
        """Show the changed game, save it, and ask for a move if an engine is to move.

        A change `by_engine` leaves a fresh message where it is.
        """
        self._tasks.drop(*OF_POSITION, *(() if self.review.active else REVIEWING))
        self.hint = self.pending = NO_CELL
        self._tasks.live = self._problem = None
        game, was_rated = self.game, self.match.is_rated
        if self.review.active:
            self.match.unrate("it was reviewed before its end")
        else:
            is_end = game.is_game_over() and self.match.is_live
            if is_end:
                self.match.rate()
            if self.course.bell and (is_end or (by_engine and game.is_humans_turn)):
                self._view.bell()
        if (game.changes, game.opening) != self._saved:
            self.keep()
        self.match.run_clock()
        self._view.show_game()
        choice = game.player_to_move
        if choice is not None and not self.review.active and not self._paused:
            self._tasks.start_clock()
            position = game.copy()
            if game.is_opening:
                task = messages.ChooseOpening(choice=choice, position=position, opening=game.opening)
                self._tasks.begin("move", task)
            elif known := self.book_moves():
                self.receive(self._tasks.expect("move"), messages.Moved(known[0].move, 0, 0.0, None))
            else:
                budget_s = self.match.budget_s
                self._tasks.begin("move", messages.Search(choice=choice, position=position, seconds=budget_s))
        elif game.choices and not self.review.active:
            self._view.ask_choice(game.choices)
        self.show_state(at_once=not by_engine and not (was_rated and self.review.active))
        self.use_turn()

    def choose(self, choice: Choice) -> None:
        """Take a human's choice of the opening rule."""
        self.game.choose(choice)
        self.continue_game()

    def show_state(self, *, at_once: bool = False) -> None:
        """Show the state of the game: whose turn it is, what is awaited, the end, or the place in a review."""
        self._view.show_state(*self._state(), at_once=at_once)

    def _state(self) -> tuple[str, StatusKind]:
        game = self.game
        if self._problem is not None:
            return self._problem
        if self.is_thinking:
            return self._tasks.move_text(game), "busy"
        if game.is_game_over() and not self.review.active:
            return game.result_text() + self.match.rating_text, "over"
        text = self.review.text() if self.review.active else turn_text(game) + self.match.offer_text
        if awaited := self._tasks.other_text(game, self.pending):
            return f"{text} {awaited}", "busy"
        return text, "busy" if self.review.active else ""

    def use_turn(self) -> None:
        """Begin what the open panes need, or ponder, as far as no move is awaited."""
        game = self.game
        if (self.wants_threats or self.wants_analysis) and game.is_humans_turn:
            self.match.unrate("an analysis was shown")
        if self.wants_threats and self.threats is None and "threats" not in self._tasks:
            self._tasks.begin("threats", messages.FindThreats(position=game.copy()))
        if self.wants_graph and game.is_game_over() and not self.review.active:
            self.review.fill()
        if game.outcome() is not None or (game.is_game_over() and not self.review.active):
            return
        if self.is_thinking or "check" in self._tasks or "review" in self._tasks:
            return
        if self.wants_analysis and self.may_analyse and (game.is_humans_turn or self.review.active or self._paused):
            if "analysis" not in self._tasks and self._analysed != tuple(game.moves):
                self._tasks.drop("ponder")
                self._tasks.begin("analysis", self.analysis_task(ANALYSIS_S, keeps_tree=True))
        elif "analysis" in self._tasks:
            self._tasks.drop("analysis")
        elif self._ponders and game.is_humans_turn and not self.review.active and "ponder" not in self._tasks:
            opponent = game.seats.of(-game.side_to_move)
            if opponent is not None and not game.is_opening:
                self._tasks.begin("ponder", messages.Search(choice=opponent, position=game.copy(), purpose="ponder"))
                self._view.show_game()

    def analysis_task(self, seconds: float, ply: int | None = None, *, keeps_tree: bool = False) -> messages.Search:
        """Return the task to analyse the position after `ply` moves, by default the shown one."""
        position = self.game.copy() if ply is None else self.game.at(ply)
        return messages.Search(
            choice=self.game.analyst, position=position, purpose="analysis", seconds=seconds, keeps_tree=keeps_tree
        )
