"""Batches: each row is evaluated once and by its own net, on any thread and after errors."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation import PositionBatch
from core.rules import BLACK, WHITE
from nets.config import Backend, Precision
from nets.dispatch import rows_by_net
from nets.runtimes.batching import Batcher, Submission
from nets.runtimes.runtime import Piece

PATIENCE_S = 20.0
"""Longest wait; after it something hangs."""
MANY = 100
"""More rows than count as few."""


class Batch(NamedTuple):
    """A batch that a runtime evaluated."""

    net: str
    rows: list[int]
    """Of each piece."""
    thread: str


class ScriptedRuntime:
    """Records its batches; a row's value is the number in its last move, plus a half by the net of white."""

    backend = Backend.TORCH
    precision = Precision.FP32
    free_cores = 1

    def __init__(self, *, sizes: tuple[int, ...] = (256,), threads: int = 1, any_thread: bool = False) -> None:
        self.sizes, self.threads, self.any_thread = sizes, threads, any_thread
        self.lanes = threads
        self.large_batches = False
        self.evaluated: list[Batch] = []
        self.before: Callable[[str, int], None] = lambda net, rows: None
        """Called with a net and a number of rows, before their evaluation."""

    def evaluate(self, net: str, pieces: Sequence[Piece]) -> None:
        rows = [len(piece.rows) for piece in pieces]
        self.evaluated.append(Batch(net, rows, threading.current_thread().name))
        self.before(net, sum(rows))
        for piece in pieces:
            piece.values[piece.rows] = piece.positions.last_moves[piece.rows, 0] + 0.5 * (net == "white")
            piece.logits[piece.rows] += 1

    def batches(self) -> list[tuple[str, list[int]]]:
        """The nets and rows of all batches."""
        return [(net, rows) for net, rows, _ in self.evaluated]


class Slot:
    """Positions with numbers in them, and room for their evaluations."""

    def __init__(self, to_move: Sequence[int]) -> None:
        self.positions = PositionBatch.empty(len(to_move), 9)
        self.positions.to_move[:] = to_move
        self.positions.last_moves[:, 0] = np.arange(len(to_move))
        self.logits, self.values = np.zeros((len(to_move), 9), np.float32), np.full(len(to_move), -1.0, np.float32)

    def parts(self, dual: bool = True) -> list[tuple[str, Piece]]:
        """As the evaluator submits them."""
        parts = rows_by_net(self.positions.to_move, dual)
        return [(net, Piece(rows, self.positions, self.logits, self.values)) for net, rows in parts]

    def check(self, dual: bool = True) -> None:
        """Assert that each row was evaluated once, and by its own net."""
        assert (self.logits == 1).all(), "rows were left out, or evaluated twice"
        halves = 0.5 * (dual & (self.positions.to_move == WHITE))
        assert np.array_equal(self.values, np.arange(len(self.values)) + halves)


@contextmanager
def batcher_of(runtime: ScriptedRuntime, *, repeatable: bool = False) -> Iterator[Batcher]:
    """A batcher with threads named `net_…`."""
    with ThreadPoolExecutor(runtime.threads, "net") as threads:
        batcher = Batcher(runtime, threads, repeatable=repeatable)
        yield batcher
        batcher.close()


def within_reason(work: Callable[[], None]) -> None:
    """Run the work on a thread of its own, raise its error, and fail if it hangs."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="waiting", daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive(), "it hangs"
    if errors:
        raise errors[0]


def evaluate(batcher: Batcher, *slots: Slot, dual: bool = True, gate: "Gate | None" = None) -> None:
    """Submit all slots, open the gate, wait for them in order, and check them."""
    submissions = [batcher.submit(slot.parts(dual)) for slot in slots]
    if gate is not None:
        gate.open()
    for submission, slot in zip(submissions, slots, strict=True):
        within_reason(submission.result)
        slot.check(dual)


class Gate:
    """Holds the first batch of many rows until `open`, so that other rows queue meanwhile."""

    def __init__(self, runtime: ScriptedRuntime, batcher: Batcher) -> None:
        self._entered, self._opened = threading.Event(), threading.Event()
        runtime.before = self._hold
        self._slot = Slot([BLACK] * MANY)
        self._submission = batcher.submit(self._slot.parts())
        assert self._entered.wait(PATIENCE_S)
        runtime.evaluated.clear()

    def _hold(self, net: str, rows: int) -> None:
        if rows == MANY and not self._entered.is_set():
            self._entered.set()
            assert self._opened.wait(PATIENCE_S)

    def open(self) -> None:
        self._opened.set()
        within_reason(self._submission.result)
        self._slot.check()


SIDES = st.lists(st.sampled_from([BLACK, WHITE]), max_size=60)


@given(
    slots=st.lists(SIDES, max_size=6),
    dual=st.booleans(),
    sizes=st.sets(st.integers(1, 40), min_size=1, max_size=4).map(lambda sizes: tuple(sorted(sizes))),
    threads=st.integers(1, 3),
    any_thread=st.booleans(),
    repeatable=st.booleans(),
)
def test_every_row_is_evaluated_once_and_by_its_own_net(
    slots: list[list[int]], dual: bool, sizes: tuple[int, ...], threads: int, any_thread: bool, repeatable: bool
) -> None:
    runtime = ScriptedRuntime(sizes=sizes, threads=threads, any_thread=any_thread)
    with batcher_of(runtime, repeatable=repeatable) as batcher:
        evaluate(batcher, *map(Slot, slots), dual=dual)
    assert all(1 <= sum(batch.rows) <= sizes[-1] for batch in runtime.evaluated)


def test_rows_of_several_submissions_share_a_batch() -> None:
    runtime = ScriptedRuntime(sizes=(MANY,))
    with batcher_of(runtime) as batcher:
        evaluate(batcher, *(Slot([WHITE] * rows) for rows in (50, 20, 40)), gate=Gate(runtime, batcher))
    assert runtime.batches() == [("white", [50, 20, 30]), ("white", [10])]


@given(
    slots=st.lists(SIDES, min_size=1, max_size=6),
    dual=st.booleans(),
    sizes=st.sets(st.integers(1, 40), min_size=1, max_size=4).map(lambda sizes: tuple(sorted(sizes))),
    any_thread=st.booleans(),
)
def test_repeatable_batches_depend_on_their_own_submission_alone(
    slots: list[list[int]], dual: bool, sizes: tuple[int, ...], any_thread: bool
) -> None:
    def batches(*together: Slot, threads: int) -> list[tuple[str, list[int]]]:
        runtime = ScriptedRuntime(sizes=sizes, threads=threads, any_thread=any_thread)
        with batcher_of(runtime, repeatable=True) as batcher:
            evaluate(batcher, *together, dual=dual)
        return sorted(runtime.batches())

    alone = [batch for to_move in slots for batch in batches(Slot(to_move), threads=1)]
    assert batches(*(Slot(to_move) for to_move in slots), threads=3) == sorted(alone)


def test_a_submission_that_no_thread_takes_is_taken_back() -> None:
    class Full(ThreadPoolExecutor):
        """Takes nothing for once."""

        full = True

        def submit(self, *work: Any) -> Any:
            if self.full:
                self.full = False
                raise RuntimeError("can't start new thread")
            return super().submit(*work)

    runtime, refused, taken = ScriptedRuntime(), Slot([BLACK, WHITE]), Slot([WHITE] * MANY)
    with Full(1) as threads:
        batcher = Batcher(runtime, threads)
        with pytest.raises(RuntimeError, match="new thread"):
            batcher.submit(refused.parts())
        evaluate(batcher, taken)
    assert runtime.batches() == [("white", [MANY])]
    with pytest.raises(RuntimeError, match="after shutdown"):
        batcher.submit(taken.parts())


def test_the_net_with_the_oldest_rows_goes_first_and_of_equals_the_one_with_more_rows() -> None:
    runtime = ScriptedRuntime()
    with batcher_of(runtime) as batcher:
        slots = [Slot(sides) for sides in ([WHITE] * 3, [BLACK] * 30, [WHITE] * 2)]
        evaluate(batcher, *slots, gate=Gate(runtime, batcher))
        assert runtime.batches() == [("white", [3, 2]), ("black", [30])]
        evaluate(batcher, Slot([BLACK] * 4 + [WHITE] * 5), gate=Gate(runtime, batcher))
        assert runtime.batches() == [("white", [5]), ("black", [4])]


def test_an_error_reaches_the_submissions_of_its_batch_and_no_others() -> None:
    runtime = ScriptedRuntime()
    with batcher_of(runtime) as batcher:
        gate = Gate(runtime, batcher)

        def fail(net: str, rows: int) -> None:
            if net == "white":
                raise ValueError("no white today")

        runtime.before = fail
        both, white, black = (Slot(sides) for sides in ([BLACK, WHITE], [WHITE] * 3, [BLACK] * 4))
        submissions = [batcher.submit(slot.parts()) for slot in (both, white, black)]
        gate.open()
        for submission in submissions[:2]:
            with pytest.raises(ValueError, match="no white today"):
                within_reason(submission.result)
        within_reason(submissions[2].result)
        black.check()
        assert both.logits[:, 0].tolist() == [1, 0]

        runtime.before = lambda net, rows: None
        evaluate(batcher, Slot([WHITE, BLACK] * 20))


@pytest.mark.parametrize("any_thread", [False, True])
def test_many_threads_at_once_lose_nothing(any_thread: bool) -> None:
    runtime = ScriptedRuntime(sizes=(1, 4, 16, 32), threads=2, any_thread=any_thread)
    runtime.before = lambda net, rows: time.sleep(1e-5 * rows)
    callers = 8
    together = threading.Barrier(callers)

    def call(seed: int) -> None:
        random = np.random.default_rng(seed)
        flying: list[tuple[Slot, Submission]] = []
        together.wait(PATIENCE_S)
        for _ in range(40):
            slot = Slot(random.choice([BLACK, WHITE], size=random.choice([0, 1, 2, 5, 20, 60])).tolist())
            flying.append((slot, batcher.submit(slot.parts())))
            if len(flying) == 3:
                done, submission = flying.pop(0)
                submission.result()
                done.check()
        for slot, submission in flying:
            submission.result()
            slot.check()

    def call_all() -> None:
        with ThreadPoolExecutor(callers) as threads:
            list(threads.map(call, range(callers)))

    with batcher_of(runtime) as batcher:
        within_reason(call_all)
    assert any(len(batch.rows) > 1 for batch in runtime.evaluated)


def test_a_thread_that_waits_for_few_rows_evaluates_them() -> None:
    runtime = ScriptedRuntime(sizes=(1, 2, 4, 8), threads=2, any_thread=True)
    with batcher_of(runtime) as batcher:
        evaluate(batcher, Slot([BLACK] * 10))
    assert runtime.evaluated == [("black", [8], "waiting"), ("black", [2], "waiting")]


def test_a_thread_that_waits_for_few_rows_does_not_wait_for_busy_threads() -> None:
    runtime = ScriptedRuntime(any_thread=True)
    with batcher_of(runtime) as batcher:
        gate = Gate(runtime, batcher)
        evaluate(batcher, Slot([WHITE, BLACK] * 3))
        assert {batch.thread for batch in runtime.evaluated} == {"waiting"}
        gate.open()


def test_a_waiting_thread_leaves_many_rows_to_the_threads_of_the_runtime() -> None:
    runtime = ScriptedRuntime(any_thread=True)
    with batcher_of(runtime) as batcher:
        evaluate(batcher, Slot([BLACK] * MANY))
    assert all(batch.thread.startswith("net_") for batch in runtime.evaluated)


def test_a_waiting_thread_evaluates_nothing_if_only_threads_of_the_runtime_may() -> None:
    runtime, slot = ScriptedRuntime(any_thread=False), Slot([WHITE])
    with batcher_of(runtime) as batcher:
        gate = Gate(runtime, batcher)
        submission = batcher.submit(slot.parts())
        waiting = threading.Thread(target=submission.result, daemon=True)
        waiting.start()
        waiting.join(0.05)
        assert waiting.is_alive(), "the only thread is busy"
        gate.open()
        within_reason(submission.result)
    assert [batch.thread for batch in runtime.evaluated] == ["net_0"]
    slot.check()


@pytest.mark.parametrize(("sizes", "large", "batches"), [((256,), False, [9, 16, 25, 50]), ((64,), True, [36, 64])])
def test_a_thread_takes_its_share_of_the_rows_that_wait_or_whole_batches_where_they_are_faster(
    sizes: tuple[int, ...], large: bool, batches: list[int]
) -> None:
    runtime = ScriptedRuntime(sizes=sizes, threads=2)
    runtime.large_batches = large
    with batcher_of(runtime) as batcher:
        evaluate(batcher, Slot([BLACK] * 100), dual=False)
    assert sorted(rows for _, rows in runtime.batches()) == [[rows] for rows in batches]


def test_an_interrupt_is_not_lost_on_a_thread_that_evaluates_the_rows_of_others() -> None:
    runtime = ScriptedRuntime(sizes=(4,), any_thread=True)

    def interrupt(net: str, rows: int) -> None:
        runtime.before = lambda net, rows: None
        raise KeyboardInterrupt

    runtime.before = interrupt
    with batcher_of(runtime) as batcher:
        batcher.submit(Slot([BLACK] * 4).parts())
        slot = Slot([BLACK] * 4)
        submission = batcher.submit(slot.parts())
        with pytest.raises(KeyboardInterrupt):
            within_reason(submission.result)
        within_reason(submission.result)
        slot.check()
