"""The board's lines: sizes of cells, marks, and readable colours."""

from collections.abc import Sequence

import pytest
from rich.cells import cell_len
from rich.color import Color

from core.notation import parse_cell
from core.rules import NO_CELL, Rules
from gomoku_cli.tui.widgets.board import best_scale
from gomoku_cli.tui.widgets.glyphs import ASCII, COLOURS, MONOCHROME, PLAIN, UNICODE, Palette, star_points
from gomoku_cli.tui.widgets.painting import Brackets, CellLook, Geometry, Painter
from tests.support.cases import cases


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


NO_BRACKETS = Brackets(NO_CELL, NO_CELL)
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
    cell("m6"): CellLook(label="long"),
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


@pytest.mark.parametrize(
    ("label", "shown"), [("A", "AAA"), ("longer", ("lo", "lon", "longe")), ("黑白", ("黑", "黑", "黑白"))]
)
def test_a_label_has_the_room_of_its_cell(label: str, shown: Sequence[str]) -> None:
    looks = {cell("f5"): CellLook(label=label), cell("g5"): CellLook(stone=1)}
    for scale, text in enumerate(shown, start=1):
        geometry = Geometry(15, scale)
        line = Painter(geometry, UNICODE, COLOURS).line(10 * scale + geometry.centre[1], looks, NO_BRACKETS)
        written = "".join(segment.text for segment in line)
        assert [letter for letter in written if letter in label] == list(text), "the rest is left out"
        assert cell_len(written) == geometry.columns


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


@pytest.mark.parametrize("look", [CellLook(stone=1, number="43"), CellLook(heat=(0.2, 0.9), heat_texts=("12", "43"))])
@pytest.mark.parametrize(("place", "shown"), [("f5", "[4343"), ("g5", "4343"), ("h5", "4343┼]")])
@pytest.mark.parametrize("palette", [COLOURS, PLAIN])
def test_brackets_leave_the_digits_of_small_cells(look: CellLook, place: str, shown: str, palette: Palette) -> None:
    painter = Painter(Geometry(15, 1), UNICODE, palette)
    looks = {cell("f5"): look, cell("g5"): look}
    plain, marked = (painter.line(10, looks, Brackets(cursor, NO_CELL)) for cursor in (NO_CELL, cell(place)))
    text = "".join(segment.text for segment in marked)
    assert shown in text
    assert text.count("43") == 2
    assert plain != marked, "the cursor is seen between numbers too"


def test_numbers_that_touch_are_told_apart_without_colours() -> None:
    numbers = CellLook(heat_texts=("12", "37"))
    painter = Painter(Geometry(15, 1), MONOCHROME, PLAIN)
    line = painter.line(10, {cell("f5"): numbers, cell("g5"): numbers}, NO_BRACKETS)
    assert [segment.style.reverse for segment in line if segment.text == "37"] == [True, False]  # type: ignore[union-attr]


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


def test_everything_on_the_board_has_enough_contrast() -> None:
    unread = {"line", "hover", "has_colours"}
    parts = {name: style for name, style in COLOURS._asdict().items() if name not in unread}
    styles = {}
    for name, style in parts.items():
        styles |= (
            {f"{name} {colour}": side for colour, side in style.items()} if isinstance(style, dict) else {name: style}
        )
    styles |= {f"bare ghost {colour}": COLOURS.bare_ghost(colour) for colour in (1, -1)}
    styles |= {f"heat {share}": COLOURS.heat(share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)}
    assert [part for part, style in styles.items() if contrast(style.color.name, style.bgcolor.name) < 4.5] == []


def test_plain_styles_have_no_colours() -> None:
    for found in PLAIN[:-1]:
        for style in found.values() if isinstance(found, dict) else [found]:
            assert style.color is style.bgcolor is None


@pytest.mark.parametrize(("size", "names"), cases("star_points"))
def test_star_points_are_at_the_usual_places(size: int, names: str) -> None:
    assert star_points(size) == {parse_cell(name, size) for name in names.split()}
