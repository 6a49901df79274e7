"""Results at the root of a searched tree: visit counts, proofs, priors, values, and the analysis made of them."""

import numpy as np
from numpy.typing import NDArray

from core.compiled.rules import CompiledRules, legal_masks
from core.rules import Cell
from search.analysis import Analysis, MoveAnalysis
from search.tree.forest import NO_NODE, Forest
from search.tree.kernels import roots
from search.tree.move_policy import search_policy, visit_distribution
from search.tree.proofs import proven_value
from search.tree.settings import FirstPlay, SearchSettings

_BOUND_PART = 20
"""A move needs this part of the most visits for a bound of its value."""
_SURE = 1 << 40
"""More than any number of visits or plies."""
_LINES = 8
"""Moves with a line of their own, the best ones: as many as the board's table of candidates shows."""


class Roots:
    """The results at the roots of the trees of a forest."""

    def __init__(
        self, rules: CompiledRules, forest: Forest, settings: SearchSettings, *, has_priors: bool = True
    ) -> None:
        """`has_priors`: False for a search without a net."""
        self._compiled_rules, self.forest, self.settings, self._has_priors = rules, forest, settings, has_priors

    def legal(self, tree: int) -> NDArray[np.bool_]:
        """Return the mask [A] of the legal moves at the root."""
        forest, of_tree = self.forest, slice(tree, tree + 1)
        legal: NDArray[np.bool_] = legal_masks(
            self._compiled_rules, forest.root_stones[of_tree], forest.trees["to_move"][of_tree]
        )[0]
        return legal

    def visits(self, tree: int) -> NDArray[np.int32]:
        """Return the visit counts [A] of the root's moves."""
        return self._moves(tree)[0]

    def proofs(self, tree: int) -> NDArray[np.int16]:
        """Return the proofs [A] of the root's moves: `n` wins in `n` plies, `-n` loses in `n`, 0 is unknown."""
        return self._moves(tree)[1]

    def priors(self, tree: int) -> NDArray[np.float32]:
        """Return the root's priors [A], with root noise and tactics; 0 on occupied cells, and before its evaluation."""
        return self._moves(tree)[2]

    def _moves(self, tree: int) -> tuple[NDArray[np.int32], NDArray[np.int16], NDArray[np.float32]]:
        """Return the visit counts, the proofs and the priors of the root's moves, each [A]."""
        cells = self.forest.cells
        found = np.empty(cells, np.int32), np.empty(cells, np.int16), np.empty(cells, np.float32)
        roots.write_root_moves(self._compiled_rules, self.forest, tree, *found)
        return found

    def value(self, tree: int) -> float:
        """Return the root's value for its side to move, -1 to 1: its proven value, else the mean of the search."""
        return float(roots.root_value(self.forest, tree, self.settings.value_decay))

    def policy(self, tree: int, temperature: float = 1.0) -> NDArray[np.float32]:
        """Return pi [A] of the search (`search.tree.move_policy.search_policy`)."""
        visits, proofs, priors = self._moves(tree)
        if visits.any() and not proofs.any():  # nearly always, and it takes half of the time
            return visit_distribution(visits, temperature)
        return self._proven_policy(tree, visits, proofs, priors, temperature)

    def _proven_policy(
        self,
        tree: int,
        visits: NDArray[np.int32],
        proofs: NDArray[np.int16],
        priors: NDArray[np.float32],
        temperature: float = 1.0,
    ) -> NDArray[np.float32]:
        """Return pi [A] by the root's moves; the longest loss comes first where other moves have a lower value yet."""
        settings, longest = self.settings, int(proofs.min())
        first_value = 0.0
        if settings.first_play is FirstPlay.REDUCED:
            first_value = self.value(tree) - settings.fpu_reduction * float(np.sqrt(priors[visits > 0].sum()))
        resists = longest < 0 and proven_value(longest, settings.value_decay) > first_value
        return search_policy(visits, proofs, priors, self.legal(tree), temperature, resists=resists)

    def best_move(self, tree: int) -> Cell:
        """Return the best move of the search.

        With `bound_errors` of 0 it is the one with the largest pi (A eq. 4). Otherwise a result that is proven decides
        as there; without one it is the move with the largest lower bound of its value, the mean less so many standard
        errors. Moves with few visits beside the most visited one do not count, as their errors are not known.
        """
        policy = self.policy(tree)
        favourite = int(policy.argmax())
        if self.settings.bound_errors == 0.0 or policy[favourite] == 1.0:
            return favourite
        nodes = self._children(tree)
        nodes = nodes[(nodes["visits"] > 0) & (policy[nodes["move"]] > 0)]
        if not len(nodes):
            return favourite
        # Whole numbers, since a rounded share may leave a move out that has just enough.
        nodes = nodes[_BOUND_PART * nodes["visits"].astype(np.int64) >= nodes["visits"].max()]
        means = nodes["value_sum"] / nodes["visits"]
        variances = np.maximum(nodes["squares_sum"] / nodes["visits"] - means * means, 0.0)
        return int(nodes["move"][(means - self.settings.bound_errors * np.sqrt(variances / nodes["visits"])).argmax()])

    def analysis(self, tree: int, seconds: float, lines: int | None = None) -> Analysis:
        """Return the analysis of a searched tree, which took `seconds`: every legal move, the best one first.

        So many of the best moves as `lines` have a line of their own; see `Player.search`.
        """
        legal, (visits, proofs, priors) = self.legal(tree), self._moves(tree)
        policy = self._proven_policy(tree, visits, proofs, priors)
        values = np.full(self.forest.cells, np.nan)
        """Mean values of the visits; NaN without any."""
        children = self._children(tree)
        children = children[children["visits"] > 0]
        values[children["move"]] = children["value_sum"] / children["visits"]
        moves = np.flatnonzero(legal)
        best = self.best_move(tree)
        # The last key counts first.
        moves = moves[np.lexsort((-priors[moves], -visits[moves], proofs[moves] < 0, -policy[moves], moves != best))]
        columns = (each[moves].tolist() for each in (values, priors, visits, proofs))
        variations = [_variation(self.forest, tree, move) for move in moves[: lines or _LINES].tolist()]
        variations += [()] * (len(moves) - len(variations))
        return Analysis(
            moves=tuple(
                MoveAnalysis(
                    *(move, None if value != value else value, prior if self._has_priors else None),
                    *(count, proof or None, line),
                )
                for move, value, prior, count, proof, line in zip(moves.tolist(), *columns, variations, strict=True)
            ),
            value=self.value(tree),
            variation=variations[0],
            nodes=int(self.forest.nodes["visits"][tree, 0]),
            seconds=seconds,
        )

    def _children(self, tree: int) -> NDArray[np.void]:
        """Return the records of the root's children."""
        records: NDArray[np.void] = self.forest.nodes[tree][children_of(self.forest, tree, 0)]
        return records


def children_of(forest: Forest, tree: int, node: int) -> list[int]:
    """Return the children of a node that have nodes of their own, the newest first; a proven one may have no visits."""
    siblings = forest.nodes["next_sibling"][tree]
    children = []
    child = int(forest.nodes["first_child"][tree, node])
    while child != NO_NODE:
        children.append(child)
        child = int(siblings[child])
    return children


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
