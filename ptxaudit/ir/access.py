"""An access: what one memory opcode does, as far as its cost is concerned. The lifters attach it to a site; what reads
opcodes is `hardware.accesses`.
"""

from __future__ import annotations

from typing import Literal

from ptxaudit.base.records import Record


class Access(Record, eq=False):
    """One shared-memory opcode.

    opcode: as it was given. isa: "ptx" | "sass".
    access: the report's word: "load", "store", "atomic", "ldmatrix", "stmatrix", "cp.async",
        "bulk copy", "wgmma", "mbarrier", "remote", "wmma", …
    operation: the row of a machine's table (`machine_model.Rule.operation`); "" when unscored.
    width: bytes a lane (of a row, for matrices); None when the opcode does not say.
    sass: the machine instruction it is, as the disassembler spells it; "" where it is a loop.
    loop: of an atomic that is a loop its PTX without scope and order, which change nothing: atom.shared.add.f32.
    address_lanes: the first lanes, which alone give addresses (matrices); None = all.
    x: matrices of an ldmatrix or stmatrix. trans, bypass (cp.async.cg), zero_fill (some lanes may
    write zeros instead of copying): modifiers.
    generic: the address is generic and may turn out not to be shared.
    may_count, may_combine: ptxas may make ATOMS.POPC.INC of it, may combine lanes on one address.
    clustered: the launch has clusters of several blocks (see `score`).
    charge: the wavefronts that the counter charges a warpgroup, of a wgmma with A in registers and in shared memory;
        zeros of what it does not see (`Machine.charge` says on which machines).
    unscored: why it is listed but not scored; "".
    space: the memory, "shared" | "global" | "local"; of the latter two `memory.opcodes` says what an opcode is.
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
    clustered: bool = False
    may_count: bool = False
    may_combine: bool = False
    charge: tuple[int, int] | None = None
    loop: str = ""
    unscored: str = ""
    space: str = "shared"

    @property
    def align(self) -> int:
        """Bytes: addresses are multiples of it, or the hardware faults."""
        return self.width or 1

    @property
    def rewrite(self) -> str:
        """Why lanes that share a word make a range of this PTX atomic; "" where they do not."""
        if self.may_count:
            return (
                "where its bound is 0xffffffff and the result is not used, ptxas makes ATOMS.POPC.INC of it, which"
                " serves lanes on one word together"
                if not self.may_combine
                else (
                    "where the constant 1 is added and the result is not used, ptxas makes ATOMS.POPC.INC of it, and"
                    " where it can prove the address equal in all lanes, one lane issues it: both serve lanes on one"
                    " word together"
                )
            )
        if self.may_combine:
            return (
                "where ptxas can prove the address equal in all lanes, it combines their values and one lane issues the"
                " atomic"
            )
        return ""
