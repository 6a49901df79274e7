"""Atomic writes: files appear whole or not at all."""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`, renamed to it after the block, or removed after an error.

    A reader sees the old file or the new one, never a part, even if the process is killed. The temporary name is
    `.NAME.` and eight hexadecimal digits, so that the leftovers of a killed process can be recognized; a writer that
    appends an ending of its own (`numpy.savez`) needs the opened file. A pipe or a device is written into.
    """
    if path.exists() and not path.is_file():
        with _written_through(path) as temporary:
            yield temporary
        return
    path = path.resolve()  # replace the target of a link, not the link
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not `mkstemp`, whose files only their owner can read: a result file is as readable as any other.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    temporary.touch(exist_ok=False)
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _written_through(path: Path) -> Iterator[Path]:
    """Yield a temporary path, then write its content into a pipe or a device, which cannot be replaced."""
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / path.name
        temporary.touch()
        yield temporary
        with path.open("wb") as target:
            target.write(temporary.read_bytes())


def atomic_write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
