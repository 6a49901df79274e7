"""The subjects of an analysis on the command line: moves, game files, or lines of positions on stdin."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from core.errors import BadDataError
from core.notation import cell_words
from core.position import Position
from core.records.formats import READ_SUFFIXES, is_game_file
from core.rules import Rules
from gomoku_cli.commands.pictures.games import NO_GAMES
from gomoku_cli.expansion import check_suffix

STDIN = "-"


class PositionLineError(BadDataError, ValueError):
    """A line of stdin that is no position; the message gives its number and the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectOptions:
    """Positions to analyse; without arguments the empty board."""

    texts: Annotated[list[str] | None, typer.Argument(metavar="MOVES|FILE|-", show_default="the empty board")] = None
    """Moves from the empty board, black first, as in 'h8 i9 g7'; or game files (.sgf, .psq, .lib, .pos), of which every
    position is analysed; or - for stdin with the moves of one position a line."""
    game: Annotated[int | None, typer.Option(min=1, show_default="all games")] = None
    """Only this game of each file, counted from 1."""
    move: Annotated[int | None, typer.Option(min=0, show_default="all positions")] = None
    """Only the position after N moves, as a table and a board."""

    @property
    def files(self) -> list[Path]:
        """The files of games among the subjects."""
        return [Path(text) for text in self.texts or () if is_game_file(Path(text))]

    @property
    def is_stdin(self) -> bool:
        """True if the positions come from stdin."""
        return STDIN in (self.texts or ())

    def check(self) -> None:
        """Raise a usage error for kinds of subjects that do not go together."""
        texts, files = self.texts or [], self.files
        for text in texts if files else ():
            check_suffix(Path(text), READ_SUFFIXES, "FILE", NO_GAMES)
        if self.is_stdin and len(texts) > 1:
            raise typer.BadParameter("- stands alone: all positions come from stdin", param_hint="-")
        if not files:
            for option, number in (("--game", self.game), ("--move", self.move)):
                if number is not None:
                    raise typer.BadParameter("it picks from a file of games", param_hint=option)
        if self.move is not None and len(files) > 1:
            raise typer.BadParameter("it picks from one file of games", param_hint="--move")


@dataclass(frozen=True, slots=True, kw_only=True)
class GameOptions:
    """Work on whole games."""

    review: Annotated[bool, typer.Option("--review")] = False
    """Show the loss of win probability by each move, mistakes, and a summary a game."""
    save: Annotated[bool, typer.Option("--save")] = False
    """Write the analyses into the .sgf files. Saved ones by the same player within the same limit are read, and any
    saved ones without an option for either."""


def played(moves: str, rules: Rules) -> Position:
    """Return the position after moves such as `h8 i9`, with blanks, commas or nothing between. Raises a usage error."""
    try:
        return position_of(moves, rules)
    except ValueError as error:
        hint = _hint(moves.replace(",", " ").split())
        raise typer.BadParameter(f"{error}{hint}", param_hint="MOVES") from error


def position_of(moves: str, rules: Rules) -> Position:
    """Return the position after moves. Raises `ValueError` with the number of the move that cannot be played."""
    position = Position(rules)
    for _, move in cell_words(moves.replace(",", " ")):
        try:
            position.push(move)
        except ValueError as error:
            raise ValueError(f"move {position.ply + 1}: {error}") from error
    if position.is_game_over():
        raise ValueError(f"the game is over after {position.ply} moves")
    return position


def _hint(words: Sequence[str]) -> str:
    """Return a hint where the first word looks like a file or a player."""
    from curriculum.arena.player_names import EXAMPLES

    first = words[0] if words else ""
    if first in EXAMPLES or first.partition(":")[0] in {name.partition(":")[0] for name in EXAMPLES}:
        return f"; name the player with --player {first}"
    if Path(first).exists():
        return "; files of games end in .sgf or .psq, and a model is named with --player"
    return ""


def stdin_positions(rules: Rules) -> Iterator[tuple[int, Position | PositionLineError]]:
    """Yield the number of each line of stdin, and its position or the reason why it is none.

    Blank lines and those with # are left out. Raises `PositionLineError` for bytes that are no text, and an `OSError`
    with the name of the stream.
    """
    number = 0
    try:
        for number, line in enumerate(sys.stdin, start=1):
            text = line.partition("#")[0].strip()
            if text:
                yield number, _position_or_error(number, text, rules)
    except UnicodeDecodeError as error:
        raise PositionLineError(f"stdin, after line {number}: this is no text in {error.encoding}") from error
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard input") from error


def _position_or_error(number: int, moves: str, rules: Rules) -> Position | PositionLineError:
    try:
        return position_of(moves, rules)
    except ValueError as error:
        return PositionLineError(f"stdin, line {number}: {error}")
