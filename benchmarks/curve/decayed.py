"""Value targets of games of self-play with another winning-value decay (A III-C) than their own."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.measuring import Fault
from core.records.formats import read_games
from curriculum.config import Config
from curriculum.presets import Choice, revised
from curriculum.training.files import read_kept_games
from curriculum.training.packed import TOP, Packed


def config_with_decay(config: Config, decay: float) -> Config:
    """Return a configuration with another decay, in search and training alike. Raises `ConfigError`, `Fault`."""
    if config.selfplay.short_term_share:
        raise Fault("short-term values cannot be made anew for another decay")
    return revised(config, Choice(flags={"search.value_decay": decay, "training.z_decay": decay}))


def samples_with_decay(configs: Mapping[Path, Config], after: float, path: Path, cells: int) -> Packed:
    """Return the samples of a file of one of the runs with the decay `after` in their value targets.

    A target, -1 to 1 for the side to move, is the decayed result, with the search's value as a share of it. The
    result's part is made anew from the record of its game. The search's value is stretched by as much, since its own
    distance to the end is not known, and ends at 1. `configs`: of the runs, by their folders. `cells`: of a board.

    Raises `Fault` for records that are gone, `SamplesError`.
    """
    config = configs[path.parent.parent]
    share, before = config.selfplay.search_value_share, config.training.z_decay
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
