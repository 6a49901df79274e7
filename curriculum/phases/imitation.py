"""Imitation: phase 2 of the curriculum. Both nets imitate a teacher until they meet the bar (A IV-C)."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from core.streams import Purpose, stream_key
from curriculum.arena.results import MatchResult
from curriculum.arena.tournament import play_match
from curriculum.games.mentor_games import play_teacher_games
from curriculum.phases.basics import basics_of
from curriculum.phases.divergence import naming_divergence
from curriculum.phases.origin import portable_name, result_of
from curriculum.phases.players import ModelPlayer, named_player
from curriculum.phases.steps import (
    falling_rate,
    favourite_moves,
    is_finished,
    keep_model,
    mark_finished,
    resumed,
    shares_by_colour,
    trainer_state,
)
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder
from curriculum.training.samples import Samples
from curriculum.training.trainer import Trainer
from nets.checkpoint import load_model

PHASE = "imitation"


def run_imitation(run: RunFolder, context: Context) -> None:
    """Play the teacher's games and train on them, until the bar is met, agreement stops rising or the time is used up.

    The model with the best agreement on held-out games is kept, or the one that met the bar. Raises `Interrupted` after
    saving.
    """
    if is_finished(run, PHASE):
        context.reporter.say("phase 2, imitation: done before")
        return
    config, settings = run.config, run.config.imitation
    teacher = named_player(config, settings.teacher, seconds=settings.teacher_seconds or None)
    opponent = named_player(config, settings.opponent) if settings.opponent else None
    played, held_out = play_teacher_games(config, teacher, run.replay, context, opponent)
    rehearsal = basics_of(run, context) if settings.basics_share > 0 else Samples.none(config.rules.cells)
    start = {"step": 0, "passes": 0, "best_agreement": -1.0, "stale_passes": 0, "ended": ""}
    training = resumed(run, context, PHASE, start)
    trainer, progress = training.trainer, training.progress
    source = trainer.batches(
        played, stream_key(config.seed, Purpose.MENTOR), rehearsal=rehearsal, rehearsal_share=settings.basics_share
    )
    steps = settings.passes * source.steps_per_pass
    rate = falling_rate(settings.learning_rate, settings.final_learning_rate, steps)
    with context.reporter.task(f"imitating {settings.teacher}", steps, "steps") as task:
        task.update(progress["step"])
        while not progress["ended"]:
            until = (progress["passes"] + 1) * source.steps_per_pass
            with naming_divergence(run, PHASE, progress, rate(progress["step"])):
                for losses in training.fit(source, until, rate):
                    agreement = {"agreement": progress["best_agreement"]} if progress["passes"] else {}
                    task.update(progress["step"], policy_loss=losses["policy_loss"], **agreement)
                trainer.refresh_norms(played, stream_key(config.seed, Purpose.MENTOR, progress["passes"] + 1))
            _measure_pass(run, context, trainer, progress, held_out)
    # The last pass measured another model, unless it was the best: measure the model that is kept.
    path = run.models / f"{PHASE}.safetensors"
    model, info = load_model(path)
    results = {
        name: _match(run, path, name, context).to_json()
        for name in dict.fromkeys((settings.bar_opponent, settings.teacher))
    }
    kept_results = {f"against {portable_name(name)}": result_of(result) for name, result in results.items()}
    made = {**info.made, "results": {**info.made.get("results", {}), **kept_results}}
    with ExitStack() as kept:
        for result in results.values():
            kept.enter_context(run.metrics_of({"phase": PHASE, "event": "match", "step": progress["step"], **result}))
        keep_model(run, PHASE, model, made)
        keep_model(run, "best", model, made)
        mark_finished(run, PHASE)
    for name, result in results.items():
        counts = f"{result['wins']} wins, {result['draws']} draws, {result['losses']} losses"
        context.reporter.say(f"phase 2, imitation: {counts} against {name}")
    context.reporter.say(f"phase 2, imitation: ended because {progress['ended']}")


def _measure_pass(
    run: RunFolder, context: Context, trainer: Trainer, progress: dict[str, Any], held_out: Samples
) -> None:
    """Measure a finished pass and decide if it was the last."""
    settings = run.config.imitation
    progress["passes"] += 1
    favourites = favourite_moves(trainer.model, held_out, repeatable=True)
    # Several moves may have the teacher's highest probability.
    agrees = held_out.policies[np.arange(len(held_out)), favourites] >= held_out.policies.max(axis=1)
    agreement, by_colour = float(agrees.mean()), shares_by_colour(held_out, agrees)
    record: dict[str, Any] = {"agreement": agreement, "agreement_by_colour": by_colour}
    if agreement > progress["best_agreement"]:
        progress |= {"best_agreement": agreement, "stale_passes": 0}
        made = {"phase": PHASE, "step": progress["step"], "results": {"agreement": agreement}}
        keep_model(run, PHASE, trainer.model, made)
    else:
        progress["stale_passes"] += 1
    last = progress["passes"] >= settings.passes
    if settings.bar_every and progress["passes"] % settings.bar_every == 0 and not last:
        measured = keep_model(run, "measured", trainer.model, {"phase": PHASE, "step": progress["step"]})
        try:
            result = _match(run, measured, settings.bar_opponent, context)
        finally:
            measured.unlink()
        record |= {"score": result.total.score, "opponent": settings.bar_opponent}
        context.reporter.say(f"pass {progress['passes']}: agreement {agreement:.3f}, score {result.total.score:.2f}")
        if result.total.score >= settings.bar_score:
            progress["ended"] = f"the score of {result.total.score:.2f} against {settings.bar_opponent} meets the bar"
            # This model met the bar, so it is the one to keep.
            made = {"phase": PHASE, "step": progress["step"], "results": {"agreement": agreement}}
            keep_model(run, PHASE, trainer.model, made)
    if not progress["ended"]:
        if last:
            progress["ended"] = f"all {settings.passes} passes are done"
        elif progress["stale_passes"] >= settings.patience:
            progress["ended"] = f"agreement has not risen for {settings.patience} passes"
        elif settings.minutes and progress["seconds"] >= 60 * settings.minutes:
            progress["ended"] = f"the {settings.minutes:g} minutes are used up"
    with run.metrics_of(
        {"phase": PHASE, "event": "measure", "step": progress["step"], "pass": progress["passes"], **record}
    ):
        trainer.save(trainer_state(run, PHASE), progress)


def _match(run: RunFolder, model: Path, opponent: str, context: Context) -> MatchResult:
    config, settings = run.config, run.config.imitation
    return play_match(
        ModelPlayer(config, model, "model"),
        named_player(config, opponent),
        rules=config.rules,
        games=settings.bar_games,
        seed=stream_key(config.seed, Purpose.MENTOR, 1),
        context=context,
        task=f"match against {opponent}",
    )
