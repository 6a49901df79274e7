"""The game without a screen: turns, undo and redo, and lines that win."""

from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.notation import parse_cell
from core.opening_rules import Opening, OpeningRule
from core.position import Position
from core.records.record import GameRecord
from core.rules import BLACK, EMPTY, WHITE, Rules, Variant
from gomoku_cli.tui import game as game_module
from gomoku_cli.tui.engine.messages import PlayerChoice
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.screens.sharing import text_of
from gomoku_cli.tui.widgets.texts import effort_text, settings_text, turn_text
from search.analysis import Analysis, MoveAnalysis

ENGINE = PlayerChoice(spec="mentor")


def game(*moves: str, seats: Seats = Seats(None, ENGINE), size: int = 15) -> Game:  # noqa: B008 - frozen
    return Game(Rules(size), seats, [parse_cell(move, size) for move in moves])


def names(of: Position) -> list[str]:
    return [of.name_of(move) for move in of.moves]


def test_a_line_that_is_too_long_to_win_is_named() -> None:
    moves = [parse_cell(name, 15) for name in "e8 a1 f8 a3 g8 a5 i8 a7 j8 a9 h8".split()]
    standard = Game(Rules(variant=Variant.STANDARD), Seats(None, None), moves)
    assert turn_text(standard) == "More than 5 in a row win nothing here. White to move."
    standard.play(parse_cell("a11", 15))
    assert turn_text(standard) == "Black to move."
    standard.seats = Seats(None, ENGINE)
    assert turn_text(standard) == "More than 5 in a row win nothing here. Your move.", "the engine has answered"
    assert Game(Rules(), Seats(None, None), moves).winner == BLACK
    enclosed = [parse_cell(name, 15) for name in "b1 a1 c1 g1 d1 a15 e1 c15 f1".split()]
    caro = Game(Rules(variant=Variant.CARO), Seats(None, None), enclosed)
    assert turn_text(caro) == "Five in a row between two of the opponent's stones win nothing here. White to move."


def test_another_move_keeps_the_moves_taken_back_and_their_analyses() -> None:
    played = game("h8", "i9", "h9", "h7")
    learned(played, {2: 0.5, 3: 0.5}, "mentor")
    played.undo()
    played.play(parse_cell("h9", 15))
    assert not played.is_at_end, "the same move again keeps the rest"
    played.undo()
    played.play(parse_cell("a1", 15))
    assert played.is_at_end
    assert [played.speaker_at(ply) for ply in range(4)] == ["", "", "mentor", ""]
    assert played.value_for_black(2) == 0.5
    assert [played.name_of(node.move) for node in played.node_at(2).variations] == ["a1", "h9"]
    assert played.go_to_sibling(1)
    assert names(played) == ["h8", "i9", "h9"]
    assert not played.is_at_end and played.speaker_at(3) == "mentor", "the other line has its own"
    played.go_to(4)
    played.go_to_sibling(1)
    assert names(played) == ["h8", "i9", "a1"], "the nearest move before that has another"


def test_the_line_of_a_game_that_goes_on_is_the_main_one_and_one_that_is_over_stays() -> None:
    over = game("a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2", "e1", seats=Seats(None, None))
    over.undo()
    over.play(parse_cell("o15", 15))
    assert not over.node.is_main()
    assert not over.promote(), "the result is that of the main line"
    assert over.to_save().tree.record().moves[8:] == (parse_cell("e1", 15),)
    over.pop()
    over.play(parse_cell("o14", 15))
    record = game("h8", "i9", "h9", seats=Seats(None, None))
    record.recorded = GameRecord(Rules(), tuple(record.moves))
    record.undo()
    record.play(parse_cell("o15", 15))
    assert not record.node.is_main()
    assert record.promote() and not record.promote()
    assert names(record) == ["h8", "i9", "o15"] and record.node.is_main()
    record.go_to_sibling(1)
    record.delete()
    assert (names(record), record.line[2:]) == (["h8", "i9"], [parse_cell("o15", 15)])


def test_the_stones_of_an_opening_rule_cannot_be_deleted() -> None:
    placed = Game(Rules(), Seats(None, ENGINE), [112, 113, 97], opening=Opening(OpeningRule.SWAP))
    assert not placed.can_delete
    assert game("h8").can_delete and not game().can_delete


def test_results_in_words() -> None:
    won = game("a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2", "e1")
    assert won.result_text() == "Black has 5 in a row: you have won."
    assert won.winner == BLACK
    assert len(won.winning_line()) == 5
    overline = game("a1", "a3", "b1", "b3", "c1", "c3", "e1", "e3", "f1", "f3", "d1")
    assert overline.result_text() == "Black has 6 in a row: you have won."
    rows = ("a1", "o1", "a2", "o2", "a3", "o3", "a4", "o4", "b5", "m1", "c5", "m2", "d5", "m3", "e5", "m4", "a5")
    assert game(*rows).result_text() == "Black has 5 in a row: you have won.", "in two lines of five"
    won.seats = won.seats.swapped()
    assert won.result_text() == "Black has 5 in a row: mentor has won."
    won.seats = Seats(None, None)
    assert won.result_text() == "Black has 5 in a row: the game is over."
    won.recorded = GameRecord(Rules(), won.moves[:4], black="Ann", white="Bob")
    assert (won.player_name(BLACK), won.result_text()) == ("Ann", "Black has 5 in a row: the game is over.")
    won.seats = Seats(None, ENGINE)
    assert (won.player_name(BLACK), won.player_name(WHITE)) == ("you", "mentor"), "an engine goes on, and not they"
    drawn = Game(Rules(3, 3), Seats(None, None), [0, 1, 2, 4, 3, 5, 7, 6, 8])
    assert drawn.is_game_over()
    assert drawn.winner is None
    assert drawn.result_text() == "The board is full: a draw."


def test_the_unit_of_work_is_that_of_the_search() -> None:
    units = {"default": "simulations", "mentor:3": "nodes", "level:8": "nodes", "level:9": "simulations"}
    for spec, unit in units.items():
        assert effort_text(2, PlayerChoice(spec=spec), Rules()) == f"2 {unit}"
    alone = effort_text(1, PlayerChoice(spec="level:9"), Rules(7, 4))
    assert alone == "1 node", "the mentor plays where the model does not"


def test_a_strangers_game_starts_no_program() -> None:
    # Its note is what the program itself writes, so the record counts as a game of this program.
    theirs = Game(Rules(), Seats(PlayerChoice(spec="engine:touch /tmp/owned"), PlayerChoice(spec="mentor:2")))
    saved = theirs.to_save()
    assert Game.from_saved(saved).seats == theirs.seats
    assert Game.from_saved(saved, is_own=False).seats == Seats(None, PlayerChoice(spec="mentor:2"))


def learned(of: Game, values: dict[int, float], speaker: str) -> None:
    for ply, value in values.items():
        move = next(cell for cell in range(of.rules.cells) if of.at(ply).stones[cell] == EMPTY)
        seen = Analysis(moves=(MoveAnalysis(move, value),), value=value, variation=(move,), nodes=9, seconds=0)
        of.learn(ply, seen, speaker)


def test_the_curve_of_two_analysts_in_turn_is_no_saw() -> None:
    played = game("h8", "i9", "h9", "h7", "g8", "i8")
    learned(played, {1: -0.5, 3: -0.6, 5: -0.7}, "mentor")
    learned(played, {0: -0.8, 2: -0.8}, "default")
    curve = played.curve(by_analyst=False)
    assert curve == pytest.approx([None, 0.75, 0.775, 0.8, 0.825, 0.85, 0.85], nan_ok=True)
    assert played.curve(by_analyst=True)[:5] == pytest.approx([0.1, 0.1, 0.1, 0.1, None], nan_ok=True), (
        "the analyst's alone"
    )
    assert game("h8").curve(by_analyst=False) == [None, None]


def test_the_curve_of_a_long_and_a_short_search_in_turn_is_no_saw() -> None:
    """A pane's analysis of a human's positions is much longer than the search for an engine's move."""
    played = game("h8", "i9", "h9", "h7", "g8", "i8", seats=Seats(None, PlayerChoice(spec="default")))
    learned(played, {0: 0.2, 1: -0.1, 2: 0.5, 3: -0.2, 4: 0.6, 5: -0.3, 6: 0.7}, "default")
    curve = [chance for chance in played.curve(by_analyst=False) if chance is not None]
    assert curve == sorted(curve)
    assert len(curve) == 7


def test_the_curve_ends_at_the_result_and_a_proof_is_sure() -> None:
    played = game("h8", "a1", "i8", "a2", "j8", "a3", "k8", "a4", "l8")
    move = MoveAnalysis(parse_cell("l8", 15), 0.84, proof=1)
    played.learn(8, Analysis(moves=(move,), value=0.84, variation=(move.move,), nodes=9, seconds=0), "mentor")
    assert played.curve(by_analyst=False)[8:] == [1.0, 1.0]
    assert played.curve(by_analyst=False)[:8] == [None] * 8
    assert played.value_for_black(8) == 1.0


@pytest.mark.parametrize("seconds", [None, 3.0])
def test_a_model_is_described_by_its_own_simulations(seconds: float | None) -> None:
    text = settings_text(PlayerChoice(spec="default@100", simulations=400, seconds=seconds))
    assert text == "default@100: 100 simulations, semi-stochastic up to 6 stones"


def test_a_game_keeps_the_date_of_its_first_save(monkeypatch: pytest.MonkeyPatch) -> None:
    played = game("h8")
    for day in (1, 2):
        monkeypatch.setattr(game_module, "date", SimpleNamespace(today=lambda day=day: date(2026, 3, day)))
        assert played.to_save().tree.record().date == "2026-03-01"


def test_a_game_against_a_run_goes_on_from_another_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("runs@home/mine", "default", "elsewhere"):
        (here / name).mkdir(parents=True)
    seats = Seats(PlayerChoice(spec="default"), PlayerChoice(spec="runs@home/mine@50"))
    played = game("h8", seats=seats)
    kept = played.to_save(anywhere=True)
    assert Game.from_saved(kept).seats == seats, "the names are as short as before"
    monkeypatch.chdir("elsewhere")
    assert Game.from_saved(kept).seats == Seats(seats.black, PlayerChoice(spec=f"{here}/runs@home/mine@50"))
    assert str(here) not in text_of(played, "s"), "a copy for others names no folder of this machine"
    (here / "elsewhere").rmdir()
    assert Game.from_saved(kept).seats.black == seats.black


def test_a_game_against_a_program_goes_on_from_another_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "elsewhere").mkdir()
    for name in ("my engine", "bot.py", "gomoku"):
        (here / name).touch()
    seats = Seats(PlayerChoice(spec="engine:'./my engine' --fast"), PlayerChoice(spec="engine:python bot.py"))
    kept = game("h8", seats=seats).to_save(anywhere=True)
    assert Game.from_saved(kept).seats == seats, "the names are as short as before"
    monkeypatch.chdir("elsewhere")
    program, script = Game.from_saved(kept).seats
    assert program == PlayerChoice(spec=f"engine:'{here}/my engine' --fast")
    assert script == PlayerChoice(spec=f"engine:python {here}/bot.py")


@pytest.mark.parametrize("spec", ["engine:", "engine:'", "engine:gomoku engine", "engine:no/../'"])
def test_a_command_without_paths_stays_as_it_is(spec: str, here: Path) -> None:
    (here / "gomoku").touch()  # a program without a folder is looked for on the PATH
    assert PlayerChoice(spec=spec).absolute().relative() == PlayerChoice(spec=spec)
