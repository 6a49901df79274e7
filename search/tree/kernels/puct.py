"""Selection: the edge of a node with the largest Q + U (A eq. 6-8), the numbers of its formula, and its noise."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_inlined_kernel, lean_kernel
from core.rules import NO_CELL
from search.tree.forest import NO_NODE, Forest
from search.tree.noise import write_dirichlet
from search.tree.settings import DecayForm, FirstPlay, SearchSettings
from search.tree.softmax import Scratch, best_with_noise, prior_of

GROWTH_VISITS = 1000.0
"""Scale of the growth of `c_puct`: with so many visits it has grown by `c_puct_growth` times ln 2."""


class SearchParams(NamedTuple):
    """The numbers of `search.tree.settings` that kernels need."""

    c_puct: float
    """Weight of exploration (A eq. 8)."""
    c_puct_growth: float
    """Its growth with the visits of a node."""
    decay: float
    """Winning-value decay a ply (A III-C)."""
    repository: bool
    """True if the decay starts one edge above the leaf, as in the code of paper A."""
    fpu_reduction: float
    """Reduction of first-play urgency; negative for the papers' `Q = 0`."""
    virtual_loss: int
    """Lost visits of an edge for each descent in flight (A II-E)."""
    virtual_loss_share: float
    """Pull of these visits on the edge's mean value, 0 to 1."""
    proofs: bool
    """True if won and lost nodes are proven and then not searched further."""
    leaves_in_flight: int
    """Maximum of leaves of a tree in flight."""
    visits_per_leaf: int
    """Visits of the root for each leaf in flight: more leaves would draw visits away from the best move."""
    batches_in_flight: int
    """Batches over which a tree's leaves in flight are spread."""
    local_playouts: float
    """Share of descents that end at half the mean depth of the leaves (S III-B1)."""


def kernel_params(settings: SearchSettings) -> SearchParams:
    """Return the settings as kernels take them."""
    return SearchParams(
        c_puct=float(settings.c_puct),
        c_puct_growth=float(settings.c_puct_growth),
        decay=float(settings.value_decay),
        repository=settings.decay_form is DecayForm.REPOSITORY,
        fpu_reduction=float(settings.fpu_reduction) if settings.first_play is FirstPlay.REDUCED else -1.0,
        virtual_loss=int(settings.virtual_loss),
        virtual_loss_share=float(settings.virtual_loss_share),
        proofs=settings.proven_nodes,
        leaves_in_flight=int(settings.leaves_in_flight),
        visits_per_leaf=int(settings.visits_per_leaf),
        batches_in_flight=int(settings.batches_in_flight),
        local_playouts=float(settings.local_playouts),
    )


@lean_inlined_kernel
def exploration_after(c_puct: float, growth: float, visits: float) -> float:
    """Return the factor of P / (1 + N) in the U of the moves of a node with so many visits of its moves (A eq. 8)."""
    visits = max(1.0, visits)
    if growth > 0.0:
        c_puct += growth * math.log1p(visits / GROWTH_VISITS)
    return c_puct * math.sqrt(visits)


@lean_inlined_kernel
def puct(q: float, prior: float, visits: float, exploration: float) -> float:
    """Return Q + U of a move (A eq. 7, 8), which falls with its visits."""
    return q + exploration * prior / (1.0 + visits)


@lean_inlined_kernel
def select(
    forest: Forest, tree: int, node: int, params: SearchParams, noise: NDArray[np.float32] | None
) -> tuple[int, int]:
    """Return the edge with the largest Q + U at an open node, of those not proven to lose: (child, move).

    The child is `NO_NODE` for a move without a node. The current descent has been counted at `node` already.

    `noise` [A], of `draw_noise`, is mixed into the priors: P' = (1 - share) P + share * noise. So the largest prior of
    the moves without a node may be any of theirs.
    """
    here = forest.nodes[tree, node]
    exploration = exploration_at(forest, tree, node, params)
    share = forest.trees[tree]["node_noise_share"]
    best = -math.inf
    best_child = NO_NODE
    visited_priors = 0.0
    child = here["first_child"]
    while child != NO_NODE:
        edge = forest.nodes[tree, child]
        prior = edge["prior"]
        if noise is not None:
            prior = (np.float32(1.0) - share) * prior + share * noise[edge["move"]]
        visited_priors += prior
        if edge["proof"] >= 0:
            q, count = edge_statistics(forest, tree, child, params)
            score = puct(q, prior, count, exploration)
            if score > best:
                best = score
                best_child = child
        child = edge["next_sibling"]
    unvisited = here["next_unvisited"]
    if unvisited != NO_CELL:
        row = forest.child_priors[tree, node]
        if noise is None:
            first_prior = prior_of(row[unvisited])
        else:
            unvisited, noisy = best_with_noise(row, noise, share)
            first_prior = float(noisy)
        value = first_play_value(forest, tree, node, visited_priors, params)
        if puct(value, first_prior, 0.0, exploration) > best:
            return NO_NODE, unvisited
    return best_child, forest.nodes[tree, best_child]["move"]


@lean_kernel
def draw_noise(forest: Forest, tree: int, legal: NDArray[np.bool_], scratch: Scratch) -> None:
    """Draw Dir(alpha) over the `legal` moves [A] of a node into the tree's row of `Forest.noise` (Y 3.2.1)."""
    root = forest.trees[tree]
    alpha = float(root["node_noise_alpha"])
    root["draws"] = write_dirichlet(legal, forest.noise[tree], alpha, root["random_key"], root["draws"], scratch)


@lean_kernel
def exploration_at(forest: Forest, tree: int, node: int, params: SearchParams) -> float:
    """Return the `exploration` of a node's moves."""
    here = forest.nodes[tree, node]
    # The sum of N over the moves: every visit of a node but its first went on to a child, or was a local playout that
    # ended there, and so did every descent in flight but the current one.
    total = here["visits"] - 1 + params.virtual_loss * (here["in_flight"] - 1)
    return exploration_after(params.c_puct, params.c_puct_growth, float(total))


@lean_kernel
def edge_statistics(forest: Forest, tree: int, child: int, params: SearchParams) -> tuple[float, float]:
    """Return Q (A eq. 6) and N of the edge into a node, with its virtual losses."""
    edge = forest.nodes[tree, child]
    count = float(edge["visits"])
    q = edge["value_sum"] / count if count > 0.0 else 0.0
    if edge["in_flight"] > 0:
        # Virtual loss: each descent in flight counts as a visit whose value lies between the mean and a loss.
        lost = float(params.virtual_loss * edge["in_flight"])
        if count > 0.0:
            q -= params.virtual_loss_share * (q + 1.0) * lost / (count + lost)
        elif params.virtual_loss_share > 0.0:
            q = -1.0
        count += lost
    return q, count


@lean_kernel
def first_play_value(forest: Forest, tree: int, node: int, visited_priors: float, params: SearchParams) -> float:
    """Return the Q of a node's moves without visits; `visited_priors` is the sum of the other moves' priors."""
    if params.fpu_reduction < 0.0:
        return 0.0
    # First-play urgency: the mean of the node's own value and its children's, taken from the edge's sum.
    here = forest.nodes[tree, node]
    below = -here["value_sum"] / params.decay
    if params.repository:
        below += here["value"] * (1.0 - 1.0 / params.decay)
    # Without room for its reply a node is open before its first visit is backed up.
    mean: float = below / max(1, here["visits"])
    return mean - params.fpu_reduction * math.sqrt(visited_priors)
