"""JAX, including Pallas: XLA compiles and launches in C++, without calling Python."""

from __future__ import annotations

from types import ModuleType

from ptxaudit.ui.recording.inside.hooks import Patches
from ptxaudit.ui.recording.inside.recorder import Recorder

NAME, PACKAGE, DISTRIBUTIONS = "JAX", "jax", ("jax",)
KNOWN = ("0.3", "1")


def attach(module: ModuleType, recorder: Recorder, patches: Patches) -> str | None:
    return "JAX launches its kernels inside of XLA, where Python does not see them"
