"""What a page shows in addition to the report: the text of the sources, and the instructions of the kernels.

gather(report, roots, book) ->  Material(sources={"/src/k.cu": "__global__ …"}, codes={("k.cu", "k", "ptx", "sm_90"):
(CodeLine(…), …)})
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ptxaudit.frontend.source_files import Roots
from ptxaudit.pipeline.code_lines import CodeBook, CodeLine, Key, key_of
from ptxaudit.report.model import AnySite, Kernel, Report, Source

MOST_READ = 64  # kernels whose code is read again, the costliest first


@dataclass(frozen=True)
class Material:
    """sources: the text of each file, by its name in the report. codes: the instructions of kernels."""

    sources: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[Key, tuple[CodeLine, ...]] = field(default_factory=dict)


def gather(report: Report, roots: Roots, book: CodeBook) -> Material:
    """Reads the sources that may be shown, and the code that was kept or can be read again."""
    book.read([kernel for kernel in costliest(report.kernels) if kernel.sites or kernel.memory][:MOST_READ])
    codes = {key_of(kernel): code for kernel in report.kernels if (code := book.code(kernel))}
    sources = {}
    for file in dict.fromkeys(files_of(report)):
        text = roots.read(file)
        if text is not None:
            sources[file] = text.decode("utf-8", "replace")
    return Material(sources, codes)


def costliest(kernels: Iterable[Kernel]) -> list[Kernel]:
    """The kernels by excess, then by number of sites without an exact figure, greatest first."""
    return sorted(kernels, key=lambda kernel: (-kernel.totals.excess, -sum(not site.settled for site in kernel.sites)))


def files_of(report: Report) -> Iterator[str]:
    """The source files that contain sites, or code that sites are inlined into."""
    for source in _sources(report):
        yield source.file
        yield from (frame.file for frame in source.inlined)


def _sources(report: Report) -> Iterator[Source]:
    for kernel in report.kernels:
        every: tuple[AnySite, ...] = (*kernel.sites, *kernel.memory)
        yield from (site.source for site in every if site.source is not None)
