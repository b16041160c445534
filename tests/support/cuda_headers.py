"""The headers of CUDA that are installed with the compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxaudit.frontend.compile import toolchains


def header(name: str) -> str:
    """A header of CUDA 13, which is installed with the compiler."""
    for folder in toolchains.headers_of(toolchains.get("nvrtc").path):
        for path in (Path(folder) / name, Path(folder) / "cccl" / name):
            if path.exists():
                return path.read_text()
    pytest.skip(f"{name} is not here")
