"""Puzzles: the rating, the next one and the daily set; verdicts; mistakes of games; the command."""

import json
import os
import random
from dataclasses import replace
from pathlib import Path

import pytest

from core.position import Position
from core.records.formats import write_games
from core.records.record import GameRecord
from core.rules import Rules, Variant
from curriculum.arena.suite import Puzzle, load_suite, puzzle_line
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.puzzles.mistakes import MistakeFinder
from gomoku_cli.puzzles.rated import LEVELS, Progress, RatedPuzzle, daily_set, level_of
from gomoku_cli.puzzles.referee import Referee
from gomoku_cli.study.rating import START
from tests.support.commands import Capsys, run

RULES = Rules()
SHIPPED = [RatedPuzzle(puzzle, RULES) for puzzle in load_suite("tactics")]
LOST = "h8 h9 i8 i9 j8 j9 a1"
"""Black has a three that White lets stand; Black plays a corner, and White may win."""


def cells(names: str) -> tuple[int, ...]:
    """Return the cells of these names."""
    return tuple(Position.from_moves(RULES, names).moves)


def test_there_are_500_puzzles_of_all_levels() -> None:
    assert len(SHIPPED) == len({each.key for each in SHIPPED}) == 527
    assert {each.level for each in SHIPPED} == set(range(1, LEVELS + 1))
    assert [level_of(rating) for rating in (0, 899, 900, 1099, 1100, 1699, 1700, 3000)] == [1, 1, 2, 2, 3, 5, 6, 6]


def test_the_rating_nears_the_level_that_a_player_solves(tmp_path: Path) -> None:
    draw, progress = random.Random(1), Progress(tmp_path / "new" / "puzzles.jsonl")
    for _ in range(60):
        puzzle = progress.next(SHIPPED, draw)
        assert abs(puzzle.rating - progress.rating) < 400
        assert puzzle.key not in {each.opponent for each in progress.results[-200:]}
        progress.add(puzzle, float(puzzle.level <= 4))
    assert 1400 < progress.rating < 1600
    with progress.path.open("a") as file:
        file.write('{"time": "2026-')  # a kill in the middle of a line
    again = Progress.read(progress.path)
    assert (again.rating, again.results) == (progress.rating, progress.results)
    assert Progress.read(tmp_path / "none").rating == START


def test_a_tie_of_equals_changes_nothing_and_help_counts_half(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "puzzles.jsonl", rating=800)
    even, other = [each for each in SHIPPED if each.rating == 800][:2]
    assert progress.add(even, 0.5) == 0
    assert progress.add(other, 1) == pytest.approx(50)  # half of the second step, 120 / (1 + 1/5)
    assert progress.solved() == {other.key}


def test_a_puzzle_that_is_solved_again_and_again_counts_once(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "puzzles.jsonl")
    assert progress.add(SHIPPED[0], 0) < 0
    once = progress.rating
    assert [progress.add(SHIPPED[0], score) for score in (1, 1, 0)] == [0, 0, 0]
    assert progress.solved() == {SHIPPED[0].key}
    assert progress.add(SHIPPED[1], 1) == pytest.approx(100 * (1 - 1 / (1 + 10 ** ((SHIPPED[1].rating - once) / 400))))
    assert progress.history() == [once] * 4 + [progress.rating]
    again = Progress.read(progress.path)
    assert (again.rating, again.results) == (progress.rating, progress.results)


def test_the_daily_set_has_a_puzzle_of_each_level_and_depends_on_the_day_alone() -> None:
    first, same, other = (daily_set(SHIPPED, day) for day in ("2026-11-26", "2026-11-26", "2026-11-27"))
    assert first == same != other
    assert [each.level for each in first] == list(range(1, LEVELS + 1))


@pytest.mark.parametrize("number", range(0, 527, 48))
def test_answers_are_right_and_every_other_move_is_refuted(number: int) -> None:
    each, referee = SHIPPED[number], Referee(RULES)
    position = Position.from_moves(RULES, each.puzzle.moves)
    others = [move for move in position.legal_moves() if move not in each.puzzle.answers]
    for move in (*each.puzzle.answers, *random.Random(number).sample(others, 20)):
        verdict = referee.verdict(each, position, move)
        assert verdict.is_right == (move in each.puzzle.answers)
        if not verdict.is_right:
            end = Position.from_moves(RULES, (*position.moves, move, *verdict.line)).outcome()
            assert end.winner == -position.side_to_move
            assert verdict.sentence
    solved = Position.from_moves(RULES, (*position.moves, *referee.solution(each)))
    assert solved.is_game_over() == each.goal.startswith("Win")


@pytest.mark.parametrize("variant", [variant for variant in Variant if variant is not Variant.FREESTYLE])
def test_under_other_rules_answers_win_by_a_proof_and_no_other_move_blocks(variant: Variant) -> None:
    rules = Rules(variant=variant)
    referee = Referee(rules)
    for puzzle in load_suite("tactics", rules)[::5]:
        each, position = RatedPuzzle(puzzle, rules), Position.from_moves(rules, puzzle.moves)
        tried = position.legal_moves() if each.is_defence else puzzle.answers
        verdicts = {move: referee.verdict(each, position, move) for move in tried}
        assert {move for move, verdict in verdicts.items() if verdict.is_right} == set(puzzle.answers)
        if puzzle.kind not in ("win-in-1", "block"):
            assert all(verdict.line for verdict in verdicts.values()), puzzle_line(puzzle)
        solved = Position.from_moves(rules, (*position.moves, *referee.solution(each)))
        assert solved.is_game_over() != each.is_defence


def test_a_missed_win_and_a_missed_defence_are_puzzles_of_the_player_who_missed_them() -> None:
    record = GameRecord(RULES, cells(f"{LOST} o15 a15"), black="you", white="default")
    first, second = MistakeFinder(RULES).puzzles(record, "lost.sgf")
    assert (first.puzzle.kind, first.goal) == ("fours-1", "Win by fours")
    assert set(first.puzzle.answers) >= set(cells("k8 g8"))
    assert "lost.sgf, move 7" in first.puzzle.note
    assert len(second.puzzle.moves) == 8
    (later,) = MistakeFinder(RULES).puzzles(replace(record, set_up=7), "lost.sgf")  # no side has made the first mistake
    assert later.puzzle.moves == second.puzzle.moves
    assert later.puzzle.note == second.puzzle.note.replace("move 9", "move 2")
    theirs = GameRecord(RULES, cells("h8 h9 i8 i9 j8 a1"), black="you", white="default")
    assert not list(MistakeFinder(RULES).puzzles(theirs, ""))
    defence = GameRecord(RULES, cells("h8 h9 i8 a1 j8 o15"), black="them", white="you")
    (only,) = MistakeFinder(RULES).puzzles(defence, "")
    assert only.puzzle.kind == "only-defence"
    assert set(only.puzzle.answers) == set(cells("g8 k8"))


def test_the_command_lists_and_counts(data_folder: Path, tmp_path: Path, capsys: Capsys) -> None:
    code, out, _ = run(capsys, "puzzles", "--json")
    facts = json.loads(out)
    assert (code, facts["puzzles"], facts["rating"], facts["daily"]["puzzles"]) == (ExitCode.DONE, 527, 1000, 6)
    assert sum(map(sum, facts["kinds"].values())) == 527
    Progress.read(data_folder / "puzzles.jsonl").add(SHIPPED[0], 1)
    assert "solved       1 of 527" in run(capsys, "puzzles", "--list")[1]
    assert json.loads(run(capsys, "puzzles", "--json", "--kind", "fours", "--level", 6)[1])["puzzles"] == 96
    assert json.loads(run(capsys, "puzzles", "--json", "--variant", "renju")[1])["puzzles"] == 60
    suite = tmp_path / "mine.txt"
    suite.write_text(puzzle_line(Puzzle("mine", cells(LOST)[:6], cells("k8"), "")))
    assert json.loads(run(capsys, "puzzles", "--json", "--file", suite)[1])["kinds"] == {"mine": [0, 0, 1, 0, 0, 0]}
    games = data_folder / "games" / "lost.sgf"
    games.parent.mkdir()
    os.mkfifo(games.parent / "pipe.sgf")
    write_games(games, [GameRecord(RULES, cells(LOST), black="you", white="default")])
    for arguments in ((), (games,), (games.parent,)):
        assert json.loads(run(capsys, "puzzles", "--json", "--from-games", *arguments)[1])["puzzles"] == 1


def test_the_set_of_a_day_goes_on_after_midnight(tmp_path: Path) -> None:
    lines = [
        {"time": f"{day}T00:05:00", "puzzle": key, "kind": "block", "difficulty": 900, "score": 1, "rating": 1000}
        for day, key in (("2026-11-25", "a"), ("2026-11-26", "b"), ("2026-11-27", "c"))
    ]
    file = tmp_path / "puzzles.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    progress = Progress.read(file)
    assert progress.solved("2026-11-26") == progress.tried("2026-11-26") == {"b", "c"}
    assert progress.solved() == {"a", "b", "c"}
