"""The policy-value nets, built from a `NetConfig`."""

import torch
from torch import Tensor, nn

from nets.blocks import ConvNorm, ResidualBlock
from nets.config import PLANE_COUNT, NetConfig


class PolicyValueNet(nn.Module):
    """Paper A's net (tables I to III): a residual tower, a policy head and a value head.

    At the default sizes on 15x15 it has 147,053 trainable parameters.
    """

    def __init__(self, config: NetConfig, size: int) -> None:
        """Build the net for boards of `size`; the fully connected layers fit one size only."""
        super().__init__()
        cells = size * size
        self.stem = ConvNorm(PLANE_COUNT[config.planes], config.filters, 3)
        self.tower = nn.Sequential(*(ResidualBlock(config.filters) for _ in range(config.blocks)))
        self.policy_conv = ConvNorm(config.filters, config.policy_filters, 1)
        self.policy = nn.Linear(config.policy_filters * cells, cells)
        self.value_conv = ConvNorm(config.filters, config.value_filters, 1)
        self.value_hidden = nn.Linear(config.value_filters * cells, config.value_hidden)
        self.value = nn.Linear(config.value_hidden, 1)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return policy logits [B, A] and values [B] in (-1, 1) for planes [B, P, D, D], both for the side to move.

        The policy is the softmax of the logits, over all cells in training and over the empty ones in a search.
        """
        x = self.tower(torch.relu(self.stem(planes)))
        # reshape, not flatten: it reads channels-last memory in the order of the planes.
        policy = torch.relu(self.policy_conv(x)).reshape(x.shape[0], -1)
        value = torch.relu(self.value_conv(x)).reshape(x.shape[0], -1)
        logits: Tensor = self.policy(policy)
        return logits, torch.tanh(self.value(torch.relu(self.value_hidden(value))).squeeze(1))
