"""Policies and values of deep searches for held-out positions: `... label DATA --positions 100k --simulations 20000`.

A file of positions appears after each batch, and a later call goes on, also with more positions. `train` measures nets
on those that are there.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.curve.data import LABELS, config_of, count, held_out_positions, labelled
from benchmarks.curve.dataset import Dataset
from benchmarks.measuring import again
from core.evaluation import PositionBatch
from core.position import Position
from core.rules import BLACK, WHITE, Rules
from curriculum.arena.players import PlayerSettings, parse_player
from curriculum.training.files import write_samples
from curriculum.training.samples import Samples
from gomoku_cli.interruption import interruptible
from search.tree.settings import Policy

_BATCH = 32
"""Positions searched side by side, and those of a file."""


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--positions", type=count, default=100_000, help="number of positions, such as 100k")
    parser.add_argument("--simulations", type=int, default=20_000)
    parser.add_argument("--player", default="default", help="a model that searches")


def positions_of(batch: PositionBatch, rules: Rules) -> Iterable[Position]:
    """Yield the positions of a batch, with their stones in any order but for the last moves."""
    for row, lasts in zip(batch.stones, batch.last_moves.tolist(), strict=True):
        black, white = (
            sorted(np.flatnonzero(row == colour).tolist(), key=lasts.__contains__) for colour in (BLACK, WHITE)
        )
        moves = [0] * (len(black) + len(white))
        moves[::2], moves[1::2] = black, white
        yield Position.from_moves(rules, moves)


def run(arguments: argparse.Namespace) -> int:
    """Label."""
    rules, folder = config_of(arguments.data).rules, arguments.data / LABELS
    folder.mkdir(exist_ok=True)
    done, _ = labelled(arguments.data, rules.cells)
    left = held_out_positions(Dataset(arguments.data, rules), done)
    first, number = sum(map(len, done)), len(done)
    until = min(arguments.positions, first + len(left))
    settings = PlayerSettings(simulations=arguments.simulations, policy=Policy.DETERMINISTIC)
    player = parse_player(arguments.player, rules=rules, settings=settings)
    facts = {"player": arguments.player, "simulations": arguments.simulations}
    with interruptible(resume=again()) as context, context.reporter.task("labels", until, "positions") as task:
        task.update(first)
        for place in range(0, until - first, _BATCH):
            own = left.rows(slice(place, min(place + _BATCH, until - first)))
            seeds = range(first + place, first + place + len(own))
            decisions = player.choose_batch([*positions_of(own.positions, rules)], seeds=seeds)
            policies = np.stack([decision.policy for decision in decisions if decision.policy is not None])
            values = np.array([decision.value for decision in decisions], np.float32)
            found = Samples.plain(own.positions, policies, values)
            write_samples(folder / f"own-{number:06d}.npz", own, facts)
            write_samples(folder / f"deep-{number:06d}.npz", found, facts)  # last, since readers look for it
            number += 1
            task.update(first + place + len(own))
            context.check()
    print(f"{until:,} of {first + len(left):,} held-out positions have labels")
    return 0
