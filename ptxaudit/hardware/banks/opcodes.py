"""Decodes opcodes of shared-memory accesses of both instruction sets.

    classify("ld.shared.v4.b32")   load, 16 bytes per lane    PTX, decoded by `ptx_opcodes`
    classify("ATOMS.CAS.64")       cas, 8 bytes per lane      SASS, decoded by `sass_opcodes`
    classify("UTMALDG.2D")         listed, with the reason why it is not scored

The translation of PTX atomics was observed with ptxas 13.5 for sm_75 to sm_120 (test_opcodes.py repeats it):
integer 32-bit operations, exchange and compare-and-swap have their own ATOMS; float adds and 64-bit arithmetic become
loops of LDS and ATOMS.CAST.SPIN, 16-bit ones loops of LDS and ATOMS.CAS. Two rewrites change the cost. Adding the
constant 1 without using the result becomes ATOMS.POPC.INC (lanes on one word are then free). If ptxas can prove that
all lanes use one address, it combines the lanes' values first and one lane issues the ATOMS. Both help only lanes
that share a word. So the cost of a PTX integer atomic is a range if lanes share a word, unless the caller specifies
more: `operand`, the constant it adds, or `as_written`, the plain ATOMS.
"""

from __future__ import annotations

from functools import lru_cache

from ptxaudit.base.errors import InputError
from ptxaudit.hardware.banks import ptx_opcodes, sass_opcodes
from ptxaudit.ir.access import Access


@lru_cache(maxsize=4096)
def classify(opcode: str, operand: int | None = None, as_written: bool = False) -> Access:
    """The access of an opcode, cached.

    opcode: PTX in lower case (`st.shared.v2.u32`, `cp.async.ca.shared.global 8`) or SASS in upper case.
    operand: the constant that a PTX atomic adds, if known (also as the opcode's second
        word: `red.shared.add.u32 1`); any other number, e.g. 0, if it is not a constant. as_written: a PTX atomic
        becomes its plain ATOMS, whatever ptxas could make of it.
    Raises InputError for an opcode that is unknown, or does not access shared memory.
    """
    if not isinstance(opcode, str) or not opcode.strip():
        raise InputError(f"{opcode!r} is not an opcode", "an opcode is PTX (ld.shared.v4.b32) or SASS (LDS.128)")
    name, *rest = opcode.split()
    if name[0].isupper():
        return sass_opcodes.classify(opcode, name, rest)
    return ptx_opcodes.classify(opcode, name, rest, operand, as_written)
