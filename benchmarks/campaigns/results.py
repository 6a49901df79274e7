"""The traces of a command: finished work in a folder, its differences from an undisturbed one, its processes."""

import json
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from collections import Counter
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import safe_open

from core.files.atomic import _UNFINISHED
from core.files.cache_folder import _MAGIC, _read_trusted
from core.records.formats import read_games
from curriculum.training.files import read_samples

MARK = "GOMOKU_KILLED_BY"
"""Variable in the environment of all processes that a command starts."""
_BY_TIMING = (
    *("replay/selfplay-", "games/selfplay-", "models/selfplay-", "models/best.safetensors"),
    *("state/selfplay.safetensors", "state/accepted.safetensors", "state/gate.json", "state/matches.json"),
)
"""Files of self-play: a round is split by the clock, and its last bits depend on the split."""
_REPORTS = (".md", ".xml", ".svg", ".png")
_TIMES = ("date", "time", "cache_hit_rate")
"""Keys of values that depend on the clock; two threads may evaluate one position at once, and count no hit."""


def files_of(folder: Path) -> dict[str, Path]:
    """Return the files under `folder` by their names there, without unfinished ones."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not is_unfinished(path))
    return {str(path.relative_to(folder)): path for path in paths}


def is_unfinished(path: Path) -> bool:
    """Return True for the temporary file of a writer."""
    return _UNFINISHED.fullmatch(path.name) is not None


def stray(folder: Path) -> list[str]:
    """Return the unfinished files in a folder of finished work."""
    return [f"stray file {path.relative_to(folder)}" for path in sorted(folder.rglob("*")) if is_unfinished(path)]


def whole_lines(path: Path) -> list[bytes]:
    """Return the lines of a file, without an unfinished last one."""
    return path.read_bytes().split(b"\n")[:-1]


def timeless(value: Any) -> Any:
    """Return `value` without times, and without the hash of the parent: a model file's metadata has no fixed order."""
    if isinstance(value, dict):
        return {
            key: bool(item) if key == "parent" else timeless(item)
            for key, item in value.items()
            if not ("second" in key or key.endswith("_ms") or key in _TIMES)
        }
    return [timeless(item) for item in value] if isinstance(value, list) else value


def content(path: Path, loose: bool = False) -> Any:
    """Return the content of a file without times; None for a file that is all times, and for reports.

    `loose` returns the order of the events of self-play alone, since its rounds are split by the clock.
    """
    if path.name in ("environment.json", "lock") or path.suffix in _REPORTS:
        return None
    if path.suffix == ".jsonl":
        records = [timeless(json.loads(line)) for line in whole_lines(path)]
        if path.name != "metrics.jsonl":
            return sorted(records, key=str)
        if loose:
            free = [record for record in records if record["phase"] in ("selfplay", "evaluation")]
            events = [(record["phase"], record.get("iteration"), record["event"]) for record in free]
            return [record for record in records if record not in free], [event for event, _ in groupby(events)]
        return records
    if path.suffix == ".json":
        return timeless(json.loads(path.read_bytes()))
    if path.suffix in (".sgf", ".psq") and path.stat().st_size:
        return sorted(((game.moves, game.winner, game.comments, game.note) for game in read_games(path)), key=str)
    if path.suffix == ".safetensors":
        with safe_open(path, framework="numpy") as file:
            values = {name: timeless(_parsed(value)) for name, value in (file.metadata() or {}).items()}
            return {name: file.get_tensor(name).tobytes() for name in file.keys()}, values  # noqa: SIM118
    return path.read_bytes()


def _parsed(text: str) -> Any:
    with suppress(ValueError):
        return json.loads(text)
    return text


def differences(folder: Path, expected: Path, loose: bool = False) -> list[str]:
    """Return the differences of finished work from that of an undisturbed process with the same seed.

    `loose` leaves out what depends on timing: files of self-play.
    """
    ours, theirs = (
        {name: path for name, path in files_of(each).items() if not loose or not _by_timing(name)}
        for each in (folder, expected)
    )
    found = [f"{name} is one file too many" for name in sorted(ours.keys() - theirs.keys())]
    found += [f"{name} is missing" for name in sorted(theirs.keys() - ours.keys())]
    for name in sorted(ours.keys() & theirs.keys()):
        one, other = content(ours[name], loose), content(theirs[name], loose)
        if one != other:
            pairs = zip(one, other, strict=False) if isinstance(one, list) else ()
            first = next((f": {mine} is not {yours}" for mine, yours in pairs if mine != yours), "")
            found.append(f"{name} differs{first}"[:500])
    return found


def _by_timing(name: str) -> bool:
    return any(f"/{each}" in f"/{name}" for each in _BY_TIMING)


def unreadable(folder: Path) -> list[str]:
    """Return the faults of all files that have their final names, as their readers see them."""
    found = []
    for name, path in files_of(folder).items():
        try:
            _read(path)
        except Exception as error:  # any at all is a fault
            found.append(f"{name} cannot be read: {type(error).__name__}: {error}")
    return found


def _read(path: Path) -> None:
    kind = path.suffix
    if path.read_bytes().startswith(_MAGIC):
        _read_trusted(path, path.stat().st_size, mapped=False)
    elif path.name == "games.sgf" and (path.parent / "games.jsonl").exists():
        pass  # appended to, and made anew from the lines
    elif kind == ".toml":
        tomllib.loads(path.read_text(encoding="utf-8"))
    elif kind == ".npz":
        read_samples(path)
    elif kind in (".xml", ".svg"):
        ElementTree.parse(path)
    elif kind in (".md", ".txt", ".png") and not path.read_bytes().endswith((b"\n", b"IEND\xaeB`\x82")):
        raise ValueError("it has no end")
    else:
        content(path)


class Snapshot(NamedTuple):
    """Finished work in a folder: the names of its files, the whole lines of some, and the finished phases."""

    files: frozenset[str]
    lines: dict[str, list[bytes]]
    finished_phases: frozenset[str]

    @classmethod
    def of(cls, folder: Path) -> "Snapshot":
        """Return the finished work in `folder`."""
        names = files_of(folder)
        phases = json.loads(names["state/phases.json"].read_text()) if "state/phases.json" in names else {}
        return cls(
            frozenset(names),
            # A line of metrics whose work was not saved goes when the run is opened again.
            {name: whole_lines(path) for name, path in names.items() if path.name == "games.jsonl"},
            frozenset(name for name, is_over in phases.items() if is_over),
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
    counts: Counter[tuple[str, Any, Any]] = Counter()
    for path in folder.rglob("games.jsonl"):
        counts.update((path.parent.name, "game", json.loads(line)["game"]) for line in whole_lines(path))
    for path in folder.rglob("replay/selfplay-*.npz"):
        metadata = read_samples(path)[1]
        counts.update(("round", metadata["iteration"], game) for game in metadata["games"])
    return [f"{' '.join(map(str, key))} is there {count} times" for key, count in counts.items() if count > 1]


def unfinished(folder: Path) -> list[str]:
    """Return the stray files and the missing parts of finished work."""
    found = stray(folder)
    for path in folder.rglob("games.jsonl"):
        lines = path.read_bytes().split(b"\n")
        records = read_games(path.with_name("games.sgf"))
        if lines[-1] or len(records) != len(lines) - 1:
            found.append(f"{path.parent.name}: {len(lines) - 1} whole lines, {len(records)} records")
    rounds: Counter[int] = Counter()
    for path in folder.rglob("replay/selfplay-*.npz"):
        samples, metadata = read_samples(path)
        rounds[metadata["iteration"]] += len(metadata["games"])
        records = read_games(path.parents[1] / "games" / f"{path.stem}.sgf")
        if len(records) != len(metadata["games"]) or sum(metadata["lengths"]) != len(samples):
            found.append(f"{path.name}: its games, samples and records are not as many")
    for config in folder.rglob("config.toml"):
        games = tomllib.loads(config.read_text())["selfplay"]["games"]
        found += [f"round {number}: {done} of {games} games" for number, done in rounds.items() if done != games]
    return found


def processes_of(mark: str, begins: str = "") -> dict[int, str]:
    """Return the processes with this `MARK` whose command lines begin so, with these lines."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is another user's
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            if words and words.startswith(begins) and f"{MARK}={mark}\0".encode() in (entry / "environ").read_bytes():
                found[int(entry.name)] = words
    return found


def left_processes(mark: str, patience_s: float = 5.0, begins: str = "") -> list[str]:
    """Return the faults of processes with the mark that do not end in time."""
    end = time.monotonic() + patience_s
    while (left := processes_of(mark, begins)) and time.monotonic() < end:
        time.sleep(0.05)
    return [f"a process is left: {number} {words}" for number, words in left.items()]
