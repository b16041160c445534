"""Executes the kernels of a plan on a GPU.

    python3 measure.py FOLDER -o OUT                needs numpy and cuda-bindings

OUT/O3.npz and OUT/O0.npz have the results of each level of optimisation, (results, lanes) of 64 bits, in the order of
the plan; OUT/device.json names the device. Faults are printed, and leave zeros.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
from pathlib import Path

import numpy as np

LANES = 128


def call(function, *arguments):
    status, *values = function(*arguments)
    if int(status):
        raise RuntimeError(f"{function.__name__}: {status}")
    return values[0] if len(values) == 1 else values


def measured(folder: Path, level: str, plan: list, inputs: np.ndarray):
    """The results of all kernels."""
    from cuda.bindings import driver as d

    out = []
    for number, group in enumerate(plan):
        count = sum(len(p["results"]) for p in group)
        found = np.zeros((count, LANES), np.uint64)
        into, to = call(d.cuMemAlloc, inputs.nbytes), call(d.cuMemAlloc, found.nbytes)
        call(d.cuMemcpyHtoD, into, inputs.ctypes.data, inputs.nbytes)
        call(d.cuMemsetD8, to, 0, found.nbytes)
        module = call(d.cuModuleLoadData, (folder / f"{level}-{number}.cubin").read_bytes())
        function = call(d.cuModuleGetFunction, module, b"k")
        values = (int(into), int(to)), (ctypes.c_uint64, ctypes.c_uint64)
        call(d.cuLaunchKernel, function, 1, 1, 1, LANES, 1, 1, 0, 0, values, 0)
        call(d.cuMemcpyDtoH, found.ctypes.data, to, found.nbytes)
        call(d.cuModuleUnload, module)
        call(d.cuMemFree, into)
        call(d.cuMemFree, to)
        out.append(found)
    return np.concatenate(out)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--out", type=Path, required=True)
    chosen = parser.parse_args()
    from cuda.bindings import driver as d

    call(d.cuInit, 0)
    device = call(d.cuDeviceGet, 0)
    call(d.cuCtxSetCurrent, call(d.cuDevicePrimaryCtxRetain, device))
    chosen.out.mkdir(parents=True, exist_ok=True)
    name = call(d.cuDeviceGetName, 128, device).rstrip(b"\0 ").decode()
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    version = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()
    (chosen.out / "device.json").write_text(json.dumps({"device": f"{name}, driver {version}"}))
    plan, inputs = json.loads((chosen.folder / "plan.json").read_text()), np.load(chosen.folder / "inputs.npy")
    results = {level: measured(chosen.folder, level, plan, inputs) for level in ("O3", "O0")}
    np.savez_compressed(chosen.out / "O3.npz", results["O3"])
    rows = np.flatnonzero((results["O3"] != results["O0"]).any(axis=1))
    np.savez_compressed(chosen.out / "O0.npz", rows=rows, values=results["O0"][rows])  # where they differ
    print(len(results["O3"]), "results,", len(rows), "differ between -O3 and -O0")


if __name__ == "__main__":
    main()
