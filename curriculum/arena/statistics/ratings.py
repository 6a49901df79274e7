"""Ratings of a pool of players from all their matches: the Bradley-Terry model on pairs of games, in Elo."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, optimize, special

from curriculum.arena.statistics.elo import ELO_OF_LOGIT, ERRORS_OF_INTERVAL, PAIR_SCORES, PairCounts

_PRIOR_GAMES = 1.0
"""Assumed drawn games of each player against one rated 0. One such game moves the difference of two players after ten
pairs by less than a fifth of its standard error, unless one of them won more than nine points of ten."""

_MODEL_SPREAD = 1.0
"""Assumed extra spread of the pair scores of each pairing, both observed and expected: that of two pairs between
equals. Few pairs show little of their spread, and a clean sweep nothing. With it the 95 % interval held the truth in
93.5 to 100 % of simulated pools of 2 to 6 players with 2 to 100 pairs a pairing, from 30 pairs on in 93.5 to 97.3 %;
without it in 74 to 90 % of short, lopsided matches."""


@dataclass(frozen=True, slots=True)
class Rating:
    """A player's place in a pool."""

    name: str
    elo: float
    """Rating relative to the mean of the pool, or to the anchor."""
    low: float
    high: float
    """95 % interval of `elo`: of the distance to that mean, or to the anchor."""
    games: int
    """Games in complete pairs."""
    score: float
    """Share of the points in them; 1/2 without games."""


def rate(
    names: Sequence[str],
    results: Iterable[tuple[str, str, PairCounts]],
    *,
    anchor: str | None = None,
) -> list[Rating]:
    """Rate all `names` at once, the strongest first, from results given as (player, opponent, player's pairs).

    A pairing may come several times and from either side; the results then add up. The mean of the ratings is 0, or
    `anchor` has 0. A player wins with the probability that the Elo difference gives, and a draw is half a win. Source:
    R. Bradley, M. Terry, 1952.

    An assumed drawn game of each player against one rated 0 keeps every rating finite, also that of a player without
    losses. It hardly matters after some pairs. If no games connect two groups of players, it alone places them, and
    their intervals are wide.

    The intervals do not assume that the two games of a pair are independent: they come from the spread of the pair
    scores about the expected ones (sandwich estimator: P. Huber, 1967). Raises `ValueError` for names
    that are not unique or not in `names`, and for a player against itself.
    """
    index = {name: number for number, name in enumerate(names)}
    if len(index) < len(names):
        raise ValueError("two players of a pool have the same name")
    counts: dict[tuple[int, int], npt.NDArray[np.int64]] = {}
    for first, second, pairs in results:
        for name in (first, second):
            if name not in index:
                raise ValueError(f"{name} is not in the pool: {', '.join(names)}")
        i, j = index[first], index[second]
        if i == j:
            raise ValueError(f"{first} cannot be rated against itself")
        key, array = ((i, j), np.array(pairs)) if i < j else ((j, i), np.array(pairs[::-1]))
        counts[key] = counts.get(key, np.zeros(len(PAIR_SCORES), dtype=np.int64)) + array
    if anchor is not None and anchor not in index:
        raise ValueError(f"the anchor {anchor} is not in the pool: {', '.join(names)}")
    if not names:
        return []

    pool = _Pool(
        players=len(names),
        ends=np.array(list(counts), dtype=np.int64).reshape(-1, 2),
        counts=np.array(list(counts.values()), dtype=np.int64).reshape(-1, len(PAIR_SCORES)),
    )
    strengths = pool.fit()
    covariance = pool.covariance(strengths)
    zero = np.full(len(names), 1 / len(names)) if anchor is None else np.eye(len(names))[index[anchor]]
    shift = np.eye(len(names)) - zero  # [N, N]: from strengths to distances from the zero
    elo = ELO_OF_LOGIT * (shift @ strengths)
    variances = np.diag(shift @ covariance @ shift.T).clip(min=0)  # the anchor's own is 0 but for rounding
    reach = ELO_OF_LOGIT * ERRORS_OF_INTERVAL * np.sqrt(variances)
    games = pool.per_player(2 * pool.pairs, 2 * pool.pairs)
    points = pool.per_player(pool.points, 2 * pool.pairs - pool.points)
    ratings = [
        Rating(
            name,
            float(elo[i]),
            float(elo[i] - reach[i]),
            float(elo[i] + reach[i]),
            int(games[i]),
            float(points[i] / games[i]) if games[i] else 0.5,
        )
        for i, name in enumerate(names)
    ]
    return sorted(ratings, key=lambda rating: -rating.elo)


@dataclass(frozen=True, slots=True)
class _Pool:
    """All pairings of a pool. Strengths are log odds, [N] for N players; there are K pairings."""

    players: int
    ends: npt.NDArray[np.int64]
    """[K, 2]: players of each pairing."""
    counts: npt.NDArray[np.int64]
    """[K, 5]: pairs of each pairing, from the side of its first player."""

    @property
    def pairs(self) -> npt.NDArray[np.int64]:
        """Number of pairs of each pairing: [K]."""
        pairs: npt.NDArray[np.int64] = self.counts.sum(axis=1)
        return pairs

    @property
    def points(self) -> npt.NDArray[np.float64]:
        """First player's points in each pairing: [K]."""
        points: npt.NDArray[np.float64] = 2 * self.counts @ np.array(PAIR_SCORES)
        return points

    def per_player(self, first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Sum the shares of the first and the second player of each pairing: [K] and [K] to [N]."""
        sums = np.zeros(self.players)
        np.add.at(sums, self.ends[:, 0], first)
        np.add.at(sums, self.ends[:, 1], second)
        return sums

    def fit(self) -> npt.NDArray[np.float64]:
        """Return the likeliest strengths, prior included: [N]."""
        games, points = 2 * self.pairs, self.points

        def loss(strengths: npt.NDArray[np.float64]) -> float:
            gaps = self._gaps(strengths)
            lost = points * np.logaddexp(0, -gaps) + (games - points) * np.logaddexp(0, gaps)
            prior = np.logaddexp(0, strengths) + np.logaddexp(0, -strengths)
            return float(lost.sum() + _PRIOR_GAMES / 2 * prior.sum())

        def gradient(strengths: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
            surplus = games * special.expit(self._gaps(strengths)) - points
            prior: npt.NDArray[np.float64] = _PRIOR_GAMES * (special.expit(strengths) - 0.5)
            return self.per_player(surplus, -surplus) + prior

        result = optimize.minimize(
            loss, np.zeros(self.players), jac=gradient, hess=self._information, method="Newton-CG", tol=1e-10
        )
        strengths: npt.NDArray[np.float64] = result.x
        return strengths

    def covariance(self, strengths: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the covariance of the likeliest strengths: [N, N]."""
        pairs = self.pairs
        expected = special.expit(self._gaps(strengths))
        errors = np.array(PAIR_SCORES) - expected[:, None]  # [K, 5]
        squares = (self.counts * (2 * errors) ** 2).sum(axis=1)
        # The ratings were fitted to these pairs, which makes the errors too small.
        free = pairs.sum() - (self.players - 1)
        if free > 0:
            squares *= pairs.sum() / free
        independent = 2 * pairs * expected * (1 - expected)  # were the games independent and none drawn
        variances = independent * (squares + _MODEL_SPREAD) / (independent + _MODEL_SPREAD)
        inverse = linalg.inv(self._information(strengths))
        middle = self._laplacian(variances) + np.diag(self._prior_information(strengths))
        covariance: npt.NDArray[np.float64] = inverse @ middle @ inverse
        return covariance

    def _gaps(self, strengths: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        gaps: npt.NDArray[np.float64] = strengths[self.ends[:, 0]] - strengths[self.ends[:, 1]]
        return gaps

    def _information(self, strengths: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the second derivative of the loss: [N, N]."""
        expected = special.expit(self._gaps(strengths))
        return self._laplacian(2 * self.pairs * expected * (1 - expected)) + np.diag(self._prior_information(strengths))

    def _prior_information(self, strengths: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        expected = special.expit(strengths)
        information: npt.NDArray[np.float64] = _PRIOR_GAMES * expected * (1 - expected)
        return information

    def _laplacian(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the Laplacian of the graph whose edges are the pairings: [K] to [N, N]."""
        matrix = np.diag(self.per_player(weights, weights))
        first, second = self.ends.T
        matrix[first, second] -= weights
        matrix[second, first] -= weights
        return matrix
