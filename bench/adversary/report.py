"""Formats the results of a check as text: tables by telling, build and feature, and every wrong claim."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from bench.adversary.check import Checked
from bench.adversary.claims import Finding, Verdict


def table(checked: Sequence[Checked], by: Callable[[Checked], Iterable[str]], head: str) -> Iterator[str]:
    """A line for each value of `by`: launches, then sites by verdict. A launch counts for each of its values."""
    counts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    launches: dict[str, set[int]] = defaultdict(set)
    for one in checked:
        for key in by(one):
            counts[key].update(found.verdict for found in one.findings)
            launches[key].add(one.number)
    yield f"{head:18}{'launches':>9}" + "".join(f"{verdict:>13}" for verdict in Verdict)
    for key in sorted(counts):
        yield f"{key:18}{len(launches[key]):>9}" + "".join(f"{counts[key][verdict]:>13,}" for verdict in Verdict)


def wrong(checked: Sequence[Checked]) -> Iterator[str]:
    """Each site with a wrong claim once, with the tellings under which it is wrong."""
    places: dict[tuple, list[tuple[str, Finding]]] = defaultdict(list)
    names: dict[tuple, Checked] = {}
    for one in checked:
        for found in one.findings:
            if found.verdict is Verdict.WRONG:
                key = (one.seed, one.build, one.number, found.place, found.kind)
                places[key].append((one.telling, found))
                names[key] = one
    for key, found in places.items():
        one, (_, first) = names[key], found[0]
        yield (
            f"{one.launch} {' '.join(one.features)}: +{first.place:#x} line {first.line} {first.text}\n"
            f"    {first.kind} under {', '.join(telling for telling, _ in found)}: {first.claim}\n    counted: "
            f"{first.truth}"
        )


def failures(checked: Iterable[Checked]) -> Iterator[str]:
    for one in checked:
        if one.error:
            yield f"{one.launch} {one.telling}: the engine failed\n{one.error}"


def text(checked: Sequence[Checked], listing: bool = True) -> str:
    """The whole report."""
    lines = [
        "By telling",
        *table(checked, lambda one: [one.telling], "telling"),
        "",
        "By build",
        *table(checked, lambda one: [one.build], "build"),
        "",
        "By feature",
        *table(checked, lambda one: one.features, "feature"),
        "",
    ]
    if listing:
        lines += [*wrong(checked), *failures(checked)]
    return "\n".join(lines)
