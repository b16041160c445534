"""Features of blocks and clusters: barriers, mbarriers, matrices of whole warps, the memory of other blocks."""

from __future__ import annotations

from bench.adversary.builder import Builder
from bench.adversary.features import feature
from bench.adversary.features_memory import SHARED_ASM
from bench.adversary.program import Group, Line, Nest

MBARRIER = """__device__ __forceinline__ void arrive(unsigned long long* b, unsigned long long& state) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(b);
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
}
__device__ __forceinline__ bool arrived(unsigned long long* b, unsigned long long state) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(b); unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(at), "l"(state) : "memory");
    return done;
}"""


@feature
def barriers(b: Builder) -> None:
    """Barriers that count and vote, named barriers, warps that take different paths."""
    w = b.writer
    b.sync()
    b.items += [
        Line(f"u1 = __syncthreads_count({w.condition()});"),
        w.access(),
        Line(f"u2 = __syncthreads_or({w.condition()}) ? {w.u(1)} : {w.u(1)};"),
        w.access(),
        Line('asm volatile("bar.sync %0, %1;" :: "r"(1), "r"((nt + 31u) & ~31u) : "memory");'),
        w.access(),
        Nest(
            (
                (
                    "if (warp & 1u) {",
                    (
                        *w.body(3, 2),
                        Line('asm volatile("bar.arrive 2, %0;" :: "r"((nt + 31u) & ~31u) : "memory");', True),
                    ),
                ),
                (
                    "} else {",
                    (
                        Line('asm volatile("bar.sync 2, %0;" :: "r"((nt + 31u) & ~31u) : "memory");', True),
                        *w.body(3, 2),
                    ),
                ),
            ),
            plain=False,
        ),
        Line(f"u0 = __syncthreads_and({w.condition()}) ? {w.u(1)} : {w.u(1)};"),
        w.access(),
    ]


@feature
def mbarriers(b: Builder) -> None:
    """Barrier objects in shared memory, with loops that wait for the others; accesses before, in and after them."""
    w = b.writer
    b.sync()
    b.file_scope = True
    b.preamble.append(MBARRIER)
    b.preamble_after_arrays.append("__shared__ unsigned long long phase;")
    b.phase(
        Line(
            'if (t == 0u) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: '
            '"r"((unsigned)__cvta_generic_to_shared(&phase)), "r"(nt) : "memory");',
            True,
        )
    )
    for _ in range(2):
        b.items.append(
            Group(
                (
                    Nest(
                        (
                            (
                                "{",
                                (
                                    Line("unsigned long long state; arrive(&phase, state);", True),
                                    w.access(),
                                    Line("while (!arrived(&phase, state)) { }", True),
                                    w.access(),
                                ),
                            ),
                        )
                    ),
                )
            )
        )
    b.items.append(Nest(((f"if ({w.condition()}) {{", (w.access(),)),)))


@feature
def matrices(b: Builder) -> None:
    """ldmatrix and stmatrix, with one, two and four matrices, plain and transposed."""
    d, w = b.dice, b.writer
    b.sync()
    b.full_warps = True
    b.preamble.append(SHARED_ASM)
    b.preamble_after_arrays.append("__shared__ uint4 matrix[256];")
    b.file_scope = True
    for _ in range(4):
        address = f"shared_address(matrix) + (({w.u(2)}) & 255u) * 16u"
        trans = d.choice(("", ".trans"))
        count = d.choice((1, 2, 4))
        names = [f"r{at}" for at in range(count)]
        if d.chance(70):
            outputs = ", ".join(f'"=r"({name})' for name in names)
            inner = ", ".join(f"%{at}" for at in range(count))
            b.items.append(
                Line(
                    f"{{ unsigned {', '.join(names)}; asm "
                    f'volatile("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{inner}}}, [%{count}];" : '
                    f'{outputs} : "r"({address}) : "memory"); acc += r0; }}'
                )
            )
        else:
            values = ", ".join('"r"(acc)' for _ in names)
            inner = ", ".join(f"%{at + 1}" for at in range(count))
            b.items.append(
                Line(
                    f'asm volatile("stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%0], {{{inner}}};" :: '
                    f'"r"({address}), {values} : "memory");'
                )
            )


@feature
def clusters(b: Builder) -> None:
    """Blocks that read, write and count in each other's shared memory."""
    d, w = b.dice, b.writer
    b.sync()
    b.clusters = True
    b.file_scope = True
    b.preamble.insert(0, "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;")
    array = w.arrays[0]
    b.declared.append(
        Line(
            "auto cluster = cg::this_cluster(); const unsigned rank = cluster.block_rank(), ranks = "
            "cluster.num_blocks(); cluster.sync();",
            True,
        )
    )
    w.leaves += ["rank", "ranks"]
    far = lambda: (
        f"cluster.map_shared_rank({array.name}, "
        f"{d.choice(('(rank + 1u) % ranks', '0', 'rank', f'({w.u(1)}) % ranks'))})"
    )
    for _ in range(3):
        place = f"{far()}[{w.index(array.count)}]"
        b.items.append(Line(f"acc += fold({place});") if d.chance(60) else Line(f"{place} = ({array.type})3;"))
        b.items.append(w.access())
    if array.type == "unsigned":
        b.items.append(Line(f"atomicAdd(&{far()}[{w.index(array.count)}], 1u);"))
    b.items.append(Line("cluster.sync();", True))
