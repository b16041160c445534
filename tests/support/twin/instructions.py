"""The effect of one step on the lanes of a warp: values, memory, and communication between lanes.

`run.Warp` adds the control. What the twin does not know is guessed, and named in `Machine.guessed`: a disagreement
that goes with the guesses proves nothing (`compare`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from . import floats
from .arith import NoMeaning, mask, meaning, signed
from .code import WIDTH, Code, Imm, Many, Mem, Not, Place, Reg, Special, Step, Symbol
from .memory import junk

LANES = 32
STACK_FRAME = 1 << 16  # bytes of local memory per call
SHARED_WINDOW, LOCAL_WINDOW, WINDOW = 0x7F_0000_0000, 0x7E_0000_0000, 1 << 32  # as wide as any 32-bit address
_OF_LANES = ("tid", "lane")  # special registers that differ from lane to lane
_WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}


@lru_cache(maxsize=4096)
def _unwritten(reg: Reg, seed: int) -> tuple[int, ...]:
    """The value of a register in each lane before it is written."""
    start = junk(reg.name, seed)
    return tuple((start ^ l * 0x9E3779B97F4A7C15) & mask(reg.bits) for l in range(LANES))


@dataclass
class Request:
    """One execution of a site by a warp. addresses: lane -> byte address in the shared window, of the active lanes."""

    block: tuple
    warp: int
    line: int
    addresses: dict[int, int]
    sources: dict[int, int] | None = None
    lanes: tuple = ()
    zeros: tuple = ()  # lanes of a cp.async that write zeros
    elsewhere: bool = False  # a generic access to memory other than shared


@dataclass
class Frame:
    """One activation of a function.

    registers: name -> a list over lanes; params: variable -> bytes over lanes; depth: of calls, each with its own
    local variables; places: of the lanes.
    """

    code: Code
    depth: int = 0
    registers: dict = field(default_factory=dict)
    params: dict = field(default_factory=dict)
    carry: list = field(default_factory=lambda: [0] * LANES)
    places: dict = field(default_factory=dict)  # lane -> position in `code.steps`

    def state(self) -> int:
        """A hash of everything that decides what the activation does next, but for memory."""
        return hash(
            (
                self.code.name,
                tuple(self.places.items()),
                tuple(self.carry),
                *((name, *row) for name, row in self.registers.items()),
                *((name, *map(bytes, lanes)) for name, lanes in self.params.items()),
            )
        )


class Instructions:
    """A warp without its control. It has machine, where, number, tid, local (one per lane) and shared."""

    def _param(self, frame: Frame, name: str, size: int = 64) -> list[bytearray]:
        if name not in frame.params:
            frame.params[name] = [bytearray(max(size, 64)) for _ in range(LANES)]
        return frame.params[name]

    # --- values ---

    def value(self, frame: Frame, operand, lane: int, bits: int) -> int:
        kind = type(operand)
        if kind is Reg:
            return self.row(frame, operand)[lane] & (1 << bits) - 1
        if kind is Imm:
            return operand.value & (1 << bits) - 1
        if kind is Not:
            return 1 - self.value(frame, operand.value, lane, 1)
        if kind is Special:
            return self.special(operand.name, lane) & mask(bits)
        if kind is Place:
            own = frame.depth * STACK_FRAME if operand.space == "local" else 0
            return self.machine.places[operand.space, operand.name] + own & mask(bits)
        if kind is Symbol and operand.name in self.machine.entries:
            return self.machine.entries[operand.name] & mask(bits)
        raise NoMeaning(f"operand {operand}")

    def values(self, frame: Frame, operand, lanes: list[int], bits: int) -> list[int]:
        """The `value` in each of these lanes."""
        if type(operand) is Reg:
            row, kept = self.row(frame, operand), (1 << bits) - 1
            if operand.bits <= bits:
                return row[:] if len(lanes) == LANES else [row[l] for l in lanes]
            return [row[l] & kept for l in lanes]
        if type(operand) is Imm:
            return [operand.value & (1 << bits) - 1] * len(lanes)
        if lanes and (type(operand) is Place or type(operand) is Special and not operand.name.startswith(_OF_LANES)):
            return [self.value(frame, operand, lanes[0], bits)] * len(lanes)
        return [self.value(frame, operand, l, bits) for l in lanes]

    def row(self, frame: Frame, reg: Reg) -> list[int]:
        """A register's values in the lanes: junk if it was not written."""
        row = frame.registers.get(reg.name)
        if row is None:
            row = frame.registers[reg.name] = list(_unwritten(reg, self.machine.seed))
        return row

    def special(self, name: str, lane: int) -> int:
        m = self.machine
        stem, _, d = name.partition(".")
        k = "xyz".find(d) if d else 0
        if stem == "tid":
            return self.tid[lane][k]
        rank = lambda at, size: at[0] + size[0] * (at[1] + size[1] * at[2])
        inside = tuple(c % s for c, s in zip(self.where, m.cluster))
        match stem:
            case "ntid":
                return m.block[k]
            case "ctaid":
                return self.where[k]
            case "nctaid":
                return m.grid[k]
            case "laneid":
                return lane
            case "warpid":  # a slot of the multiprocessor, not the warp's number in its block
                return junk("slot", m.seed, self.where, self.number) % 64
            case "lanemask_lt":
                return (1 << lane) - 1
            case "lanemask_le":
                return (2 << lane) - 1
            case "lanemask_eq":
                return 1 << lane
            case "lanemask_ge":
                return mask(32) & ~((1 << lane) - 1)
            case "lanemask_gt":
                return mask(32) & ~((2 << lane) - 1)
            case "cluster_ctaid":
                return inside[k]
            case "cluster_nctaid":
                return m.cluster[k]
            case "cluster_ctarank":
                return rank(inside, m.cluster)
            case "cluster_nctarank":
                return m.cluster[0] * m.cluster[1] * m.cluster[2]
            case "clusterid":
                return self.where[k] // m.cluster[k]
            case "nclusterid":
                return m.grid[k] // m.cluster[k]
            case "dynamic_smem_size":
                return m.dynamic
        return junk(name, self.where, self.number, m.steps) & 0xFF

    def write(
        self, frame: Frame, target, lane: int, value: int, bits: int | None = None, is_signed: bool = False
    ) -> None:
        """bits: the value's own width; the value is sign-extended to a wider register."""
        if type(target) is not Reg:
            return
        if bits is not None and bits < target.bits:
            value &= mask(bits)
            if is_signed:
                value = signed(value, bits)
        self.row(frame, target)[lane] = value & (1 << target.bits) - 1

    def write_all(
        self, frame: Frame, target, lanes: list[int], values, bits: int | None = None, is_signed: bool = False
    ) -> None:
        """`write` in each of these lanes."""
        if type(target) is not Reg:
            return
        if bits is not None and bits < target.bits:
            values = [value & mask(bits) for value in values]
            if is_signed:
                values = [signed(value, bits) for value in values]
        row, kept = self.row(frame, target), (1 << target.bits) - 1
        if len(lanes) == LANES:
            row[:] = [value & kept for value in values]
            return
        for l, value in zip(lanes, values):
            row[l] = value & kept

    # --- instructions ---

    def execute(self, frame: Frame, step: Step, active: list[int], acting: list[int]) -> None:
        try:
            self._execute(frame, step, active, acting)
        except NoMeaning:
            self._guess(frame, step, acting)

    def _execute(self, frame: Frame, step: Step, active: list[int], acting: list[int]) -> None:
        if step.opcode in _COMPUTED:
            return self._compute(frame, step, acting, *_COMPUTED[step.opcode])
        base, words = step.base, step.words[1:]
        if base in ("ld", "ldu", "st", "atom", "red"):
            return self._memory(frame, step, base, words, active, acting)
        if base in ("ldmatrix", "stmatrix") or base == "cp" and ("ca" in words or "cg" in words):
            return self._other_site(frame, step, base, words, acting)
        if base == "cp":
            return self._copied(frame, step, words, acting)
        if base == "mbarrier":
            return self._mbarrier(frame, step, words, acting)
        if base == "nanosleep":
            return self.resting.update(acting)
        if base in _ACROSS:
            return getattr(self, "_" + base)(frame, step, words, acting)
        if base in (
            "fence",
            "membar",
            "griddepcontrol",
            "prefetch",
            "prefetchu",
            "applypriority",
            "setmaxnreg",
            "pmevent",
            "barrier",
            "bar",
        ):
            return
        if base in ("add", "addc", "sub", "subc", "mad", "madc") and ("cc" in words or base[-1] == "c"):
            return self._carry(frame, step, base, words, acting)
        if base == "mapa":
            return self._mapped(frame, step, words, acting)
        if base == "cvta":
            to = "to" in words
            space = next(w for w in words if w in ("shared", "local", "global", "const", "param"))
            shift = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(space, 0)
            bits = WIDTH[words[-1]]
            for l in acting:
                a = self.value(frame, step.operands[1], l, bits)
                self.write(frame, step.operands[0], l, a - shift if to else a + shift)
            return
        if base == "isspacep":
            for l in acting:
                self.write(
                    frame,
                    step.operands[0],
                    l,
                    int(self._space_of(self.value(frame, step.operands[1], l, 64)) == words[0].split("::")[0]),
                )
            return
        if base == "mov" and any(isinstance(o, Many) for o in step.operands):
            return self._pack(frame, step, words, acting)
        widths, f = meaning(step.opcode)
        made = [w for w in words if w in WIDTH][0] if base == "cvt" and "pack" not in words else ""
        if base != "mov":  # which may pack, depending on its operands
            _COMPUTED[step.opcode] = widths, f, made
        self._compute(frame, step, acting, widths, f, made)

    def _mapped(self, frame: Frame, step: Step, words, acting: list[int]) -> None:
        """mapa to the block's own memory; blocks run one after another, so that others have none."""
        bits, own = WIDTH[words[-1]], self.special("cluster_ctarank", 0)
        if any(self.value(frame, step.operands[2], l, 32) != own for l in acting):
            raise NoMeaning(step.opcode)
        self.write_all(frame, step.operands[0], acting, self.values(frame, step.operands[1], acting, bits))

    def _compute(self, frame: Frame, step: Step, acting: list[int], widths, f, made: str) -> None:
        """A step whose opcode has a `meaning`. made: the type that a cvt converts to."""
        targets = step.operands[0].items if isinstance(step.operands[0], Many) else (step.operands[0],)
        sources = [self.values(frame, o, acting, w) for o, w in zip(step.operands[1:], widths)]
        results = list(map(f, *sources)) if sources else []
        if results and isinstance(results[0], tuple):
            results = list(zip(*results))
        else:
            results = [results]
        for target, values in zip(targets, results):
            if made:
                self.write_all(frame, target, acting, values, WIDTH[made], made[0] == "s")
            else:
                self.write_all(frame, target, acting, values)

    def _guess(self, frame: Frame, step: Step, acting) -> None:
        """An opcode that the twin does not know: its destinations hold guesses, which `machine.guessed` names.

        What it may have written to memory is missing there (`machine.unwritten`).
        """
        machine = self.machine
        machine.guessed.add(step.opcode)
        if step.base not in REGISTERS_ONLY and any(isinstance(o, Mem) for o in step.operands):
            machine.unwritten = True
        if not step.operands:
            return
        first, kind = step.operands[0], step.words[-1]
        for target in first.items if isinstance(first, Many) else (first,):
            for l in acting:
                guess = junk(machine.guess, step.line, l, self.where, self.number, machine.steps)
                if kind in ("f16", "f32", "f64"):  # of the size of common results, from which more is computed
                    guess = floats.encode((guess % 4096 + 1) / 64, WIDTH[kind])
                self.write(frame, target, l, guess)

    def _pack(self, frame, step, words, acting) -> None:
        n = WIDTH[words[-1]]
        to, of = step.operands
        if isinstance(of, Many):
            each = n // len(of.items)
            parts = zip(*(self.values(frame, o, acting, each) for o in of.items))
            wholes = [sum(part << i * each for i, part in enumerate(of_a_lane)) for of_a_lane in parts]
        else:
            wholes = self.values(frame, of, acting, n)
        if isinstance(to, Many):
            each = n // len(to.items)
            for i, t in enumerate(to.items):
                self.write_all(frame, t, acting, [whole >> i * each & mask(each) for whole in wholes])
        else:
            self.write_all(frame, to, acting, wholes)

    def _carry(self, frame, step, base, words, acting) -> None:
        t = words[-1]
        n = WIDTH[t]
        takes, gives = base in ("addc", "subc", "madc"), "cc" in words
        for l in acting:
            v = [self.value(frame, o, l, n) for o in step.operands[1:]]
            if base.startswith("mad"):
                product = (signed(v[0], n) * signed(v[1], n) if t[0] == "s" else v[0] * v[1]) >> (
                    n if "hi" in words else 0
                )
                v = [product & mask(n), v[2]]
            if base.startswith("sub"):  # in ptxas's code the flag means no borrow
                total = v[0] - v[1] - (1 - frame.carry[l] if takes else 0)
                out = int(total >= 0)
            else:
                total = v[0] + v[1] + (frame.carry[l] if takes else 0)
                out = total >> n
            if gives:
                frame.carry[l] = out
            self.write(frame, step.operands[0], l, total & mask(n))

    # --- memory ---

    def _space_of(self, address: int) -> str:
        for base, name in ((SHARED_WINDOW, "shared"), (LOCAL_WINDOW, "local")):
            if base <= address < base + WINDOW:
                return name
        return "global"

    def _address(self, frame, operand: Mem, lane: int, bits: int = 64) -> int:
        return (self.value(frame, operand.base, lane, bits) + operand.offset) & mask(bits)

    def _addresses(self, frame, operand: Mem, lanes: list[int], bits: int = 64) -> dict[int, int]:
        bases = self.values(frame, operand.base, lanes, bits)
        return {l: (base + operand.offset) & mask(bits) for l, base in zip(lanes, bases)}

    def _shared_addresses(self, frame, step: Step, operand: Mem, lanes: list[int]) -> dict[int, int]:
        """Addresses in shared memory, of a state space or generic (where the opcode names no shared space)."""
        if "shared" in step.opcode:
            return self._addresses(frame, operand, lanes, 32)
        return {l: a - SHARED_WINDOW for l, a in self._addresses(frame, operand, lanes).items()}

    def _memory(self, frame, step, base, words, active, acting) -> None:
        space = next(
            (w.split("::")[0] for w in words if w.split("::")[0] in ("global", "shared", "local", "param", "const")),
            "generic",
        )
        if "async" in words or "bulk" in words:
            raise NoMeaning(step.opcode)
        t = [w for w in words if w in WIDTH][-1]
        bits = WIDTH[t]
        size = bits // 8
        where = next(o for o in step.operands if isinstance(o, Mem))
        if space == "param":
            return self._parameter(frame, step, base, where, t, acting)
        addresses = self._addresses(frame, where, acting, 32 if space == "shared" else 64)
        spaces = dict.fromkeys(acting, space)
        if space == "generic":
            spaces = {l: self._space_of(a) for l, a in addresses.items()}
            addresses = {l: a - _WINDOWS.get(spaces[l], 0) for l, a in addresses.items()}
        shared = dict(addresses) if space == "shared" else {l: a for l, a in addresses.items() if spaces[l] == "shared"}
        if (
            space == "shared"
            or shared
            or space == "generic"
            and any(self._space_of(a) == "shared" for a in self._addresses(frame, where, active).values())
        ):
            self._note(step, shared, None, acting)
        elif space == "generic":
            self._note(step, {}, None, acting, elsewhere=True)
        memories = {
            l: self.shared if name == "shared" else self.local[l] if name == "local" else self.machine.memory
            for l, name in spaces.items()
        }
        if base in ("ld", "ldu"):
            first = step.operands[0]
            targets = first.items if isinstance(first, Many) else (first,)
            loaded = [[memories[l].load(addresses[l] + i * size, size) for l in acting] for i in range(len(targets))]
            for target, values in zip(targets, loaded):
                self.write_all(frame, target, acting, values, bits, t[0] == "s")
        elif base == "st":
            of = step.operands[1]
            items = of.items if isinstance(of, Many) else (of,)
            for l, *values in zip(acting, *(self.values(frame, o, acting, bits) for o in items)):
                for i, value in enumerate(values):
                    self.machine.changes += memories[l].store(addresses[l] + i * size, size, value)
        else:
            operation = next(
                w for w in words if w in ("and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max")
            )
            values = list(step.operands[1 if base == "red" else 2 :])
            for l in acting:
                old = memories[l].load(addresses[l], size)
                v = [self.value(frame, o, l, bits) for o in values]
                self.machine.changes += memories[l].store(addresses[l], size, _atomic(operation, t, bits, old, v))
                if base == "atom":
                    self.write(frame, step.operands[0], l, old, bits, t[0] == "s")

    def _parameter(self, frame, step, base, where: Mem, t: str, acting) -> None:
        bits = WIDTH[t]
        size = bits // 8
        other = step.operands[0 if base == "ld" else 1]
        items = other.items if isinstance(other, Many) else (other,)
        named = isinstance(where.base, Place) and any(where.base.name == p[0] for p in frame.code.parameters)
        of_kernel = self._offset(frame.code, where.base.name) + where.offset if frame.code.entry and named else None
        if of_kernel is not None and base == "ld":
            for i, o in enumerate(items):
                data = self.machine.parameters[of_kernel + i * size : of_kernel + (i + 1) * size]
                values = [int.from_bytes(data, "little")] * len(acting)
                self.write_all(frame, o, acting, values, bits, t[0] == "s")
            return
        for l in acting:
            if of_kernel is not None:
                store, at = self.machine.parameters, of_kernel
            elif isinstance(where.base, Place):
                store, at = (
                    self._param(frame, where.base.name, self._param_size(frame, where.base.name))[l],
                    where.offset,
                )
            else:
                store, at = self.machine.parameters, self._address(frame, where, l)
            for i, o in enumerate(items):
                a = at + i * size
                if base == "ld":
                    self.write(frame, o, l, int.from_bytes(store[a : a + size], "little"), bits, t[0] == "s")
                else:
                    store[a : a + size] = self.value(frame, o, l, bits).to_bytes(size, "little")

    @staticmethod
    def _param_size(frame: Frame, name: str) -> int:
        v = frame.code.variables.get(name)
        return v.size if v else next((p[1] for p in frame.code.parameters + frame.code.results if p[0] == name), 64)

    @staticmethod
    def _offset(code: Code, name: str) -> int:
        at = 0
        for n, size, align in code.parameters:
            at = -(-at // align) * align
            if n == name:
                return at
            at += size
        raise KeyError(name)

    def _note(self, step: Step, addresses, sources, acting, zeros=(), elsewhere: bool = False) -> None:
        request = Request(
            self.where, self.number, step.line, addresses, sources, tuple(acting), tuple(zeros), elsewhere
        )
        if self.machine.record is not None:
            self.machine.record(request)
        else:
            self.machine.requests.append(request)

    def _other_site(self, frame, step, base, words, acting) -> None:
        places = [o for o in step.operands if isinstance(o, Mem)]
        addresses = self._addresses(frame, places[0], acting, 32)
        sources = self._addresses(frame, places[1], acting) if base == "cp" else None
        read = self._bytes_read(frame, step, acting) if base == "cp" else {}
        self._note(step, addresses, sources, acting, [l for l, size in read.items() if size == 0])
        if base != "cp":
            return self._matrices(frame, step, base, words, addresses, acting)
        size = step.operands[2].value
        for l in acting:
            value = self.machine.memory.load(sources[l], read[l]) if read[l] else 0
            self.machine.changes += self.shared.store(addresses[l], size, value)

    def _bytes_read(self, frame, step, acting) -> dict[int, int]:
        """lane -> bytes that a cp.async reads: its size, or less by an operand (a number, or whether to ignore all)."""
        size, *rest = step.operands[2:]
        rest = rest[:-1] if "L2::cache_hint" in step.opcode else rest
        if not rest:
            return dict.fromkeys(acting, size.value)
        if isinstance(rest[0], Not) or isinstance(rest[0], Reg) and rest[0].bits == 1:
            return {l: 0 if self.value(frame, rest[0], l, 1) else size.value for l in acting}
        return {l: min(size.value, self.value(frame, rest[0], l, 32)) for l in acting}

    def _matrices(self, frame, step, base, words, addresses, acting) -> None:
        """ldmatrix, stmatrix of 8x8 16-bit elements: lane l has elements 2 * (l % 4) and the next one of row l / 4.

        (.trans: of column l / 4.) Lane 8 * m + r has the address of row r of matrix m.
        """
        count = next((int(w[1]) for w in words if w in ("x1", "x2", "x4")), 0)
        if "m8n8" not in words or "b16" not in words or not count or len(acting) < LANES:
            raise NoMeaning(step.opcode)
        registers = step.operands[0 if base == "ldmatrix" else 1]
        items = registers.items if isinstance(registers, Many) else (registers,)
        for m, register in enumerate(items):
            for l in acting:
                parts = [(l // 4, 2 * (l % 4) + k) for k in range(2)]
                places = [
                    addresses[8 * m + row] + 2 * column
                    for row, column in ([(c, r) for r, c in parts] if "trans" in words else parts)
                ]
                if base == "ldmatrix":
                    low, high = (self.shared.load(place, 2) for place in places)
                    self.write(frame, register, l, low | high << 16)
                else:
                    value = self.value(frame, register, l, 32)
                    for k, place in enumerate(places):
                        self.machine.changes += self.shared.store(place, 2, value >> 16 * k)


REGISTERS_ONLY = ("ld", "ldu", "ldmatrix", "tex", "tld4", "suld", "mapa", "getctarank")  # write no memory
_COMPUTED: dict[str, tuple] = {}  # opcode -> widths of its sources, what it computes, the type that a cvt converts to
_ACROSS = ("shfl", "vote", "match", "activemask", "elect", "redux")


def is_site(step: Step) -> bool:
    return step.base in ("ld", "st", "atom", "red", "ldmatrix", "stmatrix", "cp")


def _atomic(operation: str, t: str, bits: int, old: int, v: list[int]) -> int:
    if t[0] == "f":
        return meaning(f"{'add.rn' if operation == 'add' else operation}.{t}")[1](old, v[0])
    s = (lambda x: signed(x, bits)) if t[0] == "s" else (lambda x: x)
    match operation:
        case "add":
            out = old + v[0]
        case "exch":
            out = v[0]
        case "cas":
            out = v[1] if old == v[0] else old
        case "min":
            out = min(s(old), s(v[0]))
        case "max":
            out = max(s(old), s(v[0]))
        case "inc":
            out = 0 if old >= v[0] else old + 1
        case "dec":
            out = v[0] if old == 0 or old > v[0] else old - 1
        case "and":
            out = old & v[0]
        case "or":
            out = old | v[0]
        case _:
            out = old ^ v[0]
    return out & mask(bits)
