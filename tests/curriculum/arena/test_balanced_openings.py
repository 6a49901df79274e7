"""Balanced openings: undecided, even for their evaluators, all different, and the same for the same seed."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.compiled import stones_of
from core.compiled.rules import compile_rules
from core.compiled.tactics import immediate_wins
from core.position import Position
from core.records.openings import read_openings
from core.rules import BLACK, WHITE, Rules
from curriculum.arena import balanced_openings as module
from curriculum.arena.balanced_openings import BalancedOpening, PlayedOut, balanced_openings, stages
from curriculum.arena.players import PlayerSettings
from curriculum.reporting import Context, Interrupted
from gomoku_cli.exit_codes import ExitCode
from search.players import Decision, Player, RandomPlayer
from search.tree.settings import Policy
from tests.support.cases import cases
from tests.support.commands import Capsys, refused
from tests.support.commands import run as run_command
from tests.support.nets import save_small_model
from tests.support.players import OneByOne

RULES = Rules(11)


class Evaluator(OneByOne):
    """Gives each position the value of a function; keeps the positions."""

    name = "evaluator"

    def __init__(self, worth: Callable[[Position], float]) -> None:
        self._worth = worth
        self.positions: list[tuple[int, ...]] = []

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        self.positions.append(tuple(position.moves))
        return Decision(position.legal_moves()[0], value=self._worth(position))


def by_last_move(position: Position) -> float:
    """Between -1 and 1, evenly spread over the starts."""
    return (position.moves[-1] * 37 % 101) / 50 - 1


def openings_of(
    *evaluators: Player, stones: tuple[int, int] = (2, 8), max_value: float = 0.3, **options: Any
) -> Iterator[BalancedOpening]:
    """The openings that the evaluators find even, without end."""
    options = {"seed": 1, "context": Context()} | options
    for some in balanced_openings(RULES, evaluators, stones=stones, max_value=max_value, **options):
        yield from some


def found(*evaluators: Player, count: int = 30, **options: Any) -> list[BalancedOpening]:
    """The first openings that the evaluators find even."""
    return list(islice(openings_of(*evaluators, **options), count))


def looks(opening: BalancedOpening) -> set[frozenset[tuple[complex, int]]]:
    """The eight ways to look at the same stones: points around the centre, with their colours."""
    middle = (RULES.size - 1) / 2
    points = [complex(cell % RULES.size - middle, cell // RULES.size - middle) for cell in opening.moves]
    turned = [[point * 1j**quarter for point in points] for quarter in range(4)]
    mirrored = [[point.conjugate() for point in look] for look in turned]
    return {frozenset((point, ply % 2) for ply, point in enumerate(look)) for look in turned + mirrored}


def test_openings_are_even_by_the_evaluator() -> None:
    openings = found(Evaluator(by_last_move))
    assert len(openings) == 30
    for opening in openings:
        position = Position.from_moves(RULES, opening.moves)
        assert 2 <= position.ply <= 8
        assert opening.value == by_last_move(position)
        assert abs(opening.value) <= 0.3


def test_over_an_opening_nothing_is_decided() -> None:
    wins = np.zeros(RULES.cells, dtype=np.bool_)
    for opening in found(Evaluator(lambda position: 0.0), count=100):
        position = Position.from_moves(RULES, opening.moves)
        assert not position.is_game_over()
        for colour in (BLACK, WHITE):
            for cell in position.legal_moves():
                stones = stones_of(position).copy()
                stones[cell] = colour
                assert immediate_wins(compile_rules(RULES), stones, colour, wins) == 0


def test_no_two_openings_are_the_same_turned_or_mirrored() -> None:
    # Two stones near each other in the middle: so few starts that the same ones are drawn again and again.
    openings = found(Evaluator(lambda position: 0.0), count=60, stones=(2, 2), max_value=0.1, seed=3)
    seen: set[frozenset[tuple[complex, int]]] = set()
    for opening in openings:
        assert seen.isdisjoint(looks(opening))
        seen |= looks(opening)


def test_the_second_evaluator_sees_only_the_even_positions_of_the_first() -> None:
    first, second = Evaluator(by_last_move), Evaluator(lambda position: 0.0)
    openings = found(first, second, max_value=0.2)
    even = [moves for moves in first.positions if abs(by_last_move(Position.from_moves(RULES, moves))) <= 0.2]
    assert second.positions == even
    assert len(even) < len(first.positions) / 2
    assert all(opening.value == 0.0 for opening in openings)


def test_as_many_openings_lean_to_black_as_to_white() -> None:
    # The evaluator likes Black a little in nine of ten starts.
    evaluator = Evaluator(lambda position: position.side_to_move * (0.1 if sum(position.moves) % 10 else -0.1))
    openings = found(evaluator)
    leaning = [opening.value * (1 if len(opening.moves) % 2 == 0 else -1) for opening in openings]
    assert leaning == [0.1, -0.1] * 15


def test_starts_whose_games_are_played_come_a_few_at_a_time() -> None:
    for games, starts in ((0, 128), (8, 16), (100, 1)):
        evaluator = Evaluator(by_last_move)
        played = [PlayedOut(Evaluator(by_last_move), games)] if games else []
        next(balanced_openings(RULES, [evaluator, *played], stones=(4, 8), max_value=1, seed=1, context=Context()))
        assert starts / 2 < len(evaluator.positions) <= starts


def test_an_interrupted_evaluation_gives_no_opening() -> None:
    evaluator = Evaluator(lambda position: 0.0)
    # The stop comes during the evaluation.
    with pytest.raises(Interrupted):
        found(evaluator, context=Context(stop=lambda: bool(evaluator.positions)))
    assert evaluator.positions


def test_a_player_with_a_net_searches_briefly_first_and_plays_last() -> None:
    settings = PlayerSettings(simulations=64, policy=Policy.DETERMINISTIC)
    position = Position.from_moves(Rules(), [112, 113, 97])
    made = stages("default", rules=Rules(), settings=settings, games=2, stones=3)
    assert [player.choose(position).simulations for player in made[:2]] == [4, 64]
    assert made[2].choose(position, seed=1).value in (-1.0, -0.5, 0.0, 0.5, 1.0)
    assert len(stages("mentor", rules=Rules(), settings=settings)) == 1


class Recorded(Evaluator):
    """Plays at random; keeps every position that it is shown."""

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        super().decide(position, seed, stop)
        return RandomPlayer().choose(position, seed=seed)


def test_games_from_an_opening_count_for_the_side_to_move() -> None:
    player, rules = Recorded(lambda position: 0.0), Rules(5, 3)
    starts = [Position.from_moves(rules, moves) for moves in ([12], [12, 0], [12, 0, 13, 1])]
    decisions = PlayedOut(player, 40).choose_batch(starts, seeds=[1, 2, 3])
    for start, decision in zip(starts, decisions, strict=True):
        assert decision.move in start.legal_moves()
        own = {moves for moves in player.positions if list(moves[: start.ply]) == start.moves}
        assert len(own) > 40  # the games differ
    white, black, winning = (decision.value for decision in decisions)
    assert white is not None and black is not None and winning is not None
    # Two stones ahead Black mostly wins at random, and a move that wins at once is one of four.
    assert -1 < white < 0 < black < winning <= 1
    # A game that is one move from its end on a full board: a draw counts nothing.
    draw = Position.from_moves(Rules(3, 3), "a1 b1 c1 b2 a2 a3 b3 c2")
    assert PlayedOut(player, 3).choose(draw).value == 0


def gomoku(capsys: Capsys, *arguments: object) -> tuple[int, str, str]:
    return run_command(capsys, "openings", *arguments, "--quiet")


SMALL = ("--count", 6, "--player", "mentor:1", "--board-size", 11)


def test_the_file_is_read_back_in_either_notation(tmp_path: Path, capsys: Capsys) -> None:
    cells, offsets = tmp_path / "cells.txt", tmp_path / "offsets.txt"
    code, out, _ = gomoku(capsys, *SMALL, "--output", cells)
    assert code == ExitCode.DONE
    assert out.startswith(f"{cells}: 6 of 6 openings, evaluated by mentor:1")
    code, out, _ = gomoku(capsys, *SMALL, "--output", offsets, "--notation", "offsets", "--json")
    assert code == ExitCode.DONE
    report = json.loads(out)
    openings = read_openings(cells, RULES)
    assert len(openings) == len(report["openings"]) == 6
    assert read_openings(offsets, RULES) == openings
    assert cells.read_text().splitlines()[2:] == [" ".join(opening["moves"]) for opening in report["openings"]]
    assert all(abs(opening["value"]) <= 0.15 for opening in report["openings"])


def test_the_header_of_a_file_is_the_command_that_makes_it_again(tmp_path: Path, capsys: Capsys) -> None:
    first, again = tmp_path / "first.txt", tmp_path / "again.txt"
    gomoku(capsys, *SMALL, "--seed", 7, "--max-value", 0.25, "--stones", "3-5", "--output", first)
    arguments = first.read_text().splitlines()[1].removeprefix("# gomoku openings ").split()
    assert gomoku(capsys, *arguments, "--output", again)[0] == ExitCode.DONE
    assert again.read_bytes() == first.read_bytes()


def test_a_player_with_a_line_break_in_its_name_leaves_the_header_a_line(tmp_path: Path, capsys: Capsys) -> None:
    model = save_small_model(tmp_path / "small\nmodel.safetensors", RULES)
    code, _, err = gomoku(capsys, "--player", model, "-n", 4, "--count", 1, "--max-value", 0.5, "-o", tmp_path / "made")
    assert code == ExitCode.DONE, err
    assert len(read_openings(tmp_path / "made", RULES)) == 1


def test_a_file_is_overwritten_by_force_alone_and_the_mentor_replaces_a_model(tmp_path: Path, capsys: Capsys) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("mine")
    assert "--force" in refused(capsys, ExitCode.USAGE, "openings", *SMALL, "--output", file, "--quiet")
    assert file.read_text() == "mine"
    code, out, _ = gomoku(capsys, "--count", 2, "--board-size", 9, "--connect", 6, "--output", file, "--force")
    assert code == ExitCode.DONE
    assert "evaluated by mentor" in out
    assert len(read_openings(file, Rules(9, 6))) == 2


def test_an_interruption_keeps_the_found_openings(
    tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> Iterator[list[BalancedOpening]]:
        yield [BalancedOpening((60, 61, 49), 0.1), BalancedOpening((60, 72), 0.0)]
        raise Interrupted

    monkeypatch.setattr(module, "balanced_openings", stopped)
    file = tmp_path / "openings.txt"
    code, out, err = gomoku(capsys, *SMALL, "--output", file)
    assert (code, err) == (ExitCode.INTERRUPTED, "stopped\n")
    assert "2 of 6 openings" in out
    assert read_openings(file, RULES) == [(60, 61, 49), (60, 72)]


@pytest.mark.parametrize(("arguments", "why"), cases("impossible_openings"))
def test_impossible_openings_are_refused_in_one_line(
    arguments: Sequence[object], why: str, tmp_path: Path, capsys: Capsys
) -> None:
    file = tmp_path / "openings.txt"
    assert why in refused(capsys, ExitCode.USAGE, "openings", *SMALL, *arguments, "--output", file, "--quiet")
    assert not file.exists()
