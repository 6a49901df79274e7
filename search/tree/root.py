"""Results at the root of a searched tree: visit counts, proofs, priors, values, and the analysis made of them."""

import numpy as np
from numpy.typing import NDArray

from core.compiled.rules import CompiledRules, legal_masks
from core.rules import Cell
from search.analysis import Analysis, MoveAnalysis
from search.tree.forest import NO_NODE, Forest
from search.tree.kernels import roots
from search.tree.kernels.puct import exploration_after, puct
from search.tree.move_policy import search_policy, visit_distribution

_BOUND_SHARE = 0.05
"""Share of the most visits that a move needs for a bound of its value."""
_SURE = 1 << 40
"""More than any number of visits or plies."""
_HALVINGS = 24
"""Of an interval of visits, to find the fewest."""
_LINES = 8
"""Moves with a line of their own, the best ones: as many as the board's table of candidates shows."""


def root_visits(forest: Forest, tree: int) -> NDArray[np.int32]:
    """Return the visit counts [A] of the root's moves."""
    visits = np.empty(forest.cells, dtype=np.int32)
    roots.write_root_visits(forest, tree, visits)
    return visits


def root_proofs(rules: CompiledRules, forest: Forest, tree: int) -> NDArray[np.int16]:
    """Return the proofs [A] of the root's moves: `n` wins in `n` plies, `-n` loses in `n`, 0 is unknown."""
    proofs = np.empty(forest.cells, dtype=np.int16)
    roots.write_root_proofs(rules, forest, tree, proofs)
    return proofs


def root_priors(forest: Forest, tree: int) -> NDArray[np.float32]:
    """Return the priors [A] of the root's moves, 0 on occupied cells and everywhere before the root's evaluation."""
    priors = np.empty(forest.cells, dtype=np.float32)
    roots.write_root_priors(forest, tree, priors)
    return priors


def root_legal(rules: CompiledRules, forest: Forest, tree: int) -> NDArray[np.bool_]:
    """Return the mask [A] of the legal moves at the root."""
    of_tree = slice(tree, tree + 1)
    legal: NDArray[np.bool_] = legal_masks(rules, forest.root_stones[of_tree], forest.trees["to_move"][of_tree])[0]
    return legal


def root_policy(rules: CompiledRules, forest: Forest, tree: int, temperature: float = 1.0) -> NDArray[np.float32]:
    """Return pi [A] of the root's search (`search.tree.move_policy.search_policy`)."""
    visits, proofs = root_visits(forest, tree), root_proofs(rules, forest, tree)
    if visits.any() and not proofs.any():  # nearly always, and it takes half of the time
        return visit_distribution(visits, temperature)
    return search_policy(visits, proofs, root_priors(forest, tree), root_legal(rules, forest, tree), temperature)


def pruned_policy(rules: CompiledRules, forest: Forest, tree: int, c_puct: float) -> NDArray[np.float32]:
    """Return pi [A] of the root's search as a policy target, without forced visits (KataGo, Wu 2019, 3.2).

    From each move but the most visited one up to sqrt(k P n) visits are taken, as long as its Q + U stays below that of
    the most visited one: the search would not have made them by itself. A move with one visit left has none. A proven
    result decides as in `root_policy`.
    """
    policy = root_policy(rules, forest, tree)
    forced = float(forest.trees["forced_playouts"][tree])
    nodes = forest.nodes[tree][children_of(forest, tree, 0)]
    nodes = nodes[(nodes["visits"] > 0) & (nodes["proof"] == 0)]
    if forced == 0.0 or policy.max() == 1.0 or not len(nodes) or (root_proofs(rules, forest, tree) > 0).any():
        return policy
    visits, priors = nodes["visits"].astype(np.float64), nodes["prior"].astype(np.float64)
    means = nodes["value_sum"] / visits
    best, total = int(visits.argmax()), visits.sum()
    exploration = exploration_after(c_puct, total)
    top = puct(means[best], priors[best], visits[best], exploration)
    kept = np.maximum(visits - np.sqrt(forced * priors * total), 0.0)
    fewest, most = kept.copy(), visits.copy()
    for _ in range(_HALVINGS):
        middle = (fewest + most) / 2.0
        below = puct(means, priors, middle, exploration) <= top
        fewest, most = np.where(below, fewest, middle), np.where(below, middle, most)
    kept = np.where(puct(means, priors, kept, exploration) <= top, kept, most)
    kept[kept <= 1.0] = 0.0
    kept[best] = visits[best]
    policy[:] = 0.0
    policy[nodes["move"]] = kept / kept.sum()
    return policy


def best_move(rules: CompiledRules, forest: Forest, tree: int, bound_errors: float) -> Cell:
    """Return the best move of the root's search.

    With `bound_errors` of 0 it is the one with the largest pi (A eq. 4). Otherwise a result that is proven decides as
    there; without one it is the move with the largest lower bound of its value, the mean less so many standard errors.
    Moves with few visits beside the most visited one do not count, as their errors are not known.
    """
    policy = root_policy(rules, forest, tree)
    favourite = int(policy.argmax())
    if bound_errors == 0.0 or policy[favourite] == 1.0:
        return favourite
    nodes = forest.nodes[tree][children_of(forest, tree, 0)]
    nodes = nodes[(nodes["visits"] > 0) & (policy[nodes["move"]] >= _BOUND_SHARE * policy[favourite])]
    if not len(nodes):
        return favourite
    means = nodes["value_sum"] / nodes["visits"]
    variances = np.maximum(nodes["squares_sum"] / nodes["visits"] - means * means, 0.0)
    return int(nodes["move"][(means - bound_errors * np.sqrt(variances / nodes["visits"])).argmax()])


def children_of(forest: Forest, tree: int, node: int) -> list[int]:
    """Return the children of a node that have nodes of their own, the newest first; a proven one may have no visits."""
    siblings = forest.nodes["next_sibling"][tree]
    children = []
    child = int(forest.nodes["first_child"][tree, node])
    while child != NO_NODE:
        children.append(child)
        child = int(siblings[child])
    return children


def analyse_root(
    rules: CompiledRules,
    forest: Forest,
    tree: int,
    *,
    decay: float,
    seconds: float,
    bound_errors: float = 0.0,
    has_priors: bool = True,
    lines: int | None = None,
) -> Analysis:
    """Return the analysis of a tree after its search: every legal move, the best one first, and its variation.

    So many of the best moves as `lines` have a line of their own. `bound_errors` is that of `best_move`; `has_priors`
    is False for a search without a net.
    """
    legal = root_legal(rules, forest, tree)
    visits, proofs, priors = root_visits(forest, tree), root_proofs(rules, forest, tree), root_priors(forest, tree)
    policy = search_policy(visits, proofs, priors, legal)
    values = _root_values(forest, tree)
    moves = np.flatnonzero(legal)
    best = best_move(rules, forest, tree, bound_errors)
    # The last key counts first.
    moves = moves[np.lexsort((-priors[moves], -visits[moves], proofs[moves] < 0, -policy[moves], moves != best))]
    columns = (each[moves].tolist() for each in (values, priors, visits, proofs))
    variations = [_variation(forest, tree, move) for move in moves[: lines or _LINES].tolist()]
    variations += [()] * (len(moves) - len(variations))
    return Analysis(
        moves=tuple(
            MoveAnalysis(
                move, None if value != value else value, prior if has_priors else None, count, proof or None, line
            )
            for move, value, prior, count, proof, line in zip(moves.tolist(), *columns, variations, strict=True)
        ),
        value=float(roots.root_value(forest, tree, decay)),
        variation=variations[0],
        nodes=int(forest.nodes["visits"][tree, 0]),
        seconds=seconds,
    )


def _root_values(forest: Forest, tree: int) -> NDArray[np.float64]:
    """Return the mean values [A] of the visits of the root's moves; NaN without visits."""
    values = np.full(forest.cells, np.nan)
    children = forest.nodes[tree][children_of(forest, tree, 0)]
    children = children[children["visits"] > 0]
    values[children["move"]] = children["value_sum"] / children["visits"]
    return values


def _variation(forest: Forest, tree: int, first: Cell) -> tuple[Cell, ...]:
    """Return the line from `first` on: the shortest proven win, else the most visited move, else the longest loss."""
    nodes, variation = forest.nodes[tree], []
    children = [child for child in children_of(forest, tree, 0) if nodes["move"][child] == first]
    while children:
        proofs, visits = (nodes[field][children].astype(np.int64) for field in ("proof", "visits"))
        ranks = np.where(proofs > 0, 2 * _SURE - proofs, np.where(proofs == 0, _SURE + visits, -proofs))
        best = children[int(ranks.argmax())]
        variation.append(int(nodes["move"][best]))
        children = [child for child in children_of(forest, tree, best) if nodes["visits"][child]]
    return tuple(variation) or (first,)
