"""Settings of a tree search."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Self

from core.input_limits import (
    MAX_BATCHES_IN_FLIGHT,
    MAX_EXPLORATION,
    MAX_LEAVES_IN_FLIGHT,
    MAX_SIMULATIONS,
    MAX_VCF_NODES,
    MAX_VIRTUAL_LOSS,
    MAX_VISITS_PER_LEAF,
)
from core.setting_bounds import SHARE, Bounds, check_settings

DEFAULT_SIMULATIONS = 400
"""New simulations a move of a player with a net, where neither a number nor a time is given."""
DEFAULT_SWITCH_STAGE = 6
"""Stones up to which a semi-stochastic player draws its moves, where no other number is given (A II-C)."""
DEFAULT_MAX_BYTES = 1 << 30
"""Memory for all trees together without a limit of one's own."""


NODE_ALPHA = Bounds(0.001, 1)
"""Concentrations of the noise of every node: its kernel is for small ones."""


class DecayForm(StrEnum):
    """The start of winning-value decay in the backup.

    >>> gomoku.SearchSettings(decay_form=gomoku.DecayForm.REPOSITORY) == gomoku.SearchSettings(decay_form="repository")
    True
    """

    CONSISTENT = "consistent"
    """An edge into an evaluated leaf gets `-decay * v`, consistent with `z = ±decay^k`."""
    REPOSITORY = "repository"
    """An edge into an evaluated leaf gets `-v`, as in the code of paper A."""


class FirstPlay(StrEnum):
    """The value of an unvisited child (first-play urgency).

    >>> gomoku.SearchSettings(first_play=gomoku.FirstPlay.ZERO).first_play.value
    'zero'
    """

    REDUCED = "reduced"
    """The parent's value minus `fpu_reduction * sqrt(sum of the visited children's priors)`."""
    ZERO = "zero"
    """0, as in the papers."""


class Noise(StrEnum):
    """The place of the Dirichlet noise of self-play."""

    ROOT = "root"
    """Mixed into the root's priors, once a search."""
    EVERY_NODE = "every-node"
    """Mixed into the priors of every node, drawn anew at every selection (Y 3.2.1)."""
    MOVE = "move"
    """Mixed into pi for the draw of the move; the tree and the policy target are without noise (base code of S)."""


class Policy(StrEnum):
    """The choice of a move from the distribution pi.

    >>> settings = gomoku.PlayerSettings(policy=gomoku.Policy.DETERMINISTIC, simulations=50)
    >>> best = gomoku.open_engine("default", settings)
    >>> best.play(gomoku.Position(), seed=1).move == best.play(gomoku.Position(), seed=2).move
    True
    """

    STOCHASTIC = "stochastic"
    """Drawn from pi (A eq. 3)."""
    DETERMINISTIC = "deterministic"
    """The move with the largest pi (A eq. 4)."""
    SEMI_STOCHASTIC = "semi-stochastic"
    """Drawn while the board holds at most `switch_stage` stones, the largest afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """The settings of a tree search. Raises `ValueError` for a number out of its bounds, and for a name of no member.

    >>> gomoku.SearchSettings(simulations=200, c_puct=2.0).c_puct
    2.0
    """

    simulations: Annotated[int, Bounds(0, MAX_SIMULATIONS)] = 400
    """New simulations a move: each a descent that ends in a net evaluation or an end of game."""
    c_puct: Annotated[float, Bounds(0, MAX_EXPLORATION)] = 5.0
    """Weight of exploration (A eq. 8)."""
    c_puct_growth: Annotated[float, Bounds(0, MAX_EXPLORATION)] = 0.0
    """Growth of this weight with the visits n of a node: c_puct + c_puct_growth * ln(1 + n / 1000)."""
    value_decay: Annotated[float, Bounds(0, 1, above=True)] = 0.9
    """Winning-value decay a ply in the backup (A III-C); 1 is plain AlphaZero."""
    decay_form: DecayForm = DecayForm.CONSISTENT
    """The edge at which the decay starts."""
    first_play: FirstPlay = FirstPlay.REDUCED
    """The value of an unvisited child."""
    fpu_reduction: Annotated[float, Bounds(0, MAX_EXPLORATION)] = 0.25
    """Reduction of an unvisited child's value below its parent's, with `first_play = "reduced"`."""
    virtual_loss: Annotated[int, Bounds(1, MAX_VIRTUAL_LOSS)] = 1
    """Lost visits an edge carries for each descent in flight through it (A II-E)."""
    virtual_loss_share: Annotated[float, SHARE] = 0.3
    """Pull of those visits on an edge's mean value: 1 is the paper's `W -= virtual_loss`, 0 raises N alone, as its
    repository does. At 1 a search with 8 leaves in flight takes a fifth of the best move's visits."""
    leaves_in_flight: Annotated[int, Bounds(1, MAX_LEAVES_IN_FLIGHT)] = 8
    """Maximum of leaves of one tree that wait for the net at once."""
    batches_in_flight: Annotated[int, Bounds(1, MAX_BATCHES_IN_FLIGHT)] = 1
    """Batches over which a tree's leaves in flight are spread. With 1 a tree waits for all its leaves before its next
    descents, which costs nothing where many trees take turns; a single position needs several."""
    visits_per_leaf: Annotated[int, Bounds(1, MAX_VISITS_PER_LEAF)] = 12
    """A tree has at most one leaf in flight for every so many visits of its root: more would draw visits away from the
    best move (the dilution of A II-E)."""

    proven_nodes: bool = True
    """Prove wins and losses found in the tree. Proven nodes are not searched further, and a proven root ends the
    search."""
    symmetric: bool = False
    """Evaluate each position under one of its eight symmetries, drawn by its hash (Y 3.5)."""
    local_playouts: Annotated[float, SHARE] = 0.0
    """Share of simulations that are local (playout cap randomisation, S III-B1): they descend to half the mean depth of
    the tree's leaves, at least one ply, and back up the evaluation of the open node there again."""

    transpositions: bool = False
    """Give a new node the priors of another node with the same position, and the mean of its visits as its evaluation;
    a proof holds for all of them. Without effect for nets that see last moves, and with `symmetric`."""

    bound_errors: Annotated[float, Bounds(0, MAX_EXPLORATION)] = 0.0
    """Choose the best move by a lower bound of its value: the mean of its visits less so many standard errors. 0 takes
    the most visited move (A eq. 4)."""

    forced_moves: bool = False
    """Play a five and answer an opponent's four without the net, at the root and at leaves."""
    vcf_root_nodes: Annotated[int, Bounds(0, MAX_VCF_NODES)] = 0
    """Nodes of a search for a victory by continuous fours at the root, before the tree search; 0 for none."""
    vcf_leaf_nodes: Annotated[int, Bounds(0, MAX_VCF_NODES)] = 0
    """Nodes of such a search at each leaf, before the net; 0 for none."""
    shun_open_fours: bool = False
    """Leave out moves that let the opponent make an open four or two fours; put them last in caro, and for White in
    renju."""

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.proven_nodes and (self.looks_at_leaves or self.looks_at_roots):
            raise ValueError(
                "forced_moves, vcf_root_nodes, vcf_leaf_nodes and shun_open_fours prove moves: they need proven_nodes"
            )

    @property
    def looks_at_leaves(self) -> bool:
        """True if the search looks at the threats on leaves."""
        return self.forced_moves or self.vcf_leaf_nodes > 0 or self.shun_open_fours

    @property
    def looks_at_roots(self) -> bool:
        """True if the search looks for forced wins at roots."""
        return self.forced_moves or self.vcf_root_nodes > 0

    def with_tactics(self) -> Self:
        """Return the settings with all tactics on, as models play outside of training.

        The budget of leaves was measured with `benchmarks.leaf_fours` of commit 36b4785. No root in the midst of a game
        took more than 200 nodes; the larger budget is for long rows of fours.
        """
        return replace(
            self, proven_nodes=True, forced_moves=True, vcf_root_nodes=20_000, vcf_leaf_nodes=30, shun_open_fours=True
        )

    def for_one_position(self) -> Self:
        """Return the settings with enough leaves in flight to keep a machine busy with one position, as models play.

        `python -m benchmarks.speed position` measures the speed and the dilution of such settings.
        """
        return replace(self, leaves_in_flight=96, batches_in_flight=3, visits_per_leaf=6)

    def for_play(self) -> Self:
        """Return the settings with which models play outside of training: all tactics, the best move by its bound, and
        exploration that grows with visits.

        `python -m benchmarks.matches search all bound_errors=3 --opponent all` measures the gain of the bound.
        """
        played = self.with_tactics().for_one_position()
        return replace(played, transpositions=True, bound_errors=3.0, c_puct_growth=0.4)

    def literal(self) -> Self:
        """Return the settings without tactics, proofs, transpositions, bounds and growth, which the papers lack."""
        plain = self.without_tactics()
        return replace(plain, proven_nodes=False, transpositions=False, bound_errors=0.0, c_puct_growth=0.0)

    def without_tactics(self) -> Self:
        """Return the settings with all tactics off."""
        return replace(self, forced_moves=False, vcf_root_nodes=0, vcf_leaf_nodes=0, shun_open_fours=False)
