"""Basics: phase 1 of the curriculum. Both nets learn the basic moves (A IV-B)."""

from pathlib import Path

from core.streams import Purpose, stream_key
from curriculum.games import basics
from curriculum.phases.divergence import naming_divergence
from curriculum.phases.steps import (
    best_hash,
    falling_rate,
    favourite_moves,
    is_finished,
    keep_model,
    mark_finished,
    resumed,
    shares_by_colour,
)
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder
from curriculum.training.files import read_samples, write_samples
from curriculum.training.samples import Samples
from nets.dual import DualNet

PHASE = "basics"
_TEST_POSITIONS = 10_000


def run_basics(run: RunFolder, context: Context) -> None:
    """Draw the basic positions, train on them and measure the nets on fresh ones.

    Raises `Interrupted` after saving, `BasicsError` for positions that cannot be drawn.
    """
    if is_finished(run, PHASE):
        context.reporter.say("phase 1, basics: done before")
        return
    config = run.config
    samples = basics_of(run, context)
    training = resumed(run, context, PHASE, {"step": 0})
    trainer, progress = training.trainer, training.progress
    progress.setdefault("parent", best_hash(run))
    source = trainer.batches(samples, stream_key(config.seed, Purpose.BASICS))
    steps = config.basics.epochs * source.steps_per_pass
    with context.reporter.task("learning the basics", steps, "steps") as task:
        task.update(progress["step"])
        rate = falling_rate(config.basics.learning_rate, config.basics.final_learning_rate, steps)
        with naming_divergence(run, PHASE, progress, rate(0)):
            for losses in training.fit(source, steps, rate):
                task.update(progress["step"], policy_loss=losses["policy_loss"], value_loss=losses["value_loss"])
            context.check()
            trainer.refresh_norms(samples, stream_key(config.seed, Purpose.BASICS))
    shares = right_shares(trainer.model, run, context)
    # Not the best model of now: after a kill in between that is this one.
    made = {"phase": PHASE, "step": steps, "parent": progress["parent"], "results": {"right_moves": shares}}
    with run.metrics_of({"phase": PHASE, "event": "measure", "step": steps, "right_moves": shares}):
        for name in (PHASE, "best"):
            keep_model(run, name, trainer.model, made)
        mark_finished(run, PHASE)
    context.reporter.say(
        "phase 1, basics: right on fresh positions "
        + ", ".join(f"{100 * share:.2f} % ({name})" for name, share in shares.items())
    )


def basics_file(run: RunFolder) -> Path:
    """Return the file of a run's basic positions, as they were drawn."""
    return run.replay / "basics.npz"


def basics_of(run: RunFolder, context: Context) -> Samples:
    """Return the run's basic positions, from its folder or drawn now, also with swapped colours if so configured."""
    path, settings = basics_file(run), run.config.basics
    if not path.exists():
        drawn = basics.draw(
            run.config.rules, settings.kinds, settings.positions, settings.noise_stones, run.config.seed, context
        )
        write_samples(path, drawn, {"kinds": settings.kinds, "seed": run.config.seed})
    samples, _ = read_samples(path, run.config.rules.cells)
    return basics.with_colours_swapped(run.config.rules, samples) if settings.colour_swapped else samples


def right_shares(model: DualNet, run: RunFolder, context: Context) -> dict[str, float]:
    """Return each net's share of right first choices on fresh positions; brute force finds the right answers."""
    config = run.config
    fresh = basics.draw(
        config.rules,
        config.basics.kinds,
        min(_TEST_POSITIONS, config.basics.positions),
        config.basics.noise_stones,
        stream_key(config.seed, Purpose.BASICS, 1),  # not the seed of the training positions
        context,
    )
    if config.basics.colour_swapped:
        fresh = basics.with_colours_swapped(config.rules, fresh)
    return shares_by_colour(fresh, basics.are_right(config.rules, fresh.positions, favourite_moves(model, fresh)))
