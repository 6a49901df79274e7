"""The runtime of line-pattern nets: kernels that evaluate a single position as fast as a batch. Needs no torch."""

import hashlib
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.compiled.line_nets.evaluation import LineNets, LineRoom, evaluate_lines, line_board, line_room
from core.cores import cores
from core.rules import Rules
from nets.config import Backend, NetConfig, Precision
from nets.dispatch import net_names
from nets.line_tables import line_net
from nets.runtimes.runtime import Piece


class LineRuntime:
    """Line-pattern nets as tables, which every thread reads."""

    backend = Backend.NUMBA
    precision = Precision.INT16
    sizes: tuple[int, ...] = (32,)
    any_thread = True
    large_batches = False
    free_cores = 1

    def __init__(
        self, config: NetConfig, rules: Rules, arrays: Mapping[str, NDArray[Any]], *, shared: bool = False
    ) -> None:
        """`arrays`: the tensors of the model, by their names in its file. The tables take up to half a second.

        `shared`: with tables from files of the user's cache, which other processes use too (`nets.line_tables`).
        """
        layers = config.layers(rules.size)
        names = net_names(config)
        weights = [{name: arrays[f"{net}.{name}"] for name, _ in layers.tensors()} for net in names]
        with ThreadPoolExecutor(len(names)) as pool:
            self._nets = dict(zip(names, pool.map(partial(line_net, layers, shared=shared), weights), strict=True))
        digest = hashlib.blake2b(f"{config} {self.backend}".encode(), digest_size=8)
        for name in sorted(arrays):
            digest.update(np.ascontiguousarray(arrays[name]).tobytes())
        self.version = int.from_bytes(digest.digest()) >> 1
        """Of the evaluations (`core.evaluation.Evaluator.version`)."""
        self._board = line_board(rules.size)
        self.lines = LineNets(self._nets[names[0]], self._nets[names[-1]], self._board)
        """The nets as a search takes them."""
        self._rooms = threading.local()
        self.lanes = self.threads = cores()

    def evaluate(self, net: str, pieces: Sequence[Piece]) -> None:
        """See `Runtime`."""
        tables = self._nets[net]
        for rows, positions, logits, values in pieces:
            stones, to_move = positions.stones, positions.to_move
            evaluate_lines(tables, self._board, self._room(net), stones, to_move, rows, logits, values)

    def _room(self, net: str) -> LineRoom:
        """Return this thread's memory. Nets of a model have the same shapes."""
        try:
            room: LineRoom = self._rooms.room
        except AttributeError:
            room = self._rooms.room = line_room(self._nets[net], self._board)
        return room
