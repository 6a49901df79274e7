"""Load and full disks: `python -m benchmarks.campaigns.faults load|disk`; exit code 1 at a defect."""

import sys

from benchmarks.campaigns import engine_under_load, full_disk
from benchmarks.measuring import run_one_of

if __name__ == "__main__":
    sys.exit(run_one_of(__doc__, {"load": engine_under_load, "disk": full_disk}))
