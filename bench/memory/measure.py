"""Launches a plan under Nsight Compute and writes its counters: per instruction, and for the units as a whole.

    python -m bench.memory measure FOLDER -o FILE [--sets tests/data/…]     on a GPU, with ncu on the PATH

Needs Python, numpy, cuda-bindings, Nsight Compute and, of this repository, `bench/profiled.py`, `bench/archives.py`
and `bench/memory`. FILE is one JSON document:
    device, site_columns, launches: [{source, kernel, grid, block, n, s, at, indices, param_bytes, sites: [[offset,
    sass, …]], hardware: {counter: sum}, occupancy: {…}}], occupancy: {set: [blocks of each launch on a multiprocessor]}
"""

from __future__ import annotations

import gzip
import json
import re
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.archives import unpack
from bench.profiled import Gpu, by_pc, device_line, import_ncu_report

PLAN = "plan.json"
BY_INSTRUCTION = (
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    "memory_l2_theoretical_sectors_local",
    "memory_l1_tag_requests_global",
    "inst_executed",
    "thread_inst_executed_true",
)
ACCESS = re.compile(r"\b(LDG|STG|LD|ST|ATOM|ATOMG|RED|REDG|LDGSTS|LDL|STL)\b")
NEVER = re.compile(r"@!U?PT\s")
COUNTERS = (
    r"l1tex__t_(requests|sectors)_pipe_lsu_mem_(global|local)_op_[a-z]+",
    r"l1tex__t_(requests|sectors)_pipe_lsu",
    r"l1tex__t_(requests|sectors)_pipe_lsu_mem_(global|local)_op_ldgsts(_cache_[a-z]+)?",
    r"(sm|smsp)__sass_l1tex_[a-z0-9_]*ldgsts[a-z_]*",
    r"lts__t_(requests|sectors)_srcunit_tex_op_(read|write|red|atom)",
    r"l1tex__m_(l1tex2xbar|xbar2l1tex)_[a-z]*(sectors|req_cycles)[a-z_]*mem_lg_op_(ld|st|red|atom)",
)
OF_LAUNCH = (
    "launch__occupancy_limit_blocks",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_warps",
    "launch__occupancy_limit_barriers",
    "launch__registers_per_thread",
    "launch__shared_mem_per_block_static",
    "launch__shared_mem_per_block_dynamic",
    "launch__shared_mem_per_block_driver",
    "sm__maximum_warps_per_active_cycle_pct",
)
MEMORY_BYTES = 4 << 20
SLACK = 1 << 16
BATCH = 100  # launches per process of the profiler


def counters() -> list[str]:
    """The wanted counters that this profiler has for this device."""
    said = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True).stdout
    names = [line.split()[0] for line in said.splitlines() if re.match(r"[a-z0-9]+__\S+\s", line)]
    return [name for name in names if any(re.fullmatch(pattern, name) for pattern in COUNTERS)]


def launch_all(folder: Path, notes: Path, first: int, last: int) -> None:
    """Launches a part of the plan, one after the other; writes the parameters of each to `notes`."""
    gpu = Gpu()
    plan = json.loads((folder / PLAN).read_text())
    places = [int(gpu.call(gpu.driver.cuMemAlloc, MEMORY_BYTES + SLACK)) for _ in range(3)]
    for place in places:
        gpu.call(gpu.driver.cuMemsetD8, place, 0, MEMORY_BYTES + SLACK)
    kernels: dict[str, dict[str, Any]] = {}
    gpu.call(gpu.driver.cuCtxSetLimit, gpu.driver.CUlimit.CU_LIMIT_STACK_SIZE, 4096)
    import numpy

    with notes.open("w") as out:
        out.write(json.dumps({"device": gpu.name()}) + "\n")
        for entry in plan["launches"][first:last]:
            source = entry["source"]
            if source not in kernels:
                kernels[source] = gpu.kernels(folder / f"{source}.cubin")
            gpu.write(places[2], numpy.array(plan["indices"][entry["indices"]], "<i4"))
            pointers = places[0] + entry["at"][0], places[1] + entry["at"][1], places[2]
            data = struct.pack("<QQQii", *pointers, entry["n"], entry["s"])
            gpu.launch(kernels[source][entry["kernel"]], [*entry["grid"], 1], [*entry["block"], 1], None, 0, data)
            out.write(json.dumps({"param_bytes": data.hex()}) + "\n")
            out.flush()


def occupancies(sets: list[Path]) -> dict[str, list[int]]:
    """How many blocks of each launch of a measured set fit on a multiprocessor, by the driver; -1 if unknown."""
    gpu = Gpu()
    found = {}
    for folder in sets:
        with tempfile.TemporaryDirectory() as work:
            unpack(folder / "cubins.tar.xz", Path(work))
            files = {path.name: path for path in Path(work).rglob("*.cubin")}
            entries = json.loads(gzip.decompress((folder / "launches.json.gz").read_bytes()))["launches"]
            known: dict[str, dict[str, Any]] = {}
            rows = []
            for entry in entries:
                name = entry["cubin"]
                try:
                    known.setdefault(name, gpu.kernels(files[name]) if name not in known else known[name])
                    rows.append(_blocks(gpu, known[name][entry["kernel"]], entry))
                except (RuntimeError, KeyError) as error:
                    print(folder.name, name, entry["kernel"], error)
                    rows.append(-1)
            found[folder.name] = rows
    return found


def _blocks(gpu: Gpu, function: Any, entry: dict[str, Any]) -> int:
    dynamic = entry["dynamic_shared"]
    if dynamic > 48 << 10:
        gpu.call(
            gpu.driver.cuFuncSetAttribute,
            function,
            gpu.driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            dynamic,
        )
    x, y, z = ([*entry["block"], 1, 1])[:3]
    return int(gpu.call(gpu.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor, function, x * y * z, dynamic))


def measure(folder: Path, output: Path, sets: list[Path], seconds: float) -> None:
    """Measures everything, until the time is over, into one file."""
    end = time.monotonic() + seconds
    plan = json.loads((folder / PLAN).read_text())
    hardware = counters()
    print(len(hardware), "counters:", *hardware, flush=True)
    document = {
        "device": "",
        "compiler": plan["compiler"],
        "site_columns": ["offset", "sass", *BY_INSTRUCTION],
        "indices": plan["indices"],
        "launches": [],
        "occupancy": occupancies(sets),
    }
    for first in range(0, len(plan["launches"]), BATCH):
        if time.monotonic() > end:
            break
        began = time.monotonic()
        device, launches = batch(folder, plan["launches"][first : first + BATCH], first, hardware)
        document["device"] = device
        document["launches"] += launches
        output.write_bytes(gzip.compress(json.dumps(document, separators=(",", ":")).encode(), mtime=0))
        print(
            f"{len(document['launches'])} of {len(plan['launches'])} launches; {time.monotonic() - began:.1f} s",
            flush=True,
        )


def batch(
    folder: Path, entries: list[dict[str, Any]], first: int, hardware: list[str]
) -> tuple[str, list[dict[str, Any]]]:
    """Measures these launches in one process of the profiler; returns the device, and the launches with counts."""
    with tempfile.TemporaryDirectory() as work:
        report, notes = Path(work) / "report.ncu-rep", Path(work) / "notes"
        metrics = ",".join((*BY_INSTRUCTION, *OF_LAUNCH, *(f"{name}.sum" for name in hardware)))
        said = subprocess.run(
            [
                "ncu",
                "--clock-control",
                "none",
                "--cache-control",
                "none",
                "--metrics",
                metrics,
                "--export",
                str(report),
                "--force-overwrite",
                sys.executable,
                "-m",
                "bench.memory",
                "launch",
                str(folder),
                str(notes),
                str(first),
                str(first + len(entries)),
            ],
            capture_output=True,
            text=True,
        )
        if not report.exists():
            print(said.stdout[-1500:], said.stderr[-1500:], flush=True)
            return "", []
        return _joined(entries, report, notes, hardware)


def _joined(
    entries: list[dict[str, Any]], report: Path, notes: Path, hardware: list[str]
) -> tuple[str, list[dict[str, Any]]]:
    context = import_ncu_report().load_report(str(report))
    actions = [
        context.range_by_idx(r).action_by_idx(a)
        for r in range(context.num_ranges())
        for a in range(context.range_by_idx(r).num_actions())
    ]
    lines = [json.loads(line) for line in notes.read_text().splitlines()]
    launches = []
    for action, entry, note in zip(actions, entries, lines[1:]):
        if action.name() != entry["kernel"]:
            raise SystemExit(f"{action.name()} in the report, {entry['kernel']} in the plan")
        launches.append(
            {
                **entry,
                **note,
                "sites": sites_of(action),
                "hardware": {name: value_of(action, f"{name}.sum") for name in hardware},
                "of_launch": {name: value_of(action, name) for name in OF_LAUNCH},
            }
        )
    return device_line(lines[0]["device"]), launches


def value_of(action: Any, name: str) -> float | None:
    metric = action.metric_by_name(name)
    return None if metric is None else metric.as_double()


def sites_of(action: Any) -> list[list[Any]]:
    """[offset, sass, *BY_INSTRUCTION] of each instruction that accesses global or local memory."""
    columns = {name: by_pc(action, name) if action.metric_by_name(name) is not None else {} for name in BY_INSTRUCTION}
    executed = columns["inst_executed"]
    base = min(executed)
    sites = []
    for pc in sorted(set().union(*columns.values())):
        text = " ".join(action.sass_by_pc(pc).split())
        if ACCESS.search(text) and not NEVER.search(text):
            sites.append([pc - base, text, *(columns[name].get(pc, 0) for name in BY_INSTRUCTION)])
    return sites
