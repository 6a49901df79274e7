"""Self-play of a run: its openings, and games that the seed decides."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.records.record import GameRecord
from core.rules import Rules
from curriculum.arena.opening_sets import training_openings
from curriculum.config import Config, GateConfig, SelfplayConfig
from curriculum.games.selfplay_games import Progress, SelfPlayGame
from curriculum.phases import round_games
from curriculum.phases.replay import Replay
from curriculum.phases.selfplay import run_selfplay
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder, read_metrics
from curriculum.training.files import read_kept_games
from nets.config import NetConfig
from tests.support.remarks import Remarks
from tests.support.runs import CURRICULUM as CONFIG
from tests.support.runs import plain_samples


def test_missing_balanced_openings_are_noted() -> None:
    remarks = Remarks()
    config = Config(rules=Rules(12, 5), selfplay=SelfplayConfig(balanced_share=0.5))
    assert training_openings(config, Context(remarks)) == []
    assert remarks.lines == [
        "no balanced openings are shipped for 5 in a row on 12x12: the 50 % of self-play games that "
        "selfplay.balanced_share starts from them start from the empty board"
    ]


@pytest.mark.parametrize(("size", "share", "found"), [(15, 0.5, True), (15, 0.0, False), (12, 0.0, False)])
def test_balanced_openings_are_read_where_they_are_used(size: int, share: float, found: bool) -> None:
    remarks = Remarks()
    config = Config(rules=Rules(size, 5), selfplay=SelfplayConfig(balanced_share=share))
    assert bool(training_openings(config, Context(remarks))) is found
    assert remarks.lines == []


def test_rounds_with_hardly_any_samples_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file may hold games without samples, and a round may have none at all."""
    monkeypatch.setattr(round_games, "_SECONDS_PER_FILE", 0.0)
    for share in (1e-9, 0.05):
        settings = replace(
            CONFIG.selfplay, iterations=2, games=4, concurrent_games=4, full_search_share=share, fast_simulations=4
        )
        with RunFolder.create(tmp_path / f"run{share}", replace(CONFIG, selfplay=settings)) as run:
            run_selfplay(run, Context())
            files = sorted(run.replay.glob("selfplay-*.npz"))
            kept = [read_kept_games(path, CONFIG.rules.cells) for path in files]
            assert sorted(game for _, _, metadata in kept for game in metadata["games"]) == [0, 0, 1, 1, 2, 2, 3, 3]
            assert 0 in [length for _, lengths, _ in kept for length in lengths]
            records = [record for record in read_metrics(run.path) if record["event"] == "games"]
            assert sum(record["games"] for record in records) == 8
            assert None in [record["policy_entropy"] for record in records]


@pytest.mark.parametrize(("value", "alarms"), [(-0.9, 1), (-0.5, 0)])
def test_the_alarm_of_white_needs_many_games(tmp_path: Path, value: float, alarms: int) -> None:
    """One lost game in a file of its own says nothing."""
    samples = plain_samples(4)
    samples.values[:] = value
    record = GameRecord(CONFIG.rules, "a1 a2 b1 b2 c1 c2 d1".split())
    games = [SelfPlayGame(number, samples, record, 0) for number in range(65)]
    remarks, idle, told = Remarks(), Progress(0.0, 0, 0, 0, 0, 0), []
    with RunFolder.create(tmp_path / "run", CONFIG) as run:
        replay = Replay(run, Context(remarks))
        for some in (games[:1], games[1:63], games[63:64], games[64:]):
            replay.save(1, some, idle, idle._replace(seconds=1.0))
            told.append(len(remarks.lines))
    assert told == [0, 0, alarms, alarms]


@pytest.mark.slow
def test_the_same_seed_plays_the_same_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit of every target, with a net whose batches have uneven sizes."""
    monkeypatch.setattr(round_games, "_SECONDS_PER_FILE", 1e9)
    config = replace(
        CONFIG,
        net=NetConfig.tower(16, 2),
        selfplay=SelfplayConfig(iterations=1, games=4, concurrent_games=3, draws_per_position=0.01),
        gate=GateConfig(games=0),
    )
    files = []
    for name in ("one", "other"):
        with RunFolder.create(tmp_path / name, config) as run:
            run_selfplay(run, Context())
            (samples,), (games,) = run.replay.glob("selfplay-*.npz"), run.games.glob("*.sgf")
            files.append((samples.read_bytes(), games.read_bytes()))
    assert files[0] == files[1]
