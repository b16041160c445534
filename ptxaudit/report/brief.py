"""Parts of a report in one line, as Python shows them: a report of a thousand sites is a megabyte of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxaudit.base.places import line_of
from ptxaudit.base.words import cut_at, number, plural

if TYPE_CHECKING:
    from ptxaudit.report.model import Kernel, MemorySite, Report, Site

MOST_NAME = 80


def report_line(report: Report) -> str:
    """ "<Report: 2 kernels, 4 sites, 3,968 excess of 4,480 wavefronts>"."""
    facts = [plural(len(report.kernels), "kernel"), plural(len(report.every_site), "site")]
    sums = [kernel.totals for kernel in report.kernels]
    facts += _paid(sum(one.excess for one in sums), sum(one.wavefronts for one in sums))
    if memory := sum(len(kernel.memory) for kernel in report.kernels):
        facts.append(f"{plural(memory, 'site')} of other memory")
    if report.problems:
        facts.append(plural(len(report.problems), "problem"))
    return f"<Report: {', '.join(facts)}>"


def kernel_line(kernel: Kernel) -> str:
    """ "<Kernel float_32_pitch_32: sm_90 ptx, grid 2×2, block 32×32, 2 sites, 3,968 excess of 4,224 wavefronts>"."""
    facts = [f"{kernel.arch} {kernel.isa}"]
    if kernel.launch:
        facts.append(str(kernel.launch))
    facts += [plural(len(kernel.sites), "site"), *_paid(kernel.totals.excess, kernel.totals.wavefronts)]
    return f"<Kernel {cut_at(kernel.demangled, MOST_NAME)}: {', '.join(facts)}>"


def site_line(site: Site) -> str:
    """ "<Site transpose.cu:11 ld.shared.f32: exact, 4,096 wavefronts, ideal 128>"."""
    cost = "" if site.wavefronts is None else f", {number(site.wavefronts)} wavefronts, ideal {number(site.ideal)}"
    return f"<Site {_where(site)} {site.opcode}: {site.status}{cost}>"


def memory_site_line(site: MemorySite) -> str:
    """ "<MemorySite k.cu:4 ld.global.f32: exact, 256 sectors, ideal 128>"."""
    cost = "" if site.sectors is None else f", {number(site.sectors)} sectors, ideal {number(site.sectors_ideal)}"
    return f"<MemorySite {_where(site)} {site.opcode}: {site.status}{cost}>"


def _paid(excess: int, wavefronts: int) -> list[str]:
    return [f"{number(excess)} excess of {plural(wavefronts, 'wavefront')}"] if wavefronts else []


def _where(site: Site | MemorySite) -> str:
    if site.source is not None:
        return line_of(site.source)
    return f"PTX line {site.ptx_line}" if site.ptx_line is not None else f"+{site.offset or 0:#06x}"
