"""The pane of the newest game: a board, the result, and the value of the move that is shown."""

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from core.position import Position
from core.records.record import GameRecord
from core.rules import NO_CELL
from gomoku_cli.reports.game import black_values, result_text
from gomoku_cli.tui.widgets.glyphs import COLOURS, MONOCHROME, PLAIN, UNICODE
from gomoku_cli.tui.widgets.painting import Brackets, CellLook, Geometry, Painter


class GamePane(Vertical):
    """The newest game of a run, at any of its moves."""

    def __init__(self) -> None:
        super().__init__()
        self._game: tuple[str, GameRecord] | None = None
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

    def show(self, game: tuple[str, GameRecord] | None) -> None:
        """Show a new game, unless the user steps through the old one."""
        if self._plies is None and game is not None:
            self._game = game
            self._draw()

    def step(self, plies: int) -> None:
        """Show the position some moves later, or earlier with a negative number."""
        if self._game is not None:
            count = len(self._game[1].moves)
            self._plies = min(max((count if self._plies is None else self._plies) + plies, 0), count)
            self._draw()

    def follow(self, game: tuple[str, GameRecord] | None) -> None:
        """Show the end of the newest game, and new games as they come."""
        self._plies = None
        self.show(game)

    def _draw(self) -> None:
        if self._game is None:
            return
        name, record = self._game
        position = Position.from_moves(record.rules, record.moves[: self._plies])
        self._title.update(f"newest game  {name}" if self._plies is None else f"a game  {name}")
        self._board.update(_board(position, has_colours=not self.app.no_color))
        lines = [f"{record.rules.connect} in a row: {result_text(record)}"]
        if position.ply:
            value = black_values(record).get(position.ply)
            text = f"move {position.ply} of {len(record.moves)}: {position.name_of(position.moves[-1])}"
            lines.append(text + (f", value {value:+.2f} for black" if value is not None else ""))
        if self._plies is not None:
            lines.append("End follows new games again")
        self._facts.update("\n".join(lines))


def _board(position: Position, *, has_colours: bool) -> Text:
    """Return the lines of a board, drawn as where it is played on."""
    size, winning = position.rules.size, position.winning_line()
    painter = Painter(Geometry(size, 1), UNICODE if has_colours else MONOCHROME, COLOURS if has_colours else PLAIN)
    looks = {cell: CellLook(position.stones[cell], is_winning=cell in winning) for cell in position.moves}
    brackets = Brackets(cursor=NO_CELL, last=position.last_moves[0])
    lines = (painter.line(y, looks, brackets) for y in range(painter.geometry.rows))
    return Text("\n").join(Text.assemble(*((each.text, each.style or "") for each in line)) for line in lines)
