"""Occupancy: the vendor's own calculation, compiled, and kernels whose figures are derived by hand."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest
from cuda_headers import header

import ptxaudit
from ptxaudit.hardware.occupancy import LIMITS
from ptxaudit.report.model import Occupancy
from ptxaudit.report.resident import OF_BLOCK, REGISTER_FILE, occupancy

SEED, ROUNDS = 20, 4000
FIELDS = (
    "number",
    "threads",
    "shared",
    "registers",
    "barriers",
    "most_shared",
    "most_of_block",
    "reserved",
    "most_threads",
    "of_block",
)
ORACLE = """
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "cuda_occupancy.h"
int main(void) {
    long long number, threads, shared, registers, barriers, most_shared, most_of_block, reserved, most_threads, of_block;
    while (scanf("%lld %lld %lld %lld %lld %lld %lld %lld %lld %lld", &number, &threads, &shared, &registers, &barriers, &most_shared, &most_of_block, &reserved,
                 &most_threads, &of_block) == 10) {
        cudaOccDeviceProp device;
        cudaOccFuncAttributes function;
        cudaOccDeviceState state;
        cudaOccResult result;
        memset(&device, 0, sizeof device), memset(&function, 0, sizeof function), memset(&state, 0, sizeof state);
        device.computeMajor = number / 10, device.computeMinor = number % 10, device.warpSize = 32, device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = most_threads, device.regsPerMultiprocessor = 65536, device.regsPerBlock = of_block;
        device.sharedMemPerBlock = 49152, device.sharedMemPerMultiprocessor = most_shared, device.sharedMemPerBlockOptin = most_of_block;
        device.reservedSharedMemPerBlock = reserved, device.numSms = 1;
        function.maxThreadsPerBlock = INT_MAX, function.numRegs = registers, function.sharedSizeBytes = shared, function.numBlockBarriers = barriers;
        function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN, function.maxDynamicSharedSizeBytes = 0;
        state.cacheConfig = CACHE_PREFER_SHARED, state.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;
        int error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, (int)threads, 0);
        printf("%d\\n", error ? -error : result.activeBlocksPerMultiprocessor);
    }
    return 0;
}
"""


def test_occupancy_equals_the_vendors_header(tmp_path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    (tmp_path / "cuda_occupancy.h").write_text(header("cuda_occupancy.h"))
    (tmp_path / "oracle.c").write_text(ORACLE)
    subprocess.run([compiler, "-w", "-o", str(tmp_path / "oracle"), str(tmp_path / "oracle.c")], check=True)
    rng = random.Random(SEED)
    cases = [_case(rng, number) for number in LIMITS for _ in range(ROUNDS // len(LIMITS))]
    lines = "\n".join(" ".join(str(case[name]) for name in FIELDS) for case in cases)
    said = [
        int(line)
        for line in subprocess.run(
            [str(tmp_path / "oracle")], input=lines, capture_output=True, text=True, check=True
        ).stdout.split()
    ]
    assert len(said) == len(cases)
    assert sum(blocks > 0 for blocks in said) > len(said) / 3
    for case, blocks in zip(cases, said, strict=True):
        found = occupancy(f"sm_{case['number']}", case["threads"], case["shared"], case["registers"], case["barriers"])
        assert found.blocks_per_sm == blocks, (case, found)


def _case(rng: random.Random, number: int) -> dict[str, int]:
    limits = LIMITS[number]
    return {
        "number": number,
        "threads": rng.choice([rng.randint(1, 1024), 32 * rng.randint(1, 32), 128, 256]),
        "shared": rng.choice([0, 0, rng.randint(1, 8 << 10), rng.randint(1, limits.shared_of_block)]),
        "registers": rng.randint(1, 255),
        "barriers": rng.choice([0, 1, 1, 2, rng.randint(3, 16)]),
        "most_shared": limits.shared,
        "most_of_block": limits.shared_of_block,
        "reserved": limits.reserved,
        "most_threads": limits.threads,
        "of_block": OF_BLOCK.get(number, REGISTER_FILE),
    }


@pytest.mark.parametrize(
    ("arch", "threads", "shared", "registers", "barriers", "expected"),
    [
        ("sm_90", 256, 0, 32, 1, Occupancy(100.0, 8, "threads")),  # 8 × 8 warps of 64
        (
            "sm_90",
            256,
            0,
            33,
            1,
            Occupancy(75.0, 6, "registers"),
        ),  # 33 × 32 = 1,056 → 1,280 a warp; 12 warps a partition, 48
        ("sm_90", 256, 33 << 10, 32, 1, Occupancy(75.0, 6, "shared memory")),  # 228 / (33 + 1) = 6
        ("sm_90", 1024, 0, 65, 1, Occupancy(0.0, 0, "registers")),  # 65 × 32 → 2,304, × 32 warps: more than 65,536
        ("sm_90", 32, 0, 16, 16, Occupancy(6.25, 4, "barriers")),  # 64 barriers of 16 each
        ("sm_75", 1024, 0, 64, 16, Occupancy(100.0, 1, "threads")),  # barriers do not count yet
    ],
)
def test_occupancy_equals_figures_derived_by_hand(arch, threads, shared, registers, barriers, expected) -> None:
    assert occupancy(arch, threads, shared, registers, barriers) == expected


KERNEL = """
extern __shared__ float more[];
extern "C" __global__ void fixed(float* out) { __shared__ float s[33 * 256]; s[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] = s[255 - threadIdx.x]; }
extern "C" __global__ void dynamic(float* out) { more[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] = more[255 - threadIdx.x]; }
"""


def told(*launches):
    return {kernel.name: kernel.occupancy for kernel in ptxaudit.audit(KERNEL, isa="sass", launches=launches).kernels}


def test_report_has_the_occupancy_if_the_block_is_known() -> None:
    """33 KB of static shared memory and 1 KB for the system, six times in 228 KB: 6 blocks of 8 warps."""
    found = told(
        ptxaudit.Launch("fixed", grid=1, block=256),
        ptxaudit.Launch("dynamic", grid=1, block=256, dynamic_shared=33 << 10),
    )
    assert found == {"fixed": Occupancy(75.0, 6, "shared memory"), "dynamic": Occupancy(75.0, 6, "shared memory")}
    assert told() == {"fixed": None, "dynamic": None}
    assert told(ptxaudit.Launch("*", grid=2, block=256, cluster=2)) == {"fixed": None, "dynamic": None}
    assert told(ptxaudit.Launch("dynamic", grid=1, block=256))["dynamic"] is None  # its amount is not specified
