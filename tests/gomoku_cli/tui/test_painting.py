"""The board's lines: sizes of cells, marks, and readable colours."""

import pytest
from rich.color import Color

from core.notation import parse_cell
from core.rules import NO_CELL, Rules
from gomoku_cli.tui.widgets.board import best_scale
from gomoku_cli.tui.widgets.glyphs import (
    ASCII,
    COLOURS,
    MONOCHROME,
    PLAIN,
    QUADRANTS,
    UNICODE,
    UPPER_HALF,
    WOOD,
    star_points,
)
from gomoku_cli.tui.widgets.painting import Brackets, CellLook, Geometry, Painter

PAIRS = {name: getattr(COLOURS, name) for name in ("stones", "texts", "lasts", "ghosts", "threats")}


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [value / 255 for value in Color.parse(colour).get_truecolor()]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def cell(name: str) -> int:
    return parse_cell(name, 15)


LOOKS = {
    cell("h8"): CellLook(stone=1),
    cell("h9"): CellLook(stone=-1, is_last=True),
    cell("c3"): CellLook(stone=1, number="12"),
    cell("d4"): CellLook(stone=-1, number="113"),
    cell("f6"): CellLook(heat=(0.2, 0.9)),
    cell("f5"): CellLook(heat=(0.2, 0.9), heat_texts=("12", "37")),
    cell("k8"): CellLook(ghost=1, ghost_text="1"),
    cell("k9"): CellLook(ghost=-1, ghost_text="12"),
    cell("l4"): CellLook(mark="4", mark_colour=1),
    cell("o15"): CellLook(stone=-1),
    cell("a1"): CellLook(stone=1, is_winning=True),
    cell("o1"): CellLook(ghost=-1),
}


@pytest.mark.parametrize("scale", [1, 2, 3])
@pytest.mark.parametrize(("glyphs", "palette"), [(UNICODE, COLOURS), (ASCII, COLOURS), (MONOCHROME, PLAIN)])
def test_every_line_has_the_width_of_the_board(scale: int, glyphs: object, palette: object) -> None:
    geometry = Geometry(15, scale)
    painter = Painter(geometry, glyphs, palette)  # type: ignore[arg-type]
    for y in range(geometry.rows):
        line = painter.line(y, LOOKS, Brackets(cell("o8"), cell("h9"), cell("a8")))
        text = "".join(segment.text for segment in line)
        assert len(text) == geometry.columns
        assert text.isascii() or glyphs is not ASCII


@pytest.mark.parametrize("scale", [1, 2, 3])
@pytest.mark.parametrize("mark", [CellLook(mark="4", mark_colour=1), CellLook(mark="?")])
def test_a_mark_leaves_the_numbers_of_a_cell_as_they_are(scale: int, mark: CellLook) -> None:
    painter = Painter(Geometry(15, scale), UNICODE, COLOURS)
    numbers = CellLook(heat=(0.2, 0.9), heat_texts=("12", "37"))
    both = numbers._replace(mark=mark.mark, mark_colour=mark.mark_colour)
    for y in range(painter.geometry.rows):
        lines = [painter.line(y, {cell("f5"): look}, Brackets(cell("o8"), NO_CELL)) for look in (numbers, both)]
        plain, marked = ("".join(segment.text for segment in line) for line in lines)
        assert plain == marked
        assert (lines[0] != lines[1]) == (y // scale == 10 and y % scale == painter.geometry.centre[1])


def test_numbers_that_touch_are_told_apart_without_colours() -> None:
    numbers = CellLook(heat_texts=("12", "37"))
    painter = Painter(Geometry(15, 1), MONOCHROME, PLAIN)
    line = painter.line(10, {cell("f5"): numbers, cell("g5"): numbers}, Brackets(NO_CELL, NO_CELL))
    assert [segment.style.reverse for segment in line if segment.text == "37"] == [True, False]  # type: ignore[union-attr]


def test_the_ground_of_a_cell_is_centred_on_its_crossing() -> None:
    """With cells of 4x2 it is half a line above the crossing's, that line, and half a line below."""
    heat = {cell("f6"): CellLook(heat=(0.2, 0.9)), cell("f5"): CellLook(heat=(0.3, 0.8))}
    painter = Painter(Geometry(15, 2), UNICODE, COLOURS)

    def grounds(y: int) -> list[tuple[str | None, str | None]]:
        """The upper and the lower colours of the two halves of the f file on a line; None is the board's."""
        places = [
            (letter, segment.style)
            for segment in painter.line(y, heat, Brackets(NO_CELL, NO_CELL))
            for letter in segment.text
        ]
        found = []
        for letter, style in (places[23], places[25]):
            assert style is not None
            assert style.color is not None
            assert style.bgcolor is not None
            pair = (style.color.name if letter == UPPER_HALF else style.bgcolor.name, style.bgcolor.name)
            found.append(tuple(None if name == WOOD else name for name in pair))
        return found  # type: ignore[return-value]

    left, right, left_below, right_below = (COLOURS.heat(share).bgcolor.name for share in (0.2, 0.9, 0.3, 0.8))  # type: ignore[union-attr]
    assert grounds(16) == [(None, None)] * 2
    assert grounds(17) == [(None, left), (None, right)]
    assert grounds(18) == [(left, left), (right, right)]
    assert grounds(19) == [(left, left_below), (right, right_below)]
    assert grounds(20) == [(left_below, left_below), (right_below, right_below)]
    assert grounds(21) == [(left_below, None), (right_below, None)]
    assert grounds(22) == [(None, None)] * 2


@pytest.mark.parametrize("scale", [2, 3])
@pytest.mark.parametrize("colour", [1, -1])
def test_stones_are_round_and_leave_a_gap_to_their_neighbours(scale: int, colour: int) -> None:
    """Nine stones, drawn in quarters of characters: each is as wide as high, without corners, and touches no other."""
    looks = {cell(f"{column}{row}"): CellLook(stone=colour) for column in "ghi" for row in (8, 9, 10)}
    painter = Painter(Geometry(15, scale), UNICODE, COLOURS)
    ink = COLOURS.stones[colour].color

    def quarters(y: int) -> list[list[bool]]:
        """True for each quarter of line `y` that is stone: two half rows."""
        line = [
            (letter, each.style) for each in painter.line(y, looks, Brackets(NO_CELL, NO_CELL)) for letter in each.text
        ]
        masks = [QUADRANTS.index(letter) if letter in QUADRANTS else 0 for letter, _ in line]
        inks = [(style.color == ink, style.bgcolor == ink) for _, style in line if style is not None]
        pairs = list(zip(masks, inks, strict=True))
        return [
            [(own if mask & bit else ground) for mask, (own, ground) in pairs for bit in bits]
            for bits in ((1, 2), (4, 8))
        ]

    pixels = [row for y in range(scale * 4, scale * 9) for row in quarters(y)]
    edge = 2 * scale - 1
    for lines, places in ((pixels, 2 * edge), (list(zip(*pixels, strict=True)), edge)):
        runs = [[len(run) for run in "".join(".#"[each] for each in line).split(".") if run] for line in lines]
        stones = [run for run in runs if run]
        assert all(len(run) == 3 and len(set(run)) == 1 for run in stones)  # three in a row are three
        assert max(run[0] for run in stones) == places
        assert stones[0][0] == min(run[0] for run in stones) < places  # no corners


@pytest.mark.parametrize("size", [3, 15, 20, 25])
@pytest.mark.parametrize("scale", [1, 2, 3])
def test_each_cell_is_found_in_its_block(size: int, scale: int) -> None:
    geometry = Geometry(size, scale)
    for each in range(size * size):
        x, y, width, height = geometry.block(each)
        assert geometry.cell_at(x + scale, y + height - 1) == each
        assert geometry.cell_at(x + width - 1, y + height - 1) == each
    assert geometry.cell_at(2, 0) == NO_CELL
    assert geometry.cell_at(5, geometry.rows - 1) == NO_CELL


def test_cells_grow_with_the_room() -> None:
    assert best_scale(Rules(), 79, 21) == 1
    assert best_scale(Rules(), 63, 31) == 2
    assert best_scale(Rules(), 62, 31) == 1
    assert best_scale(Rules(), 93, 46) == 3
    assert best_scale(Rules(25), 20, 5) == 1


@pytest.mark.parametrize(
    ("part", "style"),
    [
        *((f"{name} {colour}", styles[colour]) for name, styles in PAIRS.items() for colour in (1, -1)),
        ("last move", COLOURS.last),
        ("ring of a white stone", COLOURS.white_ring),
        ("labels", COLOURS.base),
        ("cursor", COLOURS.cursor),
        ("winning line", COLOURS.win),
        ("hint", COLOURS.hint),
        *((f"ghost without a number {colour}", COLOURS.bare_ghost(colour)) for colour in (1, -1)),
        *((f"heat {share}", COLOURS.heat(share)) for share in (0.0, 0.25, 0.5, 0.75, 1.0)),
    ],
)
def test_everything_on_the_board_has_enough_contrast(part: str, style: object) -> None:
    foreground, background = style.color, style.bgcolor  # type: ignore[attr-defined]
    assert contrast(foreground.name, background.name) >= 4.5, part


def test_stones_differ_by_shape() -> None:
    for glyphs in (UNICODE, ASCII, MONOCHROME):
        assert glyphs.black != glyphs.white
    for scale in (2, 3):
        lines = {}
        for colour in (1, -1):
            painter = Painter(Geometry(15, scale), UNICODE, COLOURS)
            y = scale * 7 + (scale - 1) // 2
            line = painter.line(y, {cell("h8"): CellLook(stone=colour)}, Brackets(NO_CELL, NO_CELL))
            lines[colour] = "".join(segment.text for segment in line)
        assert lines[1] != lines[-1]


def test_plain_styles_have_no_colours() -> None:
    for found in PLAIN[:-1]:
        for style in found.values() if isinstance(found, dict) else [found]:
            assert style.color is style.bgcolor is None


@pytest.mark.parametrize(
    ("size", "names"),
    [
        (3, ""),
        (4, ""),
        (7, "d4"),
        (9, "c3 c7 e5 g3 g7"),
        (15, "d4 d12 h8 l4 l12"),
        (19, "d4 d10 d16 j4 j10 j16 p4 p10 p16"),
        (20, "d4 d17 q4 q17"),
    ],
)
def test_star_points_are_at_the_usual_places(size: int, names: str) -> None:
    assert star_points(size) == {parse_cell(name, size) for name in names.split()}
