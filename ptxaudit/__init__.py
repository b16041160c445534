"""Exact shared-memory wavefront counts for every site of compiled CUDA code, with no GPU.

    import ptxaudit
    report = ptxaudit.audit("kernel.cu", arch="sm_90", launches=[ptxaudit.Launch("k", grid=(4, 2), block=(16, 16))])
    score = ptxaudit.score_request("ld.shared.v4.b32", addresses, arch="sm_90")

Names are imported when they are first used: `import ptxaudit` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ptxaudit.version import __version__

if TYPE_CHECKING:
    from ptxaudit.errors import InputError
    from ptxaudit.launch import Launch
    from ptxaudit.launch_file import read_launches
    from ptxaudit.pipeline import audit
    from ptxaudit.report import Report
    from ptxaudit.report_reader import read_report
    from ptxaudit.scoring import score_request, score_requests
    from ptxaudit.sweeps import sweep

_HOME = {
    "audit": "pipeline",
    "sweep": "sweeps",
    "score_request": "scoring",
    "score_requests": "scoring",
    "Launch": "launch",
    "read_launches": "launch_file",
    "Report": "report",
    "read_report": "report_reader",
    "InputError": "errors",
}

__all__ = [
    "InputError", "Launch", "Report", "__version__", "audit", "read_launches", "read_report",
    "score_request", "score_requests", "sweep",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ptxaudit' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ptxaudit.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
