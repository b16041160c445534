"""Random statements: branches, loops, switches, early exits, calls."""

from __future__ import annotations

from .accesses import Accesses


class Statements(Accesses):
    def assign(self) -> None:
        d = self.rng.choice(self.mutable)
        guard = f"@{self.pick('', '!')}{self.predicate()} " if self.chance(0.4) else ""
        self.put(
            f"{guard}{self.pick('add.s32', 'xor.b32', 'sub.s32', 'and.b32', 'mul.lo.s32')} {d},"
            f" {self.pick(d, self.word())}, {self.either()};"
        )

    def nested(self, work) -> None:
        """Emits `work` in a branch; what it defines is not visible afterwards."""
        saved = (
            list(self.words),
            list(self.wides),
            list(self.preds),
            list(self.data),
            list(self.local_slots),
            list(self.alike),
        )
        self.depth += 1
        work()
        self.depth -= 1
        self.words, self.wides, self.preds, self.data, self.local_slots, self.alike = saved

    def statements(self, most: int) -> None:
        for _ in range(self.rng.randrange(1, most + 1)):
            if self.budget <= 0:
                return
            self.budget -= 1
            self.statement()

    def statement(self) -> None:
        deep = self.depth >= 3
        kinds = [
            "arithmetic",
            "site",
            "assign",
            "branch",
            "loop",
            "switch",
            "leave",
            "jump",
            "across",
            "local",
            "call",
            "buffer",
            "sync",
            "wide",
            "long",
            "idiom",
        ]
        weights = [
            8,
            9,
            4,
            0 if deep else 4,
            0 if deep else 3,
            0 if deep else 1,
            1.0,
            2 if self.loops else 0,
            2,
            2,
            1 if self.functions else 0,
            1,
            0.7,
            1,
            0 if self.loops or self.depth > 1 or self.prefix else 1,
            0 if deep else 3.5,
        ]
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
            case "idiom":
                self.idiom()
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
        for _at, name in enumerate(labels):
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
        elif self.chance(0.25):  # counts down by halves, like a reduction
            self.put(f"mov.u32 {counter}, {self.pick(4, 8, 16)};")
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
        self.put(f"@{p} bra {out};")

        def body():
            self.words += [counter, counter]
            self.alike.append(counter)
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
                        self.put(
                            f"setp.{self.pick('lt', 'gt', 'eq', 'ne')}.s32 {c}, {counter},"
                            f" {self.pick(str(r.randrange(60)), self.rng.choice(self.words[:4]))};"
                        )
                        self.put(f"@{c} bra {skip};")
                        self.put(f"shl.b32 {offset}, {self.rng.choice(self.words[:4])}, 3;")
                        self.put(f"mov.u32 {bases}, {name};")
                        self.put(f"add.u32 {a}, {bases}, {offset};")
                        self.put(f"ld.shared.v2.u32 {{{v}, {x}}}, [{a}];")
                        self.lines.append(f"{skip}:")
                    case "mutable":
                        m = r.choice(self.mutable)
                        self.put(
                            f"{self.pick('add.s32', 'xor.b32', 'mul.lo.s32')} {m}, {m}, {self.pick(4, 3, 12, 128)};"
                        )
                        self.put(f"and.b32 {x}, {m}, 511;")
                        self.put(f"shl.b32 {offset}, {x}, 2;")
                        self.put(f"mov.u32 {bases}, {name};")
                        self.put(f"add.u32 {a}, {bases}, {offset};")
                        self.put(f"ld.shared.u32 {v}, [{a}];")
                    case "local":
                        self.locals = 64
                        b = self.new("rd")
                        self.put(f"mov.u64 {b}, {self.prefix}local_array;")
                        self.put(
                            f"@{p} st.local.u32 [{b}+8], {counter};"
                            if self.chance(0.2)
                            else f"st.local.u32 [{b}+8], {counter};"
                        )
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

    def call(self) -> None:
        self.features.add("call")
        name, d, raw = self.rng.choice(self.functions), self.new("r"), self.new("r")
        p = self.predicate() if self.chance(0.25) else ""
        self.put("{")
        self.put(".param .b32 pa; .param .b32 pb; .param .b32 pr;")
        self.put(f"st.param.b32 [pa], {self.word()};")
        self.put(f"st.param.b32 [pb], {self.word()};")
        self.put(f"{f'@{p} ' if p else ''}call (pr), {name}, (pa, pb);")
        self.put(f"ld.param.b32 {raw}, [pr];")
        self.put("}")
        self.put(f"selp.b32 {d}, {raw}, 7, {p};" if p else f"mov.b32 {d}, {raw};")
        self.words.append(d)

    def declarations(self) -> list[str]:
        out = [
            f"\t.reg .pred %p<{self.counts['p'] + 1}>;",
            f"\t.reg .b32 %r<{self.counts['r'] + 1}>;",
            f"\t.reg .b64 %rd<{self.counts['rd'] + 1}>;",
            f"\t.reg .b16 %h<{self.counts['h'] + 1}>;",
            f"\t.reg .f32 %f<{self.counts['f'] + 1}>;",
            f"\t.reg .f64 %d<{self.counts['d'] + 1}>;",
            "\t.reg .b64 %rdin;",
        ]
        if self.locals:
            out.append(f"\t.local .align 16 .b8 {self.prefix}local_array[64];")
        return out
