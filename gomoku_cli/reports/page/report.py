"""The report of runs: their files gathered, and written as one page without a network."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import BadDataError
from core.files.atomic import atomic_write_text, read_bytes
from core.files.json_text import parse_json
from core.input_limits import MAX_CONFIG_BYTES, MAX_JSON_BYTES
from curriculum.config import Config
from curriculum.explanations import explanations
from curriculum.run.settings import place_text
from curriculum.toml_text import toml_value
from gomoku_cli.console import duration
from gomoku_cli.printable import printable
from gomoku_cli.reports.curves import curves_of
from gomoku_cli.reports.page.games import key_boards
from gomoku_cli.reports.panels import panels, run_variable
from gomoku_cli.reports.texts import Json, elo_text, result_counts, score_interval
from gomoku_cli.reports.training.configuration import config_of_run, differences
from gomoku_cli.reports.training.metrics import MetricsTail
from gomoku_cli.reports.training.overview import best_score, folder_names, overview

if TYPE_CHECKING:
    from jinja2 import Template

_MAX_SESSIONS = 20


def template(name: str) -> "Template":
    """Return a template of this folder, which escapes all that it shows."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("gomoku_cli.reports", "page")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined).get_template(name)


def write_report(paths: Sequence[Path], output: Path) -> None:
    """Write the report of the runs in `paths` to `output`. Raises `FolderError` and `OSError`."""
    curves = [curves_of(path) for path in paths]
    names = folder_names(paths)
    page = template("report.html.j2").render(
        title=f"Training of {', '.join(names)}",
        runs=[
            _run(path, name, curve, at) for at, (path, name, curve) in enumerate(zip(paths, names, curves, strict=True))
        ],
        panels=panels(curves),
        differences=_differences(names, [config_of_run(path) for path in paths]),
    )
    atomic_write_text(output, page)


def _run(path: Path, name: str, curves: Json, number: int) -> dict[str, Any]:
    row, tail = overview(path), MetricsTail(path)
    tail.read()
    size = row["board_size"]
    return {
        "name": name,
        "colour": run_variable(number),
        "preset": row["preset"] or "",
        "board": f"{size}x{size}" if size else "",
        "progress": row["progress"],
        "accepted": f"{row['rounds_accepted']} of {row['rounds']}" if row["rounds"] else "",
        "score": best_score(row["scores"]),
        "work": duration(_seconds(tail.records)),
        "machines": _machines(tail.records),
        "matches": [_match(match) for match in curves["matches"]],
        "gates": [_gate(each) for each in curves["rounds"] if each["accepted"] is not None],
        "changes": [_change(change, key) for change in row["changes"] for key in change["settings"]],
        "boards": key_boards(path),
        "config": read_bytes(path / "config.toml", MAX_CONFIG_BYTES).decode(errors="replace"),
        "sessions": _sessions(path),
    }


def _seconds(records: Sequence[Json]) -> float:
    """Return the working time that the metrics of a run add up to."""
    found = [record.get("seconds") for record in records]
    return sum(value for value in found if isinstance(value, (int, float)))


def _machines(records: Sequence[Json]) -> list[tuple[str, ...]]:
    """Return the games, and games a second, of each machine with workers; none for a run without them."""
    games: dict[str, float] = {}
    seconds: dict[str, float] = {}
    for record in records:
        rates, took = record.get("games_per_second_by_node"), record.get("seconds")
        if not isinstance(rates, dict) or not isinstance(took, (int, float)):
            continue
        for node, rate in rates.items():
            if isinstance(rate, (int, float)):
                games[node] = games.get(node, 0.0) + rate * took
                seconds[node] = seconds.get(node, 0.0) + took
    return [
        (printable(str(node)), f"{round(games[node]):,}", f"{games[node] / seconds[node]:.2f}")
        for node in sorted(games)
        if seconds[node] > 0
    ]


def _match(match: Json) -> tuple[str, ...]:
    try:
        return (
            printable(str(match["opponent"])),
            str(match["phase"]),
            str(match["games"]),
            result_counts(match),
            f"{match['score']:.3f}",
            score_interval(match),
            elo_text(match, "∞"),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadDataError(f"a match in the metrics cannot be read: {error!r}") from error


def _change(change: Json, key: str) -> tuple[str, ...]:
    old, new = change["settings"][key]
    when = str(change.get("time", ""))[:16].replace("T", " ")
    return printable(key), printable(toml_value(old)), printable(toml_value(new)), place_text(change), when


def _gate(row: Json) -> tuple[str, ...]:
    share, score = row["black_share"], row["gate_score"]
    return (
        str(row["round"]),
        str(row["games"]),
        "" if row["game_length"] is None else f"{row['game_length']:.1f}",
        "" if share is None else f"{share:.2f}",
        "" if score is None else f"{score:.3f}",
        "accepted" if row["accepted"] else "discarded",
    )


def _differences(names: Sequence[str], configs: Sequence[Config | None]) -> dict[str, Any]:
    known = {name: config for name, config in zip(names, configs, strict=True) if config is not None}
    if len(known) == 1:
        known["default"] = Config()
        title = "Settings other than the defaults"
    else:
        title = "Settings that differ between the runs"
    rows = differences(list(known.values())) if known else []
    meanings = explanations()
    return {
        "title": title,
        "names": list(known),
        "rows": [(key, values, meanings[key].first_sentence) for key, values in rows],
    }


def _sessions(path: Path) -> list[tuple[str, ...]]:
    """Return when, how and where a run was opened; the newest openings of many."""
    try:
        found = parse_json(read_bytes(path / "environment.json", MAX_JSON_BYTES))["sessions"]
        return [
            (
                str(session["time"])[:16].replace("T", " "),
                printable(str(session["command"])),
                str(session.get("commit") or "")[:10],
                ", ".join(f"{name} {version}" for name, version in session.get("versions", {}).items() if version),
                f"{session.get('machine', '')}, {session.get('cpus', '?')} cores",
            )
            for session in found[-_MAX_SESSIONS:]
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
