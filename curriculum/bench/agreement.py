"""Agreement of a runtime's evaluations with those of torch in float32 on the processor."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import special

from core.evaluation import PositionBatch
from core.position import Position
from core.rules import Rules
from core.streams import generator
from nets.config import Backend, Precision, RuntimeChoice
from nets.dual import DualNet
from nets.runtimes.net_evaluator import NetEvaluator

POSITIONS = 10_000
CPU = torch.device("cpu")
_GAMES = 256
_DRAWN = 10
"""First moves of a game that are drawn."""


def priors(logits: NDArray[np.float32], positions: PositionBatch) -> NDArray[np.float32]:
    """Return the softmax [B, A] over the empty cells."""
    shares: NDArray[np.float32] = special.softmax(np.where(positions.stones == 0, logits, -np.inf), axis=1)
    return shares


def own_games(evaluator: NetEvaluator, rules: Rules, count: int) -> PositionBatch:
    """Return `count` positions of games, shuffled: first moves drawn from the model's priors, then its top moves."""
    random = generator(1)
    found: list[PositionBatch] = []
    games = [Position(rules) for _ in range(_GAMES)]
    while sum(map(len, found)) < count:
        batch = PositionBatch.from_positions(games, rules)
        found.append(batch)
        shares = priors(evaluator.evaluate(batch)[0], batch).astype(np.float64)
        for index, (game, share) in enumerate(zip(games, shares, strict=True)):
            drawn = game.ply < _DRAWN
            game.push(int(random.choice(rules.cells, p=share / share.sum()) if drawn else share.argmax()))
            if game.is_game_over():
                games[index] = Position(rules)
    positions = PositionBatch.concatenate(found)
    return positions.rows(generator(1).permutation(len(positions))[:count])


class Exact:
    """Positions with their exact evaluations."""

    def __init__(self, evaluator: NetEvaluator, positions: PositionBatch) -> None:
        self.positions = positions
        logits, self._values = evaluator.evaluate(positions)
        self._priors = priors(logits, positions)

    def errors(self, evaluator: NetEvaluator) -> dict[str, float]:
        """Return the worst error of a prior and of a value, and the percentage of equal top moves."""
        logits, values = evaluator.evaluate(self.positions)
        found = priors(logits, self.positions)
        return {
            "prior": float(np.abs(found - self._priors).max()),
            "value": float(np.abs(values - self._values).max()),
            "top_move_percent": 100 * float((found.argmax(axis=1) == self._priors.argmax(axis=1)).mean()),
        }


def agreements(
    model: DualNet, runtimes: Iterable[tuple[torch.device, RuntimeChoice]], count: int
) -> Iterator[dict[str, Any]]:
    """Yield for each runtime its errors on `count` positions of the model's games, and the seconds until it is open."""
    exact = NetEvaluator(model, RuntimeChoice(backend=Backend.TORCH, precision=Precision.FP32), device=CPU)
    known = Exact(exact, own_games(exact, model.rules, count))
    exact.close()
    for device, choice in runtimes:
        start = time.perf_counter()
        evaluator = NetEvaluator(model, choice, device=device)
        ready = time.perf_counter() - start
        precision = evaluator.runtime.precision.value
        yield {"precision": precision, "seconds_to_open": ready, **known.errors(evaluator)}
        evaluator.close()
