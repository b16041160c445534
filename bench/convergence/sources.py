"""Random CUDA kernels that record which lanes are converged at each place.

    source(range(10))      the text of kernels t0 … t9, the same for the same numbers

Every lane has its own *word*, whose bits make its decisions, and a number of backward jumps that it may take. At
`T(number)` a lane appends (lanes that are converged here, number, clock) to its own list in global memory, and stores
to shared memory at a place determined by its number: the accesses whose figures are then compared with the list. None
of this makes lanes diverge.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

RECORDS = 256  # per lane
WARPS = 4
LANES = 32
RECORD_BYTES = 16
STRIDE = RECORD_BYTES * LANES * WARPS
JUMPS = 14

HEAD = f"""\
struct S {{ unsigned at, x; int left; }};
typedef S (*F)(S, char *);
__shared__ unsigned places[1024];
__device__ __forceinline__ unsigned bits(S &s, int n) {{ unsigned v = s.x & ((1u << n) - 1); s.x = s.x >> n | s.x << (32 - n); return v; }}
#define D (bits(s, 1) != 0)
#define J (s.left-- > 0)
#define T(number, step) asm volatile("{{ .reg .b32 m, c, p; .reg .b64 a;\\n activemask.b32 m;\\n mov.u32 c, %%clock;\\n" \\
    "cvt.u64.u32 a, %0;\\n add.u64 a, a, %1;\\n st.global.v4.b32 [a], {{m, %2, c, %0}};\\n" \\
    "mov.u32 p, %%tid.x;\\n and.b32 p, p, 31;\\n mad.lo.u32 p, p, %3, %4;\\n st.volatile.shared.b32 [p], m; }}" \\
    :: "r"(s.at), "l"(out), "n"(number), "n"((step) * 4), "r"((unsigned)__cvta_generic_to_shared(places)) : "memory"); s.at = min(s.at + {STRIDE}u, {STRIDE * (RECORDS - 1)}u)
"""
_KERNEL = """\
extern "C" __global__ void t{number}(char *out, unsigned seed) {{
    unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, group = (lane * 5 + 3 & 31) >> warp;
    unsigned x = (group * 0x9E3779B1u ^ seed + warp * 0x85EBCA6Bu) * 0xC2B2AE35u;
    S s = {{threadIdx.x * {record}u, x ^ x >> 15, {jumps}}};
"""
STEPS = (1, 1, 2, 3, 8, 32)


class _Body:
    """The text of one function."""

    def __init__(
        self,
        chosen: random.Random,
        numbers: Iterable[int],
        callees: list[str],
        tables: list[str],
        name: str,
        value: str,
    ):
        """callees: functions that may be called; tables: arrays of two; value: of the return, "" in a kernel."""
        self.random, self.numbers, self.callees, self.tables, self.name, self.value = (
            chosen,
            numbers,
            callees,
            tables,
            name,
            value,
        )
        self.lines: list[str] = []
        self.loops = 0
        self.labels = 0
        self.open_labels: list[str] = []  # that end an enclosing scope, or are after it
        self.passed: list[str] = []
        self.size = 0

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def put(self, depth: int, text: str) -> None:
        self.lines.append("    " * (depth + 1) + text)

    def record(self, depth: int) -> None:
        self.size += 1
        self.put(depth, f"T({next(self.numbers)}, {self.random.choice(STEPS)});")

    def condition(self) -> str:
        return self.random.choice(("D",) * 6 + ("D && D", "D || D", "!D", "bits(s, 2) == 1", "D && (D || D)"))

    def block(self, depth: int, left: int) -> None:
        for _ in range(self.random.choice((1, 1, 2, 2, 3))):
            if self.size < 34:
                self.statement(depth, left)

    def statement(self, depth: int, left: int) -> None:
        self.record(depth)
        kinds = ["jump"] * 3 + ["call"] * (2 if self.callees else 0) + ["table"] * (1 if self.tables else 0) + ["sync"]
        if left:
            kinds += ["choice"] * 4 + ["loop"] * 4 + ["switch"]
        getattr(self, self.random.choice(kinds))(depth, left - 1)

    # --- leaving, calling

    def leave(self) -> str:
        ways = [f"return{self.value};"] * 2
        if self.loops:
            ways += ["break;"] * 4 + ["continue;"] * 3
        if self.open_labels:
            ways += [f"goto {self.random.choice(self.open_labels)};"] * 2
        if self.passed:
            ways += [f"if (J) goto {self.random.choice(self.passed)};"] * 2
        return self.random.choice(ways)

    def jump(self, depth: int, _: int) -> None:
        way = self.leave()
        self.put(depth, f"if ({self.condition()}) {{ {way} }}")

    def call(self, depth: int, _: int) -> None:
        call = f"s = {self.random.choice(self.callees)}(s, out);"
        self.put(depth, call if self.chance(0.4) else f"if ({self.condition()}) {call}")

    def table(self, depth: int, _: int) -> None:
        call = f"s = {self.random.choice(self.tables)}[bits(s, 1)](s, out);"
        self.put(depth, call if self.chance(0.6) else f"if ({self.condition()}) {call}")

    def sync(self, depth: int, _: int) -> None:
        self.put(
            depth,
            self.random.choice(("__syncwarp(__activemask());", "s.x ^= __shfl_sync(__activemask(), s.x, 0) & 64;")),
        )

    # --- scopes

    def choice(self, depth: int, left: int) -> None:
        label = self.opened()
        self.put(depth, f"if ({self.condition()}) {{")
        self.block(depth + 1, left)
        if self.chance(0.6):
            self.put(depth, "} else {")
            self.block(depth + 1, left)
        self.put(depth, "}")
        self.closed(label, depth)

    def loop(self, depth: int, left: int) -> None:
        label = self.opened()
        if self.chance(0.2):
            self.labels += 1
            self.passed.append(f"H{self.labels}")
            self.put(depth, f"H{self.labels}:")
        form = self.random.choice(
            (
                "while (J && ({c})) {{",
                "do {{",
                "for (;;) {{",
                "#pragma unroll 1\nfor (int i = bits(s, 2); i >= 0; i--) {{",
            )
        )
        for line in form.format(c=self.condition()).split("\n"):
            self.put(depth, line)
        self.loops += 1
        if form.startswith("for (;;)"):
            self.record(depth + 1)
            self.put(depth + 1, f"if (!J || {self.condition()}) break;")
        self.block(depth + 1, left)
        self.record(depth + 1)
        self.loops -= 1
        self.put(depth, f"}} while (J && ({self.condition()}));" if form.startswith("do") else "}")
        self.closed(label, depth)

    def switch(self, depth: int, left: int) -> None:
        label = self.opened()
        self.put(depth, f"switch (bits(s, {self.random.choice((2, 3))})) {{")
        self.loops += 1 if self.loops else 0
        for case in range(self.random.randint(2, 6)):
            self.put(depth, f"case {case}:")
            self.block(depth + 1, min(left, 1))
            if self.chance(0.7):
                self.put(depth + 1, "break;")
        self.put(depth, "default:")
        self.record(depth + 1)
        self.loops -= 1 if self.loops else 0
        self.put(depth, "}")
        self.closed(label, depth)

    def opened(self) -> str:
        self.labels += 1
        label = f"E{self.labels}"
        self.open_labels.append(label)
        return label

    def closed(self, label: str, depth: int) -> None:
        self.open_labels.remove(label)
        if any(f"goto {label};" in line for line in self.lines):
            self.put(depth, f"{label}:;")
        self.record(depth)

    # --- functions made of blocks that jump to each other

    def blocks(self) -> None:
        count = self.random.randint(3, 8)
        for k in range(count):
            self.put(0, f"B{k}:")
            self.record(0)
            if self.chance(0.25):
                self.block(0, 1)
            for _ in range(self.random.choice((1, 1, 2))):
                to = self.random.randrange(count)
                self.put(0, f"if (({self.condition()}){' && J' if to <= k else ''}) goto B{to};")
        self.record(0)


def source(numbers: Iterable[int], syncs: bool = True) -> str:
    """The text of kernels with these numbers."""
    return HEAD + "".join(_kernel(number, syncs) for number in numbers)


def _kernel(number: int, syncs: bool) -> str:
    chosen = random.Random(number)
    numbers = iter(range(10_000))
    callees: list[str] = []
    tables: list[str] = []
    out: list[str] = []
    for k in range(chosen.choice((0, 0, 0, 1, 2, 3))):
        name = f"f{number}_{k}"
        body = _Body(chosen, numbers, callees[-1:], [], name, " s")
        body.size = 18
        if chosen.random() < 0.3:
            body.put(0, f"if ({body.condition()} && J) s = {name}(s, out);")
            out.append(f"__device__ __noinline__ S {name}(S s, char *out);")
        body.block(0, 2)
        body.record(0)
        out += [f"__device__ __noinline__ S {name}(S s, char *out) {{", *body.lines, "    return s;", "}"]
        callees.append(name)
    if len(callees) > 1 and chosen.random() < 0.6:
        memory = chosen.choice(("__device__", "__constant__", "static __device__ const"))
        out.append(f"{memory} F tab{number}[2] = {{{callees[0]}, {callees[1]}}};")
        tables.append(f"tab{number}")
    body = _Body(chosen, numbers, callees, tables, f"t{number}", "")
    if chosen.random() < 0.3:
        body.blocks()
    else:
        body.record(0)
        body.block(0, 3)
        body.block(0, 3)
        body.record(0)
    out += [*_KERNEL.format(number=number, record=RECORD_BYTES, jumps=JUMPS).splitlines(), *body.lines, "}"]
    return "\n".join(line for line in out if syncs or "sync" not in line) + "\n"
