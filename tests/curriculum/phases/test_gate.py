"""The gate: its threshold, and the match that it plays."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.rules import Rules
from curriculum.arena.results import MatchResult, Tally
from curriculum.config import Config, GateConfig
from curriculum.phases import gate as phase_gate
from curriculum.phases.gate import passes_gate, play_gate
from curriculum.phases.players import ModelPlayer
from curriculum.reporting import Context


def result(wins: int, draws: int, losses: int) -> MatchResult:
    return MatchResult("candidate", "best", as_black=Tally(wins, draws, losses))


def test_the_gate_requires_more_than_the_threshold_of_decisive_games() -> None:
    gate = GateConfig(threshold=0.5)
    assert passes_gate(result(6, 9, 5), gate)
    assert not passes_gate(result(5, 10, 5), gate), "half is not more than half"
    assert not passes_gate(result(4, 0, 16), gate)
    assert not passes_gate(result(0, 20, 0), gate), "no decisive game is a rejection"
    assert not passes_gate(result(0, 20, 0), GateConfig(threshold=0.0))
    assert passes_gate(result(1, 19, 0), gate)
    assert not passes_gate(result(11, 0, 9), GateConfig(threshold=0.55))


@pytest.mark.parametrize("paired", [True, False])
def test_candidate_and_best_play_the_configured_match(paired: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[dict[str, Any]] = []

    def play_match(*players: Any, **options: Any) -> MatchResult:
        played.append({"players": players, **options})
        return result(len(played), 0, 0)

    monkeypatch.setattr(phase_gate, "play_match", play_match)
    config = Config(rules=Rules(9), gate=replace(GateConfig(), games=6, simulations=5, paired_openings=paired))
    results = [play_gate(config, Path("new"), Path("old"), number, Context()) for number in (0, 1)]
    assert results == [result(1, 0, 0), result(2, 0, 0)]
    first, second = played
    new, old = ModelPlayer(config, Path("new"), "candidate", 5), ModelPlayer(config, Path("old"), "best", 5)
    assert first["players"] == (new, old)
    assert (first["games"], first["paired"], first["rules"]) == (6, paired, config.rules)
    assert first["openings"] == (None if paired else [()])
    assert (first["task"], second["task"]) == ("gate, round 1", "gate, round 2")
    assert first["seed"] != second["seed"]
