"""A folder for the files that a vendor's tool reads and writes; it is gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from ptxaudit.errors import InputError


@contextmanager
def folder() -> Iterator[str]:
    """The path of an empty folder. Raises InputError where nothing, or not enough, can be written there."""
    try:
        with tempfile.TemporaryDirectory(prefix="ptxaudit-") as name:
            yield name
    except OSError as error:
        raise InputError(f"temporary files cannot be written: {error.strerror or error}",
                         "make room in the folder for them, or name another in the environment variable TMPDIR") from error
