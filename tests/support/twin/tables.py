"""Random kernels that write numbers to shared memory and read them back as indices, bounds and predicates.

A kernel has a few phases, most of them separated by a barrier. They store, with every width, numbers computed from
thread and block indices, parameters and earlier reads, by some threads or all, in loops, on both sides of branches;
they read with other widths, and update words with atomic operations, which may commute; and they do what makes numbers
untrustworthy: races, missing barriers, barriers of some warps, copies, stores to loaded addresses.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import partial

from .code import WIDTH

TABLE, DATA = 2048, 16384  # bytes of the table, and of the array that its numbers index
BLOCKS = [(32, 1, 1), (64, 1, 1), (96, 1, 1), (40, 1, 1), (16, 4, 1), (128, 1, 1)]
GRIDS = [(1, 1, 1), (3, 1, 1), (2, 2, 1), (9, 1, 1)]
UPDATES = tuple(
    f"{kind}.{t}"
    for kind, types in {
        "add": "u32 s32 u64",
        "min": "u32 s32 u64 s64",
        "max": "u32 s32 u64 s64",
        "and": "b32 b64",
        "or": "b32 b64",
        "xor": "b32 b64",
        "inc": "u32",
        "dec": "u32",
        "exch": "b32 b64",
        "cas": "b32",
    }.items()
    for t in types.split()
)
WIDTHS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "v2.u32": 8, "v4.u32": 16}


@dataclass
class Table:
    """One kernel under construction. words: 32-bit registers that hold numbers; depth: number of open branches."""

    rng: random.Random
    lines: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    count: int = 0
    depth: int = 0
    careful: float = 0.9  # probability of a barrier where one is needed
    whole: bool = True  # all warps have all lanes

    def new(self, kind: str = "r") -> str:
        self.count += 1
        return f"%{kind}{self.count}"

    def put(self, line: str) -> None:
        self.lines.append("\t" + line)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def word(self) -> str:
        return self.rng.choice(self.words[-8:] if self.chance(0.6) else self.words)

    def mixed(self) -> str:
        """A number computed from others."""
        d = self.new()
        a, b = self.word(), self.rng.choice([self.word(), str(self.rng.randrange(64))])
        self.put(
            self.rng.choice(
                [
                    f"xor.b32 {d}, {a}, {b};",
                    f"add.u32 {d}, {a}, {b};",
                    f"mul.lo.u32 {d}, {a}, {self.rng.choice([3, 5, 8, 32])};",
                    f"mad.lo.u32 {d}, {a}, {self.rng.choice([1, 7, 4])}, {self.word()};",
                    f"and.b32 {d}, {a}, {self.rng.choice([7, 31, 127])};",
                ]
            )
        )
        return d

    def place(self, width: int, own: float = 0.5) -> str:
        """An address in the table, for an access of `width` bytes."""
        slots = TABLE // width
        at, address, offset = (
            ("%thread" if self.chance(own) else self.mixed() if self.chance(0.6) else self.word()),
            self.new(),
            self.new(),
        )
        index = self.new()
        self.put(f"and.b32 {index}, {at}, {slots - 1};")
        self.put(f"mul.lo.u32 {offset}, {index}, {width};")
        self.put(f"add.u32 {address}, %table, {offset};")
        return address

    def guard(self) -> str:
        if not self.chance(0.25):
            return ""
        p = self.new("p")
        self.put(
            f"setp.{self.rng.choice(['lt', 'ge', 'eq', 'ne'])}.u32 {p}, {self.word()},"
            f" {self.rng.choice([1, 16, 32, 40])};"
        )
        return f"@{p} "

    def fill(self, careless: bool = False) -> None:
        """A store to the table."""
        kind = self.rng.choice(["u32"] * 5 + list(WIDTHS))
        address, values = self.place(WIDTHS[kind], 0.85), []
        for _ in range({"v2.u32": 2, "v4.u32": 4}.get(kind, 1)):
            v = self.mixed() if self.chance(0.7) else self.word()
            if careless:
                v = "%data"
            if kind == "u64":
                w = self.new("rd")
                self.put(f"cvt.u64.u32 {w}, {v};")
                v = w
            elif kind in ("u8", "u16"):
                w = self.new("h")
                self.put(f"cvt.u16.u32 {w}, {v};")
                v = w
            values.append(v)
        of = values[0] if len(values) == 1 else "{" + ", ".join(values) + "}"
        if self.chance(0.1):
            wide, generic = self.new("rd"), self.new("rd")
            self.put(f"cvt.u64.u32 {wide}, {address};")
            self.put(f"cvta.shared.u64 {generic}, {wide};")
            return self.put(f"{self.guard()}st.{kind} [{generic}], {of};")
        self.put(f"{self.guard()}st.shared.{kind} [{address}], {of};")

    def update(self) -> None:
        """Atomic operations on words of the table, most of them of one kind."""
        kind = self.rng.choice(["add.u32"] * 4 + list(UPDATES))
        size = WIDTH[kind.split(".")[1]] // 8
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            if self.chance(0.1):
                kind = self.rng.choice([k for k in UPDATES if WIDTH[k.split(".")[1]] == size * 8])
            address, v = self.place(size, self.rng.choice([0.3, 1])), self.mixed() if self.chance(0.6) else self.word()
            if kind.startswith(("inc", "dec")) and self.chance(0.7):
                v = str(self.rng.choice([0, 3, 100]))
            if size == 8:
                w = self.new("rd")
                self.put(f"mul.wide.u32 {w}, {v}, {self.rng.choice([1, 0x10001])};")
                v = w
            guard, more = self.guard(), f", {v}" if kind.startswith("cas") else ""
            if more or kind.startswith("exch") or self.chance(0.4):
                old = self.new("rd" if size == 8 else "r")
                self.put(f"mov.b{8 * size} {old}, {self.rng.choice([0, 9])};")
                self.put(f"{guard}atom.shared.{kind} {old}, [{address}], {v}{more};")
                if size == 4 and self.chance(0.6):
                    self.words.append(old)
                    self.use(old)
            else:
                self.put(f"{guard}red.shared.{kind} [{address}], {v};")

    def matrices(self, store: bool) -> None:
        """Rows of the table written from the registers of whole warps, or read into them."""
        n, at, address = self.rng.choice([1, 2, 4]), self.new(), self.new()
        rows = self.rng.choice(["%thread", self.word()])
        self.put(f"and.b32 {at}, {rows}, {TABLE // 16 - 1};")
        self.put(f"mad.lo.u32 {address}, {at}, 16, %table;")
        form = f"sync.aligned.m8n8.x{n}{self.rng.choice(['', '.trans'])}.shared.b16"
        if store:
            values = ", ".join(self.mixed() for _ in range(n))
            return self.put(f"stmatrix.{form} [{address}], {{{values}}};")
        registers = [self.new() for _ in range(n)]
        self.put(f"ldmatrix.{form} {{{', '.join(registers)}}}, [{address}];")
        self.words += registers
        self.use(self.rng.choice(registers))

    def read(self) -> None:
        """A load from the table, whose number is then used."""
        kind = self.rng.choice(["u32"] * 5 + ["u8", "u16", "s8"])
        d = self.new()
        self.put(f"ld.shared.{kind} {d}, [{self.place(WIDTHS.get(kind, 1), 0.4)}];")
        self.words += [d, d]
        self.use(d)

    def use(self, d: str) -> None:
        match self.rng.randrange(6):
            case 0:  # a bound
                if self.depth:
                    return
                n, i, p, head = self.new(), self.new(), self.new("p"), f"$L{self.count}"
                self.put(f"and.b32 {n}, {d}, 3;")
                self.put(f"mov.u32 {i}, 0;")
                self.lines.append(f"{head}:")
                self.access(i)
                self.put(f"add.u32 {i}, {i}, 1;")
                self.put(f"setp.lt.u32 {p}, {i}, {n};")
                self.put(f"@{p} bra {head};")
            case 1:  # a predicate
                p = self.new("p")
                self.put(f"setp.lt.u32 {p}, {d}, {self.rng.choice([1, 20, 64])};")
                self.access("%thread", f"@{p} ")
            case _:
                self.access(d)

    def access(self, index: str, guard: str = "") -> None:
        """The access that is counted, which the index decides."""
        at, address = self.new(), self.new()
        self.put(f"mul.lo.u32 {at}, {index}, {self.rng.choice([4, 8, 36, 128])};")
        self.put(f"and.b32 {at}, {at}, {DATA - 4};")
        self.put(f"add.u32 {address}, %other, {at};")
        d = self.new()
        self.put(f"mov.u32 {d}, 0;")
        self.put(
            f"{guard}ld.shared.u32 {d}, [{address}];"
            if self.chance(0.7)
            else f"{guard}st.shared.u32 [{address}], {index};"
        )

    def barrier(self) -> None:
        if self.depth:
            return
        if self.chance(self.careful):
            if self.chance(0.15):  # whole warps pass one of two
                return self.one_of_two()
            self.put(self.rng.choice(["bar.sync 0;"] * 6 + ["barrier.sync.aligned 0;"]))
        elif self.chance(0.5):
            if self.chance(0.5):
                return self.part_of_warp()
            self.put("bar.warp.sync 0xffffffff;")
        elif self.chance(0.3):
            self.put("bar.sync 1, 32;" if self.chance(0.5) else "bar.arrive 2, 256;")

    def one_of_two(self) -> None:
        """A barrier of the block, at one of two places for each warp."""
        by, p = self.new(), self.new("p")
        self.put(f"and.b32 {by}, %thread, {self.rng.choice([32, 64])};")
        self.put(f"setp.eq.u32 {p}, {by}, 0;")
        self.put(f"@{p} bar.sync 0;")
        self.put(f"@!{p} bar.sync 0;")

    def part_of_warp(self) -> None:
        """A barrier of two to sixteen lanes each."""
        lanes, first, mask = self.rng.choice([2, 4, 8, 16]), self.new(), self.new()
        self.put(f"and.b32 {first}, %thread, {32 - lanes};")
        self.put(f"mov.b32 {mask}, {(1 << lanes) - 1};")
        self.put(f"shl.b32 {mask}, {mask}, {first};")
        self.put(f"bar.warp.sync {mask};")

    def branch(self) -> None:
        """Stores on one side of a branch, or on both; by lane or by warp."""
        if self.depth:
            return
        p, other, end = self.new("p"), f"$E{self.count}", f"$F{self.count}"
        by = self.new()
        self.put(f"shr.u32 {by}, %thread, {self.rng.choice([0, 1, 4, 5])};")
        self.put(f"and.b32 {by}, {by}, 1;")
        self.put(f"setp.eq.u32 {p}, {by}, 0;")
        self.put(f"@{p} bra {other};")
        words, self.depth = list(self.words), 1
        self.rng.choice([self.fill, self.read, self.update])()
        self.words = list(words)
        self.put(f"bra {end};")
        self.lines.append(f"{other}:")
        if self.chance(0.6):
            self.rng.choice([self.fill, self.fill, self.read])()
        self.words, self.depth = words, 0
        self.lines.append(f"{end}:")

    def loop(self) -> None:
        """A loop whose trips fill the table, or read and write it."""
        if self.depth:
            return
        i, p, head = self.new(), self.new("p"), f"$M{self.count}"
        trips = self.rng.choice([2, 3, 8, 24])
        self.put(f"mov.u32 {i}, 0;")
        self.lines.append(f"{head}:")
        words = list(self.words)
        self.words += [i, i]
        if self.chance(0.4):
            self.barrier()
            self.rng.choice([self.fill, self.fill, self.update])()
            self.barrier()
            self.read()
        elif self.chance(0.5):
            address = self.place(4)
            step = self.new()
            self.put(f"mad.lo.u32 {step}, {i}, {self.rng.choice([4, 128])}, {address};")
            self.put(f"st.shared.u32 [{step}], {self.mixed()};")
        else:
            self.read()
        self.words = words
        self.put(f"add.u32 {i}, {i}, 1;")
        self.put(f"setp.lt.u32 {p}, {i}, {trips};")
        self.put(f"@{p} bra {head};")

    def astray(self) -> None:
        """Something that must make numbers unknown."""
        match self.rng.randrange(5):
            case 0:
                self.put(f"red.shared.add.u32 [{self.place(4)}], 1;")
            case 1:
                self.put(f"cp.async.ca.shared.global [{self.place(4)}], [%rdin], 4;")
            case 2:
                at = self.new()
                self.put(f"and.b32 {at}, %data, {TABLE - 4};")
                self.put(f"add.u32 {at}, {at}, %table;")
                self.put(f"st.shared.u32 [{at}], {self.word()};")
            case 3:
                self.fill(careless=True)
            case _:
                p, end = self.new("p"), f"$D{self.count}"
                self.put(f"setp.gt.u32 {p}, %data, 3;")
                self.put(f"@{p} bra {end};")
                self.depth = 1
                self.fill()
                self.depth = 0
                self.lines.append(f"{end}:")

    def body(self) -> None:
        kinds = [self.fill] * 4 + [self.read] * 4 + [self.branch, self.loop, self.loop, self.update, self.update]
        if self.whole and self.chance(0.3):
            kinds += [partial(self.matrices, True), partial(self.matrices, False)]
        if self.chance(0.35):
            kinds += [self.astray]
        self.fill()
        for _ in range(self.rng.randrange(2, 8)):
            self.barrier()
            self.rng.choice(kinds)()
        self.barrier()
        self.read()


def kernel(seed: int) -> tuple[str, tuple, tuple, list]:
    """(PTX text, grid, block, parameters) of a random kernel "k"."""
    rng = random.Random(seed)
    block, grid = rng.choice(BLOCKS), rng.choice(GRIDS)
    t = Table(rng, careful=rng.choice([1.0, 1.0, 0.9, 0.6]))
    t.put("mov.u32 %table, s_table;")
    t.put("mov.u32 %other, s_other;")
    t.put("mov.u32 %ra, %tid.y;")
    t.put("mov.u32 %rb, %ntid.x;")
    t.put("mov.u32 %rc, %tid.x;")
    t.put("mad.lo.u32 %thread, %ra, %rb, %rc;")
    t.put("ld.param.u32 %rn, [k_param_0];")
    t.put("ld.param.u64 %rdin, [k_param_1];")
    t.put("ld.global.u32 %data, [%rdin];")
    t.words = ["%thread", "%thread", "%rc", "%rn"]
    if rng.random() < 0.4:
        t.put("mov.u32 %rblock, %ctaid.x;")
        t.words.append("%rblock")
    t.whole = block[0] * block[1] % 32 == 0
    if rng.random() < 0.15:
        t.whole = False
        t.put("setp.ge.u32 %pend, %thread, 24;")
        t.put("@%pend bra $END;" if rng.random() < 0.5 else "@%pend exit;")
    t.body()
    lines = [
        ".version 8.5",
        ".target sm_90",
        ".address_size 64",
        ".visible .entry k(.param .u32 k_param_0, .param .u64 k_param_1)",
        "{",
        f"\t.shared .align 16 .b8 s_table[{TABLE}];",
        f"\t.shared .align 16 .b8 s_other[{DATA}];",
        "\t.reg .pred %pend;",
        "\t.reg .b32 %table, %other, %thread, %ra, %rb, %rc, %rn, %data, %rblock;",
        "\t.reg .b64 %rdin;",
        f"\t.reg .pred %p<{t.count + 1}>;",
        f"\t.reg .b16 %h<{t.count + 1}>;",
        f"\t.reg .b32 %r<{t.count + 1}>;",
        f"\t.reg .b64 %rd<{t.count + 1}>;",
        *t.lines,
        "$END:",
        "\tret;",
        "}",
    ]
    return "\n".join(lines) + "\n", grid, block, [rng.randrange(64), None]
