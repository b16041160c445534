"""Machine code splits an access that is one vector in the source.

ptxas splits a vector access if it cannot prove the alignment, or keeps only the elements that are
used. A 16-byte load by neighbouring lanes is free of conflicts; its four 4-byte pieces, at a stride
of 16 bytes, take four wavefronts each. The rule needs both views of one compilation, `--isa both`;
vectors of PTX alone are not judged.

What to do
- State the alignment: `alignas(16)` on the array, `__builtin_assume_aligned` on a pointer.
- Use all elements of the vector, or load only those needed, with a layout that suits them.
"""

from collections import defaultdict
from collections.abc import Iterator

from ptxaudit.base.status import Status
from ptxaudit.base.words import plural
from ptxaudit.report.counterparts import partners
from ptxaudit.report.model import Kernel, Report, Site
from ptxaudit.review.figures import total_excess
from ptxaudit.review.findings import Certainty, Finding
from ptxaudit.review.rules import Example, Rule

WORD = 4  # bytes: the width of a bank


def check(report: Report) -> Iterator[Finding]:
    machine = {ptx: report.kernels[sass] for ptx, sass in partners(report.kernels)}
    for at, kernel in enumerate(report.kernels):
        partner = machine.get(at)
        if kernel.isa == "ptx":
            alone = (_open(kernel, site) for site in kernel.sites if concerned(kernel, site))
            yield from _split(kernel, partner) if partner else alone


def concerned(kernel: Kernel, site: Site) -> bool:
    """A vector access in the PTX."""
    return kernel.isa == "ptx" and (site.width or 0) > WORD


def _open(kernel: Kernel, vector: Site) -> Finding:
    what = f"{vector.opcode}: its machine code is unknown (--isa both)"
    return Finding("PA007", what, kernel, vector, certainty=Certainty.UNKNOWN)


def _split(ptx: Kernel, sass: Kernel) -> Iterator[Finding]:
    by_id, by_place = {site.id: site for site in sass.sites}, _by_place(sass)
    for vector in (site for site in ptx.sites if concerned(ptx, site)):
        width = vector.width or 0
        if vector.pairing is not None:
            became = [by_id[name] for name in vector.pairing.sass if name in by_id]
        else:
            became = by_place.get(_place(vector), []) if vector.source else []
        widest = max((site.width or 0 for site in became), default=0)
        if not widest and (vector.pairing is None or vector.pairing.what != "deleted"):
            yield _open(ptx, vector)
        if 0 < widest < width:
            opcode = next(site.opcode for site in became if site.width == widest)
            what = (
                f"{vector.opcode}: machine code has {plural(len(became), 'access', 'accesses')} of at most"
                f" {widest} bytes ({opcode})"
            )
            yield Finding(
                "PA007", what + _cost(vector, became), ptx, vector, weight=sum(total_excess(site)[0] for site in became)
            )


def _cost(vector: Site, became: list[Site]) -> str:
    """The cost of the pieces and of the vector, where both are known."""
    pieces = [0 if site.status is Status.UNREACHED else site.wavefronts for site in became]
    if vector.wavefronts is None or None in pieces or vector.pairing is None or len(vector.pairing.ptx) > 1:
        return ""
    return f": {plural(sum(piece or 0 for piece in pieces), 'wavefront')}, as a vector {vector.wavefronts:,}"


def _by_place(kernel: Kernel) -> dict[object, list[Site]]:
    """The sites by source position, inline stack and access, without those that have no position."""
    places: dict[object, list[Site]] = defaultdict(list)
    for site in kernel.sites:
        if site.source:
            places[_place(site)].append(site)
    return places


def _place(site: Site) -> object:
    source = site.source
    return source and (
        source.file,
        source.line,
        tuple((frame.file, frame.line) for frame in source.inlined),
        site.access,
    )


_SOURCE = """
extern "C" __global__ void half_used(float* out) {
    __shared__ alignas(16) float tile[128];
    for (int i = threadIdx.x; i < 128; i += 32) tile[i] = i;
    __syncthreads();
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"((unsigned)__cvta_generic_to_shared(&tile[threadIdx.x * 4])));
    out[threadIdx.x] = USED;
}
"""

RULE = Rule(
    id="PA007",
    name="split-access",
    title="Vector access split by ptxas",
    level="warning",
    check=check,
    concerns=concerned,
    example=Example(
        triggers=_SOURCE.replace("USED", "v.x"),
        clean=_SOURCE.replace("USED", "v.x + v.y + v.z + v.w"),
        options={"isa": "both", "launches": [{"kernel": "half_used", "grid": (1,), "block": (32,)}]},
    ),
)
