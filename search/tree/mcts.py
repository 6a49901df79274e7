"""The driver of the search: while the evaluator works on one group of trees, kernels descend the next."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.line_nets.evaluation import HasLines
from core.compiled.rules import compile_rules
from core.compiled.symmetry import sources, targets
from core.compiled.zobrist import STONE_KEYS, WHITE_TO_MOVE
from core.cores import Threads, cores
from core.evaluation import Evaluator
from core.position import Position
from core.rules import BLACK, Cell, Rules
from core.streams import stream_key
from search.tree.cache import EvaluationCache, Identity
from search.tree.forest import OPEN, forget_positions, make_forest, reset_tree, set_root
from search.tree.groups import SharedBatch, SharedParts, TreeGroup
from search.tree.kernels import roots
from search.tree.kernels.expansion import mix_root_noise
from search.tree.kernels.gathering import batch_leaves
from search.tree.kernels.puct import kernel_params
from search.tree.leaf_tactics import LeafTactics, make_root_tactics, new_boards
from search.tree.line_search import MAX_WINDOW, LineBatch
from search.tree.root import Roots
from search.tree.settings import SearchSettings


class RootNoise(NamedTuple):
    """Noise that is mixed into the priors of a search's root, once."""

    values: NDArray[np.float32]
    """[A]"""
    share: float


class NodeNoise(NamedTuple):
    """Noise Dir(alpha) over the legal moves that is mixed into a node's priors, drawn anew at every selection.

    `alpha` is within `search.tree.settings.NODE_ALPHA`.
    """

    alpha: float
    share: float


class ForestSearch(Roots):
    """Asynchronous tree search with virtual loss over many positions side by side (A II-E).

    Give each tree a position (`set_root`) and simulations (`begin`), call `advance` until it returns the tree, read
    `visits`, `value` and the other results, then `play` a move or set another root. The results and the order in which
    trees finish depend on the evaluations and the keys of the searches alone, not on timing, threads, or the cache.
    """

    def __init__(
        self,
        rules: Rules,
        evaluator: Evaluator,
        settings: SearchSettings,
        *,
        trees: int,
        capacity: int | None = None,
        cache: EvaluationCache | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        """`capacity`: nodes of a tree; by default those of one search from a fresh root.

        `cache`: None evaluates every leaf. `seed`: of the symmetries. `threads`: for the descents of a group; by
        default as many as the evaluator leaves free.
        """
        self.rules, self._seed = rules, seed
        self.cache = cache or EvaluationCache(rules.cells)
        self.evaluations = 0
        """Positions submitted to the evaluator so far."""
        # Last moves and drawn symmetries tell nodes with the same stones apart.
        transpositions = settings.transpositions and evaluator.last_moves == 0 and not settings.symmetric
        forest = make_forest(trees, capacity or settings.simulations + 1, rules.cells, transpositions=transpositions)
        super().__init__(compile_rules(rules), forest, settings)
        self._active = np.zeros(trees, dtype=np.bool_)
        self._remap = np.empty(self.forest.capacity, dtype=np.int32)
        boards = new_boards(rules, trees) if settings.looks_at_leaves or settings.looks_at_roots else None
        self._root_tactics: LeafTactics | None = None
        if boards and settings.looks_at_roots:
            self._root_tactics = make_root_tactics(rules, boards, vcf_nodes=settings.vcf_root_nodes)
        # Random symmetries need batches, since there a batch's rows are turned.
        lines = evaluator.lines if isinstance(evaluator, HasLines) and not settings.symmetric else None
        params = kernel_params(settings)
        # A batch for each lane of the evaluator, and one to descend.
        batches = settings.batches_in_flight
        groups = min(trees, -(-(evaluator.lanes + 1) // batches))
        if lines is not None:
            threads = threads or cores()
            params = params._replace(leaves_in_flight=min(settings.leaves_in_flight, MAX_WINDOW), batches_in_flight=1)
        else:
            threads = min(threads or evaluator.free_cores, -(-trees // groups))
        self._parts = parts = SharedParts(
            rules=rules,
            compiled_rules=self._compiled_rules,
            settings=settings,
            evaluator=evaluator,
            forest=self.forest,
            active=self._active,
            params=params,
            identity=self._identity_of(evaluator),
            cache=self.cache,
            boards=boards,
            pool=Threads(threads, "search") if threads > 1 and lines is None else None,
        )
        self._turn = 0
        self._groups: list[TreeGroup] = []
        self._batches: list[SharedBatch | LineBatch]
        if lines is not None:
            self._batches = [LineBatch(parts, np.arange(trees), threads)]
            return
        self._groups = [TreeGroup(parts, np.arange(group, trees, groups), threads) for group in range(groups)]
        # The batches of a tree take turns in the same order, however many groups there are.
        self._batches = [SharedBatch(group) for _ in range(batches) for group in self._groups]

    def _identity_of(self, evaluator: Evaluator) -> Identity:
        size = self.rules.size
        return Identity(
            fingerprint=stream_key(self._seed, evaluator.version) >> 1,
            last_moves=evaluator.last_moves,
            symmetric=self.settings.symmetric,
            origins=sources(size).astype(np.int64),
            images=targets(size).astype(np.int64),
        )

    @property
    def evaluator(self) -> Evaluator:
        """The evaluator of the leaves."""
        return self._parts.evaluator

    def set_evaluator(self, renewed: Callable[[], Evaluator]) -> None:
        """Go on with another evaluator, such as one with newer weights, which `renewed` returns.

        It is called when the batches in flight have ended. The evaluator's `lanes` and `free_cores` are not read.
        Raises the error of an evaluation in flight.
        """
        for _ in self._batches:
            self._turn = (self._turn + 1) % len(self._batches)
            self._batches[self._turn].finish()
        evaluator = renewed()
        self._parts.evaluator, self._parts.identity = evaluator, self._identity_of(evaluator)

    @property
    def simulations(self) -> int:
        """Simulations started so far."""
        return int(self.forest.trees["simulations"].sum())

    def set_root(self, tree: int, position: Position) -> None:
        """Give the tree a position, without any search. Raises `ValueError` if the game is over."""
        if position.rules != self.rules:
            raise ValueError(
                f"a search of {self.rules} cannot take a position of {position.rules}: open its player with these rules"
            )
        set_root(self.forest, tree, position)

    def begin(self, tree: int, simulations: int, *, noise: RootNoise | NodeNoise | None = None, key: int = 0) -> None:
        """Start a search of `simulations` new ones (at least one), with `noise` in its priors.

        `key` decides the search's own draws: those of node noise and of local playouts. A kept subtree that leaves no
        room for the simulations is dropped, unless its root is proven. With `forced_moves` or `vcf_root_nodes` a forced
        win at the root ends the search before its first descent.
        """
        nodes, proof = self.forest.trees["nodes"][tree], self.forest.nodes["proof"][tree, 0]
        if nodes + simulations > self.forest.capacity and not proof:
            reset_tree(self.forest, tree)
        if self._root_tactics is not None:
            roots.prove_root(self.forest, tree, self._root_tactics)
        root = self.forest.trees[tree]
        root["simulations_left"] = max(1, simulations)
        root["random_key"], root["draws"] = stream_key(key) & 0xFFFFFFFF, 0
        root["noise_share"] = root["node_noise_share"] = 0.0
        if isinstance(noise, NodeNoise):
            root["node_noise_alpha"], root["node_noise_share"] = noise.alpha, noise.share
        elif noise is not None:
            self.forest.noise[tree] = noise.values
            root["noise_share"] = noise.share
            if self.forest.nodes["state"][tree, 0] == OPEN:
                mix_root_noise(self.forest, tree)
        self._active[tree] = True

    def advance(self) -> list[int]:
        """Start a batch, end the oldest one, and return the trees that finished.

        Raises the evaluation's error, and `EvaluationError` for numbers that are not finite.
        """
        self.evaluations += self._batches[self._turn].start()
        self._turn = (self._turn + 1) % len(self._batches)
        batch = self._batches[self._turn]
        batch.finish()
        trees = batch.trees
        is_done = self._active[trees] & (self.forest.trees["simulations_left"][trees] == 0)
        done = trees[is_done & (self.forest.nodes["in_flight"][trees, 0] == 0)]
        self._active[done] = False
        return [int(tree) for tree in done]

    def halt(self) -> None:
        """End all searches: wait for the batches in flight and start no more.

        Raises the first error of their evaluations, after all of them have ended.
        """
        self.forest.trees["simulations_left"][:] = 0
        self._active[:] = False
        errors: list[BaseException] = []
        for _ in self._batches:
            self._turn = (self._turn + 1) % len(self._batches)
            try:
                self._batches[self._turn].finish()
            except BaseException as error:
                errors.append(error)
        for group in self._groups:
            group.abandon_waiting()
        if errors:
            raise errors[0]

    def has_one_reply(self, tree: int) -> bool:
        """Return True if one simulation is enough: with `forced_moves`, if the opponent threatens five on one cell."""
        tactics = self._root_tactics if self.settings.forced_moves else None
        return tactics is not None and bool(roots.has_one_reply(self.forest, tree, tactics))

    def play(self, tree: int, move: Cell) -> None:
        """Make a legal move at the tree's root, keep the subtree below it and free the rest.

        The move must not end the game.
        """
        forest = self.forest
        forget_positions(forest, tree)
        kept = roots.reroot(forest, tree, move, self._remap)
        root = forest.trees[tree]
        forest.root_stones[tree, move] = root["to_move"]
        root["key"] ^= STONE_KEYS[0 if root["to_move"] == BLACK else 1, move] ^ WHITE_TO_MOVE
        root["to_move"] *= -1
        root["last_move"], root["move_before"] = move, root["last_move"]
        root["leaf_depths"] = root["leaves"] = 0
        if not kept:
            reset_tree(forest, tree)


def max_batch(settings: SearchSettings) -> int:
    """Return the maximum of leaves of one tree in a batch."""
    return int(batch_leaves(settings.leaves_in_flight, kernel_params(settings)))


def search_all(search: ForestSearch, positions: Sequence[Position], simulations: int) -> None:
    """Search each position from a fresh root, one a tree; there must be a tree for each."""
    for tree, position in enumerate(positions):
        search.set_root(tree, position)
        search.begin(tree, simulations)
    waiting = len(positions)
    while waiting:
        waiting -= len(search.advance())
