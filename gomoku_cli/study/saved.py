"""Saved games: a folder of SGF files, each written anew after every change, whole or not at all.

A file holds the tree of its game, so nothing that was played is lost. Going on with a file that other programs wrote,
that another board has changed, renamed or deleted meanwhile, or that lies elsewhere begins a new file, which names the
old one.
"""

import itertools
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from core.files.links import make_private_folder
from core.position import Position
from core.records.charsets import decoded
from core.records.formats import GamesFile, games_text, read_games, read_trees, save_annotations, write_games
from core.records.record import OWN_NOTE, Ending, GameRecord, RecordError, read_file
from core.records.sgf import parse_header, parse_trees
from core.records.tree import GameTree, Node
from gomoku_cli.study.game import StudiedGame, StudiedTree, without_analysis


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
    """Without its moves, and with the result that the file says."""
    moves: int
    """Moves of its main line."""

    @property
    def is_finished(self) -> bool:
        """False for a game that can go on, and for one whose file says no result."""
        return self.record.ending is not Ending.UNKNOWN

    @property
    def is_foreign(self) -> bool:
        """True for a game that was not played here: pasted, or the copy of another program's record."""
        return not self.record.note.startswith(OWN_NOTE)


class SavedGame:
    """The file of one game. Its folder and its file are made by the first `save`."""

    def __init__(self, folder: Path, path: Path | None = None, known: bytes | None = None) -> None:
        """`path`: of a game that goes on, in this folder or elsewhere; None for a new one.

        `known`: what the file held when the game was read, by default what it holds now. A new file has the time of
        its first save as its name.
        """
        self.path = path
        self._folder = folder
        self._known = _bytes(path) if known is None else known
        """The bytes that this board has read from the file or written into it."""
        self._is_ours = path is None or not self._known or _is_ours(path, self._known)
        self._source = ""
        """The name of the file from which this one branches off."""

    def save(self, game: StudiedTree, *, is_final: bool = False) -> str:
        """Write the game to its file: a kill at any time leaves this state or the one before.

        Return a sentence if it goes on in a new file, since its own was changed, renamed or deleted.
        The board decides the result, unless the record says that the game ended without it. `is_final`: the record of
        another program, whose result stands. Raises `OSError`.
        """
        tree = game.write()
        if not is_final:
            tree.set_header(with_result(tree.record()))
        before = self.path
        is_here = before is not None and self._is_ours and before.resolve().parent == self._folder.resolve()
        is_lost = is_here and _bytes(before) != self._known
        if before is not None and (is_lost or not is_here):
            self._source = before.name
            self.path = self._copy(tree) if is_final else None
            self._is_ours = True
        if self._source:
            tree.set_text("SO", self._source)
        if self.path is None and not tree.children:
            return ""
        if self.path is None:
            make_private_folder(self._folder)
            self.path = _new_file(self._folder, f"{datetime.now():%Y-%m-%d-%H%M%S}")
        write_games(self.path, [tree])
        self._known = _bytes(self.path)
        changed = f"{self._source} was changed, renamed or deleted: this game goes on in {self.path.name}."
        return changed if is_lost else ""

    def _copy(self, tree: GameTree) -> Path | None:
        """Return the file with an earlier copy of the game that lies elsewhere; None without one.

        One that holds more than this tree, such as a variation, stays as it is.
        """
        for entry in saved_games(self._folder):
            with suppress(RecordError):
                if entry.record.source == self._source and _holds(tree, read_trees(entry.path)[0]):
                    return entry.path
        return None


def _bytes(path: Path | None) -> bytes:
    """Return what a file holds; nothing without it."""
    with suppress(OSError):
        return b"" if path is None else path.read_bytes()
    return b""


def _is_ours(path: Path, data: bytes) -> bool:
    """Return True for one game as this program writes it, with all that there is in it."""
    with suppress(RecordError, UnicodeDecodeError):
        return games_text(path, parse_trees(data.decode())).encode() == data
    return False


def _holds(tree: GameTree, other: GameTree) -> bool:
    """Return True if a tree has all moves of another one, and their names and comments."""
    waiting: list[tuple[Node, Node]] = [(tree, other)]
    while waiting:
        mine, theirs = waiting.pop()
        for child in theirs.variations:
            node = mine.next(child.move)
            if node is None or _words(node) != _words(child):
                return False
            waiting.append((node, child))
    return True


def _words(node: Node) -> tuple[str, str]:
    return node.name, without_analysis(node.comment)


def annotate(file: GamesFile, games: Mapping[int, StudiedGame]) -> GamesFile:
    """Write the analyses of games into their file, by their numbers from 0; all else in the file stays.

    Raises `RecordError` if that cannot be, and `OSError`.
    """
    before = {number: StudiedGame.from_record(file.games[number]).annotations() for number in games}
    return save_annotations(file, before, {number: game.annotations() for number, game in games.items()})


Known = dict[tuple[int, int, str], SavedEntry | None]
"""Games that were read before, by time, size and path of their files; None for a file without a game."""


def saved_games(folder: Path, known: Known | None = None) -> Iterator[SavedEntry]:
    """Yield the games of a folder, the newest first; files that cannot be read are left out.

    `known` saves reading files again, and grows.
    """
    known = {} if known is None else known
    found: list[tuple[int, int, str]] = []
    with suppress(OSError), os.scandir(folder) as files:
        for file in files:
            with suppress(OSError):
                if file.name.endswith(".sgf") and file.is_file():
                    found.append((file.stat().st_mtime_ns, file.stat().st_size, file.path))
    for key in sorted(found, reverse=True):
        if key not in known:
            known[key] = _entry(Path(key[2]), key[0] / 1e9)
        if (entry := known[key]) is not None:
            yield entry


def _entry(path: Path, seconds: float) -> SavedEntry | None:
    with suppress(RecordError):
        record, moves = parse_header(decoded(read_file(path), str(path), as_sgf=True).text, str(path))
        return SavedEntry(path, datetime.fromtimestamp(seconds), record, moves)
    return None


def newest_unfinished(folder: Path) -> SavedEntry | None:
    """Return the newest game that can go on, None without one."""
    for entry in saved_games(folder):
        if not (entry.is_finished or entry.is_foreign):
            with suppress(RecordError):
                if read_games(entry.path)[0].ending is Ending.UNKNOWN:
                    return entry
    return None


def renamed(path: Path, name: str) -> Path:
    """Give a saved game another name, and return its file. Raises `ValueError` for a name that no file can have."""
    name = " ".join(name.split()).removesuffix(".sgf")
    if not name or name.startswith(".") or not name.isprintable() or set(name) & set('/\\:*?"<>|'):
        raise ValueError("a name is of letters, digits and signs that a file name may have")
    if name == path.stem:
        return path
    target = path.with_name(f"{name}.sgf")
    try:
        target.open("x").close()
    except FileExistsError:
        raise ValueError(f"another game is called {name}") from None
    return _moved(path, target)


_DELETED = "deleted-games"
"""The folder beside that of saved games."""
_KEPT = timedelta(days=30)
"""Deleted games are kept so long."""


def deleted(path: Path) -> Path:
    """Move a saved game to the folder of deleted ones, and return its file there. Raises `OSError`."""
    folder = path.parent.with_name(_DELETED)
    make_private_folder(folder)
    for old in folder.iterdir():  # a move into this folder sets st_ctime
        with suppress(FileNotFoundError):  # another board does the same
            if datetime.now() - datetime.fromtimestamp(old.stat().st_ctime) > _KEPT:
                old.unlink()
    return _moved(path, _new_file(folder, path.stem))


def restored(path: Path, before: Path) -> Path:
    """Bring a deleted game back to its file, or one with a number where there is another. Raises `OSError`."""
    return _moved(path, _new_file(before.parent, before.stem))


def with_result(record: GameRecord) -> GameRecord:
    """Return a record with the result that the board shows, unless it has one: the players may have agreed on it."""
    outcome = Position.from_moves(record.rules, record.moves).outcome()
    if record.ending is not Ending.UNKNOWN or outcome is None:
        return record
    return replace(record, winner=outcome.winner, ending=Ending.BOARD)


def is_named_by_time(path: Path) -> bool:
    """Return True for a game that nobody has given a name."""
    return re.fullmatch(r"\d{4}-\d\d-\d\d-\d{6}(-\d+)?", path.stem) is not None


def _moved(path: Path, target: Path) -> Path:
    """Move a file to the name that was created for it, which is free again if that fails. Raises `OSError`."""
    try:
        return path.replace(target)
    except OSError:
        target.unlink()
        raise


def _new_file(folder: Path, stem: str) -> Path:
    """Create a file of this name, with a number if there is another one."""
    for number in itertools.count(1):
        path = folder / (f"{stem}.sgf" if number == 1 else f"{stem}-{number}.sgf")
        with suppress(FileExistsError):
            # Created at once, so that two processes never share a name; an empty file is no game.
            path.open("x").close()
            return path
    raise AssertionError("counting never ends")
