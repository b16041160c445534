"""Reasons why something is unknown: a kind from one table, with its arguments.

    Reason(Kind.NO_MEANING, 12, ("brev",))                    "the unmodelled operation brev"
    Reason(Kind.RUNS, 30, cause=Reason(Kind.LOADED, 28))      "whether it runs is unknown: @%p1 bra L depends on …"

Decisions depend on the kind, never on its words: `sentence` makes the words only for output, from the kind's row in
the table and the function's instructions. To add a kind, add a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from functools import cached_property, lru_cache
from string import Formatter
from typing import TYPE_CHECKING, Any

from msgspec.structs import force_setattr

from ptxaudit.base.records import Record
from ptxaudit.base.words import listing
from ptxaudit.ir import operation_words
from ptxaudit.ir.placed import place_of
from ptxaudit.ir.unknown_words import (
    Unknown,
    called,
    in_formula,
    listed,
    named,
    of_unknowns,
    option,
    without_inversion,
)

if TYPE_CHECKING:
    from ptxaudit.base.work import Exhausted
    from ptxaudit.ir.nodes import Function

MOST_NAMED = 3  # reasons, or pointers, named in one sentence


class Row:
    """words: a sentence with {at} for the instruction's text, {cause}, {unknowns}, and otherwise the reason's
    arguments in order; or a function that makes it. data: the cause is loaded data (as opposed to something that a
    launch can specify, or that the analysis cannot do). names: of the arguments, if `words` is a function.
    """

    def __init__(self, words: str | Callable[[Reason, Words], str], data: bool = False, names: tuple[str, ...] = ()):
        self.words, self.data = words, data
        fields = [name for _, name, _, _ in Formatter().parse(words) if name] if isinstance(words, str) else []
        self.names = names or tuple(name for name in dict.fromkeys(fields) if name not in ("at", "cause", "unknowns"))
        self.placed = "at" in fields


def _parts(reason: Reason, words: Words) -> str:
    texts = list(dict.fromkeys(words.of(part) for part in reason.given))
    return "; ".join(text for text in texts if not any(other.startswith(f"{text}: ") for other in texts))


def _lanes(reason: Reason, words: Words) -> str:
    names = list(dict.fromkeys(words.of(part) for part in reason.given))
    return "which lanes are active depends on " + "; ".join(names[:MOST_NAMED])


def _multiplies(reason: Reason, words: Words) -> str:
    names = list(dict.fromkeys(called(u.name) for u in reason.unknowns))
    return f"{' and '.join(names)} {'multiplies' if len(names) == 1 else 'multiply'} the lane index"


def _depends(reason: Reason, words: Words) -> str:
    unknowns = (
        f"{called(u.name)}, which is not specified ({told})" if (told := option(u)) else called(u.name)
        for u in reason.unknowns
    )
    return "depends on " + ", and ".join(dict.fromkeys(unknowns))


def _asked(reason: Reason, words: Words) -> str:
    names, options = reason.given
    verb = "is" if len(names) == 1 else "are"
    return (
        f"depends on {listing(list(names))}, which {verb} not specified ({', '.join(options)}): {words.cause(reason)}"
    )


def _hint(reason: Reason, words: Words) -> str:
    (pointers,) = reason.given
    return f"specify the data ({', '.join(f'--param {name}=@FILE' for name in pointers[:MOST_NAMED])})"


def _data_decides(reason: Reason, words: Words) -> str:
    (pointers,) = reason.given
    more = " and others" if len(pointers) > MOST_NAMED else ""
    return f"the data of {listing(list(pointers[:MOST_NAMED]))}{more} decides it"


def _stores_may_reach(reason: Reason, words: Words) -> str:
    specified, pointers = reason.given
    called = [f"parameter {name}" if name.isdecimal() else name for name in pointers[:MOST_NAMED]]
    what = "what it points to" if len(pointers) == 1 else "what they point to"
    options = ", ".join(f"--param {name}=@FILE" for name in pointers[:MOST_NAMED])
    return (
        f"the kernel stores through {listing(called)}, which may point into the specified data of"
        f" {listing(list(specified[:MOST_NAMED]))}: specify {what}, too ({options})"
    )


def _data_may_change(reason: Reason, words: Words) -> str:
    (pointers,) = reason.given
    return f"the kernel may change the specified data of {listing(list(pointers[:MOST_NAMED]))}"


def _addressed_hint(reason: Reason, words: Words) -> str:
    pointers, addresses = reason.given
    what = [f"{name} ({address})" for name, address in zip(pointers, addresses)]
    return (
        f"the data of {listing(what[:MOST_NAMED])} can be captured (ptxaudit record --arrays BYTES) or specified"
        f" (memory at {addresses[0]} in the launch file)"
    )


def _runs_if(reason: Reason, words: Words) -> str:
    taken, always = reason.given
    name = reason.unknowns[0].name if reason.unknowns else "?"
    name, inverted = without_inversion(name)
    taken = taken is not inverted
    compared = any(sign in name for sign in ("==", "!=", "<", ">"))
    condition = in_formula(name) if compared else f"{called(name)} is true"
    if always:
        return f"it runs {'if' if taken else 'unless'} {condition}"
    return f"it runs only if {condition}" if taken else f"it does not run if {condition}"


def _how_often(reason: Reason, words: Words) -> str:
    (cost,) = reason.given
    cause = words.cause(reason)
    each = f"{cause}; each request with an active lane costs {f'{cost:,}' if isinstance(cost, int) else cost}"
    return each if cause.startswith("it ") else f"{each}, only their number is unknown"


def _cost_alike(reason: Reason, words: Words) -> str:
    return _lanes(reason, words) + ", which does not change the cost of a request with an active lane"


def _with_cause(text: str) -> Callable[[Reason, Words], str]:
    def words_of(reason: Reason, words: Words) -> str:
        return text.format(*reason.given) + (f": {words.cause(reason)}" if reason.cause is not None else "")

    return words_of


def _of_space(text: str) -> Callable[[Reason, Words], str]:
    """Adds the inputs of the address, if they are numbers and there is no other cause."""

    def words_of(reason: Reason, words: Words) -> str:
        found = _sources(reason)
        said = _with_cause(text)(reason, words)
        return f"{said}: it is computed from {listed(found)}" if found and reason.cause is None else said

    return words_of


def _not_understood(reason: Reason, words: Words) -> str:
    operation, said = reason.given
    return f"the unmodelled operation {operation}" + (f": {said}" if said else "")


def _loaded(reason: Reason, words: Words) -> str:
    return "a value loaded from memory" + words.where(reason.index)


def _of_unknown_sources(reason: Reason, words: Words) -> str:
    """The operation, its line, and its inputs: the lines of data loads if any, else the unspecified numbers."""
    (operation,) = reason.given
    found = _sources(reason)
    of = listed(found) if found else "unknown values"
    where = words.where(reason.index)
    return f"{operation_words.called(str(operation))}{f'{where}, computed from' if where else ' of'} {of}"


def _sources(reason: Reason) -> list[str]:
    return of_unknowns([u for u in reason.unknowns if u.data and u.name]) or of_unknowns(reason.unknowns)


def _read(text: str) -> Row:
    """A row for a value read back from shared memory."""
    return Row(_with_cause(f"a value read from shared memory {text}"), data=True)


class Kind(Enum):
    """The kinds of reasons. `reason_kind` in reports is the name in lower case."""

    # the value of a register
    LOADED = Row(_loaded, data=True)
    LOADED_BY_ATOMIC = Row("a value that an atomic operation returns", data=True)
    LOADED_WHERE_WRITTEN = Row(
        "a value loaded from a specified buffer that the kernel may overwrite (specify every pointer that it stores"
        " through)",
        data=True,
    )
    LOADED_AS_WRITTEN = Row("a value loaded from bytes of a specified buffer that the launch may overwrite", data=True)
    LOADED_OUTSIDE = Row("a value loaded from outside the specified buffers", data=True)
    LOADED_WIDE = Row("a {bits}-bit load")
    MAY_BE_LOCAL = Row("a value loaded through an address that may be in local memory", data=True)
    CONSTANT_MEMORY = Row("a load from constant memory with unknown contents")
    PARAMETER_INDEX = Row("a parameter read at an unknown index")
    LOCAL_PLACE = Row("a value read from local memory with unknown contents")
    WIDE_SPILL = Row("a spill of more than 64 bits")
    WIDE_REGISTER = Row("a {bits}-bit register")
    UNWRITTEN = Row("{register} is read before it is written")
    UNWRITTEN_IN_SOME = Row("{register} is not written in every warp")
    NO_RESULT = Row("nothing is written")
    BARRIER_ANSWER = Row("the result of a barrier", data=True)
    NOT_BEFORE_THE_RUN = Row("%{name} is known only at run time")
    NOT_EXPRESSED = Row("{said}")  # a source operand that a lifter cannot express
    NO_MEANING = Row("the unmodelled operation {operation}")
    NOT_UNDERSTOOD = Row(_not_understood, names=("operation", "said"))  # said: the part that a lifter does not model
    WITHIN_ERROR = Row("the result of {operation}, known only to within its documented error")
    UNDEFINED = Row("the undefined result of {operation}")
    UNKNOWN_SOURCES = Row(_of_unknown_sources, names=("operation",))
    UNKNOWN_CARRY = Row("an unknown carry")
    CARRY_OF_UNKNOWNS = Row("the carry of a sum of unknown values")
    BIT_OF_UNKNOWN = Row("bit 0 of an unknown value")
    PREDICATE_AS_NUMBER = Row("an unknown predicate used as a number")
    NOT_OF_UNKNOWN = Row("the negation of an unknown predicate")
    MANY_TERMS = Row("a sum of too many unknown values")
    MANY_ALTERNATIVES = Row("a sum of too many alternatives")
    MANY_FACTORS = Row("a product of too many unknown values")
    NOT_IN_SPACE = Row("a generic address not known to be in {space} memory")
    STATE_SPACE = Row("a generic address with an unknown state space")
    SHUFFLE_LANE = Row("a shuffle from an unknown lane")
    SHUFFLE_INACTIVE = Row("a shuffle from an inactive lane")
    MATCH = Row("match on unknown values")
    OF_ITS_GROUP = Row("a result that each group of lanes computes separately", data=True)
    ELECT = Row("elect with an unknown mask")
    FIRST_LANE = Row("the value of the first active lane, which is not known")
    GUARDED_COMPARISON = Row("a comparison under an unknown predicate")
    LOOP_STEP_BY_LANE = Row("{register} changes in a loop by a different amount in each lane")
    LOOP_NOT_MODELLED = Row("{register} changes in a loop in a way that is not modelled")
    LOOP_EXITS_DIVERGE = Row("a value that differs between lanes that leave a loop in different iterations")
    ROUNDS_DIFFER = Row("not the same in every iteration")
    UPPER_HALF = Row("the upper half of an address")
    TWO_WIDTHS = Row("{register} is used with two widths")
    CHOICE = Row("a selection with an unknown condition")
    ONE_OF_TWO = Row("{register} takes one of two values")
    ONE_OF_TWO_BY_LANE = Row(_with_cause("{} takes one of two values, by lane"), names=("register",))
    ROUTINE = Row("changed by {callee}, which is called from several places")

    # a value read back from shared memory
    READ_NEVER_WRITTEN = _read("that no known store wrote")
    READ_UNKNOWN_VALUE = _read("where an unknown value was stored")
    READ_NO_ORDER = _read("where threads store different values in no defined order")
    READ_COPIED = _read("that an asynchronous copy fills")
    READ_AFTER_UNPLACED_STORE = _read("after a store to an unknown address")
    READ_BETWEEN_BARRIERS = _read("that another thread writes between the same barriers")
    READ_UNPLACED = _read("at an unknown address")

    # predicates, branches, addresses
    UNKNOWNS = Row("{unknowns}")
    PREDICATE = Row("an unknown predicate")
    BRANCH_TARGET = Row("an unknown branch target")
    BRANCH_OPEN = Row("a branch with an unknown condition")
    BRANCHES = Row("earlier branches")
    MASKS_NAMED = Row("the member masks at {at}")
    ADDRESS = Row("an unknown address")
    LOW_BITS = Row("an address with only its low bits known")
    WRAPS = Row("whether a 32-bit index wraps around within a warp is unknown")
    MULTIPLIES = Row(_multiplies)
    SEVERAL_ARRAYS = Row("an address computed from several arrays")
    MANY_PLACES = Row("its requests have more than {most} different addresses")
    MANY_REQUESTS = Row("the launch issues more than {most} of its requests")
    GENERIC = Row(_of_space("whether a generic address is in shared memory is unknown"))
    GENERIC_SPACE = Row(_of_space("whether a generic address is in {} memory is unknown"), names=("space",))
    REMOTE = Row("{said}")
    MAY_BE_REMOTE = Row(_with_cause("whether the address is in another block of the cluster is unknown"))
    SOME_ELSEWHERE = Row("some of its requests go to other memory and are not counted here")
    MIXED_SPACES = Row("the cost that lanes accessing other memory add to a request is not measured")
    MAY_FAULT = Row("{unknowns} may misalign the address of a {width}-byte access, which would fault")
    MISALIGNED = Row("{said}: the hardware faults")

    # the execution of a launch
    TAKES_PART = Row("whether a lane is active is unknown: {cause}")
    ENDS = Row("whether lanes exit at {at} is unknown: {cause}")
    MAY_END = Row("lanes may exit at {at}, in a routine that is called from several places")
    RUNS = Row("whether it runs is unknown: {at} depends on {cause}")
    RUNS_IF = Row(_runs_if, names=("taken", "always"))  # for a branch that all lanes of a warp take, or none
    BY_CASE = Row("its sums over the launch depend on {unknowns}")
    DIVERGED = Row("lanes may have diverged at {at}, which depends on {cause}")
    BARRIER_SHARED = Row("several groups of lanes wait at one convergence barrier: {at}")
    BARRIER_OPEN = Row("the lanes that {at} waits for are unknown")
    NO_BARRIER = Row("lanes that reach {at} on different paths do not wait for each other")
    MAY_JOIN = Row("groups of lanes of a warp may reconverge at {at}")
    CALLS_JOIN = Row("lanes in different calls of one routine may reconverge at {at}")
    CALLS_TOGETHER = Row("lanes in different calls of one routine may issue one request together")
    TRIPS_TOGETHER = Row("lanes in different iterations of a loop may issue one request together")
    WAITS_FOR_EVER = Row("lanes wait at {at} for lanes that wait elsewhere")
    YIELD = Row("waiting lanes may continue without the others at YIELD")
    CALLS_DIVERGE = Row("lanes call different functions at {at} and may return diverged")
    RETURN_DIVERGED = Row("lanes may return diverged from a recursive function, called at {at}")
    CALL_DEPTH = Row("calls are nested too deeply")
    EXHAUSTED = Row("budget: {work} takes more than {limit} {unit}; raise --budget")
    MANY_WARPS = Row("the launch has more than {limit} kinds of warps")
    NEVER_ISSUED = Row(_with_cause("never issued in this launch"))
    NOT_TRACKED = Row("what it reads from shared memory is not modelled: {cause}")
    CALL_NOT_RESOLVED = Row("{at} is not modelled")
    GIVEN_BACK = Row("the return value of {callee}")
    WRITES_ASTRAY = Row("where or when {opcode} writes is unknown")
    NEVER_LEFT = Row(lambda reason, words: f"the loop{words.where(reason.index)} does not end in this launch")
    SPINS = Row("a loop waits for a store by another warp")
    STORE_TO_CLUSTER = Row("a store may go to another block of the cluster")
    STORE_UNPLACED = Row("a store to an unknown address may change it between the same barriers")
    RACE = Row("threads read and write it between the same barriers")
    MANY_BYTES = Row("too many blocks or bytes to track")
    LANES_WAIT = Row("lanes wait for others of their warp that wait at a barrier")
    BARRIERS_DIFFER = Row("warps of a block wait at different barriers")
    BARRIER_MISSED = Row("some warps do not reach a barrier")

    # a site
    JUMP_NOT_RESOLVED = Row("the target of {at} is unknown and may be anywhere")
    HIDDEN = Row("an unmodelled call may lead there: {at}")
    PLACE_OF_CODE = Row("depends on the addresses of functions, which are assigned at load time")
    NO_PATH = Row("no path leads there")
    NO_RULE = Row("{opcode} has no rule: {said}")
    NOT_SCORED = Row("{said}")  # according to the table of accesses, or the machine's
    COPY_LINES = Row("cp.async.cg: profilers do not count its wavefronts; its cost is given in steps")
    COPY_LINE_CLASS = Row("cp.async.cg: profilers do not count its wavefronts; its cost is given in steps")
    ZERO_LANES = Row("which lanes write zeros, which take no step, is unknown: an upper bound")
    SAME_WORDS = Row("which lanes share a word is unknown")
    BASE = Row("the base of the addresses, their unknown part that all lanes share, is unknown modulo {shift} bytes")
    RULE_RANGE = Row("{said}")  # why the machine's rule gives a range
    REQUEST_RANGE = Row("the rule gives a range for this request")
    REQUESTS_DIFFER = Row("requests of this site differ")
    IRREDUCIBLE = Row("irreducible control flow")
    SEVERAL_ENTRIES = Row("a loop with several entries")
    BY_SHAPE = Row("depends on the block's shape, which is not specified (--block)")
    NO_SHAPE_REACHES = Row(
        "depends on the block's shape, which is not specified (--block): no lane of the assumed shapes reaches it"
    )
    BY_LAST_WARP = Row(
        "depends on how many lanes the block's last warp has: the block's size is not specified (--block)"
    )
    NEVER_SHARED = Row("a generic access that never goes to shared memory")
    NEVER_THERE = Row("a generic access that never goes to {space} memory")
    NO_LANE = Row("no lane can reach it with the specified values")
    NO_LANE_TAKES_PART = Row("no lane is active in any of its requests")
    DEPENDS = Row(_depends)
    LANES = Row(_lanes)
    LANES_COST_ALIKE = Row(_cost_alike)
    HOW_OFTEN = Row(_how_often, names=("cost",))
    ADDRESSES_COST_ALIKE = Row("every request with an active lane costs the same, regardless of its addresses")
    ASKED = Row(_asked, names=("names", "options"))
    DATA_CAN_BE_SPECIFIED = Row(_hint, names=("pointers",))
    STORES_MAY_REACH = Row(_stores_may_reach, names=("specified", "pointers"))
    DATA_MAY_CHANGE = Row(_data_may_change, names=("pointers",))
    DATA_DECIDES = Row(_data_decides, names=("pointers",))  # and cannot be specified
    DRAWN = Row(
        "it depends on the value that a block takes from an atomic counter: specify where the counter starts (--param"
        " {pointer}=@zeros:1:{type})"
    )
    DATA_AT_ADDRESSES = Row(_addressed_hint, names=("pointers", "addresses"))
    SEVERAL = Row(_parts)  # all of its parts

    @cached_property
    def row(self) -> Row:
        return self.value

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        return getattr, (Kind, self.name)

    @cached_property
    def text(self) -> str:
        """The name in reports."""
        return self.name.lower().replace("_", "-")


class Reason(Record):
    """kind: see there. index: the instruction whose result is unknown (-1: none). given: the arguments that the kind's
    row names: texts, numbers, or reasons; unknowns: the numbers involved; cause: the underlying reason.

    data: whether its kind, an unknown, an argument or its cause is due to unspecified data.
    """

    kind: Kind
    index: int = -1
    given: tuple[Any, ...] = ()
    unknowns: tuple[Unknown, ...] = ()
    cause: Reason | None = None
    data: bool = False  # computed, whatever is passed

    def __post_init__(self) -> None:
        data = (
            self.kind.row.data
            or self.cause is not None
            and self.cause.data
            or any(u.data for u in self.unknowns)
            or any(isinstance(one, Reason) and one.data for one in self.given)
        )
        force_setattr(self, "data", data)

    def __str__(self) -> str:
        return sentence(self)

    def beside(self, unknown: Unknown) -> Reason:
        """The same with one more unknown."""
        return Reason(self.kind, self.index, self.given, (*self.unknowns, unknown), self.cause)

    def at(self, index: int) -> Reason:
        """The same at another instruction."""
        return Reason(self.kind, index, self.given, self.unknowns, self.cause)

    def moved(self, origin: list[int]) -> Reason:
        """The same in the function that this one's is a copy of. origin: of each instruction of the copy."""
        given = tuple(one.moved(origin) if isinstance(one, Reason) else one for one in self.given)
        index = origin[self.index] if 0 <= self.index < len(origin) else self.index
        return Reason(self.kind, index, given, self.unknowns, self.cause and self.cause.moved(origin))

    def all_of_it(self) -> Iterator[Reason]:
        """Itself, its parts and their causes, outermost first."""
        yield self
        for inner in (*self.given, self.cause):
            if isinstance(inner, Reason):
                yield from inner.all_of_it()

    def of_kind(self, *kinds: Kind) -> bool:
        """Whether it, one of its parts or causes is of one of these kinds."""
        return any(reason.kind in kinds for reason in self.all_of_it())


one_of_each = lru_cache(1 << 14)(Reason)  # interned, because they are often joined


def exhausted(spent: Exhausted) -> Reason:
    """The reason for a used-up account."""
    return Reason(Kind.EXHAUSTED, given=(spent.what, spent.limit, spent.unit))


def several(*reasons: Reason | None) -> Reason | None:
    """All of the reasons, each once."""
    parts: dict[Reason, None] = {}
    for reason in reasons:
        if reason is not None:
            parts.update(dict.fromkeys(reason.given if reason.kind is Kind.SEVERAL else (reason,)))
    return Reason(Kind.SEVERAL, given=tuple(parts)) if len(parts) > 1 else next(iter(parts), None)


def first_of(reason: Reason | None, other: Reason | None) -> Reason | None:
    """The first reason, or the other if there is none; both if only the other is due to data."""
    if reason is None or other is not None and other.data and not reason.data:
        return several(reason, other)
    return reason


# --- in words -------------------------------------------------------------------------------


class Words(Record):
    """Makes sentences of reasons of one function; without a function, instructions are named by number."""

    function: Function | None = None

    def of(self, reason: Reason) -> str:
        row = reason.kind.row
        if not isinstance(row.words, str):
            return row.words(reason, self)
        given = {
            name: f"{one:,}" if isinstance(one, int) else one for name, one in zip(row.names, reason.given, strict=True)
        }
        around = {"at": self.at(reason.index), "cause": self.cause(reason), "unknowns": named(reason.unknowns)}
        return row.words.format(**around, **given)

    def cause(self, reason: Reason) -> str:
        return self.of(reason.cause) if reason.cause is not None else "?"

    def at(self, index: int) -> str:
        if self.function is None or index < 0:
            return f"instruction {index}"
        return self.function.instructions[index].text.strip()

    def where(self, index: int) -> str:
        """ " at k.cu:12": the user's line of an instruction, or its place in the file; "" if there is none."""
        return "" if self.function is None or index < 0 else f" at {place_of(self.function, index)}"


def sentence(reason: Reason | None, function: Function | None = None) -> str:
    """A reason in words, without a full stop; "" for None. function: the one whose instructions it names."""
    return "" if reason is None else Words(function).of(reason)


# --- for programs ---------------------------------------------------------------------------


def leading(reason: Reason) -> Reason:
    """Its first part."""
    return leading(reason.given[0]) if reason.kind is Kind.SEVERAL else reason


def arguments(reason: Reason) -> dict[str, Any]:
    """Its texts and numbers, by name."""
    if any(isinstance(one, Reason) for one in reason.given):
        return {}
    return dict(zip(reason.kind.row.names, reason.given, strict=True))
