"""The policy-value net, and the model: one net for each colour (A III-B), or one for both."""

import torch
from torch import Tensor, nn

from core.rules import WHITE, Colour, Rules
from nets.blocks import channels_last, module_of
from nets.config import NetConfig
from nets.dispatch import net_colours, net_names
from nets.line_blocks import LinePolicyHead, LineValueHead, larger_function, larger_value_head
from nets.planes import encode


class PolicyValueNet(nn.Module):
    """A trunk, a policy head and a value head.

    By default they are those of paper A (tables I to III), which have 147,053 trainable parameters on 15x15.
    """

    policy: nn.Sequential
    value: nn.Sequential

    def __init__(self, config: NetConfig, size: int) -> None:
        """Build the net for boards of `size`; a fully connected layer over the board fits one size only."""
        super().__init__()
        layers = config.layers(size)
        self.trunk = nn.Sequential(*map(module_of, layers.trunk))
        self._heads = tuple(layers.heads)
        for name, head in layers.heads.items():
            self.add_module(name, nn.Sequential(*map(module_of, head)))
        for policy, value in zip(self.policy, self.value, strict=False):
            if isinstance(policy, LinePolicyHead) and isinstance(value, LineValueHead):
                policy.read(value)

    def outputs(self, planes: Tensor) -> dict[str, Tensor]:
        """Return the output of each head by its target's name, [B, n], for planes [B, P, D, D]; that of `value` is [B].

        Auxiliary heads have logits, or numbers of any size.
        """
        x = self.trunk(planes)
        found = {name: self.get_submodule(name)(x).flatten(1) for name in self._heads}
        return found | {"value": torch.tanh(found["value"].squeeze(1))}

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return policy logits [B, A] and values [B] in (-1, 1) for planes [B, P, D, D], both for the side to move.

        The policy is the softmax of the logits, over all cells in training and over the empty ones in a search.
        """
        x = self.trunk(planes)
        logits: Tensor = self.policy(x)
        return logits.reshape(x.shape[0], -1), torch.tanh(self.value(x).squeeze(1))


class DualNet(nn.Module):
    """A black net and a white net (`black.*`, `white.*`), or one for both (`shared.*`).

    The side to move at a position decides which net evaluates it. `forward` shows that in torch alone; evaluators split
    their batches by `nets.dispatch` and run each net by itself.
    """

    def __init__(self, config: NetConfig, rules: Rules) -> None:
        super().__init__()
        self.config = config
        self.rules = rules
        self.nets = nn.ModuleDict({name: PolicyValueNet(config, rules.size) for name in net_names(config)})

    def net_name(self, colour: Colour | None) -> str:
        """Return the name of the net for positions with `colour` to move; None stands for both, in a model of one."""
        return next(name for name, own in net_colours(self.config.dual).items() if own in (colour, None))

    def net_of(self, colour: Colour | None) -> PolicyValueNet:
        """Return the net of `net_name`."""
        net = self.nets[self.net_name(colour)]
        assert isinstance(net, PolicyValueNet)
        return net

    def forward(self, stones: Tensor, to_move: Tensor, last_moves: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits [B, A] and values [B] for the side to move; the net of that side evaluates each row.

        Arguments as in `nets.planes.encode`.
        """
        parameter = next(self.parameters())
        planes = encode(stones, to_move, last_moves, self.config.planes, parameter.dtype)
        logits = planes.new_empty((len(stones), stones.shape[1]))
        values = planes.new_empty(len(stones))
        for colour in net_colours(self.config.dual).values():
            if colour is None:
                result: tuple[Tensor, Tensor] = self.net_of(None)(planes)
                return result
            rows = torch.nonzero(to_move == colour).squeeze(1)
            if len(rows):
                logits[rows], values[rows] = self.net_of(colour)(planes[rows])
        return logits, values


def make_model(config: NetConfig, rules: Rules, seed: int) -> DualNet:
    """Return a new model with random weights, which depend on `seed` alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed % (1 << 63))
        return channels_last(DualNet(config, rules))


def enlarged(model: DualNet, config: NetConfig, rules: Rules, seed: int) -> DualNet:
    """Return a model of `config`, which holds that of `model` (`NetConfig.holds`).

    It has the same policies and values but for rounding; one net in place of two has those of White's everywhere.
    """
    result = make_model(config, rules, seed)
    random = torch.Generator().manual_seed(seed % (1 << 63))
    old, new = model.config.line_layers, config.line_layers
    for name, colour in net_colours(config.dual).items():
        net, fresh = model.net_of(colour or WHITE), result.nets[name].state_dict()
        weights = {**fresh, **net.state_dict()}
        # A spread layer whose product is zero returns its input; a policy's weights are the same for all positions.
        for key in weights.keys() - net.state_dict().keys():
            if ".mix." in key or key.startswith("policy.0.second."):
                weights[key] = torch.zeros_like(weights[key])
        if old is not None and new is not None:
            if old[0] != new[0]:
                weights |= larger_function(weights, old[0], new[0], random)
            weights |= larger_value_head(fresh, weights, old[2], new[2])
        result.nets[name].load_state_dict(weights)
    return result.eval()


def zero_heads(model: DualNet) -> None:
    """Set the last layers of both heads to zero: the policy of each net becomes uniform, and its values 0."""
    with torch.no_grad():
        for net in model.nets.values():
            assert isinstance(net, PolicyValueNet)
            for head in (net.policy, net.value):
                last = [layer for layer in head.modules() if isinstance(layer, nn.Linear | nn.Conv2d)][-1]
                for parameter in last.parameters():
                    parameter.zero_()
