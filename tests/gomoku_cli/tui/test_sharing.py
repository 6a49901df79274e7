"""Copies of a game: text for the clipboard, pictures in files, and lists of moves that are pasted."""

from pathlib import Path

import pytest
from PIL import Image

from core.notation import parse_cell
from core.records.sgf import parse_trees
from core.rules import Rules
from gomoku_cli.commands.pictures.subjects import played
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.setup import BoardSetup
from tests.support.commands import run
from tests.support.scripted_players import AnalysingPlayer
from tests.support.tui import TWO_PLAYERS, ThreadEngine, board_app, shown_game

MOVES = "h8 i9 h9 h7 g8"


async def test_the_shown_position_is_copied_as_moves_board_and_the_whole_game_as_sgf() -> None:
    async with board_app(ThreadEngine({}), setup=shown_game(MOVES)) as ui:
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


async def test_the_game_is_drawn_into_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with board_app(ThreadEngine({}), setup=shown_game(MOVES)) as ui:
        for key, suffix in (("p", "png"), ("v", "svg"), ("g", "gif")):
            await ui.press("y", key)
            await ui.until(lambda: f".{suffix}" in ui.status)  # noqa: B023
            (path,) = tmp_path.glob(f"*.{suffix}")
            assert str(path) in ui.status.replace("\n", "")
        assert "5 moves, without a result" in next(tmp_path.glob("*.svg")).read_text()
        with Image.open(next(tmp_path.glob("*.gif"))) as animation:
            assert animation.n_frames == len(MOVES.split()) + 1  # type: ignore[attr-defined]


async def test_a_picture_that_cannot_be_written_names_its_file_and_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(Path, "cwd", lambda: tmp_path / "file")
    async with board_app(ThreadEngine({}), setup=shown_game(MOVES)) as ui:
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
    async with board_app(ThreadEngine({}), setup=shown_game(MOVES)) as ui:
        await ui.press("y")
        assert {button.id for button in ui.app.screen.query("Button")} == {f"answer-{key}" for key in "mltsb"}


async def test_moves_are_pasted_in_the_spelling_of_other_programs() -> None:
    async with board_app(ThreadEngine({}), setup=TWO_PLAYERS) as ui:
        await ui.paste("8,8,12\n9,7,31\n", moves="h8 i9")
        await ui.paste("3. h9 h7\n", moves="h8 i9 h9 h7")
        await ui.paste("https://gomocalc.com/#/a2a4\n")
        assert ui.moves[4:] == ["a2", "a4"]
        await ui.paste("h16 a1\n")
        assert "off the board" in ui.status
        assert len(ui.moves) == 6
    async with board_app(ThreadEngine({}), setup=BoardSetup(game=Game(Rules(19), Seats(None, None), [0]))) as ui:
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
