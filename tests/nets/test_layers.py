"""Layers by their names: nets of the papers on every runtime, and names that make no net."""

import pytest
import torch

from core.rules import Rules
from nets.blocks import module_of
from nets.config import NetConfig, Planes
from nets.dual import make_model
from nets.layers.board import Attention, PoolingBias
from nets.shapes import fits
from tests.support.cases import cases
from tests.support.nets import as_tensors, evaluator_of, model_of, priors, random_batch

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


def test_a_fully_convolutional_net_has_the_same_weights_on_every_size() -> None:
    assert fits(PAPER_Y, Rules(8), Rules(20))
    assert not fits(PAPER_S, Rules(9), Rules(10))
    small = make_model(PAPER_Y, Rules(8), 0)
    large = make_model(PAPER_Y, Rules(12), 1)
    large.load_state_dict(small.state_dict())


@pytest.mark.parametrize("net", [PAPER_Y, EVERY_LAYER], ids=["y", "every layer"])
@pytest.mark.parametrize("backend", ["torch", "openvino"])
@pytest.mark.parametrize(("precision", "most"), [("fp32", 1e-4), ("bf16", 0.05)])
def test_every_runtime_computes_every_layer(net: NetConfig, backend: str, precision: str, most: float) -> None:
    model, batch = model_of(net), random_batch(32)
    logits, values = evaluator_of(model, backend, precision).evaluate(batch)
    with torch.no_grad():
        exact_logits, exact_values = (answer.numpy() for answer in model(*as_tensors(batch)))
    assert abs(priors(logits, batch) - priors(exact_logits, batch)).max() < most
    assert abs(values - exact_values).max() < most


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


@pytest.mark.parametrize(("settings", "complaint"), cases("layers_refused"))
def test_layers_that_make_no_net_are_refused(settings: dict[str, list[str]], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        NetConfig(**{part: tuple(layers) for part, layers in settings.items()})
