"""Inputs of anyone, drawn by hypothesis: `python -m benchmarks.campaigns.fuzz readers|games|engine`.

`readers` mutates inputs of all readers of files, arguments and lines; `games` makes files of games by a grammar;
`engine` sends lines of a manager, half of them sensible, through the protocol in this process, and one script in 500
through a process with pipes. Prints how many inputs had each fate. Exit code 1 at a defect, which is made small first.
"""

import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from benchmarks.campaigns import foreign_games, fuzz_engine, readers
from benchmarks.measuring import parser_of, progress
from curriculum.run import folder as run_folder

Check = Callable[[Any], str]
"""Returns the fate of an input. Raises `AssertionError` for a defect."""
_COUNTS = {"readers": 10_000, "games": 5_000, "engine": 25_000}


def checks(what: str, folder: Path) -> dict[str, tuple[SearchStrategy[Any], Check, int]]:
    """Return the checks of a subject, by name, each with its inputs and the count that one of them stands for."""
    if what == "readers":
        return {each.name: (each.inputs, partial(readers.check, each), 1) for each in readers.make_readers(folder)}
    if what == "games":
        return {"games": (foreign_games.foreign_files, partial(foreign_games.check, folder=folder), 1)}
    protocol, pipes = fuzz_engine.through_the_protocol, fuzz_engine.through_pipes
    return {"protocol": (fuzz_engine.scripts(), protocol, 1), "pipes": (fuzz_engine.scripts(), pipes, 500)}


def check_some(inputs: SearchStrategy[Any], check: Check, count: int, number: int) -> None:
    """Check `count` inputs, the same for the same `number`, and print their fates. Raises the error of a defect."""
    fates: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=max(1, count),
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def run(data: Any) -> None:
        fates[check(data)] += 1
        if fates.total() % 1000 == 0:
            progress(f"{fates.total():,} inputs: {dict(fates)}")

    run()
    print(", ".join(f"{fate}: {found:,}" for fate, found in sorted(fates.items())), flush=True)


def main() -> None:
    """Check inputs up to the first defect, whose traceback ends the command with exit code 1."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=_COUNTS)
    parser.add_argument("--inputs", type=int, help=f"of each reader, files or scripts; {_COUNTS} without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="READER")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    run_folder.commit_of_source = lambda: None  # git takes longer than all reading
    count = arguments.inputs or _COUNTS[arguments.what]
    with tempfile.TemporaryDirectory(prefix="gomoku-fuzz-") as folder:
        os.chdir(folder)
        for name, (inputs, check, rate) in checks(arguments.what, Path(folder)).items():
            if arguments.only in (None, name):
                check_some(inputs, check, count // rate, arguments.seed)


if __name__ == "__main__":
    main()
