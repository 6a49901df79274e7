"""Time of each step of an evaluation by a line-pattern net: `python -m benchmarks.line_kernels`.

One thread evaluates positions of the benchmark's games, each on its own, in random order ("mixed") or one after another
("near", a stone apart). Least and median microseconds of an evaluation, the steps in turns; a machine that other
programs share disturbs the median more.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import kernel
from core.compiled.line_nets import evaluation
from core.compiled.line_nets.evaluation import LineBoard, LineNet, LineRoom, line_room
from core.evaluation import PositionBatch
from core.rules import Rules
from curriculum.bench.machine import machine
from curriculum.bench.positions import long_games, mixed_positions
from curriculum.games.mentor_games import replay_positions
from nets.checkpoint import BUILT_IN
from nets.runtimes.loading import open_model

_GAMES = 16
_ROUNDS = 30
_CALLS = 1_000
_numbers, _look_up, _spread = evaluation._number_patterns, evaluation._look_up, evaluation._spread
_heads, _value, _whole = evaluation._multiply_heads, evaluation._value, evaluation.evaluate_line

Stones = NDArray[np.int8]


@kernel
def _number_calls(net: LineNet, board: LineBoard, room: LineRoom, stones: Stones, calls: int) -> None:
    for call in range(calls):
        _numbers(stones[call % len(stones)], 1, board, room)


@kernel
def _look_up_calls(net: LineNet, board: LineBoard, room: LineRoom, stones: Stones, calls: int) -> None:
    for _ in range(calls):
        _look_up(net, room, board.size)


@kernel
def _spread_calls(net: LineNet, board: LineBoard, room: LineRoom, stones: Stones, calls: int) -> None:
    for _ in range(calls):
        for layer in range(net.near.shape[0]):
            _spread(net, layer, room, board.size)


@kernel
def _head_calls(net: LineNet, board: LineBoard, room: LineRoom, stones: Stones, calls: int) -> None:
    for _ in range(calls):
        _heads(net, room)


@kernel
def _value_calls(net: LineNet, board: LineBoard, room: LineRoom, stones: Stones, calls: int) -> None:
    for _ in range(calls):
        _value(net, board, room)


@kernel
def _whole_calls(net: LineNet, board: LineBoard, room: LineRoom, stones: Stones, calls: int) -> None:
    logits = np.zeros(stones.shape[1], np.float32)
    for call in range(calls):
        _whole(net, board, room, stones[call % len(stones)], 1, logits)


_STEPS: dict[str, tuple[Callable[..., None], bool]] = {
    "numbers of patterns": (_number_calls, False),
    "rows of the table, of one position": (_look_up_calls, False),
    "spread layers": (_spread_calls, False),
    "products of the heads": (_head_calls, False),
    "value": (_value_calls, False),
    "whole, mixed": (_whole_calls, False),
    "whole, near": (_whole_calls, True),
}
"""Steps by their names, and whether positions follow each other."""


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model", type=Path, default=BUILT_IN["default"], help="a model file; default: the built-in one"
    )
    lines = open_model(parser.parse_args().model).lines
    if lines is None:
        sys.exit("this is no model of line-pattern nets")
    print(machine()["processor"], file=sys.stderr)
    net, board, room = lines.black, lines.board, line_room(lines.black, lines.board)
    games = long_games(Rules(board.size), _GAMES)
    mixed = mixed_positions(games)
    near = PositionBatch.concatenate([replay_positions(game, 2) for game in games])
    times: dict[str, list[float]] = {name: [] for name in _STEPS}
    for _ in range(1 + _ROUNDS):
        for name, (step, follows) in _STEPS.items():
            stones = (near if follows else mixed).stones
            started = time.perf_counter()
            step(net, board, room, stones, _CALLS)
            times[name].append(1e6 * (time.perf_counter() - started) / _CALLS)
    print(f"{'microseconds':36} {'least':>6} {'median':>7}")
    for name, found in times.items():
        print(f"{name:36} {min(found[1:]):6.2f} {statistics.median(found[1:]):7.2f}")


if __name__ == "__main__":
    main()
