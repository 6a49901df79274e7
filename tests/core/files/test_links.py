"""Links on the way to a file that is written: those of strangers lead nowhere, those of the user do."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.files.atomic import append_text, atomic_write_text
from core.files.cache_folder import CacheFolder, CacheNotice
from core.files.links import ForeignLinkError
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.expansion import check_new
from tests.support.commands import Capsys, refused, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the modes of folders say nothing there")

WORLD, STICKY, GROUP = 0o777, 0o1777, 0o2775


@pytest.fixture(params=[WORLD, STICKY])
def shared(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(request.param)
    return folder


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    (tmp_path / "private").mkdir(mode=0o700)
    path = tmp_path / "private" / "precious.txt"
    path.write_text("precious")
    return path


@pytest.mark.parametrize("target", ["precious.txt", "new.txt", "pipe"])
def test_a_link_in_a_shared_folder_is_replaced_and_its_target_stays(shared: Path, victim: Path, target: str) -> None:
    os.mkfifo(victim.with_name("pipe"))
    link = shared / "result.txt"
    link.symlink_to(victim.with_name(target))
    atomic_write_text(link, "result")
    assert victim.read_text() == "precious"
    assert link.read_text() == "result"
    assert not link.is_symlink()
    assert not victim.with_name("new.txt").exists()


@pytest.mark.parametrize("target", ["private", "../shared/second"])
def test_a_folder_that_is_a_link_in_a_shared_folder_is_refused(shared: Path, victim: Path, target: str) -> None:
    (shared / "second").symlink_to(victim.parent)
    (shared / "folder").symlink_to(victim.parent if target == "private" else target)
    for name in ("precious.txt", "new.txt", "below/new.txt"):
        with pytest.raises(ForeignLinkError, match="symbolic link"):
            atomic_write_text(shared / "folder" / name, "result")
    assert sorted(path.name for path in victim.parent.iterdir()) == ["precious.txt"]
    assert victim.read_text() == "precious"


def test_a_link_of_ones_own_into_a_shared_folder_is_followed_as_far_as_there(
    shared: Path, victim: Path, tmp_path: Path
) -> None:
    (tmp_path / "way").symlink_to(shared)
    (shared / "result.txt").symlink_to(victim)
    atomic_write_text(tmp_path / "way" / "result.txt", "result")
    assert victim.read_text() == "precious"
    assert (shared / "result.txt").read_text() == "result"


def test_lines_are_never_appended_through_a_link_in_a_shared_folder(shared: Path, victim: Path) -> None:
    (shared / "metrics.jsonl").symlink_to(victim)
    with pytest.raises(ForeignLinkError):
        append_text(shared / "metrics.jsonl", "line\n")
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("absolute", [True, False])
def test_a_link_in_ones_own_folder_keeps_its_sense(tmp_path: Path, victim: Path, absolute: bool) -> None:
    tmp_path.chmod(0o755)
    link = tmp_path / "latest.txt"
    link.symlink_to(victim if absolute else Path("private/precious.txt"))
    atomic_write_text(link, "one\n")
    append_text(link, "two\n")
    assert link.is_symlink()
    assert victim.read_text() == "one\ntwo\n"


def test_a_folder_of_the_users_own_group_is_the_users_own(tmp_path: Path, victim: Path) -> None:
    import grp
    import pwd

    user = pwd.getpwuid(os.geteuid())
    if grp.getgrgid(user.pw_gid).gr_name != user.pw_name:
        pytest.skip("this system makes no group for each user")
    (tmp_path / "own").mkdir()
    os.chown(tmp_path / "own", -1, user.pw_gid)
    (tmp_path / "own").chmod(0o775)
    (tmp_path / "own" / "latest.txt").symlink_to(victim)
    atomic_write_text(tmp_path / "own" / "latest.txt", "result")
    assert victim.read_text() == "result"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_link_in_the_folder_of_another_user_is_not_followed_even_by_root(tmp_path: Path, victim: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    (folder / "result.txt").symlink_to(victim)
    atomic_write_text(folder / "result.txt", "result")
    assert victim.read_text() == "precious"


def test_links_in_a_circle_are_an_error_that_names_the_path(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(OSError, match="one"):
        atomic_write_text(tmp_path / "one", "result")


def test_standard_output_can_still_be_named() -> None:
    if not Path("/dev/stdout").exists():
        pytest.skip("this system has no such file")
    read, write = os.pipe()
    atomic_write_text(Path(f"/dev/fd/{write}"), "result")
    assert os.read(read, 100) == b"result"
    os.close(read)
    os.close(write)


def test_a_file_that_is_open_keeps_what_it_has(tmp_path: Path) -> None:
    if not Path("/dev/stdout").exists():
        pytest.skip("this system has no such file")
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    with summary.open("a") as log:  # as the shell's >> summary.md
        path = Path(f"/dev/fd/{log.fileno()}")
        check_new(path, "--output", force=False)
        atomic_write_text(path, "result\n")
        log.write("after\n")
    assert summary.read_text() == "before\nresult\nafter\n"


GAME = "(;GM[4]FF[4]SZ[15];B[hh];W[ii])"


@pytest.mark.parametrize(
    "words",
    [
        lambda game, out: ("convert", "--force", game, out.with_suffix(".psq")),
        lambda game, out: ("convert", "--force", game, out.with_suffix(".sgf")),
        lambda game, out: ("picture", game, "--figure", out.with_suffix(".svg")),
    ],
)
def test_commands_never_write_through_a_strangers_link(
    shared: Path, victim: Path, tmp_path: Path, capsys: Capsys, words: Callable[[Path, Path], tuple[object, ...]]
) -> None:
    (tmp_path / "game.sgf").write_text(GAME)
    given = words(tmp_path / "game.sgf", shared / "result")
    output = next(word for word in given if isinstance(word, Path) and word.parent == shared)
    output.symlink_to(victim)
    code, _, err = run(capsys, *given)
    assert victim.read_text() == "precious"
    assert code == ExitCode.DONE, err
    assert output.stat().st_size > 0
    assert not output.is_symlink()


def test_a_run_is_not_made_through_a_strangers_link(shared: Path, victim: Path, capsys: Capsys) -> None:
    (shared / "runs").symlink_to(victim.parent)
    err = refused(capsys, ExitCode.FAILED, "train", "--preset", "smoke", "--run", shared / "runs" / "mine")
    assert "symbolic link" in err
    assert sorted(path.name for path in victim.parent.iterdir()) == ["precious.txt"]


@pytest.mark.parametrize("name", ["gomoku", "gomoku/kernels"])
def test_a_cache_behind_a_strangers_link_is_not_used(
    shared: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.files.cache_folder._notices", [])
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    (shared / name).parent.mkdir(exist_ok=True)
    (shared / name).parent.chmod(WORLD)
    (shared / name).symlink_to(target)
    cache = CacheFolder(shared / "gomoku" / "kernels", "nothing is kept")
    with pytest.warns(CacheNotice, match="symbolic link"):
        assert not cache.write("name", b"data")
    assert cache.read("name", 100) is None
    assert list(target.iterdir()) == []
