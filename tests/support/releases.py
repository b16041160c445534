"""CUDA releases from their wheels, for tests: fetched once into the user's cache; a test is skipped if they are
unavailable.
"""

from __future__ import annotations

import pytest

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import toolchain_fetch


def having(*versions):
    """The NVRTC of each release."""
    found = []
    for version in versions:
        try:
            found.append(toolchain_fetch.ensure("nvrtc", version, say=lambda sentence: None))
        except InputError as error:
            if "could not be downloaded" in error.what:
                pytest.skip(str(error))
            raise
    return found
