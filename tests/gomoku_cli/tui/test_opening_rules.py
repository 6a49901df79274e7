"""Opening rules on the board: stones for both colours, the choice of colours, and what is taken back and saved."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.opening_rules import Choice, Opening, OpeningRule
from core.position import Position
from core.records.formats import read_games
from core.records.tree import GameTree
from core.rules import BLACK, WHITE, Cell
from gomoku_cli.study.game import StudiedTree
from gomoku_cli.study.saved import newest_unfinished
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.screens.dialog import Question
from gomoku_cli.tui.setup import BoardSetup
from tests.support.scripted_players import ScriptedPlayer
from tests.support.tui import BoardDriver, ThreadEngine, board_app, board_setup


class OpeningPlayer(ScriptedPlayer):
    """Places the first empty cells, and makes its choices in turn."""

    def __init__(self, *choices: Choice) -> None:
        super().__init__()
        self.choices = list(choices)

    def choose_opening(self, position: Position, opening: Opening, **asked: Any) -> Choice | tuple[Cell, ...]:
        """See `Player`."""
        if opening.options(position.ply):
            return self.choices.pop(0)
        return tuple(position.legal_moves()[: opening.stones - position.ply])


def setup(human: int, rule: OpeningRule = OpeningRule.SWAP2) -> BoardSetup:
    return replace(board_setup(human=human), opening=rule)


async def place(ui: BoardDriver, *names: str) -> None:
    for name in names:
        await ui.play(name)


@pytest.mark.parametrize(("choice", "colour"), [(Choice.WHITE, BLACK), (Choice.BLACK, WHITE)])
async def test_the_engine_chooses_after_three_stones_of_the_human(choice: Choice, colour: int) -> None:
    async with board_app(OpeningPlayer(choice), setup=setup(BLACK)) as ui:
        assert "Place a black stone, 3 to go" in ui.status
        assert "swap2" in ui.title
        await place(ui, "h8", "i9")
        assert ui.moves == ["h8", "i9"], "the human places for both colours"
        assert [line.split()[-1] for line in ui.panel.split("\n") if line.startswith(">")] == ["you"]
        await ui.press("u", moves="h8")
        await place(ui, "j9", "b2")
        await ui.until(lambda: not ui.app.control.is_busy)
        assert ui.app.game.seats.human == colour
        assert ui.app.game.opening.choices == (choice,)
        if colour == BLACK:
            assert ui.moves == ["h8", "j9", "b2", "a1"], "the engine has White and moves"
            await place(ui, "c3")
            await ui.press("u", moves="h8 j9 b2 a1")
            await ui.press("u")
            assert "no move to take back" in ui.status, "the stones of the opening stand"
        else:
            assert "takes Black" in ui.status
            assert len(ui.moves) == 3


async def test_the_human_chooses_black_white_or_two_stones_more() -> None:
    for key, placed, colour in (("w", 3, WHITE), ("b", 4, BLACK)):
        async with board_app(OpeningPlayer(), setup=setup(WHITE)) as ui:
            await ui.shows(Question)
            if key == "w":
                await ui.pilot.resize_terminal(40, 24)
                await ui.pilot.pause()
                frame, bar = ui.app.screen.query_one("Vertical").region, ui.main_screen.query_one("KeyBar").region
                assert all(frame.contains_region(each.region) for each in ui.app.screen.query("Button")), "all keys"
                assert frame.bottom <= bar.y, "the key bar stays in view"
            await ui.press("l")
            assert "Choose your colour" in ui.status
            await ui.press("s")
            assert "opening rule" in ui.status
            await ui.press("enter")
            await ui.press(key)
            await ui.until(lambda placed=placed: len(ui.moves) == placed and not ui.app.control.is_busy)  # type: ignore
            assert ui.app.game.seats.human == colour
    async with board_app(OpeningPlayer(Choice.BLACK), setup=setup(WHITE)) as ui:
        await ui.shows(Question)
        await ui.press("m")
        assert "Place a white stone, 2 to go" in ui.status
        await place(ui, "h8", "h9")
        assert str(ui.app.game.opening) == "swap2 more black"
        assert ui.app.game.seats.human == WHITE


async def test_swap_has_no_third_choice_and_two_humans_choose_too() -> None:
    both = replace(setup(BLACK, OpeningRule.SWAP), seats=Seats(None, None))
    async with board_app(ScriptedPlayer(), setup=both) as ui:
        await place(ui, "h8", "i9", "b2")
        assert isinstance(ui.app.screen, Question)
        assert "add two" not in " ".join(str(each.label) for each in ui.app.screen.query("Button"))  # type: ignore
        await ui.press("b")
        assert str(ui.app.game.opening) == "swap black"
        await place(ui, "c3")
        assert len(ui.moves) == 4


async def test_a_game_is_saved_with_its_opening_and_goes_on_in_the_middle_of_it(tmp_path: Path) -> None:
    engine = ThreadEngine({"scripted [b]": OpeningPlayer(Choice.BLACK)}, folder=tmp_path)
    async with board_app(engine, setup=setup(WHITE)) as ui:
        await ui.shows(Question)
        await ui.press("m")
        await place(ui, "h8")
    entry = newest_unfinished(tmp_path)
    (record,) = read_games(entry.path)
    assert str(record.opening) == "swap2 more"
    game = Game.from_saved(StudiedTree.read(GameTree.of(record)))
    assert (game.is_opening, game.is_humans_turn, game.choices) == (True, True, ())
    engine = ThreadEngine({"scripted [b]": OpeningPlayer(Choice.BLACK)}, folder=tmp_path)
    async with board_app(engine, setup=replace(board_setup(), game=game, path=str(entry.path))) as ui:
        await place(ui, "h9")
        assert ui.app.game.seats.human == WHITE
    (record,) = read_games(entry.path)
    assert (str(record.opening), record.white) == ("swap2 more black", "you")


async def test_a_stone_that_the_opening_forbids_is_refused_with_the_reason() -> None:
    async with board_app(OpeningPlayer(Choice.WHITE), setup=setup(BLACK, OpeningRule.RIF)) as ui:
        await place(ui, "a1")
        assert ui.moves == []
        assert "In rif stone 1 stands at the centre" in ui.status
        await place(ui, "h8", "i9")
        assert ui.moves == ["h8", "i9"]


@pytest.mark.parametrize(
    ("human", "choice", "stones", "asks"),
    [
        (BLACK, "", (), False),
        (BLACK, "", ("h8",), True),
        (WHITE, "l", (), False),
        (WHITE, "m", (), True),
    ],
)
async def test_leaving_asks_once_the_human_has_placed_a_stone_or_chosen(
    human: int, choice: str, stones: tuple[str, ...], asks: bool
) -> None:
    async with board_app(OpeningPlayer(Choice.WHITE), setup=setup(human)) as ui:
        if choice:
            await ui.shows(Question)
            await ui.press(choice)
        await place(ui, *stones)
        await ui.press("q")
        assert asks == ("Leave this game?" in ui.dialog)
        assert asks == (ui.app.return_code is None)


async def test_stones_that_colours_were_chosen_for_stand_in_a_review_too() -> None:
    async with board_app(OpeningPlayer(Choice.BLACK), setup=setup(BLACK)) as ui:
        await place(ui, "h8", "i9", "g7")
        await ui.until(lambda: not ui.app.control.is_busy)
        before = ui.moves
        await ui.press("b", "less_than_sign", "full_stop")
        await ui.play("a15")
        assert "The stones of the opening stand." in ui.status
        assert ui.app.game.tree.children[0].children[0].move == ui.app.game.nodes[1].move
        await ui.press("b", moves=" ".join(before))
        assert len(ui.app.game.nodes[0].children) == 1
