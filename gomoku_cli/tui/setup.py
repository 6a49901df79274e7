"""Configuration of the screen: its first game and its look."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.opening_rules import OpeningRule
from core.rules import Rules
from curriculum.arena import player_names
from gomoku_cli.study.clocks import TimeControl
from gomoku_cli.tui.drivers.answers import Graphics
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.game import Game, Seats

if TYPE_CHECKING:
    from core.book import Book


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """Settings of the course of games, which the dialog for a new game changes."""

    takes_back: bool = True
    """False for an engine that does not consent to moves taken back during a game."""
    pace_s: float = 0.0
    """Seconds from move to move at least, where two engines play."""
    bell: bool = False
    """True rings the terminal's bell when a human is to move after an engine, and at the end of a game."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardSetup:
    """Configuration of the app."""

    rules: Rules = field(default_factory=Rules)
    seats: Seats = field(default_factory=lambda: Seats(None, PlayerChoice(spec=player_names.DEFAULT)))
    opening: OpeningRule = OpeningRule.FREE
    """The opening rule of the first game, unless `game` goes on."""
    clock: TimeControl | None = None
    """The time of the players in the first game, unless `game` goes on; None for no clocks."""
    ponders: bool = False
    """True lets the engine think during the human's turns, if it can (`search.players.Player.ponder`)."""
    ascii_only: bool = False
    theme: str | None = None
    """A theme of Textual; None takes the terminal's colours."""
    graphics: Graphics = Graphics.AUTO
    """The protocol for pictures of the board; auto takes that of the terminal."""
    game: Game | None = None
    """A game to go on with; None begins the one of `rules` and `seats`."""
    path: str | None = None
    """The file of that game."""
    known: bytes | None = None
    """The bytes of this file when it was read."""
    reviews: bool = False
    """True begins with a review of that game."""
    book: "Book | None" = None
    """An opening book: its moves stand below the candidates, and engines play them."""
    course: Course = field(default_factory=Course)
    asks_first: bool = False
    """True opens the dialog for a new game first."""
