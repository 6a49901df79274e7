"""Trainings and measurements by the command line, which continue where they were stopped."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from curriculum.run.folder import is_run, read_metrics


def gomoku(*arguments: str) -> str:
    """Run a command and return its stdout; progress and errors pass through. Exits with it if it fails."""
    command = [sys.executable, "-m", "gomoku_cli", *arguments]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        raise SystemExit(result.returncode)
    return result.stdout


def train(preset: str, folder: Path, settings: Sequence[str], *options: str) -> None:
    """Train a preset with settings (`KEY=VALUE`) in a folder, from where it was left."""
    print(f"training {preset} in {folder}", file=sys.stderr)
    new = ("--preset", preset, *options, *(word for text in settings for word in ("--set", text)))
    gomoku("train", *(("--resume",) if is_run(folder) else new), "--run", str(folder), "--json")


def measured(path: Path, *arguments: str) -> Any:
    """Return the JSON of a command, kept in `path`, where it is read the next time."""
    if not path.is_file():
        path.write_text(gomoku(*arguments, "--json"), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def played(folder: Path, name: str, against: str, games: int, *options: str) -> Any:
    """Return the JSON of a match of a run without tactics; it and the games are kept in the run's folder."""
    match = ("evaluate", str(folder), "--against", against, "--games", str(games), "--no-tactics")
    return measured(folder / f"{name}.json", *match, "--run", str(folder / name), *options)


def training_seconds(folder: Path) -> float:
    """Return the time of a run's games and training: the sum of the seconds in its metrics."""
    return float(sum(r.get("seconds", 0.0) for r in read_metrics(folder) if r["event"] in ("games", "train", "gate")))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
