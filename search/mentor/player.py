"""The mentor: a classical engine for a net to imitate and be measured against.

Iterative deepening over the search of `search.mentor.alpha_beta` with the network of `search.mentor.evaluation`. The
result depends on the position and the limit alone. If the limit is a time without nodes, it also depends on the clock
and on the searches before, and it uses all cores. The search releases the GIL.
"""

import math
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.cores import cores
from core.position import Position
from core.rules import Cell, Rules
from core.streams import Purpose, generator
from search.analysis import Analysis, MoveAnalysis
from search.limit import Limit
from search.mentor.deepening import Deepening, Line, Task
from search.mentor.evaluation import SQUASH
from search.mentor.scores import MATE, PROVEN, WIN
from search.mentor.team import Team
from search.players import PLAIN, Decision, How, Player, Reports, Stop, decide_each, never


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

_BYTES_A_SLOT = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class MentorAnalysis(Analysis):
    """The mentor's view of a position. Its `value` is 1 or -1 for a proven result alone.

    Its `moves` are its `choices` and further ones of the best, each with its line.
    """

    score: int
    """For the side to move, in the units of the evaluation's weights; `WIN - n` wins in n plies, `n - WIN` loses."""
    depth: int
    """Plies of the last iteration that was finished."""
    choices: tuple[Cell, ...]
    """The moves of which the mentor plays any with equal chance: the best one and those that score at most the variety
    less. Of winning moves they are the quickest; of losing moves there is one."""


def _value(score: int) -> float:
    if abs(score) >= PROVEN:
        return 1.0 if score > 0 else -1.0
    return float(np.clip(np.tanh(score / SQUASH), -0.99, 0.99))


def _proof(score: int) -> int | None:
    """Return the plies of a proven result as `MoveAnalysis.proof` has them."""
    if abs(score) < PROVEN:
        return None
    return WIN - score if score > 0 else -(WIN + score)


def _analysis_of(search: Deepening) -> MentorAnalysis:
    """Return the analysis of a search with its results so far."""
    best = int(search.scores[0])
    # Variety ends where the game does. Of wins the shortest is played. Where all is lost, the move that held out
    # longest is: others seem to lose as late only because the search did not look further.
    lowest = best if abs(best) >= MATE else best - search.task.variety
    near = np.flatnonzero(search.scores >= lowest)[: 1 if best <= -MATE else None]
    choices = search.moves[near].tolist()
    lines = {move: search.lines.get(move, Line(best, (move,))) for move in choices}
    for move, line in search.lines.items():
        if len(lines) < search.count:
            lines.setdefault(move, line)
    return MentorAnalysis(
        moves=tuple(
            MoveAnalysis(move, _value(score), proof=_proof(score), line=line) for move, (score, line) in lines.items()
        ),
        value=_value(best),
        variation=lines[choices[0]].moves,
        nodes=search.nodes,
        seconds=time.perf_counter() - search.task.started,
        score=best,
        depth=search.depth,
        choices=tuple(choices),
    )


def _decision(position: Position, analysis: MentorAnalysis, seed: int) -> Decision:
    return drawn_decision(position, analysis.choices, seed, analysis.value, analysis.nodes, analysis.plies_to_end)


class Mentor(Player):
    """The mentor: principal-variation search over the likely cells, with an evaluation by the patterns of both sides.

    It wins where it can, answers fives and open fours only by moves that answer them, follows rows of forced replies
    to their end, and deepens until the limit. It keeps nothing between calls but its transposition tables.
    """

    compiles = True

    def __init__(
        self,
        limit: Limit = DEFAULT_LIMIT,
        *,
        variety: int = VARIETY,
        memory_bytes: int = 32 << 20,
        threads: int | None = None,
        name: str = "mentor",
    ) -> None:
        """Set the default limit and the choice among good moves.

        `variety`: moves that score at most this much less than the best are as likely to be played. `memory_bytes`:
        maximum size of the transposition table of each search that runs at the same time. `threads`: of a search by
        the clock, 1 or more; None for all cores that this process may use. Other searches have one thread.

        Raises `ValueError` for a number out of range.
        """
        if variety < 0:
            raise ValueError(f"variety is {variety}; it must be 0 or more")
        if threads is not None and threads < 1:
            raise ValueError(f"threads is {threads}; it must be 1 or more")
        if memory_bytes < 2 * _BYTES_A_SLOT:
            raise ValueError(f"memory_bytes is {memory_bytes}; it must be {2 * _BYTES_A_SLOT} or more")
        self.name = name
        self.limit: Limit = limit
        self.variety = variety
        self._threads = threads
        self._searching: set[Team] = set()
        """The teams of searches under way."""
        self._slots = 1 << (memory_bytes // _BYTES_A_SLOT).bit_length() - 1
        # The teams of finished searches, for the next ones: as many as searches ran at once.
        self._idle: defaultdict[Rules, deque[Team]] = defaultdict(deque)

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], limit: Limit | None = None, stop: Stop = never
    ) -> list[Decision]:
        """See `Player`. Once stopped, the remaining positions are searched one ply deep."""
        # Several positions keep the cores busy with one thread each.
        threads = None if len(positions) == 1 else 1

        def decide(position: Position, seed: int) -> Decision:
            return _decision(position, self._analyse(position, limit, How(stop=stop), threads), seed)

        return decide_each(decide, positions, seeds)

    def search(self, position: Position, limit: Limit | None = None, how: How = PLAIN) -> tuple[Decision, Analysis]:
        """See `Player`. `how.stop` is called every few milliseconds; the first ply is always searched in full.

        More than one of `how.lines` takes longer for the same depth: 2 take 1.6 times as many nodes, 8 take 5.3 times.
        """
        analysis = self._analyse(position, limit, how)
        return _decision(position, analysis, how.seed or 0), analysis

    def ponder(self, position: Position, stop: Stop) -> None:
        """See `Player`. The next search by the clock finds the results in the table."""
        self._analyse(position, Limit(seconds=math.inf), How(stop=stop))

    def _analyse(self, position: Position, limit: Limit | None, how: How, threads: int | None = None) -> MentorAnalysis:
        started = time.perf_counter()
        if not position.moves:
            move = centre(position.rules)
            return MentorAnalysis(
                moves=(MoveAnalysis(move, 0.0),),
                value=0.0,
                variation=(move,),
                nodes=0,
                seconds=0.0,
                score=0,
                depth=0,
                choices=(move,),
            )
        reports = Reports(how.report)

        def show(search: Deepening) -> None:
            if search.lines and reports.is_due(time.monotonic()):
                reports.send(_analysis_of(search))

        idle = self._idle[position.rules]
        try:
            team = idle.pop()
        except IndexError:
            team = Team(position.rules, self._slots)
        task = Task(
            position=position,
            limit=limit or self.limit,
            started=started,
            stop=how.stop,
            variety=self.variety,
            lines=how.lines or 1,
            tell=lambda move, score: reports.send_best(Decision(move, value=_value(score))),
            show=show,
        )
        self._searching.add(team)
        try:
            # Searches that run at the same time share the cores.
            search = team.search(task, helpers=(threads or self._threads or cores()) - len(self._searching))
        finally:
            self._searching.remove(team)
        analysis = _analysis_of(search)
        idle.append(team)  # now another search may write to its arrays
        return analysis
