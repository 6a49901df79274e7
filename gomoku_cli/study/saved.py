"""Saved games: a folder of SGF files, each written anew after every move, whole or not at all.

A game that is over stays as it is: only analyses are added to it. To play on from it, to take moves back or to branch
off begins a new file, which names the old one. So does going on with a file that other programs wrote, that another
board has changed meanwhile, or that lies elsewhere.
"""

import itertools
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from core.files.links import make_private_folder
from core.position import Position
from core.records.formats import GamesFile, games_text, open_games, read_games, save_annotations, write_games
from core.records.record import Ending, GameRecord, RecordError
from core.rules import Cell
from gomoku_cli.study import OWN_NOTE
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
    record: GameRecord

    @property
    def is_finished(self) -> bool:
        """False for a game that can go on."""
        return self.record.ending is not Ending.UNKNOWN

    @property
    def is_copy(self) -> bool:
        """True for the copy of another program's record, made when it was reviewed."""
        return bool(self.record.source) and not self.record.note.startswith(OWN_NOTE)


class SavedGame:
    """The file of one game. Its folder and its file are made by the first `save`."""

    def __init__(self, folder: Path, path: Path | None = None) -> None:
        """`path`: of a game that goes on, in this folder or elsewhere; None for a new one.

        A new file has the time of its first save as its name.
        """
        self.path = path
        self._folder = folder
        found = _first_game(path)
        self._source = "" if found is None else found.source
        """The name of the file from which this one branches off."""
        self._known = () if found is None else tuple(found.moves)
        """The moves that this board has read from the file or written into it."""
        self._is_final = False

    def save(self, game: StudiedGame, *, is_final: bool = False) -> None:
        """Write the game to its file: a kill at any time leaves this state or the one before.

        The board decides the result, unless the record says that the game ended without it. `is_final`: the record of
        another program, whose result stands, and which nobody has played on from. Raises `OSError`, and `RecordError`
        for analyses that a file has no place for.
        """
        record = game.to_record() if is_final else with_result(game.to_record())
        moves = tuple(record.moves)
        if self.path is not None and not self._may_rewrite(self.path):
            if moves != self._moves_of(self.path) or not self._is_inside(self.path):
                self._source = self.path.name
                self.path = self._copy(moves) if is_final else None
        elif (origin := self._origin()) is not None and moves == self._moves_of(origin):
            self.delete()  # all moves that were taken back stand again: the game is the one from which it came
            self.path = origin
        if self.path is not None and not self._may_rewrite(self.path):
            annotate(open_games(self.path), {0: game})
        elif self.path is not None or moves:
            if self.path is None:
                make_private_folder(self._folder)
                self.path = _new_file(self._folder, datetime.now())
            write_games(self.path, [replace(record, source=self._source)])
        self._known, self._is_final = moves, is_final

    def _is_inside(self, path: Path) -> bool:
        return path.resolve().parent == self._folder.resolve()

    def _may_rewrite(self, path: Path) -> bool:
        """Return True for a game that is not over, in the state and the words in which this program left it."""
        if not self._is_inside(path) or self._is_final:
            return False
        if not path.exists() or not path.stat().st_size:
            return True
        try:
            file = open_games(path)
        except RecordError:
            return False
        (record, *others) = file.games
        is_ours = not others and games_text(path, [record]).encode(errors="replace") == file.data
        return is_ours and record.ending is Ending.UNKNOWN and tuple(record.moves) == self._known

    def _origin(self) -> Path | None:
        """Return the saved game from which this file branches off; None without one."""
        path = self._folder / self._source
        return path if self.path not in (None, path) and self._source and self._is_inside(path) else None

    def _copy(self, moves: tuple[Cell, ...]) -> Path | None:
        """Return the file with an earlier copy of the game that lies elsewhere; None without one."""
        for entry in saved_games(self._folder):
            if (entry.record.source, tuple(entry.record.moves)) == (self._source, moves):
                return entry.path
        return None

    def _moves_of(self, path: Path) -> tuple[Cell, ...] | None:
        found = _first_game(path)
        return None if found is None else tuple(found.moves)

    def delete(self) -> None:
        """Remove the file, if there is one. Raises `OSError`."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            self.path = None


def _first_game(path: Path | None) -> GameRecord | None:
    with suppress(RecordError):
        return None if path is None else read_games(path)[0]
    return None


def annotate(file: GamesFile, games: Mapping[int, StudiedGame]) -> GamesFile:
    """Write the analyses of games into their file, by their numbers from 0; all else in the file stays.

    Raises `RecordError` if that cannot be, and `OSError`.
    """
    before = {number: StudiedGame.from_record(file.games[number]).annotations() for number in games}
    return save_annotations(file, before, {number: game.annotations() for number, game in games.items()})


def saved_games(folder: Path) -> Iterator[SavedEntry]:
    """Yield the games of a folder, the newest first; files that cannot be read are left out."""
    dated: list[tuple[float, Path]] = []
    with suppress(OSError):
        for path in folder.glob("*.sgf"):
            with suppress(OSError):
                if path.is_file():
                    dated.append((path.stat().st_mtime, path))
    for seconds, path in sorted(dated, reverse=True):
        if (record := _first_game(path)) is not None:
            yield SavedEntry(path, datetime.fromtimestamp(seconds), record)


def newest_unfinished(folder: Path) -> SavedEntry | None:
    """Return the newest game that can go on, None without one."""
    return next((entry for entry in saved_games(folder) if not (entry.is_finished or entry.is_copy)), None)


def with_result(record: GameRecord) -> GameRecord:
    """Return a record with the result that the board shows, unless it has one that the board does not show."""
    if record.winner is not None or record.ending not in (Ending.BOARD, Ending.UNKNOWN):
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
