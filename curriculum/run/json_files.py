"""JSON files of work in progress: objects, and lines that survive a kill, a power cut and a full disk."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from core.files.atomic import NotAFileError, TooLargeError, append_text, naming, read_bytes
from core.files.json_text import parse_json, plain
from core.input_limits import MAX_JSON_BYTES, MAX_JSON_LINES_BYTES
from curriculum.run.locking import FolderError

_T = TypeVar("_T")


def append_json_line(file: Path, record: Mapping[str, Any]) -> None:
    """Append `record` as one line, on the disk when this function returns."""
    append_text(file, json.dumps(plain(record), allow_nan=False) + "\n")


@contextmanager
def json_line(file: Path, record: Mapping[str, Any]) -> Iterator[None]:
    """Append `record` as one line, on the disk when the block begins; an `OSError` of the block takes it back.

    The block saves the work that the line reports. So a full disk leaves neither, and the repeated work is reported
    once. A kill within the block leaves the line.
    """
    before = file.stat().st_size if file.exists() else 0
    append_json_line(file, record)
    try:
        yield
    except OSError:
        with suppress(OSError):
            os.truncate(file, before)
        raise


def cut_unfinished_line(file: Path) -> None:
    """Remove an unfinished end: the process died while it wrote the last line.

    After a power cut the end may also be zeros, where a journal knew the new size of the file and not its new content.
    Raises the errors of `cut_last_lines`.
    """
    cut_last_lines(file, lambda line: b"\0" in line)


def cut_last_lines(file: Path, is_lost: Callable[[bytes], bool]) -> None:
    """Remove an unfinished line at the end of a file, and the whole ones before it for which `is_lost` returns True.

    Raises `OSError`, `NotAFileError`.
    """
    if not file.exists():
        return
    text = read_bytes(file, MAX_JSON_LINES_BYTES, pipes=False)
    end = text.rfind(b"\n") + 1
    while end and is_lost(text[(start := text.rfind(b"\n", 0, end - 1) + 1) : end]):
        end = start
    if end < len(text):
        with naming(file):
            os.truncate(file, end)


def read_json_object(file: Path, parse: Callable[[dict[str, Any]], _T]) -> _T | None:
    """Return the JSON object in a file, as `parse` returns it; None if there is no file.

    `parse` raises `ValueError` with the key of a value that it cannot use. Raises `FolderError` with the file and that
    key.
    """
    try:
        value = parse_json(read_bytes(file, MAX_JSON_BYTES, pipes=False))
        if not isinstance(value, dict):
            raise ValueError("it should hold a JSON object")
        return parse(value)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from error


def read_json_lines(file: Path) -> list[dict[str, Any]]:
    """Return all records, oldest first; none where there is no file. A line that is still being written is left out.

    Raises `FolderError` with the number of a line that cannot be read.
    """
    if not file.exists():
        return []
    try:
        lines = read_bytes(file, MAX_JSON_LINES_BYTES, pipes=False).split(b"\n")[:-1]
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from error
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            record = parse_json(line)
        except ValueError as error:
            raise FolderError(f"{file}, line {number}: {error}") from error
        if not isinstance(record, dict):
            raise FolderError(f"{file}, line {number}: not a JSON object")
        records.append(record)
    return records


def _unreadable(file: Path, error: Exception) -> FolderError:
    if isinstance(error, (TooLargeError, NotAFileError)):
        return FolderError(str(error))
    return FolderError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}")


def now() -> str:
    """Return the current time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
