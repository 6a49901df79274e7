"""Workers on a local Ray, which no other user or machine can reach: the same games for any number, whoever dies."""

import os
import signal
import stat
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
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
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder, read_metrics
from curriculum.workers.local import Local
from curriculum.workers.ray_pool import RayPool, WorkersError
from nets.checkpoint import load_arrays, save_model
from nets.config import Backend, RuntimeChoice, set_runtime
from nets.dual import make_model
from search.tree.settings import SearchSettings
from tests.curriculum.workers.conftest import same
from tests.support.nets import LINES
from tests.support.waiting import descendants

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("pool"), pytest.mark.filterwarnings("default")]

RULES = Rules(7, 4)
CONFIG = Config(
    rules=RULES,
    net=replace(LINES, trunk=("lines-32:8", "spread")),
    search=SearchSettings(simulations=16),
    selfplay=SelfplayConfig(
        iterations=2, games=8, concurrent_games=4, balanced_share=0.0, random_share=0.5, rehearsal_share=0.0
    ),
    phases=(Phase.SELFPLAY,),
    gate=GateConfig(games=4, simulations=8),
    evaluation=EvaluationConfig(final_games=0),
)


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A place for the secret, where there is none yet."""
    path = tmp_path_factory.mktemp("home") / ".ray" / "auth_token"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_AUTH_TOKEN", raising=False)
        patch.setenv("RAY_AUTH_TOKEN_PATH", str(path))
        yield path


@pytest.fixture(scope="module")
def pool(secret: Path) -> Iterator[RayPool]:
    """With the runtime of line-pattern nets: each evaluation is the same in every batch, and no model is converted."""
    set_runtime(RuntimeChoice())
    pool = RayPool("ray", workers=2)
    before = os.umask(0)
    try:
        pool.__enter__()
    finally:
        os.umask(before)
    yield pool
    pool.__exit__(None)
    assert not os.path.exists(pool._folder)
    set_runtime(RuntimeChoice(backend=Backend.TORCH))


def played_here(job: SelfPlayJob, numbers: Collection[int]) -> dict[int, SelfPlayGame]:
    with Local().stream(job, numbers) as stream:
        return dict(stream)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell who listens")
def test_a_local_ray_listens_on_loopback_alone_and_hides_its_secret_and_its_files(pool: RayPool, secret: Path) -> None:
    import ray

    pool.step(0.0)
    ray.get(pool.workers[0].place_call)
    own = [Path(f"/proc/{pid}/fd") for pid in (os.getpid(), *descendants(os.getpid()))]
    opened: set[str] = set()
    for path in (path for folder in own for path in folder.iterdir()):
        with suppress(OSError):
            opened.add(os.readlink(path))
    sockets = [line.split() for table in ("tcp", "tcp6") for line in Path("/proc/net", table).read_text().splitlines()]
    listening = {fields[1] for fields in sockets if fields[3] == "0A" and f"socket:[{fields[9]}]" in opened}
    assert len(listening) >= 4
    assert {address.partition(":")[0] for address in listening} <= {
        "0100007F",
        "0000000000000000FFFF00000100007F",
        "00000000000000000000000001000000",
    }
    found = [stat.S_IMODE(path.stat().st_mode) for path in (Path(pool._folder), secret.parent, secret)]
    assert found == [0o700, 0o700, 0o600]


def test_workers_play_the_games_of_this_process_even_if_one_is_killed(pool: RayPool, job: SelfPlayJob) -> None:
    expected = played_here(job, range(40))
    games: dict[int, SelfPlayGame] = {}
    killed: list[int] = []

    with pool.stream(job, range(40)) as stream:
        for number, game in stream:
            assert number not in games, "a game comes once"
            games[number] = game
            if len(games) == 10:
                import ray

                process = ray.get(pool.workers[0].actor.__ray_call__.remote(lambda worker: os.getpid()))
                os.kill(process, signal.SIGKILL)
                killed.append(process)
        assert sum(stream.workers.games_by_node.values()) == 40
        assert stream.counts["simulations"] > 0
    assert killed
    assert same(games, expected)


def test_a_match_is_the_same_with_workers(pool: RayPool) -> None:
    schedule = fixtures(2, 8, openings=[(24,), (25, 16)], seed=1)
    players = [NamedPlayer.of(spec, RULES, PlayerSettings()) for spec in ("mentor:paper", "random")]
    results = [
        play_tournament(players, schedule, rules=RULES, context=Context(pool=each)).matches[0, 1]
        for each in (Local(), pool)
    ]
    assert [game.moves for game in results[0].games] == [game.moves for game in results[1].games]
    assert results[0].total == results[1].total


def test_an_overlapped_run_with_workers_ends_like_one_without(pool: RayPool, tmp_path: Path) -> None:
    config = replace(CONFIG, selfplay=replace(CONFIG.selfplay, overlap=True, iterations=2))
    models = []
    for name, each in (("here", Local()), ("there", pool)):
        with RunFolder.create(tmp_path / name, config) as run:
            run_selfplay(run, Context(pool=each))
            arrays, _ = load_arrays(run.best_model)
            models.append(arrays)
        records = [record for record in read_metrics(tmp_path / name) if record["event"] == "games"]
        assert sum(record["games"] for record in records) == 16
        assert [sorted({r["age"] for r in records if r["iteration"] == i}) for i in range(2)] == [[0], [1]]
        assert not list((tmp_path / name / "models").glob("playing-*"))
    assert all(record["games_per_second_by_node"] for record in records)
    assert models[0].keys() == models[1].keys()
    assert all(np.array_equal(models[0][key], models[1][key]) for key in models[0])


def test_games_of_one_stream_come_in_while_another_is_waited_for(pool: RayPool, job: SelfPlayJob) -> None:
    with pool.stream(job, range(8)) as one, pool.stream(replace(job, iteration=1), range(100)) as other:
        one.take()
        assert sorted(number for number, _ in other) == list(range(100))
        assert len(one.take()) > 0
        assert not one.is_over or not one.take()


def test_the_error_of_a_job_names_the_machine(pool: RayPool, job: SelfPlayJob) -> None:
    job.model.write_bytes(b"no model")
    with pytest.raises(WorkersError, match=r"/[0-9a-f]{6}: .*model"), pool.stream(job, range(4)) as stream:
        list(stream)


def test_a_job_beside_goes_on_with_newer_weights(pool: RayPool, job: SelfPlayJob, tmp_path: Path) -> None:
    newer = tmp_path / "newer.safetensors"
    save_model(newer, make_model(CONFIG.net, RULES, 2), {})
    found: dict[int, SelfPlayGame] = {}
    older: dict[int, SelfPlayGame] = {}
    with pool.stream(job, range(200), beside=True) as stream:
        while not stream.is_over:
            found |= dict(stream.take(0.2))
            if found and not older:
                older = dict(found)
                stream.push(newer)
    assert len(found) == 200
    assert same(older, played_here(job, older))
    last = max(found)
    assert same({last: found[last]}, played_here(replace(job, model=newer), [last]))
