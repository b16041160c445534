"""Runs the kernels that build.py assembled on a GPU, and writes the results.

    python3 measure.py -o special.npz        in the folder of build.py; needs numpy and cuda-bindings; about a minute

device                            name, driver
checksums/FUNCTION                (65536,) uint64: of each 65,536 inputs, with the upper 16 bits in order
period/FUNCTION/EXPONENT          (2**23,) uint32: results for the inputs with this exponent field, sign 0
check                             (256, 256, 4, 8, 8) bool, packed: FCHK by both operands' exponents, signs, fractions
operands/TYPE, operations/PTX     (3, n) and (n,) uint64
indices/VARIANT/NAME              (x,) uint32
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
FUNCTIONS = ("rcp", "rsq", "sqrt", "ex2", "lg2", "sin", "cos", "rcp64h", "rsq64h")
PERIODS = {"rcp": (127,), "rsq": (127, 128), "sqrt": (127, 128), "ex2": (127,), "lg2": (128,), "sin": (125,)}
FRACTIONS = np.array([0, 1, 0x3FFFFF, 0x400000, 0x7FFFFE, 0x7FFFFF, 0x123456, 0x6ABCDE], np.uint32)
ROOM = 64 << 20  # bytes of each of two buffers
THREADS = 256


class Device:
    """The first GPU: kernels with one-dimensional launches, an output and an input buffer."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        self.driver, self.modules = driver, {}
        self._call(driver.cuInit, 0)
        device = self._call(driver.cuDeviceGet, 0)
        self._call(driver.cuCtxSetCurrent, self._call(driver.cuDevicePrimaryCtxRetain, device))
        self.out, self.into = (int(self._call(driver.cuMemAlloc, ROOM)) for _ in range(2))
        name = self._call(driver.cuDeviceGetName, 128, device).rstrip(b"\0 ").decode()
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        self.name = (
            f"{name}, driver {subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()}"
        )

    def _call(self, function, *arguments):
        status, *values = function(*arguments)
        if int(status):
            raise RuntimeError(f"{function.__name__}: {status}")
        return values[0] if len(values) == 1 else values

    def run(
        self,
        file: str,
        kernel: str,
        blocks: int,
        result: np.dtype,
        count: int,
        *numbers: int,
        given: np.ndarray | None = None,
    ) -> np.ndarray:
        """Runs a kernel; returns `count` results. Parameters: the output, the input if given, then 32-bit numbers."""
        driver = self.driver
        if file not in self.modules:
            self.modules[file] = self._call(driver.cuModuleLoadData, (HERE / file).read_bytes())
        function = self._call(driver.cuModuleGetFunction, self.modules[file], kernel.encode())
        out = np.zeros(count, result)
        self._call(driver.cuMemsetD8, self.out, 0, out.nbytes)
        held = [ctypes.c_uint64(self.out)]
        if given is not None:
            given = np.ascontiguousarray(given)
            self._call(driver.cuMemcpyHtoD, self.into, given.ctypes.data, given.nbytes)
            held.append(ctypes.c_uint64(self.into))
        held += [ctypes.c_uint32(n) for n in numbers]
        places = (ctypes.c_void_p * len(held))(*(ctypes.addressof(h) for h in held))
        self._call(driver.cuLaunchKernel, function, blocks, 1, 1, THREADS, 1, 1, 0, 0, ctypes.addressof(places), 0)
        self._call(driver.cuCtxSynchronize)
        self._call(driver.cuMemcpyDtoH, out.ctypes.data, self.out, out.nbytes)
        return out


def measured(device: Device, folder: Path) -> dict[str, np.ndarray]:
    manifest = json.loads((folder / "manifest.json").read_text())
    found = {"device": np.array(device.name)}
    for name in FUNCTIONS:
        sums = [device.run("functions.cubin", f"sum_{name}", 65536, np.uint64, 65536, low) for low in (0, 0x9E3779B1)]
        if not np.array_equal(*sums):
            raise RuntimeError(f"{name} depends on the lower word of a double")
        found[f"checksums/{name}"] = sums[0]
    for name, exponents in PERIODS.items():
        for exponent in exponents:
            found[f"period/{name}/{exponent}"] = device.run(
                "functions.cubin", f"dump_{name}", (1 << 23) // THREADS, np.uint32, 1 << 23, exponent << 23
            )
    found["check"] = np.packbits(
        device.run("functions.cubin", "fchk", 65536, np.uint8, 65536 * THREADS, given=FRACTIONS)
    )
    return found | _operations(device, manifest, dict(np.load(folder / "operands.npz"))) | _indices(device, manifest)


def _operations(device: Device, manifest: dict, operands: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    found = {f"operands/{kind}": numbers for kind, numbers in operands.items()}
    count = manifest["operands"]
    for k, (ptx, sources, _) in enumerate(manifest["operations"]):
        given = np.stack([operands.get(kind, operands["i"])[at] for at, kind in enumerate(sources)])
        found[f"operations/{ptx}"] = device.run(
            "operations.cubin", f"op{k}", count // THREADS, np.uint64, count, count, given=given
        )
    return found


def _indices(device: Device, manifest: dict) -> dict[str, np.ndarray]:
    count = manifest["x"]
    return {
        f"indices/{variant}/{name}": device.run(
            f"indices_{variant}.cubin", f"i_{name}", count // manifest["block"], np.uint32, count, manifest["a"], 0
        )
        for variant in manifest["variants"]
        for name in manifest["indices"]
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    np.savez_compressed(options.output, **measured(Device(), HERE))


if __name__ == "__main__":
    main()
