"""Compilation of kernels: `njit` without the GIL, cached by the kernels' sources.

numba's file cache checks the date of a function's own file, and so misses a change in a function of another file that
it calls. Here the name of the cache folder is a hash of the versions of the compilers and of every source file with a
kernel, together with the project files that these import, because constants are compiled in. Any change makes a new
folder.
"""

import hashlib
import platform
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np

from core.compiled.compiler import Kernel
from core.compiled.kernel_files import KernelFolder
from core.files.cache_folder import user_cache_folder

_config: Any = numba.config
"""Typed `Any` because numba creates its settings at import."""

# With several threading layers installed numba picks one at random and may warn about forks. No kernel here uses
# `prange`, so the simplest layer is enough.
_config.THREADING_LAYER = "workqueue"


def _spare_scipy() -> None:
    """Keep numba from importing scipy's linear algebra, 17 MB and 0.2 s, only to see whether it is there.

    No kernel uses it. A function that does is compiled by numba after another look.
    """
    linalg: Any = import_module("numba.np.linalg")
    look = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    import_module("numba.np.arraymath")
    linalg.ensure_blas = look


_spare_scipy()

_KERNEL_PACKAGES = ("core", "search")
"""The only packages with kernels and with constants compiled into them."""
_KERNEL = re.compile(rb"^@\w*kernel$", re.MULTILINE)
_CACHE = ("core.compiled.kernel_files", "core.files.")
"""The modules of the cache itself. Nothing of them is compiled in, and its files state their format."""
_IMPORTED = re.compile(r"^(?:from|import) ([\w.]+)", re.MULTILINE)


def _kernel_sources(root: Path) -> list[Path]:
    """Return the files under `root` with kernels and all project files that these import, sorted."""
    pending = [path for package in _KERNEL_PACKAGES for path in (root / package).rglob("*.py")]
    pending = [path for path in pending if _KERNEL.search(path.read_bytes())]
    found: set[Path] = set()
    while pending:
        path = pending.pop()
        if path not in found:
            found.add(path)
            modules = _IMPORTED.findall(path.read_text(encoding="utf-8"))
            modules = [module for module in modules if not module.startswith(_CACHE)]
            imported = [root.joinpath(*module.split(".")).with_suffix(".py") for module in modules]
            pending += [module for module in imported if module.is_file()]
    return sorted(found)


def _source_hash(root: Path) -> str:
    digest = hashlib.sha256()
    for path in _kernel_sources(root):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    versions = (numba.__version__, llvmlite.__version__, np.__version__, platform.python_version())
    digest.update("/".join((*versions, platform.machine())).encode())
    return digest.hexdigest()[:16]


KERNELS = KernelFolder(user_cache_folder() / f"kernels-{_source_hash(Path(__file__).resolve().parents[2])}")
"""The folder of compiled kernels."""

LARGEST_KERNEL = "line_search.search_turn"
"""Module and function of the kernel that takes longest to compile."""

KERNELS_ARE_COLD = not (_config.DISABLE_JIT or KERNELS.has_kernel(LARGEST_KERNEL))
"""True if this process has to compile the search, because the cache lacks its largest kernel."""


def _decorator(**options: object) -> Callable[[Any], Any]:
    """Return a decorator that makes kernels with these options of numba."""

    def decorate(function: Any) -> Any:
        if _config.DISABLE_JIT:
            return function
        return KERNELS.cached(Kernel(function, targetoptions={"nogil": True, **options}))

    return decorate


if TYPE_CHECKING:
    kernel = lean_kernel = lean_inlined_kernel = reassociating_kernel = numba.njit(nogil=True)
else:
    kernel = _decorator()
    lean_kernel = _decorator(_nrt=False)
    lean_inlined_kernel = _decorator(_nrt=False, forceinline=True)
    reassociating_kernel = _decorator(fastmath={"reassoc", "nsz"})
"""Decorators of compiled functions: they run without the GIL and are cached on disk if possible.

Lean kernels are for functions that create no arrays: references to arrays are not counted, which may be half of the
work in a long function that takes arrays from tuples and rows from arrays. The body of an inlined kernel replaces each
call, so that a tuple of many arrays is not copied. A reassociating kernel has sums in any order, so that a sum of
floats compiles to vector instructions."""
