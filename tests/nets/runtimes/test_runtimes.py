"""Runtimes: all evaluate alike, each row by its own net, and torch replaces a missing one."""

import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.evaluation import PositionBatch, Slot
from core.position import Position
from core.rules import BLACK, WHITE, Rules
from nets import config as nets_config
from nets.checkpoint import DEFAULT_MODEL, load_model
from nets.config import Backend, NetConfig, Planes, Precision, RuntimeChoice, RuntimeNotice, set_runtime
from nets.dual import DualNet, make_model
from nets.runtimes import cuda
from nets.runtimes.inference import InferenceNet, example_positions
from nets.runtimes.net_evaluator import NetEvaluator
from nets.runtimes.precision import refine
from nets.runtimes.runtime import Piece, RuntimeUnavailableError, SizedNets, best_count
from nets.runtimes.runtime_evaluator import RuntimeEvaluator, rows_by_net
from search.tree.player import MctsPlayer
from search.tree.settings import Policy, SearchSettings

RULES = Rules(9, 5)
TINY = NetConfig(filters=4, blocks=1, value_hidden=8)
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


def model_of(config: NetConfig = TINY, rules: Rules = RULES, seed: int = 1) -> DualNet:
    """A model whose batch norms have statistics."""
    model, batch = make_model(config, rules, seed).train(), random_batch(64, rules, seed)
    with torch.no_grad():
        model(torch.from_numpy(batch.stones), torch.from_numpy(batch.to_move), torch.from_numpy(batch.last_moves))
    return model.eval()


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


RUNTIMES = [("torch", "fp32"), ("torch", "bf16"), ("openvino", "fp32"), ("openvino", "bf16"), ("onnxruntime", "fp32")]


@pytest.fixture(autouse=True)
def _choice_restored() -> Iterator[None]:
    before = nets_config.default_runtime()
    yield
    set_runtime(before)


@pytest.mark.parametrize(("backend", "precision"), RUNTIMES)
def test_every_runtime_evaluates_the_papers_nets_as_torch_does_in_float32(backend: str, precision: str) -> None:
    model, batch = model_of(NetConfig(), Rules()), random_batch(32, Rules())
    evaluator = evaluator_of(model, backend, precision)
    logits, values = evaluator.evaluate(batch)
    with torch.no_grad():
        exact_logits, exact_values = (
            answer.numpy()
            for answer in model(
                torch.from_numpy(batch.stones), torch.from_numpy(batch.to_move), torch.from_numpy(batch.last_moves)
            )
        )
    tolerance = 2e-2 if precision == "bf16" else 1e-4
    assert np.abs(priors(logits, batch) - priors(exact_logits, batch)).max() < tolerance
    assert np.abs(values - exact_values).max() < tolerance
    evaluator.close()


@pytest.mark.parametrize("planes", Planes)
def test_nets_rewritten_for_bfloat16_compute_the_same(planes: Planes) -> None:
    model, batch = model_of(NetConfig(planes=planes, filters=12, blocks=2, value_hidden=8)), random_batch(8)
    net, rewritten = InferenceNet(model, "black"), InferenceNet(model, "black")
    refine(rewritten)
    arrays = [torch.from_numpy(array) for array in (batch.stones, batch.to_move, batch.last_moves)]
    for answers, expected in zip(rewritten(*arrays), net(*arrays), strict=True):
        assert torch.allclose(answers, expected, atol=1e-5)
    convolutions = [module for module in rewritten.modules() if isinstance(module, torch.nn.Conv2d)]
    assert len(convolutions) == 7
    assert all(convolution.bias is None for convolution in convolutions)


@pytest.mark.parametrize("planes", Planes)
@pytest.mark.parametrize("backend", ["openvino", "onnxruntime"])
def test_runtimes_that_take_whole_graphs_make_all_kinds_of_planes(backend: str, planes: Planes) -> None:
    model = model_of(NetConfig(planes=planes, filters=4, blocks=0, value_hidden=8, dual=False))
    batch = random_batch(7)
    evaluator, exact = evaluator_of(model, backend), evaluator_of(model)
    for answers, expected in zip(evaluator.evaluate(batch), exact.evaluate(batch), strict=True):
        assert np.allclose(answers, expected, atol=1e-4)


@pytest.mark.parametrize("backend", ["torch", "openvino", "onnxruntime"])
def test_rows_of_one_colour_never_reach_the_other_net(backend: str) -> None:
    model, batch = model_of(), random_batch(16)
    whole = evaluator_of(model, backend).evaluate(batch)
    with torch.no_grad():
        for parameter in model.net_of(WHITE).parameters():
            parameter.fill_(float("nan"))
    broken = evaluator_of(model, backend).evaluate(batch)
    black = batch.to_move == BLACK
    for before, after in zip(whole, broken, strict=True):
        assert np.allclose(before[black], after[black], atol=1e-6)
    assert np.isnan(broken[1][~black]).all()


@pytest.mark.parametrize("dual", [True, False])
@pytest.mark.parametrize("backend", ["torch", "openvino"])
def test_batches_submitted_at_once_are_all_evaluated_rightly(backend: str, dual: bool) -> None:
    model = model_of(NetConfig(filters=4, blocks=1, value_hidden=8, dual=dual))
    evaluator, exact = evaluator_of(model, backend), evaluator_of(model)
    slots = []
    for index, count in enumerate([1, 16, 17, 32, 2, 15]):
        slot = Slot.with_capacity(32, RULES.cells)
        batch = random_batch(count, seed=index)
        slot.count = count
        for name in ("stones", "to_move", "last_moves"):
            getattr(slot.positions, name)[:count] = getattr(batch, name)
        slots.append((slot, batch))
    tickets = [evaluator.submit(slot) for slot, _ in slots]
    for ticket in tickets:
        ticket.result()
    for slot, batch in slots:
        logits, values = exact.evaluate(batch)
        assert np.allclose(slot.logits[: slot.count], logits, atol=1e-4)
        assert np.allclose(slot.values[: slot.count], values, atol=1e-4)
        assert not slot.values[slot.count :].any(), "rows beyond the count were written"


@pytest.mark.parametrize("backend", ["torch", "openvino", "onnxruntime"])
def test_training_goes_unnoticed_until_a_new_evaluator_is_made(backend: str) -> None:
    model, batch = model_of(), random_batch(16)
    old = evaluator_of(model, backend)
    before = old.evaluate(batch)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05)
    new = evaluator_of(model, backend)
    assert np.array_equal(old.evaluate(batch)[0], before[0])
    assert np.allclose(new.evaluate(batch)[0], evaluator_of(model).evaluate(batch)[0], atol=1e-4)
    assert not np.allclose(new.evaluate(batch)[0], before[0], atol=1e-2)
    assert new.version != old.version


def test_the_version_depends_on_the_weights_and_the_runtime() -> None:
    model = model_of()
    version = evaluator_of(model).version
    assert evaluator_of(model_of()).version == version
    assert evaluator_of(model_of(seed=2)).version != version
    assert evaluator_of(model, "torch", "bf16").version != version
    assert 0 <= version < 1 << 63


@pytest.mark.parametrize(("planes", "seen"), [(Planes.THREE, 1), (Planes.FOUR, 1), (Planes.FIVE, 2)])
def test_the_evaluator_reports_the_number_of_last_moves_in_its_nets_input(planes: Planes, seen: int) -> None:
    evaluator, batch = evaluator_of(model_of(NetConfig(planes=planes, filters=4, blocks=0))), random_batch(20)
    assert evaluator.last_moves == seen
    answers = evaluator.evaluate(batch)[0]
    batch.last_moves[:, seen:] = (batch.last_moves[:, seen:] + 5) % RULES.cells
    assert np.array_equal(evaluator.evaluate(batch)[0], answers)
    batch.last_moves[:, seen - 1] = (batch.last_moves[:, seen - 1] + 5) % RULES.cells
    assert not np.array_equal(evaluator.evaluate(batch)[0], answers)


@pytest.mark.parametrize("missing", ["openvino", "onnxruntime"])
def test_a_runtime_that_is_missing_is_replaced_by_torch_with_one_notice(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    model, batch = model_of(), random_batch(9)
    choice = RuntimeChoice(backend=Backend(missing), precision=Precision.FP32)
    with pytest.warns(RuntimeNotice, match="torch, which is slower") as notices:
        evaluator = NetEvaluator(model, choice, device=CPU)
    assert len(notices) == 1
    assert "\n" not in str(notices[0].message)
    assert evaluator.runtime.backend is Backend.TORCH
    assert np.array_equal(evaluator.evaluate(batch)[0], evaluator_of(model).evaluate(batch)[0])


def test_without_openvino_the_automatic_choice_is_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.warns(RuntimeNotice, match="OpenVINO cannot be used"):
        evaluator = NetEvaluator(model_of(), RuntimeChoice(), device=CPU)
    assert evaluator.runtime.backend is Backend.TORCH


def test_a_runtime_that_fails_is_replaced_by_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    openvino = pytest.importorskip("openvino", exc_type=ImportError)

    def fail(*_: object) -> None:
        raise RuntimeError("no such plugin\nand a long story")

    monkeypatch.setattr(openvino, "Core", fail)
    with pytest.warns(RuntimeNotice, match=r"OpenVINO fails here \(no such plugin\); the nets run on torch"):
        evaluator = NetEvaluator(model_of(), RuntimeChoice(backend=Backend.OPENVINO), device=CPU)
    assert evaluator.runtime.backend is Backend.TORCH


def test_a_precision_that_a_runtime_lacks_is_kept_and_the_runtime_replaced() -> None:
    choice = RuntimeChoice(backend=Backend.ONNXRUNTIME, precision=Precision.BF16)
    with pytest.warns(RuntimeNotice, match="ONNX Runtime computes in fp32 only"):
        evaluator = NetEvaluator(model_of(), choice, device=CPU)
    assert (evaluator.runtime.backend, evaluator.runtime.precision) == (Backend.TORCH, Precision.BF16)


def test_float16_on_a_processor_is_refused() -> None:
    with pytest.raises(RuntimeUnavailableError, match="fp16 is for GPUs"):
        NetEvaluator(model_of(), RuntimeChoice(precision=Precision.FP16), device=CPU)


def test_the_choice_for_the_process_is_the_default() -> None:
    set_runtime(EXACT)
    chosen = NetEvaluator(model_of(), device=CPU).runtime
    assert (chosen.backend, chosen.precision) == (Backend.TORCH, Precision.FP32)
    said = NetEvaluator(model_of(), RuntimeChoice(backend=Backend.TORCH, precision=Precision.BF16), device=CPU).runtime
    assert said.precision is Precision.BF16


def test_an_evaluation_leaves_torchs_number_of_threads_alone() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        evaluator = evaluator_of(model_of())
        evaluator.evaluate(random_batch(20))
        # All of its threads have begun when they have met.
        count = evaluator.runtime.threads
        meeting = threading.Barrier(count, timeout=60)

        def ask() -> int:
            meeting.wait()
            return torch.get_num_threads()

        counts = [evaluator._threads.submit(ask) for _ in range(count)]
        assert [answer.result() for answer in counts] == [1] * count
        elsewhere: list[int] = []
        other = threading.Thread(target=lambda: elsewhere.append(torch.get_num_threads()))
        other.start()
        other.join()
        assert (torch.get_num_threads(), elsewhere) == (3, [3])
    finally:
        torch.set_num_threads(before)


def test_an_error_of_one_part_is_raised_when_all_parts_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator, batch = evaluator_of(model_of()), random_batch(20)
    works = evaluator.runtime.evaluate
    white_ended = threading.Event()

    def evaluate_slowly(net: str, *rest: Any) -> None:
        if net == "black":
            raise ValueError("no black today")
        time.sleep(0.05)
        works(net, *rest)
        white_ended.set()

    monkeypatch.setattr(evaluator.runtime, "evaluate", evaluate_slowly)
    with pytest.raises(ValueError, match="no black today"):
        evaluator.evaluate(batch)
    assert white_ended.is_set()


@pytest.mark.parametrize("dual", [True, False])
def test_prepared_sizes_are_not_made_again(dual: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = evaluator_of(model_of(NetConfig(filters=2, blocks=0, value_hidden=2, dual=dual)), "openvino")
    evaluator.prepare(3)

    def fail(net: str, size: int) -> None:
        raise AssertionError(f"{size} rows were not prepared")

    monkeypatch.setattr(evaluator.runtime._sized, "_make", fail)
    for count in (1, 2, 3):
        batch = random_batch(count)
        batch.to_move[:] = WHITE if dual else batch.to_move
        assert np.isfinite(evaluator.evaluate(batch)[1]).all()
    with pytest.raises(AssertionError, match="rows were not prepared"):
        evaluator.evaluate(random_batch(64))


class _LastBits:
    """A runtime of random timing, in which a row's value depends on the size of its batch."""

    def __init__(self, runtime: Any, seed: int) -> None:
        self._runtime, self._random = runtime, np.random.default_rng(seed)
        self.sizes, self.any_thread, self.threads = (1, 2, 3, 4, 6, 8, 12, 16), True, 2
        self.lanes, self.free_cores = 2, 1

    def evaluate(self, net: str, pieces: Sequence[Piece]) -> None:
        time.sleep(self._random.exponential(3e-4))
        self._runtime.evaluate(net, pieces)
        rows = sum(len(piece.rows) for piece in pieces)
        for piece in pieces:
            piece.values[piece.rows] *= 1 - rows / 1000


def decisions_of_a_match(model: DualNet, seed: int, *, repeatable: bool) -> list[tuple[int, float | None]]:
    """Moves and values of four games side by side, of a model against itself; `seed` decides the runtime's timing."""
    rules = model.rules
    runtime = _LastBits(evaluator_of(model).runtime, seed)
    evaluator = RuntimeEvaluator(runtime, model.config, rules.cells, version=1, repeatable=repeatable)  # type: ignore[arg-type]
    player = MctsPlayer(evaluator, rules, SearchSettings(simulations=48), policy=Policy.STOCHASTIC)
    boards = [Position.from_moves(rules, [game]) for game in range(4)]
    match = []
    for ply in range(4):
        decisions = player.choose_batch(boards, seeds=range(ply, ply + 4))
        for board, decision in zip(boards, decisions, strict=True):
            board.push(decision.move)
        match += [(decision.move, decision.value) for decision in decisions]
    evaluator.close()
    return match


def test_repeatable_evaluations_make_matches_repeat_whatever_the_timing() -> None:
    small = model_of()
    matches = [decisions_of_a_match(small, seed, repeatable=True) for seed in range(3)]
    assert matches[0] == matches[1] == matches[2]
    mixed = [decisions_of_a_match(small, seed, repeatable=False) for seed in range(6)]
    assert any(match != mixed[0] for match in mixed), "nothing depends on timing here, so this test shows nothing"


def test_matches_of_the_built_in_model_repeat_whatever_the_timing() -> None:
    model = load_model(DEFAULT_MODEL)[0]
    assert decisions_of_a_match(model, 0, repeatable=True) == decisions_of_a_match(model, 1, repeatable=True)


@given(to_move=st.lists(st.sampled_from([BLACK, WHITE]), max_size=60), dual=st.booleans())
def test_every_row_goes_to_one_net_and_to_its_own(to_move: list[int], dual: bool) -> None:
    sides = np.array(to_move, dtype=np.int8)
    parts = rows_by_net(sides, dual)
    assert sorted(row for _, rows in parts for row in rows.tolist()) == list(range(len(sides)))
    for net, rows in parts:
        assert len(rows)
        if dual:
            assert set(sides[rows].tolist()) == {BLACK if net == "black" else WHITE}
        else:
            assert net == "shared"


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


class _ProcessorBuffers:
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
    model = model_of(NetConfig(filters=4, blocks=1, value_hidden=8, dual=dual))
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


def test_a_net_of_a_fixed_size_is_lent_to_one_thread_at_a_time() -> None:
    class Slow:
        """Answers with the number of stones, and notices when two threads are in it."""

        def __init__(self, size: int) -> None:
            self.positions = PositionBatch.empty(size, 9)
            self.logits, self.values = np.zeros((size, 9), np.float32), np.zeros(size, np.float32)
            self._inside = threading.Lock()

        def run(self) -> None:
            assert self._inside.acquire(blocking=False), "two threads in one"
            time.sleep(0.005)
            self.values[:] = self.positions.stones.sum(axis=1)
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
    assert 2 <= len(made) <= 4
    assert set(made) == {8}, "the smallest that holds all pieces"


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
