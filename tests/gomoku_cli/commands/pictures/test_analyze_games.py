"""`gomoku analyze` on games: a line a position, reviews, analyses that are kept in the files, and stops."""

import errno
import json
import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.files.atomic import atomic_path
from core.position import Position
from core.records.formats import read_games, write_games
from core.records.record import Ending, GameRecord
from core.rules import BLACK, Rules
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.reports.analyses.lines import COLUMNS, position_text
from gomoku_cli.study.game import KeptAnalysis
from gomoku_cli.study.review import MoveReview
from search.analysis import Analysis, MoveAnalysis
from search.mentor.player import Mentor
from tests.gomoku_cli.commands.pictures.test_analyze import GAME, lines, refused, run
from tests.support.commands import Capsys, done


def before_each_search(monkeypatch: pytest.MonkeyPatch, act: Callable[[Position], object]) -> None:
    """Call `act` with each position before the mentor searches it."""
    search = Mentor.search

    def acting(player: Mentor, position: Position, *arguments: Any, **options: Any) -> Any:
        act(position)
        return search(player, position, *arguments, **options)

    monkeypatch.setattr(Mentor, "search", acting)


def test_files_of_games_are_analysed_a_line_a_position(capsys: Capsys, tmp_path: Path) -> None:
    one, two = tmp_path / "one.sgf", tmp_path / "two.psq"
    write_games(one, [GAME, GameRecord(Rules(9, 5), (40, 41), ending=Ending.UNKNOWN)])
    write_games(two, [GAME])
    code, out, err = run(capsys, one, two, "--json", "--player", "mentor:1")
    assert (code, err) == (ExitCode.DONE, "")
    found = lines(out)
    plies = {(str(one), 1): 7, (str(one), 2): 3, (str(two), 1): 7}  # the end of a won game needs no analysis
    expected = [(*game, ply) for game, count in plies.items() for ply in range(count)]
    assert [(line["file"], line["game"], line["ply"]) for line in found] == expected
    assert found[6]["proof"] == 1
    assert [len(line["position"]) for line in found[:7]] == list(range(7))
    notes = [run(capsys, one, "--move", 1, *game, "--player", "pure-mcts:20")[2] for game in ((), ("--game", 2))]
    assert (notes[0].startswith(f"note: {one}: game 1 of 2; --game N takes another"), notes[1]) == (True, "")
    out = done(run(capsys, one, "--game", 2, "--player", "pure-mcts:20"))
    heading, columns, *rows = out.splitlines()
    assert heading == f"{one}, game 2: black against white, 5 in a row on 9x9; 2 moves, without a result"
    assert columns.split()[:2] == ["move", "loss"]
    assert [row.split()[0] for row in rows] == ["start", "1", "2"]


def test_moves_are_counted_without_the_stones_that_were_set_up(capsys: Capsys, tmp_path: Path) -> None:
    path = tmp_path / "set-up.sgf"
    write_games(path, [GameRecord(Rules(9, 5), (40, 41, 50, 0, 1), ending=Ending.UNKNOWN, set_up=3)])
    heading, _, *rows = done(run(capsys, path, "--player", "mentor:1")).splitlines()
    assert heading.endswith("; 2 moves, without a result")
    assert [row.split()[0] for row in rows] == ["start", "1", "2"]
    one = json.loads(done(run(capsys, path, "--move", 1, "--player", "mentor:1", "--json")))
    assert one["position"] == ["e5", "f5", "f6", "a1"]
    assert "the game has 2 moves, not 3" in refused(capsys, path, "--move", 3)


def test_a_review_has_losses_and_a_summary(capsys: Capsys, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    write_games(path, [GAME])
    code, out, _ = run(capsys, path, "--review", "--json", "--player", "mentor:1")
    *positions, summary = lines(out)
    assert code == ExitCode.DONE
    assert all(line["loss"] is None or line["loss"] >= 0 for line in positions[1:])
    assert "loss" not in positions[0]
    review = summary["review"]
    assert len(review["black_wins"]) == 8
    assert review["black_wins"][-1] == 1.0
    assert {mistake["by"] for mistake in review["mistakes"]} <= {"white", "black"}
    assert [mistake["ply"] for mistake in review["mistakes"]] == [
        line["ply"] for line in positions[1:] if line["grade"] not in (None, "good")
    ]
    out = run(capsys, path, "--review", "--player", "mentor:1")[1]
    assert " % mistake" in out
    assert "white  lost " in out
    assert {reason for mistake in review["mistakes"] if (reason := mistake["reason"])} <= set(
        line.partition(". ")[2] for line in out.splitlines()
    ) | {""}


def test_a_position_and_the_summary_name_a_grade_by_the_same_word() -> None:
    analysis = Analysis(moves=(MoveAnalysis(113),), value=0.0, variation=(113,), nodes=4, seconds=0.1)
    kept = KeptAnalysis(analysis=analysis, player="mentor:1", limit=None)
    move = MoveReview(ply=1, move=112, colour=BLACK, before=0.6, after=0.5, best=113, loss=0.1)
    text = position_text(kept, Position.from_moves(Rules(), [112]), move)
    assert "10 % inaccuracy  white" in text
    assert text.index("white") == COLUMNS.index("to move")


def test_saved_analyses_are_read_and_not_searched_for_again(
    capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.sgf"
    write_games(path, [GAME, GAME])
    line = (path, "--json", "--player", "mentor:1", "--save")
    first = run(capsys, *line, "--game", 2)
    before, after = read_games(path)
    assert before == GAME
    assert (after.moves, after.winner) == (GAME.moves, GAME.winner)
    assert len(after.analyses) == 8
    assert after.comments[0].startswith("Analysis: white to move")

    def refuse(*_: object, **options: object) -> None:
        raise AssertionError("nothing is searched for again")

    monkeypatch.setattr(Mentor, "search", refuse)
    assert run(capsys, *line, "--game", 2) == first, "everything is in the file"
    assert json.loads(run(capsys, *line, "--game", 2, "--move", 3)[1])["position"] == ["d4", "a1", "e4"]
    content = path.read_bytes()
    for more in (("--game", 2), ("--game", 2, "--save"), ("--game", 2, "--save", "--review")):
        assert run(capsys, path, *more)[0] == ExitCode.DONE
        assert path.read_bytes() == content, "without a player and a limit every saved analysis is good"
    assert json.loads(run(capsys, path, "--json", "--game", 2, "--move", 3)[1])["player"] == "mentor:1"


def test_analyses_before_a_stop_are_saved_and_the_one_that_it_cuts_short_is_not(
    capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.sgf"
    write_games(path, [GAME])
    before_each_search(monkeypatch, lambda position: position.ply == 2 and os.kill(os.getpid(), signal.SIGTERM))
    code, out, _ = run(capsys, path, "--save", "--player", "mentor:1", "--json")
    assert code == ExitCode.INTERRUPTED
    assert [json.loads(line)["ply"] for line in out.splitlines()] == [0, 1]
    (game,) = read_games(path)
    assert [bool(text) for text in game.analyses] == [True, True, *[False] * 6]


def test_analyses_without_room_in_their_file_are_kept_in_a_copy(
    capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, temporary = tmp_path / "game.sgf", tmp_path / "temporary"
    write_games(path, [GAME])
    temporary.mkdir()
    before = path.read_bytes()

    def full(place: Path) -> AbstractContextManager[Path]:
        if place == path:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(place))
        return atomic_path(place)

    monkeypatch.setattr("core.records.formats.atomic_path", full)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    code, _, error = run(capsys, path, "--save", "--player", "mentor:1")
    (copy,) = temporary.rglob("game.sgf")
    assert code != ExitCode.DONE and f"it is kept as {copy}" in " ".join(error.split())
    (game,) = read_games(copy)
    assert game.moves == GAME.moves and game.analyses[0]
    assert path.read_bytes() == before


def test_a_review_that_is_stopped_adds_up_the_games_that_are_done(
    capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.sgf"
    write_games(path, [replace(GAME, black="Ann", white="Bob")] * 4)
    starts: list[Position] = []

    def stop_the_third_game(position: Position) -> None:
        starts.extend([position] if position.ply == 0 else [])
        if len(starts) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    before_each_search(monkeypatch, stop_the_third_game)
    code, out, _ = run(capsys, path, "--review", "--save", "--player", "mentor:1")
    assert code == ExitCode.INTERRUPTED
    table = out.partition("missed wins  missed defences\n")[2].splitlines()
    assert [line.split()[:2] for line in table] == [["Ann", "2"], ["Bob", "2"]]


def test_a_foreign_comment_and_value_stay_the_only_ones(capsys: Capsys, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[4]SZ[9];B[ee]C[mine]V[2];W[ff])", encoding="utf-8")
    assert run(capsys, path, "--save", "--player", "mentor:1")[0] == ExitCode.DONE
    first, second = path.read_text(encoding="utf-8").split(";W[ff]")
    assert first.count("C[") == 1 and "V[2]GOMOKU[" in first
    assert "C[Analysis: black to move" in second and "V[" in second


@pytest.mark.parametrize("value", ["GOMOKU[mine]", "GOMOKU[]", 'GOMOKU[{"player":"x"}][b]'])
def test_a_foreign_value_in_our_property_is_kept_and_named(value: str, capsys: Capsys, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    text = f"(;GM[4]SZ[9]\n;B[ee]{value})"
    path.write_text(text, encoding="utf-8")
    code, _, err = run(capsys, path, "--save", "--player", "mentor:1")
    assert code == ExitCode.BAD_DATA
    assert (
        err == f"gomoku: {path}, line 2: the property GOMOKU holds no analysis of this program, and is kept as it is\n"
    )
    assert path.read_text(encoding="utf-8") == text


def test_a_file_that_changed_during_the_analysis_is_left_alone(
    capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.sgf"
    write_games(path, [GAME])
    edited = "(;GM[4]SZ[9]C[edited])"
    before_each_search(monkeypatch, lambda position: path.write_text(edited, encoding="utf-8"))
    code, _, err = run(capsys, path, "--save", "--player", "mentor:1")
    assert code == ExitCode.BAD_DATA
    assert "has changed since it was read, so nothing is saved" in err
    assert path.read_text(encoding="utf-8") == edited


def test_a_psq_keeps_no_analyses(capsys: Capsys, tmp_path: Path) -> None:
    psq = tmp_path / "game.psq"
    write_games(psq, [GAME])
    assert "kept in .sgf files alone" in refused(capsys, psq, "--save", "--player", "mentor:1")


def test_an_unreadable_file_of_several_is_reported_and_the_others_are_analysed(capsys: Capsys, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.sgf", tmp_path / "bad.sgf"
    write_games(good, [GAME])
    bad.write_text("(;GM[4];B[hh];W[])", encoding="utf-8")
    for files in ((bad, good), (good, bad)):
        code, out, err = run(capsys, *files, "--json", "--player", "mentor:1")
        assert code == ExitCode.BAD_DATA
        assert {line["file"] for line in lines(out)} == {str(good)}
        assert err == f"gomoku: {bad}, line 1, column 14: white passes, and games here have no pass\n"
    code, out, err = run(capsys, bad, bad, "--json", "--player", "mentor:1")
    assert (code, out, err.count("\n")) == (ExitCode.BAD_DATA, "", 2)
