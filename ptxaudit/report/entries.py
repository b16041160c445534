"""The parts of a report (`model`), plain frozen records: a kernel with its launch and sites, and what these consist
of.

Kernels and sites have a one-line `repr`: a report of a thousand sites is a megabyte of values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from msgspec import field

from ptxaudit.base import display
from ptxaudit.base.errors import InputError
from ptxaudit.base.places import line_of
from ptxaudit.base.records import KeyedRecord, Record
from ptxaudit.base.status import Status
from ptxaudit.base.words import cut_at, number, plural
from ptxaudit.report.entry import Entry
from ptxaudit.report.kernel_entries import Code, LaunchRecord, Occupancy, Share, Spills, Totals
from ptxaudit.report.mix import mix

MOST_NAME = 80


class Tool(Entry):
    """The program that wrote the report."""

    name: str
    version: str


class Input(Entry):
    """One input. kind: "cuda" | "ptx" | "cubin" | "fatbin" | "host" | …; log: the compiler's warnings, verbatim;
    command: the recorded program, if it is part of a recording."""

    path: str
    sha256: str
    kind: str
    toolchain: str | None = None
    log: str = ""
    command: str | None = None


class Problem(Entry):
    """Something that could not be checked: where, what is wrong, what to do."""

    what: str
    hint: str = ""
    file: str | None = None
    line: int | None = None
    column: int | None = None
    kernel: str | None = None
    detail: str = ""  # several lines to show verbatim, such as a compiler's log
    images: tuple[str, ...] = ()  # the file's images that are affected, if several

    @staticmethod
    def of(error: InputError, kernel: str | None = None) -> Problem:
        """The record of an error; `kernel` is the mangled name of the affected one."""
        place = error.file, error.line, error.column
        return Problem(error.what, error.hint, *place, kernel, error.detail, error.images)


class Frame(Entry):
    """`function` was inlined at file:line, whose text is `text` (null if not readable)."""

    file: str
    line: int
    function: str = ""
    text: str | None = None


class Source(Entry):
    """The position in the CUDA source; `inlined`: where it was inlined, innermost first."""

    file: str
    line: int
    column: int = 0
    text: str | None = None
    inlined: tuple[Frame, ...] = ()

    @property
    def places(self) -> tuple[Source | Frame, ...]:
        """Itself and where it was inlined, innermost first."""
        return (self, *self.inlined)


class Span(Entry):
    """An interval of whole numbers, ends included."""

    low: int
    high: int

    @property
    def exact(self) -> bool:
        return self.low == self.high


class Condition(Entry):
    """One case of a conditional answer: if `when` holds, a request costs low to high."""

    when: str
    low: int
    high: int
    ideal: int | None = None


class LaunchCase(Entry):
    """One case of the sums over a launch: if `when` holds, the site makes `requests`, which cost low to high in all.

    requests: null if only a range is known; active_requests: those with an active lane, null if unknown; ideal: of all
    requests, null if only a range is known.
    """

    when: str
    requests: int | None
    active_requests: int | None
    low: int
    high: int
    ideal: int | None = None


class Trip(Entry):
    """One trip of a loop, summed over the launch."""

    requests: int
    wavefronts: int
    ideal: int


class Seen(Entry):
    """The warps that make a request on their first-th to last-th visit to its site, from 0, which are the trips of
    the loops around it. warps: a mask, bit i for warp i of a block. Both trips are -1 where they are not
    distinguished."""

    first: int
    last: int
    warps: int


class Pattern(Entry):
    """One distinct request of a site, up to a shift of all its addresses that changes no figure.

    addresses: bytes, one per lane, 0 in inactive lanes; active: a mask, bit i for lane i. count: the number of such
    requests in the launch, null if unknown. low, high, ideal, ways: of one such request; low is -1 where no hardware
    counter covers its wavefronts. seen: which warps and trips made it, in a launch that was executed. turns: for a
    cp.async.ca with known sources, the round that serves each lane, from 1; else null.
    """

    addresses: tuple[int, ...]
    active: int
    count: int | None
    low: int
    high: int
    ideal: int
    ways: int
    seen: tuple[Seen, ...] = ()
    turns: tuple[int, ...] | None = None


class Moved(Entry):
    """A site's costliest request before and after a repair: byte offsets from the beginning of the array, one per
    lane; active: a mask; wavefronts: [before, after]."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    active: int
    wavefronts: tuple[int, int]


class Loop(Entry):
    """A natural loop that contains sites. file, first, last: the source lines of its instructions, null if unknown.
    offset, ptx_line: of its head; depth: 1 for an outermost loop; sites: their ids."""

    file: str | None
    first: int | None
    last: int | None
    offset: int | None
    ptx_line: int | None
    depth: int
    sites: tuple[str, ...]


class Why(KeyedRecord, forbid_unknown_fields=True):
    """A reason in a form for programs. kind: of `reasons.Kind`; data: it depends on data that no launch specifies;
    offset, ptx_line: of the instruction whose result became unknown; unknowns: names of the numbers that it concerns;
    arguments: by the kind's names for them; parts: the reasons that it combines; cause: the reason behind it."""

    kind: str
    data: bool
    offset: int | None = None
    ptx_line: int | None = None
    unknowns: tuple[str, ...] = ()
    arguments: dict[str, Any] = field(default_factory=dict)
    parts: tuple[Why, ...] = ()
    cause: Why | None = None

    def key(self) -> tuple[Any, ...]:
        return self.kind, self.data, self.offset, self.ptx_line, self.unknowns, self.parts, self.cause

    def walk(self) -> Iterator[Why]:
        """Itself, its parts and their causes, outermost first."""
        yield self
        for inner in (*self.parts, *filter(None, [self.cause])):
            yield from inner.walk()


class Pairing(Entry):
    """Accesses in the PTX and the accesses that ptxas made of them: ids of sites on both sides.

    what: "kept" | "merged" | "split" | "unrolled" (or duplicated otherwise) | "narrowed" (to what is used) |
    "expanded" (into other accesses: an atomic into a loop) | "deleted" | "added" (in machine code only); times: ×4;
    hoisted: out of a loop; by: "ptxas" (its own map), "position" (source position, access and order).
    """

    what: str
    times: int
    ptx: tuple[str, ...]
    sass: tuple[str, ...]
    hoisted: bool = False
    by: str = "ptxas"


class Replacement(Entry):
    """A replacement of part of a source file, from (line, column) to (end_line, end_column), from 1, end exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Fix(Entry):
    """The best repair of the array that a site accesses, as `ptxaudit fix` proves it. wavefronts, excess: of all
    sites of the array after the repair, as sums over the launch, or of one request of each; null where only a range
    is known. bytes: added. optimum: no layout of its family does better. replacements: the changes of the source,
    where they are simple. moved: the site's costliest request before and after it, if patterns were requested."""

    array: str
    summary: str
    declaration: str
    wavefronts: int | None
    excess: int | None
    bytes: int
    proved_for: str
    optimum: bool
    replacements: tuple[Replacement, ...] = ()
    moved: Moved | None = None


class Access(Entry):
    """One instruction that accesses a memory: `Site` for shared memory, `MemorySite` for the others. `requests` and
    `active_requests` are sums over the launch, the spans describe single requests; see the schema.

    space: "shared" | "global" | "local". kind: the purpose of a stack access: "spill" (of a register, also to shared
    memory), "frame" (of a call) or "array"; None for others, and where it is unknown.
    """

    id: str
    offset: int | None  # SASS: byte offset in the function
    ptx_line: int | None
    opcode: str
    text: str
    access: str
    width: int | None  # bytes per lane
    source: Source | None
    status: Status
    reason: str = ""
    reason_kind: str = ""  # the kind of `why`; of its first part if it has several
    why: Why | None = None  # the reason in a form for programs
    cause: str = ""  # why the figure is above ideal, in words
    requests: int | None = None
    active_requests: int | None = None
    bounds: tuple[int, int] | None = None
    per_request: Span | None = None
    ideal_per_request: Span | None = None
    excess_per_request: Span | None = None
    evidence: str = "by rule"
    formula: str = ""
    conditions: tuple[Condition, ...] = ()
    cases: tuple[LaunchCase, ...] = ()  # of the sums over the launch
    trips: tuple[Trip, ...] = ()
    consecutive: bool | None = None  # neighbouring lanes access neighbouring addresses
    unaligned: tuple[str, ...] | None = None  # unknowns whose step is not a multiple of the access's alignment
    lane_step: int | None = None  # bytes, a power of two: the lanes' addresses differ by multiples of it
    lane_step_most: int | None = None  # … in the requests whose addresses are known
    space: str = "shared"
    kind: str | None = None

    @property
    def settled(self) -> bool:
        """Its cost in this launch is known."""
        return self.status in (Status.EXACT, Status.UNREACHED)

    @property
    def alike(self) -> bool:
        """Its ways are those of its requests in this launch, whichever of its cases applies."""
        return self.status in (Status.EXACT, Status.INVARIANT) or bool(self.cases)

    @property
    def excess_by_case(self) -> tuple[int, int] | None:
        """The least and the most excess over the launch in any of its cases; None if one of them leaves it open."""
        each = [(case.low - case.ideal, case.high - case.ideal) for case in self.cases if case.ideal is not None]
        if not each or len(each) < len(self.cases):
            return None
        return max(0, min(low for low, _ in each)), max(0, *(high for _, high in each))


class Site(Access):
    """One shared-memory instruction. `wavefronts`, `ideal` and `excess` are sums over the launch, `ways` the maximum
    over its requests."""

    wavefronts: int | None = None
    ideal: int | None = None
    excess: int | None = None
    ways: int | None = None
    line_class_max: int | None = None
    line_class_proved: int | None = None
    lines: int | None = None
    lines_proved: int | None = None
    lines_ideal: int | None = None
    pairs_with: str | None = None
    pairing: Pairing | None = None
    fix: Fix | None = None  # if repairs were requested
    patterns: tuple[Pattern, ...] = ()  # if requested: the most frequent ones, and the costliest
    distinct: int | None = None  # the number of all its patterns
    scored_as: str = ""  # "ld.shared.f32 on sm_90": the rule that counts it, if patterns were requested

    def __repr__(self) -> str:
        return site_line(self)

    def _repr_html_(self) -> str:
        return display.html("site_html", self)

    @property
    def paid(self) -> int | None:
        """Its cost over the launch in its memory's unit; `needed` is the ideal, `wasted` the excess."""
        return self.wavefronts

    @property
    def needed(self) -> int | None:
        return self.ideal

    @property
    def wasted(self) -> int | None:
        return self.excess


class MemorySite(Access):
    """One instruction that accesses global or local memory. `sectors` to `bytes_used` are sums over the launch, the
    spans are in sectors of 32 bytes.

    tag_requests: lines of 128 bytes. bytes_moved: by those sectors; bytes_used: by the active lanes. same_address:
    for atomics, the most lanes of a request on one address. misaligned: it would take fewer sectors if its first
    address were a multiple of 32. aligned: bytes, a power of two that is known to divide every address. vector: the
    bytes that it and the following accesses, at the next addresses of the same lane, would move as one access.
    """

    sectors: int | None = None
    sectors_ideal: int | None = None
    sectors_excess: int | None = None
    tag_requests: int | None = None
    bytes_moved: int | None = None
    bytes_used: int | None = None
    same_address: int | None = None
    misaligned: bool | None = None
    aligned: int | None = None
    vector: int | None = None
    patterns: tuple[Pattern, ...] = ()  # as in `Site`; low, high and ideal are sectors
    distinct: int | None = None

    @property
    def paid(self) -> int | None:
        """As in `Site`."""
        return self.sectors

    @property
    def needed(self) -> int | None:
        return self.sectors_ideal

    @property
    def wasted(self) -> int | None:
        return self.sectors_excess

    def __repr__(self) -> str:
        return memory_site_line(self)


AnySite = Site | MemorySite


class Local(Entry):
    """An access to local memory whose address differs between lanes, by the "lane"'s number or by loaded "data"."""

    opcode: str
    text: str
    by: str
    offset: int | None
    ptx_line: int | None
    source: Source | None


class Suppression(Entry):
    """`// ptxaudit: allow(RULE, "reason")` at a line of a source. target: the line that it applies to; statement:
    first and last line of the statement there, if it spans several lines."""

    rule: str
    reason: str
    file: str
    line: int
    target: int
    statement: tuple[int, int] | None = None

    @property
    def targets(self) -> range:
        """All lines that it applies to: compilers attribute a statement to any of its lines."""
        first, last = self.statement or (self.target, self.target)
        return range(first, last + 1)


class Kernel(Record, dict=True):
    """One kernel in one instruction set, under one launch or none; sites in program order."""

    name: str
    demangled: str
    isa: str
    arch: str
    input: str
    machine: str
    launch: LaunchRecord | None
    assumed: tuple[str, ...]
    notes: tuple[str, ...]
    shared_static: int  # bytes
    sites: tuple[Site, ...]
    registers: int | None = None  # per thread, in machine code; None if there is none
    instructions: int | None = None  # without padding
    local: tuple[Local, ...] = ()
    stack: int | None = None  # bytes per thread, including callees; in machine code, as registers
    barriers: int | None = None  # per block
    spills: Spills | None = None
    occupancy: Occupancy | None = None  # if the block and the registers are known
    code: Code | None = None  # None in a report of an earlier version
    loops: tuple[Loop, ...] = ()  # if patterns were requested
    memory: tuple[MemorySite, ...] = ()  # accesses to global and local memory, if requested; in JSON among the sites
    loop_shares: tuple[Share, ...] = ()  # costliest first, if requested
    line_shares: tuple[Share, ...] = ()
    shares_say: tuple[str, ...] = ()  # where the excess arises, one sentence per memory
    spaces: tuple[str, ...] = ("shared",)  # the memories whose accesses were examined

    def __repr__(self) -> str:
        return kernel_line(self)

    @property
    def accesses(self) -> tuple[AnySite, ...]:
        """The accesses to shared memory, then those to global and local memory."""
        return (*self.sites, *self.memory)

    def of(self, space: str) -> tuple[AnySite, ...]:
        """The accesses to one memory."""
        return self.sites if space == "shared" else tuple(site for site in self.memory if site.space == space)

    @property
    def is_ptx_file(self) -> bool:
        """Its input is PTX, so that PTX line numbers refer to the input."""
        text = self.input.startswith("<") and not any(site.source for site in self.accesses)
        return self.isa == "ptx" and (text or self.input.lower().endswith(".ptx"))

    @cached_property
    def totals(self) -> Totals:
        return totals(self.sites)

    @cached_property
    def mix(self) -> dict[str, int] | None:
        """Instructions by class; None where the report does not include them."""
        return None if self.code is None else mix(self.code.opcodes)


def totals(sites: Iterable[Site]) -> Totals:
    """Sums over the settled sites."""
    sites = tuple(sites)
    settled = [site for site in sites if site.settled]
    return Totals(
        sites=len(sites),
        status=dict(sorted(Counter(str(site.status) for site in sites).items())),
        complete=len(settled) == len(sites),
        requests=sum(site.requests or 0 for site in settled),
        wavefronts=sum(site.wavefronts or 0 for site in settled),
        ideal=sum(site.ideal or 0 for site in settled),
        excess=sum(site.excess or 0 for site in settled),
        ways=max((site.ways for site in sites if site.ways is not None), default=None),
    )


# --- in one line ---


def kernel_line(kernel: Kernel) -> str:
    """ "<Kernel float_32_pitch_32: sm_90 ptx, grid 2×2, block 32×32, 2 sites, 3,968 excess of 4,224 wavefronts>"."""
    facts = [f"{kernel.arch} {kernel.isa}"]
    if kernel.launch:
        facts.append(str(kernel.launch))
    facts += [plural(len(kernel.sites), "site"), *paid(kernel.totals.excess, kernel.totals.wavefronts)]
    return f"<Kernel {cut_at(kernel.demangled, MOST_NAME)}: {', '.join(facts)}>"


def site_line(site: Site) -> str:
    """ "<Site transpose.cu:11 ld.shared.f32: exact, 4,096 wavefronts, ideal 128>"."""
    cost = "" if site.wavefronts is None else f", {number(site.wavefronts)} wavefronts, ideal {number(site.ideal)}"
    return f"<Site {_where(site)} {site.opcode}: {site.status}{cost}>"


def memory_site_line(site: MemorySite) -> str:
    """ "<MemorySite k.cu:4 ld.global.f32: exact, 256 sectors, ideal 128>"."""
    cost = "" if site.sectors is None else f", {number(site.sectors)} sectors, ideal {number(site.sectors_ideal)}"
    return f"<MemorySite {_where(site)} {site.opcode}: {site.status}{cost}>"


def paid(excess: int, wavefronts: int) -> list[str]:
    return [f"{number(excess)} excess of {plural(wavefronts, 'wavefront')}"] if wavefronts else []


def _where(site: Site | MemorySite) -> str:
    if site.source is not None:
        return line_of(site.source)
    return f"PTX line {site.ptx_line}" if site.ptx_line is not None else f"+{site.offset or 0:#06x}"
