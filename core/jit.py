"""How the project compiles its kernels: `njit` without the GIL, cached by what the kernels say.

numba's file cache looks at the date of the file a function stands in, and so misses a change in a
function that it calls from another file. Here the cache folder is named by a hash of every source
file that holds a kernel or is imported by one that does (constants are compiled in), and of the
versions that compile it; a change anywhere makes a new one.
"""

import hashlib
import os
import platform
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np

_config: Any = numba.config
"""Typed so because numba makes its settings when it is imported."""

# With several threading layers installed numba picks one at random and may warn about forks.
# No kernel here uses `prange`, so the plainest layer is right.
_config.THREADING_LAYER = "workqueue"

_KERNEL_PACKAGES = ("core", "search")
"""The only packages that hold kernels, and the constants compiled into them."""
_KERNEL = re.compile(rb"^@\w*kernel$", re.MULTILINE)
_IMPORTED = re.compile(r"^(?:from|import) ([\w.]+)", re.MULTILINE)


def _kernel_sources(root: Path) -> list[Path]:
    """The files under `root` that hold kernels, and all project files that these import, sorted."""
    pending = [path for package in _KERNEL_PACKAGES for path in (root / package).rglob("*.py")]
    pending = [path for path in pending if _KERNEL.search(path.read_bytes())]
    found: set[Path] = set()
    while pending:
        path = pending.pop()
        if path not in found:
            found.add(path)
            modules = _IMPORTED.findall(path.read_text(encoding="utf-8"))
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


def user_cache_folder() -> Path:
    """The folder for what can be made again, after the platform's custom; it may not exist yet."""
    try:
        import platformdirs
    except ImportError:  # training servers run from the source tree, where textual and what it brings may be missing
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gomoku"
    return Path(platformdirs.user_cache_dir("gomoku"))


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


KERNEL_FOLDER = user_cache_folder() / f"kernels-{_source_hash(Path(__file__).resolve().parent.parent)}"
"""Where compiled kernels are kept."""
KERNELS_ARE_KEPT = _writable(KERNEL_FOLDER)
"""Whether that folder can be written."""
if KERNELS_ARE_KEPT:
    _config.CACHE_DIR = str(KERNEL_FOLDER)

KERNELS_ARE_COLD = not (KERNELS_ARE_KEPT and any(KERNEL_FOLDER.rglob("*.nbi"))) and not _config.DISABLE_JIT
"""Whether the kernels will be compiled in this process, because no cache of them was found."""

kernel = numba.njit(nogil=True, cache=KERNELS_ARE_KEPT)
"""Decorator of every compiled function: no GIL while it runs, cached on disk where that is possible."""

if TYPE_CHECKING:  # what turns the counting off is an option of numba's own runtime functions: its type hints lack it
    lean_kernel = lean_inlined_kernel = kernel
else:
    lean_kernel = numba.njit(nogil=True, cache=KERNELS_ARE_KEPT, _nrt=False)
    lean_inlined_kernel = numba.njit(nogil=True, cache=KERNELS_ARE_KEPT, _nrt=False, inline="always")
"""Like `kernel`, for functions that make no arrays: references to arrays are not counted. In a long function that takes
arrays out of tuples and rows out of arrays, counting them may be half of the work. The body of an inlined kernel stands
in place of each call: a tuple of many arrays is not copied for it then."""

reassociating_kernel = numba.njit(nogil=True, cache=KERNELS_ARE_KEPT, fastmath={"reassoc", "nsz"})
"""Like `kernel`, and sums may be taken in any order: what a sum of floats needs to compile to vector instructions."""
