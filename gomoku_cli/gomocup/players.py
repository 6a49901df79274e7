"""The engine's players: the named one on its boards, the mentor on others. They are ready before START is answered.

While a process beside this one compiles the tree search for its first time, the mentor plays in place of a model,
unless the number of simulations is given: then every start has to play the same moves.
"""

import gc
import math
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

from core.book import Book
from core.compiled.jit import KERNELS_ARE_COLD
from core.cores import limit_cores, resident_bytes
from core.position import Position
from core.rules import Rules
from curriculum.arena import player_names
from curriculum.arena.players import PlayerSettings, PlayerSpecError, model_path, parse_player
from curriculum.bench.compiling import Compilation, Helper, helper_for, progress_text, watching_compilation
from gomoku_cli.gomocup.protocol import CONNECT
from nets.checkpoint import read_info
from search.book_player import BookPlayer
from search.engine import Engine
from search.limit import Limit
from search.mentor.player import Mentor
from search.mentor.state import MAX_DEPTH
from search.players import Decision, Player, never
from search.tree.player import MctsPlayer
from search.tree.settings import Policy

_RESERVE_BYTES = 20_000_000
"""Memory left free under a limit, for everything other than trees that is not measured yet."""
_MIN_TREE_BYTES = 8_000_000
"""Minimum memory of a tree: with less, a search is too short to be useful."""
_WARM_UP_S = 0.02
"""Time of a move of the warm-up."""
_QUICK_WARM_UP = Limit(depth=2)
"""That of the mentor that decides at once: on a busy machine a time may pass before all of its kernels are loaded."""
_STOP_EVERY_S = 0.005
"""Interval between two looks at a stop while a net loads."""
_QUICK_BYTES = 1 << 16
"""Memory of the player that decides at once."""
_UNMEASURED_BYTES = 250_000_000
"""Memory of the process without trees, if the system does not report it."""


class EnginePlayers:
    """The players of `gomoku engine`: one on the boards that it plays, and the mentor on others."""

    def __init__(
        self,
        spec: str,
        *,
        simulations: int | None,
        tactics: bool = True,
        threads: int | None = None,
        book: Path | None = None,
    ) -> None:
        """`spec`: the player's name. `simulations` a move; None for as many as the time allows. `book`: its openings.

        `threads`: their maximum; None for all cores that this process may use. `tactics`: False plays a model
        literally (`PlayerSettings.tactics`).

        Raises `PlayerSpecError`, and `nets.checkpoint.CheckpointError` for a broken model.
        """
        self.notes: list[str] = []
        """Messages for the user that no answer has carried yet. The reader clears them."""
        self.max_simulations: int | None = None
        """The limit of simulations from the next move on; None for no limit, as in those below."""
        self.max_bytes: int | None = None
        """That of the memory of this process."""
        self.max_depth: int | None = None
        """That of the plies of a search, where the player's search has a depth."""
        self._spec = spec
        self._max_threads = threads
        limit_cores(threads)
        self._model = read_info(path) if (path := model_path(spec)) is not None else None
        """The named model; None for players without a net, which play on any board."""
        if self._model is not None and self._model.rules.connect != CONNECT:
            raise PlayerSpecError(f"{spec} plays {self._model.rules}; the protocol is about {CONNECT} in a row")
        self._settings = PlayerSettings(
            simulations=simulations,
            seconds=math.inf if simulations is None else None,
            policy=Policy.DETERMINISTIC,
            keeps_tree=True,
            tactics=tactics,
        )
        self._book = None if book is None else Book(book)
        if self._model is None:
            parse_player(spec, rules=Rules(), settings=self._settings)  # reports an error in it before the game begins
        self._compilation: Compilation | None = None
        self._helper: Helper | None = None
        self._executor = ThreadPoolExecutor(1, "prepare")
        self._preparation: Future[None] | None = None
        self._successor: Future[Engine] | None = None
        """The player that takes over from the mentor when its kernels are compiled."""
        self._engine: Engine | None = None
        self._player_key: tuple[Rules, int | None] | None = None
        """Rules and limit of simulations of the current player."""
        self._quick = Mentor(Limit(seconds=math.inf), memory_bytes=_QUICK_BYTES, threads=1)
        self._bytes_without_trees = _UNMEASURED_BYTES
        self._has_noted_memory = False

    def progress(self) -> str | None:
        """Return how far a long preparation is that is under way; None if there is nothing to say."""
        compilation, helper = self._compilation, self._helper
        if compilation is None or not (compilation.kernels or KERNELS_ARE_COLD):
            return None
        kernels = compilation.kernels | (helper.kernels() if helper is not None else set())
        return progress_text(len(kernels), compilation.seconds)

    def prepare(self, rules: Rules, stop: Callable[[], bool]) -> None:
        """Prepare the player for these rules. What is not ready when `stop()` is True goes on in the background."""
        if self._engine is None or self._player_key != (rules, self.max_simulations):
            self._replace_player(rules, self.max_simulations)
        if self._successor is not None and self._successor.done():
            if self._successor.exception() is None:
                self._succeed()
            else:  # see `_note_failure`
                self._successor = None
        self._await_preparation(stop)

    def get(self, rules: Rules, stop: Callable[[], bool]) -> Engine:
        """Return the player for these rules within the limits, as ready as it is when `stop()` is True."""
        self.prepare(rules, stop)
        assert self._engine is not None
        player = self._engine.player
        if isinstance(player, BookPlayer):
            player = player.player
        if isinstance(player, MctsPlayer):
            player.max_bytes = self._bytes_of_trees()
        elif isinstance(player, Mentor):
            # A limit that cannot be reached would cost the mentor its table.
            depth = self.max_depth if self.max_depth is not None and self.max_depth < MAX_DEPTH else None
            player.limit = replace(player.limit, depth=depth)
        return self._engine

    def quick_decision(self, position: Position) -> Decision:
        """Return a decision at once, also while a player thinks on another thread: the mentor looks one ply ahead."""
        return self._quick.choose(position, stop=lambda: True)

    def limit_threads(self, threads: int) -> None:
        """Use at most this number of threads from the next move on, 1 or more.

        A model that is loaded keeps its threads, unless its nets are of line patterns.
        """
        limit_cores(threads if self._max_threads is None else min(threads, self._max_threads))

    def _bytes_of_trees(self) -> int | None:
        """Return the memory that the limit leaves for trees; None without a limit."""
        if self.max_bytes is None:
            return None
        left = self.max_bytes - self._bytes_without_trees - _RESERVE_BYTES
        if left < _MIN_TREE_BYTES and not self._has_noted_memory:
            self.notes.append(f"a limit of {self.max_bytes / 1e6:.0f} MB is less than this program needs")
            self._has_noted_memory = True
        return max(left, _MIN_TREE_BYTES)

    def _replace_player(self, rules: Rules, max_simulations: int | None) -> None:
        self._await_preparation()
        self._engine = None  # two players at once may need more memory than the limit
        player = self._make_player(rules, max_simulations)
        self._player_key = (rules, max_simulations)
        self._successor = None
        with watching_compilation() as self._compilation:
            if isinstance(player, MctsPlayer) and self._is_compiling():
                self._successor = self._executor.submit(self._made_ready, player, rules)
                player = parse_player(player_names.MENTOR, rules=rules, settings=self._settings)
                self.notes.append(f"the mentor plays until the search of {self._spec} is compiled, once")
            # Kernels load on this thread, nets in the background.
            self._preparation = self._executor.submit(player.prepare) if isinstance(player, MctsPlayer) else None
            self._engine = self._handle(player)
            _warm_up(self._engine, rules)
            _warm_up(Engine(self._quick), rules, _QUICK_WARM_UP)
            is_counted = self._settings.simulations is not None or max_simulations is not None
            if self._successor is not None and is_counted:
                self._succeed()
            elif self._successor is not None:
                self._successor.add_done_callback(self._note_failure)
            if self._compilation.kernels:
                self._await_preparation()  # nothing may compile after the answer to START
        gc.freeze()  # so that no collection during a move looks through all modules

    def _handle(self, player: Player) -> Engine:
        if self._book is not None and self._player_key is not None and self._player_key[0] != self._book.rules:
            self.notes.append(f"{self._book.path} is a book for {self._book.rules}, so it is not used")
        return Engine(player if self._book is None else BookPlayer(player, self._book))

    def _is_compiling(self) -> bool:
        """Return True while a process beside this one compiles the tree search; begin it if that is due."""
        if KERNELS_ARE_COLD and self._helper is None and self._model is not None:
            # This needs many modules that no later start does.
            from curriculum.bench.warmup import compile_line_play, compile_play

            self._helper = helper_for(compile_line_play if self._model.net.has_lines else compile_play)
        return self._helper is not None and not self._helper.join(0.0)

    def _made_ready(self, player: MctsPlayer, rules: Rules) -> Engine:
        """Return the player when its kernels are compiled and loaded."""
        assert self._helper is not None
        self._helper.join()
        player.prepare()
        engine = self._handle(player)
        _warm_up(engine, rules)
        return engine

    def _succeed(self) -> None:
        """Let the model play from now on, waiting until it is ready."""
        assert self._successor is not None
        self._engine, self._successor = self._successor.result(), None
        self._bytes_without_trees = resident_bytes() or _UNMEASURED_BYTES
        self.notes.append(f"{self._spec} plays from now on")

    def _note_failure(self, successor: Future[Engine]) -> None:
        if (error := successor.exception()) is not None:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            self.notes.append(f"{self._spec} cannot play, so the mentor goes on: {reason}")

    def _await_preparation(self, stop: Callable[[], bool] = never) -> None:
        # A compilation during a search costs the search more time than waiting for it, within limits.
        if self._preparation is None:
            return
        while not self._preparation.done() and not stop():
            wait([self._preparation], _STOP_EVERY_S)
        if self._preparation.done():
            self._preparation.result()
            self._preparation = None
            self._bytes_without_trees = resident_bytes() or _UNMEASURED_BYTES

    def _make_player(self, rules: Rules, max_simulations: int | None) -> Player:
        if self._model is not None and not self._model.plays(rules):
            own, board = self._model.rules, f"{rules.size}x{rules.size}"
            self.notes.append(f"{self._spec} plays {own}, so on {board} the mentor plays")
            return parse_player(player_names.MENTOR, rules=rules, settings=self._settings)
        settings = self._settings
        if max_simulations is not None:
            simulations = min(max_simulations, settings.simulations or max_simulations)
            settings = replace(settings, simulations=simulations, nodes=max_simulations, seconds=None)
        return parse_player(self._spec, rules=rules, settings=settings)


def _warm_up(engine: Engine, rules: Rules, limit: Limit | None = None) -> None:
    """Let a player choose some moves with little time, or with `limit`: it loads its kernels and what they touch."""
    position = Position.from_moves(rules, [0])
    for move in (1, 2, 3):
        until = time.monotonic() + _WARM_UP_S if limit is None else math.inf
        engine.start(position, limit, until=until).wait()
        position.push(move)
        position.push(move + rules.size)
