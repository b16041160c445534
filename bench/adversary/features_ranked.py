"""Features in which lanes divide numbers among themselves, and launches of many blocks.

The rank of a lane among those that vote, slots that a warp takes from a counter, assembled bytes and halves, loop
counters that a compiler keeps in local memory, structures read through pointers to parameters, blocks that each have
their own stride and bound.
"""

from __future__ import annotations

from bench.adversary.builder import BARRIER, Builder
from bench.adversary.features import feature
from bench.adversary.program import Group, Line, Nest, Parameter
from bench.adversary.writer import Array, Writer

ALL = "0xffffffffu"
BELOW = (
    "((1u << lane) - 1u)",
    "((2u << lane) - 1u)",
    "(0xffffffffu >> (31u - lane))",
    "~(0xffffffffu << lane)",
    "(1u << lane)",
    "~(1u << lane)",
    "0xffffffffu",
)


def _question(b: Builder) -> str:
    return f"({b.loaded()} & {b.dice.choice((1, 2, 3))}u)" if b.dice.chance(60) else f"({b.writer.condition()})"


@feature
def ranks(b: Builder) -> None:
    """Ranks among the lanes that vote: lanes write adjacent elements, or those that a mask of other lanes selects."""
    b.sync()
    b.file_scope = True
    d, w = b.dice, b.writer
    array = w.arrays[0]
    at = lambda e: f"{array.name}[({e}) & {array.count - 1}u]"
    b.preamble_after_arrays.append("__shared__ unsigned taken;")
    for number in range(3):
        mask, rank = f"vote{number}", f"rank{number}"
        below = d.choice(BELOW[:4]) if d.chance(70) else d.choice(BELOW)
        b.declared += [Line(f"unsigned {mask} = 0, {rank} = 0;", True)]
        lines = [
            Line(f"{mask} = __ballot_sync({ALL}, {_question(b)});", True),
            Line(f"{rank} = __popc({mask} & {below}){d.choice(('', '', ' - 1u', ' + 3u', ' * 2u', ' * 33u'))};", True),
        ]
        base = d.choice(("0u", "warp * 32u", "(n & 7u)", f"({b.loaded()} & 31u)", f"__popc({mask}) * warp"))
        mine = d.choice((f"{mask} >> lane & 1u", f"{mask} >> lane & 1u", f"~{mask} >> lane & 1u", "lane & 1u"))
        if d.chance(30):
            base = f"slot{number}"
            b.declared.append(Line(f"unsigned {base} = 0;", True))
            b.items.append(Group((BARRIER, Line("if (t == 0u) taken = 0u;", True), BARRIER), True))
            lines += [
                Line(f"if (lane == 0u) {base} = atomicAdd(&taken, __popc({mask}));", True),
                Line(f"{base} = __shfl_sync({ALL}, {base}, 0) & 31u;", True),
            ]
        store = Line(f"{at(f'{base} + {rank}')} = ({array.type})1;" if _plain(array) else f"acc += fold({at(rank)});")
        lines.append(Nest(((f"if ({mine}) {{", (store, w.access())),), plain=False))
        lines.append(Line(f"acc += fold({at(f'{rank} * {d.choice((1, 2, 32))}u')});"))
        b.items.append(Group(tuple(lines)))
        if d.chance(50):
            b.items.append(
                Line(f"acc += fold({at(f'__fns({mask}, 0, (int)(lane & 15u) + 1) * {d.choice((1, 4, 33))}u')});")
            )
        w.leaves.append(f"({rank} & 63u)")
        b.items.append(w.access())


def _plain(array: Array) -> bool:
    return array.type in ("unsigned", "int", "float", "double", "short", "unsigned char", "unsigned short")


@feature
def put_together(b: Builder) -> None:
    """Indices assembled from bytes, halves and fields, of which some are known and some are not."""
    d, w = b.dice, b.writer
    b.families("packed", "bits", "funnel")
    forms = (
        "__byte_perm({x}, {u}, 0x{s}{s}{s}{s})",
        "__byte_perm({u}, {x}, {sel})",
        "({x} & 0xffff0000u | {u} & 0xffffu)",
        "(({x} << 7) & 0x380u) + ({u} & 127u)",
        "__funnelshift_l({x}, {u}, {s})",
        "__funnelshift_rc({u}, {x}, {big})",
        "(unsigned)(((unsigned long long){x} << 32 | {u}) >> {big})",
        "__vadd2({u}, {x} & 0x30003u)",
        "__brev({x}) >> 27 | {u} << 5",
        "({x} ? {u} : {u} + 32u)",
        "min({x}, {u} & 31u) + max({x}, 0xffffffc0u)",
        "({x} % 3u) * 32u + {u}",
    )
    for _ in range(5):
        x = b.loaded() if d.chance(70) else d.choice(("n", "(unsigned)m"))
        text = d.choice(forms).replace("{x}", x).replace("{big}", str(d.choice((1, 16, 27, 31, 32, 40))))
        text = text.replace("{sel}", d.choice(("0x4140", "0x7610", "0x0004", "n & 0x7777u", "0x9810")))
        b.items.append(Line(w.fill(f"{d.choice(w.variables)} = {text};", 1)))
        b.items.append(w.access())


@feature
def spills(b: Builder) -> None:
    """More values than registers: counters, bounds and addresses kept in local memory across loops and calls."""
    d, w = b.dice, b.writer
    count = d.choice((6, 10, 14))
    b.declared += [Line(f"unsigned kept{at} = t * {at + 1}u + n * {at}u;", True) for at in range(count)]
    b.routine(f"through{b.seed}", budget=4)
    inner = [w.access()]
    for at in d.sample(range(count), 4):
        inner.append(Line(f"kept{at} += {d.choice(('1u', 'lane', f'kept{(at + 1) % count}', '(unsigned)m'))};"))
    inner += [b.call(w, f"through{b.seed}"), Line(f"acc += kept{d.below(count)};"), w.access()]
    w.leaves += [f"(kept{at} & {d.choice((31, 63, 127))}u)" for at in d.sample(range(count), 3)]
    inner += [w.access(), w.access()]
    trips = d.choice(("5u", "(n & 7u) + 1u", "kept1 % 5u + 1u"))
    loop = Nest((("#pragma unroll 1", ()), (f"for (unsigned j = 0; j < {trips}; j++) {{", tuple(inner))), plain=False)
    b.items += [loop, Line("acc += " + " ^ ".join(f"kept{at}" for at in range(count)) + ";"), w.access()]


@feature
def pointed(b: Builder) -> None:
    """Parameters read through pointers to them, chosen by a thread, a warp or a block."""
    d, w = b.dice, b.writer
    b.preamble.append("struct Sizes { unsigned count, pitch, from; unsigned each[5]; };")
    for name in ("first", "second"):
        b.parameters.insert(
            d.below(len(b.parameters) + 1), Parameter(name, "const __grid_constant__ Sizes", "bytes", 32)
        )
    chosen = d.choice(("n & 1u", "blockIdx.x & 1u", "warp & 1u", "lane & 1u", "1u", "m < 0"))
    b.declared.append(Line(f"const Sizes* sizes = ({chosen}) ? &first : &second;", True))
    b.declared.append(Line("const unsigned pitch = sizes->pitch & 63u, many = sizes->count & 7u; (void)pitch;", True))
    at = d.choice(("n % 5u", "t % 5u", "blockIdx.x % 5u", "warp % 5u", "3u"))
    w.leaves += ["(t * pitch)", "(sizes->from & 127u)", f"(sizes->each[{at}] & 255u)"]
    body = (w.access(), Line(f"u1 += sizes->each[j % 5u] & {d.choice((3, 31, 96))}u;"), w.access())
    b.items += [w.access(), Nest((("for (unsigned j = 0; j < many; j++) {", body),), plain=False), w.access()]


@feature
def many_blocks(b: Builder) -> None:
    """Grids of hundreds of blocks, each with its own stride, bound and guard."""
    d, w = b.dice, b.writer
    b.many_blocks = True
    strides = d.choice(
        ("blockIdx.x % 7u + 1u", "blockIdx.x", "(blockIdx.x * 40503u >> 4) & 63u", "gridDim.x - blockIdx.x")
    )
    b.declared += [
        Line(f"const unsigned stride = {strides}, mine = blockIdx.x % {d.choice((2, 3, 32, 97))}u;", True),
    ]
    w.leaves += ["stride", "mine", "(t * stride)", "(lane + mine)"]
    inner = Writer(d, w.arrays, ["t", "lane", "stride", "mine", "n", "(t * stride)"], ["u0", "u1"], w.families)
    b.items += [
        inner.access(),
        Nest(((f"if (t {d.choice(('<', '>=', '!='))} mine) {{", (inner.access(), *inner.body(3, 2))),)),
        Nest((("for (unsigned j = 0; j < (mine & 7u); j++) {", (inner.access(), inner.access())),), plain=False),
        Nest(((f"if (mine {d.choice(('==', '<'))} {d.choice((1, 2, 5))}u) {{", (inner.access(),)),)),
        inner.access(),
    ]
