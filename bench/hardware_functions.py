"""The chapter of docs/hardware.md on special functions: what MUFU gives, and what float arithmetic leaves to be
measured."""

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
Indices are computed with them: division by a variable, 32 or 64 bits, signed or not, begins with `MUFU.RCP`; square
roots with `MUFU.RSQ`; texture coordinates, twiddle factors and compression tables with the others. Their last place
is in no document, so on sm_90 it was measured, for every one of the 2³² inputs of each function: {measured}
({device}). The unit interpolates: a table entry for each of 64 or 128 segments, and a quadratic in the rest of the
argument, whose square leaves out the partial products below a power of two. The tables and what is done around them
are in `ptxaudit/hardware/special_functions.json` and `ptxaudit/engine/ops/mufu.py`; they give every result, bit for bit. Beside
correct rounding:
"""
_FLOATS = """`MUFU.TANH` was measured but not understood; what it gives is not known to an audit.

On other generations a result is *one of a few* floats, those that the PTX ISA manual allows
(`ptxaudit/engine/ops/approximate.py`), and so are `rcp.approx`, `sqrt.approx`, `rsqrt.approx`, `ex2.approx`,
`lg2.approx`, `div.approx` and `div.full` in PTX. All of them are followed; an index in which they agree is known,
as quotients are, and one in which they do not is reported as not known. For the upper word of a double (`MUFU.RCP64H`,
`RSQ64H`) there is no documented error: two units of its 20 bits are taken, by rule, where it was not
measured, and that the reciprocal of a power of two is exact.

`FCHK`, which sends a division to its slow path, asks for the exponents e of a / b only: the quick one is taken
where 25 ≤ e(a) ≤ 254, 2 ≤ e(b) ≤ 251 and −124 ≤ e(a) − e(b) ≤ 126 (all pairs of exponents, 256 pairs of signs and
fractions each). Sums, products, fused products and conversions are IEEE's in every rounding mode. Measured beside
that, with 484 instructions on some 2,000 operands each: results that are NaN (0x7FFFFFFF; of 64 bits the first NaN
among c, a, b of a · b + c), `.FTZ` (flushed is what is subnormal once rounded as if exponents had no end), `.SAT`
(NaN becomes 0), float to integer (NaN becomes 0 with `.NTZ`, else the sign bit).

To measure again: `python -m bench.special_functions build FOLDER`, `measure.py` there on the GPU, then `fit` for
the tables and `check` for all inputs.
"""
