"""None of the specified launches reaches a shared-memory access, so that its cost is unknown.

The figures of a report apply to its launches. A site behind `if (n > 1024)` that no launch takes
costs nothing in them, but may conflict in the launch that matters. A site is not judged if it is
unknown whether a launch reaches it.

What to do
- Add a launch that takes the branch to the launch file.
- Or delete the code, if nothing takes it.
Compilers copy lines: the remainder of an unrolled loop may never run while its body does. A line
counts as reached if any copy of it is.
"""

from collections import defaultdict
from collections.abc import Iterator

from ptxaudit.base.status import Status
from ptxaudit.base.words import plural
from ptxaudit.report.model import Kernel, Report, Site
from ptxaudit.review.findings import Certainty, Finding
from ptxaudit.review.rules import Example, Rule


def check(report: Report) -> Iterator[Finding]:
    launched: dict[object, list[Kernel]] = defaultdict(list)
    for kernel in report.kernels:
        if kernel.launch:
            launched[kernel.input, kernel.name, kernel.isa, kernel.arch].append(kernel)
    for kernels in launched.values():
        sites = [site for kernel in kernels for site in kernel.sites]
        reached = {_line(site) for site in sites if site.requests}
        perhaps = {_line(site) for site in sites if site.requests is None and site.status is not Status.UNREACHED}
        for site in kernels[0].sites:
            if _line(site) in reached:
                continue
            if _line(site) in perhaps:
                what = f"{site.opcode}: whether a launch reaches it is unknown"
                yield Finding("PA010", what, kernels[0], site, certainty=Certainty.UNKNOWN)
            else:
                yield Finding("PA010", _what(site, len(kernels)), kernels[0], site)


def _line(site: Site) -> object:
    """What the copies of an access share: its line and inline stack; without a line, its own id."""
    if site.source is None:
        return site.id
    return (
        site.source.file,
        site.source.line,
        site.access,
        tuple((frame.file, frame.line) for frame in site.source.inlined),
    )


def _what(site: Site, launches: int) -> str:
    why = f": {site.reason}" if site.reason else ""
    return f"{site.opcode}: not reached by {plural(launches, 'launch', 'launches')}{why}"


_SOURCE = """
extern "C" __global__ void sum(float* out, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    float v = s[threadIdx.x ^ 1];
    if (n > 1024) v += s[threadIdx.x ^ 2];
    out[threadIdx.x] = v;
}
"""

RULE = Rule(
    id="PA010",
    name="unreached",
    title="Site not reached by any launch",
    level="note",
    check=check,
    concerns=lambda kernel, site: kernel.launch is not None,
    example=Example(
        triggers=_SOURCE,
        clean=_SOURCE,
        options={"launches": [{"kernel": "sum", "grid": (1,), "block": (32,), "params": (None, 1024)}]},
        clean_options={
            "launches": [{"kernel": "sum", "grid": (1,), "block": (32,), "params": (None, n)} for n in (1024, 2048)]
        },
    ),
)
