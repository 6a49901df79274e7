"""The curriculum: basics, imitation, self-play, and what the model is worth at the end (A IV)."""

import time
from typing import Any

import numpy as np

from core.batch import PositionBatch
from core.rules import WHITE
from core.streams import Purpose, stream_key
from curriculum.arena import evaluation_openings, play_match
from curriculum.config import Config
from curriculum.phase_basics import run_basics
from curriculum.phase_imitation import run_imitation
from curriculum.phase_selfplay import run_selfplay
from curriculum.player_specs import parse_player
from curriculum.reporting import Conduct
from curriculum.run_folder import RunFolder
from curriculum.run_training import keep_model, match_settings, model_player
from curriculum.samples import Samples
from curriculum.selfplay import TREE_ROOM
from curriculum.training import BatchSource, Trainer
from nets.checkpoint import load_model
from nets.dual import parameter_count
from nets.evaluator import NetEvaluator
from search.forest import bytes_per_node

__all__ = ["FINAL_OPPONENTS", "describe_estimate", "measure", "run_all", "run_basics", "run_imitation", "run_selfplay"]

FINAL_OPPONENTS = ("random", "mentor:paper", "mentor", "pure-mcts:1000")

_MATCHES = "matches"

_PLIES_A_GAME = 35
"""A guess at a game's length, for estimates."""


def run_all(run: RunFolder, conduct: Conduct) -> list[dict[str, Any]]:
    """All three phases, and then `measure`. Raises `Interrupted` after saving."""
    run_basics(run, conduct)
    run_imitation(run, conduct)
    run_selfplay(run, conduct)
    return measure(run, conduct)


def measure(run: RunFolder, conduct: Conduct) -> list[dict[str, Any]]:
    """The best model's matches against `FINAL_OPPONENTS` (`MatchResult.to_json`), written into its metadata.

    Matches that the run has behind it are not played again. None where `final_games` is 0. Raises `Interrupted`.
    """
    config = run.config
    if not config.evaluation.final_games:
        return []
    results: dict[str, dict[str, Any]] = run.read_state(_MATCHES) or {}
    model, info = load_model(run.best_model)
    evaluator = NetEvaluator(model)
    try:
        for opponent in FINAL_OPPONENTS:
            if opponent in results:
                continue
            result = play_match(
                model_player(config, evaluator, name=config.preset),
                parse_player(opponent, rules=config.rules, settings=match_settings(config)),
                rules=config.rules,
                openings=evaluation_openings(config.rules),
                games=config.evaluation.final_games,
                seed=stream_key(config.seed, Purpose.GATE),
                conduct=conduct,
                task=f"match against {opponent}",
            ).to_json()
            run.append_metrics({"phase": "evaluation", "event": "match", **result})
            results[opponent] = result
            run.write_state(_MATCHES, results)
    finally:
        evaluator.close()
    final = {f"against {opponent}": result for opponent, result in results.items()}
    keep_model(run, "best", model, {**info.made, "results": {**info.made.get("results", {}), **final}})
    return list(results.values())


def describe_estimate(config: Config) -> list[tuple[str, str]]:
    """What a run will take on this machine, as rows (what, how much): measured on it, and a guess for game lengths."""
    trainer = Trainer(config)
    samples = _blank_samples(config)
    batches = BatchSource(
        samples,
        Samples.none(config.rules.cells),
        rehearsal_share=0.0,
        batch_size=config.training.batch_size,
        seed=0,
        dual=config.net.dual,
    )
    trainer.train(batches, 0, 1, np.zeros(1))
    start = time.perf_counter()
    trainer.train(batches, 1, 4, np.zeros(3))
    step_s = (time.perf_counter() - start) / 3
    evaluator = NetEvaluator(trainer.model)
    judged = samples.positions.rows(slice(256))
    evaluator.judge(judged)
    start = time.perf_counter()
    for _ in range(4):
        evaluator.judge(judged)
    evaluation_s = (time.perf_counter() - start) / (4 * len(judged))
    evaluator.close()

    batch, nets = config.training.batch_size, len(batches.colours)
    plies = min(_PLIES_A_GAME, config.rules.cells)
    copies = 2 if config.basics.colour_swapped else 1
    basics_steps = config.basics.epochs * config.basics.positions * copies / (batch * nets)
    fresh = batch * (1 - config.imitation.basics_share)
    imitation_steps = config.imitation.passes * config.imitation.games * plies / (fresh * nets)
    selfplay = config.selfplay
    positions = selfplay.games * plies
    round_s = (
        positions * config.search.simulations * evaluation_s
        + selfplay.draws_per_position * positions / (batch * (1 - selfplay.rehearsal_share) * nets) * step_s
        + config.gate.games * plies * (config.gate.simulations or config.search.simulations) * evaluation_s
    )
    seconds = {
        "basics": basics_steps * step_s,
        "imitation, without the mentor's games": imitation_steps * step_s,
        f"self-play, at most ({selfplay.iterations} rounds)": selfplay.iterations * round_s,
    }
    trees = selfplay.concurrent_games * (TREE_ROOM * config.search.simulations + 1) * bytes_per_node(config.rules)
    sample_bytes = sum(array.nbytes for array in (samples.policies[0], samples.positions.stones[0])) + 9
    held = max(selfplay.window, config.imitation.games * plies, config.basics.positions * copies)
    parameters = [parameter_count(net) for net in trainer.model.nets.values()]
    return [
        ("parameters", " + ".join(f"{count:,}" for count in parameters)),
        ("device", str(trainer.device)),
        ("training, positions a second", f"{batch * nets / step_s:,.0f}"),
        ("evaluation, positions a second", f"{1 / evaluation_s:,.0f}"),
        *((f"time for {name}", f"about {value / 60:.1f} minutes") for name, value in seconds.items()),
        ("memory for samples, at most", f"{2 * held * sample_bytes / 2**20:,.0f} MiB"),
        ("memory for search trees, at most", f"{trees / 2**20:,.0f} MiB"),
    ]


def _blank_samples(config: Config) -> Samples:
    """Enough empty positions of both colours to time a few steps with."""
    count = max(2 * config.training.batch_size, 512)
    batch = PositionBatch.empty(count, config.rules.cells)
    batch.to_move[::2] = WHITE
    uniform = np.full((count, config.rules.cells), 1.0 / config.rules.cells, dtype=np.float32)
    return Samples(batch, uniform, np.zeros(count, dtype=np.float32))
