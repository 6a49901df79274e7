"""Samples in the memory of a GPU: the processor then draws numbers, and neither reads nor turns the samples of a batch.

A step is mostly launches, and a thread that makes batches beside it takes Python's lock from them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from core.compiled.symmetry import sources, targets
from core.rules import NO_CELL
from curriculum.training.batches import Draw
from curriculum.training.devices import to_device
from curriculum.training.packed import SampleSet
from curriculum.training.samples import Samples
from nets.targets import Target, all_targets

_CHUNK = 20_000
"""Samples that are read at once."""
_SHARE = 0.5
"""Of the free memory, for samples; nets and their batches have the rest."""


class Batch(NamedTuple):
    """`B` samples on a device."""

    stones: Tensor
    """[B, A] int8"""
    to_move: Tensor
    """[B] int8"""
    last_moves: Tensor
    """[B, 2] int16"""
    targets: Mapping[str, Tensor]
    """By name, float32: see `Samples.targets`."""


def on_device(samples: Samples, wanted: Sequence[Target], device: torch.device) -> Batch:
    """Return samples with some targets on a device."""
    batch = samples.positions
    stones, to_move, last_moves = (to_device(each, device) for each in (batch.stones, batch.to_move, batch.last_moves))
    found = {each.name: to_device(samples.target(each), device) for each in wanted}
    return Batch(stones, to_move, last_moves, found)


def room(device: torch.device) -> int:
    """Return the bytes of a device that samples may take; 0 for a processor, where they are already."""
    return int(torch.cuda.mem_get_info(device)[0] * _SHARE) if device.type == "cuda" else 0


def bytes_of(count: int, cells: int, wanted: Sequence[Target]) -> int:
    """Return the memory of samples on a device."""
    return count * (cells + 5 + 4 * sum(int(np.prod(each.shape(cells))) for each in wanted))


class Resident:
    """Samples on a device, of which batches are drawn."""

    def __init__(self, parts: Sequence[SampleSet], size: int, copied: Callable[[Samples], Batch]) -> None:
        """Copy all samples of `parts`, in order, of boards of `size`. `copied`: returns some on the device."""
        count, cells = sum(map(len, parts)), size * size
        empty = copied(Samples.none(cells))
        rooms = [tensor.new_empty(count, *tensor.shape[1:]) for tensor in _tensors(empty)]
        first = 0
        for part in parts:
            for begin in range(0, len(part), _CHUNK):
                some = copied(part.rows(slice(begin, begin + _CHUNK)))
                for whole, tensor in zip(rooms, _tensors(some), strict=True):
                    whole[first : first + len(some.to_move)] = tensor
                first += len(some.to_move)
        stones, to_move, last_moves, *found = rooms
        self._all = Batch(stones, to_move, last_moves, dict(zip(empty.targets, found, strict=True)))
        self._begins = np.cumsum([0, *map(len, parts)])
        self._turned = {each.name for each in all_targets() if each.units is None}
        self._device = stones.device
        self._sources, self._targets = (to_device(maps(size).copy(), self._device) for maps in (sources, targets))

    def batch(self, draw: Draw) -> Batch:
        """Return the samples that were drawn, turned: those that `BatchSource.read` reads."""
        rows = np.concatenate([part + begin for part, begin in zip(draw.rows, self._begins[:-1], strict=True)])
        which, symmetries = to_device(rows, self._device), to_device(draw.symmetries, self._device)
        from_cells, to_cells = self._sources[symmetries], self._targets[symmetries]
        last_moves = self._all.last_moves[which]
        moved = to_cells.gather(1, last_moves.long().clamp(min=0)).to(last_moves.dtype)
        found = {name: tensor[which] for name, tensor in self._all.targets.items()}
        return Batch(
            self._all.stones[which].gather(1, from_cells),
            self._all.to_move[which],
            torch.where(last_moves == NO_CELL, last_moves, moved),
            {name: rows.gather(1, from_cells) if name in self._turned else rows for name, rows in found.items()},
        )


def _tensors(batch: Batch) -> Iterator[Tensor]:
    yield from (batch.stones, batch.to_move, batch.last_moves, *batch.targets.values())
