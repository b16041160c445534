"""How many calls of Python functions something takes: a measure of work that no other load of the machine changes."""

from __future__ import annotations

from collections.abc import Callable
from cProfile import Profile


def calls_of(work: Callable[[], object]) -> int:
    """Calls of functions written in Python while `work` runs."""
    profile = Profile(builtins=False)
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())
