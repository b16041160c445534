"""The machines: how each GPU generation splits a shared-memory request, as records with sources.

    get("sm_90")          Maxwell to Blackwell, by architecture name
    get("kepler-8byte")   tesla, fermi, kepler-4byte, kepler-8byte: what-if machines for PTX
    get("banks=12,word=4,threads=32,broadcast=one")   an abstract machine

No code tests a compute capability: what an architecture can do and how it counts is in its rows.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import gcd

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.words import listing
from ptxaudit.hardware.machine_model import (
    MATRIX_ROW_BYTES,
    MATRIX_ROWS,
    NOT_MEASURED,
    Count,
    Counted,
    Machine,
    Rule,
    Source,
    Uncertainty,
)
from ptxaudit.hardware.measured import by_machine
from ptxaudit.hardware.memory.rules import MEASURED as MEMORY_MEASURED
from ptxaudit.hardware.memory.rules import MEMORY_RULES

WORDS, LANES, STEPS, ONCE, LINES = Counted.WORDS, Counted.LANES, Counted.STEPS, Counted.ONCE, Counted.LINES

MEASUREMENTS = by_machine()

SOURCES = {key: source for found in MEASUREMENTS.values() for key, source in found.sources.items()} | {
    "not measured": Source("no measurement and no document: the range holds for every way of grouping the lanes"),
    "guide 1.x": Source(
        "CUDA C Programming Guide 2.x to 4.x, Compute Capability 1.x, Shared Memory",
        "https://docs.nvidia.com/cuda/archive/",
    ),
    "guide 2.x": Source(
        "CUDA C Programming Guide 3.x to 8.x, Compute Capability 2.x, Shared Memory",
        "https://docs.nvidia.com/cuda/archive/",
    ),
    "guide 3.x": Source(
        "CUDA C Programming Guide 4.2 to 10.x, Compute Capability 3.x, Shared Memory",
        "https://docs.nvidia.com/cuda/archive/",
    ),
    "definition": Source("the definition of the abstract machine"),
    "H100 memory": Source(
        "sectors and tag requests by instruction, and the unit's counters, of 466 launches on an NVIDIA H100 (sm_90),"
        " Nsight Compute 2025.3.1, driver 580.159: tests/data/memory_sm90"
    ),
}


def _count(what: Counted, lanes: int, unit: int, *, banks: int, word: int, row: int = 0, **more: int) -> Count:
    """A count with as many slots as units fit side by side in all banks."""
    line = banks * word
    return Count(what, lanes, unit, slots=line // unit, row=row or line, **more)


# --- Maxwell to Blackwell -------------------------------------------------------------------

BANKS = 32
WORD = 4
WARP = 32
HALF, QUARTER = WARP // 2, WARP // 4


def _modern(what: Counted, lanes: int, unit: int, **more: int) -> Count:
    return _count(what, lanes, unit, banks=BANKS, word=WORD, **more)


_SINGLE = 1  # a group of one lane: the high end if the grouping is unknown

_CAST_WHY = "compare-and-spin of 128 bits was not measured"
_LOOP_WHY = (
    "a loop: the number of passes depends on which lanes share a word or a bank, on the values, and on other warps"
)
_SHAPE_WHY = "matrices of this shape were not measured: between the bound by banks and one row at a time"
_SOURCE_WHY = (
    "depends on which lanes read the same 128-byte source line and, if they read several, which of these are in L1"
)
_CAST, _CAST_64 = _modern(ONCE, WARP, 4, factor=2), _modern(ONCE, HALF, 8, factor=2)

MODERN_RULES = (
    Rule(
        "load",
        (1, 2, 4),
        _modern(WORDS, WARP, 4),
        4,
        "whole warp: the largest number of distinct 4-byte words in one bank; equal words are broadcast",
        "H200",
    ),
    Rule(
        "load",
        (8,),
        _modern(WORDS, HALF, 8, paired=WARP),
        8,
        "two half-warps; one group of the whole warp if, for every active lane i, lane i^1 is inactive or has the "
        "same address, or if this holds for i^2 (one of the two for the whole warp)",
        "H200",
    ),
    Rule(
        "load",
        (16,),
        _modern(WORDS, QUARTER, 16, paired=HALF),
        16,
        "four quarter-warps; two half-warps under the same conditions as for 64-bit loads",
        "H200",
    ),
    Rule(
        "generic load",
        (8,),
        _modern(WORDS, HALF, 8),
        8,
        "LD of a generic address in shared memory: two half-warps, never one group (no merging as in LDS)",
        "H200",
    ),
    Rule(
        "generic load",
        (16,),
        _modern(WORDS, QUARTER, 16),
        16,
        "LD of a generic address in shared memory: four quarter-warps, never larger groups (no merging as in LDS)",
        "H200",
    ),
    Rule(
        "store",
        (1, 2, 4),
        _modern(WORDS, WARP, 4),
        4,
        "whole warp: the largest number of distinct 4-byte words in one bank; equal words merge",
        "H200",
    ),
    Rule(
        "store",
        (8,),
        _modern(WORDS, HALF, 8),
        8,
        "two half-warps, never one group; within a group equal words merge",
        "H200",
    ),
    Rule(
        "store",
        (16,),
        _modern(WORDS, QUARTER, 16),
        16,
        "four quarter-warps, never larger groups; within a group equal words merge",
        "H200",
    ),
    Rule(
        "atomic",
        (4,),
        _modern(LANES, WARP, 4),
        4,
        "whole warp: the largest number of lanes in one bank; lanes on one address serialise",
        "H200",
    ),
    Rule(
        "atomic",
        (8,),
        _modern(LANES, HALF, 8),
        8,
        "two half-warps: the largest number of lanes in one 8-byte pair of banks",
        "H200",
    ),
    Rule(
        "atomic",
        (16,),
        _modern(LANES, QUARTER, 16),
        16,
        "four quarter-warps: the largest number of lanes in one 16-byte slot",
        "H200",
    ),
    Rule(
        "count",
        (4,),
        _modern(WORDS, WARP, 4),
        4,
        "as a 32-bit load: lanes on one address count once, a whole warp on one counter takes 1",
        "H200",
    ),
    Rule("cas", (4,), _modern(LANES, WARP, 4, factor=2), 4, "twice the largest number of lanes in one bank", "H200"),
    Rule(
        "cas",
        (8,),
        _modern(LANES, HALF, 8, factor=2),
        8,
        "twice the sum over half-warps of the largest number of lanes in one 8-byte pair of banks",
        "H200",
    ),
    Rule(
        "cas",
        (16,),
        _modern(LANES, QUARTER, 16, factor=2),
        16,
        "twice the sum over quarter-warps of the largest number of lanes in one 16-byte slot",
        "H200",
    ),
    Rule(
        "cast",
        (4,),
        _CAST,
        4,
        "one pass of a loop: 2, for any addresses. One lane per bank succeeds, the others spin",
        "H200",
    ),
    Rule(
        "cast",
        (8,),
        _CAST_64,
        8,
        "one pass of a loop: 2 for each half-warp, for any addresses. In each half-warp one lane per 8-byte pair"
        " of banks succeeds, the others spin",
        "H200",
    ),
    Rule(
        "cast",
        (16,),
        _modern(WORDS, WARP, 16),
        16,
        "one pass: between a load of the words and twice all active lanes",
        "not measured",
        Uncertainty.COUNT,
        _modern(LANES, _SINGLE, 16, factor=2),
        why=_CAST_WHY,
    ),
    Rule(
        "loop",
        (2,),
        _modern(WORDS, WARP, 4),
        4,
        "an LDS and a loop of ATOMS.CAS: each pass serves one lane per word, "
        "if no other warp updates these words in between",
        "H200",
        Uncertainty.PASSES,
        _modern(LANES, WARP, 4, factor=2),
        why=_LOOP_WHY,
    ),
    Rule(
        "loop",
        (4,),
        _modern(WORDS, WARP, 4),
        4,
        "a loop of LDS and ATOMS.CAST.SPIN: each pass serves one lane per bank, "
        "if no other warp updates these words in between",
        "H200",
        Uncertainty.PASSES,
        _CAST,
        _modern(LANES, WARP, 4),
        why=_LOOP_WHY,
    ),
    Rule(
        "loop",
        (8,),
        _modern(WORDS, HALF, 8, paired=WARP),
        8,
        "a loop of LDS.64 and ATOMS.CAST.SPIN.64: each pass serves at least one lane per 8-byte pair of banks, if no"
        " other warp updates these words in between",
        "H200",
        Uncertainty.PASSES,
        _CAST_64,
        _modern(LANES, WARP, 8),
        why=_LOOP_WHY,
    ),
)

_MATRIX = _modern(WORDS, MATRIX_ROWS, MATRIX_ROW_BYTES)
_LDMATRIX = (
    Rule(
        "ldmatrix",
        (16,),
        _MATRIX,
        16,
        "groups of 8 address lanes (only the first 8 x lanes give addresses), rows of 16 bytes; ideal x",
        "H200",
    ),
)
_STMATRIX = (
    Rule(
        "stmatrix",
        (16,),
        _MATRIX,
        16,
        "groups of 8 address lanes (only the first 8 x lanes give addresses), rows of 16 bytes; ideal x",
        "H200",
    ),
)
_OTHER_MATRIX = (
    Rule(
        "matrix",
        (16,),
        _modern(WORDS, WARP, 16),
        16,
        "between the largest number of rows in one 16-byte slot and all rows",
        "not measured",
        Uncertainty.COUNT,
        _modern(LANES, _SINGLE, 16),
        why=_SHAPE_WHY,
    ),
)
_CP_ASYNC = tuple(
    Rule(
        "cp.async",
        (size,),
        _modern(LANES, BANKS * WORD // size, size),
        size,
        f"groups of {BANKS * WORD // size} lanes, each served in rounds: every {size}-byte destination slot and every"
        " source slot goes to its first waiting lane, and a lane that has both is served. Exact if each group reads one"
        " 128-byte source line; otherwise a range, as lines of one class that are not in L1 are served one after the"
        " other, and lines in L1 all at once",
        "H200",
        Uncertainty.SOURCES,
        why=_SOURCE_WHY,
    )
    for size in (4, 8, 16)
) + (
    Rule(
        "cp.async.bypass",
        (16,),
        Count(LINES, QUARTER, 16, slots=4, row=BANKS * WORD),
        BANKS * WORD,
        "no hardware counter covers it. k = max over c of the number of pairs (group of 8 lanes, 128-byte destination"
        " line) whose line index mod 4 is c; cycles increase with k",
        "H200 cycles",
    ),
)

_TOO_EARLY = {
    "ldmatrix": "ldmatrix does not exist before sm_75",
    "stmatrix": "stmatrix does not exist before sm_90",
    "matrix": "matrices of this shape do not exist before sm_100",
    "cp.async": "cp.async does not exist before sm_80",
    "cp.async.bypass": "cp.async does not exist before sm_80",
}
_PTX_ONLY = "the disassembler reads sm_75 and newer only: audit the PTX"
_MEASURED_ON = listing(list(dict.fromkeys(found.machines[0] for found in MEASUREMENTS.values())))
_BY_RULE = f"The rules were measured on {_MEASURED_ON} only; here they apply by rule."

_VOLTA = tuple(rule for rule in MODERN_RULES if rule.operation not in ("count", "cast"))  # only in machine code
_TURING = MODERN_RULES + _LDMATRIX
_AMPERE = _TURING + _CP_ASYNC
_HOPPER = _AMPERE + _STMATRIX
_BLACKWELL = _HOPPER + _OTHER_MATRIX

# generation, architecture numbers with their suffixes, table, how wmma is translated, why its machine code cannot be
# scored
GENERATIONS = (
    ("Maxwell", "50 52 53", _VOLTA, "", _PTX_ONLY),
    ("Pascal", "60 61 62", _VOLTA, "", _PTX_ONLY),
    ("Volta", "70 72", _VOLTA, "volta", _PTX_ONLY),
    ("Turing", "75", _TURING, "turing", ""),
    ("Ampere", "80 86 87 88", _AMPERE, "ampere", ""),
    ("Ada", "89", _AMPERE, "ampere", ""),
    ("Hopper", "90 90a", _HOPPER, "ampere", ""),
    (
        "Blackwell",
        "100 100a 100f 101 101a 101f 103 103a 103f 107 107a 107f 110 110a 110f 120 120a 120f 121 121a 121f",
        _BLACKWELL,
        "ampere",
        "",
    ),
)


def _modern_machine(
    generation: str, number: str, rules: tuple[Rule, ...], fragments: str, machine_code: str
) -> Machine:
    name = f"sm_{number}"
    return Machine(
        name=name,
        title=f"{generation}, {name}",
        banks=BANKS,
        word=WORD,
        lanes=WARP,
        archs=(name,),
        rules=rules,
        sources=SOURCES,
        refused=_TOO_EARLY,
        machine_code=machine_code,
        fragments=fragments,
        memory=MEMORY_RULES,
        memory_measured=MEMORY_MEASURED if name in MEASUREMENTS else {},
        measurements=MEASUREMENTS.get(name, NOT_MEASURED),
        notes=() if name in MEASUREMENTS else (_BY_RULE,),
    )


# --- before Maxwell -------------------------------------------------------------------------

_LOCK_LOOP = "before sm_50 a shared atomic is a loop that takes a lock: its cost depends on which lane wins"
_NO_ATOMICS = dict.fromkeys(("atomic", "count", "cas", "cast", "loop"), _LOCK_LOOP)
_WHAT_IF = "What-if: today's PTX, scored as this generation would serve it."

TESLA_BANKS = 16
_TESLA_STEPS = _count(STEPS, HALF, 4, banks=TESLA_BANKS, word=4)
_TESLA_SAYS = (
    "each half-warp in steps: a step serves one broadcast word with all its lanes, and one lane of each other bank; "
    "the guide does not specify which word and which lanes, so the figure is a range where that matters"
)
_TESLA_WHY = "the guide does not specify which word is broadcast in a step"

TESLA = Machine(
    name="tesla",
    title="Tesla, compute capability 1.x",
    banks=TESLA_BANKS,
    word=4,
    lanes=WARP,
    archs=("sm_10", "sm_11", "sm_12", "sm_13"),
    machine_code=_PTX_ONLY,
    sources=SOURCES,
    notes=(_WHAT_IF,),
    refused=_TOO_EARLY | dict.fromkeys(_NO_ATOMICS, "the cost of shared atomics on compute capability 1.x is unknown"),
    rules=tuple(
        rule
        for operation in ("load", "store")
        for rule in (
            Rule(operation, (1, 2, 4), _TESLA_STEPS, 4, _TESLA_SAYS, "guide 1.x", why=_TESLA_WHY),
            Rule(operation, (8,), _TESLA_STEPS, 8, "two requests of 32 bits", "guide 1.x", split=2, why=_TESLA_WHY),
            Rule(operation, (16,), _TESLA_STEPS, 16, "four requests of 32 bits", "guide 1.x", split=4, why=_TESLA_WHY),
        )
    ),
)

_FERMI_QUARTER = _modern(WORDS, QUARTER, 16)
FERMI = Machine(
    name="fermi",
    title="Fermi, compute capability 2.x",
    banks=BANKS,
    word=WORD,
    lanes=WARP,
    archs=("sm_20", "sm_21"),
    machine_code=_PTX_ONLY,
    sources=SOURCES,
    notes=(_WHAT_IF,),
    refused=_TOO_EARLY | _NO_ATOMICS,
    rules=tuple(
        rule
        for operation in ("load", "store")
        for rule in (
            Rule(
                operation,
                (1, 2, 4),
                _modern(WORDS, WARP, 4),
                4,
                "whole warp: the largest number of distinct words in one bank; any number of words is broadcast",
                "guide 2.x",
            ),
            Rule(operation, (8,), _modern(WORDS, HALF, 8), 8, "two half-warps", "guide 2.x"),
            Rule(
                operation,
                (16,),
                _FERMI_QUARTER,
                16,
                "quarter-warps; ways are one more than the largest number of lanes of a quarter-warp with different"
                " addresses in one bank; the total is a range",
                "guide 2.x",
                Uncertainty.WAYS,
                _modern(WORDS, QUARTER, 16, extra=1),
                why="the guide gives the ways of the worst quarter-warp and says 'the majority' of the others",
            ),
        )
    ),
)

_KEPLER_128_WHY = "the guide does not say which lanes of a 128-bit access are served together"


def _kepler(name: str, mode: str, word: int, row: int, shift: int, words: str, whole: str) -> Machine:
    """One bank mode: 32 banks of 8 bytes, addressed by words of `word` bytes; equal words are in one `row` of bytes."""

    def count(lanes: int, width: int) -> Count:
        return _count(WORDS, lanes, max(width, word), banks=BANKS, word=word, row=row)

    return Machine(
        name=name,
        title=f"Kepler, compute capability 3.x, {mode} bank mode",
        banks=BANKS,
        word=word,
        lanes=WARP,
        machine_code=_PTX_ONLY,
        sources=SOURCES,
        notes=(_WHAT_IF,),
        refused=_TOO_EARLY | _NO_ATOMICS,
        rules=tuple(
            rule
            for operation in ("load", "store")
            for rule in (
                Rule(operation, (1, 2, 4), count(WARP, 4), shift, words, "guide 3.x"),
                Rule(operation, (8,), count(WARP, 8), max(shift, 8), whole, "guide 3.x"),
                Rule(
                    operation,
                    (16,),
                    count(WARP, 16),
                    max(shift, 16),
                    "between the whole warp as one group and four quarter-warps",
                    "guide 3.x",
                    Uncertainty.COUNT,
                    count(QUARTER, 16),
                    why=_KEPLER_128_WHY,
                ),
            )
        ),
    )


KEPLER_SEGMENT = 64 * 4  # bytes: words i and i+32 of one aligned 64-word segment do not conflict
KEPLER_4 = _kepler(
    "kepler-4byte",
    "four-byte",
    4,
    KEPLER_SEGMENT,
    KEPLER_SEGMENT,
    "whole warp: the largest number of aligned 64-word segments that lanes touch in one bank (word mod 32)",
    "whole warp: the largest number of aligned 64-word segments in one pair of banks; 1 if all words are in one"
    " segment, 2 if they span two",
)
KEPLER_8 = _kepler(
    "kepler-8byte",
    "eight-byte",
    8,
    BANKS * 8,
    8,
    "whole warp: the largest number of distinct 64-bit words in one bank; parts of one 64-bit word never conflict",
    "whole warp: the largest number of distinct 64-bit words in one bank",
)

NAMED = {machine.name: machine for machine in (TESLA, FERMI, KEPLER_4, KEPLER_8)} | {
    f"sm_{number}": _modern_machine(generation, number, rules, fragments, machine_code)
    for generation, numbers, rules, fragments, machine_code in GENERATIONS
    for number in numbers.split()
}
_BY_ARCH = {arch: machine for machine in NAMED.values() for arch in machine.archs}
_KEPLER_ARCHS = ("sm_30", "sm_32", "sm_35", "sm_37")


# --- the abstract machine -------------------------------------------------------------------

BROADCAST = {"any": WORDS, "one": STEPS, "none": LANES}
_BROADCAST_SAYS = {
    "any": "the largest number of distinct words in one bank; lanes on equal words are served together",
    "one": "steps: one broadcast word with all its lanes, and one lane of each other bank",
    "none": "the largest number of lanes in one bank; lanes on equal words serialise",
}
_GENERIC_KEYS = ("banks", "word", "threads", "broadcast")
_GENERIC_HINT = "write banks=4,word=4,threads=4,broadcast=any (word in bytes; broadcast any, one or none)"
_WIDTHS = (1, 2, 4, 8, 16)
MOST_BANKS = MOST_THREADS = 1024


@lru_cache(maxsize=256)
def generic(banks: int, word: int, threads: int, broadcast: str) -> Machine:
    """n banks of `word` bytes; `threads` scheduled together, as requests of at most n lanes."""
    group = min(banks, threads)
    unit = _count(BROADCAST[broadcast], group, word, banks=banks, word=word)
    how = f"requests of {group} lanes: {_BROADCAST_SAYS[broadcast]}" if group < threads else _BROADCAST_SAYS[broadcast]

    def rule(operation: str, width: int) -> Rule:
        split = max(1, width // word)
        says = how if split == 1 else f"{split} requests of one word: {how}"
        return Rule(
            operation,
            (width,),
            unit,
            max(width, word),
            says,
            "definition",
            split=split,
            why=_TESLA_WHY if broadcast == "one" else "",
        )

    name = f"banks={banks},word={word},threads={threads},broadcast={broadcast}"
    return Machine(
        name=name,
        title=f"{banks} banks of {word} bytes, {threads} threads together, broadcast {broadcast}",
        banks=banks,
        word=word,
        lanes=threads,
        machine_code="the abstract machine has no machine code: give a PTX opcode",
        sources=SOURCES,
        notes=(_WHAT_IF,),
        refused=dict.fromkeys((*_NO_ATOMICS, *_TOO_EARLY), "the abstract machine has loads and stores only"),
        rules=tuple(rule(operation, width) for operation in ("load", "store") for width in _WIDTHS),
    )


def _generic_by_name(name: str) -> Machine:
    fields: dict[str, str] = {}
    for part in name.split(","):
        key, equals, value = (text.strip() for text in part.partition("="))
        if not equals or key not in _GENERIC_KEYS or key in fields:
            raise InputError(
                f"machine {name!r}: {part.strip()!r} is not one of its settings, or is given twice", _GENERIC_HINT
            )
        fields[key] = value
    missing = [key for key in ("banks", "threads") if key not in fields]
    if missing:
        raise InputError(f"machine {name!r} lacks {' and '.join(missing)}", _GENERIC_HINT)
    broadcast = fields.pop("broadcast", "any")
    if broadcast not in BROADCAST:
        raise InputError(f"machine {name!r}: broadcast is {broadcast!r}", "broadcast is any, one or none")
    numbers = {"word": "4"} | fields
    for key, text in numbers.items():
        if not re.fullmatch(r"[0-9]{1,6}", text) or int(text) < 1:
            raise InputError(f"machine {name!r}: {key} is {text!r}", f"{key} must be a whole number of at least 1")
    banks, word, threads = (int(numbers[key]) for key in ("banks", "word", "threads"))
    if banks > MOST_BANKS or threads > MOST_THREADS:
        raise InputError(
            f"machine {name!r} exceeds the limits", f"at most {MOST_BANKS} banks and {MOST_THREADS} threads"
        )
    if word not in _WIDTHS:
        raise InputError(
            f"machine {name!r}: a word of {word} bytes", f"a word has {', '.join(map(str, _WIDTHS))} bytes"
        )
    return generic(banks, word, threads, broadcast)


@lru_cache(maxsize=256)
def of_warps(machine: Machine) -> Machine:
    """The machine as it serves the warps of CUDA code, if no request of it is of two warps, or of two groups of the
    threads that it schedules together. Raises InputError if one is.
    """
    if machine.lanes == WARP:
        return machine
    apart = gcd(machine.lanes, WARP)
    if apart < min(machine.lanes, WARP) or any(apart % rule.count.lanes for rule in machine.rules):
        raise InputError(
            f"machine {machine.name!r}: warps of {WARP} threads are not whole requests of it",
            f"for an audit, give threads that divide {WARP} or are a multiple of it, and banks that divide threads or"
            " are more; `ptxaudit score` takes any",
        )
    return replace(machine, lanes=WARP)


# --- by name --------------------------------------------------------------------------------


class NoSuchMachine(InputError):
    """No machine has this name."""


@lru_cache(maxsize=1024)
def get(name: str) -> Machine:
    """The machine with this name or for this architecture, cached.

    Raises InputError for an unknown name, with the known names as a hint.
    """
    if not isinstance(name, str):
        raise InputError(f"{name!r} is not the name of a machine", "a name such as 'sm_90' or 'kepler-8byte'")
    plain = name.strip().lower()
    if "=" in plain:
        return _generic_by_name(plain)
    plain = re.sub(r"^compute_", "sm_", plain)
    machine = NAMED.get(plain) or _BY_ARCH.get(plain)
    if machine is not None:
        return machine
    if plain in _KEPLER_ARCHS or plain == "kepler":
        raise InputError(
            f"{name} has two bank modes, which the program selects at run time",
            "choose one: kepler-4byte (the default mode) or kepler-8byte",
        )
    raise NoSuchMachine(
        f"there is no machine {name!r}", f"machines are {', '.join(NAMED)}, or banks=…,word=…,threads=…,broadcast=…"
    )


def names() -> tuple[str, ...]:
    """All machine names, oldest first."""
    return tuple(NAMED)
