"""Saved games, on the engine's side: the screen imports none of this."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

from core.errors import UserError
from core.records.formats import open_games
from core.records.record import RecordError, contradiction, won_text
from core.records.tree import GameTree
from core.rules import Variant, colour_name
from gomoku_cli.study import OWN_NOTE
from gomoku_cli.study.game import StudiedTree
from gomoku_cli.study.review import Grade, review_of
from gomoku_cli.study.saved import SavedEntry, SavedGame, default_folder, saved_games
from gomoku_cli.tui.engine.messages import (
    MAX_NODES,
    Answer,
    Done,
    Draw,
    Drawn,
    FileFailed,
    GameList,
    Graded,
    GradeMoves,
    Keep,
    ListGames,
    OpenedGame,
    OpenGame,
)

MAX_LISTED = 200
"""Games in the list."""
_MARKS = {Grade.INACCURACY: "?!", Grade.MISTAKE: "?", Grade.BLUNDER: "??"}


class Files:
    """Does the tasks about saved games."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: None for that of the user."""
        self._folder = default_folder() if folder is None else folder
        self._files: dict[int, SavedGame] = {}
        self._read: dict[str, bytes] = {}
        """The bytes of each file when it was opened here."""

    def run(self, number: int, task: Keep | ListGames | OpenGame) -> Answer:
        """Do a task and return its answer; what goes wrong with a file is `FileFailed`."""
        try:
            match task:
                case Keep():
                    return self._keep(task)
                case ListGames():
                    entries = islice(saved_games(self._folder), MAX_LISTED)
                    return GameList(tuple((str(entry.path), _line(entry)) for entry in entries))
                case _:
                    self._read[task.path] = Path(task.path).read_bytes()
                    return opened(Path(task.path))
        except (OSError, UserError) as error:
            return FileFailed(str(error))

    def _keep(self, task: Keep) -> Done:
        if task.number not in self._files:
            path = None if task.path is None else Path(task.path)
            known = None if task.path is None else self._read.get(task.path)
            self._files[task.number] = SavedGame(self._folder, path, known)
        is_ours = task.game.tree.text("GC").startswith(OWN_NOTE)
        self._files[task.number].save(task.game, is_final=not is_ours)
        return Done()


def opened(path: Path) -> OpenedGame:
    """Return the first game of a file. Raises `RecordError`."""
    file = open_games(path)
    record = file.games[0]
    against, too_many = contradiction(record), ""
    try:
        tree = next(file.trees(MAX_NODES))
    except RecordError:  # it has been read, so nothing else can be wrong
        tree = GameTree.of(record)
        too_many = f"it has more than {MAX_NODES:,} nodes, so its variations are left out"
    remarks = (file.remark, against and f"{won_text(record) or 'no result'}, but {against}", too_many)
    return OpenedGame(str(path), StudiedTree.read(tree), "; ".join(filter(None, remarks)))


def grade(task: GradeMoves) -> Graded:
    """Return the moves that lost much, as far as their positions are analysed."""
    moves = [move for move in review_of(task.game).moves if move.grade in _MARKS]
    return Graded(
        tuple((move.ply, move.loss or 0.0) for move in moves),
        tuple((move.ply, _MARKS[move.grade]) for move in moves if move.grade is not None),
    )


def draw(task: Draw) -> Drawn | FileFailed:
    """Draw a game; what goes wrong with its file is `FileFailed`."""
    from gomoku_cli.reports.game_figure import draw_game

    try:
        draw_game(replace(task.game.to_record(), black=task.black, white=task.white), Path(task.path))
    except (OSError, UserError) as error:
        return FileFailed(str(error))
    except ImportError:
        return FileFailed("pictures need matplotlib, of the extra plots: pip install 'gomoku-cli[plots]'")
    return Drawn(task.path)


def _line(entry: SavedEntry) -> str:
    """Return one line about a saved game."""
    record = entry.record
    if not entry.is_finished:
        result = "no result" if entry.is_copy else "goes on"
    else:
        result = "draw" if record.winner is None else f"{colour_name(record.winner)} won"
    players = f"{record.black or '?'} - {record.white or '?'}"
    size = f"{record.rules.size}x{record.rules.size}"
    if record.rules.variant != Variant.FREESTYLE:
        size += f" {record.rules.variant}"
    moves = f"{len(record.moves)} move{'' if len(record.moves) == 1 else 's'}"
    return f"{entry.date:%Y-%m-%d %H:%M}  {players:<24} {size:>5} {moves:>9}  {result}"
