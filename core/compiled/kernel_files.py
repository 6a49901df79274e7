"""Compiled kernels in the user's cache folder, one file for a function and the types of its arguments.

numba's own cache keeps an index file for each function, writes its files without a checksum, and reads pickles from
whoever wrote them. Here the name of a file is a hash of all that numba's index tells apart, so there is no index, and
two processes that compile at the same time write the same file or different ones.
"""

import hashlib
import os
import pickle
import re
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.serialize import dumps

from core.files.cache_folder import CacheFolder
from core.input_limits import MAX_KERNEL_BYTES

_dumps: Callable[[object], bytes] = dumps
_config: Any = numba.config
ENDING = ".kernel"
"""The ending of the files."""
_ROOM_BYTES = 24 << 20
"""Space that the files of all kernels need."""
_MIN_FOLDERS, _MAX_FOLDERS, _MAX_UNUSED_DAYS = 4, 16, 30
"""The most recently used folders of other versions: so many are kept in any case, so many at most, and the rest while
they were in use within so many days."""
_MAX_AHEAD_S = 60.0
_FOLDER = re.compile(r"kernels-[0-9a-f]{16}")
_REMOVED = ".removed"
"""Added to the name of a folder before it is removed, so that nobody uses the rest of it."""


class KernelFolder(CacheFolder):
    """The folder of this version's kernels. It gives numba's functions their cache."""

    def __init__(self, path: Path) -> None:
        """The consequence of a folder that cannot be used is a compilation in every process."""
        super().__init__(path, "every run compiles the search, which takes up to half a minute")
        self.is_cold = not self.has(ENDING)
        """True if there was no kernel when this process began."""
        self._is_in_use = False

    def has_kernel(self, name: str) -> bool:
        """Return True if a kernel is compiled for some types. `name`: its module and function."""
        return self.has(ENDING, f"{name}-")

    def cached(self, compiled: Any) -> Any:
        """Give a function of numba this cache, and return the function."""
        compiled._cache = _KernelCache(compiled.py_func, self)
        return compiled

    def use(self) -> None:
        """Prepare the folder before the first kernel of this process."""
        if self._is_in_use:
            return
        self._is_in_use = True
        self.touch()
        if self.is_cold and self.has_room(_ROOM_BYTES):
            remove_old_folders(self.path)


def remove_old_folders(kept: Path) -> None:
    """Remove the folders of other versions beside `kept` that were not in use for long.

    A process that uses one of them compiles its kernels again.
    """
    now = time.time()
    used: dict[Path, float] = {}
    with suppress(OSError):
        for entry in os.scandir(kept.parent):
            name = entry.name.removesuffix(_REMOVED)
            if _FOLDER.fullmatch(name) and entry.name != kept.name and entry.is_dir(follow_symlinks=False):
                used[Path(entry.path)] = entry.stat().st_mtime
    for folder, instant in used.items():
        # A folder whose removal was cut short goes first, and one dated ahead of the clock: it was set back since.
        if folder.name.endswith(_REMOVED) or instant > now + _MAX_AHEAD_S:
            used[folder] = 0.0
    last = sorted(used, key=lambda folder: used[folder], reverse=True)
    recent = [folder for folder in last if used[folder] > now - _MAX_UNUSED_DAYS * 24 * 3600]
    kept_too = {*last[:_MIN_FOLDERS], *recent[:_MAX_FOLDERS]}
    for folder in last:
        if folder in kept_too and not folder.name.endswith(_REMOVED):
            continue
        removed = folder.with_name(folder.name.removesuffix(_REMOVED) + _REMOVED)
        with suppress(OSError):
            folder.rename(removed)
            shutil.rmtree(removed, ignore_errors=True)


class _Locator(UserProvidedCacheLocator):
    """Gives the hash of a function's source file; it has no folder of its own."""

    def __init__(self, function: Any, source: str) -> None:
        self._py_file = source
        self._lineno = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Any, source: str) -> "_Locator":
        return cls(function, source)

    def get_cache_path(self) -> str:
        return ""

    def ensure_cache_path(self) -> None:
        pass


class _Serialization(CompileResultCacheImpl):
    """Turns a compiled function into an object that can be pickled, and back."""

    _locator_classes = [_Locator]  # noqa: RUF012  # as numba has it


class _KernelCache(FunctionCache):
    """The cache of one function, with files of a `KernelFolder`."""

    _impl_class = _Serialization

    def __init__(self, function: Any, folder: KernelFolder) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file: Any = _Files(
            folder, function, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )


class _Files:
    """The files of one function: in place of numba's `IndexDataCacheFile`."""

    def __init__(self, folder: KernelFolder, function: Any, name: str, stamp: bytes) -> None:
        self._folder, self._name = folder, name
        self._function = (function.__module__, stamp)

    def _file_name(self, key: object) -> str:
        digest = hashlib.sha256(repr((self._function, key)).encode()).hexdigest()[:24]
        return f"{self._name}.{digest}{ENDING}"

    def load(self, key: object) -> Any:
        """Return the function compiled for a key (types, processor, bytecode), or None."""
        self._folder.use()
        data = self._folder.read(self._file_name(key), MAX_KERNEL_BYTES)
        return None if data is None else pickle.loads(data)

    def save(self, key: object, compiled: object) -> None:
        """Keep a function compiled for a key, if possible."""
        self._folder.write(self._file_name(key), _dumps(compiled))
