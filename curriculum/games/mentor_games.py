"""Games that a teacher plays against itself, to be imitated (A IV-C).

They start from a few random stones and now and then a random move is played, so that games differ; the label of each
position is what the teacher would have played all the same: the distribution it draws from, where it has one.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from core.evaluation import PositionBatch
from core.position import Position
from core.rules import Cell, Rules
from core.streams import Purpose, generator, stream_key
from curriculum.config import Config
from curriculum.reporting import Conduct
from curriculum.training.samples import Samples, decayed_results, read_samples, write_samples
from search.players import Decision, Player

_GAMES_A_FILE = 64
_REACH = 2
"""How far from the nearest stone a random stone may lie: games are local, and so should their accidents be."""


def random_opening(rules: Rules, stones: tuple[int, int], random: np.random.Generator) -> Position:
    """A position with `stones` (fewest, most) stones near each other in turn, over which nobody has won yet."""
    most = min(stones[1], rules.cells // 2)
    wanted = int(random.integers(min(stones[0], most), most + 1))
    while True:
        position = Position(rules)
        while position.ply < wanted and not position.is_game_over():
            position.push(random_move(position, random))
        if not position.is_game_over():
            return position


def random_move(position: Position, random: np.random.Generator) -> Cell:
    """An empty cell near a stone, any with equal chance; on an empty board one of the middle half."""
    size = position.rules.size
    stones = (position.stones != 0).reshape(size, size)
    near = np.zeros((size, size), dtype=np.bool_)
    if position.ply == 0:
        near[size // 4 : size - size // 4, size // 4 : size - size // 4] = True
    for row, column in zip(*np.nonzero(stones), strict=True):
        near[max(0, row - _REACH) : row + _REACH + 1, max(0, column - _REACH) : column + _REACH + 1] = True
    return int(random.choice(np.flatnonzero(near.ravel() & (position.stones == 0))))


def teach_game(config: Config, teacher: Player, game: int) -> Samples:
    """The samples of one game, in order; it depends on the configuration's seed and `game` alone."""
    settings = config.imitation
    random = generator(config.seed, Purpose.MENTOR, game)
    position = random_opening(config.rules, settings.opening_stones, random)
    first = position.ply
    decisions: list[Decision] = []
    while not position.is_game_over():
        seed = stream_key(config.seed, Purpose.MENTOR, game, position.ply)
        decision = teacher.choose_batch([position], seeds=[seed])[0]
        decisions.append(decision)
        position.push(random_move(position, random) if random.random() < settings.random_move_share else decision.move)
    return game_samples(position, first, decisions, config.training.z_decay, settings.teacher_value_share)


def game_samples(
    position: Position, first: int, decisions: Sequence[Decision], z_decay: float, teacher_value_share: float
) -> Samples:
    """The samples of a finished game from ply `first` on, with the teacher's decision at each position.

    The value target is the decayed result, mixed with the teacher's own value where it has one.
    """
    batch = replay_positions(position, first)
    policies = np.zeros((len(decisions), position.rules.cells), dtype=np.float32)
    for row, decision in enumerate(decisions):
        if decision.policy is not None:
            policies[row] = decision.policy
        else:
            policies[row, decision.move] = 1.0
    outcome = position.outcome()
    results = decayed_results(outcome.winner if outcome else None, batch.to_move, z_decay)
    judged = [r if decision.value is None else decision.value for decision, r in zip(decisions, results, strict=True)]
    share = teacher_value_share
    return Samples(batch, policies, (1.0 - share) * results + share * np.array(judged, dtype=np.float32))


def replay_positions(position: Position, first: int) -> PositionBatch:
    """The positions of a game before each of its moves from ply `first` on, in order."""
    twin = Position.from_moves(position.rules, position.moves[:first])
    batch = PositionBatch.empty(position.ply - first, position.rules.cells)
    for row, move in enumerate(position.moves[first:]):
        batch.stones[row] = twin.stones
        batch.to_move[row] = twin.side_to_move
        batch.last_moves[row] = twin.last_moves
        twin.push(move)
    return batch


def teach_games(config: Config, teacher: Player, folder: Path, conduct: Conduct) -> tuple[Samples, Samples]:
    """All games of the phase, played on all cores: (training samples, held-out samples), split by game.

    Games are kept in `folder` as they are played, a file for every few of them; those there are not played again.
    Raises `Interrupted` between two files.
    """
    games = config.imitation.games
    training: list[Samples] = []
    held_out: list[Samples] = []
    positions = 0
    with (
        conduct.reporter.task("games to imitate", games, "games") as progress,
        ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        for first in range(0, games, _GAMES_A_FILE):
            numbers = range(first, min(first + _GAMES_A_FILE, games))
            path = folder / f"mentor-{first:06d}.npz"
            if not path.exists():
                conduct.check()
                played = list(pool.map(lambda game: teach_game(config, teacher, game), numbers))
                metadata = {"first_game": first, "lengths": [len(game) for game in played], "teacher": teacher.name}
                write_samples(path, Samples.concatenate(played), metadata)
            for part, samples in zip((training, held_out), _split(config, path), strict=True):
                part.append(samples)
                positions += len(samples)
            progress.update(numbers[-1] + 1, positions=positions)
    return Samples.concatenate(training), Samples.concatenate(held_out)


def games_to_train_on(config: Config, folder: Path) -> Samples:
    """The games that `teach_games` left in `folder`, without those held out; no samples where it left none."""
    parts = [_split(config, path)[0] for path in sorted(folder.glob("mentor-*.npz"))]
    return Samples.concatenate([Samples.none(config.rules.cells), *parts])


def _split(config: Config, path: Path) -> tuple[Samples, Samples]:
    """The samples of a file to train on, and those held out.

    The last games of all are held out: whole games, since positions of one game resemble each other.
    """
    samples, metadata = read_samples(path)
    games = config.imitation.games
    first_held_out = games - max(1, round(games * config.imitation.held_out_share))
    cut = sum(metadata["lengths"][: max(0, first_held_out - metadata["first_game"])])
    return samples.rows(slice(cut)), samples.rows(slice(cut, None))
