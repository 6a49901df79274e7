"""The search with a line-pattern net: the kernel that finds a leaf evaluates it, without batches.

Each tree has a window of leaves in flight, as any tree has (A II-E). The thread that descends it publishes each leaf
and ends the oldest one when the window is full. Whichever thread is free looks at the threats on a published leaf and
evaluates it, so with one thread or many a tree finds the same.
"""

from concurrent.futures import Future, wait
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from core.compiled.line_nets.evaluation import HasLines, LineNets, LineRoom, evaluate_line, line_room
from core.compiled.symmetry import IDENTITY
from core.cores import Threads, within_limit
from core.rules import BLACK, Rules
from search.atomics import give_way, pause, read, swap, write
from search.tree.groups import SharedParts, tactics_of
from search.tree.kernels.backup import release
from search.tree.kernels.descent import COLLISION, LEAF
from search.tree.kernels.expansion import expand
from search.tree.kernels.gathering import descend_for_leaf, settle
from search.tree.kernels.leaves import Leaves, Shard, make_leaves
from search.tree.leaf_tactics import UNDECIDED, LeafTactics, follow_replies, new_boards, new_leaf_work

MAX_WINDOW = 16
"""Leaves of a tree in flight at most.

The thread that descends keeps four or five others busy. More leaves would only draw visits away from the best move.
"""
_IN_A_ROW = 512
"""Leaves of a tree in a row, some milliseconds. After them none of it is in flight.

They are counted tree by tree, so that a tree finds the same whichever other trees there are.
"""
_TURN = 8 * _IN_A_ROW
"""Leaves of a thread's trees until the next stop check: a tenth of a second. Threads wait for each other then."""

_PATIENCE = 64
"""A thread that waits gives way to others after every so many moments."""

# Places of counters, each in a line of the processor's cache of its own.
_NEXT, _END, _STOP = 0, 8, 16
_COUNTERS = 24


class Work(NamedTuple):
    """Leaves that wait for their evaluation, numbered from 0 on; leaf `n` has the place `n % MAX_WINDOW`."""

    counters: NDArray[np.int64]
    """Number of the next leaf to take; number of leaves published; 1 to stop."""
    leaves: NDArray[np.int32]
    """[MAX_WINDOW]"""
    done: NDArray[np.int64]
    """[MAX_WINDOW] 1 if evaluated."""
    logits: NDArray[np.float32]
    """[MAX_WINDOW, A]"""
    values: NDArray[np.float32]
    """[MAX_WINDOW]"""
    findings: NDArray[np.int64]
    """[MAX_WINDOW, 3] about the threats, of `follow_replies`: finding, proof and number of single replies."""


def make_work(cells: int) -> Work:
    """Return an empty list of work."""
    return Work(
        counters=np.zeros(_COUNTERS, dtype=np.int64),
        leaves=np.zeros(MAX_WINDOW, dtype=np.int32),
        done=np.zeros(MAX_WINDOW, dtype=np.int64),
        logits=np.zeros((MAX_WINDOW, cells), dtype=np.float32),
        values=np.zeros(MAX_WINDOW, dtype=np.float32),
        findings=np.zeros((MAX_WINDOW, 3), dtype=np.int64),
    )


@lean_kernel
def _evaluate_next(leaves: Leaves, tactics: LeafTactics | None, lines: LineNets, room: LineRoom, work: Work) -> bool:
    """Take the next leaf, look at its threats and evaluate what they leave open; return False if there is none."""
    number = read(work.counters, _NEXT)
    if number >= read(work.counters, _END):
        return False
    if not swap(work.counters, _NEXT, number, number + 1):
        return True  # another thread took it
    place = number % MAX_WINDOW
    leaf = work.leaves[place]
    stones, side = leaves.stones[leaf], int(np.int64(leaves.records[leaf]["to_move"]))
    finding = UNDECIDED
    if tactics is not None:
        is_root = leaves.records[leaf]["node"] == 0
        finding, proof, count, side = follow_replies(tactics, leaf // leaves.free.shape[1], stones, side, leaf, is_root)
        found = work.findings[place]
        found[0], found[1], found[2] = finding, proof, count
    if finding == UNDECIDED:
        net = lines.black if side == BLACK else lines.white
        work.values[place] = np.tanh(evaluate_line(net, lines.board, room, stones, side, work.logits[place]))
    write(work.done, place, 1)
    return True


@lean_kernel
def help_out(leaves: Leaves, tactics: LeafTactics | None, lines: LineNets, room: LineRoom, work: Work) -> None:
    """Evaluate leaves until the thread that publishes them stops."""
    idle = 0
    while read(work.counters, _STOP) == 0:
        if _evaluate_next(leaves, tactics, lines, room, work):
            idle = 0
        else:
            idle += 1
            wait_a_moment(idle)


@lean_kernel
def wait_a_moment(times: int) -> None:
    """Wait for another thread, after having waited some `times`."""
    if times % _PATIENCE == 0:
        give_way()
    else:
        pause()


@lean_kernel
def search_turn(
    shard: Shard,
    tactics: LeafTactics | None,
    lines: LineNets,
    room: LineRoom,
    work: Work,
    images: NDArray[np.int64],
    first: int,
) -> tuple[int, int]:
    """Search the active trees of a shard in turn, from number `first` on, at most `_IN_A_ROW` leaves of each.

    Return the number of evaluated leaves, once there were `_TURN` leaves or each tree had its turn, and the number of
    the tree to go on with. Nothing is in flight afterwards.
    """
    forest, trees, active, rules, params, leaves = shard
    made, evaluated = 0, 0
    index = first
    for _ in range(trees.shape[0]):
        tree = trees[index]
        begun = read(work.counters, _END)
        published, ended = begun, begun
        last = begun + _IN_A_ROW
        while active[tree]:
            allowed = min(params.leaves_in_flight, max(1, forest.nodes[tree, 0]["visits"] // params.visits_per_leaf))
            collisions = 0
            while published - ended < allowed and collisions < allowed and published < last:
                if forest.nodes[tree, 0]["proof"] != 0:
                    forest.trees[tree]["simulations_left"] = 0
                if forest.trees[tree]["simulations_left"] <= 0:
                    break
                end, found = descend_for_leaf(forest, tree, index, rules, params, leaves)
                if end == COLLISION:
                    leaves.scratch.collided[collisions] = found
                    collisions += 1
                elif end == LEAF:
                    place = published % MAX_WINDOW
                    leaves.records[found]["row"] = place
                    leaves.records[found]["symmetry"] = IDENTITY
                    work.leaves[place] = found
                    write(work.done, place, 0)
                    published += 1
                    write(work.counters, _END, published)
            for collision in range(collisions):
                release(forest, tree, leaves.scratch.collided[collision])
            if published == ended:
                break
            place = ended % MAX_WINDOW
            idle = 0
            while read(work.done, place) == 0:
                if not _evaluate_next(leaves, tactics, lines, room, work):
                    idle += 1
                    wait_a_moment(idle)
            leaf, threats = work.leaves[place], work.findings[place]
            if tactics is None or settle(
                forest, tree, leaf, leaves, params, tactics, threats[0], threats[1], threats[2]
            ):
                oldest = work.leaves[place : place + 1]
                expand(shard, oldest, work.logits, work.values, images, tactics)
                evaluated += 1
            ended += 1
        made += published - begun
        if made >= _TURN:
            break
        index = (index + 1) % trees.shape[0]
    write(work.counters, _STOP, 1)
    return evaluated, index


class _Shard:
    """Some trees, for the thread that searches them and those that help it."""

    def __init__(self, parts: SharedParts, trees: NDArray[np.int64], lines: LineNets, helpers: int) -> None:
        self.leaves = make_leaves(len(trees), parts.params.leaves_in_flight, parts.rules.cells)
        self.searched = parts.shard(trees, self.leaves)
        self.work = make_work(parts.rules.cells)
        tactics = tactics_of(parts, len(trees))
        self.rooms = [line_room(lines.black, lines.board) for _ in range(1 + helpers)]
        """Memory of the searching thread, and of each helper."""
        self.tactics = [_of_thread(tactics, parts.rules, len(trees)) for _ in self.rooms]
        self.next = 0
        """Number of the tree to go on with."""


def _of_thread(tactics: LeafTactics | None, rules: Rules, trees: int) -> LeafTactics | None:
    """Return tactics with boards and scratch of their own, and the same findings."""
    if tactics is None:
        return None
    return tactics._replace(boards=new_boards(rules, trees), work=new_leaf_work(rules))


class LineBatch:
    """All trees of a search with a line-pattern net, in turns of some milliseconds.

    It has the place of a `search.tree.groups.SharedBatch`, but between two turns nothing is in flight.
    """

    def __init__(self, parts: SharedParts, trees: NDArray[np.int64], threads: int) -> None:
        self.trees = trees
        """Their indices in the forest."""
        self._parts = parts
        lines = self._lines()
        shares = np.array_split(trees, min(threads, len(trees)))
        self._threads = threads
        helpers = threads // len(shares) - 1
        self._shards = [_Shard(parts, share, lines, helpers) for share in shares]
        others = len(shares) * (1 + helpers) - 1
        self._pool = Threads(others, "search") if others else None

    def start(self) -> int:
        """Search for a turn, and return the number of evaluated leaves.

        A limit of the cores that was set since (`core.cores.limit_cores`) leaves out helpers.
        """
        lines = self._lines()
        if self._pool is None:
            return self._turn(self._shards[0], lines)
        first, *others = self._shards
        for shard in self._shards:
            shard.work.counters[_STOP] = 0
        used = max(1, within_limit(self._threads) // len(self._shards))
        turns: list[Future[int]] = []
        helping: list[Future[None]] = []
        try:
            turns += [self._pool.submit(self._turn, shard, lines) for shard in others]
            helping += [
                self._pool.submit(help_out, shard.leaves, tactics, lines, room, shard.work)
                for shard in self._shards
                for tactics, room in zip(shard.tactics[1:used], shard.rooms[1:used], strict=True)
            ]
            return self._turn(first, lines) + sum(turn.result() for turn in turns)
        finally:
            wait(turns)
            for shard in self._shards:
                shard.work.counters[_STOP] = 1
            wait(helping)

    def _lines(self) -> LineNets:
        """Return the nets in use: the evaluator may be replaced between two turns."""
        evaluator = self._parts.evaluator
        assert isinstance(evaluator, HasLines)
        assert evaluator.lines is not None
        return evaluator.lines

    def finish(self) -> None:
        """Do nothing: a turn ends its own leaves."""

    def _turn(self, shard: _Shard, lines: LineNets) -> int:
        images = self._parts.identity.images
        made, shard.next = search_turn(
            shard.searched, shard.tactics[0], lines, shard.rooms[0], shard.work, images, shard.next
        )
        return int(made)
