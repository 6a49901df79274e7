"""Workers on a local Ray: the same games for any number of them, whoever dies."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ray")

from core.rules import Rules
from curriculum.arena.fixtures import fixtures
from curriculum.arena.players import NamedPlayer, PlayerSettings
from curriculum.arena.tournament import play_tournament
from curriculum.config import Config, EvaluationConfig, GateConfig, Phase, SelfplayConfig
from curriculum.games.selfplay_games import SelfPlayGame
from curriculum.phases.jobs import SelfPlayJob
from curriculum.phases.selfplay import run_selfplay
from curriculum.reporting import Conduct
from curriculum.run.folder import RunFolder, read_metrics
from curriculum.workers.local import Local
from curriculum.workers.ray_crew import RayCrew, WorkersError
from nets.checkpoint import load_arrays, save_model
from nets.config import Backend, NetConfig, RuntimeChoice, set_runtime
from nets.dual import make_model
from search.tree.settings import SearchSettings

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

RULES = Rules(7, 4)
CONFIG = Config(
    rules=RULES,
    net=NetConfig.tower(4, 1, hidden=4),
    search=SearchSettings(simulations=16),
    selfplay=SelfplayConfig(
        iterations=2, games=12, concurrent_games=4, balanced_share=0.0, random_share=0.5, rehearsal_share=0.0
    ),
    phases=(Phase.SELFPLAY,),
    gate=GateConfig(games=4, simulations=8),
    evaluation=EvaluationConfig(final_games=0),
)


@pytest.fixture(scope="module")
def crew() -> Iterator[RayCrew]:
    set_runtime(RuntimeChoice(backend=Backend.OPENVINO))
    with RayCrew("ray", workers=2) as crew:
        yield crew
    set_runtime(RuntimeChoice(backend=Backend.TORCH))


@pytest.fixture(autouse=True)
def exact_runtime() -> Iterator[None]:
    """The last bits of torch's evaluations depend on the number of rows in a batch; OpenVINO's do not."""
    set_runtime(RuntimeChoice(backend=Backend.OPENVINO))
    yield
    set_runtime(RuntimeChoice(backend=Backend.TORCH))


@pytest.fixture
def job(tmp_path: Path) -> SelfPlayJob:
    model = tmp_path / "model.safetensors"
    save_model(model, make_model(CONFIG.net, RULES, 1), {})
    return SelfPlayJob(CONFIG, 0, [], model)


def same(one: dict[int, SelfPlayGame], other: dict[int, SelfPlayGame]) -> bool:
    return one.keys() == other.keys() and all(
        game.record == other[number].record
        and np.array_equal(game.samples.policies, other[number].samples.policies)
        and np.array_equal(game.samples.values, other[number].samples.values)
        for number, game in one.items()
    )


def played_here(job: SelfPlayJob, count: int) -> dict[int, SelfPlayGame]:
    games: dict[int, SelfPlayGame] = {}
    with Local().open(job) as team:
        team.play(range(count), games.__setitem__, lambda: False)
    return games


def test_workers_play_the_games_of_this_process_even_if_one_is_killed(crew: RayCrew, job: SelfPlayJob) -> None:
    expected = played_here(job, 30)
    games: dict[int, SelfPlayGame] = {}
    killed: list[int] = []

    def finished(number: int, game: SelfPlayGame) -> None:
        assert number not in games, "a game comes once"
        games[number] = game
        if len(games) == 10:
            import ray

            victim = crew.hands()[0].actor
            process = ray.get(victim.process.remote())
            os.kill(process, signal.SIGKILL)
            killed.append(process)

    with crew.open(job) as team:
        team.play(range(30), finished, lambda: False)
        assert team.report is not None
        assert sum(team.report.games_by_node.values()) == 30
        assert team.counts["simulations"] > 0
    assert killed
    assert same(games, expected)


def test_a_match_is_the_same_with_workers(crew: RayCrew) -> None:
    schedule = fixtures(2, 8, openings=[(24,), (25, 16)], seed=1)
    players = [NamedPlayer.of(spec, RULES, PlayerSettings()) for spec in ("mentor:paper", "random")]
    results = [
        play_tournament(players, schedule, rules=RULES, conduct=Conduct(crew=each)).matches[0, 1]
        for each in (Local(), crew)
    ]
    assert [game.moves for game in results[0].games] == [game.moves for game in results[1].games]
    assert results[0].total == results[1].total


def test_an_overlapped_run_with_workers_ends_like_one_without(crew: RayCrew, tmp_path: Path) -> None:
    config = replace(CONFIG, selfplay=replace(CONFIG.selfplay, overlap=True, iterations=3))
    models = []
    for name, each in (("here", Local()), ("there", crew)):
        with RunFolder.create(tmp_path / name, config) as run:
            run_selfplay(run, Conduct(crew=each))
            arrays, _ = load_arrays(run.best_model)
            models.append(arrays)
        records = [record for record in read_metrics(tmp_path / name) if record["event"] == "games"]
        assert sum(record["games"] for record in records) == 36
        assert [sorted({r["age"] for r in records if r["iteration"] == i}) for i in range(3)] == [[0], [1], [1]]
        assert not list((tmp_path / name / "models").glob("playing-*"))
    assert all(record["games_per_second_by_node"] for record in records)
    assert models[0].keys() == models[1].keys()
    assert all(np.array_equal(models[0][key], models[1][key]) for key in models[0])


def test_the_error_of_a_job_names_the_machine(crew: RayCrew, job: SelfPlayJob) -> None:
    job.model.write_bytes(b"no model")
    with (
        pytest.raises(WorkersError, match=r"/[0-9a-f]{6}: .*model"),
        crew.open(job) as team,
    ):
        team.play(range(4), lambda number, game: None, lambda: False)


def test_a_job_beside_goes_on_with_newer_weights(crew: RayCrew, job: SelfPlayJob, tmp_path: Path) -> None:
    newer = tmp_path / "newer.safetensors"
    save_model(newer, make_model(CONFIG.net, RULES, 2), {})
    beside = crew.open_beside(job, range(100))
    found: dict[int, SelfPlayGame] = {}
    deadline = time.monotonic() + 300
    older: dict[int, SelfPlayGame] = {}
    while len(found) < 100 and time.monotonic() < deadline:
        found |= dict(beside.games(0.2))
        if found and not older:
            older = dict(found)
            beside.push(newer)
    beside.close()
    assert len(found) == 100
    expected = played_here(job, 100)
    assert same(older, {number: expected[number] for number in older})
    assert not same(found, expected), "the last games come from the newer net"
