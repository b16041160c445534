"""Random idioms: shapes of real kernels that plain statements rarely form.

Short-circuit conditions, lanes that a known condition diverges and an unknown one advances, loops that test at their
end or are entered in the middle, roles by warp, tables in constant and in shared memory, ranks among active lanes,
leaders, pointers that may be shared, trip counts and indices that were loaded.
"""

from __future__ import annotations

from .statements import Statements

TABLE = 32  # entries of a constant table
SLOTS = 256  # entries of the shared table: more than a block has threads


class Idioms(Statements):
    """`uses_data`: values loaded from global memory may decide addresses and branches."""

    uses_data = False
    lonely = False
    thread = ""  # a register with the thread's number in its block; "" in functions
    has_slots = False

    def idiom(self) -> None:
        kinds = [self.shortcut, self.do_while, self.constant_table, self.two_entries, self.masked_store]
        kinds += [self.diverged] * 3
        if not self.lonely:
            kinds += [self.rank, self.leader, self.either_space]
        if self.thread:
            kinds += [self.roles]
        if self.thread and not self.lonely:
            kinds += [self.shared_table] * 2
        if self.uses_data:
            kinds += [self.loaded] * 3
            if not self.prefix:
                kinds += [self.some_ended] * 2
        self.rng.choice(kinds)()

    def body(self, most: int = 3) -> None:
        self.divergent += 1
        self.nested(lambda: self.statements(most))
        self.divergent -= 1

    def shortcut(self) -> None:
        """if (a || b), if (a && b): two branches to one label."""
        self.features.add("shortcut")
        inside, end = self.label(), self.label()
        p = self.predicate()
        if self.chance(0.5):
            self.put(f"@{p} bra {inside};")
            self.nested(lambda: self.put(f"@{self.predicate()} bra {end};"))
        else:
            self.put(f"@{p} bra {end};")
            self.nested(lambda: [self.arithmetic() for _ in range(2)])
            q = self.new("p")
            self.put(f"setp.gt.u32 {q}, {self.word()}, {self.either()};")
            self.put(f"@{q} bra {end};")
        self.lines.append(f"{inside}:")
        self.body()
        self.lines.append(f"{end}:")

    # --- lanes that a known condition diverges, some of which a uniform one advances ---

    def diverged(self) -> None:
        """The cost of an access depends on its number of lanes, as all lanes use one bank."""
        self.features.add("parted")
        lane = self.new("r")
        self.put(f"mov.u32 {lane}, %laneid;")
        self.rng.choice([self._either_condition, self._some_leave, self._written_in_some, self._parted_loop])(lane)

    def _of_lanes(self, lane: str) -> str:
        p = self.new("p")
        self.put(f"setp.{self.pick('lt', 'ge', 'eq', 'ne')}.u32 {p}, {lane}, {self.rng.randrange(1, 31)};")
        return p

    def _of_all(self, number: str = "") -> str:
        """A uniform number, unless it is in a loop that lanes leave one by one."""
        p, small = self.new("p"), self.new("r")
        self.put(f"and.b32 {small}, {self.rng.choice(self.alike) if self.alike else self.word()}, {self.pick(3, 7)};")
        self.put(f"setp.{self.pick('lt', 'ge', 'gt', 'le', 'eq')}.u32 {p}, {small}, {number or self.rng.randrange(6)};")
        return p

    def _in_one_bank(self, lane: str, factor: str = "") -> None:
        self.sites += 1
        place, base, v = self.new("r"), self.new("r"), self.new("r")
        self.put(f"mul.lo.u32 {place}, {lane}, {self.pick(128, 128, 64, 132)};")
        if factor:
            self.put(f"mul.lo.u32 {place}, {place}, {factor};")
        self.put(f"mov.u32 {base}, {self.rng.choice(self.shared)[0]};")
        self.put(f"add.u32 {place}, {place}, {base};")
        self.put(f"ld.shared.u32 {v}, [{place}];" if self.chance(0.6) else f"st.shared.u32 [{place}], {lane};")

    def _either_condition(self, lane: str) -> None:
        inside, end = self.label(), self.label()
        p = self._of_lanes(lane)
        self.put(f"@{self.pick('', '!')}{p} bra {self.pick(inside, inside, end)};")
        q = self._of_all()
        self.put(f"@{self.pick('', '!')}{q} bra {end};")
        self.divergent += 1
        if self.chance(0.3):
            self.nested(lambda: self.statements(2))
        self.lines.append(f"{inside}:")
        self._in_one_bank(lane)
        self.divergent -= 1
        self.lines.append(f"{end}:")
        self._in_one_bank(lane)

    def _some_leave(self, lane: str) -> None:
        out = self.label()
        p = self._of_lanes(lane)
        self.put(f"@{self.pick('', '!')}{p} bra {out};")
        q = self._of_all()
        self.divergent += 1
        away = [f"bra {label}" for loop in self.loops for label in loop] or [
            f"bra {self.end}",
            *(["exit"] if not self.prefix else []),
        ]
        self.features.add("early end")
        self.put(f"@{q} {self.rng.choice(away)};")
        if self.chance(0.4):
            self._in_one_bank(lane)
        self.divergent -= 1
        self.lines.append(f"{out}:")
        self._in_one_bank(lane)

    def _written_in_some(self, lane: str) -> None:
        d, end = self.new("r"), self.label()
        self.put(f"mov.u32 {d}, {self.pick(lane, 0, 1)};")
        for p in self.rng.sample([self._of_lanes(lane), self._of_all()], 2):
            self.put(f"@{self.pick('', '!')}{p} bra {end};")
        self.put(
            f"{self.pick('add.u32', 'shl.b32', 'xor.b32')} {d}, {lane},"
            f" {self.pick(1, 2, 3, self.rng.choice(self.alike or [lane]))};"
        )
        self.lines.append(f"{end}:")
        self.put(f"and.b32 {d}, {d}, 31;")
        self._in_one_bank(d)
        self.words.append(d)

    def _parted_loop(self, lane: str) -> None:
        """Two paths through a trip, each with its own exit."""
        counter, head, latch, other, out = self.new("r"), self.label(), self.label(), self.label(), self.label()
        p = self._of_lanes(lane)
        self.put(f"mov.u32 {counter}, 0;")
        self.lines.append(f"{head}:")
        self.divergent += 1
        self.loops.append((latch, out))
        self._in_one_bank(lane, self.pick("", "", counter))
        self.nested(lambda: self.statements(2))
        self.put(f"@{p} bra {other};")
        if self.chance(0.8):
            self.put(f"@{self._of_all(counter)} bra {out};")
        self.put(f"bra {latch};")
        self.lines.append(f"{other}:")
        if self.chance(0.5):
            self.put(f"@{self._of_all(counter)} bra {out};")
        self.loops.pop()
        self.divergent -= 1
        self.lines.append(f"{latch}:")
        self.put(f"add.u32 {counter}, {counter}, 1;")
        last = self.new("p")
        self.put(f"setp.lt.u32 {last}, {counter}, {self.pick(2, 4, 6)};")
        self.put(f"@{last} bra {head};")
        self.lines.append(f"{out}:")
        self._in_one_bank(lane, self.pick("", counter))
        self.words.append(counter)

    def do_while(self) -> None:
        """Tests at the end; counts up or halves."""
        self.features.add("do while")
        counter, limit, p = self.new("r"), self.new("r"), self.new("p")
        head, latch, out = self.label(), self.label(), self.label()
        self.put(f"and.b32 {limit}, {self.word()}, {self.pick(1, 3, 3, 7 if not self.loops else 1)};")
        self.put(f"mov.u32 {counter}, 0;")
        self.lines.append(f"{head}:")
        self.loops.append((latch, out))
        self.divergent += 1

        def inside():
            self.words += [counter, counter]
            self.statements(3)

        self.nested(inside)
        self.divergent -= 1
        self.loops.pop()
        self.lines.append(f"{latch}:")
        self.put(f"add.u32 {counter}, {counter}, 1;")
        self.put(f"setp.{self.pick('le', 'lt')}.u32 {p}, {counter}, {limit};")
        self.put(f"@{p} bra {head};")
        self.lines.append(f"{out}:")

    def two_entries(self) -> None:
        """A loop that some lanes enter at its end: irreducible."""
        if self.loops or self.depth > 1:
            return
        self.features.add("two entries")
        counter, p, q = self.new("r"), self.new("p"), self.predicate()
        head, latch, out = self.label(), self.label(), self.label()
        self.put(f"and.b32 {counter}, {self.word()}, 3;")
        self.put(f"@{q} bra {latch};")
        self.lines.append(f"{head}:")
        self.loops.append((latch, out))
        self.body(2)
        self.loops.pop()
        self.lines.append(f"{latch}:")
        self.put(f"add.u32 {counter}, {counter}, 1;")
        self.put(f"setp.lt.u32 {p}, {counter}, {self.pick(3, 4, 5)};")
        self.put(f"@{p} bra {head};")
        self.lines.append(f"{out}:")

    def roles(self) -> None:
        """Warps perform different tasks: warp specialisation."""
        self.features.add("roles")
        warp, p = self.new("r"), self.new("p")
        other, end = self.label(), self.label()
        self.put(f"shr.u32 {warp}, {self.thread}, 5;")
        self.put(f"setp.{self.pick('eq', 'lt', 'ne')}.u32 {p}, {warp}, {self.pick(0, 1, 1, 2)};")
        self.put(f"@{p} bra {other};")
        self.body()
        self.put(f"bra.uni {end};")
        self.lines.append(f"{other}:")
        self.body()
        self.lines.append(f"{end}:")

    # --- tables ---

    def constant_table(self) -> None:
        """An index looked up in an initialised array."""
        self.features.add("constant table")
        r = self.rng
        style = r.randrange(3)
        entries = [
            [r.randrange(1024) for _ in range(TABLE)],
            r.sample(range(TABLE), TABLE),
            [k * 33 % 128 for k in range(TABLE)],
        ][style]
        name, space = f"{self.prefix}table{len(self.tables)}", self.pick("const", "const", "global")
        self.tables.append(f".{space} .align 4 .u32 {name}[{TABLE}] = {{{', '.join(map(str, entries))}}};")
        at, base, address, d = self.new("r"), self.new("rd"), self.new("rd"), self.new("r")
        self.put(f"and.b32 {at}, {self.word()}, {self.pick(TABLE - 1, TABLE - 1, 7)};")
        self.put(f"mov.u64 {base}, {name};")
        self.put(f"mad.wide.u32 {address}, {at}, 4, {base};")
        self.put(f"ld.{space}.u32 {d}, [{address}];")
        (self.words if space == "const" else self.data).append(d)

    def shared_table(self) -> None:
        """Every thread writes its slot; after the barrier it reads one, whose value is an index."""
        if self.divergent or self.loops or self.prefix or "early end" in self.features:
            return
        self.features.add("shared table")
        self.has_slots = True
        value, base, mine, theirs, at, d = (self.new("r") for _ in range(6))
        self.put(f"and.b32 {value}, {self.word()}, {self.pick(31, 255, 1023)};")
        self.put(f"mov.u32 {base}, s_slots;")
        self.put(f"mad.lo.u32 {mine}, {self.thread}, 4, {base};")
        self.put("bar.sync 0;")
        self.put(f"st.shared.u32 [{mine}], {value};")
        self.put("bar.sync 0;")
        if self.chance(0.4):
            self.put(f"ld.shared.u32 {d}, [{mine}];")
        else:
            self.put(
                f"xor.b32 {at}, {self.thread}, {self.pick(1, 2, 7)};"
                if self.chance(0.5)
                else f"and.b32 {at}, {self.word()}, {self.pick(7, 31)};"
            )
            self.put(f"mad.lo.u32 {theirs}, {at}, 4, {base};")
            self.put(f"ld.shared.u32 {d}, [{theirs}];")
        self.put(f"and.b32 {d}, {d}, 1023;")
        self.words += [d, d]

    def masked_store(self) -> None:
        """A stack array in which some lanes write cells that are read back at once."""
        self.features.add("local")
        self.locals = 64
        base, place = self.new("rd"), 4 * self.rng.randrange(16)
        d = self.new("r")
        self.put(f"mov.u64 {base}, {self.prefix}local_array;")
        self.put(f"st.local.u32 [{base}+{place}], {self.word()};")
        self.put(f"@{self.predicate()} st.local.u32 [{base}+{place}], {self.word()};")
        self.put(f"ld.local.u32 {d}, [{base}+{place}];")
        self.words.append(d)
        self.local_slots.append(place)

    # --- lanes ---

    def active(self) -> str:
        """A register with the mask of the active lanes."""
        if not self.divergent and "early end" not in self.features and not self.prefix:
            return "0xffffffff"
        m = self.new("r")
        self.put(f"activemask.b32 {m};")
        return m

    def rank(self) -> None:
        """The number of chosen lanes below this one: the index of a compaction."""
        self.features.add("rank")
        m, b, below, d = self.active(), self.new("r"), self.new("r"), self.new("r")
        if self.chance(0.5):
            self.put(f"vote.sync.ballot.b32 {b}, {self.predicate()}, {m};")
        else:
            self.put(f"and.b32 {below}, {self.word()}, 3;")
            self.put(f"match.any.sync.b32 {b}, {below}, {m};")
        low, here = self.new("r"), self.new("r")
        self.put(f"mov.u32 {low}, %lanemask_{self.pick('lt', 'le', 'gt', 'ge', 'eq')};")
        self.put(f"and.b32 {here}, {b}, {low};")
        self.put(f"popc.b32 {d}, {here};")
        self.words += [d, d]

    def leader(self) -> None:
        """One lane is chosen, and the others read its value."""
        self.features.add("leader")
        m, first, d, flipped = self.active(), self.new("r"), self.new("r"), self.new("r")
        if m == "0xffffffff" or self.chance(0.3):
            p = self.new("p")
            self.put(f"elect.sync {first}|{p}, {m};")
            self.preds.append(p)
        elif self.chance(0.5):
            self.put(f"brev.b32 {flipped}, {m};")
            self.put(f"bfind.shiftamt.u32 {first}, {flipped};")
        else:
            self.put(f"bfind.u32 {first}, {m};")
        self.put(f"shfl.sync.idx.b32 {d}, {self.word()}, {first}, 0x1f, {m};")
        self.words.append(d)

    # --- memory ---

    def either_space(self) -> None:
        """A generic pointer to shared memory in some lanes, to local memory in others."""
        self.features.add("either space")
        self.locals = 64
        name, size = self.rng.choice(self.shared)
        off = self.offset(4, size)
        address, long, shared, base, local, generic, d = (
            self.new("r"),
            self.new("rd"),
            self.new("rd"),
            self.new("rd"),
            self.new("rd"),
            self.new("rd"),
            self.new("r"),
        )
        self.put(f"mov.u32 {address}, {name};")
        self.put(f"add.u32 {address}, {address}, {off};")
        self.put(f"cvt.u64.u32 {long}, {address};")
        self.put(f"cvta.shared.u64 {shared}, {long};")
        self.put(f"mov.u64 {base}, {self.prefix}local_array;")
        self.put(f"cvta.local.u64 {local}, {base};")
        self.put(f"selp.b64 {generic}, {shared}, {local}, {self.predicate()};")
        if self.chance(0.5):
            p = self.new("p")
            self.put(f"isspacep.shared {p}, {generic};")
            self.preds.append(p)
        self.put(f"ld.u32 {d}, [{generic}];" if self.chance(0.5) else f"st.u32 [{generic}], {self.word()};")

    def some_ended(self) -> None:
        """Loaded data decide which lanes exit; the others query who remains, and branch on that."""
        self.features |= {"some ended", "early end"}
        ends, lane, other = self.new("p"), self.new("r"), self.label()
        self.put(f"mov.u32 {lane}, %laneid;")
        self.put(f"setp.eq.u32 {ends}, {self._out_of_memory(lane)}, {self.pick(0, 1, 2)};")
        self.put(f"@{ends} exit;")
        m, answer, full, p = self.active(), self.new("r"), self.pick(0xFFFFFFFF, 1, 2), self.new("p")
        match self.rng.randrange(4):
            case 0:
                self.put(f"mov.b32 {answer}, {m};")
            case 1:
                self.put(f"vote.sync.ballot.b32 {answer}, {self.predicate()}, {m};")
            case 2:
                self.put(f"match.any.sync.b32 {answer}, {self.pick(3, self.word())}, {m};")
            case _:
                self.put(f"redux.sync.add.u32 {answer}, 1, {m};")
                full = 32
        self.put(f"setp.{self.pick('eq', 'ne', 'lt')}.u32 {p}, {answer}, {full};")
        self.put(f"@{p} bra {other};")
        self.divergent += 1
        self._in_one_bank(lane)
        self.divergent -= 1
        self.lines.append(f"{other}:")
        self.words.append(answer)
        self.preds.append(p)

    def _out_of_memory(self, index: str) -> str:
        address, d = self.new("rd"), self.new("r")
        self.put(f"mad.wide.u32 {address}, {index}, 4, %rdin;")
        self.put(f"ld.global.u32 {d}, [{address}];")
        return d

    def loaded(self) -> None:
        """A number from global memory: an index, or a trip count."""
        self.features.add("loaded")
        address, wide, d, small = self.new("rd"), self.new("rd"), self.new("r"), self.new("r")
        self.put(f"and.b32 {small}, {self.word()}, 255;")
        self.put(f"mul.wide.u32 {wide}, {small}, 4;")
        self.put(f"add.u64 {address}, %rdin, {wide};")
        self.put(f"ld.global.u32 {d}, [{address}];")
        self.words += [d, d]
