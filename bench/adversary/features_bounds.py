"""Features whose addresses depend on data, within limits that bound the cost of a request for any data.

Each has variants in which a bound holds and variants in which it nearly does: a remainder that reaches one word
further, a digit shifted into the bits of a bank, a candidate that only some lanes can have, a copy that arrives where
a table lies.
"""

from __future__ import annotations

from bench.adversary.builder import BARRIER, Builder
from bench.adversary.features import feature
from bench.adversary.program import Fill, Group, Line, Nest, Statement

ALL = "0xffffffffu"
LANDED = 256  # words that a bulk copy may reach


def _read(b: Builder, e: str) -> Statement:
    array = b.dice.choice(b.writer.arrays)
    return Line(f"acc += fold({array.name}[({e}) & {array.count - 1}u]);")


def _write(b: Builder, e: str) -> Statement:
    array = b.dice.choice(b.writer.arrays)
    return Line(f"{array.name}[({e}) & {array.count - 1}u] = {b.writer.made(array.type)};")


def _count(b: Builder, e: str) -> Statement:
    array = b.writer.arrays[0]
    place = f"&{array.name}[({e}) & {array.count - 1}u]"
    how = b.dice.choice(("atomicAdd({}, 1u)", "atomicMax({}, 3u)", "atomicExch({}, 5u)", "atomicCAS({}, 1u, 2u)"))
    return Line(how.format(place) + ";")


def _few(b: Builder) -> str:
    """A number in a range that the code determines, whatever the data are."""
    d, w = b.dice, b.writer
    x = b.loaded(d.choice(("g", "t", "g ^ n", None)))
    forms = (
        f"({x} & {d.choice((1, 3, 7, 15, 31, 63, 255))}u)",
        f"({x} % {d.choice((2, 3, 5, 33, 40, 65, 96, 129))}u)",
        f"min({x}, {d.choice((1, 15, 31, 32, 33, 64, 100))}u)",
        f"({x} >> {d.choice((12, 16, 18))})",
        f"({x} & 1u ? {w.u(0)} & 31u : {d.choice((0, 32, 64, 96))}u)",
        f"__popc({x})",
        f"(unsigned)__clz({x} | 1u)",
        f"({x} & {d.choice((0x1E, 0x60, 0x380, 0x11, 0x3E0))}u)",
        f"(({x} & 1u) + ({x} >> 1 & 1u) * {d.choice((2, 31, 32, 33))}u)",
        f"((unsigned)((int){x} % 9 + 8) & 31u)",
        f"max(min((int){x} - 500, {d.choice((7, 31, 40))}), 0)",
        f"(unsigned char)({x})",
    )
    return f"((unsigned){d.choice(forms)})"


@feature
def bounded_places(b: Builder) -> None:
    """Numbers of known range as indices: alone, times a stride, added to the lane, for loads, stores and atomics."""
    d = b.dice
    b.array(d.choice(("unsigned char", "unsigned short", "uint2", "uint4", "double", "float4")), d.choice((128, 256)))
    for _ in range(4):
        x, y = _few(b), _few(b)
        forms = (
            x,
            f"{x} * {d.choice((2, 3, 4, 8, 16, 32, 33))}u",
            f"lane + {x}",
            f"t + {x} * {d.choice((32, 64, 33, 16))}u",
            f"lane * {d.choice((2, 4, 8, 32))}u + {x}",
            f"(lane >> {d.between(1, 4)}) * {d.choice((1, 8, 32))}u + {x}",
            f"{x} + {y} * {d.choice((1, 8, 32))}u",
            f"{x} ^ lane",
            f"{x} * (lane & 3u)",
            f"({x} << {d.choice((3, 5, 7))} | lane) ^ ({y} >> 1)",
            f"lane - {x} + {d.choice((0, 31, 64))}u",
            f"{x} + n",
        )
        e = d.choice(forms)
        b.items += [d.choice((_read, _read, _write, _count))(b, e), b.writer.access()]
        b.items.append(
            Nest(
                ((f"if ({d.choice((x, f'{x} > 3u', f'{x} == {y}', f'lane > {x}'))}) {{", (_read(b, e), _write(b, y))),)
            )
        )


@feature
def merge_paths(b: Builder) -> None:
    """Two sorted runs in shared memory: a thread finds its start by a search on a diagonal, then merges its items."""
    b.hand_over()
    d, w = b.dice, b.writer
    items, first = d.choice((1, 2, 3, 5, 8)), d.choice((16, 40, 64, 100))
    second = d.choice((first, 32, 7))
    left = d.choice(("i * 3u", "i", f"{b.loaded('i')} >> 14"))
    b.declared.append(Line("unsigned begin = 0, x0 = 0, x1 = 0, diagonal = 0;", True))
    fill = Nest(
        (
            (
                f"for (unsigned i = t; i < {first + second}u; i += nt) {{",
                (Line(f"sx[i] = i < {first}u ? {left} : (i - {first}u) * {d.choice((1, 4, 5))}u;", True),),
            ),
        ),
        fixed=True,
    )
    whole = first + second
    search = (
        f"diagonal = min(t * {items}u, {whole}u); begin = diagonal > {second}u ? diagonal - {second}u : 0u; "
        f"{{ unsigned end = min(diagonal, {first}u); while (begin < end) {{ const unsigned middle = (begin + end) >> 1; "
        f"if (sx[middle] <= sx[{first}u + diagonal - 1u - middle]) begin = middle + 1u; else end = middle; }} }}"
    )
    step: tuple[Statement, ...] = (
        Line(
            f"{{ const bool one = x1 >= {second}u || (x0 < {first}u && sx[x0] <= sx[{first}u + x1]); "
            "u1 = one ? x0++ : x1++; }",
            True,
        ),
        _write(b, f"t * {items}u + k"),
        _read(b, d.choice(("u1", f"u1 * {d.choice((2, 32))}u", "x0 + x1"))),
    )
    loop = Nest(
        ((f"for (unsigned k = 0; k < {items}u && diagonal + k < {whole}u; k++) {{", step),), plain=False, fixed=True
    )
    b.items += [
        Group((BARRIER, fill, BARRIER, Line(search, True), Line("x0 = begin; x1 = diagonal - begin;", True)), True),
        loop,
        _read(b, "begin"),
        _read(b, f"begin + lane * {d.choice((1, 2, 32))}u"),
        w.access(),
    ]


@feature
def packed_ranks(b: Builder) -> None:
    """Counters of digits, packed as bytes or halves of words, incremented, summed over lanes and read as ranks."""
    b.hand_over()
    d, w = b.dice, b.writer
    width = d.choice((8, 16))
    lanes = 32 // width
    digits = d.choice((4, 8, 16))
    rows = digits // lanes
    b.preamble_after_arrays.append(f"__shared__ unsigned packed[{rows * 256 + 8}];")
    b.file_scope = True
    b.declared.append(Line("unsigned digit = 0, rank = 0, row = 0;", True))
    layout = d.choice(("row * 256u + (t & 255u)", f"(t & 255u) * {rows}u + row", "row * 257u + (t & 255u)"))
    key = b.loaded("g")
    b.items.append(
        Group((Line(f"for (unsigned i = t; i < {rows * 256 + 8}u; i += nt) packed[i] = 0u;", True), BARRIER))
    )
    for at in range(2):
        lines = (
            Line(f"digit = ({key} >> {d.choice((0, 4, 9))}) & {digits - 1}u; row = digit % {rows}u;", True),
            Line(f"rank = packed[{layout}] >> (digit / {rows}u * {width}u) & {(1 << width) - 1}u;"),
            Line(f"packed[{layout}] += 1u << (digit / {rows}u * {width}u);"),
            _read(b, d.choice(("digit", f"digit * {d.choice((8, 32))}u + lane", "digit * 32u + t"))),
            _write(b, d.choice(("(digit << 7) + t", "digit ^ t", "t * 4u + (digit & 3u)"))),
        )
        b.items.append(Group(lines))
    b.items += [
        BARRIER,
        Line(
            f"{{ unsigned sum = packed[lane]; for (unsigned k = 1; k < 32u; k <<= 1) {{ const unsigned up = "
            f"__shfl_up_sync({ALL}, sum, k); if (lane >= k) sum += up; }} u0 = sum & {d.choice((255, 0xFF00, 1023))}u; }}",
            True,
        ),
        _read(b, "u0"),
        w.access(),
    ]


@feature
def cases(b: Builder) -> None:
    """Two patterns of different cost; a vote at a barrier, a load or a warp's sum decides which one the block takes."""
    b.sync()
    d, w = b.dice, b.writer
    b.declared.append(Line("unsigned agreed_ = 0;", True))
    for _ in range(3):
        x = b.loaded("g")
        agree = d.choice(
            (
                f"(unsigned)__syncthreads_or((int)({x} & 1u))",
                f"(unsigned)__syncthreads_and((int)({x} & 6u))",
                f"(unsigned)__syncthreads_count((int)({x} & 1u)) > nt / 2u",
                f"{b.loaded('blockIdx.x')} & 1u",
                f"__reduce_add_sync({ALL}, {x} & 7u) & 16u",
                f"__reduce_max_sync({ALL}, {x}) & 2u",
                f"__any_sync({ALL}, {x} & 1u)",
                f"__shfl_sync({ALL}, {x}, {d.below(32)}) & 1u",
                f"__popc(__ballot_sync({ALL}, {x} & 1u)) > 16",
            )
        )
        pitch = d.choice((1, 2, 32, 33))
        way = lambda: (_read(b, f"t * {d.choice((1, 2, 32))}u"), _write(b, f"lane * {d.choice((1, 4, 33))}u"))
        shape = d.below(4)
        b.items.append(Line(f"agreed_ = {agree};", True))
        if shape == 0:
            b.items.append(Nest((("if (agreed_) {", way()), ("} else {", way()))))
        elif shape == 1:
            b.items.append(_read(b, f"t * (agreed_ ? {pitch}u : {d.choice((1, 4, 8))}u)"))
        elif shape == 2:
            loop = ("#pragma unroll 1", ()), ("for (unsigned k = 0; k < (agreed_ ? 3u : 1u); k++) {", way())
            b.items.append(Nest(loop, plain=False))
        else:
            b.items.append(Nest((("if (agreed_ && (lane & 1u)) {", way()), ("} else if (!agreed_) {", way()))))
        b.items += [_read(b, f"t << (agreed_ ? {d.between(0, 5)} : {d.between(0, 5)})"), w.access()]


_ARRIVE = """__device__ __forceinline__ void bulk(unsigned to, const void* of, unsigned bytes, unsigned bar) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(bar), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        :: "r"(to), "l"(of), "r"(bytes), "r"(bar) : "memory");
}
__device__ __forceinline__ void await_phase(unsigned bar, unsigned phase) {
    asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra L; }"
        :: "r"(bar), "r"(phase) : "memory");
}"""


@feature
def delivered(b: Builder) -> None:
    """A bulk copy that arrives beside the kernel's tables, or in one; values read from either decide addresses."""
    b.hand_over()
    d, w = b.dice, b.writer
    b.preamble.append(_ARRIVE)
    b.file_scope = True
    b.preamble_after_arrays.append(
        f"__shared__ alignas(16) unsigned landed[{LANDED}]; __shared__ unsigned long long bar_;"
    )
    b.buffer("dat", Fill(step=d.choice((1, 7, 40503)), shift=5, modulo=d.choice((16, 1 << 20))), "const unsigned*")
    address = "(unsigned)__cvta_generic_to_shared({})".format
    init = f'asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"({address("&bar_")}) : "memory");'
    fill = Nest(
        ((f"for (unsigned i = t; i < {LANDED}u; i += nt) {{", (Line("landed[i] = i * 5u;", True),)),), fixed=True
    )
    fence = Line('asm volatile("fence.proxy.async;" ::: "memory");', True)
    b.items.append(Group((Line(f"if (t == 0u) {init}", True), fill, fence, BARRIER), True))
    place = lambda: f"({d.choice(('lane', 't & 63u', '(t * 3u) & 63u', 'warp'))}) + {d.choice((0, 64, 128))}u"
    to = address(f"landed + {d.choice((0, 0, 64, 132))}")
    copy = f"if (t == 0u) bulk({to}, dat + {d.choice((0, 4, 64))}, {d.choice((16, 64, 128, 256))}, {address('&bar_')});"
    b.items += [
        _read(b, f"landed[{place()}]"),
        BARRIER,
        Line(copy, True),
        _read(b, d.choice(("u0", "lane * 2u", f"sx[{place()}]"))),
        Line(f"await_phase({address('&bar_')}, 0u);", True),
        _read(b, f"landed[{place()}]"),
        _read(b, f"sx[{place()}]"),
        Line(f"u2 = {d.choice(('landed', 'landed', 'sx'))}[{place()}] & 255u;", True),
        BARRIER,
        w.access(),
        w.access(),
    ]


@feature
def candidates(b: Builder) -> None:
    """Tables of few numbers, in constant memory, in shared memory or selected, indexed once or twice by a digit."""
    b.hand_over()
    d, w = b.dice, b.writer
    count = d.choice((2, 4, 16, 256))
    step = d.choice((1, 3, 4, 32, 33))
    numbers = ", ".join(str(d.choice((at * step % 1024, at % 5, at * 64 % 1024))) for at in range(count))
    where = d.choice(("__constant__", "__device__ const"))
    b.after_routines += f"\n{where} unsigned listed[{count}] = {{{numbers}}};"
    fill = Nest(
        ((f"for (unsigned i = t; i < {count}u; i += nt) {{", (Line(f"sx[i] = i * {step}u % 777u;", True),)),),
        fixed=True,
    )
    b.items.append(Group((BARRIER, fill, BARRIER), True))
    for _ in range(3):
        x = f"({b.loaded(d.choice(('g', 't', 'warp')))} & {count - 1}u)"
        once = d.choice((f"listed[{x}]", f"sx[{x}]", f"({x} & 1u ? {d.choice((32, 64, 7))}u : {w.u(0)} & 63u)"))
        twice = d.choice((f"listed[({once}) & {count - 1}u]", f"sx[({once}) & {count - 1}u]", once))
        forms = (
            once,
            f"{once} + lane",
            f"{twice} * {d.choice((2, 32))}u + (t & 31u)",
            twice,
            f"{once} ^ t",
            f"{twice} + t * 2u",
        )
        b.items += [_read(b, d.choice(forms)), d.choice((_write, _count))(b, d.choice(forms)), w.access()]


@feature
def lane_sums(b: Builder) -> None:
    """Sums over lanes as indices of several items per thread, from a base that is uniform in the warp."""
    b.sync()
    d, w = b.dice, b.writer
    for number in range(2):
        sum_, many = f"total{number}", f"many{number}"
        b.declared.append(Line(f"unsigned {sum_} = 0, {many} = 0;", True))
        x = b.loaded("g")
        own = d.choice(
            (f"{x} & 1u", f"{x} & 3u", f"min({x}, 5u)", f"({x} & 1u) + 1u", f"({x} & 1u) * 32u", f"{x} & 0x21u")
        )
        steps = d.choice(((1, 2, 4, 8, 16), (1, 2, 4, 8, 16), (1, 2, 4)))
        lines: list[Statement] = [Line(f"{many} = {own}; {sum_} = {many};", True)]
        lines += [
            Line(f"{{ const unsigned up = __shfl_up_sync({ALL}, {sum_}, {k}); if (lane >= {k}u) {sum_} += up; }}", True)
            for k in steps
        ]
        base = d.choice(("0u", "(n & 7u)", f"(__shfl_sync({ALL}, {x}, 0) & 63u)", "warp * 40u"))
        exclusive = d.choice((f"{sum_} - {many}", f"{sum_} - {many}", sum_, f"__shfl_up_sync({ALL}, {sum_}, 1)"))
        lines += [
            Line(f"u1 = {base} + ({exclusive});", True),
            Nest(
                (
                    (
                        f"for (unsigned k = 0; k < min({many}, 6u); k++) {{",
                        (_write(b, f"u1 + k{d.choice(('', '', ' * 2u', ' * 32u'))}"), _read(b, "u1 + k")),
                    ),
                ),
                plain=False,
                fixed=True,
            ),
            _read(b, "u1"),
            _read(b, f"u1 * {d.choice((1, 2, 4, 32))}u"),
            _read(b, d.choice((f"({sum_}) * 2u + lane", f"lane * 3u - ({sum_} & 31u)", f"{sum_} / 2u"))),
        ]
        b.items += [Group(tuple(lines)), w.access()]
