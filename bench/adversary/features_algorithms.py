"""Constructs of common algorithms: loops, chains, sorts, tables per thread, warps with different roles, collectives.

Also argument lists, bit fields, closures and half-precision indices.
"""

from __future__ import annotations

from collections.abc import Callable

from bench.adversary.builder import BARRIER, SLOTS, Builder
from bench.adversary.features import feature
from bench.adversary.program import Line, Nest, Statement

LAST_SLOT = SLOTS - 1
OWN = 8  # elements of a table that each thread has for itself
LAST = OWN - 1


def _place(b: Builder, e: str) -> str:
    array = b.writer.arrays[0]
    return f"{array.name}[({e}) & {array.count - 1}u]"


def _read(b: Builder, e: str) -> Statement:
    return Line(f"acc += fold({_place(b, e)});")


def _counter(b: Builder, i: str) -> tuple[str, str]:
    """(the text before the loop, its head) of a loop that terminates, with a 32-bit counter `i`."""
    d, w = b.dice, b.writer
    some = f"({w.u(1)} & {d.choice((15, 31, 63))}u)"
    forms = (
        ("", f"for (unsigned {i} = 1u + ({some} & 3u); {i} < 200u; {i} *= {d.choice((2, 3))}u) {{"),
        ("", f"for (unsigned {i} = {some} | 1u, k = 0; k < 5u; k++, {i} = ({i} * 5u + 3u) & 127u) {{"),
        (
            f"unsigned {i} = {some} + 1u, e = ({w.u(1)} & 31u) + 1u;",
            f"while (e) {{ const unsigned r = {i} % e; {i} = e; e = r;",
        ),
        ("", f"for (unsigned long long {i} = 0xfffffffeull; {i} < 0x100000000ull + ({some} & 3u); {i}++) {{"),
        ("", f"for (unsigned {i} = 2u + ({some} & 3u); {i}-- != 0u;) {{"),
        (
            "",
            f"for (float x = 0.5f; x < (float)({some} & 7u); x += {d.choice(('1.25f', '0.75f'))}) {{ unsigned {i} = x;",
        ),
        ("", f"for (int {i} = (int)(lane >> 2) - 3; {i} <= {d.choice((1, 2, 4))}; {i} += 2) {{"),
        ("", f"for (unsigned char {i} = 250 + ({some} & 3u); {i} > 5; {i}++) {{"),
        ("", f"for (short {i} = (short)({some} & 3u) - 2; {i} * {i} < {d.choice((5, 10))}; {i}++) {{"),
        (
            f"unsigned {i} = {some};",
            f"while ({i} != 1u && {i} != 0u && {i} < 4096u) {{ {i} = {i} & 1u ? 0u : {i} >> 1;",
        ),
        ("", f"for (unsigned {i} = {some} + 1u; {i}; {i} &= {i} - 1u) {{"),
        ("", f"for (unsigned {i} = 32u - __clz({some} | 1u); {i} > 0u; {i} -= min({i}, {d.choice((1, 2))}u)) {{"),
    )
    return d.choice(forms)


@feature
def counters(b: Builder) -> None:
    """Counters that are multiplied, divided, wrap around, have 8, 16 or 64 bits or are floats; triangular loops."""
    d, w = b.dice, b.writer
    for at in range(4):
        before, head = _counter(b, f"c{at}")
        w.leaves.append(f"(unsigned)c{at}")
        inner: list[Statement] = [_read(b, f"(unsigned)c{at} * {d.choice((1, 3, 32, 33))}u + {w.u(1)}"), w.access()]
        if d.chance(40):
            j = f"j{at}"
            w.leaves.append(j)
            most = f"min((unsigned)c{at} & 7u, 5u)"
            inner.append(Nest(((f"for (unsigned {j} = 0; {j} <= {most}; {j}++) {{", (w.access(),)),), plain=False))
            w.leaves.remove(j)
        if d.chance(30):
            inner.append(Line(f"if ({w.condition()}) break;"))
        w.leaves.pop()
        b.items.append(Nest(((f"{{ {before}", (Nest(((head, tuple(inner)),), plain=False),)),), plain=False))


@feature
def chased(b: Builder) -> None:
    """Chains through shared memory, followed until a loaded value ends them."""
    b.hand_over()
    d, w = b.dice, b.writer
    link = d.choice(("t * 7u + 1u", "t >> 1", "t ^ 21u", "t + 33u", "t * t", "(t & 31u) * 32u + (t >> 5)"))
    b.phase(
        Nest(
            (
                (
                    f"for (unsigned i = t; i < {SLOTS}u; i += nt) {{",
                    (Line(f"sx[i] = ({link.replace('t', 'i')}) & {LAST_SLOT}u;", True),),
                ),
            ),
            fixed=True,
        ),
        BARRIER,
    )
    for _ in range(2):
        stop = d.choice((f"(at & {d.choice((3, 7, 15))}u) == 0u", f"at > {d.choice((500, 900))}u", "at == before"))
        b.items.append(
            Nest(
                (
                    (
                        f"{{ unsigned at = {w.u(1)} & {LAST_SLOT}u, before = {SLOTS}u; for (unsigned k = 0; k < {d.between(3, 9)}u && "
                        f"!({stop}); k++) {{",
                        (Line("before = at; at = sx[at];", True), _read(b, "at + k")),
                    ),
                ),
                "} u1 ^= at; }",
                plain=False,
            )
        )
        b.items.append(w.access())


@feature
def sorts(b: Builder) -> None:
    """A block sorts shared memory in a bitonic or an odd-even network; the resulting order decides addresses."""
    b.hand_over()
    d, w = b.dice, b.writer
    size = d.choice((32, 64, 128))
    key = d.choice((f"(i * 37u) & {size - 1}u", "i ^ 21u", "i * i % 61u", "i * 2654435761u >> 25"))
    fill = Nest(((f"for (unsigned i = t; i < {size}u; i += nt) {{", (Line(f"sx[i] = {key};", True),)),), fixed=True)
    swap = (
        "const unsigned x = sx[i], y = sx[o]; if ((x > y) == up) { sx[i] = y; sx[o] = x; }"
        if d.chance(50)
        else "const unsigned x = sx[i], y = sx[o]; sx[i] = up ? min(x, y) : max(x, y); sx[o] = up ? max(x, y) : min(x, y);"
    )
    if d.chance(60):
        network = (
            f"for (unsigned k = 2; k <= {size}u; k <<= 1) for (unsigned j = k >> 1; j; j >>= 1) {{ "
            f"for (unsigned i = t; i < {size}u; i += nt) {{ const unsigned o = i ^ j; if (o > i) {{ "
            f"const bool up = !(i & k); {swap} }} }} __syncthreads(); }}"
        )
    else:
        network = (
            f"for (unsigned k = 0; k < {min(size, 32)}u; k++) {{ for (unsigned i = 2u * t + (k & 1u); i + 1u < {size}u; "
            f"i += 2u * nt) {{ const unsigned o = i + 1u; const bool up = true; {swap} }} __syncthreads(); }}"
        )
    b.phase(fill, BARRIER, Line(network, True))
    b.items += [
        _read(b, f"sx[t & {size - 1}u] * {d.choice((1, 4, 33))}u"),
        Line(f"u0 = sx[{w.u(1)} & {size - 1}u];"),
        w.access(),
    ]


def _probed(keys: int, some: str, slot: Callable[[str], str]) -> str:
    return (
        f"for (unsigned k = 0; k < {keys}u; k++) {{ const unsigned key = ({some} + k * 5u) * 3u + 1u; unsigned e = key & {LAST}u; "
        f"while ({slot('e')} && {slot('e')} != key) e = (e + 1u) & {LAST}u; {slot('e')} = key; }}"
    )


def _heap(keys: int, some: str, slot: Callable[[str], str]) -> str:
    return (
        f"for (unsigned k = 1; k < {keys}u; k++) {{ unsigned e = k; const unsigned key = ({some} ^ (k * 11u)) & 63u; "
        f"while (e > 1u && {slot('e >> 1')} > key) {{ {slot('e')} = {slot('e >> 1')}; e >>= 1; }} {slot('e')} = key; }}"
    )


def _stack(keys: int, some: str, slot: Callable[[str], str]) -> str:
    return (
        f"{{ unsigned top = 0; {slot('top')} = ({some} & 15u) + 4u; top++; while (top) {{ const unsigned x = {slot('--top')}; "
        f"u2 = u2 * 3u + x; if (x > 2u && top + 2u <= {keys}u) {{ {slot('top')} = x >> 1; top++; "
        f"if (x & 1u) {{ {slot('top')} = x >> 2; top++; }} }} }} }}"
    )


def _ring(keys: int, some: str, slot: Callable[[str], str]) -> str:
    return (
        f"{{ unsigned head = {some} & {LAST}u; for (unsigned k = 0; k < {keys}u; k++) {{ {slot(f'head & {LAST}u')} = head * 3u; "
        f"head += 1u + ({slot(f'(head + 5u) & {LAST}u')} & 1u); }} u0 = head; }}"
    )


@feature
def own_tables(b: Builder) -> None:
    """A table per thread, in shared or local memory: probed, used as a heap, as a stack, as a ring."""
    d, w = b.dice, b.writer
    b.file_scope = True
    layout = "{}"
    if d.chance(60):
        row = "(t & 255u)"
        layout = d.choice((f"{row} * {OWN}u + ({{}})", f"{row} * {OWN + 1}u + ({{}})", f"({{}}) * 256u + {row}"))
        b.preamble_after_arrays.append(f"__shared__ unsigned own[256 * {OWN + 1}];")
    else:
        b.declared.append(Line(f"unsigned own[{OWN}];", True))
    slot = lambda e: f"own[{layout.format(e)}]"
    kept = d.choice((_probed, _heap, _stack, _ring))
    b.items += [
        Line(f"for (unsigned e = 0; e < {OWN}u; e++) {slot('e')} = 0u;", True),
        Line(kept(d.between(3, OWN), w.u(1), slot), True),
        _read(b, slot(f"{w.u(1)} & {LAST}u")),
        _read(b, f"{slot(f'u0 & {LAST}u')} + lane"),
        w.access(),
    ]


@feature
def roles(b: Builder) -> None:
    """Warps with different roles that synchronise at named barriers: some arrive, some wait."""
    b.hand_over()
    b.full_warps = True
    d, w = b.dice, b.writer
    split = d.choice(("warp & 1u", "warp == 0u", "warp >= (nt >> 6)"))
    all_of = '"r"(nt)'
    arrive = f'asm volatile("bar.arrive 1, %0;" :: {all_of} : "memory");'
    wait = f'asm volatile("bar.sync 1, %0;" :: {all_of} : "memory");'
    b.phase(
        Nest(
            (
                (
                    f"if ({split}) {{",
                    (Line(f"sx[t] = {w.u(2)};", True), _read(b, w.u(1)), Line(arrive, True), w.access()),
                ),
                (
                    "} else {",
                    (w.access(), Line(wait, True), Line(f"u1 = sx[({w.u(1)}) & {LAST_SLOT}u];", True), _read(b, "u1")),
                ),
            ),
            fixed=True,
        ),
    )
    b.items.append(w.access())


_OF_LIST = """#ifdef __CUDACC_RTC__
template <typename... T> __device__ __noinline__ unsigned of_list(unsigned count, T... values) {
    const unsigned all[] = {values...}; unsigned r = 0;
    for (unsigned k = 0; k < count; k++) r = r * 3u + all[k];
    return r;
}
#define ROOM(count) unsigned room[9]
#else
#define ROOM(count) unsigned* room = (unsigned*)__builtin_alloca(count * 4u)
__device__ __noinline__ unsigned of_list(unsigned count, ...) {
    __builtin_va_list list; __builtin_va_start(list, count); unsigned r = 0;
    for (unsigned k = 0; k < count; k++) r = r * 3u + __builtin_va_arg(list, unsigned);
    __builtin_va_end(list); return r;
}
#endif"""


@feature
def variadic(b: Builder) -> None:
    """Variadic arguments, and arrays on the stack whose size is not known."""
    d, w = b.dice, b.writer
    b.file_scope = True
    b.preamble.append(_OF_LIST)
    if d.chance(60):
        b.items.append(
            Line(f"u0 = of_list({d.between(1, 4)}u + ({w.u(1)} & 1u), {', '.join(w.u(1) for _ in range(6))});")
        )
        b.items.append(_read(b, f"u0 * {d.choice((1, 33))}u"))
    b.items.append(
        Nest(
            (
                (
                    f"{{ const unsigned count = ({w.u(1)} & 7u) + 2u; ROOM(count); "
                    "for (unsigned k = 0; k < count; k++) {",
                    (Line(f"room[k] = k * {d.choice((3, 32, 5))}u + t;", True),),
                ),
            ),
            f"}} u1 = room[({w.u(1)}) % count]; }}",
            plain=False,
        )
    )
    b.items += [_read(b, "u1"), w.access()]


@feature
def bit_fields(b: Builder) -> None:
    """Bit fields, unions and structures of odd sizes, in shared memory and in registers."""
    d, w = b.dice, b.writer
    b.preamble.append(
        "struct Bits { unsigned a : 5; unsigned b : 11; int c : 7; unsigned d : 9; };\n"
        "union Word { unsigned u; float f; unsigned char c[4]; unsigned short h[2]; Bits bits; };\n"
        "struct Odd { unsigned char tag; unsigned short more[3]; unsigned value; unsigned char last; };"
    )
    b.plain_array("sw", "Word", 256)
    b.plain_array("so", "Odd", 128)
    b.file_scope = True
    some = w.u(2)
    b.items += [
        Line(
            f"{{ Word x; x.u = {some}; u0 = x.bits.b + (unsigned)(x.bits.c + 64) * 3u; u1 = x.h[1] ^ x.c[{w.u(1)} & 3u]; }}"
        ),
        _read(b, "u0"),
        Line(f"sw[{w.u(1)} & 255u].bits.{d.choice('abcd')} = acc;"),
        Line(f"acc += sw[{w.u(1)} & 255u].c[{w.u(1)} & 3u];"),
        Line(f"acc += sw[u1 & 255u].h[{w.u(1)} & 1u];"),
        Line(f"so[{w.u(1)} & 127u].more[{w.u(1)} % 3u] = (unsigned short)acc;"),
        Line(f"acc += so[{w.u(1)} & 127u].{d.choice(('tag', 'value', 'last', 'more[1]'))};"),
        Line(f"{{ Odd o = so[{w.u(1)} & 127u]; o.value += 3u; o.tag = 1; so[{w.u(1)} & 127u] = o; }}"),
    ]


@feature
def captured(b: Builder) -> None:
    """Closures passed to templates, by value and by reference; a range with its own step."""
    d, w = b.dice, b.writer
    b.preamble.append(
        "template <typename F> __device__ __forceinline__ void each_of(unsigned n, F f) { for (unsigned k = 0; k < n; k++) f(k); }\n"
        "template <typename F> __device__ __noinline__ unsigned fold_of(unsigned n, unsigned x, F f) { for (unsigned k = 0; k < n; k++) "
        "x = f(x, k); return x; }\n"
        "template <unsigned N> struct Steps { template <typename F> __device__ __forceinline__ static void go(F f) { f(N); "
        "Steps<N / 2>::go(f); } };\n"
        "template <> struct Steps<0> { template <typename F> __device__ __forceinline__ static void go(F) {} };"
    )
    pitch = d.choice((1, 2, 32, 33))
    b.items += [
        Line(f"each_of(({w.u(1)} & 3u) + 1u, [&](unsigned k) {{ acc += fold({_place(b, f'k * {pitch}u + u0')}); }});"),
        Line(f"u1 = fold_of({d.between(1, 4)}u, {w.u(1)}, [=](unsigned x, unsigned k) {{ return x * 5u + k + u2; }});"),
        _read(b, f"u1 >> {d.between(0, 3)}"),
        Line(f"Steps<{d.choice((8, 16))}>::go([&](unsigned k) {{ acc += fold({_place(b, f't * k + {w.u(0)}')}); }});"),
        Line(
            f"{{ auto pick = [&](unsigned k) -> unsigned& {{ return k & 1u ? u0 : u2; }}; pick({w.u(1)}) += {w.u(1)}; }}"
        ),
        w.access(),
    ]


@feature
def half_indices(b: Builder) -> None:
    """Half-precision and bfloat16 indices, two at a time, compared, with fused products and conversions."""
    d, w = b.dice, b.writer
    b.preamble.insert(0, "#include <cuda_fp16.h>\n#include <cuda_bf16.h>")
    small = lambda: f"({w.u(1)} & {d.choice((7, 15, 31))}u)"
    half = lambda: f"__float2half((float){small()})"
    pair = lambda: f"__halves2half2({half()}, {half()})"
    brain = lambda: f"__float2bfloat16((float){small()})"
    forms = (
        f"u0 = (unsigned)__half2int_rn(__hadd({half()}, {half()}));",
        f"u1 = (unsigned)__half2int_rz(__hfma({half()}, {half()}, {half()})) & 1023u;",
        f"{{ const __half2 h = __hmul2({pair()}, {pair()}); u0 = (unsigned)__half2int_rn(__low2half(h)) + "
        "(unsigned)__half2int_rn(__high2half(h)) * 3u; }",
        f"u2 = __hlt({half()}, {half()}) ? {w.u(1)} : {w.u(0)};",
        f"u1 = (unsigned)__bfloat162int_rn(__hadd({brain()}, {brain()}));",
        f"u0 = (unsigned)__half_as_ushort(__hmax({half()}, {half()})) >> 6;",
        f"u1 = (unsigned)(int)__half2float(__habs(__hsub({half()}, {half()})));",
        f"u2 = __half22float2({pair()}).y;",
    )
    for form in d.sample(range(len(forms)), 4):
        b.items += [Line(forms[form]), w.access(), w.access()]


_COLLECTIVES = {
    "scan": (
        "typedef cub::BlockScan<unsigned, {n}> Work; __shared__ typename Work::TempStorage room; "
        "Work(room).{how}(u0 & 15u, u0); __syncthreads();"
    ),
    "reduce": (
        "typedef cub::BlockReduce<unsigned, {n}, cub::{reduce}> Work; __shared__ typename Work::TempStorage room; "
        "__shared__ unsigned total; const unsigned r = Work(room).Sum(u0 & 63u); if (t == 0u) total = r; __syncthreads(); u1 = total;"
    ),
    "radix": (
        "typedef cub::BlockRadixSort<unsigned, {n}, {items}> Work; __shared__ typename Work::TempStorage room; unsigned keys[{items}]; "
        "for (int k = 0; k < {items}; k++) keys[k] = (u0 * 37u + k * 11u) & 255u; Work(room).Sort(keys, 0, 8); "
        "__syncthreads(); u0 = keys[0]; u1 = keys[{items} - 1];"
    ),
    "exchange": (
        "typedef cub::BlockExchange<unsigned, {n}, {items}> Work; __shared__ typename Work::TempStorage room; unsigned keys[{items}]; "
        "for (int k = 0; k < {items}; k++) keys[k] = t * {items}u + k; Work(room).{exchange}(keys, keys); "
        "__syncthreads(); u0 = keys[0]; u1 = keys[{items} - 1];"
    ),
    "merge": (
        "typedef cub::BlockMergeSort<unsigned, {n}, {items}> Work; __shared__ typename Work::TempStorage room; unsigned keys[{items}]; "
        "for (int k = 0; k < {items}; k++) keys[k] = (u0 * 37u + k * 11u) & 255u; Work(room).Sort(keys, Less()); "
        "__syncthreads(); u0 = keys[0]; u1 = keys[{items} - 1];"
    ),
    "warp_scan": (
        "typedef cub::WarpScan<unsigned, {warp}> Work; __shared__ typename Work::TempStorage room[{n} / {warp}]; "
        "Work(room[t / {warp}u]).InclusiveSum(u0 & 7u, u0); __syncthreads();"
    ),
    "warp_sort": (
        "typedef cub::WarpMergeSort<unsigned, {items}, {warp}> Work; __shared__ typename Work::TempStorage room[{n} / {warp}]; "
        "unsigned keys[{items}]; for (int k = 0; k < {items}; k++) keys[k] = (u0 * 37u + k * 11u) & 255u; "
        "Work(room[t / {warp}u]).Sort(keys, Less()); __syncthreads(); u0 = keys[0];"
    ),
    "histogram": (
        "typedef cub::BlockHistogram<unsigned char, {n}, {items}, 32, cub::{histogram}> Work; __shared__ typename Work::TempStorage "
        "room; __shared__ unsigned bins[32]; unsigned char keys[{items}]; for (int k = 0; k < {items}; k++) keys[k] = (u0 + k) & 31u; "
        "Work(room).Histogram(keys, bins); __syncthreads(); u1 = bins[lane];"
    ),
    "adjacent": (
        "typedef cub::BlockAdjacentDifference<unsigned, {n}> Work; __shared__ typename Work::TempStorage room; unsigned keys[{items}]; "
        "for (int k = 0; k < {items}; k++) keys[k] = u0 * 3u + k; Work(room).SubtractLeft(keys, keys, Minus()); "
        "__syncthreads(); u0 = keys[0] & 1023u;"
    ),
    "shuffle": (
        "typedef cub::BlockShuffle<unsigned, {n}> Work; __shared__ typename Work::TempStorage room; "
        "Work(room).Rotate(u0, u1, {items}); __syncthreads();"
    ),
}


@feature
def collectives(b: Builder) -> None:
    """Collectives of CUB on values that each thread knows: sorts, scans, exchanges, histograms."""
    d, w = b.dice, b.writer
    b.sync()
    b.threads = d.choice((64, 128))
    b.preamble.insert(
        0,
        "#include <cub/cub.cuh>\n#include <cub/block/block_shuffle.cuh>\nstruct Less { __device__ bool operator()(unsigned a, unsigned b) const { return a < b; } };\n"
        "struct Minus { __device__ unsigned operator()(unsigned a, unsigned b) const { return a - b; } };",
    )
    for name in d.sample(sorted(_COLLECTIVES), 2):
        text = _COLLECTIVES[name].format(
            n=b.threads,
            items=d.choice((1, 2, 3, 4)),
            warp=d.choice((32, 16, 8)),
            how=d.choice(("InclusiveSum", "ExclusiveSum")),
            exchange=d.choice(("StripedToBlocked", "BlockedToStriped", "WarpStripedToBlocked", "BlockedToWarpStriped")),
            histogram=d.choice(("BLOCK_HISTO_ATOMIC", "BLOCK_HISTO_SORT")),
            reduce=d.choice(
                ("BLOCK_REDUCE_RAKING", "BLOCK_REDUCE_WARP_REDUCTIONS", "BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY")
            ),
        )
        b.items += [Line(f"u0 = {w.u(1)};"), Line(f"{{ {text} }}", True), w.access(), w.access()]
