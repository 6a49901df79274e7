"""The board as pictures: a terminal shows what was drawn, by each protocol, and its answers name the protocol."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageStat
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.events import Key

from core.rules import BLACK, EMPTY, WHITE, Rules
from gomoku_cli.tui.drivers.answers import USUAL_CHARACTER, Answers, Graphics, Told, may_ask
from gomoku_cli.tui.drivers.bursts import BurstDecoder
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.graphics.pictures import Pictures
from gomoku_cli.tui.graphics.sprites import Sprite, draw
from gomoku_cli.tui.layout import BoardApp
from gomoku_cli.tui.setup import BoardSetup
from gomoku_cli.tui.widgets.painting import NOTHING, CellLook
from tests.support.cases import cases
from tests.support.graphics_terminal import GraphicsTerminal
from tests.support.tui import BoardDriver, board_app

CHARACTER = USUAL_CHARACTER
STARS = {48, 56, 112, 168, 176}
PROTOCOLS = (Graphics.KITTY, Graphics.ITERM2, Graphics.SIXEL)
LOOKS = (
    NOTHING,
    CellLook(stone=BLACK),
    CellLook(stone=WHITE),
    CellLook(stone=WHITE, number="128", is_last=True),
    CellLook(stone=BLACK, is_winning=True),
    CellLook(ghost=WHITE, ghost_text="2"),
    CellLook(heat=(1.0, 0.25)),
    CellLook(heat=(1.0, 0.25), heat_texts=("37", "<")),
    CellLook(mark="4", mark_colour=WHITE),
    CellLook(mark="x", mark_colour=BLACK),
    CellLook(mark="?", mark_colour=EMPTY),
    CellLook(label="A"),
)


def cell(look: CellLook = NOTHING, scale: int = 2, **more: Any) -> Sprite:
    return Sprite(2 * scale, scale, more.pop("crossing", (0, 0)), look=look, **more)


def alike(image: Image.Image, other: Image.Image) -> bool:
    """True if nobody sees a difference: on average less than two steps of 255, at no point more than 48."""
    difference = ImageStat.Stat(ImageChops.difference(image, other))
    return image.size == other.size and max(difference.mean) < 2 and max(high for _, high in difference.extrema) <= 48


# Sprites


def test_every_look_is_a_picture_of_its_own_at_each_size() -> None:
    for scale in (1, 2, 3):
        pictures = [draw(cell(look, scale, **kind), CHARACTER) for look in LOOKS for kind in ({}, {"has_cursor": True})]
        assert {image.size for image in pictures} == {(20 * scale, 20 * scale)}
        assert len({image.tobytes() for image in pictures}) == 2 * len(LOOKS)


def test_lines_of_neighbours_meet_and_end_at_the_edges() -> None:
    ends = {"left": (0, 19), "right": (39, 19), "top": (19, 0), "bottom": (19, 39)}
    ink = draw(cell(), (10, 20)).getpixel((19, 19))

    def reached(crossing: tuple[int, int]) -> set[str]:
        image = draw(cell(crossing=crossing), (10, 20))
        return {name for name, place in ends.items() if image.getpixel(place) == ink}

    assert reached((0, 0)) == set(ends)
    assert reached((-1, -1)) == {"right", "bottom"}
    assert reached((1, 1)) == {"left", "top"}
    assert reached((0, 1)) == {"left", "top", "bottom"}


def test_stones_are_round_with_soft_edges_and_a_gap_to_their_neighbours() -> None:
    for stone in (BLACK, WHITE):
        image, empty = draw(cell(CellLook(stone=stone), 3), (10, 20)), draw(cell(scale=3), (10, 20))
        changed = ImageChops.difference(image, empty).convert("L").point(lambda value: 255 * (value > 48))
        left, top, right, bottom = changed.getbbox() or (0, 0, 0, 0)
        assert abs((right - left) - (bottom - top)) <= 2
        assert left >= 2
        assert right <= 58
        along_the_edge = {image.getpixel((x, top + 6)) for x in range(left, left + 20)}
        assert len(along_the_edge) > 4  # between the colours of stone and wood


# Protocols


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("scale", [1, 3])
def test_a_terminal_shows_what_was_drawn(protocol: Graphics, scale: int) -> None:
    pictures, terminal = Pictures(protocol, CHARACTER), GraphicsTerminal(40, 12, CHARACTER)
    sprites = [cell(look, scale, has_cursor=look is NOTHING) for look in LOOKS[:6]] + [cell(NOTHING, scale)] * 2
    sprites = sprites[: 38 // (2 * scale)]
    for row in range(scale):
        terminal.write(pictures.encode(f"\x1b[{row + 3};2H" + "".join(pictures.rows(each)[row] for each in sprites)))
        terminal.write("|")  # behind the last one
    for number, sprite in enumerate(sprites):
        shown = terminal.region(1 + 2 * scale * number, 2, 2 * scale, scale)
        assert alike(shown, draw(sprite, CHARACTER)), sprite
    behind = terminal.region(1 + 2 * scale * len(sprites), 2, 1, scale)
    assert behind.getcolors() == [(CHARACTER[0] * CHARACTER[1] * scale, (1, 2, 3))]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_cropped_line_shows_the_rest_of_its_pictures(protocol: Graphics) -> None:
    pictures, terminal = Pictures(protocol, CHARACTER), GraphicsTerminal(20, 4, CHARACTER)
    stone = cell(CellLook(stone=BLACK), 3)
    terminal.write(pictures.encode("\x1b[1;1H" + (pictures.rows(stone)[1] * 2)[4:9]))
    expected = draw(stone, CHARACTER)
    width, height = CHARACTER
    assert alike(terminal.region(0, 0, 2, 1), expected.crop((4 * width, height, 6 * width, 2 * height)))
    assert alike(terminal.region(2, 0, 3, 1), expected.crop((0, height, 3 * width, 2 * height)))


def test_kitty_gets_each_picture_once_and_forgets_them_all() -> None:
    pictures, terminal = Pictures(Graphics.KITTY, CHARACTER), GraphicsTerminal(40, 12, CHARACTER)
    text = "\x1b[1;1H" + "".join(pictures.rows(cell(look))[0] for look in LOOKS)
    terminal.write(pictures.encode(text))
    terminal.write(pictures.encode(text))
    assert terminal.drawn == len(LOOKS)
    pictures.clear()
    other = pictures.rows(cell(scale=3))[0]
    assert pictures.encode("text") == "text"
    assert len(terminal.images) == len(LOOKS), "they stay until there are others"
    terminal.write(pictures.encode(other))
    assert len(terminal.images) == 1
    pictures.clear()
    terminal.write(pictures.forgotten())
    assert not terminal.images
    assert pictures.encode(other) == " " * 6  # no picture stands behind these characters any more


def test_no_sprite_is_lost_when_the_code_points_run_out() -> None:
    pictures, number = Pictures(Graphics.KITTY, CHARACTER), 0
    while not pictures.is_full:
        pictures.rows(cell(CellLook(stone=BLACK, number=str(number)), 3))
        number += 1
    assert number > 2000
    before = pictures.rows(cell())
    pictures.clear()
    assert not pictures.is_full
    assert pictures.rows(cell()) != before


# The board


@asynccontextmanager
async def shown_board(
    monkeypatch: pytest.MonkeyPatch, graphics: Graphics, moves: str = "", terminal: tuple[int, int] = (120, 50)
) -> AsyncIterator[tuple[BoardDriver, GraphicsTerminal, list[str]]]:
    """Yield the app, a terminal that shows it, and the texts that it gets."""
    emulator, texts = GraphicsTerminal(*terminal, CHARACTER), list[str]()

    def display(app: BoardApp, screen: Any, renderable: Any) -> None:
        """Write an update, as Textual does where there is a terminal."""
        if renderable is not None and not app._batch_count:
            text = renderable.render_segments(app.console)
            texts.append(text if app.pictures is None else app.pictures.encode(text))
            emulator.write(texts[-1])

    monkeypatch.setattr(App, "_display", display)
    game = Game(Rules(), Seats(None, None), [int(move) for move in moves.split()])
    setup = BoardSetup(game=game, graphics=graphics)
    async with board_app({}, setup=setup, terminal=terminal) as ui:
        ui.app.hear(Told(character=CHARACTER, is_complete=True))
        await ui.pilot.pause()
        yield ui, emulator, texts


def assert_shown(ui: BoardDriver, emulator: GraphicsTerminal) -> None:
    """Compare each cell with its picture."""
    origin = ui.board.region.offset
    scale, size = ui.board.geometry.scale, ui.board.geometry.size
    game = ui.app.game
    for each in range(size * size):
        row, column = divmod(each, size)
        x, y, width, height = ui.board.geometry.cell(each)
        look = CellLook(stone=game.stones[each], is_last=bool(game.moves) and each == game.moves[-1])
        edges, is_star = ((row == 0) - (row == size - 1), (column == size - 1) - (column == 0)), each in STARS
        sprite = Sprite(2 * scale, scale, edges, is_star, look, has_cursor=each == ui.board.cursor)
        shown = emulator.region(origin.x + x, origin.y + y, width, height)
        assert alike(shown, draw(sprite, emulator.character)), each


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_the_board_on_the_screen_is_its_pictures(monkeypatch: pytest.MonkeyPatch, protocol: Graphics) -> None:
    async with shown_board(monkeypatch, protocol, "112 113 97") as (ui, emulator, _):
        await ui.press("left", "up", "enter", "right")
        await ui.pilot.pause()
        assert len(ui.app.game.moves) == 4
        assert_shown(ui, emulator)
        await ui.press("question_mark")
        await ui.pilot.pause()
        assert len(ui.app.screen_stack) == 2
        await ui.press("escape")
        await ui.pilot.pause()
        assert_shown(ui, emulator)
        await ui.pilot.resize_terminal(60, 20)
        await ui.pilot.pause()
        await ui.pilot.resize_terminal(120, 50)
        ui.app.hear(Told(character=CHARACTER, is_complete=True))
        await ui.pilot.pause()
        assert_shown(ui, emulator)


MAX_BYTES = {Graphics.NONE: 600, Graphics.KITTY: 450, Graphics.ITERM2: 4_000, Graphics.SIXEL: 6_000}


@pytest.mark.parametrize("protocol", MAX_BYTES)
async def test_a_cursor_move_costs_few_bytes(monkeypatch: pytest.MonkeyPatch, protocol: Graphics) -> None:
    async with shown_board(monkeypatch, protocol, terminal=(120, 50)) as (ui, emulator, texts):
        await ui.press("left", "right", "up", "down")  # kitty gets each picture once
        for key in ("left", "up", "right", "down"):
            texts.clear()
            await ui.press(key)
            await ui.pilot.pause()
            assert 0 < len("".join(texts).encode()) <= MAX_BYTES[protocol], key
        assert (emulator.drawn == 0) is (protocol is Graphics.NONE)


async def test_characters_of_another_size_draw_the_board_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown_board(monkeypatch, Graphics.KITTY, "112") as (ui, emulator, _):
        emulator.resize((6, 13))
        ui.app.hear(Told(character=(6, 13), is_complete=True))
        await ui.pilot.pause()
        assert_shown(ui, emulator)
        sizes = {image.size for image, columns, _ in emulator.images.values() if columns == 4}
        assert sizes == {(24, 26), (24, 13)}  # of cells, of letters


@pytest.mark.parametrize("plain", ["ascii", "no colours", "none"])
async def test_characters_stay_where_no_pictures_are_wanted(monkeypatch: pytest.MonkeyPatch, plain: str) -> None:
    if plain == "no colours":
        monkeypatch.setenv("NO_COLOR", "1")
    graphics = Graphics.NONE if plain == "none" else Graphics.KITTY
    setup = BoardSetup(seats=Seats(None, None), ascii_only=plain == "ascii", graphics=graphics)
    async with board_app({}, setup=setup) as ui:
        ui.app.hear(Told(name="kitty(0.41.1)", is_complete=True))
        assert ui.app.pictures is None


# Answers


@pytest.mark.parametrize(("answers", "expected"), cases("terminal_answers"))
def test_the_answers_of_a_terminal_name_its_protocol(answers: str, expected: Graphics) -> None:
    told: list[Told] = []
    assert Answers(told.append).taken_from(answers.encode()) == b""
    assert [each.protocol for each in told] == [expected]


def test_keys_between_late_answers_are_kept_however_they_are_cut() -> None:
    sent = b"q\x1b[A\x1bP>|foot(1.21.0)\x1b\\h\x1b[6;19;9tj\x1b[?62;4c\x1b[6~\x1b[6;22;11tk"
    for cut in range(len(sent)):
        told: list[Told] = []
        answers, parser = Answers(told.append), XTermParser()
        decoder = BurstDecoder(without_answers=answers.taken_from)
        reads = [sent] if cut == 0 else [sent[:cut], sent[cut:]]
        found = [event for read in reads for event in parser.feed(decoder.decode(read))]
        # A key Escape is never held back for what may follow.
        if not sent[:cut].endswith((b"\x1b", b"\x1b[", b"\x1bP")):
            assert [event.key for event in found if isinstance(event, Key)] == ["q", "up", "h", "j", "pagedown", "k"], (
                cut
            )
            assert told[-1] == Told("foot(1.21.0)", "62;4", (11, 22), True)


def test_some_terminals_are_asked_nothing() -> None:
    assert may_ask({"TERM": "xterm-256color"})
    assert not any(may_ask({"TERM": name}) for name in ("linux", "dumb", ""))
    assert not may_ask({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"})
