"""Ranges of operations' results, compared with results for numbers in the sources' ranges; and their consequences."""

from __future__ import annotations

import random

import numpy as np
import pytest
from telling_twin import TOLD, hold

from ptxaudit.engine.domain.value import DTYPES, Uniform, Value, unknown
from ptxaudit.engine.ops import operations
from ptxaudit.engine.ops.ranges import Range
from ptxaudit.engine.ops.row import OPS, source_bits
from ptxaudit.ir.nodes import Op

NAMES = sorted(name for name, row in OPS.items() if row.range is not None and row.results == 1 and not row.predicate)
ATTRS = {"lop3": [(table,) for table in (0xE8, 0x80, 0xC0, 0x1E, 0xFE, 0x01)], "extract": [(0,), (16,), (32,)]}
FUNNELS = ("shf.l", "shf.r")


def source(rng, bits):
    """A range of numbers with `bits` bits: small, near the ends, or any."""
    top = (1 << bits) - 1
    low = rng.choice((0, 0, 1, rng.randint(0, 40), rng.randint(0, top), max(0, top - rng.randint(0, 9))))
    return Range(min(low, top), min(top, low + rng.choice((0, 0, 1, 5, 31, top))))


@pytest.mark.parametrize("name", NAMES)
def test_results_are_within_their_range(name):
    row, rng, found = OPS[name], random.Random(name), 0
    letters = row.letters(2 if name == "cat" else len(row.widths.rstrip("*")))
    bits = 64 if name in ("cat", "zext") or "wide" in name else 32
    widths = [{"o": 32 if name in ("cat", "zext") else 64}.get(x, source_bits(x, bits, 64)) for x in letters]
    for _ in range(400):
        attrs = rng.choice(ATTRS.get(name, [("clamp",)] if name in FUNNELS else [()]))
        given = [source(rng, width) for width in widths]
        if name in ("shl", "shr.u", "shr.s", "bfe.u", *FUNNELS):
            given[1:] = [Range(n, n) if rng.random() < 0.9 else r for r in given[1:] for n in [rng.randint(0, 34)]]
        out = row.range(Op(name, bits=bits, attrs=attrs), *given)
        if out is None or out.low < 0 or out.high >> bits - 1:
            continue
        found += 1
        for _ in range(30):
            numbers = [rng.choice((r.low, r.high, rng.randint(r.low, r.high))) for r in given]
            arrays = [np.full((1, 1), n, DTYPES[width]) for n, width in zip(numbers, widths, strict=True)]
            result = int(row.concrete(bits, attrs, *arrays).flat[0])
            assert out.low <= result <= out.high, (given, attrs, numbers)
    assert found > 10


@pytest.mark.parametrize(
    ("name", "ends"),
    {"and": (0, 5), "or": (0, 15), "max.u": (3, 9), "min.s": (2, 5), "div.u": (0, 3), "rem.u": (0, 4)}.items(),
)
def test_uniform_result_has_the_range_computed_from_its_sources(name, ends):
    a, b = (unknown(Uniform(n, low=low, high=high, key=n)) for n, low, high in (("a", 2, 9), ("b", 3, 5)))
    ((symbol, _),) = operations.apply(Op(name, bits=32), (a, b)).terms
    assert (symbol.low, symbol.high) == ends


def test_unknown_number_may_be_negative():
    nothing, zero = unknown(Uniform("n", key="n")), Value(np.zeros((1, 1), np.uint32))
    ((symbol, _),) = operations.apply(Op("max.s", bits=32), (nothing, zero)).terms
    assert (symbol.low, symbol.high) == (0, 2**31 - 1)
    ((symbol, _),) = operations.apply(Op("min.s", bits=32), (nothing, zero)).terms
    assert (symbol.low, symbol.high) == (None, None)


KERNEL = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u32 n)
{{
    .reg .b32 %r<20>; .reg .b64 %d<8>; .reg .pred %p<5>;
    .shared .align 128 .b8 s[16384];
    ld.param.u32 %r2, [n]; mov.u32 %r1, %tid.x; mov.u32 %r4, s;
    setp.gt.u32 %p1, %r2, 3; setp.gt.u32 %p2, %r2, 6; selp.u32 %r5, 1, 0, %p1; selp.u32 %r6, 1, 0, %p2;
    {body}
    ret;
}}
"""
BODIES = {  # the code that follows, and the number of sites with one cost per request
    "and of truth values": (
        "and.b32 %r7, %r5, %r6; shl.b32 %r8, 4, %r7; mad.lo.u32 %r9, %r1, %r8, %r4; st.shared.u32 [%r9], %r1;",
        0,
    ),
    "at least nothing, at most a warp": (
        "max.s32 %r7, %r2, 0; min.s32 %r7, %r7, 32; setp.gt.s32 %p3, %r7, %r1; mad.lo.u32 %r9, %r1, 4, %r4;"
        " @%p3 st.shared.u32 [%r9], %r1;",
        1,
    ),
    "a quotient": (
        "min.u32 %r7, %r2, 255; add.u32 %r8, %r5, 2; div.u32 %r7, %r7, %r8; shl.b32 %r7, %r7, 2;"
        " mad.lo.u32 %r9, %r1, 4, %r4; add.u32 %r9, %r9, %r7; st.shared.u32 [%r9], %r1;",
        1,
    ),
    "max of a number that may be negative": (
        "sub.u32 %r7, %r2, 5; max.s32 %r7, %r7, 1; mul.lo.u32 %r8, %r7, %r1; and.b32 %r8, %r8, 63; shl.b32 %r8, %r8, 2;"
        " add.u32 %r9, %r8, %r4; st.shared.u32 [%r9], %r1;",
        0,
    ),
}


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("name", BODIES)
def test_conclusions_from_ranges_agree_with_the_interpreter(name, told):
    body, alike = BODIES[name]
    hold(KERNEL.format(body=body.replace("; ", ";\n")), told, alike, seed=7)
