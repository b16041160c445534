"""Exact shared-memory wavefront counts for every access in compiled CUDA code, without a GPU.

    import ptxaudit
    report = ptxaudit.audit("kernel.cu", arch="sm_90", launches=[ptxaudit.Launch("k", grid=(4, 2), block=(16, 16))])
    score = ptxaudit.score_request("ld.shared.v4.b32", addresses, arch="sm_90")

Names are imported when they are first used: `import ptxaudit` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ptxaudit.base.version import __version__

if TYPE_CHECKING:
    from ptxaudit.base.errors import InputError
    from ptxaudit.frontend.launch.launch import Launch
    from ptxaudit.frontend.launch.launch_file import read_launches
    from ptxaudit.hardware.scoring import score_request, score_requests
    from ptxaudit.report.model import Report
    from ptxaudit.report.reader import read_report
    from ptxaudit.review.audit import audit
    from ptxaudit.review.sweeps import sweep
    from ptxaudit.ui.recording.watch import watch

_HOME = {
    "audit": "review.audit",
    "sweep": "review.sweeps",
    "score_request": "hardware.scoring",
    "score_requests": "hardware.scoring",
    "Launch": "frontend.launch.launch",
    "read_launches": "frontend.launch.launch_file",
    "Report": "report.model",
    "read_report": "report.reader",
    "InputError": "base.errors",
    "watch": "ui.recording.watch",
}

__all__ = [
    "InputError",
    "Launch",
    "Report",
    "__version__",
    "audit",
    "read_launches",
    "read_report",
    "score_request",
    "score_requests",
    "sweep",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ptxaudit' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ptxaudit.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
