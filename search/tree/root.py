"""Results at the root of a searched tree: visit counts, proofs, priors, values, and the analysis made of them."""

import numpy as np
from numpy.typing import NDArray

from core.rules import EMPTY, Cell
from search.analysis import Analysis, MoveAnalysis
from search.tree import kernels, softmax
from search.tree.forest import NO_NODE, OPEN, Forest
from search.tree.move_policy import search_policy


def root_visits(forest: Forest, tree: int) -> NDArray[np.int32]:
    """Return the visit counts [A] of the root's moves."""
    visits = np.empty(forest.cells, dtype=np.int32)
    kernels.write_root_visits(forest, tree, visits)
    return visits


def root_proofs(forest: Forest, tree: int) -> NDArray[np.int16]:
    """Return the proofs [A] of the root's moves: `n` wins in `n` plies, `-n` loses in `n`, 0 is unknown."""
    proofs = np.empty(forest.cells, dtype=np.int16)
    kernels.write_root_proofs(forest, tree, proofs)
    return proofs


def root_priors(forest: Forest, tree: int) -> NDArray[np.float32]:
    """Return the priors [A] of the root's moves, 0 on occupied cells and everywhere before the root's evaluation."""
    if forest.nodes["state"][tree, 0] != OPEN:
        return np.zeros(forest.cells, dtype=np.float32)
    priors = softmax.priors_of(forest.child_priors[tree, 0])
    for child in children_of(forest, tree, 0):
        priors[forest.nodes["move"][tree, child]] = forest.nodes["prior"][tree, child]
    return priors


def root_policy(forest: Forest, tree: int, temperature: float = 1.0) -> NDArray[np.float32]:
    """Return pi [A] of the root's search (`search.tree.move_policy.search_policy`)."""
    legal = forest.root_stones[tree] == EMPTY
    visits, proofs, priors = root_visits(forest, tree), root_proofs(forest, tree), root_priors(forest, tree)
    return search_policy(visits, proofs, priors, legal, temperature)


def children_of(forest: Forest, tree: int, node: int) -> list[int]:
    """Return the children of a node that have nodes of their own, the newest first; a proven one may have no visits."""
    nodes = forest.nodes[tree]
    children = []
    child = int(nodes["first_child"][node])
    while child != NO_NODE:
        children.append(child)
        child = int(nodes["next_sibling"][child])
    return children


def analyse_root(forest: Forest, tree: int, *, decay: float, seconds: float, has_priors: bool = True) -> Analysis:
    """Return the analysis of a tree after its search: every legal move, and the variation of most visits.

    Proven moves have their proven value. `has_priors` is False for a search without a net.
    """
    policy, proofs = root_policy(forest, tree), root_proofs(forest, tree)
    visits, priors = root_visits(forest, tree), root_priors(forest, tree)
    values = _root_values(forest, tree)

    def move_analysis(move: Cell) -> MoveAnalysis:
        value = kernels.proven_value(proofs[move], decay) if proofs[move] else values.get(move)
        return MoveAnalysis(
            move,
            value=None if value is None else float(value),
            prior=float(priors[move]) if has_priors else None,
            visits=int(visits[move]),
            proof=int(proofs[move]) or None,
        )

    legal = [int(cell) for cell in np.flatnonzero(forest.root_stones[tree] == EMPTY)]
    order = sorted(legal, key=lambda move: (-policy[move], proofs[move] < 0, -visits[move], -priors[move]))
    return Analysis(
        moves=tuple(map(move_analysis, order)),
        value=float(kernels.root_value(forest, tree, decay)),
        variation=_variation(forest, tree, order[0]),
        nodes=int(forest.nodes["visits"][tree, 0]),
        seconds=seconds,
    )


def _root_values(forest: Forest, tree: int) -> dict[Cell, float]:
    """Return the mean value of each visited move at the root, for the side to move."""
    nodes = forest.nodes[tree]
    return {
        int(nodes["move"][child]): float(nodes["value_sum"][child] / nodes["visits"][child])
        for child in children_of(forest, tree, 0)
        if nodes["visits"][child]
    }


def _variation(forest: Forest, tree: int, first: Cell) -> tuple[Cell, ...]:
    """Return the line from `first` on: the shortest proven win, else the most visited move, else the longest loss."""
    nodes = forest.nodes[tree]

    def rank(child: int) -> tuple[int, int]:
        proof, visits = int(nodes["proof"][child]), int(nodes["visits"][child])
        return (2, -proof) if proof > 0 else (1, visits) if proof == 0 else (0, -proof)

    variation = []
    children = [child for child in children_of(forest, tree, 0) if nodes["move"][child] == first]
    while children:
        best = max(children, key=rank)
        variation.append(int(nodes["move"][best]))
        children = [child for child in children_of(forest, tree, best) if nodes["visits"][child]]
    return tuple(variation) or (first,)
