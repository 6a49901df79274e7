"""A terminal with pictures, as a canvas: it reads what a program writes, by the documents of the protocols alone."""

import re
import unicodedata
from base64 import b64decode
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_TOKEN = re.compile(
    r"\x1b_G(?P<kitty>[^\x1b]*)\x1b\\"
    r"|\x1b\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|\x1bP(?P<dcs>[^\x1b]*)\x1b\\"
    r"|\x1b\[(?P<csi>[<>?]?[\d;]*[ -/]*[@-~])"
    r"|\x1b(?P<escape>[78])"
    r"|(?P<char>[\r\n\U0010eeee])"
    r"|(?P<text>[^\x1b\r\n\U0010eeee]+)",
    re.DOTALL,
)
_PLACEHOLDER = "\U0010eeee"
_DIACRITICS = [0x305, 0x30D, 0x30E, 0x310, 0x312, 0x33D, 0x33E, 0x33F]
"""The first of kitty's file rowcolumn-diacritics.txt."""
_TEXT = (1, 2, 3)
"""The colour of a cell with text, which no picture has."""


class GraphicsTerminal:
    """The canvas of a terminal of `columns` and `rows`, with characters of `character` pixels."""

    def __init__(self, columns: int, rows: int, character: tuple[int, int]) -> None:
        self.columns, self.rows = columns, rows
        self.resize(character)
        self.images: dict[int, tuple[Image.Image, int, int]] = {}
        """Those that were sent by kitty's protocol: picture, columns, rows."""
        self.drawn = 0
        """Pictures drawn or sent so far."""
        self._x = self._y = 0
        self._saved = (0, 0)
        self._number = 0
        self._pending: tuple[dict[str, str], str] | None = None

    def resize(self, character: tuple[int, int]) -> None:
        """Take characters of another size; nothing is shown then."""
        self.character = character
        self.canvas = np.zeros((self.rows * character[1], self.columns * character[0], 3), np.uint8)

    def write(self, text: str) -> None:
        """Take what a program writes."""
        place = 0
        while place < len(text):
            found = _TOKEN.match(text, place)
            assert found is not None, f"no sequence: {text[place : place + 40]!r}"
            place = found.end()
            if found["char"] == _PLACEHOLDER:
                marks = [_DIACRITICS.index(ord(mark)) for mark in text[place : place + 2]]
                place += 2
                self._show_tile(*marks)
            elif found["char"] is not None:
                self._x, self._y = (0, self._y) if found["char"] == "\r" else (self._x, self._y + 1)
            elif found["text"] is not None:
                self._put(found["text"])
            elif found["kitty"] is not None:
                self._take_kitty(found["kitty"])
            elif found["osc"] is not None:
                self._take_inline(found["osc"])
            elif found["dcs"] is not None:
                self._take_sixel(found["dcs"])
            elif found["escape"] is not None:
                self._save_or_restore(found["escape"])
            else:
                self._control(found["csi"])

    def region(self, x: int, y: int, columns: int, rows: int) -> Image.Image:
        """Return what stands in a rectangle of characters."""
        width, height = self.character
        return Image.fromarray(self.canvas[y * height : (y + rows) * height, x * width : (x + columns) * width])

    def _put(self, text: str) -> None:
        columns = sum(not unicodedata.combining(char) for char in text)
        self._rest()[: self.character[1], : columns * self.character[0]] = _TEXT
        self._x += columns

    def _rest(self) -> NDArray[np.uint8]:
        """The canvas right of and below the upper left corner of the cursor's cell."""
        return self.canvas[self._y * self.character[1] :, self._x * self.character[0] :]

    def _paste(self, image: Image.Image) -> None:
        place = self._rest()[: image.height, : image.width]
        place[:] = np.asarray(image)[: place.shape[0], : place.shape[1]]

    def _save_or_restore(self, letter: str) -> None:
        if letter == "7":
            self._saved = (self._x, self._y)
        else:
            self._x, self._y = self._saved

    def _control(self, text: str) -> None:
        numbers = [int(each or 0) for each in re.findall(r"\d+|(?<=;)(?=;)", text)]
        if text.endswith("H"):
            self._y, self._x = numbers[0] - 1, numbers[1] - 1
        elif text.endswith("C"):
            self._x += numbers[0]
        elif text.endswith("m") and text.startswith("38;2;"):
            self._number = numbers[2] << 16 | numbers[3] << 8 | numbers[4]

    def _take_kitty(self, text: str) -> None:
        keys, _, data = text.partition(";")
        said = dict(each.split("=") for each in keys.split(","))
        if said.get("a") == "d":
            assert said["d"] == "I"
            del self.images[int(said["i"])]
            return
        if self._pending is not None:
            said, data = self._pending[0] | said, self._pending[1] + data
        self._pending = (said, data) if said["m"] == "1" else None
        assert len(text.partition(";")[2]) <= 4096
        if said["m"] == "0":
            assert (said["a"], said["U"], said["f"], said["q"]) == ("T", "1", "100", "2")
            image = Image.open(BytesIO(b64decode(data))).convert("RGB")
            self.images[int(said["i"])] = (image, int(said["c"]), int(said["r"]))
            self.drawn += 1

    def _show_tile(self, row: int, column: int) -> None:
        image, columns, rows = self.images[self._number]
        width, height = self.character
        assert image.size == (columns * width, rows * height)
        self._paste(image.crop((column * width, row * height, (column + 1) * width, (row + 1) * height)))
        self._x += 1

    def _take_inline(self, text: str) -> None:
        if not text.startswith("1337;File="):
            return
        keys, _, data = text.removeprefix("1337;File=").partition(":")
        said = dict(each.split("=") for each in keys.split(";"))
        assert said["inline"] == "1"
        assert int(said["size"]) == len(b64decode(data))
        size = (int(said["width"]) * self.character[0], int(said["height"]) * self.character[1])
        self._paste(Image.open(BytesIO(b64decode(data))).convert("RGB").resize(size))
        self.drawn += 1
        self._x, self._y = 0, self._y + 1  # as some terminals leave the cursor

    def _take_sixel(self, text: str) -> None:
        head, _, body = text.partition("q")
        assert head.split(";")[1] == "1"  # what is not drawn stays
        palette: dict[int, tuple[int, int, int]] = {}
        colour, x, y, times = (0, 0, 0), 0, 0, 1
        canvas = self._rest()
        for command, numbers, letter in re.findall(r'(["#!$-])([\d;]*)|([?-~])', body):
            values = [int(each) for each in numbers.split(";") if each]
            if command == "#" and len(values) > 1:
                assert values[1] == 2
                palette[values[0]] = tuple(round(each * 255 / 100) for each in values[2:5])
            elif command == "#":
                colour = palette[values[0]]
            elif command == "!":
                times = values[0]
            elif command == "$":
                x = 0
            elif command == "-":
                x, y = 0, y + 6
            elif letter:
                for bit in range(6):
                    if (ord(letter) - 63) >> bit & 1:
                        canvas[y + bit, x : x + times] = colour
                x, times = x + times, 1
        self.drawn += 1
        self._x, self._y = 0, self._y + 1
