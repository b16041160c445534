"""Decodes the opcode of a site to its access, once, when the site is lifted: later stages read no opcodes.

Site("cp.async.ca.shared.global 8", …, source_size=%r1)   access: cp.async, 8 bytes per lane, some may be zeros
Site("ATOMS.FOO", …)                                      access: None; no_rule: opcode 'ATOMS.FOO': …
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.hardware import banks
from ptxaudit.hardware.memory import opcodes as memory
from ptxaudit.ir.access import Access
from ptxaudit.ir.nodes import Const, Op, Site

_ORDERED = frozenset(("STRONG", "MMIO", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"))
_PAST_L1 = frozenset(("cg", "BYPASS"))


def with_access(site: Site, ops: Iterable[Op]) -> Site:
    """The site with its access, or the reason why there is no rule for its opcode. ops: of its instruction."""
    if not _ORDERED.isdisjoint(site.opcode.split(".")):
        site = replace(site, ordered=True)
    try:
        access = memory.classify(site.opcode, site.of) if site.of != "shared" else _shared(site, ops)
    except InputError as error:
        word = ".".join(site.opcode.split()[0].split(".")[:2]).lower()
        return replace(site, access=None, no_rule=error.what, word=word)
    return replace(site, access=access, no_rule="")


def _shared(site: Site, ops: Iterable[Op]) -> Access:
    access = banks.classify(site.opcode, _added(ops))
    fills = access.access == "cp.async" and not (site.ignore is None and site.source_size is None)
    return _filling(access) if fills and not access.zero_fill else access


def is_past_l1(opcode: str) -> bool:
    """Whether the opcode of a copy, which is all that a report has, is a cp.async.cg, whose cost no counter sees."""
    return not _PAST_L1.isdisjoint(opcode.split("."))


@cache
def of_width(access: Access, width: int) -> Access:
    """A plain load or store of shared memory with `width` bytes."""
    loads = access.operation == "load"
    if access.isa == "sass":
        return banks.classify(("LDS" if loads else "STS") + ("" if width == 4 else f".{8 * width}"))
    sized = f"v{width // 4}.b32" if width > 4 else f"b{8 * width}"
    return banks.classify(f"{'ld' if loads else 'st'}.shared.{sized}")


def as_cached_copy(copy: Access) -> Access:
    """An asynchronous copy as cp.async.ca."""
    return banks.classify(f"cp.async.ca.shared.global {copy.width}")


@cache
def _filling(access: Access) -> Access:
    """The access with zero_fill; cached, so that equal accesses are one object and caches by access find it again."""
    return replace(access, zero_fill=True)


def _added(ops: Iterable[Op]) -> int | None:
    """The constant that an atomic operation combines with memory, if the instruction has one."""
    for op in ops:
        if op.name == "atom" and len(op.src) > 1 and isinstance(op.src[1], Const):
            return op.src[1].value
    return None
