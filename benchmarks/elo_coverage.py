"""Coverage of the Elo difference's 95 % interval: `python -m benchmarks.elo_coverage`.

It simulates matches of players with a known difference. It exits with 1 if a share is outside 93 to 97 %.
"""

import argparse
import itertools
import sys
from functools import cache

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table
from scipy import optimize

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
    """Print the table of all kinds of matches, in percent; shares out of bounds are red."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=2000, help="matches of each kind")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    table = Table(title=f"true difference inside the 95 % interval, % of {arguments.matches:,} matches; (short ones)")
    table.add_column("pairs", justify="right")
    table.add_column("Elo", justify="right")
    kinds = list(itertools.product(OPENINGS, DRAWS))
    for opening, draws in kinds:
        table.add_column(f"{opening}\n{draws:.0%} drawn", justify="right")
    failed, inside = 0, {False: [1.0, 0.0], True: [1.0, 0.0]}
    for pairs, elo in itertools.product(PAIRS, DIFFERENCES):
        short = 2 * pairs * (1 - expected_score(elo)) <= SHORT
        row = []
        for opening, draws in kinds:
            share = coverage(
                pairs, elo, pair_distribution(elo, draws, *OPENINGS[opening]), arguments.matches, arguments.seed
            )
            passed = LOWEST <= share <= (HIGHEST_SHORT if short else HIGHEST)
            failed += not passed
            inside[short] = [min(share, inside[short][0]), max(share, inside[short][1])]
            text = f"({100 * share:.1f})" if short else f"{100 * share:.1f}"
            row.append(text if passed else f"[red]{text}[/red]")
        table.add_row(str(pairs), str(elo), *row, end_section=elo == DIFFERENCES[-1])
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table)
    for short, (lowest, highest) in inside.items():
        console.print(f"{'short matches' if short else 'the others'}: {100 * lowest:.1f} to {100 * highest:.1f} %")
    if failed:
        console.print(f"{failed} outside")
        sys.exit(1)


if __name__ == "__main__":
    main()
