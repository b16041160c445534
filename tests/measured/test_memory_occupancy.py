"""Occupancy of every measured launch, compared with the driver and the profiler, and where it changes."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import tarfile
from functools import cache
from math import prod
from pathlib import Path

import pytest
from cuda_headers import header
from paths import DATA

from ptxaudit.frontend.artifacts.cubin import read_cubin
from ptxaudit.frontend.artifacts.usage import usage
from ptxaudit.report.resident import occupancy, steps

DOCUMENT = json.loads(gzip.decompress((DATA / "memory_sm90" / "launches.json.gz").read_bytes()))
LIMITS = [f"launch__occupancy_limit_{name}" for name in ("blocks", "registers", "shared_mem", "warps", "barriers")]


@cache
def launches(name: str) -> list[tuple[dict, int, int, int]]:
    """(launch, registers, barriers, static shared memory) for each launch of a set."""
    return list(_launches(name))


def _launches(name: str):
    with tarfile.open(DATA / name / "cubins.tar.xz") as archive:
        files = {Path(member.name).name: archive.extractfile(member).read() for member in archive if member.isfile()}
    takes = {file: usage(data) for file, data in files.items()}
    static = {file: {f.name: f.shared_static for f in read_cubin(data, file).functions} for file, data in files.items()}
    for entry in json.loads(gzip.decompress((DATA / name / "launches.json.gz").read_bytes()))["launches"]:
        taken = takes[entry["cubin"]][entry["kernel"]]
        yield entry, taken.registers, taken.barriers, static[entry["cubin"]][entry["kernel"]]


@pytest.mark.parametrize("name", [*DOCUMENT["occupancy_of_sets"], "memory_sm90"])
def test_blocks_per_multiprocessor_equal_the_driver(name):
    said = DOCUMENT["occupancy_of_sets"].get(name)
    seen = 0
    for at, (entry, registers, barriers, static) in enumerate(launches(name)):
        found = occupancy("sm_90", prod(entry["block"]), static + entry["dynamic_shared"], registers, barriers)
        if said is not None:
            assert found.blocks_per_sm == said[at], entry["kernel"]
        else:
            told = entry["of_launch"]
            assert found.blocks_per_sm == min(told[limit] for limit in LIMITS if told.get(limit) is not None), entry[
                "kernel"
            ]
            assert found.percent == pytest.approx(told["sm__maximum_warps_per_active_cycle_pct"]), entry["kernel"]
        seen += 1
    assert seen == len(said or DOCUMENT["launches"])


CALCULATOR = """
#include <cstdio>
#include <cuda_occupancy.h>
int main() {
    cudaOccDeviceProp gpu;
    gpu.computeMajor = 9; gpu.computeMinor = 0; gpu.maxThreadsPerBlock = 1024; gpu.maxThreadsPerMultiprocessor = 2048;
    gpu.regsPerBlock = 65536; gpu.regsPerMultiprocessor = 65536; gpu.warpSize = 32; gpu.sharedMemPerBlock = 48 << 10;
    gpu.sharedMemPerMultiprocessor = 228 << 10; gpu.numSms = 132; gpu.sharedMemPerBlockOptin = 227 << 10;
    gpu.reservedSharedMemPerBlock = 1 << 10;
    cudaOccDeviceState state;
    int threads, registers, barriers, of_code, dynamic;
    while (std::scanf("%d %d %d %d %d", &threads, &registers, &barriers, &of_code, &dynamic) == 5) {
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = 1024; kernel.numRegs = registers; kernel.sharedSizeBytes = of_code;
        kernel.partitionedGCConfig = PARTITIONED_GC_OFF; kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = dynamic; kernel.numBlockBarriers = barriers;
        cudaOccResult found;
        int wrong = cudaOccMaxActiveBlocksPerMultiprocessor(&found, &gpu, &kernel, &state, threads, dynamic);
        std::printf("%d\\n", wrong ? -wrong : found.activeBlocksPerMultiprocessor);
    }
}
"""


@pytest.fixture(scope="module")
def calculator(tmp_path_factory) -> Path:
    """The vendor's occupancy calculator, a header of CUDA, compiled as a program."""
    folder = tmp_path_factory.mktemp("calculator")
    (folder / "cuda_occupancy.h").write_text(header("cuda_occupancy.h"))
    (folder / "main.cpp").write_text(CALCULATOR)
    if shutil.which("g++") is None:
        pytest.skip("g++ is not here")
    subprocess.run(["g++", "-I.", "main.cpp", "-o", "calculator"], cwd=folder, check=True)
    return folder / "calculator"


@pytest.mark.parametrize("name", sorted(path.parent.name for path in DATA.glob("*/cubins.tar.xz")))
def test_blocks_per_multiprocessor_equal_the_vendors_calculator(calculator, name):
    """Compares every launch of every measured set."""
    asked, found = [], []
    for entry, registers, barriers, static in launches(name):
        threads, dynamic = prod(entry["block"]), entry["dynamic_shared"]
        asked.append(f"{threads} {registers} {barriers} {static} {dynamic}")
        found.append(occupancy("sm_90", threads, static + dynamic, registers, barriers).blocks_per_sm)
    said = subprocess.run([calculator], input="\n".join(asked), capture_output=True, text=True, check=True).stdout
    assert found == [int(line) for line in said.split()] and len(found) > 3


PIECE = 64  # bytes: half the unit in which shared memory is allocated, within which nothing changes


@pytest.mark.parametrize(
    "registers, shared, threads",
    [(40, 34_000, 256), (32, 0, 1024), (255, 100_000, 128), (16, 0, 32), (128, 48 << 10, 96)],
)
def test_occupancy_steps_are_where_the_blocks_change(registers, shared, threads):
    now = occupancy("sm_90", threads, shared, registers, 1)
    found = {
        (step.resource, step.at > (registers if step.resource == "registers" else shared)): step
        for step in steps(now, "sm_90", threads, shared, registers, 1)
    }
    every = {
        "registers": {n: occupancy("sm_90", threads, shared, n, 1).blocks_per_sm for n in range(1, 256)},
        "shared memory": {
            n: occupancy("sm_90", threads, n, registers, 1).blocks_per_sm
            for n in range((227 << 10) + 1)
            if n % PIECE in (0, 1, PIECE - 1)
        },
    }
    for resource, blocks in every.items():
        more = [n for n, count in blocks.items() if count > now.blocks_per_sm]
        fewer = [n for n, count in blocks.items() if count < now.blocks_per_sm]
        assert (found[resource, False].at if more else None) == (max(more) if more else None)
        assert ((resource, False) in found) == bool(more) and ((resource, True) in found) == bool(fewer)
        if fewer:
            assert found[resource, True].at == min(fewer) and found[resource, True].blocks_per_sm == blocks[min(fewer)]
