"""Writes the machine code that ptxas made of each PTX access, by source line, if a report has both.

machine code that ptxas made of k (sm_90)
  place   PTX                became        machine code
  k.cu:3  st.shared.f32 ×4   merged ×4     STS.128 at +0x0150
  k.cu:6  ld.shared.f32      unrolled ×16  LDS ×16 at +0x0170 … +0x02c0
  k.cu:9  ld.shared.v4.f32   kept          LDS.128 at +0x02e0
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ptxaudit.report.model import Kernel, Pairing, Report, Site
from ptxaudit.report.paths import place

COLUMNS = ("place", "PTX", "became", "machine code")
ABSENT = "–"
BY_POSITION = "paired by source position and order: this machine code has no map to its PTX"


def pairs_text(report: Report) -> list[str]:
    """A block for each kernel that the report has in both instruction sets."""
    return ["\n".join(lines) for lines in map(_block, report.kernels, [report] * len(report.kernels)) if lines]


def _block(kernel: Kernel, report: Report) -> list[str]:
    pairings = list(dict.fromkeys(site.pairing for site in kernel.sites if site.pairing))
    if kernel.isa != "sass" or not pairings:
        return []
    launch = repr(kernel.launch)
    partner = next(
        (k for k in report.kernels if k.isa == "ptx" and k.name == kernel.name and repr(k.launch) == launch), None
    )
    if partner is None:
        return []
    pairings += [
        p for p in dict.fromkeys(site.pairing for site in partner.sites if site.pairing) if p.what == "deleted"
    ]
    lines = [f"machine code that ptxas made of {kernel.demangled} ({kernel.arch})"]
    if any(pairing.by == "position" for pairing in pairings):
        lines.append(f"  {BY_POSITION}")
    rows = [COLUMNS, *_rows(pairings, partner, kernel)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(COLUMNS))]
    return lines + [
        ("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip() for row in rows
    ]


def _rows(pairings: Sequence[Pairing], ptx: Kernel, sass: Kernel) -> Iterator[tuple[str, ...]]:
    """One row for all accesses at a place that became the same."""
    ours, theirs = {site.id: site for site in ptx.sites}, {site.id: site for site in sass.sites}
    groups: dict[tuple[str, tuple[str, ...], str, tuple[str, ...]], list[tuple[list[Site], list[Site], Pairing]]] = (
        defaultdict(list)
    )
    for pairing in pairings:
        left, right = (
            [known[name] for name in names if name in known]
            for known, names in ((ours, pairing.ptx), (theirs, pairing.sass))
        )
        if left or right:
            key = (
                place(*((left[0], ptx) if left else (right[0], sass))),
                _opcodes(left),
                became(pairing),
                _opcodes(right),
            )
            groups[key].append((left, right, pairing))
    order = {site.id: at for at, site in enumerate((*ptx.sites, *sass.sites))}
    for (where, _, what, _), members in sorted(
        groups.items(), key=lambda item: order[(*item[1][0][2].ptx, *item[1][0][2].sass)[0]]
    ):
        left = [site for some, _, _ in members for site in some]
        right = sorted((site for _, some, _ in members for site in some), key=lambda site: site.offset or 0)
        yield where, _counted(left), what, _counted(right) + _offsets(right)


def became(pairing: Pairing) -> str:
    """ "merged ×4", "kept, hoisted out of a loop"."""
    text = pairing.what + (f" ×{pairing.times}" if pairing.times > 1 else "")
    return text + (", hoisted out of a loop" if pairing.hoisted else "")


def _opcodes(sites: list[Site]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(site.opcode for site in sites))


def _counted(sites: list[Site]) -> str:
    if not sites:
        return ABSENT
    names = [site.opcode for site in sites]
    return ", ".join(
        name + (f" ×{names.count(name)}" if names.count(name) > 1 else "") for name in dict.fromkeys(names)
    )


def _offsets(sites: list[Site]) -> str:
    if not sites:
        return ""
    first, last = f"+{sites[0].offset:#06x}", f"+{sites[-1].offset:#06x}"
    return f" at {first}" if first == last else f" at {first} … {last}"
