"""Cached files: damaged, foreign and unwritable ones count as missing, with one notice, and are made again."""

import os
import random
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.files import cache_folder as module
from core.files.cache_folder import CacheFolder, CacheNotice, has_noticed, problems

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes are those of POSIX")

DATA = bytes(range(256)) * 20
LIMIT = 1 << 20
AS_ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
AS_A_USER = pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may do everything")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the start of a process."""
    monkeypatch.setattr(module, "_notices", [])
    monkeypatch.setattr(module, "_problems", [])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a cached file."""
    assert reopened(tmp_path / "gomoku" / "kind" / "a").write("a", DATA)
    return tmp_path / "gomoku" / "kind" / "a"


def reopened(path: Path) -> CacheFolder:
    """The folder of a cached file, as another process opens it."""
    return CacheFolder(path.parent, "all takes longer")


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[random.Random(1).randrange(len(content))] ^= 4
    path.write_bytes(content)


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "something").touch()


def replace_by_link(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


def replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut in its header": lambda path: os.truncate(path, 20),
    "cut short": lambda path: os.truncate(path, 2000),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "flipped": flip,
    "noise": lambda path: path.write_bytes(random.Random(1).randbytes(3000)),
    "another format": lambda path: path.write_bytes(path.read_bytes().replace(b"format 2", b"format 3")),
    "a folder": replace_by_folder,
    "a link": replace_by_link,
    "a pipe": replace_by_pipe,
    "group-writable": lambda path: path.chmod(0o660),
    "writable by all": lambda path: path.chmod(0o606),
}


def test_a_written_file_is_read_by_another_process(path: Path) -> None:
    assert reopened(path).read("a", LIMIT) == DATA
    assert reopened(path).read("b", LIMIT) is None
    mapped = reopened(path).read("a", LIMIT, mapped=True)
    assert mapped == DATA
    assert np.frombuffer(mapped, np.uint8).ctypes.data % 64 == 0
    assert not has_noticed()


def test_memory_of_a_file_is_not_written_back(path: Path) -> None:
    mapped = reopened(path).read("a", LIMIT, mapped=True)
    mapped[0] ^= 1
    assert reopened(path).read("a", LIMIT) == DATA


def test_the_most_recently_used_files_are_kept(path: Path) -> None:
    folder = reopened(path)
    for number, name in enumerate("bcd"):
        folder.write(name, DATA)
        os.utime(path.with_name(name), (number, number))
    folder.keep_newest(2)
    assert sorted(os.listdir(path.parent)) == ["a", "d"]


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_counts_as_missing_and_is_replaced(
    damage: Callable[[Path], object], mapped: bool, path: Path
) -> None:
    damage(path)
    with pytest.warns(CacheNotice, match=r"/a\b.* made again") as notices:
        folder = reopened(path)
        assert folder.read("a", LIMIT, mapped=mapped) is None
        assert folder.read("a", LIMIT, mapped=mapped) is None
    assert len(notices) == 1, "one notice is enough"
    assert folder.write("a", DATA)
    assert reopened(path).read("a", LIMIT) == DATA
    assert os.listdir(path.parent) == ["a"]
    assert problems() == ()


def test_a_link_is_replaced_and_its_target_stays(path: Path) -> None:
    replace_by_link(path)
    reopened(path).write("a", b"new")
    assert not path.is_symlink()
    assert (path.parent.parent / "elsewhere").read_bytes().endswith(DATA)


def test_a_file_under_the_name_of_another_is_not_believed(path: Path) -> None:
    path.rename(path.with_name("b"))
    with pytest.warns(CacheNotice, match="damaged"):
        assert reopened(path).read("b", LIMIT) is None


def test_a_file_above_its_limit_is_not_read(path: Path) -> None:
    with pytest.warns(CacheNotice, match=r"5,184 bytes; the limit of such files is 100 bytes"):
        assert reopened(path).read("a", 100) is None


@AS_ROOT
@pytest.mark.parametrize("level", range(3))
def test_what_another_user_owns_is_refused(level: int, path: Path) -> None:
    os.chown([path, *path.parents][level], 12345, -1)
    with pytest.warns(CacheNotice, match=r"belongs to another user \(12345\), so it is"):
        folder = reopened(path)
        assert folder.read("a", LIMIT) is None
    assert folder.write("a", DATA) is (level == 0), "a foreign folder stays as it is"
    assert len(problems()) == (level > 0)


@AS_A_USER
def test_what_root_owns_is_believed() -> None:
    info = os.stat("/")
    assert info.st_uid == 0
    assert module._distrust(Path("/"), info) is None


def test_a_folder_is_made_private_whatever_the_mask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert reopened(tmp_path / "gomoku" / "kind" / "a").write("a", DATA)
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("gomoku", "gomoku/kind", "gomoku/kind/a")]
    assert modes == [0o700, 0o700, 0o600]


def test_others_lose_the_right_to_write_an_old_folder(path: Path) -> None:
    for folder in (path.parent, path.parent.parent):
        folder.chmod(0o775)
    assert reopened(path).read("a", LIMIT) == DATA
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (path.parent, path.parent.parent)] == [0o755] * 2


def test_a_folder_that_cannot_exist_gives_one_notice(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = CacheFolder(tmp_path / "file" / "gomoku" / "kind", "all takes longer")
    with pytest.warns(CacheNotice, match=r"cannot be used \(Not a directory\); all takes longer") as notices:
        assert folder.read("a", LIMIT) is None
        assert not folder.write("a", DATA)
        assert not folder.has_room(1)
    assert len(notices) == len(problems()) == 1


def test_a_full_disk_gives_one_notice_and_leaves_no_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    folder = reopened(path)
    with pytest.warns(CacheNotice, match=r"kind cannot be written \(No space left on device\)") as notices:
        assert not folder.write("b", DATA)
        assert not folder.write("c", DATA)
    assert len(notices) == 1
    assert folder.read("a", LIMIT) == DATA, "it can still be read"
    assert os.listdir(path.parent) == ["a"]


def test_room_is_measured_before_long_work(path: Path) -> None:
    assert reopened(path).has_room(1 << 20)
    with pytest.warns(CacheNotice, match="cannot be written"):
        assert not reopened(path).has_room(1 << 60)
    assert os.listdir(path.parent) == ["a"]


def test_a_folder_that_another_process_removed_is_made_again(path: Path) -> None:
    folder = reopened(path)
    assert folder.read("a", LIMIT) == DATA
    path.unlink()
    path.parent.rmdir()
    assert folder.read("a", LIMIT) is None
    assert folder.write("a", DATA)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
