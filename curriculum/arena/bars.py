"""Bars and stop rules: the required minima of a match, and the end of a match before its last game."""

from dataclasses import dataclass
from typing import Any

from curriculum.arena.results import Forfeit, MatchResult
from curriculum.arena.statistics.sprt import SequentialTest, SprtDecision


@dataclass(frozen=True, slots=True)
class Bar:
    """A required minimum and the result."""

    name: str
    required: str
    reached: str
    met: bool

    def to_json(self) -> dict[str, Any]:
        """Return the bar as `--json` prints it."""
        return {"name": self.name, "wanted": self.required, "reached": self.reached, "met": self.met}


def share_bar(name: str, share: float, minimum: float) -> Bar:
    """Return the bar of a number from 0 to 1."""
    return Bar(name, f"at least {minimum:g}", f"{share:.3f}", share >= minimum)


def match_bars(
    result: MatchResult,
    *,
    min_score: float | None = None,
    min_elo: float | None = None,
    test: SequentialTest | None = None,
) -> list[Bar]:
    """Return the bars of a match; None requires nothing."""
    bars = []
    if min_score is not None:
        bars.append(share_bar("score", result.total.score, min_score))
    if min_elo is not None:
        elo = result.estimate.elo
        bars.append(Bar("Elo difference", f"at least {min_elo:g}", f"{elo:.1f}", elo >= min_elo))
    if test is not None:
        decision, (low, high) = test.decide(result.pairs), test.bounds
        accepted = test.elo1 if decision is SprtDecision.ACCEPTED else test.elo0
        text = "undecided" if decision is SprtDecision.CONTINUE else f"{accepted:g} accepted"
        reached = f"{text} (log-likelihood ratio {test.llr(result.pairs):.2f} of {low:.2f} to {high:.2f})"
        required = f"{test.elo1:g} Elo rather than {test.elo0:g}"
        bars.append(Bar("sequential test", required, reached, decision is SprtDecision.ACCEPTED))
    return bars


def is_decided(match: MatchResult, test: SequentialTest | None) -> bool:
    """Return True if more games cannot change the result: the test has ended, or a player never moved."""
    has_ended = test is not None and test.decide(match.pairs) is not SprtDecision.CONTINUE
    return has_ended or never_moved(match) is not None


def never_moved(match: MatchResult) -> Forfeit | None:
    """Return a forfeit of a player that lost all its games, two or more, before its first move; None without one."""
    if len(match.forfeits) < max(2, len(match.games)):
        return None
    times = match.thinking()
    return next((forfeit for forfeit in match.forfeits if not times[forfeit.player != match.player]), None)
