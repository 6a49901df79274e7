"""The policy-value nets, built from a `NetConfig`."""

import torch
from torch import Tensor, nn

from nets.blocks import module_of
from nets.config import NetConfig


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
