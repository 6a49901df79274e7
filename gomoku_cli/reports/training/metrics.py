"""The metrics of a run as they grow: the new lines of its file, and the curves made from all of them."""

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from core.files.json_text import parse_json, value_at
from curriculum.run.metrics import GlobalSteps
from gomoku_cli.reports.texts import Json

LOSSES = ("policy_loss", "value_loss", "policy_entropy")
"""The curves of training, by their keys in the metrics."""
_CHUNK_BYTES = 1 << 24


class MetricsTail:
    """Reader of the lines that a run appends to its metrics; each line is read once."""

    def __init__(self, path: Path) -> None:
        self._path = path / "metrics.jsonl"
        self._offset = 0
        self.records: list[Json] = []
        """All records so far, oldest first, without lines that cannot be read."""

    def read(self) -> bool:
        """Read the lines that were appended since the last call; return True if there are any.

        A line that is still being written waits for the next call. A file that became shorter is read anew: a run that
        is opened again removes an unfinished end.
        """
        try:
            with self._path.open("rb") as file:
                if file.seek(0, 2) < self._offset:
                    self._offset, self.records = 0, []
                file.seek(self._offset)
                data = file.read(_CHUNK_BYTES)
        except OSError:
            return False
        end = data.rfind(b"\n") + 1
        self._offset += end
        has_grown = False
        for line in data[:end].splitlines():
            try:
                record = parse_json(line)
            except ValueError:
                continue
            if isinstance(record, dict) and isinstance(record.get("event"), str):
                self.records.append(record)
                has_grown = True
        return has_grown


def curves_from(records: Sequence[Json]) -> dict[str, Any]:
    """Return the curves in the metrics of a run: `training`, `measures`, `rounds` and `matches`.

    `training` has a row for each record: its phase, the steps of the run so far, and the losses. `measures` has the
    agreement and the scores of passes over the steps. `rounds` has a row for each round of self-play: its games and
    its gate, None where there is none yet. `matches` has the matches of the kept models. Raises `ValueError`.
    """
    steps = GlobalSteps()
    placed = [(steps.after(dict(record)), record) for record in records]
    return {
        "training": [_training(step, record) for step, record in placed if record.get("event") == "train"],
        "measures": [_measure(step, record) for step, record in placed if record.get("event") == "measure"],
        "rounds": _rounds(records),
        "matches": [dict(record) for record in _of(records, "match")],
    }


def phase_starts(rows: Sequence[Json]) -> dict[float, str]:
    """Return the phases in the rows of `training` by the steps at which they begin, the first one excepted."""
    pairs = itertools.pairwise(rows)
    return {float(before["step"]): after["phase"] for before, after in pairs if before["phase"] != after["phase"]}


def _of(records: Iterable[Json], event: str) -> list[Json]:
    return [record for record in records if record.get("event") == event]


def _training(step: int, record: Json) -> dict[str, Any]:
    value_at(record, "step", int)
    names = dict.fromkeys((*LOSSES, *(name for name in record if name.endswith("_loss"))))
    row = {"step": step, "phase": value_at(record, "phase", str)}
    return row | {name: _number(record, name) for name in names}


def _measure(step: int, record: Json) -> dict[str, Any]:
    value_at(record, "step", int)
    return {
        "step": step,
        "phase": value_at(record, "phase", str),
        "agreement": _number(record, "agreement"),
        "score": _number(record, "score"),
        "opponent": record.get("opponent"),
        "right_moves": record.get("right_moves"),
    }


def _rounds(records: Iterable[Json]) -> list[dict[str, Any]]:
    """Return the games and the gate of each round. Raises `ValueError`."""
    files: dict[int, list[Json]] = {}
    for record in _of(records, "games"):
        files.setdefault(_round(record), []).append(record)
    gates = {_round(record): record for record in _of(records, "gate")}
    rows: list[dict[str, Any]] = []
    rating: float | None = None
    for number in sorted(files.keys() | gates.keys()):
        gate = _gate(gates.get(number))
        if gate["accepted"] and gate["gate_elo"] is not None:
            rating = (rating or 0.0) + gate["gate_elo"]
        rows.append({"round": number + 1, **_games(files.get(number, [])), **gate, "elo": rating})
    return rows


def _games(files: Sequence[Json]) -> dict[str, Any]:
    """Return the means over the games of a round, which are in several files."""
    counts = [value_at(record, "games", int, low=1) for record in files]
    games = sum(counts)
    decisive = [count - value_at(record, "draws", int, low=0) for count, record in zip(counts, files, strict=True)]
    seconds = [_number(record, "seconds") for record in files]
    known_seconds = [1.0 if each is None else max(each, 1e-9) for each in seconds]
    return {
        "games": games,
        "draws": games - sum(decisive),
        "game_length": _mean([_number(record, "game_length") for record in files], counts),
        "black_share": _mean([_number(record, "black_share") for record in files], decisive),
        "policy_entropy": _mean([_number(record, "policy_entropy") for record in files], counts),
        "simulations_per_second": _mean([_number(record, "simulations_per_second") for record in files], known_seconds),
        "game_seconds": None if None in seconds or not games else sum(map(float, filter(None, seconds))) / games,
    }


def _gate(record: Json | None) -> dict[str, Any]:
    if record is None:
        return {"gate_score": None, "gate_elo": None, "accepted": None}
    result = record.get("result")
    elo = _number(result, "elo") if isinstance(result, dict) else None
    accepted = value_at(record, "accepted", bool)
    return {"gate_score": _number(record, "score"), "gate_elo": elo, "accepted": accepted}


def _mean(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Return the weighted mean of the known values, None without any."""
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None and weight > 0]
    return fmean(*zip(*known, strict=True)) if known else None


def _round(record: Json) -> int:
    return value_at(record, "iteration", int, low=0) if "iteration" in record else 0


def _number(record: Json, key: str) -> float | None:
    """Return a number of the metrics; None for one that was not finite, or that this record lacks."""
    return None if record.get(key) is None else value_at(record, key, float)
