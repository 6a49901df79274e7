"""The dialogs: new game, keys, palette, questions; and the command without options."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.widgets import Input, Select, Static

from core.rules import Rules, Variant
from gomoku_cli.study.clocks import TimeControl
from gomoku_cli.tui import app as tui_app
from gomoku_cli.tui import quick
from gomoku_cli.tui.engine import client
from gomoku_cli.tui.engine.files import opened
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.keys import GROUPS
from gomoku_cli.tui.screens.dialog import Question
from gomoku_cli.tui.screens.help import HelpScreen
from gomoku_cli.tui.screens.new_game import NewGameScreen, opponents
from gomoku_cli.tui.setup import BoardSetup, Course
from search.tree.settings import Policy
from tests.support.screens import screen_text
from tests.support.scripted_players import AnalysingPlayer, ScriptedPlayer
from tests.support.tui import ThreadEngine, board_app


async def test_a_new_game_takes_every_choice_of_the_dialog() -> None:
    engine = ThreadEngine(
        {"scripted [b]": ScriptedPlayer(), "mentor:2": ScriptedPlayer(9), "random": ScriptedPlayer(9)}
    )
    async with board_app(engine) as ui:
        await ui.press("n")
        screen = ui.app.screen

        def choose(**values: str) -> None:
            for name, value in values.items():
                field = screen.query_one(f"#{name}")
                field.value = value

        for name, value, problem in (
            ("size", "2", "board size 2 is outside 3 to 25"),
            ("size", "", "the board size is no whole number"),
            ("amount", "-4", "the limit is between 0 and"),
            ("stage", "-1", "the stage is 0 or more stones"),
        ):
            choose(**{name: value})
            await ui.press("ctrl+s")
            assert problem in str(screen.query_one("#problem", Static).render())
            choose(size="15", amount="400", stage="6")
            await ui.pilot.pause()
            assert not str(screen.query_one("#problem", Static).render()), "it vanishes with a change"
        choose(unit="seconds", amount="0")
        await ui.press("ctrl+s")
        assert "the limit is between 0 and" in str(screen.query_one("#problem", Static).render())
        choose(opponent="mentor:2", side="white", size="9", connect="4", variant="standard")
        choose(amount="1.5", policy="deterministic", stage="3")
        await ui.press("ctrl+s")
        choice = PlayerChoice(spec="mentor:2", seconds=1.5, policy=Policy.DETERMINISTIC, switch_stage=3)
        await ui.until(lambda: ui.app.game.seats == Seats(choice, None))
        assert ui.app.game.rules == Rules(9, 4, Variant.STANDARD)
        await ui.until(lambda: len(ui.moves) == 1)
        await ui.press("n")
        screen = ui.app.screen
        assert "Not for mentor:2: own policy." in ui.dialog, "the mentor keeps to a time"
        choose(side="none", black="random")
        await ui.pilot.pause()
        assert "Not for random: own limit and policy." in ui.dialog
        await ui.press("ctrl+s")
        await ui.until(lambda: ui.app.game.seats.human == 0)
        assert ui.app.game.seats.name_of(1) == "random"
        await ui.press("n")
        screen = ui.app.screen
        assert screen.query_one("#pace", Input).value == "0"
        choose(side="both", undo="no", pace="1.5", bell="yes")
        screen.set_focus(screen.query_one("#clock"))
        await ui.press(*"5-3", "ctrl+s", dialog="a clock is minutes")
        await ui.press("backspace", "backspace", *"+3")
        await ui.pilot.click("#start")
        await ui.until(lambda: ui.app.game.seats == Seats(None, None))
        assert ui.app.game.control == TimeControl(300, 3)
        assert ui.app.control.match.clock_texts == ("5:00", "5:00")
        assert ui.app.control.course == Course(takes_back=False, pace_s=1.5, bell=True)
        await ui.press("n")
        screen = ui.app.screen
        assert screen.query_one("#undo", Select).value == "no"
        choose(pace="-1")
        await ui.press("ctrl+s", dialog="the pace is between 0 and 3,600 seconds")
        await ui.press("tab", "tab", "tab", "down", "up")
        await ui.pilot.click("#back")
        assert ui.app.screen is ui.main_screen


async def test_a_new_game_is_asked_for_during_a_game_and_arrows_choose_in_an_open_list_or_go_to_the_next_row() -> None:
    async with board_app(ScriptedPlayer(15, ["i9"])) as ui:
        await ui.play("h8")
        await ui.press("n", dialog="Leave this game for a new one?")
        for key in ("n", "escape"):
            assert isinstance(ui.app.screen, Question)
            await ui.press(key, moves="h8 i9")
            assert ui.app.screen is ui.main_screen
            await ui.press("n")
        await ui.press("y")
        screen = ui.app.screen
        assert isinstance(screen, NewGameScreen)
        for field, rows_before in (("opponent", 0), ("side", 1)):
            select = screen.query_one(f"#{field}", Select)
            screen.set_focus(select)
            before = select.value
            await ui.press("enter")
            assert select.expanded
            await ui.press("down", "down", "up")
            assert select.expanded, "the arrows belong to the list"
            await ui.press("enter")
            assert not select.expanded
            assert select.value != before
            assert ui.app.focused is select, rows_before
        await ui.press("enter", "down", "escape")
        assert not screen.query_one("#side", Select).expanded
        assert ui.app.screen is screen, "escape closes the list first"
        screen.set_focus(screen.query_one("#size"))
        await ui.press("down")
        assert ui.app.focused is screen.query_one("#connect")
        await ui.press("up", "up")
        assert ui.app.focused is screen.query_one("#black")
        await ui.press("escape", moves="h8 i9")


async def test_lists_with_little_room_or_none_take_their_keys() -> None:
    async with board_app(ScriptedPlayer()) as ui:
        for opening, terminal in ((("ctrl+p", "a"), (10, 3)), (("ctrl+p",), (1, 1)), (("n", "enter"), (2, 40))):
            await ui.pilot.resize_terminal(*terminal)
            await ui.press(*opening, "pagedown", "pageup", "end")
            await ui.pilot.resize_terminal(80, 24)  # the list is drawn again
            await ui.pilot.resize_terminal(*terminal)
            await ui.press("pagedown", "home", "pageup", "escape", "escape")
            assert ui.app.screen is ui.main_screen
        await ui.pilot.resize_terminal(24, 10)
        await ui.press("n", "enter", "pageup", "enter")
        assert ui.app.screen.query_one("#opponent", Select).value != "scripted [b]", "the fields have room"


async def test_the_players_of_a_game_are_changed(tmp_path: Path) -> None:
    players = {"scripted [b]": ["i9"], "random": [], "level:3": ["a1"]}
    async with board_app({name: ScriptedPlayer(15, moves) for name, moves in players.items()}, folder=tmp_path) as ui:
        await ui.play("h8")
        (path,) = tmp_path.iterdir()
        for name in ("random", "level:3"):
            await ui.press("ctrl+o", dialog="Players of this game")
            assert not ui.app.screen.query_one("#size").region, "its board stays"
            ui.app.screen.query_one("#opponent", Select).value = name
            await ui.press("ctrl+s", status=f"The game goes on: you with Black, {name} with White.")
            assert opened(path).game.tree.text("PW") == name
        assert ui.app.game.unrated == "the players were changed" and "rated" not in ui.title
        await ui.play("h9", moves="h8 i9 h9 a1")
        await ui.press("minus", "y", "ctrl+o", status="The game is over: n begins another.")


async def test_a_record_goes_on_against_an_engine(tmp_path: Path) -> None:
    path = tmp_path / "foreign.sgf"
    path.write_text("(;GM[4]SZ[15];B[hh];W[hi])")
    setup = BoardSetup(game=Game.from_saved(opened(path).game), path=str(path), reviews=True)
    setup.game.seats = Seats(None, PlayerChoice(spec="mine"))
    engine = ThreadEngine({"default": AnalysingPlayer(15, ["a1"]), "mine": AnalysingPlayer(15)}, folder=tmp_path)
    async with board_app(engine, setup=setup) as ui:
        await ui.press("comma")
        for name in ("mine", "default"):
            await ui.until(lambda: {ui.app.game.speaker_at(ply) for ply in range(3)} == {name})  # noqa: B023
            await ui.press("ctrl+o")
            ui.app.screen.query_one("#opponent", Select).value = "default"
            ui.app.screen.query_one("#side", Select).value = "white"
            await ui.press("ctrl+s")
        await ui.play("c3", moves="h8 c3 a1")


def test_the_opponents_are_those_of_the_package_and_the_runs_folder(tmp_path: Path) -> None:
    (tmp_path / "mine" / "models").mkdir(parents=True)
    (tmp_path / "mine" / "models" / "best.safetensors").touch()
    (tmp_path / "other.safetensors").touch()
    (tmp_path / "empty").mkdir()
    names = list(opponents(tmp_path))
    assert names[0] == "default"
    assert {"mentor:1", "mentor:5", "mentor:paper", "random"} <= set(names)
    assert names[-2:] == [str(tmp_path / "mine"), str(tmp_path / "other.safetensors")]
    assert opponents(tmp_path / "nowhere")


async def test_help_and_palette_know_every_key() -> None:
    setup = BoardSetup(seats=Seats(None, PlayerChoice(spec="scripted [b]")), asks_first=True)
    async with board_app(ScriptedPlayer(), setup=setup) as ui:
        assert isinstance(ui.app.screen, NewGameScreen)
        await ui.press("escape", "question_mark")
        assert isinstance(ui.app.screen, HelpScreen)
        for commands in GROUPS.values():
            for each in commands:
                assert each.help in ui.dialog
                assert each.shown in ui.dialog or not each.help
        await ui.press("escape")
        await ui.pilot.resize_terminal(40, 24)
        await ui.press("question_mark")
        await ui.pilot.pause()
        assert "capital letter" in " ".join(screen_text(ui.app).replace("│", " ").split()), "long lines wrap"
        await ui.pilot.click(offset=(1, 1))
        commands = {command.title: command for command in ui.app.get_system_commands(ui.app.screen)}
        assert {each.title for group in GROUPS.values() for each in group} <= commands.keys()
        assert "New game: opponent, level, side, board" in commands, "the palette finds what it says"
        assert "Analysis: prior and visits on the cells: colours, numbers, off" in commands
        assert "Theme" in commands
        await commands["Move numbers"].callback()  # type: ignore[misc]
        assert ui.app._panes.numbers
        await ui.press("ctrl+p")
        assert ui.app.screen is not ui.main_screen
        await ui.press("escape")


async def test_the_question_before_the_end_says_what_is_saved_and_takes_keys_and_arrows(tmp_path: Path) -> None:
    for folder, state in ((None, "It is being saved"), (tmp_path, "It is saved")):
        async with board_app(ScriptedPlayer(), folder=folder) as ui:
            await ui.play("h8")
            await ui.pilot.pause()
            await ui.press("q")
            assert state in ui.dialog
            for keys in (("escape",), ("q", "right", "enter")):
                await ui.press(*keys)
                assert ui.app.screen is ui.main_screen
            await ui.press("q", "right", "left", "enter")
        assert ui.app.return_code == 0


async def test_the_question_before_the_end_names_the_way_back(tmp_path: Path) -> None:
    path = tmp_path / "foreign.sgf"
    path.write_text("(;GM[4]SZ[15];B[hh];W[hi])")
    setup = BoardSetup(game=Game.from_saved(opened(path).game), path=str(path), reviews=True)
    async with board_app(ScriptedPlayer(15), folder=tmp_path, setup=setup) as ui:
        await ui.press("q", dialog="It is saved: o shows a copy with your changes.")
    async with board_app(ScriptedPlayer(15), folder=tmp_path) as ui:
        await ui.play("h8")
        await ui.press("minus", "y", "b", "comma", "q")
    assert ui.app.return_code == 0, "a game that is over has none, wherever its review stands"


def test_the_plain_command_starts_the_board_that_the_options_default_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sys.stdin", "sys.stdout"):
        monkeypatch.setattr(name, SimpleNamespace(isatty=lambda: True, encoding="UTF-8"))
    for name in ("GOMOKU_BACKEND", "GOMOKU_PRECISION"):
        monkeypatch.delenv(name, raising=False)
    assert [quick.applies(words) for words in (["play"], ["play", "--ascii"], [])] == [True, False, False]
    monkeypatch.setenv("GOMOKU_BACKEND", "torch")
    assert not quick.applies(["play"])
    shown: list[BoardSetup] = []
    monkeypatch.setattr(tui_app, "run_board", lambda engine, setup: shown.append(setup))
    monkeypatch.setattr(client, "EngineProcess", lambda runtime: None)
    assert quick.play() == 0
    assert shown == [BoardSetup(rules=Rules(), seats=Seats(None, PlayerChoice(spec="default")))]
