"""How long a move may take: within the manager's limits, less a margin that also holds on a loaded machine."""

import math

UNSAID_S = 2.0
"""What a move takes where the manager names no limit."""
GLANCE_S = 0.03
"""What a move takes where it shall take as little as it can: a win in one is seen, and not much more."""

_FLOOR_S = 0.13
_SHARE = 0.05
"""The margin: so much, and that share of the limit, and the worst delay seen lately. With eight busy threads on two
cores one answer in three hundred came 0.1 s after it was due, and the latest 0.14 s, before anything had been seen."""
_FLOOR_SHARE = 0.4
"""Most of a short limit that the fixed part of the margin takes."""
_WORST_SHARE = 0.35
"""Most of a limit that the worst delay takes."""
_REMEMBERED = 0.97
"""Share of the worst delay that is left of it a move later."""
_GAME_MOVES = 30
"""A player's own moves in a long game on 15x15; the time of a match is dealt out over what is left of them."""
_MIN_MOVES = 8
"""There are always taken to be so many left."""
_UNLIMITED_MS = 2**31 - 1
"""Stands for "no limit" in `time_left`."""


class Clock:
    """The limits of one manager, and the time used under them. All instants are those of one monotonic clock, in s."""

    def __init__(self, *, unsaid_s: float = UNSAID_S, max_s: float = math.inf) -> None:
        """`unsaid_s`: for a move where the manager names no limit. `max_s`: for any move."""
        self._unsaid_s = unsaid_s
        self._max_s = max_s
        self._turn_s: float | None = None
        self._match_s: float | None = None
        self._left_s: float | None = None
        self._moves = 0
        self._used_s = 0.0
        self._worst_s = 0.0

    def set_turn(self, limit_ms: int) -> None:
        """The limit of a move; 0, or less, asks for moves as fast as possible."""
        self._turn_s = max(limit_ms, 0) / 1000

    def set_match(self, limit_ms: int) -> None:
        """The limit of a game; 0 sets none."""
        self._match_s = limit_ms / 1000 if 0 < limit_ms < _UNLIMITED_MS else None

    def set_left(self, left_ms: int) -> None:
        """What is left of the game's limit before the next move; below 0 where it was overrun."""
        self._left_s = left_ms / 1000 if left_ms < _UNLIMITED_MS else math.inf
        self._used_s = 0.0

    def new_game(self) -> None:
        """Forgets what was used and told of the game before."""
        self._left_s = None
        self._moves = 0
        self._used_s = 0.0

    def charge(self, seconds: float) -> None:
        """Counts time that a game's limit covers and a move's does not: that of getting ready."""
        self._used_s += seconds

    def deadline(self, read_at: float) -> float:
        """When to stop thinking about a move that was asked for at `read_at`; it may have passed already.

        It comes nearer when a delay is noted.
        """
        budgets = [self._max_s]
        if self._turn_s is not None:
            budgets.append(self._less_margin(self._turn_s) if self._turn_s else GLANCE_S)
        left_s = self._left_s if self._left_s is not None else self._match_s
        if left_s is not None:
            left_s -= self._used_s
            moves = max(_GAME_MOVES - self._moves, _MIN_MOVES)
            budgets.append(min(left_s / moves, self._less_margin(left_s)))
        if all(math.isinf(budget) for budget in budgets):
            budgets.append(self._unsaid_s)
        return read_at + min(budgets)

    def delayed(self, seconds: float) -> None:
        """Notes how long a player thought on without asking whether to stop: so late may the next answer be too."""
        self._worst_s = max(self._worst_s, seconds)

    def answered(self, seconds: float) -> None:
        """Notes a move that took so long, from when it was asked for."""
        self._moves += 1
        self._used_s += seconds
        self._worst_s *= _REMEMBERED

    def _less_margin(self, limit_s: float) -> float:
        if math.isinf(limit_s):
            return limit_s
        floor_s = min(_FLOOR_S, _FLOOR_SHARE * limit_s)
        return limit_s - floor_s - _SHARE * limit_s - min(self._worst_s, _WORST_SHARE * limit_s)
