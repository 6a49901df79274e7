"""The screen, as the course of a game sees it."""

from collections.abc import Callable
from typing import Protocol

from core.opening_rules import Choice
from gomoku_cli.tui.engine.messages import GameList
from gomoku_cli.tui.game import Game
from gomoku_cli.tui.widgets.status import StatusKind


class View(Protocol):
    """The requests of a course of games to the screen."""

    def show_game(self) -> None:
        """Draw the game and all open panes."""

    def show_analysis(self) -> None:
        """Draw what depends on the analysis of the shown position."""

    def show_state(self, text: str, kind: StatusKind = "", *, at_once: bool = False) -> None:
        """Show the state of the game under the board, after a fresh message or `at_once`."""

    def show_message(self, text: str, kind: StatusKind = "") -> None:
        """Show a message there, which holds for some seconds."""

    def add_note(self, text: str) -> None:
        """Show a remark for some seconds."""

    def bell(self) -> None:
        """Ring the terminal's bell."""

    def set_timer(self, delay: float, callback: Callable[[], None]) -> object:
        """Call a function after `delay` seconds."""

    def show_failed_player(self, text: str) -> None:
        """Ask how to go on: a player cannot be loaded, for the reason in `text`."""

    def ask_choice(self, options: tuple[Choice, ...]) -> None:
        """Ask a human to choose by the opening rule."""

    def show_saved_games(self, games: GameList) -> None:
        """Offer saved games."""

    def open_game(self, game: Game, path: str, known: bytes) -> None:
        """Go on with a saved game, whose file holds `known`, or review it."""
