"""An access: the effect of one memory opcode, as far as its cost is concerned.

`hardware.accesses` decodes opcodes to accesses, and the lifters attach them to sites.
"""

from __future__ import annotations

from typing import Literal

from ptxaudit.base.records import Record


class Access(Record, eq=False):
    """The access of one memory opcode.

    opcode: as given. isa: "ptx" | "sass".
    access: the report's word: "load", "store", "atomic", "ldmatrix", "stmatrix", "cp.async",
        "bulk copy", "wgmma", "mbarrier", "remote", "wmma", …
    operation: the row of a machine's table (`machine_model.Rule.operation`); "" if unscored.
    width: bytes per lane (per row, for matrices); None if the opcode does not specify it.
    sass: the corresponding machine instruction, as the disassembler spells it; "" for a loop.
    loop: for an atomic that becomes a loop, its PTX without scope and order, which change nothing:
        atom.shared.add.f32.
    address_lanes: only this many first lanes provide addresses (matrices); None = all lanes.
    x: number of matrices of an ldmatrix or stmatrix. trans, bypass (cp.async.cg), zero_fill (some lanes may
        write zeros instead of copying): modifiers.
    generic: the address is generic and may turn out not to be shared.
    may_count, may_combine: ptxas may turn it into ATOMS.POPC.INC, may combine lanes with the same address.
    clustered: the launch has clusters of several blocks (see `score`).
    charge: the wavefronts that the counter charges per warpgroup for a wgmma with A in registers, and in shared
        memory; zeros where it does not see them (`Machine.charge` says on which machines).
    unscored: why it is listed but not scored, or "".
    space: the memory, "shared" | "global" | "local"; `memory.opcodes` decodes the opcodes of the latter two.
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
        """Bytes: addresses are multiples of it, or the hardware faults.

        1 for the source of a copy that fills up with zeros: the low bits of its address are their number.
        """
        return 1 if self.zero_fill and self.space == "global" else self.width or 1

    @property
    def rewrite(self) -> str:
        """Why lanes that share a word make the count of this PTX atomic a range; "" if they do not."""
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
