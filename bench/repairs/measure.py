"""Runs the kernels of `build` on a GPU: compares results, counts wavefronts, and measures time.

Each launch is counted as it is in the plan, under Nsight Compute. It is timed with so many more blocks that the chip
is full, in a dimension of the grid that the kernel does not read: they repeat the same work, on data in the L2 cache.
That is the maximum gain of a repair: a kernel that waits for DRAM gains less. Before and after alternate, RUNS times
each; the median is kept.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.measure_kernels import Planned, prepare
from bench.profiled import (
    BUFFER_BYTES,
    CONFLICT_KINDS,
    CONFLICTS,
    WAVEFRONT_KINDS,
    WAVEFRONTS,
    Gpu,
    device_line,
    import_ncu_report,
    totals_of,
)

SIDES = ("before", "after")
RUNS = 11
LONG_ENOUGH = 400.0  # microseconds of one timed launch
MOST_FAILED = 5
FEWEST_BLOCKS, MOST_BLOCKS = 132 * 16, 1 << 22


def loaded(gpu: Gpu, folder: Path, launch: dict[str, Any], cache: dict[Path, Any]) -> dict[str, Planned]:
    """The launch before and after."""
    out = {}
    for side in SIDES:
        cubin = folder / f"{launch['case']}.{side}.cubin"
        if cubin not in cache:
            cache[cubin] = gpu.kernels(cubin)
        out[side] = Planned(
            folder / launch["case"], cubin.name, launch["kernel"], cache[cubin][launch["kernel"]], launch["table"]
        )
    return out


def run(folder: Path, results: Path | None, skip: list[int]) -> None:
    """Launches everything once except `skip`, before and after, and compares the memory behind pointers.

    Writes the results launch by launch.
    """
    gpu, cache, same = Gpu(), {}, {}
    for at, launch in enumerate(_plan(folder)["launches"]):
        if at in skip:
            continue
        left = []
        for plan in loaded(gpu, folder, launch, cache).values():
            params, pointers = _prepared(gpu, plan, launch)
            gpu.launch(plan.function, plan.dims("grid"), plan.dims("block"), plan.cluster, plan.dynamic_shared, params)
            left.append([gpu.read(pointer, "uint8", BUFFER_BYTES).tobytes() for pointer in pointers.values()])
            gpu.free(list(pointers.values()))
        same[at] = left[0] == left[1]
        if results:
            results.write_text(json.dumps({"device": gpu.name(), "same": same}))


def _prepared(gpu: Gpu, plan: Planned, launch: dict[str, Any]) -> tuple[bytes, dict[int, int]]:
    """Like `prepare`; data not in data.toml are small numbers: valid indices into any array, distinct as floats."""
    from fnmatch import fnmatchcase

    import numpy

    from bench.measure_kernels import Buffer

    params, pointers = prepare(gpu, plan)
    for position, pointer in pointers.items():
        tables = [t for t in launch["data"] if t["param"] == position and fnmatchcase(plan.kernel, t["kernel"])]
        if tables:
            known = {key: tables[0][key] for key in ("kernel", "param", "type")}
            data = Buffer(**known, fill={key: value for key, value in tables[0].items() if key not in known}).data()
        else:
            data = numpy.random.default_rng(position).integers(0, 8, BUFFER_BYTES // 4, "int32")
        gpu.write(pointer, data)
    return params, pointers


def timed(folder: Path, launch: dict[str, Any], gpu: Gpu, cache: dict[Path, Any]) -> dict[str, Any] | None:
    """Microseconds before and after, and the number of blocks; None if the grid has no unused dimension."""
    if launch["free"] is None:
        return None
    plans = loaded(gpu, folder, launch, cache)
    grid = plans["before"].dims("grid")
    blocks = grid[0] * grid[1] * grid[2]
    most = min((1 << 31) - 1 if launch["free"] == 0 else 65535, MOST_BLOCKS // blocks)
    times = max(1, min(most, -(-FEWEST_BLOCKS // blocks)))
    params, pointers = _prepared(gpu, plans["before"], launch)

    def once(side: str, times: int) -> float:
        plan, large = plans[side], list(grid)
        large[launch["free"]] *= times
        driver = gpu.driver
        events = [gpu.call(driver.cuEventCreate, 0) for _ in range(2)]
        gpu.call(driver.cuEventRecord, events[0], 0)
        gpu.launch(plan.function, large, plan.dims("block"), plan.cluster, plan.dynamic_shared, params, wait=False)
        gpu.call(driver.cuEventRecord, events[1], 0)
        gpu.call(driver.cuEventSynchronize, events[1])
        took = 1000 * float(gpu.call(driver.cuEventElapsedTime, *events))
        for event in events:
            gpu.call(driver.cuEventDestroy, event)
        return took

    once("before", times), once("after", times)
    while once("before", times) < LONG_ENOUGH and 2 * times <= most:
        times *= 2
    took: dict[str, list[float]] = {side: [] for side in SIDES}
    for _ in range(RUNS):
        for side in SIDES:
            took[side].append(once(side, times))
    gpu.free(list(pointers.values()))
    return {"blocks": blocks * times, **{side: round(statistics.median(took[side]), 2) for side in SIDES}}


def measure(folder: Path, output: Path) -> None:
    """Measures everything: results and times, then counts under ncu; writes the results so far after each step."""
    plan = _plan(folder)
    results = output.with_suffix(".results.json")
    skip: list[str] = []  # launches that fail; everything later in the process fails with them
    while len(skip) < MOST_FAILED:
        command = [sys.executable, "-m", "bench.repairs", "run", str(folder), "--skip", ",".join(skip)]
        if subprocess.run([*command, "--results", str(results)]).returncode == 0:
            break
        done = set(json.loads(results.read_text())["same"]) if results.is_file() else set()
        skip.append(next(str(at) for at in range(len(plan["launches"])) if str(at) not in done and str(at) not in skip))
        print(f"{plan['launches'][int(skip[-1])]['demangled']} fails", flush=True)
    checked = json.loads(results.read_text())
    gpu, cache = Gpu(), {}
    plan["device"] = device_line(checked["device"])
    plan["launches"] = launches = [
        launch | {"same": checked["same"][str(at)]}
        for at, launch in enumerate(plan["launches"])
        if str(at) in checked["same"]
    ]
    for launch in launches:
        launch["microseconds"] = timed(folder, launch, gpu, cache)
    output.write_text(json.dumps(plan, indent=1))
    report = output.with_suffix(".ncu-rep")
    metrics = [WAVEFRONTS.format(kind) for kind in WAVEFRONT_KINDS] + [
        CONFLICTS.format(kind) for kind in CONFLICT_KINDS
    ]
    subprocess.run(
        [
            "ncu",
            "--clock-control",
            "none",
            "--cache-control",
            "none",
            "--metrics",
            ",".join(metrics),
            "--force-overwrite",
            "--export",
            str(report),
            *command,
        ],
        check=True,
    )
    actions = _actions(report, 2 * len(plan["launches"]))
    for launch, pair in zip(plan["launches"], zip(actions[::2], actions[1::2])):
        for side, action in zip(SIDES, pair):
            launch[side]["hardware"] = totals_of(action, WAVEFRONTS, WAVEFRONT_KINDS)
            launch[side]["conflicts"] = totals_of(action, CONFLICTS, CONFLICT_KINDS)
    output.write_text(json.dumps(plan, indent=1))
    print(f"{output}: {len(plan['launches'])} launches")


def _actions(report: Path, wanted: int) -> list[Any]:
    """The launches of a report. Raises SystemExit unless there are `wanted` of them."""
    context = import_ncu_report().load_report(str(report))
    actions = [
        context.range_by_idx(r).action_by_idx(a)
        for r in range(context.num_ranges())
        for a in range(context.range_by_idx(r).num_actions())
    ]
    if len(actions) != wanted:
        raise SystemExit(f"{len(actions)} launches in the report, {wanted} in the plan")
    return actions


def _plan(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "plan.json").read_text())
