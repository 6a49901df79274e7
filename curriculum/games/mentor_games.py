"""Games that a teacher plays against itself, to be imitated (A IV-C).

They start from a few random stones and contain some random moves, so that games differ. The policy target of a position
is the teacher's decision even where a random move was played: the distribution it draws from, or its move.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled import legal_moves_of, near_stones
from core.cores import cores
from core.evaluation import PositionBatch
from core.files.json_text import value_at
from core.position import Position
from core.rules import Cell, Rules
from core.streams import Purpose, generator, stream_key
from curriculum.config import Config
from curriculum.games.teacher_values import decayed_value
from curriculum.reporting import Context, Interrupted
from curriculum.training.files import naming_metadata, read_kept_games, write_samples
from curriculum.training.samples import Samples, decayed_results
from nets.targets import FinishedGame
from search.players import Decision, ForfeitError, Player, Recipe, as_recipe

_GAMES_PER_FILE = 64
_MAX_FORFEITED_SHARE = 0.5
"""Maximum share of forfeited games in a file: above it the teacher is broken."""
_POLL_S = 0.2
_REACH = 2
"""Maximum distance of a random stone from the nearest stone: games are local, and random stones should be too."""


def random_opening(rules: Rules, stones: tuple[int, int], random: np.random.Generator) -> Position:
    """Return a position that is not over, with `stones` (minimum, maximum) random stones near each other."""
    high = min(stones[1], rules.cells // 2)
    plies = int(random.integers(min(stones[0], high), high + 1))
    while True:
        position = Position(rules)
        while position.ply < plies and not position.is_game_over():
            position.push(random_move(position, random))
        if not position.is_game_over():
            return position


def random_move(position: Position, random: np.random.Generator) -> Cell:
    """Return a legal move near a stone, each with equal chance; on an empty board one of the middle half."""
    near = near_stones(position, _REACH)
    if position.ply == 0:
        size = position.rules.size
        middle = slice(size // 4, size - size // 4)
        near.reshape(size, size)[middle, middle] = True
    return int(random.choice(np.flatnonzero(near & legal_moves_of(position))))


class TeacherGame(NamedTuple):
    """A finished game of a teacher against itself."""

    position: Position
    """The end of the game."""
    first_ply: int
    """Stones of the opening; the teacher's decisions begin there."""
    decisions: list[Decision]
    """[T] the teacher's decision at each position, also where a random move was played."""

    @property
    def positions(self) -> PositionBatch:
        """[T] the positions of the decisions."""
        return replay_positions(self.position, self.first_ply)

    def results(self, decay: float) -> NDArray[np.float32]:
        """Return [T]: the decayed result for the side to move at each position."""
        outcome = self.position.outcome()
        return decayed_results(outcome.winner if outcome else None, self.positions.to_move, decay)

    def values(self, decay: float) -> list[float | None]:
        """Return [T]: the teacher's values on the scale of `results`; None where it has none."""
        left = range(self.position.rules.cells - self.first_ply, 0, -1)
        return [decayed_value(decision, empty, decay) for decision, empty in zip(self.decisions, left, strict=False)]

    def samples(self, config: Config) -> Samples:
        """Return the samples of the game, in order.

        The value target is the decayed result, mixed with the teacher's own value where it has one.
        """
        decay, share = config.training.z_decay, config.imitation.teacher_value_share
        batch, results = self.positions, self.results(decay)
        policies = np.zeros((len(self.decisions), self.position.rules.cells), dtype=np.float32)
        for row, decision in enumerate(self.decisions):
            if decision.policy is not None:
                policies[row] = decision.policy
            else:
                policies[row, decision.move] = 1.0
        values = [z if v is None else v for v, z in zip(self.values(decay), results, strict=True)]
        mixed = (1.0 - share) * results + share * np.array(values, dtype=np.float32)
        outcome = self.position.outcome()
        moves, winner = tuple(self.position.moves[self.first_ply :]), outcome.winner if outcome else None
        return Samples.of_game(batch, FinishedGame(batch.to_move, moves, winner, policies, mixed), config.net.targets)


def play_teacher_game(config: Config, teacher: Player, number: int) -> TeacherGame:
    """Play one game; it depends on the configuration's seed and its number alone."""
    settings = config.imitation
    random = generator(config.seed, Purpose.MENTOR, number)
    position = random_opening(config.rules, settings.opening_stones, random)
    first_ply = position.ply
    decisions: list[Decision] = []
    while not position.is_game_over():
        seed = stream_key(config.seed, Purpose.MENTOR, number, position.ply)
        decision = teacher.choose_batch([position], seeds=[seed])[0]
        decisions.append(decision)
        position.push(random_move(position, random) if random.random() < settings.random_move_share else decision.move)
    return TeacherGame(position, first_ply, decisions)


def replay_positions(position: Position, first_ply: int) -> PositionBatch:
    """Return the positions of a game before each of its moves from `first_ply` on, in order."""
    twin = Position.from_moves(position.rules, position.moves[:first_ply])
    batch = PositionBatch.empty(position.ply - first_ply, position.rules.cells)
    for row, move in enumerate(position.moves[first_ply:]):
        batch.stones[row] = twin.stones
        batch.to_move[row] = twin.side_to_move
        batch.last_moves[row] = twin.last_moves
        twin.push(move)
    return batch


@dataclass(frozen=True)
class TeacherJob:
    """The teacher's games: see `curriculum.workers.games.Job`. A game that it forfeits is the error."""

    config: Config
    teacher: Recipe

    at_once = 8
    """Few, since a stop waits for the games that workers have; each plays one a core at a time."""

    @property
    def files(self) -> tuple[Path, ...]:
        """See `curriculum.workers.games.Job`."""
        return self.teacher.files

    def open(self, files: Mapping[Path, Path]) -> "_TeacherGames":
        """See `curriculum.workers.games.Job`."""
        return _TeacherGames(self.config, self.teacher.make(files))


class _TeacherGames:
    """The teacher in this process, on all its cores."""

    def __init__(self, config: Config, teacher: Player) -> None:
        self._config = config
        self._teacher: Player | None = teacher
        self._positions = 0

    @property
    def counts(self) -> Mapping[str, int]:
        return {"positions": self._positions}

    def play(
        self, numbers: Iterator[int | None], stop: Callable[[], bool]
    ) -> Generator[tuple[int, Samples | ForfeitError] | None]:
        running: dict[Future[Samples | ForfeitError], int] = {}
        with ThreadPoolExecutor(cores()) as pool:
            while not stop():
                while len(running) < cores() and (number := next(numbers, None)) is not None:
                    running[pool.submit(self._samples_of, number)] = number
                if not running:
                    return
                for future in wait(running, timeout=_POLL_S, return_when=FIRST_COMPLETED).done:
                    samples = future.result()
                    self._positions += 0 if isinstance(samples, ForfeitError) else len(samples)
                    yield running.pop(future), samples
                yield None

    def close(self) -> None:
        self._teacher = None  # an engine ends with it

    def _samples_of(self, number: int) -> Samples | ForfeitError:
        config = self._config
        assert self._teacher is not None
        try:
            game = play_teacher_game(config, self._teacher, number)
        except ForfeitError as error:
            return error
        return game.samples(config)


def play_teacher_games(
    config: Config, teacher: Player | Recipe, folder: Path, context: Context
) -> tuple[Samples, Samples]:
    """Play all games of the phase; return the training samples and the held-out samples, split by game.

    Games are kept in `folder` as they are played, 64 per file, and read from there the next time. A game that the
    teacher forfeits, as an engine may, is left out. Raises `Interrupted` after the files in progress, and
    `ForfeitError` if the teacher forfeits more than half the games of a file.
    """
    games = config.imitation.games
    files = {first: range(first, min(first + _GAMES_PER_FILE, games)) for first in range(0, games, _GAMES_PER_FILE)}
    paths = {first: folder / f"mentor-{first:06d}.npz" for first in files}
    missing = [first for first in files if not paths[first].exists()]
    played: dict[int, Samples | ForfeitError] = {}
    done = games - sum(len(files[first]) for first in missing)
    recipe = as_recipe(teacher)
    begun = takewhile(lambda first: not context.stop(), missing)  # after a stop the files in progress are finished
    numbers = (number for first in begun for number in files[first])
    with (
        context.reporter.task("games to imitate", games, "games") as progress,
        context.pool.stream(TeacherJob(config, recipe), numbers) as stream,
    ):
        progress.update(done)
        for number, samples in stream if missing else ():
            played[number] = samples
            done += 1
            progress.update(done, positions=stream.counts.get("positions", 0), **stream.figures)
            first = number - number % _GAMES_PER_FILE
            if all(each in played for each in files[first]):
                whole = [played.pop(each) for each in files[first]]
                kept = _without_forfeits(whole, config.rules.cells, context)
                lengths = [len(game) for game in kept]
                metadata = {"first_game": first, "lengths": lengths, "teacher": recipe.name}
                write_samples(paths[first], Samples.concatenate(kept), metadata)
    if done < games:
        raise Interrupted
    parts = [_split(config, path) for path in paths.values()]
    return Samples.concatenate([part[0] for part in parts]), Samples.concatenate([part[1] for part in parts])


def _without_forfeits(played: Sequence[Samples | ForfeitError], cells: int, context: Context) -> list[Samples]:
    """Return the samples of each game, none for a forfeited one. Raises `ForfeitError` if too many are forfeited."""
    forfeits = [game for game in played if isinstance(game, ForfeitError)]
    if len(forfeits) > _MAX_FORFEITED_SHARE * len(played):
        raise forfeits[0]
    if forfeits:
        context.reporter.say(f"{len(forfeits)} of {len(played)} games were forfeited and are left out: {forfeits[0]}")
    return [Samples.none(cells) if isinstance(game, ForfeitError) else game for game in played]


def read_training_games(config: Config, folder: Path) -> Samples:
    """Return the training samples that `play_teacher_games` left in `folder`; no samples if it left none."""
    parts = [_split(config, path)[0] for path in sorted(folder.glob("mentor-*.npz"))]
    return Samples.concatenate([Samples.none(config.rules.cells), *parts])


def _split(config: Config, path: Path) -> tuple[Samples, Samples]:
    """Return the training samples of a file, and its held-out samples.

    The last of all games are held out: whole games, since positions of one game resemble each other.
    """
    samples, lengths, metadata = read_kept_games(path, config.rules.cells)
    with naming_metadata(path):
        first_game = value_at(metadata, "first_game", int, low=0)
    games = config.imitation.games
    first_held_out = games - max(1, round(games * config.imitation.held_out_share))
    cut = sum(lengths[: max(0, first_held_out - first_game)])
    return samples.rows(slice(cut)), samples.rows(slice(cut, None))
