"""Speed of training, in quiet and beside other work: `python -m benchmarks.training --preset hour --busy 1`.

Trains new nets of a preset on basic moves and prints optimiser steps a second, the median of several parts: first
alone, then beside as many endless loops as `--busy` says.
"""

import argparse
import statistics
import subprocess
import sys
import time

import numpy as np

from curriculum.games import basics
from curriculum.presets import resolve
from curriculum.reporting import Conduct
from curriculum.training.samples import Samples
from curriculum.training.trainer import BatchSource, Trainer

_PARTS, _STEPS, _POSITIONS = 5, 20, 20_000


def main() -> None:
    """Measure and print both rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="hour")
    parser.add_argument("--busy", type=int, default=1, help="endless loops beside it")
    arguments = parser.parse_args()
    config = resolve(arguments.preset)
    settings = config.basics
    samples = basics.draw(config.rules, settings.kinds, _POSITIONS, settings.noise_stones, config.seed, Conduct())
    source = BatchSource(
        basics.with_colours_swapped(samples),
        Samples.none(config.rules.cells),
        rehearsal_share=0.0,
        batch_size=config.training.batch_size,
        seed=config.seed,
        dual=config.net.dual,
    )
    trainer = Trainer(config)
    for busy in dict.fromkeys((0, arguments.busy)):
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        try:
            seconds = []
            for part in range(_PARTS):
                start = time.perf_counter()
                trainer.train(source, part * _STEPS, (part + 1) * _STEPS, np.full(_STEPS, 1e-4))
                seconds.append(time.perf_counter() - start)
        finally:
            for loop in loops:
                loop.kill()
        print(f"{busy} busy loops: {_STEPS / statistics.median(seconds):.1f} steps/s", flush=True)


if __name__ == "__main__":
    main()
