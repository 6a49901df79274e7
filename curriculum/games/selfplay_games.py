"""Games that a model plays against itself: one tree a game, semi-stochastic policy, samples {s, pi, z} (A IV-D)."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.evaluation import Evaluator
from core.position import Position
from core.records.record import GameRecord
from core.rules import BLACK, Cell
from core.streams import Purpose, generator
from curriculum.config import Config
from curriculum.games.mentor_games import random_opening, replay_positions
from curriculum.training.samples import Samples, decayed_results
from search.tree.cache import EvaluationCache
from search.tree.mcts import ForestSearch
from search.tree.move_policy import choose_move, samples_at
from search.tree.settings import Policy

TREE_ROOM = 6
"""Nodes a tree has room for, in searches: what is kept of earlier ones rarely exceeds half of that."""


@dataclass(slots=True)
class SelfPlayGame:
    """A finished game of self-play."""

    number: int
    samples: Samples
    record: GameRecord
    first_ply: int
    """Stones of the opening; samples begin there."""


class Progress(NamedTuple):
    """How far self-play was at some time, counted from its start."""

    seconds: float
    """Of a clock that starts anywhere."""
    simulations: int
    evaluations: int
    """Positions judged by the net."""
    leaves: int
    """Positions that needed a judgement, whether it was known or not."""
    known: int
    """Of these, those that the evaluation cache knew."""
    distinct: int
    """Distinct positions among the leaves, within about one percent."""


def opening_of(config: Config, iteration: int, game: int, balanced: Sequence[Sequence[Cell]]) -> Position:
    """Where a game starts: a balanced opening, a few random stones or the empty board, by the configured shares."""
    settings = config.selfplay
    random = generator(config.seed, Purpose.OPENING, iteration, game)
    draw = random.random()
    if draw < settings.balanced_share and balanced:
        moves = balanced[int(random.integers(len(balanced)))]
        return Position.from_moves(config.rules, moves)
    if settings.balanced_share <= draw < settings.balanced_share + settings.random_share:
        return random_opening(config.rules, config.imitation.opening_stones, random)
    return Position(config.rules)


class _Table:
    """One game in progress, on one tree of the forest."""

    def __init__(self, number: int, position: Position) -> None:
        self.number = number
        self.position = position
        self.first_ply = position.ply
        self.policies: list[NDArray[np.float32]] = []
        self.root_values: list[float] = []


class SelfPlay:
    """Plays numbered games side by side; a game depends on the seed, the iteration, its number and the net alone."""

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

    @property
    def progress(self) -> "Progress":
        """What was done so far."""
        search, judged = self._search, self._search.cache
        return Progress(
            time.perf_counter(), search.simulations, search.evaluations, judged.lookups, judged.hits, judged.distinct
        )

    def play(
        self,
        numbers: Sequence[int],
        finished: Callable[[SelfPlayGame], None],
        stop: Callable[[], bool],
    ) -> None:
        """Plays the games `numbers` and hands each to `finished` as it ends; returns early when `stop` says so."""
        waiting = list(reversed(numbers))
        tables: dict[int, _Table] = {}
        for tree in range(min(self._config.selfplay.concurrent_games, len(waiting))):
            tables[tree] = self._seat(tree, waiting.pop())
        try:
            while tables and not stop():
                for tree in self._search.advance():
                    table = tables[tree]
                    if self._move(tree, table):
                        continue
                    finished(self._finish(table))
                    del tables[tree]
                    if waiting:
                        tables[tree] = self._seat(tree, waiting.pop())
        finally:
            self._search.halt()

    def _seat(self, tree: int, number: int) -> _Table:
        table = _Table(number, opening_of(self._config, self._iteration, number, self._balanced))
        self._search.set_root(tree, table.position)
        self._think(tree, table)
        return table

    def _think(self, tree: int, table: _Table) -> None:
        settings, simulations = self._config.selfplay, self._config.search.simulations
        noise = None
        if settings.dirichlet_epsilon > 0:
            random = generator(self._config.seed, Purpose.NOISE, self._iteration, table.number, table.position.ply)
            noise = np.zeros(self._config.rules.cells, dtype=np.float32)
            legal = table.position.legal_moves()
            noise[legal] = random.dirichlet(np.full(len(legal), settings.dirichlet_alpha))
        self._search.begin(tree, simulations, noise=noise, noise_share=settings.dirichlet_epsilon)

    def _move(self, tree: int, table: _Table) -> bool:
        """Plays the move that the finished search of a tree chose; False where that ended the game."""
        settings, position = self._config.selfplay, table.position
        policy = self._search.policy(tree, settings.temperature)
        table.policies.append(policy)
        table.root_values.append(self._search.value(tree))
        keys = (Purpose.MOVE, self._iteration, table.number, position.ply)
        sample = samples_at(Policy.SEMI_STOCHASTIC, position.ply, settings.switch_stage)
        move = choose_move(policy, sample=sample, generator=lambda: generator(self._config.seed, *keys))
        position.push(move)
        if position.is_game_over():
            return False
        self._search.play(tree, move)
        self._think(tree, table)
        return True

    def _finish(self, table: _Table) -> SelfPlayGame:
        position, share = table.position, self._config.selfplay.search_value_share
        outcome = position.outcome()
        winner = outcome.winner if outcome else None
        batch = replay_positions(position, table.first_ply)
        results = decayed_results(winner, batch.to_move, self._config.training.z_decay)
        searched = np.array(table.root_values, dtype=np.float32)
        samples = Samples(batch, np.stack(table.policies), (1.0 - share) * results + share * searched)
        # Values in the record are Black's, so that a graph of them has one meaning throughout.
        values = [v if side == BLACK else -v for v, side in zip(table.root_values, batch.to_move, strict=True)]
        comments = [""] * table.first_ply + [f"value {value:+.3f} for black" for value in values]
        name = f"iteration {self._iteration}"
        record = GameRecord(position.rules, tuple(position.moves), winner, black=name, white=name, comments=comments)
        return SelfPlayGame(table.number, samples, record, table.first_ply)
