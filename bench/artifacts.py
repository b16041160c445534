"""Audits the machine code in wheels with nothing specified: does everything decode, and which opcodes lack a meaning?

    python bench/artifacts.py WHEEL|LIBRARY|FOLDER… [-o bench/artifacts.json] [--kernels 100] [--budget 10] [--seconds
    N]
    python bench/artifacts.py --page        docs/machine_code.md, from bench/artifacts.json

For every package and architecture, up to `--kernels` kernels, spread evenly over its images, are audited (isa sass,
no launch). A site counts as *lost to an opcode* if it is unknown, or only a range, because an instruction that
decides it has no meaning in ptxaudit; the goal is fewer than 2 %. The results file has only names and counts, no
third-party code.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.artifacts.container import ELF_MAGIC, FATBIN_MAGIC, Image, images, read_images
from ptxaudit.frontend.artifacts.cubin import read_cubin
from ptxaudit.frontend.options import Options
from ptxaudit.ir.reasons import Kind
from ptxaudit.review.audit import run

ROOT = Path(__file__).resolve().parent.parent
OLDEST = 75  # the oldest architecture that the disassembler reads
MOST_MEMBERS = 200  # per wheel, evenly spread
MOST_IMAGES = 40  # per architecture of a package, evenly spread
BINARIES = (".so", ".cubin", ".fatbin", ".a", ".o")
NO_MEANING, EXHAUSTED = Kind.NO_MEANING.text, Kind.EXHAUSTED.text


@dataclass
class Row:
    """The results for one package and architecture."""

    images: int = 0
    kernels: int = 0
    sites: int = 0
    lost_to_opcodes: int = 0
    out_of_time: int = 0
    seconds: float = 0.0
    status: Counter = field(default_factory=Counter)
    opcodes: Counter = field(default_factory=Counter)
    unknown: Counter = field(default_factory=Counter)
    problems: Counter = field(default_factory=Counter)

    def record(self) -> dict:
        return {
            "images": self.images,
            "kernels": self.kernels,
            "sites": self.sites,
            "lost_to_opcodes": self.lost_to_opcodes,
            "out_of_time": self.out_of_time,
            "seconds": round(self.seconds, 1),
            "status": dict(self.status.most_common()),
            "opcodes": dict(self.opcodes.most_common(20)),
            "unknown": dict(self.unknown.most_common(8)),
            "problems": dict(self.problems.most_common(8)),
        }


def binaries(path: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """(package, file) of everything that may contain device code; members of wheels are unpacked one at a time."""
    if path.is_dir():
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            yield path.name, file
    elif path.suffix == ".whl":
        package = path.name.partition("-")[0]
        with zipfile.ZipFile(path) as wheel:
            members = [
                member for member in wheel.infolist() if member.filename.endswith(BINARIES) or ".so." in member.filename
            ]
            for member in spread(members, MOST_MEMBERS):
                if member.file_size:
                    with wheel.open(member) as packed:
                        if not packed.read(4).startswith((ELF_MAGIC, FATBIN_MAGIC, b"!<ar")):
                            continue
                    target = Path(wheel.extract(member, folder))
                    yield package, target
                    target.unlink()
    else:
        yield path.name, path


def spread(items: list, most: int) -> list:
    """At most `most` items of a list, evenly spread."""
    step = max(1, -(-len(items) // most))
    return items[::step]


def audit_images(row: Row, chosen: list[Image], kernels: int, budget: float) -> None:
    each = max(1, kernels // max(1, len(chosen)))
    for image, data in read_images(chosen):
        if row.kernels >= kernels:
            return
        row.images += 1
        if isinstance(data, InputError):
            row.problems[data.what] += 1
            continue
        try:
            names = [function.name for function in read_cubin(data, image.name).functions if function.entry]
        except InputError as error:
            row.problems[error.what] += 1
            continue
        if not names:
            continue
        started = time.process_time()
        report = run([data], Options(isa="sass", budget=budget, kernels=tuple(spread(names, each))))
        row.seconds += time.process_time() - started
        row.kernels += len(report.kernels)
        for problem in report.problems:
            row.problems[problem.what[:100]] += 1
            print(f"  {image.name} {problem.kernel}: {problem.what}", file=sys.stderr)
        for site in report.sites:
            row.sites += 1
            row.status[str(site.status)] += 1
            whys = list(site.why.walk()) if site.why is not None else []
            opcode = next((why.arguments["operation"] for why in whys if why.kind == NO_MEANING), None)
            if site.status in ("unknown", "bounded") and opcode is not None:
                row.lost_to_opcodes += 1
                row.opcodes[opcode] += 1
            elif site.status == "unknown":
                row.unknown[re.sub(r"\b(U?[RP]|t)\d+(\.\d+)?\b", "R", site.reason)[:100]] += 1
                row.out_of_time += any(why.kind == EXHAUSTED for why in whys)


RESULTS, PAGE = ROOT / "bench" / "artifacts.json", ROOT / "docs" / "machine_code.md"


def page(results: dict) -> str:
    """The results as Markdown, a line per package."""
    lines, totals = [], Counter()
    for package, archs in sorted(results.items()):
        rows = {arch: row for arch, row in archs.items() if row["kernels"]}
        total = Counter()
        opcodes: Counter = Counter()
        for row in rows.values():
            total.update(
                {key: row[key] for key in ("kernels", "sites", "lost_to_opcodes", "out_of_time")},
                open=row["status"].get("unknown", 0),
            )
            opcodes.update(row["opcodes"])
        totals.update(total)
        names = ", ".join(sorted(rows, key=lambda arch: int(arch[3:])))
        lines.append(
            f"| {package} | {names} | {_figures(total)} |"
            f" {', '.join(f'`{name}`' for name, _ in opcodes.most_common(3))} |"
        )
    lines.append(f"| **all** | | {_figures(totals)} | |")
    table = "\n".join(lines)
    return f"""# Machine code in packages

This page shows whether all machine code decodes, and which opcodes are unmodelled. It covers kernels of packages that pip installs, a sample
per architecture, audited with nothing specified. A site is *lost to opcodes* if it is unknown, or only a range, because an instruction
that it depends on is unmodelled; the goal is fewer than 2 %. *Unknown* counts all sites without an answer, including those for which there
is no rule (tensor copies, barriers, tensor cores), and those of kernels that ran out of time, which have a column of their own.

| package | architectures | kernels | sites | lost to opcodes | unknown | out of time | opcodes |
| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |
{table}

`python bench/artifacts.py WHEEL… -o bench/artifacts.json` generates the results and documents the selection, `python bench/artifacts.py --page` writes this page.
"""


def _figures(total: Counter) -> str:
    share = 100 * total["lost_to_opcodes"] / max(1, total["sites"])
    return (
        f"{total['kernels']:,} | {total['sites']:,} | {total['lost_to_opcodes']:,} ({share:.2f} %) | {total['open']:,}"
        f" | {total['out_of_time']:,}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--page", action="store_true", help="write docs/machine_code.md from bench/artifacts.json")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--kernels", type=int, default=100, help="of one package and architecture")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for a kernel")
    parser.add_argument("--arch", action="append", help="only these")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="for one package; the rest of it is left out"
    )
    given = parser.parse_args()
    if given.page:
        PAGE.write_text(page(json.loads(RESULTS.read_text())), encoding="utf-8")
        return
    rows: dict[str, dict[str, Row]] = defaultdict(lambda: defaultdict(Row))
    for path in given.paths:
        until = time.monotonic() + given.seconds
        with tempfile.TemporaryDirectory(prefix="ptxaudit-") as folder:
            for package, file in binaries(path, Path(folder)):
                if time.monotonic() > until:
                    break
                try:
                    found = images(str(file))
                except InputError:
                    continue
                by_arch: dict[str, list[Image]] = defaultdict(list)
                for image in found:
                    if (
                        image.kind == "cubin"
                        and int(image.arch[3:]) >= OLDEST
                        and (not given.arch or image.arch in given.arch)
                    ):
                        by_arch[image.arch].append(image)
                for arch, group in sorted(by_arch.items(), key=lambda item: rows[package][item[0]].kernels):
                    row = rows[package][arch]
                    if row.kernels < given.kernels and time.monotonic() < until:
                        audit_images(row, spread(group, MOST_IMAGES), given.kernels, given.budget)
        for package in rows:
            for arch, row in sorted(rows[package].items(), key=lambda item: int(item[0][3:])):
                share = 100 * row.lost_to_opcodes / max(1, row.sites)
                print(
                    f"{package:24} {arch:7} {row.images:4} images {row.kernels:5} kernels {row.sites:6} sites, lost to"
                    f" opcodes {share:5.2f} %, {row.out_of_time} out of time, {row.seconds:.0f} s"
                    f" {dict(row.opcodes.most_common(6)) or ''}",
                    flush=True,
                )
        if given.output:
            document = {package: {arch: row.record() for arch, row in archs.items()} for package, archs in rows.items()}
            given.output.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
