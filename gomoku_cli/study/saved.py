"""Saved games: a folder of SGF files, each written anew after every move, whole or not at all."""

import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from core.errors import UserError
from core.files.links import make_private_folder
from core.position import Position
from core.records.formats import read_games, write_games
from core.records.record import Ending, GameRecord, RecordError
from core.rules import Colour, Rules
from gomoku_cli.study.game import StudiedGame


def default_folder() -> Path:
    """Return the folder of saved games of this user: `games` in the data folder of the system."""
    import platformdirs

    return Path(platformdirs.user_data_dir("gomoku")) / "games"


@dataclass(frozen=True, slots=True)
class SavedEntry:
    """A saved game in the list."""

    path: Path
    date: datetime
    """The time of its last move, on the clock of this place."""
    rules: Rules
    black: str
    white: str
    moves: int
    winner: Colour | None
    """None for a draw and for a game without a result."""
    is_finished: bool
    """False for a game that can go on."""


class SavedGame:
    """The file of one game. Its folder and its file are made by the first `save`."""

    def __init__(self, folder: Path, path: Path | None = None) -> None:
        """`path`: of a game that goes on; None for a new one, whose name is the time of its first save."""
        self.path = path
        self._folder = folder

    def save(self, game: StudiedGame) -> None:
        """Write the game to its file: a kill at any time leaves this state or the one before.

        The board decides the result, unless the record says that the game ended without it. Raises `OSError`.
        """
        if self.path is None:
            make_private_folder(self._folder)
            self.path = _new_file(self._folder, datetime.now())
        write_games(self.path, [_with_result(game.to_record())])

    def delete(self) -> None:
        """Remove the file, if there is one. Raises `OSError`."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            self.path = None


class SavedGames:
    """The saved games of a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: None for `default_folder()`; it need not exist."""
        self.folder = folder if folder is not None else default_folder()

    def begin(self) -> SavedGame:
        """Return the file of a new game."""
        return SavedGame(self.folder)

    def resume(self, path: Path) -> tuple[StudiedGame, SavedGame]:
        """Return a saved game, and its file to go on with. Raises the errors of `load`."""
        return self.load(path), SavedGame(self.folder, path)

    def load(self, path: Path) -> StudiedGame:
        """Return the first game of an .sgf or .psq file, with its analyses. Raises `RecordError`."""
        games = read_games(path)
        if not games:
            raise RecordError(f"{path} holds no game")
        return StudiedGame.from_record(games[0])

    def entries(self) -> Iterator[SavedEntry]:
        """Yield the games of the folder, the newest first; files that cannot be read are left out."""
        dated: list[tuple[float, Path]] = []
        with suppress(OSError):
            for path in self.folder.glob("*.sgf"):
                with suppress(OSError):
                    if path.is_file():
                        dated.append((path.stat().st_mtime, path))
        for seconds, path in sorted(dated, reverse=True):
            try:
                game = self.load(path)
            except (UserError, OSError):
                continue
            record = game.record
            yield SavedEntry(
                path=path,
                date=datetime.fromtimestamp(seconds),
                rules=record.rules,
                black=record.black,
                white=record.white,
                moves=len(record.moves),
                winner=record.winner,
                is_finished=record.ending is not Ending.UNKNOWN,
            )

    def newest_unfinished(self) -> SavedEntry | None:
        """Return the newest game that can go on, None without one."""
        return next((entry for entry in self.entries() if not entry.is_finished), None)


def _with_result(record: GameRecord) -> GameRecord:
    if record.ending not in (Ending.BOARD, Ending.UNKNOWN):
        return record
    outcome = Position.from_moves(record.rules, record.moves).outcome()
    if outcome is None:
        return replace(record, winner=None, ending=Ending.UNKNOWN)
    return replace(record, winner=outcome.winner, ending=Ending.BOARD)


def _new_file(folder: Path, now: datetime) -> Path:
    """Create a file with the time as its name, and a number if another game has begun in the same second."""
    stem = f"{now:%Y-%m-%d-%H%M%S}"
    for number in itertools.count(1):
        path = folder / (f"{stem}.sgf" if number == 1 else f"{stem}-{number}.sgf")
        with suppress(FileExistsError):
            # Created at once, so that two processes never share a name; an empty file is no game.
            path.open("x").close()
            return path
    raise AssertionError("counting never ends")
