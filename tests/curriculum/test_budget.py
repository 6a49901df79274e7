"""The work of a round: what the estimates say is what a run does."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from curriculum.budget import basics_work, imitation_work, round_work, rows_per_step
from curriculum.games.selfplay_games import SelfPlay
from curriculum.phases.all import run_all
from curriculum.presets import resolve
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder
from curriculum.training.files import read_samples
from nets.config import NetConfig

SETTINGS = """
rules.size=7 rules.connect=4 search.simulations=8 training.batch_size=20 basics.positions=200 basics.epochs=2
imitation.teacher=random imitation.games=16 imitation.passes=2 imitation.bar_every=0 imitation.bar_games=2
imitation.bar_opponent=random imitation.basics_share=0.25 selfplay.iterations=1 selfplay.games=16
selfplay.concurrent_games=8 selfplay.window=10000 selfplay.full_search_share=0.6 selfplay.fast_simulations=4
selfplay.rehearsal_share=0.4 selfplay.draws_per_position=3.0 selfplay.balanced_share=0.0 selfplay.random_share=0.0
gate.games=0 evaluation.final_games=0
""".split()
CONFIG = replace(resolve(assignments=SETTINGS), net=NetConfig.tower(2, 1, hidden=2))


@pytest.mark.slow
@pytest.mark.parametrize(("epochs", "all_symmetries", "dual"), [(0, False, True), (2, True, False)])
def test_a_run_makes_the_steps_that_were_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, epochs: int, all_symmetries: bool, dual: bool
) -> None:
    """Every share counts: full searches, samples of earlier phases, symmetries, colours."""
    played: list[SelfPlay] = []
    make = SelfPlay.__init__

    def noted(self: SelfPlay, *arguments: Any, **settings: Any) -> None:
        played.append(self)
        make(self, *arguments, **settings)

    monkeypatch.setattr(SelfPlay, "__init__", noted)
    config = replace(
        CONFIG,
        net=replace(CONFIG.net, dual=dual),
        selfplay=replace(CONFIG.selfplay, epochs=epochs),
        training=replace(CONFIG.training, all_symmetries=all_symmetries),
    )
    with RunFolder.create(tmp_path / "run", config) as run:
        run_all(run, Context())
        records = run.metrics()
        _, metadata = read_samples(run.replay / "mentor-000000.npz")
    steps = {phase: 0 for phase in ("basics", "imitation", "selfplay")}
    for record in records:
        if record["event"] == "train":
            steps[record["phase"]] = record["step"]
    (games,) = (record for record in records if record["event"] == "games")
    plies = games["game_length"]
    if epochs:  # the window is not full
        config = replace(config, selfplay=replace(config.selfplay, window=round(16 * plies * 0.6)))
    rows = rows_per_step(config)
    assert steps["basics"] * rows == pytest.approx(basics_work(config), rel=0.1)
    assert steps["selfplay"] * rows == pytest.approx(round_work(config, plies).trained, rel=0.15)
    taught = sum(metadata["lengths"][:-2]) / 16  # the last games are held out
    assert steps["imitation"] * rows == pytest.approx(imitation_work(config, taught), rel=0.2)
    simulations = sum(each.progress.counts["simulations"] for each in played)
    assert simulations == pytest.approx(round_work(config, plies).simulations, rel=0.15)
