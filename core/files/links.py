"""Symbolic links on the way to a file that is written, and folders that only their user may enter.

A link in a folder that others may write can be theirs: it would make this process write where they cannot. Links in
folders that only this user or root may write are the user's own, and are followed. The sticky bit of /tmp makes no
difference here: it keeps others from removing a link, not from making one.
"""

import errno
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

_MAX_LINKS = 40
"""Links on the way to a file; Linux follows as many."""
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class ForeignLinkError(PermissionError):
    """A link that may be someone else's stands on the way to a file."""

    def __init__(self, link: Path) -> None:
        super().__init__(errno.EPERM, "it is a symbolic link in a folder that others may write: name its target", link)


def is_shared(folder: Path) -> bool:
    """Return True for a folder that someone else than this user and root may write. Raises `OSError`."""
    if sys.platform == "win32":
        return False
    found = folder.stat()
    if found.st_uid not in (os.geteuid(), 0) or found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)


def _is_own_group(group: int) -> bool:
    """Return True for the group that some systems make for each user, of the same name and without other members."""
    if sys.platform == "win32":
        return False
    import grp
    import pwd

    with suppress(KeyError):
        user, entry = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
        return user.pw_gid == group and entry.gr_name == user.pw_name and not set(entry.gr_mem) - {user.pw_name}
    return False


def real_path(path: Path, *, follow_last: bool = True) -> Path:
    """Return the path without links, which need not exist; it follows only links in folders that nobody shares.

    Without `follow_last` a last name that is a foreign link is kept, so that its link is replaced. Raises `OSError`;
    `ForeignLinkError` for any other foreign link.
    """
    pending = list(reversed(path.absolute().parts))
    resolved = Path(pending.pop())
    links = 0
    while pending:
        name = pending.pop()
        if name == os.pardir:
            resolved = resolved.parent
            continue
        here = resolved / name
        if not here.is_symlink():
            resolved = here
            continue
        if is_shared(resolved):
            if pending or follow_last:
                raise ForeignLinkError(here)
            return here
        links += 1
        if links > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        if is_open_file(here):
            return here
        target = Path(os.readlink(here))
        if target.is_absolute():
            resolved = Path(target.anchor)
            pending += reversed(target.parts[1:])
        else:
            pending += reversed(target.parts)
    return resolved


def is_open_file(path: Path) -> bool:
    """Return True for a name of a file that this process has open, such as `/dev/fd/1`; its target may be no path."""
    return path.name.isdecimal() and os.path.realpath(path.parent) == os.path.realpath("/dev/fd")


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Create a folder and those above it, all of this mode less the process's mask. Raises `OSError`."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        if folder == folder.parent:
            break
        folder = folder.parent
    for each in reversed(missing):
        with suppress(FileExistsError):
            each.mkdir(mode)
    for each in missing[:1]:
        if not each.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(each))


def make_private_folder(folder: Path) -> None:
    """Create a folder for this user alone, and those above it. Raises `OSError`; `ForeignLinkError` for a link."""
    make_folder(real_path(folder), 0o700)
