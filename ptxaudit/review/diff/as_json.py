"""The kernels of a diff as JSON, `ptxaudit/diff/1`; `Diff.to_dict` is the whole document."""

from __future__ import annotations

from typing import Any

from ptxaudit.report.mix import widths
from ptxaudit.report.model import AnySite, Kernel, Site, plain
from ptxaudit.review.diff.kernels import KernelDiff
from ptxaudit.review.diff.verdict import Change

_OF_SITE = (
    "id",
    "opcode",
    "status",
    "requests",
    "wavefronts",
    "ideal",
    "excess",
    "ways",
    "bounds",
    "per_request",
    "line_class_max",
    "lines",
    "reason",
    "reason_kind",
)


_OF_MEMORY = (
    "space",
    "id",
    "opcode",
    "status",
    "requests",
    "sectors",
    "sectors_ideal",
    "sectors_excess",
    "tag_requests",
    "bounds",
    "per_request",
    "kind",
    "reason",
    "reason_kind",
)


def kernel_dict(entry: KernelDiff) -> dict[str, Any]:
    """An entry of a diff."""
    kernel = entry.kernel
    return {
        "name": kernel.name,
        "demangled": kernel.demangled,
        "old_name": entry.old.name if entry.old and entry.renamed else None,
        "isa": kernel.isa,
        "arch": kernel.arch,
        "launch": plain(kernel.launch),
        "old_launch": plain(entry.old.launch) if entry.old else None,
        "got_worse": entry.got_worse,
        "code": entry.nature and str(entry.nature),
        "old_totals": plain(entry.old.totals) if entry.old else None,
        "new_totals": plain(entry.new.totals) if entry.new else None,
        "old_resources": plain(entry.resources[0]),
        "new_resources": plain(entry.resources[1]),
        "figures": {name: list(both) for name, both in entry.figures.items()},
        "old_widths": _widths(entry.old),
        "new_widths": _widths(entry.new),
        "changes": [_change(change) for change in entry.changes],
        "memory": [_change(change) for change in entry.memory],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "verdict": str(change.verdict),
        "impact": change.impact,
        "moved": change.moved,
        "width": change.width and str(change.width),
        "sites": [len(change.olds), len(change.news)],
        "access": change.site.access,
        "source": plain(change.site.source),
        "old": _site(change.old),
        "new": _site(change.new),
    }


def _widths(kernel: Kernel | None) -> dict[str, dict[str, int]] | None:
    """space -> bytes per lane -> number of loads and stores."""
    if kernel is None or kernel.code is None:
        return None
    return {
        space: {str(width): count for width, count in of_space.items()}
        for space, of_space in widths(kernel.code.opcodes).items()
    }


def _site(site: AnySite | None) -> dict[str, Any] | None:
    if site is None:
        return None
    line = {"line": site.source.line if site.source else None}
    return line | {name: plain(getattr(site, name)) for name in (_OF_SITE if isinstance(site, Site) else _OF_MEMORY)}
