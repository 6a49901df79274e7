"""Saved games, on the engine's side: the screen imports none of this."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

from core.errors import UserError
from core.records.record import GameRecord
from core.rules import colour_name
from gomoku_cli.study.game import KeptAnalysis, StudiedGame
from gomoku_cli.study.review import Grade, review_of
from gomoku_cli.study.saved import SavedEntry, SavedGame, SavedGames
from gomoku_cli.tui.engine.messages import (
    Answer,
    Errand,
    FileFailed,
    GameList,
    GameState,
    Graded,
    GradeMoves,
    Keep,
    Kept,
    ListGames,
    OpenedGame,
)

MAX_LISTED = 200
"""Games in the list."""
_MARKS = {Grade.INACCURACY: "?!", Grade.MISTAKE: "?", Grade.BLUNDER: "??"}


class Files:
    """Runs errands about saved games, at once and in order."""

    def __init__(self, send: Callable[[Answer], None], folder: Path | None = None) -> None:
        """`folder`: None for that of the user."""
        self._send = send
        self._saved = SavedGames(folder)
        self._files: dict[int, SavedGame] = {}

    def run(self, errand: Errand) -> None:
        """Run an errand; what goes wrong is sent as `FileFailed`."""
        try:
            match errand:
                case Keep():
                    self._keep(errand)
                case ListGames():
                    entries = list(self._saved.entries())[:MAX_LISTED]
                    self._send(GameList(tuple((str(entry.path), _line(entry)) for entry in entries)))
                case _:
                    path = Path(errand.path)
                    self._send(OpenedGame(str(path), state_of(self._saved.load(path))))
        except (OSError, UserError) as error:
            self._send(FileFailed(str(error)))

    def _keep(self, errand: Keep) -> None:
        if errand.game not in self._files:
            path = None if errand.path is None else Path(errand.path)
            self._files[errand.game] = SavedGame(self._saved.folder, path)
        self._files[errand.game].save(studied(errand.state))
        self._send(Kept())


def studied(state: GameState) -> StudiedGame:
    """Return a game of the screen as one to save or review."""
    record = GameRecord(
        state.rules,
        state.moves,
        black=state.black,
        white=state.white,
        note=state.note,
        date=state.date or date.today().isoformat(),
    )
    kept: list[KeptAnalysis | None] = [None] * (len(state.moves) + 1)
    for ply, player, analysis in state.analyses:
        if ply < len(kept) and analysis.moves:
            kept[ply] = KeptAnalysis(analysis=analysis, player=player, limit=None)
    return StudiedGame(record, tuple(kept))


def state_of(game: StudiedGame) -> GameState:
    """Return a saved game as one of the screen."""
    record = game.record
    return GameState(
        rules=record.rules,
        moves=tuple(record.moves),
        black=record.black,
        white=record.white,
        note=record.note,
        date=record.date,
        analyses=tuple((ply, kept.player, kept.analysis) for ply, kept in enumerate(game.analyses) if kept is not None),
        is_over=game.position().is_game_over(),
    )


def grade(task: GradeMoves) -> Graded:
    """Return the moves that lost much, as far as their positions are analysed."""
    moves = [move for move in review_of(studied(task.state)).moves if move.grade in _MARKS]
    return Graded(
        tuple((move.ply, move.loss or 0.0) for move in moves),
        tuple((move.ply, _MARKS[move.grade]) for move in moves if move.grade is not None),
    )


def _line(entry: SavedEntry) -> str:
    """Return one line about a saved game."""
    if not entry.is_finished:
        result = "goes on"
    else:
        result = "draw" if entry.winner is None else f"{colour_name(entry.winner)} won"
    players = f"{entry.black or '?'} - {entry.white or '?'}"
    size = f"{entry.rules.size}x{entry.rules.size}"
    moves = f"{entry.moves} move{'' if entry.moves == 1 else 's'}"
    return f"{entry.date:%Y-%m-%d %H:%M}  {players:<24} {size:>5} {moves:>9}  {result}"
