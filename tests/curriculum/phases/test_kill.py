"""A training that is killed at random instants: it resumes each time, and loses the step in flight at most."""

import sys
from pathlib import Path

import pytest

from benchmarks.kill_resume import Kill, faults, kill_and_resume
from curriculum.run.folder import RunFolder
from nets.checkpoint import load_model

SMALL = {
    "rules.size": "7",
    "rules.connect": "4",
    "basics.positions": "3000",
    "basics.noise_stones": "[0, 12]",
    "basics.epochs": "4",
    "training.batch_size": "8",
    "imitation.games": "40",
    "selfplay.iterations": "2",
    "selfplay.games": "40",
    "evaluation.final_games": "0",
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such signal there")
def test_a_killed_training_resumes_and_loses_the_step_in_flight_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # threads that spin for nets this small would take most of the time
    path = tmp_path / "run"
    options = ["--preset", "smoke", *(word for item in SMALL.items() for word in ("--set", "=".join(item)))]
    kills, _ = kill_and_resume(path, options, kills=3, over_s=14.0, seed=0)
    assert kills, "one of them at least came before the end"
    with RunFolder.open(path) as run:
        records = run.metrics()
        assert run.read_state("phases", dict) == {"basics": True, "imitation": True, "selfplay": True}
        assert not list(path.rglob(".*.*")), "no half-written file is left"
    assert faults(records, kills) == []
    assert load_model(path / "models" / "best.safetensors")[1].made["preset"] == "smoke"
    for iteration in range(2):
        assert sum(r["games"] for r in records if r["event"] == "games" and r["iteration"] == iteration) >= 40


def lines(*steps: int) -> list[dict[str, object]]:
    return [{"phase": "basics", "event": "train", "step": step} for step in steps]


def test_lost_steps_would_be_seen() -> None:
    kill = Kill(1.0, 2, "")
    assert faults(lines(40, 80, 120, 125), [kill]) == []
    assert faults(lines(40, 80, 80, 120), [kill]) == [], "the step in flight"
    assert "appears twice" in faults(lines(40, 80, 80, 120), [])[0]
    assert "goes back behind" in faults(lines(40, 80, 40, 80, 120), [kill])[0]
    assert "steps are missing" in faults(lines(40, 120), [kill])[0]
    backwards = [*lines(40), {"phase": "imitation", "event": "train", "step": 40}, *lines(80)]
    assert "goes back behind" in faults(backwards, [kill])[0]
    rounds = [{"phase": "selfplay", "iteration": i, "event": e} for i in (0, 1) for e in ("games", "gate")]
    assert faults(rounds, [kill]) == []
    assert len(faults([*rounds, rounds[0]], [kill])) == 1
