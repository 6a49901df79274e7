"""Input planes of a net, made from positions."""

import math

import torch
from torch import Tensor

from core.rules import BLACK
from nets.config import COLOUR_PLANES, LAST_MOVES, Planes


def encode(stones: Tensor, to_move: Tensor, last_moves: Tensor, planes: Planes, dtype: torch.dtype) -> Tensor:
    """Return the planes [B, P, D, D] of positions, channels last in memory, ones and zeros of `dtype`.

    `stones` [B, A] int8, `to_move` [B] int8, `last_moves` [B, 2] int16, as in `core.evaluation.PositionBatch`, on any
    device. Planes are from the side to move: own stones, the opponent's, the opponent's last move, and so on
    (`nets.config.Planes`).
    """
    cells = int(stones.shape[1])
    size = math.isqrt(cells)
    side = to_move[:, None]
    columns = torch.arange(cells, device=stones.device, dtype=last_moves.dtype)
    # A missing move is -1, which equals no column.
    parts = [stones == side, stones == -side]
    parts += [last_moves[:, back : back + 1] == columns for back in range(LAST_MOVES[planes])]
    if COLOUR_PLANES[planes]:
        parts.append((side == BLACK).expand(-1, cells))
    # Stacked last and then permuted: channels last in memory.
    result = torch.stack(parts, dim=-1).to(dtype)
    return result.view(-1, size, size, len(parts)).permute(0, 3, 1, 2)
