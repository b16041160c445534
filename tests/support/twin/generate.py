"""Random kernels as PTX text: `kernel(seed)` is a Kernel with its text and the launches that fit it.

Random are: index expressions over thread and block indices and parameters with every integer and bit-field operation;
loops with trip counts that are constant, from a parameter, or different in each lane; divergence, nested, with break,
continue and early exits; switches; predicated instructions; shuffles, votes, matches; 64-bit, 16-bit and float
arithmetic; calls; local arrays; double buffers; swizzles; generic addresses; odd blocks, partial warps, clusters; and
the shapes of `idioms`.

    values -> accesses -> statements -> idioms -> generate        each builds on the one before

Every register is written before it is read on every path. Loaded data decide an address only in some kernels
("loaded" is then among their features).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .idioms import SLOTS, Idioms

BLOCKS = [
    (32, 1, 1),
    (64, 1, 1),
    (128, 1, 1),
    (48, 1, 1),
    (7, 9, 3),
    (8, 8, 1),
    (16, 4, 1),
    (33, 2, 1),
    (5, 5, 5),
    (16, 2, 2),
    (100, 1, 1),
    (1, 37, 1),
    (4, 8, 3),
    (2, 2, 20),
]
GRIDS = [(1, 1, 1), (2, 1, 1), (3, 2, 1), (5, 1, 1), (1, 3, 2), (4, 1, 1), (7, 1, 1), (2, 2, 2), (23, 1, 1)]


STRUCT = 24  # bytes of the structure parameter
FIELDS = [("u8", 0), ("s8", 1), ("u16", 2), ("s16", 6), ("u32", 8), ("s32", 12)]


@dataclass
class Kernel:
    seed: int
    text: str
    name: str
    grid: tuple
    block: tuple
    params: list  # one value per parameter; None for pointers
    dynamic: int
    features: set = field(default_factory=set)
    cluster: tuple | None = None


def _device_function(rng: random.Random, name: str, shared, features, callees) -> tuple[list[str], str]:
    """(tables, text) of the function."""
    w = Idioms(rng, features, prefix=name)
    w.shared, w.functions = shared, callees
    w.budget = 7
    w.end = f"$L_{name}end"
    w.depth = 1
    a, b, m = w.new("r"), w.new("r"), w.new("r")
    w.put(f"ld.param.b32 {a}, [{name}_a];")
    w.put(f"ld.param.b32 {b}, [{name}_b];")
    w.put(f"mov.b32 {m}, {a};")
    t = w.new("r")
    w.put(f"mov.u32 {t}, %tid.x;")
    w.put("mov.u64 %rdin, 0;")
    w.words, w.mutable, w.by_lane = [a, b, t], [m], [a, b, t]
    w.divergent = 1
    w.statements(7)
    w.lines.append(f"{w.end}:")
    w.put(f"st.param.b32 [{name}_r], {m};")
    w.put("ret;")
    head = f".func (.param .b32 {name}_r) {name}(.param .b32 {name}_a, .param .b32 {name}_b)"
    return w.tables, "\n".join([head, "{"] + w.declarations() + w.lines + ["}"])


def kernel(seed: int, straight: bool = False, lonely: bool = False, small: bool = False, loaded: bool = True) -> Kernel:
    """straight: no control flow; lonely: no communication between lanes and no calls, which plain C can express.

    small: few blocks and statements, for tests that must be quick; loaded: data may decide addresses in some kernels.
    """
    rng = random.Random(seed)
    features: set = set()
    block, grid = rng.choice(BLOCKS), rng.choice(GRIDS)
    if small:
        block, grid = (
            rng.choice([b for b in BLOCKS if b[0] * b[1] * b[2] <= 66]),
            rng.choice([(1, 1, 1), (2, 1, 1), (1, 2, 1)]),
        )
    cluster = None
    if rng.random() < 0.12 and not lonely:
        cluster = rng.choice([(2, 1, 1), (1, 2, 1), (2, 2, 1)])
        grid = tuple(n * c for n, c in zip(grid, cluster))
        features.add("cluster")
    w = Idioms(rng, features)
    w.lonely, w.brief, w.end = lonely, small, "$L_end"
    w.uses_data = loaded and not lonely and rng.random() < 0.15
    shared = [("s_a", 4096), ("s_b", rng.choice([512, 2048, 1 << 14]))]
    dynamic = rng.choice([0, 0, 2048])
    outer = [("s_dyn", dynamic)] if dynamic else []
    if rng.random() < 0.3:
        outer.append(("s_mod", 1024))
    functions: list[str] = []
    if not lonely and not straight and rng.random() < 0.3:
        if ("s_mod", 1024) not in outer:
            outer.append(("s_mod", 1024))
        for k in range(rng.randrange(1, 3)):
            tables, text = _device_function(rng, f"f{k}", outer, features, [f"f{j}" for j in range(k)])
            w.tables += tables
            functions.append(text)
    w.shared, w.functions = shared + outer, [f"f{k}" for k in range(len(functions))]
    w.budget = rng.choice([8, 12]) if small else rng.choice([10, 20, 30, 40])
    _inputs(w, cluster)
    if straight:
        for _ in range(rng.randrange(3, 9)):
            for _ in range(rng.randrange(1, 6)):
                w.arithmetic()
            if rng.random() < 0.15:
                w.constant_table()
            w.site()
    else:
        if lonely:
            w.across = lambda: None
        while w.budget > 0:
            w.statements(6)
        if not w.sites or rng.random() < 0.5:
            w.site()
    w.lines.append(f"{w.end}:")
    w.put("ret;")
    module = [".version 8.5", ".target sm_90", ".address_size 64", ""]
    module += [".extern .shared .align 16 .b8 s_dyn[];"] * bool(dynamic) + [".shared .align 16 .b8 s_mod[1024];"] * (
        ("s_mod", 1024) in outer
    )
    module += [f".shared .align 4 .b8 s_slots[{4 * SLOTS}];"] * w.has_slots
    module += w.tables + functions
    module.append(
        f".visible .entry k(.param .u32 k_param_0, .param .s32 k_param_1, .param .u64 k_param_2, "
        f".param .u64 .ptr .global .align 16 k_param_3, .param .align 8 .b8 k_param_4[{STRUCT}])"
    )
    if rng.random() < 0.5:
        module.append(f"\t.reqntid {block[0]}, {block[1]}, {block[2]}")
    if cluster and rng.random() < 0.5:
        module.append(f"\t.reqnctapercluster {cluster[0]}, {cluster[1]}, {cluster[2]}")
    module += ["{"] + w.declarations()
    module += [f"\t.shared .align 16 .b8 {name}[{size}];" for name, size in shared]
    module += w.lines + ["}"]
    params = [
        rng.choice([rng.randrange(64), rng.randrange(1024), 32, 64, rng.randrange(1 << 32)]),
        rng.choice([rng.randrange(-40, 64), 17, 16, rng.randrange(-(1 << 31), 1 << 31)]),
        rng.choice([rng.randrange(1 << 12), rng.randrange(1 << 40)]),
        None,
        rng.randbytes(STRUCT),
    ]
    return Kernel(seed, "\n".join(module) + "\n", "k", grid, block, params, dynamic, features, cluster)


def _inputs(w: Idioms, cluster) -> None:
    """The registers from which everything starts: indices, parameters, the thread's number."""
    rng = w.rng
    often = {"tid.x": 1.0, "tid.y": 0.7, "ctaid.x": 0.5, "laneid": 0.3}
    names = ["tid.x", "tid.y", "ctaid.x", "laneid", "tid.z", "ctaid.y", "ntid.x", "nctaid.x"] + ["warpid"] * (
        not w.lonely
    )
    if cluster:
        names += ["cluster_ctaid.x", "cluster_ctarank", "cluster_nctaid.x", "clusterid.x", "cluster_nctarank"]
        often |= {"cluster_ctarank": 0.8}
    for name in names:
        if rng.random() < often.get(name, 0.2):
            d = w.new("r")
            w.put(f"mov.u32 {d}, %{name};")
            w.words.append(d)
            if name in ("tid.x", "laneid"):
                w.by_lane.append(d)
    n, m, x = w.new("r"), w.new("r"), w.new("rd")
    w.put(f"ld.param.u32 {n}, [k_param_0];")
    w.put(f"ld.param.s32 {m}, [k_param_1];")
    w.put(f"ld.param.u64 {x}, [k_param_2];")
    w.put("ld.param.u64 %rdin, [k_param_3];")
    w.words += [n, m]
    w.alike += [n, m]
    w.wides += [x]
    for kind, offset in rng.sample(FIELDS, rng.randrange(3)):
        d = w.new("r")
        w.put(f"ld.param.{kind} {d}, [k_param_4+{offset}];")
        w.words.append(d)
        w.alike.append(d)
    if rng.random() < 0.6:
        a, b, c, d, plane, w.thread = (w.new("r") for _ in range(6))
        w.put(f"mov.u32 {a}, %ntid.x;")
        w.put(f"mov.u32 {b}, %tid.y;")
        w.put(f"mov.u32 {c}, %ntid.y;")
        w.put(f"mov.u32 {d}, %tid.z;")
        w.put(f"mad.lo.s32 {plane}, {c}, {d}, {b};")
        w.put(f"mad.lo.s32 {w.thread}, {a}, {plane}, %r1;")
        w.words += [w.thread]
        w.by_lane.append(w.thread)
    for _ in range(rng.randrange(1, 4)):
        d = w.new("r")
        w.put(f"mov.b32 {d}, {w.word()};")
        w.mutable.append(d)
    w.words += w.mutable
