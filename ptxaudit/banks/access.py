"""An access: what one shared-memory opcode does, as far as its cost is concerned.

    classify("ld.shared.v4.b32")   load, 16 bytes a lane      PTX, read by `ptx_opcodes`
    classify("ATOMS.CAS.64")       cas, 8 bytes a lane        SASS, read by `sass_opcodes`
    classify("UTMALDG.2D")         listed, with the reason why it is not scored

What PTX atomics become was read off ptxas 13.5 for sm_75 to sm_120 (tests/test_opcodes.py repeats it):
integer 32-bit operations, exchange and compare-and-swap have their own ATOMS; float adds and 64-bit
arithmetic become loops of LDS and ATOMS.CAST.SPIN, 16-bit ones loops of LDS and ATOMS.CAS. Two
rewrites change the cost. Adding the constant 1 without using the result becomes ATOMS.POPC.INC
(lanes on one word are then free). Where ptxas can prove that all lanes use one address, it combines the lanes'
values first and one lane issues the ATOMS. Both help only lanes that share a word. So a PTX
integer atomic has a range where lanes share a word, unless the caller says more: `operand`, the
constant it adds, or `as_written`, the plain ATOMS.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ptxaudit.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One shared-memory opcode.

    opcode: as it was given. isa: "ptx" | "sass".
    access: the report's word: "load", "store", "atomic", "ldmatrix", "stmatrix", "cp.async",
        "bulk copy", "wgmma", "mbarrier", "remote", "wmma", …
    operation: the row of a machine's table (`machine_model.Rule.operation`); "" when unscored.
    width: bytes a lane (of a row, for matrices); None when the opcode does not say.
    sass: the machine instruction it is, as the disassembler spells it; "" where it is a loop.
    address_lanes: the first lanes, which alone give addresses (matrices); None = all.
    x: matrices of an ldmatrix or stmatrix. trans, bypass (cp.async.cg), zero_fill (some lanes may
    write zeros instead of copying): modifiers.
    generic: the address is generic and may turn out not to be shared.
    may_count, may_combine: ptxas may make ATOMS.POPC.INC of it, may combine lanes on one address.
    unscored: why it is listed but not scored; "".
    """

    opcode: str
    isa: Literal["ptx", "sass"]
    access: str
    operation: str = ""
    width: int | None = None
    sass: str = ""
    address_lanes: int | None = None
    x: int = 1
    trans: bool = False
    bypass: bool = False
    zero_fill: bool = False
    generic: bool = False
    may_count: bool = False
    may_combine: bool = False
    unscored: str = ""

    @property
    def align(self) -> int:
        """Bytes: addresses are multiples of it, or the hardware faults."""
        return self.width or 1

    @property
    def rewrite(self) -> str:
        """Why lanes that share a word make a range of this PTX atomic; "" where they do not."""
        if self.may_count:
            return ("where its bound is 0xffffffff and the result is not used, ptxas makes ATOMS.POPC.INC of it, which serves lanes on one word together") if not self.may_combine else (
                    "where the constant 1 is added and the result is not used, ptxas makes ATOMS.POPC.INC of it, and where it can prove "
                    "the address equal in all lanes, one lane issues it: both serve lanes on one word together")
        if self.may_combine:
            return "where ptxas can prove the address equal in all lanes, it combines their values and one lane issues the atomic"
        return ""


@lru_cache(maxsize=4096)
def classify(opcode: str, operand: int | None = None, as_written: bool = False) -> Access:
    """What an opcode accesses; the same object each time.

    opcode: PTX in lower case (`st.shared.v2.u32`, `cp.async.ca.shared.global 8`) or SASS in upper case.
    operand: the constant that a PTX atomic adds, where it is known (also as the opcode's second
        word: `red.shared.add.u32 1`); any other number, say 0, for what is no constant. as_written: a PTX atomic becomes its plain ATOMS, whatever
        ptxas could make of it.
    Raises InputError for an opcode that is unknown, or does not access shared memory.
    """
    from ptxaudit.banks import ptx_opcodes, sass_opcodes

    if not isinstance(opcode, str) or not opcode.strip():
        raise InputError(f"{opcode!r} is not an opcode", "an opcode is PTX (ld.shared.v4.b32) or SASS (LDS.128)")
    name, *rest = opcode.split()
    if name[0].isupper():
        return sass_opcodes.classify(opcode, name, rest)
    return ptx_opcodes.classify(opcode, name, rest, operand, as_written)


def unknown(opcode: str, why: str, hint: str = "") -> InputError:
    """The error for an opcode that cannot be classified."""
    return InputError(f"opcode {opcode!r}: {why}", hint)


UNSCORED = {
    "bulk copy": "a bulk copy is issued once and moved by the copy engine: no wavefront counter sees it; timed by swizzle mode "
                 "on an H200, it takes a cycle a row of the box, or one for each 100 bytes, whatever the mode",
    "wgmma": "the operands of a warpgroup's matrix product are read by the tensor core: the counter charges bytes / 128 a "
             "warpgroup for every swizzle mode and major, and so does not tell layouts apart",
    "tcgen05": "tensor-core operands and copies of sm_100 read shared memory through descriptors: not measured",
    "mbarrier": "a barrier object's own traffic was not measured, and one warp seldom issues more than one lane of it",
    "remote": "the address may lie in another block of the cluster: what a remote request costs was not measured",
    "async store": "an asynchronous store or reduction goes through the cluster network: not measured",
    "multimem": "multimem addresses memory of several GPUs, not shared memory banks",
    "wmma": "which lane reads what is the compiler's choice (LDSM or LDS): audit the machine code",
    "bulk store": "a bulk store of zeros is issued once: not measured",
    "other": "written by hardware other than a warp's load-store path: not measured",
}
"""Reasons why an access is listed without a figure, by the report's word."""
