"""Speed of self-play with the settings of a preset: `python -m benchmarks.selfplay --preset strongest --model default`.

`gomoku bench` measures the search with the default settings; this program also counts the tactics of the tree search,
whose cost differs from tree to tree. It prints simulations and moves a second, without the first seconds.
"""

import argparse
import time

from curriculum.arena.opening_sets import evaluation_openings
from curriculum.arena.players import model_path
from curriculum.games.selfplay_games import Progress, SelfPlay, SelfPlayGame
from curriculum.presets import resolve
from nets.checkpoint import load_model
from nets.runtimes.net_evaluator import NetEvaluator

_WARM_UP_S = 5.0


class _Counted(SelfPlay):
    moves = 0

    def _move(self, tree: int, game: object) -> bool:
        self.moves += 1
        return super()._move(tree, game)  # type: ignore[arg-type]


def main() -> None:
    """Play for some seconds and print the rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="strongest")
    parser.add_argument("--model", default="default")
    parser.add_argument("--seconds", type=float, default=12.0)
    arguments = parser.parse_args()
    config = resolve(arguments.preset)
    path = model_path(arguments.model)
    assert path is not None, f"{arguments.model} has no model file"
    evaluator = NetEvaluator(load_model(path)[0])
    player = _Counted(config, evaluator, iteration=0, balanced=evaluation_openings(config.rules))
    begun = time.perf_counter()
    marks: list[tuple[Progress, int]] = []

    def stop() -> bool:
        passed = time.perf_counter() - begun
        if passed > _WARM_UP_S and not marks:
            marks.append((player.progress, player.moves))
        return passed > _WARM_UP_S + arguments.seconds

    def finished(game: SelfPlayGame) -> None:
        """Keep nothing."""

    player.play(range(1_000_000), finished, stop)
    (before, moves), after = marks[0], player.progress
    seconds = after.seconds - before.seconds
    simulations = (after.simulations - before.simulations) / seconds
    print(f"{simulations:,.0f} simulations/s, {(player.moves - moves) / seconds:.0f} moves/s")


if __name__ == "__main__":
    main()
