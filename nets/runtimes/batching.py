"""Batches for the runtime, cut from whatever waits: rows of one net, of several slots where one does not fill a batch.

A batch that is nearly empty costs much more a position than a full one. What a search submits is of any size and mixes
colours, so each net has a queue of its own, and whoever is free takes as many of its oldest rows as make a good batch.

Which rows meet in a batch then hangs on timing, and the last bits of a judgement may hang on the batch. Where that must
not be, submissions are cut when they come, each on its own.
"""

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from nets.runtimes.runtime import Piece, Runtime, best_count

_FEW = 16
"""Rows so few that whoever waits for them had better judge some itself than wait for a thread to wake up."""


class Submission:
    """Rows under way together: the ticket of `core.evaluation.Evaluator.submit`."""

    def __init__(self, batcher: "Batcher", rows: int) -> None:
        self._batcher = batcher
        self._left = rows
        self._error: BaseException | None = None
        self._done = threading.Event()
        if not rows:
            self._done.set()

    def finish(self, rows: int, error: BaseException | None) -> None:
        """Counts rows as judged, or as failed; under the batcher's lock."""
        self._left -= rows
        self._error = self._error or error
        if not self._left:
            self._done.set()

    def result(self) -> None:
        """Waits until all rows are judged. Raises the first error, after all of them have ended."""
        while not self._done.is_set() and self._batcher.help_with_few():
            pass
        self._done.wait()
        if self._error:
            raise self._error


@dataclass(slots=True)
class _Waiting:
    """What is left of a submission for one net."""

    number: int
    """Of the submission; older ones go first."""
    submission: Submission
    piece: Piece


Batch = tuple[str, list[tuple[Submission, Piece]]]


class Batcher:
    """The queues of a runtime's nets, and the threads that empty them."""

    def __init__(self, runtime: Runtime, threads: ThreadPoolExecutor, *, repeatable: bool = False) -> None:
        """`repeatable`: what a batch is made of depends on one submission alone, so that the same submissions get the
        same answers to the bit, whatever else is under way and whichever threads judge."""
        self._runtime = runtime
        self._threads = threads
        self._repeatable = repeatable
        self._lock = threading.Lock()
        self._queues: dict[str, deque[_Waiting]] = {}
        self._rows: dict[str, int] = {}
        self._working = 0
        """Threads that were started and have not ended; while more than a few rows are queued, at least one."""
        self._judging = 0
        """Batches under way."""
        self._number = 0

    def submit(self, parts: Sequence[tuple[str, Piece]]) -> Submission:
        """Queues pieces, each for the net of its name; none may be empty.

        Raises `RuntimeError` where a thread is needed and cannot be had; nothing is queued then.
        """
        submission = Submission(self, sum(len(piece.rows) for _, piece in parts))
        with self._lock:
            self._number += 1
            for net, piece in parts:
                queue = self._queues.setdefault(net, deque())
                queue += [_Waiting(self._number, submission, part) for part in self._cut(piece)]
                self._rows[net] = self._rows.get(net, 0) + len(piece.rows)
            share = self._runtime.sizes[-1] if len(self._queues) > 1 else _FEW
            wanted = sum(-(-rows // share) for rows in self._rows.values())
            if self._runtime.any_thread and sum(self._rows.values()) <= _FEW:
                wanted -= 1  # one is for whoever waits
            starting = max(0, min(wanted, self._runtime.threads - self._working))
            self._working += starting
        started = 0
        try:
            for _ in range(starting):
                self._threads.submit(self._work)
                started += 1
        except RuntimeError:  # of an executor that was shut down, or that gets no more threads
            with self._lock:
                self._working -= starting - started
                self._withdraw(submission)
            raise
        return submission

    def _cut(self, piece: Piece) -> list[Piece]:
        """The piece as it is queued: where batches must be repeatable as those that it will be judged in."""
        if not self._repeatable:
            return [piece]
        parts, rows = [], piece.rows
        while len(rows):
            count = best_count(len(rows), self._runtime.sizes)
            parts.append(piece._replace(rows=rows[:count]))
            rows = rows[count:]
        return parts

    def _withdraw(self, submission: Submission) -> None:
        """Takes back what is queued of a submission; under the lock."""
        for net, queue in self._queues.items():
            kept = [waiting for waiting in queue if waiting.submission is not submission]
            queue.clear()
            queue += kept
            self._rows[net] = sum(len(waiting.piece.rows) for waiting in kept)

    def help_with_few(self) -> bool:
        """Judges a batch on the calling thread if there are but few rows in the queues; whether it did."""
        with self._lock:
            few = self._runtime.any_thread and 0 < sum(self._rows.values()) <= _FEW
            batch = self._take() if few else None
        if batch is None:
            return False
        error = self._judge(batch)
        if isinstance(error, KeyboardInterrupt):
            raise error  # it was for this thread, whosever rows these were
        return True

    def _work(self) -> None:
        """Judges until nothing is queued."""
        while True:
            with self._lock:
                batch = self._take()
                if batch is None:
                    self._working -= 1
                    return
            self._judge(batch)

    def _judge(self, batch: Batch) -> BaseException | None:
        net, taken = batch
        error: BaseException | None = None
        try:
            self._runtime.judge(net, [piece for _, piece in taken])
        except BaseException as raised:
            error = raised
        with self._lock:
            self._judging -= 1
            for submission, piece in taken:
                submission.finish(len(piece.rows), error)
        return error

    def _take(self) -> Batch | None:
        """The next batch: of the net whose rows wait longest, as many of its oldest as are good to judge at once."""
        waiting = [(queue[0].number, -self._rows[net], net) for net, queue in self._queues.items() if queue]
        if not waiting:
            return None
        net = min(waiting)[2]
        queue = self._queues[net]
        if self._repeatable:
            wanted = len(queue[0].piece.rows)
        else:
            wanted = best_count(self._share_of(net), self._runtime.sizes)
        self._rows[net] -= wanted
        self._judging += 1
        taken = []
        while wanted:
            first = queue[0]
            piece = first.piece
            if len(piece.rows) <= wanted:
                queue.popleft()
                taken.append((first.submission, piece))
            else:
                taken.append((first.submission, piece._replace(rows=piece.rows[:wanted])))
                first.piece = piece._replace(rows=piece.rows[wanted:])
            wanted -= len(taken[-1][1].rows)
        return net, taken

    def _share_of(self, net: str) -> int:
        """The rows of a net that one thread may take: all, or of a model's only net as many as others on their way."""
        if len(self._queues) > 1:
            return self._rows[net]
        return -(-self._rows[net] // max(1, self._working - self._judging))
