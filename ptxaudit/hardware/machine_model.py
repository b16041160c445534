"""The records of a machine: counts, rules, machines. Data only; `banks` does the counting.

Terms
    lane     one thread of a request; a machine schedules `lanes` of them together (a warp)
    group    lanes that are served together; each group of a request costs its own wavefronts
    unit     the bytes that a lane accesses at once: its width, but at least one word
    slot     the banks that one unit covers: slot = (address / unit) mod slots
    row      bytes after which a slot holds other data: two lanes of a slot are on *equal words*
             if address / row is the same

For 32 banks of 4 bytes and 128-bit accesses, a unit is 16 bytes, there are 8 slots, and a row is 128 bytes. This is
exact, not a simplification: an aligned unit always covers all banks of its slot, so counting words per bank and
counting units per slot give the same maximum.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import field

from ptxaudit.base.records import Record
from ptxaudit.ir.access import Access

MATRIX_ROWS = 8  # lanes that provide the row addresses of one 8 x 8 matrix
MATRIX_ROW_BYTES = 16
SOURCE_LINE = 128  # bytes of a global cache line, from which cp.async reads its source
OTHERWISE = {"generic load": "load"}  # operations without their own row -> the operation whose row applies


class Counted(StrEnum):
    """What is counted per slot; the wavefronts of a group are the maximum over its slots."""

    WORDS = "words"  # distinct words: lanes on equal words are served together
    LANES = "lanes"  # lanes: those on one word serialise
    STEPS = "steps"  # a step serves all lanes of one broadcast word, and one lane of each other slot
    ONCE = "once"  # nothing: every group costs the same whatever its addresses
    LINES = "lines"  # cp.async.cg: pairs (group, destination line) per class of lines; not wavefronts
    SECTORS = "sectors"  # global memory: distinct sectors (`memory.sectors`)
    INTERLEAVED = "interleaved"  # local memory: the same, in its interleaved layout


class Uncertainty(StrEnum):
    """Why a rule gives a range, if it does. The low end is always the rule's `count`."""

    NONE = ""
    COUNT = "count"  # the high end is the rule's second count
    WAYS = "ways"  # the same, and the second count is known to hold for the worst group
    SOURCES = "sources"  # cp.async.ca: depends on the source addresses, and on what is in L1 (`banks.copies`)
    PASSES = "passes"  # a loop: the second count is that of one more instruction per pass; `turns` bounds the passes


class Count(Record):
    """How one request is counted.

    lanes: lanes per group. unit, row: bytes. slots: number of slots.
    paired: lanes per group if every active lane agrees with lane i^1, or every one with i^2 (the same one for all
    active lanes; inactive lanes agree with anything); 0 = no such merge.
    factor: multiplies the counted figure. extra: added to it for each group with an active lane.
    """

    what: Counted
    lanes: int
    unit: int
    slots: int
    row: int
    paired: int = 0
    factor: int = 1
    extra: int = 0


class Rule(Record, eq=False):
    """One row of a machine's table: how an operation of these widths is counted.

    operation: as `banks.Access.operation`. widths: bytes per lane.
    shift: bytes; adding any multiple of it to all addresses changes no count.
    split: the number of one-word requests that the access is broken into.
    turns: bounds the passes of a loop; None = the maximum number of lanes on one unit.
    says: the rule in words; source: key of the machine's `sources`; why: why only a range is known.
    """

    operation: str
    widths: tuple[int, ...]
    count: Count
    shift: int
    says: str
    source: str
    uncertainty: Uncertainty = Uncertainty.NONE
    second: Count | None = None
    turns: Count | None = None
    split: int = 1
    why: str = ""


class Source(Record):
    """The origin of a rule: a document or a measurement."""

    text: str
    url: str = ""


class SpecialFunctions(Record):
    """Measurements of the special function unit (MUFU), beyond its documentation.

    unit: the unit with these results, a key of `engine.ops.operations.UNITS`. measured: functions whose result was
    measured for every input ("rcp", "ex2.f16"; `engine.ops.mufu` has them). division_check: so was FCHK.
    """

    unit: str = ""
    measured: frozenset[str] = frozenset()
    division_check: bool = False


class Measurements(Record):
    """The measurements of one GPU: a file of `hardware/measurements`.

    name: short, the key of its source ("H200"). machines: those that it is evidence for. device, driver, profiler,
    files: the origin of the requests; timed: where the cycles are. requests: {SASS opcode, or for loops PTX opcode:
    number of measured requests}; every other opcode is *by rule*. products: SASS opcodes of wgmma with a counted
    charge.
    uncounted: opcodes that the wavefront counters do not see.
    line_cycles: of cp.async.cg that reads the same sources repeatedly, 8 warps per block, as (k low, k high, cycles
    low, high) per request; fresh_cycles: of requests that each read new sources, with one block in all or one per
    multiprocessor, waiting after every 8 copies or at the end. copy_cycles: of cp.async.ca, per wavefront and once
    per request. special: of the special function unit.
    """

    name: str = ""
    machines: tuple[str, ...] = ()
    device: str = ""
    driver: str = ""
    profiler: str = ""
    files: tuple[str, ...] = ()
    timed_on: str = ""  # the device of `timed`, if it is another
    timed: str = ""
    requests: dict[str, int] = field(default_factory=dict)
    products: frozenset[str] = frozenset()
    uncounted: frozenset[str] = frozenset()
    line_cycles: tuple[tuple[int, int, float, float], ...] = ()
    fresh_cycles: tuple[tuple[int, int, float, float], ...] = ()
    copy_cycles: tuple[float, float] | None = None
    special: SpecialFunctions = SpecialFunctions()

    @property
    def sources(self) -> dict[str, Source]:
        """The sources for rules based on these measurements."""
        counted = sum(n for opcode, n in self.requests.items() if opcode[0].isupper() and "BYPASS" not in opcode)
        found = {
            self.name: Source(
                f"{counted:,} single requests by hardware counter on an {self.device} ({self.machines[0]}),"
                f" {self.profiler}, driver {self.driver}: {', '.join(self.files)}"
            )
        }
        if self.timed:
            cycles = (
                f"cycles per request of cp.async on an {self.timed_on or self.device}, by destination: {self.timed}"
            )
            found[f"{self.name} cycles"] = Source(cycles)
        return found


NOT_MEASURED = Measurements()


class Machine(Record, eq=False):
    """How one generation splits a shared-memory request.

    banks: number. word: bytes that a bank serves at once. lanes: threads scheduled together.
    archs: the architecture names it covers. rules: the table. refused: {operation: reason}.
    machine_code: "" or why machine code cannot be scored. measurements: of it. fragments: the generation in
    `ptx.fragments` that defines what wmma.load and wmma.store become, "" if there is none.
    memory, memory_measured: the table of global and local memory, {instruction and bits per lane: measured sites}.
    """

    name: str
    title: str
    banks: int
    word: int
    lanes: int
    rules: tuple[Rule, ...]
    sources: dict[str, Source]
    archs: tuple[str, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)
    machine_code: str = ""
    measurements: Measurements = NOT_MEASURED
    notes: tuple[str, ...] = ()
    fragments: str = ""
    memory: tuple[Rule, ...] = ()
    memory_measured: dict[str, int] = field(default_factory=dict)

    def rule(self, access: Access) -> Rule | None:
        """The row for an access, or None."""
        rules = self.rules if access.space == "shared" else self.memory
        for operation in (access.operation, OTHERWISE.get(access.operation)):
            for rule in rules:
                if rule.operation == operation and access.width in rule.widths:
                    return rule
        return None

    def known_rule(self, access: Access) -> Rule:
        """The row for an access that this machine does not refuse. Raises LookupError if there is none."""
        rule = self.rule(access)
        if rule is None:
            raise LookupError(access.opcode)
        return rule

    def refusal(self, access: Access) -> str:
        """Why this machine does not score the access; "" if it does."""
        if access.unscored:
            return access.unscored
        if access.isa == "sass" and self.machine_code:
            return self.machine_code
        if self.rule(access) is None:
            return self.refused.get(access.operation) or f"{self.name} has no rule for {access.opcode}"
        return ""

    def invariant_shift(self, access: Access) -> int:
        """Bytes: a uniform shift of all addresses by any multiple of it changes no figure.

        Each rule of the record states it. Raises LookupError if there is no rule.
        """
        rule = self.rule(access)
        if rule is None:
            raise LookupError(self.refusal(access))
        return rule.shift

    def why_range(self, access: Access) -> str:
        """Why some requests of this access have a range instead of an exact figure; "" if the rule gives no range."""
        rule = self.rule(access)
        return access.rewrite or ("" if rule is None else rule.why)

    def source_shift(self, access: Access) -> int:
        """The same for the source addresses of a cp.async: bytes; 1 if they do not matter."""
        rule = self.rule(access)
        return SOURCE_LINE if rule is not None and rule.uncertainty is Uncertainty.SOURCES else 1

    def charge(self, access: Access, first: str | None) -> int | None:
        """Wavefronts that the counter charges per warpgroup for an access without a rule for its lanes; None if
        unknown.

        first: "shared" | "registers", the location of a wgmma's first factor.
        """
        if access.charge is None:
            return None
        if not any(access.charge):
            known = self.measurements.uncounted
            return 0 if known and (access.isa == "ptx" or access.sass in known) else None
        return None if first is None else access.charge[first == "shared"]

    def evidence(self, access: Access) -> str:
        """ "measured" if this very machine instruction, or loop, was measured on this machine, else "by rule"."""
        if access.space != "shared":
            return "measured" if access.sass in self.memory_measured else "by rule"
        known = self.measurements
        found = access.loop in known.requests or any(
            access.sass in measured for measured in (known.requests, known.products, known.uncounted)
        )
        return "measured" if found else "by rule"

    def cycles_of(self, k: int, fresh: bool = False) -> tuple[float, float] | None:
        """Cycles of one cp.async.cg request with this k, as (low, high); None outside the measured range.

        Between two measured k, from the low of the smaller to the high of the larger. fresh: each request reads new
        sources; otherwise the same ones repeatedly.
        """
        rows = self.measurements.fresh_cycles if fresh else self.measurements.line_cycles
        below = [row for row in rows if row[0] <= k]
        above = [row for row in rows if row[1] >= k]
        return (below[-1][2], above[0][3]) if below and above else None
