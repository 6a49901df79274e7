"""Search speed: one position with the nets, descents without them, the mentor, and the memory of a tree."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import Any

from core.cores import cores, resident_bytes
from core.evaluation import DONE, Evaluator, Slot, Ticket
from core.position import Position
from core.streams import Purpose, generator
from curriculum.bench.bare_net import BareNet
from curriculum.bench.positions import positions_between
from curriculum.bench.rounds import median_rates, rate_of
from curriculum.bench.selfplay import STAGES
from curriculum.config import Config
from curriculum.reporting import Context
from search.limit import Limit
from search.mentor.player import Mentor
from search.tree.forest import bytes_per_node
from search.tree.mcts import ForestSearch, search_all
from search.tree.player import MctsPlayer
from search.tree.settings import Policy

_SEARCHES = 40
_MENTOR_NODES = 20_000
_DESCENT_TREES = 1024


def by_simulations(
    evaluator: Evaluator,
    games: Sequence[Position],
    counts: Sequence[int],
    seconds: float,
    context: Context,
    bare: BareNet | None = None,
) -> list[dict[str, Any]]:
    """Search positions of all stages one by one, as in `gomoku play`; return a row for each number of simulations.

    `milliseconds` is the median of the searches that no proof ended early; None if proofs ended all of them.
    `bare_ratio` is their simulations a second over the rate of `bare` before and after.
    """
    spread = positions_between(games, 0, max(game.ply for game in games), _SEARCHES)
    positions = [spread[index] for index in generator(0, Purpose.SHUFFLE).permutation(len(spread))]
    rows: list[dict[str, Any]] = []
    with context.reporter.task("single positions", len(counts), "sizes") as task:
        for simulations in counts:
            settings = replace(Config().search, simulations=simulations).for_one_position()
            player = MctsPlayer(evaluator, games[0].rules, settings, policy=Policy.DETERMINISTIC)
            player.choose_batch(positions[-1:], seeds=[0], stop=context.stop)
            bare_rates = [bare.rate(seconds / 4)] if bare else []
            whole: list[float] = []
            spent, searched = 0.0, 0
            for position in positions:
                context.check()
                start = time.perf_counter()
                decision = player.choose_batch([position], seeds=[0], stop=context.stop)[0]
                took = time.perf_counter() - start
                spent, searched = spent + took, searched + decision.simulations
                if decision.simulations >= simulations:
                    whole.append(took)
                if whole and spent >= seconds:
                    break
            context.check()
            row = {
                "simulations": simulations,
                "milliseconds": 1000 * statistics.median(whole) if whole else None,
                "simulations_per_second": searched / spent,
            }
            if bare:
                row["bare_ratio"] = searched / spent / statistics.mean([*bare_rates, bare.rate(seconds / 4)])
            rows.append(row)
            task.update(len(rows))
    return rows


class FreeEvaluator:
    """An evaluator that costs nothing: it draws a slot's evaluations once and never changes them.

    The time of a search with it is the search's own work.
    """

    lanes = 1
    free_cores = 1
    version = 0
    last_moves = 0

    def __init__(self) -> None:
        self._random = generator(0)
        self._seen: dict[int, Slot] = {}

    def submit(self, slot: Slot) -> Ticket:
        """See `core.evaluation.Evaluator`."""
        if id(slot) not in self._seen:
            self._seen[id(slot)] = slot
            slot.logits[:] = 2.0 * self._random.standard_normal(slot.logits.shape)
            slot.values[:] = self._random.uniform(-0.5, 0.5, slot.values.shape)
        return DONE


def _descents(games: Sequence[Position], threads: int) -> Callable[[float], float]:
    """Begin endless searches of many trees, with a free evaluator; return the measurement of simulations a second."""
    positions = positions_between(games, 2, max(game.ply for game in games), _DESCENT_TREES)
    settings = Config().search
    search = ForestSearch(games[0].rules, FreeEvaluator(), settings, trees=len(positions), threads=threads)

    def begin(tree: int) -> None:
        search.set_root(tree, positions[tree])
        search.begin(tree, settings.simulations)

    def searched() -> int:
        before = search.simulations
        for tree in search.advance():
            begin(tree)
        return search.simulations - before

    for tree in range(len(positions)):
        begin(tree)
    return partial(rate_of, searched)


def descents(games: Sequence[Position], seconds: float, context: Context) -> list[dict[str, Any]]:
    """Return simulations a second with a free evaluator, a row for each number of threads: 1, 2, 4, … up to all cores.

    `scaling` is the rate of each thread over the rate of one thread alone.
    """
    numbers = sorted({2**power for power in range(cores().bit_length())} | {cores()})
    searches = {threads: _descents(games, threads) for threads in numbers}
    medians = median_rates("descents", searches, seconds / len(numbers), 3, context)
    return [
        {"threads": threads, "simulations_per_second": rate, "scaling": rate / (threads * medians[1])}
        for threads, rate in medians.items()
    ]


def mentor(games: Sequence[Position], seconds: float, context: Context) -> dict[str, Any]:
    """Return the mentor's nodes a second on one core, over positions of the middle game."""
    cells = games[0].rules.cells
    first, last = (round(STAGES[stage] * cells) for stage in ("opening", "middle"))
    player = Mentor(Limit(nodes=_MENTOR_NODES))
    positions = cycle(positions_between(games, first, last, _SEARCHES))

    def searched() -> int:
        return player.choose_batch([next(positions)], seeds=[0])[0].simulations

    return median_rates("the mentor", {"nodes_per_second": partial(rate_of, searched)}, seconds, 5, context)


def tree(games: Sequence[Position], simulations: int) -> dict[str, Any]:
    """Return a tree's memory: bytes of its arrays a simulation, and the growth of the process (None if unknown)."""
    rules = games[0].rules
    position = Position.from_moves(rules, games[0].moves[:2])
    settings = replace(Config().search, simulations=simulations, proven_nodes=False)
    search_all(ForestSearch(rules, FreeEvaluator(), settings, trees=1), [position], 1)
    search = ForestSearch(rules, FreeEvaluator(), settings, trees=1)
    before = resident_bytes()
    search_all(search, [position], simulations)
    after = resident_bytes()
    return {
        "bytes_per_simulation": bytes_per_node(rules),
        "simulations": simulations,
        "resident_bytes_per_simulation": (after - before) / simulations if before and after else None,
    }
