"""The work of a run: positions to train on and simulations to search, for the training itself and for its estimates.

A trained position is a row of a batch: a step has `training.batch_size` of them for each net.
"""

from typing import NamedTuple

from curriculum.config import Config

TREE_ROOM = 6
"""Room of a tree in self-play, in searches: the subtree kept from earlier ones rarely exceeds half of it."""
PLIES_PER_GAME = 35
"""Guessed length of a game, before one was played."""


class RoundWork(NamedTuple):
    """The expected work of a round of self-play."""

    simulations: float
    """Of its games and its gate."""
    trained: float
    """Trained positions, those of earlier phases among them."""


def rows_per_step(config: Config) -> int:
    """Return the trained positions of a step."""
    return config.training.batch_size * (2 if config.net.dual else 1)


def basics_work(config: Config) -> int:
    """Return the trained positions of phase 1."""
    return config.basics.epochs * config.basics.positions * (2 if config.basics.colour_swapped else 1)


def imitation_work(config: Config, plies: float) -> float:
    """Return the trained positions of phase 2, at most, if a game has `plies` moves."""
    settings = config.imitation
    return settings.passes * settings.games * plies / (1 - settings.basics_share)


def draws_work(config: Config, fresh: float, rehearsal_share: float) -> float:
    """Return the trained positions of a round by `selfplay.draws_per_position`, with `fresh` new samples."""
    return config.selfplay.draws_per_position * fresh / (1 - rehearsal_share)


def round_work(config: Config, plies: float) -> RoundWork:
    """Return the expected work of a round with these settings, if a game has `plies` moves."""
    settings, searched = config.selfplay, config.search.simulations
    full, moves = settings.full_search_share, settings.games * plies
    simulations = moves * (full * searched + (1 - full) * settings.fast_simulations)
    gate = config.gate.games * plies * (config.gate.simulations or searched)
    trained = draws_work(config, full * moves, settings.rehearsal_share)
    if settings.epochs:
        trained = settings.epochs * settings.window / (1 - settings.rehearsal_share)
        if config.training.all_symmetries:
            from core.compiled.symmetry import SYMMETRIES  # which needs numpy, unlike the reports of a run

            trained *= SYMMETRIES
    return RoundWork(simulations + gate, trained)
