"""Games of a teacher: labels are its moves, values are decayed, games differ, and no game is played twice."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.compiled import stones_of
from core.position import Position
from core.rules import BLACK, Rules
from core.streams import generator
from curriculum.config import Config, ImitationConfig, TrainingConfig
from curriculum.games.mentor_games import (
    play_teacher_game,
    play_teacher_games,
    random_move,
    random_opening,
    read_training_games,
)
from curriculum.games.teacher_values import decayed_value
from curriculum.reporting import Context, Interrupted
from curriculum.training.files import read_samples
from curriculum.training.packed import pack
from curriculum.training.samples import Samples
from search.limit import Limit
from search.mentor.paper import PaperMentor
from search.mentor.player import Mentor
from search.players import Decision, ForfeitError, Player
from tests.support.players import OneByOne
from tests.support.runs import same_samples as equal

RULES = Rules(7, 4)
CONFIG = Config(
    rules=RULES,
    training=TrainingConfig(z_decay=0.9),
    imitation=ImitationConfig(
        games=130, opening_stones=(2, 6), random_move_share=0.2, teacher_value_share=0.0, held_out_share=0.1
    ),
)


def scripted_move(position: Position) -> int:
    """Return the scripted teacher's move: an empty cell chosen by a hash of the stones."""
    legal = position.legal_moves()
    return int(legal[int(np.abs(stones_of(position).astype(int) * np.arange(49)).sum()) % len(legal)])


class Teacher(OneByOne):
    """A teacher whose move depends on the stones alone; it counts its decisions and has no values."""

    name = "teacher"

    def __init__(self) -> None:
        self.decisions = 0

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        self.decisions += 1
        return Decision(scripted_move(position))


class Recorded(OneByOne):
    """Another player, whose decisions it keeps."""

    name = "recorded"

    def __init__(self, player: Player) -> None:
        self.player = player
        self.decisions: list[Decision] = []

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        self.decisions += self.player.choose_batch([position], seeds=[seed], stop=stop)
        return self.decisions[-1]


def with_imitation(**changes: Any) -> Config:
    return replace(CONFIG, imitation=replace(CONFIG.imitation, **changes))


def played_moves(samples: Samples) -> list[int]:
    """The moves between the positions of one game; the last one cannot be seen."""
    stones = samples.positions.stones
    return [int(np.flatnonzero(stones[row + 1] != stones[row])[0]) for row in range(len(stones) - 1)]


def test_every_label_is_the_teachers_move_and_random_moves_are_no_labels() -> None:
    accidents = total = 0
    for game in range(30):
        samples = play_teacher_game(CONFIG, Teacher(), game)
        labels = samples.policies.argmax(axis=1)
        assert (samples.policies.sum(axis=1) == 1).all()
        assert (samples.policies.max(axis=1) == 1).all()
        for row, label in enumerate(labels):
            position = Position(RULES)
            stones_of(position)[:] = samples.positions.stones[row]
            assert label == scripted_move(position)
        moves = played_moves(samples)
        accidents += sum(move != label for move, label in zip(moves, labels, strict=False))
        total += len(moves)
    assert 0.1 < accidents / total < 0.3, "about a fifth of the moves are random ones"


def test_without_random_moves_the_teacher_plays_its_labels() -> None:
    samples = play_teacher_game(with_imitation(random_move_share=0.0), PaperMentor(), 3)
    liked = [samples.policies[row, move] for row, move in enumerate(played_moves(samples))]
    assert liked == samples.policies.max(axis=1)[:-1].tolist(), "of several equal moves it draws one"
    assert np.allclose(samples.policies.sum(axis=1), 1)


def test_positions_follow_each_other_from_the_opening_on() -> None:
    samples = play_teacher_game(CONFIG, Teacher(), 5)
    positions = samples.positions
    counts = np.count_nonzero(positions.stones, axis=1)
    assert counts.tolist() == list(range(counts[0], counts[0] + len(samples)))
    assert 2 <= counts[0] <= 6
    assert positions.to_move.tolist() == [1 if count % 2 == 0 else -1 for count in counts]
    moves = played_moves(samples)
    assert positions.last_moves[1:, 0].tolist() == moves
    assert positions.last_moves[2:, 1].tolist() == moves[:-1]


def test_an_opponent_plays_the_other_colour_in_turn_and_its_moves_are_learnt(tmp_path: Path) -> None:
    config = with_imitation(games=4, random_move_share=0.0)
    games = [play_teacher_game(config, PaperMentor(), number, Teacher()) for number in range(4)]
    for number, game in enumerate(games):
        plies = np.count_nonzero(game.positions.stones, axis=1)
        for row in np.flatnonzero((plies + number) % 2):
            position = Position(RULES)
            stones_of(position)[:] = game.positions.stones[row]
            assert game.policies[row, scripted_move(position)] == 1
    training, held_out = play_teacher_games(config, PaperMentor(), tmp_path, Context(), Teacher())
    assert equal(Samples.concatenate([training, held_out]), pack(Samples.concatenate(games)).all)
    alone = play_teacher_game(config, PaperMentor(), 0)
    assert not equal(games[0], alone)


def test_z_is_the_winners_and_decays_towards_the_opening() -> None:
    for game in range(10):
        samples = play_teacher_game(CONFIG, PaperMentor(), game)
        left = np.arange(len(samples) - 1, -1, -1)
        if not samples.values.any():
            continue  # a draw
        assert samples.values[-1] == 1.0, "who moves last has won"
        signs = np.where(samples.positions.to_move == samples.positions.to_move[-1], 1, -1)
        assert samples.values == pytest.approx(signs * 0.9**left, rel=1e-5)


def test_the_teachers_own_value_is_mixed_in() -> None:
    by_share = {}
    for share in (0.0, 0.25, 1.0):
        config = with_imitation(teacher_value_share=share)
        by_share[share] = [play_teacher_game(config, teacher, 4).values for teacher in (PaperMentor(), Teacher())]
    for share in (0.25, 1.0):
        mentors = (1 - share) * by_share[0.0][0] + share * by_share[1.0][0]
        assert by_share[share][0] == pytest.approx(mentors, abs=1e-6)
        assert np.array_equal(by_share[share][1], by_share[0.0][1]), "a teacher without values leaves the result"
    values = by_share[1.0][0]
    assert np.abs(values).max() <= 1.0
    assert values[-1] == 1.0, "a move that makes a line is a proven win in one ply"


def test_a_game_without_random_moves_confirms_the_teachers_proofs() -> None:
    """The winner is the proven one, and wins in no more plies than proven."""
    proven = 0
    for number in range(6):
        teacher = Recorded(Mentor(Limit(nodes=2000)))
        values, results = (
            play_teacher_game(with_imitation(random_move_share=0.0, teacher_value_share=share), each, number).values
            for share, each in ((1.0, teacher), (0.0, teacher.player))
        )
        for decision, value, z in zip(teacher.decisions, values, results, strict=True):
            if decision.plies_to_end is not None and decision.value == 1.0:
                assert value == pytest.approx(0.9 ** (decision.plies_to_end - 1))
                assert value <= z + 1e-6
                proven += 1
    assert proven > 6


@pytest.mark.parametrize(
    ("decision", "cells", "decay", "value"),
    [
        (Decision(0, value=0.9), 200, 0.9, 0.9 * 0.9**16.8),
        (Decision(0, value=0.3), 200, 0.9, 0.3 * 0.9**27.6),
        (Decision(0, value=-0.3), 200, 0.9, -0.3 * 0.9**27.6),
        (Decision(0, value=0.3), 3, 0.9, 0.3 * 0.9**2),  # no more plies than cells
        (Decision(0, value=0.3), 200, 1.0, 0.3),  # nothing is decayed where results are not
        (Decision(0, value=0.3, value_decay=0.97), 200, 0.9, 0.3),  # a model's value is decayed already
        (Decision(0), 200, 0.9, None),
        (Decision(0, value=1.0, plies_to_end=1), 30, 0.9, 1.0),  # a win in k plies is decay^(k-1) to the winner
        (Decision(0, value=-1.0, plies_to_end=4), 30, 0.9, -(0.9**3)),
    ],
)
def test_values_are_decayed_by_the_plies_that_are_left_or_proven(
    decision: Decision, cells: int, decay: float, value: float | None
) -> None:
    assert decayed_value(decision, cells, decay) == (value if value is None else pytest.approx(value))


def test_games_are_distinct_and_depend_on_seed_and_number_alone() -> None:
    games = [play_teacher_game(CONFIG, PaperMentor(), game) for game in range(12)]
    assert len({game.positions.stones.tobytes() for game in games}) == 12
    assert all(equal(game, play_teacher_game(CONFIG, PaperMentor(), number)) for number, game in enumerate(games))
    assert not equal(games[0], play_teacher_game(replace(CONFIG, seed=7), PaperMentor(), 0))


def test_openings_are_local_unfinished_and_of_the_configured_length() -> None:
    lengths = set()
    for seed in range(60):
        position = random_opening(Rules(), (2, 8), generator(seed))
        assert not position.is_game_over()
        lengths.add(position.ply)
        for ply, move in enumerate(position.moves[1:], start=1):
            row, column = divmod(move, 15)
            distances = [max(abs(row - m // 15), abs(column - m % 15)) for m in position.moves[:ply]]
            assert min(distances) <= 2
        assert all(3 <= coordinate <= 11 for coordinate in divmod(position.moves[0], 15)), "in the middle"
    assert lengths == set(range(2, 9))
    assert random_opening(Rules(), (0, 0), generator(1)).ply == 0
    assert random_opening(Rules(3, 3), (30, 30), generator(1)).ply <= 4


def test_a_random_move_is_near_the_stones() -> None:
    position = Position.from_moves(Rules(), [0])
    seen = {random_move(position, generator(seed)) for seed in range(200)}
    assert seen == {row * 15 + column for row in range(3) for column in range(3)} - {0}


def test_held_out_games_are_whole_and_never_trained_on(tmp_path: Path) -> None:
    assert len(read_training_games(CONFIG, tmp_path)) == 0
    training, held_out = play_teacher_games(CONFIG, Teacher(), tmp_path, Context())
    games = [pack(play_teacher_game(CONFIG, Teacher(), game)).all for game in range(130)]
    assert equal(training, Samples.concatenate(games[:117]))
    assert equal(held_out, Samples.concatenate(games[117:]))
    assert equal(read_training_games(CONFIG, tmp_path), training), "nor in a later phase"


def test_one_game_at_least_is_held_out(tmp_path: Path) -> None:
    config = with_imitation(games=3, held_out_share=0.0)
    training, held_out = play_teacher_games(config, Teacher(), tmp_path, Context())
    assert equal(held_out, pack(play_teacher_game(config, Teacher(), 2)).all)
    assert len(training) > 0


def test_a_game_that_was_played_is_read_and_not_played_again(tmp_path: Path) -> None:
    first = play_teacher_games(CONFIG, Teacher(), tmp_path, Context())
    again = Teacher()
    assert all(equal(a, b) for a, b in zip(first, play_teacher_games(CONFIG, again, tmp_path, Context()), strict=True))
    assert again.decisions == 0
    middle = sorted(tmp_path.iterdir())[1]
    lengths = read_samples(middle)[1]["lengths"]
    middle.unlink()
    assert all(equal(a, b) for a, b in zip(first, play_teacher_games(CONFIG, again, tmp_path, Context()), strict=True))
    assert again.decisions == sum(lengths), "the games of that file, and no others"
    with pytest.raises(FileNotFoundError):  # as of a run that was moved: no other folder begins there
        play_teacher_games(CONFIG, again, tmp_path / "moved", Context())


def test_stopping_keeps_the_files_that_are_complete(tmp_path: Path) -> None:
    context = Context(stop=lambda: len(list(tmp_path.iterdir())) >= 1)
    with pytest.raises(Interrupted):
        play_teacher_games(CONFIG, Teacher(), tmp_path, context)
    kept, *begun = sorted(tmp_path.iterdir())
    assert len(begun) <= 1, "a file in progress is finished, and no other is begun"
    samples, metadata = read_samples(kept)
    assert metadata["first_game"] == 0
    assert metadata["teacher"] == "teacher"
    assert sum(metadata["lengths"]) == len(samples)
    assert BLACK in samples.positions.to_move


class Unreliable(Teacher):
    """A teacher that forfeits in some positions."""

    def __init__(self, every: int) -> None:
        super().__init__()
        self._every = every

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        if sum(position.moves[-4:]) % self._every == 0:
            raise ForfeitError("it crashed")
        return super().decide(position, seed, stop)


def test_games_that_the_teacher_forfeits_are_left_out(tmp_path: Path) -> None:
    config = with_imitation(games=64, held_out_share=0.0)
    training, held_out = play_teacher_games(config, Unreliable(100), tmp_path, Context())
    (file,) = tmp_path.iterdir()
    lengths = read_samples(file)[1]["lengths"]
    assert len(lengths) == 64, "a forfeited game keeps its number"
    assert 0 < lengths.count(0) < 32
    assert len(training) + len(held_out) == sum(lengths)


def test_a_teacher_that_forfeits_most_games_ends_the_phase(tmp_path: Path) -> None:
    with pytest.raises(ForfeitError, match="it crashed"):
        play_teacher_games(CONFIG, Unreliable(2), tmp_path, Context())
    assert not list(tmp_path.iterdir())
