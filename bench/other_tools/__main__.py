"""Compares other tools' figures for shared-memory accesses with hardware counters.

    python -m bench.other_tools --cuxray PYTHON --triton PYTHON       needs no GPU; each PYTHON has the tool installed

writes tests/data/other_tools_sm90.json, from which docs/accuracy.md makes its table. An access is all loads, or all
stores, of one launch, if that is one instruction or one access of a Gluon program to a tensor: the launch's counters
`…mem_shared_op_ld` and `…_op_st` then count only it.

Conversion of a tool's figure into the counter's unit: cuxray's ways and Triton's conflicts are per request, in
multiples of the minimum wavefronts of the instruction (its bytes divided by 128). The figure is therefore the product
of this minimum, the requests, and the ways, or 1 plus the conflicts.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import archives
from bench.measure import CHECKOUT
from ptxaudit.frontend.compile import toolchains
from ptxaudit.review.audit import audit
from ptxaudit.review.compare import Comparison
from ptxaudit.review.ncu_csv import read_profiles
from ptxaudit.review.profiles import compare_all

sys.path.insert(0, str(CHECKOUT / "tests" / "support"))
import measured_kernels

DATA = CHECKOUT / "tests" / "data"
OUTPUT = DATA / "other_tools_sm90.json"
SETS = ("samples_sm90", "idioms_sm90")
KINDS = {"op_ld": re.compile(r"(?<![A-Z])LDSM?\b"), "op_st": re.compile(r"(?<![A-Z])STSM?\b")}
OTHERS = re.compile(
    r"(?<![A-Z])(ATOMS|LDGSTS|LD|ST|UBLKCP|STAS|REDAS)\b|GMMA|UTMA"
)  # these may be in the same counters
BYTES_A_WAVEFRONT, LANES = 128, 32


def least(opcode: str) -> int:
    """The minimum wavefronts of a request of all lanes: "LDS.128" -> 4, "LDSM.16.M88.2" -> 2."""
    matrices = re.search(r"(?:LDSM|STSM)\.16\.M\w*88(?:\.(\d))?", opcode)
    if matrices:
        return int(matrices[1] or 1)
    bits = re.search(r"\.(64|128)\b", opcode)
    return max(1, LANES * int(bits[1]) // 8 // BYTES_A_WAVEFRONT) if bits else 1


def opcode_of(text: str) -> str:
    return next(word for word in text.replace(";", " ").split() if not word.startswith("@"))


def access(place: str, kind: str, sites: Sequence[Any], counted: int, **more: Any) -> dict[str, Any]:
    """One access. sites: (offset, instruction, profiler's wavefronts, requests) of the instructions that ran."""
    return {
        "set": place,
        "kind": kind,
        "opcodes": sorted({opcode_of(site[1]) for site in sites}),
        "offsets": [site[0] for site in sites],
        "requests": [site[3] for site in sites],
        "counted": counted,
        "profiler": sum(site[2] for site in sites),
        **more,
    }


def of_set(name: str, folder: Path) -> Iterator[dict[str, Any]]:
    """The accesses by single instructions in a measured set; writes its cubins to the folder."""
    with tarfile.open(DATA / name / "cubins.tar.xz") as archive:
        members = [member for member in archive if member.isfile()]
        for member in members:
            (folder / Path(member.name).name).write_bytes(archive.extractfile(member).read())  # type: ignore[union-attr]
    launches = json.loads(gzip.decompress((DATA / name / "launches.json.gz").read_bytes()))["launches"]
    for at, launch in enumerate(launches):
        if any(OTHERS.search(site[1]) for site in launch["sites"]):
            continue
        for kind, pattern in KINDS.items():
            ran = [(offset, text, w, n) for offset, text, w, _, n, _ in launch["sites"] if pattern.search(text) and n]
            if len(ran) == 1:
                counted = round(launch["hardware"][f"_{kind}"])
                job = [str(folder / launch["cubin"]), launch["kernel"], launch["block"]]
                yield access(name, kind, ran, counted, launch=at, job=job)


def recorded(folder: Path) -> list[Comparison]:
    """The launches of the recorded Gluon program, in the order of its cases; writes its recording to the folder."""
    archives.unpack(DATA / "recorded_sm90" / "gluon.tar.xz", folder)
    compared = compare_all(audit(str(folder)), read_profiles([folder / "source.csv", folder / "raw.csv"]))
    return sorted(compared.comparisons, key=case_of)


def case_of(one: Comparison) -> int:
    """The index of a launch in the program's cases: its number of blocks, counted from 1."""
    launch = one.kernel.launch
    assert launch is not None and launch.grid is not None
    return launch.grid[0] - 1


def of_gluon(comparisons: list[Comparison]) -> Iterator[dict[str, Any]]:
    """The accesses to tensors of the recorded Gluon program."""
    for one in comparisons:
        for kind, pattern in KINDS.items():
            counted = [row.counted for row in one.rows if row.counted is not None and row.counted.requests]
            ran = [(c.offset, c.text, c.wavefronts, c.requests) for c in counted if pattern.search(c.text)]
            job = [one.kernel.input, one.kernel.name, list(one.kernel.launch.block or ())]  # type: ignore[union-attr]
            yield access("recorded_sm90", kind, ran, one.profile.counters[kind], launch=case_of(one), job=job)


def by_ptxaudit(accesses: list[dict[str, Any]], comparisons: list[Comparison]) -> None:
    """Adds the range of wavefronts that a report claims, with equal ends if it is exact; None if there is none."""
    launches = {name: measured_kernels.load(name) for name in SETS}
    for one in accesses:
        gluon = one["set"] == "recorded_sm90"
        compared = comparisons[one["launch"]] if gluon else launches[one["set"]][one["launch"]].compare()
        ranges = [
            (site.wavefronts, site.wavefronts) if site.wavefronts is not None else site.bounds
            for site in compared.kernel.sites
            if site.offset in one["offsets"]
        ]
        known = [each for each in ranges if each is not None]
        one["ptxaudit"] = [sum(ends) for ends in zip(*known)] if len(known) == len(ranges) else None


def by_cuxray(python: str, accesses: list[dict[str, Any]]) -> str:
    """Adds cuxray's figures; returns its version."""
    said = _run(python, "cuxray_ways.py", json.dumps([one["job"] for one in accesses]))
    for one, found in zip(accesses, said["found"], strict=True):
        each = [found.get(str(offset)) for offset in one["offsets"]]
        known = [none for none in each if none is not None]
        figures = [times * least(opcode) * ways for times, (opcode, _, ways) in zip(one["requests"], known)]
        one["cuxray"] = sum(figures) if len(known) == len(each) else None
    return said["version"]  # type: ignore[no-any-return]


def by_triton(python: str, accesses: list[dict[str, Any]]) -> str:
    """Adds Triton's estimates for the accesses to tensors; returns its version."""
    said = _run(python, "triton_estimates.py", "")
    for one in accesses:
        one["triton"] = None
        if one["set"] == "recorded_sm90":
            conflicts = said["found"][one["launch"]][one["kind"] == "op_ld"]
            (opcode,) = one["opcodes"]
            one["triton"] = None if conflicts is None else sum(one["requests"]) * least(opcode) * (1 + conflicts)
    return said["version"]  # type: ignore[no-any-return]


def _run(python: str, script: str, given: str) -> Any:
    tools = toolchains.find("nvdisasm")
    home = {"CUDA_HOME": str(Path(tools[0].path).parent.parent)} if tools else {}
    path = Path(__file__).with_name(script)
    done = subprocess.run([python, str(path)], input=given, env=os.environ | home, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cuxray", default=sys.executable, metavar="PYTHON", help="an interpreter that has cuxray")
    parser.add_argument("--triton", default=sys.executable, metavar="PYTHON", help="an interpreter that has Triton")
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name, place) for place in (*SETS, "gluon")]
        for folder in folders:
            folder.mkdir()
        accesses = [one for place, folder in zip(SETS, folders) for one in of_set(place, folder)]
        comparisons = recorded(folders[-1])
        accesses += of_gluon(comparisons)
        by_ptxaudit(accesses, comparisons)
        versions = {"cuxray": by_cuxray(given.cuxray, accesses), "triton": by_triton(given.triton, accesses)}
    rows = [{key: value for key, value in one.items() if key != "job"} for one in accesses]
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    given.output.write_text(f'{{"versions": {json.dumps(versions)},\n"accesses": [\n{lines}\n]}}\n')
    print(f"{given.output}: {len(rows)} accesses")


if __name__ == "__main__":
    main()
