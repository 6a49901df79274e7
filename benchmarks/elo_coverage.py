"""Coverage of the Elo difference's 95 % interval: `python -m benchmarks.elo_coverage`.

It simulates matches of players with a known difference. It exits with 1 if a share is outside 93 to 97 %.
"""

import itertools
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize

from benchmarks.measuring import parser_of, show
from core.streams import generator
from curriculum.arena.statistics.elo import PAIR_SCORES, PairCounts, estimate, expected_score

PAIRS = (10, 20, 50, 100, 500)
DIFFERENCES = (0, 50, 100, 200, 400)
DRAWS = (0.0, 0.25, 0.5)
OPENINGS = {"neutral": (0, 0), "biased": (200, 0), "sharp": (0, 200)}
"""The Elo that an opening gives Black, and the Elo that it gives one of the players, with either colour."""

LOWEST, HIGHEST, HIGHEST_SHORT = 0.93, 0.97, 0.995
SHORT = 10
"""A match is short if the weaker player expects no more points than this. Its possible results are so few that no
interval can be near 95 % for all of them, and on the stronger side none can miss. A short match passes up to
`HIGHEST_SHORT`."""


def game_distribution(elo: float, draws: float) -> npt.NDArray[np.float64]:
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
            np.convolve(game_distribution(at + bias, draws), game_distribution(at - bias, draws))
            for at in (skill + suits, skill - suits)
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


def main() -> None:
    """Print the shares of all kinds of matches, in percent; those out of bounds have an exclamation mark."""
    parser = parser_of(__doc__)
    parser.add_argument("--matches", type=int, default=2000, help="matches of each kind")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    failed = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal failed
        for pairs, elo in itertools.product(PAIRS, DIFFERENCES):
            short = 2 * pairs * (1 - expected_score(elo)) <= SHORT
            row = {"pairs": pairs, "elo": elo, "short": "short" if short else ""}
            for opening, draws in itertools.product(OPENINGS, DRAWS):
                distribution = pair_distribution(elo, draws, *OPENINGS[opening])
                share = coverage(pairs, elo, distribution, arguments.matches, arguments.seed)
                passed = LOWEST <= share <= (HIGHEST_SHORT if short else HIGHEST)
                failed += not passed
                row[f"{opening}, {draws:.0%} drawn"] = f"{100 * share:.1f}{'' if passed else ' !'}"
            yield row

    show(rows(), arguments.json)
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
