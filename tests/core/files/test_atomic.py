"""Files that appear whole or not at all."""

import errno
import os
import re
import signal
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.files.atomic import (
    KeptElsewhereError,
    NotAFileError,
    TooLargeError,
    append_text,
    atomic_path,
    atomic_write_text,
    naming,
    read_bytes,
    refuse_pipes,
    remove_unfinished,
    write_or_keep,
)
from tests.support.commands import python


def test_text_is_written_as_utf_8_into_folders_that_it_makes(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "down" / "résumé.txt"
    atomic_write_text(path, "五子棋\n")
    assert path.read_bytes() == "五子棋\n".encode()
    assert os.listdir(path.parent) == [path.name]


def test_the_old_file_stands_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text("old")
    with atomic_path(path) as temporary:
        assert temporary.parent == tmp_path, "a rename is atomic inside one file system only"
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_half_way_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "model"
    path.write_text("old")

    def write() -> None:
        with atomic_path(path) as temporary:
            temporary.write_text("half of the n")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_a_process_killed_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text("old")
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from core.files.atomic import atomic_path\n"
        "with atomic_path(Path(sys.argv[1])) as temporary:\n"
        "    temporary.write_text('half of the n')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )

    ended = python(script, path)
    assert ended.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    (left,) = set(os.listdir(tmp_path)) - {"model"}
    assert re.fullmatch(r"\.model\.[0-9a-f]{8}", left), "what is left is hidden, and known by its name"


def test_two_writers_of_one_file_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "metrics"
    with atomic_path(path) as one, atomic_path(path) as other:
        assert one != other
        one.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one", "the outer block ends last"
    assert os.listdir(tmp_path) == ["metrics"]


@pytest.mark.skipif(os.name != "posix", reason="permission bits are posix's")
def test_a_written_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    atomic_write_text(tmp_path / "written", "x")
    (tmp_path / "plain").write_text("x")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("written", "plain")}
    assert len(modes) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no such modes there")
@pytest.mark.parametrize("mode", [0o600, 0o444, 0o664])
def test_a_new_file_is_as_private_as_the_one_that_it_replaces(tmp_path: Path, mode: int) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(mode)
    with atomic_path(tmp_path / "file") as unfinished:
        assert not unfinished.stat().st_mode & 0o077 & ~mode, "nor does anyone read a part of it"
        unfinished.write_text("x")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_a_link_is_followed_and_a_pipe_is_written_into(tmp_path: Path) -> None:
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    atomic_write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        heard = pool.submit(pipe.read_text, encoding="utf-8")
        atomic_write_text(pipe, "said")
        assert heard.result(timeout=10) == "said"
    assert pipe.is_fifo()
    assert {path.name for path in tmp_path.iterdir()} == {"target", "link", "pipe"}


def _leave_unfinished(path: Path) -> Path:
    leftover = path.with_name(f".{path.name}.0123abcd")
    leftover.write_text("half")
    return leftover


def test_the_next_writer_of_a_file_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    leftover, other = _leave_unfinished(tmp_path / "model"), _leave_unfinished(tmp_path / "another")
    atomic_write_text(tmp_path / "model", "new")
    assert not leftover.exists()
    assert other.exists(), "its writer may live"


def test_unfinished_files_of_a_living_writer_stay(tmp_path: Path) -> None:
    leftover = _leave_unfinished(tmp_path / "model")
    with atomic_path(tmp_path / "other") as temporary:
        remove_unfinished(tmp_path)
        assert temporary.exists()
        assert not leftover.exists()
        temporary.write_text("whole")
    assert (tmp_path / "other").read_text() == "whole"


def test_a_write_error_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"

    def write() -> None:
        with atomic_path(path):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left") as caught:
        write()
    assert caught.value.filename == str(path)
    assert os.listdir(tmp_path) == []


def test_what_does_not_fit_its_disk_is_kept_in_a_folder_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    with_room = [kept]

    def write(path: Path) -> None:
        if not any(path.is_relative_to(place) for place in with_room):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        path.write_text("games")

    monkeypatch.setattr("tempfile.tempdir", str(kept))
    with pytest.raises(KeptElsewhereError, match="No space left on device; it is kept as") as caught:
        write_or_keep(tmp_path / "full" / "games.sgf", write)
    assert caught.value.filename == str(tmp_path / "full" / "games.sgf")
    (place,) = kept.rglob("games.sgf")
    assert place.read_text() == "games"
    assert caught.value.strerror.endswith(str(place))
    place.unlink()
    place.parent.rmdir()
    with_room.clear()
    with pytest.raises(OSError, match="No space left on device: ") as lost:
        write_or_keep(tmp_path / "full" / "games.sgf", write)
    assert not isinstance(lost.value, KeptElsewhereError)
    assert not list(kept.iterdir())


def test_an_error_that_names_a_file_keeps_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, naming(tmp_path / "one"):
        (tmp_path / "another").read_text()
    assert caught.value.filename == str(tmp_path / "another")


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of file sizes there")
def test_a_line_that_the_disk_does_not_take_whole_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append_text(path, "one\n")
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from core.files.atomic import append_text\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "append_text(Path(sys.argv[1]), 'x' * 2000)\n"
    )
    assert f"File too large: '{path}'" in python(script, path).stderr
    assert path.read_text() == "one\n"


def test_a_line_begins_after_one_without_an_end(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("one\ntor")
    append_text(path, "two\n")
    append_text(path, "three\n")
    assert path.read_text() == "one\ntor\ntwo\nthree\n"


def test_a_file_above_its_limit_is_refused_with_both_sizes(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"x" * 1001)
    assert read_bytes(path, 1001) == b"x" * 1001
    with pytest.raises(TooLargeError, match=r"big is 1,001 bytes; the limit of such files is 1,000 bytes"):
        read_bytes(path, 1000)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_pipes_are_refused_where_they_make_no_sense(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    refuse_pipes(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    for refuse in (lambda: read_bytes(tmp_path / "pipe", 9, pipes=False), lambda: refuse_pipes(tmp_path)):
        with pytest.raises(NotAFileError, match="pipe is no file"):
            refuse()
    assert read_bytes(tmp_path / "file", 9, pipes=False) == b"x"
