"""The kernels: each issues one shared-memory instruction once, with addresses and lanes specified by its launch.

    INSTRUCTIONS["lds64"].ptx          ld.shared.v2.b32
    ptx("sm_90", ["lds64", "sts"])     a PTX module with two kernels

A kernel is one warp (or part of one). Lane i reads its three words of the launch's table: the shared offset, the
source offset (cp.async) and a value; then it performs the access. Inactive lanes have exited before (`exit`), or have
a false predicate (`guard`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

TABLE_ROWS = 3  # words per lane: shared offset, source offset, value
LANES = 32
WORD = 4
RESULT_BYTES = 16  # per lane, in the result buffer


@dataclass(frozen=True)
class Instruction:
    """One kernel.

    ptx: the opcode as `ptxaudit.classify` takes it. body: PTX; {on} becomes the predicate of the active lanes, or
    nothing. width: bytes per lane. kind: determines the counters of its wavefronts (`measure`). off: how lanes are
    made inactive. least: the first architecture that has it. requests: the number that it issues, each with its own
    addresses. alone: one machine instruction does all of it.
    """

    name: str
    ptx: str
    body: str
    width: int
    kind: str
    off: str = "exit"
    least: int = 50
    requests: int = 1
    alone: bool = True


_VECTOR = {1: "", 2: ".v2", 4: ".v4"}
# type -> (bytes, register class, how a result is stored)
_TYPES = {
    "u8": (1, "r"),
    "s8": (1, "r"),
    "u16": (2, "r"),
    "s16": (2, "r"),
    "b32": (4, "r"),
    "u32": (4, "r"),
    "s32": (4, "r"),
    "f32": (4, "f"),
    "b64": (8, "q"),
    "u64": (8, "q"),
    "s64": (8, "q"),
    "f64": (8, "d"),
    "b128": (16, "x"),
    "b16": (2, "h"),
    "f16": (2, "h"),
    "bf16": (2, "h"),
    "f16x2": (4, "r"),
    "bf16x2": (4, "r"),
}
_OUT = {"r": "b32", "f": "f32", "q": "b64", "d": "f64", "h": "b16", "x": "b128"}


def _group(letter: str, count: int, first: int) -> str:
    names = [f"{letter}{first + i}" for i in range(count)]
    return names[0] if count == 1 else "{" + ", ".join(names) + "}"


def _results(letter: str, count: int, size: int) -> str:
    return " ".join(f"st.global.{_OUT[letter]} [out+{i * max(size, 2)}], {letter}{10 + i};" for i in range(count))


def _load(
    name: str, type_: str, count: int = 1, how: str = "", space: str = "shared", address: str = "a"
) -> Instruction:
    size, letter = _TYPES[type_]
    opcode = ".".join(filter(None, ("ld", how, space))) + f"{_VECTOR[count]}.{type_}"
    body = (
        f"{{on}}{opcode} {_group(letter, count, 10)}, [{address}];"
        f" {_results(letter, count, 4 if letter in 'rf' else size)}"
    )
    return Instruction(name, opcode, body, size * count, "load" if space else "generic load")


def _store(
    name: str, type_: str, count: int = 1, how: str = "", space: str = "shared", address: str = "a"
) -> Instruction:
    size, letter = _TYPES[type_]
    opcode = ".".join(filter(None, ("st", how, space))) + f"{_VECTOR[count]}.{type_}"
    return Instruction(
        name,
        opcode,
        f"{{on}}{opcode} [{address}], {_group(letter, count, 1)};",
        size * count,
        "store" if space else "generic store",
    )


def _atom(
    name: str,
    operation: str,
    type_: str,
    *,
    head: str = "atom",
    operand: str | None = None,
    alone: bool = True,
    least: int = 60,
    space: str = ".shared",
    address: str = "a",
) -> Instruction:
    size, letter = _TYPES[type_]
    value = operand or f"{letter}1"
    values = f"{value}, {letter}2" if operation == "cas" else value
    noftz = ".noftz" if operation == "add" and "16" in type_ else ""
    opcode = f"{head}{space}.{operation}{noftz}.{type_}"
    if head == "red":
        body = f"{{on}}{opcode} [{address}], {values};"
    else:
        body = f"{{on}}{opcode} {letter}10, [{address}], {values}; {_results(letter, 1, size)}"
    said = opcode + (f" {operand}" if operand else "")
    # a loop compares with the old value: begin with zeros
    start = (
        ""
        if alone
        else {2: "st.shared.b16 [a], zero16;", 4: "st.shared.b32 [a], 0;", 8: "st.shared.b64 [a], 0;"}[size]
        + " bar.warp.sync 0xffffffff; "
    )
    return Instruction(
        name,
        said,
        start + body,
        size,
        ("atomic" if space else "generic atomic") if alone else "loop",
        alone=alone,
        least=least,
    )


def _matrix(head: str, x: int, trans: bool) -> Instruction:
    opcode = f"{head}.sync.aligned.m8n8.x{x}{'.trans' if trans else ''}.shared.b16"
    name = f"{head}_x{x}{'_trans' if trans else ''}"
    if head == "ldmatrix":
        body = f"{opcode} {{{', '.join(f'r{10 + i}' for i in range(x))}}}, [a]; {_results('r', x, WORD)}"
        return Instruction(
            name, opcode, "{on}" + body.replace("{r", "{{r").replace("}, [", "}}, ["), 16, "load", least=75
        )
    body = f"{{on}}{opcode} [a], {{{{{', '.join(f'r{1 + i}' for i in range(x))}}}}};"
    return Instruction(name, opcode, body, 16, "store", least=90)


_WAIT = " cp.async.wait_all;"


def _copy(
    name: str, kind: str, size: int, extra: str = "", before: str = "", said: str = "", count: int = 1, fetch: int = 0
) -> Instruction:
    opcode = f"cp.async.{kind}.shared.global" + (f".L2::{fetch}B" if fetch else "")
    copies = " ".join(f"{{on}}{opcode} [a{i or ''}], [s{i or ''}], {size}{extra};" for i in range(count))
    return Instruction(name, f"{opcode} {size}{said}", before + copies + _WAIT, size, "copy", least=80, requests=count)


# the source is zero, and already in L1 when the copy begins: its address depends on the loaded word
_TOUCH = "ld.global.ca.u32 r10, [s]; cvt.u64.u32 t1, r10; add.u64 s, s, t1; "
# the same, but the loaded word is another one in its sector
_TOUCH_NEAR = "xor.b64 t3, s, 16; ld.global.ca.u32 r10, [t3]; cvt.u64.u32 t1, r10; add.u64 s, s, t1; "
# the same for the lanes whose value has bit 0 set; bits 5 and 6 of it select another sector of the line
_TOUCH_SOME = (
    "and.b32 r7, r1, 1; setp.ne.u32 touch, r7, 0; and.b32 r7, r1, 96; cvt.u64.u32 t1, r7; xor.b64 t1, t1, s; mov.b32"
    " r10, 0; @touch ld.global.ca.u32 r10, [t1]; cvt.u64.u32 t1, r10; add.u64 s, s, t1; "
)
_NATIVE = ("add", "min", "max")
_BITWISE = ("and", "or", "xor")


def _table() -> Iterable[Instruction]:
    for type_, name in (
        ("u8", "u8"),
        ("s8", "s8"),
        ("u16", "u16"),
        ("s16", "s16"),
        ("b32", ""),
        ("b64", "64"),
        ("b128", "128"),
    ):
        yield _load(f"lds{name}", type_)
        if not type_.startswith("s"):
            yield _store(f"sts{name}", type_)
    for count, type_ in (
        (2, "u8"),
        (4, "u8"),
        (2, "u16"),
        (4, "u16"),
        (2, "b32"),
        (4, "b32"),
        (2, "b64"),
        (4, "f32"),
        (2, "f64"),
    ):
        yield _load(f"lds_v{count}_{type_}", type_, count)
        yield _store(f"sts_v{count}_{type_}", type_, count)
    for count, type_ in ((1, "u8"), (1, "u16"), (1, "b32"), (1, "b64"), (2, "b32"), (4, "b32"), (2, "b64")):
        yield _load(f"lds_volatile_v{count}_{type_}", type_, count, "volatile")
        yield _store(f"sts_volatile_v{count}_{type_}", type_, count, "volatile")
    for count, type_ in ((1, "b32"), (2, "b32"), (4, "b32")):
        yield _load(f"ld_generic_v{count}", type_, count, space="", address="g")
        yield _store(f"st_generic_v{count}", type_, count, space="", address="g")
    for how in ("volatile", "relaxed.gpu", "relaxed.cta", "cs", "lu", "L1::no_allocate"):
        for count in (1, 2, 4):
            yield _load(
                f"ld_generic_{how.replace('.', '_').replace('::', '_')}_v{count}",
                "b32",
                count,
                how,
                space="",
                address="g",
            )
    yield _store("st_generic_volatile_v2", "b32", 2, "volatile", space="", address="g")
    yield _store("st_generic_volatile_v4", "b32", 4, "volatile", space="", address="g")
    for type_ in ("u8", "s8", "u16", "s16"):
        yield _load(f"ld_generic_{type_}", type_, space="", address="g")
        if not type_.startswith("s"):
            yield _store(f"st_generic_{type_}", type_, space="", address="g")
    for head in ("atom", "red"):
        for operation in _NATIVE:
            for type_ in ("u32", "s32"):
                yield _atom(f"{head}_{operation}_{type_}", operation, type_, head=head)
        for operation in _BITWISE:
            yield _atom(f"{head}_{operation}", operation, "b32", head=head)
        for operation in ("inc", "dec"):
            yield _atom(f"{head}_{operation}", operation, "u32", head=head)
    yield _atom("red_count", "add", "u32", head="red", operand="1")
    for operation in ("exch", "cas"):
        yield _atom(f"atom_{operation}", operation, "b32")
        yield _atom(f"atom_{operation}64", operation, "b64")
        yield _atom(f"atom_{operation}128", operation, "b128", least=90)
    yield _atom("atom_generic_add", "add", "u32", space="", address="g")
    yield _atom("atom_generic_cas", "cas", "b32", space="", address="g")
    for operation, type_ in (
        ("add", "s32"),
        ("min", "u32"),
        ("min", "s32"),
        ("max", "u32"),
        ("max", "s32"),
        ("and", "b32"),
        ("or", "b32"),
        ("xor", "b32"),
        ("inc", "u32"),
        ("dec", "u32"),
        ("exch", "b32"),
        ("exch", "b64"),
        ("cas", "b64"),
    ):
        yield _atom(f"atom_generic_{operation}_{type_}", operation, type_, space="", address="g")
    for type_ in ("f32", "f64", "u64", "f16", "bf16", "f16x2", "bf16x2"):
        yield _atom(f"loop_add_{type_}", "add", type_, alone=False, least=90)
    for operation in ("min", "max"):
        for type_ in ("u64", "s64"):
            yield _atom(f"loop_{operation}_{type_}", operation, type_, alone=False)
    for operation in _BITWISE:
        yield _atom(f"loop_{operation}64", operation, "b64", alone=False)
    yield _atom("loop_cas16", "cas", "b16", alone=False, least=70)
    for type_ in ("f32", "f64", "f16x2"):
        yield _atom(f"loop_red_{type_}", "add", type_, head="red", alone=False, least=90)
    for x in (1, 2, 4):
        for trans in (False, True):
            yield _matrix("ldmatrix", x, trans)
            yield _matrix("stmatrix", x, trans)
    for size in (4, 8, 16):
        yield _copy(f"ca{size}", "ca", size)
        yield replace(_copy(f"ca{size}_touched", "ca", size), body=_TOUCH + _copy("", "ca", size).body)
        yield replace(_copy(f"ca{size}_mixed", "ca", size), body=_TOUCH_SOME + _copy("", "ca", size).body)
        yield _copy(f"ca{size}_srcsize", "ca", size, ", r1", said=" src-size")
        yield _copy(f"ca{size}_ignore", "ca", size, ", ignore", "setp.ne.u32 ignore, r1, 0; ", said=" ignore-src")
        yield _copy(f"ca{size}_srcsize_touched", "ca", size, ", r1", _TOUCH, said=" src-size")
        ignored = _TOUCH + "setp.ne.u32 ignore, r1, 0; "
        yield _copy(f"ca{size}_ignore_touched", "ca", size, ", ignore", ignored, said=" ignore-src")
        ignored = _TOUCH_NEAR + "setp.ne.u32 ignore, r1, 0; "
        yield _copy(f"ca{size}_ignore_near_touched", "ca", size, ", ignore", ignored, said=" ignore-src")
        for count in (2, 4, 8):
            yield _copy(f"ca{size}_flight{count}", "ca", size, count=count)
        yield _copy(f"ca{size}_l2_128", "ca", size, fetch=128)
    for fetch in (64, 256):
        yield _copy(f"ca16_l2_{fetch}", "ca", 16, fetch=fetch)
    yield _copy("cg16", "cg", 16)
    yield _copy("cg16_srcsize", "cg", 16, ", r1", said=" src-size")
    yield _copy("cg16_ignore", "cg", 16, ", ignore", "setp.ne.u32 ignore, r1, 0; ", said=" ignore-src")


def _with_guards() -> dict[str, Instruction]:
    """The table, with a guarded copy of every kernel in which a lane can be predicated off."""
    found = {}
    for one in _table():
        found[one.name] = one
        if (
            one.kind in ("load", "store", "atomic", "copy")
            and one.requests == 1
            and "matrix" not in one.name
            and not one.name.endswith(("touched", "mixed"))
        ):
            found[f"{one.name}_guard"] = replace(one, name=f"{one.name}_guard", off="guard")
    return found


INSTRUCTIONS = _with_guards()

NEWEST = 100  # the newest architecture that the older PTX version supports
_VERSIONS = ("8.6", "9.0")
_HEAD = """.version {version}
.target {arch}
.address_size 64
.extern .shared .align 1024 .b8 memory[];
"""
_KERNEL = """
.visible .entry {name}(.param .u64 p_rows, .param .u64 p_source, .param .u64 p_out, .param .u32 p_active) {{
 .reg .pred on, ignore, touch; .reg .b32 lane, base, a, a<9>, r<20>; .reg .b64 row, source, out, g, s, s<9>, q<20>, t<4>;
 .reg .f32 f<20>; .reg .f64 d<20>; .reg .b16 h<20>, zero16; .reg .b128 x<20>;
 ld.param.u64 row, [p_rows]; ld.param.u64 source, [p_source]; ld.param.u64 out, [p_out]; ld.param.u32 r0, [p_active];
 mov.u32 lane, %tid.x; mov.u32 base, memory; mov.b16 zero16, 0;
 mul.wide.u32 t0, lane, 4; add.u64 row, row, t0; mul.wide.u32 t0, lane, {result}; add.u64 out, out, t0;
 shr.u32 r0, r0, lane; and.b32 r0, r0, 1; setp.ne.u32 on, r0, 0;
{reads}
 ld.global.u32 r1, [row+{value}]; add.u32 r2, r1, lane; add.u32 r3, r2, lane; add.u32 r4, r3, lane; cvt.u64.u32 t2, a; cvta.shared.u64 g, t2;
 cvt.rn.f32.u32 f1, r1; add.f32 f2, f1, f1; add.f32 f3, f2, f1; add.f32 f4, f3, f1; cvt.rn.f64.u32 d1, r1; add.f64 d2, d1, d1;
 cvt.u64.u32 q1, r1; add.u64 q2, q1, t0; cvt.u16.u32 h1, r1; add.u16 h2, h1, h1; mov.b128 x1, {{q1, q2}}; mov.b128 x2, {{q2, q1}};
 mov.b128 x10, {{q1, q2}};
 {body}
 ret;
}}
"""


def kernel(instruction: Instruction) -> str:
    """PTX of one kernel."""
    reads = []
    for i in range(instruction.requests):
        at = i * TABLE_ROWS * LANES * WORD
        n = i or ""
        reads.append(
            f" ld.global.u32 r5, [row+{at}]; add.u32 a{n}, base, r5; "
            f"ld.global.u32 r6, [row+{at + LANES * WORD}]; cvt.u64.u32 t1, r6; add.u64 s{n}, source, t1;"
        )
    guard = instruction.off == "guard"
    body = instruction.body.replace("{on}", "@on " if guard else "").replace("{{", "{").replace("}}", "}")
    if not guard:
        body = "@!on ret; " + body
    return _KERNEL.format(
        name=instruction.name, result=RESULT_BYTES, reads="\n".join(reads), value=2 * LANES * WORD, body=body
    )


def ptx(arch: str, names: Iterable[str]) -> str:
    """A PTX module with the kernels of these names."""
    newer = int(re.match(r"sm_(\d+)", arch)[1]) > NEWEST
    return _HEAD.format(arch=arch, version=_VERSIONS[newer]) + "".join(kernel(INSTRUCTIONS[name]) for name in names)
