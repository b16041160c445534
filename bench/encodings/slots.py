"""The kernel around a measured instruction, and its encodings (sm_90).

A thread loads R4 to R35, a word each; then the kernel fills predicates and uniform registers from some of them, executes
the instruction, and copies predicates and uniform registers back:

    R4 … R23       sources and results                R24 … R31       UR8 … UR15, one value per warp
    R32            P0 … P6, a bit each; afterwards R33         UR14            UP0 … UP3, its low bits; afterwards R34
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SIZE = 16  # bytes of an instruction
FIRST, LAST = 4, 35  # registers that are loaded and stored
WORDS = LAST - FIRST + 1
UNIFORM, FIRST_UNIFORM = range(24, 32), 8  # UR8 is a copy of R24
PREDICATES, UNIFORM_PREDICATES = 7, 4
PREDICATES_IN, PREDICATES_OUT, UNIFORM_PREDICATES_OUT = 32, 33, 34
LATENCY = 24  # instructions of 15 cycles each, after which every result has arrived

_STALL, _NO_BARRIERS, _WAIT_FOR_ALL = 15 << 41, 0x3F << 46, 0x3F << 52
CONTROL = ((1 << 21) - 1) << 41  # of the upper half: stall, yield, barriers, reuse flags
NOP = 0x7918, 0


def scheduled(low: int, high: int, wait: bool = False) -> bytes:
    """The instruction with a fixed delay after it, and no reuse of operands."""
    high = high & ~CONTROL | _STALL | _NO_BARRIERS | (_WAIT_FOR_ALL if wait else 0)
    return low.to_bytes(8, "little") + high.to_bytes(8, "little")


def before() -> list[bytes]:
    """Fills predicates and uniform registers."""
    out = [scheduled(0x7F_00_00_7804 | PREDICATES_IN << 24, 0, wait=True)]  # R2P PR, R32, 0x7f
    out += [scheduled(0x72CA | FIRST_UNIFORM + k << 16 | r << 24, 0xE0000) for k, r in enumerate(UNIFORM)]  # R2UR
    out += [scheduled(*NOP)] * 4
    for k in range(UNIFORM_PREDICATES):  # ULOP3.LUT UPk, URZ, UR14, 1 << k, URZ, 0xc0, !UPT
        out.append(scheduled(0x3F7892 | 14 << 24 | 1 << k + 32, 0x0F80C03F | k << 17))
    return [*out, *[scheduled(*NOP)] * 4]


def after() -> list[bytes]:
    """Copies predicates and uniform registers to registers."""
    out = [scheduled(*NOP)] * LATENCY
    out.append(scheduled(0x7F_FF_00_7803 | PREDICATES_OUT << 16, 0))  # P2R R33, PR, RZ, 0x7f
    out += [scheduled(0x7C02 | r << 16 | FIRST_UNIFORM + k << 32, 0x08000F00) for k, r in enumerate(UNIFORM)]  # MOV
    for k in range(UNIFORM_PREDICATES):  # PLOP3.LUT Pk, PT, PT, PT, UPk, 0x80, 0x0
        out.append(scheduled(0x781C, 0x03F0F008 | k << 17 | k << 4))
    out += [scheduled(*NOP)] * 2
    out.append(scheduled(0x0F_FF_00_7803 | UNIFORM_PREDICATES_OUT << 16, 0))
    return [*out, *[scheduled(*NOP)] * 2]


@dataclass(frozen=True)
class Kernel:
    """A cubin whose kernel has several sections, each of which loads all registers, executes its slots, and stores them.

    starts: the place of each section's first slot in the cubin; words: of each section, the word of its part of the
    input, and of the result, that register R4 + k has.
    """

    cubin: bytes
    starts: tuple[int, ...]
    slots: int
    words: tuple[tuple[int, ...], ...]

    def with_instructions(self, sections: Sequence[Sequence[bytes]]) -> bytes:
        """The cubin with these in place of its slots; NOPs follow them."""
        out = self.cubin
        for start, codes in zip(self.starts, sections, strict=True):
            if len(codes) > self.slots:
                raise ValueError(f"{len(codes)} instructions for {self.slots} slots")
            filled = b"".join([*codes, *[scheduled(*NOP)] * (self.slots - len(codes))])
            out = out[:start] + filled + out[start + len(filled) :]
        return out


def transfers(at: int, load: str) -> tuple[str, str]:
    """PTX that loads the words of a section, and that stores them. at: their first byte; load: the opcode."""
    quads = [(at + 4 * k, ", ".join(f"%w{word}" for word in range(k, k + 4))) for k in range(0, WORDS, 4)]
    loads = "\n".join(f"{load}.v4.u32 {{{names}}}, [%d1+{byte}];" for byte, names in quads)
    return loads, "\n".join(f"st.global.v4.u32 [%d2+{byte}], {{{names}}};" for byte, names in quads)


def fillers(slots: int) -> str:
    """PTX of the slots: an instruction that has no operands and is not removed."""
    return "\n".join(f"pmevent {k % 8};" for k in range(slots))


def source(slots: int, sections: int, threads: int) -> str:
    """PTX of the kernel."""
    bodies = []
    for section in range(sections):
        loads, stores = transfers(section * threads * WORDS * 4, "ld.volatile.global")
        bodies.append(f"{loads}\nbar.sync 0;\n{fillers(slots)}\nbar.sync 0;\n{stores}")
    body = "\n".join(bodies)
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout)
{{
.reg .b32 %w<{WORDS}>; .reg .b64 %d<8>; .reg .b32 %t<4>;
ld.param.u64 %d1, [pin]; ld.param.u64 %d2, [pout];
mov.u32 %t1, %tid.x; mov.u32 %t2, %ctaid.x; mov.u32 %t3, %ntid.x; mad.lo.u32 %t1, %t2, %t3, %t1;
mul.wide.u32 %d3, %t1, {4 * WORDS}; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
{body}
ret;
}}
"""


# After the results of all sections, a kernel may store a word more of each section and thread.
_STORED = re.compile(r"desc\[UR\d+\]\[R(\d+)\.64(?:\+(0x[0-9a-f]+))?\], R(\d+)")


def kernel(slots: int, sections: int = 1, threads: int = 128, text: Callable[[int, int, int], str] = source) -> Kernel:
    """Assembles the kernel and finds its slots and registers. Raises RuntimeError if ptxas uses others.

    text: its PTX, by slots, sections and threads.
    """
    from ptxaudit.frontend.artifacts.cubin import read_cubin
    from ptxaudit.frontend.compile.ptxas import assemble
    from ptxaudit.frontend.sass.disassemble import disassemble

    cubin = assemble(text(slots, sections, threads), "sm_90", ()).cubin
    read = read_cubin(cubin, "k.cubin")
    lines = disassemble([read])[0]["k"]
    marks = [k for k, line in enumerate(lines) if line.opcode == "PMTRIG"]
    words: list[dict[int, int]] = [{} for _ in range(sections)]
    for line in lines:
        if line.opcode == "STG.E.128" and (found := _STORED.fullmatch(line.operands)):
            section, byte = divmod(int(found[2] or "0", 16), threads * WORDS * 4)
            words[section] |= {int(found[3]) + k: byte // 4 + k for k in range(4)}
    firsts = marks[::slots]
    together = all(marks[i * slots + slots - 1] - first == slots - 1 for i, first in enumerate(firsts))
    if len(marks) != slots * sections or not together or any(sorted(w) != list(range(FIRST, LAST + 1)) for w in words):
        raise RuntimeError("ptxas arranged the kernel otherwise")
    code = next(f.code for f in read.functions if f.name == "k")
    at = cubin.index(bytes(code))
    order = tuple(tuple(w[r] for r in range(FIRST, LAST + 1)) for w in words)
    return Kernel(cubin, tuple(at + first * SIZE for first in firsts), slots, order)
