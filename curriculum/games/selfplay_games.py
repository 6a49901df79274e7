"""Games that a model plays against itself: one tree a game, semi-stochastic policy, samples {s, pi, z} (A IV-D)."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.evaluation import Evaluator
from core.position import Position
from core.records.record import GameRecord
from core.rules import BLACK, Cell
from core.streams import Purpose, generator, stream_key
from curriculum.budget import TREE_ROOM
from curriculum.config import Config
from curriculum.games.mentor_games import random_opening, replay_positions
from curriculum.training.samples import Samples, decayed_results
from curriculum.workers.games import never
from nets.targets import FinishedGame
from search.tree.cache import EvaluationCache
from search.tree.mcts import ForestSearch, NodeNoise, RootNoise
from search.tree.move_policy import choose_move, draws_move
from search.tree.settings import Noise, Policy

_HORIZONS = (6, 16)
"""Plies to the root values of short-term values."""


@dataclass(slots=True)
class SelfPlayGame:
    """A finished game of self-play."""

    number: int
    samples: Samples
    """Of the moves with a full search; there may be none."""
    record: GameRecord
    first_ply: int
    """Stones of the opening; searches begin there."""


class Progress(NamedTuple):
    """Work done since self-play began, at some time."""

    seconds: float
    """That time, on a clock with any origin."""
    simulations: int
    evaluations: int
    """Positions that the net evaluated."""
    leaves: int
    """Positions that needed an evaluation, cached or not."""
    known: int
    """Leaves whose evaluation came from the cache."""
    distinct: int
    """Distinct positions among the leaves, within about one percent; those of several workers are added."""

    @property
    def counts(self) -> dict[str, int]:
        """All but the time, by name."""
        return {name: value for name, value in self._asdict().items() if name != "seconds"}

    @staticmethod
    def of(counts: Mapping[str, int]) -> "Progress":
        """Return the progress at this time, from `counts`; those that are missing are 0."""
        names = Progress._fields[1:]
        return Progress(time.perf_counter(), *(counts.get(name, 0) for name in names))


def opening_of(config: Config, iteration: int, game: int, balanced: Sequence[Sequence[Cell]]) -> Position:
    """Return the start of a game, by the configured shares: a balanced opening, random stones or the empty board."""
    settings = config.selfplay
    random = generator(config.seed, Purpose.OPENING, iteration, game)
    draw = random.random()
    if draw < settings.balanced_share and balanced:
        moves = balanced[int(random.integers(len(balanced)))]
        return Position.from_moves(config.rules, moves)
    if settings.balanced_share <= draw < settings.balanced_share + settings.random_share:
        return random_opening(config.rules, settings.opening_stones, random)
    return Position(config.rules)


def mixed_values(
    results: NDArray[np.float32], searched: NDArray[np.float32], decay: float, search_share: float, short_share: float
) -> NDArray[np.float32]:
    """Return [T] value targets: the search's value and the short-term values by their shares, the rest the result.

    `results` [T], `searched` [T]: the decayed result and the root value of each position, for its side to move. A
    short-term value is the mean of decayed root values some plies on, or of the result where the game has ended by
    then. These horizons are even, so the side is the same.
    """
    ahead = []
    for plies in _HORIZONS:
        values = results.copy()
        values[:-plies] = decay**plies * searched[plies:]
        ahead.append(values)
    short = np.mean(ahead, axis=0, dtype=np.float32)
    mixed: NDArray[np.float32] = (
        (1.0 - search_share - short_share) * results + search_share * searched + short_share * short
    )
    return mixed


class _Game:
    """A game in progress, on one tree of the forest."""

    def __init__(self, number: int, position: Position) -> None:
        self.number = number
        self.position = position
        self.first_ply = position.ply
        # One entry a searched move.
        self.policies: list[NDArray[np.float32]] = []
        self.root_values: list[float] = []
        self.is_full: list[bool] = []
        """True for full searches, which become samples."""


class SelfPlay:
    """Plays numbered games side by side.

    A game depends on the seed, the iteration, its number, and the evaluator's answers. With an evaluator whose answers
    are repeatable, the same games played together are the same each time, whatever the timing and the threads.
    """

    def __init__(
        self, config: Config, evaluator: Evaluator, *, iteration: int, balanced: Sequence[Sequence[Cell]]
    ) -> None:
        self._config, self._iteration, self._balanced = config, iteration, balanced
        self._search = ForestSearch(
            config.rules,
            evaluator,
            config.search,
            trees=config.selfplay.concurrent_games,
            capacity=TREE_ROOM * config.search.simulations + 1,
            cache=EvaluationCache(config.rules.cells, config.selfplay.cache_megabytes),
            seed=config.seed,
        )
        self.renewed: Callable[[], Evaluator] | None = None
        """Set it to play on with another evaluator after the next batch (`ForestSearch.set_evaluator`)."""

    @property
    def progress(self) -> "Progress":
        """Work done so far."""
        search, cache = self._search, self._search.cache
        return Progress(
            time.perf_counter(), search.simulations, search.evaluations, cache.lookups, cache.hits, cache.distinct
        )

    def play(
        self, numbers: Iterable[int | None], stop: Callable[[], bool] = never
    ) -> Generator[tuple[int, SelfPlayGame] | None]:
        """Play the games `numbers` and yield each as it ends, and None after each batch; end after `stop` is True.

        While `numbers` yields None, there are none at present: the games in progress go on.
        """
        waiting = iter(numbers)
        games: dict[int, _Game] = {}
        free = deque(range(self._config.selfplay.concurrent_games))
        try:
            while not stop():
                while free and (number := next(waiting, None)) is not None:
                    tree = free.popleft()
                    games[tree] = self._start(tree, number)
                if not games:
                    return
                for tree in self._search.advance():
                    if not self._move(tree, games[tree]):
                        game = self._finish(games.pop(tree))
                        free.append(tree)
                        yield game.number, game
                if self.renewed is not None:
                    renewed, self.renewed = self.renewed, None
                    self._search.set_evaluator(renewed)
                yield None
        finally:
            self._search.halt()

    def _start(self, tree: int, number: int) -> _Game:
        game = _Game(number, opening_of(self._config, self._iteration, number, self._balanced))
        self._search.set_root(tree, game.position)
        self._search_from(tree, game)
        return game

    def _generator(self, purpose: Purpose, game: _Game) -> np.random.Generator:
        """Return the stream of a purpose at the game's position."""
        return generator(self._config.seed, purpose, self._iteration, game.number, game.position.ply)

    def _search_from(self, tree: int, game: _Game) -> None:
        settings, simulations = self._config.selfplay, self._config.search.simulations
        share = settings.full_search_share
        is_full = share >= 1 or bool(self._generator(Purpose.FULL_SEARCH, game).random() < share)
        game.is_full.append(is_full)
        self._search.begin(
            tree,
            simulations if is_full else settings.fast_simulations,
            noise=self._noise(tree, game) if is_full else None,
            key=stream_key(self._config.seed, Purpose.SEARCH, self._iteration, game.number, game.position.ply),
        )

    def _noise(self, tree: int, game: _Game) -> RootNoise | NodeNoise | None:
        """Return the noise of a full search at the game's position, the root of its tree."""
        settings = self._config.selfplay
        if settings.dirichlet_epsilon <= 0 or settings.noise is Noise.MOVE:
            return None
        if settings.noise is Noise.EVERY_NODE:
            return NodeNoise(settings.dirichlet_alpha, settings.dirichlet_epsilon)
        return RootNoise(self._dirichlet(tree, game), settings.dirichlet_epsilon)

    def _dirichlet(self, tree: int, game: _Game) -> NDArray[np.float32]:
        """Return noise [A] over the legal moves of the game's position, the root of its tree."""
        noise = np.zeros(self._config.rules.cells, dtype=np.float32)
        legal = np.flatnonzero(self._search.legal(tree))
        alpha = self._config.selfplay.dirichlet_alpha
        noise[legal] = self._generator(Purpose.NOISE, game).dirichlet(np.full(len(legal), alpha))
        return noise

    def _move(self, tree: int, game: _Game) -> bool:
        """Play the move of the tree's finished search; return False if it ended the game."""
        settings, position = self._config.selfplay, game.position
        policy = self._search.policy(tree, settings.temperature)
        game.policies.append(self._search.policy(tree) if settings.raw_target else policy)
        game.root_values.append(self._search.value(tree))
        sample = draws_move(Policy.SEMI_STOCHASTIC, position.ply, settings.switch_stage)
        share = settings.dirichlet_epsilon
        if settings.noise is Noise.MOVE and sample and share > 0 and game.is_full[-1]:
            policy = (1.0 - share) * policy + share * self._dirichlet(tree, game)
        move = choose_move(policy, sample=sample, generator=lambda: self._generator(Purpose.MOVE, game))
        position.push(move)
        if position.is_game_over():
            return False
        self._search.play(tree, move)
        self._search_from(tree, game)
        return True

    def _finish(self, game: _Game) -> SelfPlayGame:
        position, settings = game.position, self._config.selfplay
        outcome = position.outcome()
        winner = outcome.winner if outcome else None
        batch = replay_positions(position, game.first_ply)
        decay = self._config.training.z_decay
        results = decayed_results(winner, batch.to_move, decay)
        searched = np.array(game.root_values, dtype=np.float32)
        values = mixed_values(results, searched, decay, settings.search_value_share, settings.short_term_share)
        moves = tuple(position.moves[game.first_ply :])
        finished = FinishedGame(batch.to_move, moves, winner, np.stack(game.policies), values)
        samples = Samples.of_game(batch, finished, self._config.net.targets)
        samples = samples.rows(np.array(game.is_full))
        # Values in the record are Black's, so that a graph of them has one meaning throughout.
        graph = [v if side == BLACK else -v for v, side in zip(game.root_values, batch.to_move, strict=True)]
        comments = [""] * game.first_ply + [f"value {value:+.3f} for black" for value in graph]
        name = f"iteration {self._iteration}"
        record = GameRecord(position.rules, tuple(position.moves), winner, black=name, white=name, comments=comments)
        return SelfPlayGame(game.number, samples, record, game.first_ply)
