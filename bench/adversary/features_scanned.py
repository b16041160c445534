"""Features of sums over lanes and the algorithms that use them: scans, selections, searches, digits and segments.

Most addends are loaded, so that a launch without data leaves the sums unknown while much can be inferred: they
increase from lane to lane, by a limited amount, and each selected lane has its own index. Each feature has variants
in which that holds and variants in which it nearly does: a lane that is left out, an addend that may be negative, a
sum that wraps around, a scan over fewer lanes than the warp has.
"""

from __future__ import annotations

from bench.adversary.builder import BARRIER, SLOTS, Builder
from bench.adversary.features import feature
from bench.adversary.program import Group, Line, Nest, Statement

ALL = "0xffffffffu"
LAST_SLOT = SLOTS - 1


def _addend(b: Builder, index: str) -> str:
    """The addend of a lane: mostly a small unknown number."""
    d = b.dice
    some = b.loaded(index)
    forms = (
        f"({some} & 1u)",
        f"({some} & 1u)",
        f"(({some} & 3u) != 0u ? 1u : 0u)",
        f"({some} & {d.choice((2, 3, 4, 7))}u)",
        f"(({some} & 1u) * 4u)",
        f"min({some}, {d.choice((1, 2, 9))}u)",
        f"(({some} & 3u) - 1u)",
        f"({some} & 0x10001u)",
        f"({b.writer.u(1)} & 3u)",
        "1u",
    )
    return d.choice(forms)


def _scan(b: Builder, of: str, into: str) -> list[Statement]:
    """The inclusive prefix sums of `of` over the lanes."""
    d = b.dice
    steps = d.choice(((1, 2, 4, 8, 16), (1, 2, 4, 8, 16), (1, 2, 4, 8), (1, 2, 4), (16, 8, 4, 2, 1), (1, 4, 16)))
    width = d.choice((32, 32, 32, 16))
    lines: list[Statement] = [Line(f"{into} = {of};", True)]
    for step in steps:
        guard = d.choice((f"lane >= {step}u",) * 4 + (f"(lane & {width - 1}u) >= {step}u", f"lane > {step}u"))
        lines.append(
            Line(
                f"{{ const unsigned up = __shfl_up_sync({ALL}, {into}, {step}, {width}); if ({guard}) {into} += up; }}",
                True,
            )
        )
    return lines


def _place(b: Builder, e: str) -> str:
    array = b.writer.arrays[0]
    return f"{array.name}[({e}) & {array.count - 1}u]"


@feature
def scans(b: Builder) -> None:
    """Selections: each thread's items go to the index that is the sum of the counts of the lanes before it."""
    b.sync()
    d, w = b.dice, b.writer
    for number in range(2):
        items = d.choice((1, 1, 2, 4))
        before, sum_ = f"before{number}", f"sum{number}"
        flags = [f"flag{number}_{at}" for at in range(items)]
        b.declared.append(Line(f"unsigned {before} = 0, {sum_} = 0;", True))
        b.declared += [Line(f"unsigned {flag} = 0;", True) for flag in flags]
        index = d.choice((f"t * {items}u", "g", "g ^ n"))
        lines: list[Statement] = [
            Line(f"{flag} = {_addend(b, f'{index} + {at}u')};", True) for at, flag in enumerate(flags)
        ]
        lines += _scan(b, " + ".join(flags), sum_)
        lines.append(Line(f"{before} = {sum_} - {d.choice(('(' + ' + '.join(flags) + ')', flags[0], '1u'))};", True))
        base = d.choice(("0u", "0u", "(n & 31u)", "warp * 64u", f"(__shfl_sync({ALL}, {sum_}, 31) & 7u)"))
        lines.append(Line(f"{before} += {base};", True))
        stride = d.choice((1, 1, 1, 2, 4, 8, 33))
        for flag in flags:
            lines.append(
                Nest(
                    (
                        (
                            f"if ({flag}{d.choice(('', '', ' & 1u', ' != 2u'))}) {{",
                            (Line(f"acc += fold({_place(b, f'{before} * {stride}u')});"), w.access()),
                        ),
                    ),
                    plain=False,
                )
            )
            lines.append(Line(f"{before} += {d.choice((flag, flag, '1u'))};", True))
        lines.append(Line(f"acc += fold({_place(b, f'{sum_} * {d.choice((1, 2, 32))}u')});"))
        b.items.append(Group(tuple(lines)))
        w.leaves.append(f"({sum_} & 127u)")
        b.items.append(w.access())


def _counted(b: Builder, mine: str) -> list[Statement]:
    """The result of a vote of the block at a barrier decides which of two paths all of it takes."""
    d, w = b.dice, b.writer
    counted = d.choice(("__syncthreads_count", "__syncthreads_or", "__syncthreads_and"))
    return [
        BARRIER,
        Line(f"u1 = (unsigned){counted}((int)({mine} & 1u));", True),
        Nest(
            (
                (
                    f"if (u1 {d.choice(('> 3u', '!= 0u', '& 1u'))}) {{",
                    (w.access(), Line(f"acc += fold({_place(b, f't * {d.choice((1, 2, 3))}u')});")),
                ),
                ("} else {", (w.access(),)),
            )
        ),
    ]


@feature
def block_scans(b: Builder) -> None:
    """Sums of a block: each warp's in shared memory, added by a loop or by one warp, or counted at a barrier."""
    b.hand_over()
    d, w = b.dice, b.writer
    mine, sum_, all_before = "mine_", "scanned", "earlier"
    b.declared.append(Line(f"unsigned {mine} = 0, {sum_} = 0, {all_before} = 0;", True))
    last = d.choice(("lane == 31u || t == nt - 1u", "(t & 31u) == 31u", "t == (t | 31u)"))
    lines: list[Statement] = [Line(f"{mine} = {_addend(b, 'g')};", True), *_scan(b, mine, sum_)]
    lines += [
        Line(f"if ({last}) sx[warp] = {sum_};", True),
        BARRIER,
        Line(
            f"for (unsigned i = 0; i < {d.choice(('warp', 'warp', '(nt >> 5)'))}; i++) {all_before} += sx[i];"
            if d.chance(60)
            else f"if (warp > 0u) {all_before} = sx[warp - 1u];",
            True,
        ),
        BARRIER,
    ]
    rank = d.choice((f"{all_before} + {sum_} - {mine}", f"{all_before} + {sum_} - {mine}", f"{all_before} + {sum_}"))
    lines.append(
        Nest(
            (
                (
                    f"if ({d.choice((mine, mine, f'{sum_} & 1u'))}) {{",
                    (
                        Line(f"acc += fold({_place(b, rank)});"),
                        Line(f"sx[({rank}) & {LAST_SLOT}u] = 5u;", True),
                        w.access(),
                    ),
                ),
            ),
            plain=False,
        )
    )
    lines += _counted(b, mine)
    b.items.append(Group(tuple(lines)))
    b.items.append(w.access())


@feature
def searches(b: Builder) -> None:
    """Binary searches in sorted numbers in shared or global memory, as in merges; the results are indices."""
    b.hand_over()
    d, w = b.dice, b.writer
    step = d.choice((1, 3, 5, 17))
    sorted_ = Nest(
        ((f"for (unsigned i = t; i < {SLOTS}u; i += nt) {{", (Line(f"sx[i] = i * {step}u;", True),)),), fixed=True
    )
    b.items.append(Group((BARRIER, sorted_, BARRIER), True))
    many = d.choice((8, 32, 100, 256))
    for number in range(2):
        low, high = f"low{number}", f"high{number}"
        b.declared.append(Line(f"unsigned {low} = 0, {high} = 0;", True))
        wanted = d.choice((b.loaded("g"), b.loaded("g"), f"({w.u(1)} % {many * step}u)", f"t * {step}u"))
        where = d.choice(("sx[middle]", "sx[middle]", b.loaded("middle")))
        test = d.choice((f"{where} < wanted", f"{where} <= wanted", f"!(wanted < {where})"))
        start = d.choice(("0u", "0u", "(lane & 7u)", "(t & 31u)"))
        lines: list[Statement] = [
            Line(f"{low} = {start}; {high} = {d.choice((f'{many}u', f'{many}u', f'{start} + 8u'))};", True),
            Nest(
                (
                    (
                        "{",
                        (
                            Line(f"const unsigned wanted = {wanted};", True),
                            Line(
                                f"while ({low} < {high}) {{ const unsigned middle = ({low} + {high}) >> 1; "
                                f"if ({test}) {low} = middle + 1u; else {high} = middle; }}",
                                True,
                            ),
                        ),
                    ),
                ),
                fixed=True,
            ),
            Line(f"acc += fold({_place(b, low)});"),
            Line(f"acc += fold({_place(b, f'{low} * {d.choice((2, 4, 32))}u + lane')});"),
            Line(f"acc += fold({_place(b, f'lane * 32u + {low}')});"),
        ]
        b.items.append(Group(tuple(lines)))
        w.leaves.append(low)
        b.items.append(w.access())


@feature
def digits(b: Builder) -> None:
    """Digits of keys: as indices of tables, as halves of packed counters, as groups of lanes with the same digit."""
    b.sync()
    d, w = b.dice, b.writer
    count = d.choice((4, 16, 256))
    entries = ", ".join(str(d.choice((at, at * 3 % 64, at // 2, 40)) % 1024) for at in range(count))
    b.after_routines += f"\n__device__ const unsigned short entries[{count}] = {{{entries}}};"
    for number in range(3):
        digit, same = f"digit{number}", f"same{number}"
        b.declared.append(Line(f"unsigned {digit} = 0, {same} = 0;", True))
        key = b.loaded(d.choice(("g", f"g + {number}u", "t ^ n")))
        shift = d.choice(("0", "4", "(n & 15u)", "28"))
        b.items.append(
            Group(
                (
                    Line(f"{digit} = ({key} >> {shift}) & {count - 1}u;", True),
                    Line(f"{same} = __match_any_sync({ALL}, {digit});", True),
                )
            )
        )
        rank = f"__popc({same} & ((1u << lane) - 1u))"
        forms = (
            f"entries[{digit}]",
            f"({digit} << 5) + lane",
            f"t + ({digit} << {d.choice((5, 6, 7))})",
            f"{digit} * nt + t",
            f"{rank} + {digit}",
            f"{rank} * {d.choice((1, 2, 32))}u + ({digit} & 1u) * 64u",
            f"(t & 127u) * 4u + ({digit} & 3u)",
            f"{digit} ^ t",
            f"(lane << 2 | {digit} & 3u) ^ ({digit} >> 2)",
        )
        b.items += [Line(f"acc += fold({_place(b, form)});") for form in d.sample(forms, 3)]
        leader = Nest(
            ((f"if ({rank} == 0u) {{", (Line(f"acc += fold({_place(b, digit)});"), w.access())),), plain=False
        )
        b.items += [leader, Line(f"u2 = entries[{digit}] + {d.choice(('0u', 'lane', 't * 2u'))};"), w.access()]


@feature
def segments(b: Builder) -> None:
    """Runs of lanes: where a run begins, how long it is, sums that restart with each run."""
    b.sync()
    d, w = b.dice, b.writer
    for number in range(2):
        heads, first, sum_ = f"heads{number}", f"begin{number}", f"within{number}"
        b.declared.append(Line(f"unsigned {heads} = 0, {first} = 0, {sum_} = 0;", True))
        begins = d.choice((f"({b.loaded('g')} & 3u) == 0u", f"({w.condition()})", f"({b.loaded('g')} & 1u)"))
        lines: list[Statement] = [
            Line(f"{heads} = __ballot_sync({ALL}, {begins}){d.choice((' | 1u', ' | 1u', ''))};", True),
            Line(
                f"{first} = {d.choice(('31u - __clz', '31u - __clz', '(unsigned)__ffs'))}({heads} & (0xffffffffu >> "
                f"(31u - lane)));",
                True,
            ),
            Line(f"{sum_} = {_addend(b, 'g')};", True),
        ]
        for step in (1, 2, 4, 8, 16):
            test = d.choice((f"lane >= {first} + {step}u", f"lane - {first} >= {step}u"))
            lines.append(
                Line(
                    f"{{ const unsigned up = __shfl_up_sync({ALL}, {sum_}, {step}); if ({test}) {sum_} += up; }}", True
                )
            )
        lines += [
            Line(f"acc += fold({_place(b, f'lane - {first}')});"),
            Line(f"acc += fold({_place(b, f'{first} * {d.choice((1, 2, 32))}u')});"),
            Line(f"acc += fold({_place(b, sum_)});"),
            Nest(
                (
                    (
                        f"if ({d.choice((f'{heads} >> lane & 1u', f'{first} == lane', f'lane != {first}'))}) {{",
                        (Line(f"acc += fold({_place(b, f'__popc({heads} & ((1u << lane) - 1u))')});"), w.access()),
                    ),
                ),
                plain=False,
            ),
        ]
        b.items.append(Group(tuple(lines)))
        w.leaves.append(f"({first} & 31u)")
        b.items.append(w.access())


@feature
def double_buffers(b: Builder) -> None:
    """The two halves of an array in alternation, in loops that end by a decision of the block or by data."""
    b.hand_over()
    d, w = b.dice, b.writer
    half = SLOTS // 2
    turn, many = "turn", d.choice((f"({b.loaded('blockIdx.x')} & 3u) + 1u", f"({b.loaded('7u')} & 3u)", "(n & 3u)"))
    b.declared.append(Line(f"unsigned {turn} = {d.choice(('0u', '0u', '(n & 1u)'))}, done = 0;", True))
    place = f"sx[{turn} * {half}u + ((t * {d.choice((1, 2, 3))}u + {d.choice(('0u', 'round', 'lane'))}) & {half - 1}u)]"
    body: list[Statement] = [
        Line(f"acc += {place};"),
        Line(f"sx[({turn} ^ 1u) * {half}u + (t & {half - 1}u)] = t + round;", True),
        Line(f"{turn} ^= 1u;", True) if d.chance(70) else Line(f"{turn} = 1u - {turn};", True),
        w.access(),
        BARRIER,
    ]
    if d.chance(50):
        ends = d.choice(("__syncthreads_or", "__syncthreads_and"))
        body.append(Line(f"done = {ends}((int)({b.loaded('g + round')} & 1u)); if (done) break;", True))
    loop = Nest(
        (("#pragma unroll 1", ()), (f"for (unsigned round = 0; round < {many}; round++) {{", tuple(body))),
        plain=False,
        fixed=True,
    )
    b.items += [
        loop,
        Line(f"acc += sx[{turn} * {half}u + (t & {half - 1}u)];"),
        Nest(((f"if ({turn}) {{", (w.access(),)), ("} else {", (w.access(),)))),
        w.access(),
    ]
