"""The table "At a glance" of docs/hardware.md: the cost of common code, scored when the page is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ptxaudit import score_request
from ptxaudit.hardware.spin import play

LANES = range(32)


@dataclass(frozen=True)
class Example:
    """What a warp does, in the reader's words; the instruction; the byte address of each lane."""

    what: str
    opcode: str
    address: Callable[[int], int]


EXAMPLES = (
    Example("`s[tid]`, floats", "LDS", lambda i: 4 * i),
    Example("`s[2 * tid]`, floats", "LDS", lambda i: 8 * i),
    Example("`s[tid]`, bytes or halves", "LDS.U8", lambda i: i),
    Example("`s[0]` by all lanes", "LDS", lambda i: 0),
    Example("a column of a 32 × 32 tile of floats", "LDS", lambda i: 128 * i),
    Example("the same, rows padded to 33", "LDS", lambda i: 132 * i),
    Example("two columns of a 16 × 16 tile, rows padded to 17", "LDS", lambda i: 4 * (17 * (i % 16) + i // 16)),
    Example("the same, rows padded to 18", "LDS", lambda i: 4 * (18 * (i % 16) + i // 16)),
    Example("`s[tid]`, float2", "LDS.64", lambda i: 8 * i),
    Example("`s[tid / 2]`, float2: pairs of lanes share", "LDS.64", lambda i: 8 * (i // 2)),
    Example("`s[tid]`, float4", "LDS.128", lambda i: 16 * i),
    Example("one float4 by all lanes", "LDS.128", lambda i: 0),
    Example("a float4 of each of 32 rows of 32 floats", "LDS.128", lambda i: 128 * i),
    Example("the same, rows padded to 36", "LDS.128", lambda i: 144 * i),
    Example("`s[tid].x`, struct of 3 floats", "LDS", lambda i: 12 * i),
    Example("`s[tid].x`, struct of 4 floats", "LDS", lambda i: 16 * i),
    Example("`atomicAdd(&bins[b], 1)`, result not used, all lanes one bin", "ATOMS.POPC.INC.32", lambda i: 0),
    Example("`atomicAdd(&bins[b], v)`, all lanes one bin", "ATOMS.ADD", lambda i: 0),
    Example("`atomicAdd(&bins[b], v)`, every lane its own bank", "ATOMS.ADD", lambda i: 4 * i),
    Example(
        "`ldmatrix.x4` of rows of 32 halves, 64 bytes apart", "LDSM.16.M88.4", lambda i: 64 * (i % 8) + 16 * (i // 8)
    ),
    Example("the same, 80 bytes apart", "LDSM.16.M88.4", lambda i: 80 * (i % 8) + 16 * (i // 8)),
    Example(
        "`ldmatrix.x4` of rows of 64 halves, 128 bytes apart", "LDSM.16.M88.4", lambda i: 128 * (i % 8) + 16 * (i // 8)
    ),
    Example("the same, 16-byte chunk XOR row", "LDSM.16.M88.4", lambda i: 128 * (i % 8) + 16 * (i // 8 ^ i % 8)),
)


def table() -> Iterator[str]:
    yield "| what a warp does | instruction | wavefronts | ideal |"
    yield "|---|---|---|---|"
    for one in EXAMPLES:
        score = score_request(one.opcode, [one.address(lane) for lane in LANES])
        yield f"| {one.what} | {one.opcode} | {score.wavefronts} | {score.ideal} |"
    for what, address in (
        ("float `atomicAdd`, all lanes one word", 0),
        ("float `atomicAdd`, every lane its own bank", 4),
    ):
        played = play(4, "add", [address * lane for lane in LANES], [1] * len(LANES))
        yield (
            f"| {what}, no other warp there | LDS, ATOMS.CAST.SPIN: {played.passes}"
            f" {'pass' if played.passes == 1 else 'passes'} | {played.wavefronts} | {3} |"
        )
    yield ""
