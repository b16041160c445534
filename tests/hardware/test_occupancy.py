"""Blocks per multiprocessor: the limits are the vendor's, and cases are derived by hand."""

from __future__ import annotations

import re

import pytest
from cuda_headers import header

from ptxaudit.hardware.occupancy import LIMITS, Blocks, blocks_per_sm, limits_of


def test_multiprocessor_limits_equal_those_of_cuda() -> None:
    text = header("cuda/__device/arch_traits.h")
    bodies = {
        int(name): body
        for name, body in re.findall(r"arch_traits<arch_id::sm_(\d+)>\(\) noexcept\n\{(.*?)\n\}", text, re.DOTALL)
    }
    assert set(LIMITS) <= set(bodies)

    def field(arch: int, name: str) -> int:
        if found := re.search(rf"__traits\.{name}\s*=\s*([\d *]+);", bodies[arch]):
            product = 1
            for factor in found[1].split("*"):
                product *= int(factor)
            return product
        base = re.search(r"arch_traits<arch_id::sm_(\d+)>", bodies[arch])
        return field(int(base[1]), name)

    for arch, limits in LIMITS.items():
        shared = field(arch, "max_shared_memory_per_multiprocessor")
        assert (limits.shared, limits.threads, limits.blocks) == (
            shared,
            field(arch, "max_threads_per_multiprocessor"),
            field(arch, "max_blocks_per_multiprocessor"),
        ), arch
        assert limits.reserved == (1024 if arch >= 80 else 0)
        assert limits.shared_of_block == (48 << 10 if arch < 70 else shared - limits.reserved)


def test_allocation_units_equal_those_of_cuda() -> None:
    text = header("cuda_occupancy.h")
    body = re.search(r"cudaOccSMemAllocationGranularity\(.*?\n\}", text, re.DOTALL)[0]
    units: dict[int, int] = {}
    waiting: list[int] = []
    for major, value in re.findall(r"case (\d+):|value = (\d+);", body):
        waiting += [int(major)] if major else []
        if value:
            units |= dict.fromkeys(waiting, int(value))
            waiting = []
    for arch, limits in LIMITS.items():
        assert limits.unit == units[arch // 10], arch


@pytest.mark.parametrize(
    ("arch", "shared", "threads", "blocks"),
    [
        ("sm_90", 4096, 1024, Blocks(2, "threads")),
        ("sm_90a", 33 * 1024, 256, Blocks(6, "shared memory")),  # 34 KB of 228
        ("sm_90", 227 * 1024, 128, Blocks(1, "shared memory")),
        ("sm_90", 227 * 1024 + 1, 128, Blocks(0, "shared memory")),
        ("sm_80", 1, None, Blocks(32, "blocks")),
        ("sm_75", 32 * 1024, 32, Blocks(2, "shared memory")),
        ("sm_75", 0, 32, Blocks(16, "blocks")),
        ("sm_86", 0, 1000, Blocks(1, "threads")),
        ("kepler-4byte", 1024, 32, None),
    ],
)
def test_blocks_per_multiprocessor(arch, shared, threads, blocks) -> None:
    assert blocks_per_sm(arch, shared, threads) == blocks


def test_unknown_architecture_has_no_limits() -> None:
    assert limits_of("sm_999") is None and limits_of("") is None
