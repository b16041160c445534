"""Random accesses: shared sites, local arrays, lookup tables, values that travel between lanes."""

from __future__ import annotations

from .values import Values


class Accesses(Values):
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
                self.put(
                    f"mad.lo.s32 {d}, {self.rng.choice(self.words[:6])}, {width * r.randrange(1, 40)},"
                    f" {width * r.randrange(8)};"
                )
            case 4:  # row * pitch + column, swizzled
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
        kind = r.choices(["ld", "st", "atom", "ldmatrix", "stmatrix", "cp"], [20, 16, 4, 2, 1, 2])[0]
        bits, vector = r.choice(
            [(8, 1), (16, 1), (32, 1), (32, 1), (32, 1), (64, 1), (32, 2), (32, 4), (64, 2), (8, 4), (16, 2), (16, 4)]
        )
        if kind == "atom":
            bits, vector = 32, 1
        if kind in ("ldmatrix", "stmatrix", "cp"):
            bits, vector = 32, 4
            if self.divergent and kind != "cp":
                kind = "ld"
        copied = self.pick(4, 8, 16, 16) if kind == "cp" else 0
        if copied:
            bits, vector = 32, copied // 4
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
        guard = f"@{self.pick('', '!')}{self.predicate()} " if self.chance(0.2) and "matrix" not in kind else ""
        kinds = {8: ["u8", "s8"], 16: ["u16", "s16"], 32: ["u32", "s32", "b32", "f32"], 64: ["u64", "b64"]}[bits]
        t = r.choice(kinds)
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
            self.put(
                f"ldmatrix.sync.aligned.m8n8.x{n}{self.pick('', '.trans')}.shared.b16 {{{', '.join(regs)}}}, {where};"
            )
            self.data += regs
        elif kind == "stmatrix":
            n = self.pick(1, 2, 4)
            self.put(
                f"stmatrix.sync.aligned.m8n8.x{n}{self.pick('', '.trans')}.shared.b16 {where},"
                f" {{{', '.join(self.word() for _ in range(n))}}};"
            )
        else:
            wide, source = self.new("rd"), self.new("rd")
            self.put(f"mul.wide.u32 {wide}, {self.rng.choice(self.words[:4])}, {copied};")
            self.put(f"add.u64 {source}, %rdin, {wide};")
            self.put(
                f"{guard}cp.async.{self.pick('ca', 'cg') if copied == 16 else 'ca'}.shared.global {where}, [{source}],"
                f" {copied};"
            )

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
                if not quiet or "some ended" in self.features:  # would read an exited lane: votes only
                    self.words.append(m)
                    return
                mode = self.pick("idx", "up", "down", "bfly")
                p = self.new("p")
                c = {"up": self.pick("0", "0x1800", "0x1000"), "idx": self.pick("0x1f", "0x181f", "0x100f")}.get(
                    mode, self.pick("0x1f", "0x181f", "0x1c1f")
                )
                self.put(
                    f"shfl.sync.{mode}.b32 {d}{self.pick('', '|' + p)}, {self.word()}, {self.small(32)}, {c}, {full};"
                )
            case 3 | 4:
                self.put(f"vote.sync.ballot.b32 {d}, {self.predicate()}, {m};")
            case 5:
                p = self.new("p")
                q = self.predicate()
                self.put(f"vote.sync.{self.pick('all', 'any', 'uni')}.pred {p}, {q}, {m};")
                self.preds.append(p)
                return
            case 6:
                self.put(
                    f"redux.sync.{self.pick('add.u32', 'add.s32', 'min.s32', 'max.u32', 'and.b32', 'or.b32', 'xor.b32', 'max.s32')}"
                    f" {d}, {self.word()}, {m};"
                )
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
        """Local memory: mostly at constant addresses, sometimes indexed."""
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
