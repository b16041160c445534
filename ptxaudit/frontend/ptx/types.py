"""PTX types and special registers by name: kinds and widths.

"Fundamental Types", "Special Registers" of https://docs.nvidia.com/cuda/parallel-thread-execution/
"""

from __future__ import annotations

from ptxaudit.base.records import Record

BYTE = 8


class Type(Record):
    """A PTX type.

    kind: "s" signed, "u" unsigned, "b" bits, "f" IEEE float, "p" predicate, "x" anything else (packed and alternate
    formats: known by width only).
    bits: of one element.
    """

    kind: str
    bits: int


TYPES: dict[str, Type] = {f"{kind}{bits}": Type(kind, bits) for kind in "sub" for bits in (8, 16, 32, 64)} | {
    "b128": Type("b", 128),
    "f16": Type("f", 16),
    "f32": Type("f", 32),
    "f64": Type("f", 64),
    "pred": Type("p", 1),
    "f16x2": Type("x", 32),
    "bf16": Type("x", 16),
    "bf16x2": Type("x", 32),
    "tf32": Type("x", 32),
    "s16x2": Type("x", 32),
    "u16x2": Type("x", 32),
    "f32x2": Type("x", 64),
    "e4m3x2": Type("x", 16),
    "e5m2x2": Type("x", 16),
    "e4m3x4": Type("x", 32),
    "e5m2x4": Type("x", 32),
    "ue8m0x2": Type("x", 16),
    "e2m1x2": Type("x", 8),
    "e2m1x4": Type("x", 16),
    "e2m3x2": Type("x", 16),
    "e3m2x2": Type("x", 16),
    "e2m3x4": Type("x", 32),
    "e3m2x4": Type("x", 32),
    "e4m3": Type("x", 8),
    "e5m2": Type("x", 8),
    "s4": Type("x", 4),
    "u4": Type("x", 4),
    "s2": Type("x", 2),
    "u2": Type("x", 2),
    "b1": Type("x", 1),
    "texref": Type("x", 64),
    "samplerref": Type("x", 64),
    "surfref": Type("x", 64),
}

# Special registers that are not 32 bits wide.
WIDE_SPECIALS = {
    "clock64": 64,
    "globaltimer": 64,
    "gridid": 64,
    "current_graph_exec": 64,
    "pm0_64": 64,
    "is_explicit_cluster": 1,
}
for _counter in range(8):
    WIDE_SPECIALS[f"pm{_counter}_64"] = 64

SPECIALS = (
    frozenset(WIDE_SPECIALS)
    | {
        f"{name}.{d}"
        for name in ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
        for d in "xyz"
    }
    | {f"lanemask_{relation}" for relation in ("eq", "le", "lt", "ge", "gt")}
    | {f"{name}{i}" for name, count in (("pm", 8), ("envreg", 32)) for i in range(count)}
    | {
        "laneid",
        "warpid",
        "nwarpid",
        "smid",
        "nsmid",
        "cluster_ctarank",
        "cluster_nctarank",
        "clock",
        "clock_hi",
        "globaltimer_lo",
        "globaltimer_hi",
        "total_smem_size",
        "aggr_smem_size",
        "dynamic_smem_size",
        "reserved_smem_offset_begin",
        "reserved_smem_offset_end",
        "reserved_smem_offset_cap",
        "reserved_smem_offset_0",
        "reserved_smem_offset_1",
    }
)

WARP_SIZE = 32
"""The value of the constant WARP_SZ ("Predefined constant" of the PTX ISA)."""


def special_bits(name: str) -> int:
    """Width of a special register by its name without the percent sign."""
    return WIDE_SPECIALS.get(name, 32)
