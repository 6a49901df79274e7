"""The device side of training, on a stand-in of a card."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from curriculum.training import devices, trainer
from curriculum.training.batches import BatchSource
from curriculum.training.devices import ahead, to_device
from curriculum.training.resident import Resident
from curriculum.training.samples import Samples
from tests.curriculum.training.test_trainer import CONFIG, RULES, random_samples
from tests.support.cards import CARD, make_card
from tests.support.nets import CPU


def test_batches_are_made_ahead_in_their_order_and_an_error_comes_in_its_turn() -> None:
    made: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(10):
            made.append(number)
            yield number
        raise OSError("the last")

    taken = ahead(numbers(), CARD)
    assert next(taken) == 0
    with pytest.raises(OSError, match="the last"):
        assert list(taken) == list(range(1, 10))
    assert made == list(range(10))
    lazy = ahead(iter(numbers()), CPU)
    assert (next(lazy), made[10:]) == (0, [0])


@pytest.mark.parametrize("memory", [1 << 30, 1000], ids=["samples on the card", "no room"])
def test_on_a_card_nets_train_on_one_stream_as_on_a_processor(memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def losses() -> tuple[trainer.Losses, list[np.ndarray]]:
        trained = trainer.Trainer(CONFIG)
        source = trained.batches(random_samples(), 1)
        found = trained.train(source, 0, 3, np.full(3, 0.01))
        return found, [tensor.numpy() for tensor in trained.model.state_dict().values()]

    monkeypatch.setattr(trainer, "best_precision", lambda device: torch.float32)  # a processor may have bfloat16
    here, weights = losses()
    with monkeypatch.context() as patch:
        card = make_card(patch, memory=memory)
        threads: set[int] = set()
        patch.setattr(trainer, "best_device", lambda: CARD)
        on = card.on
        patch.setattr(devices.torch.cuda, "stream", lambda stream: threads.add(threading.get_ident()) or on(stream))
        there, same = losses()
    assert (card.used, len(threads), card.shared, card.captures) == ({0}, 1, [], 0)
    assert np.allclose([*there.values()], [*here.values()])
    assert all(np.allclose(one, other, atol=1e-5) for one, other in zip(weights, same, strict=True))


@pytest.mark.gpu
def test_on_a_real_gpu_nets_train_as_on_a_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "best_precision", lambda device: torch.float32)
    found = []
    for device in (CPU, torch.device("cuda")):
        monkeypatch.setattr(trainer, "best_device", lambda device=device: device)
        trained = trainer.Trainer(CONFIG)
        losses = trained.train(trained.batches(random_samples(), 1), 0, 5, np.full(5, 0.01))
        found.append([losses["policy_loss"], losses["value_loss"]])
    assert np.allclose(*found, rtol=1e-3)


@pytest.mark.parametrize("all_symmetries", [False, True])
def test_resident_samples_are_drawn_and_turned_as_those_of_the_processor(all_symmetries: bool) -> None:
    fresh, old = (with_last_moves(random_samples(count, seed)) for count, seed in ((64, 1), (20, 2)))
    source = BatchSource(
        fresh, old, rehearsal_share=0.25, batch_size=16, seed=3, dual=True, all_symmetries=all_symmetries
    )
    trainer_ = trainer.Trainer(replace(CONFIG, training=replace(CONFIG.training, label_smoothing=0.1)))
    resident = Resident(source.parts, RULES.size, trainer_._on_device)
    for colour in source.colours:
        for step in range(2 * source.steps_per_pass):
            draw = source.draw(colour, step)
            assert draw is not None
            expected, found = trainer_._on_device(source.read(draw)), resident.batch(draw)
            assert len(found.to_move) == 16
            for one, other in zip(expected[:3], found[:3], strict=True):
                assert one.dtype == other.dtype and torch.equal(one, other)
            assert all(torch.allclose(expected.targets[name], found.targets[name]) for name in expected.targets)


def with_last_moves(samples: Samples) -> Samples:
    """The samples with one of their stones, or none, as the last move."""
    for row, stones in enumerate(samples.positions.stones):
        if row % 3 and stones.any():
            samples.positions.last_moves[row, 0] = np.flatnonzero(stones)[0]
    return samples


def test_a_copy_to_the_processor_is_none() -> None:
    array = np.zeros(3, np.float32)
    assert to_device(array, CPU).data_ptr() == array.ctypes.data
