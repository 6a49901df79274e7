"""Shares and sizes of batches: each row goes to its net, and a net of a fixed size to one thread at a time."""

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.evaluation import PositionBatch
from nets.runtimes import runtime
from nets.runtimes.runtime import Piece, SizedNets, best_count


@given(queued=st.integers(1, 300), sizes=st.sets(st.integers(1, 128), min_size=1).map(sorted))
def test_a_batch_is_never_empty_nor_too_large_and_wastes_little(queued: int, sizes: list[int]) -> None:
    count = best_count(queued, sizes)
    assert 1 <= count <= min(queued, sizes[-1])
    if count not in sizes:
        assert count == queued, "rows were left though they had room"
        larger = min(size for size in sizes if size > count)
        assert count < sizes[0] or len(sizes) == 1 or larger - count <= max(1, 0.1 * larger)


def test_a_batch_fills_a_size_unless_all_rows_nearly_fill_the_next() -> None:
    sizes = (1, 2, 4, 8, 16, 32)
    assert [best_count(queued, sizes) for queued in (1, 3, 5, 7, 14, 15, 28, 29, 32, 33, 900)] == [
        *(1, 3, 4, 7, 8, 15, 16, 29, 32, 32, 32)
    ]
    assert [best_count(queued, (256,)) for queued in (1, 100, 256, 300)] == [1, 100, 256, 256]


@pytest.mark.parametrize("making_s", [0.0, 10.0])
def test_a_net_of_a_fixed_size_is_lent_to_one_thread_at_a_time(
    making_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "_MAKING_S", making_s)

    class Slow:
        """Answers with the number of stones, and notices when two threads are in it."""

        def __init__(self, size: int) -> None:
            self._stones = np.zeros((size, 9), np.int8)
            self.logits, self.values = np.zeros((size, 9), np.float32), np.zeros(size, np.float32)
            self._inside = threading.Lock()

        def put(self, first: int, piece: Piece) -> None:
            self._stones[first : first + len(piece.rows)] = piece.positions.stones[piece.rows]

        def run(self) -> None:
            assert self._inside.acquire(blocking=False), "two threads in one"
            time.sleep(0.005)
            self.values[:] = self._stones.sum(axis=1)
            self._inside.release()

    made: list[int] = []

    def make(net: str, size: int) -> Slow:
        made.append(size)
        return Slow(size)

    nets, batch = SizedNets(make, [4, 8]), PositionBatch.empty(32, 9)
    batch.stones[:] = np.arange(32, dtype=np.int8)[:, None]
    logits, values = np.zeros((32, 9), np.float32), np.zeros(32, np.float32)

    def work(rows: NDArray[np.intp]) -> Callable[[], None]:
        pieces = [Piece(part, batch, logits, values) for part in (rows[:3], rows[3:])]
        return lambda: nets.evaluate("black", pieces)

    threads = [threading.Thread(target=work(rows)) for rows in np.array_split(np.arange(32), 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(values, 9 * np.arange(32))
    if making_s:
        assert len(made) == 1, "to wait was cheaper"
    else:
        assert 2 <= len(made) <= 4
    assert set(made) == {8}, "the smallest that holds all pieces"
