"""The work of the engine's process: searches in order, and beside them, on a lane of their own, tasks without a search.

Each task can be stopped while it runs.
"""

import queue
import secrets
import threading
import time
from collections.abc import Callable

from core.compiled.memory import give_back_memory
from core.limits import MAX_PAGE_TREE_BYTES
from core.position import Position
from core.rules import Rules
from gomoku_cli.tui.engine.files import grade
from gomoku_cli.tui.engine.messages import (
    Analyse,
    Analysed,
    Answer,
    CheckMove,
    Failed,
    FindThreats,
    GradeMoves,
    Load,
    Loaded,
    Moved,
    OtherBoard,
    PlayerChoice,
    Ponder,
    Progress,
    Stopped,
    Task,
    Think,
)
from gomoku_cli.tui.engine.teaching import check_move, find_threats
from gomoku_cli.tui.terminal import is_served
from search.limits import Limit
from search.players import Analyses, ForfeitError, Player, Ponders, Thinks

Opens = Callable[[PlayerChoice, Rules], Player]
"""Opens a player; it raises the errors of `curriculum.arena.players.parse_player`."""


def other_rules(spec: str, rules: Rules) -> Rules | None:
    """Return a model's own rules if it does not play `rules`, else None. Raises the errors of `open_choice`."""
    from curriculum.arena.players import model_path
    from nets.checkpoint import read_info

    path = model_path(spec)
    info = read_info(path) if path is not None else None
    return None if info is None or info.plays(rules) else info.rules


def open_choice(choice: PlayerChoice, rules: Rules) -> Player:
    """Return the player of a choice. Raises the errors of `curriculum.arena.players.parse_player`."""
    from curriculum.arena.players import PlayerSettings, parse_player

    settings = PlayerSettings(
        simulations=choice.simulations,
        seconds=choice.seconds,
        policy=choice.policy,
        switch_stage=choice.switch_stage,
        tactics=choice.tactics,
        memory_bytes=MAX_PAGE_TREE_BYTES if is_served() else None,
    )
    return parse_player(choice.spec, rules=rules, settings=settings)


_QUICK = (FindThreats, GradeMoves)
"""Tasks without a search. They must not wait for one, and no search for them: its kernels release the interpreter."""

_Lane = queue.SimpleQueue[tuple[int, Task] | None]


class Worker:
    """Handles searches one after the other on the thread that calls `run`, and quick tasks on a second thread.

    Other threads add and stop tasks.
    """

    def __init__(
        self,
        send: Callable[[int, Answer], None],
        open_player: Opens = open_choice,
        other_rules: Callable[[str, Rules], Rules | None] = other_rules,
    ) -> None:
        """`send` gets each answer with the number of its task, on one of the two threads."""
        self._send = send
        self._open = open_player
        self._other_rules = other_rules
        self._searches: _Lane = queue.SimpleQueue()
        self._quick: _Lane = queue.SimpleQueue()
        self._stopped: set[int] = set()
        self._dropped: set[int] = set()
        self._ended = threading.Event()
        self._players: dict[tuple[PlayerChoice, Rules], Player] = {}

    def begin(self, number: int, task: Task) -> None:
        """Add a task."""
        (self._quick if isinstance(task, _QUICK) else self._searches).put((number, task))

    def stop(self, number: int, *, drop: bool) -> None:
        """Stop a task; with `drop` it is left out if it has not begun."""
        self._stopped.add(number)
        if drop:
            self._dropped.add(number)

    def end(self) -> None:
        """Stop the task in progress and return from `run`."""
        self._ended.set()
        for lane in (self._searches, self._quick):
            lane.put(None)

    def run(self) -> None:
        """Handle tasks until `end`."""
        threading.Thread(target=self._work, args=(self._quick,), daemon=True).start()
        self._work(self._searches)

    def _work(self, lane: _Lane) -> None:
        while (item := lane.get()) is not None and not self._ended.is_set():
            number, task = item
            try:
                answer: Answer = Stopped() if number in self._dropped else self._handle(number, task)
            except Exception as error:
                answer = Failed(error_text(error))
            self._stopped.discard(number)
            self._dropped.discard(number)
            if not self._ended.is_set():
                self._send(number, answer)

    def _handle(self, number: int, task: Task) -> Answer:
        def stops() -> bool:
            return number in self._stopped or self._ended.is_set()

        match task:
            case Load():
                return self._load(task)
            case Think():
                return self._think(number, task, stops)
            case Ponder():
                player = self._player(task.choice, task.position.rules)
                if isinstance(player, Ponders):
                    player.ponder(task.position, stops)
                return Stopped()
            case Analyse():
                return self._analyse(number, task, stops)
            case FindThreats():
                return find_threats(task.position)
            case CheckMove():
                player = self._player(task.choice, task.position.rules)
                return check_move(task.position, task.move, player, stops)
            case GradeMoves():
                return grade(task)

    def _player(self, choice: PlayerChoice, rules: Rules) -> Player:
        key = (choice, rules)
        if key not in self._players:
            self._players[key] = self._open(choice, rules)
        return self._players[key]

    def _load(self, task: Load) -> Answer:
        other = self._other_rules(task.choice.spec, task.rules)
        if other is not None:
            return OtherBoard(other)
        is_new = (task.choice, task.rules) not in self._players
        player = self._player(task.choice, task.rules)
        if not is_new:
            return Loaded()
        # All that its first decision needs is compiled and in memory before the first move.
        position = Position.from_moves(task.rules, (0,))
        if task.ponders and isinstance(player, Ponders):
            player.ponder(position, lambda: True)
            position.push(1)
        player.choose(position, stop=lambda: True)
        give_back_memory()
        return Loaded()

    def _think(self, number: int, task: Think, stops: Callable[[], bool]) -> Answer:
        position = task.position
        player = self._player(task.choice, position.rules)
        started = time.perf_counter()
        seed = secrets.randbits(63)
        analysis = None
        if isinstance(player, Thinks):
            decision, analysis = player.think(
                position, seed=seed, stop=stops, report=lambda view: self._send(number, Progress(view))
            )
        else:
            decision = player.choose(position, seed=seed, stop=stops)
        return Moved(
            decision.move,
            decision.value,
            decision.simulations,
            time.perf_counter() - started,
            decision.plies_to_end,
            analysis,
        )

    def _analyse(self, number: int, task: Analyse, stops: Callable[[], bool]) -> Answer:
        position = task.position
        player = self._player(task.choice, position.rules)
        limit = Limit(seconds=task.seconds)
        if isinstance(player, Analyses):
            return Analysed(
                player.analyse(position, limit, stop=stops, report=lambda view: self._send(number, Progress(view)))
            )
        raise ForfeitError(f"{task.choice.spec} gives no analysis")


def error_text(error: BaseException) -> str:
    """Return the error in one line; errors made for people need no name of their class."""
    from gomoku_cli.exit_codes import for_error

    text = str(error) if for_error(error) is not None else f"{type(error).__name__}: {error}"
    return " ".join(text.split()) or type(error).__name__
