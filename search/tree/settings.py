"""How a tree search searches: its numbers, in one place."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

MAX_SIMULATIONS = 10_000_000
"""Most simulations a move: their tree takes some 5 GB on 15x15."""


class DecayForm(StrEnum):
    """Where winning-value decay starts in the backup."""

    CONSISTENT = "consistent"
    """An edge into a judged leaf gets `-decay * v`: one value with `z = ±decay^k`."""
    REPOSITORY = "repository"
    """An edge into a judged leaf gets `-v`, as in the code of paper A."""


class FirstPlay(StrEnum):
    """What an unvisited child counts as."""

    REDUCED = "reduced"
    """The parent's value less `fpu_reduction * sqrt(sum of the visited children's priors)`."""
    ZERO = "zero"
    """0, as the papers have it."""


class Policy(StrEnum):
    """How a move is taken from the distribution pi."""

    STOCHASTIC = "stochastic"
    """Drawn from pi (A eq. 3)."""
    DETERMINISTIC = "deterministic"
    """The move with the largest pi (A eq. 4)."""
    SEMI_STOCHASTIC = "semi-stochastic"
    """Drawn while the board holds at most `switch_stage` stones, the largest afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """The numbers of a tree search."""

    simulations: int = 400
    """New simulations a move: each a descent that ends in a net evaluation or an end of game."""
    c_puct: float = 5.0
    """Weight of exploration (A eq. 8)."""
    value_decay: float = 0.9
    """Winning-value decay a ply in the backup (A III-C), 0 to 1; 1 is plain AlphaZero."""
    decay_form: DecayForm = DecayForm.CONSISTENT
    """Where the decay starts."""
    first_play: FirstPlay = FirstPlay.REDUCED
    """What an unvisited child counts as."""
    fpu_reduction: float = 0.25
    """How far an unvisited child counts below its parent, with `first_play = "reduced"`."""
    virtual_loss: int = 1
    """Lost visits an edge carries for each descent in flight through it (A II-E)."""
    virtual_loss_share: float = 0.3
    """How far towards a loss those visits pull an edge's mean value: 1 is the paper's `W -= virtual_loss`, 0 raises N
    alone, as its repository does. At 1 a search with 8 leaves in flight takes a fifth of the best move's visits."""
    leaves_in_flight: int = 8
    """Most leaves of one tree that wait for the net at once."""
    visits_per_leaf: int = 12
    """A tree has one leaf in flight at most for so many visits of its root: more would draw visits away from the best
    move (the dilution of A II-E)."""

    proven_nodes: bool = True
    """Whether wins and losses found in the tree are proven: what is proven is not searched further, and a search whose
    root is proven ends."""
    symmetric: bool = False
    """Whether each position is judged under one of its eight symmetries, drawn by its hash (Y 3.5)."""

    forced_moves: bool = False
    """Whether a five at hand is played and an opponent's answered without asking the net, at the root and at leaves."""
    vcf_root_nodes: int = 0
    """Nodes of a search for a victory by continuous fours before the tree is searched; 0 for none."""
    vcf_leaf_nodes: int = 0
    """Nodes of such a search at each leaf before the net is asked; 0 for none."""
    shun_open_fours: bool = False
    """Whether moves that let the opponent make an open four or two fours come last."""

    def __post_init__(self) -> None:
        if not 0 <= self.simulations <= MAX_SIMULATIONS:
            raise ValueError(f"simulations is {self.simulations}; it must be 0 to {MAX_SIMULATIONS:,}")
        if not self.c_puct >= 0:
            raise ValueError(f"c_puct is {self.c_puct}; it must be 0 or more")
        if not 0 < self.value_decay <= 1:
            raise ValueError(f"value_decay is {self.value_decay}; it must be above 0 and at most 1")
        if not 0 <= self.virtual_loss_share <= 1:
            raise ValueError(f"virtual_loss_share is {self.virtual_loss_share}; it must be from 0 to 1")
        for name in ("virtual_loss", "leaves_in_flight", "visits_per_leaf"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be 1 or more")
        for name in ("vcf_root_nodes", "vcf_leaf_nodes"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be 0 or more")
        if not self.proven_nodes and (self.forced_moves or self.vcf_root_nodes or self.vcf_leaf_nodes):
            raise ValueError("forced_moves, vcf_root_nodes and vcf_leaf_nodes prove nodes: they need proven_nodes")

    @property
    def looks_at_leaves(self) -> bool:
        """Whether the threats on leaves are looked at."""
        return self.forced_moves or self.vcf_leaf_nodes > 0 or self.shun_open_fours

    @property
    def looks_at_roots(self) -> bool:
        """Whether a win is looked for at roots."""
        return self.forced_moves or self.vcf_root_nodes > 0

    def with_tactics(self) -> Self:
        """The same search with all that sees forced wins: how models play outside of training.

        The budgets were measured with `python -m benchmarks.tree_tactics`: 100 nodes at leaves alone solve as much of
        the tactical suite as 300 but for one position, and take three quarters of their time. Of roots in the midst of
        games none took more than 200 nodes; the rest is for those that are worth it.
        """
        return replace(
            self, proven_nodes=True, forced_moves=True, vcf_root_nodes=20_000, vcf_leaf_nodes=100, shun_open_fours=True
        )

    def without_tactics(self) -> Self:
        """The same search with none of that."""
        return replace(self, forced_moves=False, vcf_root_nodes=0, vcf_leaf_nodes=0, shun_open_fours=False)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """The settings that `dataclasses.asdict` made `values` of; what it lacks has its default.

        Raises `ValueError` or `TypeError` for what is no setting.
        """
        if not isinstance(values, Mapping):
            raise TypeError("the settings of a search are names and values")
        enums = {"decay_form": DecayForm, "first_play": FirstPlay}
        read: dict[str, Any] = {name: enums[name](v) if name in enums else v for name, v in values.items()}
        return cls(**read)
