"""Value targets of games of self-play with another winning-value decay (A III-C) than their own."""

from pathlib import Path

import numpy as np

from benchmarks.measuring import Fault
from core.records.formats import read_games
from curriculum.training.files import read_kept_games
from curriculum.training.packed import TOP, Packed


def with_decay(path: Path, cells: int, share: float, before: float, after: float) -> Packed:
    """Return a run's file of samples with the decay `after` in place of `before` in their value targets.

    A target, -1 to 1 for the side to move, is the decayed result, with the search's value as a `share` of it. The
    result's part is made anew from the record of its game. The search's value is stretched by as much, since its own
    distance to the end is not known, and ends at 1. `cells`: of a board.

    Raises `Fault` for records that are gone, `SamplesError`.
    """
    samples, lengths, _ = read_kept_games(path, cells)
    games = read_games(path.parent.parent / "games" / f"{path.stem}.sgf")
    if len(games) != len(lengths):
        raise Fault(f"{path} has samples of {len(lengths)} games, and its record holds {len(games)}")
    plies = np.count_nonzero(samples.all.positions.stones, axis=1)
    left = np.repeat([len(game.moves) - 1 for game in games], lengths) - plies
    sign = samples.to_move * np.repeat([game.winner or 0 for game in games], lengths)
    searched = samples.arrays["results"] / TOP - (1.0 - share) * sign * before**left
    values = (1.0 - share) * sign * after**left + np.clip(searched * (after / before) ** left, -share, share)
    return Packed({**samples.arrays, "results": np.rint(np.clip(values, -1.0, 1.0) * TOP).astype(np.int16)})
