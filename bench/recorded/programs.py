"""Third-party programs in CUDA C++: recorded through the driver, counted by Nsight Compute, compared.

    python -m bench.recorded.programs measure SUITE... -o FOLDER [--seconds N] [-I FOLDER...]    on a GPU with nvcc, ncu
    python -m bench.recorded.programs compare FOLDER [-j N] [--space all]         anywhere: the differences

A SUITE is a checkout of HeCBench (each `src/*-cuda` has a Makefile with a target `run`), of NVIDIA's cuda-samples
(each folder with a `.cu` is built by one call of nvcc, and run without arguments), or any other folder (CUTLASS with
its examples is one), in which each `.cu` with a function `main` is a program, run without arguments. The programs
that use shared memory, or a library that does, are built for the GPU's architecture with line information, several at
once. Each runs twice: once recorded (the first launch of each kernel, with its small input arrays), once counted (the
first launch of each kernel). Programs that do not build, or need data that the checkout lacks, are named and skipped.
This project keeps none of the sources and binaries: docs/truth.md has the figures.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parent.parent.parent
if str(CHECKOUT) not in sys.path:
    sys.path.insert(0, str(CHECKOUT))

from bench.profiled import BY_INSTRUCTION, WAVEFRONT_KINDS, WAVEFRONTS  # noqa: E402
from bench.recorded.measure import raw_page, source_page  # noqa: E402

ARCH = "sm_90a"
ARRAYS = 4096  # maximum bytes of an array that is kept: tables of coefficients, not the data
BUILD_SECONDS, RECORD_SECONDS, COUNT_SECONDS = 240, 40, 100
LAUNCHES = 10  # counted per program
REPEATS = 2  # replaces a last argument of 10 or more, which in HeCBench is how often a kernel is timed
MAIN = re.compile(r"\bmain *\(")
SHARES = re.compile(r"""__shared__|#include *[<"](cub|thrust|moderngpu|cutlass|cute)/""")
LIBRARIES = {"cublas": "cublas", "curand": "curand", "cufft": "cufft", "cuTensorMap": "cuda", "<cuda.h>": "cuda"}
MEMORY = ("memory_l2_theoretical_sectors_global", "memory_l1_tag_requests_global")


class Program(NamedTuple):
    """name; the folder where it is built and run; the commands for both, the second empty until it is built."""

    name: str
    folder: Path
    build: Sequence[str]
    run: Sequence[str] = ()


# --- the programs of a suite ----------------------------------------------------------------------


def programs(suite: Path, includes: Sequence[Path] = ()) -> Iterator[Program]:
    if (suite / "src").is_dir():
        yield from (made(folder) for folder in sorted((suite / "src").glob("*-cuda")) if uses_shared_memory(folder))
    elif (suite / "Samples").is_dir():
        folders = sorted({path.parent for path in (suite / "Samples").rglob("*.cu")})
        yield from (compiled(folder, suite) for folder in folders if uses_shared_memory(folder))
    else:
        for path in sorted(suite.rglob("*.cu")):
            text = path.read_text(errors="replace")
            if MAIN.search(text) and SHARES.search(text):
                yield alone(path, text, suite, includes)


def uses_shared_memory(folder: Path) -> bool:
    files = [path for path in folder.iterdir() if path.suffix in (".cu", ".cuh", ".h", ".hpp")]
    return any("__shared__" in path.read_text(errors="replace") for path in files)


def made(folder: Path) -> Program:
    """A HeCBench program."""
    return Program(folder.name, folder, ["make", "-s", f"ARCH={ARCH}", "EXTRA_CFLAGS=-lineinfo"])


def compiled(folder: Path, suite: Path) -> Program:
    """One of NVIDIA's samples."""
    sources = sorted(str(path.name) for path in folder.iterdir() if path.suffix in (".cu", ".cpp"))
    flags = ["-O3", "-std=c++17", f"-arch={ARCH}", "-lineinfo", "-rdc=false", f"-I{suite / 'Common'}", "-I."]
    return Program(folder.name, folder, ["nvcc", *flags, *sources, "-o", "main"], ["./main"])


def alone(source: Path, text: str, suite: Path, includes: Sequence[Path]) -> Program:
    """A program in a single file."""
    relative = source.relative_to(suite).with_suffix("")
    folders = [f"-I{folder}" for folder in (*includes, suite)]
    flags = [
        "-O3",
        "-std=c++17",
        "--extended-lambda",
        "--expt-relaxed-constexpr",
        f"-arch={ARCH}",
        "-lineinfo",
        *folders,
    ]
    libraries = sorted({f"-l{library}" for name, library in LIBRARIES.items() if name in text})
    name = "-".join((suite.name, *relative.parts))
    return Program(
        name, source.parent, ["nvcc", *flags, source.name, "-o", f"{name}.out", *libraries], [f"./{name}.out"]
    )


def how_it_is_run(program: Program) -> Sequence[str]:
    """The first command of its Makefile's target `run`, with few repetitions; empty if there is none."""
    if program.run:
        return program.run
    plan = subprocess.run(
        ["make", "-n", "run", "LAUNCHER=THE_PROGRAM"], cwd=program.folder, capture_output=True, text=True
    ).stdout.replace("\\\n", " ")
    (first, *_) = [*re.findall(r"THE_PROGRAM(.*)", plan), ""]
    words = [word for word in shlex.split(first) if word != "&&"]
    if words and words[-1].isdigit() and int(words[-1]) >= 10:
        words[-1] = str(REPEATS)
    return words


# --- on a GPU -------------------------------------------------------------------------------------


def measure(given: argparse.Namespace) -> None:
    """Builds, records and counts; of programs recorded before, counts those that are named."""
    out, includes = given.output.resolve(), [folder.resolve() for folder in given.include]
    until = time.monotonic() + given.seconds
    out.mkdir(parents=True, exist_ok=True)
    found = [program for suite in given.suites for program in programs(suite.resolve(), includes)]
    found = [program for program in found if not given.counted_only or program.name in given.counted_only]
    with ThreadPoolExecutor(given.jobs) as pool:
        ready = [program for program in pool.map(build, found) if program.run]
        print(f"{len(ready)} of {len(found)} are built", flush=True)
        if not given.counted_only:
            ready = [program for program in pool.map(lambda program: record(program, out), ready) if program.run]
        print(f"{until - time.monotonic():.0f} s are left to count {len(ready)}", flush=True)
        done = [*pool.map(lambda program: count(program, out / program.name, until), ready)]
    print(f"{sum(done)} are counted", flush=True)


def build(program: Program) -> Program:
    status, said = run(program.build, program.folder, BUILD_SECONDS)
    if status:
        print(f"{program.name}: not built: {said.strip()[-160:]!r}", flush=True)
        return program._replace(run=())
    return program._replace(run=how_it_is_run(program))


def record(program: Program, out: Path) -> Program:
    folder = out / program.name
    folder.mkdir(exist_ok=True)
    command = [
        *(sys.executable, "-m", "ptxaudit", "record", "--no-audit", "--via", "driver", "--arrays", str(ARRAYS)),
        *("--launches", "1", "-o", str(folder / "recording"), "--", *program.run),
    ]
    status, said = run(command, program.folder, RECORD_SECONDS)
    launches = folder / "recording" / "recorded.toml"
    if not launches.is_file() or "[[launch]]" not in launches.read_text():
        print(f"{program.name}: not recorded, status {status}: {said.strip()[-160:]!r}", flush=True)
        shutil.rmtree(folder)
        return program._replace(run=())
    return program


def count(program: Program, folder: Path, until: float) -> bool:
    """Profiles a program. Several do so at once, but the profiler measures only one kernel at a time."""
    limit = min(COUNT_SECONDS, until - time.monotonic())
    if limit < 5:
        print(f"{program.name}: left out for want of time", flush=True)
        return False
    folder.mkdir(exist_ok=True)
    metrics = [WAVEFRONTS.format(kind) for kind in WAVEFRONT_KINDS] + list(BY_INSTRUCTION) + list(MEMORY)
    with tempfile.TemporaryDirectory() as scratch:
        report = f"{scratch}/report"
        command = [
            *("ncu", "--clock-control", "none", "--cache-control", "none", "--kernel-name-base", "mangled"),
            *("--kernel-id", ":::1", "--launch-count", str(LAUNCHES), "--metrics", ",".join(metrics)),
            *("--section", "SourceCounters", "--force-overwrite", "--export", report, *program.run),
        ]
        status, said = run(command, program.folder, limit)
        for page, reduce in (("source", source_page), ("raw", raw_page)):
            whole = Path(scratch) / f"{page}.csv"
            export = ["ncu", "--import", f"{report}.ncu-rep", "--page", page, "--csv"]
            with whole.open("w") as stream:
                subprocess.run(export, stdout=stream, stderr=subprocess.DEVNULL)
            try:
                (folder / f"{page}.csv").write_text(reduce(whole))
            except (IndexError, ValueError):
                print(f"{program.name}: not counted, status {status}: {said.strip()[-160:]!r}", flush=True)
                return False
    return True


def run(command: Sequence[str], folder: Path, seconds: float) -> tuple[int, str]:
    """The status of a command, and its output; it and its children are killed after this many seconds."""
    paths = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")]))
    limited = ["timeout", "--kill-after=5", str(seconds), *command]
    done = subprocess.run(
        limited, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, env=os.environ | {"PYTHONPATH": paths}
    )
    return done.returncode, (done.stdout[-2000:] + done.stderr[-2000:]).decode(errors="replace")


# --- anywhere -------------------------------------------------------------------------------------


def compare(folder: Path, jobs: int, space: str, only: Sequence[str]) -> int:
    """Prints a line per program and the differences; returns the number of sites that differ."""
    names = [path.parent.name for path in sorted(folder.glob("*/source.csv"))]
    total: Counter[str] = Counter()
    with ProcessPoolExecutor(jobs) as pool:
        wanted = [name for name in names if not only or name in only]
        for name, (counts, lines) in zip(wanted, pool.map(held, [folder / n for n in wanted], [space] * len(wanted))):
            total.update(counts)
            print(name, dict(sorted(counts.items())), *lines, sep="\n    ", flush=True)
    print("all", dict(sorted(total.items())))
    return total["differs"] + total["unlisted"]


def held(place: Path, space: str) -> tuple[Counter[str], list[str]]:
    """The verdicts on the sites of a program, and a line for each that differs."""
    import ptxaudit
    from ptxaudit.review.ncu_csv import read_profiles
    from ptxaudit.review.profiles import compare_all

    try:
        profiles = read_profiles([str(place / page) for page in ("source.csv", "raw.csv")])
    except ptxaudit.InputError as error:  # the profiler counted nothing
        return Counter(), [str(error)]
    report = ptxaudit.audit(place / "recording", space=space)
    try:
        found = compare_all(report, profiles)
    except ptxaudit.InputError as error:  # another kernel than the recorded one
        return Counter(differs=1), [str(error)]
    counts: Counter[str] = Counter(launches=len(found.comparisons))
    lines = [str(problem) for problem in (*report.problems, *found.problems)]
    for one in found.comparisons:
        for row in (*one.rows, *one.memory):
            kind = "" if row in one.rows else " of global memory"
            counts[f"{row.verdict}{kind}"] += 1
            if str(row.verdict) in ("differs", "unlisted"):
                lines.append(f"{one.kernel.name} +{row.offset:#x}: {row.why}")
    return counts, lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("suites", nargs="+", type=Path)
    measuring.add_argument("-o", "--output", type=Path, required=True)
    measuring.add_argument("--seconds", type=float, default=540, help="for all of it")
    measuring.add_argument(
        *("-I", "--include"), action="append", default=[], type=Path, help="to build files that are alone"
    )
    measuring.add_argument("--counted-only", nargs="*", default=[], help="count these, recorded before")
    measuring.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="builds and recordings at once")
    comparing = commands.add_parser("compare")
    comparing.add_argument("folder", type=Path)
    comparing.add_argument("-j", "--jobs", type=int, default=1)
    comparing.add_argument("--space", default="shared")
    comparing.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    if given.command == "measure":
        measure(given)
    else:
        sys.exit(compare(given.folder, given.jobs, given.space, given.only) > 0)


if __name__ == "__main__":
    main()
