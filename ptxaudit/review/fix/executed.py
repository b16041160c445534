"""Whether the comparison of requests has seen all code that may access an array.

    if (n > 64) { float* flat = &tile[0][0]; … flat[32 * y + x] … }    never reached with n = 32: its requests are
                                                                       not compared, and longer rows would break it

An access that names an element by all its indices means the same element under any layout, whether it was executed or
not. Pointers into an array do not: where the source has some, every site of every kernel that may access the array must
be among the compared ones, or a copy of one (the rest of an unrolled loop): the same access of the same line.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxaudit.base.status import Status
from ptxaudit.pipeline.kernels import Examined
from ptxaudit.report.model import Site
from ptxaudit.review.fix.arrays import place_of
from ptxaudit.review.fix.candidates import candidates_of
from ptxaudit.review.fix.declared import declared
from ptxaudit.review.fix.name_uses import loose
from ptxaudit.review.fix.reach import reach
from ptxaudit.review.fix.repairs import ArrayRepairs


def not_compared(one: ArrayRepairs, kernels: Sequence[Examined], all_kernels: bool) -> str:
    """The reason if code that may access the array through a pointer was not executed, or nothing is known about it;
    "" if there is none. kernels: all that were examined; all_kernels: they are all of the inputs."""
    found = one.declared
    if found is None:
        return ""
    lines = [a.line for a in found.text.accesses(found.declaration) if loose(a, found.declaration) and not a.of_size]
    if not lines:
        return ""
    pointer = f"line {lines[0]} uses a pointer into {found.declaration.name}"
    if not all_kernels and not found.declaration.function:
        return f"{pointer}, and other kernels may access it (--kernel selects some)"
    sites: dict[tuple[str | int, ...], tuple[bool, str]] = {}
    for examined in kernels:
        for key, seen, place in _sites(examined, one):
            sites[key] = seen or sites.get(key, (False, ""))[0], place
    unseen = next((place for seen, place in sites.values() if not seen), None)
    return f"{pointer}, and {unseen}, so that its requests were not compared" if unseen is not None else ""


def _sites(examined: Examined, one: ArrayRepairs) -> list[tuple[tuple[str | int, ...], bool, str]]:
    """(the access in the source, whether its requests are known, its place in words) of the sites of a kernel that may
    access the array."""
    place = one.declared.place if one.declared is not None else None
    variables = [name for name, found in declared(examined).items() if found.place == place]
    if not variables:
        return []
    known = {
        use.index
        for candidate in candidates_of(examined)
        if candidate.array.variable in variables and not candidate.array.refused
        for use in candidate.array.uses
    }
    where, kernel = reach(examined.function), examined.entry.demangled
    return [
        (
            _access(site, examined, result.index),
            result.index in known,
            f"{kernel} {'does not execute' if result.status is Status.UNREACHED else 'may access it in'}"
            f" {place_of(site)}",
        )
        for result, site in examined.of_shared
        if any(where.may_touch(result.index, name) for name in variables)
    ]


def _access(site: Site, examined: Examined, index: int) -> tuple[str | int, ...]:
    """What the copies of one access have in common."""
    if site.source is None:
        return examined.entry.input, examined.entry.name, index
    return site.source.file, site.source.line, site.opcode
