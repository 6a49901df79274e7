"""Locks of folders: one process at a time works in a run or a match."""

import os
import sys
from pathlib import Path

from core.errors import FailedError
from core.files.links import real_path

if sys.platform != "win32":
    import fcntl


class FolderBusyError(FailedError, RuntimeError):
    """Another process works in the folder."""


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
        raise FolderBusyError(f"another process works in {folder}: wait for it, or stop it") from error
    except OSError:  # a network file system may lack locks; the user must keep other processes away
        os.close(descriptor)
        return None
    return descriptor


def release_lock(descriptor: int | None) -> None:
    """Release the folder to other processes."""
    if descriptor is not None:
        os.close(descriptor)
