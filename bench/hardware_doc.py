"""Writes docs/hardware.md and its pictures from the machine records and the measured requests.

    python -m bench.hardware_doc            writes
    python -m bench.hardware_doc --check    exits with status 1 if the files in docs are not up to date

All facts come from `ptxaudit.hardware.machines`, `ptxaudit/hardware/measurements`, `ptxaudit.hardware.banks` or
tests/data; this module has only the text around them.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import hardware_examples, hardware_fragments, hardware_functions, hardware_timed
from ptxaudit import score_request
from ptxaudit.hardware import machines
from ptxaudit.hardware.banks import classify
from ptxaudit.hardware.calibration import compare, read
from ptxaudit.hardware.machine_model import Counted, Machine, Rule
from ptxaudit.hardware.unscored import UNSCORED
from ptxaudit.ui.render.calibration import summary
from ptxaudit.ui.render.machine import evidence, instruction, measured_opcodes
from ptxaudit.ui.render.svg import picture

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PICTURES = "hardware"
DATA = ROOT / "tests" / "data"
FILES = (
    "requests_sm90.json.gz",
    "calibration_sm90.json.gz",
    "sparse_sm90.json.gz",
    "zeros_sm90.json.gz",
    "regular_zeros_sm90.json.gz",
)
LANES = range(32)
REFERENCE = "sm_90"


@dataclass(frozen=True)
class Picture:
    """One request to draw."""

    name: str
    opcode: str
    addresses: tuple[int, ...]
    caption: str
    sources: tuple[int, ...] | None = None
    machine: str = REFERENCE


def _of(function) -> tuple[int, ...]:
    return tuple(function(lane) for lane in LANES)


@dataclass(frozen=True)
class Section:
    """One kind of instruction: heading, operations of the table, text, pictures."""

    heading: str
    operations: tuple[str, ...]
    words: str
    pictures: tuple[Picture, ...] = ()
    widths: tuple[int, ...] = ()


SECTIONS = (
    Section(
        "Loads and stores of up to 32 bits",
        ("load", "store"),
        """
The whole warp is one group. The wavefronts are the maximum over banks of the number of distinct words in the bank. Lanes on one word are
served together, so bytes and halves that share a word cost nothing extra. Vectors of small elements (`ld.shared.v4.u8`) are one
access of their total width. `.volatile` makes no difference, nor does it matter whether a lane is inactive by a false predicate or
has exited.""",
        (
            Picture(
                "stride2", "LDS", _of(lambda i: 8 * i), "`LDS`, every second word: lanes 16 apart access the same bank"
            ),
            Picture(
                "pitch33",
                "LDS",
                _of(lambda i: 4 * 33 * i),
                "`LDS` of a column with rows of 33 words: one lane per bank",
            ),
        ),
        (4,),
    ),
    Section(
        "64 and 128 bits",
        ("load", "store"),
        """
A 64-bit access is served by half-warps and a 128-bit one by quarter-warps, the number of lanes that fill the 32 banks once. Loads
*merge*: if for every active lane i the lane i^1 is inactive or has the same address, or if this holds with i^2, groups are
twice as long. One of the two must hold for the whole warp. Stores never merge, although lanes on one word within a group do.
This holds for all masks: `sparse_sm90.json.gz` has 6,336 requests with inactive lanes, most with at most one active lane per pair.""",
        (
            Picture("lds64", "LDS.64", _of(lambda i: 8 * i), "`LDS.64` of consecutive addresses: two half-warps"),
            Picture(
                "lds64-pairs", "LDS.64", _of(lambda i: 8 * (i // 2)), "`LDS.64` with equal pairs: one group of 32 lanes"
            ),
            Picture(
                "sts64-pairs",
                "STS.64",
                _of(lambda i: 8 * (i // 2)),
                "`STS.64` of the same addresses: still two half-warps",
            ),
            Picture(
                "lds128", "LDS.128", _of(lambda i: 16 * i), "`LDS.128` of consecutive addresses: four quarter-warps"
            ),
            Picture(
                "lds128-pitch",
                "LDS.128",
                _of(lambda i: 160 * (i // 4) + 16 * (i % 4)),
                "`LDS.128`, rows of four vectors, 160 bytes apart",
            ),
        ),
        (8, 16),
    ),
    Section(
        "Generic loads",
        ("generic load",),
        """
`LD` with a generic address in shared memory is counted with the shared loads, but does not merge, whether weak,
volatile or relaxed, with any eviction priority: it is served like a store of its width. `ST` is served as `STS`, `ATOM` as
`ATOMS`. In a launch with clusters `LD` merged as `LDS` does (see *Another block's memory*).
A request of `ATOM` with no lane in shared memory takes no wavefront, but the counter `…_op_atom` has one for
it (H100, 20 of 21 launches without clusters and without other atomic operations); no counter has one for such an `LD` or `ST`.""",
        (
            Picture(
                "ld64-pairs",
                "LD.E.64",
                _of(lambda i: 8 * (i // 2)),
                "`LD.64` with equal pairs: two half-warps, whereas `LDS.64` is one group",
            ),
        ),
        (8, 16),
    ),
    Section(
        "Atomics",
        ("atomic", "count", "cas"),
        """
Lanes are counted, not words: lanes on one address serialise, whether or not the old value is returned. ADD, MIN, MAX, INC,
DEC, AND, OR, XOR and EXCH cost the same. Compare-and-swap costs twice as much. The exception is `ATOMS.POPC.INC`, which
the compiler emits for adding the constant 1: it is served as a load.""",
        (
            Picture(
                "atoms",
                "ATOMS.ADD",
                _of(lambda i: 4 * (i // 4)),
                "`ATOMS.ADD`, four lanes on each word: four wavefronts",
            ),
            Picture(
                "popc-inc",
                "ATOMS.POPC.INC.32",
                _of(lambda i: 4 * (i // 4)),
                "`ATOMS.POPC.INC` of the same addresses: one",
            ),
        ),
    ),
    Section(
        "Atomics implemented as loops",
        ("cast", "loop"),
        """
Float adds and 64-bit arithmetic have no single instruction: the compiler emits a loop of a load and
`ATOMS.CAST.SPIN`, a compare-and-swap that fails without waiting. A pass costs two wavefronts per group for any addresses,
but in each group only the first waiting lane of each bank tries (of each 8-byte pair of banks, for 64 bits). Conflicts therefore cost
passes: at least as many as there are lanes on the fullest bank of a group, *distinct words included*.
A swap fails if the word has changed since the load: of two half-warps on one address the second fails, unless the first left
the value unchanged. 16-bit atomics loop over `ATOMS.CAS` on the enclosing word; each pass serves one lane per word. Simulating this pass by
pass (`ptxaudit/hardware/spin.py`) gives the exact count of each measured loop. Updates by other warps cause more passes, which is why an
audit gives a range.""",
    ),
    Section(
        "Matrices: ldmatrix and stmatrix",
        ("ldmatrix", "stmatrix"),
        """
Eight lanes give the addresses of one 8x8 matrix: rows of 16 bytes, each in four banks. The groups are lanes 0-7, 8-15 and
so on; `.x1` reads only the first eight lanes' addresses, `.x2` sixteen. `.trans` makes no difference. The ideal is the number of
matrices. In PTX these instructions are undefined if lanes of the warp are inactive, by a predicate or because they have exited. The counters
had no wavefront for any of 72 such requests, so an audit gives a range from 0 to the number of rows.""",
        (
            Picture(
                "ldsm",
                "LDSM.16.M88.4",
                _of(lambda i: 64 * (i % 8) + 16 * (i // 8)),
                "`LDSM.x4` of rows of 64 bytes without a swizzle: four-way conflicts in every matrix",
            ),
            Picture(
                "ldsm-swizzled",
                "LDSM.16.M88.4",
                _of(lambda i: 64 * (i % 8) + 16 * ((i // 8) ^ (i % 8 // 2))),
                "the same with the 16-byte column XORed by row / 2: no conflict",
            ),
        ),
    ),
    Section(
        "cp.async.ca",
        ("cp.async",),
        """
The data pass through the L1 cache: a lane's word leaves a *source slot* (its position in the 128-byte line) and enters a
*destination slot* (its position across the banks). Both have to be free.

1. **Passes.** The warp looks up its source lines. Lines that are already in L1 are served together in one pass. Of the others a pass
   serves one line of each of four *classes*, in lane order; further lines of a class wait for the next pass. The class is given by
   two parities over bits of the line's address (listed in `ptxaudit/hardware/banks/copies.py`).
2. **Groups.** The lanes of a pass are divided into groups of 128 / size lanes, by lane number.
3. **Rounds.** In each round every destination slot and every source slot goes to its first waiting lane, and a lane that
   has both is served. This order is not optimal: a lane can hold one slot while it waits for the other.

The wavefronts are the rounds of all groups of all passes. Lanes that read one source word, or the same position in two
lines, therefore conflict although they write to different banks. If the sources are not in L1, lanes that write zeros (`src-size` 0,
`ignore-src`) are served separately from those that copy: in each group they cost the maximum of their number on one destination slot. If the
sources are in L1, zeros are served with the copies, and a zero needs only its destination slot. A later lane that copies from the same source
slot waits for it if each lane has loaded its word before. If the lanes have loaded other words of the same sectors, it does not wait, or
zeros are served separately (no rule was found). If some lanes copy and others write zeros, the figure is therefore a range, unless all
cases cost the same. Several copies in flight cost the sum of their
wavefronts. Prefetching into L2 (`.L2::128B`) makes no difference.

Which lines are in L1 is unknown before the kernel runs, so the figure is exact only if each group reads one line (even if
only some of its sectors are in L1). Otherwise it is the range over all ways to divide the lines into passes, which contained the count of
every measured request with some lines in L1. `score_request(…, in_l1=False)` gives the exact figure for a cold cache.""",
        (
            Picture(
                "copy-straight",
                "LDGSTS.E.128",
                _of(lambda i: 16 * i),
                "`cp.async.ca` 16, from consecutive to consecutive addresses: ideal",
                _of(lambda i: 16 * i),
            ),
            Picture(
                "copy-rows",
                "LDGSTS.E.128",
                _of(lambda i: 16 * i),
                "the same destination, sources in rows of 32 bytes, 128 apart, in L1: "
                "no conflict in the banks, but in the source slots",
                _of(lambda i: 128 * (i // 2) + 16 * (i % 2)),
            ),
            Picture(
                "copy-rounds",
                "LDGSTS.E",
                _of(lambda i: 4 * (i % 8 + 4 * (i // 8))),
                "`cp.async.ca` 4, each slot is used at most twice, but three rounds are needed: "
                "lanes 24-27 do not get their slot in round two",
                _of(lambda i: 64 * (i // 16) * 16 + 4 * (i % 16)),
            ),
        ),
    ),
    Section(
        "cp.async.cg",
        ("cp.async.bypass",),
        """
No hardware counter covers these copies. Profilers report 0 conflicts for them with any pattern, which is no evidence.
Their time depends on the destination, but not on banks. Let k be the maximum, over the four classes c of
128-byte destination lines (line mod 4), of the number of pairs (group of 8 lanes, destination line) in that class.""",
    ),
)


def document() -> str:
    """The text of docs/hardware.md."""
    return "\n".join([*_text()]).rstrip() + "\n"


def pictures() -> dict[str, str]:
    """{file name: SVG}."""
    return {
        f"{one.name}.svg": picture(
            machines.get(one.machine),
            classify(one.opcode),
            one.addresses,
            sources=one.sources,
            title=f"{one.opcode}: {_figure(one)}",
        )
        for section in SECTIONS
        for one in section.pictures
    }


def _figure(one: Picture) -> str:
    score = score_request(
        one.opcode, one.addresses, machine=one.machine, sources=one.sources, in_l1=None if one.sources is None else True
    )
    return f"{score.wavefronts} wavefront{'' if score.wavefronts == 1 else 's'}, ideal {score.ideal}"


def _text() -> Iterator[str]:
    machine = machines.get(REFERENCE)
    measured = [read(DATA / name) for name in FILES]
    yield "# How the hardware serves shared-memory requests"
    yield ""
    yield "<!-- Generated by `make hardware-doc` from the machine records and tests/data. Do not edit. -->"
    yield _INTRODUCTION
    yield "## At a glance"
    yield ""
    yield "On sm_90 (for other patterns see `ptxaudit score`):"
    yield ""
    yield from hardware_examples.table()
    yield "## Measurements"
    yield ""
    for one in measured:
        yield (
            f"- `tests/data/{Path(one.file).name}`: {one.device}, driver {one.driver}, {one.profiler}."
            f" {summary(compare(one))}."
        )
    yield _MEASURED
    yield f"## {machine.title}"
    yield ""
    yield (
        f"{machine.banks} banks of {machine.word} bytes: bank = (address / {machine.word}) mod {machine.banks}. Warps"
        f" of {machine.lanes} lanes."
    )
    yield ""
    yield from _table(machine)
    for section in SECTIONS:
        yield from _section(machine, section)
    yield from _profiler(measured[0].requests)
    yield from _memory(machine)
    yield from hardware_fragments.chapter()
    yield from hardware_timed.chapters()
    yield from hardware_functions.chapter()
    yield from _unscored()
    yield from _generations()
    yield _CALIBRATE


_INTRODUCTION = """
Shared memory consists of columns of words, the *banks*. A *request* is one execution of one shared-memory instruction by one warp: an
address per lane, and a mask of active lanes. A *wavefront* is one pass of the data stage, in which every bank serves one word; Nsight
Compute counts them as `l1tex__data_pipe_lsu_wavefronts_mem_shared`. The hardware divides a request into *groups* of lanes and serves
these one after the other:

    wavefronts = sum over groups of  max over banks of  the number of words (or lanes) in that bank

This page specifies for each instruction the groups, when they merge, and whether words or lanes are counted. The *ideal* is the number of
groups with an active lane, after merging: the cost if no two words of a group were in the same bank (twice that for compare-and-swap, the
number of matrices for LDSM and STSM). The *excess* is the number of wavefronts above the ideal, and the *ways* are the maximum of the
wavefronts of one group. A request without active lanes costs nothing.

In the pictures a column is a bank and a row a wavefront. A cell names the lanes that it serves (`4+3`: lane 4 and three more on the
same word), its colour shows the group, and a red frame marks lanes that had to wait.
"""
_MEASURED = """
Each request is one launch of one warp that reads its addresses from a table and issues one instruction once (or one loop, or some copies).
The count is the hardware counter (`…_mem_shared.sum` minus `…_op_misc`), not the profiler's per-instruction metric. Patterns are regular
(strides, tiles, swizzles, broadcasts) and random with several densities, with full and partial masks. `make calibrate-check` compares the
counts with the rules. Below, *measured* gives the number of requests of each machine instruction; *by rule* means that exactly this
instruction was not measured on this machine.
"""
_CALIBRATE = """
## Another GPU

With the kernels and requests of `bench/calibrate`, any NVIDIA GPU with Nsight Compute can be compared with these rules:

    python -m bench.calibrate build build/calibrate --arch sm_90      # needs ptxaudit
    python -m bench.calibrate plan -o build/plan.json.gz --arch sm_90
    python -m bench.calibrate measure build/calibrate build/plan.json.gz -o requests.json.gz     # on the GPU
    ptxaudit calibrate --results requests.json.gz

Profiling takes some 10 to 90 ms per request. `--seconds` limits the total time; `plan --part` selects a part.
"""


def _table(machine: Machine) -> Iterator[str]:
    yield "| instruction | bits | wavefronts of one request | shift | evidence |"
    yield "|---|---|---|---|---|"
    for rule in machine.rules:
        yield (
            f"| {instruction(machine, rule)} | {_bits(rule)} | {rule.says} | {rule.shift} |"
            f" {_evidence(machine, rule)} |"
        )
    yield ""
    yield "Shift: the number of bytes by which all addresses may move together without changing any figure" + (
        " (for cp.async the destinations; its sources by 128)."
        if any(rule.operation == "cp.async" for rule in machine.rules)
        else "."
    )
    yield ""


def _evidence(machine: Machine, rule: Rule) -> str:
    """How a rule was measured, in words; the sections below have the opcodes one by one."""
    found = measured_opcodes(machine, rule)
    if not found:
        return evidence(machine, rule)
    what = "timed: {:,} launches" if rule.count.what is Counted.LINES else "measured: {:,} requests"
    return what.format(sum(found.values())) + (f", {len(found)} opcodes" if len(found) > 1 else "")


def _bits(rule: Rule) -> str:
    return ", ".join(str(8 * width) for width in rule.widths)


def _section(machine: Machine, section: Section) -> Iterator[str]:
    yield f"### {section.heading}"
    yield section.words
    yield ""
    if "cp.async.bypass" in section.operations:
        yield from _cycles(machine)
    for one in section.pictures:
        yield f"{one.caption}: **{_figure(one)}**."
        yield ""
        yield f"![{one.opcode}, {_figure(one)}]({PICTURES}/{one.name}.svg)"
        yield ""
    rules = [
        rule
        for rule in machine.rules
        if rule.operation in section.operations and (not section.widths or set(rule.widths) & set(section.widths))
    ]
    counted = {opcode: n for rule in rules for opcode, n in measured_opcodes(machine, rule).items()}
    if counted:
        what = "launches timed" if "cp.async.bypass" in section.operations else "requests"
        yield f"Measured ({what}): " + ", ".join(f"{opcode} {n}" for opcode, n in counted.items()) + "."
        yield ""


def _cycles(machine: Machine) -> Iterator[str]:
    spans = [
        (f"{a}" if a == b else f"{a}–{b}", f"{low:g}–{high:g}") for a, b, low, high in machine.measurements.line_cycles
    ]
    yield "| k | " + " | ".join(k for k, _ in spans) + " |"
    yield "|---" * (len(spans) + 1) + "|"
    yield "| cycles per request | " + " | ".join(cycles for _, cycles in spans) + " |"
    yield ""
    yield (
        "This is the first measurement: 108 patterns, 8 warps per block, the same sources repeatedly, with `.ca` for"
        " comparison at about 1.08 cycles per wavefront and 1.2. A second measurement, which varies the sources, the waits"
        " and the number of blocks, shows no jump after 4:"
    )
    yield ""
    yield from hardware_timed.cg_cycles()
    yield (
        "A larger k takes longer, but how much depends on the circumstances. If each copy reads new sources,"
        " as in real kernels, a copy takes about 8 cycles plus 1 for each further k; if all blocks read the same few lines"
        " of the L2 cache, everything beyond k = 1 is several times slower. Therefore use k as the figure, not the cycles."
        " An XOR swizzle within a 128-byte line keeps k = 1; padding 128-byte rows to 144 makes it 2; 144 bytes per lane,"
        " although free of bank conflicts, makes it 8. `.L2::128B` makes no difference."
    )
    yield ""
    yield (
        "Lanes that write zeros (source size 0, `ignore-src`) do not contribute to k. They are stored separately, as by"
        " `STS.128`, which takes as long and is counted. Copies with a source size between 0 and 16 are counted, too,"
        " together with the other lanes of their source line: between 1 wavefront and one for each lane that copies. No"
        " rule was found for them: the count grows with the destination lines of one class and with the source"
        " lines, but if a group of 8 lanes reads several lines, some of them are written together."
    )
    yield ""


def _profiler(requests: list[dict]) -> Iterator[str]:
    counted, other = Counter(), Counter()
    for one in requests:
        if one["wavefronts"] is not None and one.get("profiler_wavefronts") is not None:
            counted[one["sass"]] += 1
            other[one["sass"]] += one["profiler_wavefronts"] != one["wavefronts"]
    yield "## Differences from the profiler"
    yield ""
    yield (
        "Nsight Compute computes its per-instruction metric `memory_l1_wavefronts_shared` from addresses, instead of"
        " counting. It differs from the hardware counters of the same run for"
    )
    yield ""
    yield from (f"- `{opcode}`: {n} of {counted[opcode]} requests" for opcode, n in other.items() if n)
    yield ""
    yield (
        "and agrees for all other instructions measured with it. For loads, the metric misses merges of lane pairs; its"
        " *ideal* ignores most merges, too. The counters of whole launches, `…_op_ld`, `…_op_st`, `…_op_atom`,"
        " are right, except for stores that execute together with copies and loads that fill L1: `…_op_st` was"
        " above the sum of conflict-free stores in 15 of 312 launches of library kernels (256 stores counted as 284,"
        " 483 and 686), while `…_op_ld` of the same launches was exact. Copies are overcounted in the same way:"
        " 4,096 wavefronts of `cp.async.ca` as 5,219 to 5,302, a different value in each of seven runs, in a matrix"
        " product whose copies alone, with and without their tile in L1, are counted as 4,096 in each of twelve"
        " launches (the same product with stores: 5,015 to 5,060 for 4,096); 7.1 million as 8.2 in a CUTLASS product."
        " No count was ever too low. Loads are not always exact either: one launch of"
        " `bench/adversary`, seed 1332, measured six times, has 115 to 118 for loads that take 115; another, seed 96138,"
        " measured forty times, has 300 in 35 and 301 in five."
    )
    yield ""
    yield (
        "For global memory, the metric `memory_l2_theoretical_sectors_global` equals the unit's counters"
        " (`l1tex__t_sectors_pipe_lsu_mem_{global,local}_op_{ld,st}`) for `LDG`, `STG`, `LDL` and `STL` in every measured"
        " launch (tests/data/memory_sm90). It differs for"
    )
    yield ""
    yield (
        "- `RED` and `ATOMG`: lanes on one address take turns, and the unit counts the sectors of every turn: in the"
        " k-th turn those of the k-th lane on each address. 32 lanes on one counter are 1 sector in the metric and 32 in the"
        " unit's counter; on words i mod 3 they are 1 and 11, on i mod 24, 3 and 4. This holds in all launches of memory_sm90"
        " but one, and in all 1,131 single requests of tests/data/atomics_sm90.json.gz (NVIDIA H200) that touch at most four"
        " lines of 128 bytes. Of 156 that touch seven lines or more, it holds for 107; 49 have one, two or three sectors more,"
        " always the same number for the same addresses, because some lanes of a line are sent later than others. The data do"
        " not show which: it depends on the lines and on the positions of the words in them, not on the"
        " number of lanes in a bank. A tile of 8 rows of 33 words, read across, has 11 sectors per warp and is counted"
        " as 12 to 14: 205 for 176 in a launch of 16 warps, on an H100 as on an H200. An audit reports the distinct sectors"
    )
    yield (
        "- `LDGSTS.BYPASS` (cp.async.cg): `…_op_ldgsts_cache_access` does not include them, as it counts only `LDGSTS`"
        " without BYPASS. Their counter is"
        " `sm__sass_l1tex_m_xbar2l1tex_read_sectors_mem_global_op_ldgsts_cache_bypass`,"
        " which equals the metric in every launch where they are not predicated. With a predicate both are 0, or a value that"
        " contradicts the tag requests of the same run, while the sectors requested from L2"
        " (`lts__t_sectors_srcunit_tex_op_read`) equal the rule in 48 launches that read nothing else. Metric and"
        " counter count a source sector once for each 32-byte sector of"
        " shared memory that it is written to: 64 rows of 128 bytes copied to rows of 144 bytes take 384, not 256, as"
        " the 16-byte pieces of every other row cross sectors; the same rows without padding, or with"
        " cp.async.ca, take 256"
    )
    yield (
        "- the metric's *ideal*: the bytes of the active lanes / 32, rounded up, but never above the sectors that they"
        " touch"
    )
    yield ""


def _memory(machine: Machine) -> Iterator[str]:
    yield "## Global and local memory"
    yield ""
    yield (
        "With `--space` an audit counts sectors of 32 bytes and lines of 128 (*tag requests*) instead of wavefronts, with"
        " the same engine. The rules were measured on an H100, per instruction and with the unit's counters, in 466 launches"
        " of bench/memory"
        " (tests/data/memory_sm90; `python -m bench.memory build FOLDER`, then `measure FOLDER -o FILE` on the GPU)."
        " Cache operators, memory orders and eviction priorities change neither figure."
    )
    yield ""
    yield "| operation | rule | shift |"
    yield "|---|---|---|"
    yield from (f"| {rule.operation} | {rule.says} | {rule.shift} |" for rule in machine.memory)
    yield ""
    yield (
        "For global memory the position of a pointer modulo 128 bytes matters, as the position of an array does for banks."
        " If it matters and is not specified (`--assume ptr%256` states the alignment by cudaMalloc; addresses and buffers of"
        " a launch specify it, too), the answer is conditional on the residues. A predicated-off copy and one of source"
        " size 0 read nothing; one with a partial source size reads like a full one. Measured instructions, by bits per lane: "
        + ", ".join(f"{name} ({n} sites)" for name, n in machine.memory_measured.items())
        + ". Other generations have these figures by rule."
    )
    yield ""


def _unscored() -> Iterator[str]:
    yield "## Accesses without a figure by lanes"
    yield ""
    yield (
        "Accesses without a rule for their lanes are listed with the reason, and with the number of executions. On sm_90,"
        " wgmma also has the wavefronts that the counter has for it, and operations on barriers (except initialisation) and"
        " bulk copies have zero wavefronts, as in the counters of an H200."
    )
    yield ""
    yield "| access | why |"
    yield "|---|---|"
    yield from (f"| {word} | {why} |" for word, why in UNSCORED.items())
    yield ""


def _generations() -> Iterator[str]:
    yield "## Other generations"
    yield ""
    same = [machines.get(name) for name in machines.names() if machines.get(name).rules and name.startswith("sm_")]
    yield (
        f"The table above applies *by rule* to Maxwell to Blackwell ({', '.join(m.name for m in same if not m.name[-1].isalpha())}), as"
        " far as they have the instruction: ldmatrix from sm_75, cp.async from sm_80, stmatrix from sm_90."
        " For machines before sm_75, which the disassembler does not read, only PTX is scored. `--machine` scores today's"
        " PTX by the rules of any of these, as a what-if."
    )
    yield ""
    for name in ("kepler-8byte", "kepler-4byte", "fermi", "tesla"):
        machine = machines.get(name)
        yield f"### {machine.title} (`{machine.name}`)"
        yield ""
        yield f"{machine.banks} banks of {machine.word} bytes."
        yield ""
        yield from _table(machine)
    yield "### Abstract machines (`banks=12,word=4,threads=32,broadcast=any`)"
    yield ""
    yield (
        "n banks of m bytes, k threads together: k / n requests of n lanes. broadcast=any: lanes on equal words are"
        " served together; one: a step serves one broadcast word and one lane of each other bank; none: lanes serialise."
    )
    yield ""
    yield "### Sources"
    yield ""
    for key, source in machines.SOURCES.items():
        yield f"- {key}: {source.text}{' <' + source.url + '>' if source.url else ''}"
    yield ""


def wanted() -> dict[str, str]:
    """{path below docs: text}."""
    return {"hardware.md": document()} | {f"{PICTURES}/{name}": svg for name, svg in pictures().items()}


def stale(docs: Path = DOCS) -> list[str]:
    """The files that are missing, outdated or superfluous."""
    files = wanted()
    there = {f"{PICTURES}/{path.name}" for path in (docs / PICTURES).glob("*.svg")}
    return [
        name
        for name, text in files.items()
        if not (docs / name).is_file() or (docs / name).read_text(encoding="utf-8") != text
    ] + sorted(there - set(files))


def write(docs: Path = DOCS) -> None:
    files = wanted()
    (docs / PICTURES).mkdir(parents=True, exist_ok=True)
    for name in stale(docs):
        if name in files:
            (docs / name).write_text(files[name], encoding="utf-8")
        else:
            (docs / name).unlink()
        print(docs / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if something would change")
    if parser.parse_args().check:
        sys.exit("\n".join(["stale:", *stale()]) if stale() else 0)
    write()


if __name__ == "__main__":
    main()
