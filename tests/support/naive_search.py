"""The search again, in plain Python with dictionaries: slow, recursive, and easy to believe.

One leaf at a time, so there is no virtual loss. It shares no code with `search.tree.kernels`, and priors, which are
rounded, with `search.tree.softmax`.
"""

import math
import statistics
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.compiled import legal_moves_of
from core.position import Position
from search.tree.softmax import make_scratch, priors_of, write_priors

Evaluate = Callable[[Position], tuple[NDArray[np.float32], float]]
"""Position to (policy logits [A], value for the side to move)."""


class NaiveNode:
    """An evaluated position: N, W, the values in W and P of each legal move, for the side to move here."""

    def __init__(self, priors: dict[int, float], value: float) -> None:
        self.priors = priors
        self.value = value
        self.visits = dict.fromkeys(priors, 0)
        self.totals = dict.fromkeys(priors, 0.0)
        self.values: dict[int, list[float]] = {move: [] for move in priors}
        self.children: dict[int, NaiveNode] = {}
        self.revisits = 0
        """Local playouts that ended here."""
        self.ended: dict[int, int] = {}
        """Moves proven to win (n plies from here) or to lose (-n)."""

    def proof(self) -> int:
        """Return the proof of this position for the side to move: n wins in n plies, -n loses in n, 0 is unknown."""
        wins = [plies for plies in self.ended.values() if plies > 0]
        if wins:
            return min(wins)
        if len(self.ended) == len(self.priors):
            return min(self.ended.values())
        return 0


class NaiveSearch:
    """The rules of the search as in the papers, with the project's options."""

    def __init__(
        self,
        evaluate: Evaluate,
        *,
        c_puct: float,
        growth: float = 0.0,
        decay: float,
        repository: bool = False,
        fpu: float | None = None,
        proofs: bool = False,
        noise: Callable[[Position], NDArray[np.float32]] | None = None,
        noise_share: float = 0.0,
        is_local: Callable[[], bool] | None = None,
    ) -> None:
        """`noise` gives the noise [A] of one selection at a position, `is_local` tells of each simulation if it is."""
        self.evaluate, self.c_puct, self.decay, self.repository, self.fpu = evaluate, c_puct, decay, repository, fpu
        self.growth = growth
        self.proofs = proofs
        self.noise, self.noise_share, self.is_local = noise, noise_share, is_local
        self.root: NaiveNode | None = None
        self.leaf_depths: list[int] = []

    def visits(self) -> dict[int, int]:
        """Return the visits of the root's moves, those without a visit left out."""
        assert self.root is not None
        return {move: count for move, count in self.root.visits.items() if count}

    def bounds(self, errors: float) -> dict[int, float]:
        """Return the lower bounds of the values of the root's moves that may be the best one, of a root without proof.

        They are not proven to lose, and have a twentieth of the most visits or more.
        """
        assert self.root is not None
        values = {move: found for move, found in self.root.values.items() if found and move not in self.root.ended}
        most = max((len(found) for found in values.values()), default=0)
        return {
            move: statistics.fmean(found) - errors * statistics.pstdev(found) / math.sqrt(len(found))
            for move, found in values.items()
            if len(found) >= most / 20
        }

    def simulate(self, position: Position) -> None:
        """Make one simulation from the root position, which stays unchanged."""
        if self.root is not None and self.root.proof():
            return
        deepest = math.inf
        if self.is_local is not None and self.is_local():
            mean = sum(self.leaf_depths) / len(self.leaf_depths) if self.leaf_depths else 0.0
            deepest = max(1, math.ceil(mean / 2))
        if self.root is None:
            self.root = self._evaluated(position)
            self.leaf_depths.append(0)
        else:
            self._descend(self.root, position, 1, deepest)

    def _evaluated(self, position: Position) -> NaiveNode:
        logits, value = self.evaluate(position)
        legal = position.legal_moves()
        row = np.empty(len(logits), dtype=np.int16)
        write_priors(legal_moves_of(position), logits, row, make_scratch(len(logits)))
        priors = priors_of(row)
        return NaiveNode({cell: float(priors[cell]) for cell in legal}, value)

    def _descend(self, node: NaiveNode, position: Position, depth: int, deepest: float) -> float:
        """Visit the best move, `depth` plies from the root; return the value of its edge, for the side to move here."""
        open_moves = [cell for cell in node.priors if cell not in node.ended]
        priors = self._priors(node, position)
        move = max(open_moves, key=lambda cell: (self._score(node, priors, cell), -cell))
        position.push(move)
        if (outcome := position.outcome()) is not None:
            self.leaf_depths.append(depth)
            got = 0.0 if outcome.winner is None else 1.0
            if self.proofs and outcome.winner is not None:
                node.ended[move] = 1
        elif move not in node.children:
            self.leaf_depths.append(depth)
            node.children[move] = self._evaluated(position)
            got = self._value_into(node.children[move])
        elif depth >= deepest:
            node.children[move].revisits += 1
            got = self._value_into(node.children[move])
        else:
            got = -self.decay * self._descend(node.children[move], position, depth + 1, deepest)
            if plies := node.children[move].proof():
                # A win there is a loss here, one ply further away, and is worth what it is, not what was sampled.
                node.ended[move] = -(abs(plies) + 1) if plies > 0 else abs(plies) + 1
                got = math.copysign(self.decay ** abs(plies), node.ended[move])
        position.pop()
        node.visits[move] += 1
        node.totals[move] += got
        node.values[move].append(got)
        return got

    def _value_into(self, node: NaiveNode) -> float:
        return -node.value if self.repository else -self.decay * node.value

    def _priors(self, node: NaiveNode, position: Position) -> dict[int, float]:
        """Return the priors of one selection."""
        if self.noise is None:
            return node.priors
        noise, share = self.noise(position), np.float32(self.noise_share)
        return {
            cell: float((np.float32(1.0) - share) * np.float32(prior) + share * noise[cell])
            for cell, prior in node.priors.items()
        }

    def _score(self, node: NaiveNode, priors: dict[int, float], move: int) -> float:
        visited = [cell for cell in node.priors if node.visits[cell]]
        total = node.revisits + sum(node.visits.values())
        if node.visits[move]:
            q = node.totals[move] / node.visits[move]
        elif self.fpu is None:
            q = 0.0
        else:
            own = (1 + node.revisits) * node.value
            here = (own + sum(node.totals.values())) / (1 + total)
            q = here - self.fpu * math.sqrt(sum(priors[cell] for cell in visited))
        c_puct = self.c_puct + self.growth * math.log(1 + max(1, total) / 1000)
        return q + c_puct * priors[move] * math.sqrt(max(1, total)) / (1 + node.visits[move])
