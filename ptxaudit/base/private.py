"""The user's own folder for what is kept between runs: no one else can write there, or it is not used.

    folder("results")   ->  ~/.cache/ptxaudit/results, made with mode 0700; None where others could have put something
                            into it

Programs of fetched toolchains are run out of it, and kept results become reports.
"""

from __future__ import annotations

import os
import stat
from functools import cache
from pathlib import Path

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
ALL_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def place(*parts: str) -> Path:
    """Where the folder is, whether or not it is there."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("ptxaudit", appauthor=False)).joinpath(*parts)


def folder(*parts: str) -> Path | None:
    """The folder, made where it is not there; None where it cannot be had, or is not the user's alone."""
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
    """A folder that only its user can have written into: it is the user's, closed to others, and no one can replace
    what is above it.
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
    """In such a folder no one but root and the user can put something instead of what is the user's."""
    if status.st_uid not in (0, os.getuid(), _unmapped_user()):
        return False
    if status.st_mode & stat.S_ISVTX:  # as /tmp: what is in it stays its owner's
        return True
    return not status.st_mode & stat.S_IWOTH and (not status.st_mode & stat.S_IWGRP or _is_private_group(status.st_gid))


@cache
def _unmapped_user() -> int:
    """Whose the files of root outside are, in a container that maps users."""
    try:
        return int(Path("/proc/sys/kernel/overflowuid").read_text())
    except (OSError, ValueError):
        return 0


@cache
def _is_private_group(number: int) -> bool:
    """The group that many systems make for each user alone."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return number == user.pw_gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
