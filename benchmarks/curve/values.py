"""Other value targets for the samples of self-play, from the games of the same run.

A record of self-play has the value of each search, for Black, so a target mixed otherwise needs no new games.
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import Fault
from core.records.formats import read_games
from core.records.record import GameRecord
from core.rules import BLACK, WHITE
from curriculum.games.selfplay_games import short_term_values
from curriculum.training.packed import TOP, Packed
from curriculum.training.samples import decayed_results

_VALUE = re.compile(r"value ([+-]\d\.\d+) for black")


def mixed_values(record: GameRecord, decay: float, searched: float, short_term: float) -> NDArray[np.float32]:
    """Return [plies] value targets of a game, for the side to move; those of the opening are 0.

    `searched`, `short_term`: the shares of the search's value and of the later ones (`selfplay.search_value_share`,
    `selfplay.short_term_share`); the rest is the decayed result.
    """
    found = [_VALUE.search(comment) for comment in record.comments]
    first = next((ply for ply, value in enumerate(found) if value), len(found))
    values = np.zeros(len(found), np.float32)
    sides = np.array([BLACK if ply % 2 == 0 else WHITE for ply in range(first, len(found))], np.int8)
    roots = sides * np.array([float(value[1]) for value in found[first:] if value], np.float32)
    results = decayed_results(record.winner, sides, decay)
    later = short_term_values(results, roots, decay)
    values[first:] = (1 - searched - short_term) * results + searched * roots + short_term * later
    return values


def with_values(samples: Packed, games: Path, decay: float, searched: float, short_term: float) -> Packed:
    """Return the samples of a file with other value targets; `games` holds its games, in order. Raises `Fault`."""
    records, lines = iter(read_games(games)), samples.lines()
    results = np.empty(len(samples), np.int16)
    for rows, cells in lines:
        # A game without a full search has no sample. The stones of a line are in another order than the moves.
        record = next((each for each in records if set(each.moves[: len(cells)]) == cells), None)
        if record is None:
            raise Fault(f"{games} does not hold the games of the samples")
        targets = mixed_values(record, decay, searched, short_term)
        results[rows] = np.rint(targets[samples.plies[rows]] * TOP)
    return Packed({**samples.arrays, "results": results})
