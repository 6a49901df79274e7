"""Games of a teacher: labels are its moves, games differ, and what was played is not played again."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.position import Position
from core.rules import BLACK, Rules
from core.streams import generator
from curriculum.config import Config, ImitationConfig, TrainingConfig
from curriculum.games.mentor_games import games_to_train_on, random_move, random_opening, teach_game, teach_games
from curriculum.reporting import Conduct, Interrupted
from curriculum.training.samples import Samples, read_samples
from search.mentor.paper import PaperMentor
from search.players import Decision, never

RULES = Rules(7, 4)
CONFIG = Config(
    rules=RULES,
    training=TrainingConfig(z_decay=0.9),
    imitation=ImitationConfig(
        games=130, opening_stones=(2, 6), random_move_share=0.2, teacher_value_share=0.0, held_out_share=0.1
    ),
)


def taught(position: Position) -> int:
    """The scripted teacher's move: the empty cell nearest the corner a1, counted by a hash of the stones."""
    legal = position.legal_moves()
    return int(legal[int(np.abs(position.stones.astype(int) * np.arange(49)).sum()) % len(legal)])


class Teacher:
    """Its move depends on the stones alone; counts the games it was asked to begin."""

    name = "teacher"

    def __init__(self) -> None:
        self.asked = 0

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], stop: Callable[[], bool] = never
    ) -> list[Decision]:
        """See `Player`."""
        self.asked += len(positions)
        return [Decision(taught(position)) for position in positions]


def equal(one: Samples, other: Samples) -> bool:
    return (
        np.array_equal(one.positions.stones, other.positions.stones)
        and np.array_equal(one.policies, other.policies)
        and np.array_equal(one.values, other.values)
    )


def played_moves(samples: Samples) -> list[int]:
    """The moves between the positions of one game; the last one cannot be seen."""
    stones = samples.positions.stones
    return [int(np.flatnonzero(stones[row + 1] != stones[row])[0]) for row in range(len(stones) - 1)]


def test_every_label_is_the_teachers_move_and_random_moves_are_no_labels() -> None:
    accidents = total = 0
    for game in range(30):
        samples = teach_game(CONFIG, Teacher(), game)
        labels = samples.policies.argmax(axis=1)
        assert (samples.policies.sum(axis=1) == 1).all()
        assert (samples.policies.max(axis=1) == 1).all()
        for row, label in enumerate(labels):
            position = Position(RULES)
            position.stones[:] = samples.positions.stones[row]
            assert label == taught(position)
        moves = played_moves(samples)
        accidents += sum(move != label for move, label in zip(moves, labels, strict=False))
        total += len(moves)
    assert 0.1 < accidents / total < 0.3, "about a fifth of the moves are random ones"


def test_without_random_moves_the_teacher_plays_its_labels() -> None:
    config = replace(CONFIG, imitation=replace(CONFIG.imitation, random_move_share=0.0))
    samples = teach_game(config, PaperMentor(), 3)
    liked = [samples.policies[row, move] for row, move in enumerate(played_moves(samples))]
    assert liked == samples.policies.max(axis=1)[:-1].tolist(), "of several equal moves it draws one"
    assert np.allclose(samples.policies.sum(axis=1), 1)


def test_positions_follow_each_other_from_the_opening_on() -> None:
    samples = teach_game(CONFIG, Teacher(), 5)
    positions = samples.positions
    counts = np.count_nonzero(positions.stones, axis=1)
    assert counts.tolist() == list(range(counts[0], counts[0] + len(samples)))
    assert 2 <= counts[0] <= 6
    assert positions.to_move.tolist() == [1 if count % 2 == 0 else -1 for count in counts]
    moves = played_moves(samples)
    assert positions.last_moves[1:, 0].tolist() == moves
    assert positions.last_moves[2:, 1].tolist() == moves[:-1]


def test_z_is_the_winners_and_decays_towards_the_opening() -> None:
    for game in range(10):
        samples = teach_game(CONFIG, PaperMentor(), game)
        left = np.arange(len(samples) - 1, -1, -1)
        if not samples.values.any():
            continue  # a draw
        assert samples.values[-1] == 1.0, "who moves last has won"
        signs = np.where(samples.positions.to_move == samples.positions.to_move[-1], 1, -1)
        assert samples.values == pytest.approx(signs * 0.9**left, rel=1e-5)


def test_the_teachers_own_value_is_mixed_in() -> None:
    by_share = {}
    for share in (0.0, 0.25, 1.0):
        config = replace(CONFIG, imitation=replace(CONFIG.imitation, teacher_value_share=share))
        by_share[share] = [teach_game(config, teacher, 4).values for teacher in (PaperMentor(), Teacher())]
    for share in (0.25, 1.0):
        mentors = (1 - share) * by_share[0.0][0] + share * by_share[1.0][0]
        assert by_share[share][0] == pytest.approx(mentors, abs=1e-6)
        assert np.array_equal(by_share[share][1], by_share[0.0][1]), "a teacher without an opinion leaves the result"
    judged = by_share[1.0][0]
    assert np.abs(judged).max() <= 1.0
    assert judged[-1] == 1.0, "who makes five is sure of it"


def test_games_are_distinct_and_depend_on_seed_and_number_alone() -> None:
    games = [teach_game(CONFIG, PaperMentor(), game) for game in range(12)]
    assert len({game.positions.stones.tobytes() for game in games}) == 12
    assert all(equal(game, teach_game(CONFIG, PaperMentor(), number)) for number, game in enumerate(games))
    assert not equal(games[0], teach_game(replace(CONFIG, seed=7), PaperMentor(), 0))


def test_openings_are_local_unfinished_and_as_long_as_asked() -> None:
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
    training, held_out = teach_games(CONFIG, Teacher(), tmp_path, Conduct())
    games = [teach_game(CONFIG, Teacher(), game) for game in range(130)]
    assert equal(training, Samples.concatenate(games[:117]))
    assert equal(held_out, Samples.concatenate(games[117:]))
    assert equal(games_to_train_on(CONFIG, tmp_path), training), "nor in a later phase"


def test_one_game_at_least_is_held_out(tmp_path: Path) -> None:
    config = replace(CONFIG, imitation=replace(CONFIG.imitation, games=3, held_out_share=0.0))
    training, held_out = teach_games(config, Teacher(), tmp_path, Conduct())
    assert equal(held_out, teach_game(config, Teacher(), 2))
    assert len(training) > 0


def test_no_games_are_nothing_to_train_on(tmp_path: Path) -> None:
    assert len(games_to_train_on(CONFIG, tmp_path)) == 0


def test_what_was_played_is_read_and_not_played_again(tmp_path: Path) -> None:
    first = teach_games(CONFIG, Teacher(), tmp_path, Conduct())
    again = Teacher()
    assert all(equal(a, b) for a, b in zip(first, teach_games(CONFIG, again, tmp_path, Conduct()), strict=True))
    assert again.asked == 0
    middle = sorted(tmp_path.iterdir())[1]
    lengths = read_samples(middle)[1]["lengths"]
    middle.unlink()
    assert all(equal(a, b) for a, b in zip(first, teach_games(CONFIG, again, tmp_path, Conduct()), strict=True))
    assert again.asked == sum(lengths), "the games of that file, and no others"


def test_stopping_keeps_the_files_that_are_complete(tmp_path: Path) -> None:
    conduct = Conduct(stop=lambda: len(list(tmp_path.iterdir())) == 1)
    with pytest.raises(Interrupted):
        teach_games(CONFIG, Teacher(), tmp_path, conduct)
    (kept,) = tmp_path.iterdir()
    samples, metadata = read_samples(kept)
    assert metadata["first_game"] == 0
    assert metadata["teacher"] == "teacher"
    assert sum(metadata["lengths"]) == len(samples)
    assert BLACK in samples.positions.to_move
