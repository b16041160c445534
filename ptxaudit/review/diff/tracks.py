"""Follows kernels through a series of reports: the same kernel in each, whatever it is called there.

    (12.4: gemm, reduce), (12.9: gemm, sum), (13.5: gemm, sum)  ->  Track(gemm, gemm, gemm), Track(reduce, sum, sum)

Each report is matched with what is known of every kernel up to then, its last appearance, as `diff` matches two
reports: a kernel that is missing in one report is found again in the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ptxaudit.report.model import Kernel, Report
from ptxaudit.review.diff.kernelmatch import match_kernels


@dataclass
class Track:
    """One kernel and launch; None where a report does not have it."""

    kernels: list[Kernel | None]

    @property
    def last(self) -> Kernel:
        """As it was when it was there last."""
        return next(kernel for kernel in reversed(self.kernels) if kernel is not None)


def tracks(reports: Sequence[Report | None]) -> list[Track]:
    """Each kernel of the reports, in the order of the last one, those that are gone last. None: a report that could not
    be had.
    """
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
