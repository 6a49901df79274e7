"""The pane of the newest game: a board, the result, and the value of the move that is shown."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from core.notation import column_letter
from core.position import Position
from core.rules import BLACK, EMPTY, Cell
from gomoku_cli.reports.game import black_values
from gomoku_cli.tui.widgets.glyphs import UNICODE
from gomoku_cli.watch.newest_game import NewestGame

_BOARD, _LINE = "on #aa7b3e", "#6e4a1b on #aa7b3e"
_STONES = {BLACK: ("●", "#000000 on #aa7b3e"), -BLACK: ("○", "bold #ffffff on #aa7b3e")}
_WIN, _LAST = "on #3f7d3a", "bold #ffd75f on #aa7b3e"


class GamePane(Vertical):
    """The newest game of a run, at any of its moves."""

    def __init__(self) -> None:
        super().__init__()
        self._game: NewestGame | None = None
        self._plies: int | None = None
        """Moves shown; None for all, which follows new games."""
        self._title = Static("newest game", classes="game--title")
        self._facts = Static("no game of self-play yet", classes="game--facts")
        self._board = Static("", classes="game--board")

    def compose(self) -> ComposeResult:
        """Lay the board between its title and the facts."""
        yield self._title
        yield self._board
        yield self._facts

    def show(self, game: NewestGame | None) -> None:
        """Show a new game, unless the user steps through the old one."""
        if self._plies is None and game is not None:
            self._game = game
            self._draw()

    def step(self, plies: int) -> None:
        """Show the position some moves later, or earlier with a negative number."""
        if self._game is not None:
            now = len(self._game.record.moves) if self._plies is None else self._plies
            self._plies = min(max(now + plies, 0), len(self._game.record.moves))
            self._draw()

    def rewind(self) -> None:
        """Show the empty board."""
        if self._game is not None:
            self._plies = 0
            self._draw()

    def follow(self, game: NewestGame | None) -> None:
        """Show the end of the newest game, and new games as they come."""
        self._plies = None
        self.show(game)

    def _draw(self) -> None:
        game = self._game
        if game is None:
            return
        record = game.record
        position = Position.from_moves(record.rules, record.moves[: self._plies])
        self._title.update(f"newest game  {game.name}" if self._plies is None else f"a game  {game.name}")
        self._board.update(_board(position))
        lines = [f"{record.rules.connect} in a row: {game.result}"]
        if position.ply:
            value = black_values(record).get(position.ply)
            text = f"move {position.ply} of {len(record.moves)}: {position.name_of(position.moves[-1])}"
            lines.append(text + (f", value {value:+.2f} for black" if value is not None else ""))
        if self._plies is not None:
            lines.append("End follows new games again")
        self._facts.update("\n".join(lines))


def _board(position: Position) -> Content:
    """Return the lines of a board: two columns a cell, the last move in brackets, the winning line on green."""
    size, last, winning = position.rules.size, position.last_moves[0], position.winning_line()
    parts: list[tuple[str, str]] = []
    for row in reversed(range(size)):
        parts.append((f"{row + 1:>2}", "#3a2508 on #aa7b3e"))
        parts.append(_gap(row * size, last, -1, size))
        for column in range(size):
            cell = row * size + column
            if position.stones[cell] != EMPTY:
                glyph, style = _STONES[position.stones[cell]]
                parts.append((glyph, style.replace("on #aa7b3e", _WIN) if cell in winning else style))
            else:
                parts.append((UNICODE.crossing(row, column, size), _LINE))
            parts.append(_gap(cell, last, column, size))
        parts.append(("\n", ""))
    letters = "".join(f"{column_letter(column)} " for column in range(size))
    parts.append((f"   {letters}", "#3a2508 on #aa7b3e"))
    return Content.assemble(*parts)


def _gap(cell: Cell, last: Cell, column: int, size: int) -> tuple[str, str]:
    """Return the column to the right of a cell, or to the left of a row's first one with `column` -1."""
    left, right = (cell, cell + 1 if column < size - 1 else -2) if column >= 0 else (-2, cell)
    if last >= 0 and last in (left, right):
        return ("(" if last == right else ")", _LAST)
    return ("─" if left >= 0 and right >= 0 else " ", _LINE)
