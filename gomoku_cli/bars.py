"""What a match has to reach: the minima that decide about the exit code."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from curriculum.arena.results import MatchResult
    from curriculum.arena.statistics.sprt import SequentialTest


@dataclass(frozen=True, slots=True)
class Bar:
    """A minimum, and whether a match reached it."""

    name: str
    wanted: str
    reached: str
    met: bool

    def to_json(self) -> dict[str, Any]:
        """As the reports have it."""
        return asdict(self)


def parse_sprt(text: str | None) -> "SequentialTest | None":
    """The sequential test of an option, None where there is none. Raises a usage error."""
    if text is None:
        return None
    from curriculum.arena.statistics.sprt import SequentialTest

    try:
        return SequentialTest.parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--sprt") from error


def min_share(name: str, share: float, least: float) -> Bar:
    """A bar of a number from 0 to 1."""
    return Bar(name, f"at least {least:g}", f"{share:.3f}", share >= least)


def bars_of(
    result: "MatchResult", min_score: float | None, min_elo: float | None, test: "SequentialTest | None"
) -> list[Bar]:
    """The bars that were asked for, and how the match stands to them."""
    from curriculum.arena.statistics.elo import estimate
    from curriculum.arena.statistics.sprt import SprtDecision

    score = result.total.score
    bars = []
    if min_score is not None:
        bars.append(min_share("score", score, min_score))
    if min_elo is not None:
        elo = estimate(result.pairs).elo
        bars.append(Bar("Elo difference", f"at least {min_elo:g}", f"{elo:.1f}", elo >= min_elo))
    if test is not None:
        verdict = test.verdict(result.pairs)
        said = {
            SprtDecision.ACCEPTED: f"{test.elo1:g} accepted",
            SprtDecision.REJECTED: f"{test.elo0:g} accepted",
            SprtDecision.CONTINUE: "undecided",
        }[verdict]
        low, high = test.bounds
        reached = f"{said} (log-likelihood ratio {test.llr(result.pairs):.2f} of {low:.2f} to {high:.2f})"
        wanted = f"{test.elo1:g} Elo rather than {test.elo0:g}"
        bars.append(Bar("sequential test", wanted, reached, verdict is SprtDecision.ACCEPTED))
    return bars
