"""Games that a teacher plays against itself or another player, to be imitated (A IV-C).

They start from a few random stones and contain some random moves, so that games differ. The policy target of a position
is its player's decision even where a random move was played: the distribution it draws from, or its move.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import numpy as np

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
from curriculum.workers.game_threads import on_threads
from nets.targets import FinishedGame
from search.players import Decision, ForfeitError, Player, Recipe, as_recipe

_GAMES_PER_FILE = 64
_MAX_FORFEITED_SHARE = 0.5
"""Maximum share of forfeited games in a file: above it a player is broken."""
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


def play_teacher_game(config: Config, teacher: Player, number: int, opponent: Player | None = None) -> Samples:
    """Play one game and return its samples, in order; it depends on the configuration's seed and its number alone.

    The value target is the decayed result, mixed with the own value of the player to move where it has one. The teacher
    is Black in games of even number; without an opponent it is White too.
    """
    players = [teacher, opponent or teacher]
    settings, decay = config.imitation, config.training.z_decay
    random = generator(config.seed, Purpose.MENTOR, number)
    position = random_opening(config.rules, settings.opening_stones, random)
    first_ply = position.ply
    decisions: list[Decision] = []
    values: list[float | None] = []
    while not position.is_game_over():
        seed = stream_key(config.seed, Purpose.MENTOR, number, position.ply)
        mover = players[(number + position.ply) % 2]
        decision = mover.choose_batch([position], seeds=[seed])[0]
        decisions.append(decision)
        values.append(decayed_value(decision, config.rules.cells - position.ply, decay))
        position.push(random_move(position, random) if random.random() < settings.random_move_share else decision.move)

    batch, outcome = replay_positions(position, first_ply), position.outcome()
    moves, winner = tuple(position.moves[first_ply:]), outcome.winner if outcome else None
    policies = np.zeros((len(decisions), config.rules.cells), dtype=np.float32)
    for row, decision in enumerate(decisions):
        if decision.policy is not None:
            policies[row] = decision.policy
        else:
            policies[row, decision.move] = 1.0
    results = decayed_results(winner, batch.to_move, decay)
    known = [z if value is None else value for value, z in zip(values, results, strict=True)]
    share = settings.teacher_value_share
    mixed = (1.0 - share) * results + share * np.array(known, dtype=np.float32)
    return Samples.of_game(batch, FinishedGame(batch.to_move, moves, winner, policies, mixed), config.net.targets)


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
    """The teacher's games: see `curriculum.workers.games.Job`. A game that a player forfeits is the error."""

    config: Config
    teacher: Recipe
    opponent: Recipe | None = None

    at_once = 8
    """Few, since a stop waits for the games that workers have; each plays one a core at a time."""

    @property
    def files(self) -> tuple[Path, ...]:
        """See `curriculum.workers.games.Job`."""
        return self.teacher.files + (self.opponent.files if self.opponent else ())

    def open(self, files: Mapping[Path, Path]) -> "_TeacherGames":
        """See `curriculum.workers.games.Job`."""
        opponent = self.opponent.make(files) if self.opponent else None
        return _TeacherGames(self.config, self.teacher.make(files), opponent)


class _TeacherGames:
    """The teacher and its opponent in this process, on all its cores."""

    def __init__(self, config: Config, teacher: Player, opponent: Player | None) -> None:
        self.counts: Mapping[str, int] = {}
        self._config = config
        self._teacher: Player | None = teacher
        self._opponent = opponent

    def play(
        self, numbers: Iterator[int | None], stop: Callable[[], bool]
    ) -> Generator[tuple[int, Samples | ForfeitError] | None]:
        return on_threads(numbers, cores(), self._samples_of, stop)

    def close(self) -> None:
        self._teacher = self._opponent = None  # an engine ends with it

    def _samples_of(self, number: int, stop: Callable[[], bool]) -> Samples | ForfeitError:
        assert self._teacher is not None
        try:
            return play_teacher_game(self._config, self._teacher, number, self._opponent)
        except ForfeitError as error:
            return error


def play_teacher_games(
    config: Config,
    teacher: Player | Recipe,
    folder: Path,
    context: Context,
    opponent: Player | Recipe | None = None,
) -> tuple[Samples, Samples]:
    """Play all games of the phase; return the training samples and the held-out samples, split by game.

    Games are kept in `folder` as they are played, 64 per file, and read from there the next time. A game that a
    player forfeits, as an engine may, is left out. Raises `Interrupted` after the files in progress, and `ForfeitError`
    if more than half the games of a file are forfeited.
    """
    games = config.imitation.games
    files = {first: range(first, min(first + _GAMES_PER_FILE, games)) for first in range(0, games, _GAMES_PER_FILE)}
    paths = {first: folder / f"mentor-{first:06d}.npz" for first in files}
    missing = [first for first in files if not paths[first].exists()]
    played: dict[int, Samples | ForfeitError] = {}
    done, positions = games - sum(len(files[first]) for first in missing), 0
    recipe = as_recipe(teacher)
    job = TeacherJob(config, recipe, None if opponent is None else as_recipe(opponent))
    begun = takewhile(lambda first: not context.stop(), missing)  # after a stop the files in progress are finished
    numbers = (number for first in begun for number in files[first])
    with (
        context.reporter.task("games to imitate", games, "games") as progress,
        context.pool.stream(job, numbers) as stream,
    ):
        progress.update(done)
        for number, samples in stream if missing else ():
            played[number] = samples
            done += 1
            positions += 0 if isinstance(samples, ForfeitError) else len(samples)
            progress.update(done, positions=positions, **stream.figures)
            first = number - number % _GAMES_PER_FILE
            if all(each in played for each in files[first]):
                whole = [played.pop(each) for each in files[first]]
                kept = _without_forfeits(whole, config.rules.cells, context)
                lengths = [len(game) for game in kept]
                metadata = {"first_game": first, "lengths": lengths, "teacher": recipe.name}
                folder.stat()  # writing would make the folder of a run that was moved anew
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
