"""Random kernels as PTX text: `kernel(seed)` is a Kernel with its text and the launches that it may be given.

What is random: index expressions over thread and block indices and parameters with every integer and bit-field
operation; loops with trip counts that are constant, from a parameter, or different in each lane; divergence,
nested, with break, continue and early ends; switches; predicated instructions; shuffles, votes, matches; 64-bit and 16-bit
arithmetic; calls; local arrays; double buffers; swizzles; generic addresses; odd blocks and partial warps.

Every register is written before it is read on every way. Data that was loaded decides an address only where
`data` is asked for.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

BLOCKS = [(32, 1, 1), (64, 1, 1), (128, 1, 1), (48, 1, 1), (7, 9, 3), (8, 8, 1), (16, 4, 1), (33, 2, 1), (5, 5, 5), (16, 2, 2), (100, 1, 1), (1, 37, 1),
          (4, 8, 3), (2, 2, 20)]
GRIDS = [(1, 1, 1), (2, 1, 1), (3, 2, 1), (5, 1, 1), (1, 3, 2), (4, 1, 1), (7, 1, 1), (2, 2, 2), (23, 1, 1)]


@dataclass
class Kernel:
    seed: int
    text: str
    name: str
    grid: tuple
    block: tuple
    params: list                     # a value a parameter; None for pointers
    dynamic: int
    features: set = field(default_factory=set)


class Writer:
    """Emits the body. Pools hold registers that are defined here; leaving a branch drops what it defined."""

    def __init__(self, rng: random.Random, features: set, prefix: str = ""):
        self.rng, self.features = rng, features
        self.lines: list[str] = []
        self.counts = {"r": 0, "rd": 0, "p": 0, "h": 0, "f": 0}
        self.words: list[str] = []           # 32-bit values that depend on no data
        self.wides: list[str] = []
        self.preds: list[str] = []
        self.data: list[str] = []            # loaded values
        self.mutable: list[str] = []
        self.labels = 0
        self.depth = 0
        self.loops: list[tuple[str, str]] = []      # (continue label, break label)
        self.shared: list[tuple[str, int]] = []
        self.budget = 34
        self.locals = 0
        self.local_slots: list[int] = []
        self.divergent = 0
        self.tables: list[str] = []
        self.functions: list = []
        self.prefix = prefix
        self.end = ""
        self.sites = 0
        self.brief = False

    def put(self, text: str) -> None:
        self.lines.append("\t" + text)

    def new(self, kind: str) -> str:
        self.counts[kind] += 1
        return f"%{kind}{self.counts[kind]}"

    def label(self) -> str:
        self.labels += 1
        return f"$L_{self.prefix}{self.labels}"

    def pick(self, *options):
        return self.rng.choice(options)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    # --- values ---

    def constant(self) -> str:
        r = self.rng
        return str(self.pick(r.randrange(8), r.randrange(32), r.randrange(256), 1 << r.randrange(8), (1 << r.randrange(1, 12)) - 1,
                             r.randrange(1 << 16), -r.randrange(1, 40)) if r.random() < 0.95 else r.randrange(1 << 32))

    def word(self) -> str:
        """A 32-bit register, recent ones more often."""
        if self.chance(0.5):
            return self.rng.choice(self.words[-6:])
        return self.rng.choice(self.words)

    def either(self) -> str:
        return self.word() if self.chance(0.6) else self.constant()

    def small(self, most: int) -> str:
        """A count: a constant, or a register masked to be small."""
        if self.chance(0.75):
            return str(self.rng.randrange(most))
        d = self.new("r")
        self.put(f"and.b32 {d}, {self.word()}, {self.pick(3, 7, 15, 31, 63)};")
        return d

    def arithmetic(self) -> str:
        """One 32-bit operation on what there is."""
        d, w, e, r = self.new("r"), self.word, self.either, self.rng
        t = self.pick("u32", "s32")
        kinds = ["add", "add", "sub", "mul", "mad", "and", "or", "xor", "shl", "shr", "minmax", "div", "bfe", "bfi", "lop3", "prmt",
                 "shf", "selp", "hi", "neg", "not", "bits", "brev", "bmsk", "wide", "half", "sad", "mul24", "cnot", "fns", "float",
                 "predicated", "carry", "slct", "dp"]
        weights = [9, 9, 5, 5, 7, 6, 4, 5, 6, 5, 2, 4, 3, 3, 2, 2, 2, 3, 1, 1, 1, 2, 1, 1, 4, 2, 1, 1, 1, 1, 1, 4, 1, 1, 1]
        match r.choices(kinds, weights)[0]:
            case "add":
                self.put(f"add.{t} {d}, {w()}, {e()};")
            case "sub":
                self.put(f"sub.{t} {d}, {w()}, {e()};")
            case "mul":
                self.put(f"mul.lo.{t} {d}, {w()}, {e()};")
            case "mad":
                self.put(f"mad.lo.{t} {d}, {w()}, {e()}, {e()};")
            case "and" | "or" | "xor" as op:
                self.put(f"{op}.b32 {d}, {w()}, {e()};")
            case "shl":
                self.put(f"shl.b32 {d}, {w()}, {self.small(10)};")
            case "shr":
                self.put(f"shr.{t} {d}, {w()}, {self.small(10)};")
            case "minmax":
                self.put(f"{self.pick('min', 'max')}.{t} {d}, {w()}, {e()};")
            case "div":
                if self.chance(0.6):
                    self.put(f"{self.pick('div', 'rem')}.{t} {d}, {w()}, {self.pick(2, 3, 4, 5, 7, 8, 16, 24, 32, 33, -4)};")
                else:
                    q = self.new("r")
                    self.put(f"or.b32 {q}, {w()}, 1;")
                    self.put(f"{self.pick('div', 'rem')}.{t} {d}, {w()}, {q};")
            case "bfe":
                self.put(f"bfe.{t} {d}, {w()}, {self.small(34)}, {self.small(34)};")
            case "bfi":
                self.put(f"bfi.b32 {d}, {w()}, {w()}, {self.small(34)}, {self.small(20)};")
            case "lop3":
                self.put(f"lop3.b32 {d}, {w()}, {w()}, {w()}, {r.randrange(256)};")
            case "prmt":
                mode = self.pick("", "", "", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")
                self.put(f"prmt.b32{mode} {d}, {w()}, {w()}, {self.pick(hex(r.randrange(1 << 16)), w())};")
            case "shf":
                self.put(f"shf.{self.pick('l', 'r')}.{self.pick('wrap', 'clamp')}.b32 {d}, {w()}, {w()}, {self.small(36)};")
            case "selp":
                self.put(f"selp.b32 {d}, {w()}, {e()}, {self.predicate()};")
            case "slct":
                self.put(f"slct.u32.s32 {d}, {w()}, {w()}, {w()};")
            case "hi":
                self.put(f"{self.pick('mul.hi', 'mul.hi', 'mad.hi')}.{t} {d}, {w()}, {w()}".replace("mad.hi." + t + f" {d}, ", f"mad.hi.{t} {d}, {w()}, ") + ";")
            case "neg":
                self.put(f"{self.pick('neg', 'abs')}.s32 {d}, {w()};")
            case "not":
                self.put(f"not.b32 {d}, {w()};")
            case "cnot":
                self.put(f"cnot.b32 {d}, {w()};")
            case "bits":
                op = self.pick("popc.b32", "clz.b32", "bfind.u32", "bfind.s32", "bfind.shiftamt.u32")
                self.put(f"{op} {d}, {w()};")
            case "brev":
                self.put(f"brev.b32 {d}, {w()};")
            case "bmsk":
                if self.chance(0.5):
                    self.put(f"bmsk.{self.pick('clamp', 'wrap')}.b32 {d}, {self.small(34)}, {self.small(34)};")
                else:
                    self.put(f"szext.{self.pick('clamp', 'wrap')}.{t} {d}, {w()}, {self.small(34)};")
            case "fns":
                self.put(f"fns.b32 {d}, {w()}, {self.pick(0, 3, 31, r.randrange(32))}, {self.pick(1, 2, 3, -1, -2, 0)};")
            case "sad":
                self.put(f"sad.{t} {d}, {w()}, {w()}, {w()};")
            case "dp":
                self.put(f"dp4a.{t}.{self.pick('u32', 's32')} {d}, {w()}, {w()}, {w()};")
            case "mul24":
                self.put(f"mul24.lo.{t} {d}, {w()}, {w()};")
            case "wide":
                x = self.wide()
                if self.chance(0.5):
                    self.put(f"cvt.u32.u64 {d}, {x};")
                else:
                    other = self.new("r")
                    self.put(f"mov.b64 {{{self.pick(f'{d}, {other}', f'{other}, {d}')}}}, {x};")
            case "half":
                h, g = self.new("h"), self.new("h")
                k = self.pick("u16", "s16")
                self.put(f"cvt.u16.u32 {h}, {w()};")
                self.put(self.pick(f"add.{k} {g}, {h}, {r.randrange(100)};", f"mul.lo.{k} {g}, {h}, {r.randrange(100)};",
                                   f"shr.{k} {g}, {h}, {r.randrange(18)};", f"and.b16 {g}, {h}, {r.randrange(1 << 15)};",
                                   f"cvt.s16.s8 {g}, {h};", f"div.{k} {g}, {h}, 3;", f"mov.u16 {g}, {h};"))
                self.put(self.pick(f"cvt.u32.u16 {d}, {g};", f"cvt.s32.s16 {d}, {g};", f"mul.wide.{k} {d}, {g}, {h};",
                                   f"mov.b32 {d}, {{{g}, {h}}};", f"cvt.s32.s8 {d}, {g};", f"cvt.u32.u8 {d}, {g};"))
            case "float":
                f, g, m = self.new("f"), self.new("f"), self.new("r")
                self.put(f"and.b32 {m}, {w()}, 0xffff;")
                self.put(f"cvt.rn.f32.{t} {f}, {m};")
                self.put(self.pick(f"mul.f32 {g}, {f}, 0f3E800000;", f"add.f32 {g}, {f}, 0f3F000000;", f"div.rn.f32 {g}, {f}, 0f40400000;",
                                   f"fma.rn.f32 {g}, {f}, 0f3F800001, 0fC0000000;", f"sqrt.rn.f32 {g}, {f};"))
                self.put(f"cvt.{self.pick('rzi', 'rni', 'rmi', 'rpi')}.{t}.f32 {d}, {g};")
            case "predicated":
                self.put(f"mov.b32 {d}, {e()};")
                p = self.predicate()
                self.put(f"@{self.pick('', '!')}{p} add.{t} {d}, {w()}, {e()};")
            case "carry":
                lo = self.new("r")
                a = self.pick("add", "sub")
                self.put(f"{a}.cc.u32 {lo}, {w()}, {w()};")
                self.put(f"{a}c.u32 {d}, {w()}, {e()};")
        self.words.append(d)
        return d

    def wide(self) -> str:
        d, r = self.new("rd"), self.rng
        w = lambda: self.rng.choice(self.wides)
        match r.randrange(9 if self.wides else 3):
            case 0:
                self.put(f"mul.wide.{self.pick('u32', 's32')} {d}, {self.word()}, {self.either()};")
            case 1:
                self.put(f"cvt.{self.pick('u64.u32', 's64.s32')} {d}, {self.word()};")
            case 2:
                self.put(f"mov.b64 {d}, {{{self.word()}, {self.word()}}};")
            case 3:
                self.put(f"{self.pick('add', 'sub')}.{self.pick('u64', 's64')} {d}, {w()}, {self.pick(w(), r.randrange(1 << 20))};")
            case 4:
                self.put(f"shl.b64 {d}, {w()}, {self.small(40)};")
            case 5:
                self.put(f"shr.{self.pick('u64', 's64')} {d}, {w()}, {self.small(40)};")
            case 6:
                self.put(f"{self.pick('and', 'or', 'xor')}.b64 {d}, {w()}, {self.pick(w(), r.randrange(1 << 36))};")
            case 7:
                self.put(f"{self.pick('mul.lo', 'mul.hi', 'min', 'max', 'rem', 'div')}.{self.pick('u64', 's64')} {d}, {w()}, {self.pick(3, 7, 1 << 33, r.randrange(1, 1 << 30))};")
            case 8:
                self.put(f"mad.wide.{self.pick('u32', 's32')} {d}, {self.word()}, {self.either()}, {w()};")
        self.wides.append(d)
        return d

    def predicate(self, fresh: float = 0.7) -> str:
        if self.preds and not self.chance(fresh):
            return self.rng.choice(self.preds[-4:])
        p = self.new("p")
        relation = self.pick("eq", "ne", "lt", "le", "gt", "ge")
        t = self.pick("u32", "s32")
        match self.rng.randrange(7):
            case 0:
                m = self.new("r")
                self.put(f"and.b32 {m}, {self.word()}, {self.pick(1, 2, 3, 4, 7, 16)};")
                self.put(f"setp.{self.pick('eq', 'ne')}.{t} {p}, {m}, {self.pick(0, 0, 1, 2)};")
            case 1 if self.preds:
                self.put(f"setp.{relation}.{self.pick('and', 'or', 'xor')}.{t} {p}, {self.word()}, {self.either()}, {self.pick('', '!')}{self.rng.choice(self.preds)};")
            case 2:
                q = self.new("p")
                self.put(f"setp.{relation}.{t} {p}|{q}, {self.word()}, {self.either()};")
                self.preds.append(q)
            case 3 if len(self.preds) > 1:
                self.put(f"{self.pick('and', 'or', 'xor')}.pred {p}, {self.rng.choice(self.preds)}, {self.rng.choice(self.preds)};")
            case 4 if self.preds:
                self.put(f"not.pred {p}, {self.rng.choice(self.preds)};")
            case 5 if self.wides:
                self.put(f"setp.{relation}.{self.pick('u64', 's64')} {p}, {self.rng.choice(self.wides)}, {self.rng.randrange(1 << 12)};")
            case _:
                self.put(f"setp.{relation}.{t} {p}, {self.word()}, {self.either()};")
        self.preds.append(p)
        return p

    # --- accesses ---

    def offset(self, width: int, size: int) -> str:
        """A 32-bit register: a byte offset that is a multiple of width, mostly inside an array of `size` bytes."""
        d, r = self.new("r"), self.rng
        shift = width.bit_length() - 1
        count = max(1, size // width)
        match r.randrange(8):
            case 0 | 1 | 2:
                m = self.new("r")
                self.put(f"and.b32 {m}, {self.word()}, {(1 << (count.bit_length() - 1)) - 1};")
                self.put(f"shl.b32 {d}, {m}, {shift};")
            case 3:
                self.put(f"mad.lo.s32 {d}, {self.rng.choice(self.words[:6])}, {width * r.randrange(1, 40)}, {width * r.randrange(8)};")
            case 4:                                     # row * pitch + column, swizzled
                row, low, swapped, m = (self.new("r") for _ in range(4))
                self.put(f"shr.u32 {row}, {self.word()}, {r.randrange(1, 5)};")
                self.put(f"xor.b32 {swapped}, {self.word()}, {row};")
                self.put(f"and.b32 {low}, {swapped}, {self.pick(7, 15, 31)};")
                self.put(f"and.b32 {m}, {row}, 63;")
                pitch = self.pick(8, 9, 16, 17, 32, 33, 36, 40)
                t = self.new("r")
                self.put(f"mad.lo.u32 {t}, {m}, {pitch}, {low};")
                self.put(f"shl.b32 {d}, {t}, {shift};")
            case 5:
                self.put(f"mul.lo.u32 {d}, {self.word()}, {width * self.pick(1, 1, 2, 3, 4, 5, 8, 16, 32)};")
            case 6:
                m = self.new("r")
                self.put(f"rem.u32 {m}, {self.word()}, {count};")
                self.put(f"mul.lo.u32 {d}, {m}, {width};")
            case _:
                self.put(f"shl.b32 {d}, {self.word()}, {shift + r.randrange(3)};")
        return d

    def site(self) -> None:
        self.sites += 1
        r = self.rng
        name, size = r.choice(self.shared)
        kind = r.choices(["ld", "st", "atom", "ldmatrix", "cp"], [10, 8, 2, 1, 1])[0]
        bits, vector = r.choice([(8, 1), (16, 1), (32, 1), (32, 1), (32, 1), (64, 1), (32, 2), (32, 4), (64, 2), (8, 4), (16, 2), (16, 4)])
        if kind == "atom":
            bits, vector = 32, 1
        if kind in ("ldmatrix", "cp"):
            bits, vector = 32, 4
            if self.divergent and kind == "ldmatrix":
                kind = "ld"
        width = bits // 8 * vector
        off = self.offset(width, size)
        address = self.new("r")
        extra = self.pick("", "", f"+{width * r.randrange(20)}")
        base = self.new("r")
        self.put(f"mov.u32 {base}, {name};")
        self.put(f"add.{self.pick('u32', 's32')} {address}, {base}, {off};")
        where, space = f"[{address}{extra}]", ".shared"
        if kind in ("ld", "st") and self.chance(0.08):
            self.features.add("generic")
            long, generic = self.new("rd"), self.new("rd")
            self.put(f"cvt.u64.u32 {long}, {address};")
            self.put(f"cvta.shared.u64 {generic}, {long};")
            where, space = f"[{generic}{extra}]", ""
        guard = f"@{self.pick('', '!')}{self.predicate()} " if self.chance(0.2) and kind != "ldmatrix" else ""
        kinds = {8: ["u8", "s8"], 16: ["u16", "s16"], 32: ["u32", "s32", "b32", "f32"], 64: ["u64", "b64"]}[bits]
        t = r.choice(kinds)
        if vector > 1 and t[0] in "us" and False:
            t = "b" + t[1:]
        prefix = "f" if t == "f32" else "rd" if bits == 64 else "r"
        if kind == "ld":
            regs = [self.new(prefix) for _ in range(vector)]
            if guard:
                for x in regs:
                    self.put(f"mov.b{64 if bits == 64 else 32} {x}, 0;")
            to = regs[0] if vector == 1 else "{" + ", ".join(regs) + "}"
            self.put(f"{guard}ld{space}{f'.v{vector}' if vector > 1 else ''}.{t} {to}, {where};")
            if prefix == "r":
                self.data += regs
        elif kind == "st":
            pool = {"r": self.words, "rd": self.wides, "f": []}[prefix]
            regs = []
            for _ in range(vector):
                if pool:
                    regs.append(r.choice(pool))
                else:
                    regs.append(self.new(prefix))
                    self.put(f"mov.b{64 if bits == 64 else 32} {regs[-1]}, 0;")
            of = regs[0] if vector == 1 else "{" + ", ".join(regs) + "}"
            self.put(f"{guard}st{space}{f'.v{vector}' if vector > 1 else ''}.{t} {where}, {of};")
        elif kind == "atom":
            d = self.new("r")
            op = self.pick("add.u32", "exch.b32", "max.s32", "or.b32", "min.u32", "cas.b32")
            if guard:
                self.put(f"mov.b32 {d}, 0;")
            more = f", {self.word()}" if op.startswith("cas") else ""
            if self.chance(0.4) and not op.startswith(("cas", "exch")):
                self.put(f"{guard}red.shared.{op} {where}, {self.word()};")
            else:
                self.put(f"{guard}atom.shared.{op} {d}, {where}, {self.word()}{more};")
                self.data.append(d)
        elif kind == "ldmatrix":
            n = self.pick(1, 2, 4)
            regs = [self.new("r") for _ in range(n)]
            self.put(f"ldmatrix.sync.aligned.m8n8.x{n}{self.pick('', '.trans')}.shared.b16 {{{', '.join(regs)}}}, {where};")
            self.data += regs
        else:
            wide, source = self.new("rd"), self.new("rd")
            self.put(f"mul.wide.u32 {wide}, {self.rng.choice(self.words[:4])}, 16;")
            self.put(f"add.u64 {source}, %rdin, {wide};")
            self.put(f"{guard}cp.async.{self.pick('ca', 'cg')}.shared.global {where}, [{source}], 16;")

    # --- statements ---

    def assign(self) -> None:
        d = self.rng.choice(self.mutable)
        guard = f"@{self.pick('', '!')}{self.predicate()} " if self.chance(0.4) else ""
        self.put(f"{guard}{self.pick('add.s32', 'xor.b32', 'sub.s32', 'and.b32', 'mul.lo.s32')} {d}, {self.pick(d, self.word())}, {self.either()};")

    def nested(self, work) -> None:
        """Work in a branch: what it defines is not seen after it."""
        saved = list(self.words), list(self.wides), list(self.preds), list(self.data), list(self.local_slots)
        self.depth += 1
        work()
        self.depth -= 1
        self.words, self.wides, self.preds, self.data, self.local_slots = saved

    def statements(self, most: int) -> None:
        for _ in range(self.rng.randrange(1, most + 1)):
            if self.budget <= 0:
                return
            self.budget -= 1
            self.statement()

    def statement(self) -> None:
        deep = self.depth >= 3
        kinds = ["arithmetic", "site", "assign", "branch", "loop", "switch", "leave", "jump", "across", "local", "call", "buffer", "sync", "wide", "long"]
        weights = [8, 9, 4, 0 if deep else 4, 0 if deep else 3, 0 if deep else 1, 1.0, 2 if self.loops else 0, 2, 2, 1 if self.functions else 0, 1, 0.7, 1, 0 if self.loops or self.depth > 1 or self.prefix else 1]
        match self.rng.choices(kinds, weights)[0]:
            case "arithmetic":
                for _ in range(self.rng.randrange(1, 4)):
                    self.arithmetic()
            case "site":
                self.site()
            case "assign":
                self.assign()
            case "wide":
                self.wide()
            case "branch":
                self.branch()
            case "loop":
                self.loop()
            case "switch":
                self.switch()
            case "leave":
                if self.chance(0.35):
                    self.leave()
            case "jump":
                p = self.predicate()
                to, out = self.loops[-1] if self.chance(0.8) else self.loops[0]
                if self.chance(0.5):
                    self.features.add("break")
                    self.put(f"@{p} bra {out};")
                else:
                    self.features.add("continue")
                    self.put(f"@{p} bra {to};")
            case "across":
                self.across()
            case "local":
                self.local()
            case "call":
                self.call()
            case "buffer":
                d = self.rng.choice(self.mutable)
                self.put(f"xor.b32 {d}, {d}, {self.pick(1024, 2048, 64, 4)};")
            case "long":
                self.long_loop()
            case "sync":
                if not self.divergent and not self.loops and not self.prefix:
                    self.put("bar.sync 0;")

    def branch(self) -> None:
        self.features.add("branch")
        p = self.predicate()
        other, end = self.label(), self.label()
        self.divergent += 1
        two = self.chance(0.5)
        self.put(f"@{self.pick('', '!')}{p} bra {other if two else end};")
        self.nested(lambda: self.statements(3))
        if two:
            self.put(f"bra{self.pick('', '.uni')} {end};")
            self.lines.append(f"{other}:")
            self.nested(lambda: self.statements(3))
        self.divergent -= 1
        self.lines.append(f"{end}:")

    def switch(self) -> None:
        self.features.add("switch")
        ways = self.rng.randrange(2, 5)
        index = self.new("r")
        table, end = self.label().replace("$L", "$T"), self.label()
        labels = [self.label() for _ in range(ways)]
        self.put(f"rem.u32 {index}, {self.word()}, {ways};")
        entries = labels + [end] * self.chance(0.3)
        self.put(f"{table}: .branchtargets {', '.join(entries)};")
        self.put(f"brx.idx {index}, {table};")
        self.divergent += 1
        for at, name in enumerate(labels):
            self.lines.append(f"{name}:")
            self.nested(lambda: self.statements(2))
            if self.chance(0.8):
                self.put(f"bra {end};")
        self.divergent -= 1
        self.lines.append(f"{end}:")

    def loop(self) -> None:
        self.features.add("loop")
        counter, bound = self.new("r"), self.new("r")
        head, latch, out = self.label(), self.label(), self.label()
        style = self.rng.randrange(6)
        most = 6 if not self.loops else 3
        if style <= 1:
            self.put(f"mov.u32 {bound}, {self.rng.randrange(0, most + 1)};")
        elif style == 2:
            self.put(f"and.b32 {bound}, {self.rng.choice(self.words[:6])}, 3;")
        else:
            self.put(f"and.b32 {bound}, {self.word()}, {self.pick(1, 3, 3, 7 if not self.loops else 1)};")
        step = self.pick(1, 1, 1, 2, 3)
        varying = self.divergent
        self.divergent += 1
        if self.chance(0.2):
            self.put(f"mov.u32 {counter}, {bound};")
            self.lines.append(f"{head}:")
            p = self.new("p")
            self.put(f"setp.le.s32 {p}, {counter}, 0;")
            update = f"sub.s32 {counter}, {counter}, {step};"
        elif self.chance(0.25):                                 # counts down by halves, as a reduction does
            self.put(f"shl.b32 {counter}, 1, {bound};" if False else f"mov.u32 {counter}, {self.pick(4, 8, 16)};")
            self.lines.append(f"{head}:")
            p = self.new("p")
            self.put(f"setp.eq.s32 {p}, {counter}, 0;")
            update = f"shr.u32 {counter}, {counter}, 1;"
        else:
            start = self.pick("0", "0", "1", None)
            if start is None:
                start = self.new("r")
                self.put(f"and.b32 {start}, {self.word()}, 3;")
            self.put(f"mov.u32 {counter}, {start};")
            self.lines.append(f"{head}:")
            p = self.new("p")
            self.put(f"setp.ge.{self.pick('s32', 'u32')} {p}, {counter}, {bound};")
            update = f"add.s32 {counter}, {counter}, {step};"
        rotated = False
        self.put(f"@{p} bra {out};")

        def body():
            self.words += [counter, counter]
            if self.chance(0.4):
                self.words += self.mutable
            self.loops.append((latch, out))
            self.statements(4)
            self.loops.pop()
        self.nested(body)
        self.lines.append(f"{latch}:")
        self.put(update)
        self.put(f"bra{self.pick('', '.uni')} {head};")
        self.lines.append(f"{out}:")
        self.divergent = varying

    def long_loop(self) -> None:
        """Many trips with moving addresses, a ring of stages, two buffers that are swapped."""
        self.features.add("long loop")
        r = self.rng
        counter, pointer, stage, front, back, t = (self.new("r") for _ in range(6))
        head, out = self.label(), self.label()
        p, q = self.new("p"), self.new("p")
        stages = self.pick(2, 3, 4, 5)
        name, size = r.choice(self.shared)
        trips = self.pick(r.randrange(10, 70), r.randrange(10, 40)) if not self.brief else r.randrange(10, 24)
        self.put(f"mov.u32 {pointer}, {name};")
        self.put(f"and.b32 {t}, {self.word()}, 255;")
        self.put(f"mad.lo.u32 {pointer}, {t}, {4 * r.randrange(1, 12)}, {pointer};")
        self.put(f"mov.u32 {stage}, 0;")
        self.put(f"mov.u32 {front}, {name};")
        self.put(f"add.u32 {back}, {front}, {4 * r.randrange(200)};")
        style = r.randrange(4)
        if style == 0:
            self.put(f"mov.u32 {counter}, {self.rng.choice(self.words[:4])};")
        else:
            self.put(f"mov.u32 {counter}, {r.randrange(3)};")
        limit = str(trips * (1 if style else 4))
        if style == 3:
            limit = self.new("r")
            self.put(f"and.b32 {limit}, {self.word()}, 63;")
        self.lines.append(f"{head}:")
        self.put(f"setp.ge.{self.pick('s32', 'u32') if style else 'u32'} {p}, {counter}, {limit};")
        self.put(f"@{p} bra {out};")
        self.divergent += 1

        def body():
            offset, bases, a, x = (self.new("r") for _ in range(4))
            for what in r.sample(["pointer", "ring", "swap", "power", "branch", "mutable", "local"], r.randrange(1, 5)):
                v = self.new("r")
                match what:
                    case "pointer":
                        self.put(f"ld.shared.u32 {v}, [{pointer}];")
                    case "ring":
                        self.put(f"mul.lo.u32 {x}, {stage}, {self.pick(64, 128, 100, 1024)};")
                        self.put(f"shl.b32 {offset}, {self.rng.choice(self.words[:4])}, 2;")
                        self.put(f"mov.u32 {bases}, {name};")
                        self.put(f"add.u32 {a}, {offset}, {bases};")
                        self.put(f"add.u32 {a}, {a}, {x};")
                        self.put(f"st.shared.u32 [{a}], {v};" if self.chance(0) else f"ld.shared.u32 {v}, [{a}];")
                    case "swap":
                        self.put(f"shl.b32 {offset}, {self.rng.choice(self.words[:4])}, {self.pick(2, 3)};")
                        self.put(f"add.u32 {a}, {front}, {offset};")
                        self.put(f"st.shared.u32 [{a}], {offset};")
                        self.put(f"mov.u32 {t}, {front};")
                        self.put(f"mov.u32 {front}, {back};")
                        self.put(f"mov.u32 {back}, {t};")
                    case "power":
                        self.put(f"and.b32 {x}, {counter}, {self.pick(1, 3, 7)};")
                        self.put(f"xor.b32 {x}, {x}, {self.rng.choice(self.words[:4])};")
                        self.put(f"and.b32 {x}, {x}, 255;")
                        self.put(f"shl.b32 {offset}, {x}, 2;")
                        self.put(f"mov.u32 {bases}, {name};")
                        self.put(f"add.u32 {a}, {bases}, {offset};")
                        self.put(f"ld.shared.u32 {v}, [{a}];")
                    case "branch":
                        skip, c = self.label(), self.new("p")
                        self.put(f"setp.{self.pick('lt', 'gt', 'eq', 'ne')}.s32 {c}, {counter}, {self.pick(str(r.randrange(60)), self.rng.choice(self.words[:4]))};")
                        self.put(f"@{c} bra {skip};")
                        self.put(f"shl.b32 {offset}, {self.rng.choice(self.words[:4])}, 3;")
                        self.put(f"mov.u32 {bases}, {name};")
                        self.put(f"add.u32 {a}, {bases}, {offset};")
                        self.put(f"ld.shared.v2.u32 {{{v}, {x}}}, [{a}];")
                        self.lines.append(f"{skip}:")
                    case "mutable":
                        m = r.choice(self.mutable)
                        self.put(f"{self.pick('add.s32', 'xor.b32', 'mul.lo.s32')} {m}, {m}, {self.pick(4, 3, 12, 128)};")
                        self.put(f"and.b32 {x}, {m}, 511;")
                        self.put(f"shl.b32 {offset}, {x}, 2;")
                        self.put(f"mov.u32 {bases}, {name};")
                        self.put(f"add.u32 {a}, {bases}, {offset};")
                        self.put(f"ld.shared.u32 {v}, [{a}];")
                    case "local":
                        self.locals = 64
                        b = self.new("rd")
                        self.put(f"mov.u64 {b}, {self.prefix}local_array;")
                        self.put(f"@{p} st.local.u32 [{b}+8], {counter};" if self.chance(0.2) else f"st.local.u32 [{b}+8], {counter};")
                        self.local_slots.append(8) if self.chance(0) else None
        self.nested(body)
        self.put(f"add.u32 {pointer}, {pointer}, {4 * self.pick(1, 2, 8, 32, 33)};")
        self.put(f"add.u32 {stage}, {stage}, 1;")
        self.put(f"setp.eq.u32 {q}, {stage}, {stages};")
        self.put(f"@{q} mov.u32 {stage}, 0;" if self.chance(0.5) else f"selp.b32 {stage}, 0, {stage}, {q};")
        self.put(f"add.s32 {counter}, {counter}, {self.pick(1, 1, 2, 3) if style else self.pick(7, 16, 32)};")
        self.put(f"bra {head};")
        self.lines.append(f"{out}:")
        self.divergent -= 1
        self.words += [stage, counter]

    def leave(self) -> None:
        self.features.add("early end")
        p = self.predicate()
        if self.prefix:
            self.put(f"@{p} bra {self.end};")
        else:
            self.put(f"@{p} {self.pick('ret', 'exit', f'bra {self.end}')};")

    def across(self) -> None:
        self.features.add("across")
        r = self.rng
        d = self.new("r")
        quiet = not self.divergent
        full = "0xffffffff"
        if not quiet:
            self.put(f"activemask.b32 {d};")
            m = d
            d = self.new("r")
        else:
            m = full
        match r.randrange(8):
            case 0 | 1 | 2:
                if not quiet:           # a lane that is not there would be read: keep to votes
                    self.words.append(m)
                    return
                mode = self.pick("idx", "up", "down", "bfly")
                p = self.new("p")
                c = {"up": self.pick("0", "0x1800", "0x1000"), "idx": self.pick("0x1f", "0x181f", "0x100f")}.get(mode, self.pick("0x1f", "0x181f", "0x1c1f"))
                self.put(f"shfl.sync.{mode}.b32 {d}{self.pick('', '|' + p)}, {self.word()}, {self.small(32)}, {c}, {full};")
            case 3 | 4:
                self.put(f"vote.sync.ballot.b32 {d}, {self.predicate()}, {m};")
            case 5:
                p = self.new("p")
                q = self.predicate()
                self.put(f"vote.sync.{self.pick('all', 'any', 'uni')}.pred {p}, {q}, {m};")
                self.preds.append(p)
                return
            case 6:
                self.put(f"redux.sync.{self.pick('add.u32', 'add.s32', 'min.s32', 'max.u32', 'and.b32', 'or.b32', 'xor.b32', 'max.s32')} {d}, {self.word()}, {m};")
            case 7:
                e = self.new("r")
                self.put(f"and.b32 {e}, {self.word()}, {self.pick(1, 3, 7)};")
                if self.chance(0.7):
                    self.put(f"match.any.sync.b32 {d}, {e}, {m};")
                else:
                    p = self.new("p")
                    self.put(f"match.all.sync.b32 {d}|{p}, {e}, {m};")
                    self.preds.append(p)
        self.words.append(d)

    def local(self) -> None:
        """Local memory: mostly at constant places, sometimes indexed."""
        self.features.add("local")
        self.locals = 64
        base = self.new("rd")
        place = 4 * self.rng.randrange(16)
        self.put(f"mov.u64 {base}, {self.prefix}local_array;")
        guard = f"@{self.pick('', '!')}{self.predicate()} " if self.chance(0.25) else ""
        if self.local_slots and self.chance(0.55):
            d = self.new("r")
            place = self.rng.choice(self.local_slots)
            if self.chance(0.8):
                t = self.pick("u32", "u32", "s32", "u16", "s8")
                self.put(f"ld.local.{t} {d}, [{base}+{place}];")
            else:
                at, wide, sum_ = self.new("r"), self.new("rd"), self.new("rd")
                self.put(f"and.b32 {at}, {self.word()}, 15;")
                self.put(f"mul.wide.u32 {wide}, {at}, 4;")
                self.put(f"add.u64 {sum_}, {base}, {wide};")
                self.put(f"ld.local.u32 {d}, [{sum_}];")
                self.data.append(d)
                return
            self.words.append(d)
            return
        style = self.rng.randrange(8)
        if style <= 4:
            self.put(f"{guard}st.local.u32 [{base}+{place}], {self.word()};")
            if not guard:
                self.local_slots.append(place)
        elif style == 5:
            h = self.new("h")
            self.put(f"cvt.u16.u32 {h}, {self.word()};")
            self.put(f"{guard}st.local.u16 [{base}+{place + self.pick(0, 2)}], {h};")
        elif style == 6 and self.wides and self.chance(0.4):
            place = 8 * self.rng.randrange(8)
            self.put(f"{guard}st.local.u64 [{base}+{place}], {self.rng.choice(self.wides)};")
            if not guard:
                self.local_slots += [place, place + 4]
        elif style == 6:
            place = 16 * self.rng.randrange(4)
            self.put(f"{guard}st.local.v4.u32 [{base}+{place}], {{{', '.join(self.word() for _ in range(4))}}};")
            if not guard:
                self.local_slots += [place, place + 4, place + 8, place + 12]
        else:
            at, wide, sum_ = self.new("r"), self.new("rd"), self.new("rd")
            self.put(f"and.b32 {at}, {self.word()}, 15;")
            self.put(f"mul.wide.u32 {wide}, {at}, 4;")
            self.put(f"add.u64 {sum_}, {base}, {wide};")
            if self.chance(0.5):
                generic = self.new("rd")
                self.put(f"cvta.local.u64 {generic}, {sum_};")
                self.put(f"{guard}st.u32 [{generic}], {self.word()};")
            else:
                self.put(f"{guard}st.local.u32 [{sum_}], {self.word()};")

    def call(self) -> None:
        self.features.add("call")
        name = self.rng.choice(self.functions)
        d = self.new("r")
        guard = ""
        self.put("{")
        self.put(".param .b32 pa; .param .b32 pb; .param .b32 pr;")
        self.put(f"st.param.b32 [pa], {self.word()};")
        self.put(f"st.param.b32 [pb], {self.word()};")
        self.put(f"{guard}call (pr), {name}, (pa, pb);")
        self.put(f"ld.param.b32 {d}, [pr];")
        self.put("}")
        self.words.append(d)

    def declarations(self) -> list[str]:
        out = [f"\t.reg .pred %p<{self.counts['p'] + 1}>;", f"\t.reg .b32 %r<{self.counts['r'] + 1}>;",
               f"\t.reg .b64 %rd<{self.counts['rd'] + 1}>;", f"\t.reg .b16 %h<{self.counts['h'] + 1}>;", f"\t.reg .f32 %f<{self.counts['f'] + 1}>;",
               "\t.reg .b64 %rdin;"]
        if self.locals:
            out.append(f"\t.local .align 16 .b8 {self.prefix}local_array[64];")
        return out


def _device_function(rng: random.Random, name: str, shared, features) -> str:
    w = Writer(rng, features, prefix=name)
    w.shared = shared
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
    w.words, w.mutable = [a, b, t], [m]
    w.divergent = 1
    w.statements(7)
    w.lines.append(f"{w.end}:")
    w.put(f"st.param.b32 [{name}_r], {m};")
    w.put("ret;")
    return "\n".join([f".func (.param .b32 {name}_r) {name}(.param .b32 {name}_a, .param .b32 {name}_b)", "{"] + w.declarations() + w.lines + ["}"])


def kernel(seed: int, straight: bool = False, lonely: bool = False, small: bool = False) -> Kernel:
    """straight: no control flow; lonely: nothing that looks at other lanes, no calls (what plain C can say);
    small: few blocks and statements, for tests that have to be quick."""
    rng = random.Random(seed)
    features: set = set()
    block, grid = rng.choice(BLOCKS), rng.choice(GRIDS)
    if small:
        block, grid = rng.choice([b for b in BLOCKS if b[0] * b[1] * b[2] <= 66]), rng.choice([(1, 1, 1), (2, 1, 1), (1, 2, 1)])
    shared = [("s_a", 4096), ("s_b", rng.choice([512, 2048, 1 << 14]))]
    dynamic = rng.choice([0, 0, 2048])
    module = [".version 8.5", ".target sm_90", ".address_size 64", ""]
    if dynamic:
        shared.append(("s_dyn", dynamic))
        module.append(".extern .shared .align 16 .b8 s_dyn[];")
    if rng.random() < 0.3:
        module.append(".shared .align 16 .b8 s_mod[1024];")
        shared.append(("s_mod", 1024))
    functions = []
    if not lonely and not straight and rng.random() < 0.3:
        for k in range(rng.randrange(1, 3)):
            outer = [s for s in shared if s[0] in ("s_dyn", "s_mod")]
            if not outer:
                module.append(".shared .align 16 .b8 s_mod[1024];")
                shared.append(("s_mod", 1024))
                outer = [("s_mod", 1024)]
            module.append(_device_function(rng, f"f{k}", outer, features))
            functions.append(f"f{k}")
    w = Writer(rng, features)
    w.shared, w.functions = shared, functions
    w.end = "$L_end"
    w.brief = small
    w.budget = rng.choice([8, 12]) if small else rng.choice([10, 20, 30, 40])
    for name in ("tid.x", "tid.y", "ctaid.x", "laneid", "tid.z", "ctaid.y", "ntid.x", "nctaid.x", "warpid"):
        if rng.random() < {"tid.x": 1.0, "tid.y": 0.7, "ctaid.x": 0.5, "laneid": 0.3}.get(name, 0.2):
            d = w.new("r")
            w.put(f"mov.u32 {d}, %{name};")
            w.words.append(d)
    n, m, x = w.new("r"), w.new("r"), w.new("rd")
    w.put(f"ld.param.u32 {n}, [k_param_0];")
    w.put(f"ld.param.s32 {m}, [k_param_1];")
    w.put(f"ld.param.u64 {x}, [k_param_2];")
    w.put("ld.param.u64 %rdin, [k_param_3];")
    w.words += [n, m]
    w.wides += [x]
    linear = w.new("r")
    if rng.random() < 0.6:
        a, b = w.new("r"), w.new("r")
        w.put(f"mov.u32 {a}, %ntid.x;")
        w.put(f"mov.u32 {b}, %tid.y;")
        w.put(f"mad.lo.s32 {linear}, {a}, {b}, %r1;")
        w.words += [linear]
    for _ in range(rng.randrange(1, 4)):
        d = w.new("r")
        w.put(f"mov.b32 {d}, {w.word()};")
        w.mutable.append(d)
    w.words += w.mutable
    if straight:
        for _ in range(rng.randrange(3, 9)):
            for _ in range(rng.randrange(1, 6)):
                w.arithmetic()
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
    module += [f".visible .entry k(.param .u32 k_param_0, .param .s32 k_param_1, .param .u64 k_param_2, .param .u64 .ptr .global .align 16 k_param_3)"]
    if rng.random() < 0.5:
        module.append(f"\t.reqntid {block[0]}, {block[1]}, {block[2]}")
    module += ["{"] + w.declarations()
    for name, size in shared:
        if name in ("s_a", "s_b"):
            module.append(f"\t.shared .align {16} .b8 {name}[{size}];")
    module += w.lines + ["}"]
    params = [rng.choice([rng.randrange(64), rng.randrange(1024), 32, 64, rng.randrange(1 << 32)]),
              rng.choice([rng.randrange(-40, 64), 17, 16, rng.randrange(-(1 << 31), 1 << 31)]),
              rng.choice([rng.randrange(1 << 12), rng.randrange(1 << 40)]), None]
    return Kernel(seed, "\n".join(module) + "\n", "k", grid, block, params, dynamic, features)
