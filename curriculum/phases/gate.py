"""The gate: a match that decides if a candidate replaces the best model (A IV-D)."""

from pathlib import Path

from core.streams import Purpose, stream_key
from curriculum.arena.results import MatchResult
from curriculum.arena.tournament import play_match
from curriculum.config import Config, GateConfig
from curriculum.phases.players import ModelPlayer
from curriculum.reporting import Context


def passes_gate(result: MatchResult, gate: GateConfig) -> bool:
    """Decide the gate: True if the candidate won more than the threshold's share of the decisive games.

    The candidate is the match's first player. Without a decisive game it is rejected.
    """
    total = result.total
    decisive = total.wins + total.losses
    return decisive > 0 and total.wins / decisive > gate.threshold


def play_gate(config: Config, candidate: Path, best: Path, iteration: int, context: Context) -> MatchResult:
    """Play the candidate's model against the best one and return the candidate's result. Raises `Interrupted`."""
    gate = config.gate
    return play_match(
        ModelPlayer(config, candidate, "candidate", gate.simulations),
        ModelPlayer(config, best, "best", gate.simulations),
        rules=config.rules,
        openings=None if gate.paired_openings else [()],
        games=gate.games,
        seed=stream_key(config.seed, Purpose.GATE, iteration),
        context=context,
        paired=gate.paired_openings,
        task=f"gate, round {iteration + 1}",
    )
