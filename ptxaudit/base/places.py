"""Picks the user's line of an inline stack: the innermost that is not in a header of a toolkit or package.

cuda_pipeline_helpers.h:201, inlined at cuda_pipeline_primitives.h:69, inlined at hgemm.cu:8   ->   hgemm.cu:8

It looks only at paths, which are those of the machine that compiled the code. The choice affects what is shown, but
no figure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol, TypeVar

# Folders of a project that contain other projects' files.
FOREIGN = frozenset(("site-packages", "dist-packages", "node_modules", "_deps"))

_TOOLKIT = re.compile(
    r"^/usr/(?:local/cuda|include|lib)/|^/opt/cuda/|NVIDIA GPU Computing Toolkit/"
    r"|(?:^|/)(?:cuda-\d[\d.]*|hpc_sdk|targets/[^/]+-linux|nvidia/(?:cu\d+|cuda_\w+))/(?:.*/)?include/"
    r"|/frontend/compile/nvrtc_(?:include|host)/"  # substitutes for standard headers
)


class Position(Protocol):
    """A line of a file."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...


class Inlined(Protocol):
    """Has a position and the positions it was inlined at, innermost first."""

    @property
    def places(self) -> Sequence[Position]: ...


P = TypeVar("P", bound=Position)


@lru_cache(maxsize=4096)
def is_installed(file: str) -> bool:
    """Whether the file is a header of a CUDA toolkit or of the system, or belongs to an installed package."""
    path = file.replace("\\", "/")
    return not FOREIGN.isdisjoint(path.split("/")) or _TOOLKIT.search(path) is not None


def own(places: Sequence[P]) -> P:
    """The innermost position of an inline stack that is not in an installed file; the innermost if all are."""
    return next((place for place in places if not is_installed(place.file)), places[0])


def line_of(source: Inlined) -> str:
    """The user's line of an inline stack, as "hgemm.cu:8"."""
    place = own(source.places)
    return f"{base_name(place.file)}:{place.line}"


@lru_cache(maxsize=4096)
def base_name(file: str) -> str:
    """The last part of a path of any operating system."""
    return file.replace("\\", "/").rpartition("/")[2] or file
