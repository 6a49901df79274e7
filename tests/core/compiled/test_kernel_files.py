"""Compiled kernels on disk: kept once, checked, made again, and removed with their version."""

import os
import time
from pathlib import Path

import numba
import numpy as np
import pytest

from core.compiled.kernel_files import ENDING, KernelFolder, remove_old_folders
from core.files import cache_folder as module
from core.files.cache_folder import CacheNotice

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the start of a process."""
    monkeypatch.setattr(module, "_notices", [])
    monkeypatch.setattr(module, "_problems", [])


def add(first, second):  # type: ignore[no-untyped-def]
    return first + second


def kernel(path: Path):  # type: ignore[no-untyped-def]
    """`add` as another process compiles it."""
    return KernelFolder(path).cached(numba.njit(nogil=True)(add))


def loads_and_compilations(compiled) -> tuple[int, int]:  # type: ignore[no-untyped-def]
    stats = compiled.stats
    return sum(stats.cache_hits.values()), sum(stats.cache_misses.values())


def test_a_kernel_is_compiled_once_for_each_type(tmp_path: Path) -> None:
    path = tmp_path / "kernels-0123456789abcdef"
    for expected in ((0, 2), (2, 0)):
        compiled = kernel(path)
        assert compiled(1, 2) == 3
        assert np.array_equal(compiled(np.ones(3), 2), np.full(3, 3.0))
        assert loads_and_compilations(compiled) == expected
        assert len(list(path.glob(f"*{ENDING}"))) == len(os.listdir(path)) == 2
    assert not KernelFolder(path).is_cold


@pytest.mark.parametrize("damage", ["empty", "flipped"])
def test_a_damaged_kernel_is_compiled_again(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "kernels-0123456789abcdef"
    kernel(path)(1, 2)
    (file,) = path.iterdir()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content if damage == "flipped" else b"")
    with pytest.warns(CacheNotice, match="damaged"):
        again = kernel(path)
        assert again(1, 2) == 3
    assert loads_and_compilations(again) == (0, 1)
    last = kernel(path)
    assert last(1, 2) == 3
    assert loads_and_compilations(last) == (1, 0)


def test_kernels_work_without_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.warns(CacheNotice, match="every run compiles the search"):
        assert kernel(tmp_path / "file" / "kernels-0123456789abcdef")(1, 2) == 3


def test_of_other_versions_the_last_eight_stay(tmp_path: Path) -> None:
    folders = [tmp_path / f"kernels-{number:016x}" for number in range(20)]
    others = [tmp_path / name for name in ("graphs", "kernels-mine", "kernels-0000000000000000.tar")]
    for folder in (*folders, *others):
        folder.mkdir()
        (folder / "file").touch()
    for age, folder in enumerate(folders):
        used = time.time() - 3600 * age
        os.utime(folder, (used, used))
    ahead = time.time() + 3600
    os.utime(folders[0], (ahead, ahead))  # the clock was set back since
    folders[3].rename(folders[3].with_name(folders[3].name + ".removed"))  # another process was killed there
    remove_old_folders(folders[1])
    assert sorted(tmp_path.iterdir()) == sorted([*folders[1:3], *folders[4:11], *others])
