"""The secret of a Ray cluster: for its user alone."""

import os
import re
import stat
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
