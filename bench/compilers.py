"""What changed in the samples between CUDA releases: `python -m bench.compilers [-o docs/compilers.md] [SAMPLE...]`.

Every sample is audited under each release, PTX and machine code, with its launches; each release is
compared with the one before by `ptxaudit diff`. Releases that are not on this machine are fetched.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import ptxaudit
from ptxaudit import toolchains
from ptxaudit.diff import Diff, Verdict, diff_reports
from ptxaudit.render.changes import diff_text
from ptxaudit.render.words import number, plural
from ptxaudit.report import Report

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "samples"
OLDER = ("11.8", "12.9")
MOST_LINES = 60              # of one diff in the page
BUDGET = 20.0                # seconds for a kernel and launch

HEAD = """\
# What a compiler upgrade changes

Every sample of `samples/`, compiled by NVRTC {releases} for its architecture, audited in both
instruction sets under its launches, and each release compared with the one before:

    ptxaudit diff samples/NAME/NAME.cu --launch samples/NAME/launch.toml --toolchain A --toolchain B

This page is the output of `python -m bench.compilers -o docs/compilers.md`, with nothing edited
(tests/test_compilers.py). Releases that are not installed are fetched into the user's cache.
"""


@dataclass(frozen=True)
class Sample:
    """A folder of samples/, and how its expect.toml says it is compiled."""

    name: str
    arch: str
    options: dict

    @property
    def source(self) -> Path:
        return SAMPLES / self.name / f"{self.name}.cu"


def samples(names: list[str]) -> list[Sample]:
    """Those of these names; all for none."""
    import tomllib

    found = []
    for folder in sorted(SAMPLES.iterdir()):
        if (folder / f"{folder.name}.cu").is_file() and (not names or folder.name in names):
            expect = folder / "expect.toml"
            told = tomllib.loads(expect.read_text(encoding="utf-8")) if expect.is_file() else {}
            found.append(Sample(folder.name, told.get("arch", "sm_90"), told.get("compile", {})))
    return found


def releases() -> tuple[str, ...]:
    """The older ones, and the one that this installation compiles with."""
    return (*OLDER, toolchains.get("nvrtc").version)


def audited(sample: Sample, release: str) -> Report:
    """The sample under a release."""
    launches = tuple(ptxaudit.read_launches(sample.source.with_name("launch.toml")))
    return ptxaudit.audit(
        str(sample.source.relative_to(ROOT)), arch=sample.arch, isa="both", toolchain=release, launches=launches, budget=BUDGET, **sample.options,
    )


def section(old: Report, new: Report) -> tuple[str, str]:
    """(a cell of the table, the diff in words where more than positions changed)."""
    for side in (old, new):
        if side.problems:
            return f"{side.problems[0].what.splitlines()[0]}", ""
    diff = diff_reports(old, new)
    interesting = any(verdict not in (Verdict.SAME, Verdict.MOVED) for verdict in diff.counts)
    return summary(diff), cut(diff_text(diff)) if interesting else ""


def summary(diff: Diff) -> str:
    """"excess 120 → 128; 2 worse, 30 same"."""
    counts = ", ".join(f"{count:,} {verdict}" for verdict, count in diff.counts.items())
    figures = [f"{name} {number(both[0])} → {number(both[1])}" for name, both in diff.totals.items() if both[0] != both[1]]
    return "; ".join([*figures, counts or "no site"])


def cut(text: str) -> str:
    lines = text.rstrip().splitlines()
    if len(lines) <= MOST_LINES:
        return "\n".join(lines)
    ending = [line for line in lines[MOST_LINES:] if line and not line.startswith(" ")][-4:]
    return "\n".join([*lines[:MOST_LINES], f"… {len(lines) - MOST_LINES - len(ending):,} more lines", *ending])


def page(names: list[str], say=lambda sentence: None) -> str:
    """The whole page, of these samples or all."""
    versions = releases()
    rows, sections, total = [], [], Counter()
    for sample in samples(names):
        say(sample.name)
        reports = [audited(sample, release) for release in versions]
        cells = []
        for (older, newer), old, new in zip(zip(versions, versions[1:]), reports, reports[1:]):
            cell, text = section(old, new)
            cells.append(cell.replace("|", "\\|"))
            if text:
                sections.append(f"## {sample.name}: {older} to {newer}\n\n```\n{text}\n```")
            if not old.problems and not new.problems:
                total.update({verdict: count for verdict, count in diff_reports(old, new).counts.items()})
        rows.append(f"| {sample.name} | " + " | ".join(cells) + " |")
    head = HEAD.format(releases=", ".join(versions[:-1]) + f" and {versions[-1]}")
    steps = [f"{older} to {newer}" for older, newer in zip(versions, versions[1:])]
    table = ["| sample | " + " | ".join(steps) + " |", "|---" * (1 + len(steps)) + "|", *rows]
    sums = ", ".join(f"{total[verdict]:,} {verdict}" for verdict in Verdict if total[verdict])
    closing = f"Of {plural(sum(total.values()), 'pair')} of sites: {sums}."
    return "\n\n".join([head.rstrip(), "\n".join(table), closing, *sections]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", nargs="*")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    text = page(given.samples, lambda sentence: print(sentence, file=sys.stderr, flush=True))
    if given.output:
        given.output.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
