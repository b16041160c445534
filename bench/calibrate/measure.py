"""Runs planned requests on a GPU under the profiler and writes its counters, one record per request.

    measure(folder, plan, output, …) starts `launch` under ncu, joins its figures with the plan
    launch(folder, plan)             one kernel launch per request, in the plan's order

Only hardware counters are read: with two or three of them a launch takes one pass.
"""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from bench.calibrate.instructions import INSTRUCTIONS, LANES, WORD
from bench.calibrate.patterns import SOURCE_WINDOW, WINDOW
from bench.calibrate.records import document

WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared{}.sum"
COUNTERS = {name: WAVEFRONTS.format(name and f"_{name}") for name in ("", "op_ld", "op_st", "op_atom", "op_misc")}
MACHINE_CODE = "kernels.json"  # beside the cubin: the shared-memory instructions of each kernel
TOTALS = ("", "op_misc")  # wavefronts of a lone request: the total minus op_misc
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared{}.sum"
TENSOR = {
    "wavefronts": WAVEFRONTS.format(""),
    "op_gmma": WAVEFRONTS.format("_op_gmma"),
    "conflicts_op_gmma": CONFLICTS.format("_op_gmma"),
    "bank_writes": "l1tex__data_bank_writes.sum",
}
ACCESSES = {name: WAVEFRONTS.format(name and f"_{name}") for name in ("", "op_ld", "op_st", "op_atom", "op_misc")} | {
    "conflicts": CONFLICTS.format(""),
    "bank_reads": "l1tex__data_bank_reads.sum",
    "bank_writes": "l1tex__data_bank_writes.sum",
}
FORMS = {
    name: WAVEFRONTS.format(name and f"_{name}") for name in ("", "op_ld", "op_st", "op_atom", "op_misc", "op_gmma")
} | {
    "conflicts": CONFLICTS.format(""),
}
SOURCE_ALIGN = 1 << 21  # minimum


def read_plan(path: Path) -> dict[str, Any]:
    return json.loads(gzip.decompress(path.read_bytes()))


def launch(folder: Path, plan_path: Path) -> None:
    """Launches every request of the plan once."""
    import ctypes

    from bench.profiled import Gpu

    plan = read_plan(plan_path)["requests"]
    gpu = Gpu()
    driver = gpu.driver
    functions: dict[str, Any] = {}
    for cubin in sorted(folder.glob("*.cubin")):
        functions |= gpu.kernels(cubin)
    table, starts = _table(plan)
    device = gpu.call(driver.cuMemAlloc, table.nbytes)
    gpu.call(driver.cuMemcpyHtoD, device, table.ctypes.data, table.nbytes)
    reach = max((max(r["sources"]) for r in plan if r.get("sources")), default=0) + SOURCE_WINDOW
    align = max(SOURCE_ALIGN, 1 << (reach - 1).bit_length())
    source = gpu.call(driver.cuMemAlloc, reach + align)
    gpu.call(driver.cuMemsetD8, source, 0, reach + align)
    aligned = -(-int(source) // align) * align  # no offset carries into it: line classes are the same at any address
    out = gpu.call(driver.cuMemAlloc, 1 << 16)
    raw = (ctypes.c_uint64 * 4)(0, aligned, int(out), 0)
    places = (ctypes.c_void_p * 4)(*(ctypes.addressof(raw) + 8 * i for i in range(4)))
    stream = 0
    for start, request in zip(starts, plan, strict=True):
        raw[0] = int(device) + start * LANES * WORD
        raw[3] = request["active"]
        gpu.call(
            driver.cuLaunchKernel,
            functions[request["kernel"]],
            1,
            1,
            1,
            request.get("threads", LANES),
            1,
            1,
            WINDOW,
            stream,
            ctypes.addressof(places),
            0,
        )
    gpu.call(driver.cuCtxSynchronize)
    print(f"{len(plan)} launches; source at {aligned:#x}")


def _table(plan: list[dict[str, Any]]) -> tuple[Any, list[int]]:
    """(the operands of all requests, a row per kind with a number per lane; the first row of each request)."""
    import numpy

    rows: list[list[int]] = []
    starts = []
    for request in plan:
        starts.append(len(rows))
        for i in range(INSTRUCTIONS[request["kernel"]].requests):
            for key in ("addresses", "sources", "values"):
                values = request.get(key) or [0] * LANES
                rows.append(values[i * LANES : (i + 1) * LANES] if len(values) > LANES else values)
    return numpy.array(rows, numpy.uint32), starts


def measure(folder: Path, plan_path: Path, output: Path, seconds: float, chunk: int) -> None:
    """Runs the plan under ncu, some hundred launches per process, until it is done or the time is over.

    Each request gets {counter: figure}; loops are counted by kind of access, everything else in total.
    """
    from bench.profiled import device_line

    plan = read_plan(plan_path)
    end = time.monotonic() + seconds
    done: list[dict[str, Any]] = []
    for counters, requests in _chunks(plan["requests"], chunk):
        if time.monotonic() > end:
            print(f"out of time: {len(plan['requests']) - len(done)} requests are left out")
            break
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            part, log = Path(scratch, "plan.json.gz"), Path(scratch, "ncu.csv")
            part.write_bytes(gzip.compress(json.dumps({"requests": requests}).encode()))
            under_ncu([COUNTERS[name] for name in counters], log, "launch", str(folder), str(part))
            counted = read_log(log)
        if len(counted) != len(requests):
            raise SystemExit(f"{len(counted)} launches in the profiler's log, {len(requests)} in the plan")
        for request, figures in zip(requests, counted, strict=True):
            request["counters"] = {name: figures[COUNTERS[name]] for name in counters}
        done += requests
        print(f"{len(done)} requests; {(time.monotonic() - started) / len(requests) * 1000:.0f} ms each")
    machine_code = json.loads((folder / MACHINE_CODE).read_text())
    written = document(done, machine_code, device_line(device_name()))
    output.write_bytes(gzip.compress(json.dumps(written, separators=(",", ":")).encode(), mtime=0))
    print(f"{output}: {len(done)} requests")


def _chunks(requests: list[dict[str, Any]], size: int) -> Iterator[tuple[tuple[str, ...], list[dict[str, Any]]]]:
    """(counters, requests): groups those that need the same counters, in the plan's order."""
    for counters in (TOTALS, tuple(COUNTERS)):
        same = [r for r in requests if (INSTRUCTIONS[r["kernel"]].kind == "loop") == (counters != TOTALS)]
        for start in range(0, len(same), size):
            yield counters, same[start : start + size]


def under_ncu(metrics: list[str], log: Path, *arguments: str) -> None:
    """Runs `python -m bench.calibrate …` under the profiler; writes its figures as CSV to the log."""
    command = [
        "ncu",
        "--clock-control",
        "none",
        "--cache-control",
        "none",
        "--metrics",
        ",".join(metrics),
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--log-file",
        str(log),
        sys.executable,
        "-m",
        "bench.calibrate",
        *arguments,
    ]
    subprocess.run(command, check=True)


def measure_tensor(folder: Path, output: Path, only: str = "*") -> None:
    """Times the bulk tensor copies, then reads the counters of all tensor launches."""
    from bench.calibrate import tensor
    from bench.profiled import device_line

    timed = subprocess.run(
        [sys.executable, "-m", "bench.calibrate", "launch-tensor", str(folder), "--timed", "--only", "copy_*,store_*"]
    )
    cycles = [] if timed.returncode else json.loads(gzip.decompress((folder / "copies.json.gz").read_bytes()))
    if timed.returncode:
        print("the copies cannot be launched: they are left out")
        only = (
            ",".join(
                pattern
                for pattern in only.split(",")
                if not fnmatchcase("copy_tile", pattern) and not fnmatchcase("store_tile", pattern)
            )
            or "wgmma*"
        )
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch, "ncu.csv")
        under_ncu(list(TENSOR.values()), log, "launch-tensor", str(folder), "--only", only)
        counted = read_log(log)
    launches = tensor.plan(only)
    if len(counted) != len(launches):
        raise SystemExit(f"{len(counted)} launches in the profiler's log, {len(launches)} in the plan")
    for one, figures in zip(launches, counted, strict=True):
        one["counters"] = {name: figures.get(metric) for name, metric in TENSOR.items()}
    document = {"device": device_line(device_name()), "launches": launches, "cycles": cycles}
    output.write_bytes(gzip.compress(json.dumps(document, separators=(",", ":")).encode(), mtime=0))
    print(f"{output}: {len(launches)} launches")


def measure_forms(folder: Path, output: Path, only: str = "*") -> None:
    """Counts how much each form adds to the wavefront counters, issued once and several times in a launch."""
    from bench.calibrate import forms
    from bench.profiled import device_line

    opcodes = json.loads((folder / forms.OPCODES).read_text())
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch, "ncu.csv")
        under_ncu([*FORMS.values()], log, "launch-forms", str(folder), "--only", only)
        counted = iter(read_log(log))
    rows: dict[str, dict[str, Any]] = {}
    for form, times in forms.plan(only):
        row = rows.setdefault(
            form.name, {"name": form.name, "ptx": form.opcode, "sass": opcodes[form.name], "counters": {}}
        )
        figures = next(counted)
        row["counters"][times] = {name: figures.get(metric) for name, metric in FORMS.items()}
    document = {"device": device_line(device_name()), "forms": [*rows.values()]}
    output.write_bytes(gzip.compress(json.dumps(document, separators=(",", ":")).encode(), mtime=0))
    print(f"{output}: {len(rows)} forms")


def measure_timing(
    folder: Path, output: Path, only: str = "*", counted: str = "cluster_*,local_*,arrive*,*_wait,barrier_*"
) -> None:
    """Times what no counter measures, then reads the counters of those kernels that are accesses of one warp."""
    from bench.calibrate import timing
    from bench.profiled import device_line

    timed = timing.time_all(folder, only)
    launches = [one for one in timed if any(fnmatchcase(one["kernel"], glob) for glob in counted.split(","))]
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch, "ncu.csv")
        log.touch()
        try:
            if launches:
                under_ncu(
                    list(ACCESSES.values()),
                    log,
                    "launch-timing",
                    str(folder),
                    "--only",
                    ",".join(sorted({one["kernel"] for one in launches})),
                )
        except subprocess.CalledProcessError as error:
            print(f"{error}: what was counted until then is kept")
        figures = read_log(log)
    for one, found in zip(launches, figures):
        one["counters"] = {name: found.get(metric) for name, metric in ACCESSES.items()}
    document = {"device": device_line(device_name()), "what": timing.WHAT, "unroll": timing.UNROLL, "timed": timed}
    output.write_bytes(gzip.compress(json.dumps(document, separators=(",", ":")).encode(), mtime=0))
    print(f"{output}: {len(timed)} timed, {len(figures)} counted")


def read_log(log: Path) -> list[dict[str, float]]:
    """{metric: figure} of each launch, in order. The log has a row of names, one of units, then one per launch."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    return [{name: number(row[name]) for name in row if "__" in name and "." in name} for row in rows if row["ID"]]


def number(text: str) -> float | None:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return int(value) if value == int(value) else value


def device_name() -> str:
    said = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=True,
    )
    name, capability = said.stdout.splitlines()[0].rsplit(", ", 1)
    return f"{name} (sm_{capability.replace('.', '')})"
