"""Strength of a run's models over the time of training: each kept model meets a fixed pool, on one scale of Elo."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.files.atomic import atomic_write_text, read_bytes
from core.files.json_text import parse_json, value_at, values_at
from core.input_limits import MAX_JSON_BYTES
from curriculum.arena.formats import Format
from curriculum.run.folder import read_metrics

if TYPE_CHECKING:
    from curriculum.arena.session import MatchSession

POOL = ("random", "pure-mcts:1000", "mentor:paper", "mentor:1", "mentor:3", "mentor:5")
ZERO = "mentor:paper"
"""The player of the pool with 0 Elo."""
_FOLDER, _RATINGS = "strength", "ratings.json"
_KEPT = ("basics", "imitation", "selfplay", "rejected")
"""First words of the names of models that a run keeps."""


class KeptModel(NamedTuple):
    """A model that a run kept."""

    name: str
    path: Path
    minutes: float
    """Minutes of work before it was finished."""


def strength_folder(run: Path) -> Path:
    """Return the folder of a run that holds the games of its models and their ratings."""
    return run / _FOLDER


def working_minutes(starts: Sequence[float], times: Sequence[float], until: float) -> float:
    """Return the minutes of work before `until`, from the starts of a run's processes and the times of its records.

    All are seconds since the epoch, the times in order. A process works from its start to its last record before the
    next one's start, so pauses are left out.
    """
    worked = 0.0
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else float("inf")
        seen = min(bisect_left(times, end), bisect_right(times, until))
        worked += max(0.0, times[seen - 1] - start) if seen else 0.0
    return worked / 60


def kept_models(run: Path) -> list[KeptModel]:
    """Return the models of a run in the order of their training. Raises `FolderError`, `OSError`, `ValueError`."""
    records = read_metrics(run)
    environment = parse_json(read_bytes(run / "environment.json", MAX_JSON_BYTES))
    starts = [_seconds(value_at(session, "time", str)) for session in values_at(environment, "sessions", dict)]
    times = [_seconds(record["time"]) for record in records]
    found = []
    for path in sorted((run / "models").glob("*.safetensors")):
        kept, _, number = path.stem.partition("-")
        if kept not in _KEPT or (kept in ("selfplay", "rejected")) != number.isdigit():
            continue
        phase = "selfplay" if number else kept
        own = [
            time
            for time, record in zip(times, records, strict=True)
            if record.get("phase") == phase and (not number or record.get("iteration") == int(number))
        ]
        if own:
            found.append(KeptModel(path.stem, path, working_minutes(starts, sorted(times), max(own))))
    return sorted(found, key=lambda model: model.minutes)


def rate_models(
    session: "MatchSession", run: Path, models: Sequence[KeptModel], pool: Sequence[str] = POOL
) -> dict[str, Any]:
    """Let each model meet the pool, and the pool itself once; return the ratings, which the run keeps too.

    Games that were played before count and are not played again. Raises the errors of
    `MatchSession.play`.
    """
    from curriculum.arena.statistics.ratings import rate

    folder, results = strength_folder(run), []
    zero = ZERO if ZERO in pool else pool[0]
    rated: list[str] = []
    for model in (None, *models):
        specs = [*pool] if model is None else [str(model.path), *pool]
        names = [*pool] if model is None else [model.name, *pool]
        form = Format.ROUND_ROBIN if model is None else Format.GAUNTLET
        place = folder / ("pool" if model is None else model.name)
        tournament = session.play(specs, form=form, folder=place, task=f"games of {place.name}", names=names)
        results += [(names[one], names[two], match.pairs) for (one, two), match in tournament.matches.items()]
        if model is not None:
            rated.append(model.name)
        ratings = {each.name: each for each in rate([*rated, *pool], results, anchor=zero)}
        rows = {
            name: {"elo": round(each.elo, 1), "elo_interval": [round(each.low, 1), round(each.high, 1)]}
            for name, each in ratings.items()
        }
        found: dict[str, Any] = {
            "zero": zero,
            "games": session.settings.games,
            "simulations": session.settings.players.simulations,
            "models": [
                {"model": model.name, "minutes": round(model.minutes, 2), **rows[model.name]}
                for model in models
                if model.name in rows
            ],
            "pool": [{"player": name, **rows[name]} for name in sorted(pool, key=lambda name: -ratings[name].elo)],
        }
        atomic_write_text(folder / _RATINGS, json.dumps(found, indent=2) + "\n")
    return found


def read_strength(run: Path) -> list[dict[str, Any]]:
    """Return the ratings of a run's models, in the order of their training; none where there are none to be read."""
    try:
        found = parse_json(read_bytes(strength_folder(run) / _RATINGS, MAX_JSON_BYTES, pipes=False))
        rows = []
        for row in values_at(found, "models", dict):
            low, high = values_at(row, "elo_interval", float)
            numbers = {key: value_at(row, key, float) for key in ("minutes", "elo")}
            rows.append({"model": value_at(row, "model", str), **numbers, "elo_interval": [low, high]})
        return rows
    except (OSError, TypeError, ValueError):
        return []


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
