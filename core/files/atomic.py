"""Files that survive a kill, a power cut and a full disk: they appear whole or not at all, and errors name them.

Errors of the system keep their kind (`OSError`); a file above its limit raises `TooLargeError`.
"""

import errno
import os
import re
import secrets
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.errors import BadDataError
from core.files.links import is_open_file, is_shared, real_path

if sys.platform != "win32":
    import fcntl

_UNFINISHED = re.compile(r"\.(.+)\.[0-9a-f]{8}")
"""The names of unfinished files."""


class TooLargeError(BadDataError, ValueError):
    """A file is larger than the limit of its kind; the message states both sizes."""


class KeptElsewhereError(OSError):
    """A file could not be written to its place, and is kept in another; the message names both."""


class NotAFileError(BadDataError, ValueError):
    """A folder, a pipe or a device stands in the place of a file."""


def read_bytes(path: Path, limit: int, *, pipes: bool = True) -> bytes:
    """Return the content of a file of at most `limit` bytes, or of a pipe.

    Without `pipes` anything but a file is refused, since a pipe may never end. Raises `OSError`, `TooLargeError`,
    `NotAFileError`.
    """
    if not pipes:
        require_file(path)
    with path.open("rb") as file, naming(path):
        data = file.read(limit + 1)
        if len(data) > limit:
            size = f"{os.fstat(file.fileno()).st_size:,} bytes" if path.is_file() else "larger"
            raise TooLargeError(f"{path} is {size}; the limit of such files is {limit:,} bytes")
    return data


def require_file(path: Path) -> None:
    """Raise `NotAFileError` for a folder, a pipe or a device, and `OSError` where there is nothing."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise NotAFileError(f"{path} is no file")


def refuse_pipes(folder: Path) -> None:
    """Raise `NotAFileError` for a pipe or a device in a folder of files: to read or write one may never end."""
    for entry in list(os.scandir(folder)):
        if not entry.is_file() and not entry.is_dir() and os.path.exists(entry.path):
            raise NotAFileError(f"{entry.path} is no file")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the path to an `OSError` of the block: an error of a write to an open file, such as a full disk, lacks it."""
    try:
        yield
    except OSError as error:
        if error.errno is None or (error.filename is not None and not _is_unfinished(error.filename, path)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _is_unfinished(name: object, path: Path) -> bool:
    match = _UNFINISHED.fullmatch(os.path.basename(str(name)))
    return match is not None and match[1] == path.name


@contextmanager
def atomic_path(path: Path, *, mode: int | None = None) -> Iterator[Path]:
    """Yield a temporary path next to `path`, renamed to it after the block, or removed after an error.

    A reader sees the old file or the new one, never a part, even after a kill or a power cut. The temporary name is
    `.NAME.` and eight hexadecimal digits. The next writer of the same file, or `remove_unfinished`, removes the
    leftovers of a killed process. A writer that appends an ending of its own (`numpy.savez`) needs the opened file.
    Where `is_written_into` holds there is nothing to rename. `mode` is that of the file, less the process's mask;
    None keeps that of the old one.

    A link keeps its place and its target is replaced, but where others may write (`core.files.links`): there the link
    is replaced, and a folder that is a link is refused.
    """
    path = real_path(path, follow_last=False)
    if is_written_into(path):
        with naming(path), _written_through(path) as temporary:
            yield temporary
        return
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_unfinished(path.parent, path.name)
        is_kept = mode is None and path.is_file() and not path.is_symlink()
        mode = stat.S_IMODE(path.stat().st_mode) if is_kept else 0o666 if mode is None else mode
        temporary, descriptor = _reserved(path, mode | stat.S_IWUSR)
        try:
            yield temporary
            with temporary.open("rb+") as written:
                os.fsync(written.fileno())
                if not os.path.samestat(os.fstat(written.fileno()), os.fstat(descriptor)):
                    raise OSError(errno.EPERM, "someone else has replaced the unfinished file", str(path))
            if is_kept:
                temporary.chmod(mode)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        finally:
            os.close(descriptor)
        _sync_folder(path.parent)


def is_written_into(path: Path) -> bool:
    """Return True for a pipe, a device, and a file that is open as `/dev/stdout` may be: no new file replaces them."""
    path = real_path(path, follow_last=False)
    if is_open_file(path):
        return True
    is_foreign_link = path.is_symlink() and is_shared(path.parent)
    return not is_foreign_link and path.exists() and not path.is_file()


def _reserved(path: Path, mode: int) -> tuple[Path, int]:
    """Create a temporary file next to `path`; return it, and a descriptor whose lock shows that its writer lives."""
    while True:
        # Not `mkstemp`, whose files only their owner can read: a result file is as readable as any other.
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            continue
        # Another process may take it for a leftover before it is locked: wait for that process, and look again.
        if not _lock(descriptor, wait=True) or os.fstat(descriptor).st_nlink:
            return temporary, descriptor
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool = False) -> bool:
    """Lock an open file; return True on success. `wait` waits for another process that holds its lock."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def remove_unfinished(folder: Path, name: str | None = None) -> None:
    """Remove the temporary files in `folder` that killed processes left; of the file `name` alone if it is given."""
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            match = _UNFINISHED.fullmatch(entry.name)
            if match is None or name not in (None, match[1]) or not entry.is_file(follow_symlinks=False):
                continue
            with suppress(OSError):
                descriptor = os.open(entry.path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
                try:
                    if _lock(descriptor):
                        os.unlink(entry.path)
                finally:
                    os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, so that a new file survives a power cut."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _written_through(path: Path) -> Iterator[Path]:
    """Yield a temporary path, then write its content where `path` leads, behind what an open file has already."""
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / path.name
        temporary.touch()
        yield temporary
        with open(os.dup(int(path.name)) if is_open_file(path) else path, "wb") as target:
            target.write(temporary.read_bytes())


def atomic_write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def append_text(path: Path, text: str) -> None:
    """Append `text`, whole lines, as UTF-8, as `append_bytes` does; it begins a line of its own."""
    append_bytes(path, text.encode(errors="replace"), ending=b"\n")


def append_bytes(path: Path, data: bytes, *, ending: bytes = b"") -> None:
    """Append `data` and write it to the disk, whole or not at all while this process lives.

    After a kill or a power cut a part of `data` may stand at the end of the file. `ending`: a byte that ends all that
    is appended, and is added where it lacks.
    """
    path = real_path(path)
    with naming(path), path.open("ab+", buffering=0) as file:
        before = os.fstat(file.fileno()).st_size
        if before and ending and os.pread(file.fileno(), 1, before - 1) != ending:
            data = ending + data
        try:
            while data:
                data = data[file.write(data) :]
            os.fsync(file.fileno())
        except BaseException:
            with suppress(OSError):
                file.truncate(before)
            raise


def write_or_keep(path: Path, write: Callable[[Path], None]) -> None:
    """Write what cannot be made again by `write(path)`; if that fails, keep it in a new folder for temporary files.

    Raises `KeptElsewhereError` then, or the `OSError` of the path where nothing can be written there either.
    """
    try:
        write(path)
    except OSError as error:
        kept = keep_elsewhere(path.name, write)
        if kept is None:
            raise
        reason = f"{error.strerror or error}; it is kept as {kept}"
        raise KeptElsewhereError(error.errno, reason, str(path)) from error


def keep_elsewhere(name: str, write: Callable[[Path], None]) -> Path | None:
    """Write a file by `write(path)` into a new folder for temporary files; return its path, None without room there."""
    for place in (tempfile.gettempdir(), "/dev/shm"):  # the memory, where all disks are full
        with suppress(OSError):
            folder = Path(tempfile.mkdtemp(prefix="gomoku-", dir=place))
            try:
                write(folder / name)
            except OSError:
                folder.rmdir()
                raise
            return folder / name
    return None
