"""Batches for the runtime, cut from queues: the rows of one net, of several slots if one does not fill a batch.

A nearly empty batch costs much more a position than a full one. A search submits slots of any size with both colours
mixed. So each net has a queue of its own, and a free thread takes as many of its oldest rows as make a good batch.

The composition of a batch then depends on timing, and the last bits of an evaluation may depend on the batch.
Repeatable batches avoid that: each submission is cut on its own when it arrives.
"""

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from nets.runtimes.runtime import Piece, Runtime, best_count

_FEW = 16
"""So few rows are not worth another thread's waking up: the waiting thread evaluates them."""
_IDLE_S = 0.1
"""A thread without work ends after this time; until then it takes up new work faster than a new thread."""


class Submission:
    """Rows submitted together: the ticket of `core.evaluation.Evaluator.submit`."""

    def __init__(self, batcher: "Batcher", rows: int) -> None:
        self._batcher = batcher
        self._left = rows
        self._error: BaseException | None = None
        self._ended = threading.Lock()
        """Held until all rows have ended; cheaper than an event."""
        if rows:
            self._ended.acquire()

    def finish(self, rows: int, error: BaseException | None) -> None:
        """Count rows as evaluated, or as failed; under the batcher's lock."""
        self._left -= rows
        self._error = self._error or error
        if not self._left:
            self._ended.release()

    def result(self) -> None:
        """Evaluate batches, as long as there are any, until all of these rows have ended. Raises their first error."""
        while self._left and self._batcher.help():
            pass
        with self._ended:
            pass
        if self._error:
            raise self._error


@dataclass(slots=True)
class _Waiting:
    """The rows of a submission that are still queued for one net."""

    number: int
    """The submission's number; older ones go first."""
    submission: Submission
    piece: Piece


Batch = tuple[str, list[tuple[Submission, Piece]]]


class Batcher:
    """The queues of a runtime's nets, and the threads that empty them."""

    def __init__(
        self, runtime: Runtime, threads: ThreadPoolExecutor, *, repeatable: bool = False, helped: bool = True
    ) -> None:
        """`repeatable`: each batch holds rows of one submission only. Equal submissions then get equal evaluations to
        the bit, independent of other submissions and of threads.

        `helped`: a thread that waits evaluates meanwhile, where the runtime allows any thread. With many that wait,
        each would take what is queued, and no batch would grow.
        """
        self._runtime = runtime
        self._threads = threads
        self._repeatable = repeatable
        self._helped = helped and runtime.any_thread
        self._lock = threading.Lock()
        self._queued = threading.Condition(self._lock)
        self._queues: dict[str, deque[_Waiting]] = {}
        self._rows: dict[str, int] = {}
        # Where the waiting thread helps, one thread fewer keeps all cores busy, and none waits for a core.
        self._max_threads = max(1, runtime.threads - 1) if self._helped else runtime.threads
        self._working = 0
        """Threads that were started and have not ended; while more than a few rows are queued, at least one."""
        self._idle = 0
        """Threads among them that wait for rows."""
        self._closed = False
        self._running: dict[str, int] = {}
        """Batches in evaluation of each net."""
        self._number = 0

    def submit(self, parts: Sequence[tuple[str, Piece]]) -> Submission:
        """Queue pieces, each for the net of its name; none may be empty.

        Raises `RuntimeError` if a thread is needed and cannot be started; nothing is queued then.
        """
        submission = Submission(self, sum(len(piece.rows) for _, piece in parts))
        with self._lock:
            self._number += 1
            for net, piece in parts:
                queue = self._queues.setdefault(net, deque())
                queue += [_Waiting(self._number, submission, part) for part in self._cut(piece)]
                self._rows[net] = self._rows.get(net, 0) + len(piece.rows)
            useful = sum(-(-rows // self._share()) for rows in self._rows.values())
            if self._helped and sum(self._rows.values()) <= _FEW:
                useful -= 1  # the waiting thread is one of them
            waking = min(useful, self._idle)
            if waking > 0:
                self._queued.notify(waking)
            starting = max(0, min(useful - waking, self._max_threads - self._working))
            self._working += starting
        started = 0
        try:
            for _ in range(starting):
                self._threads.submit(self._work)
                started += 1
        except RuntimeError:  # the executor was shut down, or gets no more threads
            with self._lock:
                self._working -= starting - started
                self._withdraw(submission)
            raise
        return submission

    def close(self) -> None:
        """Let threads end as soon as they have no work."""
        with self._lock:
            self._closed = True
            self._queued.notify_all()

    def _cut(self, piece: Piece) -> list[Piece]:
        """Return the pieces to queue for a piece: the whole, or its batches if they must be repeatable."""
        if not self._repeatable:
            return [piece]
        parts, rows = [], piece.rows
        while len(rows):
            count = best_count(len(rows), self._runtime.sizes)
            parts.append(piece._replace(rows=rows[:count]))
            rows = rows[count:]
        return parts

    def _withdraw(self, submission: Submission) -> None:
        """Remove the queued rows of a submission; under the lock."""
        for net, queue in self._queues.items():
            kept = [waiting for waiting in queue if waiting.submission is not submission]
            queue.clear()
            queue += kept
            self._rows[net] = sum(len(waiting.piece.rows) for waiting in kept)

    def help(self) -> bool:
        """Evaluate a batch on the calling thread if there is one and any thread may; return True if it did."""
        if not self._helped:
            return False
        with self._lock:
            batch = self._take()
        if batch is None:
            return False
        error = self._evaluate(batch)
        if isinstance(error, KeyboardInterrupt):
            raise error  # it was meant for this thread, even if the rows belong to others
        return True

    def _work(self) -> None:
        """Evaluate batches until the queues stay empty for a while."""
        while True:
            with self._lock:
                batch = self._take()
                if batch is None:
                    self._idle += 1
                    woken = not self._closed and self._queued.wait(_IDLE_S)
                    self._idle -= 1
                    batch = self._take()
                    if batch is None:
                        if woken:
                            continue
                        self._working -= 1
                        return
            self._evaluate(batch)

    def _evaluate(self, batch: Batch) -> BaseException | None:
        net, taken = batch
        error: BaseException | None = None
        try:
            self._runtime.evaluate(net, [piece for _, piece in taken])
        except BaseException as raised:
            error = raised
        with self._lock:
            self._running[net] -= 1
            for submission, piece in taken:
                submission.finish(len(piece.rows), error)
        return error

    def _take(self) -> Batch | None:
        """Take the next batch: of the net whose rows wait longest, as many of its oldest as make a good batch.

        A net that no thread evaluates comes first, so that two threads seldom need the same one.
        """
        waiting = [
            (self._running.get(net, 0), queue[0].number, -self._rows[net], net)
            for net, queue in self._queues.items()
            if queue
        ]
        if not waiting:
            return None
        net = min(waiting)[3]
        queue = self._queues[net]
        if self._repeatable:
            missing = len(queue[0].piece.rows)
        else:
            missing = best_count(min(self._rows[net], self._share()), self._runtime.sizes)
        self._rows[net] -= missing
        self._running[net] = self._running.get(net, 0) + 1
        taken = []
        while missing:
            first = queue[0]
            piece = first.piece
            if len(piece.rows) <= missing:
                queue.popleft()
                taken.append((first.submission, piece))
            else:
                taken.append((first.submission, piece._replace(rows=piece.rows[:missing])))
                first.piece = piece._replace(rows=piece.rows[missing:])
            missing -= len(taken[-1][1].rows)
        return net, taken

    def _share(self) -> int:
        """Return the rows that one thread may take of a net: an equal share of all that wait.

        With more it would leave too little to the others, for a search sends no new rows before all of a submission
        have ended. Where large batches are faster it is the largest batch.
        """
        if self._runtime.large_batches:
            return self._runtime.sizes[-1]
        return max(_FEW, -(-sum(self._rows.values()) // self._runtime.threads))
