"""Runtimes: each row is evaluated by its own net, repeatably where that is asked, and torch replaces a missing one."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from core.position import Position
from core.rules import BLACK, WHITE
from nets import config as nets_config
from nets.config import PLANE_COUNT, Backend, NetConfig, Planes, Precision, RuntimeChoice, RuntimeNotice, set_runtime
from nets.dual import DualNet
from nets.planes import encode
from nets.runtimes.inference import InferenceNet, PlanesNet
from nets.runtimes.net_evaluator import NetEvaluator
from nets.runtimes.precision import refine
from nets.runtimes.runtime import Piece, RuntimeUnavailableError
from nets.runtimes.runtime_evaluator import RuntimeEvaluator
from search.tree.player import MctsPlayer
from search.tree.settings import Policy, SearchSettings
from tests.support.nets import CPU, EXACT, RULES, as_tensors, evaluator_of, model_of, random_batch, slot_of

OPENVINO = RuntimeChoice(backend=Backend.OPENVINO, precision=Precision.FP32)


@pytest.fixture(autouse=True)
def _choice_restored() -> Iterator[None]:
    before = nets_config.default_runtime()
    yield
    set_runtime(before)


@pytest.mark.parametrize("planes", Planes)
def test_nets_rewritten_for_openvino_compute_the_same(planes: Planes) -> None:
    model, batch = model_of(NetConfig.tower(12, 2, hidden=8, planes=planes)), random_batch(8)
    arrays = as_tensors(batch)
    encoded = encode(*arrays, planes, torch.float32).permute(0, 2, 3, 1)
    expected = InferenceNet(model, "black")(*arrays)
    plain, refined = PlanesNet(model, "black", refined=False), PlanesNet(model, "black", refined=True)
    assert (plain.planes, refined.planes) == (PLANE_COUNT[planes], 2 * PLANE_COUNT[planes])
    for answer, exact in zip(plain(encoded), expected, strict=True):
        assert torch.allclose(answer, exact, atol=1e-5)
    for answer, exact in zip(refined(torch.cat((encoded, encoded), dim=3)), expected, strict=True):
        assert torch.allclose(answer, exact, atol=0.02)
    convolutions = [module for module in refined.modules() if isinstance(module, torch.nn.Conv2d)]
    assert len(convolutions) == 6
    assert all(convolution.bias is None for convolution in convolutions)


def test_weights_rounded_for_bfloat16_are_exact_there_and_keep_their_sums() -> None:
    random = torch.Generator().manual_seed(1)
    linear = torch.nn.Linear(200, 30)
    linear.weight = torch.nn.Parameter(torch.randn(30, 200, generator=random))
    net, exact = torch.nn.Sequential(linear), linear.weight.detach().clone()
    refine(net)
    assert torch.equal(linear.weight, linear.weight.bfloat16().float())
    assert (linear.weight - exact).abs().max() < 2**-7 * exact.abs().max()
    assert (linear.weight.sum(1) - exact.sum(1)).abs().max() < 2**-7


@pytest.mark.parametrize("planes", Planes)
def test_the_graph_of_openvino_takes_all_kinds_of_planes(planes: Planes) -> None:
    model = model_of(NetConfig.tower(4, 0, hidden=8, planes=planes, dual=False))
    batch = random_batch(7)
    evaluator, exact = evaluator_of(model, "openvino"), evaluator_of(model)
    for answers, expected in zip(evaluator.evaluate(batch), exact.evaluate(batch), strict=True):
        assert np.allclose(answers, expected, atol=1e-4)


@pytest.mark.parametrize("backend", ["torch", "openvino"])
@pytest.mark.slow
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
    model = model_of(NetConfig.tower(4, 1, hidden=8, dual=dual))
    evaluator, exact = evaluator_of(model, backend), evaluator_of(model)
    slots = []
    for index, count in enumerate([1, 16, 17, 32, 2, 15]):
        batch = random_batch(count, seed=index)
        slot = slot_of(batch, capacity=32)
        slots.append((slot, batch))
    tickets = [evaluator.submit(slot) for slot, _ in slots]
    for ticket in tickets:
        ticket.result()
    for slot, batch in slots:
        logits, values = exact.evaluate(batch)
        assert np.allclose(slot.logits[: slot.count], logits, atol=1e-4)
        assert np.allclose(slot.values[: slot.count], values, atol=1e-4)
        assert not slot.values[slot.count :].any(), "rows beyond the count were written"


@pytest.mark.parametrize("backend", ["torch", "openvino"])
@pytest.mark.slow
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
    evaluator, batch = evaluator_of(model_of(NetConfig.tower(4, 0, planes=planes))), random_batch(20)
    assert evaluator.last_moves == seen
    answers = evaluator.evaluate(batch)[0]
    batch.last_moves[:, seen:] = (batch.last_moves[:, seen:] + 5) % RULES.cells
    assert np.array_equal(evaluator.evaluate(batch)[0], answers)
    batch.last_moves[:, seen - 1] = (batch.last_moves[:, seen - 1] + 5) % RULES.cells
    assert not np.array_equal(evaluator.evaluate(batch)[0], answers)


def without_openvino(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(sys.modules, "openvino", None)


def with_failing_openvino(patch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no such plugin\nand a long story")

    patch.setattr(pytest.importorskip("openvino", exc_type=ImportError), "Core", fail)
    patch.setattr("nets.runtimes.openvino._CORES", [])


@pytest.mark.parametrize(
    ("prepare", "choice", "notice"),
    [
        (without_openvino, OPENVINO, "torch, which is slower"),
        (without_openvino, RuntimeChoice(), "OpenVINO cannot be used"),
        (with_failing_openvino, OPENVINO, r"OpenVINO fails here \(no such plugin\); the nets run on torch"),
        (
            lambda patch: None,
            RuntimeChoice(backend=Backend.NUMBA, precision=Precision.BF16),
            "numba runs line-pattern nets alone; the nets run on torch",
        ),
    ],
)
def test_a_runtime_that_cannot_be_used_is_replaced_by_torch_with_one_notice(
    prepare: Callable[[pytest.MonkeyPatch], None], choice: RuntimeChoice, notice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch)
    model, batch = model_of(), random_batch(9)
    with pytest.warns(RuntimeNotice, match=notice) as notices:
        evaluator = NetEvaluator(model, choice, device=CPU)
    assert len(notices) == 1
    assert "\n" not in str(notices[0].message)
    assert evaluator.runtime.backend is Backend.TORCH
    if choice.precision is not Precision.AUTO:
        assert evaluator.runtime.precision == choice.precision
        exact = evaluator_of(model, "torch", choice.precision).evaluate(batch)
        assert np.array_equal(evaluator.evaluate(batch)[0], exact[0])


def test_float16_on_a_processor_is_refused() -> None:
    with pytest.raises(RuntimeUnavailableError, match="fp16 is for GPUs"):
        NetEvaluator(model_of(), RuntimeChoice(precision=Precision.FP16), device=CPU)


def test_the_choice_for_the_process_is_the_default() -> None:
    set_runtime(EXACT)
    chosen = NetEvaluator(model_of(), device=CPU).runtime
    assert (chosen.backend, chosen.precision) == (Backend.TORCH, Precision.FP32)
    other = NetEvaluator(model_of(), RuntimeChoice(backend=Backend.TORCH, precision=Precision.BF16), device=CPU).runtime
    assert other.precision is Precision.BF16


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
    evaluator = evaluator_of(model_of(NetConfig.tower(2, 0, hidden=2, dual=dual)), "openvino")
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
        self.backend, self.precision = runtime.backend, runtime.precision
        self.sizes, self.any_thread, self.threads = (1, 2, 3, 4, 6, 8, 12, 16), True, 2
        self.large_batches = False
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
    matches = [decisions_of_a_match(small, seed, repeatable=True) for seed in range(2)]
    assert matches[0] == matches[1]
    mixed = (decisions_of_a_match(small, seed, repeatable=False) for seed in range(4))
    first = next(mixed)
    assert any(match != first for match in mixed), "nothing depends on timing here, so this test shows nothing"
