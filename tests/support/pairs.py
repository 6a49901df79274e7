"""Pairs of games between players with a known difference."""

from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import optimize

from core.streams import generator
from curriculum.arena.statistics.elo import PAIR_SCORES, PairCounts, estimate, expected_score


def _games(elo: float, draws: float) -> npt.NDArray[np.float64]:
    """Return the probabilities of loss, draw and win. `draws`: the share of draws between equal players."""
    score = expected_score(elo)
    drawn = draws * 4 * score * (1 - score)
    return np.array([1 - score - drawn / 2, drawn, score - drawn / 2])


def pair_distribution(elo: float, draws: float = 0.0, bias: float = 0.0, suits: float = 0.0) -> npt.NDArray[np.float64]:
    """Return the probabilities [5] of the five classes of pairs; their mean is the expected score at `elo`.

    Half the openings give one player `suits` Elo, half the other; all give Black `bias` Elo.
    """

    def classes(skill: float) -> npt.NDArray[np.float64]:
        suited, unsuited = (
            np.convolve(_games(at + bias, draws), _games(at - bias, draws)) for at in (skill + suits, skill - suits)
        )
        mean: npt.NDArray[np.float64] = (suited + unsuited) / 2
        return mean

    # Biased openings flatten the scores, so the same score takes more skill.
    target = expected_score(elo)
    skill = optimize.brentq(lambda skill: classes(skill) @ PAIR_SCORES - target, elo - 2000, elo + 2000)
    return classes(skill)


def coverage(pairs: int, elo: float, distribution: npt.NDArray[np.float64], matches: int, seed: int) -> float:
    """Return the share of simulated matches whose 95 % interval holds `elo`."""

    @cache  # short matches have few results
    def holds(counts: PairCounts) -> bool:
        result = estimate(counts)
        return result.low <= elo <= result.high

    simulated = generator(seed, pairs, int(elo)).multinomial(pairs, distribution, matches)
    return float(np.mean([holds(tuple(counts)) for counts in simulated.tolist()]))
