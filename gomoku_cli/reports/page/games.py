"""Key games of a run: its openings and decisive mistakes, as boards in SVG."""

from dataclasses import dataclass
from pathlib import Path

from core.notation import cell_name, column_letter
from core.records.formats import read_games
from core.records.record import GameRecord, RecordError
from core.rules import BLACK, Cell
from gomoku_cli.reports.game import black_values, result_text

_OPENING_PLIES = 6
_GAMES_READ = 200
"""Games of the newest file among which the decisive mistake is sought."""


@dataclass(frozen=True, slots=True)
class BoardPicture:
    """A board of the page, with its caption."""

    title: str
    caption: str
    svg: str


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
        boards.append(BoardPicture("The decisive mistake", caption, board_svg(game, ply + 1)))
        boards.append(BoardPicture("The end of that game", result.capitalize(), board_svg(game, len(game.moves))))
    return boards


def _games(path: Path) -> list[GameRecord]:
    try:
        return read_games(path)
    except RecordError:
        return []


def _opening(title: str, game: GameRecord, file: Path) -> BoardPicture:
    plies = min(_OPENING_PLIES, len(game.moves))
    return BoardPicture(title, f"The first {plies} moves; {result_text(game)}. {file.stem}", board_svg(game, plies))


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


_STEP = 20
_LEFT, _TOP = 26, 14
"""Centre of the top left cell."""


def board_svg(game: GameRecord, plies: int, better: Cell | None = None) -> str:
    """Return the position after `plies` moves as SVG: numbers on the stones, a ring around the last move.

    A ring on an empty cell marks the move that would have been `better`. Stones that were set up have no number.
    """
    size = game.rules.size
    right, bottom = _LEFT + _STEP * (size - 1), _TOP + _STEP * (size - 1)
    parts = [f'<svg viewBox="0 0 {right + 14} {bottom + 26}" role="img" class="board">']
    parts.append('<rect width="100%" height="100%" rx="6"/>')
    for at in range(size):
        x, y = _LEFT + _STEP * at, _TOP + _STEP * at
        parts.append(f'<path d="M{x} {_TOP}V{bottom}M{_LEFT} {y}H{right}"/>')
        parts.append(f'<text x="{x}" y="{bottom + 22}">{column_letter(at)}</text>')
        parts.append(f'<text x="9" y="{bottom - _STEP * at + 3}">{at + 1}</text>')

    def centre(cell: Cell) -> tuple[int, int]:
        return _LEFT + _STEP * (cell % size), bottom - _STEP * (cell // size)

    for ply, cell in enumerate(game.moves[:plies]):
        x, y = centre(cell)
        side = "w" if ply % 2 else "b"
        parts.append(f'<circle cx="{x}" cy="{y}" r="9" class="{side}"/>')
        if ply < game.set_up:
            continue
        if ply == plies - 1:
            parts.append(f'<circle cx="{x}" cy="{y}" r="9.5" class="last"/>')
        parts.append(f'<text x="{x}" y="{y + 3}" class="{side}">{ply + 1 - game.set_up}</text>')
    if better is not None:
        x, y = centre(better)
        parts.append(f'<circle cx="{x}" cy="{y}" r="7.5" class="better"/>')
    parts.append("</svg>")
    return "".join(parts)
