"""Matches profiled launches with entries of a report, and compares all pairs.

    report    gemm<8> grid 4×4, gemm<8> grid 8×8, scan        ┐     (gemm<8> grid 8×8, its profile),
    profiles  void gemm<(int)8>(float*) grid 8×8, other       ┘ ─▶  other is in no report, scan was not profiled

Kernels match if their names do, up to spelling, and if the profile has an instruction of the same kind at every
site's offset: another build of the same source is rejected.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import structs

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.base.words import listing
from ptxaudit.report.model import Kernel, Report
from ptxaudit.review.compare import SCHEMA, Comparison, Profile, Verdict, compare
from ptxaudit.review.ncu_csv import simplified, spelled

_OPCODE = re.compile(r"(?:@!?\w+\s+)?(\w+)")


class Compared(Record):
    """unprofiled: kernels of the report without a profile; unaudited: profiled, but not in the report; problems: what
    could not be compared."""

    comparisons: tuple[Comparison, ...]
    unprofiled: tuple[str, ...]
    unaudited: tuple[str, ...]
    problems: tuple[InputError, ...]

    @property
    def differs(self) -> bool:
        return any(comparison.differs for comparison in self.comparisons)

    @property
    def counts(self) -> dict[Verdict, int]:
        every = [comparison.counts for comparison in self.comparisons]
        sums = {verdict: sum(counts.get(verdict, 0) for counts in every) for verdict in Verdict}
        return {verdict: count for verdict, count in sums.items() if count}

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "differs": self.differs,
            "counts": {str(verdict): count for verdict, count in self.counts.items()},
            "kernels": [comparison.to_dict() for comparison in self.comparisons],
            "unprofiled": list(self.unprofiled),
            "unaudited": list(self.unaudited),
            "problems": [str(problem) for problem in self.problems],
        }


def compare_all(report: Report, profiles: Sequence[Profile]) -> Compared:
    """Compares every profiled launch with its entry of the report.

    Raises InputError if the report has no machine code, or contains no kernel of the profile.
    """
    kernels = [kernel for kernel in report.kernels if kernel.isa == "sass"]
    if not kernels:
        raise InputError(
            "the report has no machine code, which is all that a profile counts",
            "audit the compiled file, or the source with --isa sass",
        )
    comparisons, unaudited = list[Comparison](), list[str]()
    problems = list[InputError]()
    entries = {profile.kernel: _of_name(kernels, profile.kernel) for profile in profiles}
    for name in entries:
        launches = [profile for profile in profiles if profile.kernel == name]
        for same, of_code in _by_code(entries[name], launches):
            launched = [profile for profile in of_code if any(_same_launch(kernel, profile) for kernel in same)]
            comparisons += _paired(same, launched)
            problems += _launched_otherwise(name, same, [one for one in of_code if one not in launched])
        other = next((one for one in launches if all(_other_code(kernel, one) for kernel in entries[name])), None)
        if entries[name] and other is not None:
            problems.append(
                InputError(
                    f"{name}: {_other_code(entries[name][0], other)}",
                    "the profile is of another build: audit the file that was profiled",
                )
            )
        elif not entries[name]:
            unaudited.append(name)
    if not comparisons and not problems:
        raise InputError(
            f"no kernel of the profile is in the report: {', '.join(unaudited[:4])}",
            "the report's kernels are " + ", ".join(dict.fromkeys(kernel.demangled for kernel in kernels)),
        )
    done = {comparison.kernel.name for comparison in comparisons}
    left = dict.fromkeys(kernel.demangled for kernel in kernels if kernel.name not in done and kernel.sites)
    return Compared(tuple(comparisons), tuple(left), tuple(unaudited), tuple(problems))


def _of_name(kernels: Iterable[Kernel], name: str) -> list[Kernel]:
    """The entries that a profiler's name refers to: mangled, or demangled in its own spelling; a name without
    template arguments refers to all instances."""
    spellings: list[Callable[[str], str]] = [lambda text: text, spelled, simplified]
    if "<" not in simplified(name):
        spellings.append(lambda text: simplified(text).split("<")[0])
    for alike in spellings:
        found = [kernel for kernel in kernels if alike(name) in (alike(kernel.name), alike(kernel.demangled))]
        if found:
            return found
    return []


def _other_code(kernel: Kernel, profile: Profile) -> str:
    """Where the profile's instructions differ from the report's; "" if nowhere."""
    texts = {entry.offset: entry.text for entry in profile.counted}
    for site in kernel.sites:
        text = texts.get(site.offset or 0)
        if text is not None and _kind(text) != _kind(site.text):
            return f"at {site.offset or 0:#x} the report has {_kind(site.text)}, the profile {_kind(text)}"
    beyond = [site for site in kernel.sites if (site.offset or 0) > max(texts, default=0)]
    return f"the profile ends before {beyond[0].offset:#x}" if beyond and texts else ""


def _by_code(kernels: Sequence[Kernel], launches: Sequence[Profile]) -> list[tuple[list[Kernel], list[Profile]]]:
    """Launches of one name, grouped with the entries that have their code: an autotuned kernel has several."""
    found: dict[tuple[int, ...], list[Profile]] = {}
    for launch in launches:
        fitting = [at for at, kernel in enumerate(kernels) if not _other_code(kernel, launch)]
        sure = [at for at in fitting if kernels[at].launch is not None and _same_launch(kernels[at], launch)]
        inputs = {kernels[at].input for at in sure}
        found.setdefault(tuple(at for at in fitting if not inputs or kernels[at].input in inputs), []).append(launch)
    return [([kernels[at] for at in fitting], of_code) for fitting, of_code in found.items() if fitting]


def _launched_otherwise(name: str, kernels: Sequence[Kernel], profiles: Sequence[Profile]) -> Iterable[InputError]:
    """The errors for profiled launches whose grid or block no entry has."""
    has = dict.fromkeys(_shape(one.launch.grid, one.launch.block) for one in kernels if one.launch is not None)
    for shape in dict.fromkeys(_shape(profile.grid, profile.block) for profile in profiles):
        yield InputError(
            f"{name}: profiled with {shape}, but launched with {listing(list(has))} in the report",
            "audit the launch that was profiled (--launch)",
        )


def _shape(grid: tuple[int, ...] | None, block: tuple[int, ...] | None) -> str:
    sizes = ("?" if size is None else "×".join(map(str, size)) for size in (grid, block))
    return "{} blocks of {} threads".format(*sizes)


def _kind(text: str) -> str:
    match = _OPCODE.match(text.strip())
    return match[1] if match else text


def _paired(kernels: Sequence[Kernel], profiles: Sequence[Profile]) -> Iterable[Comparison]:
    """Compares the launches of each shape in order if both sides have the same number of them; otherwise each with the
    entry that agrees best, which takes the product of both numbers."""
    fitting = [tuple(at for at, kernel in enumerate(kernels) if _same_launch(kernel, one)) for one in profiles]
    launched = Counter(fitting)
    turns = {places: iter(places) for places in launched}
    for profile, places in zip(profiles, fitting, strict=True):
        if len(places) == launched[places]:
            yield compare(kernels[next(turns[places])], profile)
        else:
            yield _best((kernels[at] for at in places), profile)


def _best(kernels: Iterable[Kernel], profile: Profile) -> Comparison:
    every = [compare(kernel, profile) for kernel in kernels]
    best = min(every, key=lambda comparison: comparison.counts.get(Verdict.DIFFERS, 0))
    return structs.replace(best, chosen_of=len(every))


def _same_launch(kernel: Kernel, profile: Profile) -> bool:
    launch = kernel.launch
    return launch is None or (profile.grid, profile.block) in ((launch.grid, launch.block), (None, None))
