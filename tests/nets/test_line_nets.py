"""Line-pattern nets: the kernels compute what torch computes, to the last bit, on every board."""

import dataclasses
import itertools
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from core.compiled.line_nets.evaluation import evaluate_lines, line_board, line_room
from core.compiled.line_nets.numbers import DENSE_BITS, MEAN_SCALE, MIX_BITS, TOP, UNIT_BITS
from core.compiled.line_nets.patterns import digit_weights, empty_numbers, neighbours, region_edges
from core.evaluation import PositionBatch
from core.position import Position
from core.rules import WHITE, Rules
from nets import line_tables
from nets.checkpoint import save_model
from nets.config import Backend, NetConfig, Precision, RuntimeChoice, RuntimeNotice
from nets.dual import DualNet, enlarged, make_model
from nets.layers.lines import LineFeatures
from nets.line_blocks import LineFeatureBlock
from nets.line_tables import line_net
from nets.runtimes.loading import open_model
from nets.runtimes.net_evaluator import NetEvaluator
from nets.runtimes.runtime import RuntimeUnavailableError
from nets.shapes import fits
from search.tree.player import MctsPlayer
from search.tree.settings import SearchSettings
from tests.support.commands import python
from tests.support.nets import CPU, EXACT, as_tensors, priors, random_batch
from tests.support.nets import LINES as SMALL

DEFAULT = RuntimeChoice()
LARGE = dataclasses.replace(
    SMALL, trunk=("lines-64:48x3", "spread*2"), policy_head=("cells-32",), value_head=("regions-15-48-32",), dual=False
)


def _last(config: NetConfig) -> str:
    """The name of the layer that makes the features of a pattern."""
    assert config.line_layers is not None
    return [*config.line_layers[0].parts()][-1]


def model_of(config: NetConfig, size: int, seed: int = 1, scale: float = 8.0) -> DualNet:
    """A model with large numbers, so that some reach the limits of the integers."""
    model = make_model(config, Rules(size, 5), seed).eval()
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            if f"trunk.0.{_last(config)}" in name or "mix" in name:
                tensor.mul_(scale)
    return model


def weights_of(net: nn.Module) -> dict[str, NDArray[np.float32]]:
    return {name: tensor.numpy() for name, tensor in net.state_dict().items()}


class Twin:
    """The integers of a net, computed by torch from the weights, without the kernels and without their tables."""

    def __init__(self, net: nn.Module) -> None:
        self.weights = {name: tensor.double() for name, tensor in net.state_dict().items()}
        self.spreads = sum(name.endswith(".near.bias") for name in self.weights)
        self.first = net.trunk[0]  # type: ignore[index]

    def __call__(self, stones: Tensor) -> tuple[Tensor, Tensor]:
        """Return the integers behind logits [B, A] and values [B]. `stones` [B, A]: 1 own, 2 the opponent's."""
        size = round(stones.shape[1] ** 0.5)
        padded = functional.pad(stones, (0, 1))
        around = padded[:, torch.from_numpy(neighbours(size).copy())]
        numbers = torch.from_numpy(empty_numbers(size).copy()) + (around * torch.from_numpy(digit_weights())).sum(3)
        x = self.active(self.rows(numbers).sum(2), 0).transpose(1, 2).unflatten(2, (size, size))
        for layer in range(1, self.spreads + 1):
            x = self.spread(f"trunk.{layer}", x)
        pooled = self.active(self.product(x, "value.0.mix"), MIX_BITS).flatten(2)
        units = torch.cat((self.means(pooled, size), pooled.amax(2)), dim=1)
        logits = self.product(x, "policy.0.linear").flatten(1)
        if "policy.0.first.bias" in self.weights:
            own = self.active(self.dense(units, "policy.0.first"), DENSE_BITS)
            shared = self.weights["policy.0.linear.weight"][0].clamp(-8191 / 2**MIX_BITS, 8191 / 2**MIX_BITS)
            finer = UNIT_BITS + DENSE_BITS
            bias = rounded(self.weights["policy.0.second.bias"] + shared, finer, 1 << 28)
            own = functional.linear(own, rounded(self.weights["policy.0.second.weight"], DENSE_BITS, 4095), bias)
            weight = self.active(own, finer - MIX_BITS, least=None).clamp(-8191, 8191)
            bias = rounded(self.weights["policy.0.linear.bias"], UNIT_BITS + MIX_BITS, 1 << 28)
            logits = (x.flatten(2) * weight[:, :, None]).sum(1) + bias
        *hidden, last = [name for name in ("first", "second", "third") if f"value.0.{name}.bias" in self.weights]
        for name in hidden:
            units = self.active(self.dense(units, f"value.0.{name}"), DENSE_BITS)
        return logits, self.dense(units, f"value.0.{last}").squeeze(1)

    def rows(self, numbers: Tensor) -> Tensor:
        digits = self.first.digits[numbers.long()].double()
        *hidden, last = (name for name, _ in self.first.named_children())
        for name in (*hidden, last):
            weight, bias = (self.weights[f"trunk.0.{name}.{part}"] for part in ("weight", "bias"))
            digits = functional.linear(digits, weight, bias)
            digits = digits if name == last else digits.relu()
        return rounded(digits, UNIT_BITS, 8191)

    def spread(self, name: str, x: Tensor) -> Tensor:
        weight = rounded(self.weights[f"{name}.near.weight"], 13, 7050)
        total = rounded(self.weights[f"{name}.near.bias"] + 4.5 / 256, 8, 1024)[:, None, None]
        size = x.shape[2]
        margin = functional.pad(x, (1, 1, 1, 1))
        for tap in range(9):
            down, right = divmod(tap, 3)
            seen = margin[:, :, down : down + size, right : right + size]
            total = total + torch.floor(seen * weight[:, :, down, right, None] / 2**12)
        return self.active(x + self.active(self.product(self.active(total, 1), f"{name}.mix"), MIX_BITS, least=None), 0)

    def product(self, x: Tensor, name: str) -> Tensor:
        weight = rounded(self.weights[f"{name}.weight"], MIX_BITS, 8191)
        bias = rounded(self.weights[f"{name}.bias"], UNIT_BITS + MIX_BITS, 1 << 28)
        return functional.conv2d(x, weight[:, :, None, None], bias)

    def dense(self, x: Tensor, name: str) -> Tensor:
        weight = rounded(self.weights[f"{name}.weight"], DENSE_BITS, 4095)
        return functional.linear(x, weight, rounded(self.weights[f"{name}.bias"], UNIT_BITS + DENSE_BITS, 1 << 28))

    def means(self, pooled: Tensor, size: int) -> Tensor:
        edges, board, found = region_edges(size), pooled.unflatten(2, (size, size)), []
        for rows in itertools.pairwise(edges):
            for columns in itertools.pairwise(edges):
                region = board[:, :, rows[0] : rows[1], columns[0] : columns[1]].flatten(2)
                share = round(MEAN_SCALE * 2**16 / region.shape[2])
                found.append(self.active(region.sum(2) * share, 16))
        return torch.cat(found, dim=1)

    @staticmethod
    def active(x: Tensor, bits: int, least: int | None = 0) -> Tensor:
        quotients = torch.floor(x / 2**bits + (0.5 if bits else 0.0))
        return quotients if least is None else quotients.clamp(least, TOP)


def rounded(x: Tensor, bits: int, top: int) -> Tensor:
    return torch.floor(x * 2**bits + 0.5).clamp(-top, top)


@pytest.mark.parametrize(("config", "size", "scale"), [(SMALL, 15, 8.0), (LARGE, 22, 1.0), (SMALL, 7, 60.0)])
def test_the_kernels_equal_their_twin_in_torch_to_the_last_bit(config: NetConfig, size: int, scale: float) -> None:
    model, batch = model_of(config, size, scale=scale), random_batch(12, Rules(size, 5))
    net = next(iter(model.nets.values()))
    tables = line_net(config.layers(size), weights_of(net))
    logits = np.full((len(batch), size * size), np.nan, dtype=np.float32)
    values = np.full(len(batch), np.nan, dtype=np.float32)
    rows = np.arange(1, len(batch))
    board = line_board(size)
    room = line_room(tables, board)
    evaluate_lines(tables, board, room, batch.stones, batch.to_move, rows, logits, values)
    stones = torch.from_numpy(batch.stones * batch.to_move[:, None]).double() % 3
    exact_logits, exact_values = Twin(net)(stones)
    assert np.array_equal(logits[1:], exact_logits[1:].numpy() / 2 ** (UNIT_BITS + MIX_BITS))
    assert np.isnan(logits[0]).all(), "only the rows that were asked for"
    expected = np.tanh(exact_values[1:].numpy() / 2 ** (UNIT_BITS + DENSE_BITS))
    assert np.abs(values[1:] - expected).max() < 1e-7
    assert np.ptp(expected) > 0
    assert len(np.unique(room.flat)) > 20


@pytest.mark.parametrize(
    ("trunk", "policy", "value"),
    [
        (("lines-32:96", "spread"), "cells", "regions-15-16"),
        (("lines-32:64x4", "spread"), "cells-16", "regions-15-32"),
        (("lines-32:150x3", "spread"), "cells", "regions-15-48-64"),
        (("lines-32:96", "spread*3"), "cells-64", "regions-15-16-16"),
    ],
)
def test_a_larger_net_starts_with_the_values_of_a_smaller_one_and_its_units_learn_different_things(
    trunk: tuple[str, ...], policy: str, value: str
) -> None:
    model, batch = model_of(SMALL, 9, scale=3.0), random_batch(32, Rules(9, 5))
    config = dataclasses.replace(SMALL, trunk=trunk, policy_head=(policy,), value_head=(value,))
    assert config.holds(SMALL)
    larger = enlarged(model, config, model.rules, 5)
    for found, expected in zip(larger(*as_tensors(batch)), model(*as_tensors(batch)), strict=True):
        assert torch.allclose(found, expected, atol=1e-4)
    loss = larger(*as_tensors(batch))[0].square().sum()
    loss.backward()
    for net in larger.nets.values():
        gradient = net.trunk[0].first.weight.grad  # type: ignore[index, union-attr]
        live = gradient[gradient.abs().amax(1) > 0]
        assert len(live) > 32
        assert len(torch.unique(live, dim=0)) == len(live)
        assert all(spread.mix.weight.grad.any() for spread in net.trunk[1:])  # type: ignore[index, union-attr]
        second = getattr(net.policy[0], "second", None)  # type: ignore[index]
        assert second is None or second.weight.grad.any()


def test_one_net_starts_as_that_of_white_and_two_start_as_one() -> None:
    model, batch = model_of(SMALL, 9), random_batch(32, Rules(9, 5))
    one = dataclasses.replace(SMALL, dual=False)
    assert one.holds(SMALL)
    assert SMALL.holds(one)
    shared = enlarged(model, one, model.rules, 5)
    twice = enlarged(shared, SMALL, model.rules, 5)
    white = batch.to_move == WHITE
    for of_two, of_one, again in zip(*(each(*as_tensors(batch)) for each in (model, shared, twice)), strict=True):
        assert torch.allclose(of_one, again, atol=1e-5)
        assert torch.allclose(of_one[white], of_two[white], atol=1e-5)
        assert not torch.allclose(of_one[~white], of_two[~white], atol=1e-2)


def test_a_function_holds_no_larger_one_and_no_other_channels() -> None:
    def of(*trunk: str) -> NetConfig:
        return dataclasses.replace(SMALL, trunk=trunk)

    assert not SMALL.holds(of("lines-32:65", "spread"))
    assert not of("lines-32:256", "spread").holds(of("lines-32:64x3", "spread"))
    assert not of("lines-64:256", "spread").holds(SMALL)
    assert of("lines-32", "spread", "spread").holds(of("lines-32:64", "spread*2"))
    assert not SMALL.holds(of("lines-32", "spread*2"))
    assert not of("lines-32:256", "spread").holds(NetConfig())
    assert of("lines-32", "spread").line_layers == of("lines-32:64x2", "spread").line_layers


@pytest.mark.parametrize("heads", [("cells-16", "regions-15-16-32"), ("cells", "regions-15-32")])
def test_heads_hold_no_larger_ones(heads: tuple[str, str]) -> None:
    larger, smaller = (
        dataclasses.replace(SMALL, policy_head=(policy,), value_head=(value,))
        for policy, value in (("cells-16", "regions-15-32-32"), heads)
    )
    assert larger.holds(smaller)
    assert not smaller.holds(larger)


def test_lines_run_on_numba_by_default_and_each_row_on_its_own_net(tmp_path: Path) -> None:
    model, batch = model_of(SMALL, 15, scale=3.0), random_batch(70, Rules())
    save_model(tmp_path / "lines.safetensors", model, {})
    evaluator = NetEvaluator(model, DEFAULT)
    opened = open_model(tmp_path / "lines.safetensors", DEFAULT)
    assert (evaluator.runtime.backend, evaluator.runtime.precision) == (Backend.NUMBA, Precision.INT16)
    assert evaluator.version == opened.version
    assert evaluator.last_moves == 0
    logits, values = evaluator.evaluate(batch)
    again = opened.evaluate(batch)
    assert np.array_equal(logits, again[0])
    assert np.array_equal(values, again[1])
    one = PositionBatch.empty(1, batch.stones.shape[1])
    for row in range(4):
        one.stones[0], one.to_move[0] = batch.stones[row], batch.to_move[row]
        assert np.array_equal(evaluator.evaluate(one)[0][0], logits[row])
    swapped = dataclasses.replace(batch, stones=-batch.stones, to_move=-batch.to_move)
    assert not np.allclose(evaluator.evaluate(swapped)[0], logits), "the other net"
    exact_logits, exact_values = NetEvaluator(model, EXACT, device=CPU).evaluate(batch)
    assert np.abs(priors(logits, batch) - priors(exact_logits, batch)).max() < 0.02, "rounding changes little"
    assert np.abs(values - exact_values).max() < 0.03


def test_a_shared_table_is_that_of_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_tables, "user_cache_folder", lambda: tmp_path / "cache")
    own, layers = weights_of(next(iter(model_of(SMALL, 9).nets.values()))), SMALL.layers(9)
    expected = line_net(layers, own).table
    for _ in range(2):
        shared = line_net(layers, own, shared=True).table
        assert np.array_equal(shared, expected)
        assert (shared.dtype, shared.flags.writeable) == (expected.dtype, True)
    assert len(list((tmp_path / "cache" / "tables").iterdir())) == 1


def test_the_same_weights_play_on_every_size() -> None:
    shared = dataclasses.replace(SMALL, dual=False)
    assert fits(shared, Rules(6, 5), Rules(22, 5))
    rules = Rules(6, 5)
    evaluator = NetEvaluator(model_of(shared, 6), DEFAULT)
    player = MctsPlayer(evaluator, rules, SearchSettings(simulations=20), switch_stage=0, name="")
    assert 0 <= player.choose(Position(rules), seed=1).move < rules.cells


def test_a_library_that_cannot_run_a_net_is_replaced_with_a_notice() -> None:
    model = make_model(SMALL, Rules(9, 5), 0).eval()
    with pytest.warns(RuntimeNotice, match="openvino does not run line-pattern nets; the nets run on torch"):
        evaluator = NetEvaluator(model, RuntimeChoice(backend=Backend.OPENVINO), device=CPU)
    assert evaluator.runtime.backend is Backend.TORCH


def test_integers_are_for_line_nets() -> None:
    model = make_model(NetConfig.tower(2, 0, hidden=2), Rules(9, 5), 0)
    with pytest.raises(RuntimeUnavailableError, match="int16 is for line-pattern nets"):
        NetEvaluator(model, RuntimeChoice(precision=Precision.INT16), device=CPU)


def test_torch_learns_a_line_net() -> None:
    net = next(iter(make_model(SMALL, Rules(9, 5), 3).nets.values())).train()
    batch = random_batch(16)
    stones = torch.from_numpy(batch.stones)
    planes = torch.stack((stones == 1, stones == -1), dim=1).float().unflatten(2, (9, 9))
    targets = torch.from_numpy(np.where(batch.stones == 0, 1, 0).argmax(1))
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
    losses = []
    for _ in range(25):
        logits, values = net(planes)
        loss = functional.cross_entropy(logits, targets) + ((values - 0.5) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.7 * losses[0]


def test_tensors_of_a_training_have_few_sizes_and_the_same_features() -> None:
    """Of ever new sizes they leave memory in pieces."""
    block = LineFeatureBlock(LineFeatures(channels=32, units=64, depth=2))
    sizes, batches = set(), range(8, 40)
    hook = block.first.register_forward_hook(lambda part, given, output: sizes.add(len(output)))  # type: ignore[union-attr]
    for count in batches:
        stones = torch.from_numpy(random_batch(count, seed=count).stones).unflatten(1, (9, 9))
        block(torch.stack((stones == 1, stones == -1), dim=1).float())
    hook.remove()
    assert len(sizes) < len(batches) / 2
    planes = torch.stack((stones == 1, stones == -1), dim=1).float()
    alone = torch.cat([block(position) for position in planes.split(1)])  # each with other patterns beside
    torch.testing.assert_close(block(planes), alone)


def test_a_net_learns_after_it_has_played() -> None:
    rules = Rules(8, 5)  # a size that no other test here uses: constants of a size are made once
    net = next(iter(make_model(SMALL, rules, 3).nets.values()))
    planes = torch.zeros(2, 2, 8, 8)
    with torch.inference_mode():
        net.eval()(planes)
    logits, values = net.train()(planes)
    (logits.sum() + values.sum()).backward()
    assert any(parameter.grad is not None and parameter.grad.any() for parameter in net.parameters())


INTERPRETED = """
import sys
import numpy as np
from pathlib import Path
from core.evaluation import PositionBatch
from nets.runtimes.loading import open_model
batch = PositionBatch.empty(2, 36)
batch.stones[1, [14, 21]] = 1, -1
logits, values = open_model(Path(sys.argv[1])).evaluate(batch)
print("torch" in sys.modules, np.float64(logits).sum().hex(), np.float64(values).sum().hex())
"""


@pytest.mark.slow
def test_without_compilation_and_without_torch_the_evaluations_are_the_same(tmp_path: Path) -> None:
    save_model(tmp_path / "lines.safetensors", model_of(SMALL, 6), {})

    def run(**settings: str) -> str:
        return python(INTERPRETED, tmp_path / "lines.safetensors", env=os.environ | settings).stdout

    compiled = run()
    assert compiled.startswith("False ")
    assert run(NUMBA_DISABLE_JIT="1") == compiled
