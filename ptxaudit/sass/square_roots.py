"""Finds the square roots that ptxas writes out, and says what they give: the correctly rounded root.

    MUFU.RSQ R3, R0                          R3 is about 1/sqrt(R0)
    FMUL.FTZ R5, R0, R3                      s, about sqrt(R0)
    FMUL.FTZ R3, R3, 0.5                     h, about 1/(2 s)
    FFMA     R0, -R5, R5, R0                 the remainder R0 - s*s
    FFMA     R0, R0, R3, R5                  s + h * remainder: `sqrt.rn`, which is IEEE's (PTX ISA, `sqrt`)

The estimate's last place is in no document, so MUFU.RSQ stays without a value; the last step does not
depend on it (Markstein 1990: one such step from an s that is nearly right rounds correctly).
DMUL and DFMA do the same for 64 bits, from MUFU.RSQ64H.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from .. import ir

NEAR = 64          # instructions before the remainder in which its sequence begins
_REMAINDER = re.compile(r"([FD])FMA(?:\.\w+)* (R\d+), (?:-(R\d+), \3|(R\d+), -\4), (R\d+)$")
_LAST = re.compile(r"([FD])FMA(?:\.\w+)* (R\d+), (R\d+), (R\d+), (R\d+)$")
_PRODUCT = re.compile(r"([FD])MUL(?:\.\w+)* (R\d+), (R\d+), (R\d+)$")
_ESTIMATE = re.compile(r"MUFU\.RSQ(64H)?(?:\.\w+)* (R\d+), (R\d+)$")


def with_square_roots(instructions: Sequence[ir.Instruction]) -> list[ir.Instruction]:
    """The instructions, the last step of each square root as `fsqrt`."""
    out = list(instructions)
    if not any(instruction.opcode.startswith("MUFU.RSQ") for instruction in out):        # with the estimate each of them begins
        return out
    texts = [i.text.replace(".reuse", "").strip(" ;") if "FMA" in i.opcode or "MUL" in i.opcode or "MUFU" in i.opcode else ""
             for i in out]
    for at, text in enumerate(texts):
        found = _REMAINDER.match(text)
        if found is None or not _estimated(texts[max(0, at - NEAR):at], found):
            continue
        last = _last_step(out, texts, at, found)
        if last is not None:
            out[at], out[last] = _joined(out[at], out[last])
    return out


def _estimated(before: Sequence[str], remainder: re.Match) -> bool:
    """s is the product of the operand and an estimate of its inverse root."""
    kind, s, operand = remainder[1], remainder[3] or remainder[4], remainder[5]
    product = next((m for m in map(_PRODUCT.match, reversed(before)) if m and m[1] == kind and m[2] == s), None)
    high = f"R{int(operand[1:]) + 1}" if kind == "D" else operand
    return product is not None and operand in (product[3], product[4]) \
        and any(m is not None and m[3] == high and bool(m[1]) == (kind == "D") for m in map(_ESTIMATE.match, before))


def _last_step(instructions: Sequence[ir.Instruction], texts: Sequence[str], at: int, remainder: re.Match) -> int | None:
    """Where s + h * remainder is taken, in the same straight piece of code."""
    s = remainder[3] or remainder[4]
    for later in range(at + 1, min(at + 1 + NEAR, len(texts))):
        found = _LAST.match(texts[later])
        if found and found[1] == remainder[1] and found[5] == s and remainder[2] in (found[3], found[4]):
            return later
        written = {d.name for op in instructions[later].ops for d in op.dst if d is not None}
        if instructions[later].control is not None or written & {s, remainder[2]}:
            return None
    return None


def _joined(remainder: ir.Instruction, last: ir.Instruction) -> tuple[ir.Instruction, ir.Instruction]:
    fma = next(op for op in remainder.ops if op.name == "fma")
    root = ir.Reg(f"root@{remainder.index}", fma.bits)
    ops = list(remainder.ops)
    ops.insert(ops.index(fma), replace(fma, name="fsqrt", dst=(root,), src=(fma.src[2],)))
    steps = tuple(replace(op, name="mov", src=(root,), attrs=()) if op.name == "fma" else op for op in last.ops)
    return replace(remainder, ops=tuple(ops)), replace(last, ops=steps)
