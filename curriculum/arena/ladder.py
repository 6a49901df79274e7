"""The ladder of paper S: matches against pure MCTS with more and more playouts, until one has too few wins."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from curriculum.arena.results import MatchResult
from curriculum.reporting import Context


@dataclass(frozen=True, slots=True)
class Rung:
    """A match against pure MCTS."""

    playouts: int
    """Playouts a move of the opponent."""
    result: MatchResult
    """Result from the climbing player's side."""

    def to_json(self) -> dict[str, Any]:
        """Return the match and the opponent's playouts."""
        return {"playouts": self.playouts, **self.result.to_json()}


@dataclass(frozen=True, slots=True)
class Ladder:
    """A climb, up to its last finished rung."""

    player: str
    stop_at: int
    """The first rung with at most this number of wins is the last."""
    rungs: list[Rung]

    @property
    def passed(self) -> int | None:
        """Playouts of the highest rung with more than `stop_at` wins; None if the first rung has no more."""
        return max((rung.playouts for rung in self.rungs if rung.result.total.wins > self.stop_at), default=None)

    def to_json(self) -> dict[str, Any]:
        """Return the ladder as `gomoku ladder --json` prints it."""
        return {
            "player": self.player,
            "stop_at": self.stop_at,
            "passed": self.passed,
            "rungs": [rung.to_json() for rung in self.rungs],
        }


def climb(
    play: Callable[[int], MatchResult],
    *,
    start: int,
    step: int,
    stop_at: int,
    last: int | None = None,
    rungs: list[Rung],
    context: Context,
) -> None:
    """Play matches against pure MCTS: with `start` playouts, then with `step` more each, up to `last` (paper S).

    The climb ends at the first rung with `stop_at` wins or fewer. Only wins count, as in paper S, not draws. `play`
    plays a rung, given the opponent's playouts; if it keeps the games of each rung in a folder, a stopped climb
    continues in its last rung. Finished rungs are added to `rungs`, which the caller of an interrupted climb has too.
    Raises `ValueError` if no rung is up to `last`, and the errors of `play`.
    """
    if last is not None and last < start:
        raise ValueError(f"the first rung of {start} playouts is above the last of {last}")
    for playouts in count(start, step):
        rung = Rung(playouts, play(playouts))
        rungs.append(rung)
        total = rung.result.total
        context.reporter.say(f"{playouts:,} playouts: {total.wins} wins, {total.draws} draws, {total.losses} losses")
        if total.wins <= stop_at or (last is not None and playouts + step > last):
            break
