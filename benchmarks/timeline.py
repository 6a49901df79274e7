"""Timeline of self-play: the load of each thread, by step.

    python -m benchmarks.timeline [--games 128] [--seconds 6] [--plot FILE.png]

Times every batch on its lane and every step of the search's own thread, on the clock and on the processor. The rest of
the cores is idle, or used by other processes. `--plot` draws the middle 60 milliseconds.
"""

import argparse
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from curriculum.arena.opening_sets import load_openings
from curriculum.config import Config
from curriculum.games.selfplay_games import SelfPlay
from nets.checkpoint import BUILT_IN, load_model
from nets.runtimes.net_evaluator import NetEvaluator
from search.tree import cache, kernels

_WARM_UP_S = 5.0
_SHOWN_S = 0.06


class Span(NamedTuple):
    """One step of one thread."""

    thread: str
    step: str
    start: float
    end: float
    cpu: float
    """Seconds on the processor."""
    rows: int


def watch(spans: list[Span], owner: Any, name: str, step: str, rows: Callable[..., int] = lambda *_: 0) -> None:
    """Replace `owner.name` by a function that records its calls in `spans`."""
    call = getattr(owner, name)

    def watched(*arguments: Any) -> Any:
        start, cpu = time.perf_counter(), time.thread_time()
        try:
            return call(*arguments)
        finally:
            spent = time.thread_time() - cpu
            thread = threading.current_thread().name
            spans.append(Span(thread, step, start, time.perf_counter(), spent, rows(*arguments)))

    setattr(owner, name, watched)


def plot(spans: Sequence[Span], file: Path) -> None:
    """Draw a short part of the run, a row a thread."""
    import matplotlib.pyplot as plt

    middle = (min(span.start for span in spans) + max(span.end for span in spans)) / 2
    shown = [span for span in spans if span.end > middle and span.start < middle + _SHOWN_S]
    threads = sorted({span.thread for span in shown})
    steps = sorted({span.step for span in shown})
    figure, axes = plt.subplots(figsize=(12, 0.8 * len(threads) + 1.2), layout="constrained")
    for step, colour in zip(steps, plt.rcParams["axes.prop_cycle"].by_key()["color"], strict=False):
        for number, thread in enumerate(threads):
            bars = [
                (1e3 * (span.start - middle), 1e3 * (span.end - span.start))
                for span in shown
                if span.thread == thread and span.step == step
            ]
            axes.broken_barh(bars, (number - 0.4, 0.8), facecolors=colour, label=step if number == 0 else None)
    axes.set_yticks(range(len(threads)), threads)
    axes.set_xlim(0, 1e3 * _SHOWN_S)
    axes.set_xlabel("milliseconds")
    handles = [plt.Rectangle((0, 0), 1, 1) for _ in steps]
    for handle, colour in zip(handles, plt.rcParams["axes.prop_cycle"].by_key()["color"], strict=False):
        handle.set_facecolor(colour)
    axes.legend(handles, steps, ncols=len(steps), loc="lower right", bbox_to_anchor=(1, 1), frameon=False)
    figure.savefig(file, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=128, help="games side by side")
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()

    spans: list[Span] = []
    evaluator = NetEvaluator(load_model(BUILT_IN["paper"])[0])
    base = Config()
    config = replace(base, selfplay=replace(base.selfplay, cache_megabytes=0, concurrent_games=options.games))
    player = SelfPlay(config, evaluator, iteration=0, balanced=load_openings("balanced", config.rules))

    def play(seconds: float) -> None:
        end = time.monotonic() + seconds
        player.play(range(1_000_000), lambda game: None, lambda: time.monotonic() > end)

    watch(spans, evaluator.runtime, "evaluate", "evaluate", lambda _, pieces: sum(len(piece.rows) for piece in pieces))
    watch(spans, kernels, "gather", "descend")
    watch(spans, kernels, "expand", "expand")
    watch(spans, cache, "assign_rows", "fill the slot")
    watch(spans, evaluator, "submit", "submit")
    watch(spans, player, "_move", "make moves")
    play(_WARM_UP_S)
    spans.clear()
    before, cpu = player.progress, time.process_time()
    play(options.seconds)
    after, cpu = player.progress, time.process_time() - cpu
    evaluator.close()

    seconds = after.seconds - before.seconds
    evaluations = after.evaluations - before.evaluations
    simulations = after.simulations - before.simulations
    print(f"{evaluations / seconds:,.0f} evaluations/s, {simulations / seconds:,.0f} simulations/s")
    print(f"{cpu / seconds:.2f} cores busy, {1e6 * cpu / evaluations:.1f} core-microseconds an evaluation:")
    groups: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for span in spans:
        groups[span.thread, span.step].append(span)
    for (thread, step), of in sorted(groups.items()):
        wall, busy = sum(span.end - span.start for span in of), sum(span.cpu for span in of)
        rows = sum(span.rows for span in of)
        print(
            f"  {thread:14} {step:14} {wall / seconds:6.1%} of the time, {busy / seconds:6.1%} of a core, "
            f"{1e6 * busy / evaluations:5.2f} us an evaluation"
            + (f", {rows / len(of):.0f} rows a batch" if rows else "")
        )
    if options.plot:
        plot(spans, options.plot)


if __name__ == "__main__":
    main()
