"""The versions of PTX (PTX ISA, "Release Notes", "PTX Release History").

A newer minor version of a known major version adds instructions, which have no meaning here until they are added;
what it has in common with the older ones means the same. A newer major version may change that.
"""

from __future__ import annotations

import re

from ptxaudit.base.errors import InputError

NEWEST_MINOR = {1: 5, 2: 3, 3: 2, 4: 3, 5: 0, 6: 5, 7: 8, 8: 8, 9: 5}
"""The newest minor version of each major version; all versions before it exist."""

NEWEST_MAJOR = max(NEWEST_MINOR)
NEWEST_VERSION = NEWEST_MAJOR, NEWEST_MINOR[NEWEST_MAJOR]
"""The newest version that the grammar has been compared with."""

NEWEST = ".".join(map(str, NEWEST_VERSION))
_SHOWN = 9  # characters of a version that does not exist
_NUMBERS = re.compile(r"(\d{1,4})\.(\d{1,4})")


def _numbers(version: str) -> tuple[int, int] | None:
    """The major and the minor version of "8.5"; None if it is none."""
    found = _NUMBERS.fullmatch(version)
    return (int(found[1]), int(found[2])) if found else None


def check_version(version: str, line: int | None) -> None:
    """Raises InputError if PTX of this version cannot be read with certainty."""
    found = _numbers(version)
    if found is None or found[0] == 0 or (found[0] < NEWEST_MAJOR and found[1] > NEWEST_MINOR[found[0]]):
        raise InputError(f"there is no PTX {version[:_SHOWN]}", "is the PTX file complete and unmodified?", line=line)
    if found[0] > NEWEST_MAJOR:
        raise InputError(
            f"the file is PTX {version}, and the newest that this version of ptxaudit knows is {NEWEST}",
            "compile for an older PTX version, or update ptxaudit",
            line=line,
        )


def is_newer(version: str) -> bool:
    """Whether it is newer than all that the grammar has been compared with."""
    found = _numbers(version)
    return found is not None and found > NEWEST_VERSION
