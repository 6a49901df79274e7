"""Load and faults of machines: `python -m benchmarks.campaigns.faults load|disk|caches|node`.

The exit code is 1 at a defect.
"""

import sys

from benchmarks.campaigns import damaged_caches, elastic_ray, engine_under_load, full_disk
from benchmarks.measuring import run_one_of

if __name__ == "__main__":
    kinds = {
        "load": engine_under_load,
        "disk": full_disk,
        "caches": damaged_caches,
        "node": elastic_ray,
    }
    sys.exit(run_one_of(__doc__, kinds))
