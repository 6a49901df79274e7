"""The contest in a game: how it ends, the clocks of both sides, and the human's rating."""

import math

from core.opening_rules import OpeningRule
from core.records.record import Ending
from core.records.tree import Node
from core.rules import BLACK, EMPTY, WHITE, Colour, Rules, colour_name
from curriculum.arena.player_names import LEVELS
from gomoku_cli.gomocup.clock import move_budget
from gomoku_cli.study.clocks import Stopwatch
from gomoku_cli.study.played import DRAW_MOVES, DRAW_STONES, accepts_draw, offers_draw
from gomoku_cli.tui.engine.client import EngineProcess
from gomoku_cli.tui.engine.messages import RateGame
from gomoku_cli.tui.game import Game
from gomoku_cli.tui.review import Owner
from gomoku_cli.tui.view import View


class Match:
    """The part of one game that is about winning and losing."""

    def __init__(self, game: Game, owner: Owner, engine: EngineProcess, view: View) -> None:
        self.game, self._owner, self._engine, self._view = game, owner, engine, view
        self.watch = Stopwatch()
        """The time of the turn of a node and a colour."""
        self._swapped: tuple[object, float] = (None, 0.0)
        """The turn in which sides were swapped, and its time before."""
        self._offer: tuple[int, Node | None] = (0, None)
        """The stones and the position of an engine's last offer of a draw."""
        self.is_live = not game.is_decided
        """True for a game that was not over when it came, until its end is counted."""
        self.rating_text = ""
        """A word on the rating after the end."""

    # Ends

    @property
    def may_end(self) -> str:
        """The reason why nobody can resign or offer a draw now; nothing where one can."""
        game = self.game
        if self._owner.review.active or game.is_decided or game.recorded is not None:
            return "There is no game under way."
        if game.is_opening:
            return "The colours are chosen first."
        return "" if game.seats.human != EMPTY or game.seats.black is None else "No human plays here."

    def end(self, winner: Colour | None, ending: Ending) -> None:
        """End the game without its board."""
        self.game.end(winner, ending)
        self._owner.continue_game()

    def offer_draw(self) -> None:
        """Let the engine answer the human's offer of a draw by its own values."""
        game, colour = self.game, -self.game.seats.human
        choice = game.seats.of(colour)
        if accepts_draw(game.values_of(colour), game.ply):
            self.end(None, Ending.BOARD)
        elif choice is not None:
            why = f" before {DRAW_STONES} stones stand" if game.ply < DRAW_STONES else ": it plays on"
            self._view.show_message(f"{choice.spec} takes no draw{why}.")

    def consider_draw(self) -> None:
        """Let the engine that has moved offer a draw by its own values, once in so many of its moves."""
        game = self.game
        is_asked = game.seats.human == game.side_to_move and not self.may_end
        is_new = game.ply >= self._offer[0] + 2 * DRAW_MOVES
        if is_asked and is_new and offers_draw(game.values_of(-game.side_to_move), game.ply):
            self._offer = game.ply, game.node

    @property
    def offer_text(self) -> str:
        """The engine's offer of a draw in this position, in words; nothing without one."""
        if self.game.node is not self._offer[1] or self.may_end:
            return ""
        return f" {self.game.player_name(-self.game.seats.human)} offers a draw: = takes it, a move declines it."

    def refuses(self) -> bool:
        """Return True if the engine does not consent to moves taken back in this game, and say so."""
        game = self.game
        is_asked = game.seats.human != EMPTY and game.recorded is None and not game.is_decided
        if self._owner.course.takes_back or not is_asked:
            return False
        self._view.show_message(f"{game.player_name(-game.seats.human)} lets no move be taken back.", "error")
        return True

    # Clocks

    @property
    def has_clock(self) -> bool:
        """True if the turn counts for a clock: after the first move, until the game is decided."""
        game = self.game
        return game.control is not None and game.ply > 0 and not game.is_opening and not game.is_decided

    @property
    def clock_texts(self) -> tuple[str, str]:
        """The clocks of Black and White; nothing without clocks."""
        game, turn = self.game, self.watch.turn
        if game.control is None:
            return "", ""
        used = {turn[1]: self.watch.seconds} if turn else {}
        black, white = (game.control.text(game.clocks[side], used.get(side, 0.0)) for side in (BLACK, WHITE))
        return black, white

    def run_clock(self) -> None:
        """Let the time of this turn pass, unless the game waits for something else than its players."""
        if self._owner.review.active:
            self.watch.stop()
        else:
            runs = self.has_clock and not self._owner.is_held_up
            self.watch.show((self.game.node, self.game.side_to_move), runs=runs)

    def note_swap(self) -> None:
        """Note the time of this turn so far, which counts for the player who takes it over."""
        self._swapped = (self.watch.turn, self.watch.seconds) if self.has_clock else (None, 0.0)

    @property
    def before_swap_s(self) -> float:
        """The time of this turn before sides were swapped."""
        turn, seconds = self._swapped
        return seconds if turn == self.watch.turn else 0.0

    def check_clock(self) -> bool:
        """End the game if a human has no time left; return True then."""
        game, control = self.game, self.game.control
        if control is None or not (self.watch.runs and game.is_humans_turn):
            return False
        if game.clocks[game.side_to_move].minus(self.watch.seconds, control.period_s) != (0.0, 0):
            return False
        self.end(-game.side_to_move, Ending.TIME)
        return True

    def press_clock(self, used_s: float) -> None:
        """Charge the last move to the clock of its player, who loses without time."""
        if not self.game.press_clock(used_s) and not self.game.is_game_over():
            self.game.end(self.game.side_to_move, Ending.TIME)

    @property
    def budget_s(self) -> float:
        """The time of the engine's next move by its clock, also of the first one; infinite without one."""
        game, control = self.game, self.game.control
        if control is None or game.is_decided:
            return math.inf
        clock, used_s = game.clocks[game.side_to_move], self.before_swap_s
        left_s, periods = clock.minus(used_s, control.period_s)
        in_main = used_s < clock.left_s
        period_s = (control.period_s if in_main else left_s) if periods else 0.0
        return move_budget(left_s if in_main else 0.0, control.increment_s, period_s, game.ply // 2)

    # Rating

    @property
    def _level(self) -> str:
        """The level that the human plays by the rules of the ratings; nothing in other games."""
        game = self.game
        choice = game.seats.of(-game.seats.human) if game.seats.human != EMPTY and self.is_live else None
        is_plain = game.rules == Rules() and game.opening.rule is OpeningRule.FREE and game.recorded is None
        is_plain = is_plain and not game.tree.set_up
        return choice.spec if choice is not None and choice.spec in LEVELS and is_plain else ""

    @property
    def is_rated(self) -> bool:
        """True while the game will count for the human's rating."""
        return bool(self._level) and not self.game.unrated and not self.game.is_decided

    def unrate(self, why: str) -> None:
        """Let a game against a level not count, since the human was helped, and say so."""
        if self.is_rated:
            self.game.unrate(why)
            self._view.show_game()
            self._view.show_message(f"The game does not count for your rating now: {why}.")

    def rate(self) -> None:
        """Count a game against a level at its end, once."""
        game, level, human = self.game, self._level, self.game.seats.human
        if level and game.unrated:
            self.rating_text = f" Not rated: {game.unrated}."
        elif level:
            score = 0.5 if game.winner is None else float(game.winner == human)
            self._engine.request(RateGame(level, score, colour_name(human)))
            game.unrate("it was counted")
        self.is_live = False
