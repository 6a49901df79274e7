"""The time of a move: within the manager's limits, less a margin that also holds on a busy machine."""

import math

DEFAULT_MOVE_S = 2.0
"""Time of a move if the manager sets no limit."""
MIN_MOVE_S = 0.03
"""Time of a move that must be as short as possible: enough to see a win in one, and not much more."""

_FLOOR_S = 0.13
_SHARE = 0.05
"""The margin is the sum of this time, this share of the limit, and the longest recent delay. With eight busy threads on
two cores, one answer in three hundred was 0.1 s late and the latest one 0.14 s, before any delay was recorded."""
_CALM_FLOOR_S = 0.05
_CALM_SHARE = 0.01
"""The same on a machine that is known to be calm."""
_CALM_DELAY_S = 0.01
_CALM_DELAYS = 50
"""It is calm after this many recorded delays, none of the recent ones longer than that. Without other work a search on
all threads had none above 4 ms, and one beside a training of low priority none above 9 ms."""
_MAX_FLOOR_SHARE = 0.4
"""Maximum share of a short limit for the fixed part of the margin."""
_MAX_DELAY_SHARE = 0.35
"""Maximum share of a limit for the longest recent delay."""
_DELAY_DECAY = 0.97
"""Factor on the longest recent delay after each move."""
_GAME_MOVES = 30
"""A player's own moves in a long game on 15x15. The time of a game is divided by the rest of them."""
_MIN_MOVES_LEFT = 8
_UNLIMITED_MS = 2**31 - 1
"""The value of `time_left` for "no limit"."""


def move_budget(left_s: float, increment_s: float, period_s: float, moves: int) -> float:
    """Return the seconds for a move of a player who has made so many moves and has `left_s` for the rest of the game.

    `period_s`: of byo-yomi, 0 without it. A move may use what is left and a whole period where that is the longer one.
    """
    clock = Clock()
    clock.new_game(moves)
    if period_s > left_s:
        clock.set_move_limit(int(1000 * (left_s + period_s)))
    else:
        clock.set_time_left(int(1000 * left_s))
        clock.set_increment(int(1000 * increment_s))
    return max(clock.deadline(0.0), 0.0)


class Clock:
    """The limits of one manager, and the time used under them. All instants are those of one monotonic clock, in s."""

    def __init__(self, *, default_s: float = DEFAULT_MOVE_S, max_s: float = math.inf) -> None:
        """`default_s`: time of a move if the manager sets no limit. `max_s`: maximum time of any move."""
        self._default_s = default_s
        self._max_s = max_s
        self._move_limit_s: float | None = None
        self._game_limit_s: float | None = None
        self._left_s: float | None = None
        self._increment_s = 0.0
        self._moves = 0
        self._used_s = 0.0
        self._delay_s = 0.0
        self._delays = 0

    def set_move_limit(self, limit_ms: int) -> None:
        """Set the limit of a move; 0 or less requests moves as fast as possible."""
        self._move_limit_s = max(limit_ms, 0) / 1000

    def set_game_limit(self, limit_ms: int) -> None:
        """Set the limit of a game; 0 is no limit."""
        self._game_limit_s = limit_ms / 1000 if 0 < limit_ms < _UNLIMITED_MS else None

    def set_time_left(self, left_ms: int) -> None:
        """Set the rest of the game's limit before the next move; below 0 if it was exceeded."""
        self._left_s = left_ms / 1000 if left_ms < _UNLIMITED_MS else math.inf
        self._used_s = 0.0

    def set_increment(self, increment_ms: int) -> None:
        """Set the time that each move adds to the limit of a game."""
        self._increment_s = max(increment_ms, 0) / 1000

    def new_game(self, moves: int = 0) -> None:
        """Forget the time used in the previous game, and the rest of its limit; the player has made so many `moves`."""
        self._left_s = None
        self._moves = moves
        self._used_s = 0.0

    def charge(self, seconds: float) -> None:
        """Count time that belongs to the game's limit only: the time of the preparation."""
        self._used_s += seconds

    def deadline(self, read_at: float) -> float:
        """Return the instant at which to stop thinking about a move that was requested at `read_at`.

        The instant may be in the past. A recorded delay moves it earlier.
        """
        budgets = [self._max_s]
        if self._move_limit_s is not None:
            budgets.append(self._less_margin(self._move_limit_s) if self._move_limit_s else MIN_MOVE_S)
        left_s = self._left_s if self._left_s is not None else self._game_limit_s
        if left_s is not None:
            left_s -= self._used_s
            moves_left = max(_GAME_MOVES - self._moves, _MIN_MOVES_LEFT)
            budgets.append(min(left_s / moves_left + self._increment_s, self._less_margin(left_s)))
        if all(math.isinf(budget) for budget in budgets):
            budgets.append(self._default_s)
        return read_at + min(budgets)

    def record_delay(self, seconds: float) -> None:
        """Record how late this process woke up: the next answer may be as late."""
        self._delay_s = max(self._delay_s, seconds)
        self._delays += 1

    def record_move(self, seconds: float) -> None:
        """Record a move, and its time since the request."""
        self._moves += 1
        self._used_s += seconds - self._increment_s
        self._delay_s *= _DELAY_DECAY

    def _less_margin(self, limit_s: float) -> float:
        if math.isinf(limit_s):
            return limit_s
        is_calm = self._delays >= _CALM_DELAYS and self._delay_s < _CALM_DELAY_S
        floor_s, share = (_CALM_FLOOR_S, _CALM_SHARE) if is_calm else (_FLOOR_S, _SHARE)
        floor_s = min(floor_s, _MAX_FLOOR_SHARE * limit_s)
        return limit_s - floor_s - share * limit_s - min(self._delay_s, _MAX_DELAY_SHARE * limit_s)
