"""The constructs that kernels are made of, one function each; `FEATURES` lists them by name.

A feature adds variables, routines, parameters and statements to a `Builder`. This module has control flow, calls and
arithmetic; memory is in `features_memory` and `features_layout`, operations across lanes in `features_warp`,
cooperation of blocks in `features_block`, values from data that a launch may leave unspecified in `features_agreed`,
numbers that lanes divide among themselves in `features_ranked`, sums over lanes and their uses in `features_scanned`.
"""

from __future__ import annotations

from collections.abc import Callable

from bench.adversary.builder import LEAVE, Builder
from bench.adversary.program import Fill, Line, Nest, Parameter, Statement

Feature = Callable[[Builder], None]
FEATURES: dict[str, Feature] = {}


def feature(made: Feature) -> Feature:
    """Registers a feature under its function's name."""
    FEATURES[made.__name__] = made
    return made


# --- control flow -------------------------------------------------------------------------------


@feature
def structured(b: Builder) -> None:
    """Nested loops with break and continue."""
    for _ in range(2):
        b.items.append(b.writer.loop(8, 0))


@feature
def early_return(b: Builder) -> None:
    """Threads that leave the kernel, immediately and out of loops."""
    b.writer.leave = LEAVE
    b.items.append(Nest(((f"if ({b.writer.condition()}) {{", (Line(LEAVE),)),)))
    b.items.append(b.writer.loop(6, 0))
    b.items.append(Nest(((f"if ({b.writer.condition()}) {{", (*b.writer.body(4, 1), Line(LEAVE))),)))
    b.items.append(
        Line(f'asm volatile("{{ .reg .pred p; setp.eq.u32 p, %0, 3; @p exit; }}" :: "r"({b.writer.u(1)} & 7u));')
    )


@feature
def goto(b: Builder) -> None:
    """A random control-flow graph: loops entered in the middle, joined tails."""
    d, w = b.dice, b.writer
    blocks = d.between(3, 6)
    name = f"g{len(b.items)}"
    body: list[Statement] = [Line(f"unsigned {name} = {d.between(3, 9)}u + ({w.u(1)} & 3u);", True)]
    for at in range(blocks):
        body.append(Line(f"{name}_{at}: if ({name} == 0u) goto {name}_end;", True))
        body.append(Line(f"{name}--;", True))
        body.append(Nest((("{", (*w.body(3, 2), w.assign())),), fixed=True))
        first, second = d.below(blocks), d.choice([at + 1, *range(blocks)])
        if d.chance(80):
            body.append(Line(f"if ({w.condition()}) goto {name}_{first};"))
        if d.chance(40):
            body.append(Line(f"goto {f'{name}_{second}' if second < blocks else f'{name}_end'};"))
    body.append(Line(f"{name}_end: ;", True))
    b.items.append(Nest((("{", tuple(body)),), plain=False))


@feature
def switches(b: Builder) -> None:
    """Dense cases, which become a jump table; cases that fall through; a switch in a loop."""
    d, w = b.dice, b.writer
    cases = d.between(8, 14)
    parts: list[tuple[str, tuple[Statement, ...]]] = [(f"switch ({w.u(2)} % {cases + 2}u) {{", ())]
    for case in range(cases):
        jump = "" if not case or d.chance(20) else "break; "
        parts.append((f"{'} ' if case else ''}{jump}case {case}: {{", (w.assign() if d.chance(40) else w.access(),)))
    b.items.append(Nest((*parts, ("} break; default: {", (w.assign(),))), "} }", plain=False))
    b.items.append(w.loop(8, 0))


# --- calls --------------------------------------------------------------------------------------


@feature
def calls(b: Builder) -> None:
    """Functions that are not inlined, called by some lanes, in loops and by each other."""
    b.routine("leaf", budget=4)
    b.routine("middle", budget=6, extra=[lambda w: b.call(w, "leaf")])
    b.routine("pick", returns="a * 3u ^ b", budget=3, leaves=["a", "b"])
    w = b.writer
    w.extra += [lambda w: b.call(w, "middle"), lambda w: b.call(w, "leaf")]
    b.items.append(Line(f"u0 = pick({w.u(1)}, {w.u(1)}, n, 0u);"))
    b.items.append(Nest(((f"if ({w.condition()}) {{", (b.call(w, "middle"), w.access())),)))


ROUTINE_TYPE = "typedef unsigned (*Routine)(unsigned, unsigned, unsigned, unsigned);"


@feature
def table_calls(b: Builder) -> None:
    """Calls through tables of functions: in constant and global memory, on the stack; by lane and by block."""
    d, w = b.dice, b.writer
    count = d.between(2, 4)
    for at in range(count):
        b.routine(f"entry{at}", budget=3)
    names = ", ".join(f"entry{at}" for at in range(count))
    where = d.choice(("__constant__", "__device__", "local", "__device__ const"))
    by = d.choice((f"({w.u(1)}) % {count}u", f"blockIdx.x % {count}u", f"warp % {count}u", f"n % {count}u"))
    if where == "local":
        b.declared.append(Line(f"Routine routines[{count}] = {{{names}}};", True))
    else:
        b.after_routines += f"\n{where} Routine routines[{count}] = {{{names}}};"
    b.preamble.append(ROUTINE_TYPE)
    b.items.append(Line(f"acc = routines[{by}]({w.u(1)}, {w.u(1)}, n, acc);"))
    w.extra.append(lambda w: Line(f"acc = routines[({w.u(1)}) % {count}u]({w.u(0)}, {w.u(1)}, n, acc);"))
    b.items.append(w.access())


@feature
def virtual_calls(b: Builder) -> None:
    """Methods called through an object's table of virtual functions."""
    w = b.writer
    for at in range(2):
        b.routine(f"method{at}", budget=3)
    b.after_routines += "\n".join(
        (
            "",
            "struct Base { __device__ virtual unsigned go(unsigned a, unsigned b, unsigned n, unsigned acc) = 0; };",
            *(
                f"struct Kind{at} : Base {{ unsigned k; __device__ Kind{at}(unsigned k) : k(k) {{}} __device__ "
                f"unsigned go(unsigned a, unsigned b, unsigned n, unsigned acc) override {{ return method{at}(a + k, "
                f"b, n, acc); }} }};"
                for at in range(2)
            ),
        )
    )
    b.items.append(
        Nest(
            (
                (
                    "{",
                    (
                        Line("Kind0 first(u0); Kind1 second(u1);", True),
                        Line(f"Base* object = ({w.condition()}) ? (Base*)&first : (Base*)&second;", True),
                        Line(f"acc = object->go({w.u(1)}, {w.u(1)}, n, acc);"),
                        w.access(),
                    ),
                ),
            ),
            plain=False,
        )
    )


@feature
def recursion(b: Builder) -> None:
    """A function that calls itself, in some lanes, and two that call each other."""
    b.preamble.append(
        "__device__ unsigned descend(unsigned a, unsigned b, unsigned n, unsigned acc, unsigned level);\n"
        "__device__ unsigned turn(unsigned a, unsigned b, unsigned n, unsigned acc, unsigned level);"
    )
    other = b.dice.choice(("descend", "turn"))
    again = lambda name: (
        lambda w: Line(f"if (({w.condition()}) && level) acc = {name}({w.u(1)}, {w.u(1)}, n, acc, level - 1u);")
    )
    b.routine("descend", budget=3, arguments=", unsigned level", extra=[again(other)], leaves=["level"])
    b.routine("turn", budget=3, arguments=", unsigned level", extra=[again("descend")], leaves=["level"])
    w = b.writer
    for _ in range(2):
        b.items.append(
            Line(
                f"acc = {b.dice.choice(('descend', 'turn'))}({w.u(1)}, {w.u(1)}, n, acc, "
                f"{b.dice.choice(('2u', '3u', 'n & 3u', 'lane & 3u'))});"
            )
        )
    b.items.append(w.access())


@feature
def inlined_templates(b: Builder) -> None:
    """Templates over a pitch and a type, launch bounds, a structure and an array as parameters."""
    d, w = b.dice, b.writer
    b.file_scope = True
    b.preamble.append(
        "template <int Pitch, typename T> __device__ __forceinline__ unsigned at(unsigned row, unsigned column, "
        "unsigned mask) "
        "{ return (row * Pitch + column * (unsigned)sizeof(T) / 4u) & mask; }"
    )
    b.preamble.append("struct Shape { unsigned a; unsigned short h[6]; unsigned char c[4]; int z; };")
    b.parameters.insert(d.below(3), Parameter("shape", "Shape", "bytes", 24))
    w.leaves += [
        "shape.a",
        "(unsigned)shape.h[2]",
        "(unsigned)shape.c[1]",
        "(unsigned)shape.h[(u0) % 6u]",
        "(unsigned)shape.z",
    ]
    array = w.arrays[0]
    for _ in range(3):
        pitch, kind = d.choice((17, 32, 33, 36, 65)), d.choice(("float", "double", "short", "uint4"))
        b.items.append(Line(f"acc += fold({array.name}[at<{pitch}, {kind}>({w.u(1)}, {w.u(1)}, {array.count - 1}u)]);"))
    b.qualifier = d.choice(("", "__launch_bounds__(512)", "__launch_bounds__(512, 2)"))


# --- arithmetic ---------------------------------------------------------------------------------


def _arithmetic(*families: str) -> Feature:
    def add(b: Builder) -> None:
        b.families(*families)
        for _ in range(3):
            b.items.append(b.writer.assign())
            b.items.append(b.writer.access())

    return add


for _name, _families in {
    "packed": ("packed",),
    "division": ("division",),
    "fast_float": ("fast_float",),
    "floats": ("float", "fast_float"),
    "bits": ("bits",),
    "funnel": ("funnel", "wide"),
    "wide": ("wide", "division"),
    "doubles": ("double_half", "float"),
}.items():
    FEATURES[_name] = _arithmetic(*_families)


# --- names that could be mistaken for something else --------------------------------------------

NAMES = (
    "my_shared_window",
    "budget",
    "SR_CgaCtaId",
    "is_not_known",
    "local_window",
    "__internal_rcp",
    "GetParameterBuffer",
    "vprintf_",
    "param_0",
    "ctaid",
    "shared_base",
    "a_1",
    "R2",
    "UR4",
    "tid",
    "LDS",
    "EXIT_",
    "_Z3foo",
    "no_meaning",
)


@feature
def names(b: Builder) -> None:
    """Parameters, variables and routines named like something else."""
    d = b.dice
    b.source()
    b.routine("named", budget=3)
    b.items.append(b.call(b.writer, "named"))
    chosen = d.sample(NAMES, 5)
    b.renamed = dict(zip(("src", "n", "s0", "named", "out"), chosen))
    if d.chance(40):
        low, high = (
            Parameter("window_low", "unsigned", "low", 4, "src"),
            Parameter("window_high", "unsigned", "high", 4, "src"),
        )
        b.parameters += [low, high]
        b.writer.leaves.append("((const unsigned*)((unsigned long long)window_high << 32 | window_low))[t & 255u]")


@feature
def specials(b: Builder) -> None:
    """Special registers, the address of shared memory and of buffers as numbers, and clocks."""
    b.buffer("src", Fill(step=7, modulo=100), "const unsigned*")
    b.preamble.append(
        "\n".join(
            f'__device__ __forceinline__ unsigned read_{name}() {{ unsigned r; asm volatile("mov.u32 %0, '
            f'%%{register};" : "=r"(r)); return r; }}'
            for name, register in (
                ("lt", "lanemask_lt"),
                ("ge", "lanemask_ge"),
                ("eq", "lanemask_eq"),
                ("dynamic", "dynamic_smem_size"),
                ("total", "total_smem_size"),
                ("laneid", "laneid"),
            )
        )
    )
    w = b.writer
    array = w.arrays[0]
    w.leaves += [
        "read_lt()",
        "(read_ge() >> 3)",
        "read_eq()",
        "read_dynamic()",
        "read_total()",
        "read_laneid()",
        "blockDim.y",
        "gridDim.x",
        "threadIdx.y",
        f"(unsigned)__cvta_generic_to_shared(&{array.name}[u0 & 31u])",
        "(unsigned)((unsigned long long)src >> 6)",
        "(unsigned)(unsigned long long)src",
    ]
    b.items += [Line("acc += (unsigned)clock();"), w.assign(), w.access(), w.assign(), w.access()]


@feature
def never(b: Builder) -> None:
    """printf, assert and trap where no thread gets, or few do."""
    w = b.writer
    b.preamble.append("#ifndef __CUDACC_RTC__\n#include <cstdio>\n#endif")
    b.items += [
        Nest((("if (t == 5000u + n) {", (Line('printf("%u", acc);'), w.access())),)),
        w.access(),
        Line("if ((acc | 1u) == 0u) __trap();"),
        Nest(((f"if (({w.condition()}) && n == 999u) {{", (Line('printf("none");'),)),)),
        w.access(),
        w.loop(5, 0),
    ]
