"""The secret of a Ray cluster, and the ports of a local Ray: for this user and this machine alone."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from curriculum.workers.ray_secret import has_token, keep_token

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the modes of files say nothing there")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def modes(home: Path) -> tuple[int, int]:
    folder = home / ".ray"
    return stat.S_IMODE(folder.stat().st_mode), stat.S_IMODE((folder / "auth_token").stat().st_mode)


def test_the_secret_is_made_for_its_user_alone_whatever_the_mask(home: Path) -> None:
    assert not has_token()
    before = os.umask(0)
    try:
        keep_token()
    finally:
        os.umask(before)
    assert modes(home) == (0o700, 0o600)
    secret = (home / ".ray" / "auth_token").read_text()
    assert re.fullmatch("[0-9a-f]{64}", secret)
    keep_token()
    assert (home / ".ray" / "auth_token").read_text() == secret
    assert has_token()


def test_an_old_secret_that_everybody_could_read_is_closed_and_stays(home: Path) -> None:
    (home / ".ray").mkdir()
    (home / ".ray").chmod(0o755)
    (home / ".ray" / "auth_token").write_text("old")
    (home / ".ray" / "auth_token").chmod(0o644)
    keep_token()
    assert modes(home) == (0o700, 0o600)
    assert (home / ".ray" / "auth_token").read_text() == "old"


def test_a_secret_in_the_environment_needs_no_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "a" * 64)
    keep_token()
    assert not (home / ".ray").exists()


def test_a_link_in_place_of_the_secret_is_refused(home: Path) -> None:
    (home / ".ray").mkdir()
    (home / ".ray" / "auth_token").symlink_to(home / "elsewhere")
    with pytest.raises(OSError, match="auth_token"):
        keep_token()
    assert not (home / "elsewhere").exists()


_LISTENING = """
import os, subprocess, sys
from curriculum.workers.ray_pool import RayPool
from tests.support.served_board import descendants
os.umask(0)
with RayPool("ray", workers=1) as pool:
    import ray
    pool.step(0.0)
    ray.get(pool.workers[0].place_call)
    own = {os.getpid(), *descendants(os.getpid())}
    inodes = set()
    for pid in own:
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                inodes.add(os.readlink(f"/proc/{pid}/fd/{name}"))
            except OSError:
                pass
    for table in ("tcp", "tcp6"):
        for line in open(f"/proc/net/{table}").readlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                print("listens", fields[1])
    print("folder", oct(os.stat(pool._folder).st_mode & 0o777), pool._folder)
print("left", os.path.exists(pool._folder))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell who listens")
def test_a_local_ray_listens_on_loopback_alone(home: Path) -> None:
    pytest.importorskip("ray")
    pytest.importorskip("aiohttp")
    done = subprocess.run([sys.executable, "-c", _LISTENING], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    addresses = re.findall(r"listens (\S+):", done.stdout)
    assert len(addresses) >= 4
    assert set(addresses) <= {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert "folder 0o700" in done.stdout
    assert "left False" in done.stdout
    assert modes(home) == (0o700, 0o600)
