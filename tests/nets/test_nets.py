"""The nets: their size, the net of each side to move, their planes, and the checks of a model file."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from core.evaluation import PositionBatch, write_planes
from core.position import Position
from core.rules import BLACK, WHITE, Rules
from nets.blocks import folded
from nets.checkpoint import CheckpointError, load_model, save_model
from nets.config import COLOUR_PLANES, LAST_MOVES, PLANE_COUNT, NetConfig, Planes
from nets.dual import make_model, zero_heads
from nets.planes import encode
from nets.tensor_file import NotFiniteError
from tests.nets.test_layers import EVERY_LAYER
from tests.support.nets import LINES, RULES, TINY, as_tensors, evaluator_of, model_of, random_batch


@pytest.mark.parametrize("planes", Planes)
def test_planes_are_seen_from_the_side_to_move(planes: Planes) -> None:
    position = Position.from_moves(RULES, [0, 10, 20])
    batch = PositionBatch.from_positions([position], RULES)
    encoded = encode(*as_tensors(batch), planes, torch.float32)[0].flatten(1)
    assert len(encoded) == PLANE_COUNT[planes]
    assert encoded[0].nonzero().flatten().tolist() == [10]
    assert encoded[1].nonzero().flatten().tolist() == [0, 20]
    for back, cell in enumerate((20, 10)[: LAST_MOVES[planes]]):
        assert encoded[2 + back].nonzero().flatten().tolist() == [cell]
    empty = PositionBatch.from_positions([Position(RULES)], RULES)
    assert encode(*as_tensors(empty), planes, torch.float32).any() == bool(COLOUR_PLANES[planes])
    if COLOUR_PLANES[planes]:
        assert not encoded[-1].any(), "white is to move"
        position.pop()
        batch = PositionBatch.from_positions([position], RULES)
        assert encode(*as_tensors(batch), planes, torch.float32)[0, -1].all()


def test_rows_are_evaluated_by_the_net_of_their_side_to_move() -> None:
    model, batch = model_of(), random_batch(20)
    with torch.no_grad():
        logits, values = model(*as_tensors(batch))
        planes = encode(*as_tensors(batch), TINY.planes, torch.float32)
        for colour in (BLACK, WHITE):
            rows = batch.to_move == colour
            own_logits, own_values = model.net_of(colour)(planes[rows])
            assert torch.allclose(logits[rows], own_logits, atol=1e-5)
            assert torch.allclose(values[rows], own_values, atol=1e-5)


@pytest.mark.parametrize("dual", [True, False])
def test_a_batch_gives_the_same_answers_as_its_rows_one_by_one(dual: bool) -> None:
    model = model_of(NetConfig.tower(4, 1, hidden=8, dual=dual))
    evaluator, batch = evaluator_of(model), random_batch(12)
    logits, values = evaluator.evaluate(batch)
    for row in range(12):
        alone_logits, alone_values = evaluator.evaluate(batch.rows(slice(row, row + 1)))
        assert np.allclose(logits[row], alone_logits[0], atol=1e-4)
        assert np.allclose(values[row], alone_values[0], atol=1e-5)


def test_folding_the_batch_norms_changes_no_answer() -> None:
    model, batch = model_of(NetConfig(), Rules()), random_batch(16, Rules())
    with torch.no_grad():
        logits, values = model(*as_tensors(batch))
        lean = folded(model)
        assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in lean.modules())
        lean_logits, lean_values = lean(*as_tensors(batch))
    assert torch.allclose(logits, lean_logits, atol=1e-4)
    assert torch.allclose(values, lean_values, atol=1e-4)


@pytest.mark.parametrize("net", [TINY, EVERY_LAYER], ids=["tiny", "every layer"])
def test_a_model_file_gives_back_what_was_saved(net: NetConfig, tmp_path: Path) -> None:
    model, path = model_of(net), tmp_path / "model.safetensors"
    save_model(path, model, {"phase": "basics", "step": 12})
    again, info = load_model(path)
    assert (info.net, info.rules) == (net, RULES)
    assert info.made == {"phase": "basics", "step": 12}
    assert info.parameters == sum(each.numel() for each in model.parameters())
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name])
    batch = random_batch(8)
    assert np.array_equal(evaluator_of(model).evaluate(batch)[0], evaluator_of(again).evaluate(batch)[0])


def test_a_model_file_in_16_bits_has_half_the_size_and_nearly_the_weights(tmp_path: Path) -> None:
    model, path = model_of(), tmp_path / "model.safetensors"
    save_model(path, model, {}, half=True)
    again, info = load_model(path)
    assert info.parameters == sum(each.numel() for each in model.parameters())
    for name, tensor in model.state_dict().items():
        found = again.state_dict()[name]
        assert found.dtype == tensor.dtype
        assert torch.allclose(found, tensor, rtol=1e-3, atol=1e-7)
    save_model(tmp_path / "again.safetensors", again, {})
    assert path.stat().st_size < 0.75 * (tmp_path / "again.safetensors").stat().st_size
    with torch.no_grad():
        next(model.parameters()).fill_(1e5)
    with pytest.raises(NotFiniteError):  # more than 16 bits hold
        save_model(path, model, {}, half=True)


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.safetensors"
    save_file({"weight": torch.zeros(3)}, foreign)
    with pytest.raises(CheckpointError, match="no model of this program"):
        load_model(foreign)


def test_equal_models_give_equal_bytes(tmp_path: Path) -> None:
    made = {name: f"value of {name}" for name in ("preset", "phase", "step", "commit", "config", "search")}
    for name in ("one", "other"):
        save_model(tmp_path / name, model_of(), made)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    model, path = model_of(), tmp_path / "model.safetensors"
    save_model(path, model, {})
    with torch.no_grad():
        next(model.parameters()).fill_(float("inf"))
    before = path.read_bytes()
    with pytest.raises(NotFiniteError, match=r"model\.safetensors holds numbers that are not finite"):
        save_model(path, model, {})
    assert path.read_bytes() == before


def test_the_same_seed_makes_the_same_weights() -> None:
    first, again, other = (make_model(TINY, RULES, seed) for seed in (5, 5, 6))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert not torch.equal(*(net.nets["black"].trunk[0].conv.weight for net in (first, other)))
    assert not torch.equal(*(net.trunk[0].conv.weight for net in first.nets.values()))


CONVOLUTIONAL = NetConfig(
    trunk=("conv3-8", "pool-4"), policy_head=("conv3-1-bare",), value_head=("conv3-4", "max", "linear-4", "linear")
)


@pytest.mark.parametrize("config", [TINY, CONVOLUTIONAL, LINES])
def test_a_flat_model_has_a_uniform_policy_and_values_of_0(config: NetConfig) -> None:
    model = make_model(config, RULES, 5).eval()
    batch = as_tensors(random_batch(16, RULES))
    with torch.no_grad():
        before = model(*batch)
        zero_heads(model)
        logits, values = model(*batch)
    assert before[0].any() and before[1].any()
    assert not logits.any()
    assert not values.any()


# Planes


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("kind", Planes)
def test_planes_of_some_rows_are_those_of_training_and_other_rows_stay(kind: Planes, copies: int) -> None:
    batch, rows = random_batch(12), np.array([7, 0, 11, 3])
    batch.last_moves[0] = -1
    expected = encode(*as_tensors(batch), kind, torch.float32).permute(0, 2, 3, 1).flatten(1, 2).numpy()[rows]
    cells, count = batch.stones.shape[1], PLANE_COUNT[kind]
    kinds = (LAST_MOVES[kind], COLOUR_PLANES[kind], copies)
    planes = np.full((6, cells, copies * count), 5, np.float32)
    write_planes(batch.stones, batch.to_move, batch.last_moves, rows, planes, 1, kinds, np.float32(1))
    for copy in range(copies):
        assert np.array_equal(planes[1:5, :, copy * count : (copy + 1) * count], expected)
    assert np.all(planes[[0, 5]] == 5)
    bits = np.full((4, cells, copies * count), 7, np.uint16)
    write_planes(batch.stones, batch.to_move, batch.last_moves, rows, bits, 0, kinds, np.uint16(0x3F80))
    assert np.array_equal(bits, np.where(planes[1:5] == 1, 0x3F80, 0))
