"""Imitation: its end, the model that it keeps, and the samples of earlier phases that later ones rehearse."""

from dataclasses import replace
from pathlib import Path

from core.rules import BLACK
from curriculum.phases import selfplay as phase_selfplay
from curriculum.phases.all import run_basics, run_imitation
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder
from curriculum.training.files import read_samples
from nets.checkpoint import load_model
from tests.support.runs import CURRICULUM as CONFIG


def test_later_phases_rehearse_the_samples_of_the_earlier_ones(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "run", CONFIG) as run:
        run_basics(run, Context())
        run_imitation(run, Context())
        rehearsed = phase_selfplay._Round(run, Context(), phase_selfplay.RoundGames(run, Context()), 0).rehearsal
        games, metadata = read_samples(run.replay / "mentor-000000.npz")
    trained_on = sum(metadata["lengths"][:4])
    assert len(rehearsed) == 2 * 48 + trained_on, "the basics in both colours, and no game that was held out"
    assert len(games) > trained_on
    values = rehearsed.values[:96][rehearsed.to_move[:96] == BLACK]
    assert {0.0, 1.0} <= set(values.tolist()), "Black attacks and defends"


def test_imitation_stops_at_the_bar_with_the_model_that_met_it(tmp_path: Path) -> None:
    config = replace(CONFIG, imitation=replace(CONFIG.imitation, bar_score=0.0, passes=5))
    with RunFolder.create(tmp_path / "run", config) as run:
        run_imitation(run, Context())
        measures = [r for r in run.metrics() if r["event"] == "measure"]
        matches = [r for r in run.metrics() if r["event"] == "match"]
        info = load_model(run.best_model)[1]
    assert len(measures) == 1
    assert measures[0]["opponent"] == "mentor:paper"
    assert [(r["opponent"], r["games"]) for r in matches] == [("mentor:paper", 2)]
    assert set(info.made["results"]) == {"agreement", "against mentor:paper"}


def test_imitation_keeps_the_model_that_agreed_most(tmp_path: Path) -> None:
    config = replace(
        CONFIG,
        imitation=replace(
            CONFIG.imitation, passes=8, bar_every=0, patience=2, learning_rate=0.5, final_learning_rate=0.5
        ),
    )
    with RunFolder.create(tmp_path / "run", config) as run:
        run_imitation(run, Context())
        agreements = [r["agreement"] for r in run.metrics() if r["event"] == "measure"]
        info = load_model(run.best_model)[1]
        assert info.made["results"]["agreement"] == max(agreements)
    best_pass = agreements.index(max(agreements)) + 1
    assert len(agreements) == min(8, best_pass + 2), "two passes without a better one end it"
