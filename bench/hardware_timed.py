"""The parts of docs/hardware.md on what no counter measures.

Their data are timing_sm90.json.gz and tensor_sm90.json.gz of tests/data.

cg_cycles()     cp.async.cg by k, under several conditions
chapters()      wgmma, bulk copies, other blocks' memory, barriers
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ptxaudit import score_request

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
BYPASS = "LDGSTS.E.BYPASS.128"
SECTOR_WORDS = 8
UNROLL = 8


def _read(name: str) -> dict[str, Any]:
    return json.loads(gzip.decompress((DATA / name).read_bytes()))


def _table(heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    heads = list(heads)
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    yield from ("| " + " | ".join(map(str, row)) + " |" for row in rows)
    yield ""


def _span(values: list[float]) -> str:
    low, high = f"{min(values):.0f}", f"{max(values):.0f}"
    return low if low == high else f"{low}–{high}"


# --- cp.async.cg --------------------------------------------------------------------------------

# common conditions: prefixes of the kernels' names, blocks
_CIRCUMSTANCES = (
    ("new sources each time, one block", ("cg_far",), 1),
    ("new sources each time, one block on every multiprocessor", ("cg_far",), 132),
    ("the same sources repeatedly, one block", ("cg_warp", "cg_block"), 1),
    (
        "the same sources repeatedly, one block on every multiprocessor, all reading the same",
        ("cg_warp", "cg_block"),
        132,
    ),
)


def cg_cycles() -> Iterator[str]:
    by: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    for one in _read("timing_sm90.json.gz")["timed"]:
        if "blocks" in one and not one["kernel"].endswith("_onto"):
            k = score_request(BYPASS, one["addresses"]).line_class_max
            by[one["blocks"], k][f"{one['kernel']} {one['pattern']}"] = one["cycles"]
    ks = sorted({k for _, k in by})
    yield from _table(
        ["cycles per request at k =", *map(str, ks)],
        (
            [what, *(_span([c for name, c in by[blocks, k].items() if name.startswith(kernels)]) for k in ks)]
            for what, kernels, blocks in _CIRCUMSTANCES
        ),
    )


# --- the tensor core and the copy engine ----------------------------------------------------------


def _wgmma() -> Iterator[str]:
    tensor, timing = _read("tensor_sm90.json.gz"), _read("timing_sm90.json.gz")
    launches = [one for one in tensor["launches"] if one["kernel"].startswith("wgmma")]
    timed = {one["kernel"].removeprefix("timed_"): [] for one in timing["timed"] if one["kernel"].startswith("timed_")}
    for one in timing["timed"]:
        if one["kernel"].startswith("timed_"):
            timed[one["kernel"].removeprefix("timed_")].append(one["cycles"])
    groups: dict[tuple[int, bool], list[dict]] = defaultdict(list)
    for one in launches:
        groups[one["n"], one["a"] != "registers"].append(one)
    yield "### wgmma"
    yield ""
    yield (
        f"{len(launches)} launches of one `wgmma.m64nNk16` of f16: swizzle modes"
        f" {', '.join(sorted({o['swizzle'] for o in launches}))}, A K-major, MN-major or in registers, B K-major and"
        " MN-major, several strides and start addresses, including unswizzled layouts with strides of 144 bytes. The same"
        " launches were timed in runs of 32."
    )
    yield ""
    rows = []
    for (n, shared), ones in sorted(groups.items()):
        counted = sorted({(o["counters"]["op_gmma"], o["counters"]["conflicts_op_gmma"]) for o in ones})
        cycles = [c for kernel in {o["kernel"] for o in ones} for c in timed[kernel]]
        rows.append(
            [
                n,
                "through a descriptor" if shared else "in registers",
                len(ones),
                ", ".join(str(c) for c, _ in counted),
                ", ".join(str(c) for _, c in counted),
                " to ".join(sorted({f"{c:.1f}" for c in (min(cycles), max(cycles))})),
            ]
        )
    yield from _table(["N", "A", "launches", "wavefronts (`…_op_gmma`)", "conflicts", "cycles"], rows)
    yield (
        "Each row has a single figure: the layout affects neither the count nor the time, not even with N = 8, where"
        " reading the operands takes longest. The count per warpgroup is the bytes of its operands / 128: N"
        " / 4 for B, and 16 for an A in shared memory. This is expected: every layout that a descriptor"
        " can express consists of 8 rows of 16 bytes that cover the banks once."
    )
    yield ""


def _bulk() -> Iterator[str]:
    document = _read("tensor_sm90.json.gz")
    copies = [one for one in document["launches"] if not one["kernel"].startswith("wgmma")]
    loads = [one for one in copies if one["kernel"].startswith("copy")]
    extra = {one["counters"]["bank_writes"] - one["bytes"] // 4 for one in loads}
    yield "### Bulk copies"
    yield ""
    yield (
        "`cp.async.bulk`, `cp.async.bulk.tensor` of two to five dimensions of f16, to and from shared memory, and the"
        " reductions of both (`cp.reduce.async.bulk`). The wavefront counters count none of them:"
        f" {len(copies)} launches have"
        f" {' or '.join(map(str, sorted({one['counters']['wavefronts'] for one in copies})))} wavefronts, all of"
        " the barrier, for any copied data. `l1tex__data_bank_writes` is the bytes / 4 copied to shared memory (plus"
        f" {', '.join(map(str, sorted(extra)))}). Time is in cycles per additional copy of the same tile, from a run of"
        f" {16}:"
    )
    yield ""
    each = _each(document["cycles"])
    shapes = dict.fromkeys((swizzle, width) for kernel, swizzle, width, rows in each if kernel == "copy_tile")
    rows_ = sorted({rows for kernel, _, _, rows in each if kernel == "copy_tile"})
    yield from _table(
        ["swizzle", "bytes per row", *(f"in, {n} rows" for n in rows_), *(f"out, {n} rows" for n in rows_)],
        (
            [
                swizzle,
                width,
                *(f"{each[kernel, swizzle, width, n]:.0f}" for kernel in ("copy_tile", "store_tile") for n in rows_),
            ]
            for swizzle, width in shapes
        ),
    )
    sizes = sorted({width for kernel, _, width, _ in each if kernel == "copy_bytes"})
    yield from _table(
        ["plain bytes", *(f"{n:,}" for n in sizes)],
        (
            [what, *(f"{each[kernel, 'none', n, 1]:.0f}" for n in sizes)]
            for what, kernel in (("in", "copy_bytes"), ("out", "store_bytes"))
        ),
    )
    yield (
        "The swizzle mode does not matter. Issuing a copy takes some 57 cycles for a box to shared memory, 73 for plain"
        " bytes, and 18 and 29 for copies from it, which determines the cost of small copies. To shared memory, a row of the"
        " box takes at least one cycle, so rows of 16 bytes take as long as rows of 64, and wide rows are copied at about 105"
        " bytes per cycle. From shared memory, 32 bytes are copied per cycle, and a row of 16 bytes takes two cycles."
    )
    yield ""


def _forms() -> Iterator[str]:
    document = _read("forms_sm90.json.gz")
    products: dict[tuple[int, bool], dict[bool, set[int]]] = defaultdict(lambda: defaultdict(set))
    types: dict[bool, set[str]] = defaultdict(set)
    copies = [one for one in document["forms"] if "GMMA" not in one["sass"]]
    for one in document["forms"]:
        if "GMMA" in one["sass"]:
            sparse, words = ".sp." in one["ptx"], one["ptx"].split(".")
            n = int(re.search(r"m64n(\d+)k", one["ptx"])[1])
            products[n, sparse][one["name"].endswith("a_shared")].add(one["counters"]["1"]["op_gmma"])
            types[sparse].add(".".join(words[words.index("aligned") + 2 :][:3]))
    yield "### Counts of all forms"
    yield ""
    yield (
        f"{document['device']}: `tests/data/forms_sm90.json.gz`, {len(document['forms'])} forms, each issued once and 16 times in a"
        f" launch of its own. {len(copies)} bulk copies and reductions (bytes and tiles of one to five dimensions, im2col,"
        " to one block and to several, between blocks of a cluster, every operation and type) add nothing to any wavefront"
        f" counter. Products of {len(types[False])} dense types and {len(types[True])} sparse ones"
        f" ({', '.join(f'`{name}`' for name in sorted(types[False]))}) add, for every type:"
    )
    yield ""
    yield from _table(
        ["N", "A", "B", "wavefronts, A in registers", "wavefronts, A through a descriptor"],
        (
            [
                n,
                "sparse" if sparse else "dense",
                "64 bytes per column" if sparse else "32 bytes per column",
                *(", ".join(map(str, sorted(by[shared]))) for shared in (False, True)),
            ]
            for (n, sparse), by in sorted(products.items())
        ),
    )
    yield (
        "A sparse A stores half its elements, so that a row has 32 bytes, as in a dense A, while a column of B has the full"
        " depth of the product: 64 bytes."
    )
    yield ""


def _each(cycles: list[dict]) -> dict[tuple[str, str, int, int], float]:
    """{(kernel, swizzle, bytes per row, rows): cycles of one more}."""
    least: dict[tuple, dict[int, int]] = defaultdict(dict)
    for one in cycles:
        times = least[one["kernel"], one["swizzle"], one["row_bytes"], one["rows"]]
        times[one["times"]] = min(times.get(one["times"], one["cycles"]), one["cycles"])
    return {key: (times[max(times)] - times[min(times)]) / (max(times) - min(times)) for key, times in least.items()}


# --- clusters and barriers --------------------------------------------------------------------------

_REMOTE = (
    ("cluster_ld", "ld.shared::cluster.b32"),
    ("cluster_ld_v4", "ld.shared::cluster.v4.b32"),
    ("cluster_st", "st.shared::cluster.b32"),
    ("cluster_st_v4", "st.shared::cluster.v4.b32"),
    ("cluster_atom", "atom.shared::cluster.add.u32"),
    ("cluster_red", "red.shared::cluster.add.u32"),
    ("cluster_st_async", "st.async.b32"),
    ("cluster_st_async_v4", "st.async.v4.b32"),
)
_PATTERNS = ("consecutive", "every second", "128 bytes apart", "one word")


def _pattern(name: str, pattern: str) -> str:
    width = 16 if name.endswith("v4") else 4
    return {
        f"stride{width}": "consecutive",
        f"stride{2 * width}": "every second",
        "stride128": "128 bytes apart",
        "same": "one word",
    }.get(pattern, "")


def _remote() -> Iterator[str]:
    timed = [one for one in _read("timing_sm90.json.gz")["timed"] if one.get("whose") and one["active"] == 0xFFFF_FFFF]
    yield "### Another block's memory"
    yield ""
    yield (
        "In a cluster of two blocks, one warp accesses the other block's memory, or its own with the same instruction."
        " The table has wavefronts per request (`…_op_ld`, `…_op_st` and `…_op_atom` of both blocks) and cycles per additional"
        " request of a run, in which each waits for its turn, but not for its result."
    )
    yield ""
    found: dict[tuple[str, str, str], dict] = {
        (one["kernel"], one["whose"], what): one for one in timed if (what := _pattern(one["kernel"], one["pattern"]))
    }
    rows = []
    for kernel, ptx in _REMOTE:
        for whose in ("own", "other"):
            cells = []
            for what in _PATTERNS:
                one = found[kernel, whose, what]
                cells.append(f"{_wavefronts(one)} / {one['cycles']:.0f}")
            rows.append([f"`{ptx}`", whose, *cells])
    yield from _table(["instruction", "memory", *(f"{what}: wavefronts / cycles" for what in _PATTERNS)], rows)
    loads = [one for one in timed if one["kernel"].startswith("cluster_ld") and one["whose"] == "other"]
    own = {(one["kernel"], one["pattern"]): one for one in timed if one["whose"] == "own"}
    held = sum(
        one["counters"]["bank_writes"] - own[one["kernel"], one["pattern"]]["counters"]["bank_writes"]
        == UNROLL * SECTOR_WORDS * len({a // 32 for a in one["addresses"]})
        for one in loads
    )
    yield (
        "No wavefront counter includes loads, stores and `st.async` to another block's memory; atomics count 1 for any"
        f" addresses. A load transfers the whole 32-byte sectors that its lanes touch ({held} of {len(loads)}"
        " patterns by `l1tex__data_bank_writes`): the number of sectors matters, as in global memory, not the"
        " banks. In the block's own memory loads, stores and atomics count as `LDS`, `STS` and `ATOMS` do, and `LD.64`"
        " and `LD.128` merged lane pairs there, unlike in a launch without a cluster. `st.async` takes as"
        " long to the block's own memory as to another's."
    )
    yield ""


def _wavefronts(one: dict) -> str:
    counters = one["counters"]
    kind = (
        "op_atom"
        if one["kernel"].startswith(("cluster_atom", "cluster_red"))
        else "op_ld"
        if one["kernel"].startswith("cluster_ld")
        else "op_st"
    )
    count = counters[kind] / UNROLL
    return f"{count:g}"


_ON_BARRIERS = (  # kernel, as it is written
    ("arrive", "mbarrier.arrive"),
    ("arrive_sink", "mbarrier.arrive _"),
    ("test_wait", "mbarrier.test_wait"),
    ("try_wait", "mbarrier.try_wait"),
    ("barrier_expect_tx", "mbarrier.expect_tx"),
    ("barrier_complete_tx", "mbarrier.complete_tx"),
    ("barrier_arrive_expect_tx", "mbarrier.arrive.expect_tx _"),
    ("barrier_arrive_drop", "mbarrier.arrive_drop _"),
    ("barrier_copies", "cp.async.mbarrier.arrive.noinc"),
    ("barrier_copies_counted", "cp.async.mbarrier.arrive"),
    ("barrier_init", "mbarrier.init"),
    ("barrier_inval", "mbarrier.inval"),
)


def _barriers() -> Iterator[str]:
    timed = {
        (one["kernel"], one["pattern"], one["active"]): one["cycles"]
        for one in _read("timing_sm90.json.gz")["timed"]
        if "active" in one
    }
    everyone = 0xFFFF_FFFF
    yield "### Barriers"
    yield ""
    rows = [
        [
            f"`{ptx}`",
            *(
                f"{timed[kernel, pattern, active]:.0f}"
                for pattern, active in (
                    ("stride8", 1),
                    ("same", everyone),
                    ("quarters", everyone),
                    ("stride8", everyone),
                )
            ),
        ]
        for kernel, ptx in _ON_BARRIERS
    ]
    yield from _table(
        [
            "cycles per request",
            "one lane",
            "32 lanes on one barrier",
            "32 lanes on 8 barriers",
            "32 lanes on 32 barriers",
        ],
        rows,
    )
    yield (
        "The wavefront counters of loads, stores and atomics include none of them. `mbarrier.init` is counted with shuffles"
        " and the like (op_misc): 1 for each barrier that the lanes initialise, in any bank; the others are not counted,"
        " nor are arrivals at a barrier of another block of the cluster. Lanes on one barrier are served together,"
        " and several barriers one after the other, in some 11 cycles each (`mbarrier.init`: 52), in any banks."
    )
    yield ""


def chapters() -> Iterator[str]:
    yield "## Timed, because no counter exists"
    yield ""
    yield (
        f"{_read('timing_sm90.json.gz')['device']}: `tests/data/timing_sm90.json.gz` and"
        " `tests/data/tensor_sm90.json.gz`. Cycles are differences between launches with few and many repetitions,"
        " without the profiler."
    )
    yield ""
    yield from _wgmma()
    yield from _bulk()
    yield from _forms()
    yield from _remote()
    yield from _barriers()
