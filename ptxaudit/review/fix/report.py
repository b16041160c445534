"""The results as plain records and as JSON, `ptxaudit/fix/1`: `schemas/fix-1.schema.json` documents every key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptxaudit.base.records import Record
from ptxaudit.hardware.occupancy import Blocks
from ptxaudit.report.model import Input, LaunchRecord, Problem, Tool, plain
from ptxaudit.review.fix.candidates import Repair
from ptxaudit.review.fix.cost import Figure
from ptxaudit.review.fix.patch import Patch
from ptxaudit.review.fix.repairs import ArrayRepairs, sums_by_site

SCHEMA = "ptxaudit/fix/1"


class SiteFigure(Record):
    """The cost of one site of an array: wavefronts and excess are null if only a range (bounds) is known."""

    id: str
    wavefronts: int | None
    excess: int | None
    bounds: tuple[int, int] | None = None
    lines: int | None = None

    @property
    def most(self) -> int:
        """The upper bound of wavefronts."""
        return self.bounds[1] if self.bounds else self.wavefronts or 0


class Occupancy(Record):
    """Blocks per multiprocessor before and after, as limited by shared memory, threads and blocks; null if the limits
    are unknown."""

    before: Blocks | None
    after: Blocks | None


class RepairEntry(Record):
    """One proved repair. wavefronts, excess: of all sites of the array after it; bytes: added, negative if it needs
    fewer; instructions: additional ones per index, as written; optimum: no layout of the family does better;
    best_of_all: nor any other layout that keeps the vectors."""

    kind: str
    summary: str
    code: str
    bytes: int
    wavefronts: int | None
    excess: int | None
    bounds: tuple[int, int] | None
    proved: bool
    proved_for: str
    optimum: bool
    best_of_all: bool
    occupancy: Occupancy
    instructions: int
    sites: tuple[SiteFigure, ...]
    formula: str
    cute: str = ""
    triton: str = ""
    notes: tuple[str, ...] = ()
    compiled: bool = False


class Place(Record):
    """The place of an array's declaration."""

    file: str
    line: int
    text: str


class ArrayEntry(Record):
    """One shared array of a kernel under one launch. counted: "launch" (sums over it) or "request" (sums of each
    site's worst request); floor: the bound of wavefronts for all layouts that keep its vectors; refused: why nothing
    is proved, or null; ended: the steps after which the search ended with layouts untried, or null."""

    kernel: str
    demangled: str
    input: str
    isa: str
    arch: str
    launch: LaunchRecord | None
    name: str
    declared: Place | None
    bytes: int | None
    sites: tuple[str, ...]
    counted: str
    wavefronts: int | None
    excess: int | None
    bounds: tuple[int, int] | None
    floor: int | None
    refused: str | None
    hints: tuple[str, ...]
    figures: tuple[SiteFigure, ...]
    repairs: tuple[RepairEntry, ...]
    ended: int | None = None


class Change(Record):
    """One repair in the patch. wavefronts, excess: of the array's sites, from the audit of the changed source;
    instructions: of the kernel, before and after; machine_code: [wavefronts, instructions] of the whole kernel in
    machine code, before and after, null if unknown; provided: what other launches must satisfy, empty if nothing."""

    kernel: str
    array: str
    summary: str
    wavefronts: int | None
    excess: int | None
    bounds: tuple[int, int] | None
    instructions: tuple[int | None, int | None]
    machine_code: tuple[tuple[int, int], tuple[int, int]] | None
    provided: str = ""


class Left(Record):
    """An array whose source is not changed, and why."""

    kernel: str
    array: str
    reason: str


class PatchEntry(Record):
    """file: the path of the unified diff, null if nothing is changed."""

    file: str | None
    changes: tuple[Change, ...]
    left: tuple[Left, ...]


class FixReport(Record):
    """The results of one run; patch: null if none was requested."""

    tool: Tool
    inputs: tuple[Input, ...]
    arrays: tuple[ArrayEntry, ...]
    problems: tuple[Problem, ...]
    patch: PatchEntry | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **plain(self)}


def array_entry(found: ArrayRepairs) -> ArrayEntry:
    """The record of an array."""
    kernel, array = found.examined.entry, found.array
    sizes = [size for size in array.sizes if size]
    return ArrayEntry(
        kernel=kernel.name,
        demangled=kernel.demangled,
        input=kernel.input,
        isa=kernel.isa,
        arch=kernel.arch,
        launch=kernel.launch,
        name=" and ".join([array.name, *(other.name for other in array.others)]),
        declared=_place(found),
        bytes=sum(sizes) if sizes else None,
        sites=tuple(dict.fromkeys(use.site.id for use in array.uses)),
        counted="launch" if found.counted else "request",
        **_cost(found.now),
        floor=found.floor.low if found.floor else None,
        refused=found.refused or None,
        hints=found.hints,
        figures=site_figures(found, found.per_use),
        repairs=tuple(_repair(found, repair) for repair in found.repairs),
        ended=found.ended,
    )


def patch_entry(patched: Patch, file: str) -> PatchEntry:
    """The record of a patch that is written to a file."""
    changes = tuple(
        Change(
            one.found.examined.entry.name,
            one.found.array.name,
            one.repair.code.summary,
            **_cost(one.figure),
            instructions=one.instructions,
            machine_code=one.machine_code,
            provided=one.provided,
        )
        for one in patched.applied
    )
    left = tuple(Left(one.examined.entry.name, one.array.name, why) for one, why in patched.refused)
    return PatchEntry(file if patched.diff else None, changes, left)


def _cost(figure: Figure) -> dict[str, Any]:
    exact = figure.low == figure.high
    return {
        "wavefronts": figure.low if exact else None,
        "excess": figure.excess if exact else None,
        "bounds": None if exact else (figure.low, figure.high),
    }


def _place(found: ArrayRepairs) -> Place | None:
    if found.declared is None:
        return None
    declaration = found.declared.declaration
    return Place(declaration.file, declaration.line, " ".join(declaration.statement.text.split()))


def site_figures(found: ArrayRepairs, figures: Sequence[Figure]) -> tuple[SiteFigure, ...]:
    """The cost of each site of the array, from the figures of its uses."""
    sums = sums_by_site(found, figures).items()
    return tuple(SiteFigure(site, **_cost(figure), lines=figure.lines or None) for site, figure in sums)


def _repair(found: ArrayRepairs, repair: Repair) -> RepairEntry:
    code = repair.code
    return RepairEntry(
        kind=code.kind,
        summary=code.summary,
        code="\n".join(code_lines(found, repair)),
        bytes=repair.bytes,
        **_cost(repair.figure),
        proved=True,
        proved_for=repair.proved_for,
        optimum=repair.optimum,
        best_of_all=repair.floor,
        occupancy=Occupancy(repair.before, repair.after),
        instructions=code.instructions,
        sites=site_figures(found, repair.uses),
        formula=code.formula,
        cute=code.cute,
        triton=code.triton,
        notes=repair.also,
        compiled=repair.compiled,
    )


def code_lines(found: ArrayRepairs, repair: Repair) -> list[str]:
    """The code to write: the declaration, then each access expression in the source that changes."""
    code = repair.code
    lines = (
        [code.declaration] if code.declaration else [f"// byte x of {found.array.name} moves to byte {code.formula}"]
    )
    lines += code.extra
    if found.declared is None or code.element is None:
        return lines
    name, dims = found.array.name, len(found.declared.dims)
    accesses = found.declared.text.accesses(found.declared.declaration) if code.edits or not code.in_place else []
    pointers = dict.fromkeys(access.line for access in accesses if access.of_address and len(access.indices) == dims)
    notes = [
        f"// line {line} takes the address of an element of {name}: accesses through it are checked, other uses are not"
        for line in pointers
    ]
    if code.in_place:
        partly = dict.fromkeys(access.line for access in accesses if len(access.indices) < dims)
        rows = [f"// line {line} uses {name} without all its indices: rows are longer there as well" for line in partly]
        return [*lines, *rows, *notes]
    seen = {}
    for access in accesses:
        old = found.declared.text.text[access.start : access.end]
        new = code.element([index.text for index in access.indices])
        seen[old] = (
            f"{old}  ->  {new + ('.' + access.member if access.member else '')}"
            if new
            else f"{old}: index it by element first"
        )
    return [*lines, *seen.values(), *notes]
