"""Kills and signals: `python -m benchmarks.campaigns.kills commands|writes|ray|signals`; exit code 1 at a defect."""

import sys

from benchmarks.campaigns import kill_commands, kill_ray, kill_writes, signals
from benchmarks.measuring import run_one_of

if __name__ == "__main__":
    kinds = {"commands": kill_commands, "writes": kill_writes, "ray": kill_ray, "signals": signals}
    sys.exit(run_one_of(__doc__, kinds))
