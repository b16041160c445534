"""Writes random expressions, accesses and control flow from the names in scope.

    writer.u()             "((t * 33u) ^ (u1 >> 2))"
    writer.access()        Line("acc += s0[(u0 * 3u + lane) & 255u];")
    writer.body(6, …)      statements with branches and loops, accesses at their leaves

Two kinds of values are kept separate. `acc` takes the results of accesses; since races decide it, nothing depends on
it. The variables in `leaves` decide addresses and control flow; only values that are the same in every run are
assigned to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.adversary import arithmetic
from bench.adversary.dice import Dice
from bench.adversary.program import Group, Line, Nest, Statement

_PLACE = re.compile(r"\{(u|f|pf|sf|w|d|p|l|kk|k|m|s)\}")


@dataclass(frozen=True)
class Array:
    """A shared array of a power of two elements of `type`."""

    name: str
    type: str
    count: int

    @property
    def declaration(self) -> str:
        return f"__shared__ {self.type} {self.name}[{self.count}];"


WIDTHS = {
    "unsigned": 4,
    "int": 4,
    "float": 4,
    "uint2": 8,
    "uint4": 16,
    "float4": 16,
    "double": 8,
    "unsigned long long": 8,
    "unsigned char": 1,
    "short": 2,
    "unsigned short": 2,
    "uchar4": 4,
    "float2": 8,
    "ushort4": 8,
    "uchar2": 2,
}
PLAIN = ("unsigned", "int", "float", "unsigned char", "short", "unsigned short", "double", "unsigned long long")

FOLD = """__device__ __forceinline__ unsigned fold(unsigned x) { return x; }
__device__ __forceinline__ unsigned fold(int x) { return (unsigned)x; }
__device__ __forceinline__ unsigned fold(unsigned char x) { return x; }
__device__ __forceinline__ unsigned fold(short x) { return (unsigned)(int)x; }
__device__ __forceinline__ unsigned fold(unsigned short x) { return x; }
__device__ __forceinline__ unsigned fold(float x) { return __float_as_uint(x); }
__device__ __forceinline__ unsigned fold(double x) { return __double2loint(x) ^ __double2hiint(x); }
__device__ __forceinline__ unsigned fold(unsigned long long x) { return (unsigned)x ^ (unsigned)(x >> 32); }
__device__ __forceinline__ unsigned fold(uint2 x) { return x.x ^ x.y; }
__device__ __forceinline__ unsigned fold(float2 x) { return fold(x.x) ^ fold(x.y); }
__device__ __forceinline__ unsigned fold(uint4 x) { return x.x ^ x.y ^ x.z ^ x.w; }
__device__ __forceinline__ unsigned fold(float4 x) { return fold(x.x) ^ fold(x.y) ^ fold(x.z) ^ fold(x.w); }
__device__ __forceinline__ unsigned fold(uchar4 x) { return x.x ^ x.y ^ x.z ^ x.w; }
__device__ __forceinline__ unsigned fold(uchar2 x) { return x.x ^ x.y; }
__device__ __forceinline__ unsigned fold(ushort4 x) { return x.x ^ x.y ^ x.z ^ x.w; }"""

MADE = {
    "uint2": "make_uint2(acc, {u})",
    "uint4": "make_uint4(acc, {u}, acc, 1u)",
    "float4": "make_float4(1.0f, 2.0f, (float)acc, 0.0f)",
    "float2": "make_float2((float)acc, 1.0f)",
    "uchar4": "make_uchar4(acc, 1, 2, acc)",
    "uchar2": "make_uchar2(acc, 1)",
    "ushort4": "make_ushort4(acc, 1, 2, acc)",
}

MOST_LOOPS = 2  # nested
MOST_TRIPS = 6


@dataclass
class Writer:
    """The random author of one routine.

    leaves: unsigned expressions that decide addresses; variables: those of them that can be assigned; families: of
    `arithmetic.FAMILIES`; uniform: every thread of the block gets here, in any order, so that barriers are allowed;
    leave: the statement that ends the routine early, or None if it must not; extra: further kinds of statements.
    """

    dice: Dice
    arrays: list[Array]
    leaves: list[str]
    variables: list[str]
    families: tuple[str, ...] = ()
    floats: tuple[str, ...] = ()
    wides: tuple[str, ...] = ()
    leave: str | None = None
    jumps: tuple[str, ...] = ()  # those of `break` and `continue` that are allowed here
    inside: int = 0  # enclosing loops
    loops: int = 0  # loops written so far, for names
    extra: list[Callable[[Writer], Statement]] = field(default_factory=list)

    # --- expressions ----------------------------------------------------------------------------

    def u(self, depth: int = 2) -> str:
        """An unsigned 32-bit expression."""
        if depth <= 0 or self.dice.chance(12):
            return (
                self.dice.choice(self.leaves) if self.dice.chance(85) else f"{self.dice.choice(arithmetic.CONSTANTS)}u"
            )
        return self.fill(self._template("u"), depth - 1)

    def _template(self, kind: str) -> str:
        table = [arithmetic.FAMILIES[family][kind] for family in self.families if kind in arithmetic.FAMILIES[family]]
        if table and (kind not in arithmetic.BASIC or self.dice.chance(55)):
            return self.dice.choice(self.dice.choice(table))
        return self.dice.choice(arithmetic.BASIC[kind])

    def _other(self, kind: str, leaves: tuple[str, ...], depth: int) -> str:
        has = any(kind in arithmetic.FAMILIES[family] for family in self.families)
        if depth <= 0 or not has or self.dice.chance(30):
            return self.fill(self.dice.choice(leaves), 0)
        return self.fill(self._template(kind), depth - 1)

    def fill(self, template: str, depth: int) -> str:
        """A template with its placeholders filled, left to right."""
        return _PLACE.sub(lambda match: self._place(match[1], depth), template)

    def _place(self, kind: str, depth: int) -> str:
        match kind:
            case "u":
                return self.u(depth)
            case "f":
                return self._other("f", self.floats or arithmetic.FLOAT_LEAVES, depth)
            case "w":
                return self._other("w", self.wides or arithmetic.WIDE_LEAVES, depth)
            case "d":
                return self._other("d", arithmetic.DOUBLE_LEAVES, depth)
            case "pf":
                return self.fill(arithmetic.POSITIVE_FLOAT, depth)
            case "sf":
                return self.fill(arithmetic.SMALL_FLOAT, depth)
            case "p":
                return f"(({self.u(depth)} & 15u) + 1u)"
            case "l":
                return f"({self.u(depth)} & 31u)"
            case "k":
                return str(self.dice.choice(arithmetic.CONSTANTS))
            case "kk":
                return str(self.dice.between(3, 17))
            case "m":
                return hex(self.dice.choice(arithmetic.MASKS))
        return str(self.dice.below(8))

    def index(self, count: int) -> str:
        """An index below `count`, a power of two."""
        if self.dice.chance(35):
            e = (
                f"({self.dice.choice(self.leaves)} * {self.dice.choice(arithmetic.CONSTANTS[:24])}u + "
                f"{self.dice.choice(self.leaves)})"
            )
        else:
            e = self.u(self.dice.between(1, 3))
        bits = count.bit_length() - 1
        match self.dice.below(12):
            case 0:
                return f"({e} % {max(1, count - self.dice.below(min(count, 32)))}u)"
            case 1:
                return f"min({e}, {count - 1}u)"
            case 2:
                return f"__umulhi({e} * 0x9e3779b9u, {count}u)"
            case 3:
                return f"(({e} * 0x9e3779b9u) >> {32 - bits})"
            case 4 if "division" in self.families:
                return f"({e} % ({self.u(1)} % {count}u + 1u))"
        return f"({e} & {count - 1}u)"

    def condition(self) -> str:
        """A condition that differs from lane to lane, from warp to warp, or is uniform."""
        match self.dice.below(8):
            case 0:
                return f"{self.u(1)} & {self.dice.choice((1, 2, 3, 4, 5, 8, 16, 17))}u"
            case 1:
                return f"lane {self.dice.choice(('<', '>', '<=', '==', '!='))} {self.u(1)} % 33u"
            case 2:
                return f"({self.u(2)} ^ {self.u(1)}) % {self.dice.choice((2, 3, 5, 7))}u == 0u"
            case 3:
                return f"{self.u(1)} < {self.u(1)} && ({self.u(1)} & 3u) != 1u"
            case 4:
                return f"({self.u(1)} & 12u) || {self.u(0)} > {self.dice.choice(arithmetic.CONSTANTS[:16])}u"
            case 5:
                return f"(int)({self.u(1)} - {self.u(1)}) < 0"
        return f"({self.u(2)} & {self.dice.choice((1, 2, 4, 6, 7))}u) != {self.dice.below(3)}u"

    # --- accesses -------------------------------------------------------------------------------

    def access(self) -> Statement:
        """One load, store or atomic of a shared array."""
        array = self.dice.choice(self.arrays)
        place = f"{array.name}[{self.index(array.count)}]"
        what = self.dice.below(10)
        if what < 5:
            return Line(f"acc += fold({place});")
        if what < 8 or array.type not in ("unsigned", "int"):
            return Line(f"{place} = {self.made(array.type)};")
        if what == 8:
            return Line(f"{place} += 1;")
        return Line(f"atomicAdd(&{place}, {self.dice.choice(('1', '3', 'acc & 7', '(int)(t & 1)'))});")

    def made(self, type: str) -> str:
        """A value of an array's type."""
        return self.fill(MADE[type], 1) if type in MADE else f"({type})(acc + {self.u(1)})"

    # --- statements -----------------------------------------------------------------------------

    def assign(self) -> Statement:
        if self.floats and self.dice.chance(25):
            return Line(f"{self.dice.choice(('f0', 'f1'))} = {self.fill('{f}', 2)};")
        if self.wides and self.dice.chance(25):
            return Line(f"{self.dice.choice(('w0', 'w1'))} = {self.fill('{w}', 2)};")
        return Line(f"{self.dice.choice(self.variables)} {self.dice.choice(('=', '+=', '^='))} {self.u(3)};")

    def body(self, budget: int, depth: int = 0) -> tuple[Statement, ...]:
        """Up to `budget` statements, nested `depth` deep so far."""
        out: list[Statement] = []
        for _ in range(self.dice.between(1, max(1, min(4, budget)))):
            out.append(self.statement(budget // 2, depth))
        return tuple(out)

    def statement(self, budget: int, depth: int) -> Statement:
        if self.extra and self.dice.chance(30):
            return self.dice.choice(self.extra)(self)
        what = self.dice.below(100)
        if budget <= 0 or depth >= 4 or what < 45:
            return self.access() if what % 4 else self.assign()
        if what < 62:
            return Nest(((f"if ({self.condition()}) {{", self.body(budget, depth + 1)),))
        if what < 72:
            return Nest(
                (
                    (f"if ({self.condition()}) {{", self.body(budget, depth + 1)),
                    ("} else {", self.body(budget, depth + 1)),
                )
            )
        if what < 86 and self.inside < MOST_LOOPS:
            return self.loop(budget, depth)
        if what < 93:
            return self.switch(budget, depth)
        if self.jumps and what < 97:
            return Line(f"if ({self.condition()}) {self.dice.choice(self.jumps)};")
        if self.leave:
            return Line(f"if ({self.condition()}) {{ {self.leave} }}")
        return self.access()

    def loop(self, budget: int, depth: int) -> Statement:
        """A loop of few trips, whose number depends on anything."""
        self.loops += 1
        i = f"i{self.loops}"
        trips = self.dice.choice(
            (
                f"{self.dice.between(1, MOST_TRIPS)}u",
                f"({self.u(1)} & 3u)",
                f"({self.u(1)} % 5u + 1u)",
                "(n & 3u)",
                "((lane >> 3) + 1u)",
            )
        )
        self.leaves.append(i)
        around, self.jumps, self.inside = self.jumps, ("break", "continue"), self.inside + 1
        inner = self.body(budget, depth + 1)
        self.jumps, self.inside = around, self.inside - 1
        self.leaves.remove(i)
        match self.dice.below(7):
            case 0:
                return Group(
                    (
                        Line(f"unsigned {i} = 0;", True),
                        Nest(((f"while ({i} < {trips}) {{ {i}++;", inner),), plain=False),
                    )
                )
            case 1:
                return Group(
                    (
                        Line(f"unsigned {i} = {trips};", True),
                        Nest((("do {", inner),), f"}} while ({i}-- > 1u && {i} < 8u);", plain=False),
                    )
                )
            case 2:
                return Nest(((f"for (unsigned {i} = {trips} << 2; {i}; {i} >>= 1) {{", inner),), plain=False)
            case 3:
                return Nest(((f"for (unsigned {i} = t; {i} < (n & 127u); {i} += blockDim.x) {{", inner),), plain=False)
            case 4:
                return Nest(
                    (("#pragma unroll 1", ()), (f"for (unsigned {i} = 0; {i} < {trips}; {i}++) {{", inner)), plain=False
                )
        return Nest(((f"for (unsigned {i} = 0; {i} < {trips}; {i}++) {{", inner),), plain=False)

    def switch(self, budget: int, depth: int) -> Statement:
        """Cases that may fall through."""
        around, self.jumps = self.jumps, ("break",) + self.jumps[1:]
        cases = self.dice.between(3, 7)
        parts: list[tuple[str, tuple[Statement, ...]]] = [(f"switch ({self.u(2)} % {cases + 1}u) {{", ())]
        for case in range(cases):
            head = f"case {case}: {{" if not case else f"}} {'break; ' if self.dice.chance(75) else ''}case {case}: {{"
            parts.append((head, (self.access(),) if self.dice.chance(60) else self.body(budget // 2, depth + 1)))
        self.jumps = around
        return Nest((*parts, ("} break; default: {", (self.access(),))), "} }", plain=False)
