"""Features of memory: pointers of every origin, widths, tables, data that a kernel writes and reads back."""

from __future__ import annotations

from bench.adversary.builder import BARRIER, SLOTS, WORDS, Builder
from bench.adversary.features import feature
from bench.adversary.program import Fill, Line, Nest, Parameter

OWN = f"g & {WORDS - 1}u"  # an element of a buffer that no other thread uses
OF_BLOCK = f"(g0 + ({{}}) % nt) & {WORDS - 1}u"  # an element that belongs to a thread of this block
SHARED_ASM = """__device__ __forceinline__ unsigned shared_address(const void* p) {
    return (unsigned)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ unsigned load_at(unsigned a) {
    unsigned r; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r) : "r"(a)); return r;
}
__device__ __forceinline__ void store_at(unsigned a, unsigned v) {
    asm volatile("st.shared.u32 [%0], %1;" :: "r"(a), "r"(v) : "memory");
}"""


def _told(b: Builder) -> None:
    """Adds `buf`, whose contents the kernel overwrites, one element per thread."""
    d = b.dice
    b.buffer("buf", Fill(step=d.choice((1, 5, 2654435761)), modulo=d.choice((32, 1000, 1 << 30))))


@feature
def halves(b: Builder) -> None:
    """A pointer assembled from two 32-bit numbers writes the data that another pointer reads."""
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
    """A buffer is written in one form and read in another, before and after a barrier."""
    _told(b)
    d, w = b.dice, b.writer
    writes = (
        f"buf[{OWN}] = {w.u(2)};",
        f"((unsigned char*)buf)[({OWN}) * 4u + ({w.u(1)} & 3u)] = (unsigned char){w.u(1)};",
        f"atomicAdd(&buf[{OWN}], {w.u(1)});",
        f"((unsigned short*)buf)[({OWN}) * 2u + 1u] = (unsigned short){w.u(1)};",
        f"atomicExch(&buf[{OWN}], {w.u(1)});",
        f"__stcg(&buf[{OWN}], {w.u(2)});",
        f"memcpy(&buf[{OWN}], &u2, 3);",
        f"*(volatile unsigned*)&buf[{OWN}] = {w.u(1)};",
        f"((float*)buf)[{OWN}] = (float)({w.u(1)} & 1023u);",
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
        Line(f"other[{OWN}] = {w.u(2)};"),
        Line(f"u1 = buf[{OWN}];"),
        w.access(),
        Nest(((f"if ({w.condition()}) {{", (Line(f"buf[{OWN}] = {w.u(1)};"), w.access())),)),
        Line(f"u2 = other[{OWN}];"),
        w.access(),
    ]


@feature
def through_shared(b: Builder) -> None:
    """Indices passed through shared memory: permuted, chased, summed in a tree, as bytes."""
    b.hand_over()
    d, w = b.dice, b.writer
    slot = f"{SLOTS - 1}u"
    for what in d.sample(range(6), 3):
        match what:
            case 0:
                b.phase(
                    Line(f"sx[t ^ {d.choice((0, 1, 5, 16, 31))}u] = {w.u(2)};", True),
                    BARRIER,
                    Line(f"u1 = sx[{w.u(1)} & {slot}];", True),
                )
            case 1:
                b.phase(*(Line(f"u0 = sx[u0 & {slot}];", True) for _ in range(3)))
            case 2:
                tree = Nest(
                    (
                        (
                            "for (unsigned step = 64; step; step >>= 1) {",
                            (Line("if (t < step) sx[t] += sx[t + step];", True), BARRIER),
                        ),
                    ),
                    plain=False,
                )
                b.phase(tree, Line("u2 = sx[0];", True))
            case 3:
                b.phase(
                    Line(f"((unsigned char*)sx)[t * 4u + ({w.u(1)} & 3u)] = (unsigned char){w.u(1)};", True),
                    BARRIER,
                    Line(f"u1 = sx[(t + 1u) & {slot}];", True),
                )
            case 4:
                b.phase(
                    Nest(((f"if ({w.condition()}) {{", (Line(f"sx[t] = {w.u(1)};", True),)),), fixed=True),
                    BARRIER,
                    Line(f"u0 = sx[{w.u(1)} & {slot}] & 255u;", True),
                )
            case 5:
                b.phase(
                    Line(
                        f"*(uint2*)&sx[(t * 2u) & {slot}] = make_uint2({d.choice(('n', '5u', 'blockIdx.x'))}, "
                        f"{d.choice(('n', '7u'))});",
                        True,
                    ),
                    BARRIER,
                    Line(f"u2 = sx[t & {slot}];", True),
                )
        b.items += [w.access(), w.access()]


@feature
def kept_pointers(b: Builder) -> None:
    """Pointers kept in shared memory and in local arrays, whole and as 32-bit shared addresses."""
    b.sync()
    b.preamble.append(SHARED_ASM)
    w = b.writer
    array = w.arrays[0]
    b.file_scope = True
    at = lambda: f"&{array.name}[{w.index(array.count)}]"
    b.preamble_after_arrays.append(f"__shared__ {array.type}* sp[512]; __shared__ unsigned sa[512];")
    b.phase(Line(f"sp[t & 511u] = {at()};", True), Line(f"sa[t & 511u] = shared_address({at()}) & ~3u;", True), BARRIER)
    b.items += [
        Line(f"acc += fold(*sp[({w.u(1)} % min(nt, 512u))]);"),
        Line(f"acc += load_at(sa[({w.u(1)} % min(nt, 512u))]);"),
        Line("*sp[t & 511u] = 1;"),
    ]
    b.items.append(
        Nest(
            (
                (
                    "{",
                    (
                        Line(f"{array.type}* kept[4] = {{{', '.join(at() for _ in range(4))}}};", True),
                        Line(f"acc += fold(*kept[{w.u(1)} & 3u]);"),
                        Line(f"kept[{w.u(1)} & 3u] = {at()};"),
                        Line(f"*kept[{w.u(1)} & 3u] = 2;"),
                        Line("acc += fold(*kept[1]);"),
                    ),
                ),
            )
        )
    )


@feature
def local_arrays(b: Builder) -> None:
    """Indexed local memory: numbers, bytes, structures."""
    d, w = b.dice, b.writer
    kind = d.choice(("unsigned", "unsigned char", "unsigned short", "unsigned long long"))
    b.items.append(
        Nest(
            (
                (
                    "{",
                    (
                        Line(f"{kind} kept[16];", True),
                        Line(
                            f"for (unsigned i = 0; i < 16u; i++) kept[i] = ({kind})({w.u(1)} + i * "
                            f"{d.choice((1, 3, 33))}u);",
                            True,
                        ),
                        Line(f"kept[{w.u(1)} & 15u] = ({kind}){w.u(2)};"),
                        Line(f"u1 = (unsigned)kept[{w.u(1)} & 15u];"),
                        w.access(),
                        Nest(
                            (
                                (
                                    f"if ({w.condition()}) {{",
                                    (
                                        Line(f"kept[{w.u(1)} & 15u] ^= ({kind}){w.u(1)};"),
                                        Line(
                                            f"memcpy(&kept[{w.u(1)} & 7u], &u0, sizeof(kept[0]) < 4 ? sizeof(kept[0]) "
                                            f": 4);"
                                        ),
                                    ),
                                ),
                            )
                        ),
                        Line(f"u2 = (unsigned)kept[{w.u(1)} & 15u] + (unsigned)kept[3];"),
                        w.access(),
                        w.access(),
                    ),
                ),
            )
        )
    )


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
        body.append(
            Line(f"{array.type}* p{at} = ({w.condition()}) ? &{array.name}[{w.index(count)}] : {elsewhere};", True)
        )
        body.append(Line(f"acc += fold(*p{at});") if d.chance(50) else Line(f"*p{at} = {w.made(array.type)};"))
    if array.type == "unsigned":
        body.append(
            Line(f"atomicAdd(({w.condition()}) ? &{array.name}[{w.index(count)}] : &out[2048u + (t & 255u)], 1u);")
        )
    body.append(Line("acc += fold(here[t & 7u]);"))
    b.items.append(Nest((("{", tuple(body)),)))


@feature
def generic(b: Builder) -> None:
    """Functions that take pointers to shared memory; an array chosen at run time."""
    d, w = b.dice, b.writer
    array, second = w.arrays[0], b.array(w.arrays[0].type, w.arrays[0].count)
    last = array.count - 1
    through = [lambda w: Line(f"acc += fold(p[{w.u(2)} & {last}u]);"), lambda w: Line(f"p[{w.u(1)} & {last}u] = 3;")]
    b.routine("through", budget=4, arguments=f", {array.type}* p", extra=through)
    b.routine(
        "once",
        budget=1,
        arguments=f", volatile {array.type}* p",
        extra=[lambda w: Line(f"acc += fold(p[{w.u(1)} & {last}u]);")],
        qualifier="",
    )
    for _ in range(2):
        b.items.append(
            Line(
                f"acc = through({w.u(1)}, {w.u(1)}, n, acc, "
                f"{d.choice((array.name, f'({w.condition()}) ? {array.name} : {second.name}'))});"
            )
        )
    b.items.append(Line(f"acc = once({w.u(1)}, {w.u(1)}, n, acc, {second.name});"))


@feature
def copies(b: Builder) -> None:
    """cp.async of 4, 8 and 16 bytes, through L1 and bypassing it, with fewer source bytes and ignored sources."""
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
                line = (
                    f'asm volatile("cp.async.{cache}.shared.global [%0], [%1], {size}, %2;" :: "r"({to}), "l"({of}), '
                    f'"r"({w.u(1)} % {size + 1}u) : "memory");'
                )
            case 1:
                line = (
                    f'asm volatile("{{ .reg .pred p; setp.ne.u32 p, %2, 0; cp.async.{cache}.shared.global [%0], [%1], '
                    f'{size}, p; }}" :: "r"({to}), "l"({of}), "r"({w.u(1)} & 1u) : "memory");'
                )
            case _:
                line = (
                    f'asm volatile("cp.async.{cache}.shared.global [%0], [%1], {size};" :: "r"({to}), "l"({of}) : '
                    f'"memory");'
                )
        b.items.append(Line(line) if d.chance(60) else Nest(((f"if ({w.condition()}) {{", (Line(line),)),)))
    b.phase(Line('asm volatile("cp.async.commit_group; cp.async.wait_all;" ::: "memory");', True))
    b.items.append(Line("acc += fold(copied[t & 255u]);"))
