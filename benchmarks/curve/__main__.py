"""Error of nets over the number of their positions: `python -m benchmarks.curve collect|label|train|plot DATA`.

`collect` makes DATA, a folder of distinct positions, from the self-play of runs, and holds out some games. `label`
searches held-out positions deeply. `train` trains nets on the first N positions, and measures them on the held-out
ones. `plot` draws the curve. Each can be stopped at any time and goes on where it was; `train` and `label` use whatever
there is so far.
"""

import sys

import typer

from benchmarks.curve import collect, label, plot, train
from benchmarks.measuring import run_one_of
from core.errors import UserError
from gomoku_cli.exit_codes import for_error

if __name__ == "__main__":
    try:
        sys.exit(run_one_of(__doc__, {"collect": collect, "label": label, "train": train, "plot": plot}))
    except typer.Exit as end:
        sys.exit(end.exit_code)
    except (UserError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(for_error(error))
