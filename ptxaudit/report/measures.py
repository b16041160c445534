"""The figures of a kernel that are compared between builds: one table for diffs, limits, matrices and histories.

    MEASURES["registers"].of(kernel)        ->  40
    MEASURES["spills"].of(kernel)           ->  2,008 bytes, None where the machine code does not say
    MEASURES["float"].of(kernel)            ->  64 instructions of that class (`mix`)

An unknown figure is None. Sums over the launch are known if every site of the kernel is settled, ways if those of every
site are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.hardware.opcode_classes import CLASSES
from ptxaudit.report.mix import mean_width
from ptxaudit.report.model import Kernel, Site, Totals

Figure = int | float


class Measure(Record):
    """name: in limits; words: what the figure counts, for people ("bytes of stack"); less_is_worse: it should not
    fall; summed: several kernels are combined by their sum, else by the worst of them; least: a lower bound, also where
    the figure is unknown, if there is one."""

    name: str
    words: str
    of: Callable[[Kernel], Figure | None]
    less_is_worse: bool = False
    summed: bool = True
    least: Callable[[Kernel], Figure | None] = lambda kernel: None


def _ways_of(site: Site) -> tuple[int, int | None]:
    """Bounds of the most ways of a request; the upper one None where there is none."""
    if site.status is Status.UNREACHED:
        return (0, 0)
    if site.ways is not None and site.alike:
        return (site.ways, site.ways)
    excess = site.excess_per_request
    return (0, 1 if excess is not None and excess.high == 0 else None)


def _counted(kernel: Kernel) -> list[tuple[int, int | None]]:
    """`_ways_of` for each site except cp.async.cg, which is counted in steps."""
    return [_ways_of(site) for site in kernel.sites if site.line_class_max is None]


def _ways(kernel: Kernel) -> int | None:
    """The most ways of any request, if they are known of all sites."""
    highs = [high for _, high in _counted(kernel)]
    known = [high for high in highs if high is not None]
    return max(known, default=None) if len(known) == len(highs) else None


def _settled(figure: Callable[[Totals], int | None], kernel: Kernel) -> int | None:
    """A sum over the launch, if it covers every site."""
    return figure(kernel.totals) if kernel.launch is not None and kernel.totals.complete else None


def _of_memory(figure: str, kernel: Kernel) -> int | None:
    """A sum over the accesses to global and local memory in the launch, if all of them are settled."""
    if kernel.launch is None or not kernel.memory or not all(site.settled for site in kernel.memory):
        return None
    return sum(getattr(site, figure) or 0 for site in kernel.memory)


def _open(kernel: Kernel) -> int | None:
    """The number of sites that are not settled in the launch."""
    return None if kernel.launch is None else sum(not site.settled for site in kernel.sites)


def _of_class(name: str, kernel: Kernel) -> int | None:
    return None if kernel.mix is None else kernel.mix.get(name, 0)


def _width(space: str, kernel: Kernel) -> float | None:
    return None if kernel.code is None else mean_width(kernel.code.opcodes, (space,))


PAID = ("wavefronts", "excess")
SECTORS = ("sectors", "sectors-excess")
RESOURCES = ("registers", "shared", "instructions", "stack", "spills", "barriers")
WIDTHS = ("shared-width", "global-width")

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("wavefronts", "wavefronts", partial(_settled, lambda totals: totals.wavefronts)),
        Measure("excess", "excess wavefronts", partial(_settled, lambda totals: totals.excess)),
        Measure("sectors", "sectors of global and local memory", partial(_of_memory, "sectors")),
        Measure("sectors-excess", "sectors in excess", partial(_of_memory, "sectors_excess")),
        Measure(
            "ways",
            "ways",
            _ways,
            summed=False,
            least=lambda kernel: max((low for low, _ in _counted(kernel)), default=None),
        ),
        Measure("open", "sites of unknown cost", _open),
        Measure("registers", "registers", lambda kernel: kernel.registers, summed=False),
        Measure("shared", "bytes of static shared memory", lambda kernel: kernel.shared_static, summed=False),
        Measure("instructions", "instructions", lambda kernel: kernel.instructions),
        Measure("stack", "bytes of stack", lambda kernel: kernel.stack, summed=False),
        Measure("spills", "bytes of spills", lambda kernel: kernel.spills.everywhere if kernel.spills else None),
        Measure("barriers", "barriers", lambda kernel: kernel.barriers, summed=False),
        Measure(
            "occupancy",
            "% occupancy",
            lambda kernel: kernel.occupancy.percent if kernel.occupancy else None,
            less_is_worse=True,
            summed=False,
        ),
        Measure(
            "shared-width",
            "bytes per access to shared memory",
            partial(_width, "shared"),
            less_is_worse=True,
            summed=False,
        ),
        Measure(
            "global-width",
            "bytes per access to global memory",
            partial(_width, "global"),
            less_is_worse=True,
            summed=False,
        ),
        *(Measure(name, f"{name} instructions", partial(_of_class, name)) for name in CLASSES),
    )
}


def combined(measure: Measure, figures: Iterable[Figure]) -> Figure:
    """Combines the known figures of several kernels. Raises ValueError if there are none."""
    return sum(figures) if measure.summed else min(figures) if measure.less_is_worse else max(figures)
