"""Features that are about memory: pointers of every origin, widths, tables, what a kernel writes and reads back."""

from __future__ import annotations

from bench.adversary.builder import BARRIER, SLOTS, WORDS, Builder
from bench.adversary.features import feature
from bench.adversary.program import Fill, Group, Line, Nest, Parameter
from bench.adversary.writer import Writer

OWN = f"g & {WORDS - 1}u"                       # a place in a buffer that no other thread has
OF_BLOCK = f"(g0 + ({{}}) % nt) & {WORDS - 1}u"   # one of a thread of this block
SHARED_ASM = '''__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ unsigned load_at(unsigned a) { unsigned r; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r) : "r"(a)); return r; }
__device__ __forceinline__ void store_at(unsigned a, unsigned v) { asm volatile("st.shared.u32 [%0], %1;" :: "r"(a), "r"(v) : "memory"); }'''


def _told(b: Builder) -> None:
    """`buf`: contents that the kernel overwrites, a slot a thread."""
    d = b.dice
    b.buffer("buf", Fill(step=d.choice((1, 5, 2654435761)), modulo=d.choice((32, 1000, 1 << 30))))


@feature
def halves(b: Builder) -> None:
    """A pointer put together of two 32-bit numbers writes what another reads."""
    _told(b)
    b.parameters += [Parameter("lo", "unsigned", "low", 4, "buf"), Parameter("hi", "unsigned", "high", 4, "buf")]
    w = b.writer
    pointer = "((unsigned*)((unsigned long long)hi << 32 | lo))"
    if b.dice.chance(50):
        b.items.append(Line(f"{pointer}[{OWN}] = {w.u(2)};"))
    else:
        b.items.append(Nest(((f"if ({w.condition()}) {{", (Line(f"{pointer}[{OWN}] = {w.u(2)};"),)),)))
    b.items += [Line(f"u1 = buf[{OWN}];"), w.access(), Line(f"u0 ^= {pointer}[{OWN}];"), w.access(), w.access()]


@feature
def rewritten(b: Builder) -> None:
    """A buffer is written in one way and read in another, before and after a barrier."""
    _told(b)
    d, w = b.dice, b.writer
    writes = (
        f"buf[{OWN}] = {w.u(2)};", f"((unsigned char*)buf)[({OWN}) * 4u + ({w.u(1)} & 3u)] = (unsigned char){w.u(1)};", f"atomicAdd(&buf[{OWN}], {w.u(1)});",
        f"((unsigned short*)buf)[({OWN}) * 2u + 1u] = (unsigned short){w.u(1)};", f"atomicExch(&buf[{OWN}], {w.u(1)});", f"__stcg(&buf[{OWN}], {w.u(2)});",
        f"memcpy(&buf[{OWN}], &u2, 3);", f"*(volatile unsigned*)&buf[{OWN}] = {w.u(1)};", f"((float*)buf)[{OWN}] = (float)({w.u(1)} & 1023u);",
    )
    for _ in range(2):
        write = Line(d.choice(writes))
        b.items.append(write if d.chance(60) else Nest(((f"if ({w.condition()}) {{", (write,)),)))
        if d.chance(50):
            b.phase(BARRIER)
            b.items.append(Line(f"u1 = buf[{OF_BLOCK.format(w.u(1))}];"))
            b.phase(BARRIER)
        else:
            b.items.append(Line(f"u1 = buf[{OWN}];"))
        b.items += [w.access(), w.access()]


@feature
def aliases(b: Builder) -> None:
    """Two parameters that point into one buffer, at a distance."""
    _told(b)
    w = b.writer
    b.parameters.insert(0, Parameter("other", "unsigned*", "buffer", 8, "buf"))
    b.items += [
        Line(f"other[{OWN}] = {w.u(2)};"), Line(f"u1 = buf[{OWN}];"), w.access(),
        Nest(((f"if ({w.condition()}) {{", (Line(f"buf[{OWN}] = {w.u(1)};"), w.access())),)), Line(f"u2 = other[{OWN}];"), w.access(),
    ]


@feature
def through_shared(b: Builder) -> None:
    """Indices that go through shared memory: permuted, chased, summed as a tree, in bytes."""
    b.hand_over()
    d, w = b.dice, b.writer
    slot = f"{SLOTS - 1}u"
    for what in d.sample(range(6), 3):
        match what:
            case 0:
                b.phase(Line(f"sx[t ^ {d.choice((0, 1, 5, 16, 31))}u] = {w.u(2)};", True), BARRIER, Line(f"u1 = sx[{w.u(1)} & {slot}];", True))
            case 1:
                b.phase(*(Line(f"u0 = sx[u0 & {slot}];", True) for _ in range(3)))
            case 2:
                tree = Nest((("for (unsigned step = 64; step; step >>= 1) {", (Line("if (t < step) sx[t] += sx[t + step];", True), BARRIER)),), plain=False)
                b.phase(tree, Line("u2 = sx[0];", True))
            case 3:
                b.phase(Line(f"((unsigned char*)sx)[t * 4u + ({w.u(1)} & 3u)] = (unsigned char){w.u(1)};", True), BARRIER, Line(f"u1 = sx[(t + 1u) & {slot}];", True))
            case 4:
                b.phase(Nest(((f"if ({w.condition()}) {{", (Line(f"sx[t] = {w.u(1)};", True),)),), fixed=True), BARRIER, Line(f"u0 = sx[{w.u(1)} & {slot}] & 255u;", True))
            case 5:
                b.phase(Line(f"*(uint2*)&sx[(t * 2u) & {slot}] = make_uint2({d.choice(('n', '5u', 'blockIdx.x'))}, {d.choice(('n', '7u'))});", True), BARRIER, Line(f"u2 = sx[t & {slot}];", True))
        b.items += [w.access(), w.access()]


@feature
def kept_pointers(b: Builder) -> None:
    """Pointers kept in shared memory and in local arrays, whole and as 32-bit shared addresses."""
    b.sync()
    b.preamble.append(SHARED_ASM)
    d, w = b.dice, b.writer
    array = w.arrays[0]
    b.file_scope = True
    at = lambda: f"&{array.name}[{w.index(array.count)}]"
    b.preamble_after_arrays.append(f"__shared__ {array.type}* sp[512]; __shared__ unsigned sa[512];")
    b.phase(Line(f"sp[t & 511u] = {at()};", True), Line(f"sa[t & 511u] = shared_address({at()}) & ~3u;", True), BARRIER)
    b.items += [Line(f"acc += fold(*sp[({w.u(1)} % min(nt, 512u))]);"), Line(f"acc += load_at(sa[({w.u(1)} % min(nt, 512u))]);"), Line("*sp[t & 511u] = 1;")]
    b.items.append(Nest((("{", (
        Line(f"{array.type}* kept[4] = {{{', '.join(at() for _ in range(4))}}};", True), Line(f"acc += fold(*kept[{w.u(1)} & 3u]);"),
        Line(f"kept[{w.u(1)} & 3u] = {at()};"), Line(f"*kept[{w.u(1)} & 3u] = 2;"), Line("acc += fold(*kept[1]);"),
    )),)))


@feature
def local_arrays(b: Builder) -> None:
    """Local memory by an index: numbers, bytes, structures."""
    d, w = b.dice, b.writer
    kind = d.choice(("unsigned", "unsigned char", "unsigned short", "unsigned long long"))
    b.items.append(Nest((("{", (
        Line(f"{kind} kept[16];", True), Line(f"for (unsigned i = 0; i < 16u; i++) kept[i] = ({kind})({w.u(1)} + i * {d.choice((1, 3, 33))}u);", True),
        Line(f"kept[{w.u(1)} & 15u] = ({kind}){w.u(2)};"), Line(f"u1 = (unsigned)kept[{w.u(1)} & 15u];"), w.access(),
        Nest(((f"if ({w.condition()}) {{", (Line(f"kept[{w.u(1)} & 15u] ^= ({kind}){w.u(1)};"), Line(f"memcpy(&kept[{w.u(1)} & 7u], &u0, sizeof(kept[0]) < 4 ? sizeof(kept[0]) : 4);"))),)),
        Line(f"u2 = (unsigned)kept[{w.u(1)} & 15u] + (unsigned)kept[3];"), w.access(), w.access(),
    )),)))


@feature
def mixed_generic(b: Builder) -> None:
    """One access that is shared in some lanes and global or local in others."""
    d, w = b.dice, b.writer
    array = w.arrays[0] if d.chance(60) else b.array(d.choice(("uint2", "uint4", "unsigned char", "double")), 128)
    other = f"(({array.type}*)(out + 2048))"
    count = min(array.count, 128)
    body = [Line(f"{array.type} here[8] = {{}};", True)]
    for at in range(3):
        elsewhere = d.choice((f"&{other}[{w.u(1)} & 127u]", f"&here[{w.u(1)} & 7u]"))
        body.append(Line(f"{array.type}* p{at} = ({w.condition()}) ? &{array.name}[{w.index(count)}] : {elsewhere};", True))
        body.append(Line(f"acc += fold(*p{at});") if d.chance(50) else Line(f"*p{at} = {w.made(array.type)};"))
    if array.type == "unsigned":
        body.append(Line(f"atomicAdd(({w.condition()}) ? &{array.name}[{w.index(count)}] : &out[2048u + (t & 255u)], 1u);"))
    body.append(Line("acc += fold(here[t & 7u]);"))
    b.items.append(Nest((("{", tuple(body)),)))


@feature
def generic(b: Builder) -> None:
    """Functions that are given pointers to shared memory; the choice of an array at run time."""
    d, w = b.dice, b.writer
    array, second = w.arrays[0], b.array(w.arrays[0].type, w.arrays[0].count)
    last = array.count - 1
    through = [lambda w: Line(f"acc += fold(p[{w.u(2)} & {last}u]);"), lambda w: Line(f"p[{w.u(1)} & {last}u] = 3;")]
    b.routine("through", budget=4, arguments=f", {array.type}* p", extra=through)
    b.routine("once", budget=1, arguments=f", volatile {array.type}* p", extra=[lambda w: Line(f"acc += fold(p[{w.u(1)} & {last}u]);")], qualifier="")
    for _ in range(2):
        b.items.append(Line(f"acc = through({w.u(1)}, {w.u(1)}, n, acc, {d.choice((array.name, f'({w.condition()}) ? {array.name} : {second.name}'))});"))
    b.items.append(Line(f"acc = once({w.u(1)}, {w.u(1)}, n, acc, {second.name});"))


@feature
def vectors(b: Builder) -> None:
    """Accesses of 8 and 16 bytes: whole, in pairs of lanes, by some lanes."""
    d, w = b.dice, b.writer
    for kind in d.sample(("uint2", "uint4", "float4", "double", "unsigned long long", "ushort4"), 2):
        array = b.array(kind, d.choice((64, 128, 256)))
        for place in ("t", "(t >> 1)", "(lane & 7u)", f"(lane * {d.choice((3, 5, 9))}u)", "(lane >> 2)", w.u(2)):
            line = Line(f"acc += fold({array.name}[{place} & {array.count - 1}u]);") if d.chance(70) else Line(f"{array.name}[{place} & {array.count - 1}u] = {w.made(kind)};")
            b.items.append(line if d.chance(60) else Nest(((f"if ({w.condition()}) {{", (line,)),)))


@feature
def subword(b: Builder) -> None:
    """Bytes and halves, alone and in vectors."""
    d, w = b.dice, b.writer
    for kind in d.sample(("unsigned char", "short", "unsigned short", "uchar4", "uchar2"), 2):
        array = b.array(kind, d.choice((256, 512, 1024)))
        for _ in range(3):
            b.items.append(Line(f"acc += fold({array.name}[{w.index(array.count)}]);"))
        b.items.append(Line(f"{array.name}[{w.index(array.count)}] = {w.made(kind)};"))


@feature
def members(b: Builder) -> None:
    """Structures: packed, so that members are unaligned; of 12 and of 20 bytes; copied as bytes."""
    d, w = b.dice, b.writer
    b.preamble.append("struct __attribute__((packed)) Loose { unsigned char c; unsigned v; unsigned short h; }; struct Three { float x, y, z; }; "
                      "struct Mixed { double d; int i; short h; };\nstruct Five { unsigned a[5]; };")
    kind, fields = d.choice((("Loose", ("v", "h", "c")), ("Three", ("x", "y", "z")), ("Mixed", ("d", "i", "h")), ("Five", ("a[1]", "a[t % 5u]", "a[3]"))))
    array = b.plain_array("sm", kind, 64)
    for _ in range(4):
        name = d.choice(fields)
        b.items.append(Line(f"acc += (unsigned){array}[{w.index(64)}].{name};") if d.chance(60) else Line(f"{array}[{w.index(64)}].{name} = (unsigned short)acc;"))
    b.items.append(Line(f"memcpy(&u2, (const char*)&{array}[{w.index(32)}] + {d.choice((1, 2, 3, 4))}, 4); acc += u2; u2 = n;"))
    b.items.append(Line(f"{array}[{w.index(64)}] = {array}[{w.index(64)}];"))


@feature
def volatile(b: Builder) -> None:
    """Every access as it stands, twice the same, through volatile pointers and by inline PTX of every form."""
    d, w = b.dice, b.writer
    b.preamble.append(SHARED_ASM)
    array = w.arrays[0]
    size = f"{array.count * 4 - 4}u" if array.type in ("unsigned", "int", "float") else "60u"
    address = lambda step: f"shared_address({array.name}) + ({w.u(2)} & {size} & ~{step - 1}u)"
    place = lambda: f"((volatile {array.type}*){array.name})[{w.index(array.count)}]"
    forms = (
        ('{ .reg .u16 x, y; ld.shared.v2.u16 {x, y}, [%1]; cvt.u32.u16 %0, y; }', 4), ('{ .reg .u32 x, y, z; ld.volatile.shared.v4.u8 {%0, x, y, z}, [%1]; }', 4),
        ('ld.relaxed.cta.shared.u32 %0, [%1];', 4), ('ld.shared::cta.s8 %0, [%1];', 1), ('atom.shared.inc.u32 %0, [%1], 9;', 4), ('atom.shared.cas.b32 %0, [%1], 1, 2;', 4),
        ('{ .reg .u32 x; ld.shared.v2.u32 {%0, x}, [%1]; }', 8), ('{ .reg .u32 x, y, z; ld.shared.v4.u32 {x, %0, y, z}, [%1]; }', 16), ('atom.shared.min.s32 %0, [%1], 4;', 4),
        ('{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.u32 %0, 1; @p ld.shared.u32 %0, [%1]; }', 4),
    )
    for _ in range(3):
        b.items.append(Line(f"acc += fold(({array.type}){place()});") if d.chance(50) else Line(f"{place()} = ({array.type})2;"))
    for ptx, step in d.sample(forms, 4):
        extra = f', "r"({w.u(1)} & 1u)' if "%2" in ptx else ""
        b.items.append(Line(f'{{ unsigned r; asm volatile("{ptx}" : "=r"(r) : "r"({address(step)}){extra} : "memory"); acc += r; }}'))
    b.items.append(Line(f'asm volatile("{{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.shared.u32 [%0], %1; }}" :: "r"({address(4)}), "r"(acc), "r"({w.u(1)} & 1u) : "memory");'))


@feature
def dynamic_shared(b: Builder) -> None:
    """Several arrays carved out of dynamic shared memory, one at an offset that a parameter decides."""
    d = b.dice
    count = d.choice((64, 128, 256))
    b.number("pitch", "unsigned", 4)
    b.dynamic = 16384
    b.preamble_after_arrays.append("extern __shared__ unsigned char dynamic[];")
    b.declared += [Line(f"unsigned* d0 = (unsigned*)dynamic; uint2* d1 = (uint2*)(dynamic + 4096); float* d2 = (float*)(dynamic + 8192 + (pitch & 1023u) * 4u); (void)d0; (void)d1; (void)d2;", True)]
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
    b.preamble.append(f"__constant__ unsigned in_file[64] = {{{table}}};\n__constant__ unsigned by_host[64];\n__constant__ unsigned short narrow[32] = {{{', '.join(str(i * 5 % 31) for i in range(32))}}};")
    b.symbols["by_host"] = Fill(count=64, step=d.choice((1, 9, 33)), modulo=d.choice((64, 1000)))
    w.leaves += [f"in_file[{w.u(1)} & 63u]", f"by_host[{w.u(1)} & 63u]", f"(unsigned)narrow[{w.u(1)} & 31u]", "in_file[n & 63u]"]
    b.items += [w.assign(), w.access(), w.assign(), w.access()]


@feature
def device_tables(b: Builder) -> None:
    """Variables in global memory: by the file, by the host, and by the kernel itself."""
    d, w = b.dice, b.writer
    b.preamble.append(f"__device__ unsigned in_global[128] = {{{', '.join(str(i * 7 % 61) for i in range(128))}}};\n__device__ unsigned written[{WORDS}];\n__device__ const unsigned char letters[32] = {{{', '.join(str(i * 11 % 29) for i in range(32))}}};")
    b.symbols["in_global"] = Fill(count=128, step=d.choice((1, 7)), modulo=d.choice((61, 256)))
    b.symbols["written"] = Fill(count=WORDS, step=d.choice((1, 3)), modulo=d.choice((100, 4096)))
    b.items += [
        Line(f"u1 = in_global[{w.u(1)} & 127u];"), w.access(), Line(f"u2 = letters[{w.u(1)} & 31u];"), w.access(), Line(f"written[{OWN}] = {w.u(1)};"),
        Line(f"u0 = written[{OWN}] + {w.u(0)};"), w.access(),
    ]


@feature
def copies(b: Builder) -> None:
    """cp.async of 4, 8 and 16 bytes, through L1 and past it, with fewer source bytes and ignored sources."""
    d, w = b.dice, b.writer
    b.sync()
    b.preamble.append(SHARED_ASM)
    b.source()
    b.preamble_after_arrays.append("__shared__ uint4 copied[256];")
    b.file_scope = True
    for _ in range(3):
        size = d.choice((4, 8, 16))
        cache = "cg" if size == 16 and d.chance(50) else "ca"
        words = size // 4
        to = f"shared_address(copied) + (({w.u(1)}) & {1024 // words - 1}u) * {size}u"
        of = f"src + (({w.u(1)}) & {WORDS // words - 1}u) * {words}u"
        match d.below(4):
            case 0:
                line = f'asm volatile("cp.async.{cache}.shared.global [%0], [%1], {size}, %2;" :: "r"({to}), "l"({of}), "r"({w.u(1)} % {size + 1}u) : "memory");'
            case 1:
                line = f'asm volatile("{{ .reg .pred p; setp.ne.u32 p, %2, 0; cp.async.{cache}.shared.global [%0], [%1], {size}, p; }}" :: "r"({to}), "l"({of}), "r"({w.u(1)} & 1u) : "memory");'
            case _:
                line = f'asm volatile("cp.async.{cache}.shared.global [%0], [%1], {size};" :: "r"({to}), "l"({of}) : "memory");'
        b.items.append(Line(line) if d.chance(60) else Nest(((f"if ({w.condition()}) {{", (Line(line),)),)))
    b.phase(Line('asm volatile("cp.async.commit_group; cp.async.wait_all;" ::: "memory");', True))
    b.items.append(Line("acc += fold(copied[t & 255u]);"))
