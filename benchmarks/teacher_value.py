"""A teacher's value against the decayed result of its games: `python -m benchmarks.teacher_value`.

Plays the teacher's games of a preset as `gomoku imitate` does and prints a table by plies left: the mean result z, the
mean value towards the winner and the root-mean-square error, each for the raw value and for the value on the scale of
results (`curriculum.games.teacher_values`). Then the least-squares line through the plies left of unproven positions,
which that scale rests on.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.measuring import parser_of, show
from core.cores import cores
from curriculum.arena.players import PlayerSettings, parse_player
from curriculum.games.mentor_games import TeacherGame, play_teacher_game
from curriculum.presets import resolve

_EDGES = (1, 2, 4, 8, 16, 32, 1000)


def play(preset: str, teacher: str, numbers: range) -> list[TeacherGame]:
    """Play the games of a run with these numbers."""
    config = resolve(preset)
    player = parse_player(teacher, rules=config.rules, settings=PlayerSettings())
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(lambda number: play_teacher_game(config, player, number), numbers))


def rows(games: list[TeacherGame], decay: float) -> Iterator[dict[str, Any]]:
    """Yield the table by plies left, and the line through the plies left of unproven positions."""
    decisions = [
        (decision.value, scaled, z, left, decision.plies_to_end is not None)
        for game in games
        for decision, scaled, z, left in zip(
            game.decisions, game.values(decay), game.results(decay), range(len(game.decisions), 0, -1), strict=True
        )
        if decision.value is not None
    ]
    raw, scaled, results, left, proven = (np.array(column) for column in zip(*decisions, strict=True))
    for first, end in [*pairwise(_EDGES), (1, 1000)]:
        chosen = (left >= first) & (left < end)
        if chosen.any():
            sign, errors = np.sign(results[chosen]), {"raw": raw[chosen], "scaled": scaled[chosen]}
            yield {
                "decay": decay,
                "plies left": f"{first} to {end - 1}" if end < 1000 else f"{first} or more",
                "positions": int(chosen.sum()),
                "proven": float(proven[chosen].mean()),
                "mean |z|": float(np.abs(results[chosen]).mean()),
                **{f"{name} value": float((sign * values).mean()) for name, values in errors.items()},
                **{
                    f"{name} RMS error": float(np.sqrt(np.mean((values - results[chosen]) ** 2)))
                    for name, values in errors.items()
                },
            }
    table = np.stack([np.ones(int((~proven).sum())), np.abs(raw[~proven])], axis=1)
    (at_even, slope), *_ = np.linalg.lstsq(table, left[~proven] - 1.0)
    yield {"decay": decay, "unproven": len(table), "plies left - 1": float(at_even), "for each |v|": float(slope)}


def main() -> None:
    """Run the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--preset", default="strongest", help="preset of the games (default: strongest)")
    parser.add_argument("--teacher", default="mentor:3", help="player that teaches (default: mentor:3)")
    parser.add_argument("--games", type=int, default=400, help="games to play (default: 400)")
    parser.add_argument("--first", type=int, default=0, help="number of the first game (default: 0)")
    parser.add_argument("--decay", type=float, nargs="+", default=[0.97, 0.9], help="decays (default: 0.97 0.9)")
    options = parser.parse_args()
    games = play(options.preset, options.teacher, range(options.first, options.first + options.games))
    for decay in options.decay:
        show(rows(games, decay), options.json)


if __name__ == "__main__":
    main()
