"""The chapter of docs/hardware.md on special functions: the measured results of MUFU, FCHK and float arithmetic."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ptxaudit.base import resources
from ptxaudit.hardware import machines

# function, inputs, results that are not the nearest float, of how many, largest error, documented error (PTX ISA)
DIFFERENCES = (
    ("RCP", "[1, 2)", 1_108_522, 1 << 23, "0.98 units", "1 unit"),
    ("RSQ", "[1, 4)", 3_634_130, 1 << 24, "1.51 units, 2⁻²²·⁹⁴ relative", "2⁻²²·⁹ relative"),
    ("SQRT", "[1, 4)", 2_829_803, 1 << 24, "0.94 units, 2⁻²³·²⁵ relative", "2⁻²³ relative"),
    ("EX2", "[1, 2)", 3_262_733, 1 << 23, "1.39 units", "2 units"),
    ("LG2", "[1, 2)", 5_509_878, 1 << 23, "2⁻²²·⁵⁸ absolute", "2⁻²² absolute"),
    ("LG2", "[2, 4)", 2_078_741, 1 << 23, "2⁻²²·⁶⁵ relative", "2⁻²² relative"),
    ("SIN", "[1/16, 1/4) of a revolution", 12_326_559, 1 << 24, "2⁻²¹·⁷ absolute", "2⁻²⁰·⁵ absolute"),
    ("COS", "[1/16, 1/4) of a revolution", 14_591_570, 1 << 24, "2⁻²¹·⁴⁹ absolute", "2⁻²⁰·⁵ absolute"),
)


def chapter() -> Iterator[str]:
    """Markdown, line by line."""
    measured = ", ".join(sorted(name.upper() for name in machines.get("sm_90").measurements.special.measured))
    yield "## Special functions"
    device = json.loads(resources.data("hardware/special_functions.json").read_text(encoding="utf-8"))["device"]
    yield _WORDS.format(device=device, measured=measured)
    yield "| function | inputs | not the nearest float | of | largest error | documented |"
    yield "|---|---|---|---|---|---|"
    yield from (
        f"| {name} | {inputs} | {wrong:,} | {count:,} | {error} | {bound} |"
        for name, inputs, wrong, count, error, bound in DIFFERENCES
    )
    yield ""
    yield _FLOATS


_WORDS = """
Indices are computed with special functions: division by a variable, 32 or 64 bits, signed or unsigned, begins with `MUFU.RCP`, square
roots with `MUFU.RSQ`; texture coordinates, twiddle factors and compression tables use the others. Their last bits
are not documented, so on sm_90 they were measured, for each of the 2³² inputs of each function: {measured}
({device}). The unit interpolates, with a table entry for each of 64 or 128 segments and a quadratic in the remaining
argument bits, whose square omits the partial products below a power of two. The tables and the steps around them
are in `ptxaudit/hardware/special_functions.json` and `ptxaudit/engine/ops/mufu.py`; they reproduce every result, bit for bit. Compared with
correct rounding:
"""
_FLOATS = """`MUFU.TANH` was measured, but its algorithm was not found; its result is unknown in an audit.

On other generations a result is *one of a few* floats, those that the PTX ISA manual allows
(`ptxaudit/engine/ops/approximate.py`), as are `rcp.approx`, `sqrt.approx`, `rsqrt.approx`, `ex2.approx`,
`lg2.approx`, `div.approx` and `div.full` in PTX. The engine computes with all of them; an index on which they agree is known,
as quotients are, otherwise it is reported as unknown. For the upper word of a double (`MUFU.RCP64H`,
`RSQ64H`) no error is documented: where it was not measured, the rule assumes two units of its 20 bits, and
that the reciprocal of a power of two is exact.

`FCHK`, which selects the slow path of a division, tests only the exponents e of a and b: the fast path is taken
if 25 ≤ e(a) ≤ 254, 2 ≤ e(b) ≤ 251 and −124 ≤ e(a) − e(b) ≤ 126 (all pairs of exponents, 256 pairs of signs and
fractions each). Sums, products, fused products and conversions follow IEEE 754 in every rounding mode. The following was also
measured, with 484 instructions on some 2,000 operands each: NaN results (0x7FFFFFFF; for 64 bits the first NaN
among c, a, b of a · b + c), `.FTZ` (flushes results that are subnormal after rounding with an unbounded exponent), `.SAT`
(NaN becomes 0), float to integer (NaN becomes 0 with `.NTZ`, else the sign bit).

To repeat the measurement: `python -m bench.special_functions build FOLDER`, `measure.py` there on the GPU, then `fit` for
the tables and `check` for all inputs.
"""
