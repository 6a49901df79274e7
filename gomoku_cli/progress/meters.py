"""Texts of progress: durations, figures, and the speed of a task."""

import time

_RESUMED_WITHIN_S = 1.0


def duration(seconds: float) -> str:
    """Return `4.2 s`, `1:23` or `2:03:10`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def figures_text(figures: dict[str, float | str]) -> str:
    """Return `loss 0.312, score 0.9`."""
    return ", ".join(
        f"{name.replace('_', ' ')} {value if isinstance(value, str) else format(value, '.4g')}"
        for name, value in figures.items()
    )


class Meter:
    """The speed of a task, and the time that it will take."""

    def __init__(self, total: float, unit: str) -> None:
        self._total, self._unit = total, unit
        self.started = time.monotonic()
        self._since = (self.started, 0.0)
        self._first = True

    @property
    def seconds(self) -> float:
        """The age of the task."""
        return time.monotonic() - self.started

    def share(self, done: float) -> float:
        """Return the part that is done, 0 to 1."""
        return min(1.0, done / self._total) if self._total > 0 else 1.0

    def counts(self, done: float) -> str:
        """Return `120 of 4000 games`."""
        return f"{done:,.10g} of {self._total:,.10g} {self._unit}"

    def pace(self, done: float) -> str:
        """Return `3.1 games/s, 1:23 left`, or nothing before the first step."""
        speed, left = self.speed(done)
        return f"{speed}, {duration(left)} left" if left is not None else ""

    def speed(self, done: float) -> tuple[str, float | None]:
        """Return `3.1 games/s` and the seconds left; nothing and None before the first step."""
        now = time.monotonic()
        if self._first and now - self.started < _RESUMED_WITHIN_S:
            # Resumed work reports its earlier steps at once; they took no time here.
            self._since = (now, done)
        self._first = False
        seconds, gained = now - self._since[0], done - self._since[1]
        if seconds <= 0 or gained <= 0:
            return "", None
        rate = gained / seconds
        speed = f"{rate:.3g} {self._unit}/s" if rate >= 0.1 else f"{rate * 60:.3g} {self._unit}/min"
        return speed, max(0.0, self._total - done) / rate
