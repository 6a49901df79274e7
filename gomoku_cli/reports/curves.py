"""Training curves: the metrics of one run, or of several joined one after the other, as JSON and on the terminal."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from curriculum.phases.strength import read_strength
from curriculum.run.folder import read_metrics
from curriculum.run.locking import FolderError
from gomoku_cli.console import STDOUT
from gomoku_cli.printable import counted
from gomoku_cli.reports.plots import abridged
from gomoku_cli.reports.terminal import cell_text, print_facts, print_table
from gomoku_cli.reports.texts import Json
from gomoku_cli.reports.training.configuration import config_of_run
from gomoku_cli.reports.training.metrics import LOSSES, curves_from
from gomoku_cli.reports.training.outlook import phase_name
from gomoku_cli.reports.training.overview import folder_names


def curves_of(path: Path) -> dict[str, Any]:
    """Return the curves of a run, finished or not, as the JSON of `gomoku curves` has them.

    See `curves_from`. The board's size is None for a configuration that cannot be read. Raises `FolderError`.
    """
    config, records = config_of_run(path), read_metrics(path)
    size = config and config.rules.size  # without it the metrics are readable all the same
    try:
        return {"run": str(path), "board_size": size, **curves_from(records), "strength": read_strength(path)}
    except ValueError as error:
        raise FolderError(f"the metrics of the run in {path} cannot be read: {error}") from error


def run_names(runs: Sequence[Json]) -> list[str]:
    """Return the name of each run, with its board where that is known."""
    names = map(abridged, folder_names([Path(run["run"]) for run in runs]))
    sizes = [run["board_size"] for run in runs]
    return [name if size is None else f"{name} ({size}x{size})" for name, size in zip(names, sizes, strict=True)]


_COLUMNS = ("phase", "steps", "policy loss", "value loss", "entropy")


def show_curves(runs: Sequence[Json]) -> None:
    """Print the first and the last value of each curve, run by run."""
    for run, name in zip(runs, run_names(runs), strict=True):
        STDOUT.print(cell_text(name))
        if run["training"]:
            print_table(_COLUMNS, _phase_rows(run["training"]))
        print_facts(_round_facts(run["rounds"]) if run["rounds"] else [("games", "none of self-play yet")])


def _phase_rows(training: Sequence[Json]) -> list[tuple[str, ...]]:
    """Return the cells of `_COLUMNS` for each phase."""
    rows, before = [], 0
    for phase in dict.fromkeys(row["phase"] for row in training):
        part = [row for row in training if row["phase"] == phase]
        steps, before = part[-1]["step"] - before, part[-1]["step"]
        rows.append((phase_name(phase), f"{steps:,}", *(_first_last(part, name, ".3f") for name in LOSSES)))
    return rows


def _round_facts(rounds: Sequence[Json]) -> list[tuple[str, str]]:
    """Return a title and a text for each curve of self-play."""
    gates = [each["accepted"] for each in rounds if each["accepted"] is not None]
    return [
        ("games", f"{sum(each['games'] for each in rounds):,} in {counted(len(rounds), 'round')}"),
        ("length", f"{_first_last(rounds, 'game_length', '.1f')} moves"),
        ("black", f"{_first_last(rounds, 'black_share', '.2f')} of the decided games"),
        ("time", f"{_first_last(rounds, 'game_seconds', '.2f')} s a game"),
        *([("gates", f"{sum(gates)} of {len(gates)} passed")] if gates else []),
    ]


def _first_last(rows: Iterable[Json], key: str, form: str) -> str:
    """Return `5.461 to 2.310`, one number if there is but one, or `-`."""
    known = [row[key] for row in rows if row[key] is not None]
    if not known:
        return "-"
    ends = known if len(known) == 1 else (known[0], known[-1])
    return " to ".join(format(value, form) for value in ends)
