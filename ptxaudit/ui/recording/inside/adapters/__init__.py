"""One module per framework: the versions that it supports, and the functions that it hooks.

    NAME, PACKAGE      the name for users; the module whose `__version__` is its version
    KNOWN              ("3.2", "3.10"): from the first, below the second
    attach(module, recorder, patches)     changes the attributes of one imported module

`WATCHED` lists the modules to wait for; an adapter is imported once one of its modules has been.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ptxaudit.ui.recording.inside.hooks import Patches
from ptxaudit.ui.recording.inside.recorder import Recorder

WATCHED = {
    "triton.compiler.compiler": "triton",
    "torch._inductor.runtime.static_cuda_launcher": "inductor",
    "torch._inductor.runtime.static_triton_launcher": "inductor",
    "cuda.core._module": "cuda_core",
    "cuda.core._program": "cuda_core",
    "cuda.core._launcher": "cuda_core",
    "cuda.core.experimental._module": "cuda_core",
    "cuda.core.experimental._program": "cuda_core",
    "cuda.core.experimental._launcher": "cuda_core",
    "cupy.cuda.compiler": "cupy",
    "pycuda.driver": "pycuda",
    "numba.cuda.dispatcher": "numba",
    "numba_cuda.numba.cuda.dispatcher": "numba",
    "jax": "jax",
}

Release = tuple[int, ...]


def attached(recorder: Recorder, patches: Patches, unseen: Callable[[str], None]) -> dict[str, Callable[..., None]]:
    """For each watched module, the function to call when it has been imported.

    unseen: called with a sentence for a framework whose launches no adapter records.
    """

    def attach(module: ModuleType, name: str) -> None:
        recorder.guarded(f"launches of {name}", lambda: _attach(name, module, recorder, patches, unseen))

    return {module: (lambda found, name=name: attach(found, name)) for module, name in WATCHED.items()}


def _attach(name: str, module: ModuleType, recorder: Recorder, patches: Patches, unseen: Callable[[str], None]) -> None:
    adapter: Any = importlib.import_module(f"{__name__}.{name}")
    why = unknown(adapter)
    if why is None:
        why = adapter.attach(module, recorder, patches)
    if why is not None:
        unseen(why)


def unknown(adapter: Any) -> str | None:
    """The reason why nothing of a framework is recorded, if this version of it is not supported."""
    found = version_of(adapter.PACKAGE, adapter.DISTRIBUTIONS)
    first, end = adapter.KNOWN
    release = release_of(found)
    if release is not None and release_of(first) <= release < release_of(end):  # type: ignore[operator]
        return None
    what = f"{adapter.NAME} {found}" if found else f"this {adapter.NAME}, whose version cannot be found,"
    return (
        f"{what} is not supported ({first} to below {end} is): its launches are not recorded through its own functions"
    )


def version_of(package: str, distributions: tuple[str, ...]) -> str:
    """The version of a package that is being imported, or "" if it cannot be found."""
    version = getattr(sys.modules.get(package), "__version__", None)
    if isinstance(version, str):
        return version
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    for name in distributions:
        try:
            return installed(name)
        except PackageNotFoundError:
            continue
    return ""


def release_of(version: str) -> Release | None:
    """ "3.6.0+git1" -> (3, 6, 0); None if the text is not a version."""
    numbers = []
    for part in version.split("+")[0].split("."):
        digits = ""
        for letter in part:
            if not letter.isdigit():
                break
            digits += letter
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    return tuple(numbers) or None
