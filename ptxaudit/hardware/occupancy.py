"""How many blocks of a kernel fit on a multiprocessor, limited by shared memory, threads and blocks.

    blocks_per_sm("sm_90", shared=33_792, threads=1024)  ->  Blocks(2, "threads")

Registers and barriers are ignored. Source of the limits: CUDA 13's `cuda/__device/arch_traits.h` (CUDA C++
Programming Guide, "Technical Specifications per Compute Capability"); of the allocation: its `cuda_occupancy.h`.
Shared memory is allocated in units of 128 bytes (256 before sm_80), and since sm_80 the system reserves 1 KB per
block. tests/hardware/test_occupancy.py reads both.
"""

from __future__ import annotations

import re

from ptxaudit.base.records import Record

KB = 1024


class Limits(Record):
    """Limits of one multiprocessor.

    shared, shared_of_block: bytes of shared memory, in all and for one block; unit: bytes that a block's allocation
    is a multiple of; reserved: bytes that the system takes per block; threads, blocks: numbers.
    """

    shared: int
    shared_of_block: int
    unit: int
    reserved: int
    threads: int
    blocks: int


LIMITS = {
    50: Limits(64 * KB, 48 * KB, 256, 0, 2048, 32),
    52: Limits(96 * KB, 48 * KB, 256, 0, 2048, 32),
    53: Limits(64 * KB, 48 * KB, 256, 0, 2048, 32),
    60: Limits(64 * KB, 48 * KB, 256, 0, 2048, 32),
    61: Limits(96 * KB, 48 * KB, 256, 0, 2048, 32),
    62: Limits(64 * KB, 48 * KB, 256, 0, 2048, 32),
    70: Limits(96 * KB, 96 * KB, 256, 0, 2048, 32),
    75: Limits(64 * KB, 64 * KB, 256, 0, 1024, 16),
    80: Limits(164 * KB, 163 * KB, 128, KB, 2048, 32),
    86: Limits(100 * KB, 99 * KB, 128, KB, 1536, 16),
    87: Limits(164 * KB, 163 * KB, 128, KB, 1536, 16),
    88: Limits(100 * KB, 99 * KB, 128, KB, 1536, 16),
    89: Limits(100 * KB, 99 * KB, 128, KB, 1536, 24),
    90: Limits(228 * KB, 227 * KB, 128, KB, 2048, 32),
    100: Limits(228 * KB, 227 * KB, 128, KB, 2048, 32),
    103: Limits(228 * KB, 227 * KB, 128, KB, 2048, 32),
    107: Limits(228 * KB, 227 * KB, 128, KB, 1024, 16),
    110: Limits(228 * KB, 227 * KB, 128, KB, 1536, 24),
    120: Limits(100 * KB, 99 * KB, 128, KB, 1536, 24),
    121: Limits(100 * KB, 99 * KB, 128, KB, 1536, 24),
}
STATIC_LIMIT = 48 * KB  # bytes of static shared memory, in every generation


class Blocks(Record):
    """blocks_per_sm: on one multiprocessor; limiter: what limits it, "shared memory" | "threads" | "blocks"."""

    blocks_per_sm: int
    limiter: str


def limits_of(arch: str) -> Limits | None:
    """The limits of an architecture ("sm_90a", "compute_80"), None if unknown."""
    number = re.search(r"\d+", arch)
    return LIMITS.get(int(number[0])) if number else None


def blocks_per_sm(arch: str, shared: int, threads: int | None = None) -> Blocks | None:
    """Blocks per multiprocessor, for blocks with this many bytes of shared memory and threads (None = unknown).

    None for an architecture with unknown limits. `blocks_per_sm` is 0 if a block exceeds the limit of shared memory.
    """
    limits = limits_of(arch)
    if limits is None:
        return None
    found = [(limits.blocks, "blocks")]
    if threads:
        warps = -(-threads // 32)
        found.append((limits.threads // (32 * warps), "threads"))
    each = -(-(shared + limits.reserved) // limits.unit) * limits.unit
    if shared > limits.shared_of_block:
        found.append((0, "shared memory"))
    elif each:
        found.append((limits.shared // each, "shared memory"))
    return Blocks(*min(found, key=lambda pair: pair[0]))
