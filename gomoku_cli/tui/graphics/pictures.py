"""Pictures in the text of the screen: a character of a private area stands for a part of one.

Textual composes, crops and compares lines of characters. So a cell of `c` columns and `r` rows is `c * r` characters
of plane 16, each of which stands for a tile of its picture. Dialogs cover them as they cover letters. On the way to the
terminal they become what its protocol has for them.
"""

import re
from collections.abc import Mapping

from rich.segment import Segment

from core.notation import column_letter
from core.rules import EMPTY, Cell
from gomoku_cli.tui.drivers.answers import Graphics, Pixels
from gomoku_cli.tui.graphics.protocols import Picture, Tile, encoder
from gomoku_cli.tui.graphics.sprites import Sprite, draw
from gomoku_cli.tui.widgets.glyphs import star_points
from gomoku_cli.tui.widgets.painting import LEFT, NOTHING, Brackets, CellLook, Geometry

_FIRST, _LAST = 0x100000, 0x10FFFD
"""Code points that no keyboard has."""
_TILES = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]+")
_ROOM = 20_000
"""Code points for one more screen, whatever is on it; with fewer left all begin anew."""

_SHARES = 12
"""Steps of prior and visits: each colour is a picture of its own."""


class Pictures:
    """The pictures that a screen shows, and their way to the terminal."""

    def __init__(self, protocol: Graphics, character: Pixels) -> None:
        """`character`: the size of one in pixels."""
        self.protocol = protocol
        self.character = character
        self._encoder = encoder(protocol, self._picture)
        self._sprites: list[Sprite] = []
        """By number. A number is never used again: the terminal may still have its picture."""
        self._tiles: list[Tile] = []
        """The tiles of the code points, in their order."""
        self._rows: dict[Sprite, tuple[str, ...]] = {}
        self._cleared = ""
        """Text that makes the terminal forget pictures."""

    def line(self, geometry: Geometry, y: int, looks: Mapping[Cell, CellLook], brackets: Brackets) -> list[Segment]:
        """Return line `y` of a board: the top row first, the letters last."""
        scale, size = geometry.scale, geometry.size
        if y >= scale * size:
            letters = [Sprite(2 * scale, 1, label=column_letter(column)) for column in range(size)]
            return self._segments([Sprite(LEFT, 1), *letters], 0)
        row, inner = size - 1 - y // scale, y % scale
        cells = range(row * size, (row + 1) * size)
        sprites = [_sprite(geometry, cell, looks.get(cell, NOTHING), brackets) for cell in cells]
        return self._segments([Sprite(LEFT, scale, label=str(row + 1)), *sprites], inner)

    def _segments(self, sprites: list[Sprite], row: int) -> list[Segment]:
        return [Segment(self.rows(sprite)[row]) for sprite in sprites]

    def rows(self, sprite: Sprite) -> tuple[str, ...]:
        """Return the characters of a sprite, row by row."""
        if sprite not in self._rows:
            first, number = _FIRST + len(self._tiles), len(self._sprites)
            places = [(row, column) for row in range(sprite.rows) for column in range(sprite.columns)]
            self._sprites.append(sprite)
            self._tiles += [Tile(number, column, row) for row, column in places]
            text = "".join(chr(first + place) for place in range(len(places)))
            self._rows[sprite] = tuple(
                text[start : start + sprite.columns] for start in range(0, len(text), sprite.columns)
            )
        return self._rows[sprite]

    def _picture(self, number: int) -> Picture:
        sprite = self._sprites[number]
        return Picture(draw(sprite, self.character), sprite.columns, sprite.rows)

    def encode(self, text: str) -> str:
        """Return the text for the terminal, with pictures in place of their characters."""
        shown = _TILES.sub(self._shown, text)
        # Old pictures go when new ones stand in their place: until then the board would be blank.
        return shown if shown == text else shown + self.forgotten()

    def forgotten(self) -> str:
        """Return the text that makes the terminal forget the pictures that were cleared, once."""
        text, self._cleared = self._cleared, ""
        return text

    def _shown(self, found: re.Match[str]) -> str:
        places = [ord(letter) - _FIRST for letter in found[0]]
        if max(places) >= len(self._tiles):
            return " " * len(places)  # no picture of ours
        return self._encoder.run([self._tiles[place] for place in places])

    @property
    def is_full(self) -> bool:
        """True if there may not be enough code points for one more screen: `clear`, and draw all boards anew."""
        return _FIRST + len(self._tiles) > _LAST - _ROOM

    def clear(self, character: Pixels | None = None) -> None:
        """Begin anew, for characters of another size; the terminal forgets with the next picture, or by `forgotten`."""
        self.character = character or self.character
        self._tiles.clear()
        self._rows.clear()
        self._cleared += self._encoder.clear()


def _sprite(geometry: Geometry, cell: Cell, look: CellLook, brackets: Brackets) -> Sprite:
    row, column = divmod(cell, geometry.size)
    last = geometry.size - 1
    if look.heat is not None:
        prior, visits = (round(share * _SHARES) / _SHARES for share in look.heat)
        look = look._replace(heat=(prior, visits))
    return Sprite(
        2 * geometry.scale,
        geometry.scale,
        ((row == 0) - (row == last), (column == last) - (column == 0)),
        cell in star_points(geometry.size),
        look,
        has_cursor=cell == brackets.cursor,
        is_hovered=cell == brackets.hover and look.stone == EMPTY,
    )
