"""Features whose values come from data that a launch may leave unspecified: agreed on by a block, tickets, digits.

With everything specified these are plain numbers. With only a grid and a block specified they are unknown, but not
arbitrary: the threads of a block share one value, the tickets of all blocks are consecutive numbers, a digit is one
of sixteen.
"""

from __future__ import annotations

from bench.adversary.builder import BARRIER, SLOTS, WORDS, Builder
from bench.adversary.features import feature
from bench.adversary.program import Fill, Group, Line, Nest, Statement
from bench.adversary.writer import Writer

LAST = WORDS - 1


def _data(b: Builder) -> None:
    """Adds `src` and `dat`, whose contents only a launch with data specifies; nothing else writes `src`."""
    d = b.dice
    for name in ("src", "dat"):
        fill = Fill(
            step=d.choice((1, 7, 40503, 2654435761)),
            shift=d.choice((31, 5)),
            modulo=d.choice((2, 16, 1 << 20, 1 << 31)),
        )
        b.buffer(name, fill, "const unsigned*" if name == "src" else "unsigned*")


def _uniform(b: Builder) -> str:
    """A number that all threads of a block share, whatever `src` contains; or only those of a warp, or none."""
    d, w = b.dice, b.writer
    k = d.choice((0, 1, 3, 100, 70000))
    return d.choice(
        (
            f"src[blockIdx.x & {LAST}u]",
            f"src[(blockIdx.x * 7u + n) & {LAST}u]",
            f"src[{d.below(64)}]",
            f"(unsigned)__syncthreads_or(src[({w.u(1)}) & {LAST}u] > {k}u)",
            f"(unsigned)__syncthreads_and(src[({w.u(1)}) & {LAST}u] > {k}u)",
            f"(unsigned)__syncthreads_count(src[({w.u(1)}) & {LAST}u] & 1u)",
            f"(src[gridDim.x & 31u] ^ src[{d.below(8)}] * 3u)",
            f"min(src[{d.below(8)}], src[blockIdx.x & 15u])",
        )
    )


def _both(b: Builder, condition: str) -> Statement:
    """An if, maybe with an else, with accesses; any barrier in it is reached by all threads or by none."""
    w = b.writer
    way = lambda: (w.access(), *([BARRIER] if b.dice.chance(50) else []), w.access(), *w.body(3, 2))
    parts = [(f"if ({condition}) {{", way())]
    if b.dice.chance(60):
        parts.append(("} else {", way()))
    return Nest(tuple(parts), plain=False)


@feature
def agreed(b: Builder) -> None:
    """Branches, loops and addresses that depend on a number on which the whole block agrees."""
    b.sync()
    _data(b)
    d, w = b.dice, b.writer
    names = [f"same{at}" for at in range(3)]
    b.declared += [Line(f"unsigned {name} = {_uniform(b)};", True) for name in names]
    for _ in range(3):
        name = d.choice(names)
        k = d.choice((0, 1, 2, 9, 1000))
        match d.below(7):
            case 0 | 1:
                b.items.append(_both(b, f"{name} {d.choice(('>', '==', '<', '!='))} {k}u"))
            case 2:
                b.items += [_both(b, f"{name} & 1u"), w.access(), _both(b, f"({name} & 1u) == 0u")]
            case 3:
                b.items.append(
                    Nest(
                        ((f"for (unsigned j = 0; j < ({name} & 3u); j++) {{", (w.access(), BARRIER, w.access())),),
                        plain=False,
                    )
                )
            case 4:
                b.items.append(Line(f"{d.choice(w.variables)} = {name} & {d.choice((1, 3, 31, 32, 128, 0xFF0))}u;"))
                b.items.append(w.access())
            case 5:
                b.items.append(Line(f"{d.choice(w.variables)} += ({name} > {k}u) ? {w.u(1)} : {w.u(1)};"))
                b.items.append(w.access())
            case 6:
                mine = f"dat[g & {LAST}u]"
                b.phase(Line(f"u2 = {mine}; {mine} = {w.u(1)};", True), Line(f"u2 ^= {mine};", True))
                b.items.append(w.access())
        w.leaves.append(f"({name} & {d.choice((7, 31, 32, 96, 4095))}u)")
        b.items.append(w.access())
    b.items.append(Nest(((f"if (src[warp & {LAST}u] & 1u) {{", (w.access(),)),)))


TICKETS = (
    "if (t == 0u) ticket = atomicAdd(counter, 1u);",
    "if (t == nt - 1u) ticket = atomicAdd(counter, 1u);",
    "if (t < 1u) ticket = atomicInc(counter, 0xffffffffu);",
    "if (t == 0u) ticket = atomicAdd(counter, 2u) >> 1;",
    "if (warp == 0u && lane == 0u) ticket = atomicAdd(counter, 1u) + 3u;",
    "if (t == 0u) ticket = atomicAdd(counter, blockIdx.x ? 1u : 1u);",
    "if (t == 0u) { ticket = atomicAdd(counter, 1u); __threadfence(); }",
)
NOT_ONE_EACH = (
    "if (t == 0u) { atomicAdd(counter, 1u); ticket = atomicAdd(counter, 1u); }",
    "if (t == 0u) for (unsigned j = 0; j <= (blockIdx.x & 1u); j++) ticket = atomicAdd(counter, 1u);",
    "if (t <= 1u) ticket = atomicAdd(counter, 1u);",
    "if (t == 0u) ticket = atomicAdd(counter, blockIdx.x & 1u);",
    "if (t == 0u) ticket = atomicSub(counter, 1u);",
    "if (t == 0u && (blockIdx.x & 1u) == 0u) ticket = atomicAdd(counter, 1u); else if (t == 0u) ticket = 0u;",
    "if (t == 0u) { counter[0] = 5u; ticket = atomicAdd(counter, 1u); }",
    "if (t == 0u) ticket = atomicMax(counter, blockIdx.x);",
)


@feature
def tickets(b: Builder) -> None:
    """Numbers that blocks draw from one counter; figures that depend on them alone have the same total."""
    b.sync()
    b.file_scope = True
    d, w = b.dice, b.writer
    b.buffer("counter", Fill(step=0, low=d.choice((0, 0, 0, 5, 32)), count=64))
    b.preamble_after_arrays.append("__shared__ unsigned ticket;")
    drawn = d.choice(TICKETS) if d.chance(70) else d.choice(NOT_ONE_EACH)
    inner = Writer(d, w.arrays, ["t", "lane", "n", "v0", "v1", "mine", "mine"], ["v0", "v1"], w.families)
    body: list[Statement] = [
        Line("unsigned mine = ticket, v0 = t * 3u, v1 = n + t; (void)v0; (void)v1;", True),
        inner.access(),
        *inner.body(4, 1),
        Nest(
            (
                (
                    f"if (mine {d.choice(('<', '==', '&'))} {d.choice((1, 2, 3))}u) {{",
                    (inner.access(), BARRIER, inner.access()),
                ),
            ),
            plain=False,
        ),
        inner.access(),
    ]
    if d.chance(35):
        tiles = d.choice(("5u", "gridDim.x * 2u", "n % 7u"))
        loop = Nest(
            (
                (
                    f"for (unsigned rounds = 0; rounds < 64u; rounds++) {{ {drawn} __syncthreads(); "
                    f"if (ticket >= {tiles}) break;",
                    (*body, BARRIER),
                ),
            ),
            plain=False,
        )
        b.items.append(Group((loop, BARRIER), True))
    else:
        b.items.append(Group((Line(drawn, True), BARRIER, Nest((("{", tuple(body)),), plain=False), BARRIER), True))


@feature
def few(b: Builder) -> None:
    """Digits of loaded numbers: as offsets, in packed counters, through tables, in binary searches and merges."""
    b.hand_over()
    _data(b)
    b.file_scope = True
    d, w = b.dice, b.writer
    key = lambda: f"src[({w.u(1)}) & {LAST}u]"
    bits = d.choice((1, 2, 3, 4, 8))
    array = w.arrays[0]
    mask = array.count - 1
    entries = ", ".join(
        f"{d.choice((0, 1, 4, 32, 33, 96))}u" if d.chance(50) else f"{at * 32}u" for at in range(1 << bits)
    )
    qualifier = d.choice(("__constant__ unsigned", "__device__ const unsigned"))
    b.preamble_after_arrays.append(f"{qualifier} few_of[{1 << bits}] = {{{entries}}};")
    digit = lambda: f"(({key()} >> {d.choice((0, 3, 8, 13))}) & {(1 << bits) - 1}u)"
    for what in d.sample(range(9), 4):
        match what:
            case 0:
                b.items.append(
                    Line(f"acc += fold({array.name}[({digit()} * {d.choice((1, 2, 32, 33))}u + t) & {mask}u]);")
                )
            case 1:
                b.items.append(
                    Line(f"{array.name}[(t * 4u + (({key()} << 7) & 0x380u) + ({key()} >> 30)) & {mask}u] = 1;")
                )
            case 2:
                b.items.append(
                    Line(
                        f"acc += fold({array.name}[(few_of[{digit()}] + {d.choice(('0u', 't', 'lane', 'warp'))}) & {mask}u]);"
                    )
                )
            case 3:
                b.items.append(Line(f"acc += sx[{digit()} * {d.choice((1, 3, 32, 64))}u & {SLOTS - 1}u];"))
            case 4:
                b.items.append(Line(f"acc += fold({array.name}[({digit()} ? t : t + 32u) & {mask}u]);"))
            case 5:
                steps = d.choice((3, 5))
                b.items.append(
                    Nest(
                        (
                            (
                                "{",
                                (
                                    Line(f"unsigned low = 0, high = {1 << steps}u; const unsigned k = {key()};", True),
                                    Line(
                                        "while (low < high) { const unsigned middle = (low + high) >> 1; "
                                        f"if (sx[middle{d.choice(('', ' * 32u & 1023u', ' * 2u'))}] < k) low = middle + 1u; "
                                        "else high = middle; }",
                                        True,
                                    ),
                                    Line(
                                        f"acc += fold({array.name}[(low + t) & {mask}u]); acc += fold({array.name}[low & {mask}u]);"
                                    ),
                                ),
                            ),
                        )
                    )
                )
            case 6:
                b.phase(
                    Line(f"sx[t & {SLOTS - 1}u] = {key()} & {d.choice((1, 15, 31, 255))}u;", True),
                    BARRIER,
                    Line(f"u1 = sx[({w.u(1)}) % nt];", True),
                )
                b.items += [Line(f"acc += fold({array.name}[(u1 * {d.choice((1, 4, 32))}u) & {mask}u]);"), w.access()]
            case 7:
                b.items.append(
                    Line(
                        f"acc += fold({array.name}[min({key()}, {d.choice((0, 1, 7, 31, 32))}u) + {d.choice(('0u', '(t & 31u)'))}]);"
                    )
                )
            case 8:
                b.items.append(
                    Line(
                        f"acc += fold({array.name}[({d.choice(('__popc', '__clz', '__ffs'))}({key()}) * "
                        f"{d.choice((1, 2, 32))}u + {d.choice(('0u', 't'))}) & {mask}u]);"
                    )
                )
        if d.chance(50):
            b.items.append(Line(f"acc += fold({array.name}[(({key()} & ~31u) + lane) & {mask}u]);"))
        else:
            b.items.append(Line(f"{array.name}[({_uniform(b)} + t * {d.choice((1, 2, 3))}u) & {mask}u] = 1;"))
