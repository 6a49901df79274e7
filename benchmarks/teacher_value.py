"""A teacher's value against the decayed result of its games: `python -m benchmarks.teacher_value`.

Plays the teacher's games of a preset as `gomoku imitate` does and prints a table by plies left: the mean result z, the
mean value towards the winner and the root-mean-square error, each for the raw value and for the value on the scale of
results (`curriculum.games.teacher_values`). Then the least-squares line through the plies left of unproven positions,
which that scale rests on.
"""

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curriculum.arena.players import PlayerSettings, parse_player
from curriculum.games.mentor_games import TeacherGame, play_teacher_game
from curriculum.presets import resolve

_EDGES = (1, 2, 4, 8, 16, 32, 1000)


class Measured(NamedTuple):
    """`N` decisions of the teacher."""

    raw: NDArray[np.float64]
    """[N] the teacher's value for the side to move."""
    scaled: NDArray[np.float64]
    """[N] the same on the scale of results."""
    results: NDArray[np.float64]
    """[N] decayed result for the side to move."""
    left: NDArray[np.int64]
    """[N] plies until the game's end, the next move included."""
    proven: NDArray[np.bool_]
    """[N] True if the teacher had proven the result."""


def play(preset: str, teacher: str, numbers: range) -> list[TeacherGame]:
    """Play the games of a run with these numbers."""
    config = resolve(preset)
    player = parse_player(teacher, rules=config.rules, settings=PlayerSettings())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda number: play_teacher_game(config, player, number), numbers))


def measure(games: list[TeacherGame], decay: float) -> Measured:
    """Return the decisions that have a value, with results decayed by `decay` per ply."""
    rows = [
        (decision.value, scaled, z, left, decision.plies_to_end is not None)
        for game in games
        for decision, scaled, z, left in zip(
            game.decisions, game.values(decay), game.results(decay), range(len(game.decisions), 0, -1), strict=True
        )
        if decision.value is not None
    ]
    return Measured(*(np.array(column) for column in zip(*rows, strict=True)))


def _rms(errors: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def print_table(measured: Measured) -> None:
    """Print the table by plies left, and the line through the plies left of unproven positions."""
    raw, scaled, results, left, proven = measured
    sign = np.sign(results)
    print(f"{'plies left':>10} {'positions':>9} {'proven':>7} {'mean |z|':>9} {'value':>7} {'scaled':>7}", end="")
    print(f" {'RMS error':>10} {'scaled':>7}")
    spans = [(first, last - 1) for first, last in pairwise(_EDGES)]
    for first, last in [*spans, (1, 1000)]:
        rows = (left >= first) & (left <= last)
        if not rows.any():
            continue
        name = "all" if (first, last) == (1, 1000) else f"{first}+" if last > 225 else f"{first} to {last}"
        print(
            f"{name:>10} {rows.sum():>9,} {proven[rows].mean():>7.2f} {np.abs(results[rows]).mean():>9.3f}"
            f" {(sign * raw)[rows].mean():>7.3f} {(sign * scaled)[rows].mean():>7.3f}"
            f" {_rms((raw - results)[rows]):>10.3f} {_rms((scaled - results)[rows]):>7.3f}"
        )
    unproven = ~proven
    table = np.stack([np.ones(int(unproven.sum())), np.abs(raw[unproven])], axis=1)
    (at_even, slope), *_ = np.linalg.lstsq(table, left[unproven] - 1.0)
    print(f"unproven: plies left - 1 = {at_even:.1f} {slope:+.1f} |v|, over {unproven.sum():,} positions")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="strong", help="preset of the games (default: strong)")
    parser.add_argument("--teacher", default="mentor:3", help="player that teaches (default: mentor:3)")
    parser.add_argument("--games", type=int, default=400, help="games to play (default: 400)")
    parser.add_argument("--first", type=int, default=0, help="number of the first game (default: 0)")
    parser.add_argument("--decay", type=float, nargs="+", default=[0.97, 0.9], help="decays (default: 0.97 0.9)")
    options = parser.parse_args()
    games = play(options.preset, options.teacher, range(options.first, options.first + options.games))
    for decay in options.decay:
        print(f"decay {decay:g} per ply, {len(games):,} games")
        print_table(measure(games, decay))


if __name__ == "__main__":
    main()
