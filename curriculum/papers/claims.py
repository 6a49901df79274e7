"""Claims of the papers that presets and built-in models show in minutes, and their measurement."""

import math
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from core.rules import Rules
from curriculum.arena.players import PlayerSettings
from curriculum.arena.results import Tally
from curriculum.arena.session import MatchSession, MatchSettings
from curriculum.presets import resolve
from curriculum.reporting import Context
from nets.dispatch import net_names
from nets.shapes import parameter_total

_AGREES = 2.576
"""Standard errors between two results of one strength, at most, 99 times of 100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim of a paper: a number of parameters, or the result of a match."""

    paper: str
    """`A`, `Y` or `S`."""
    text: str
    stated: str
    """The paper's figure; empty where it has none."""
    here: str
    """Ours, as the page of the paper has it: a number, or wins, draws and losses as `95-0-5`."""
    preset: str = ""
    """The preset whose parameters a net are counted; empty for a match."""
    player: str = ""
    opponent: str = ""
    size: int = 15
    connect: int = 5
    openings: str = "empty"
    games: int = 0
    simulations: int = 0
    """Simulations a move of the models."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A claim measured again."""

    claim: Claim
    now: str
    """The figure of now, in the form of `Claim.here`."""
    agrees: bool
    """True if the figure is ours, or for a match, if chance alone may explain the difference (99 %)."""

    def to_json(self) -> dict[str, Any]:
        """Return the claim and its figures by name."""
        claim = self.claim
        figures = {"stated": claim.stated, "here": claim.here, "now": self.now, "agrees": self.agrees}
        return {"paper": claim.paper, "claim": claim.text, **figures}


def load_claims(paper: str | None = None) -> list[Claim]:
    """Return the claims of a paper, or of all."""
    table = tomllib.loads(resources.files("curriculum").joinpath("papers", "claims.toml").read_text("utf-8"))
    return [claim for claim in (Claim(**entry) for entry in table["claim"]) if paper in (None, claim.paper)]


def measure(claim: Claim, seed: int, context: Context) -> Measured:
    """Measure a claim. Raises the errors of `MatchSession.play_match`."""
    if claim.preset:
        config = resolve(claim.preset)
        now = f"{parameter_total(config.net, config.rules) // len(net_names(config.net)):,}"
        return Measured(claim, now, now == claim.here)
    settings = MatchSettings(
        games=claim.games,
        players=PlayerSettings(simulations=claim.simulations, tactics=False),
        openings=claim.openings,
        seed=seed,
    )
    session = MatchSession(settings, Rules(claim.size, claim.connect), context)
    tournament = session.play_match((claim.player, claim.opponent), task=f"{claim.paper}: {claim.text}")
    total = tournament.matches[0, 1].total
    return Measured(claim, f"{total.wins}-{total.draws}-{total.losses}", agree(parse_tally(claim.here), total))


def parse_tally(text: str) -> Tally:
    """Return the tally of `wins-draws-losses`. Raises `ValueError`."""
    wins, draws, losses = map(int, text.split("-"))
    return Tally(wins, draws, losses)


def agree(first: Tally, second: Tally) -> bool:
    """Return True if chance alone may explain the difference of two scores of independent games (99 %).

    Each has a win and a loss more, without which a clean sweep would have no error at all (Agresti and Coull).
    """
    padded = [Tally(each.wins + 1, each.draws, each.losses + 1) for each in (first, second)]
    errors = [((each.wins + each.draws / 4) / each.games - each.score**2) / each.games for each in padded]
    return abs(padded[0].score - padded[1].score) <= _AGREES * math.sqrt(sum(errors))
