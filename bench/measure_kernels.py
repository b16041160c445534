"""Measures the kernels of samples/ and bench/kernels/ on an NVIDIA GPU: per instruction under the profiler, and by hardware counters.

    python bench/measure_kernels.py build cubins/                      # anywhere: compiles every sample
    python bench/measure_kernels.py check cubins/                      # on a GPU: the matrix products are right
    python bench/measure_kernels.py measure cubins/ -o launches.json.gz  # on a GPU with ncu on the PATH
    python bench/measure_kernels.py read report.ncu-rep manifest.json -o launches.json.gz

`build` needs ptxaudit; the others only Python, numpy, cuda-bindings and Nsight Compute with its
`ncu_report` module. `measure` starts itself under `ncu` (`run`), which launches every kernel of
every cubin with its launches of */launch.toml, and joins the report with the manifest that
`run` writes: which launch, with which parameter bytes. What pointers point to is zero, except
where */data.toml says otherwise.

The result is one JSON document:
    device, site_columns, launches: [{kernel, cubin, workload, grid, block, cluster, dynamic_shared,
    param_bytes, sites: [[offset, sass, wavefronts, ideal, inst_executed, thread_inst_executed_true]],
    hardware: {"": …, "_op_ld": …}, conflicts: {…}}]
"""

from __future__ import annotations

import argparse
import ctypes
import glob
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (ROOT / "samples", ROOT / "bench" / "kernels")
BUFFER_BYTES = 4 << 20           # more than any pointer parameter of a sample needs
SEED = 20                        # of random buffers

WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared{}.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared{}.sum"
WAVEFRONT_KINDS = ("", "_cmd_read", "_cmd_write", "_op_atom", "_op_ld", "_op_misc", "_op_st")
CONFLICT_KINDS = ("", "_op_atom", "_op_gmma", "_op_ld", "_op_ldgsts", "_op_st")
BY_INSTRUCTION = ("memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal", "inst_executed", "thread_inst_executed_true")

SHARED = re.compile(r"\b(LDS|STS|LDSM|STSM|ATOMS|LDGSTS|UBLKCP|STAS|\w*GMMA|REDAS)\b|\bUTMA\w+")
DUMMY = re.compile(r"@!U?PT\s+LDS\s+RZ")       # in front of each LDGSTS: predicated off, no site


# --- building -----------------------------------------------------------------------------------

def build(folder: Path) -> None:
    """Compiles NAME/NAME.cu to folder/NAME.cubin."""
    sys.path.insert(0, str(ROOT))
    from ptxaudit.nvrtc import compile_source

    folder.mkdir(parents=True, exist_ok=True)
    for sample in samples():
        expectations = read_toml(sample / "expect.toml")
        source = sample / f"{sample.name}.cu"
        compiled = compile_source(source, arch=expectations.get("arch", "sm_90"), **expectations.get("compile", {}))
        (folder / f"{sample.name}.cubin").write_bytes(compiled.cubin)
        print(f"{sample.name}.cubin by {compiled.compiler}")


def samples() -> list[Path]:
    """A folder NAME each, with NAME.cu, launch.toml and perhaps data.toml."""
    return [folder for parent in FOLDERS for folder in sorted(parent.iterdir()) if (folder / f"{folder.name}.cu").is_file()]


def read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


# --- launching ----------------------------------------------------------------------------------

@dataclass(frozen=True)
class Buffer:
    """What a pointer parameter points to, from data.toml."""

    kernel: str
    param: int
    type: str                    # numpy type name
    fill: dict[str, Any]         # {value}, {start, step, modulo} or {low, high}: constant, counting, random

    def data(self) -> Any:
        import numpy

        dtype = numpy.dtype(self.type)
        count = BUFFER_BYTES // dtype.itemsize
        fill = self.fill
        if "value" in fill:
            return numpy.full(count, fill["value"], dtype)
        if "low" in fill:
            random = numpy.random.default_rng(SEED + self.param)
            if dtype.kind == "f":
                return random.uniform(fill["low"], fill["high"], count).astype(dtype)
            return random.integers(fill["low"], fill["high"], count, dtype, endpoint=True)
        counting = fill.get("start", 0) + fill.get("step", 1) * (numpy.arange(count) % fill.get("modulo", count))
        return counting.astype(dtype)


class Gpu:
    """The first device through the driver API."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        self.driver = driver
        self.call(driver.cuInit, 0)
        self.device = self.call(driver.cuDeviceGet, 0)
        context = self.call(driver.cuDevicePrimaryCtxRetain, self.device)
        self.call(driver.cuCtxSetCurrent, context)

    def call(self, function: Any, *arguments: Any) -> Any:
        status, *values = function(*arguments)
        if int(status) != 0:
            raise RuntimeError(f"{function.__name__}: {status}")
        return values[0] if len(values) == 1 else values

    def name(self) -> str:
        return self.call(self.driver.cuDeviceGetName, 128, self.device).split(b"\0")[0].decode()

    def kernels(self, cubin: Path) -> dict[str, Any]:
        module = self.call(self.driver.cuModuleLoadData, cubin.read_bytes())
        count = self.call(self.driver.cuModuleGetFunctionCount, module)
        functions = self.call(self.driver.cuModuleEnumerateFunctions, count, module)
        return {self.call(self.driver.cuFuncGetName, function).decode(): function for function in functions}

    def parameters(self, function: Any) -> list[tuple[int, int]]:
        """(offset, size) in bytes of each parameter."""
        found: list[tuple[int, int]] = []
        while True:
            status, offset, size = self.driver.cuFuncGetParamInfo(function, len(found))
            if int(status) != 0:
                return found
            found.append((int(offset), int(size)))

    def allocate(self, data: Any = None) -> int:
        pointer = int(self.call(self.driver.cuMemAlloc, BUFFER_BYTES))
        self.call(self.driver.cuMemsetD8, pointer, 0, BUFFER_BYTES)
        if data is not None:
            self.write(pointer, data)
        return pointer

    def write(self, pointer: int, data: Any) -> None:
        self.call(self.driver.cuMemcpyHtoD, pointer, data.ctypes.data, data.nbytes)

    def read(self, pointer: int, dtype: str, count: int) -> Any:
        import numpy

        data = numpy.empty(count, dtype)
        self.call(self.driver.cuMemcpyDtoH, data.ctypes.data, pointer, data.nbytes)
        return data

    def free(self, pointers: list[int]) -> None:
        for pointer in pointers:
            self.call(self.driver.cuMemFree, pointer)

    def launch(self, function: Any, grid: list[int], block: list[int], cluster: list[int] | None, dynamic_shared: int, params: bytes) -> None:
        driver = self.driver
        if dynamic_shared > 48 << 10:
            limit = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.call(driver.cuFuncSetAttribute, function, limit, dynamic_shared)
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = grid
        config.blockDimX, config.blockDimY, config.blockDimZ = block
        config.sharedMemBytes = dynamic_shared
        if cluster and any(number > 1 for number in cluster):
            attribute = driver.CUlaunchAttribute()
            attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z = cluster
            config.attrs = [attribute]
            config.numAttrs = 1
        # One pointer a parameter, into a buffer that lives until the launch returns.
        raw = ctypes.create_string_buffer(params, max(len(params), 1))
        offsets = [offset for offset, _ in self.parameters(function)]
        places = (ctypes.c_void_p * max(len(offsets), 1))(*(ctypes.addressof(raw) + offset for offset in offsets))
        self.call(driver.cuLaunchKernelEx, config, function, ctypes.addressof(places), 0)
        self.call(driver.cuCtxSynchronize)


@dataclass(frozen=True)
class Planned:
    """One launch of one kernel."""

    sample: Path
    cubin: str
    kernel: str
    function: Any
    table: dict[str, Any]        # of launch.toml

    def dims(self, key: str) -> list[int]:
        return ([*self.table[key], 1, 1])[:3]

    @property
    def dynamic_shared(self) -> int:
        return self.table.get("dynamic_shared", 0)

    @property
    def cluster(self) -> list[int] | None:
        return self.dims("cluster") if "cluster" in self.table else None


def planned(gpu: Gpu, cubins: Path, only: str) -> Iterator[Planned]:
    """Every launch of every kernel, by sample, kernel and place in the launch file."""
    for sample in samples():
        cubin = cubins / f"{sample.name}.cubin"
        if not fnmatchcase(sample.name, only) or not cubin.is_file():
            continue
        tables = read_toml(sample / "launch.toml").get("launch", [])
        for kernel, function in sorted(gpu.kernels(cubin).items()):
            for table in tables:
                if fnmatchcase(kernel, table["kernel"]):
                    yield Planned(sample, cubin.name, kernel, function, table)


def buffers(sample: Path) -> list[Buffer]:
    tables = read_toml(sample / "data.toml").get("buffer", [])
    known = ("kernel", "param", "type")
    return [Buffer(**{key: table[key] for key in known}, fill={key: value for key, value in table.items() if key not in known}) for table in tables]


def prepare(gpu: Gpu, plan: Planned) -> tuple[bytes, dict[int, int]]:
    """(parameter buffer, pointers by position); allocates what pointers point to."""
    places = gpu.parameters(plan.function)
    values = plan.table.get("params", [])
    if len(places) != len(values):
        raise RuntimeError(f"{plan.kernel}: {len(values)} parameters in launch.toml, {len(places)} in the cubin")
    data = bytearray(max((offset + size for offset, size in places), default=0))
    pointers: dict[int, int] = {}
    for position, ((offset, size), value) in enumerate(zip(places, values)):
        if value == "?":
            filled = [b for b in buffers(plan.sample) if b.param == position and fnmatchcase(plan.kernel, b.kernel)]
            value = pointers[position] = gpu.allocate(filled[0].data() if filled else None)
        data[offset:offset + size] = encode(value, size)
    return bytes(data), pointers


def encode(value: Any, size: int) -> bytes:
    if isinstance(value, str):
        return bytes.fromhex(value)
    if isinstance(value, float):
        return struct.pack("<f" if size == 4 else "<d", value)
    return int(value).to_bytes(size, "little", signed=value < 0)


def run(cubins: Path, manifest: Path | None, only: str) -> None:
    """Launches everything once; writes what was launched, in order."""
    gpu = Gpu()
    done = []
    for plan in planned(gpu, cubins, only):
        params, pointers = prepare(gpu, plan)
        gpu.launch(plan.function, plan.dims("grid"), plan.dims("block"), plan.cluster, plan.dynamic_shared, params)
        gpu.free(list(pointers.values()))
        done.append({
            "kernel": plan.kernel, "cubin": plan.cubin, "workload": plan.sample.name, "origin": plan.sample.parent.name,
            "grid": plan.dims("grid"), "block": plan.dims("block"), "cluster": plan.cluster or [0, 0, 0],
            "dynamic_shared": plan.dynamic_shared, "param_bytes": params.hex(), "params_by": "this launch",
        })
    if manifest:
        manifest.write_text(json.dumps({"device": gpu.name(), "launches": done}))
    print(f"{len(done)} launches")


# --- checking the matrix products ---------------------------------------------------------------

# kernel: (type of A and B, B is n x k, rows of C a block). Parameters: a, b, c, n, k; C is float, or int for bytes.
PRODUCTS = {
    "*gemm_int4*": ("float32", False, 128), "*gemm_async*": ("float32", False, 128),
    "sgemm_16": ("float32", False, 16), "sgemm_32": ("float32", False, 32), "sgemm_[rd]*": ("float32", False, 128),
    "hgemm_*": ("float16", False, 64), "wmma_gemm": ("float16", False, 64), "wgmma_gemm": ("float16", True, 64),
    "igemm_dp4a": ("int8", True, 32),
}


def check(cubins: Path, only: str) -> None:
    """Runs the matrix products on random data and compares them with numpy's."""
    import numpy

    gpu = Gpu()
    wrong = 0
    for plan in planned(gpu, cubins, only):
        entry = next((value for pattern, value in PRODUCTS.items() if fnmatchcase(plan.kernel, pattern)), None)
        if entry is None:
            continue
        kind, transposed, tile = entry
        params, pointers = prepare(gpu, plan)
        n, k = plan.table["params"][3:5]
        k *= 4 if kind == "int8" else 1                          # there k counts words
        m = plan.dims("grid")[1] * tile
        random = numpy.random.default_rng(SEED)
        a = random.integers(-4, 5, (m, k)).astype(kind)
        b = random.integers(-4, 5, (n, k) if transposed else (k, n)).astype(kind)
        for position, matrix in ((0, a), (1, b)):
            gpu.write(pointers[position], matrix)
        gpu.launch(plan.function, plan.dims("grid"), plan.dims("block"), plan.cluster, plan.dynamic_shared, params)
        found = gpu.read(pointers[2], "int32" if kind == "int8" else "float32", m * n).reshape(m, n)
        expected = a.astype("float64") @ (b.T if transposed else b).astype("float64")
        same = numpy.array_equal(found, expected)                # small whole numbers: exact in every type
        wrong += not same
        print(f"{plan.kernel}: {'right' if same else 'WRONG'}")
        gpu.free(list(pointers.values()))
    if wrong:
        raise SystemExit(f"{wrong} matrix products are wrong")


# --- measuring ----------------------------------------------------------------------------------

def measure(cubins: Path, output: Path, only: str, report: Path) -> None:
    """Runs everything under ncu and writes the joined result."""
    manifest = report.with_suffix(".manifest.json")
    metrics = [WAVEFRONTS.format(kind) for kind in WAVEFRONT_KINDS] + [CONFLICTS.format(kind) for kind in CONFLICT_KINDS] + list(BY_INSTRUCTION)
    command = [
        "ncu", "--clock-control", "none", "--cache-control", "none", "--section", "SourceCounters",
        "--metrics", ",".join(metrics), "--force-overwrite", "--export", str(report),
        sys.executable, __file__, "run", str(cubins), "--manifest", str(manifest), "--only", only,
    ]
    subprocess.run(command, check=True)
    read(report, manifest, output)


def read(report: Path, manifest: Path, output: Path) -> None:
    """Joins a profiler's report with the manifest of the run, launch by launch in order."""
    ncu_report = import_ncu_report()
    document = json.loads(manifest.read_text())
    context = ncu_report.load_report(str(report))
    actions = [context.range_by_idx(r).action_by_idx(a) for r in range(context.num_ranges()) for a in range(context.range_by_idx(r).num_actions())]
    if len(actions) != len(document["launches"]):
        raise SystemExit(f"{len(actions)} launches in the report, {len(document['launches'])} in the manifest")
    for action, launch in zip(actions, document["launches"]):
        launch["sites"] = sites_of(action)
        launch["hardware"] = totals_of(action, WAVEFRONTS, WAVEFRONT_KINDS)
        launch["conflicts"] = totals_of(action, CONFLICTS, CONFLICT_KINDS)
    document["device"] = device_line(document["device"])
    document["site_columns"] = ["offset", "sass", "wavefronts (memory_l1_wavefronts_shared)", "ideal", "inst_executed", "thread_inst_executed_true"]
    document["param_bytes"] = "the parameter buffer of this launch"
    data = json.dumps(document, separators=(",", ":")).encode()
    output.write_bytes(gzip.compress(data, mtime=0) if output.suffix == ".gz" else data)
    print(f"{output}: {len(actions)} launches, {sum(len(launch['sites']) for launch in document['launches'])} sites")


def sites_of(action: Any) -> list[list[Any]]:
    """[offset, sass, wavefronts, ideal, inst_executed, thread_inst_executed_true] of each shared-memory instruction."""
    columns = {name: by_pc(action, name) for name in BY_INSTRUCTION}
    executed = columns["inst_executed"]
    base = min(executed)                                         # the entry is always executed
    sites = []
    for pc in sorted(set(executed) | set(columns["memory_l1_wavefronts_shared"])):
        text = " ".join(action.sass_by_pc(pc).split())
        shared = columns["memory_l1_wavefronts_shared"].get(pc, 0)
        if (SHARED.search(text) or shared) and not DUMMY.search(text):
            sites.append([pc - base, text, *(columns[name].get(pc, 0) for name in BY_INSTRUCTION)])
    return sites


def by_pc(action: Any, name: str) -> dict[int, int]:
    metric = action.metric_by_name(name)
    if metric is None:
        raise SystemExit(f"the report has no {name}")
    places = metric.correlation_ids()
    return {places.as_uint64(i): round(metric.as_double(i)) for i in range(metric.num_instances())}


def totals_of(action: Any, pattern: str, kinds: tuple[str, ...]) -> dict[str, float | None]:
    metrics = {kind: action.metric_by_name(pattern.format(kind)) for kind in kinds}
    return {kind: None if metric is None else metric.as_double() for kind, metric in metrics.items()}


def import_ncu_report() -> Any:
    """Nsight Compute's own reader, from beside the ncu that is on the PATH."""
    ncu = shutil.which("ncu")
    near = [Path(os.path.realpath(ncu)).parent] if ncu else []
    near += [Path(p) for p in sorted(glob.glob("/opt/nvidia/nsight-compute/*") + glob.glob("/usr/local/cuda*/nsight-compute-*"), reverse=True)]
    for folder in near:
        if (folder / "extras" / "python" / "ncu_report.py").is_file():
            sys.path.insert(0, str(folder / "extras" / "python"))
            break
    import ncu_report

    return ncu_report


def device_line(name: str) -> str:
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.split("\n")[0]
    ncu = re.search(r"Version (\d+\.\d+\.\d+)", subprocess.run(["ncu", "--version"], capture_output=True, text=True).stdout)
    return f"{name}, driver {driver}, Nsight Compute {ncu[1] if ncu else '?'}, --clock-control none --cache-control none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="compile every sample to a folder of cubins")
    command.add_argument("folder", type=Path)
    for name, help in (("run", "launch every kernel once"), ("check", "compare the matrix products with numpy"), ("measure", "run under ncu")):
        command = commands.add_parser(name, help=help)
        command.add_argument("cubins", type=Path)
        command.add_argument("--only", default="*", help="samples, as a glob")
        if name == "run":
            command.add_argument("--manifest", type=Path)
        if name == "measure":
            command.add_argument("-o", "--output", type=Path, required=True)
            command.add_argument("--report", type=Path, default=Path("kernels.ncu-rep"))
    command = commands.add_parser("read", help="join a report with its manifest")
    command.add_argument("report", type=Path)
    command.add_argument("manifest", type=Path)
    command.add_argument("-o", "--output", type=Path, required=True)
    chosen = vars(parser.parse_args())
    {"build": build, "run": run, "check": check, "measure": measure, "read": read}[chosen.pop("command")](**chosen)


if __name__ == "__main__":
    main()
