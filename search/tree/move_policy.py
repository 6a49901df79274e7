"""From visit counts to a move: temperature, and the three policies of paper A (II-C)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.rules import Cell
from search.tree.settings import Policy


def visit_distribution(visits: NDArray[np.int32], temperature: float = 1.0) -> NDArray[np.float32]:
    """pi [A] with pi_i proportional to N_i^(1/temperature) (A eq. 5); a temperature of 0 puts all on the most visited.

    Raises `ValueError` where nothing was visited.
    """
    most = visits.max()
    if most <= 0:
        raise ValueError("no move was visited")
    if temperature <= 0.0:
        weights = (visits == most).astype(np.float64)
    else:
        # Relative to the largest, so that a small temperature underflows to 0 rather than overflowing.
        weights = (visits / most) ** (1.0 / temperature)
    distribution: NDArray[np.float32] = (weights / weights.sum()).astype(np.float32)
    return distribution


def search_policy(
    visits: NDArray[np.int32],
    proofs: NDArray[np.int16],
    priors: NDArray[np.float32],
    legal: NDArray[np.bool_],
    temperature: float = 1.0,
) -> NDArray[np.float32]:
    """pi [A] of a search, which knows better than its visits where moves are proven.

    All on the shortest proven win; where every legal move loses, all on the longest loss; else by the visits of the
    moves that are not proven to lose, or by their priors where none of these was visited. `proofs` [A] as in
    `ForestSearch.proofs`. Raises `ValueError` where no move is legal.
    """
    if not legal.any():
        raise ValueError("there is no legal move")
    wins, losses = proofs > 0, proofs < 0
    if wins.any():
        chosen = np.where(wins, proofs, np.iinfo(np.int16).max).argmin()
    elif losses[legal].all():
        # Of the longest losses what the evaluator would play: whoever wins may not see it.
        chosen = np.where(legal & (proofs == proofs.min()), priors, -1.0).argmax()
    else:
        candidates = legal & ~losses
        if visits[candidates].any():
            return visit_distribution(np.where(candidates, visits, 0), temperature)
        weights = np.where(candidates, priors if priors[candidates].any() else 1.0, 0.0)
        even: NDArray[np.float32] = (weights / weights.sum()).astype(np.float32)
        return even
    policy = np.zeros(len(visits), dtype=np.float32)
    policy[chosen] = 1.0
    return policy


def samples_at(policy: Policy, stones: int, switch_stage: int) -> bool:
    """Whether a move is drawn rather than the best taken, on a board with `stones` stones."""
    return policy is Policy.STOCHASTIC or (policy is Policy.SEMI_STOCHASTIC and stones <= switch_stage)


def choose_move(
    distribution: NDArray[np.float32], *, sample: bool, generator: Callable[[], np.random.Generator]
) -> Cell:
    """A move drawn from pi [A], or its best; among equals the lowest cell. `generator` is called where one is drawn."""
    if not sample:
        return int(np.argmax(distribution))
    cumulative = np.cumsum(distribution, dtype=np.float64)
    return int(np.searchsorted(cumulative, generator().random() * cumulative[-1], side="right"))
