"""The runtime for GPUs: with stand-ins for its buffers on any machine, and on a real GPU if there is one."""

import numpy as np
import pytest
import torch

from core.evaluation import PositionBatch
from core.rules import Rules
from nets.config import NetConfig, Precision, RuntimeChoice, RuntimeNotice
from nets.dual import DualNet
from nets.runtimes import cuda
from nets.runtimes.inference import InferenceNet, example_positions
from nets.runtimes.net_evaluator import NetEvaluator
from nets.runtimes.runtime import CopiesPositions
from tests.support.nets import CPU, evaluator_of, model_of, priors, random_batch


class _ProcessorBuffers(CopiesPositions):
    """A stand-in for a net on a GPU: the same arrays, evaluated by torch on the CPU."""

    fails_to_capture = False
    made: list[tuple[int, "_ProcessorBuffers"]]

    def __init__(self, net: InferenceNet, size: int, cells: int, device: torch.device) -> None:
        self._net = net
        self._inputs = example_positions(size, cells)
        self.positions = PositionBatch(*(tensor.numpy() for tensor in self._inputs))
        self.logits, self.values = np.empty((size, cells), np.float32), np.empty(size, np.float32)
        self.made.append((size, self))
        self.captured = False

    def capture(self) -> None:
        if self.fails_to_capture:
            raise RuntimeError("operation not permitted\nwhen stream is capturing")
        self.captured = True

    def run(self) -> None:
        logits, values = self._net(*self._inputs)
        self.logits[:], self.values[:] = logits.numpy(), values.numpy()


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> type[_ProcessorBuffers]:
    """A GPU of torch on the CPU."""
    monkeypatch.setattr(_ProcessorBuffers, "made", [], raising=False)
    monkeypatch.setattr(cuda, "_Buffers", _ProcessorBuffers)
    return _ProcessorBuffers


def on_card(model: DualNet, monkeypatch: pytest.MonkeyPatch, precision: Precision = Precision.FP32) -> NetEvaluator:
    """An evaluator with the runtime for GPUs."""
    runtime = cuda.CudaRuntime(model, precision, CPU)
    monkeypatch.setattr("nets.runtimes.net_evaluator.open_runtime", lambda *_: runtime)
    return NetEvaluator(model)


@pytest.mark.parametrize("dual", [True, False])
def test_a_gpu_gets_each_row_to_its_net_and_the_answer_back(
    dual: bool, card: type[_ProcessorBuffers], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(NetConfig.tower(4, 1, hidden=8, dual=dual))
    exact, evaluator = evaluator_of(model), on_card(model, monkeypatch)
    for count in (1, 2, 9, 70, 333, 5000):
        batch = random_batch(count, seed=count)
        for answers, expected in zip(evaluator.evaluate(batch), exact.evaluate(batch), strict=True):
            assert np.allclose(answers, expected, atol=1e-4)
    assert {size for size, _ in card.made} <= set(cuda.SIZES)
    assert all(sized.captured for _, sized in card.made)


@pytest.mark.parametrize(("precision", "tolerance"), [(Precision.FP16, 2e-3), (Precision.BF16, 2e-2)])
def test_half_precision_on_a_gpu_is_close_to_float32(
    precision: Precision, tolerance: float, card: type[_ProcessorBuffers], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, batch = model_of(), random_batch(20)
    exact, evaluator = evaluator_of(model).evaluate(batch), on_card(model, monkeypatch, precision).evaluate(batch)
    difference = np.abs(priors(evaluator[0], batch) - priors(exact[0], batch)).max()
    assert 0 < difference < tolerance
    assert np.abs(evaluator[1] - exact[1]).max() < tolerance


def test_a_gpu_holds_a_size_of_a_net_once_for_each_thread_that_needs_it(
    card: type[_ProcessorBuffers], monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator, batch = on_card(model_of(), monkeypatch), random_batch(16)
    for _ in range(5):
        evaluator.evaluate(batch)
    assert [size for size, _ in card.made] == [8, 8], "one for each net"


def test_without_cuda_graphs_a_gpu_evaluates_the_same_after_one_notice(
    card: type[_ProcessorBuffers], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card, "fails_to_capture", True)
    model, batch = model_of(), random_batch(100)
    exact, evaluator = evaluator_of(model), on_card(model, monkeypatch)
    with pytest.warns(RuntimeNotice, match=r"cannot be captured \(operation not permitted\)") as notices:
        answers = evaluator.evaluate(batch)
    assert len(notices) == 1
    assert np.allclose(answers[0], exact.evaluate(batch)[0], atol=1e-4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(("precision", "tolerance"), [("fp32", 5e-3), ("bf16", 2e-2), ("fp16", 1e-2)])
def test_a_real_gpu_evaluates_as_the_processor_does(precision: str, tolerance: float) -> None:
    model, batch = model_of(NetConfig(), Rules()), random_batch(3000, Rules())
    evaluator = NetEvaluator(model, RuntimeChoice(precision=Precision(precision)), device=torch.device("cuda"))
    exact = evaluator_of(model).evaluate(batch)
    for _ in range(2):
        logits, values = evaluator.evaluate(batch)
        assert np.abs(priors(logits, batch) - priors(exact[0], batch)).max() < tolerance
        assert np.abs(values - exact[1]).max() < tolerance
    evaluator.close()
