"""Evaluators with known answers."""

import hashlib
import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.compiled import stones_of
from core.evaluation import DONE, Slot, Ticket
from core.position import Position
from core.rules import Rules

Answer = Callable[[NDArray[np.int8], int], tuple[NDArray[np.float32], float]]
"""Stones [A] and the side to move to logits [A] and a value."""


def remembered(answer: Answer) -> Answer:
    """Keep the answers, whose logits cannot be written then: a search, its twin and others ask for the same ones."""

    @lru_cache(1 << 15)
    def kept(stones: bytes, to_move: int) -> tuple[NDArray[np.float32], float]:
        logits, value = answer(np.frombuffer(stones, dtype=np.int8), to_move)
        logits.flags.writeable = False
        return logits, value

    return lambda stones, to_move: kept(stones.tobytes(), to_move)


@remembered
def hashed_answer(stones: NDArray[np.int8], to_move: int) -> tuple[NDArray[np.float32], float]:
    """Return logits and a value that look random and depend on the position alone."""
    digest = hashlib.blake2b(stones.tobytes() + (b"b" if to_move > 0 else b"w"), digest_size=8).digest()
    random = np.random.default_rng(int.from_bytes(digest, "little"))
    return random.normal(size=len(stones)).astype(np.float32), float(np.float32(random.uniform(-0.9, 0.9)))


def hashed_evaluation(position: Position) -> tuple[NDArray[np.float32], float]:
    """Return `hashed_answer` of a position."""
    return hashed_answer(stones_of(position), position.side_to_move)


class ScriptedEvaluator:
    """Answers at once with a function of stones [A] and side to move, and checks its input."""

    lanes = 1
    free_cores = 1
    version = 0
    last_moves = 0

    def __init__(self, rules: Rules, answer: Answer = hashed_answer) -> None:
        self.rules = rules
        self.answer = answer
        self.batches: list[int] = []
        self.keep = False
        self.seen: list[bytes] = []
        """With `keep`, every evaluated position, in order."""

    def submit(self, slot: Slot) -> Ticket:
        """See `core.evaluation.Evaluator`."""
        assert slot.count > 0
        self.batches.append(slot.count)
        for row in range(slot.count):
            stones, to_move = slot.positions.stones[row], int(slot.positions.to_move[row])
            assert (stones == 0).any(), "a full board reached the evaluator"
            if self.keep:
                self.seen.append(stones.tobytes())
            slot.logits[row], slot.values[row] = self.answer(stones, to_move)
        return DONE


class FailingEvaluator(ScriptedEvaluator):
    """Fails in batches `first` to `last`: a ticket that raises, no ticket, or values that are no numbers."""

    def __init__(self, rules: Rules, kind: str, first: int, last: float = math.inf) -> None:
        super().__init__(rules)
        self.kind, self.first, self.last = kind, first, last

    def submit(self, slot: Slot) -> Ticket:
        ticket = super().submit(slot)
        if not self.first <= len(self.batches) <= self.last:
            return ticket
        if self.kind == "refuses":
            raise RuntimeError("the queue is closed")
        slot.values[: 1 if self.first == self.last else None] = np.nan
        return self if self.kind == "raises" else ticket

    def result(self) -> None:
        raise RuntimeError("the device is gone")
