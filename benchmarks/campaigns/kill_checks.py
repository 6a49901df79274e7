"""Checks of `benchmarks.campaigns.kill_commands`: folders after a kill, finished ones, and metrics of a training."""

import json
import tomllib
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open

from core.files.atomic import _UNFINISHED
from core.records.formats import read_games
from curriculum.phases.steps import STEPS_PER_SAVE
from curriculum.training.samples import read_samples

_PHASES = ("basics", "imitation", "selfplay", "evaluation")
_LEARNING = ("train", "measure", "match")
_ROUND = ("games", "train", "gate")
_BY_TIMING = (
    "replay/selfplay-",
    "games/selfplay-",
    "models/selfplay-",
    "models/best.safetensors",
    "state/selfplay.safetensors",
    "state/accepted.safetensors",
    "state/gate.json",
    "state/matches.json",
)
"""Files of self-play: a round is split by the clock, and its last bits depend on the split."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A kill, and the metrics at its time."""

    lines: int
    """Number of lines of metrics."""


# Metrics of a training


def place_of(record: dict[str, Any]) -> tuple[int, ...]:
    """Return the progress of a run at a line of metrics; it only falls if work is done twice."""
    phase, step = _PHASES.index(record["phase"]), record.get("step") or 0
    if record["phase"] == "selfplay":
        return phase, record["iteration"], _ROUND.index(record["event"]), step
    return phase, 0, step, _LEARNING.index(record["event"])


def summary(record: dict[str, Any]) -> str:
    """Return a line of metrics in a few words."""
    words = [record["phase"], record["event"]]
    words += [f"{name} {record[name]}" for name in ("iteration", "step") if record.get(name) is not None]
    return " ".join(words)


def faults(records: Sequence[dict[str, Any]], kills: Sequence[Kill], steps_per_save: int = STEPS_PER_SAVE) -> list[str]:
    """Return the losses beyond the steps in flight that the metrics of a finished run show; none if all is well."""
    found = []
    boundaries = {kill.lines for kill in kills}
    for number, (before, after) in enumerate(pairwise(records), start=1):
        if place_of(after) < place_of(before):
            found.append(f"line {number + 1} ({summary(after)}) goes back behind line {number} ({summary(before)})")
        repeated = before["event"] == after["event"] == "train" and place_of(after) == place_of(before)
        if repeated and number not in boundaries:
            found.append(f"line {number + 1} ({summary(after)}) appears twice, with no kill in between")
    steps: dict[tuple[str, int | None], list[int]] = {}
    for record in records:
        if record["event"] == "train":
            steps.setdefault((record["phase"], record.get("iteration")), [0]).append(record["step"])
    for (phase, iteration), done in steps.items():
        if any(after - before > steps_per_save for before, after in pairwise(done)):
            found.append(f"{phase}{'' if iteration is None else f' round {iteration}'}: steps are missing among {done}")
    repeats = sum(done.count(step) - 1 for done in steps.values() for step in set(done))
    if repeats > len(kills):
        found.append(f"{repeats} steps of training were done again after {len(kills)} kills")
    return found


# Files after a kill


def is_unfinished(path: Path) -> bool:
    """Return True for the temporary file of a writer."""
    return _UNFINISHED.fullmatch(path.name) is not None


def files_of(folder: Path) -> list[Path]:
    """Return all files under `folder`, sorted."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def whole_lines(path: Path) -> list[bytes]:
    """Return the lines of a file, without an unfinished last one."""
    return path.read_bytes().split(b"\n")[:-1]


def unreadable(folder: Path) -> list[str]:
    """Return the faults of all files that have their final names, as their readers see them."""
    found = []
    for path in files_of(folder):
        if not is_unfinished(path):
            try:
                _read(path)
            except Exception as error:  # any at all is a fault
                found.append(f"{path.relative_to(folder)} cannot be read: {type(error).__name__}: {error}")
    return found


def _read(path: Path) -> None:
    kind = path.suffix
    if kind == ".jsonl":
        for line in whole_lines(path):
            json.loads(line)
    elif path.name == "games.sgf" and (path.parent / "games.jsonl").exists():
        pass  # appended to, and made anew from the lines
    elif kind in (".sgf", ".psq"):
        if path.stat().st_size or not (path.parent / "match.json").exists():
            read_games(path)
    elif kind == ".json":
        json.loads(path.read_text(encoding="utf-8"))
    elif kind == ".toml":
        tomllib.loads(path.read_text(encoding="utf-8"))
    elif kind == ".safetensors":
        _tensors(path)
    elif kind == ".npz":
        read_samples(path)
    elif kind in (".xml", ".svg"):
        ElementTree.parse(path)
    elif kind == ".png":
        if not path.read_bytes().endswith(b"IEND\xaeB`\x82"):
            raise ValueError("a picture without its end")
    elif kind in (".md", ".txt") and not path.read_bytes().endswith(b"\n"):
        raise ValueError("a text without its end")


def _tensors(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Finished work in a folder."""

    files: frozenset[str]
    lines: dict[str, list[bytes]]
    """Whole lines of the files of JSON lines."""
    finished_phases: frozenset[str]

    @classmethod
    def of(cls, folder: Path) -> "Snapshot":
        """Return the finished work in `folder`."""
        names = {str(path.relative_to(folder)): path for path in files_of(folder) if not is_unfinished(path)}
        phases = names.get("state/phases.json")
        return cls(
            frozenset(names),
            {name: whole_lines(path) for name, path in names.items() if path.suffix == ".jsonl"},
            frozenset(json.loads(phases.read_text())) if phases else frozenset(),
        )

    def lost(self, later: "Snapshot") -> list[str]:
        """Return the finished work that a later snapshot lacks."""
        found = [f"{name} is gone" for name in sorted(self.files - later.files) if not _may_go(name, later)]
        for name, lines in self.lines.items():
            if later.lines.get(name, [])[: len(lines)] != lines:
                found.append(f"{name} lost finished lines")
        if missing := self.finished_phases - later.finished_phases:
            found.append(f"finished phases are not any more: {', '.join(sorted(missing))}")
        return found


def _may_go(name: str, later: Snapshot) -> bool:
    """Return True for files that a run removes: a settled candidate, records of games without samples."""
    if name == "models/candidate.safetensors":
        return True
    return name.startswith("games/selfplay-") and f"replay/{Path(name).stem}.npz" not in later.files


def twice(folder: Path) -> list[str]:
    """Return the games that a folder counts twice."""
    found = []
    for path in folder.rglob("games.jsonl"):
        counts = Counter(json.loads(line)["game"] for line in whole_lines(path))
        found += [f"{path.name} has game {game} {count} times" for game, count in counts.items() if count > 1]
    counts = Counter()
    for path in folder.glob("replay/selfplay-*.npz"):
        metadata = read_samples(path)[1]
        counts.update((metadata["iteration"], game) for game in metadata["games"])
    return found + [f"round {r} has game {game} {count} times" for (r, game), count in counts.items() if count > 1]


# Finished work


def unfinished(folder: Path) -> list[str]:
    """Return the stray files and the missing parts of finished work."""
    found = [f"stray file {path.relative_to(folder)}" for path in files_of(folder) if is_unfinished(path)]
    for path in folder.rglob("games.jsonl"):
        lines = path.read_bytes().split(b"\n")
        if lines[-1]:
            found.append(f"{path.relative_to(folder)} has an unfinished line")
        records = read_games(path.parent / "games.sgf")
        if len(records) != len(lines) - 1:
            found.append(f"{path.parent.name}: {len(lines) - 1} lines, {len(records)} records")
    rounds: dict[int, set[int]] = {}
    for path in folder.glob("replay/selfplay-*.npz"):
        samples, metadata = read_samples(path)
        rounds.setdefault(metadata["iteration"], set()).update(metadata["games"])
        records = read_games(folder / "games" / f"{path.stem}.sgf")
        if len(records) != len(metadata["games"]) or sum(metadata["lengths"]) != len(samples):
            found.append(f"{path.name}: its games, samples and records are not as many")
    for path in folder.glob("games/selfplay-*.sgf"):
        if not (folder / "replay" / f"{path.stem}.npz").exists():
            found.append(f"{path.name} has no samples")
    config = folder / "config.toml"
    if rounds and config.exists():
        games = tomllib.loads(config.read_text())["selfplay"]["games"]
        found += [f"round {r}: {sorted(done)} of {games} games" for r, done in rounds.items() if len(done) != games]
    return found


def differences(folder: Path, expected: Path) -> list[str]:
    """Return the differences of finished work from that of an undisturbed process with the same seed."""
    ours, theirs = _comparable(folder), _comparable(expected)
    found = [f"{name} is one file too many" for name in sorted(ours - theirs)]
    found += [f"{name} is missing" for name in sorted(theirs - ours)]
    return found + [
        f"{name} differs from that of an undisturbed process"
        for name in sorted(ours & theirs)
        if _content(folder / name) != _content(expected / name)
    ]


def _comparable(folder: Path) -> set[str]:
    names = {str(path.relative_to(folder)) for path in files_of(folder) if not is_unfinished(path)}
    if not any(folder.rglob("selfplay.json")):
        return names
    return {name for name in names if not any(f"/{each}" in f"/{name}" for each in _BY_TIMING)}


_TIMES = ("date", "time")


def _content(path: Path) -> Any:
    """Return the content of a file, without times and dates; None for a file that is all times."""
    if path.name in ("metrics.jsonl", "environment.json") or path.suffix in (".md", ".xml", ".svg", ".png"):
        return None
    if path.suffix == ".jsonl":
        return sorted((_timeless(json.loads(line)) for line in whole_lines(path)), key=str)
    if path.suffix == ".json":
        return _timeless(json.loads(path.read_text()))
    if path.suffix in (".sgf", ".psq") and path.stat().st_size:
        games = [(game.moves, game.winner, game.comments, game.note) for game in read_games(path)]
        return sorted(games, key=str)
    if path.suffix == ".safetensors":
        tensors, metadata = _tensors(path)
        values = {name: _timeless(_parsed(value)) for name, value in metadata.items()}
        return {name: np.asarray(tensor).tobytes() for name, tensor in tensors.items()}, values
    return path.read_bytes()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _timeless(value: Any) -> Any:
    """Return `value` without times, and without the hash of the parent: a model file's metadata has no fixed order."""
    if isinstance(value, dict):
        kept = {key: _timeless(item) for key, item in value.items() if not ("seconds" in key or key in _TIMES)}
        return {key: bool(item) if key == "parent" else item for key, item in kept.items()}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def first(faults_found: Iterable[str], count: int = 3) -> str:
    """Return the first faults in one line."""
    words = list(faults_found)
    return "; ".join(words[:count]) + (f"; and {len(words) - count} more" if len(words) > count else "")


def same_output(ours: str, theirs: str, folder: Path, other: Path) -> bool:
    """Return True if two outputs are equal but for times and folders; only those in JSON are compared."""
    if not ours.startswith("{"):
        return True
    return _timeless(json.loads(ours)) == _timeless(json.loads(theirs))
