"""Files that appear whole or not at all."""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to it when the block ends well and removed when it does not.

    A reader sees the old file or the new one, never a part; so does whoever looks after the process was killed.
    The temporary name is `.NAME.` and eight hexadecimal digits: what a killed process left is known by it, and a writer
    that insists on an ending (`numpy.savez`) gets the opened file. What is no file, such as a pipe, is written into.
    """
    if path.exists() and not path.is_file():
        with _written_through(path) as temporary:
            yield temporary
        return
    path = path.resolve()  # what a link leads to is replaced, not the link
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not `mkstemp`, whose files are for their owner alone: a result file is as readable as any other.
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
    """A temporary path whose content is then written into a pipe or a device, which cannot be replaced."""
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / path.name
        temporary.touch()
        yield temporary
        with path.open("wb") as target:
            target.write(temporary.read_bytes())


def atomic_write_text(path: Path, text: str) -> None:
    """Writes `text` as UTF-8, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
