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

from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from core.files.cache_folder import CacheFolder
from core.input_limits import MAX_KERNEL_BYTES

_dumps: Callable[[object], bytes] = dumps
_Compiled: Any = CompileResult
ENDING = ".kernel"
"""The ending of the files."""
_ROOM_BYTES = 24 << 20
"""Space that the files of all kernels need."""
_KEPT_FOLDERS = 8
"""Folders of other versions that stay: the last used ones."""
_MAX_AHEAD_S = 60.0
_FOLDER = re.compile(r"kernels-[0-9a-f]{16}(\.removed)?")
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
    """Remove the folders of other versions beside `kept`, but for those used last.

    A process that uses one of them compiles its kernels again.
    """
    latest = time.time() + _MAX_AHEAD_S
    used: list[tuple[float, Path]] = []
    with suppress(OSError):
        for entry in os.scandir(kept.parent):
            if _FOLDER.fullmatch(entry.name) and entry.name != kept.name and entry.is_dir(follow_symlinks=False):
                instant = entry.stat().st_mtime
                # A folder dated ahead of the clock was not used last: the clock was set back since.
                used.append((instant if instant <= latest else 0.0, Path(entry.path)))
    cut_short = [folder for _, folder in used if folder.suffix]
    others = [folder for _, folder in sorted(used, reverse=True) if not folder.suffix]
    for folder in (*cut_short, *others[_KEPT_FOLDERS:]):
        with suppress(OSError):
            shutil.rmtree(folder.rename(folder.with_suffix(_REMOVED)), ignore_errors=True)


class _KernelCache(FunctionCache):
    """The cache of one function: files of a `KernelFolder` in place of numba's index and data."""

    def __init__(self, function: Any, folder: KernelFolder) -> None:
        self._py_func, self._folder = function, folder
        self._name, self._cache_path = repr(function), str(folder.path)
        self.enable()  # type: ignore[no-untyped-call]

    def _file_name(self, signature: Any, codegen: Any) -> str:
        function, line = self._py_func, self._py_func.__code__.co_firstlineno
        # Types, processor, bytecode; the versions and all sources are in the name of the folder.
        key: Any = self._index_key(signature, codegen)  # type: ignore[no-untyped-call]
        digest = hashlib.sha256(repr((function.__module__, function.__qualname__, line, key)).encode()).hexdigest()
        return f"{function.__module__.rpartition('.')[2]}.{function.__name__}-{line}.{digest[:24]}{ENDING}"

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the function compiled for a signature, or None."""
        self._folder.use()
        data = self._folder.read(self._file_name(sig, target_context.codegen()), MAX_KERNEL_BYTES)
        return None if data is None else _Compiled._rebuild(target_context, *pickle.loads(data))

    def _save_overload(self, sig: Any, data: Any) -> None:
        """Keep the function compiled for a signature, if possible."""
        if not data.library.has_dynamic_globals:  # such as pointers, which mean nothing to another process
            self._folder.write(self._file_name(sig, data.codegen), _dumps(data._reduce()))
