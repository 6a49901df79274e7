"""Cost and yield of the search for fours at leaves: `python -m benchmarks.leaf_fours 30 100`.

Each argument is a limit of nodes. The positions are nodes of the built-in model's search trees. A row tells the wins
found, the positions left open and the time of each call that has a four to try; "in depth" takes the first win,
"shortest" deepens four by four.
"""

import argparse
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.one_position import start_positions
from core.compiled import stones_of
from core.compiled.jit import lean_kernel
from core.compiled.threats import FIVE, FOUR, OPEN_FOUR, ThreatBoard, side_of
from core.rules import Rules
from curriculum.config import Config
from nets.checkpoint import BUILT_IN
from nets.runtimes.loading import open_model
from search.solvers.vcf import NOT_KNOWN, VcfWork, solve_vcf
from search.tree.forest import NO_NODE
from search.tree.leaf_tactics import load_board, new_boards, new_leaf_work
from search.tree.mcts import ForestSearch

_SIMULATIONS = 4_000
_NODES_A_TREE = 600
_NOT_ASKED = -2


def tree_positions(searches: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return stones [n, A] and sides to move [n] of nodes of some search trees."""
    rules, model = Rules(), BUILT_IN["default"]
    search = ForestSearch(
        rules, open_model(model), Config().search.with_tactics(), trees=1, capacity=2 * _SIMULATIONS + 1
    )
    stones, sides = [], []
    for number, position in enumerate(start_positions(model, rules, searches, plies=12)):
        search.set_root(0, position)
        search.begin(0, _SIMULATIONS)
        while not search.advance():
            pass
        nodes = search.forest.nodes[0, : int(search.forest.trees["nodes"][0])]
        draw = np.random.default_rng(number)
        for node in draw.permutation(len(nodes))[:_NODES_A_TREE]:
            moves = []
            while nodes["parent"][node] != NO_NODE:
                moves.append(int(nodes["move"][node]))
                node = nodes["parent"][node]
            board, colour = stones_of(position).copy(), position.side_to_move
            for move in reversed(moves):
                board[move], colour = colour, -colour
            stones.append(board)
            sides.append(colour)
    return np.array(stones), np.array(sides, dtype=np.int8)


@lean_kernel
def ask(
    boards: ThreatBoard,
    work: VcfWork,
    stones: NDArray[np.int8],
    sides: NDArray[np.int8],
    nodes: int,
    shortest: bool,
    plies: NDArray[np.int64],
    tried: NDArray[np.int64],
) -> None:
    """Search each position; with 0 `nodes` only bring the board there."""
    for index in range(len(stones)):
        board, side = load_board(boards, 0, stones[index]), side_of(sides[index])
        counts = board.counts[side]
        plies[index], tried[index] = _NOT_ASKED, 0
        if nodes > 0 and counts[FIVE] == 0 and counts[FOUR] + counts[OPEN_FOUR] > 0:
            work.table[:] = 0
            plies[index] = solve_vcf(board, work, side, nodes, shortest)
            tried[index] = work.tally[0]


def rows(limits: list[int], searches: int, repeats: int) -> Iterator[str]:
    """Yield a line a limit and way."""
    stones, sides = tree_positions(searches)
    rules = Rules()
    boards, work = new_boards(rules, 1), new_leaf_work(rules)
    plies, tried = np.zeros(len(stones), dtype=np.int64), np.zeros(len(stones), dtype=np.int64)

    def seconds(nodes: int, shortest: bool) -> float:
        times = []
        for _ in range(repeats):
            started = time.perf_counter()
            ask(boards, work, stones, sides, nodes, shortest, plies, tried)
            times.append(time.perf_counter() - started)
        return min(times)

    seconds(1, shortest=True)
    alone = seconds(0, shortest=True)
    for limit in limits:
        for shortest in (False, True):
            took = seconds(limit, shortest) - alone
            asked = int((plies != _NOT_ASKED).sum())
            yield (
                f"{limit:7,} {'shortest' if shortest else 'in depth':>9} {asked:8,} {int((plies > 0).sum()):8,}"
                f" {int((plies == NOT_KNOWN).sum()):8,} {tried.sum() / asked:8.1f} {1e6 * took / asked:8.2f}"
            )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("limits", nargs="*", type=int, default=[15, 30, 60, 100], metavar="NODES")
    parser.add_argument("--searches", type=int, default=25)
    parser.add_argument("--repeats", type=int, default=5, help="the fastest one counts")
    arguments = parser.parse_args()
    print(f"{'limit':>7} {'':>9} {'calls':>8} {'wins':>8} {'open':>8} {'nodes':>8} {'us':>8}")
    for row in rows(arguments.limits, arguments.searches, arguments.repeats):
        print(row, flush=True)


if __name__ == "__main__":
    main()
