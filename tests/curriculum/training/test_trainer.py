"""Claims about learning: the samples of each net, the loss, and the resumption of a stopped training."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save

from core.evaluation import PositionBatch
from core.rules import BLACK, WHITE, Colour, Rules
from curriculum.config import Config, Optimiser, TrainingConfig
from curriculum.training.batches import BatchSource
from curriculum.training.samples import Samples, decayed_results
from curriculum.training.trainer import Trainer, cosine_rate
from nets import targets
from nets.checkpoint import CheckpointError, load_model, save_model
from nets.config import NetConfig
from nets.dual import DualNet
from nets.targets import FinishedGame, Target, cross_entropy

RULES = Rules(7, 4)
CONFIG = Config(rules=RULES, net=NetConfig.tower(4, 1, hidden=8), training=TrainingConfig(batch_size=16))
RATES = np.full(6, 0.05)


def random_samples(count: int = 64, seed: int = 0) -> Samples:
    """Samples of both colours with positions, policies and values drawn at random."""
    random = np.random.default_rng(seed)
    batch = PositionBatch.empty(count, RULES.cells)
    batch.stones[:] = random.choice([-1, 0, 1], p=[0.1, 0.8, 0.1], size=batch.stones.shape)
    batch.to_move[:] = np.where(np.arange(count) % 2 == 0, BLACK, WHITE)
    policies = np.zeros((count, RULES.cells), dtype=np.float32)
    policies[np.arange(count), random.integers(RULES.cells, size=count)] = 1.0
    return Samples.plain(batch, policies, random.uniform(-1, 1, count).astype(np.float32))


def source_of(
    samples: Samples, *, config: Config = CONFIG, rehearsal: Samples | None = None, **options: Any
) -> BatchSource:
    """A source without rehearsal, or with half of each batch from it."""
    share, rehearsal = (0.0, Samples.none(RULES.cells)) if rehearsal is None else (0.5, rehearsal)
    options = {"batch_size": config.training.batch_size, "dual": config.net.dual} | options
    return BatchSource(samples, rehearsal, rehearsal_share=share, seed=3, **options)


def of_black(samples: Samples) -> Samples:
    """The samples with black to move."""
    return samples.rows(samples.to_move == BLACK)


def poisoned(samples: Samples, colour: Colour) -> Samples:
    """The samples with every target of `colour` replaced by another."""
    mine = samples.positions.to_move == colour
    policies, values = samples.policies.copy(), samples.values.copy()
    policies[mine], values[mine] = policies[mine][:, ::-1], 0.5 - values[mine]
    return Samples.plain(samples.positions, policies, values)


def weights(model: DualNet, colour: Colour) -> list[torch.Tensor]:
    """All tensors of a colour's net, batch norm statistics among them."""
    return [tensor.clone() for tensor in model.net_of(colour).state_dict().values()]


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize("in_rehearsal", [False, True])
def test_each_net_sees_only_its_own_colour(colour: Colour, in_rehearsal: bool) -> None:
    """Poisoning all samples of the other colour changes nothing, to the last bit."""
    samples, rehearsal = random_samples(), random_samples(seed=9)
    clean, sick = Trainer(CONFIG), Trainer(CONFIG)
    clean.train(source_of(samples, rehearsal=rehearsal), 0, 6, RATES)
    spoilt = poisoned(rehearsal if in_rehearsal else samples, -colour)
    seen = {"samples": samples, "rehearsal": rehearsal}
    seen["rehearsal" if in_rehearsal else "samples"] = spoilt
    sick.train(source_of(**seen), 0, 6, RATES)
    clean.refresh_norms(samples, 1)
    sick.refresh_norms(seen["samples"], 1)
    for mine, same in zip(weights(clean.model, colour), weights(sick.model, colour), strict=True):
        assert torch.equal(mine, same)
    others = zip(weights(clean.model, -colour), weights(sick.model, -colour), strict=True)
    assert any(not torch.equal(mine, same) for mine, same in others), "the poison works"


def test_a_colour_without_samples_is_left_alone() -> None:
    trainer = Trainer(CONFIG)
    before = weights(trainer.model, WHITE)
    trainer.train(source_of(of_black(random_samples())), 0, 6, RATES)
    assert all(torch.equal(a, b) for a, b in zip(before, weights(trainer.model, WHITE), strict=True))


def test_the_loss_is_equation_9() -> None:
    """One step of plain SGD follows the gradient of (z-v)^2 - pi log p + c |theta|^2, computed here by hand."""
    config = replace(CONFIG, training=TrainingConfig(batch_size=16, momentum=0.0, l2=0.01))
    samples = random_samples(32)
    trainer, twin = Trainer(config), Trainer(config)
    trainer._precision = torch.float32
    source = source_of(samples, config=config)
    batch = source_of(samples, config=config).batch(BLACK, 0)
    net = twin.model.net_of(BLACK).train()
    logits, values = net(twin._planes(twin._on_device(batch)))
    policies, results = torch.from_numpy(batch.policies), torch.from_numpy(batch.values)
    p = torch.softmax(logits, dim=1)
    penalty = sum((parameter**2).sum() for parameter in net.parameters())
    loss = ((results - values) ** 2).mean() - (policies * p.log()).sum(1).mean() + 0.01 * penalty
    loss.backward()  # type: ignore[union-attr]
    trainer.train(source, 0, 1, np.array([0.1]))
    for moved, still in zip(trainer.model.net_of(BLACK).parameters(), net.parameters(), strict=True):
        assert torch.allclose(moved, still - 0.1 * still.grad, atol=1e-5)


@pytest.mark.parametrize("optimiser", Optimiser)
def test_training_resumes_exactly_where_it_stopped(optimiser: Optimiser, tmp_path: Path) -> None:
    config = replace(CONFIG, training=TrainingConfig(batch_size=16, optimiser=optimiser))
    samples, path, rates = random_samples(), tmp_path / "trainer.safetensors", np.full(12, 0.01)
    straight, stopped, resumed = Trainer(config), Trainer(config), Trainer(config)
    straight.train(source_of(samples), 0, 12, rates)
    stopped.train(source_of(samples), 0, 5, rates[:5])
    stopped.save(path, {"step": 5})
    assert resumed.load(path, {"step": 0}) == {"step": 5}
    resumed.train(source_of(samples), 5, 12, rates[5:])
    for name, tensor in straight.model.state_dict().items():
        assert torch.allclose(tensor, resumed.model.state_dict()[name], atol=1e-6), name


def test_a_broken_training_state_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trainer.safetensors"
    Trainer(CONFIG).save(path, {})
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(CheckpointError, match="no training state"):
        Trainer(CONFIG).load(path, {})
    Trainer(replace(CONFIG, net=NetConfig.tower(5, 1))).save(path, {})
    with pytest.raises(CheckpointError, match="no training state"):
        Trainer(CONFIG).load(path, {})


@pytest.mark.parametrize(
    ("progress", "complaint"),
    [
        *[(progress, "no valid step") for progress in ({}, {"step": "7"}, {"step": -7}, {"step": True})],
        ([7], "its progress is no table"),
    ],
)
def test_progress_of_another_kind_is_refused(tmp_path: Path, progress: Any, complaint: str) -> None:
    path = tmp_path / "trainer.safetensors"
    Trainer(CONFIG).save(path, {"step": 7})
    path.write_bytes(save(load_file(path), {"progress": json.dumps(progress)}))
    with pytest.raises(CheckpointError, match=complaint):
        Trainer(CONFIG).load(path, {"step": 0})


def test_a_training_state_with_broken_numbers_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    path, trainer = tmp_path / "trainer.safetensors", Trainer(CONFIG)
    trainer.save(path, {"step": 7})
    before = {name: tensor.clone() for name, tensor in trainer.model.state_dict().items()}
    tensors = load_file(path)
    tensors["model.nets.black.trunk.0.conv.weight"][0] = float("nan")
    path.write_bytes(save(tensors, {"progress": '{"step": 7}'}))
    with pytest.raises(CheckpointError, match="not finite"):
        trainer.load(path, {"step": 0})
    assert all(torch.equal(tensor, before[name]) for name, tensor in trainer.model.state_dict().items())


def test_a_pass_shows_every_sample_once() -> None:
    samples = random_samples(64)
    source = source_of(samples)
    assert source.steps_per_pass == 2
    seen = [source.batch(BLACK, step) for step in range(source.steps_per_pass)]
    shown = np.sort(np.concatenate([batch.values for batch in seen if batch is not None]))
    assert np.array_equal(shown, np.sort(of_black(samples).values))


def test_rehearsal_takes_its_share_of_a_batch() -> None:
    samples, rehearsal = random_samples(64), random_samples(64, seed=5)
    rehearsal.values[:] = 2.0
    batch = source_of(samples, rehearsal=rehearsal).batch(WHITE, 0)
    assert np.count_nonzero(batch.values == 2.0) == 8
    assert len(batch) == 16


def test_policies_are_carried_along_with_the_stones() -> None:
    """Under any symmetry the target stays on the same kind of cell relative to the stones."""
    samples = random_samples(64)
    samples.positions.stones[np.arange(64), samples.policies.argmax(axis=1)] = 2  # mark the target on the board
    source = source_of(samples)
    for step in range(8):
        batch = source.batch(BLACK, step)
        assert (batch.positions.stones[np.arange(len(batch)), batch.policies.argmax(axis=1)] == 2).all()


def test_results_decay_towards_the_opening() -> None:
    to_move = np.array([1, -1, 1, -1, 1], dtype=np.int8)
    assert decayed_results(BLACK, to_move, 0.9) == pytest.approx([0.9**4, -(0.9**3), 0.9**2, -0.9, 1.0])
    assert decayed_results(WHITE, to_move[:4], 0.5) == pytest.approx([-0.125, 0.25, -0.5, 1.0])
    assert not decayed_results(None, to_move, 0.9).any()
    assert decayed_results(BLACK, to_move, 1.0).tolist() == [1.0, -1.0, 1.0, -1.0, 1.0]


@pytest.mark.parametrize(("share", "rate"), [(0.0, 0.02), (0.5, 0.011), (1.0, 0.002)])
def test_the_learning_rate_falls_along_half_a_cosine(share: float, rate: float) -> None:
    assert cosine_rate(0.02, 0.002, share) == pytest.approx(rate)


def test_a_pass_over_all_symmetries_holds_each_image_once() -> None:
    samples = of_black(random_samples(8))
    source = source_of(samples, dual=False, all_symmetries=True)
    assert source.steps_per_pass == len(samples) * 8 // 16
    batches = [source.batch(None, step) for step in range(source.steps_per_pass)]
    seen = [stones.tobytes() for batch in batches if batch for stones in batch.positions.stones]
    images = samples.rows(np.repeat(np.arange(len(samples)), 8)).transformed(np.tile(np.arange(8), len(samples)))
    assert sorted(seen) == sorted(stones.tobytes() for stones in images.positions.stones)


REPLY = Target(
    name="reply",
    array="reply",
    head=("conv1-2", "linear"),
    of_game=lambda game: np.concatenate((game.policies[1:], np.zeros_like(game.policies[:1]))),
    loss=cross_entropy,
)
OUTCOME = Target(
    name="outcome",
    array="outcome",
    units=3,
    head=("conv1-1", "linear"),
    of_game=lambda game: np.eye(3)[[0 if game.winner is None else int(side * game.winner) for side in game.to_move]],
    loss=cross_entropy,
)
PLIES_LEFT = Target(
    name="plies-left",
    array="plies_left",
    units=0,
    head=("conv1-1", "linear"),
    of_game=lambda game: np.arange(len(game.moves), 0, -1) / 100,
    loss=lambda outputs, targets: (outputs.squeeze(1) - targets) ** 2 * (targets > 0),
)


def test_further_targets_are_entries_of_one_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Heads, losses, metrics and model files follow, as samples and files do; basics, of no game, have none."""
    monkeypatch.setattr(targets, "AUXILIARY", [REPLY, OUTCOME, PLIES_LEFT])
    net = replace(CONFIG.net, auxiliary=("reply", "outcome", "plies-left"))
    config = replace(CONFIG, net=net)
    plain = random_samples(12)
    sides, policies, values = plain.positions.to_move, plain.policies, plain.values
    game = FinishedGame(sides, tuple(range(12)), WHITE, policies, values)
    samples = Samples.of_game(plain.positions, game, net.targets)
    both = Samples.concatenate([plain, samples])
    trainer = Trainer(config)
    first = trainer.train(source_of(both, config=config), 0, 20, np.full(20, 0.05))
    last = trainer.train(source_of(both, config=config), 20, 80, np.full(60, 0.05))
    for name in ("policy", "value", "reply", "outcome", "plies-left"):
        assert last[f"{name}_loss"] < first[f"{name}_loss"]
    unknown = trainer.train(source_of(plain, config=config), 0, 1, RATES[:1])
    assert unknown["reply_loss"] == unknown["outcome_loss"] == unknown["plies-left_loss"] == 0
    trainer.save(tmp_path / "state.safetensors", {})
    Trainer(config).load(tmp_path / "state.safetensors", {})
    save_model(tmp_path / "model.safetensors", trainer.model, {})
    model, info = load_model(tmp_path / "model.safetensors")
    assert info.net == net
    heads = {"trunk", "policy", "value", "reply", "outcome", "plies-left"}
    assert {name.split(".")[1] for name in model.net_of(BLACK).state_dict(prefix="net.")} == heads
    with pytest.raises(ValueError, match="no auxiliary target 'replies'; valid are reply, outcome, plies-left"):
        replace(net, auxiliary=("replies",))
