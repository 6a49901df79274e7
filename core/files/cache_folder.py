"""Folders of the user's cache: their files are checked before use, and made again if they are damaged.

Cached files hold native code. So a process reads only regular files that belong to its own user or to root and that
nobody else may write, and no links. Each file begins with a checksum of its name and content. A damaged or refused file
counts as missing, and the next write replaces it.

No function here raises an error: without a cache every command works, but takes longer. The first problem of a process
gives a `CacheNotice`.
"""

import errno
import hashlib
import mmap
import os
import shutil
import stat
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path

from core.errors import Notice
from core.files.atomic import atomic_path, naming, remove_unfinished
from core.files.links import WRITABLE_BY_OTHERS, make_private_folder, real_path

_MAGIC = b"gomoku cache file, format 2   \n\n"
"""The first bytes of every cached file: its format. With the checksum they fill a line of the processor's cache."""
_HEADER_BYTES = len(_MAGIC) + hashlib.sha256().digest_size
_MAX_AHEAD_S = 60.0
"""A file dated further ahead of the clock is from before the clock was set back, and counts as the oldest."""
_CANNOT_RESERVE = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)
"""Errors of file systems that cannot reserve space."""


class CacheNotice(Notice):
    """A cache was damaged or cannot be used. Its text is for the user."""


class _DistrustError(Exception):
    """A file that is not believed; the message says why."""


_notices: list[str] = []
_problems: list[str] = []


def has_noticed() -> bool:
    """Return True if this process has given its `CacheNotice`; it gives one at most."""
    return bool(_notices)


def problems() -> tuple[str, ...]:
    """Return the reasons for which results of this process could not be kept, oldest first."""
    return tuple(_problems)


def _notice(text: str) -> None:
    _notices.append(text)
    if len(_notices) == 1:
        warnings.warn(text, CacheNotice, stacklevel=2)


def user_cache_folder() -> Path:
    """Return the user's cache folder on this platform; it may not exist yet."""
    try:
        import platformdirs
    except ImportError:  # a source tree on a training server, without textual and its dependencies
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gomoku"
    return Path(platformdirs.user_cache_dir("gomoku"))


def _distrust(path: Path, found: os.stat_result) -> str | None:
    """Return the reason not to believe a file or folder, or None. Root is trusted, since it may do anything anyway."""
    if sys.platform == "win32":
        return None
    if found.st_uid not in (os.geteuid(), 0):
        return f"{path} belongs to another user ({found.st_uid})"
    if found.st_mode & WRITABLE_BY_OTHERS:
        return f"other users may write {path}"
    return None


def _made_private(folder: Path) -> os.stat_result:
    """Create a folder that only its user can enter, or forbid others to write an old one. Raises `OSError`."""
    make_private_folder(folder)
    found = folder.stat()
    if sys.platform != "win32" and found.st_uid == os.geteuid() and found.st_mode & WRITABLE_BY_OTHERS:
        folder.chmod(stat.S_IMODE(found.st_mode) & ~WRITABLE_BY_OTHERS)
        found = folder.stat()
    return found


class CacheFolder:
    """A folder with files of one kind, in a folder of this program."""

    def __init__(self, path: Path, without: str) -> None:
        """`without`: the consequence of a folder that cannot be used, in the words of a notice."""
        self.path = path
        self._without = without
        self._is_trusted: bool | None = None
        """None before the first use."""
        self._problem: str | None = None
        self._has_reported = False

    def problem(self) -> str | None:
        """Return the reason for which nothing can be kept here, as far as it is known; it gives no notice yet."""
        if self._is_trusted is None:
            self._open()
        return self._problem

    def _open(self) -> None:
        self._is_trusted = False
        try:
            real_path(self.path)  # while the modes of its folders are still those that it was found with
            for folder in (self.path.parent, self.path):
                if (reason := _distrust(folder, _made_private(folder))) is not None:
                    self._problem = f"{reason}, so it is not used: remove it, or make it yours alone"
                    return
        except OSError as error:
            self._problem = f"{error.filename or self.path} cannot be used ({error.strerror})"
            return
        self._is_trusted = True

    def can_keep(self) -> bool:
        """Return True if files can be kept here, as far as it is known; if not, give the notice."""
        problem = self.problem()
        if problem is not None and not self._has_reported:
            self._has_reported = True
            _problems.append(problem)
            _notice(f"{problem}; {self._without}")
        return problem is None

    def has_room(self, size: int) -> bool:
        """Return True if files of `size` bytes together can be written; if not, give the notice."""
        if self.problem() is None:
            try:
                with naming(self.path), tempfile.TemporaryFile(dir=self.path) as file:
                    if sys.platform == "linux":
                        os.posix_fallocate(file.fileno(), 0, size)
            except OSError as error:
                if error.errno not in _CANNOT_RESERVE:
                    self._fail(error)
        return self.can_keep()

    def _fail(self, error: OSError) -> None:
        self._problem = f"{self.path} cannot be written ({error.strerror})"

    def read(self, name: str, limit: int, *, mapped: bool = False) -> bytes | memoryview | None:
        """Return the content of a file of at most `limit` bytes; None if there is none, or none to believe.

        `mapped`: in memory that processes share, and that begins where a line of a cache does.
        """
        self.can_keep()
        if not self._is_trusted:
            return None
        path = self.path / name
        try:
            return _read_trusted(path, limit, mapped)
        except FileNotFoundError:
            return None
        except OSError as error:
            reason = "is a link" if error.errno == errno.ELOOP else f"cannot be read ({error.strerror})"
            _notice(f"{path} {reason}, so it is made again")
        except _DistrustError as error:
            _notice(f"{error}, so it is made again")
        return None

    def write(self, name: str, data: bytes | memoryview) -> bool:
        """Write a file, whole or not at all; return True on success. After a failure no more are tried."""
        if not self.can_keep():
            return False
        path = self.path / name
        try:
            _made_private(self.path)  # another process may have removed it
            _clear_way(path)
            with atomic_path(path, mode=0o600) as temporary, temporary.open("wb") as file, naming(path):
                file.write(_header(name, data))
                file.write(data)
        except OSError as error:
            self._fail(error)
            return self.can_keep()
        return True

    def has(self, ending: str, start: str = "") -> bool:
        """Return True if the folder has a file whose name ends, and starts, with these texts."""
        if self.problem() is not None:
            return False
        with suppress(OSError), os.scandir(self.path) as entries:
            return any(entry.name.endswith(ending) and entry.name.startswith(start) for entry in entries)
        return False

    def keep_newest(self, count: int) -> None:
        """Remove all but the most recently used files, and those that killed processes left unfinished."""
        remove_unfinished(self.path)
        with suppress(OSError):
            kept = sorted((file for file in self.path.iterdir() if not file.name.startswith(".")), key=_last_used)
            for old in kept[:-count]:
                with suppress(OSError):
                    old.unlink()

    def touch(self) -> None:
        """Note that the folder is in use."""
        if self._is_trusted:
            with suppress(OSError):
                os.utime(self.path)


def _last_used(path: Path) -> float:
    try:
        instant = path.stat().st_mtime
    except OSError:  # another process has removed it
        return 0.0
    return instant if instant <= time.time() + _MAX_AHEAD_S else 0.0


def _clear_way(path: Path) -> None:
    """Remove a link, a pipe or a folder in the place of a file. Raises `OSError`."""
    with suppress(FileNotFoundError):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            shutil.rmtree(path)
        elif not stat.S_ISREG(mode):
            path.unlink()


def _header(name: str, data: bytes | memoryview) -> bytes:
    digest = hashlib.sha256(name.encode() + b"\0")
    digest.update(data)
    return _MAGIC + digest.digest()


def _read_trusted(path: Path, limit: int, mapped: bool) -> bytes | memoryview:
    """Return the content of a file without its header. Raises `OSError`, `_DistrustError`."""
    if sys.platform == "win32":
        flags = os.O_RDONLY | os.O_BINARY
    else:
        # A pipe in its place blocks nobody, and a link is not followed.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise _DistrustError(f"{path} is no file")
        if (reason := _distrust(path, found)) is not None:
            raise _DistrustError(reason)
        if found.st_size > limit + _HEADER_BYTES:
            raise _DistrustError(f"{path} is {found.st_size:,} bytes; the limit of such files is {limit:,} bytes")
        whole: bytes | memoryview
        mapping: mmap.mmap | None = None
        if mapped and found.st_size:
            # Writing is for the type alone that kernels are compiled for: it would change a copy of this process.
            mapping = mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY)
            whole = memoryview(mapping)
        else:
            with open(descriptor, "rb", closefd=False) as file:
                whole = file.read(_HEADER_BYTES + limit)
    finally:
        os.close(descriptor)
    data = whole[_HEADER_BYTES:]
    if whole[:_HEADER_BYTES] != _header(path.name, data):
        raise _DistrustError(f"{path} is damaged")
    if mapping is not None and sys.platform == "linux":
        mapping.madvise(mmap.MADV_DONTNEED)  # the check has read all pages; this process may need few of them
    return data
