"""Error of nets over the number of their positions: `python -m benchmarks.curve collect|label|train|measure|plot DATA`.

`collect` makes DATA, a folder of distinct positions, from the self-play of runs, and holds out some games. `label`
searches held-out positions deeply. `train` trains nets on the first N positions, and measures them on the held-out
ones; `measure` does so with any models. `plot` draws the curve. Each can be stopped at any time and goes on where it
was; `train` and `label` use whatever there is so far.
"""

import sys

from benchmarks.curve import collect, label, measure, plot, train
from benchmarks.measuring import run_one_of

if __name__ == "__main__":
    sys.exit(
        run_one_of(__doc__, {"collect": collect, "label": label, "train": train, "measure": measure, "plot": plot})
    )
