"""Features across the lanes of a warp: atomics, shuffles, votes, loops of whole warps, cooperative groups."""

from __future__ import annotations

from bench.adversary.builder import Builder
from bench.adversary.features import feature
from bench.adversary.program import Group, Line, Nest

ALL = "0xffffffffu"


@feature
def atomics(b: Builder) -> None:
    """Every integer operation, with and without its result, on one word and on many."""
    d, w = b.dice, b.writer
    kind = d.choice(("unsigned", "int", "unsigned long long"))
    array = b.array(kind, 128)
    operations = ["atomicAdd", "atomicMin", "atomicMax", "atomicAnd", "atomicOr", "atomicXor", "atomicExch"]
    operations += ["atomicInc", "atomicDec", "atomicSub"] if kind == "unsigned" else []
    for _ in range(4):
        place = d.choice((f"&{array.name}[{w.index(128)}]", f"&{array.name}[0]", f"&{array.name}[warp & 127u]"))
        value = f"({kind}){d.choice(('1', '2', 'n', w.u(1)))}"
        call = f"{d.choice(operations)}({place}, {value})"
        line = Line(f"acc += (unsigned){call};" if d.chance(40) else f"{call};")
        b.items.append(line if d.chance(60) else Nest(((f"if ({w.condition()}) {{", (line,)),)))
    b.items.append(Line(f"acc += (unsigned)atomicCAS(&{array.name}[{w.index(128)}], ({kind})0, ({kind})t);"))


@feature
def atomic_loops(b: Builder) -> None:
    """Atomics implemented as loops: of floats, doubles and halves, and compare-and-swap loops in the source."""
    d, w = b.dice, b.writer
    floats, doubles = b.array("float", 128), b.array("double", 64)
    forms = [
        f"atomicAdd(&{floats.name}[{w.index(128)}], 1.5f);",
        f"atomicAdd(&{doubles.name}[{w.index(64)}], 2.0);",
        f"acc += (unsigned)atomicAdd(&{floats.name}[t & 127u], 1.0f);",
        f"atomicAdd(&{floats.name}[0], 1.0f);",
    ]
    for form in d.sample(forms, 3):
        b.items.append(Line(form))
    word = b.array("unsigned", 64)
    place = f"&{word.name}[{w.index(64)}]"
    b.items.append(Line(f"for (unsigned k = 0; k < 3u; k++) acc += atomicCAS({place}, k, k + 1u);"))
    b.items.append(
        Nest(
            (
                (
                    "{",
                    (
                        Line(f"unsigned* at = {place}; unsigned old = *at, seen; unsigned fuel = 40;", True),
                        Line(
                            "do { seen = old; old = atomicCAS(at, seen, seen * 3u + 1u); } while (old != seen && "
                            "--fuel);",
                            True,
                        ),
                        Line("acc += old;"),
                    ),
                ),
            )
        )
    )


@feature
def shuffles(b: Builder) -> None:
    """Indices from other lanes, by every kind of shuffle, in whole warps and in some lanes."""
    d, w = b.dice, b.writer
    b.sync()
    forms = (
        "u1 = __shfl_sync({all}, {u}, (int)({l}), {width});",
        "u1 = __shfl_xor_sync({all}, {u}, {x}, {width});",
        "u2 = __shfl_up_sync({all}, {u}, {x}, {width});",
        "u0 = __shfl_down_sync({all}, {u}, {x}, {width});",
        "u2 ^= __shfl_sync({all}, u1, 0);",
        "f0 = __shfl_xor_sync({all}, f0 + 1.0f, 4); u1 = (unsigned)(int)f0;",
        "w0 = __shfl_sync({all}, w0 + u1, (int)({l})); u2 = (unsigned)w0;",
    )

    def form() -> Line:
        text = (
            d.choice(forms)
            .replace("{all}", ALL)
            .replace("{width}", str(d.choice((32, 32, 16, 8, 4))))
            .replace("{x}", str(d.choice((1, 2, 3, 8, 16))))
        )
        return Line(w.fill(text, 1))

    for _ in range(3):
        b.items += [form(), w.access()]
    b.items.append(
        Group(
            (
                Line(f"const unsigned some = __ballot_sync({ALL}, {w.condition()});", True),
                Nest(
                    (
                        (
                            "if (some >> lane & 1u) {",
                            (
                                Line(f"u1 = __shfl_sync(some, {w.u(1)}, __ffs(some) - 1);"),
                                w.access(),
                                Line("__syncwarp(some);"),
                                w.access(),
                            ),
                        ),
                        ("} else {", (Line(f"u2 = __shfl_xor_sync(~some, {w.u(1)}, 0);"), w.access())),
                    )
                ),
            )
        )
    )


@feature
def votes(b: Builder) -> None:
    """Ballots, matches and reductions, with counts of their bits."""
    d, w = b.dice, b.writer
    b.sync()
    forms = (
        "u1 = __ballot_sync({all}, {c});",
        "u1 = __popc(__ballot_sync({all}, {c}) & ((1u << lane) - 1u));",
        "u2 = __any_sync({all}, {c}) ? {u} : {u};",
        "u2 = __all_sync({all}, {c}) ? {u} : {u};",
        "u0 = __match_any_sync({all}, {u} & 7u);",
        "{ int same; u1 = __match_all_sync({all}, {u} & 1u, &same); u1 += same; }",
        "u1 = __reduce_add_sync({all}, {u} & 255u);",
        "u2 = __reduce_min_sync({all}, {u});",
        "u0 ^= __reduce_or_sync({all}, {u} & 31u);",
        "u1 = (unsigned)__reduce_max_sync({all}, (int)({u}));",
        "u2 = __popc(__match_any_sync({all}, {u} & 3u));",
    )
    for _ in range(4):
        text = d.choice(forms).replace("{all}", ALL).replace("{c}", w.condition())
        b.items += [Line(w.fill(text, 1)), w.access()]


@feature
def active_lanes(b: Builder) -> None:
    """Addresses that depend on which lanes are converged: __activemask, coalesced groups, elect."""
    w = b.writer
    array = w.arrays[0]
    b.may_leave = True
    place = lambda value: f"acc += fold({array.name}[({value}) & {array.count - 1}u]);"
    body = (
        Line("const unsigned here = __activemask();", True),
        Line(place("__popc(here) * lane")),
        Line(place("__popc(here & ((1u << lane) - 1u)) * 2u")),
    )
    b.items.append(
        Nest(
            (
                (f"if ({w.condition()}) {{", body),
                (
                    "} else {",
                    (Line("const unsigned there = __activemask();", True), Line(place("__ffs(there) * lane + 3u"))),
                ),
            )
        )
    )
    b.items.append(Line(place("__popc(__activemask()) * lane")))
    b.items.append(
        Nest(
            (
                (
                    f"if ({w.condition()}) {{",
                    (
                        Line(
                            'unsigned chosen; asm volatile("{ .reg .pred p; elect.sync _|p, %1; selp.u32 %0, 1, 0, '
                            'p; }" : "=r"(chosen) : "r"(__activemask()));',
                            True,
                        ),
                        Line(f"if (chosen) {place('lane * 5u')}"),
                    ),
                ),
            )
        )
    )


@feature
def warp_loops(b: Builder) -> None:
    """Loops that a whole warp leaves together: while any lane needs another trip, and one key at a time."""
    w = b.writer
    b.sync()
    b.items.append(
        Nest(
            (
                (
                    f"for (unsigned r = 0; __any_sync({ALL}, r < ({w.u(1)} & 3u)) && r < 5u; r++) {{",
                    (w.access(), Nest(((f"if ({w.condition()}) {{", (w.access(),)),))),
                ),
            ),
            plain=False,
        )
    )
    b.items.append(
        Nest(
            (
                (
                    "{",
                    (
                        Line(f"const unsigned key = {w.u(1)} & 3u; unsigned left = __ballot_sync({ALL}, true);", True),
                        Nest(
                            (
                                (
                                    "while (left) {",
                                    (
                                        Line(
                                            f"const unsigned chosen = __shfl_sync({ALL}, key, __ffs(left) - 1);", True
                                        ),
                                        Nest((("if (key == chosen) {", (w.access(), w.access())),)),
                                        Line(f"left &= ~__ballot_sync({ALL}, key == chosen);", True),
                                    ),
                                ),
                            ),
                            plain=False,
                            fixed=True,
                        ),
                    ),
                ),
            )
        )
    )


@feature
def tiles(b: Builder) -> None:
    """Cooperative groups: tiles of a warp, their shuffles and votes."""
    d, w = b.dice, b.writer
    b.sync()
    b.preamble.insert(0, "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;")
    size = d.choice((4, 8, 16, 32))
    b.declared.append(Line(f"auto tile = cg::tiled_partition<{size}>(cg::this_thread_block());", True))
    w.leaves += ["tile.thread_rank()", "tile.meta_group_rank()"]
    b.items += [
        Line(f"u1 = tile.shfl({w.u(1)}, {d.below(size)});"),
        w.access(),
        Line(f"u2 = tile.shfl_down({w.u(1)}, 1);"),
        w.access(),
        Line(f"u0 = tile.ballot({w.condition()});"),
        w.access(),
        Line("tile.sync();"),
        Line(f"u1 = tile.any({w.condition()}) ? {w.u(1)} : {w.u(1)};"),
        w.access(),
    ]


@feature
def coalesced(b: Builder) -> None:
    """Cooperative groups: the lanes that are converged in a branch."""
    d, w = b.dice, b.writer
    b.preamble.insert(0, "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;")
    array = w.arrays[0]
    last = array.count - 1
    b.items.append(
        Nest(
            (
                (
                    f"if ({w.condition()}) {{",
                    (
                        Line("auto together = cg::coalesced_threads();", True),
                        Line(
                            f"acc += fold({array.name}[(together.thread_rank() * {d.choice((1, 2, 33))}u) & {last}u]);"
                        ),
                        Line(f"if (together.thread_rank() == 0) {array.name}[(t * 2u) & {last}u] = 4;"),
                        Line(f"u1 = together.shfl({w.u(1)}, 0);"),
                        w.access(),
                        Line("together.sync();"),
                        Line(f"acc += fold({array.name}[(together.size() * lane) & {last}u]);"),
                    ),
                ),
            )
        )
    )
    b.items.append(w.access())


@feature
def runtime(b: Builder) -> None:
    """Calls of the device runtime, in some lanes and in loops, with accesses right after them: printf, malloc, free."""
    d, w = b.dice, b.writer
    b.preamble.append("#include <cstdio>")
    forms = (
        'acc += (unsigned)printf("%s", "");',
        'printf("%s", {u} == 77u ? "" : "");',
        "{ void* got = malloc(({u} & 63u) + 1u); acc += got != nullptr; free(got); }",
    )
    for _ in range(3):
        call = Line(w.fill(d.choice(forms), 1))
        way = d.below(4)
        if way == 0:
            b.items.append(call)
        elif way == 1:
            b.items.append(Nest(((f"if ({w.condition()}) {{", (w.access(), call, w.access())),)))
        elif way == 2:
            parts = ((f"if ({w.condition()}) {{", (call, w.access())), ("} else {", (w.access(), call, w.access())))
            b.items.append(Nest(parts))
        else:
            head = f"for (unsigned j = 0; j < ({w.u(1)} & 3u); j++) {{"
            b.items.append(Nest((("#pragma unroll 1", ()), (head, (w.access(), call, w.access()))), plain=False))
        b.items.append(w.access())
