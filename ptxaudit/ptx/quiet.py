"""Holds back the cyclic garbage collector while a tree of many small values grows.

None of them is garbage, and none is in a cycle; the collector would visit them all, again and
again, for half of the time of a large module.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """No cyclic collection inside; as it was before, afterwards."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
