"""Holds back the cyclic garbage collector while many small values are made.

Hardly any of them is garbage in a cycle; the collector would visit them all, again and again: a third to a half of
the time of a large module.
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
