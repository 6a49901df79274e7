"""Pictures of cells: wood, lines, stones with soft edges, and all that the panes put on a cell."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont, ImageOps
from rich.style import Style

from core.rules import BLACK, EMPTY, Colour
from gomoku_cli.tui.drivers.answers import Pixels
from gomoku_cli.tui.widgets.glyphs import COLOURS
from gomoku_cli.tui.widgets.painting import NOTHING, CellLook

_RGB = tuple[int, int, int]

GRAIN_TONES = ((220, 172, 100), (216, 168, 96), (212, 164, 92), (204, 156, 84))
"""Tones of the grain, light to dark: few, and each a multiple of 4, so that sixel has them exactly."""
_GRAIN = "0011001112211000111001122332110001100110122100011110001122211001"
"""The tone of each row of pixels. Rows of one colour stay small in every protocol."""
_LINE = (88, 56, 16)
_INK = (0, 0, 0)
_PAPER = (255, 255, 255)
_DARK_RING = (88, 72, 56)
_RADIUS = 0.46
"""Of a stone, of the shorter edge of a cell."""
_FINE = 4
"""Drawn so many times larger, and reduced: that makes the edges soft."""
_HIDDEN_LINES = 0.62
"""Radius of a mark on an empty cell, of a stone's."""


class Sprite(NamedTuple):
    """The picture of a cell, or of a label beside the board. Equal ones are drawn alike."""

    columns: int
    """Width in characters."""
    rows: int
    crossing: tuple[int, int] | None = None
    """Place on the board, vertical and horizontal: -1 at the top or the left edge, 1 at the other one, 0 between."""
    is_star: bool = False
    look: CellLook = NOTHING
    has_cursor: bool = False
    is_hovered: bool = False
    label: str = ""


def draw(sprite: Sprite, character: Pixels) -> Image.Image:
    """Return the picture of a sprite in RGB, for characters of this size."""
    size = (sprite.columns * character[0], sprite.rows * character[1])
    image = _ground(size, sprite.crossing, sprite.is_star).copy()
    look = sprite.look
    if look.is_winning:
        image.paste(_rgb(COLOURS.win, ground=True), mask=_faded(_square(size, 0.0), 0.9))
    elif look.heat is not None:
        _add_heat(image, look)
    elif sprite.is_hovered and look.stone == EMPTY and look.ghost == EMPTY:
        image.paste(_PAPER, mask=_faded(_square(size, 0.08), 0.3))
    if look.stone != EMPTY:
        _add_stone(image, look.stone)
        if look.is_last:
            _add_last(image, look)
        _add_text(image, look.number, _PAPER if look.stone == BLACK else _INK)
    elif look.ghost != EMPTY:
        _add_stone(image, look.ghost, opacity=0.65)
        _add_text(image, look.ghost_text, _PAPER if look.ghost == BLACK else _INK)
    elif look.mark:
        _add_mark(image, look)
    elif look.label and not any(look.heat_texts):
        image.paste(_PAPER, mask=_faded(_disc(size, 0.8), 0.7))
        _add_text(image, look.label[:3], _INK)
    if any(look.heat_texts) and look.stone == EMPTY and look.ghost == EMPTY:
        _add_numbers(image, look, sprite.rows)
    if sprite.has_cursor:
        image.paste(_INK, mask=_faded(_corners(size, 0.05), 0.75))
        image.paste(_PAPER, mask=_corners(size, 0.02))
    if sprite.label:
        _write(image, sprite.label, (size[0] / 2, size[1] / 2), 0.62 * min(size), _LINE)
    return image


@lru_cache(maxsize=256)
def _ground(size: Pixels, crossing: tuple[int, int] | None, is_star: bool) -> Image.Image:
    """Return wood with the lines of a crossing."""
    width, height = size
    image = Image.new("RGB", size)
    pen = ImageDraw.Draw(image)
    for y in range(height):
        pen.line((0, y, width, y), GRAIN_TONES[int(_GRAIN[y * len(_GRAIN) // max(height, 48) % len(_GRAIN)])])
    if crossing is None:
        return image
    vertical, horizontal = crossing
    thick = max(1, round(min(size) / 36))
    left, top = (width - thick) // 2, (height - thick) // 2
    pen.rectangle((left if horizontal < 0 else 0, top, left if horizontal > 0 else width, top + thick - 1), _LINE)
    pen.rectangle((left, top if vertical < 0 else 0, left + thick - 1, top if vertical > 0 else height), _LINE)
    if is_star:
        image.paste(_LINE, mask=_disc(size, 0.11 / _RADIUS))
    return image


def _add_stone(image: Image.Image, colour: Colour, opacity: float = 1.0) -> None:
    size = image.size
    shift = max(1, round(min(size) / 24))
    shadow = ImageChops.offset(_disc(size, 0.98), shift, shift).filter(ImageFilter.GaussianBlur(shift))
    image.paste(_LINE, mask=_faded(shadow, 0.55 * opacity))
    image.paste(_shaded(size, colour), mask=_faded(_disc(size, 1.0), opacity))


@lru_cache(maxsize=8)
def _shaded(size: Pixels, colour: Colour) -> Image.Image:
    """Return the face of a stone, with the light from the upper left; the edge of a white one is a dark ring."""
    edge = round(min(size) * _RADIUS * 2)
    light = Image.radial_gradient("L").resize((2 * edge, 2 * edge))
    left, top = round(edge * 0.65), round(edge * 0.7)
    # Posterised: a few steps look as smooth, and keep the pictures of sixel and PNG small.
    face = ImageOps.posterize(light.crop((left, top, left + edge, top + edge)), 5)
    if colour == BLACK:
        face = ImageOps.colorize(face, (104, 104, 104), (8, 8, 8), mid=(40, 40, 40), midpoint=90)
    else:
        face = ImageOps.colorize(face, (255, 255, 255), (208, 200, 192), mid=(248, 248, 248), midpoint=90)
    image = Image.new("RGB", size, _INK if colour == BLACK else _DARK_RING)
    image.paste(face, ((size[0] - edge) // 2, (size[1] - edge) // 2))
    if colour != BLACK:
        image.paste(_DARK_RING, mask=ImageChops.subtract(_disc(size, 1.1), _disc(size, 0.94)))
    return image


def _add_last(image: Image.Image, look: CellLook) -> None:
    """Draw the mark of the last move: a dot, around a number a ring."""
    size = image.size
    mask = ImageChops.subtract(_disc(size, 0.86), _disc(size, 0.72)) if look.number else _disc(size, 0.3)
    image.paste(_rgb(COLOURS.lasts[look.stone]), mask=mask)


def _add_heat(image: Image.Image, look: CellLook) -> None:
    """Draw prior and visits as the halves of a disc: left and right, as numbers in large cells above and below."""
    assert look.heat is not None
    disc = _disc(image.size, 1.0)
    width, height = image.size
    for half, share in enumerate(look.heat):
        box = (0, 0, width // 2, height) if half == 0 else (width // 2, 0, width, height)
        if any(look.heat_texts):
            box = (0, 0, width, height // 2) if half == 0 else (0, height // 2, width, height)
        mask = Image.new("L", image.size)
        mask.paste(disc.crop(box), box[:2])
        image.paste(_rgb(COLOURS.heat(share), ground=True), mask=mask)


def _add_numbers(image: Image.Image, look: CellLook, rows: int) -> None:
    """Write prior above visits in large cells, the visits alone in small ones."""
    width, height = image.size
    prior, visits = look.heat_texts
    ink = _INK if not look.mark else _rgb(COLOURS.mark(look.mark_colour))
    if rows == 1:
        _write(image, visits or prior, (width / 2, height / 2), 0.62 * height, ink)
        return
    for text, y in ((prior, 0.32), (visits, 0.70)):
        _write(image, text, (width / 2, height * y), 0.34 * min(image.size), ink)


def _add_mark(image: Image.Image, look: CellLook) -> None:
    """Draw the mark of a threat, a foul or a hint; on a cell with numbers it colours their ground."""
    style = COLOURS.mark(look.mark_colour)
    if any(look.heat_texts):
        image.paste(_rgb(style, ground=True), mask=_disc(image.size, 1.0))
        return
    image.paste(_INK, mask=_faded(_disc(image.size, _HIDDEN_LINES + 0.08), 0.4))
    image.paste(_rgb(style, ground=True), mask=_disc(image.size, _HIDDEN_LINES))
    if look.mark_colour == EMPTY:
        image.paste(_rgb(style), mask=ImageChops.subtract(_diamond(image.size, 0.42), _diamond(image.size, 0.22)))
        return
    _add_text(image, look.mark, _rgb(style), 0.8)


def _add_text(image: Image.Image, text: str, ink: _RGB, scale: float = 1.0) -> None:
    """Write in the middle of a stone."""
    width, height = image.size
    shrunk = {1: 0.62, 2: 0.54}.get(len(text), 0.42)
    _write(image, text, (width / 2, height / 2), shrunk * scale * min(image.size), ink)


def _write(image: Image.Image, text: str, middle: tuple[float, float], height: float, ink: _RGB) -> None:
    if text:
        ImageDraw.Draw(image).text(middle, text, ink, _font(max(6, round(height))), anchor="mm", stroke_width=0.3)


_font = lru_cache(maxsize=16)(ImageFont.load_default)


def _mask(draw: Callable[[ImageDraw.ImageDraw, Pixels, float], None]) -> Callable[[Pixels, float], Image.Image]:
    """Return a function that returns the mask of a shape with soft edges, which `draw` draws into its fine size."""

    @lru_cache(maxsize=64)
    def mask(size: Pixels, measure: float) -> Image.Image:
        fine = (size[0] * _FINE, size[1] * _FINE)
        image = Image.new("L", fine)
        draw(ImageDraw.Draw(image), fine, measure)
        return image.reduce(_FINE)

    return mask


@_mask
def _disc(pen: ImageDraw.ImageDraw, size: Pixels, radius: float) -> None:
    """Draw a disc in the middle; `radius` of a stone's."""
    reach = radius * _RADIUS * min(size)
    x, y = (size[0] - 1) / 2, (size[1] - 1) / 2
    pen.ellipse((x - reach, y - reach, x + reach, y + reach), 255)


@_mask
def _diamond(pen: ImageDraw.ImageDraw, size: Pixels, radius: float) -> None:
    reach = radius * _RADIUS * min(size)
    x, y = (size[0] - 1) / 2, (size[1] - 1) / 2
    pen.polygon([(x - reach, y), (x, y - reach), (x + reach, y), (x, y + reach)], 255)


@_mask
def _square(pen: ImageDraw.ImageDraw, size: Pixels, inset: float) -> None:
    """Draw a square with round corners, almost as large as the cell."""
    edge = inset * min(size)
    pen.rounded_rectangle((edge, edge, size[0] - 1 - edge, size[1] - 1 - edge), 0.15 * min(size), 255)


@_mask
def _corners(pen: ImageDraw.ImageDraw, size: Pixels, thickness: float) -> None:
    """Draw the cursor, the four corners of a square around the stone."""
    short = min(size)
    edge, reach, thick = 0.06 * short, 0.24 * short, max(thickness * short, _FINE / 2)
    for x, right in ((edge, 1), (size[0] - 1 - edge, -1)):
        for y, down in ((edge, 1), (size[1] - 1 - edge, -1)):
            for x1, y1 in ((x + right * reach, y), (x, y + down * reach)):
                box = (min(x, x1) - thick, min(y, y1) - thick, max(x, x1) + thick, max(y, y1) + thick)
                pen.rounded_rectangle(box, thick, 255)


def _faded(mask: Image.Image, opacity: float) -> Image.Image:
    return mask.point([round(value * opacity) for value in range(256)])


def _rgb(style: Style, *, ground: bool = False) -> _RGB:
    """Return the colour of a style's text, or of its ground."""
    colour = style.bgcolor if ground else style.color
    assert colour is not None and colour.triplet is not None
    red, green, blue = colour.triplet
    return red, green, blue
