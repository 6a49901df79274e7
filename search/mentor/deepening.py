"""The iterations of one search of the mentor, each a little deeper than the last, and the arrays that they work on."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.threats import FIVE, new_threat_board, side_of
from core.position import Position
from core.rules import Cell, Rules
from search.limit import Limit
from search.mentor.alpha_beta import VCF_NODES, begin_iteration, run, set_up
from search.mentor.scores import INFINITY, MATE, PROVEN, WIN
from search.mentor.state import BEST, LINE, MAX_DEPTH, SCORE, new_search_state
from search.mentor.table import GENERATIONS
from search.players import Stop
from search.solvers.vcf import NOT_KNOWN, new_vcf_work, solve_vcf

SLICE = 2_000
"""Nodes between two checks of the limit: some milliseconds."""
_ENDLESS = 1 << 40
"""Nodes of a helper, which ends with the search that it helps."""
_WINDOW = 40
"""Half the width of an iteration's window around the score of the last one."""
_VCF_TABLE_BITS = 12
_VCF_SHARE = 4
"""Share of the nodes that may go to a win by fours at the root: one in so many."""
_VCF_NODES = 20_000
"""Maximum of those nodes: some dozen milliseconds."""
_VCF_NODES_A_SECOND = 200_000
"""Maximum of those nodes where the limit is a time: about a quarter of it."""
_SKIPPED = ((1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (2, 3), (3, 0), (3, 1), (3, 2), (3, 3), (3, 4), (3, 5))
"""Depths that helpers leave out, by number: blocks of so many depths, and the shift of the first block."""


class Line(NamedTuple):
    """The result of a root move: its score for the side to move, and the expected moves from it on."""

    score: int
    moves: tuple[Cell, ...]


class Generation(NamedTuple):
    """A search's place among those of its table."""

    number: int
    """1 or more."""
    oldest: int
    """The oldest generation whose entries the search uses."""


class Table:
    """A transposition table and the generations of its searches."""

    def __init__(self, slots: int) -> None:
        """`slots`: a power of two."""
        self.entries = np.zeros((slots, 2), dtype=np.int64)
        """[slots, 2]; see `search.mentor.table`."""
        self.over = np.zeros(1, dtype=np.int64)
        """[1] the last generation whose search is over: all threads that still search for it end at their next node."""
        self._last = Generation(0, 0)

    @property
    def is_at_its_end(self) -> bool:
        """True if no further generation fits into its entries, so that the next search must clear it."""
        return self._last.number == GENERATIONS

    def begin_search(self, *, remember: bool) -> Generation:
        """Return the generation of a new search.

        `remember`: it uses the entries of earlier ones too, back to the last one that remembered nothing.
        """
        number, oldest = self._last
        if self.is_at_its_end:
            self.entries[:], self.over[:] = 0, 0
            number = oldest = 0
        number += 1
        self._last = Generation(number, oldest if remember else number)
        return self._last

    def end_search(self) -> None:
        """End the last search on all threads."""
        self.over[0] = self._last.number


class Workspace:
    """The arrays of one search at a time, on one thread."""

    def __init__(self, rules: Rules, table: Table) -> None:
        """`table`: other workspaces may share it."""
        self.board = new_threat_board(rules)
        self.state = new_search_state(rules, table.entries, table.over)
        self.vcf = new_vcf_work(rules, _VCF_TABLE_BITS)


def is_by_the_clock(limit: Limit) -> bool:
    """Return True for a limit of time without nodes: such a search cannot be repeated anyway.

    Any other must not depend on the searches before it.
    """
    return limit.seconds is not None and limit.nodes is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A position to search, and what the search is for."""

    position: Position
    limit: Limit
    started: float
    """The instant of `time.perf_counter` from which the seconds of `limit` count."""
    stop: Stop
    variety: int = 0
    """Scores at most so much below the best are exact, and so are those of `lines`."""
    lines: int = 1
    """Number of the best moves whose scores are exact."""
    tell: Callable[[Cell, int], None] = lambda move, score: None
    """Called with the best move so far and its score, first as soon as any move is known."""
    show: Callable[["Deepening"], None] = lambda search: None
    """Called every few milliseconds with the search itself."""


class Deepening:
    """One search on one thread: its iterations and their result."""

    def __init__(self, work: Workspace, task: Task, generation: Generation, helper: int = 0) -> None:
        """Set the arrays to the position.

        `helper`: 0 for the search whose result counts, else the number of the thread; a helper only fills the table, in
        steps of its own.
        """
        self.board, self.state, self.vcf = work.board, work.state, work.vcf
        self.task, self.helper = task, helper
        position, limit = task.position, task.limit
        self.side = side_of(position.side_to_move)
        slots = len(self.state.table)
        if limit.nodes is not None:
            # So small a part of the table stays in the processor's cache.
            slots = min(slots, 1 << limit.nodes.bit_length() + 1)
        progress = self.state.progress[0]
        progress["margin"], progress["lines"] = task.variety, min(task.lines, position.rules.cells)
        progress["slots"], progress["vcf_nodes"] = slots, VCF_NODES
        progress["generation"], progress["oldest"] = generation
        count = set_up(self.board, self.state, stones_of(position), position.side_to_move)
        if not is_by_the_clock(limit):
            self.vcf.table[:] = 0  # its proofs would change the number of nodes that this search needs
        self.nodes, self.depth = 0, 0
        self.moves = self.state.root_moves[:count]
        self.scores = np.zeros(count, dtype=np.int64)
        """Scores of `moves`, in order; only those near the best are exact."""
        self.lines: dict[Cell, Line] = {}
        """The moves whose scores were exact when they were searched last, the newest results first, the best first."""
        self.count = min(task.lines, count)
        """The number of best moves whose scores are exact."""
        self.task.tell(int(self.moves[0]), 0)

    def deepen(self) -> None:
        """Search deeper and deeper until the limit, or until nothing can change any more."""
        if self.board.counts[self.side, FIVE] > 0:
            self.scores[:], self.depth = WIN - 1, 1
            return
        if self.helper == 0 and self._wins_by_fours():
            return
        for depth in range(1, min(self.task.limit.depth or MAX_DEPTH, MAX_DEPTH) + 1):
            if self._leaves_out(depth):
                continue
            if not self._iterate(depth):
                break
            self.depth = depth
            if abs(self.scores[0]) >= PROVEN or (len(self.moves) == 1 and self.task.limit.seconds is not None):
                break  # nothing is left to decide

    def _leaves_out(self, depth: int) -> bool:
        """Return True for a depth that this helper leaves out, so that threads with a table in common part their ways.

        With one helper that leaves out every other depth, the search needed 0.66 of its own nodes to depth 15, and 0.81
        with one that leaves out none.
        """
        if self.helper == 0:
            return False
        block, shift = _SKIPPED[(self.helper - 1) % len(_SKIPPED)]
        return (depth + shift) // block % 2 == 1

    def _wins_by_fours(self) -> bool:
        """Return True and take the win if there is one by continuous fours; deeper than the search's own check."""
        max_nodes = _VCF_NODES
        if self.task.limit.nodes is not None:
            max_nodes = min(max_nodes, self.task.limit.nodes // _VCF_SHARE)
        if self.task.limit.seconds is not None:
            max_nodes = int(min(max_nodes, _VCF_NODES_A_SECOND * self.task.limit.seconds))
        # Where the limit is a time, `stop` is called every few milliseconds here too: each try gets twice the nodes.
        nodes = max_nodes if self.task.limit.nodes is not None else min(SLICE, max_nodes)
        plies, progress = NOT_KNOWN, self.state.progress[0]
        while plies == NOT_KNOWN and 0 < nodes <= max_nodes and not self.task.stop():
            plies = solve_vcf(self.board, self.vcf, self.side, nodes)
            progress["nodes"] += self.vcf.tally[0]
            self.nodes = int(progress["nodes"])
            nodes *= 2
        if plies <= 0:
            return False
        line = tuple(self.vcf.line[:plies].tolist())
        self.moves[:] = self.moves[np.argsort(self.moves != line[0], kind="stable")]
        self.scores[:] = -INFINITY
        self.scores[0], self.depth = WIN - plies, plies
        self.lines = {line[0]: Line(WIN - plies, line)}
        self.task.tell(int(self.moves[0]), int(self.scores[0]))
        return True

    def _iterate(self, depth: int) -> bool:
        """Run one iteration, with windows around the last score until one fits; return True if it was finished."""
        alpha, beta, reach = -INFINITY, INFINITY, _WINDOW
        if self.depth > 0 and abs(self.scores[0]) < MATE:
            lowest = min(int(self.scores[0]) - self.task.variety, int(self.scores[self.count - 1]))
            alpha, beta = max(lowest - reach, -INFINITY), int(self.scores[0]) + reach
        progress = self.state.progress[0]
        while True:
            begin_iteration(self.state, depth, alpha, beta)
            finished = False
            while not finished:
                budget = self._budget(depth)
                if budget == 0:
                    break
                finished = run(self.board, self.state, self.vcf, budget)
                self.nodes = int(progress["nodes"])
            reached = int(progress["reached"])
            scores = self.state.root[:reached, SCORE].copy()
            best = int(scores.max()) if reached else -INFINITY
            if best > alpha:
                self._take(scores)
            if not finished:
                return False
            if best >= beta:
                beta = min(beta + reach, INFINITY) if reach < 1000 else INFINITY
            elif self.state.root[self.count - 1, BEST] <= alpha > -INFINITY:
                alpha = max(alpha - reach, -INFINITY) if reach < 1000 else -INFINITY
            else:
                return True
            reach *= 4

    def _budget(self, depth: int) -> int:
        """Return the nodes until the next check of the limit; 0 to stop now. The first iteration is always finished."""
        if depth == 1 and self.helper == 0:
            return SLICE
        task, seconds = self.task, self.task.limit.seconds
        task.show(self)
        if task.stop() or (seconds is not None and time.perf_counter() - task.started >= seconds):
            return 0
        if self.helper:
            return _ENDLESS
        return SLICE if task.limit.nodes is None else max(min(SLICE, task.limit.nodes - self.nodes), 0)

    def _take(self, scores: NDArray[np.int64]) -> None:
        """Order the moves by the scores of the iteration; moves it did not reach keep their order behind them."""
        reached = len(scores)
        scores = np.concatenate([scores, np.full(len(self.moves) - reached, -INFINITY)])
        order = np.argsort(-scores, kind="stable")
        rows = (self.state.root[at, LINE:] for at in order[:reached])
        lines = (tuple(row[1 : row[0] + 1].tolist()) for row in rows)
        new = {line[0]: Line(int(score), line) for score, line in zip(scores[order], lines, strict=False) if line}
        self.lines = new | {move: line for move, line in self.lines.items() if move not in new}
        self.scores, self.moves[:] = scores[order], self.moves[order]
        self.task.tell(int(self.moves[0]), int(self.scores[0]))
