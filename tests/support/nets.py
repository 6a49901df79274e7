"""Small nets with batch-norm statistics, random positions, and evaluators on the CPU."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from core.evaluation import PositionBatch, Slot
from core.rules import BLACK, WHITE, Rules
from nets.checkpoint import save_model
from nets.config import Backend, NetConfig, Planes, Precision, RuntimeChoice, RuntimeNotice
from nets.dual import DualNet, make_model
from nets.runtimes.net_evaluator import NetEvaluator

RULES = Rules(9, 5)
TINY = NetConfig.tower(4, 1, hidden=8)
SMALL = NetConfig.tower(4, 1)
LINES = NetConfig(
    planes=Planes.TWO, trunk=("lines-32", "spread"), policy_head=("cells",), value_head=("regions-15-16",)
)
EXACT = RuntimeChoice(backend=Backend.TORCH, precision=Precision.FP32)
CPU = torch.device("cpu")


def random_batch(count: int, rules: Rules = RULES, seed: int = 0) -> PositionBatch:
    """Stones at random; black and white to move in equal parts and in no order."""
    random = np.random.default_rng(seed)
    batch = PositionBatch.empty(count, rules.cells)
    batch.stones[:] = random.choice([0, 0, 0, BLACK, WHITE], size=batch.stones.shape)
    batch.to_move[:] = np.where(random.permutation(count) % 2 == 0, BLACK, WHITE)
    batch.last_moves[:] = random.integers(-1, rules.cells, size=(count, 2))
    return batch


def as_tensors(batch: PositionBatch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The batch as arguments of a model."""
    return torch.from_numpy(batch.stones), torch.from_numpy(batch.to_move), torch.from_numpy(batch.last_moves)


def slot_of(batch: PositionBatch, capacity: int | None = None) -> Slot:
    """A slot with the positions of a batch."""
    slot = Slot.with_capacity(capacity or len(batch), batch.stones.shape[1])
    slot.count = len(batch)
    for name in ("stones", "to_move", "last_moves"):
        getattr(slot.positions, name)[: slot.count] = getattr(batch, name)
    return slot


def model_of(config: NetConfig = TINY, rules: Rules = RULES, seed: int = 1) -> DualNet:
    """A model whose batch norms have statistics."""
    model, batch = make_model(config, rules, seed).train(), random_batch(64, rules, seed)
    with torch.no_grad():
        model(*as_tensors(batch))
    return model.eval()


def save_small_model(path: Path, rules: Rules, config: NetConfig = SMALL) -> Path:
    """Write a file of a net with random weights."""
    save_model(path, make_model(config, rules, 1), {})
    return path


def evaluator_of(model: DualNet, backend: str = "torch", precision: str = "fp32") -> NetEvaluator:
    """An evaluator with this runtime on the CPU; skips the test if it is not installed."""
    if backend != "torch":
        pytest.importorskip(backend, exc_type=ImportError)
    choice = RuntimeChoice(backend=Backend(backend), precision=Precision(precision))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeNotice)
        evaluator = NetEvaluator(model, choice, device=CPU)
    if (evaluator.runtime.backend, evaluator.runtime.precision) != (backend, precision):
        pytest.skip(f"no {precision} by {backend} on this machine")
    return evaluator


def priors(logits: NDArray[np.float32], batch: PositionBatch) -> NDArray[np.float32]:
    """The softmax over the empty cells."""
    masked = np.where(batch.stones == 0, logits, -np.inf)
    weights = np.exp(masked - masked.max(axis=1, keepdims=True))
    result: NDArray[np.float32] = weights / weights.sum(axis=1, keepdims=True)
    return result
