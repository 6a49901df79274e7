"""The ladder of paper S: matches against pure MCTS with more and more playouts, until one is no longer won clearly."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from curriculum.arena.results import MatchResult
from curriculum.reporting import Conduct


@dataclass(frozen=True, slots=True)
class Rung:
    """A match against pure MCTS."""

    playouts: int
    """Of the opponent, a move."""
    result: MatchResult
    """From the side of who climbs."""

    def to_json(self) -> dict[str, Any]:
        """The match with the opponent's playouts."""
        return {"playouts": self.playouts, **self.result.to_json()}


@dataclass(frozen=True, slots=True)
class Ladder:
    """A climb that is over."""

    player: str
    stop_at: int
    """A rung with so many wins or fewer is the last."""
    rungs: list[Rung]

    @property
    def passed(self) -> int | None:
        """Playouts of the highest rung with more than `stop_at` wins; None where the first one had no more."""
        return max((rung.playouts for rung in self.rungs if rung.result.total.wins > self.stop_at), default=None)

    def to_json(self) -> dict[str, Any]:
        """As `gomoku evaluate --ladder --json` prints it."""
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
    conduct: Conduct,
) -> Ladder:
    """Plays matches against pure MCTS: with `start` playouts, then with `step` more each, up to `last` (paper S).

    The climb ends at the first rung with `stop_at` wins or fewer. Wins alone count, as in paper S: a draw is none.
    `play` plays a rung, given the opponent's playouts; where it keeps the games, in a folder for each rung, a climb
    that was stopped goes on in the rung it was stopped in. Raises `ValueError` where there is no rung up to `last`,
    and what `play` raises.
    """
    if last is not None and last < start:
        raise ValueError(f"the first rung of {start} playouts is above the last of {last}")
    rungs: list[Rung] = []
    for playouts in count(start, step):
        rung = Rung(playouts, play(playouts))
        rungs.append(rung)
        total = rung.result.total
        conduct.reporter.say(f"{playouts:,} playouts: {total.wins} wins, {total.draws} draws, {total.losses} losses")
        if total.wins <= stop_at or (last is not None and playouts + step > last):
            break
    return Ladder(rungs[0].result.player, stop_at, rungs)
