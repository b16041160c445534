"""Finds the kernels that a report has twice, as PTX and as the machine code made of it.

k.ptx: f, g    k.cubin: f     partners: the PTX and the machine code of f; each_once: f as machine code, g as PTX
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import TypeVar

from ptxaudit.report.entries import Kernel

Of = TypeVar("Of")


def partners(kernels: Sequence[Kernel]) -> Iterator[tuple[int, int]]:
    """Indices of the PTX and the machine code of one kernel and launch: the PTX of the same architecture, else the
    only PTX."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for at, kernel in enumerate(kernels):
        groups[kernel.name, repr(kernel.launch), stem(kernel.input)].append(at)
    for group in groups.values():
        ptx = [at for at in group if kernels[at].isa == "ptx"]
        for sass in group:
            if kernels[sass].isa == "sass" and ptx:
                same = [at for at in ptx if _number(kernels[at].arch) == _number(kernels[sass].arch)]
                if same or len(ptx) == 1:
                    yield (same or ptx)[0], sass


def each_once(of: Iterable[Of], kernel: Callable[[Of], Kernel]) -> list[Of]:
    """The items, each of which belongs to a kernel, without those of PTX whose machine code is there as well: sums over
    both would count the same accesses twice.
    """
    every = list(of)
    kernels = [kernel(one) for one in every]
    if len({one.isa for one in kernels}) < 2:
        return every
    twice = {ptx for ptx, _ in partners(kernels)}
    return [one for at, one in enumerate(every) if at not in twice]


def kernels_once(kernels: Iterable[Kernel]) -> list[Kernel]:
    """The kernels, without the PTX of those whose machine code is there as well."""
    return each_once(kernels, lambda kernel: kernel)


def stem(path: str) -> str:
    """What k.ptx and k.cubin in one folder share, which are two views of one compilation: the kernels of files with one
    stem are paired."""
    return str(PurePath(path).with_suffix("")) if path.endswith((".ptx", ".cubin")) else path


def _number(arch: str) -> str:
    return re.sub(r"\D", "", arch)
