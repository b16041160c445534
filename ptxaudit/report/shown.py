"""Makes a report's text safe to show: it moves no cursor, ends no line, and contains no command of a build service."""

from __future__ import annotations

from operator import attrgetter

from msgspec.structs import replace

from ptxaudit.base.printable import is_printable, record
from ptxaudit.report.model import Kernel, Report


def shown(raw: Report) -> Report:
    """The report with all text made safe to show; the same object if all of it is."""
    kernels = tuple([kernel if _is_fine(kernel) else record(kernel) for kernel in raw.kernels])
    kernels = raw.kernels if all(one is other for one, other in zip(kernels, raw.kernels)) else kernels
    rest = record(replace(raw, kernels=()))
    return raw if kernels is raw.kernels and rest == replace(raw, kernels=()) else replace(rest, kernels=kernels)


_of_kernel = attrgetter("name", "demangled", "input", "arch")
_of_site = attrgetter("id", "text", "opcode", "reason", "cause", "formula")


def _is_fine(kernel: Kernel) -> bool:
    """All strings of a kernel can be shown. They are checked at once, as a library has a hundred thousand sites."""
    strings = [*_of_kernel(kernel), *kernel.notes, *kernel.assumed]
    for site in kernel.sites:
        strings += _of_site(site)
        if site.conditions:
            strings += [condition.when for condition in site.conditions]
        strings += [case.when for case in site.cases]
        if site.pairing is not None:
            strings += [*site.pairing.ptx, *site.pairing.sass]
    for entry in kernel.memory:
        strings += _of_site(entry)
        strings += [condition.when for condition in entry.conditions]
        strings += [case.when for case in entry.cases]
    of_locals = (local.source for local in kernel.local)
    for source in [*(site.source for site in kernel.accesses), *of_locals]:
        if source is not None:
            strings += (source.file, source.text or "")
            for frame in source.inlined:
                strings += (frame.file, frame.function, frame.text or "")
    strings += [access.text for access in kernel.local]
    return is_printable("".join(strings)) and (kernel.launch is None or record(kernel.launch) is kernel.launch)
