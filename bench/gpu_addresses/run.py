"""Runs the kernels that `build.py` made and writes their records: which lanes accessed what, request by request.

    python3 bench/gpu_addresses/run.py DIR -o addresses.json.gz         on a GPU; needs numpy and cuda-bindings

Threads write {2 * line + acts, address, converged lanes} for every access (tests/support/twin/instrument.py). Lanes of one
warp that name the same lanes at the same line for the k-th time were converged there: that is one request.

    {device, driver, toolchain, kernels: [{seed, text, block, grid, …, symbols: {name: address},
      requests: [[block number, warp, line, converged lanes, lanes that access, address of the first, difference to it,
      …], …]}]}
"""

from __future__ import annotations

import argparse
import base64
import ctypes
import gzip
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

EVENT_WORDS = 4
LANES = 32
GLOBAL_BYTES = 1 << 20  # the target of the pointer parameter


class Gpu:
    """The first device, accessed through the driver API."""

    def __init__(self) -> None:
        try:
            from cuda.bindings import driver
        except ImportError:
            from cuda import cuda as driver
        self.driver = driver
        self.call(driver.cuInit, 0)
        self.device = self.call(driver.cuDeviceGet, 0)
        self.call(driver.cuCtxSetCurrent, self.call(driver.cuDevicePrimaryCtxRetain, self.device))
        self.memory = int(self.call(driver.cuMemAlloc, GLOBAL_BYTES))
        self.call(driver.cuMemsetD8, self.memory, 0, GLOBAL_BYTES)

    def call(self, function, *arguments):
        status, *values = function(*arguments)
        if int(status) != 0:
            raise RuntimeError(f"{function.__name__}: {status}")
        return values[0] if len(values) == 1 else values

    def name(self) -> str:
        return self.call(self.driver.cuDeviceGetName, 128, self.device).rstrip(b"\0 ").decode()

    def events(self, kernel: dict, cubin: bytes) -> np.ndarray:
        """Runs a kernel; returns its log, (threads, 1 + events, 4) words."""
        driver = self.driver
        module = self.call(driver.cuModuleLoadData, cubin)
        function = self.call(driver.cuModuleGetFunction, module, b"k")
        log, size = self.call(driver.cuModuleGetGlobal, module, b"g_log")
        self.call(driver.cuMemsetD8, log, 0, size)
        parameters = bytearray(base64.b64decode(kernel["parameters"]))
        at = kernel["pointer_at"]
        parameters[at : at + 8] = self.memory.to_bytes(8, "little")
        raw = ctypes.create_string_buffer(bytes(parameters), len(parameters))
        places = (ctypes.c_void_p * len(kernel["offsets"]))(
            *(ctypes.addressof(raw) + offset for offset in kernel["offsets"])
        )
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = kernel["grid"]
        config.blockDimX, config.blockDimY, config.blockDimZ = kernel["block"]
        config.sharedMemBytes = kernel["dynamic"]
        if kernel["cluster"]:
            attribute = driver.CUlaunchAttribute()
            attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z = kernel["cluster"]
            config.attrs = [attribute]
            config.numAttrs = 1
        self.call(driver.cuLaunchKernelEx, config, function, ctypes.addressof(places), 0)
        self.call(driver.cuCtxSynchronize)
        data = np.empty(int(size) // 4, np.uint32)
        self.call(driver.cuMemcpyDtoH, data.ctypes.data, log, int(size))
        self.call(driver.cuModuleUnload, module)
        return data.reshape(-1, 1 + kernel["events"], EVENT_WORDS)


def requests_of(kernel: dict, events: np.ndarray) -> tuple[dict[str, int], list[list[int]]]:
    """(address of each shared variable, the requests)."""
    x, y, z = kernel["block"]
    threads = x * y * z
    symbols: dict[str, int] = {}
    together: dict[tuple, dict[int, tuple[bool, int]]] = defaultdict(dict)
    for number, row in enumerate(events):
        block, thread = divmod(number, threads)
        if row[0, 0] > kernel["events"]:
            raise RuntimeError(f"seed {kernel['seed']}: {row[0, 0]} events in a thread")
        seen: dict[tuple, int] = defaultdict(int)
        for word, address, mask, _ in row[1 : 1 + row[0, 0]].tolist():
            line, acts = divmod(word, 2)
            if line >= kernel["first_symbol"]:
                if block == 0:
                    symbols[kernel["variables"][line - kernel["first_symbol"]]] = address
                continue
            visit = seen[line, mask]
            seen[line, mask] += 1
            together[block, thread // LANES, line, mask, visit][thread % LANES] = bool(acts), address
    out = []
    for (block, warp, line, mask, _), lanes in together.items():
        if sum(1 << lane for lane in lanes) != mask:
            raise RuntimeError(
                f"seed {kernel['seed']}: line {line} was met by lanes {sorted(lanes)}, which say {mask:#x}"
            )
        acting = sorted(lane for lane, (acts, _) in lanes.items() if acts)
        addresses = [lanes[lane][1] for lane in acting]
        out.append(
            [
                block,
                warp,
                line,
                mask,
                sum(1 << lane for lane in acting),
                *addresses[:1],
                *(a - addresses[0] for a in addresses[1:]),
            ]
        )
    return symbols, sorted(out)


def run(folder: Path, first: int, results: Path) -> None:
    """Appends one line of JSON per kernel, from the kernel number `first` on."""
    manifest = json.loads((folder / "manifest.json").read_text())
    gpu = Gpu()
    with results.open("a") as out:
        for kernel in manifest["kernels"][first:]:
            line = {"seed": kernel["seed"]}
            try:
                line["symbols"], line["requests"] = requests_of(
                    kernel, gpu.events(kernel, (folder / kernel["cubin"]).read_bytes())
                )
            except RuntimeError as error:
                line["error"] = str(error)
            print(json.dumps(line, separators=(",", ":")), file=out, flush=True)
            if "cu" in line.get("error", ""):
                raise SystemExit(f"{line['error']} at seed {kernel['seed']}")  # the context is lost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--first", type=int, help="run in this process, from this kernel on")
    options = parser.parse_args()
    lines = options.output.with_suffix(".lines")
    if options.first is not None:
        return run(options.folder, options.first, lines)
    manifest = json.loads((options.folder / "manifest.json").read_text())
    lines.write_text("")
    while (done := len(lines.read_text().splitlines())) < len(
        manifest["kernels"]
    ):  # after a fault, a new process continues
        subprocess.run([sys.executable, __file__, str(options.folder), "-o", str(options.output), "--first", str(done)])
        if len(lines.read_text().splitlines()) == done:
            raise SystemExit("no kernel could be run")
    kept, failed = [], []
    for kernel, line in zip(manifest["kernels"], map(json.loads, lines.read_text().splitlines()), strict=True):
        if "error" in line:
            failed.append(f"seed {kernel['seed']}: {line['error']}")
            continue
        data = {k: kernel[k] for k in ("seed", "text", "grid", "block", "cluster", "dynamic", "events", "parameters")}
        kept.append({**data, "symbols": line["symbols"], "requests": line["requests"]})
    gpu = Gpu()
    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True
    ).stdout.split("\n")[0]
    document = {
        "device": gpu.name(),
        "driver": driver,
        "toolchain": manifest["toolchain"],
        "failed": failed,
        "kernels": kept,
    }
    options.output.write_bytes(gzip.compress(json.dumps(document, separators=(",", ":")).encode(), 9, mtime=0))
    lines.unlink()
    print(
        f"{options.output}: {len(kept)} kernels, {sum(len(k['requests']) for k in kept)} requests, {len(failed)} failed"
    )
    print("\n".join(failed[:20]))


if __name__ == "__main__":
    main()
