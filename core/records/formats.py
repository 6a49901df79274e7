"""Game files: read and written in the format that their suffix names."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from core.arguments import check_kind
from core.errors import Notice
from core.files.atomic import atomic_path, write_or_keep
from core.input_limits import MAX_TREE_NODES
from core.position import Position
from core.records.charsets import Decoded, decoded
from core.records.psq import parse_psq, to_psq
from core.records.record import Annotations, GameRecord, RecordError, read_file
from core.records.renlib import renlib_text
from core.records.sgf import parse_sgf, parse_trees, to_sgf
from core.records.sgf_analyses import annotated
from core.records.tree import GameTree

_Parse = Callable[[str, str], list[GameRecord]]

SUFFIXES = (".sgf", ".psq")
"""Suffixes of game files that are written."""
_LIBRARY, _RENLIB = ".lib", (".lib", ".pos")
READ_SUFFIXES = (*SUFFIXES, *_RENLIB)
"""Suffixes of game files that are read."""


def is_game_file(path: Path) -> bool:
    """Return True if the path has the suffix of a game file that can be read."""
    return path.suffix.lower() in READ_SUFFIXES


def is_sgf(path: Path) -> bool:
    """Return True if the path has the suffix of SGF."""
    return path.suffix.lower() == ".sgf"


def is_psq(path: Path) -> bool:
    """Return True if the path has the suffix of Piskvork's format."""
    return path.suffix.lower() == ".psq"


@dataclass(frozen=True, slots=True)
class GamesFile:
    """A file of games as it was read."""

    path: Path
    data: bytes
    content: Decoded
    """Its text; that of a file of RenLib, which has bytes, in SGF."""
    games: list[GameRecord]

    @property
    def remark(self) -> str:
        """A sentence where its charset is a guess, or where moves of it are left out; else nothing."""
        return self.content.remark

    def trees(self, max_nodes: int = MAX_TREE_NODES) -> Iterator[GameTree]:
        """Yield the games with their variations. Raises `RecordError` where the nodes are more than `max_nodes`."""
        if is_psq(self.path):
            yield from map(GameTree.of, self.games)
        else:
            yield from parse_trees(self.content.text, str(self.path), max_nodes=max_nodes)


def open_games(path: Path | str) -> GamesFile:
    """Return a file of games. Raises `RecordError` for an unreadable file and one without games."""
    path = Path(path)
    data = read_file(path)
    parse = _format(path)
    if path.suffix.lower() in _RENLIB:
        text, remark = renlib_text(data, str(path), is_library=path.suffix.lower() == _LIBRARY)
        content = Decoded(text, "utf-8", remark)
    else:
        content = decoded(data, str(path), as_sgf=is_sgf(path))
    return GamesFile(path, data, content, parse(content.text, str(path)))


def read_games(path: Path | str) -> list[GameRecord]:
    """Return the games of a file (`READ_SUFFIXES`). Raises the errors of `open_games`.

    >>> gomoku.write_games("game.psq", [gomoku.Record(gomoku.Rules(), [112, 127])])
    >>> [len(record.moves) for record in gomoku.read_games("game.psq")]
    [2]
    """
    return open_games(path).games


def read_trees(path: Path | str) -> list[GameTree]:
    """Return the games of a file (`READ_SUFFIXES`) with their variations. Raises the errors of `open_games`.

    >>> gomoku.write_games("game.sgf", [gomoku.Record(gomoku.Rules(), [112, 127])])
    >>> (tree,) = gomoku.read_trees("game.sgf")
    >>> _ = tree.variations[0].add("g7")
    >>> gomoku.write_games("game.sgf", [tree])
    """
    return list(open_games(path).trees())


def save_annotations(file: GamesFile, before: Mapping[int, Annotations], after: Mapping[int, Annotations]) -> GamesFile:
    """Write annotations of some games into an SGF file, and return the file as it is then. All else in it stays.

    Raises `RecordError` for a file that has changed since it was read, and the errors of `annotated` and of
    `write_or_keep`.
    """
    if read_file(file.path) != file.data:
        raise RecordError(f"{file.path} has changed since it was read, so nothing is saved")
    data = annotated(file.data, file.content, str(file.path), before, after)
    if data == file.data:
        return file

    def write(path: Path) -> None:
        with atomic_path(path) as temporary:
            temporary.write_bytes(data)

    write_or_keep(file.path, write)
    games = [
        replace(game, analyses=tuple("" if each is None else each.analysis for each in after[number]))
        if number in after
        else game
        for number, game in enumerate(file.games)
    ]
    return replace(file, data=data, content=replace(file.content, text=data.decode(file.content.codec)), games=games)


def parse_games(path: Path, text: str) -> list[GameRecord]:
    """Return the games of a text in the format of a file of this name. Raises `RecordError`."""
    return _format(path)(text, str(path))


def games_text(path: Path, games: Iterable[GameRecord | GameTree]) -> str:
    """Return the games as `write_games` writes them. Raises `RecordError` for a name of another suffix."""
    if path.suffix.lower() not in SUFFIXES:
        raise RecordError(f"{path} cannot be written: its name ends neither in {' nor in '.join(SUFFIXES)}")
    if is_sgf(path):
        return "".join(map(to_sgf, games))
    return "".join(to_psq(game.record() if isinstance(game, GameTree) else game) for game in games)


def write_games(path: Path | str, games: Iterable[GameRecord | GameTree]) -> None:
    """Write the games to an .sgf or .psq file, whole or not at all. Raises `RecordError` for another suffix.

    Raises `core.position.IllegalMoveError` and `ValueError` for what no reader would take, as is no game at all.

    Of a tree .sgf keeps everything, and .psq the main line: a `Notice` says that the variations of a tree are not in
    the file. Nor has .psq a place for comments, notes, dates, values and analyses.

    >>> gomoku.write_games("game.sgf", [gomoku.Record(gomoku.Rules(), [112, 127], black="Ann")])
    """
    check_kind("games", games, Iterable, "a list of Records or GameTrees")
    path, games = Path(path), list(games)
    if not games:
        raise ValueError(f"there is no game to write to {path}: no reader takes a file without games")
    for game in games:
        check_kind("a game", game, GameRecord | GameTree, "a Record or a GameTree")
        if isinstance(game, GameTree):
            game.set_text("CA", "UTF-8")
        else:
            _check(game)
    text = games_text(path, games)
    trees = () if is_sgf(path) else (game for game in games if isinstance(game, GameTree))
    if any(len(node.children) > 1 for tree in trees for node in tree.nodes()):
        warnings.warn(f"{path.name} holds main lines alone: the variations are not in it", Notice, stacklevel=2)
    with atomic_path(path) as temporary:
        # Names from a command line may hold bytes that are no text; the games are worth more than these.
        temporary.write_bytes(text.encode(errors="replace"))


def _check(game: GameRecord) -> None:
    """Raise `ValueError` for a record of no game."""
    Position.from_moves(game.rules, game.moves)
    plies = len(game.moves)
    lengths = {"comments": plies, "times_ms": plies, "values": plies + 1, "analyses": plies + 1}
    for name, length in lengths.items():
        if len(found := getattr(game, name)) not in (0, length):
            raise ValueError(f"{name} has {len(found)} entries: a game of {plies} moves has {length}, or none")
    if any(value is not None and not -1 <= value <= 1 for value in game.values):
        raise ValueError("values lie between -1 and 1")


def _format(path: Path) -> _Parse:
    if not is_game_file(path):
        raise RecordError(f"{path} is no file of games: its name ends neither in {' nor in '.join(READ_SUFFIXES)}")
    return parse_psq if is_psq(path) else parse_sgf
