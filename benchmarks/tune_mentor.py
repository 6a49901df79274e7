"""Training of the mentor's network: `python -m benchmarks.tune_mentor games|fit|match …`.

`games FILE` lets the mentor play itself, half from balanced openings and half from random stones, with a random move
now and then. For each quiet position it stores the number of cells of each class, the result, and the mentor's value.
`fit NETWORK FILE …` trains a network to predict both. `match NETWORK` lets the mentor with that network play the
present mentor at equal nodes. A network that wins comes into the package (`search/mentor/network.npz`), and its games
train the next one.

The one in the package is the fourth. It was trained on 24,000 games of the second at 2,000 nodes a move and 14,000 of
the third at 3,000, in 40 passes with a value share of 0.75. The games of their predecessors made it worse.
"""

import argparse
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from core.compiled import stones_of
from core.compiled.threats import FIVE, load, new_threat_board, side_of
from core.position import Position
from core.rules import EMPTY, Rules
from core.streams import Purpose, generator, stream_key
from curriculum.arena.opening_sets import load_openings
from curriculum.arena.tournament import play_match
from curriculum.games.mentor_games import random_move, random_opening
from curriculum.reporting import Conduct
from search.limits import Limit
from search.mentor.evaluation import (
    CLASSES,
    HIDDEN,
    SQUASH,
    UNITS,
    Network,
    built_in_network,
    class_table,
    new_evaluation,
    start,
)
from search.mentor.player import Mentor

_RULES = Rules()
_RANDOM_SHARE = 0.05
_VARIETY = 20
_HELD_OUT = 0.08
_LARGEST = 30_000
"""The largest number of a row: sums of a board's cells stay far below 32 bits."""
_SCALE = 4096.0
"""Scale of the rows: one of the network's units in their whole numbers."""


class Samples(NamedTuple):
    """Positions as the network sees them."""

    cells: NDArray[np.uint8]
    """[B, 2 x CLASSES] empty cells of each class, to the side to move and then to its opponent."""
    results: NDArray[np.float32]
    """[B] result of the game for the side to move: 0, 0.5 or 1."""
    values: NDArray[np.float32]
    """[B] the mentor's value for the side to move, -1 to 1."""
    lengths: NDArray[np.int64]
    """[games] positions of each game, in order."""


def play_game(nodes: int, seed: int, game: int) -> Samples:
    """Return the quiet positions of one game, in which neither side can win at once."""
    random = generator(seed, Purpose.MENTOR, game)
    if game % 2:
        openings = load_openings("balanced", _RULES, for_training=True)
        position = Position.from_moves(_RULES, openings[game // 2 % len(openings)])
    else:
        position = random_opening(_RULES, (2, 8), random)
    mentor = Mentor(Limit(nodes=nodes), variety=_VARIETY, memory_bytes=1 << 18)
    board, evaluation, table = new_threat_board(_RULES), new_evaluation(_RULES, built_in_network()), class_table()
    rows, colours, values = [], [], []
    while not position.is_game_over():
        load(board, stones_of(position))
        start(evaluation, board)
        side = side_of(position.side_to_move)
        decision = mentor.choose_batch([position], seeds=[stream_key(seed, game, position.ply)])[0]
        if evaluation.wins[side] == 0 and board.counts[1 - side, FIVE] == 0:
            classes = [table[evaluation.packed[s][stones_of(position) == EMPTY]] for s in (side, 1 - side)]
            rows.append(np.concatenate([np.bincount(each, minlength=CLASSES) for each in classes]))
            colours.append(position.side_to_move)
            values.append(decision.value)
        position.push(random_move(position, random) if random.random() < _RANDOM_SHARE else decision.move)
    outcome = position.outcome()
    winner = outcome.winner if outcome else None
    return Samples(
        np.minimum(np.array(rows).reshape(len(rows), 2 * CLASSES), 255).astype(np.uint8),
        np.array([0.5 if winner is None else float(winner == colour) for colour in colours], dtype=np.float32),
        np.array(values, dtype=np.float32),
        np.array([len(rows)]),
    )


def games(output: Path, number: int, nodes: int, seed: int) -> None:
    """Play games on all cores and write their samples."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        played = list(pool.map(partial(play_game, nodes, seed), range(number), chunksize=16))
    samples = Samples(*(np.concatenate(parts) for parts in zip(*played, strict=True)))
    np.savez_compressed(output, **samples._asdict())
    print(f"{len(samples.results):,} positions of {number:,} games in {output}")


def fit(output: Path, files: Sequence[Path], passes: int, value_share: float, seed: int) -> None:
    """Train a network on samples, print its loss on games held out, and write it."""
    loaded = [np.load(file) for file in files]
    samples = Samples(*(np.concatenate([each[name] for each in loaded]) for name in Samples._fields))
    torch.manual_seed(seed)
    game_of = np.repeat(np.arange(len(samples.lengths)), samples.lengths)
    held = np.random.default_rng(seed).random(len(samples.lengths))[game_of] < _HELD_OUT
    training, held_out = (torch.from_numpy(np.flatnonzero(which)) for which in (~held, held))
    cells, results = torch.from_numpy(samples.cells), torch.from_numpy(samples.results)
    targets = (1 - value_share) * results + value_share * (torch.from_numpy(samples.values) + 1) / 2
    spread = cells[training[:100_000]].float().std(0) + 0.25
    spread[[0, CLASSES]] = torch.inf  # a cell without patterns has no weight
    net = nn.Sequential(
        nn.Linear(2 * CLASSES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, UNITS), nn.ReLU(), nn.Linear(UNITS, 1)
    )
    first, second, third = (layer for layer in net if isinstance(layer, nn.Linear))
    batch, rate = 1024, 4e-3
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=0.05)
    steps = passes * -(-len(training) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps)
    for _ in range(passes):
        for chosen in torch.split(training[torch.randperm(len(training))], batch):
            loss = functional.binary_cross_entropy_with_logits(
                net(cells[chosen].float() / spread).squeeze(1), targets[chosen]
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    with torch.no_grad():
        logits = net(cells[held_out].float() / spread).squeeze(1)
        held_out_loss = functional.binary_cross_entropy_with_logits(logits, results[held_out]).item()
        weights = (first.weight / spread).numpy()
    scale = min(_SCALE, _LARGEST / float(np.abs(weights).max()))
    # tanh(score / SQUASH) is the expected result of -1 to 1, so the chance to win is logistic in 2 score / SQUASH.
    points = np.float32(SQUASH / 2)
    network = Network(
        rows=np.rint(np.concatenate([weights[:, :CLASSES].T, weights[:, CLASSES:].T], axis=1) * scale).astype(np.int16),
        first_bias=np.rint(first.bias.detach().numpy() * scale).astype(np.int32),
        second=np.ascontiguousarray(second.weight.detach().numpy().T / np.float32(scale)),
        second_bias=second.bias.detach().numpy(),
        third=third.weight.detach().numpy()[0] * points,
        third_bias=third.bias.detach().numpy() * points,
    )
    np.savez(output, **{name: getattr(network, name) for name in Network.__dataclass_fields__})
    print(f"{len(training):,} positions; cross-entropy of the results of {len(held_out):,} others: {held_out_loss:.4f}")


def match(network: Path, number: int, nodes: int, seed: int) -> None:
    """Let the mentor with another network play the present mentor."""
    with np.load(network) as arrays:
        own = Network(**arrays)
    limit = Limit(nodes=nodes)
    result = play_match(
        Mentor(limit, network=own, name="new"),
        Mentor(limit, name="old"),
        rules=_RULES,
        openings=load_openings("balanced", _RULES),
        games=number,
        seed=seed,
        conduct=Conduct(),
    )
    found = result.estimate
    print(f"new against old: {result.total.score:.1%} of {number} games, {found}")


def main() -> None:
    """Run one of the three steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("games", "fit", "match"))
    parser.add_argument("files", nargs="+", type=Path, help="games: output; fit: output and samples; match: network")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--nodes", type=int, default=2000, help="of each move")
    parser.add_argument("--passes", type=int, default=16, help="over the samples")
    parser.add_argument(
        "--value-share",
        type=float,
        default=0.5,
        help="weight of the mentor's value in the target; the result has the rest",
    )
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    output, *files = arguments.files
    if arguments.what == "games":
        games(output, arguments.games, arguments.nodes, arguments.seed)
    elif arguments.what == "fit":
        fit(output, files, arguments.passes, arguments.value_share, arguments.seed)
    else:
        match(output, arguments.games, arguments.nodes, arguments.seed)


if __name__ == "__main__":
    main()
