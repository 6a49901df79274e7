"""Key games of a run: its openings and decisive mistakes, as boards."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from core.notation import cell_name
from core.records.formats import read_games
from core.records.record import GameRecord, RecordError
from core.rules import BLACK, Cell
from gomoku_cli.reports.game import black_values, result_text

_OPENING_PLIES = 6
_GAMES_READ = 200
"""Games of the newest file among which the decisive mistake is sought."""


class _Cell(NamedTuple):
    """A cell with what is drawn there."""

    row: int
    column: int
    side: str = ""
    """Of a stone: `b` or `w`."""
    number: int | None = None
    """None for a stone that was set up."""


@dataclass(frozen=True, slots=True)
class BoardPicture:
    """A board of the page, with its caption: the position of a game after some moves."""

    title: str
    caption: str
    game: GameRecord
    plies: int
    best: Cell | None = None
    """The move that would have been better, marked by a ring."""

    @property
    def size(self) -> int:
        """Cells along an edge of the board."""
        return self.game.rules.size

    @property
    def stones(self) -> list[_Cell]:
        """The stones in the order of their moves; there is a ring around the last one."""
        return [
            _Cell(
                *divmod(cell, self.size), "bw"[ply % 2], None if ply < self.game.set_up else ply + 1 - self.game.set_up
            )
            for ply, cell in enumerate(self.game.moves[: self.plies])
        ]

    @property
    def better(self) -> _Cell | None:
        """The cell of `best`."""
        return None if self.best is None else _Cell(*divmod(self.best, self.size))


def key_boards(run: Path) -> list[BoardPicture]:
    """Return the boards of a run: an early opening, a late one, and the decisive mistake of a late game with its end.

    A file that cannot be read is left out; a run without games of self-play has none.
    """
    files = sorted((run / "games").glob("selfplay-*.sgf"))
    first, last = (_games(files[0]), _games(files[-1])) if files else ([], [])
    if not first or not last:
        return []
    boards = [_opening("An early opening", first[0], files[0])]
    if len(files) > 1:
        boards.append(_opening("A late opening", last[-1], files[-1]))
    found = max(
        ((*mistake, game) for game in last[-_GAMES_READ:] if (mistake := decisive_mistake(game)) is not None),
        key=lambda each: each[1],
        default=None,
    )
    if found is not None:
        ply, loss, game = found
        mover = "Black" if ply % 2 == 0 else "White"
        move = cell_name(game.moves[ply], game.rules.size)
        result = result_text(game)
        caption = f"{mover} played {move}, which cost {loss:.2f} of the value; {result}. {files[-1].stem}"
        boards.append(BoardPicture("The decisive mistake", caption, game, ply + 1))
        boards.append(BoardPicture("The end of that game", result.capitalize(), game, len(game.moves)))
    return boards


def _games(path: Path) -> list[GameRecord]:
    with suppress(RecordError):
        return read_games(path)
    return []


def _opening(title: str, game: GameRecord, file: Path) -> BoardPicture:
    plies = min(_OPENING_PLIES, len(game.moves))
    return BoardPicture(title, f"The first {plies} moves; {result_text(game)}. {file.stem}", game, plies)


def decisive_mistake(game: GameRecord) -> tuple[int, float] | None:
    """Return the loser's move that lost most of the value, from 0, and its loss; None without values or a winner.

    The loss is the difference between the loser's view before the move and the winner's view after it.
    """
    if game.winner is None:
        return None
    values = black_values(game)
    losses = [
        (number - 1, (values[number] - values[number + 1]) * (1 if number % 2 else -1))
        for number in values
        if number + 1 in values and (number % 2 == 1) != (game.winner == BLACK)
    ]
    worst = max(losses, key=lambda each: each[1], default=None)
    return worst if worst is not None and worst[1] > 0 else None
