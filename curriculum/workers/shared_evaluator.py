"""The evaluator of a process that plays, whose nets run in another process: positions and evaluations in shared memory.

A message over a pipe names the room of a batch; its arrays lie in memory of both processes. That memory has no name,
so nothing of it is left behind, however the processes end.
"""

import mmap
import os
import threading
import weakref
from collections import defaultdict, deque
from contextlib import suppress
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np

from core.cores import cores
from core.errors import FailedError
from core.evaluation import PositionBatch, Slot
from core.rules import Rules
from nets.checkpoint import read_info
from nets.config import default_runtime

_LEAST_ROWS = 64
"""Rooms have this many rows, or twice as many, and so on: few kinds serve all batches."""


class EvaluatorEndedError(FailedError, RuntimeError):
    """The process that evaluates has ended by itself."""


class Open(NamedTuple):
    """Request for an evaluator of a model file, whose number is that of the request.

    The answer is its `lanes`, `version` and `last_moves`: see `core.evaluation.Evaluator`.
    """

    model: Path
    rules: Rules | None
    repeatable: bool


class Close(NamedTuple):
    """Request to let go of an evaluator, without an answer."""

    evaluator: int


class NewRoom(NamedTuple):
    """Request to share a room, whose number is that of the request; its descriptor follows. There is no answer."""

    capacity: int
    cells: int


class Evaluate(NamedTuple):
    """Request to evaluate the first positions in a room. The answer is None, or the error."""

    evaluator: int
    room: int
    rows: int


class Room(Slot):
    """A slot in shared memory."""

    __slots__ = ("number",)
    number: int

    @staticmethod
    def bytes_of(capacity: int, cells: int) -> int:
        """Return the size of its memory."""
        return capacity * (5 * cells + 9)

    @classmethod
    def at(cls, descriptor: int, capacity: int, cells: int) -> "Room":
        """Return the room in the memory of a descriptor, which is closed."""
        memory = mmap.mmap(descriptor, cls.bytes_of(capacity, cells))
        os.close(descriptor)
        start = 0

        def array(dtype: type[np.generic], *shape: int) -> Any:
            nonlocal start
            made = np.ndarray(shape, dtype, memory, start)
            start += made.nbytes
            return made

        logits, values = array(np.float32, capacity, cells), array(np.float32, capacity)
        last_moves, to_move = array(np.int16, capacity, 2), array(np.int8, capacity)
        return cls(PositionBatch(array(np.int8, capacity, cells), to_move, last_moves), logits, values)


def _new_memory(size: int) -> int:
    """Return the descriptor of new memory without a name."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("gomoku")
    else:
        with TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return descriptor


class EvaluatorLink:
    """The way to the process that evaluates, for all threads of a process that plays."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._numbers = count()
        self._sending, self._receiving = threading.Lock(), threading.Lock()
        self._answers: dict[int, Any] = {}
        self._rooms: defaultdict[tuple[int, int], list[Room]] = defaultdict(list)
        """Rooms that nobody uses, by capacity and cells."""
        self.unused: deque[int] = deque()
        """Evaluators to let go of. The garbage collector puts them here, and must not wait for a lock."""

    def send(self, message: NamedTuple, descriptor: int | None = None) -> int:
        """Send a request, and a descriptor after it; return the request's number. Raises `EvaluatorEndedError`."""
        try:
            with self._sending:
                while self.unused:
                    self._connection.send((next(self._numbers), Close(self.unused.popleft())))
                number = next(self._numbers)
                self._connection.send((number, message))
                if descriptor is not None:
                    send_handle(self._connection, descriptor, 0)
        except OSError as error:
            raise EvaluatorEndedError("the process that evaluates has ended") from error
        return number

    def answer(self, number: int) -> Any:
        """Wait for the answer to a request. Raises its error, and `EvaluatorEndedError`."""
        while True:
            with self._receiving:
                if number in self._answers:
                    answer = self._answers.pop(number)
                    break
                try:
                    found, answer = self._connection.recv()
                except (EOFError, OSError) as error:
                    raise EvaluatorEndedError("the process that evaluates has ended") from error
                self._answers[found] = answer
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def take_room(self, rows: int, cells: int) -> Room:
        """Return a room for some rows that nobody uses; give it back."""
        capacity = max(_LEAST_ROWS, 1 << (rows - 1).bit_length())
        with suppress(IndexError):
            return self._rooms[capacity, cells].pop()
        descriptor = _new_memory(Room.bytes_of(capacity, cells))
        number = self.send(NewRoom(capacity, cells), descriptor)
        room = Room.at(descriptor, capacity, cells)
        room.number = number
        return room

    def give_back(self, room: Room) -> None:
        """End the use of a room."""
        self._rooms[room.logits.shape].append(room)


class _SharedTicket:
    def __init__(self, link: EvaluatorLink, number: int, slot: Slot, room: Room) -> None:
        self._link, self._number, self._slot, self._room = link, number, slot, room

    def result(self) -> None:
        """See `core.evaluation.Ticket`."""
        slot, room = self._slot, self._room
        try:
            self._link.answer(self._number)
            slot.logits[: slot.count] = room.logits[: slot.count]
            slot.values[: slot.count] = room.values[: slot.count]
        finally:
            self._link.give_back(room)


class SharedEvaluator:
    """See `core.evaluation.Evaluator`."""

    def __init__(self, link: EvaluatorLink, model: Path, rules: Rules | None, *, repeatable: bool) -> None:
        """Raises the error of the other process, such as `CheckpointError`."""
        self._link = link
        self._number = link.send(Open(model.resolve(), rules, repeatable))
        self.lanes, self.version, self.last_moves = link.answer(self._number)
        self.free_cores = cores()
        """All of this process: its nets take none."""
        self._end = weakref.finalize(self, link.unused.append, self._number)
        self._end.atexit = False

    def submit(self, slot: Slot) -> _SharedTicket:
        """See `core.evaluation.Evaluator`."""
        rows, positions = slice(slot.count), slot.positions
        room = self._link.take_room(slot.count, positions.stones.shape[1])
        room.positions.stones[rows] = positions.stones[rows]
        room.positions.to_move[rows] = positions.to_move[rows]
        room.positions.last_moves[rows] = positions.last_moves[rows]
        return _SharedTicket(self._link, self._link.send(Evaluate(self._number, room.number, slot.count)), slot, room)

    def close(self) -> None:
        """Let go of it, with the next request at the latest."""
        self._end()


_link: EvaluatorLink | None = None


def use_evaluator(connection: Connection) -> None:
    """Let the process at the other end of a connection evaluate for this process from now on."""
    global _link
    _link = EvaluatorLink(connection)


def shared_evaluator(model: Path, rules: Rules | None = None, *, repeatable: bool = True) -> SharedEvaluator | None:
    """Return an evaluator of a model file in the process that evaluates for this one; None if this one has to.

    It has to without such a process, and where the search evaluates its own leaves. `repeatable`: see
    `nets.runtimes.batching.Batcher`. Raises `CheckpointError`, and the error of the other process.
    """
    if _link is None or default_runtime().runs_in_kernels(read_info(model).net):
        return None
    return SharedEvaluator(_link, model, rules, repeatable=repeatable)
