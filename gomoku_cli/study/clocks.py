"""Clocks of people: main time with an increment or with byo-yomi, as the command line and SGF write them."""

import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from core.records.tree import GameTree, Node
from core.rules import BLACK, WHITE, Colour

_WRITTEN = re.compile(r"(\d{1,4}(?:\.\d{1,3})?)(?:\+(\d{1,4})|/(?:([1-9]\d?)x)?(\d{1,4}))?")
_OVERTIME = re.compile(r"(\d{1,4}) fischer|(\d{1,2})x(\d{1,4}) byo-yomi")
"""SGF leaves the words of `OT` to programs; these are in use for Go."""
_NAMES = {BLACK: ("BL", "OB"), WHITE: ("WL", "OW")}
"""The properties of a move for the time and the periods of a colour."""
_SECONDS = re.compile(r"\d{1,6}(?:\.\d{1,3})?")


class Clock(NamedTuple):
    """The time of one player between two moves."""

    left_s: float
    """Of the main time."""
    periods: int = 0
    """Periods of byo-yomi left."""

    def minus(self, used_s: float, period_s: float) -> tuple[float, int]:
        """Return the seconds left of the main time or of the period, and the periods; 0 and 0 after the end."""
        if used_s < self.left_s:
            return self.left_s - used_s, self.periods
        if not self.periods:
            return 0.0, 0
        lost, used = divmod(used_s - self.left_s, period_s)
        periods = self.periods - int(lost)
        return (period_s - used, periods) if periods > 0 else (0.0, 0)


class TimeControl(NamedTuple):
    """The time that each player has."""

    main_s: float
    increment_s: float = 0.0
    """That each move adds."""
    periods: int = 0
    """Of byo-yomi after the main time: each move within one leaves it whole."""
    period_s: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the control of `10`, `5+3`, `5/30` or `5/3x30`: minutes, seconds a move. Raises `ValueError`."""
        match = _WRITTEN.fullmatch(text.strip())
        if match is not None:
            main, increment, periods, period = match.groups()
            found = cls(60 * float(main), float(increment or 0), int(periods or 1) if period else 0, float(period or 0))
            if (found.main_s or found.periods) and (period is None or found.period_s):
                return found
        raise ValueError(
            "a clock is minutes, as in 10, with an increment in seconds, 5+3, or byo-yomi, 5/30 or 5/3x30; "
            "0 minutes need byo-yomi"
        )

    @classmethod
    def of(cls, tree: GameTree) -> Self | None:
        """Return the control of a record; None without one, and for words that mean nothing here."""
        main, overtime = tree.text("TM"), tree.text("OT")
        match = _OVERTIME.fullmatch(overtime)
        if not _SECONDS.fullmatch(main) or (overtime and match is None):
            return None
        increment, periods, period = match.groups() if match else (None, None, None)
        return cls(float(main), float(increment or 0), int(periods or 0), float(period or 0))

    def write(self, tree: GameTree) -> None:
        """Write the control into a record."""
        tree.set_text("TM", f"{self.main_s:g}")
        byo_yomi = f"{self.periods}x{self.period_s:g} byo-yomi" if self.periods else ""
        tree.set_text("OT", f"{self.increment_s:g} fischer" if self.increment_s else byo_yomi)

    def __str__(self) -> str:
        main = f"{self.main_s / 60:g}"
        if self.periods:
            return f"{main}/{f'{self.periods}x' if self.periods > 1 else ''}{self.period_s:g}"
        return f"{main}+{self.increment_s:g}" if self.increment_s else main

    def clocks(self, line: list[Node]) -> dict[Colour, Clock]:
        """Return both clocks after the moves of a line, as far as these note them."""
        found = dict.fromkeys(_NAMES, Clock(self.main_s, self.periods))
        for node in line:
            for colour, names in _NAMES.items():
                left, periods = map(node.text, names)
                if _SECONDS.fullmatch(left):
                    is_over = self.periods > 0 and periods.isdecimal()
                    found[colour] = Clock(0.0, int(periods)) if is_over else Clock(float(left), self.periods)
        return found

    def pressed(self, clock: Clock, used_s: float) -> Clock:
        """Return a clock after a move of `used_s`."""
        left_s, periods = clock.minus(used_s, self.period_s)
        return Clock(left_s + self.increment_s, periods) if used_s < clock.left_s else Clock(0.0, periods)

    def note(self, node: Node, clocks: Mapping[Colour, Clock]) -> None:
        """Note both clocks at a move: after undo that of the other side is not the one at its own last move."""
        for colour, clock in clocks.items():
            left, periods = _NAMES[colour]
            node.set_text(left, f"{clock.left_s or self.period_s:.1f}")
            node.set_text(periods, "" if clock.left_s or not self.periods else str(clock.periods))

    def text(self, clock: Clock, used_s: float = 0.0) -> str:
        """Return `4:32`, `0:09.3`, or in byo-yomi `0:25 (3)` with the periods that are left."""
        left_s, periods = clock.minus(used_s, self.period_s)
        minutes, seconds = divmod(int(left_s), 60)
        hours, minutes = divmod(minutes, 60)
        shown = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
        if left_s < 10:
            shown += f".{int(10 * left_s) % 10}"
        return f"{shown} ({periods})" if periods and used_s >= clock.left_s else shown


class Stopwatch:
    """The time of one turn, which may stop and go on."""

    def __init__(self) -> None:
        self.turn: Any = None
        """The turn that it measures."""
        self._used_s, self._since = 0.0, -1.0

    @property
    def runs(self) -> bool:
        """True while time passes."""
        return self._since >= 0

    @property
    def seconds(self) -> float:
        """The time of the turn so far."""
        return self._used_s + (time.monotonic() - self._since if self.runs else 0.0)

    def stop(self) -> None:
        """Let no time pass."""
        self._used_s, self._since = self.seconds, -1.0

    def add(self, seconds: float) -> None:
        """Count time that passed before, as that of a turn which this one follows without a move."""
        self._used_s += seconds

    def show(self, turn: object, *, runs: bool) -> None:
        """Go on with a turn, or begin another."""
        self.stop()
        if turn != self.turn:
            self.turn, self._used_s = turn, 0.0
        if runs:
            self._since = time.monotonic()
