"""The work of the engine's process: the screen's requests, over one handle for each player."""

import secrets
import threading
import time
from collections.abc import Callable
from typing import TypeVar, get_args

from core.compiled.memory import give_back_memory
from core.cores import machine_bytes
from core.input_limits import MAX_PAGE_TREE_BYTES
from core.position import Position
from core.rules import Rules
from gomoku_cli.tui.engine import messages
from gomoku_cli.tui.engine.files import Files, draw, grade
from gomoku_cli.tui.engine.lanes import Lanes
from gomoku_cli.tui.engine.teaching import check_move, find_threats
from gomoku_cli.tui.terminal import is_served
from search.analysis import Analysis, MoveAnalysis
from search.engine import Engine
from search.limit import Limit
from search.players import Decision, Player
from search.running import RunningSearch
from search.tree.settings import DEFAULT_MAX_BYTES

_Result = TypeVar("_Result")

_ANALYSIS_PART = 4
"""The tree of an analysis takes one of this many parts of the machine's memory."""

Opens = Callable[[messages.PlayerChoice, Rules, bool], Player]
"""Opens a player; it raises the errors of `curriculum.arena.players.parse_player`."""


def other_rules(spec: str, rules: Rules) -> Rules | None:
    """Return a model's own rules if it does not play `rules`, else None. Raises the errors of `open_choice`."""
    from curriculum.arena.players import model_path
    from nets.checkpoint import read_info

    path = model_path(spec)
    info = read_info(path) if path is not None else None
    return None if info is None or info.plays(rules) else info.rules


def open_choice(choice: messages.PlayerChoice, rules: Rules, keeps_tree: bool = False) -> Player:
    """Return the player of a choice, which may keep its tree from search to search.

    Raises the errors of `curriculum.arena.players.parse_player`.
    """
    from curriculum.arena.players import PlayerSettings, parse_player

    chosen = choice._asdict()
    spec = chosen.pop("spec")
    settings = PlayerSettings(**chosen, memory_bytes=_tree_bytes(keeps_tree), keeps_tree=keeps_tree)
    return parse_player(spec, rules=rules, settings=settings)


def _tree_bytes(keeps_tree: bool) -> int | None:
    """Return the memory for the tree of a player: for an analysis that goes on until its tree is full, much of it."""
    if is_served():
        return MAX_PAGE_TREE_BYTES
    return max(DEFAULT_MAX_BYTES, (machine_bytes() or 0) // _ANALYSIS_PART) if keeps_tree else None


class Worker:
    """Does the tasks of some lanes."""

    def __init__(
        self,
        lanes: Lanes,
        open_player: Opens = open_choice,
        other_rules: Callable[[str, Rules], Rules | None] = other_rules,
    ) -> None:
        self._lanes = lanes
        self._open = open_player
        self._other_rules = other_rules
        self._files = Files()
        self._engines: dict[tuple[messages.PlayerChoice, Rules, bool], Engine] = {}
        self._opening = threading.Lock()

    def run(self) -> None:
        """Do the tasks until the end of the lanes."""
        self._lanes.run(
            {
                messages.Load: self._load,
                messages.Search: self._search,
                messages.ChooseOpening: self._choose_opening,
                messages.CheckMove: self._check,
                messages.FindThreats: lambda number, task: find_threats(task.position),
                messages.GradeMoves: lambda number, task: grade(task),
                messages.Draw: lambda number, task: draw(task),
                **dict.fromkeys(get_args(messages.FileTask), self._files.run),
            }
        )

    def _engine(
        self, choice: messages.PlayerChoice, rules: Rules, *, ponders: bool | None = None, keeps_tree: bool = False
    ) -> Engine:
        """Return the handle of a player; `ponders` prepares a new one, with what pondering needs or without.

        One that keeps its tree is another than the one that plays, whose moves do not depend on analyses.
        """
        with self._opening:
            key = (choice, rules, keeps_tree)
            if key not in self._engines:
                engine = Engine(self._open(*key))
                if ponders is not None:
                    # All that its first decision needs is compiled and in memory before the first move.
                    engine.prepare(rules, ponders=ponders).wait()
                    give_back_memory()
                self._engines[key] = engine
            return self._engines[key]

    def _load(self, number: int, task: messages.Load) -> messages.Answer:
        other = self._other_rules(task.choice.spec, task.rules)
        if other is not None:
            return messages.OtherBoard(other)
        self._engine(task.choice, task.rules, ponders=task.ponders)
        return messages.Done()

    def _search(self, number: int, task: messages.Search) -> messages.Answer:
        engine = self._engine(task.choice, task.position.rules, keeps_tree=task.keeps_tree)
        started = time.perf_counter()
        if task.purpose == "ponder":
            self._shown(number, engine.ponder(task.position))
            return messages.Done()
        if task.purpose == "analysis":
            search = self._shown(number, engine.analysis(task.position, Limit(seconds=task.seconds)))
            return messages.Analysed(search.wait())
        until = time.monotonic() + task.seconds
        move = self._shown(number, engine.start(task.position, seed=secrets.randbits(63), until=until))
        decision, seconds = move.wait(), time.perf_counter() - started
        return messages.Moved(decision.move, decision.simulations, seconds, move.view or view_of(decision, seconds))

    def _choose_opening(self, number: int, task: messages.ChooseOpening) -> messages.Answer:
        engine = self._engine(task.choice, task.position.rules)
        search = engine.choose_opening(task.position, task.opening, seed=secrets.randbits(63))
        self._lanes.watch(number, search)
        return messages.Opened(search.wait())

    def _shown(self, number: int, search: RunningSearch[_Result]) -> RunningSearch[_Result]:
        """Send the views of a search, and return it at its end."""
        self._lanes.watch(number, search)
        for view in search:
            if not search.has_ended():
                self._lanes.send(number, messages.Progress(view))
        return search

    def _check(self, number: int, task: messages.CheckMove) -> messages.Answer:
        def look(position: Position, limit: Limit) -> Analysis | None:
            engine = self._engine(task.choice, position.rules)
            if not engine.can_analyse:
                return None
            search = engine.analysis(position, limit)
            self._lanes.watch(number, search)
            return search.wait()

        return check_move(task.position, task.move, look)


def view_of(decision: Decision, seconds: float) -> Analysis | None:
    """Return what a move alone tells; None for a player without a value."""
    if decision.value is None:
        return None
    plies = decision.plies_to_end
    proof = plies if plies is None or decision.value > 0 else -plies
    return Analysis(
        moves=(MoveAnalysis(decision.move, decision.value, proof=proof),),
        value=decision.value,
        variation=(decision.move,),
        nodes=decision.simulations,
        seconds=seconds,
    )
