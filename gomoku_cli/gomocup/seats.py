"""Who plays for the engine: built before START is answered."""

import math
import os
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

from core.jit import KERNELS_ARE_COLD
from core.position import Position
from core.rules import Rules
from curriculum.arena import player_names
from curriculum.arena.players import PlayerSettings, PlayerSpecError, model_path, parse_player, resolve_rules
from gomoku_cli.compilation import ESTIMATE
from gomoku_cli.gomocup.engine import CONNECT
from search.players import Player
from search.tree.player import MctsPlayer
from search.tree.settings import Policy

_RESERVE_BYTES = 20_000_000
"""Left free under a limit of memory, for what is neither trees nor known yet."""
_MIN_TREE_BYTES = 8_000_000
"""A tree may always have so much: with less there is no search to speak of."""
_UNMEASURED_BYTES = 250_000_000
"""What a process takes besides trees, where the system does not tell."""


class ModelSeats:
    """Seats one player on the boards that it plays, and the mentor on the others."""

    def __init__(self, spec: str, *, simulations: int | None) -> None:
        """`simulations` a move; None for as many as the time allows.

        Raises `PlayerSpecError`, and `nets.checkpoint.CheckpointError` for a broken model.
        """
        self.notes: list[str] = []
        """See `gomoku_cli.gomocup.engine.Seats`."""
        self._spec = spec
        self._rules = resolve_rules([spec]) if model_path(spec) is not None else None
        """The only rules that a model plays; None for players without a net, which play on any board."""
        if self._rules is not None and self._rules.connect != CONNECT:
            raise PlayerSpecError(f"{spec} plays {self._rules}; the protocol is about {CONNECT} in a row")
        self._settings = PlayerSettings(
            simulations=simulations,
            seconds=math.inf if simulations is None else None,
            policy=Policy.DETERMINISTIC,
            keeps_tree=True,
        )
        if self._rules is None:
            parse_player(spec, rules=Rules(), settings=self._settings)  # a mistake in it is told before the game begins
        self._cold = KERNELS_ARE_COLD
        self._threads = ThreadPoolExecutor(1, "prepare")
        self._preparing: Future[None] | None = None
        self._seated: tuple[Rules, int | None] | None = None
        self._player: Player | None = None
        self._without_trees = _UNMEASURED_BYTES
        self._told_of_memory = False

    def waiting(self, rules: Rules) -> str | None:
        """See `gomoku_cli.gomocup.engine.Seats`."""
        cold, self._cold = self._cold, False
        return f"the first run compiles the search, which takes {ESTIMATE}" if cold else None

    def prepare(self, rules: Rules, max_simulations: int | None, until: float) -> None:
        """See `gomoku_cli.gomocup.engine.Seats`."""
        if self._player is None or self._seated != (rules, max_simulations):
            self._make(rules, max_simulations)
        self._await_preparation(until)

    def _make(self, rules: Rules, max_simulations: int | None) -> None:
        self._await_preparation(math.inf)
        self._player = None  # two at once might be more than the memory allows
        player = self._player = self._made(rules, max_simulations)
        self._seated = (rules, max_simulations)
        # Kernels load on this thread, and nets are made ready on others.
        self._preparing = self._threads.submit(player.prepare) if isinstance(player, MctsPlayer) else None
        _warm_up(player, rules)

    def seat(self, rules: Rules, max_simulations: int | None, until: float) -> Player:
        """See `gomoku_cli.gomocup.engine.Seats`."""
        self.prepare(rules, max_simulations, until)
        assert self._player is not None
        return self._player

    def _await_preparation(self, until: float) -> None:
        # What compiles beside a search holds it up by more than waiting for it does; but not for ever.
        if self._preparing is None:
            return
        patience_s = None if math.isinf(until) else max(0.0, until - time.monotonic())
        done, _ = wait([self._preparing], patience_s)
        if done:
            self._preparing.result()
            self._preparing = None
            self._without_trees = resident_bytes()

    def limit_memory(self, max_bytes: int | None) -> None:
        """See `gomoku_cli.gomocup.engine.Seats`."""
        if not isinstance(self._player, MctsPlayer):
            return
        if max_bytes is None:
            self._player.max_bytes = None
            return
        left = max_bytes - self._without_trees - _RESERVE_BYTES
        if left < _MIN_TREE_BYTES and not self._told_of_memory:
            self.notes.append(f"a limit of {max_bytes / 1e6:.0f} MB is less than this program needs")
            self._told_of_memory = True
        self._player.max_bytes = max(left, _MIN_TREE_BYTES)

    def _made(self, rules: Rules, max_simulations: int | None) -> Player:
        if self._rules not in (None, rules):
            self.notes.append(f"{self._spec} plays {self._rules}, so on {rules.size}x{rules.size} the mentor plays")
            return parse_player(player_names.MENTOR, rules=rules, settings=self._settings)
        settings = self._settings
        if max_simulations is not None:
            simulations = min(max_simulations, settings.simulations or max_simulations)
            settings = replace(settings, simulations=simulations, seconds=None)
        return parse_player(self._spec, rules=rules, settings=settings)


def resident_bytes() -> int:
    """The memory that this process has of the machine's, or a guess where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return _UNMEASURED_BYTES
    return pages * os.sysconf("SC_PAGE_SIZE")


def _warm_up(player: Player, rules: Rules) -> None:
    """Has a player do once, briefly, what it does in a game: the kernels are there then."""
    position = Position.from_moves(rules, [0])
    for move in (1, 2):
        player.choose_batch([position], seeds=[0], stop=lambda: True)
        position.push(move)
        position.push(move + rules.size)
