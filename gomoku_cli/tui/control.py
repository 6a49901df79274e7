"""The course of a game: the handling of the engine's answers."""

import time
from functools import partial

from core.opening_rules import Choice
from core.position import IllegalMoveError
from core.rules import NO_CELL
from curriculum.arena import player_names
from gomoku_cli.tui.engine import messages
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.tasks import OF_POSITION, Role
from gomoku_cli.tui.turns import Turns
from gomoku_cli.tui.widgets.texts import choice_text, line_text, outlook
from search.analysis import Analysis

HINT_S = 1.0


class Control(Turns):
    """One game after another, with the engine's answers."""

    def receive(self, number: int, answer: messages.Answer) -> None:
        """Handle an answer of the engine; one to a dropped task changes nothing."""
        role, game = self._tasks.role_of(number), self.game
        if role == "move" and isinstance(answer, messages.Moved) and self._holds(number, answer):
            return
        if role is not None and not isinstance(answer, messages.Progress):
            self._tasks.end(role)
            self._tasks.compiling = ""
        match answer:
            case messages.Notice():
                self._view.add_note(answer.text)
            case messages.Compiling():
                self._tasks.compiling = answer.text
                self.show_state()
            case messages.Ended():
                self._handle_end(answer.text)
            case messages.GameList():
                if answer.renamed is not None and self._path == answer.renamed[0]:
                    self._path = answer.renamed[1]
                self._view.show_saved_games(answer)
            case messages.Rated():
                self.match.rating_text = f" {answer.text}"
                self.show_state(at_once=True)
            case messages.OpenedGame():
                self._view.open_game(Game.from_saved(answer.game, answer.remark), answer.path, answer.known)
            case messages.Kept():
                self._saving = 0 if number == self._saving else self._saving
                self._handle_kept(answer)
            case messages.Remark():
                self._view.show_message(answer.text, "error" if answer.is_error else "")
            case _ if number in self._tasks.loads:
                self._handle_load(number, answer)
            case _ if role is None:
                pass
            case messages.Failed():
                self._handle_failure(role, answer.text)
            case messages.Analysed() | messages.Graded() if role in ("review", "grades"):
                self.review.receive(answer)
            case messages.Progress() if role != "review":
                self._tasks.live, self._tasks.compiling = answer.analysis, ""
                game.learn(game.ply, answer.analysis, self.speaker)
                if role == "move":
                    self.show_state()
                else:
                    self._follow_hint(answer.analysis)
                self._view.show_analysis()
            case messages.Moved():
                ply, choice = game.ply, game.player_to_move
                clocked, budget_s = self.match.has_clock, self.match.budget_s
                try:
                    game.play(answer.move)
                except IllegalMoveError as error:
                    self._handle_failure(role, str(error))
                    return
                if answer.analysis is not None:
                    game.learn(ply, answer.analysis, choice.spec if choice is not None else "")
                game.charge(answer)
                if clocked and choice is not None:
                    # A busy machine may end a search late, but a program of its own keeps its own time.
                    is_program = choice.spec.partition(":")[0] == player_names.ENGINE
                    used_s = answer.seconds if is_program else min(answer.seconds, budget_s)
                    self.match.press_clock(self.match.before_swap_s + used_s)
                self.match.consider_draw()
                self.continue_game(by_engine=True)
            case messages.Opened(found) if isinstance(found, tuple):
                for cell in found:
                    game.play(cell)
                self.continue_game(by_engine=True)
            case messages.Opened(found) if isinstance(found, Choice):
                who = choice.spec if (choice := game.player_to_move) is not None else "the engine"
                game.choose(found)
                self._view.show_message(choice_text(who, found))
                self.continue_game(by_engine=True)
            case messages.Analysed():
                game.learn(game.ply, answer.analysis, game.analyst.spec)
                if role == "analysis":
                    self._analysed = tuple(game.moves)
                if role == "hint":
                    self._give_hint(answer.analysis)
                else:
                    self._follow_hint(answer.analysis)
                self._view.show_game()
            case messages.Threats():
                self._threats = (tuple(game.moves), answer)
                self._view.show_game()
            case messages.Verdict():
                self._handle_verdict(answer)
            case messages.Done() if role == "ponder":
                self._view.show_game()

    @property
    def is_saving(self) -> bool:
        """True while the last change is on its way to the file."""
        return self._saving > 0

    @property
    def has_failed(self) -> bool:
        """True after a failure of the engine that is to move or to choose."""
        return self._problem is not None and self._problem[1] == "error"

    def choose_players(self, seats: Seats) -> None:
        """Go on with the players that a human has chosen; a game under way does not count for a rating then."""
        if self.game.tree.children:
            self.match.unrate("the players were changed")
            self.game.unrate("the players were changed")  # a level may have come in
        self.match.note_swap()
        self._paused = False
        self.change_seats(seats)

    def _holds(self, number: int, answer: messages.Moved) -> bool:
        """Return True for a move of one of two engines whose time has not come; it comes again then."""
        seats, tasks, now = self.game.seats, self._tasks, time.monotonic()
        rest_s = tasks.moved_at + self.course.pace_s - now
        if rest_s <= 0 or None in (seats.black, seats.white):
            tasks.moved_at = now
            return False
        tasks.held = number, answer
        self.match.run_clock()
        self._view.set_timer(rest_s, partial(self.receive, number, answer))
        return True

    def _handle_load(self, number: int, answer: messages.Answer) -> None:
        choice = self._tasks.loads.pop(number)
        if isinstance(answer, messages.Done):
            self._tasks.compiling = ""
            self._tasks.start_clock()
            self.match.run_clock()
            self.show_state()
        elif isinstance(answer, messages.OtherBoard):
            mentor = messages.PlayerChoice(spec=player_names.MENTOR, seconds=choice.seconds, policy=choice.policy)
            seats = self.game.seats
            self._view.add_note(f"{choice.spec} plays {answer.rules}: the mentor plays in its place")
            black = mentor if seats.black == choice else seats.black
            self.change_seats(Seats(black, mentor if seats.white == choice else seats.white))
        elif isinstance(answer, messages.Failed):
            self._tasks.drop(*OF_POSITION, "review")
            self._view.show_failed_player(answer.text)

    def _handle_kept(self, kept: messages.Kept) -> None:
        """Say that a game is not saved, with each save; after its end, where that would hide the result, once."""
        before, self.unsaved = self.unsaved, kept.problem
        if kept.problem != before:
            self._view.show_game()
        if kept.remark or (kept.problem and (kept.problem != before or not self.game.is_game_over())):
            self._view.show_message(kept.remark or kept.problem, "error")

    def _handle_verdict(self, verdict: messages.Verdict) -> None:
        cell = self.pending
        if verdict.reason is None:
            self.press(cell)  # it is pending, so it counts
            return
        name = self.game.name_of(cell)
        self._problem = f"{name} loses. {verdict.reason} Play it again to insist, esc chooses anew.", "warning"
        self.show_state(at_once=True)

    def _handle_failure(self, role: Role, text: str) -> None:
        if role == "check":
            self.press(self.pending)  # a check that fails must not keep anyone from playing
            return
        if role == "ponder":
            self._ponders = False
        elif role == "move":
            choice = self.game.player_to_move
            who = choice.spec if choice is not None else "the engine"
            way = "u: undo" if self.game.can_delete else "ctrl+o: another player"
            self._problem = f"{who} failed (enter: ask again, {way}). {text}", "error"
            self.show_state(at_once=True)
            return
        self._view.show_message(text, "error")

    def _handle_end(self, text: str) -> None:
        """Go on after the end of the engine's process: the next task starts another."""
        roles = self._tasks.forget()
        self._tasks.loads.clear()
        self._tasks.live = None
        self.keep()  # the game may not have reached its file
        if "move" in roles or "check" in roles:
            self._handle_failure("move" if "move" in roles else "check", text)
        else:
            self._view.show_message(f"The engine has ended: {text}", "error")

    # Hints

    def show_hint(self) -> None:
        """Mark the best move of the shown position, after a short search if there is none yet."""
        if self.game.outcome() is not None or not (self.game.is_humans_turn or self.review.active):
            self._view.show_message("There is a hint when it is your turn.", "error")
        elif self.analysis is not None and self.analysis.moves:
            self._give_hint(self.analysis)
        else:
            self._tasks.drop("ponder", "analysis")
            self._tasks.begin("hint", self.analysis_task(HINT_S))
            self.show_state(at_once=True)

    def _give_hint(self, analysis: Analysis) -> None:
        self.match.unrate("a hint was given")
        self.hint = analysis.best_move
        name = self.game.name_of(self.hint)
        line = line_text(analysis.variation, self.game.rules, 6)
        self._view.show_message(f"Hint: {name}. {outlook(analysis, self.game.side_to_move)}, {line}")
        self._view.show_game()

    def _follow_hint(self, analysis: Analysis) -> None:
        if self.hint != NO_CELL and analysis.moves and analysis.best_move != self.hint:
            self._give_hint(analysis)
