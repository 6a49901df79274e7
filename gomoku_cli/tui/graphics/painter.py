"""Lines of the board as pictures of its cells."""

from collections.abc import Callable, Mapping

from rich.segment import Segment

from core.notation import column_letter
from core.rules import EMPTY, Cell
from gomoku_cli.tui.graphics.sprites import Sprite
from gomoku_cli.tui.widgets.glyphs import star_points
from gomoku_cli.tui.widgets.painting import LEFT, NOTHING, Brackets, CellLook, Geometry

_SHARES = 12
"""Steps of prior and visits: each colour is a picture of its own."""


class PicturePainter:
    """Draws lines of a board; see `gomoku_cli.tui.widgets.painting.Painter`."""

    def __init__(self, geometry: Geometry, rows: Callable[[Sprite], tuple[str, ...]]) -> None:
        """`rows` returns the characters that stand for a picture."""
        self.geometry = geometry
        self._rows = rows
        self._stars = star_points(geometry.size)

    def line(self, y: int, looks: Mapping[Cell, CellLook], brackets: Brackets) -> list[Segment]:
        """Return line `y`: the top row first, the letters last."""
        scale, size = self.geometry.scale, self.geometry.size
        if y >= scale * size:
            letters = [Sprite(2 * scale, 1, label=column_letter(column)) for column in range(size)]
            return self._segments([Sprite(LEFT, 1), *letters], 0)
        row, inner = size - 1 - y // scale, y % scale
        cells = range(row * size, (row + 1) * size)
        label = Sprite(LEFT, scale, label=str(row + 1))
        return self._segments(
            [label, *(self._sprite(cell, looks.get(cell, NOTHING), brackets) for cell in cells)], inner
        )

    def _segments(self, sprites: list[Sprite], row: int) -> list[Segment]:
        return [Segment(self._rows(sprite)[row]) for sprite in sprites]

    def _sprite(self, cell: Cell, look: CellLook, brackets: Brackets) -> Sprite:
        row, column = divmod(cell, self.geometry.size)
        last = self.geometry.size - 1
        if look.heat is not None:
            prior, visits = (round(share * _SHARES) / _SHARES for share in look.heat)
            look = look._replace(heat=(prior, visits))
        return Sprite(
            2 * self.geometry.scale,
            self.geometry.scale,
            ((row == 0) - (row == last), (column == last) - (column == 0)),
            cell in self._stars,
            look._replace(is_last=cell == brackets.last) if look.is_last != (cell == brackets.last) else look,
            has_cursor=cell == brackets.cursor,
            is_hovered=cell == brackets.hover and look.stone == EMPTY,
        )
