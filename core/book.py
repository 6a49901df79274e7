"""Opening books: the moves that were played in positions, with their results and values.

A book is one file of SQLite for one set of rules. Its positions are canonical: the eight symmetries of a position, and
all orders of its moves, are one. A row is a move in such a position, with the results for the side that makes it.
"""

import errno
import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

from core.arguments import check_kind
from core.errors import BadDataError, FailedError
from core.input_limits import shortened
from core.position import Position
from core.records.record import Ending, GameRecord
from core.rules import Cell, Rules, Variant

_FORMAT = 1
_ADDED_GAMES, _UNKNOWN_POINTS = 4, 0.25
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE games (hash BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE moves (position BLOB, move INTEGER, wins INTEGER, draws INTEGER, losses INTEGER, value REAL,
                    PRIMARY KEY (position, move)) WITHOUT ROWID;
"""
_ADD = """
INSERT INTO moves VALUES (?, ?, ?, ?, ?, NULL) ON CONFLICT DO UPDATE SET wins = wins + excluded.wins,
    draws = draws + excluded.draws, losses = losses + excluded.losses
"""
_GOOD = """typeof(position) = 'blob' AND typeof(move) = 'integer' AND
    typeof(wins) = 'integer' AND typeof(draws) = 'integer' AND typeof(losses) = 'integer' AND
    min(wins, draws, losses) >= 0 AND (value IS NULL OR abs(value) <= 1)"""
"""The condition that each row of a book meets: SQLite itself takes any value in any column."""


class BookError(BadDataError, ValueError):
    """A book that cannot be used; the message says why."""


class BookNotWrittenError(FailedError):
    """A book that cannot be written now, as on a full disk or while another process writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BookMove:
    """A move of a book in a position.

    >>> move = gomoku.BookMove(move=112, wins=60, draws=0, losses=40)
    >>> move.games, move.points, round(move.score, 3)
    (100, 60.0, 0.587)
    """

    move: Cell
    wins: int
    """Games that the side which makes the move has won."""
    draws: int
    losses: int
    value: float | None = None
    """Expected result for that side by a search, -1 to 1; None where nothing was searched."""

    @property
    def games(self) -> int:
        """Games in which the move was made."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """A win is one, a draw a half."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """The expected points of a game: those of the games and of four more, of a fourth each or as the value says.

        So one game that was won does not come before a hundred of which sixty were.
        """
        expected = _UNKNOWN_POINTS if self.value is None else (1 + self.value) / 2
        return (self.points + _ADDED_GAMES * expected) / (self.games + _ADDED_GAMES)


class Book:
    """An opening book. Close it, or use it as a context manager; several processes may read one at a time.

    >>> with gomoku.Book.create("book.sqlite", gomoku.Rules()) as book:
    ...     book.add([gomoku.Record(gomoku.Rules(), [112, 127], winner=gomoku.BLACK)], plies=10)
    ...     [(each.move, each.wins) for each in book.moves(gomoku.Position())]
    1
    [(112, 1)]
    """

    def __init__(self, path: Path | str, *, writable: bool = False) -> None:
        """Open a book. Raises `BookError` for a file that is none, `OSError` for one that is missing."""
        self.path, self._is_writable = Path(path), writable
        if not self.path.exists():
            reason = "there is no such book; gomoku book build or Book.create makes one"
            raise FileNotFoundError(errno.ENOENT, reason, str(path))
        if self.path.is_dir():
            raise BookError(f"{path} is a folder, and no opening book")
        mode = "rw" if writable else "ro"
        try:
            # Players of one process share it: SQLite itself lets one thread at a time use a connection.
            self._rows = sqlite3.connect(
                f"{self.path.resolve().as_uri()}?mode={mode}", uri=True, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise BookError(f"{path} cannot be opened: {error}") from error
        try:
            about = dict(self._rows.execute("SELECT name, value FROM about"))
            if about["format"] != str(_FORMAT):
                raise BookError(
                    f"{path} is a book of another version ({shortened(str(about['format']))}): build it again"
                )
            self.rules = Rules(int(about["size"]), int(about["connect"]), Variant(about["variant"]))
            self._rows.execute("SELECT position, move, wins, draws, losses, value FROM moves LIMIT 1")
            # 0.04 s for half a million moves: damage is better found now than in the midst of a game.
            (health,) = self._rows.execute("PRAGMA quick_check(1)").fetchone()
            if health != "ok":
                raise BookError(f"{path} is damaged: build it again")
        except BookError:
            self._rows.close()
            raise
        except (sqlite3.Error, KeyError, TypeError, ValueError, OverflowError) as error:
            self._rows.close()
            raise BookError(f"{path} is no opening book of gomoku") from error

    @classmethod
    def create(cls, path: Path | str, rules: Rules) -> Self:
        """Make an empty book. Raises `FileExistsError` where there is a file.

        Where none can be made it raises `OSError`, or `BookNotWrittenError`.
        """
        check_kind("rules", rules, Rules, "Rules, such as Rules(15)")
        Path(path).open("xb").close()
        about = {"format": _FORMAT, "size": rules.size, "connect": rules.connect, "variant": rules.variant.value}
        try:
            with closing(sqlite3.connect(path)) as rows, rows:
                rows.executescript(_TABLES)
                rows.executemany("INSERT INTO about VALUES (?, ?)", [(name, str(each)) for name, each in about.items()])
        except sqlite3.Error as error:
            Path(path).unlink()
            raise BookNotWrittenError(f"{path} cannot be written: {error}") from error
        return cls(path, writable=True)

    def __len__(self) -> int:
        """Return the number of moves. Raises `BookError`."""
        return int(self._select("SELECT COUNT(*) FROM moves")[0][0])

    @property
    def games(self) -> int:
        """The number of games, equal ones counted once. Raises `BookError`."""
        return int(self._select("SELECT COUNT(*) FROM games")[0][0])

    def moves(self, position: Position) -> list[BookMove]:
        """Return the moves of a position, the best score first; none for other rules. Raises `BookError`."""
        if position.rules != self.rules:
            return []
        key, (way, *_) = _canonical(position)
        cells = {target: cell for cell, target in enumerate(way)}
        rows = self._select(
            f"SELECT move, wins, draws, losses, value FROM moves WHERE position = ? AND {_GOOD}", (key,)
        )
        found = [
            BookMove(move=cells[move], wins=wins, draws=draws, losses=losses, value=value)
            for move, wins, draws, losses, value in rows
            if move in cells and position.is_legal(cells[move])
        ]
        return sorted(found, key=lambda each: (-each.score, each.move))

    def best(self, position: Position, min_games: int = 1) -> BookMove | None:
        """Return the move with the best score among those of so many games; None where there is none."""
        return next((each for each in self.moves(position) if each.games >= min_games), None)

    def takes(self, record: GameRecord) -> bool:
        """Return True for a game from the empty board with a result, with moves, and by the rules of the book."""
        return not self.why_not(record)

    def why_not(self, record: GameRecord) -> str:
        """Return in words which condition of `takes` a game misses; nothing for a game that the book takes."""
        if record.rules != self.rules:
            return f"not {self.rules}"
        if record.set_up:
            return "not from the empty board"
        if record.ending is Ending.UNKNOWN:
            return "without a result"
        return "" if record.moves else "without moves"

    def add(self, records: Iterable[GameRecord], plies: int) -> int:
        """Add the first `plies` moves of games, all or none; return the number of new ones.

        Games that are in the book count once. Raises `ValueError` for a game that `takes` refuses, and for no ply, and
        `BookError` for a book that was opened to be read.
        """
        if not self._is_writable:
            raise BookError(f"{self.path} was opened to be read: open it with writable=True")
        check_kind("records", records, Iterable, "a list of Records")
        if plies < 1:
            raise ValueError(f"plies is {plies}; it must be 1 or more")
        new = 0
        with self._writing():
            for number, record in enumerate(records, start=1):
                check_kind("a game", record, GameRecord, "a Record")
                if why := self.why_not(record):
                    raise ValueError(f"game {number} is {why}: add filter(book.takes, games) to leave out such games")
                digest = hashlib.sha256(repr((list(record.moves), record.winner)).encode()).digest()[:16]
                if self._rows.execute("INSERT OR IGNORE INTO games VALUES (?)", (digest,)).rowcount:
                    new += 1
                    self._rows.executemany(_ADD, _rows_of(record, plies))
        return new

    def without_value(self, min_games: int) -> list[tuple[bytes, int, Position]]:
        """Return the moves of so many games that have no value: keys for `set_values`, and the position after each.

        A position whose stones cannot be placed in turn without an end of the game is left out. Raises `BookError`.
        """
        rows = self._select(
            f"SELECT position, move FROM moves WHERE value IS NULL AND wins + draws + losses >= ? AND {_GOOD}",
            (min_games,),
        )
        found = []
        for key, move in rows:
            stones = _cells_of(key)
            half = (len(stones) + 1) // 2
            turns = [stones[ply // 2 + (half if ply % 2 else 0)] for ply in range(len(stones))]
            try:
                found.append((key, move, Position.from_moves(self.rules, (*turns, move))))
            except ValueError:  # a five on the way that a longer line is not
                continue
        return found

    def set_values(self, values: Sequence[tuple[bytes, int, float]]) -> None:
        """Set the values of moves, for the side that makes them, all or none."""
        with self._writing():
            self._rows.executemany(
                "UPDATE moves SET value = ? WHERE position = ? AND move = ?",
                [(value, key, move) for key, move, value in values],
            )

    def _select(self, query: str, values: Sequence[bytes | int] = ()) -> list[Any]:
        """Return the rows of a query. Raises `BookError` for a damaged file."""
        try:
            return self._rows.execute(query, values).fetchall()
        except sqlite3.ProgrammingError as error:
            raise ValueError(f"{self.path} is closed") from error
        except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
            raise BookError(f"{self.path} is damaged: {error}") from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Keep all that is written in the block, or nothing. Raises `BookNotWrittenError`; `BookError` for damage."""
        try:
            with self._rows:
                yield
        except sqlite3.OperationalError as error:
            raise BookNotWrittenError(f"{self.path} cannot be written: {error}") from error
        except sqlite3.Error as error:
            raise BookError(f"{self.path} cannot be written: {error}") from error

    def close(self) -> None:
        """Close the file."""
        self._rows.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _rows_of(record: GameRecord, plies: int) -> Iterable[tuple[bytes, int, int, int, int]]:
    """Yield a row for each of the first moves: position, move, and one game as wins, draws and losses of its side."""
    position = Position(record.rules)
    for move in record.moves[:plies]:
        key, ways = _canonical(position)
        sign = 0 if record.winner is None else 1 if record.winner == position.side_to_move else -1
        yield key, min(way[move] for way in ways), int(sign == 1), int(sign == 0), int(sign == -1)
        position.push(move, recorded=True)


def _canonical(position: Position) -> tuple[bytes, list[tuple[Cell, ...]]]:
    """Return the key of a position and the symmetries that lead to it, more than one for a symmetric position."""
    sides = position.moves[::2], position.moves[1::2]
    keys = [
        (b"".join(cell.to_bytes(2, "big") for side in sides for cell in sorted(way[move] for move in side)), way)
        for way in _symmetries(position.rules.size)
    ]
    least = min(key for key, _ in keys)
    return least, [way for key, way in keys if key == least]


def _cells_of(key: bytes) -> list[Cell]:
    return [int.from_bytes(key[at : at + 2], "big") for at in range(0, len(key), 2)]


@cache
def _symmetries(size: int) -> tuple[tuple[Cell, ...], ...]:
    """Return the target of each cell under the eight symmetries."""
    from core.compiled.symmetry import targets  # numpy, for which the other names of this module need not wait

    return tuple(map(tuple, targets(size).tolist()))
