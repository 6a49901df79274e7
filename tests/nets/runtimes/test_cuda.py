"""The runtime for GPUs: on a stand-in that records streams and captures, and on a real GPU if there is one."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from core.evaluation import PositionBatch
from core.rules import Rules
from nets.config import Backend, NetConfig, Precision, RuntimeChoice, RuntimeNotice
from nets.dual import DualNet
from nets.runtimes import cuda, streams
from nets.runtimes.net_evaluator import NetEvaluator
from tests.support.cards import CARD, Card, make_card
from tests.support.nets import LINES, evaluator_of, model_of, priors, random_batch

TORCH = Backend.TORCH


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Card:
    """A stand-in of a card."""
    return make_card(monkeypatch)


def on_card(model: DualNet, precision: Precision = Precision.FP32) -> NetEvaluator:
    """An evaluator on the stand-in."""
    return NetEvaluator(model, RuntimeChoice(backend=TORCH, precision=precision))


def agrees(evaluator: NetEvaluator, model: DualNet, batch: PositionBatch, tolerance: float = 1e-4) -> bool:
    """Return True if the evaluator answers as torch in float32 on the processor does."""
    exact = evaluator_of(model).evaluate(batch)
    return all(np.allclose(a, b, atol=tolerance) for a, b in zip(evaluator.evaluate(batch), exact, strict=True))


@pytest.mark.parametrize("config", [NetConfig.tower(4, 1, hidden=8, dual=dual) for dual in (True, False)] + [LINES])
def test_graphs_of_all_nets_and_sizes_are_captured_before_the_first_batch(config: NetConfig, card: Card) -> None:
    model = model_of(config)
    evaluator = on_card(model)
    captured = card.captures
    assert captured == evaluator.runtime.threads * len(cuda.SIZES) * len(model.nets)
    for count in (1, 2, 9, 70, 333):
        assert agrees(evaluator, model, random_batch(count, seed=count))
    assert card.captures == captured
    assert not card.shared
    evaluator.close()


def test_a_batch_is_padded_to_the_next_size_and_not_cut(card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    run = cuda._Buffers.run

    def counted(self: cuda._Buffers, lane: streams.Lane, name: str, pieces: list, exact: None) -> None:
        sizes.append(sum(len(piece.rows) for piece in pieces))
        run(self, lane, name, pieces, exact)

    monkeypatch.setattr(cuda._Buffers, "run", counted)
    evaluator = on_card(model_of(NetConfig.tower(4, 1, hidden=8, dual=False)))
    evaluator.evaluate(random_batch(39))
    evaluator.evaluate(random_batch(130))
    assert (sizes[0], sum(sizes), max(sizes)) == (39, 169, 64)
    assert len(sizes) == 4
    evaluator.close()


def test_newer_weights_go_into_the_captured_graphs(card: Card) -> None:
    models, batch = [model_of(seed=seed) for seed in (1, 2)], random_batch(50)
    evaluator = on_card(models[0])
    before, captured = evaluator.version, card.captures
    assert agrees(evaluator, models[0], batch)
    assert evaluator.reloads
    evaluator.load(models[1])
    assert agrees(evaluator, models[1], batch)
    assert evaluator.version != before
    evaluator.close()
    again = on_card(models[0])
    assert (agrees(again, models[0], batch), again.version) == (True, before)
    assert card.captures == captured, "the next evaluator of such nets has the graphs"
    again.close()


def test_no_two_evaluators_share_a_stream_and_the_streams_come_back(card: Card) -> None:
    models = [model_of(seed=seed) for seed in range(8)]
    for _ in range(2):
        with ThreadPoolExecutor(8) as pool:
            evaluators = list(pool.map(on_card, models))
            lanes = [id(lane) for each in evaluators for lane in each.runtime._lanes]
            assert len(set(lanes)) == len(lanes) == 8 * 3
            for each, model in zip(evaluators, models, strict=True):
                assert agrees(each, model, random_batch(40))
            for each in evaluators:
                each.close()
        assert card.streams == 24
    assert card.captures == 8 * 3 * len(cuda.SIZES) * 2
    assert not card.shared


def test_beyond_torchs_streams_lanes_are_shared_in_turns(card: Card) -> None:
    taken = [streams.take_lanes(CARD, 3) for _ in range(12)]
    assert card.streams == streams.STREAMS
    assert all(len(set(map(id, lanes))) == 3 for lanes in taken)
    inside = threading.Semaphore(1)

    def work(lane: streams.Lane) -> None:
        for _ in range(50):
            with lane.work():
                assert inside.acquire(blocking=False), "two threads on a stream"
                time.sleep(0.0002)
                inside.release()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, [taken[0][0]] * 4))
    for lanes in taken:
        streams.give_back(lanes)
    assert not card.shared


def test_half_precision_on_a_card_is_close_to_float32(card: Card) -> None:
    card.bf16 = True
    model, batch = model_of(), random_batch(20)
    exact = evaluator_of(model).evaluate(batch)
    for precision, name, tolerance in ((Precision.AUTO, "bf16", 2e-2), (Precision.FP16, "fp16", 2e-3)):
        evaluator = on_card(model, precision)
        assert evaluator.runtime.precision == name
        logits, values = evaluator.evaluate(batch)
        difference = np.abs(priors(logits, batch) - priors(exact[0], batch)).max()
        assert 0 < difference < tolerance
        assert np.abs(values - exact[1]).max() < tolerance
        evaluator.close()


def test_an_overflow_of_float16_falls_back_with_one_note(card: Card) -> None:
    model, batch = model_of(), random_batch(30)
    with torch.no_grad():
        for net in model.nets.values():
            next(module for module in net.modules() if isinstance(module, torch.nn.Conv2d)).weight *= 1e6
    evaluator = on_card(model, Precision.FP16)
    with pytest.warns(RuntimeNotice, match="overflows in fp16") as notes:
        first = evaluator.evaluate(batch)
        second = evaluator.evaluate(batch)
    assert len(notes) == 1
    assert all(np.isfinite(answer).all() for answer in (*first, *second))
    assert np.allclose(first[1], evaluator_of(model).evaluate(batch)[1], atol=1e-3)
    evaluator.close()


def test_without_cuda_graphs_a_card_evaluates_the_same_after_one_notice(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*arguments: object, **options: object) -> None:
        raise RuntimeError("operation not permitted\nwhen stream is capturing")

    monkeypatch.setattr(torch.cuda, "graph", fails)
    model = model_of()
    with pytest.warns(RuntimeNotice, match=r"cannot be captured \(operation not permitted\)") as notices:
        evaluator = on_card(model)
    assert agrees(evaluator, model, random_batch(100))
    assert len(notices) == 1
    evaluator.close()


def test_a_capture_waits_for_the_work_of_other_lanes(card: Card) -> None:
    """As torch, the stand-in fails where a capture begins beside unfinished work."""
    evaluator, batch, stop = on_card(model_of()), random_batch(60), threading.Event()

    def evaluate() -> None:
        while not stop.is_set():
            evaluator.evaluate(batch)

    with ThreadPoolExecutor(2) as pool:
        working = [pool.submit(evaluate) for _ in range(2)]
        try:
            others = [on_card(model_of(seed=seed)) for seed in (2, 3)]
        finally:
            stop.set()
        for each in working:
            each.result()
    assert not card.shared
    for each in (evaluator, *others):
        each.close()


@pytest.mark.gpu
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


@pytest.mark.gpu
@pytest.mark.parametrize("choice", ["torch", "openvino"])
def test_a_model_in_training_on_a_gpu_gets_an_evaluator_of_any_library(choice: str) -> None:
    pytest.importorskip(choice, exc_type=ImportError)
    model = model_of(LINES if choice == "torch" else NetConfig.tower(4, 1, hidden=8)).to("cuda")
    batch = random_batch(100)
    evaluator = NetEvaluator(model, RuntimeChoice(backend=Backend(choice), precision=Precision.FP32))
    assert agrees(evaluator, model.cpu(), batch, 5e-3)
    evaluator.close()
