"""Numba-CUDA: since 0.24 it compiles to cuda.core's ObjectCode and launches by `cuda.core.launch`, recorded there."""

from __future__ import annotations

from types import ModuleType

from ptxaudit.ui.recording.inside.hooks import Patches
from ptxaudit.ui.recording.inside.recorder import Recorder

NAME, PACKAGE, DISTRIBUTIONS = "Numba-CUDA", "numba_cuda", ("numba-cuda",)
KNOWN = ("0.24", "1")


def attach(module: ModuleType, recorder: Recorder, patches: Patches) -> str | None:
    if "cuda.core" in str(getattr(getattr(module, "launch", None), "__module__", "")):
        return f"{NAME} had cuda.core's launch before the recording began: its launches are not recorded"
    if not hasattr(module, "launch"):
        return f"this {NAME} does not launch through cuda.core: its launches are not recorded"
    return None
