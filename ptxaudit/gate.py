"""Decides whether a report may pass: `--fail-on excess=N`, `ways=N`, `total-excess=N`.

A limit is met by the figure N or more. excess and ways are of one request of one site;
total-excess is of one kernel and launch. 0 means the same as the smallest figure that is a
conflict at all: excess=1, ways=2, total-excess=1.

    exact, invariant                        judged by their figure
    conditional, bounded, data-dependent    denied when the proved lower end meets the limit already
    unknown, and upper ends                 not judged: counted, and denied with --strict
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ptxaudit.errors import InputError
from ptxaudit.figures import Interval, excess_of_request, total_excess, ways
from ptxaudit.report import Kernel, Report, Site


@dataclass(frozen=True)
class Limit:
    """One --fail-on. name: "excess" | "ways" | "total-excess"."""

    name: str
    figure: int

    def __str__(self) -> str:
        return f"{self.name}={self.figure}"


@dataclass(frozen=True)
class Denial:
    """What a limit denies. site: None for a whole kernel. certain: False where only --strict denies it."""

    limit: Limit
    kernel: Kernel
    site: Site | None
    what: str
    certain: bool = True


@dataclass(frozen=True)
class Verdict:
    """unjudged: sites that no limit could judge."""

    denials: tuple[Denial, ...]
    unjudged: int
    sites: int


# the smallest figure that is a conflict
_LEAST = {"excess": 1, "ways": 2, "total-excess": 1}


def parse_limit(text: str) -> Limit:
    """"ways=4" -> Limit("ways", 4). Raises InputError."""
    name, _, number = text.partition("=")
    if name not in _LEAST or not number.isdecimal():
        raise InputError(f"--fail-on {text} is no rule", "write excess=N, ways=N or total-excess=N with a whole number N")
    return Limit(name, max(int(number), _LEAST[name]))


def judge(report: Report, limits: Iterable[Limit], strict: bool = False) -> Verdict:
    """Holds every kernel and site against every limit."""
    limits = tuple(limits)
    denials: list[Denial] = []
    unjudged: set[int] = set()
    for kernel in report.kernels:
        for limit in limits:
            if limit.name == "total-excess":
                denials += _judge_kernel(kernel, limit)
                continue
            for site in kernel.sites:
                denial = _judge_site(kernel, site, limit)
                if denial is not None:
                    denials.append(denial)
                    if not denial.certain:
                        unjudged.add(id(site))
        if any(limit.name == "total-excess" for limit in limits):
            unjudged |= {id(site) for site in kernel.sites if total_excess(site)[1] is None}
    shown = tuple(denial for denial in denials if denial.certain or strict)
    return Verdict(shown, len(unjudged), len(report.sites))


def _judge_site(kernel: Kernel, site: Site, limit: Limit) -> Denial | None:
    low, high = FIGURES[limit.name](site)
    if low >= limit.figure:
        return Denial(limit, kernel, site, f"{limit.name} is {_text(low, high)}")
    if high is None or high >= limit.figure:
        return Denial(limit, kernel, site, f"{limit.name} may be {_text(low, high)}", certain=False)
    return None


def _judge_kernel(kernel: Kernel, limit: Limit) -> Iterable[Denial]:
    figures = [total_excess(site) for site in kernel.sites]
    low = sum(figure[0] for figure in figures)
    high = None if any(figure[1] is None for figure in figures) else sum(figure[1] or 0 for figure in figures)
    if low >= limit.figure:
        yield Denial(limit, kernel, None, f"{limit.name} is {_text(low, high)}")
    elif high is None or high >= limit.figure:
        yield Denial(limit, kernel, None, f"{limit.name} may be {_text(low, high)}", certain=False)


def _text(low: int, high: int | None) -> str:
    if high is None:
        return f"{low:,} or more"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


FIGURES: dict[str, Callable[[Site], Interval]] = {"excess": excess_of_request, "ways": ways}
