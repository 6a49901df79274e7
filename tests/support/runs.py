"""Run folders with metrics of their own, a small run with all phases, and the comparison of games and samples."""

import itertools
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from core.evaluation import PositionBatch
from core.records.formats import write_games
from core.records.record import GameRecord
from core.rules import BLACK
from curriculum.config import Config
from curriculum.explanations import comment_lines
from curriculum.games.selfplay_games import SelfPlayGame
from curriculum.presets import resolve, to_toml
from curriculum.training.samples import Samples
from nets.config import NetConfig

GAME = "h8 i9 h9 i10 h10 i11 h11 i12 h12"
"""Black wins with five in a row."""
SETTINGS = """
rules.size=7 rules.connect=4 search.simulations=8 training.batch_size=16 basics.positions=48 basics.epochs=2
basics.noise_stones=0,12 imitation.teacher=mentor:paper imitation.games=6 imitation.passes=2 imitation.bar_games=2
imitation.bar_every=1 imitation.held_out_share=0.3 imitation.bar_score=1.0 selfplay.iterations=2 selfplay.games=4
selfplay.concurrent_games=2 selfplay.draws_per_position=2.0 selfplay.window=150 gate.games=2 gate.simulations=4
gate.threshold=0.0 evaluation.final_games=0
""".split()
CURRICULUM = replace(resolve(assignments=SETTINGS), net=NetConfig.tower(4, 1, hidden=4))
"""A run of all phases that takes a second."""
_START = datetime(2026, 11, 20, 12, tzinfo=UTC)


def same_game(one: SelfPlayGame, other: SelfPlayGame) -> bool:
    """Return True for the same game with the same samples."""
    return one.record == other.record and same_samples(one.samples, other.samples)


def same_samples(one: Samples, other: Samples) -> bool:
    """Return True for the same positions with the same targets."""
    pairs = ((samples.positions.stones, samples.policies, samples.values) for samples in (one, other))
    return all(itertools.starmap(np.array_equal, zip(*pairs, strict=True)))


class Killed(BaseException):
    """End of the process: nothing may catch it."""


def plain_samples(count: int) -> Samples:
    """Return samples of `CURRICULUM` on the empty board with even policies and values of a hundredth more each."""
    cells = CURRICULUM.rules.cells
    positions = PositionBatch.empty(count, cells)
    positions.to_move[::2] = -1
    policies = np.full((count, cells), 1 / cells, dtype=np.float32)
    return Samples.plain(positions, policies, np.arange(count, dtype=np.float32) / np.float32(100))


def match(opponent: str, wins: int, losses: int) -> dict[str, Any]:
    """Return the result of a match as the metrics have it."""
    games, counts = wins + losses, {"wins": wins, "draws": 0, "losses": losses}
    score = {"score": wins / games, "games": games, "distinct_games": games, "score_interval": [0.1, 0.9]}
    sides = {"as_black": counts, "as_white": dict.fromkeys(counts, 0), "pairs": None, "forfeits": []}
    elo = {"elo": 35.0, "elo_interval": [-20.0, 90.0], "los": 0.9}
    times = {"mean_move_seconds": [0.01, 0.01], "longest_move_seconds": [0.02, 0.02], "seconds": 4.0}
    return {"player": "model", "opponent": opponent, **counts, **score, **sides, **elo, "mean_plies": 30.0, **times}


def append(path: Path, *records: dict[str, Any]) -> None:
    """Append records to the metrics of a run."""
    with (path / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def make_run(path: Path, *, rounds: int = 2, config: Config | None = None) -> Path:
    """Make a run of three phases with `rounds` of self-play done, each with a gate; every other one is accepted."""
    from core.notation import parse_cell

    config = config or resolve("quick", assignments=["selfplay.iterations=4"])
    for name in ("models", "games", "replay", "state"):
        (path / name).mkdir(parents=True, exist_ok=True)
    (path / "config.toml").write_text(to_toml(config, comment_lines), encoding="utf-8")
    session = {"time": _START.isoformat(), "command": "gomoku train", "python": "3.11", "versions": {"torch": "2.9"}}
    (path / "environment.json").write_text(json.dumps({"sessions": [session | {"commit": "abc", "cpus": 2}]}))
    records: list[dict[str, Any]] = []

    def add(phase: str, event: str, **figures: Any) -> None:
        when = _START + timedelta(seconds=30 * len(records))
        records.append({"time": when.isoformat(), "phase": phase, "event": event, **figures})

    def train(phase: str, step: int, loss: float, **figures: Any) -> None:
        losses = {"policy_loss": loss, "value_loss": loss / 10, "policy_entropy": loss + 0.1, "learning_rate": 0.01}
        add(phase, "train", step=step, **losses, positions_per_second=4000.0, seconds=5.0, **figures)

    for step in range(1, 6):
        train("basics", 40 * step, 5.0 / step)
    add("basics", "measure", step=200, right_moves={"black": 0.99, "white": 0.98})
    for step in range(1, 6):
        train("imitation", 40 * step, 3.0 / step)
        add("imitation", "measure", step=40 * step, agreement=0.1 * step)
    add("imitation", "match", step=200, **match("mentor:paper", 17, 3))
    for number in range(rounds):
        games = {"games": 100, "game_length": 30.0 + number % 7, "black_share": 0.55, "draws": 1}
        speeds = {"policy_entropy": 1.5, "white_value": -0.1, "simulations_per_second": 20000.0, "seconds": 60.0}
        add("selfplay", "games", iteration=number, **games, **speeds)
        train("selfplay", 50, 2.0, iteration=number)
        result = match("best", 24 - number % 2 * 10, 16 + number % 2 * 10)
        accepted = number % 2 == 0
        add("selfplay", "gate", iteration=number, score=0.6, accepted=accepted, result=result, seconds=20.0)
        if accepted:
            (path / "models" / f"selfplay-{number:04d}.safetensors").touch()
    append(path, *records)
    finished = ["basics", "imitation"] + (["selfplay"] if rounds >= config.selfplay.iterations else [])
    (path / "state" / "phases.json").write_text(json.dumps(dict.fromkeys(finished, True)))
    (path / "state" / "selfplay.json").write_text(json.dumps({"iteration": rounds}))
    moves = [parse_cell(name, config.rules.size) for name in GAME.split()]
    comments = [f"value {value:+.3f} for black" for value in (0.0, 0.1, 0.1, 0.1, 0.2, -0.4, 0.7, 0.9, 1.0)]
    game = GameRecord(config.rules, moves, BLACK, "iteration 0", "iteration 0", comments=comments)
    write_games(path / "games" / "selfplay-0000-000000.sgf", [game, game])
    return path
