"""Random expressions: registers computed from other registers."""

from __future__ import annotations

import random
import struct


class Values:
    """Emits PTX lines. Pools hold registers that are defined here; leaving a branch drops those that it defined."""

    def __init__(self, rng: random.Random, features: set, prefix: str = ""):
        self.rng, self.features = rng, features
        self.lines: list[str] = []
        self.counts = {"r": 0, "rd": 0, "p": 0, "h": 0, "f": 0, "d": 0}
        self.words: list[str] = []  # 32-bit values that depend on no data
        self.wides: list[str] = []
        self.preds: list[str] = []
        self.data: list[str] = []  # loaded values
        self.mutable: list[str] = []
        self.by_lane: list[str] = []
        self.alike: list[str] = []  # uniform, and mostly unknown unless the launch is specified
        self.labels = 0
        self.depth = 0
        self.loops: list[tuple[str, str]] = []  # (continue label, break label)
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

    def constant(self) -> str:
        r = self.rng
        return str(
            self.pick(
                r.randrange(8),
                r.randrange(32),
                r.randrange(256),
                1 << r.randrange(8),
                (1 << r.randrange(1, 12)) - 1,
                r.randrange(1 << 16),
                -r.randrange(1, 40),
            )
            if r.random() < 0.95
            else r.randrange(1 << 32)
        )

    def word(self) -> str:
        """A 32-bit register, preferably recent or different in each lane."""
        if self.by_lane and self.chance(0.25):
            return self.rng.choice(self.by_lane)
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
        """One 32-bit operation on available values."""
        d, w, e, r = self.new("r"), self.word, self.either, self.rng
        t = self.pick("u32", "s32")
        kinds = [
            "add",
            "add",
            "sub",
            "mul",
            "mad",
            "and",
            "or",
            "xor",
            "shl",
            "shr",
            "minmax",
            "div",
            "bfe",
            "bfi",
            "lop3",
            "prmt",
            "shf",
            "selp",
            "hi",
            "neg",
            "not",
            "bits",
            "brev",
            "bmsk",
            "wide",
            "half",
            "sad",
            "mul24",
            "cnot",
            "fns",
            "float",
            "predicated",
            "carry",
            "slct",
            "dp",
        ]
        weights = [
            9,
            9,
            5,
            5,
            7,
            6,
            4,
            5,
            6,
            5,
            2,
            4,
            3,
            3,
            2,
            2,
            2,
            3,
            1,
            1,
            1,
            2,
            1,
            1,
            4,
            2,
            1,
            1,
            1,
            1,
            1,
            4,
            1,
            1,
            1,
        ]
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
                    self.put(
                        f"{self.pick('div', 'rem')}.{t} {d}, {w()}, {self.pick(2, 3, 4, 5, 7, 8, 16, 24, 32, 33, -4)};"
                    )
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
                self.put(
                    f"shf.{self.pick('l', 'r')}.{self.pick('wrap', 'clamp')}.b32 {d}, {w()}, {w()}, {self.small(36)};"
                )
            case "selp":
                self.put(f"selp.b32 {d}, {w()}, {e()}, {self.predicate()};")
            case "slct":
                self.put(f"slct.u32.s32 {d}, {w()}, {w()}, {w()};")
            case "hi":
                self.put(
                    f"{self.pick('mul.hi', 'mul.hi', 'mad.hi')}.{t} {d}, {w()}, {w()}".replace(
                        "mad.hi." + t + f" {d}, ", f"mad.hi.{t} {d}, {w()}, "
                    )
                    + ";"
                )
            case "neg":
                self.put(f"{self.pick('neg', 'abs')}.s32 {d}, {w()};")
            case "not":
                self.put(f"not.b32 {d}, {w()};")
            case "cnot":
                self.put(f"cnot.b32 {d}, {w()};")
            case "bits":
                if self.wides and self.chance(0.3):
                    op = self.pick("popc.b64", "clz.b64", "bfind.u64", "bfind.s64", "bfind.shiftamt.u64")
                    self.put(f"{op} {d}, {self.rng.choice(self.wides)};")
                else:
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
                self.put(
                    f"fns.b32 {d}, {w()}, {self.pick(0, 3, 31, r.randrange(32))}, {self.pick(1, 2, 3, -1, -2, 0)};"
                )
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
                self.put(
                    self.pick(
                        f"add.{k} {g}, {h}, {r.randrange(100)};",
                        f"mul.lo.{k} {g}, {h}, {r.randrange(100)};",
                        f"shr.{k} {g}, {h}, {r.randrange(18)};",
                        f"and.b16 {g}, {h}, {r.randrange(1 << 15)};",
                        f"cvt.s16.s8 {g}, {h};",
                        f"div.{k} {g}, {h}, 3;",
                        f"mov.u16 {g}, {h};",
                    )
                )
                self.put(
                    self.pick(
                        f"cvt.u32.u16 {d}, {g};",
                        f"cvt.s32.s16 {d}, {g};",
                        f"mul.wide.{k} {d}, {g}, {h};",
                        f"mov.b32 {d}, {{{g}, {h}}};",
                        f"cvt.s32.s8 {d}, {g};",
                        f"cvt.u32.u8 {d}, {g};",
                    )
                )
            case "float":
                self.through_float(d)
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
        """One 64-bit operation."""
        d, r = self.new("rd"), self.rng
        w = lambda: self.rng.choice(self.wides)
        t = self.pick("u64", "s64")
        match r.randrange(20 if self.wides else 3):
            case 0:
                self.put(f"mul.wide.{self.pick('u32', 's32')} {d}, {self.word()}, {self.either()};")
            case 1:
                self.put(f"cvt.{self.pick('u64.u32', 's64.s32', 'u64.u16', 's64.s8')} {d}, {self.word()};")
            case 2:
                self.put(f"mov.b64 {d}, {{{self.word()}, {self.word()}}};")
            case 3 | 4:
                self.put(f"{self.pick('add', 'sub')}.{t} {d}, {w()}, {self.pick(w(), r.randrange(1 << 20))};")
            case 5:
                self.put(f"shl.b64 {d}, {w()}, {self.small(68)};")
            case 6:
                self.put(f"shr.{t} {d}, {w()}, {self.small(68)};")
            case 7:
                self.put(f"{self.pick('and', 'or', 'xor')}.b64 {d}, {w()}, {self.pick(w(), r.randrange(1 << 36))};")
            case 8 | 9:
                self.put(
                    f"{self.pick('mul.lo', 'mul.hi', 'min', 'max', 'rem', 'div')}.{t} {d}, {w()}, "
                    f"{self.pick(3, 7, 1 << 33, r.randrange(1, 1 << 30), -5)};"
                )
            case 10:
                self.put(f"mad.wide.{self.pick('u32', 's32')} {d}, {self.word()}, {self.either()}, {w()};")
            case 11:
                self.put(f"mad.{self.pick('lo', 'hi')}.{t} {d}, {w()}, {w()}, {w()};")
            case 12:
                self.put(f"bfe.{t} {d}, {w()}, {self.small(70)}, {self.small(70)};")
            case 13:
                self.put(f"bfi.b64 {d}, {w()}, {w()}, {self.small(70)}, {self.small(40)};")
            case 14:
                self.put(f"{self.pick('brev.b64', 'not.b64', 'neg.s64', 'abs.s64', 'cnot.b64')} {d}, {w()};")
            case 15:
                self.put(f"selp.b64 {d}, {w()}, {w()}, {self.predicate()};")
            case 16:
                self.put(f"sad.{t} {d}, {w()}, {w()}, {w()};")
            case 17:
                q = self.new("rd")
                self.put(f"or.b64 {q}, {w()}, 1;")
                self.put(f"{self.pick('rem', 'div')}.{t} {d}, {w()}, {q};")
            case 18:
                lo, other = self.new("rd"), w()
                a = self.pick("add", "sub")
                self.put(f"{a}.cc.u64 {lo}, {other}, {w()};")
                self.put(f"{a}c.u64 {d}, {w()}, {w()};")
            case 19:
                f = self.float_value(self.pick("f32", "f64"))
                self.put(f"cvt.{self.pick('rzi', 'rni', 'rmi', 'rpi')}.{t}.{'f64' if f[1] == 'd' else 'f32'} {d}, {f};")
        self.wides.append(d)
        return d

    # --- floats ---

    def through_float(self, d: str) -> None:
        """A 32-bit register computed by way of floats."""
        t = self.pick("f32", "f32", "f64")
        x = self.float_value(t)
        to = self.pick("u32", "s32")
        style = self.rng.randrange(8)
        if style <= 4:
            ftz = ".ftz" if t == "f32" and self.chance(0.2) else ""
            self.put(f"cvt.{self.pick('rzi', 'rni', 'rmi', 'rpi')}{ftz}.{to}.{t} {d}, {x};")
        elif style == 5:
            p, y = self.new("p"), self.float_value(t)
            self.put(f"setp.{self.pick('lt', 'le', 'gt', 'ge', 'eq', 'ne', 'ltu', 'geu', 'num')}.{t} {p}, {x}, {y};")
            self.put(f"selp.b32 {d}, {self.word()}, {self.either()}, {p};")
            self.preds.append(p)
        elif style == 6 and t == "f32":
            self.put(f"mov.b32 {d}, {x};")
        elif style == 6:
            self.put(f"mov.b64 {{{d}, {self.new('r')}}}, {x};")
        elif t == "f32":
            y = self.float_value("f32")
            self.put(f"set.{self.pick('lt', 'gt', 'eq')}.u32.f32 {d}, {x}, {y};")
        else:
            y = self.new("d")
            self.put(f"cvt.{self.pick('rzi', 'rni', 'rmi', 'rpi')}.f64.f64 {y}, {x};")
            self.put(f"cvt.rzi.{to}.f64 {d}, {y};")

    def float_value(self, t: str) -> str:
        """A float register from an integer one, by a few operations. No infinities, and NaN only from roots."""
        r = self.rng
        new = (lambda: self.new("f")) if t == "f32" else (lambda: self.new("d"))
        x = new()
        rounding = self.pick("rn", "rn", "rz", "rm", "rp")
        source = self.pick("u32", "s32", "u32", "s32", "u64", "s64", "other", "u16")
        if source[1:] == "64" and self.wides:
            self.put(f"cvt.{rounding}.{t}.{source} {x}, {r.choice(self.wides)};")
        elif source == "other":
            m, other = self.new("r"), self.new("d" if t == "f32" else "f")
            self.put(f"cvt.{rounding}.{'f64' if t == 'f32' else 'f32'}.s32 {other}, {self.word()};")
            self.put(f"cvt.{rounding}.f32.f64 {x}, {other};" if t == "f32" else f"cvt.f64.f32 {x}, {other};")
        elif source == "u16":
            m = self.new("r")
            self.put(f"and.b32 {m}, {self.word()}, 0x{self.pick('fff', 'ffff', '3ff')};")
            self.put(f"cvt.{rounding}.{t}.u32 {x}, {m};")
        else:
            self.put(f"cvt.{rounding}.{t}.{source[0]}32 {x}, {self.word()};")
        for _ in range(r.randrange(4)):
            y, rounding = new(), self.pick("rn", "rn", "rn", "rz", "rm", "rp")
            z = self.pick(x, self.float_constant(t))
            c = self.pick(x, self.float_constant(t))
            style = r.randrange(10)
            ftz = ".ftz" if t == "f32" and self.chance(0.15) else ""
            if style <= 1:
                self.put(f"{self.pick('add', 'sub')}.{rounding}{ftz}.{t} {y}, {x}, {z};")
            elif style <= 3:
                self.put(f"mul.{rounding}{ftz}.{t} {y}, {x}, {self.float_constant(t)};")
            elif style <= 5:
                self.put(f"fma.{rounding}{ftz}.{t} {y}, {x}, {self.float_constant(t)}, {c};")
            elif style == 6:
                self.put(f"div.{rounding}{ftz}.{t} {y}, {x}, {self.float_constant(t)};")
            elif style == 7:
                self.put(f"{self.pick('neg', 'abs')}.{t} {y}, {x};")
            elif style == 8:
                self.put(f"{self.pick('min', 'max')}.{t} {y}, {x}, {z};")
            else:
                root = new()
                self.put(f"abs.{t} {root}, {x};")
                self.put(f"sqrt.{rounding}{ftz}.{t} {y}, {root};")
            x = y
        if t == "f32" and self.chance(0.15):
            h, y = self.new("h"), self.new("f")
            self.put(f"cvt.rn.f16.f32 {h}, {x};")
            self.put(f"cvt.f32.f16 {y}, {h};")
            x = y
        return x

    def float_constant(self, t: str) -> str:
        """A nonzero constant, in some cases one that makes sums and products inexact in their last bits."""
        x = self.pick(
            0.25, 0.5, 3.0, 0.1, -1.5, 1 / 3, 1.0, 2.0**-40, 1 + 2.0**-23, 7.0, 1e-3, 97.0, 172961.0, -(2.0**-60)
        )
        return f"0f{struct.pack('>f', x).hex().upper()}" if t == "f32" else f"0d{struct.pack('>d', x).hex().upper()}"

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
                self.put(
                    f"setp.{relation}.{self.pick('and', 'or', 'xor')}.{t} {p}, {self.word()}, {self.either()},"
                    f" {self.pick('', '!')}{self.rng.choice(self.preds)};"
                )
            case 2:
                q = self.new("p")
                self.put(f"setp.{relation}.{t} {p}|{q}, {self.word()}, {self.either()};")
                self.preds.append(q)
            case 3 if len(self.preds) > 1:
                self.put(
                    f"{self.pick('and', 'or', 'xor')}.pred {p}, {self.rng.choice(self.preds)},"
                    f" {self.rng.choice(self.preds)};"
                )
            case 4 if self.preds:
                self.put(f"not.pred {p}, {self.rng.choice(self.preds)};")
            case 5 if self.wides:
                self.put(
                    f"setp.{relation}.{self.pick('u64', 's64')} {p}, {self.rng.choice(self.wides)},"
                    f" {self.rng.randrange(1 << 12)};"
                )
            case _:
                self.put(f"setp.{relation}.{t} {p}, {self.word()}, {self.either()};")
        self.preds.append(p)
        return p
