"""Layers by their names: the nets of the three papers, and names that make no net."""

from pathlib import Path

import pytest
import torch

from core.input_limits import MAX_LAYERS
from core.rules import Rules
from nets.blocks import module_of
from nets.checkpoint import load_model, save_model
from nets.config import NetConfig, Planes
from nets.dual import make_model
from nets.layers.board import Attention, PoolingBias
from nets.shapes import fits, parameter_total
from tests.support.nets import evaluator_of, model_of, priors, random_batch

PAPER_S = NetConfig(
    planes=Planes.FOUR,
    trunk=("conv3-32", "conv3-64", "conv3-128"),
    policy_head=("conv1-4", "linear"),
    value_head=("conv1-2", "linear-64", "linear"),
    batch_norm=False,
    dual=False,
)
PAPER_Y = NetConfig(
    planes=Planes.FIVE,
    trunk=("conv5-32", "conv3-32*3", "conv3-64*3", "conv3-128", "conv3-128-bare"),
    policy_head=("conv3-64*2", "conv3-32*3", "conv3-1-bare"),
    value_head=("conv3-64", "conv3-32*3", "max", "linear-32", "linear"),
    batch_norm=False,
    dual=False,
)
EVERY_LAYER = NetConfig(
    planes=Planes.FIVE,
    trunk=("conv5-24-pad3", "conv3-12", "residual", "garb", "pool-4", "conv3-8-bare"),
    policy_head=("conv1-3", "linear"),
    value_head=("conv3-6", "max", "linear-8", "linear"),
)


def test_the_nets_of_the_papers_have_their_numbers_of_parameters() -> None:
    assert parameter_total(NetConfig(), Rules()) == 2 * 147_053
    assert parameter_total(PAPER_S, Rules(9)) == 131_132
    assert [parameter_total(PAPER_Y, Rules(size)) for size in (8, 12, 20)] == [605_378] * 3


def test_a_fully_convolutional_net_has_the_same_weights_on_every_size() -> None:
    assert fits(PAPER_Y, Rules(8), Rules(20))
    assert not fits(PAPER_S, Rules(9), Rules(10))
    small = make_model(PAPER_Y, Rules(8), 0)
    large = make_model(PAPER_Y, Rules(12), 1)
    large.load_state_dict(small.state_dict())


@pytest.mark.parametrize("net", [PAPER_S, PAPER_Y, EVERY_LAYER], ids=["s", "y", "every layer"])
@pytest.mark.parametrize(("backend", "precision"), [("openvino", "fp32"), ("openvino", "bf16"), ("torch", "bf16")])
def test_every_runtime_computes_every_layer(net: NetConfig, backend: str, precision: str) -> None:
    model, batch = model_of(net), random_batch(32)
    logits, values = evaluator_of(model).evaluate(batch)
    other_logits, other_values = evaluator_of(model, backend, precision).evaluate(batch)
    most = 1e-4 if precision == "fp32" else 0.05
    assert abs(priors(logits, batch) - priors(other_logits, batch)).max() < most
    assert abs(values - other_values).max() < most


def test_a_model_of_every_layer_survives_its_file(tmp_path: Path) -> None:
    model = model_of(EVERY_LAYER)
    save_model(tmp_path / "model.safetensors", model, {})
    again, info = load_model(tmp_path / "model.safetensors")
    assert info.net == EVERY_LAYER
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name])


def test_pooled_channels_change_the_others_everywhere_and_alike() -> None:
    block = module_of(PoolingBias(channels=3, pooled=2)).eval()
    x = torch.randn(1, 5, 7, 7)
    far = x.clone()
    far[0, 0, 6, 6] += 10.0  # a pooled channel, at one cell
    change = block(far) - block(x)
    assert change.shape == (1, 3, 7, 7)
    assert change.abs().max() > 0
    assert torch.allclose(change, change[:, :, :1, :1].expand_as(change), atol=1e-5)


def test_pooling_takes_mean_scaled_mean_and_maximum() -> None:
    block = module_of(PoolingBias(channels=3, pooled=1)).eval()
    with torch.no_grad():
        block.linear.weight.copy_(torch.eye(3))
        block.linear.bias.zero_()
    x = torch.zeros(1, 4, 4, 4)
    x[0, 0, 0, 0] = 8.0
    mean, scaled, largest = block(x)[0, :, 3, 3].tolist()
    assert mean == pytest.approx(0.5, rel=1e-4)
    assert scaled == pytest.approx(0.5 * (4 - 14) / 10, rel=1e-4)
    assert largest == pytest.approx(8.0, rel=1e-4)


def test_the_attention_block_sees_the_whole_board() -> None:
    block = module_of(Attention(channels=6, pooled=2)).eval()
    x = torch.randn(1, 6, 15, 15)
    far = x.clone()
    far[0, 5, 14, 14] += 30.0
    assert (block(far) - block(x))[0, :, 0, 0].abs().max() > 0
    assert block(x).shape == x.shape


def test_more_rings_of_zeros_make_a_larger_board_for_the_heads() -> None:
    plain, wide = (NetConfig(trunk=(first, "residual"), dual=False) for first in ("conv3-32", "conv3-32-pad3"))
    more = parameter_total(wide, Rules(9)) - parameter_total(plain, Rules(9))
    assert more == (13**2 - 9**2) * (2 * 81 + 32)


LINES = {"trunk": ("lines-32", "spread"), "policy_head": ("cells",), "value_head": ("regions-15-32",)}
MISTAKES = {
    "unknown": ({"trunk": ("conv3-32", "residul")}, "there is no layer 'residul'; valid are conv3-32"),
    "empty": ({"trunk": ()}, f"trunk must have 1 to {MAX_LAYERS} layers"),
    "too many": ({"trunk": ("conv3-32", "residual*128")}, f"trunk must have 1 to {MAX_LAYERS} layers"),
    "none": ({"trunk": ("conv3-32", "residual*0")}, f"trunk must have 1 to {MAX_LAYERS} layers"),
    "no channels": ({"trunk": ("conv3-0",)}, "conv3-0 has 0 channels"),
    "even kernel": ({"trunk": ("conv4-32",)}, "kernel of 4; it must be odd"),
    "little padding": ({"trunk": ("conv5-32-pad1",)}, "must have 2 to 8 rings of zeros"),
    "first layer": ({"trunk": ("residual",)}, "must begin with a convolution"),
    "units in the trunk": ({"trunk": ("conv3-32", "max")}, "must keep the board"),
    "output in the trunk": ({"trunk": ("conv3-32", "linear")}, "only be the last layer of a head"),
    "output before the end": ({"policy_head": ("linear", "linear")}, "only be the last layer of a head"),
    "all pooled": ({"trunk": ("conv3-32", "pool-32")}, "pools all of the 32 channels"),
    "too few to split": ({"trunk": ("conv3-2", "garb")}, "garb needs 3 channels"),
    "two planes of logits": ({"policy_head": ("conv3-2-bare",)}, "policy_head must end with linear, or with one plane"),
    "logits after ReLU": ({"policy_head": ("conv3-1",)}, "policy_head must end with linear, or with one plane"),
    "a larger plane": (
        {"trunk": ("conv3-8-pad2",), "policy_head": ("conv3-1-bare",)},
        "policy_head must end with linear, or with one plane",
    ),
    "units without an output": ({"policy_head": ("max", "linear-32")}, "policy_head must end with linear"),
    "a board of values": ({"value_head": ("conv3-1",)}, "value_head must end with linear"),
    "a convolution of units": ({"value_head": ("max", "conv3-1")}, "conv3-1 needs a board"),
    "lines of a wrong width": (LINES | {"trunk": ("lines-48", "spread")}, "lines-48 must have a multiple of 32"),
    "too many lines": (LINES | {"trunk": ("lines-128", "spread")}, "channels, at most 96"),
    "too many units": (LINES | {"trunk": ("lines-32:2000", "spread")}, "2,000 channels; it must be from 1 to 1,024"),
    "too deep": (LINES | {"trunk": ("lines-32:64x5", "spread")}, "there is no layer 'lines-32:64x5'"),
    "lines alone": (LINES | {"trunk": ("lines-32",)}, "after lines come spread layers alone, at least one"),
    "lines and a convolution": (LINES | {"trunk": ("lines-32", "conv3-8")}, "after lines come spread layers alone"),
    "a spread without lines": ({"trunk": ("conv3-8", "spread")}, "trunk must begin with lines"),
    "another policy of lines": (LINES | {"policy_head": ("linear",)}, "must be cells"),
    "another value of lines": (LINES | {"value_head": ("linear",)}, "must be regions, such as regions-15-32"),
    "odd regions": (LINES | {"value_head": ("regions-16-32",)}, "must have 15 channels"),
    "a head of lines": ({"policy_head": ("cells",)}, "cells is a head of a net whose trunk begins with lines"),
    "a bare block": ({"trunk": ("conv3-8", "residual-bare")}, "there is no layer 'residual-bare'"),
}


@pytest.mark.parametrize(("settings", "complaint"), MISTAKES.values(), ids=list(MISTAKES))
def test_layers_that_make_no_net_are_refused(settings: dict[str, tuple[str, ...]], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        NetConfig(**settings)
