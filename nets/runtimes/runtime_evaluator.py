"""`RuntimeEvaluator`: the evaluator on top of any runtime, with its threads and batches. Needs no torch.

`nets.runtimes.net_evaluator.NetEvaluator` adds the choice of a runtime for a model in memory.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.allocator import keep_freed_memory
from core.compiled.line_nets.evaluation import LineNets
from core.cores import Threads
from core.evaluation import PositionBatch, Slot
from core.rules import WHITE
from nets.config import LAST_MOVES, NetConfig, note_use
from nets.dispatch import rows_by_net
from nets.runtimes.batching import Batcher, Submission
from nets.runtimes.runtime import Piece, Reloads, Runtime


class RuntimeEvaluator:
    """Evaluates positions with the nets of a runtime; a `core.evaluation.Evaluator` that can prepare."""

    def __init__(
        self,
        runtime: Runtime,
        config: NetConfig,
        cells: int,
        version: int,
        *,
        repeatable: bool = False,
        helped: bool = True,
        on_thread: Callable[[], None] | None = None,
    ) -> None:
        """`repeatable`, `helped`: see `nets.runtimes.batching.Batcher`.

        Each evaluating thread first calls `on_thread`.
        """
        keep_freed_memory()
        self.runtime = runtime
        note_use(backend=runtime.backend.value, precision=runtime.precision.value)
        self.lanes = runtime.lanes
        """Batches that it can work on side by side."""
        self.free_cores = runtime.free_cores
        """Threads that it leaves to the search."""
        self.version = version
        """63 bits of the weights and of the runtime: they differ where evaluations may differ."""
        self.last_moves = LAST_MOVES[config.planes]
        """Number of last moves in the nets' input."""
        self._dual = config.dual
        self.cells = cells
        """Cells of the board."""
        # Threads of the executor are joined at the interpreter's exit; one inside torch then would abort it.
        self._threads = Threads(runtime.threads, "net", on_thread)
        self._batcher = Batcher(runtime, self._threads, repeatable=repeatable, helped=helped)

    @property
    def lines(self) -> LineNets | None:
        """The nets for a search that evaluates its leaves itself; None for nets that need batches."""
        found: LineNets | None = getattr(self.runtime, "lines", None)
        return found

    def submit(self, slot: Slot) -> Submission:
        """Start to evaluate the first `slot.count` positions; see `core.evaluation.Evaluator`."""
        positions, logits, values = slot.positions, slot.logits, slot.values
        parts = rows_by_net(positions.to_move[: slot.count], self._dual)
        return self._batcher.submit([(net, Piece(rows, positions, logits, values)) for net, rows in parts])

    def evaluate(self, positions: PositionBatch) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return logits [B, A] and values [B] for the side to move."""
        count = len(positions)
        logits, values = np.empty(positions.stones.shape, np.float32), np.empty(count, np.float32)
        self.submit(Slot(positions, logits, values, count)).result()
        return logits, values

    def prepare(self, rows: int) -> None:
        """Make ahead all that the evaluation of up to `rows` positions at once makes at its first use.

        May run at the same time as submissions, on a thread of its own.
        """
        sizes = self.runtime.sizes
        largest = next((size for size in sizes if size >= rows), sizes[-1])
        making = []
        for size in sizes[: sizes.index(largest) + 1]:
            blank = Slot.with_capacity(2 * size, self.cells)
            blank.positions.to_move[size:] = WHITE
            for net, part in rows_by_net(blank.positions.to_move, self._dual):
                # On the runtime's own threads, since not every runtime may evaluate on others.
                piece = Piece(part[:size], blank.positions, blank.logits, blank.values)
                making.append(self._threads.submit(self.runtime.evaluate, net, [piece]))
        for made in making:
            made.result()

    def close(self) -> None:
        """Join the threads."""
        self._batcher.close()
        self._threads.shutdown()
        if isinstance(self.runtime, Reloads):
            self.runtime.close()
