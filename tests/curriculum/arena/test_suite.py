"""The tactical suite: its file and its scores. `tests.benchmarks.suites.test_prover` proves its claims."""

import hashlib
from collections import Counter
from collections.abc import Callable
from importlib import resources

import pytest

from core.position import Position
from core.rules import Cell
from curriculum.arena.suite import RULES, Puzzle, SuiteError, load_suite, parse_suite, puzzle_line, score_player
from curriculum.reporting import Context, Interrupted
from search.mentor.paper import PaperMentor
from search.players import Decision, RandomPlayer
from tests.support.cases import cases
from tests.support.players import OneByOne

SUITE = load_suite("tactics")
FROZEN = {
    "tactics": "3aa7335dff5612beea4b5eb7c0c91ca31477b24c1d362d597a6dd7bb17f2cd94",
    "hard": "879a47f82957c8fe3330347af859885d663862a4ede1b26b984cd07da7f98277",
}
"""Hashes of the files: their claims and their kinds were checked when they were made."""


@pytest.mark.parametrize("name", FROZEN)
def test_a_suite_is_frozen(name: str) -> None:
    text = (resources.files("curriculum") / "suites" / f"{name}.txt").read_text(encoding="utf-8")
    assert hashlib.sha256(text.encode()).hexdigest() == FROZEN[name]


def test_every_line_reads_back_as_it_is_written() -> None:
    assert parse_suite("\n".join(puzzle_line(puzzle) for puzzle in SUITE)) == SUITE


class Oracle(OneByOne):
    """Plays the cell that a function of the puzzle returns."""

    name = "oracle"

    def __init__(self, answer: Callable[[Puzzle], Cell]) -> None:
        self.moves = {puzzle.moves: answer(puzzle) for puzzle in SUITE}

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        return Decision(self.moves[tuple(position.moves)])


def test_a_player_who_knows_every_answer_solves_all() -> None:
    result = score_player(Oracle(lambda puzzle: puzzle.answers[-1]), SUITE, context=Context())
    assert result.total.solved == result.total.positions == len(SUITE)
    assert result.missed == []
    assert {kind: tally.positions for kind, tally in result.kinds.items()} == Counter(p.kind for p in SUITE)


def test_missed_positions_are_reported_and_counted_by_kind() -> None:
    def errs_in_blocks(puzzle: Puzzle) -> Cell:
        legal = Position.from_moves(RULES, puzzle.moves).legal_moves()
        wrong = (cell for cell in legal if cell not in puzzle.answers)
        return next(wrong) if puzzle.kind == "block" else puzzle.answers[0]

    result = score_player(Oracle(errs_in_blocks), SUITE, context=Context()).to_json()
    blocks = sum(puzzle.kind == "block" for puzzle in SUITE)
    assert result["player"] == "oracle"
    assert (result["positions"], result["solved"]) == (len(SUITE), len(SUITE) - blocks)
    assert result["kinds"]["block"] == {"solved": 0, "positions": blocks}
    assert result["kinds"]["fours-2"]["solved"] == result["kinds"]["fours-2"]["positions"]
    assert result["share"] == pytest.approx(1 - blocks / len(SUITE))


def test_equal_seeds_give_equal_scores_and_random_moves_solve_little() -> None:
    scores = [score_player(RandomPlayer(), SUITE, seed=3, context=Context()) for _ in range(2)]
    assert scores[0].missed == scores[1].missed
    assert scores[0].total.share < 0.1


def test_the_mentor_of_paper_a_makes_fives_and_stops_them() -> None:
    easy = [puzzle for puzzle in SUITE if puzzle.kind in ("win-in-1", "block")]
    assert score_player(PaperMentor(), easy, context=Context()).total.share == 1.0


def test_a_stopped_measurement_says_so() -> None:
    with pytest.raises(Interrupted):
        score_player(RandomPlayer(), SUITE, context=Context(stop=lambda: True))


@pytest.mark.parametrize(("line", "why"), cases("suite_lines_refused"))
def test_a_broken_line_is_named(line: str, why: str) -> None:
    with pytest.raises(SuiteError, match=f"mine, line 2: .*{why}"):
        parse_suite(f"# mine\n{line}", "mine")


def test_a_file_without_a_puzzle_is_no_suite_and_an_unknown_one_is_refused() -> None:
    with pytest.raises(SuiteError, match="mine holds no puzzle"):
        parse_suite("# a comment\n", "mine")
    with pytest.raises(SuiteError, match="no suite 'chess'; there are tactics and hard"):
        load_suite("chess")
