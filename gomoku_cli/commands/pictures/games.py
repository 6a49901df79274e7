"""Games of files, chosen by their numbers."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import typer

from core.records.formats import READ_SUFFIXES, GamesFile, open_games
from core.records.record import GameRecord, RecordError
from gomoku_cli.expansion import check_suffix
from gomoku_cli.notices import print_notice
from gomoku_cli.printable import counted, echo

NO_GAMES = "is no file of games: its name must end in"
_Game = TypeVar("_Game")


def read_game(path: Path, number: int | None, option: str) -> tuple[GameRecord, int]:
    """Return the game with this number in a file, from 1, and the number of games in it; see `game_at`.

    Raises a usage error about `option` for a file of another kind, and for a number without a game; `RecordError` for
    a file that cannot be read.
    """
    check_suffix(path, READ_SUFFIXES, option, NO_GAMES)
    (file,) = open_each([path])
    return game_at(file.games, number, path), len(file.games)


def open_each(paths: Sequence[Path]) -> Iterator[GamesFile]:
    """Yield the files that can be read, with a note on a guessed charset. Each other one is an error line on stderr.

    Raises the `RecordError` of the only file, and that of the last one if none can be read.
    """
    has_any = False
    for number, path in enumerate(paths, start=1):
        try:
            file = open_games(path)
        except RecordError as error:
            if number == len(paths) and not has_any:
                raise
            echo(f"gomoku: {error}", err=True)
            continue
        has_any = True
        if file.remark:
            print_notice(file.remark)
        yield file


def game_at(games: Sequence[_Game], number: int | None, path: Path) -> _Game:
    """Return the game with this number, from 1; without one the first, with a note if there are others.

    Raises a usage error that names the file.
    """
    if number is None:
        if len(games) > 1:
            print_notice(f"{path}: game 1 of {len(games):,}; --game N takes another")
        number = 1
    if number > len(games):
        holds = f"{path} holds {counted(len(games), 'game')}"
        raise typer.BadParameter(f"{holds}, so there is no game {number:,}", param_hint="--game")
    return games[number - 1]
