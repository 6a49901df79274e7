"""Inputs of anyone: `python -m benchmarks.campaigns.fuzz readers|games|engine`; exit code 1 at a defect."""

import sys

from benchmarks.campaigns import foreign_games, fuzz_engine, fuzz_readers
from benchmarks.measuring import run_one_of

if __name__ == "__main__":
    sys.exit(run_one_of(__doc__, {"readers": fuzz_readers, "games": foreign_games, "engine": fuzz_engine}))
