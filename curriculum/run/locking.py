"""Folders of work in progress: a lock for one process at a time, and JSON lines that survive a kill."""

import json
import math
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.errors import FailedError
from core.files import append_text

if sys.platform != "win32":
    import fcntl


class FolderBusyError(FailedError, RuntimeError):
    """Another process works in the folder."""


class JsonLinesError(ValueError):
    """A file of JSON lines that cannot be read; the message gives the line and the reason."""


def take_lock(file: Path, folder: Path) -> int | None:
    """Reserve `folder` for this process; return the descriptor of the lock on `file`, for `release_lock`.

    The system drops the lock when the process ends, however it ends. None on systems without such locks. Raises
    `FolderBusyError`.
    """
    if sys.platform == "win32":  # no such lock there: two processes in one folder are not detected
        return None
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise FolderBusyError(f"another process works in {folder}: wait for it, or stop it") from error
    except OSError:  # a network file system may lack locks; the user must keep other processes away
        os.close(descriptor)
        return None
    return descriptor


def release_lock(descriptor: int | None) -> None:
    """Release the folder to other processes."""
    if descriptor is not None:
        os.close(descriptor)


def append_json_line(file: Path, record: Mapping[str, Any]) -> None:
    """Append `record` as one line, on the disk when this function returns."""
    append_text(file, json.dumps(plain(record), allow_nan=False) + "\n")


def cut_unfinished_line(file: Path) -> None:
    """Remove an unfinished last line: the process died while it wrote it."""
    if not file.exists():
        return
    with file.open("rb+") as lines:
        text = lines.read()
        if not text.endswith(b"\n"):
            lines.truncate(text.rfind(b"\n") + 1)


def read_json_lines(file: Path) -> list[dict[str, Any]]:
    """Return all records, oldest first; none where there is no file. A line that is still being written is left out.

    Raises `JsonLinesError` with the number of a line that cannot be read.
    """
    records = []
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        for number, line in enumerate(text.split("\n")[:-1], start=1):
            record = json.loads(line)
            if not isinstance(record, dict):
                raise JsonLinesError(f"{file}, line {number}: not a JSON object")
            records.append(record)
    except json.JSONDecodeError as error:
        raise JsonLinesError(f"{file}, line {number}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise JsonLinesError(f"{file} cannot be read: {error}") from error
    return records


def plain(value: Any) -> Any:
    """Return `value` in JSON types: numpy scalars as Python numbers, numbers that are not finite as None."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def now() -> str:
    """Return the current time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
