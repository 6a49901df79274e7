"""Copies of a game as text and pictures; pasted text: moves are played, anything else does nothing."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from PIL import Image
from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers.headless_driver import HeadlessDriver

from core.notation import parse_cell
from core.records.sgf import parse_trees
from core.rules import Rules
from gomoku_cli.commands.pictures.subjects import played
from gomoku_cli.tui.app import GomokuApp
from gomoku_cli.tui.drivers import limited
from gomoku_cli.tui.drivers.bursts import BurstDecoder, moves_in
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.layout import KEYS_DROPPED
from gomoku_cli.tui.setup import BoardSetup
from gomoku_cli.tui.terminal import is_in_field
from tests.support.cases import cases
from tests.support.commands import run
from tests.support.scripted_players import AnalysingPlayer, ScriptedPlayer
from tests.support.tui import TWO_PLAYERS, ThreadEngine, board_app, shown_game

MOVES = "h8 i9 h9 h7 g8"


async def test_the_shown_position_is_copied_as_moves_board_and_the_whole_game_as_sgf() -> None:
    async with board_app({}, setup=shown_game(MOVES)) as ui:
        await ui.press("comma", "y", "m")
        assert ui.app.clipboard == "h8 i9 h9 h7"
        assert ui.status.startswith("Copied as moves")
        await ui.press("y", "l")
        assert ui.app.clipboard == "https://gomocalc.com/#/h8i9h9h7"
        assert ui.status == "Copied as link, if the terminal allows it."
        assert played(ui.app.clipboard, Rules()).moves == ui.app.game.moves, "gomoku analyze takes it"
        await ui.press("y", "t")
        assert ui.app.clipboard == str(ui.app.game)
        await ui.press("y", "s")
        (tree,) = parse_trees(ui.app.clipboard)
        assert [node.move for node in tree.main_line()] == [parse_cell(move, 15) for move in MOVES.split()]
        ui.app.copy_to_clipboard("kept")
        await ui.press("y", "escape", "y", "b")
        assert ui.app.clipboard == "kept"


async def test_a_copied_sgf_has_the_values_of_analyses_and_leaves_the_game_as_it_is() -> None:
    async with board_app(AnalysingPlayer(15, ["i9"]), terminal=(120, 40)) as ui:
        await ui.press("c")
        await ui.until(lambda: ui.app.control.analysis is not None)
        await ui.press("c", "y", "s")
        assert "V[0.2000]" in ui.app.clipboard and "GOMOKU[" not in ui.app.clipboard
        assert not ui.app.game.tree.comment and not ui.app.game.tree.text("V")


async def test_the_game_is_drawn_into_the_folder(here: Path) -> None:
    async with board_app({}, setup=shown_game(MOVES)) as ui:
        for key, suffix in (("p", "png"), ("v", "svg"), ("g", "gif")):
            await ui.press("y", key)
            await ui.until(lambda: f".{suffix}" in ui.status)  # noqa: B023
            (path,) = here.glob(f"*.{suffix}")
            assert str(path) in ui.status.replace("\n", "")
        assert "5 moves, without a result" in next(here.glob("*.svg")).read_text()
        with Image.open(next(here.glob("*.gif"))) as animation:
            assert animation.n_frames == len(MOVES.split()) + 1  # type: ignore[attr-defined]


async def test_a_picture_that_cannot_be_written_names_its_file_and_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(Path, "cwd", lambda: tmp_path / "file")
    async with board_app({}, setup=shown_game(MOVES)) as ui:
        for key in "pvg":
            await ui.press("y", key)
            await ui.until(lambda: "file" in ui.status)
            assert ui.status.endswith(("file: Not a directory.", "file: File exists."))
            await ui.press("y", "m")
        monkeypatch.undo()
        folder = tmp_path / "gone"
        folder.mkdir()
        monkeypatch.chdir(folder)
        folder.rmdir()
        await ui.press("y", "v", status="There is no folder for the picture: No such file or directory.")


async def test_a_board_behind_a_page_draws_no_file_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gomoku_cli.tui.screens.dialogs.is_served", lambda: True)
    async with board_app({}, setup=shown_game(MOVES)) as ui:
        await ui.press("y")
        assert {button.id for button in ui.app.screen.query("Button")} == {f"answer-{key}" for key in "mltsb"}


async def test_moves_are_pasted_in_the_spelling_of_other_programs() -> None:
    async with board_app({}, setup=TWO_PLAYERS) as ui:
        await ui.paste("8,8,12\n9,7,31\n", moves="h8 i9")
        await ui.paste("3. h9 h7\n", moves="h8 i9 h9 h7")
        await ui.paste("https://gomocalc.com/#/a2a4\n")
        assert ui.moves[4:] == ["a2", "a4"]
        await ui.paste("h16 a1\n")
        assert "off the board" in ui.status
        assert len(ui.moves) == 6
    async with board_app({}, setup=BoardSetup(game=Game(Rules(19), Seats(None, None), [0]))) as ui:
        await ui.press("y", "l")
        assert ui.status.endswith("Its page plays on 15x15; set it to 5 in a row on 19x19.")


def test_picture_draws_a_game_move_by_move(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = tmp_path / "game.sgf"
    game.write_text("(;GM[4]SZ[9];B[ee];W[ea];B[de];W[da];B[ce];W[ca];B[be];W[ba];B[ae])")
    assert run(capsys, "picture", game, "--figure", tmp_path / "game.gif")[0] == 0
    with Image.open(tmp_path / "game.gif") as animation:
        assert animation.n_frames == 10  # type: ignore[attr-defined]
        frames = []
        for number in range(10):
            animation.seek(number)
            frames.append((animation.convert("RGB").tobytes(), animation.info["duration"]))
    assert len({pixels for pixels, _ in frames}) == 10
    assert frames[-1][1] > frames[0][1]


# Pasted text


def events_of(*reads: str, is_in_field: Callable[[], bool] = bool) -> list[events.Event]:
    """The events that the terminal's driver makes of what it reads; a half of a surrogate pair is a wrong byte."""
    decoder, parser = BurstDecoder(is_in_field=is_in_field), XTermParser()
    found = [event for read in reads for event in parser.feed(decoder.decode(as_bytes(read)))]
    return [event for event in found if isinstance(event, events.Key | events.Paste)]


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def shown(event: events.Event) -> str:
    return event.key if isinstance(event, events.Key) else f"paste {event.text!r}"


@pytest.mark.parametrize(("reads", "expected"), cases("bursts"))
def test_a_burst_of_text_is_a_paste_and_keys_stay_keys(reads: list[str], expected: list[str]) -> None:
    assert [shown(event) for event in events_of(*reads)] == expected


@pytest.mark.parametrize(("pieces", "expected"), cases("bursts_in_pieces"))
def test_a_burst_that_comes_in_pieces_is_one(pieces: list[str], expected: list[str]) -> None:
    first, *rest = map(as_bytes, pieces)
    more = iter(rest)
    decoder, parser = BurstDecoder(read_more=lambda: next(more, b"")), XTermParser()
    found = [event for event in parser.feed(decoder.decode(first)) if isinstance(event, events.Key | events.Paste)]
    assert [shown(event) for event in found] == expected


@pytest.mark.parametrize(("reads", "expected"), cases("bursts_in_fields"))
def test_control_keys_in_a_burst_stay_keys_in_a_text_field(reads: list[str], expected: list[str]) -> None:
    assert [shown(event) for event in events_of(*reads, is_in_field=lambda: True)] == expected


@pytest.mark.parametrize(("text", "moves"), cases("pasted_moves"))
def test_coordinates_alone_are_moves(text: str, moves: list[str]) -> None:
    assert moves_in(text) == moves


async def test_pasted_text_does_nothing_but_say_so() -> None:
    async with board_app(ScriptedPlayer(15, ["i9"])) as ui:
        await ui.play("h8")
        await ui.paste("quit, new game: yes\nu u s")
        assert ui.status.startswith("Text that is no move does nothing: quit, new game")
        assert ui.moves == ["h8", "i9"]
        assert ui.app.screen is ui.main_screen
        await ui.paste(" \n", moves="h8 i9")
        await ui.press("q")
        await ui.paste("y and more\n")
        assert ui.app.is_running
        assert ui.app.screen is not ui.main_screen, "the question waits for a key"
        await ui.press("n")


async def test_pasted_moves_are_played_while_it_is_a_humans_turn() -> None:
    async with board_app(AnalysingPlayer(15), setup=TWO_PLAYERS) as ui:
        await ui.paste("h8 i9 h9\n", moves="h8 i9 h9")
        await ui.paste("c3")
        assert len(ui.moves) == 3, "one move without the end of its line waits for enter"
        await ui.press("enter")
        assert ui.moves[3:] == ["c3"]
        await ui.paste("h8\n", status="h8 already holds a stone.")
    async with board_app(ScriptedPlayer(15, ["a1"])) as ui:
        await ui.paste("h8 i9 g7\n")
        assert ui.moves[0] == "h8"
        assert ui.status == "Not played, since it is not a human's turn: i9 g7."
        await ui.until(lambda: ui.moves == ["h8", "a1"])


class TypedDriver(limited.LimitedDriver, HeadlessDriver):
    """The part of the terminal's driver that sends keys."""

    def type(self, *reads: str) -> None:
        """Send what the terminal brought, read by read."""
        for event in events_of(*reads):
            self.send_message(event)


async def test_pasted_moves_are_a_variation_where_a_review_stands() -> None:
    async with board_app(AnalysingPlayer(15), setup=shown_game("h8 i9 h9")) as ui:
        await ui.press("comma", "comma")
        await ui.paste("h8 d5\n", moves="h8", status="Not played, since the first one cannot be played here: h8 d5.")
        assert ui.app.control.review.active
        await ui.paste("d4 d5\n", moves="h8 d4 d5")
        game = ui.app.game
        assert not game.node.is_main()
        assert [len(game.node_at(ply).variations) for ply in range(3)] == [1, 2, 1]
    async with board_app(AnalysingPlayer(15), setup=shown_game("a1 a2 b1 b2 c1 c2 d1 d2 e1", reviews=True)) as ui:
        await ui.paste("d4 d5\n", status="Not played, since the game is over: d4 d5.")
        assert ui.app.control.review.active


async def test_keys_typed_before_the_board_is_shown_are_lost_together_and_said_to_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = ThreadEngine({})
    assert not GomokuApp(engine, TWO_PLAYERS).is_shown
    async with board_app(engine, setup=TWO_PLAYERS) as ui:
        assert ui.app.is_shown
        driver = TypedDriver(ui.app)
        ui.app.is_shown = False
        driver.type("tt/h8\r/a1\r", "/")
        ui.app.is_shown = True
        driver.type("a", "3", "\r")  # the rest of a move whose beginning is lost
        await ui.until(lambda: ui.status.startswith("Keys typed before the board was shown are lost"))
        assert ui.moves == []
        monkeypatch.setattr(limited, "_PAUSE_S", 0.0)
        driver.type("/", "h", "8", "\r")
        await ui.until(lambda: ui.moves == ["h8"])
        assert ui.app.notices == [KEYS_DROPPED] and KEYS_DROPPED in ui.panel, "the note outlives the move"


async def test_a_quickly_typed_comment_is_saved_by_its_control_key() -> None:
    async with board_app(ScriptedPlayer(15, ["i9"])) as ui:
        await ui.press("e")
        for event in events_of("a long note\x13", is_in_field=partial(is_in_field, ui.app)):
            event.set_sender(ui.app)
            ui.app.post_message(event)
        await ui.until(lambda: ui.app.screen is ui.main_screen)
        assert ui.app.game.node.comment == "a long note"
        assert not is_in_field(ui.app)


async def test_text_pasted_into_the_line_for_a_move_is_played_with_its_end() -> None:
    async with board_app({}, setup=TWO_PLAYERS) as ui:
        await ui.press("slash")
        await ui.paste("h8", moves="")
        await ui.paste("\n", moves="h8")
        await ui.press("slash", "i")
        await ui.paste("9\rq\ry", moves="h8 i9")
        assert ui.app.screen is ui.main_screen
