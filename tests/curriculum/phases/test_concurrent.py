"""Self-play and training at the same time, and runs that start from a model of another board."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import Notice
from core.records.formats import read_games
from core.rules import Rules
from curriculum.arena.players import PlayerSpecError
from curriculum.phases.all import run_all
from curriculum.phases.replay import Replay
from curriculum.phases.selfplay import run_selfplay
from curriculum.phases.steps import check_start
from curriculum.presets import resolve
from curriculum.reporting import Context, Interrupted
from curriculum.run.folder import RunFolder, read_metrics
from nets.checkpoint import CheckpointError, load_model, save_model
from nets.config import NetConfig, Planes
from nets.dual import make_model
from tests.support.nets import LINES

ANY_SIZE = NetConfig(
    planes=Planes.FIVE,
    trunk=("conv3-4",),
    policy_head=("conv3-1-bare",),
    value_head=("conv3-2", "max", "linear"),
    dual=False,
)
FIXED = replace(ANY_SIZE, policy_head=("linear",))
SETTINGS = """
rules.size=5 rules.connect=4 phases=selfplay search.simulations=4 training.batch_size=64 training.optimiser=adam
training.all_symmetries=true selfplay.iterations=2 selfplay.games=4 selfplay.concurrent_games=2 selfplay.window=100
selfplay.epochs=3 selfplay.concurrent=true selfplay.push_seconds=0.0 selfplay.balanced_share=0.0
selfplay.random_share=0.0 selfplay.start_positions=20 gate.games=0 evaluation.final_games=0
""".split()
CONFIG = replace(resolve(assignments=SETTINGS), net=ANY_SIZE)


@pytest.mark.slow
def test_play_and_training_run_side_by_side_and_continue_after_a_stop(tmp_path: Path) -> None:
    path = tmp_path / "run"

    with RunFolder.create(path, CONFIG) as run, pytest.raises(Interrupted):
        run_selfplay(run, Context(stop=(path / "models" / "selfplay-0000.safetensors").exists))
    stopped = len(list((path / "games").iterdir()))
    assert stopped > 0
    with RunFolder.open(path) as run:
        run_selfplay(run, Context())
    records = read_metrics(path)
    epochs = [(r["iteration"], r["epoch"]) for r in records if r["event"] == "train"]
    assert epochs[-1] == (1, 3)
    assert epochs == sorted(epochs)
    games = [game for file in (path / "games").iterdir() for game in read_games(file)]
    assert sum(r["games"] for r in records if r["event"] == "games") == len(games)
    assert {p.stem for p in (path / "models").iterdir()} == {"best", "pushed", "selfplay-0000", "selfplay-0001"}
    # The games of a round have different numbers, before the stop and after it.
    names = [p.name for p in (path / "replay").iterdir()]
    assert len(names) == len(set(names)) == len(list((path / "games").iterdir()))


def test_a_cleared_buffer_forgets_earlier_rounds(tmp_path: Path) -> None:
    settings = replace(CONFIG.selfplay, concurrent=False, epochs=1, games=2, start_positions=0, window=10_000)
    with RunFolder.create(tmp_path / "run", replace(CONFIG, selfplay=settings)) as run:
        run_selfplay(run, Context())
        both, fresh = Replay(run, Context()).window(settings, 1)
        alone, fresh_again = Replay(run, Context()).window(replace(settings, buffer_from=1), 1)
    assert len(both) > fresh
    assert len(alone) == fresh == fresh_again


def test_a_run_starts_a_larger_function_of_patterns_from_a_smaller_one(tmp_path: Path) -> None:
    small, best = tmp_path / "small.safetensors", tmp_path / "run" / "models" / "best.safetensors"
    lines = replace(LINES, trunk=("lines-32:8", "spread"))
    save_model(small, make_model(lines, CONFIG.rules, 7), {})
    larger = replace(lines, trunk=("lines-32:24x3", "spread"), policy_head=("cells-16",))
    settings = replace(CONFIG.selfplay, concurrent=False, iterations=0)
    with (
        RunFolder.create(tmp_path / "run", replace(CONFIG, net=larger, start=str(small), selfplay=settings)) as run,
        pytest.warns(Notice, match="lines-32:24x3, spread, cells-16, regions-15-16 instead of lines-32:8"),
    ):
        run_all(run, Context())
    assert load_model(best)[1].net == larger
    with pytest.raises(CheckpointError, match=r"give the run the same: --set .net\.trunk="):
        check_start(replace(CONFIG, net=lines, start=str(best)))


@pytest.mark.parametrize(
    ("net", "saved", "rules", "complaint"),
    [
        (ANY_SIZE, NetConfig.tower(2, 0, hidden=2), Rules(5, 4), "give the run the same: --set .net"),
        (FIXED, FIXED, Rules(4, 4), "only a fully convolutional net can change the size"),
    ],
)
def test_weights_that_do_not_fit_are_refused_before_the_run(
    net: NetConfig, saved: NetConfig, rules: Rules, complaint: str, tmp_path: Path
) -> None:
    save_model(tmp_path / "model.safetensors", make_model(saved, rules, 0), {})
    with pytest.raises(CheckpointError, match=complaint):
        check_start(replace(CONFIG, net=net, start=str(tmp_path / "model.safetensors")))


@pytest.mark.parametrize(
    ("start", "complaint"), [("mentor", "mentor is a player without a model file"), ("modle", "names no player")]
)
def test_only_a_model_can_be_started_from(start: str, complaint: str) -> None:
    with pytest.raises(PlayerSpecError, match=complaint):
        check_start(replace(CONFIG, start=start))
