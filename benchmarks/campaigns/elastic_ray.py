"""A machine that joins late and one that leaves.

Plays games of self-play on a Ray cluster of one node with one core. Then a second node joins, and later it is killed.
Prints the time until the second one has finished a game, and checks that all games are those of this process alone.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from ray.cluster_utils import Cluster

from benchmarks.measuring import Fault
from core.rules import Rules
from curriculum.config import Config
from curriculum.games.selfplay_games import SelfPlayGame
from curriculum.phases.jobs import SelfPlayJob
from curriculum.workers.local import Local
from curriculum.workers.ray_pool import RayPool
from nets.checkpoint import save_model
from nets.config import NetConfig
from nets.dual import make_model


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--games", type=int, default=400)


def run(arguments: argparse.Namespace) -> int:
    """Play, let a node join and leave, and check. Raises `Fault`."""
    base = Config(rules=Rules(9, 5), net=NetConfig.tower(16, 2))
    search, play = replace(base.search, simulations=64), replace(base.selfplay, concurrent_games=16)
    config = replace(base, search=search, selfplay=play)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    games: dict[int, SelfPlayGame] = {}
    with TemporaryDirectory() as folder:
        model = Path(folder) / "model.safetensors"
        save_model(model, make_model(config.net, config.rules, 1), {})
        job = SelfPlayJob(config, 0, [], model)
        second, joined, worked, left_at = None, 0.0, 0.0, 0

        with RayPool(cluster.address) as pool, pool.stream(job, range(arguments.games)) as stream:
            for number, game in stream:
                games[number] = game
                if second is None and not joined and len(games) >= arguments.games // 10:
                    second, joined = cluster.add_node(num_cpus=1), time.monotonic()
                if joined and not worked and len(stream.workers.games_by_node) == 2:
                    worked = time.monotonic()
                if second is not None and worked and len(games) >= arguments.games // 2:
                    left_at = len(games)
                    cluster.remove_node(second, allow_graceful=False)
                    second = None
        cluster.shutdown()
        with Local().stream(job, range(arguments.games)) as alone:
            here = dict(alone)
    if not left_at:
        raise Fault("the second node never worked, or never left")
    for number in range(arguments.games):
        one, other = games[number], here[number]
        if one.record != other.record or not np.array_equal(one.samples.values, other.samples.values):
            raise Fault(f"game {number} is another one")
    print(
        f"the second node had its first games {worked - joined:.1f} s after it joined, and left after {left_at} games"
    )
    print("all games are those of this process alone")
    return 0
