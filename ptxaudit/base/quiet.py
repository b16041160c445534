"""Suspends the cyclic garbage collector while many small values are created.

Hardly any of them is garbage in a cycle, but the collector would visit them all repeatedly, for a third to a half of
the time of a large module.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# objects: most live as long as the process, and a pass over 100,000 takes 30 ms; garbage of the engine is half the
# memory of a library
_THRESHOLD = 500_000


def collect_seldom() -> None:
    """Collects rarely, for a process that audits and ends."""
    gc.set_threshold(_THRESHOLD)


@contextmanager
def no_collection() -> Iterator[None]:
    """Within it, there is no cyclic collection; restores the previous setting."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
