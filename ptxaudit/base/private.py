"""The user's private cache folder: it is used only if no one else can write there.

    folder("results")   ->  ~/.cache/ptxaudit/results, made with mode 0700; None if others could have written
                            into it

Programs of fetched toolchains run from it, and cached results become reports.
"""

from __future__ import annotations

import os
import stat
from functools import cache
from pathlib import Path

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
ALL_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def place(*parts: str) -> Path:
    """The path of the folder, whether or not it exists."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("ptxaudit", appauthor=False)).joinpath(*parts)


def folder(*parts: str) -> Path | None:
    """The folder, made if it does not exist; None if it cannot be made, or others could have written into it."""
    path = place(*parts)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.mkdir(exist_ok=True, mode=0o700)
        if not is_own(path):
            return None
        if path.stat().st_mode & ALL_OTHERS:
            path.chmod(0o700)
        return path
    except OSError:
        return None


def is_own(path: Path) -> bool:
    """Whether only the user can have written into the folder.

    The user owns it, others cannot write to it, and no one can replace a folder above it.
    """
    try:
        real = Path(os.path.realpath(path))
        status = real.stat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & OTHERS_WRITE:
            return False
        return all(_holds(one.stat()) for one in real.parents)
    except OSError:
        return False


def _holds(status: os.stat_result) -> bool:
    """Whether in a folder with this status only root and the user can replace what the user owns."""
    if status.st_uid not in (0, os.getuid(), _unmapped_user()):
        return False
    if status.st_mode & stat.S_ISVTX:  # sticky, as /tmp: only the owner of an entry can replace it
        return True
    return not status.st_mode & stat.S_IWOTH and (not status.st_mode & stat.S_IWGRP or _is_private_group(status.st_gid))


@cache
def _unmapped_user() -> int:
    """The owner of files of the host's root, in a container that maps users."""
    try:
        return int(Path("/proc/sys/kernel/overflowuid").read_text())
    except (OSError, ValueError):
        return 0


@cache
def _is_private_group(number: int) -> bool:
    """Whether this is the group that many systems make for each user alone."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return number == user.pw_gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
