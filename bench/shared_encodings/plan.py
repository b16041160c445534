"""Chooses instructions that access shared memory: those of a small kernel, with bits of their modifiers changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np

from bench.encodings import slots
from bench.encodings.plan import LANES, WARPS, disassembled, opcode, store
from bench.encodings.slots import SIZE

WINDOW = 0x400  # where the variables of a block begin on sm_90
BYTES = 32768
SECTIONS = 4
MODIFIERS = range(72, 105)
OFFSETS = (0, 0x400, 0x410, 0x1000, 0x2340, 0x404, 0x402, 0x401, 0x4000, -0x10 & 0xFFFFFF, -0x400 & 0xFFFFFF)
UNIFORM = 1 << 91  # the address has a uniform register, too
RANGES = {8: (0x1000, 0x1000 + 16 * 127, 16), 12: (0x200, 0x200 + 4 * 127, 4)}  # first, last, step of addresses
PAIRS = 30
TRIES = 4  # of operands, for each instruction
_SMALL = {"U8": 1, "S8": 1, "U16": 2, "S16": 2}
FILL, ROUNDS = 0x9E3779B1, 0x01000193
_OPCODES = re.compile(r"(LDS|STS|ATOMS|LDSM|STSM)(\.|$)")
_PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n)
{{
.reg .b32 %r<10>; .reg .b64 %d<4>;
ld.param.u32 %r9, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y; mad.lo.u32 %r9, %r9, %r2, %r3;
cvt.u64.u32 %d2, %r2; cvt.u64.u32 %d3, %r9;
{body}
ret;
}}
"""
_ATOMS = ("add.u32", "exch.b32", "min.s32", "max.u32", "and.b32", "inc.u32", "dec.u32", "exch.b64")


def seeds() -> Iterator[int]:
    """Instructions that ptxas emits for accesses of shared memory."""
    from ptxaudit.frontend.artifacts.cubin import read_cubin
    from ptxaudit.frontend.compile.ptxas import assemble

    code = next(
        f.code for f in read_cubin(assemble(_PTX.format(body="\n".join(_accesses())), "sm_90", ()).cubin, "k").functions
    )
    for at in range(0, len(code), SIZE):
        number = int.from_bytes(code[at : at + SIZE], "little")
        if (found := disassembled([bytes(code[at : at + SIZE])])[0]) and _OPCODES.match(opcode(found)):
            yield number & ~(0xF << 12) | 7 << 12


def _accesses() -> Iterator[str]:
    for kind in ("u8", "s8", "u16", "s16", "b32", "b64", "v2.b64"):
        bits = "%d1" if kind == "b64" else "{%d1, %d2}" if kind == "v2.b64" else "%r1"
        width = kind if kind[0] in "bv" else f"b{kind[1:]}"
        yield f"ld.volatile.shared.{kind} {bits}, [%r9+16]; st.volatile.shared.{width} [%r9+32], {bits};"
    for kind in _ATOMS:
        result, source = ("%d1", "%d2") if kind.endswith("64") else ("%r1", "%r2")
        yield f"atom.shared.{kind} {result}, [%r9+16], {source}; st.volatile.shared.b{kind[-2:]} [%r9], {result};"
    yield "red.shared.add.u32 [%r9+16], 1; red.shared.or.b32 [%r9+16], %r2;"
    yield "atom.shared.cas.b32 %r1, [%r9], %r2, %r3; st.volatile.shared.b32 [%r9], %r1;"
    yield "atom.shared.cas.b64 %d1, [%r9], %d2, %d3; st.volatile.shared.b64 [%r9], %d1;"
    for count, registers in (("x1", "{%r4}"), ("x2", "{%r4, %r5}"), ("x4", "{%r4, %r5, %r6, %r7}")):
        for way in ("", ".trans"):
            yield f"ldmatrix.sync.aligned.m8n8.{count}{way}.shared.b16 {registers}, [%r9+64];"
            yield f"stmatrix.sync.aligned.m8n8.{count}{way}.shared.b16 [%r9+128], {registers};"


def with_operands(code: int, rng: Random) -> int:
    """R16 … is the result, R8 and R12 are addresses, R4 … data, UR8 … uniform addresses."""
    for at, some in ((16, (16,)), (24, (8, 8, 12, 12, 255)), (32, (4, 8, 12)), (64, (8, 12, 255, 4))):
        code = code & ~(0xFF << at) | rng.choice(some) << at
    guard = rng.choice((7, 7, 7, *range(16)))  # P0 … P6, their negations; 15 is never
    return code & ~(0xFFFFFF << 40 | 0xF << 12) | rng.choice(OFFSETS) << 40 | guard << 12


def instructions(rng: Random) -> dict[str, int]:
    made = []
    for code in dict.fromkeys(seeds()):
        made += [code, *(code ^ 1 << bit for bit in MODIFIERS), *(code ^ UNIFORM ^ 1 << bit for bit in MODIFIERS)]
        made += [code ^ 1 << a ^ 1 << b for a, b in (rng.sample(MODIFIERS, 2) for _ in range(PAIRS))]
    chosen: dict[str, int] = {}
    for _ in range(TRIES):
        now = [with_operands(code, rng) for code in made]
        for code, text in zip(now, disassembled([code.to_bytes(SIZE, "little") for code in now])):
            if (
                text
                and _OPCODES.match(opcode(text))
                and "???" not in text
                and "INVALID" not in text
                and not (_strange(text) or faults(text))
            ):
                chosen.setdefault(text, code)
    return chosen


def faults(text: str) -> bool:
    """Whether the address is misaligned or outside of the variables in some thread, as far as its text says."""
    inside = re.search(r"\[([^\]]*)\]", text)
    if inside is None:
        return True
    low = high = 0
    step = 1 << 20
    for term in inside[1].split("+"):
        if found := re.fullmatch(r"R(8|12)(?:\.X(\d+))?", term):
            first, last, own = RANGES[int(found[1])]
            scale = int(found[2] or 1)
            low, high, step = low + first * scale, high + last * scale, min(step, own * scale)
        elif found := re.fullmatch(r"UR(\d+)", term):
            low, high = low + 0x400 + 0x40 * (int(found[1]) - 8), high + 0x400 + 0x40 * (int(found[1]) - 8)
        elif re.fullmatch(r"-?0x[0-9a-f]+", term):
            low, high = low + int(term, 16), high + int(term, 16)
        else:
            return True
    size = bytes_of(opcode(text).split("."))
    return low < WINDOW or high + 16 > WINDOW + BYTES or bool(low % size or step % size)


def bytes_of(words: Sequence[str]) -> int:
    """Of what one lane accesses, by its opcode's parts."""
    if words[0] in ("LDSM", "STSM") or "128" in words:
        return 16
    return 8 if "64" in words else _SMALL.get(words[1] if len(words) > 1 else "", 4)


def _strange(text: str) -> bool:
    """Predicates and registers that hold no inputs."""
    numbers = [int(n) for n in re.findall(r"\bUR(\d+)\b", text)]
    return any(not 8 <= n <= 15 for n in numbers) or bool(re.search(r"\bB\d", text))


def inputs(rng: Random) -> np.ndarray:
    """(WARPS, LANES, WORDS): R8 and R12 have other multiples of 16 and 4 in each thread, R24 … of a uniform one."""
    out = np.array([rng.getrandbits(32) for _ in range(WARPS * LANES * slots.WORDS)], np.uint32)
    out = out.reshape(WARPS * LANES, slots.WORDS)
    for register, (start, _, step) in RANGES.items():
        order = list(range(WARPS * LANES))
        rng.shuffle(order)
        out[:, register - slots.FIRST] = np.array(order, np.uint32) * np.uint32(step) + np.uint32(start)
    for k, register in enumerate(slots.UNIFORM):
        out[:, register - slots.FIRST] = 0x400 + 0x40 * k
    return out.reshape(WARPS, LANES, slots.WORDS)


def source(count: int, sections: int, threads: int) -> str:
    """As `slots.source`, with shared memory filled before each section, and a digest of it as the further word."""
    bodies, of_section = [], threads * slots.WORDS * 4
    for s in range(sections):
        further = sections * of_section + s * threads * 4
        loads, stores = slots.transfers(s * of_section, "ld.global")
        fill = _for_each_word(f"F{s}", f"mul.lo.u32 %t1, %t2, {FILL}; st.volatile.shared.u32 [%t3], %t1;", threads)
        add = f"ld.volatile.shared.u32 %t1, [%t3]; mad.lo.u32 %t4, %t4, {ROUNDS}, %t1;"
        digest = f"mov.u32 %t4, 0;\n{_for_each_word(f'D{s}', add, threads)}\nst.global.u32 [%d4+{further}], %t4;"
        parts = [fill, "bar.sync 0;", loads, "bar.sync 0;", slots.fillers(count), "bar.sync 0;", digest, stores]
        bodies.append("\n".join(parts))
    body = "\n".join(bodies)
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout)
{{
.shared .align 16 .b8 s[{BYTES}];
.reg .b32 %w<{slots.WORDS}>; .reg .b64 %d<8>; .reg .b32 %t<5>; .reg .pred %p0;
ld.param.u64 %d1, [pin]; ld.param.u64 %d2, [pout]; mov.u32 %t0, s;
mov.u32 %t1, %tid.x; mul.wide.u32 %d3, %t1, {4 * slots.WORDS};
mul.wide.u32 %d4, %t1, 4; add.u64 %d4, %d2, %d4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
{body}
ret;
}}
"""


def _for_each_word(label: str, body: str, threads: int) -> str:
    """A loop over the words of shared memory that a thread fills or reads: %t2 is the word's offset, %t3 its address.

    It is not unrolled: peeled iterations would keep predicates, which the slots overwrite.
    """
    return (
        f'mov.u32 %t2, %tid.x; shl.b32 %t2, %t2, 2;\n{label}: .pragma "nounroll"; add.u32 %t3, %t2, %t0; {body}'
        f" add.u32 %t2, %t2, {4 * threads}; setp.lt.u32 %p0, %t2, {BYTES}; @%p0 bra {label};"
    )


def write(folder: Path, seed: int) -> int:
    """Writes the plan, and returns the number of its instructions."""
    rng = Random(seed)
    return store(folder, inputs(rng), instructions(rng), SECTIONS, source)
