"""Policies: from visit counts to a distribution and a move (A II-C)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.rules import Cell
from search.tree.settings import Policy


def visit_distribution(visits: NDArray[np.int32], temperature: float = 1.0) -> NDArray[np.float32]:
    """Return pi [A], proportional to N_i^(1/temperature) (A eq. 5); a temperature of 0 takes the most visited move.

    Raises `ValueError` if no move was visited.
    """
    max_visits = visits.max()
    if max_visits <= 0:
        raise ValueError("no move was visited")
    if temperature <= 0.0:
        weights = (visits == max_visits).astype(np.float64)
    else:
        # Relative to the largest, so that a small temperature underflows to 0 rather than overflowing.
        weights = (visits / max_visits) ** (1.0 / temperature)
    distribution: NDArray[np.float32] = (weights / weights.sum()).astype(np.float32)
    return distribution


def search_policy(
    visits: NDArray[np.int32],
    proofs: NDArray[np.int16],
    priors: NDArray[np.float32],
    legal: NDArray[np.bool_],
    temperature: float = 1.0,
    *,
    resists: bool = False,
) -> NDArray[np.float32]:
    """Return pi [A] of a search, in which proofs come before visits.

    The order of preference: the shortest proven win; the visits of the moves that are not proven to lose; their priors
    if none of them was visited; the longest loss, which comes before their priors if the search `resists` and has one.
    `proofs` [A] are those of `ForestSearch.proofs`. Raises `ValueError` if no move is legal.
    """
    if not legal.any():
        raise ValueError("there is no legal move")
    wins, losses = proofs > 0, proofs < 0
    candidates = legal & ~losses
    if wins.any():
        chosen = np.where(wins, proofs, np.iinfo(np.int16).max).argmin()
    elif not candidates.any() or (resists and not visits[candidates].any()):
        # Of the longest losses the one with the largest prior, since the opponent may not see its win.
        chosen = np.where(legal & (proofs == proofs.min()), priors, -1.0).argmax()
    else:
        if visits[candidates].any():
            return visit_distribution(np.where(candidates, visits, 0), temperature)
        weights = np.where(candidates, priors if priors[candidates].any() else 1.0, 0.0)
        even: NDArray[np.float32] = (weights / weights.sum()).astype(np.float32)
        return even
    policy = np.zeros(len(visits), dtype=np.float32)
    policy[chosen] = 1.0
    return policy


def draws_move(policy: Policy, stones: int, switch_stage: int) -> bool:
    """Return True if the policy draws the move on a board with `stones` stones, False if it takes the best one.

    The semi-stochastic policy draws up to `switch_stage` stones (A II-C).
    """
    return policy is Policy.STOCHASTIC or (policy is Policy.SEMI_STOCHASTIC and stones <= switch_stage)


def choose_move(
    distribution: NDArray[np.float32], *, sample: bool, generator: Callable[[], np.random.Generator]
) -> Cell:
    """Return a move drawn from pi [A], or its best; of equals the lowest cell; `generator` serves a draw only."""
    if not sample:
        return int(np.argmax(distribution))
    cumulative = np.cumsum(distribution, dtype=np.float64)
    return int(np.searchsorted(cumulative, generator().random() * cumulative[-1], side="right"))
