"""The kernel that writes input planes, against the planes of training."""

import numpy as np
import pytest
import torch

from core.evaluation import write_planes
from nets.config import COLOUR_PLANES, LAST_MOVES, PLANE_COUNT, Planes
from nets.planes import encode
from tests.support.nets import as_tensors, random_batch


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("kind", Planes)
def test_planes_of_some_rows_are_those_of_training_and_other_rows_stay(kind: Planes, copies: int) -> None:
    batch, rows = random_batch(12), np.array([7, 0, 11, 3])
    batch.last_moves[0] = -1
    expected = encode(*as_tensors(batch), kind, torch.float32).permute(0, 2, 3, 1).flatten(1, 2).numpy()[rows]
    cells, count = batch.stones.shape[1], PLANE_COUNT[kind]
    kinds = (LAST_MOVES[kind], COLOUR_PLANES[kind], copies)
    planes = np.full((6, cells, copies * count), 5, np.float32)
    write_planes(batch.stones, batch.to_move, batch.last_moves, rows, planes, 1, kinds, np.float32(1))
    for copy in range(copies):
        assert np.array_equal(planes[1:5, :, copy * count : (copy + 1) * count], expected)
    assert np.all(planes[[0, 5]] == 5)
    bits = np.full((4, cells, copies * count), 7, np.uint16)
    write_planes(batch.stones, batch.to_move, batch.last_moves, rows, bits, 0, kinds, np.uint16(0x3F80))
    assert np.array_equal(bits, np.where(planes[1:5] == 1, 0x3F80, 0))
