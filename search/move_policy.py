"""From visit counts to a move: temperature, and the three policies of paper A (II-C)."""

import numpy as np
from numpy.typing import NDArray

from core.rules import Cell
from search.settings import Policy


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


def samples_at(policy: Policy, stones: int, switch_stage: int) -> bool:
    """Whether a move is drawn rather than the best taken, on a board with `stones` stones."""
    return policy is Policy.STOCHASTIC or (policy is Policy.SEMI_STOCHASTIC and stones <= switch_stage)


def choose_move(distribution: NDArray[np.float32], *, sample: bool, generator: np.random.Generator) -> Cell:
    """A move drawn from pi [A], or its best; among equals the lowest cell."""
    if not sample:
        return int(np.argmax(distribution))
    cumulative = np.cumsum(distribution, dtype=np.float64)
    return int(np.searchsorted(cumulative, generator.random() * cumulative[-1], side="right"))
