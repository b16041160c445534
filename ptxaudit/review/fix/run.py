"""The whole of `ptxaudit fix`: inputs → kernels with their requests → arrays → proved repairs."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath, path
from typing import Any

from msgspec.structs import replace

from ptxaudit.base.version import __version__
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.collect import Part, Progress, silent, unmatched
from ptxaudit.pipeline.examine import examine
from ptxaudit.pipeline.kernels import Examined
from ptxaudit.report.model import Problem, Tool
from ptxaudit.review.fix.checked import checked
from ptxaudit.review.fix.repairs import ArrayRepairs, repairs_of
from ptxaudit.review.fix.report import FixReport, PatchEntry, array_entry
from ptxaudit.review.wanted import names, no_site


def find_repairs(
    inputs: Sequence[Any],
    options: Options,
    site: str | None = None,
    limit: int | None = None,
    progress: Progress = silent,
) -> tuple[list[ArrayRepairs], list[Examined], Part]:
    """The arrays with excess in the inputs, with their repairs; all kernels; and the part with the problems.

    site: as in `ptxaudit explain`: only the arrays that this one accesses. limit: bytes of shared memory per block
    after a repair. Raises InputError if no site matches.
    """
    part = Part()
    kernels = list(examine(inputs, replace(options, keep=True), part, progress))
    if not part.failed:
        part.problems += [Problem.of(error) for error in unmatched([(options, [part])])]
    wanted = _sites(site, kernels, part) if site is not None else None
    progress("looking for layouts")
    found = repairs_of(kernels, limit)
    if wanted is not None:
        found = [one for one in found if any((id(one.examined), use.index) in wanted for use in one.array.uses)]
    files = [given for given in inputs if _is_file(given)]
    return checked(found, kernels, files, options, progress), kernels, part


def _is_file(given: Any) -> bool:
    """It is the path of a file that can be compiled again."""
    return isinstance(given, (str, PathLike)) and fspath(given) != "-" and path.exists(given)


def fix(
    inputs: Sequence[Any],
    options: Options,
    site: str | None = None,
    limit: int | None = None,
    progress: Progress = silent,
) -> FixReport:
    """The results of `find_repairs` as a report."""
    found, _, part = find_repairs(inputs, options, site, limit, progress)
    return report_of(found, part)


def report_of(found: Sequence[ArrayRepairs], part: Part, patched: PatchEntry | None = None) -> FixReport:
    """The report of these results."""
    return FixReport(
        Tool("ptxaudit", __version__), tuple(part.inputs), tuple(map(array_entry, found)), tuple(part.problems), patched
    )


def _sites(wanted: str, kernels: Sequence[Examined], part: Part) -> set[tuple[int, int]]:
    """(id of the examined kernel, instruction) of the sites that `wanted` names."""
    every = [(examined, site, result) for examined in kernels for result, site in examined.of_shared]
    chosen = {(id(examined), result.index) for examined, site, result in every if names(wanted, site, examined.entry)}
    if not chosen and not part.problems:
        raise no_site(wanted, [(site, examined.entry) for examined, site, _ in every], part)
    return chosen
