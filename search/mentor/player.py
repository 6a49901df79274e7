"""The mentor: a classical engine for a net to imitate and be measured against.

Iterative deepening over the search of `search.mentor.alpha_beta` with the network of `search.mentor.evaluation`. The
result depends on the position and the limit alone. If the limit is a time without nodes, it also depends on the clock
and on the searches before. The search releases the GIL.
"""

import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.position import Position
from core.rules import Cell, Rules
from core.streams import Purpose, generator
from core.threats import FIVE, ThreatBoard, new_threat_board, side_of
from search.analysis import Analysis, MoveAnalysis
from search.limits import Limit
from search.mentor.alpha_beta import VCF_NODES, begin_iteration, run, set_up
from search.mentor.evaluation import SQUASH, Network, built_in_network
from search.mentor.scores import INFINITY, MATE, PROVEN, WIN
from search.mentor.state import MAX_DEPTH, SearchState, add_nodes, finished_root_moves, new_search_state, nodes_of
from search.players import Decision, Player, decide_each, never
from search.solvers.vcf import NOT_KNOWN, VcfWork, new_vcf_work, solve_vcf


def centre(rules: Rules) -> Cell:
    """Return the cell in the middle of the board; on an even board, the one above and right of it."""
    return rules.size // 2 * rules.size + rules.size // 2


def drawn_decision(
    position: Position, moves: Sequence[Cell], seed: int, value: float, nodes: int, plies_to_end: int | None = None
) -> Decision:
    """Return a decision for one of `moves`, each as likely as the others; `value` for the side to move."""
    policy = np.zeros(position.rules.cells, dtype=np.float32)
    policy[list(moves)] = 1.0 / len(moves)
    move = int(generator(seed, Purpose.MENTOR).choice(np.array(moves)))
    return Decision(move, value=value, policy=policy, simulations=nodes, plies_to_end=plies_to_end)


LEVELS = {1: 100, 2: 800, 3: 4_000, 4: 25_000, 5: 150_000}
"""Nodes a move of each level of the mentor."""
DEFAULT_LIMIT = Limit(nodes=LEVELS[3])
"""Default limit of a move: a few milliseconds."""

VARIETY = 4
"""Default margin below the best score within which a move may be played: a hundredth of a sure win."""

_SLICE = 2_000
"""Nodes between two calls of `stop`: some milliseconds."""
_WINDOW = 40
"""Half the width of an iteration's window around the score of the last one."""
_BYTES_A_SLOT = 16
_VCF_TABLE_BITS = 12
_VCF_SHARE = 4
"""Share of the nodes that may go to a win by fours at the root: one in so many."""
_VCF_NODES = 20_000
"""Maximum of those nodes: some dozen milliseconds."""
_VCF_NODES_A_SECOND = 200_000
"""Maximum of those nodes where the limit is a time: about a quarter of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MentorAnalysis(Analysis):
    """The mentor's view of a position. Its `value` is 1 or -1 for a proven result alone.

    Its `moves` are the best one and those that score at most the variety less. Of winning moves they are the quickest;
    of losing moves there is one.
    """

    score: int
    """For the side to move, in the units of the evaluation's weights; `WIN - n` wins in n plies, `n - WIN` loses."""
    depth: int
    """Plies of the last iteration that was finished."""

    @property
    def choices(self) -> tuple[Cell, ...]:
        """The cells of `moves`, of which the mentor plays any with equal chance."""
        return tuple(each.move for each in self.moves)

    @property
    def plies_to_end(self) -> int | None:
        """Plies until the game is over where its result is proven, else None."""
        return WIN - abs(self.score) if abs(self.score) >= PROVEN else None


def _value(score: int) -> float:
    if abs(score) >= PROVEN:
        return 1.0 if score > 0 else -1.0
    return float(np.clip(np.tanh(score / SQUASH), -0.99, 0.99))


def _mentor_analysis(
    choices: Sequence[Cell],
    scores: Sequence[int],
    *,
    depth: int,
    nodes: int,
    variation: tuple[Cell, ...],
    seconds: float,
) -> MentorAnalysis:
    """Return the analysis of a search with these choices and their scores, the best first."""
    return MentorAnalysis(
        moves=tuple(MoveAnalysis(move, _value(score)) for move, score in zip(choices, scores, strict=True)),
        value=_value(scores[0]),
        variation=variation or (choices[0],),
        nodes=nodes,
        seconds=seconds,
        score=scores[0],
        depth=depth,
    )


class _Workspace(NamedTuple):
    """The arrays of one search at a time."""

    board: ThreatBoard
    state: SearchState
    vcf: VcfWork


class Mentor(Player):
    """The mentor: principal-variation search over the likely cells, with an evaluation by the patterns of both sides.

    It wins where it can, answers fives and open fours only by moves that answer them, follows rows of forced replies
    to their end, and deepens until the limit. It keeps nothing between calls but its transposition tables.
    """

    def __init__(
        self,
        limit: Limit = DEFAULT_LIMIT,
        *,
        variety: int = VARIETY,
        memory_bytes: int = 32 << 20,
        network: Network | None = None,
        name: str = "mentor",
    ) -> None:
        """Set the default limit and the choice among good moves.

        `variety`: moves that score at most this much less than the best are as likely to be played. `memory_bytes`:
        maximum size of the transposition table of each thread. `network`: weights of the evaluation; None for those
        that come with the package.

        Raises `ValueError` for a number out of range.
        """
        if variety < 0:
            raise ValueError(f"variety is {variety}; it must be 0 or more")
        if memory_bytes < 2 * _BYTES_A_SLOT:
            raise ValueError(f"memory_bytes is {memory_bytes}; it must be {2 * _BYTES_A_SLOT} or more")
        self.name = name
        self.limit = limit
        self.variety = variety
        self.best_so_far: Decision | None = None
        """See `search.players.TellsBest`."""
        self._slots = 1 << (memory_bytes // _BYTES_A_SLOT).bit_length() - 1
        self._network = network or built_in_network()
        # The workspaces of finished searches, for the next ones: as many as searches ran at once.
        self._idle: defaultdict[Rules, deque[_Workspace]] = defaultdict(deque)

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """See `Player`. Once stopped, the remaining positions are searched one ply deep."""
        return decide_each(lambda position, seed: self._decide(position, seed, limit, stop), positions, seeds)

    def _decide(self, position: Position, seed: int, limit: Limit | None, stop: Callable[[], bool]) -> Decision:
        analysis = self.analyse(position, limit, stop=stop)
        return drawn_decision(position, analysis.choices, seed, analysis.value, analysis.nodes, analysis.plies_to_end)

    def analyse(
        self, position: Position, limit: Limit | None = None, *, stop: Callable[[], bool] = never
    ) -> MentorAnalysis:
        """Search a position that is not over within `limit`, by default the mentor's own.

        `stop` is called every few milliseconds; once it returns True, the search returns its result so far. The first
        ply is always searched in full.
        """
        started = time.perf_counter()
        if not position.moves:
            return _mentor_analysis([centre(position.rules)], [0], depth=0, nodes=0, variation=(), seconds=0.0)
        idle = self._idle[position.rules]
        try:
            work = idle.pop()
        except IndexError:
            work = _Workspace(
                new_threat_board(position.rules),
                new_search_state(position.rules, self._network, self._slots),
                new_vcf_work(position.rules, _VCF_TABLE_BITS),
            )
        search = _Deepening(work, position, limit or self.limit, self.variety, started, stop, self._tell)
        search.deepen()
        idle.append(work)
        return search.analysis()

    def _tell(self, move: Cell, score: int) -> None:
        self.best_so_far = Decision(move, value=_value(score))


class _Deepening:
    """One search: its iterations, each a little deeper than the last, and their result."""

    def __init__(
        self,
        work: _Workspace,
        position: Position,
        limit: Limit,
        variety: int,
        started: float,
        stop: Callable[[], bool],
        tell: Callable[[Cell, int], None],
    ) -> None:
        """`tell(move, score)` is called with the best move so far, first as soon as any move is known."""
        self.board, self.state, self.vcf = work
        self.limit, self.variety, self.started, self.stop, self.tell = limit, variety, started, stop, tell
        self.side = side_of(position.side_to_move)
        slots = len(self.state.table)
        if limit.nodes is not None:
            # So small a part of the table stays in the processor's cache.
            slots = min(slots, 1 << limit.nodes.bit_length() + 1)
        # A search by the clock cannot be repeated anyway; any other must not depend on the searches before it.
        remember = limit.seconds is not None and limit.nodes is None
        count = set_up(
            self.board,
            self.state,
            position.stones,
            position.side_to_move,
            margin=variety,
            slots=slots,
            remember=remember,
            vcf_nodes=VCF_NODES,
        )
        if not remember:
            self.vcf.table[:] = 0  # its proofs would change the number of nodes that this search needs
        self.nodes, self.depth = 0, 0
        self.moves = self.state.root_moves[:count]
        self.scores = np.zeros(count, dtype=np.int64)
        """Scores of `moves`, in order; only those near the best are exact."""
        self.variation: tuple[int, ...] = ()
        self.tell(int(self.moves[0]), 0)

    def deepen(self) -> None:
        """Search deeper and deeper until the limit, or until nothing can change any more."""
        if self.board.counts[self.side, FIVE] > 0:
            self.scores[:], self.depth = WIN - 1, 1
            return
        if self._wins_by_fours():
            return
        for depth in range(1, min(self.limit.depth or MAX_DEPTH, MAX_DEPTH) + 1):
            if not self._iterate(depth):
                break
            self.depth = depth
            if abs(self.scores[0]) >= PROVEN or (len(self.moves) == 1 and self.limit.seconds is not None):
                break  # nothing is left to decide

    def analysis(self) -> MentorAnalysis:
        """Return the result so far."""
        best = int(self.scores[0])
        # Variety ends where the game does. Of wins the shortest is played. Where all is lost, the move that held out
        # longest is: others seem to lose as late only because the search did not look further.
        lowest = best if abs(best) >= MATE else best - self.variety
        near = np.flatnonzero(self.scores >= lowest)[: 1 if best <= -MATE else None]
        return _mentor_analysis(
            self.moves[near].tolist(),
            self.scores[near].tolist(),
            depth=self.depth,
            nodes=self.nodes,
            variation=self.variation,
            seconds=time.perf_counter() - self.started,
        )

    def _wins_by_fours(self) -> bool:
        """Return True and take the win if there is one by continuous fours; deeper than the search's own check."""
        max_nodes = _VCF_NODES
        if self.limit.nodes is not None:
            max_nodes = min(max_nodes, self.limit.nodes // _VCF_SHARE)
        if self.limit.seconds is not None:
            max_nodes = int(min(max_nodes, _VCF_NODES_A_SECOND * self.limit.seconds))
        # Where the limit is a time, `stop` is called every few milliseconds here too: each try gets twice the nodes.
        nodes = max_nodes if self.limit.nodes is not None else min(_SLICE, max_nodes)
        plies = NOT_KNOWN
        while plies == NOT_KNOWN and 0 < nodes <= max_nodes and not self.stop():
            plies = solve_vcf(self.board, self.vcf, self.side, nodes)
            add_nodes(self.state, int(self.vcf.tally[0]))
            self.nodes = nodes_of(self.state)
            nodes *= 2
        if plies <= 0:
            return False
        self.variation = tuple(int(move) for move in self.vcf.line[:plies])
        self.moves[:] = self.moves[np.argsort(self.moves != self.variation[0], kind="stable")]
        self.scores[:] = -INFINITY
        self.scores[0], self.depth = WIN - plies, plies
        self.tell(int(self.moves[0]), int(self.scores[0]))
        return True

    def _iterate(self, depth: int) -> bool:
        """Run one iteration, with windows around the last score until one fits; return True if it was finished."""
        alpha, beta, reach = -INFINITY, INFINITY, _WINDOW
        if depth > 1 and abs(self.scores[0]) < MATE:
            alpha, beta = max(int(self.scores[0]) - reach - self.variety, -INFINITY), int(self.scores[0]) + reach
        while True:
            begin_iteration(self.state, depth, alpha, beta)
            finished = False
            while not finished:
                budget = self._budget(depth)
                if budget == 0:
                    break
                finished = run(self.board, self.state, self.vcf, budget)
                self.nodes = nodes_of(self.state)
            reached = finished_root_moves(self.state)
            scores = self.state.root_scores[:reached]
            best = int(scores.max()) if reached else -INFINITY
            if best <= alpha:
                if not finished:
                    return False
                alpha = max(alpha - reach, -INFINITY) if reach < 1000 else -INFINITY
            else:
                self._take(scores)
                if not finished:
                    return False
                if best < beta:
                    return True
                beta = min(beta + reach, INFINITY) if reach < 1000 else INFINITY
            reach *= 4

    def _budget(self, depth: int) -> int:
        """Return the nodes until the next check of the limit; 0 to stop now. The first iteration is always finished."""
        if depth == 1:
            return _SLICE
        if self.stop() or (self.limit.seconds is not None and time.perf_counter() - self.started >= self.limit.seconds):
            return 0
        return _SLICE if self.limit.nodes is None else max(min(_SLICE, self.limit.nodes - self.nodes), 0)

    def _take(self, scores: NDArray[np.int64]) -> None:
        """Order the moves by the scores of the iteration; moves it did not reach keep their order behind them."""
        scores = np.concatenate([scores, np.full(len(self.moves) - len(scores), -INFINITY)])
        order = np.argsort(-scores, kind="stable")
        self.scores, self.moves[:] = scores[order], self.moves[order]
        self.tell(int(self.moves[0]), int(self.scores[0]))
        length = int(self.state.variations[0, 0])
        self.variation = tuple(int(move) for move in self.state.variations[0, 1 : length + 1])
