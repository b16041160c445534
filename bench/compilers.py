"""Compares the samples under several CUDA releases: `python -m bench.compilers [-o docs/compilers.md] [SAMPLE...]`.

Every sample is audited under each release with its launches, as machine code, in the table of kernels by releases
that `ptxaudit diff` makes for one input under several releases. Releases that are not on this machine are downloaded.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import ptxaudit
from ptxaudit.base.words import number, plural
from ptxaudit.frontend.compile import toolchains
from ptxaudit.frontend.options import Options
from ptxaudit.review.diff.matrix import Matrix, matrix
from ptxaudit.review.diff.reports import Diff, Verdict
from ptxaudit.review.diff.sides import Side
from ptxaudit.review.diff.verdict import QUIET
from ptxaudit.ui.render.change_rows import resources_changed
from ptxaudit.ui.render.changes import diff_text
from ptxaudit.ui.render.matrix import matrix_text

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "samples"
OLDER = ("11.8", "12.4", "12.9")
MOST_LINES = 60  # of one diff in the page
BUDGET = 20.0  # seconds per kernel and launch

HEAD = """\
# What a compiler upgrade changes

Every sample of `samples/` is compiled by NVRTC {releases} for its architecture, and its machine code audited under
its launches. The page has a table of kernels by releases, and compares each release with the one before.

    ptxaudit diff samples/NAME/NAME.cu --launch samples/NAME/launch.toml {toolchains}

This page is the unedited output of `python -m bench.compilers -o docs/compilers.md`
(tests/project/test_compilers.py). Releases that are not installed are downloaded into the user's cache. A kernel has a table below if
its wavefronts, registers, stack, spills or barriers changed, followed by the changes at its sites.
"""


@dataclass(frozen=True)
class Sample:
    """A folder of samples/, with the compiler options in its expect.toml."""

    name: str
    arch: str
    options: dict

    @property
    def source(self) -> Path:
        return SAMPLES / self.name / f"{self.name}.cu"


def samples(names: list[str]) -> list[Sample]:
    """The samples with these names, or all if there are none."""
    import tomllib

    found = []
    for folder in sorted(SAMPLES.iterdir()):
        if (folder / f"{folder.name}.cu").is_file() and (not names or folder.name in names):
            expect = folder / "expect.toml"
            told = tomllib.loads(expect.read_text(encoding="utf-8")) if expect.is_file() else {}
            found.append(Sample(folder.name, told.get("arch", "sm_90"), told.get("compile", {})))
    return found


def releases() -> tuple[str, ...]:
    """The older releases, and the one with which this installation compiles."""
    return (*OLDER, toolchains.get("nvrtc").version)


def under(sample: Sample, versions: tuple[str, ...]) -> Matrix:
    """The sample under each release."""
    launches = tuple(ptxaudit.read_launches(sample.source.with_name("launch.toml")))
    path = os.path.relpath(sample.source)
    options = Options(arch=sample.arch, isa="sass", launches=launches, budget=BUDGET, **sample.options)
    return matrix(
        path, [(version, None, Side(path, _with(options, version))) for version in versions], lambda step: None
    )


def _with(options: Options, version: str) -> Options:
    from msgspec.structs import replace

    return replace(options, toolchain=version)


def cells(found: Matrix) -> list[str]:
    """The changes of each release since the one before, a cell each, or the reason why they cannot be compared."""
    steps = {step.new: step for step in found.steps}
    out = []
    for at, column in enumerate(found.columns[1:], 1):
        missing = next((one for one in (found.columns[at - 1], column) if one.report is None), None)
        out.append(missing.problems[0].what.splitlines()[0] if missing else summary(steps[at].diff))
    return [cell.replace("|", "\\|") for cell in out]


def summary(diff: Diff) -> str:
    """A summary like "excess 120 → 128; 2 worse, 30 same"."""
    counts = ", ".join(f"{count:,} {verdict}" for verdict, count in diff.counts.items())
    figures = [
        f"{name} {number(both[0])} → {number(both[1])}" for name, both in diff.totals.items() if both[0] != both[1]
    ]
    return "; ".join([*figures, counts or "no site"])


def sections(sample: Sample, found: Matrix) -> list[str]:
    """The table of a sample and the diffs of its releases, if one changed more than lines and a few instructions."""
    told = [
        step
        for step in found.steps
        if any(change.verdict not in QUIET for entry in step.diff.kernels for change in entry.changes)
    ]
    if not told and not any(resources_changed(entry) for step in found.steps for entry in step.diff.kernels):
        return []
    out = [f"## {sample.name}\n\n```\n{table(found)}\n```"]
    for step in told:
        older, newer = found.columns[step.old].label, found.columns[step.new].label
        out.append(f"### {sample.name}: {older} to {newer}\n\n```\n{cut(diff_text(step.diff))}\n```")
    return out


def table(found: Matrix) -> str:
    """The matrix without the kernels in which only instructions changed."""
    changed = {
        id(entry.new)
        for step in found.steps
        for entry in step.diff.kernels
        if resources_changed(entry) or any(change.verdict not in QUIET for change in entry.changes)
    }
    first, *tables = matrix_text(found).rstrip("\n").split("\n\n")
    heads = {row.kernel.demangled for row in found.rows if any(id(kernel) in changed for kernel in row.kernels)}
    kept = [block for block in tables if any(block.startswith(f"{name}  ") for name in heads)]
    return "\n\n".join([first.split("\n")[0], *kept])


def cut(text: str) -> str:
    """The beginning of a long diff, which has its summary."""
    lines = text.rstrip().splitlines()
    return "\n".join(
        lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], f"… {len(lines) - MOST_LINES:,} more lines"]
    )


def page(names: list[str], say=lambda sentence: None) -> str:
    """The whole page, for these samples or all."""
    versions = releases()
    rows, below, total = [], [], Counter()
    for sample in samples(names):
        say(sample.name)
        found = under(sample, versions)
        rows.append(f"| {sample.name} | " + " | ".join(cells(found)) + " |")
        below += sections(sample, found)
        for step in found.steps:
            if step.new == step.old + 1:
                total.update(step.diff.counts)
    head = HEAD.format(
        releases=", ".join(versions[:-1]) + f" and {versions[-1]}",
        toolchains=" ".join(f"--toolchain {version}" for version in versions),
    )
    steps = [f"{older} to {newer}" for older, newer in zip(versions, versions[1:], strict=False)]
    overview = ["| sample | " + " | ".join(steps) + " |", "|---" * (1 + len(steps)) + "|", *rows]
    sums = ", ".join(f"{total[verdict]:,} {verdict}" for verdict in Verdict if total[verdict])
    closing = f"Of {plural(sum(total.values()), 'pair')} of sites: {sums}."
    return "\n\n".join([head.rstrip(), "\n".join(overview), closing, *below]) + "\n"


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
