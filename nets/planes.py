"""How positions become the input planes of a net."""

import torch
from torch import Tensor

from core.rules import BLACK
from nets.config import Planes

PLANE_COUNT = {Planes.THREE: 3, Planes.FOUR: 4, Planes.FIVE: 5}


def encode(stones: Tensor, to_move: Tensor, last_moves: Tensor, planes: Planes, dtype: torch.dtype) -> Tensor:
    """The planes [B, P, D, D] of positions, channels last in memory, ones and zeros of `dtype`.

    `stones` [B, A] int8, `to_move` [B] int8, `last_moves` [B, 2] int16, as in `core.batch.PositionBatch`, on any
    device. Planes are from the side to move: own stones, the opponent's, the opponent's last move, and so on
    (`nets.config.Planes`).
    """
    batch, cells = stones.shape
    size = round(cells**0.5)
    result = torch.zeros((batch, cells, PLANE_COUNT[planes]), dtype=dtype, device=stones.device)
    side = to_move[:, None]
    result[:, :, 0] = stones == side
    result[:, :, 1] = stones == -side
    columns = torch.arange(cells, device=stones.device, dtype=last_moves.dtype)
    # A missing move is -1, which equals no column.
    result[:, :, 2] = last_moves[:, :1] == columns
    if planes is Planes.FIVE:
        result[:, :, 3] = last_moves[:, 1:] == columns
    if planes is not Planes.THREE:
        result[:, :, -1] = side == BLACK
    return result.view(batch, size, size, -1).permute(0, 3, 1, 2)
