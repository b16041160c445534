"""Records programs of frameworks while Nsight Compute counts their launches.

    python -m bench.recorded.measure FOLDER              on a GPU with ncu on the PATH: records, counts, exports
    python -m bench.recorded.measure FOLDER --keep tests/data/recorded_sm90      anywhere: extracts what is committed

Each program runs once, under both: `ncu … python -m ptxaudit record … -- python triton_program.py`. FOLDER gets one
folder per program, with the recording, `source.csv` and `raw.csv` (`ncu --import … --page source|raw --csv`), and
`facts.json`. Recording through the driver and the profiler exclude each other: the C++ program, which does the same
each time, therefore runs once for each. Programs whose launches would interfere with the profiler are recorded and
not counted.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import platform
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parent
if str(HERE.parent.parent) not in sys.path:
    sys.path.insert(0, str(HERE.parent.parent))

from bench.profiled import BY_INSTRUCTION, WAVEFRONT_KINDS, WAVEFRONTS, device_line  # noqa: E402

COUNTED = {
    "triton": ("triton", "torch", "numpy"),
    "gluon": ("triton", "torch", "numpy"),
    "cupy": ("cupy-cuda13x", "cupy-cuda12x", "cupy", "numpy"),
    "core": ("cuda-core", "cuda-bindings"),
    "numba": ("numba-cuda", "numba", "cuda-core", "numpy"),
    "pycuda": ("pycuda", "numpy"),
    "native": ("nvidia-cuda-cupti",),
}
LIBRARIES = {
    "cupy_library": COUNTED["cupy"],
    "cupy_numerics": COUNTED["cupy"],
    "torch_library": ("torch", "numpy"),
}  # third-party: not kept
THROUGH_THE_DRIVER = {"native", *LIBRARIES}  # recorded this way, in a separate run
RECORDED_ONLY = {"inductor": ("torch", "triton"), "pallas": ("jax", "jaxlib")}
ARRAYS = 65536  # maximum bytes of an array that is kept
LONGEST = 400  # seconds per program
KEPT_COLUMNS = (
    *("Address", "Source", "Instructions Executed", "L1 Wavefronts Shared", "L1 Wavefronts Shared Ideal"),
    *("L2 Theoretical Sectors Global", "L1 Tag Requests Global"),
    "# Samples",  # distinguishes a second launch from a table that is written twice
)
KEPT_RAW = ("ID", "Kernel Name", "Block Size", "Grid Size")


def program(name: str) -> list[str]:
    return [f"./{name}_program"] if name == "native" else ["python3", f"{name}_program.py"]


def record(name: str) -> list[str]:
    """The command that records a program."""
    via = "driver" if name in THROUGH_THE_DRIVER else "auto" if name == "pallas" else "frameworks"
    return [
        *(sys.executable, "-m", "ptxaudit", "record", "--no-audit", "--via", via, "--arrays", str(ARRAYS)),
        *("-o", "recording", "--", *program(name)),
    ]


def counted(name: str) -> list[str]:
    """The command that counts a program's launches, and records it too if both are possible at once."""
    metrics = [WAVEFRONTS.format(kind) for kind in WAVEFRONT_KINDS] + list(BY_INSTRUCTION)
    return [
        *("ncu", "--target-processes", "all", "--clock-control", "none", "--cache-control", "none"),
        *("--section", "SourceCounters", "--metrics", ",".join(metrics), "--force-overwrite", "--export", name),
        *(program(name) if name in THROUGH_THE_DRIVER else record(name)),
    ]


def commands(name: str) -> list[list[str]]:
    if name in RECORDED_ONLY:
        return [record(name)]
    return [record(name), counted(name)] if name in THROUGH_THE_DRIVER else [counted(name)]


def make(name: str, place: Path) -> None:
    """Creates the program in the folder where it runs."""
    if name == "native":
        source = f"{name}_program.cu"
        (place / source).write_bytes((HERE / source).read_bytes())
        run(["nvcc", "-lineinfo", "-o", f"{name}_program", source], place)
    else:
        (place / f"{name}_program.py").write_bytes((HERE / f"{name}_program.py").read_bytes())


def measure(folder: Path, only: list[str]) -> None:
    """Runs every program; one that fails does not stop the others."""
    for name, packages in {**COUNTED, **LIBRARIES, **RECORDED_ONLY}.items():
        if only and name not in only:
            continue
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        make(name, place)
        for command in commands(name):
            run(command, place)
        if name not in RECORDED_ONLY:
            for page in ("source", "raw"):
                run(["ncu", "--import", f"{name}.ncu-rep", "--page", page, "--csv"], place, place / f"{page}.csv")
        facts = {
            "device": device_line(gpu()),
            "python": platform.python_version(),
            "packages": dict(installed(packages)),
            "command": "; ".join(" ".join(command).replace(sys.executable, "python") for command in commands(name)),
        }
        (place / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")


def run(command: list[str], folder: Path, output: Path | None = None) -> None:
    path = os.pathsep.join(filter(None, [str(HERE.parent.parent), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path, "TRITON_CACHE_DIR": str(folder / "cache")}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        print(f"{folder.name}: took more than {LONGEST} s", flush=True)
        return
    if output is None:
        print(f"{folder.name}: status {done.returncode}", done.stderr[-3000:], done.stdout[-600:], sep="\n", flush=True)
    else:
        output.write_text(done.stdout)


def gpu() -> str:
    query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True).stdout.split("\n")[0]


def installed(packages: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for package in packages:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue


# --- what is kept ---------------------------------------------------------------------------------


def keep(folder: Path, out: Path) -> None:
    """Keeps the recordings, and the columns of the exports that are compared."""
    out.mkdir(parents=True, exist_ok=True)
    for name in COUNTED:
        place = folder / name
        recording = place / "recording"
        if not (recording / "recorded.toml").is_file() or "[[launch]]" not in (recording / "recorded.toml").read_text():
            continue  # it did not run
        with tarfile.open(out / f"{name}.tar.xz", "w:xz", preset=9) as archive:
            for path in sorted(recording.rglob("*")):
                if path.is_file():
                    add(archive, str(path.relative_to(recording)), path.read_bytes())
            add(archive, "source.csv", source_page(place / "source.csv").encode())
            add(archive, "raw.csv", raw_page(place / "raw.csv").encode())
            add(archive, "facts.json", (place / "facts.json").read_bytes())


def add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def source_page(path: Path) -> str:
    """The tables of a source page, with the columns that are read."""
    rows: list[list[str]] = []
    columns: list[int] = []
    for cells in csv.reader(io.StringIO(path.read_text())):
        if len(cells) >= 2 and cells[0] == "Kernel Name":
            rows.append(cells[:2])
        elif {"Address", "Source"} <= {*cells}:
            names = [name for name in KEPT_COLUMNS if name in cells]  # the shortest kernels have no samples
            columns = [cells.index(name) for name in names]
            rows.append(names)
        elif columns and len(cells) > max(columns):
            rows.append([cells[at] for at in columns])
    return written(rows)


def raw_page(path: Path) -> str:
    rows = list(csv.reader(io.StringIO("".join(line for line in path.open() if line.startswith('"')))))
    head = rows[0]
    columns = [at for at, name in enumerate(head) if name in KEPT_RAW or "wavefronts_mem_shared" in name]
    return written([[row[at] for at in columns] for row in rows])


def written(rows: list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="programs")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write what is committed there")
    given = parser.parse_args()
    if given.keep:
        keep(given.folder, given.keep)
    else:
        measure(given.folder, given.only)


if __name__ == "__main__":
    main()
