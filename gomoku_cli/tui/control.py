"""The course of a game: it asks the engine for moves and analyses, and drops answers that come too late."""

import time
from collections.abc import Callable
from typing import Literal, Protocol

from core.rules import EMPTY, NO_CELL, Cell, Rules, colour_name
from curriculum.arena import player_names
from gomoku_cli.tui.engine.client import Engine
from gomoku_cli.tui.engine.messages import (
    Analyse,
    Analysed,
    Answer,
    CheckMove,
    Compiling,
    Ended,
    Failed,
    FindThreats,
    Load,
    Loaded,
    Moved,
    Notice,
    OtherBoard,
    PlayerChoice,
    Ponder,
    Progress,
    Stopped,
    Task,
    Think,
    Threats,
    Verdict,
)
from gomoku_cli.tui.game import Game, MoveCost, RefusedError, Seats
from gomoku_cli.tui.widgets.status import StatusKind
from gomoku_cli.tui.widgets.texts import effort_unit, line_text, outlook
from search.analysis import Analysis, MoveAnalysis
from search.tree.settings import Policy

ANALYSIS_S = 60.0
"""Time of an analysis for the panes."""
HINT_S = 1.0
REVIEW_S = 0.4
"""Time for each position of a review that has no analysis yet."""

Role = Literal["load", "move", "ponder", "analysis", "hint", "review", "threats", "check"]
"""The purpose of a task. Each has at most one task whose answer is awaited."""
_OF_POSITION: tuple[Role, ...] = ("move", "ponder", "analysis", "hint", "review", "threats", "check")


class View(Protocol):
    """The screen, as the course of a game sees it."""

    def show_game(self) -> None:
        """Draw the game and all open panes."""

    def show_analysis(self) -> None:
        """Draw what depends on the analysis of the shown position."""

    def show_status(self, text: str, kind: StatusKind = "") -> None:
        """Show a sentence under the board."""

    def add_note(self, text: str) -> None:
        """Show a remark for some seconds."""

    def show_failed_player(self, text: str) -> None:
        """Ask how to go on: a player cannot be loaded, for the reason in `text`."""


class Control:
    """One game after another. Every change of the position drops the tasks about the one before."""

    def __init__(
        self,
        game: Game,
        engine: Engine,
        view: View,
        *,
        ponders: bool = False,
        save: Callable[[Game], None] | None = None,
    ) -> None:
        """`save` keeps the game; it is called after every change of its moves."""
        self.game = game
        self.teaching = False
        """True to check a human's move before it counts."""
        self.wants_analysis = False
        """True while a pane shows the analysis of the position."""
        self.wants_threats = False
        self.reviewing = False
        self.hint: Cell = NO_CELL
        self.pending: Cell = NO_CELL
        """The human's move that is being checked, or that loses and waits for a confirmation."""
        self.pondering = False
        self._engine = engine
        self._view = view
        self._ponders = ponders
        self._save = save
        self._tasks: dict[Role, int] = {}
        self._loads: dict[int, PlayerChoice] = {}
        self._compiling = False
        self._paused = False
        self._failed = False
        self._thinking_since = 0.0
        self._live: Analysis | None = None
        """The view of the search in progress on the position."""
        self._threats: tuple[tuple[Cell, ...], Threats] | None = None
        self._reviewed_to = 0

    # State

    @property
    def is_thinking(self) -> bool:
        """True while an engine's move is awaited."""
        return "move" in self._tasks

    @property
    def is_loading(self) -> bool:
        """True while a player is loaded."""
        return bool(self._loads)

    @property
    def is_busy(self) -> bool:
        """True while a move or the check of one is awaited, or a player loads."""
        return self.is_thinking or self.is_loading or "check" in self._tasks

    @property
    def analysis(self) -> Analysis | None:
        """The newest analysis of the shown position."""
        return self._live or self.game.analyses.get(self.game.ply)

    @property
    def threats(self) -> Threats | None:
        """The threats of the shown position; None until they are found."""
        known = self._threats
        return known[1] if known is not None and known[0] == tuple(self.game.moves) else None

    @property
    def length(self) -> int:
        """Plies of the whole game, the undone ones included."""
        return self.game.ply + len(self.game.undone)

    @property
    def may_play(self) -> bool:
        """True if a pressed cell would get a human's stone."""
        return self.game.is_humans_turn and not self.reviewing

    def analyst(self) -> PlayerChoice:
        """Return the player that analyses: a net of the game, else the strongest that fits the board."""
        for choice in (self.game.seats.white, self.game.seats.black):
            if choice is not None and _has_net(choice.spec):
                return PlayerChoice(spec=choice.spec, policy=Policy.DETERMINISTIC, tactics=choice.tactics)
        spec = player_names.DEFAULT if self.game.rules == Rules() else player_names.MENTOR
        return PlayerChoice(spec=spec, policy=Policy.DETERMINISTIC)

    # Games

    def start(self) -> None:
        """Load the players and begin."""
        self._load()
        self.continue_game()

    def new_game(self, game: Game, *, reviewing: bool = False) -> None:
        """Leave this game for another."""
        self._drop(*_OF_POSITION)
        self.game = game
        self.reviewing = reviewing
        self._paused = False
        self._load()
        if reviewing:
            self._begin_review()
        else:
            self.continue_game()

    def change_seats(self, seats: Seats) -> None:
        """Go on with other players."""
        self.game.seats = seats
        self._load()
        self.continue_game()

    def _load(self) -> None:
        self._loads.clear()
        for choice in {self.game.seats.black: None, self.game.seats.white: None}:
            if choice is not None:
                number = self._engine.begin(Load(choice=choice, rules=self.game.rules, ponders=self._ponders))
                self._loads[number] = choice

    # Moves

    def press(self, cell: Cell) -> None:
        """Play a human's move, or say why not; in a pause and after a failure ask the engine again."""
        game = self.game
        if self.reviewing:
            self.reviewing = False
            if game.is_humans_turn and game.stones[cell] == EMPTY:
                self._play(cell)
            else:
                self.continue_game()
        elif game.is_over:
            self._view.show_status(f"{game.result_text()} Press n for a new game.", "over")
        elif not game.is_humans_turn:
            if not self.is_thinking:
                self._paused = False
                self._request_move()
            self._show_waiting()
        elif game.stones[cell] != EMPTY:
            self._view.show_status(f"{game.name_of(cell)} already holds a stone.", "error")
        elif self.teaching and self.pending != cell:
            self._check(cell)
        else:
            self._play(cell)

    def _play(self, cell: Cell) -> None:
        try:
            self.game.play(cell)
        except RefusedError as error:
            self._view.show_status(f"{error}.", "error")
        else:
            self._paused = False
            self.continue_game()

    def _check(self, cell: Cell) -> None:
        self._drop("ponder", "analysis", "hint")
        self.pending = cell
        game = self.game
        task = CheckMove(choice=self.analyst(), rules=game.rules, moves=tuple(game.moves), move=cell)
        self._begin("check", task)
        self._view.show_status(f"Looking at {game.name_of(cell)}...", "busy")
        self._view.show_game()

    def undo(self) -> None:
        """Take back the last move of a human and what followed; stop an engine that thinks."""
        if self.pending != NO_CELL:
            self.continue_game()
        elif self.reviewing:
            self.step(-1)
        elif self.game.undo():
            self._paused = self.game.seats.human == EMPTY
            self.continue_game()
        else:
            self._view.show_status("You have no move to take back.", "error")

    def redo(self) -> None:
        """Play moves again that were taken back."""
        if self.reviewing:
            self.step(1)
        elif self.game.redo():
            self._paused = self.game.seats.human == EMPTY
            self.continue_game()
        else:
            self._view.show_status("There is no move to play again.", "error")

    def swap_sides(self) -> None:
        """Give the human the engine's stones, and the engine the human's."""
        if self.game.seats.human == EMPTY:
            self._view.show_status("Sides are swapped where one player is a human and the other an engine.", "error")
        elif self.reviewing:
            self._view.show_status("Leave the review first: press b.", "error")
        else:
            self.change_seats(self.game.seats.swapped())

    def move_now(self) -> None:
        """Let the engine play the best move so far; or forget the move that waits for a confirmation."""
        if self.pending != NO_CELL:
            self.continue_game()
        elif "move" in self._tasks:
            self._engine.stop(self._tasks["move"], drop=False)

    def show_hint(self) -> None:
        """Mark the best move of the shown position, after a short search if there is none yet."""
        if self.game.is_over or not (self.game.is_humans_turn or self.reviewing):
            self._view.show_status("There is a hint when it is your turn.", "error")
        elif self.analysis is not None and self.analysis.nodes >= 1 and self.analysis.moves:
            self._give_hint(self.analysis)
        else:
            self._drop("ponder", "analysis")
            self._begin("hint", self._analysis_task(HINT_S))
            self._view.show_status("Looking for a good move...", "busy")

    def _give_hint(self, analysis: Analysis) -> None:
        self.hint = analysis.best_move
        name = self.game.name_of(self.hint)
        line = line_text(analysis.variation, self.game.rules, 6)
        self._view.show_status(f"Hint: {name}. {outlook(analysis, self.game.side_to_move)}, {line}")
        self._view.show_game()

    # The course

    def continue_game(self) -> None:
        """Show the changed game; ask for a move if an engine is to move."""
        self._reset_position()
        game = self.game
        if self._save is not None and game.moves:
            self._save(game)
        self._view.show_game()
        if self.reviewing:
            self._show_review()
        elif game.is_over:
            self._view.show_status(game.result_text(), "over")
        elif game.is_humans_turn:
            alone = game.seats.human != EMPTY
            self._view.show_status("Your move." if alone else f"{colour_name(game.side_to_move).capitalize()} to move.")
        elif self._paused:
            self._view.show_status("Paused. Press enter to go on.")
        else:
            self._request_move()
        self.use_turn()

    def _reset_position(self) -> None:
        """Drop all that belongs to the position before."""
        self._drop(*(role for role in _OF_POSITION if role != "review"))
        self.hint = self.pending = NO_CELL
        self._live = None
        self._failed = self.pondering = False

    def use_turn(self) -> None:
        """Begin what the open panes need, or ponder, as far as no move is awaited."""
        game = self.game
        if self.wants_threats and self.threats is None:
            self._begin("threats", FindThreats(rules=game.rules, moves=tuple(game.moves)))
        if game.is_over or self.is_thinking or "check" in self._tasks or "review" in self._tasks:
            return
        if self.wants_analysis and (game.is_humans_turn or self.reviewing or self._paused):
            if "analysis" not in self._tasks:
                self._drop("ponder")
                self.pondering = False
                self._begin("analysis", self._analysis_task(ANALYSIS_S))
        else:
            self._drop("analysis")
            opponent = game.seats.of(-game.side_to_move)
            if self._ponders and opponent is not None and game.is_humans_turn and not self.reviewing:
                self.pondering = True
                self._begin("ponder", Ponder(choice=opponent, rules=game.rules, moves=tuple(game.moves)))
                self._view.show_game()

    def _request_move(self) -> None:
        choice = self.game.player_to_move
        assert choice is not None
        self._failed = False
        self._thinking_since = time.monotonic()
        self._begin("move", Think(choice=choice, rules=self.game.rules, moves=tuple(self.game.moves)))
        self._show_waiting()

    def _analysis_task(self, seconds: float, ply: int | None = None) -> Analyse:
        line = [*self.game.moves, *reversed(self.game.undone)]
        moves = tuple(line[: self.game.ply if ply is None else ply])
        return Analyse(choice=self.analyst(), rules=self.game.rules, moves=moves, seconds=seconds)

    # Reviews

    def toggle_review(self) -> None:
        """Begin or end the review of the game."""
        if self.reviewing:
            self._drop("review")
            self.reviewing = False
            self.game.go_to(self.length)
            self.continue_game()
        elif not self.game.moves:
            self._view.show_status("There is no move to review yet.", "error")
        else:
            self._drop(*_OF_POSITION)
            self.reviewing = True
            self._begin_review()

    def step(self, plies: int) -> None:
        """Go back or on by so many plies, in a review that begins if there is none."""
        if not self.reviewing:
            self.toggle_review()
        if self.reviewing:
            self.game.go_to(min(max(self.game.ply + plies, 0), self.length))
            self.continue_game()

    def _begin_review(self) -> None:
        self._reviewed_to = 0
        self._review_next()
        self.continue_game()

    def _review_next(self) -> None:
        """Ask for the next position of the game without an analysis."""
        end = self.game.at(self.length)
        last = self.length - 1 if end.is_over else self.length
        while self._reviewed_to <= last and self._reviewed_to in self.game.analyses:
            self._reviewed_to += 1
        if self._reviewed_to <= last:
            self._begin("review", self._analysis_task(REVIEW_S, self._reviewed_to))
        else:
            self._tasks.pop("review", None)
            if self._save is not None and self.game.moves:
                self._save(self.game)
            self.use_turn()

    def _show_review(self) -> None:
        text = f"Review: move {self.game.ply} of {self.length}."
        if "review" in self._tasks:
            text += f" Analysing {self._reviewed_to} of {self.length}..."
        self._view.show_status(f"{text} , . < > step, b ends the review.", "busy")

    # Answers

    def receive(self, number: int, answer: Answer) -> None:
        """Handle an answer of the engine; one to a dropped task changes nothing."""
        match answer:
            case Notice():
                self._view.add_note(answer.text)
            case Compiling():
                self._compiling = True
                self._show_waiting()
            case Ended():
                self._handle_end(answer.text)
            case _ if number in self._loads:
                self._handle_load(number, answer)
            case _:
                role = next((role for role, awaited in self._tasks.items() if awaited == number), None)
                if role is not None:
                    if not isinstance(answer, Progress):
                        del self._tasks[role]
                    self._handle(role, answer)

    def _handle_load(self, number: int, answer: Answer) -> None:
        choice = self._loads.pop(number)
        if isinstance(answer, Loaded):
            self._compiling = False
            self._show_waiting()
        elif isinstance(answer, OtherBoard):
            mentor = PlayerChoice(spec=player_names.MENTOR, seconds=choice.seconds, policy=choice.policy)
            seats = self.game.seats
            self._view.add_note(f"{choice.spec} plays {answer.rules}: the mentor plays in its place")
            self.change_seats(
                Seats(
                    mentor if seats.black == choice else seats.black, mentor if seats.white == choice else seats.white
                )
            )
        elif isinstance(answer, Failed):
            self._drop(*_OF_POSITION)
            self._failed = True
            self._view.show_failed_player(answer.text)

    def _handle(self, role: Role, answer: Answer) -> None:
        if isinstance(answer, Failed):
            self._handle_failure(role, answer.text)
        elif isinstance(answer, Progress) and role != "review":
            self._live = answer.analysis
            if role == "move":
                self._show_waiting()
            self._view.show_analysis()
        elif isinstance(answer, Moved):
            self._handle_move(answer)
        elif isinstance(answer, Analysed):
            self._handle_analysis(role, answer.analysis)
        elif isinstance(answer, Threats):
            self._threats = (tuple(self.game.moves), answer)
            self._view.show_game()
        elif isinstance(answer, Verdict):
            self._handle_verdict(answer)
        elif isinstance(answer, Stopped) and role == "ponder":
            self.pondering = False
            self._view.show_game()

    def _handle_move(self, answer: Moved) -> None:
        game, ply = self.game, self.game.ply
        analysis = answer.analysis
        if analysis is None and answer.value is not None:
            move = MoveAnalysis(answer.move, answer.value, proof=answer.plies_to_end)
            analysis = Analysis(
                moves=(move,),
                value=answer.value,
                variation=(answer.move,),
                nodes=answer.simulations,
                seconds=answer.seconds,
            )
        try:
            game.play(answer.move)
        except RefusedError as error:
            self._handle_failure("move", str(error))
            return
        if analysis is not None:
            game.analyses[ply] = analysis
        game.costs[ply] = MoveCost(answer.simulations, answer.seconds)
        self.continue_game()

    def _handle_analysis(self, role: Role, analysis: Analysis) -> None:
        if role == "review":
            self.game.analyses[self._reviewed_to] = analysis
            self._review_next()
            self._show_review()
        else:
            self.game.analyses[self.game.ply] = analysis
            self._live = None
            if role == "hint":
                self._give_hint(analysis)
                self.use_turn()
        self._view.show_game()

    def _handle_verdict(self, verdict: Verdict) -> None:
        cell = self.pending
        if verdict.reason is None:
            self._play(cell)
            return
        name = self.game.name_of(cell)
        reason = verdict.reason[0].lower() + verdict.reason[1:]
        self._view.show_status(
            f"{name} loses: {reason.rstrip('.')}. Press enter on it to play it anyway, esc to choose again.", "warning"
        )

    def _handle_failure(self, role: Role, text: str) -> None:
        if role == "check":
            self._play(self.pending)  # a check that fails must not keep anyone from playing
            return
        if role == "ponder":
            self.pondering = self._ponders = False
        elif role == "move":
            self._failed = True
            choice = self.game.player_to_move
            who = choice.spec if choice is not None else "the engine"
            self._view.show_status(f"{who} failed (enter: ask again, u: undo). {text}", "error")
            return
        self._view.show_status(text, "error")

    def _handle_end(self, text: str) -> None:
        """Go on after the end of the engine's process: the next task starts another."""
        roles = [*self._tasks]
        self._tasks.clear()
        self._loads.clear()
        self._live = None
        if "move" in roles:
            self._handle_failure("move", text)
        elif "check" in roles:
            self._play(self.pending)
        else:
            self._view.show_status(f"The engine has ended: {text}", "error")

    def _show_waiting(self) -> None:
        text = self.waiting_text()
        if text:
            self._view.show_status(text, "busy")

    def waiting_text(self) -> str:
        """Return the engine's activity while a move is awaited, else an empty text."""
        if "move" not in self._tasks:
            return ""
        choice = self.game.player_to_move
        if choice is None:
            return ""
        if choice in self._loads.values():
            compiling = " and compiling the search (first run only)" if self._compiling else ""
            return f"Loading {choice.spec}{compiling}..."
        seconds = time.monotonic() - self._thinking_since
        text = f"{choice.spec} is thinking... {seconds:.0f} s"
        live = self._live
        if live is not None:
            text += f", {live.nodes:,} {effort_unit(choice)}. {outlook(live, self.game.side_to_move)}"
            text += f", {line_text(live.variation, self.game.rules, 5)}"
        return text

    # Tasks

    def _begin(self, role: Role, task: Task) -> None:
        self._drop(role)
        self._tasks[role] = self._engine.begin(task)

    def _drop(self, *roles: Role) -> None:
        for role in roles:
            number = self._tasks.pop(role, None)
            if number is not None:
                self._engine.stop(number, drop=True)


def _has_net(spec: str) -> bool:
    """Return True if a player's name can only be a model's."""
    without = (player_names.MENTOR, player_names.RANDOM, player_names.PURE_MCTS, player_names.ENGINE, "level")
    return spec.partition(":")[0] not in without
