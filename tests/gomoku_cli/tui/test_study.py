"""Panes, hints, reviews, teaching and saved games on the screen."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.notation import parse_cell
from core.position import Position
from core.records.formats import read_games, read_trees
from core.records.record import GameRecord
from core.records.tree import GameTree
from core.rules import Rules
from gomoku_cli.study.game import StudiedTree
from gomoku_cli.tui.engine.files import opened
from gomoku_cli.tui.engine.messages import Keep, PlayerChoice
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.screens.saved_games import SavedGamesScreen
from gomoku_cli.tui.setup import BoardSetup
from gomoku_cli.tui.widgets.candidates import CandidatesView
from search.analysis import Analysis, MoveAnalysis
from tests.support.scripted_players import AnalysingPlayer, GatedPlayer, ScriptedPlayer
from tests.support.tui import TWO_PLAYERS, ThreadEngine, board_app, shown_game


def cells(*names: str) -> list[int]:
    return [parse_cell(name, 15) for name in names]


def view(best: str, value: float) -> Analysis:
    cell = parse_cell(best, 15)
    return Analysis(moves=(MoveAnalysis(cell, value),), value=value, variation=(cell,), nodes=10, seconds=0.1)


async def test_every_pane_opens_and_closes_with_its_key_and_an_analysis_says_that_it_has_ended() -> None:
    player = AnalysingPlayer(15, ["i9"])
    async with board_app(player, terminal=(120, 40)) as ui:
        await ui.play("h8")
        assert player.analysed == [], "nothing is analysed for panes that are off"
        await ui.press("a")
        await ui.until(lambda: player.analysed == [ui.app.game.moves])
        empty = ui.background("f15")
        assert ui.background("a1") != empty
        await ui.press("a")
        assert ui.line(1).startswith(" 1  50  30  20 ")
        await ui.press("a")
        assert ui.background("a1") == empty
        await ui.press("c")
        for text in ("Candidates for black: scripted [b]", "1 a1        60   50.0        60 %", "line  a1 b1 c1"):
            assert text in ui.panel
        await ui.until(lambda: "ended" in ui.panel)
        await ui.press("c", "g")
        assert "Candidates" not in ui.visible_panel
        assert "Black's win probability" in ui.visible_panel
        await ui.press("g", "v")
        assert "win probability" not in ui.visible_panel
        assert ui.line(1).startswith(" 1  1 ─ 2 ─ 3 ─")
        ui.board.cursor = parse_cell("b1", 15)
        await ui.pilot.pause()
        assert ui.line(1).startswith(" 1  2 [ 1 ] 3 ─")
        for elsewhere in ("c1", "k3", "o15"):
            ui.board.cursor = parse_cell(elsewhere, 15)
            await ui.pilot.pause()
            assert all(digit in ui.line(1)[3:] for digit in "123"), "a cell without a line shows the best one"
        await ui.press("v", "2")
        assert ui.line(1).startswith(" 1  2 [ 1 ] 3 ─"), "the number of a candidate shows its line"
        await ui.press("8", status="There is no candidate 8 yet.")
        await ui.press("v", "m")
        assert "▜1▛" in ui.line(8)
        assert "▜2▛" in ui.line(9)
        await ui.press("m")
        assert len(player.analysed) == 1, "the analysis of a position is kept"


async def test_threats_are_marked_and_a_win_by_fours_is_numbered() -> None:
    async with board_app({}, setup=shown_game("h8 a1 i8 a2 j8 a15")) as ui:
        await ui.press("f")
        await ui.until(lambda: ui.app.control.threats is not None)
        threats = ui.app.control.threats
        assert "4" in {mark for mark, _ in threats.marks.values()}
        assert len(threats.win) == 3
        assert "1" in ui.line(8)
        await ui.press("f")
        assert "1" not in ui.line(8)


class Wavering(AnalysingPlayer):
    """Prefers another candidate in each but its first analysis."""

    def view(self, position: Position) -> Analysis:
        """See `Player`."""
        found = super().view(position)
        return found if len(self.analysed) < 2 else replace(found, moves=found.moves[::-1])


async def test_a_hint_comes_from_a_short_search_and_follows_the_analysis_that_goes_on() -> None:
    async with board_app(Wavering(15)) as ui:
        await ui.press("i")
        await ui.until(lambda: ui.status == "Hint: a1. Black 60 %, a1 b1 c1")
        await ui.press("c")
        await ui.until(lambda: ui.status.startswith("Hint: c1."))
        assert ui.line(1).index("◇") == 7
        await ui.play("h8")
        assert "◇" not in ui.line(1)


class Crowded(AnalysingPlayer):
    """Has ten candidates with large numbers, the first three of them proven."""

    def view(self, position: Position) -> Analysis:
        """See `Player`."""
        cells = position.legal_moves()[14:24]
        proofs = (12, -14, -100)
        moves = tuple(
            MoveAnalysis(cell, 0.2, 0.334, 352_000, proofs[number] if number < len(proofs) else None, tuple(cells))
            for number, cell in enumerate(cells)
        )
        return Analysis(moves=moves, value=0.2, variation=tuple(cells), nodes=375_882, seconds=10.5)


@pytest.mark.parametrize(("terminal", "rows"), [((62, 24), 1), ((62, 34), 8), ((80, 24), 4), ((120, 40), 8)])
async def test_each_candidate_has_one_line_and_the_moves_stay_in_view(terminal: tuple[int, int], rows: int) -> None:
    async with board_app(Crowded(15), terminal=terminal) as ui:
        await ui.press("c")
        await ui.until(lambda: "375,882 positions" in ui.panel)
        await ui.pilot.pause()
        table, moves = ui.main_screen.query_one(CandidatesView), ui.main_screen.query_one("#moves")
        found = [line for line in ui.text("CandidatesView").splitlines() if re.match(r"move|\d ", line)]
        assert len(found) == 1 + rows
        assert max(map(len, found)) <= table.size.width
        assert found[1].endswith(" wins in 12" if table.size.width > 30 else " win 12")
        assert moves.region.bottom <= ui.main_screen.query_one("#about").region.y
        assert ui.main_screen.query_one("#panel").region.contains_region(moves.region)


async def test_after_the_end_the_graph_is_filled_in_the_background_and_the_table_says_why_it_is_empty() -> None:
    player, setup = AnalysingPlayer(15), shown_game("h8 a1 h9 a2 h10 a3 h11 a4")
    async with board_app(player, setup=setup, terminal=(120, 40)) as ui:
        await ui.press("g")
        assert player.analysed == []
        await ui.type_moves("h12")
        await ui.until(lambda: None not in ui.app.game.curve(by_analyst=True))
        assert len(player.analysed) == 9 and not ui.app.control.review.active
        assert "has won" in ui.panel and "the game is over" in ui.status
        await ui.press("c")
        await ui.until(lambda: "Candidates: none, the game is over" in ui.panel)
        await ui.press("u", "slash", *"c3", "enter")
        assert ui.moves[-1] == "c3" and not ui.app.game.is_game_over()


async def test_a_review_steps_analyses_and_finds_mistakes() -> None:
    player = AnalysingPlayer(15, value=0.0)
    game = Game(Rules(), Seats(None, PlayerChoice(spec="scripted [b]")), cells("h8", "i9", "h9", "a1"))
    for ply, best, value in ((0, "h8", 0.0), (1, "i9", 0.0), (2, "h10", 0.6), (3, "g7", 0.4)):
        game.learn(ply, view(best, value), "scripted [b]")
    async with board_app(player, setup=BoardSetup(game=game), terminal=(120, 40)) as ui:
        await ui.press("b")
        await ui.until(lambda: "Review: move 4 of 4. Keys" in ui.status or "was" in ui.status)
        await ui.until(lambda: bool(ui.app.control.review.grades))
        assert player.analysed == [game.line], "only the position without an analysis is searched"
        assert "h9??" in ui.panel
        await ui.press("z", moves="h8 i9 h9")
        assert "h9 was a blunder: it lost 50 % to win; better h10." in ui.status
        await ui.press("z", status="There is no mistake before this position.")
        await ui.press("comma", "comma", moves="h8")
        await ui.press("x", moves="h8 i9 h9")
        await ui.press("less_than_sign", moves="")
        await ui.press("greater_than_sign", "comma", "full_stop", "u", "r")
        assert len(ui.moves) == 4
        await ui.press("s", status="Sides are swapped during a game: n begins another.")
        await ui.press("i")
        assert ui.status.startswith("Hint: ")
        await ui.press("g")
        assert "?" in ui.text("GraphView")
        await ui.press("comma", "comma", "b", status="Your move.")
        assert len(ui.moves) == 4
        await ui.press("b", "comma", "comma")
        await ui.click("c3")
        assert ui.moves[:3] == ["h8", "i9", "c3"]
        assert not ui.app.control.review.active


async def test_a_review_asks_the_analyst_about_the_engines_own_moves_too() -> None:
    """An engine took each of its moves for the best, so its own analyses would show no mistake of it."""
    player = AnalysingPlayer(15, value=0.0)
    game = Game(Rules(), Seats(None, PlayerChoice(spec="mentor:2")), cells("h8", "i9", "h9"))
    for ply, best in ((0, "h8"), (1, "i9"), (2, "h9")):
        game.learn(ply, replace(view(best, 0.9), nodes=1_000), "mentor:2")
    async with board_app({"mentor:2": player, "default": player}, setup=BoardSetup(game=game, reviews=True)) as ui:
        await ui.until(lambda: len(player.analysed) == 4)
        assert player.analysed == [game.line[:ply] for ply in (3, 0, 1, 2)], "the shown position comes first"
        await ui.until(lambda: {ui.app.game.speaker_at(ply) for ply in range(4)} == {"default"})
        first = ui.app.game.analysis_at(0)
        assert first is not None and first.value == 0.0, "also in place of a longer one"


def test_a_game_of_two_players_goes_on_and_a_foreign_record_opens_in_a_review(tmp_path: Path) -> None:
    ours = shown_game("h8 i9").game
    again = Game.from_saved(ours.to_save())
    assert not again.is_for_review
    foreign = tmp_path / "foreign.sgf"
    foreign.write_text("(;GM[4]SZ[15]PB[Ann];B[hh];W[ig])")
    theirs = Game.from_saved(opened(foreign).game)
    assert (theirs.is_for_review, theirs.line) == (True, ours.line)


async def test_teaching_warns_before_a_losing_move() -> None:
    setup = shown_game("h8 a1 i8 a3 j8", Seats(PlayerChoice(spec="scripted [b]"), None))
    async with board_app(AnalysingPlayer(15, ["g8", "o15"]), setup=setup) as ui:
        await ui.press("t")
        assert ui.status.startswith("Teaching is on")
        await ui.click("o1")
        await ui.until(lambda: ui.status.startswith("o1 loses."))
        assert "This leaves Black's open three on h8-j8" in ui.status
        assert len(ui.moves) == 5
        await ui.press("escape", status="Your move.")
        await ui.click("o1")
        await ui.until(lambda: ui.status.startswith("o1 loses."))
        await ui.click("o1")
        await ui.until(lambda: ui.moves[5:] == ["o1", "g8"])
        await ui.press("t", status="Teaching is off.")


async def test_games_are_saved_listed_and_resumed(tmp_path: Path) -> None:
    engine = ThreadEngine({"scripted [b]": ScriptedPlayer(15, ["i9", "a1", "a2"])}, folder=tmp_path)
    async with board_app(engine) as ui:
        await ui.press("o", status="There is no saved game yet.")
        await ui.play("h8")
        (path,) = tmp_path.iterdir()
        assert ";B[hh]" in path.read_text()
        assert ";W[ig]" in path.read_text()
        await ui.press("u")
        await ui.play("c3")
        assert read_games(path)[0].moves == tuple(cells("c3", "a1")), "what is played on is the main line"
        (tree,) = read_trees(path)
        taken_back = tree.variations[1].path() + tree.variations[1].main_line()
        assert [node.move for node in taken_back] == cells("h8", "i9"), "and what was taken back stays"
        await ui.press("n", "y")
        await ui.pilot.pause()
        await ui.press("ctrl+s")
        await ui.until(lambda: ui.moves == [])
        await ui.play("d4")
        assert len(list(tmp_path.iterdir())) == 2, "each game has its file"
        await ui.press("o")
        await ui.shows(SavedGamesScreen)
        await ui.press("escape", "o")
        await ui.shows(SavedGamesScreen)
        await ui.press("down", "enter")
        await ui.until(lambda: ui.moves == ["c3", "a1"])
        assert ui.app.game.seats.name_of(-1) == "scripted [b]"
        await ui.play("e5")
        assert len(list(tmp_path.iterdir())) == 2, "a game that goes on keeps its file"
        assert ";B[ek]" in path.read_text()
    kept = [task for task in engine.tasks if isinstance(task, Keep)]
    assert kept[0].game.tree.record().moves == tuple(cells("h8")), "it is saved before the engine answers"


async def test_a_record_of_another_program_shows_its_names_and_its_result(tmp_path: Path) -> None:
    path = tmp_path / "quest.sgf"
    text = "(;GM[4]SZ[15]RE[W+R]\nPB[nick one (1419)]\nPW[Some Bot];B[hh];W[ii];B[ig];W[jg])"
    text += "\n(;GM[4]SZ[15];B[hh])"
    path.write_text(text, encoding="utf-8")
    found = opened(path)
    setup = BoardSetup(game=Game.from_saved(found.game, found.remark), path=found.path, reviews=True)
    async with board_app(AnalysingPlayer(15), folder=tmp_path / "games", setup=setup, terminal=(120, 40)) as ui:
        assert "nick one (1419)" in ui.panel and "Some Bot" in ui.panel
        assert "White won by resignation" in ui.panel
        assert "Note: game 1 of 2; gomoku analyze FILE --game N shows another" in ui.panel
        await ui.press("comma")
        assert "White to move" in ui.panel, "in the middle of the game it has no result"
        await ui.press("full_stop")
        await ui.until(lambda: "Analysing" not in ui.status)
        await ui.press("o")
        await ui.shows(SavedGamesScreen)
        assert "nick one (1419) - Some Bot" in ui.dialog and "white won by resignation" in ui.dialog
        await ui.press("escape", "b")
        await ui.play("c3")
        assert "nick one" in ui.panel and "White won" not in ui.panel, "their names stay, their result does not"
    assert path.read_text(encoding="utf-8") == text


async def test_typed_moves_follow_each_other_while_they_are_the_humans() -> None:
    async with board_app(ScriptedPlayer(15, ["i9"])) as ui:
        await ui.type_moves("h8h9")
        await ui.until(lambda: ui.moves == ["h8", "i9"])
    async with board_app(ScriptedPlayer(15), setup=TWO_PLAYERS) as ui:
        await ui.type_moves("h8i9 h8a1", moves="h8 i9", status="h8 already holds a stone.")
        await ui.type_moves("h8x")
        assert "no cell" in ui.status


async def test_candidates_that_are_known_wait_for_the_room_of_the_panel() -> None:
    async with board_app(AnalysingPlayer(15), setup=shown_game("h8 i9"), terminal=(40, 15)) as ui:
        await ui.press("b")
        await ui.until(lambda: ui.app.control.analysis is not None and "Analysed" not in ui.status)
        await ui.press("c")
        await ui.pilot.pause()
        assert "100 positions, 0.5 s" not in ui.text("CandidatesView")
        await ui.pilot.resize_terminal(64, 34)
        await ui.until(lambda: "100 positions, 0.5 s" in ui.text("CandidatesView"))


async def test_a_failed_save_is_shown_and_the_game_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with board_app(ScriptedPlayer(15, ["i9"]), folder=tmp_path / "file") as ui:
        await ui.click("h8")
        await ui.until(lambda: ui.moves == ["h8", "i9"])
        problem = f"This game is not saved: Not a directory ({tmp_path / 'file'})."
        await ui.until(lambda: ui.status == problem and "not saved" in ui.title)
        await ui.press("q")
        assert ui.dialog == f"Leave this game? {problem} Leaving loses it. To keep it: n, then y and s copy it as SGF."
        await ui.press("n", "minus", "y")
        await ui.until(lambda: ui.status.startswith("Black has resigned"))
        await ui.press("plus")
        assert "loses it" in ui.dialog, "also after its end"
        await ui.press("n", "s", moves="h8 i9", status=f"{problem} n asks before it is left.")
        ui.app.open_game(Game(Rules(), Seats(None, None)), "saved.sgf", b"")
        await ui.pilot.pause()
        assert "Leave this game for a saved one?" in ui.dialog
        await ui.press("n", moves="h8 i9")
        (tmp_path / "file").unlink()
        await ui.press("e", "f", "ctrl+s")
        await ui.until(lambda: "not saved" not in ui.title)


async def test_an_unsaved_game_of_two_engines_is_not_left_without_a_question(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    gated = GatedPlayer(15, ["i9"])
    engine = ThreadEngine({"one": ScriptedPlayer(15, ["h8"]), "two": gated}, folder=tmp_path / "file")
    setup = BoardSetup(seats=Seats(PlayerChoice(spec="one"), PlayerChoice(spec="two")))
    async with board_app(engine, setup=setup) as ui:
        await ui.until(lambda: "not saved" in ui.title)
        await ui.press("q")
        assert "Leaving loses it." in ui.dialog
        gated.release.set()


@pytest.mark.parametrize("note", ["", "a fine game", "Settings: nonsense", 'Settings: [{"spec": 1}, null]'])
def test_records_of_other_programs_have_humans(note: str) -> None:
    saved = StudiedTree.read(GameTree.of(GameRecord(Rules(), cells("h8"), note=note)))
    assert Game.from_saved(saved).seats == Seats(None, None)
