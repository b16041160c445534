"""Follows kernels through a series of reports, across renamings.

    (12.4: gemm, reduce), (12.9: gemm, sum), (13.5: gemm, sum)  ->  Track(gemm, gemm, gemm), Track(reduce, sum, sum)

Each report is matched, as `diff` matches two reports, with the last appearance of every kernel so far: a kernel that
is missing in one report is found again in the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptxaudit.report.model import Kernel, Report
from ptxaudit.review.diff.kernelmatch import match_kernels


@dataclass
class Track:
    """One kernel and launch; None in a report that does not have it."""

    kernels: list[Kernel | None]

    @property
    def last(self) -> Kernel:
        """The kernel in the last report that has it."""
        return next(kernel for kernel in reversed(self.kernels) if kernel is not None)


def tracks(reports: Sequence[Report | None]) -> list[Track]:
    """Each kernel of the reports, in the order of the last one, removed kernels last. None: an unavailable report."""
    found: list[Track] = []
    for at, report in enumerate(reports):
        if report is None:
            for track in found:
                track.kernels.append(None)
            continue
        of = {id(track.last): track for track in found}
        following: list[Track] = []
        for old, new in match_kernels(tuple(track.last for track in found), report.kernels):
            track = of[id(old)] if old is not None else Track([None] * at)
            track.kernels.append(new)
            following.append(track)
        found = following
    return found
