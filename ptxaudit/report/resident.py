"""Computes how many warps of a kernel a multiprocessor holds at a time: its occupancy.

    sm_90, 40 registers, 256 threads, 34 KB of shared memory  ->  Occupancy(75.0, 6, "shared memory"): 48 of 64 warps

It follows CUDA's `cuda_occupancy.h`, with the preference for shared memory that a launch asks for by itself:
`occupancy` covers shared memory, threads and blocks; this module adds registers (cudaOccMaxBlocksPerSMRegsLimit) and
barriers, which count from sm_90 on (cudaOccMaxBlocksPerSMBlockBarrierLimit). test_resident.py compiles that
header and compares. The occupancy of clusters of more than one block also depends on the device's clusters, and is
not computed. A launch that does not specify dynamic shared memory has none, unless the kernel surely uses some: then
the occupancy is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import prod

from msgspec.structs import replace

from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware.occupancy import blocks_per_sm, limits_of
from ptxaudit.ir import nodes as ir
from ptxaudit.report.model import Occupancy, Step

WARP = 32  # threads
REGISTER_FILE = 64 * 1024  # registers per multiprocessor, sm_50 and later
OF_BLOCK = {53: 32 * 1024, 62: 32 * 1024}  # registers available to a block, where fewer than all
UNIT = 256  # a warp's registers are allocated in multiples of this
PARTITIONS = 4  # per multiprocessor, each with its share of the registers
OF_SM_60 = 2  # sm_60 has two, but runs no block that would not fit in four
MOST_REGISTERS = 255  # per thread
COUNT_BARRIERS = 90  # the first architecture where barriers limit the blocks
TWICE = (90, 100)  # with twice as many barriers as blocks; other later architectures have as many as blocks


def occupancy_of(
    function: ir.Function, launch: Launch | None, registers: int | None, barriers: int | None
) -> Occupancy | None:
    """The occupancy of a kernel under a launch, or with the block size that it requires; None where the block, the
    registers or the limits of the architecture are unknown."""
    block = launch.block if launch is not None else function.block
    cluster = launch.cluster if launch is not None else function.cluster
    if block is None or registers is None or prod(cluster or (1,)) > 1:
        return None
    dynamic = launch.dynamic_shared if launch is not None else None
    if dynamic is None and _has_dynamic(function):
        return None
    shared = function.shared_static + (dynamic or 0)
    found = occupancy(function.arch, prod(block), shared, registers, barriers or 0)
    return found and replace(
        found, steps=tuple(steps(found, function.arch, prod(block), shared, registers, barriers or 0))
    )


def steps(found: Occupancy, arch: str, threads: int, shared: int, registers: int, barriers: int) -> Iterator[Step]:
    """The next numbers of registers, and of bytes of shared memory, where more and where fewer blocks fit. (The
    occupancy is monotonic in both.)"""
    limits = limits_of(arch)
    assert limits is not None  # `found` exists only with known limits

    def with_registers(number: int) -> Occupancy | None:
        return occupancy(arch, threads, shared, number, barriers)

    def with_shared(number: int) -> Occupancy | None:
        return occupancy(arch, threads, number, registers, barriers)

    for resource, least, now, last, at in (
        ("registers", 1, registers, MOST_REGISTERS, with_registers),
        ("shared memory", 0, shared, limits.shared_of_block, with_shared),
    ):

        def fit(number: int, blocks: int) -> bool:
            there = at(number)
            return there is not None and there.blocks_per_sm >= blocks

        for number in (
            _last_with(lambda n: fit(n, found.blocks_per_sm + 1), least, now),
            _last_with(lambda n: fit(n, found.blocks_per_sm), now, last),
        ):
            if number is not None:
                step = number if number < now else number + 1
                there = at(step) if step <= last else None
                if there is not None:
                    yield Step(resource, step, there.percent, there.blocks_per_sm)


def _last_with(holds: Callable[[int], bool], first: int, last: int) -> int | None:
    """The largest number in first … last for which a predicate holds that is true up to some number; None if there is
    none."""
    if not holds(first):
        return None
    while first < last:
        middle = (first + last + 1) // 2
        first, last = (middle, last) if holds(middle) else (first, middle - 1)
    return first


def _has_dynamic(function: ir.Function) -> bool:
    """Whether it surely uses dynamic shared memory: it declares an array without a size, or accesses shared memory
    without any static declaration."""
    shared = [variable for variable in function.variables if variable.space == "shared"]
    sites = any(one.site is not None and one.site.space == "shared" for one in function.instructions)
    return any(variable.size == 0 for variable in shared) or sites and not function.shared_static


def occupancy(arch: str, threads: int, shared: int, registers: int, barriers: int) -> Occupancy | None:
    """threads, shared (bytes) and barriers: per block; registers: per thread. None for an unknown architecture."""
    limits, found = limits_of(arch), blocks_per_sm(arch, shared, threads)
    if limits is None or found is None:
        return None
    warps = -(-threads // WARP)
    number = int(re.findall(r"\d+", arch)[0])
    further = _further(number, warps, registers, barriers, limits.blocks)
    blocks, limiter = min((found.blocks_per_sm, found.limiter), *further, key=lambda pair: pair[0])
    return Occupancy(100 * blocks * warps / (limits.threads // WARP), blocks, limiter)


def _further(number: int, warps: int, registers: int, barriers: int, most: int) -> Iterator[tuple[int, str]]:
    """(blocks, limiter)."""
    yield _by_registers(number, warps, registers), "registers"
    if barriers and number >= COUNT_BARRIERS:
        yield most * (2 if number in TWICE else 1) // barriers, "barriers"


def _by_registers(number: int, warps: int, registers: int) -> int:
    """The number of blocks whose registers fit: all registers of a warp are in one partition."""
    of_warp = -(-registers * WARP // UNIT) * UNIT
    of_block = of_warp * -(-warps // PARTITIONS) * PARTITIONS
    if not of_warp or of_block > OF_BLOCK.get(number, REGISTER_FILE):
        return 0
    partitions = OF_SM_60 if number == 60 else PARTITIONS
    return REGISTER_FILE // partitions // of_warp * partitions // warps
