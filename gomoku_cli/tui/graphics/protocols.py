"""The protocols for pictures in a terminal: kitty's placeholders, the inline images of iTerm2, and sixel.

An encoder (`Kitty` or `Inline`) turns a run of tiles, neighbours on one line of the screen, into the text for the
terminal. The cursor stands at the first tile before it and behind the last one after it.
"""

import random
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import groupby
from typing import NamedTuple

from PIL import Image

from gomoku_cli.tui.drivers.answers import Graphics
from gomoku_cli.tui.graphics.sprites import GRAIN_TONES


class Tile(NamedTuple):
    """The part of a picture that lies behind one character of the screen."""

    picture: int
    """The number of the picture."""
    column: int
    row: int


class Picture(NamedTuple):
    """A picture that covers a rectangle of characters."""

    image: Image.Image
    columns: int
    rows: int

    def strip(self, row: int, left: int, right: int) -> Image.Image:
        """Return the part behind columns `left` to `right`, the latter excluded, of one row of characters."""
        width, height = self.image.width // self.columns, self.image.height // self.rows
        return self.image.crop((left * width, row * height, right * width, (row + 1) * height))


class Kitty:
    """Pictures that are sent once; then a tile is a character, whose colour is the number of its picture.

    kitty's graphics protocol, "Unicode placeholders".
    """

    _PLACEHOLDER = "\U0010eeee"
    _DIACRITICS = "\u0305\u030d\u030e\u0310\u0312\u033d"
    """The rows and columns 0 to 5, by kitty's table."""
    _CHUNK = 4096

    def __init__(self, picture: Callable[[int], Picture]) -> None:
        """`picture` returns a picture by its number."""
        self._picture = picture
        # The numbers are the terminal's, which may hold pictures of other programs as well.
        self._first = random.randrange(1 << 16, 1 << 23)
        self._sent: set[int] = set()

    def run(self, tiles: Sequence[Tile]) -> str:
        """Return the text that shows tiles side by side."""
        text = ""
        for number, group in groupby(tiles, lambda tile: tile.picture):
            if number not in self._sent:
                self._sent.add(number)
                text += self._transmitted(number)
            colour = self._first + number
            text += f"\x1b[38;2;{colour >> 16};{colour >> 8 & 255};{colour & 255}m"
            # Each one with its row and column: a dialog may cover the one to the left.
            marks = self._DIACRITICS
            text += "".join(self._PLACEHOLDER + marks[tile.row] + marks[tile.column] for tile in group)
        return text + "\x1b[39m"

    def _transmitted(self, number: int) -> str:
        picture = self._picture(number)
        data = _png(picture.image)
        chunks = [data[start : start + self._CHUNK] for start in range(0, len(data), self._CHUNK)]
        keys = f"a=T,U=1,f=100,q=2,i={self._first + number},c={picture.columns},r={picture.rows},"
        text = ""
        for place, chunk in enumerate(chunks):
            text += f"\x1b_G{keys if place == 0 else ''}m={int(place < len(chunks) - 1)};{chunk}\x1b\\"
        return text

    def clear(self) -> str:
        """Return the text that makes the terminal forget all pictures."""
        text = "".join(f"\x1b_Ga=d,d=I,q=2,i={self._first + number}\x1b\\" for number in sorted(self._sent))
        self._sent.clear()
        return text


_WOOD = ";".join(map(str, GRAIN_TONES[1]))
"""The ground on which pictures are drawn, until they come."""


class Inline:
    """Pictures that are drawn where the cursor stands, each time; text that is written there later wipes them out."""

    _MOST_RUNS = 2048
    """Encoded runs that are kept."""

    def __init__(self, picture: Callable[[int], Picture], encode: Callable[[Image.Image, int], str]) -> None:
        """`encode` returns the text that draws an image over so many characters of one line."""
        self._picture, self._encode = picture, encode
        self._runs: dict[tuple[Tile, ...], str] = {}

    def run(self, tiles: Sequence[Tile]) -> str:
        """See `Kitty`."""
        key = tuple(tiles)
        if key not in self._runs:
            if len(self._runs) >= self._MOST_RUNS:
                self._runs.clear()
            # Terminals differ in the place where a picture leaves the cursor.
            blank = f"\x1b[48;2;{_WOOD}m{' ' * len(key)}\x1b[49m"
            self._runs[key] = f"\x1b7{blank}\x1b8{self._encode(self._joined(key), len(key))}\x1b8\x1b[{len(key)}C"
        return self._runs[key]

    def clear(self) -> str:
        """Forget the encoded runs; the terminal keeps no pictures."""
        self._runs.clear()
        return ""

    def _joined(self, tiles: Sequence[Tile]) -> Image.Image:
        strips = []
        # Neighbours of one picture, which may stand there several times.
        for (number, row, _), group in groupby(
            enumerate(tiles), lambda each: (each[1].picture, each[1].row, each[0] - each[1].column)
        ):
            columns = [tile.column for _, tile in group]
            strips.append(self._picture(number).strip(row, columns[0], columns[-1] + 1))
        image = Image.new("RGB", (sum(strip.width for strip in strips), strips[0].height))
        x = 0
        for strip in strips:
            image.paste(strip, (x, 0))
            x += strip.width
        return image


def iterm2(image: Image.Image, columns: int) -> str:
    """Return an image by the protocol of iTerm2."""
    data = _png(image)
    size = len(data) * 3 // 4 - data.count("=")
    return f"\x1b]1337;File=inline=1;size={size};width={columns};height=1;preserveAspectRatio=0:{data}\x07"


_REPEATED = re.compile(r"(.)\1{3,}")
_BITS = [bytes(number == index for index in range(256)) for number in range(256)]
"""For each colour the table that turns its pixels into 1 and all others into 0."""


def sixel(image: Image.Image, columns: int) -> str:
    """Return an image as sixel: bands of six rows, in each band the pixels of one colour after the other."""
    indexed = _indexed(image)
    width, height = indexed.size
    pixels, palette = indexed.tobytes(), indexed.getpalette() or []
    text = f'\x1bP0;1;0q"1;1;{width};{height}'
    for index in sorted(set(pixels)):
        red, green, blue = (round(each * 100 / 255) for each in palette[3 * index : 3 * index + 3])
        text += f"#{index};2;{red};{green};{blue}"
    for top in range(0, height, 6):
        rows = [pixels[y * width : (y + 1) * width] for y in range(top, min(top + 6, height))]
        lines = []
        for index in sorted(set().union(*rows)):
            # Whole rows as one number: bit k of each byte is row k.
            bits = sum(int.from_bytes(row.translate(_BITS[index])) << k for k, row in enumerate(rows))
            letters = bytes(each + 63 for each in bits.to_bytes(width)).decode().rstrip("?")
            lines.append(f"#{index}" + _REPEATED.sub(lambda found: f"!{len(found[0])}{found[1]}", letters))
        text += "$".join(lines) + "-"
    return text[:-1] + "\x1b\\"


def encoder(protocol: Graphics, picture: Callable[[int], Picture]) -> Kitty | Inline:
    """Return the encoder of a protocol."""
    if protocol is Graphics.KITTY:
        return Kitty(picture)
    return Inline(picture, iterm2 if protocol is Graphics.ITERM2 else sixel)


_STEPS = [min(255, round(value / 4) * 4) for value in range(256)] * 3


def _indexed(image: Image.Image) -> Image.Image:
    """Return an image with a palette of 256 colours."""
    # In steps of 4: seams between pictures would show if each one rounded its colours in another way.
    return image.point(_STEPS).convert("P", palette=Image.Palette.ADAPTIVE, colors=256)


def _png(image: Image.Image) -> str:
    """Return an image as PNG in base64."""
    file = BytesIO()
    _indexed(image).save(file, "PNG")
    return b64encode(file.getvalue()).decode()
