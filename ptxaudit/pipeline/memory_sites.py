"""Turns accesses to global and local memory into sites, so that the engine examines them.

    LDG.E R2, desc[UR4][R2.64+0x8]           Site(of="global"), at R2:R3 + 8
    LDGSTS.E.BYPASS.128 [R9], [R14.64]       with every memory requested, two instructions at one place: the first with
                                             a site for what it reads, the second unchanged, with its shared-memory site
    LD.E R5, [R2.64]                         a generic access may refer to any memory, and is a site of each that is
                                             requested

Before: the function as lifted, with sites in shared memory only. After: the same code with sites in the requested
memories; the function itself if only shared memory is requested.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from ptxaudit.hardware.accesses import with_access
from ptxaudit.ir import nodes as ir

Memory = Literal["shared", "global", "local"]
EVERY: tuple[Memory, ...] = ("shared", "global", "local")
_ACCESSES = ("load", "store", "atom")


def memories(space: str) -> tuple[Memory, ...]:
    """The memories that `--space` selects."""
    return EVERY if space == "all" else tuple(one for one in EVERY if one == space)


def with_sites(function: ir.Function, wanted: Sequence[Memory]) -> ir.Function:
    """The function with a site for each access to the wanted memories."""
    if tuple(wanted) == ("shared",):
        return function
    starts: list[int] = []
    out: list[ir.Instruction] = []
    origin: list[tuple[str, int]] = []
    for i in function.instructions:
        starts.append(len(out))
        sites = [site for of in wanted if (site := site_of(i, of)) is not None]
        if _without_meaning(i) is not None:  # a fragment's access is expanded later and has one site
            sites = sites[:1]
        for site in sites[1:]:
            out.append(_beside(i, site, len(out)))
        out.append(replace(i, index=len(out), site=sites[0] if sites else None))
        origin += [function.origin_of(i.index)] * (len(out) - len(origin))
    starts.append(len(out))
    if len(out) == len(function.instructions):
        return replace(function, instructions=tuple(out))
    moved = tuple(_moved(i, starts) for i in out)
    return replace(function, instructions=moved, origin=tuple(origin))


def site_of(instruction: ir.Instruction, of: Memory) -> ir.Site | None:
    """The site of an instruction in a memory; None where it does not access it."""
    if of == "shared":
        return instruction.site
    site = _site_beside(instruction, of)
    return None if site is None else with_access(site, instruction.ops)


def _site_beside(instruction: ir.Instruction, of: Memory) -> ir.Site | None:
    """The site in a memory other than shared memory, without its access."""
    site = instruction.site
    if site is not None and site.source is not None:
        return _source(site) if of == "global" else None
    for op in instruction.ops:
        if op.name in _ACCESSES and op.src and (op.space == of or op.space == "generic" and not _never(site)):
            space = of if op.space == of else "generic"
            return ir.Site(instruction.opcode, op.src[0], op.offset, space, instruction.guard, of=of)
    found = _without_meaning(instruction)
    if found is None or found.space != of and not (found.space == "generic" and of == "global"):
        return None
    return ir.Site(
        instruction.opcode,
        found.src[0] if found.src else ir.Unknown(f"no meaning for {instruction.opcode}", 64),
        found.offset,
        "generic" if found.space == "generic" else of,
        instruction.guard,
        unscored=site.unscored if site is not None else "",
        of=of,
    )


def _without_meaning(instruction: ir.Instruction) -> ir.Op | None:
    """The access of an unmodelled instruction, as lifters state it: its lanes' addresses are unknown or, for a
    fragment, not known one by one."""
    return next((op for op in instruction.ops if op.name == "opaque" and op.space), None)


def _never(site: ir.Site | None) -> bool:
    return site is not None and bool(site.unscored)


def _source(site: ir.Site) -> ir.Site:
    """The site of what an asynchronous copy reads. Where the copy bypasses L1, its destination determines the
    sectors."""
    return replace(
        site,
        address=site.source,
        offset=site.source_offset,
        space="global",
        source=site.address,
        source_offset=site.offset,
        of="global",
    )


def _beside(instruction: ir.Instruction, site: ir.Site, index: int) -> ir.Instruction:
    """An instruction that only accesses the site, with the operations that compute its address."""
    ops: list[ir.Op] = []
    for op in instruction.ops:
        if op.name in _ACCESSES or not op.dst:
            break
        ops.append(op)
    return replace(instruction, index=index, ops=tuple(ops), control=None, site=site)


def _moved(instruction: ir.Instruction, starts: list[int]) -> ir.Instruction:
    """The instruction with its control targets renumbered."""
    control = instruction.control
    if control is None or not (control.targets or control.choices):
        return instruction
    return replace(
        instruction,
        control=replace(
            control,
            targets=tuple(starts[target] for target in control.targets),
            choices=tuple(starts[choice] for choice in control.choices),
        ),
    )
