"""Training curves: the metrics of one run, or of several joined one after the other, as JSON and on the terminal."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from core.files.json_text import value_at
from curriculum.presets import ConfigError, read_config
from curriculum.run.folder import RunFolderError, is_run, read_metrics
from gomoku_cli.console import STDOUT
from gomoku_cli.reports.plots import short_name
from gomoku_cli.reports.terminal import cell_text, print_facts, table
from gomoku_cli.reports.texts import Json

LOSSES = ("policy_loss", "value_loss", "policy_entropy")
"""The curves of training, by their keys in the metrics."""
_PHASES = {"selfplay": "self-play"}
"""Names of phases that are not those of the metrics."""


def curves_of(path: Path) -> dict[str, Any]:
    """Return the curves of a run, finished or not, as the JSON of `gomoku curves` has them.

    `training` has a row for each record: its phase, the steps of the run so far, and the losses. `rounds` has one for
    each round of self-play: its games and its gate, None where there is none yet. The board's size is None for a
    configuration of another version. Raises `RunFolderError`.
    """
    if not is_run(path):
        raise RunFolderError(f"there is no run in {path}: it holds no config.toml")
    try:
        size: int | None = read_config(path / "config.toml").rules.size
    except ConfigError:
        size = None  # a run of another version has curves too
    records = read_metrics(path)
    try:
        return {"run": str(path), "board_size": size, "training": _training(records), "rounds": _rounds(records)}
    except ValueError as error:
        raise RunFolderError(f"the metrics of the run in {path} cannot be read: {error}") from error


def _training(records: Iterable[Json]) -> list[dict[str, Any]]:
    """Return the losses over the steps of the run. Raises `ValueError`."""
    rows: dict[tuple[str, int, int], dict[str, Any]] = {}
    for record in records:
        if record.get("event") == "train":
            phase, step = value_at(record, "phase", str), value_at(record, "step", int)
            # A process that was killed before its save did these steps again: the later record counts.
            rows[phase, _round(record), step] = {"phase": phase} | {name: _number(record, name) for name in LOSSES}
    curve, before, since = [], 0, 0
    last: tuple[str, int] | None = None
    for (phase, number, step), row in rows.items():
        if last is not None and (phase, number) != last:
            before += since  # steps are counted from 0 in each phase and round
        last, since = (phase, number), step
        curve.append({"step": before + step, **row})
    return curve


def _rounds(records: Iterable[Json]) -> list[dict[str, Any]]:
    """Return the games and the gate of each round. Raises `ValueError`."""
    files: dict[int, list[Json]] = {}
    gates: dict[int, Json] = {}
    for record in records:
        if record.get("event") == "games":
            files.setdefault(_round(record), []).append(record)
        elif record.get("event") == "gate":
            gates[_round(record)] = record
    return [
        {"round": number + 1, **_games(files.get(number, [])), **_gate(gates.get(number))}
        for number in sorted(files.keys() | gates.keys())
    ]


def _games(files: Sequence[Json]) -> dict[str, Any]:
    """Return the means over the games of a round, which are in several files."""
    counts = [value_at(record, "games", int, low=1) for record in files]
    games = sum(counts)
    decisive = [count - value_at(record, "draws", int, low=0) for count, record in zip(counts, files, strict=True)]
    seconds = [_number(record, "seconds") for record in files]
    return {
        "games": games,
        "draws": games - sum(decisive),
        "game_length": _mean([_number(record, "game_length") for record in files], counts),
        "black_share": _mean([_number(record, "black_share") for record in files], decisive),
        "game_seconds": None if None in seconds or not games else sum(map(float, filter(None, seconds))) / games,
    }


def _gate(record: Json | None) -> dict[str, Any]:
    if record is None:
        return {"gate_score": None, "accepted": None}
    return {"gate_score": _number(record, "score"), "accepted": value_at(record, "accepted", bool)}


def _mean(values: Sequence[float | None], weights: Sequence[int]) -> float | None:
    """Return the weighted mean of the known values, None without any."""
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None and weight > 0]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None


def _round(record: Json) -> int:
    return value_at(record, "iteration", int, low=0) if "iteration" in record else 0


def _number(record: Json, key: str) -> float | None:
    """Return a number of the metrics; None for one that was not finite, or that this record lacks."""
    return None if record.get(key) is None else value_at(record, key, float)


def run_name(curves: Json) -> str:
    """Return the name of the run's folder, with its board where that is known."""
    name, size = short_name(Path(curves["run"]).resolve().name), curves["board_size"]
    return name if size is None else f"{name} ({size}x{size})"


def phase_name(phase: str) -> str:
    """Return the name of a phase as texts write it."""
    return _PHASES.get(phase, phase)


_COLUMNS = ("phase", "steps", "policy loss", "value loss", "entropy")


def show_curves(runs: Sequence[Json]) -> None:
    """Print the first and the last value of each curve, run by run."""
    for run in runs:
        STDOUT.print(cell_text(run_name(run)))
        if run["training"]:
            STDOUT.print(table(_COLUMNS, _phase_rows(run["training"])))
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
    count = "1 round" if len(rounds) == 1 else f"{len(rounds):,} rounds"
    return [
        ("games", f"{sum(each['games'] for each in rounds):,} in {count}"),
        ("length", f"{_first_last(rounds, 'game_length', '.1f')} moves"),
        ("black", f"{_first_last(rounds, 'black_share', '.2f')} of the decided games"),
        ("time", f"{_first_last(rounds, 'game_seconds', '.2f')} s a game"),
        ("gates", f"{sum(gates)} of {len(gates)} passed"),
    ]


def _first_last(rows: Iterable[Json], key: str, form: str) -> str:
    """Return `5.461 to 2.310`, one number if there is but one, or `-`."""
    known = [row[key] for row in rows if row[key] is not None]
    if not known:
        return "-"
    ends = known if len(known) == 1 else (known[0], known[-1])
    return " to ".join(format(value, form) for value in ends)
