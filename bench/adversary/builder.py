"""The kernel under construction: features add variables, routines, parameters, buffers and statements to it."""

from __future__ import annotations

from bench.adversary.dice import Dice
from bench.adversary.program import Fill, Group, Line, Nest, Parameter, Routine, Statement
from bench.adversary.writer import PLAIN, Array, Writer

WORDS = 4096  # elements of a buffer; no launch has more threads
SLOTS = 1024  # elements of the shared array that passes values between threads: one per thread of a block
LEAVE = "out[g & 2047u] = acc; return;"
BARRIER = Line("__syncthreads();", True)


class Builder:
    """One kernel under construction.

    may_leave: threads may exit early, since there are no barriers or operations across lanes. full_warps: blocks
    consist of whole warps. threads: the number of threads of a block, in one dimension; 0 for any. clusters: it is
    launched in clusters. many_blocks: it is launched with hundreds of blocks. renamed: names in the source, with
    their replacements.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.dice = Dice(seed)
        self.preamble: list[str] = []
        self.routines: list[Routine] = []
        self.parameters: list[Parameter] = [
            Parameter("out", "unsigned*", "buffer", 8, "out"),
            Parameter("n", "unsigned", "number", 4),
            Parameter("m", "int", "number", 4),
        ]
        self.buffers: dict[str, Fill] = {"out": Fill()}
        self.symbols: dict[str, Fill] = {}
        self.preamble_after_arrays: list[str] = []  # variables at file scope, beside the shared arrays
        self.after_routines = ""  # tables of routines, types that call them
        self.declared: list[Statement] = []  # the first statements of the kernel
        self.items: list[Statement] = []  # statements that all threads of the block reach together
        self.file_scope = self.dice.chance(40)
        self.may_leave = True
        self.full_warps = False
        self.threads = 0
        self.clusters = False
        self.many_blocks = False
        self.dynamic = 0  # bytes of dynamic shared memory
        self.qualifier = ""
        self.renamed: dict[str, str] = {}
        self.slots = False
        kinds = ["unsigned", self.dice.choice(PLAIN)][: self.dice.between(1, 2)]
        arrays = [Array(f"s{at}", kind, self.dice.choice((64, 128, 256, 512, 1024))) for at, kind in enumerate(kinds)]
        leaves = ["t", "lane", "warp", "threadIdx.x", "blockIdx.x", "n", "(unsigned)m", "u0", "u1", "u2", "t", "lane"]
        self.writer = Writer(self.dice, arrays, leaves, ["u0", "u1", "u2"])

    # --- for features ---------------------------------------------------------------------------

    def families(self, *names: str) -> None:
        """Adds these families to the arithmetic that is written from here on."""
        w = self.writer
        w.families = tuple(dict.fromkeys((*w.families, *names)))
        w.floats = w.floats or (("f0", "f1") if {"float", "fast_float", "double_half"} & set(names) else ())
        w.wides = w.wides or (("w0", "w1") if {"wide", "funnel", "bits", "division"} & set(names) else ())

    def array(self, type: str, count: int) -> Array:
        """Adds a shared array."""
        made = Array(f"s{len(self.writer.arrays)}", type, count)
        self.writer.arrays.append(made)
        return made

    def plain_array(self, name: str, type: str, count: int) -> str:
        """Adds a shared array of structures, which no other statement accesses."""
        self.preamble_after_arrays.append(f"__shared__ {type} {name}[{count}];")
        return name

    def buffer(self, name: str, fill: Fill, type: str = "unsigned*") -> None:
        """Adds a pointer parameter with its own contents."""
        if name not in self.buffers:
            self.buffers[name] = fill
            self.parameters.insert(self.dice.below(len(self.parameters) + 1), Parameter(name, type, "buffer", 8, name))

    def source(self) -> None:
        """Adds `src`, a read-only table in global memory, as a leaf."""
        d = self.dice
        fill = Fill(
            step=d.choice((1, 3, 7, 2654435761, 40503)),
            shift=d.choice((31, 3, 5)),
            modulo=d.choice((16, 100, 1024, 1 << 20, 1 << 31)),
        )
        self.buffer("src", fill, "const unsigned*")
        self.writer.leaves += [f"src[({self.writer.u(1)}) & {WORDS - 1}u]" for _ in range(2)]

    def loaded(self, index: str | None = None) -> str:
        """An element of `src`, unknown without data, at a random index."""
        fill = Fill(step=self.dice.choice((1, 7, 40503, 2654435761)), shift=self.dice.choice((31, 5)), modulo=1 << 20)
        self.buffer("src", fill, "const unsigned*")
        return f"src[({self.writer.u(1) if index is None else index}) & {WORDS - 1}u]"

    def number(self, name: str, type: str, size: int) -> None:
        """Adds a parameter that is a number."""
        self.parameters.insert(self.dice.below(len(self.parameters) + 1), Parameter(name, type, "number", size))

    def sync(self) -> None:
        self.may_leave = False

    def hand_over(self) -> None:
        """Adds `sx`, a shared array of known numbers, one per thread; values passed through it may decide addresses."""
        if not self.slots:
            self.slots = True
            self.sync()
            fill = Nest(
                ((f"for (unsigned i = t; i < {SLOTS}u; i += nt) {{", (Line("sx[i] = i * 40503u >> 3;", True),)),),
                fixed=True,
            )
            self.items.append(Group((fill, BARRIER), True))

    def phase(self, *statements: Statement) -> None:
        """Adds statements between two barriers, which are kept or left out together."""
        self.sync()
        self.items.append(Group((*statements, BARRIER)))

    def routine(
        self,
        name: str,
        returns: str = "acc",
        budget: int = 5,
        arguments: str = "",
        qualifier: str = "__noinline__",
        extra: list | None = None,
        leaves: list[str] | None = None,
    ) -> Routine:
        """Adds unsigned name(a, b, n, acc), with its own control flow and accesses; it may return anywhere."""
        self.file_scope = True
        inner = Writer(
            self.dice,
            self.writer.arrays,
            ["a", "b", "n", "a", "lane", *(leaves or ())],
            ["a", "b"],
            self.writer.families,
            leave=f"return {returns};",
            extra=list(extra or ()),
        )
        body = (Line(PLACES, True), Line(VARIABLES, True), *inner.body(budget), Line(f"return {returns};", True))
        made = Routine(
            f"__device__ {qualifier} unsigned {name}(unsigned a, unsigned b, unsigned n, unsigned acc{arguments})", body
        )
        self.routines.append(made)
        return made

    def call(self, writer: Writer, name: str, more: str = "") -> Statement:
        """A call to a routine."""
        return Line(f"acc = {name}({writer.u(1)}, {writer.u(1)}, n, acc{more});")


PLACES = (
    "const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), lane = t & 31u; "
    "(void)lane;"
)
VARIABLES = (
    "float f0 = (float)(t & 63u), f1 = 2.5f; unsigned long long w0 = t * 3ull, w1 = 77ull; (void)f0; (void)f1; "
    "(void)w0; (void)w1;"
)
