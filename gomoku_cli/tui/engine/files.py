"""Saved games, on the engine's side: the screen imports none of this."""

from itertools import islice
from pathlib import Path
from typing import Any

from core.errors import UserError
from core.records.formats import open_games
from core.records.record import OWN_NOTE, RecordError, contradiction, won_text
from core.records.tree import GameTree
from core.rules import Rules, Variant
from gomoku_cli.printable import counted, error_message, sentence
from gomoku_cli.study import saved
from gomoku_cli.study.game import StudiedTree
from gomoku_cli.study.rating import LEVEL_RATINGS, RATINGS, Rating
from gomoku_cli.study.review import Grade, review_of
from gomoku_cli.tui.engine import messages

_MARKS: dict[Grade | None, str] = {Grade.INACCURACY: "?!", Grade.MISTAKE: "?", Grade.BLUNDER: "??"}


class Files:
    """Does the tasks about saved games."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: None for that of the user."""
        self._folder = saved.default_folder() if folder is None else folder
        self._files: dict[int, saved.SavedGame] = {}
        self._known: saved.Known = {}
        self._deleted: list[tuple[Path, Path]] = []
        """Deleted games, and their files before."""

    def run(self, number: int, task: messages.FileTask) -> messages.FileAnswer:
        """Do a task and return its answer; what goes wrong with a file is a `Remark`."""
        try:
            match task:
                case messages.Keep():
                    return self._keep(task)
                case messages.RateGame():
                    return messages.Rated(self._rated(task))
                case messages.ListGames():
                    return self._listed(task.limit)
                case messages.RenameGame() | messages.DeleteGame() | messages.RestoreGame():
                    try:
                        return self._changed(task)
                    except (OSError, ValueError) as error:
                        return self._listed(remark=f"Not done: {_reason(error)}")
                case _:
                    return opened(Path(task.path))
        except (OSError, UserError) as error:
            return messages.Remark(_reason(error))

    def _rated(self, task: messages.RateGame) -> str:
        try:
            rating = Rating.read(self._folder.with_name(RATINGS))
            change = rating.note(task.level, LEVEL_RATINGS[task.level], task.score, colour=task.colour)
        except (OSError, UserError) as error:
            return f"The rating is not saved: {error_message(error)}."
        return f"Rating {rating.rating:.0f} ({change:+.0f}) after {counted(len(rating.results), 'rated game')}."

    def _listed(self, limit: int | None = None, **about: Any) -> messages.GameList:
        entries = islice(saved.saved_games(self._folder, self._known), limit)
        return messages.GameList(tuple(map(_listed_game, entries)), limit, **about)

    def _changed(self, task: messages.RenameGame | messages.DeleteGame | messages.RestoreGame) -> messages.GameList:
        """Change the folder of saved games. Raises `OSError` and `ValueError`."""
        if isinstance(task, messages.RenameGame):
            before = Path(task.path)
            after = saved.renamed(before, task.name)
            for game in self._files.values():  # it goes on in its file
                game.path = after if game.path == before else game.path
            return self._listed(remark=f"It is called {after.stem}.", renamed=(str(before), str(after)))
        if isinstance(task, messages.DeleteGame):
            path = Path(task.path)
            if path.exists():  # a held key names a game more than once before the list is new
                self._deleted.append((saved.deleted(path), path))
            undo = "; ctrl+z brings it back" if any(path == before for _, before in self._deleted) else ""
            return self._listed(remark=f"{path.stem} is deleted{undo}.")
        if not self._deleted:
            return self._listed(remark="No game was deleted since the start.")
        path = saved.restored(*self._deleted.pop())
        return self._listed(remark=f"{path.stem} is back.")

    def _keep(self, task: messages.Keep) -> messages.Kept:
        if task.number not in self._files:
            path = None if task.path is None else Path(task.path)
            self._files[task.number] = saved.SavedGame(self._folder, path, task.known)
        is_ours = task.game.tree.text("GC").startswith(OWN_NOTE)
        try:
            return messages.Kept(self._files[task.number].save(task.game, is_final=not is_ours))
        except OSError as error:
            return messages.Kept(problem=f"This game is not saved: {error.strerror or error} ({self._folder}).")


def _reason(error: Exception) -> str:
    """Return what went wrong in few words: the line of the list is short."""
    if isinstance(error, OSError) and error.filename:
        return f"{Path(error.filename).name}: {error.strerror}"
    return str(error)


def opened(path: Path) -> messages.OpenedGame:
    """Return the first game of a file. Raises `OSError` and `RecordError`."""
    known = path.read_bytes()
    file = open_games(path)
    record = file.games[0]
    against, too_many = contradiction(record), ""
    try:
        tree = next(file.trees(messages.MAX_NODES))
    except RecordError:  # it has been read, so nothing else can be wrong
        tree = GameTree.of(record)
        too_many = f"it has more than {messages.MAX_NODES:,} nodes, so its variations are left out"
    count = len(file.games)
    others = f"game 1 of {count}; gomoku analyze FILE --game N shows another" if count > 1 else ""
    remarks = (others, file.remark, against and f"{won_text(record) or 'no result'}, but {against}", too_many)
    return messages.OpenedGame(str(path), StudiedTree.read(tree), "; ".join(filter(None, remarks)), known)


def grade(task: messages.GradeMoves) -> messages.Graded:
    """Return the moves that lost much, as far as their positions are analysed."""
    moves = review_of(task.game).moves
    return messages.Graded({each.ply: (_MARKS[each.grade], each.loss or 0.0) for each in moves if each.grade in _MARKS})


def draw(task: messages.Draw) -> messages.Remark:
    """Draw a game; what goes wrong with its file is a `Remark` too."""
    from gomoku_cli.expansion import how_to_install
    from gomoku_cli.reports.game_figure import draw_game

    try:
        draw_game(task.game.to_record(), Path(task.path))
    except (OSError, UserError) as error:
        return messages.Remark(sentence(error_message(error)))
    except ImportError:
        return messages.Remark(f"Pictures need matplotlib: {how_to_install('plots')}")
    return messages.Remark(f"The picture is in {task.path}.", is_error=False)


def _listed_game(entry: saved.SavedEntry) -> messages.ListedGame:
    record, rules = entry.record, entry.record.rules
    result = won_text(record)
    if not entry.is_finished:
        result = "no result" if entry.is_foreign else "goes on"
    variant = f" {rules.variant}" if rules.variant != Variant.FREESTYLE else ""
    line = f" {rules.connect} in a row" if rules.connect != Rules().connect else ""
    source = "" if record.black or record.white else record.source
    return messages.ListedGame(
        path=str(entry.path),
        date=f"{entry.date:%Y-%m-%d %H:%M}",
        name="" if saved.is_named_by_time(entry.path) else entry.path.stem,
        players=source or f"{record.black or '?'} - {record.white or '?'}",
        result=result,
        rules=f"{rules.size}x{rules.size}{variant}{line}",
        opening=str(record.opening.rule) if record.opening.stones else "",
        moves=str(entry.moves),
    )
