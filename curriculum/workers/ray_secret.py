"""The secret of a Ray cluster: made for its user alone before Ray starts, which would make it for everybody to read."""

import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path

from core.files.links import make_private_folder

TOKEN_VARIABLE, MODE_VARIABLE = "RAY_AUTH_TOKEN", "RAY_AUTH_MODE"
_PATH_VARIABLE = "RAY_AUTH_TOKEN_PATH"


def token_file() -> Path:
    """Return the file in which Ray keeps its secret."""
    return Path(os.environ.get(_PATH_VARIABLE) or Path.home() / ".ray" / "auth_token")


def has_token() -> bool:
    """Return True if there is a secret."""
    return TOKEN_VARIABLE in os.environ or token_file().is_file()


def keep_token() -> None:
    """Make the secret if there is none, and let nobody but its user read it and its folder. Raises `OSError`."""
    if TOKEN_VARIABLE in os.environ:
        return
    file = token_file()
    make_private_folder(file.parent)
    _make_private(file.parent)
    with suppress(FileExistsError):
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="ascii") as opened:
            opened.write(secrets.token_hex(32))
    _make_private(file)


def _make_private(path: Path) -> None:
    """Take everybody else's rights from a file or folder of this user. Raises `OSError`, also for another's."""
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        if mode & 0o077:
            os.fchmod(descriptor, mode & ~0o077)
    finally:
        os.close(descriptor)
