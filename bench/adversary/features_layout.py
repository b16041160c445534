"""Features of widths and tables: vectors, parts of words, structures, arrays in dynamic, constant and global memory."""

from __future__ import annotations

from bench.adversary.builder import WORDS, Builder
from bench.adversary.features import feature
from bench.adversary.features_memory import OWN, SHARED_ASM
from bench.adversary.program import Fill, Line, Nest


@feature
def vectors(b: Builder) -> None:
    """Accesses of 8 and 16 bytes: all lanes, pairs of lanes, some lanes."""
    d, w = b.dice, b.writer
    for kind in d.sample(("uint2", "uint4", "float4", "double", "unsigned long long", "ushort4"), 2):
        array = b.array(kind, d.choice((64, 128, 256)))
        for place in ("t", "(t >> 1)", "(lane & 7u)", f"(lane * {d.choice((3, 5, 9))}u)", "(lane >> 2)", w.u(2)):
            line = (
                Line(f"acc += fold({array.name}[{place} & {array.count - 1}u]);")
                if d.chance(70)
                else Line(f"{array.name}[{place} & {array.count - 1}u] = {w.made(kind)};")
            )
            b.items.append(line if d.chance(60) else Nest(((f"if ({w.condition()}) {{", (line,)),)))


@feature
def subword(b: Builder) -> None:
    """Bytes and 16-bit halves, alone and in vectors."""
    d, w = b.dice, b.writer
    for kind in d.sample(("unsigned char", "short", "unsigned short", "uchar4", "uchar2"), 2):
        array = b.array(kind, d.choice((256, 512, 1024)))
        for _ in range(3):
            b.items.append(Line(f"acc += fold({array.name}[{w.index(array.count)}]);"))
        b.items.append(Line(f"{array.name}[{w.index(array.count)}] = {w.made(kind)};"))


@feature
def members(b: Builder) -> None:
    """Structures: packed, with unaligned members; of 12 and 20 bytes; copied as bytes."""
    d, w = b.dice, b.writer
    b.preamble.append(
        "struct __attribute__((packed)) Loose { unsigned char c; unsigned v; unsigned short h; }; struct Three { "
        "float x, y, z; }; "
        "struct Mixed { double d; int i; short h; };\nstruct Five { unsigned a[5]; };"
    )
    kind, fields = d.choice(
        (
            ("Loose", ("v", "h", "c")),
            ("Three", ("x", "y", "z")),
            ("Mixed", ("d", "i", "h")),
            ("Five", ("a[1]", "a[t % 5u]", "a[3]")),
        )
    )
    array = b.plain_array("sm", kind, 64)
    for _ in range(4):
        name = d.choice(fields)
        b.items.append(
            Line(f"acc += (unsigned){array}[{w.index(64)}].{name};")
            if d.chance(60)
            else Line(f"{array}[{w.index(64)}].{name} = (unsigned short)acc;")
        )
    b.items.append(
        Line(f"memcpy(&u2, (const char*)&{array}[{w.index(32)}] + {d.choice((1, 2, 3, 4))}, 4); acc += u2; u2 = n;")
    )
    b.items.append(Line(f"{array}[{w.index(64)}] = {array}[{w.index(64)}];"))


@feature
def volatile(b: Builder) -> None:
    """Accesses that compilers must keep, even if repeated: volatile pointers, inline PTX of every form."""
    d, w = b.dice, b.writer
    b.preamble.append(SHARED_ASM)
    array = w.arrays[0]
    size = f"{array.count * 4 - 4}u" if array.type in ("unsigned", "int", "float") else "60u"
    address = lambda step: f"shared_address({array.name}) + ({w.u(2)} & {size} & ~{step - 1}u)"
    place = lambda: f"((volatile {array.type}*){array.name})[{w.index(array.count)}]"
    forms = (
        ("{ .reg .u16 x, y; ld.shared.v2.u16 {x, y}, [%1]; cvt.u32.u16 %0, y; }", 4),
        ("{ .reg .u32 x, y, z; ld.volatile.shared.v4.u8 {%0, x, y, z}, [%1]; }", 4),
        ("ld.relaxed.cta.shared.u32 %0, [%1];", 4),
        ("ld.shared::cta.s8 %0, [%1];", 1),
        ("atom.shared.inc.u32 %0, [%1], 9;", 4),
        ("atom.shared.cas.b32 %0, [%1], 1, 2;", 4),
        ("{ .reg .u32 x; ld.shared.v2.u32 {%0, x}, [%1]; }", 8),
        ("{ .reg .u32 x, y, z; ld.shared.v4.u32 {x, %0, y, z}, [%1]; }", 16),
        ("atom.shared.min.s32 %0, [%1], 4;", 4),
        ("{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.u32 %0, 1; @p ld.shared.u32 %0, [%1]; }", 4),
    )
    for _ in range(3):
        b.items.append(
            Line(f"acc += fold(({array.type}){place()});") if d.chance(50) else Line(f"{place()} = ({array.type})2;")
        )
    for ptx, step in d.sample(forms, 4):
        extra = f', "r"({w.u(1)} & 1u)' if "%2" in ptx else ""
        b.items.append(
            Line(
                f'{{ unsigned r; asm volatile("{ptx}" : "=r"(r) : "r"({address(step)}){extra} : "memory"); acc += r; }}'
            )
        )
    b.items.append(
        Line(
            f'asm volatile("{{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.shared.u32 [%0], %1; }}" :: '
            f'"r"({address(4)}), "r"(acc), "r"({w.u(1)} & 1u) : "memory");'
        )
    )


@feature
def dynamic_shared(b: Builder) -> None:
    """Several arrays in dynamic shared memory, one at an offset that depends on a parameter."""
    d = b.dice
    count = d.choice((64, 128, 256))
    b.number("pitch", "unsigned", 4)
    b.dynamic = 16384
    b.preamble_after_arrays.append("extern __shared__ unsigned char dynamic[];")
    b.declared += [
        Line(
            "unsigned* d0 = (unsigned*)dynamic; uint2* d1 = (uint2*)(dynamic + 4096); float* d2 = (float*)(dynamic "
            "+ 8192 + (pitch & 1023u) * 4u); (void)d0; (void)d1; (void)d2;",
            True,
        )
    ]
    w = b.writer
    for name, most in (("d0", 1024), ("d1", 512), ("d2", count)):
        for _ in range(2):
            b.items.append(Line(f"acc += fold({name}[{w.index(most)}]);"))
    b.items.append(Line(f"d0[({w.u(1)} * pitch + {w.u(1)}) & 1023u] = acc;"))
    b.items.append(Nest(((f"if ({w.condition()}) {{", (Line(f"d1[{w.index(512)}] = make_uint2(acc, t);"),)),)))


@feature
def constant_tables(b: Builder) -> None:
    """Tables in constant memory, in the file and written by the host; in global memory, and rewritten by the kernel."""
    d, w = b.dice, b.writer
    table = ", ".join(f"{(i * d.choice((3, 7, 40503)) >> 1) % 97}u" for i in range(64))
    b.preamble.append(
        f"__constant__ unsigned in_file[64] = {{{table}}};\n__constant__ unsigned by_host[64];\n__constant__ unsigned "
        f"short narrow[32] = {{{', '.join(str(i * 5 % 31) for i in range(32))}}};"
    )
    b.symbols["by_host"] = Fill(count=64, step=d.choice((1, 9, 33)), modulo=d.choice((64, 1000)))
    w.leaves += [
        f"in_file[{w.u(1)} & 63u]",
        f"by_host[{w.u(1)} & 63u]",
        f"(unsigned)narrow[{w.u(1)} & 31u]",
        "in_file[n & 63u]",
    ]
    b.items += [w.assign(), w.access(), w.assign(), w.access()]


@feature
def device_tables(b: Builder) -> None:
    """Variables in global memory: initialised by the file, by the host, and by the kernel itself."""
    d, w = b.dice, b.writer
    b.preamble.append(
        f"__device__ unsigned in_global[128] = {{{', '.join(str(i * 7 % 61) for i in range(128))}}};\n__device__ "
        f"unsigned written[{WORDS}];\n__device__ const unsigned char letters[32] = "
        f"{{{', '.join(str(i * 11 % 29) for i in range(32))}}};"
    )
    b.symbols["in_global"] = Fill(count=128, step=d.choice((1, 7)), modulo=d.choice((61, 256)))
    b.symbols["written"] = Fill(count=WORDS, step=d.choice((1, 3)), modulo=d.choice((100, 4096)))
    b.items += [
        Line(f"u1 = in_global[{w.u(1)} & 127u];"),
        w.access(),
        Line(f"u2 = letters[{w.u(1)} & 31u];"),
        w.access(),
        Line(f"written[{OWN}] = {w.u(1)};"),
        Line(f"u0 = written[{OWN}] + {w.u(0)};"),
        w.access(),
    ]
