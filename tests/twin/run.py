"""Runs a kernel, warp by warp and lane by lane, and writes down every request.

Every lane has a place of its own; the lanes of a warp that stand at the lowest place go one step together. Lanes
that part at a branch are to meet again at its meeting place: who comes there waits for the living ones
of the others. The meeting place is the immediate post-dominator, from sets of post-dominators as a textbook
computes them, ways that only lead to the end left out (`meeting`). With policy="stack" it is the textbook's
stack of (place, meeting place, lanes) instead: kernels on which the two differ are those whose number of
requests PTX does not decide. Warps of a block take turns at barriers. Blocks run one after another.

Memory that nobody wrote holds a hash of its address; registers that nobody wrote hold junk, too: what the
engine calls exact may depend on neither.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field

from ptxaudit.ptx.parse import parse_module

from . import arith
from .arith import NoMeaning, mask, meaning, signed
from .code import WIDTH, Code, Imm, Many, Mem, Not, Place, Reg, Special, Step, Symbol, flatten

LANES = 32
END = -1
SHARED_WINDOW, LOCAL_WINDOW, WINDOW = 0x7F_0000_0000, 0x7E_0000_0000, 1 << 32     # as wide as any 32-bit address
DONE_AT_ONCE = ("mbarrier.try_wait", "mbarrier.test_wait")          # a wait that is over


class TooLong(Exception):
    """More steps than the run was given."""


@dataclass
class Request:
    """One warp issued one site once. addresses: lane -> byte address in the shared window, of the active lanes."""

    block: tuple
    warp: int
    line: int
    addresses: dict[int, int]
    sources: dict[int, int] | None = None
    lanes: tuple = ()


def junk(*key) -> int:
    return int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=8).digest(), "little")


# --- where lanes meet ------------------------------------------------------------------------

def followers(code: Code, at: int) -> list[int]:
    """Positions that may come after a step."""
    step = code.steps[at]
    base = step.opcode.split(".")[0]
    after = at + 1 if at + 1 < len(code.steps) else END
    place = lambda name: code.labels[name] if code.labels[name] < len(code.steps) else END
    if base == "bra":
        out = [place(step.operands[0].name)]
    elif base == "brx":
        out = [place(t) for t in code.tables[step.operands[1].name]]
    elif base in ("ret", "exit", "trap"):
        out = [END]
    else:
        return [after]
    return out + [after] if step.guard is not None else out


def graph_of(code: Code) -> dict[int, set[int]]:
    """step -> the steps that may follow; a loop without an end gets one, so that there are post-dominators."""
    count = len(code.steps)
    follow = {at: set(followers(code, at)) for at in range(count)}
    coming = reverse(follow)
    ends = reached({END}, coming)
    for at in reversed(range(count)):
        if at not in ends:
            follow[at].add(END)
            coming[END].add(at)
            ends = reached({END}, coming)
    return follow


def reverse(follow) -> dict[int, set[int]]:
    coming = defaultdict(set)
    for a, bs in follow.items():
        for b in bs:
            coming[b].add(a)
    return coming


def reached(start, follow, stop=lambda at: False) -> set[int]:
    """What can be reached, `start` included."""
    seen, todo = set(start), list(start)
    while todo:
        for b in follow.get(todo.pop(), ()):
            if b not in seen and not stop(b):
                seen.add(b)
                todo.append(b)
    return seen


def without_ends(code: Code, follow) -> dict[int, set[int]]:
    """The graph in which branches do not take the ways that only lead to the end and that no other step leads into.

    Of all ways to the end one stays for every step: those with the fewest steps behind them are left out first.
    """
    coming = reverse(follow)
    is_end = lambda at: at == END or code.steps[at].guard is None and code.steps[at].opcode.split(".")[0] in ("ret", "exit", "trap")
    possible = reached({0}, follow)
    ends = []
    for u, ways in follow.items():
        if len(ways) < 2 or u not in possible:
            continue
        ending = []
        for v in ways:
            behind = set() if is_end(v) else reached({v}, follow, is_end)
            alone = all(p in behind or at == v and p == u for at in behind for p in coming[at])
            if u not in behind and alone:
                ending.append((len(behind), u, v))
        if len(ending) < len(ways):
            ends += ending
    out = {u: set(ways) for u, ways in follow.items()}
    for _, u, v in sorted(ends):
        out[u].discard(v)
        if END not in reached({u}, out):
            out[u].add(v)
    return out


def meeting(code: Code, early_ends: bool = True) -> list[int]:
    """For each step, the nearest step on every way to the end. early_ends: leave out ways that only lead there."""
    follow = graph_of(code)
    if early_ends:
        parts = {at: len(ways) for at, ways in follow.items()}
        follow = without_ends(code, follow)
    else:
        parts = {at: len(ways) for at, ways in follow.items()}
    count = len(code.steps)
    order = list(range(count)) + [END]
    coming = reverse(follow)
    bit = {at: 1 << i for i, at in enumerate(order)}
    everything = (1 << len(order)) - 1
    sets = {at: everything for at in range(count)}
    sets[END] = bit[END]
    todo, queued = list(range(count)), set(range(count))
    while todo:
        at = todo.pop()
        queued.discard(at)
        new = everything
        for b in follow[at]:
            new &= sets[b]
        new |= bit[at]
        if new != sets[at]:
            sets[at] = new
            for p in coming[at]:
                if p not in queued:
                    queued.add(p)
                    todo.append(p)
    out = []
    for at in range(count):
        best, most = END, -1
        strict = sets[at] & ~bit[at] if parts[at] > 1 else 0
        while strict:                           # the nearest one has all the others among its own
            low = strict & -strict
            node = order[low.bit_length() - 1]
            strict ^= low
            size = sets[node].bit_count()
            if size > most:
                best, most = node, size
        out.append(best)
    return out


# --- memory ------------------------------------------------------------------------------------

class Bytes:
    """Memory as a dictionary; what was never written is a hash of the address, small as a 32-bit number."""

    def __init__(self, name):
        self.cells, self.name = {}, name

    def load(self, address: int, size: int) -> int:
        out = 0
        for i in range(size):
            a = address + i
            byte = self.cells.get(a)
            if byte is None:
                byte = junk(self.name, a) & 7 if a % 4 == 0 else 0
            out |= byte << 8 * i
        return out

    def store(self, address: int, size: int, value: int) -> None:
        for i in range(size):
            self.cells[address + i] = value >> 8 * i & 255

    def put(self, address: int, data: bytes) -> None:
        for i, byte in enumerate(data):
            self.cells[address + i] = byte


# --- one launch --------------------------------------------------------------------------------

class Machine:
    """One kernel under one launch. parameters: the raw parameter buffer. seed: places of variables."""

    def __init__(self, text, kernel: str, grid, block, parameters: bytes, dynamic_shared: int = 0, seed: int = 0,
                 most_steps: int = 3_000_000, cluster=(1, 1, 1), record=None, needed_only: bool = False, policy: str = "lanes"):
        module = parse_module(text) if isinstance(text, str) else text
        self.codes, self.globals = flatten(module)
        self.kernel = self.codes[kernel]
        self.grid, self.block, self.cluster = grid, block, cluster
        self.parameters, self.dynamic = parameters, dynamic_shared
        self.steps, self.most = 0, most_steps
        self.policy = policy
        self.meetings = {name: meeting(c) for name, c in self.codes.items()}
        self.requests: list[Request] = []
        self.record = record
        self.seed = seed
        self.places: dict[tuple[str, str], int] = {}
        self.memory = Bytes(("global", seed))
        self._place_variables()
        self.needed = None
        if needed_only:
            self.needed = {c.name: needed(c, self.codes) for c in self.codes.values()}

    def _place_variables(self) -> None:
        everything = list(self.globals.values()) + [v for c in self.codes.values() for v in c.variables.values()]
        for space, start in (("shared", 1024), ("local", 0), ("global", 1 << 32), ("const", 1 << 36)):
            at = start
            for v in sorted((v for v in everything if v.space == space), key=lambda v: v.size == 0):
                at += junk(self.seed, v.name) % 5 * v.align
                at = -(-at // v.align) * v.align
                self.places[space, v.name] = at
                if v.data is not None:
                    self.memory.put(at, v.data)
                at += v.size if v.size else self.dynamic if space == "shared" else 0

    def run(self) -> list[Request]:
        for z in range(self.grid[2]):
            for y in range(self.grid[1]):
                for x in range(self.grid[0]):
                    self.run_block((x, y, z))
        return self.requests

    def run_block(self, where) -> None:
        threads = self.block[0] * self.block[1] * self.block[2]
        shared = Bytes(("shared", where, self.seed))
        warps = [Warp(self, where, w, range(w * LANES, min(threads, (w + 1) * LANES)), shared)
                 for w in range(-(-threads // LANES))]
        ready = list(warps)
        waiting: dict[int, list[Warp]] = defaultdict(list)
        arrived: dict[int, int] = defaultdict(int)
        while ready or any(waiting.values()):
            if not ready:                      # what is left waits for lanes that have ended
                number = min(n for n, ws in waiting.items() if ws)
                ready, waiting[number], arrived[number] = waiting[number], [], 0
            warp = ready.pop(0)
            try:
                number, count, waits = next(warp.running)
            except StopIteration:
                continue
            arrived[number] += LANES
            if waits:
                waiting[number].append(warp)
            else:
                ready.append(warp)
            alive = sum(not w.ended for w in warps)
            if arrived[number] >= (count or alive * LANES):
                ready += waiting[number]
                waiting[number], arrived[number] = [], 0


def needed(code: Code, codes) -> set[int]:
    """Steps that may matter to an address, a branch or a guard: a closure over register names, order ignored.

    Saves the twin the arithmetic of a matrix product; the values of all stores count as needed once any load does.
    """
    def names(x) -> set[str]:
        match x:
            case Reg(name=n):
                return {n}
            case Mem(base=b):
                return names(b)
            case Many(items=items):
                return set().union(*map(names, items)) if items else set()
            case Not(value=v):
                return names(v)
        return set()
    wanted: set[str] = set()
    keep: set[int] = set()
    pure = {"add", "sub", "mul", "mad", "fma", "div", "rem", "mov", "cvt", "and", "or", "xor", "not", "shl", "shr", "max", "min",
            "neg", "abs", "selp", "sqrt", "rcp", "mma", "ex2", "sin", "cos", "lg2", "rsqrt", "dp4a", "prmt", "setp", "wmma", "tanh", "shfl"}
    while True:
        before = len(keep), len(wanted)
        loads = False
        for at, step in enumerate(code.steps):
            base = step.opcode.split(".")[0]
            target = names(step.operands[0]) if step.operands else set()
            memory = base in ("ld", "st", "atom", "red")
            if base in pure and not (target & wanted) and ".store" not in step.opcode and ".load" not in step.opcode:
                continue
            keep.add(at)
            if step.guard is not None:
                wanted.add(step.guard.name)
            if base == "ld" and target & wanted:
                loads = True
            for o in step.operands[0 if base in ("st", "red", "bra", "brx", "bar", "cp", "stmatrix") else 1:]:
                if base == "st" and not isinstance(o, Mem) and not code_loads(code, wanted):
                    continue
                wanted |= names(o)
            if memory:
                for o in step.operands:
                    if isinstance(o, Mem):
                        wanted |= names(o)
        if (len(keep), len(wanted)) == before and not loads:
            return keep
        if (len(keep), len(wanted)) == before:
            return keep


def code_loads(code: Code, wanted: set[str]) -> bool:
    """True when a needed register comes from a load that a store of this function may have written."""
    for step in code.steps:
        if step.opcode.split(".")[0] in ("ld", "ldmatrix") and ".param" not in step.opcode or step.opcode.startswith("call"):
            first = step.operands[0]
            items = first.items if isinstance(first, Many) else (first,)
            if any(isinstance(i, Reg) and i.name in wanted for i in items):
                return True
    return any(s.opcode.startswith(("call", "ret")) for s in code.steps) and ".param" in "".join(s.opcode for s in code.steps)


@dataclass
class Frame:
    """One activation of a function. registers: name -> a list over lanes; params: variable -> bytes over lanes."""

    code: Code
    registers: dict = field(default_factory=dict)
    params: dict = field(default_factory=dict)
    carry: list = field(default_factory=lambda: [0] * LANES)


class Warp:
    def __init__(self, machine: Machine, where, number: int, threads: range, shared: Bytes):
        self.machine, self.where, self.number, self.shared = machine, where, number, shared
        bx, by, _ = machine.block
        self.tid = [(t % bx, t // bx % by, t // (bx * by)) for t in threads]
        self.local = [Bytes(("local", where, number, lane, machine.seed)) for lane in range(LANES)]
        self.exited: set[int] = set(range(len(self.tid), LANES))
        self.ended = False
        self.running = self._run()

    def _run(self):
        frame = Frame(self.machine.kernel)
        yield from self.function(frame, [l for l in range(LANES) if l not in self.exited])
        self.ended = True

    # --- control ---

    def function(self, frame: Frame, lanes: list[int]):
        """Runs an activation to its end. A generator: yields (barrier, threads or None, whether it waits)."""
        return self._by_stack(frame, lanes) if self.machine.policy == "stack" else self._by_lanes(frame, lanes)

    def _by_lanes(self, frame: Frame, lanes: list[int]):
        code, machine = frame.code, self.machine
        meetings = machine.meetings[code.name]
        place = dict.fromkeys(lanes, 0)
        count = len(code.steps)
        expected: dict[tuple[int, int], set[int]] = {}          # (lane, meeting place) -> the lanes to wait for
        while True:
            place = {l: at for l, at in place.items() if at != END and at < count and l not in self.exited}
            if not place:
                return
            free = place
            if expected:
                free = [l for l, at in place.items()
                        if all(place.get(other, at) == at for other in expected.get((l, at), ()))]
            if not free:                        # those waited for wait themselves, elsewhere
                low = min(place.values())
                for l in place:
                    expected.pop((l, low), None)
                continue
            at = min(place[l] for l in free)
            active = sorted(l for l in free if place[l] == at)
            if expected:
                for l in active:
                    expected.pop((l, at), None)
            step = code.steps[at]
            base = step.opcode.split(".")[0]
            machine.steps += 1
            if machine.steps > machine.most:
                raise TooLong
            acting = active if step.guard is None else [
                l for l in active if bool(self.value(frame, step.guard, l, 1)) != step.negated]
            for l in active:
                place[l] = at + 1
            if base in ("bra", "brx"):
                for l in acting:
                    name = step.operands[0].name if base == "bra" else code.tables[step.operands[1].name][self.value(frame, step.operands[0], l, 32)]
                    place[l] = code.labels[name]
                if len({place[l] for l in active}) > 1 and meetings[at] != END:
                    if not any((l, meetings[at]) in expected for l in active):
                        for l in active:
                            expected[l, meetings[at]] = set(active)
            elif base in ("exit", "trap") or base == "ret" and code.entry:
                self.exited.update(acting)
            elif base == "ret":
                for l in acting:
                    place[l] = END
            else:
                yield from self._plain(frame, step, base, active, acting, at)

    def _plain(self, frame: Frame, step: Step, base: str, active, acting, at: int):
        """A step that does not branch."""
        wanted = self.machine.needed[frame.code.name] if self.machine.needed else None
        if base in ("bar", "barrier") and "warp" not in step.opcode and "cluster" not in step.opcode:
            if acting:
                number = self.value(frame, step.operands[0], acting[0], 32) if step.operands else 0
                count = self.value(frame, step.operands[1], acting[0], 32) if len(step.operands) > 1 and "red" not in step.opcode else None
                if "red" in step.opcode:
                    self._junk(frame, step, acting)
                yield number, count, "arrive" not in step.opcode
        elif base == "call":
            if acting:
                yield from self._call(frame, step, acting)
        elif wanted is None or at in wanted or _is_site(step):
            self.execute(frame, step, active, acting)

    def _by_stack(self, frame: Frame, lanes: list[int]):
        code, machine = frame.code, self.machine
        meetings = machine.meetings[code.name]
        returned: set[int] = set()
        stack = [[0, END, lanes]]
        while stack:
            top = stack[-1]
            at, meet, members = top
            active = [l for l in members if l not in self.exited and l not in returned]
            if not active or at == meet or at == END or at >= len(code.steps):
                stack.pop()
                continue
            step = code.steps[at]
            base = step.opcode.split(".")[0]
            machine.steps += 1
            if machine.steps > machine.most:
                raise TooLong
            acting = active if step.guard is None else [
                l for l in active if bool(self.value(frame, step.guard, l, 1)) != step.negated]
            if base == "bra":
                ways = defaultdict(list)
                ways[code.labels[step.operands[0].name]] += acting
                ways[at + 1] += self._others(active, acting)
                self._part(stack, ways, meetings[at])
            elif base == "brx":
                ways = defaultdict(list)
                table = code.tables[step.operands[1].name]
                for l in acting:
                    ways[code.labels[table[self.value(frame, step.operands[0], l, 32)]]].append(l)
                ways[at + 1] += self._others(active, acting)
                self._part(stack, ways, meetings[at])
            elif base in ("exit", "trap") or base == "ret" and code.entry:
                self.exited.update(acting)
                top[0] = at + 1
            elif base == "ret":
                returned.update(acting)
                top[0] = at + 1
            else:
                top[0] = at + 1
                yield from self._plain(frame, step, base, active, acting, at)

    @staticmethod
    def _others(active, acting):
        chosen = set(acting)
        return [l for l in active if l not in chosen]

    @staticmethod
    def _part(stack, ways: dict, meet: int) -> None:
        ways = {at: lanes for at, lanes in ways.items() if lanes}
        if len(ways) == 1:
            stack[-1][0] = next(iter(ways))
            return
        stack[-1][0] = meet
        for at, lanes in ways.items():
            stack.append([at, meet, lanes])

    def _call(self, frame: Frame, step: Step, lanes: list[int]):
        operands = list(step.operands)
        results = operands.pop(0).items if isinstance(operands[0], Many) else ()
        name = operands.pop(0)
        given = operands.pop(0).items if operands and isinstance(operands[0], Many) else ()
        callee = self.machine.codes.get(getattr(name, "name", None))
        if callee is None:
            return
        inner = Frame(callee)
        for (formal, size, _), actual in zip(callee.parameters, given):
            inner.params[formal] = [bytearray(b) for b in self._param(frame, actual.name, size)]
        yield from self.function(inner, lanes)
        for (formal, size, _), actual in zip(callee.results, results):
            source, target = self._param(inner, formal, size), self._param(frame, actual.name, size)
            for l in lanes:
                target[l][:] = source[l]

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
            return self.machine.places[operand.space, operand.name] & mask(bits)
        raise NoMeaning(f"operand {operand}")

    def row(self, frame: Frame, reg: Reg) -> list[int]:
        """A register's values in the lanes: junk where none was written."""
        row = frame.registers.get(reg.name)
        if row is None:
            start = junk(reg.name, self.machine.seed)
            row = frame.registers[reg.name] = [(start ^ l * 0x9E3779B97F4A7C15) & mask(reg.bits) for l in range(LANES)]
        return row

    def special(self, name: str, lane: int) -> int:
        m = self.machine
        stem, _, d = name.partition(".")
        k = "xyz".find(d) if d else 0
        rank = lambda at, size: at[0] + size[0] * (at[1] + size[1] * at[2])
        inside = tuple(c % s for c, s in zip(self.where, m.cluster))
        match stem:
            case "tid":
                return self.tid[lane][k]
            case "ntid":
                return m.block[k]
            case "ctaid":
                return self.where[k]
            case "nctaid":
                return m.grid[k]
            case "laneid":
                return lane
            case "warpid":                     # a slot of the multiprocessor, not the warp's number in its block
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
            case "dynamic_smem_size":
                return m.dynamic
        return junk(name, self.where, self.number, m.steps) & 0xFF

    def write(self, frame: Frame, target, lane: int, value: int, bits: int | None = None, is_signed: bool = False) -> None:
        """bits: the value's own width, extended to a wider register by its sign."""
        if type(target) is not Reg:
            return
        if bits is not None and bits < target.bits:
            value &= mask(bits)
            if is_signed:
                value = signed(value, bits)
        self.row(frame, target)[lane] = value & (1 << target.bits) - 1

    # --- instructions ---

    def execute(self, frame: Frame, step: Step, active: list[int], acting: list[int]) -> None:
        base, *words = step.opcode.split(".")
        if base in ("ld", "ldu", "st", "atom", "red"):
            return self._memory(frame, step, base, words, active, acting)
        if base in ("ldmatrix", "stmatrix") or base == "cp" and ("ca" in words or "cg" in words):
            return self._other_site(frame, step, base, words, acting)
        if base in _ACROSS:
            return getattr(self, "_" + base)(frame, step, words, acting)
        if base in ("fence", "membar", "nanosleep", "griddepcontrol", "prefetch", "setmaxnreg", "pmevent", "st_async", "barrier", "bar"):
            return
        if base in ("add", "addc", "sub", "subc", "mad", "madc") and ("cc" in words or base[-1] == "c"):
            return self._carry(frame, step, base, words, acting)
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
                self.write(frame, step.operands[0], l, int(self._space_of(self.value(frame, step.operands[1], l, 64)) == words[0].split("::")[0]))
            return
        if base == "mov" and any(isinstance(o, Many) for o in step.operands):
            return self._pack(frame, step, words, acting)
        try:
            widths, f = meaning(step.opcode)
        except NoMeaning:
            return self._junk(frame, step, acting)
        targets = step.operands[0].items if isinstance(step.operands[0], Many) else (step.operands[0],)
        out = words[0] if base == "set" else [w for w in words if w in WIDTH][0] if base == "cvt" else ""
        sources = list(zip(step.operands[1:], widths))
        for l in acting:
            result = f(*[self.value(frame, o, l, w) for o, w in sources])
            if not isinstance(result, tuple):
                result = (result,)
            for target, r in zip(targets, result):
                if base == "cvt":
                    self.write(frame, target, l, r, WIDTH[out], out[0] == "s")
                else:
                    self.write(frame, target, l, r)

    def _junk(self, frame: Frame, step: Step, acting) -> None:
        """An opcode that the twin does not know: its destinations hold junk (waits are over)."""
        if not step.operands:
            return
        first = step.operands[0]
        for target in first.items if isinstance(first, Many) else (first,):
            for l in acting:
                done = step.opcode.startswith(DONE_AT_ONCE)
                self.write(frame, target, l, 1 if done else junk(step.line, l, self.where, self.number, self.machine.steps))

    def _pack(self, frame, step, words, acting) -> None:
        n = WIDTH[words[-1]]
        to, of = step.operands
        for l in acting:
            if isinstance(of, Many):
                each = n // len(of.items)
                whole = sum(self.value(frame, o, l, each) << i * each for i, o in enumerate(of.items))
            else:
                whole = self.value(frame, of, l, n)
            if isinstance(to, Many):
                each = n // len(to.items)
                for i, t in enumerate(to.items):
                    self.write(frame, t, l, whole >> i * each & mask(each))
            else:
                self.write(frame, to, l, whole)

    def _carry(self, frame, step, base, words, acting) -> None:
        t = words[-1]
        n = WIDTH[t]
        takes, gives = base in ("addc", "subc", "madc"), "cc" in words
        for l in acting:
            v = [self.value(frame, o, l, n) for o in step.operands[1:]]
            if base.startswith("mad"):
                product = (signed(v[0], n) * signed(v[1], n) if t[0] == "s" else v[0] * v[1]) >> (n if "hi" in words else 0)
                v = [product & mask(n), v[2]]
            c = frame.carry[l] if takes else 0
            if base.startswith("sub"):
                total = v[0] - v[1] - c
                out = int(total < 0)
            else:
                total = v[0] + v[1] + c
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

    def _memory(self, frame, step, base, words, active, acting) -> None:
        space = next((w.split("::")[0] for w in words if w.split("::")[0] in ("global", "shared", "local", "param", "const")), "generic")
        t = [w for w in words if w in WIDTH][-1]
        bits = WIDTH[t]
        size = bits // 8
        where = next(o for o in step.operands if isinstance(o, Mem))
        if space == "param":
            return self._parameter(frame, step, base, where, t, acting)
        addresses = {l: self._address(frame, where, l, 32 if space == "shared" else 64) for l in acting}
        spaces = dict.fromkeys(acting, space)
        if space == "generic":
            spaces = {l: self._space_of(a) for l, a in addresses.items()}
            addresses = {l: a - {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(spaces[l], 0) for l, a in addresses.items()}
        shared = {l: a for l, a in addresses.items() if spaces[l] == "shared"}
        if space == "shared" or shared or space == "generic" and any(
                self._space_of(self._address(frame, where, l)) == "shared" for l in active):
            self._note(step, shared, None, acting)
        memory = lambda l: {"shared": self.shared, "local": self.local[l]}.get(spaces[l], self.machine.memory)
        if base in ("ld", "ldu"):
            first = step.operands[0]
            targets = first.items if isinstance(first, Many) else (first,)
            for l in acting:
                for i, target in enumerate(targets):
                    self.write(frame, target, l, memory(l).load(addresses[l] + i * size, size), bits, t[0] == "s")
        elif base == "st":
            of = step.operands[1]
            for l in acting:
                for i, o in enumerate(of.items if isinstance(of, Many) else (of,)):
                    memory(l).store(addresses[l] + i * size, size, self.value(frame, o, l, bits))
        else:
            operation = next(w for w in words if w in ("and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max"))
            values = [o for o in step.operands[1 if base == "red" else 2:]]
            for l in acting:
                old = memory(l).load(addresses[l], size)
                v = [self.value(frame, o, l, bits) for o in values]
                memory(l).store(addresses[l], size, _atomic(operation, t, bits, old, v))
                if base == "atom":
                    self.write(frame, step.operands[0], l, old, bits, t[0] == "s")

    def _parameter(self, frame, step, base, where: Mem, t: str, acting) -> None:
        bits = WIDTH[t]
        size = bits // 8
        other = step.operands[0 if base == "ld" else 1]
        items = other.items if isinstance(other, Many) else (other,)
        for l in acting:
            if frame.code.entry and isinstance(where.base, Place) and where.base.name in dict((p[0], 1) for p in frame.code.parameters):
                store, at = self.machine.parameters, self._offset(frame.code, where.base.name) + where.offset
            elif isinstance(where.base, Place):
                store, at = self._param(frame, where.base.name, self._param_size(frame, where.base.name))[l], where.offset
            else:
                store, at = self.machine.parameters, self._address(frame, where, l)
            for i, o in enumerate(items):
                a = at + i * size
                if base == "ld":
                    self.write(frame, o, l, int.from_bytes(store[a:a + size], "little"), bits, t[0] == "s")
                else:
                    store[a:a + size] = self.value(frame, o, l, bits).to_bytes(size, "little")

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

    def _note(self, step: Step, addresses, sources, acting) -> None:
        request = Request(self.where, self.number, step.line, addresses, sources, tuple(acting))
        if self.machine.record is not None:
            self.machine.record(request)
        else:
            self.machine.requests.append(request)

    def _other_site(self, frame, step, base, words, acting) -> None:
        places = [o for o in step.operands if isinstance(o, Mem)]
        addresses = {l: self._address(frame, places[0], l, 32) for l in acting}
        sources = {l: self._address(frame, places[1], l) for l in acting} if base == "cp" else None
        self._note(step, addresses, sources, acting)
        if base == "ldmatrix":
            self._junk(frame, step, acting)
        if base == "cp":
            size = step.operands[2].value
            for l in acting:
                self.shared.store(addresses[l], size, self.machine.memory.load(sources[l], size))

    # --- across lanes ---

    def _members(self, frame, operand, acting) -> list[int]:
        if operand is None:
            return acting
        return [l for l in acting if self.value(frame, operand, acting[0], 32) >> l & 1]

    def _shfl(self, frame, step, words, acting) -> None:
        mode = next(w for w in words if w in ("idx", "up", "down", "bfly"))
        first, a, b, c = step.operands[:4]
        d, p = first.items if isinstance(first, Many) else (first, None)
        values = {l: self.value(frame, a, l, 32) for l in acting}
        out = {}
        for l in acting:
            bv, cv = self.value(frame, b, l, 32) & 31, self.value(frame, c, l, 32)
            clamp, segment = cv & 31, cv >> 8 & 31
            top = l & segment | clamp & ~segment & 31
            low = l & segment
            match mode:
                case "up":
                    j = l - bv
                    inside = j >= top
                case "down":
                    j = l + bv
                    inside = j <= top
                case "bfly":
                    j = l ^ bv
                    inside = j <= top
                case _:
                    j = low | bv & ~segment & 31
                    inside = j <= top
            source = j if inside else l
            out[l] = (values[source] if source in values else junk("inactive", l, step.line), int(inside))
        for l, (v, q) in out.items():
            self.write(frame, d, l, v)
            if p is not None:
                self.write(frame, p, l, q)

    def _vote(self, frame, step, words, acting) -> None:
        members = self._members(frame, step.operands[2] if len(step.operands) > 2 else None, acting)
        yes = [l for l in members if self.value(frame, step.operands[1], l, 1)]
        result = {"all": len(yes) == len(members), "any": bool(yes), "uni": len(yes) in (0, len(members)),
                  "ballot": sum(1 << l for l in yes)}[next(w for w in words if w in ("all", "any", "uni", "ballot"))]
        for l in acting:
            self.write(frame, step.operands[0], l, int(result))

    def _match(self, frame, step, words, acting) -> None:
        bits = WIDTH[words[-1]]
        members = self._members(frame, step.operands[2], acting)
        values = {l: self.value(frame, step.operands[1], l, bits) for l in members}
        first = step.operands[0]
        d, p = first.items if isinstance(first, Many) else (first, None)
        for l in acting:
            same = sum(1 << k for k in members if values[k] == values.get(l))
            if "all" in words:
                whole = len(set(values.values())) == 1
                same = sum(1 << k for k in members) if whole else 0
                if p is not None:
                    self.write(frame, p, l, int(whole))
            self.write(frame, d, l, same)

    def _activemask(self, frame, step, words, acting) -> None:
        for l in acting:
            self.write(frame, step.operands[0], l, sum(1 << k for k in acting))

    def _elect(self, frame, step, words, acting) -> None:
        members = self._members(frame, step.operands[1], acting)
        d, p = step.operands[0].items
        for l in acting:
            self.write(frame, d, l, min(members))
            self.write(frame, p, l, int(l == min(members)))

    def _redux(self, frame, step, words, acting) -> None:
        members = self._members(frame, step.operands[2], acting)
        t = words[-1]
        read = lambda l: signed(self.value(frame, step.operands[1], l, 32), 32) if t == "s32" else self.value(frame, step.operands[1], l, 32)
        values = [read(l) for l in members]
        name = next(w for w in words if w in ("add", "min", "max", "and", "or", "xor"))
        out = values[0]
        for v in values[1:]:
            out = {"add": out + v, "min": min(out, v), "max": max(out, v), "and": out & v, "or": out | v, "xor": out ^ v}[name]
        for l in acting:
            self.write(frame, step.operands[0], l, out & mask(32))


_ACROSS = ("shfl", "vote", "match", "activemask", "elect", "redux")


def _is_site(step: Step) -> bool:
    base = step.opcode.split(".")[0]
    return base in ("ld", "st", "atom", "red", "ldmatrix", "stmatrix", "cp")


def _atomic(operation: str, t: str, bits: int, old: int, v: list[int]) -> int:
    if t[0] == "f":
        try:
            return meaning(f"{'add.rn' if operation == 'add' else operation}.{t}")[1](old, v[0])
        except NoMeaning:
            return v[0]
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


def requests(text, kernel: str, grid, block, parameters: bytes = b"", **options) -> list[Request]:
    """Every request of every site, in the order in which the twin runs them."""
    return Machine(text, kernel, grid, block, parameters, **options).run()
