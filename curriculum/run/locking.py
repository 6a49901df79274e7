"""Folders of runs and matches: one process at a time works in one."""

import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from core.errors import BadDataError, FailedError, UsageError
from core.files.links import real_path

if sys.platform != "win32":
    import fcntl

_held: dict[int, Path] = {}
"""The files that this process has locked, by their descriptors."""


class FolderError(BadDataError, ValueError):
    """A folder that is no run, or a file of a run or a match that cannot be read; the message gives the reason."""


class FolderTakenError(UsageError, ValueError):
    """The folder holds another run or match, or something else."""


class FolderBusyError(FailedError, RuntimeError):
    """Another process works in the folder."""


class FolderMovedError(FailedError, RuntimeError):
    """The folder was moved or removed while this process worked in it."""


class OwnedFolder:
    """A folder that this process has locked until `close`; a context manager that closes itself."""

    def __init__(self, path: Path, lock: int | None) -> None:
        self.path = path
        self._lock = lock
        self._identity = path.stat()

    def place_of(self, name: str) -> Path:
        """Return the path of a file or folder in this folder, to write there.

        Raises `FolderMovedError` for a folder that is not there any more: writing would begin another one in its place.
        """
        try:
            moved = not os.path.samestat(self.path.stat(), self._identity)
        except FileNotFoundError:
            moved = True
        if moved:
            raise FolderMovedError(f"{self.path} was moved or removed during the work in it: go on at its new place")
        return self.path / name

    def close(self) -> None:
        """Release the folder to other processes."""
        release_lock(self._lock)
        self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def refuse_foreign(path: Path, kind: str, left_over: Collection[Path]) -> None:
    """Raise `FolderTakenError` for a file, and for a folder with more than what a killed process leaves in it."""
    if path.is_dir():
        if not {*path.iterdir(), *(path / "state").glob("*")} <= {*left_over}:
            raise FolderTakenError(f"{path} is not empty and holds no {kind}: choose another folder")
    elif path.exists():
        raise FolderTakenError(f"{path} is a file: a {kind} needs a folder")


@contextmanager
def locked(file: Path, folder: Path) -> Iterator[int | None]:
    """Yield the lock that `take_lock` returns; it is released if the context ends with an error."""
    lock = take_lock(file, folder)
    try:
        yield lock
    except BaseException:
        release_lock(lock)
        raise


def take_lock(file: Path, folder: Path) -> int | None:
    """Reserve `folder` for this process; return the descriptor of the lock on `file`, for `release_lock`.

    The system drops the lock when the process ends, however it ends. None on systems without such locks. Raises
    `FolderBusyError`.
    """
    if sys.platform == "win32":  # no such lock there: two processes in one folder are not detected
        return None
    file = real_path(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        if file in _held.values():
            raise FolderBusyError(f"this program has {folder} open already: close it first") from error
        raise FolderBusyError(f"another process works in {folder}: wait for it, or stop it") from error
    except OSError:  # a network file system may lack locks; the user must keep other processes away
        os.close(descriptor)
        return None
    _held[descriptor] = file
    return descriptor


def release_lock(descriptor: int | None) -> None:
    """Release the folder to other processes."""
    if descriptor is not None:
        del _held[descriptor]
        os.close(descriptor)
