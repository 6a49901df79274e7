"""The policy-value nets, built from a `NetConfig`."""

import torch
from torch import Tensor, nn

from nets.blocks import module_of
from nets.config import NetConfig


class PolicyValueNet(nn.Module):
    """A trunk, a policy head and a value head.

    By default they are those of paper A (tables I to III), which have 147,053 trainable parameters on 15x15.
    """

    def __init__(self, config: NetConfig, size: int) -> None:
        """Build the net for boards of `size`; a fully connected layer over the board fits one size only."""
        super().__init__()
        trunk, policy, value = config.layers(size)
        self.trunk = nn.Sequential(*map(module_of, trunk))
        self.policy = nn.Sequential(*map(module_of, policy))
        self.value = nn.Sequential(*map(module_of, value))

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return policy logits [B, A] and values [B] in (-1, 1) for planes [B, P, D, D], both for the side to move.

        The policy is the softmax of the logits, over all cells in training and over the empty ones in a search.
        """
        x = self.trunk(planes)
        logits: Tensor = self.policy(x)
        return logits.reshape(x.shape[0], -1), torch.tanh(self.value(x).squeeze(1))
