"""Measures the kernels of samples/ and bench/kernels/ on an NVIDIA GPU: per instruction, and by hardware counters.

    python bench/measure_kernels.py build cubins/                      # anywhere: compiles every sample
    python bench/measure_kernels.py check cubins/                      # on a GPU: the matrix products are right
    python bench/measure_kernels.py measure cubins/ -o launches.json.gz  # on a GPU with ncu on the PATH
    python bench/measure_kernels.py read report.ncu-rep manifest.json -o launches.json.gz

`build` needs ptxaudit; the others only Python, numpy, cuda-bindings and Nsight Compute with its `ncu_report` module.
`measure` starts itself under `ncu` (`run`), which launches every kernel of every cubin with its launches in
*/launch.toml, and joins the report with the manifest that `run` writes: which launches, with which parameter bytes.
Memory behind pointers is zero unless */data.toml specifies it.

The result is one JSON document:
    device, site_columns, launches: [{kernel, cubin, workload, grid, block, cluster, dynamic_shared,
    param_bytes, sites: [[offset, sass, wavefronts, ideal, inst_executed, thread_inst_executed_true]],
    hardware: {"": …, "_op_ld": …}, conflicts: {…}}]
"""

from __future__ import annotations

import argparse
import gzip
import json
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
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from bench.profiled import (  # noqa: E402
    BUFFER_BYTES,
    BY_INSTRUCTION,
    CONFLICT_KINDS,
    CONFLICTS,
    SITE_COLUMNS,
    WAVEFRONT_KINDS,
    WAVEFRONTS,
    Gpu,
    device_line,
    import_ncu_report,
    sites_of,
    totals_of,
)

FOLDERS = (ROOT / "samples", ROOT / "bench" / "kernels")
SEED = 20  # of random buffers

# --- building -----------------------------------------------------------------------------------


def build(folder: Path) -> None:
    """Compiles NAME/NAME.cu to folder/NAME.cubin."""
    from ptxaudit.frontend.compile.nvrtc import compile_source

    folder.mkdir(parents=True, exist_ok=True)
    for sample in samples():
        expectations = read_toml(sample / "expect.toml")
        source = sample / f"{sample.name}.cu"
        compiled = compile_source(source, arch=expectations.get("arch", "sm_90"), **expectations.get("compile", {}))
        (folder / f"{sample.name}.cubin").write_bytes(compiled.cubin)
        print(f"{sample.name}.cubin by {compiled.compiler}")


def samples() -> list[Path]:
    """The folders of samples: each NAME has NAME.cu, launch.toml and maybe data.toml."""
    return [
        folder for parent in FOLDERS for folder in sorted(parent.iterdir()) if (folder / f"{folder.name}.cu").is_file()
    ]


def read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


# --- launching ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Buffer:
    """The contents of the memory that a pointer parameter points to, from data.toml."""

    kernel: str
    param: int
    type: str  # numpy type name
    fill: dict[str, Any]  # {value}, {start, step, modulo} or {low, high}: constant, counting, random

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


@dataclass(frozen=True)
class Planned:
    """One launch of one kernel."""

    sample: Path
    cubin: str
    kernel: str
    function: Any
    table: dict[str, Any]  # of launch.toml

    def dims(self, key: str) -> list[int]:
        return ([*self.table[key], 1, 1])[:3]

    @property
    def dynamic_shared(self) -> int:
        return self.table.get("dynamic_shared", 0)

    @property
    def cluster(self) -> list[int] | None:
        return self.dims("cluster") if "cluster" in self.table else None


def planned(gpu: Gpu, cubins: Path, only: str) -> Iterator[Planned]:
    """Every launch of every kernel, by sample, kernel and position in the launch file."""
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
    return [
        Buffer(
            **{key: table[key] for key in known}, fill={key: value for key, value in table.items() if key not in known}
        )
        for table in tables
    ]


def prepare(gpu: Gpu, plan: Planned) -> tuple[bytes, dict[int, int]]:
    """(parameter buffer, pointers by position); allocates the memory behind the pointers."""
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
        data[offset : offset + size] = encode(value, size)
    return bytes(data), pointers


def encode(value: Any, size: int) -> bytes:
    if isinstance(value, str):
        return bytes.fromhex(value)
    if isinstance(value, float):
        return struct.pack("<f" if size == 4 else "<d", value)
    return int(value).to_bytes(size, "little", signed=value < 0)


def run(cubins: Path, manifest: Path | None, only: str) -> None:
    """Launches everything once; writes the list of launches, in order."""
    gpu = Gpu()
    done = []
    for plan in planned(gpu, cubins, only):
        params, pointers = prepare(gpu, plan)
        gpu.launch(plan.function, plan.dims("grid"), plan.dims("block"), plan.cluster, plan.dynamic_shared, params)
        gpu.free(list(pointers.values()))
        done.append(
            {
                "kernel": plan.kernel,
                "cubin": plan.cubin,
                "workload": plan.sample.name,
                "origin": plan.sample.parent.name,
                "grid": plan.dims("grid"),
                "block": plan.dims("block"),
                "cluster": plan.cluster or [0, 0, 0],
                "dynamic_shared": plan.dynamic_shared,
                "param_bytes": params.hex(),
                "params_by": "this launch",
            }
        )
    if manifest:
        manifest.write_text(json.dumps({"device": gpu.name(), "launches": done}))
    print(f"{len(done)} launches")


# --- checking the matrix products ---------------------------------------------------------------

# kernel: (type of A and B, B is n x k, rows of C per block). Parameters: a, b, c, n, k; C is float, or int for bytes.
PRODUCTS = {
    "*gemm_int4*": ("float32", False, 128),
    "*gemm_async*": ("float32", False, 128),
    "sgemm_16": ("float32", False, 16),
    "sgemm_32": ("float32", False, 32),
    "sgemm_[rd]*": ("float32", False, 128),
    "hgemm_*": ("float16", False, 64),
    "wmma_gemm": ("float16", False, 64),
    "wgmma_gemm": ("float16", True, 64),
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
        k *= 4 if kind == "int8" else 1  # there k is in words
        m = plan.dims("grid")[1] * tile
        random = numpy.random.default_rng(SEED)
        a = random.integers(-4, 5, (m, k)).astype(kind)
        b = random.integers(-4, 5, (n, k) if transposed else (k, n)).astype(kind)
        for position, matrix in ((0, a), (1, b)):
            gpu.write(pointers[position], matrix)
        gpu.launch(plan.function, plan.dims("grid"), plan.dims("block"), plan.cluster, plan.dynamic_shared, params)
        found = gpu.read(pointers[2], "int32" if kind == "int8" else "float32", m * n).reshape(m, n)
        expected = a.astype("float64") @ (b.T if transposed else b).astype("float64")
        same = numpy.array_equal(found, expected)  # small integers: exact in every type
        wrong += not same
        print(f"{plan.kernel}: {'right' if same else 'WRONG'}")
        gpu.free(list(pointers.values()))
    if wrong:
        raise SystemExit(f"{wrong} matrix products are wrong")


# --- measuring ----------------------------------------------------------------------------------


def measure(cubins: Path, output: Path, only: str, report: Path) -> None:
    """Runs everything under ncu and writes the joined result."""
    manifest = report.with_suffix(".manifest.json")
    metrics = (
        [WAVEFRONTS.format(kind) for kind in WAVEFRONT_KINDS]
        + [CONFLICTS.format(kind) for kind in CONFLICT_KINDS]
        + list(BY_INSTRUCTION)
    )
    command = [
        "ncu",
        "--clock-control",
        "none",
        "--cache-control",
        "none",
        "--section",
        "SourceCounters",
        "--metrics",
        ",".join(metrics),
        "--force-overwrite",
        "--export",
        str(report),
        sys.executable,
        __file__,
        "run",
        str(cubins),
        "--manifest",
        str(manifest),
        "--only",
        only,
    ]
    subprocess.run(command, check=True)
    read(report, manifest, output)


def read(report: Path, manifest: Path, output: Path) -> None:
    """Joins a profiler's report with the manifest of the run, launch by launch in order."""
    ncu_report = import_ncu_report()
    document = json.loads(manifest.read_text())
    context = ncu_report.load_report(str(report))
    actions = [
        context.range_by_idx(r).action_by_idx(a)
        for r in range(context.num_ranges())
        for a in range(context.range_by_idx(r).num_actions())
    ]
    if len(actions) != len(document["launches"]):
        raise SystemExit(f"{len(actions)} launches in the report, {len(document['launches'])} in the manifest")
    for action, launch in zip(actions, document["launches"]):
        launch["sites"] = sites_of(action)
        launch["hardware"] = totals_of(action, WAVEFRONTS, WAVEFRONT_KINDS)
        launch["conflicts"] = totals_of(action, CONFLICTS, CONFLICT_KINDS)
    document["device"] = device_line(document["device"])
    document["site_columns"] = [*SITE_COLUMNS]
    document["param_bytes"] = "the parameter buffer of this launch"
    data = json.dumps(document, separators=(",", ":")).encode()
    output.write_bytes(gzip.compress(data, mtime=0) if output.suffix == ".gz" else data)
    print(f"{output}: {len(actions)} launches, {sum(len(launch['sites']) for launch in document['launches'])} sites")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="compile every sample to a folder of cubins")
    command.add_argument("folder", type=Path)
    for name, help in (
        ("run", "launch every kernel once"),
        ("check", "compare the matrix products with numpy"),
        ("measure", "run under ncu"),
    ):
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
