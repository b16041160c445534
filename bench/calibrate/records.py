"""Makes the records of a data file: the request, in the terms of `ptxaudit calibrate`, and its counters.

    record(request, ["LDGSTS.E.128"])  ->  {"sass": "LDGSTS.E.128", "ptx": …, "addresses": [32 bytes], "sources": …,
                                           "wavefronts": 9}

Always present: sass, ptx, pattern, active, addresses, wavefronts (null if no counter sees it: cp.async.cg). If
relevant:
    off        "guard": inactive lanes had a false predicate; otherwise they had exited the kernel
    threads    of the only warp, if it was not whole
    sources    source offsets of a cp.async; in_l1: "none", "all" or "some" of its source lines were in L1 before
    sizes      source size of each lane (zero-filled beyond it); ignored: mask of lanes that ignore their source
    in_flight  number of copies one after the other: addresses and sources are those of all, wavefronts their sum
    loop       operation, width; values: operand of each lane (for a compare-and-swap, compared with and swapped in);
               loads, atomics: wavefronts by kind
"""

from __future__ import annotations

from typing import Any

from bench.calibrate.instructions import INSTRUCTIONS, LANES

WHAT = (
    "one launch of one warp issuing one shared-memory request (a loop: all passes; in_flight: several copies);"
    " wavefronts from the hardware counter l1tex__data_pipe_lsu_wavefronts_mem_shared.sum less …_op_misc.sum; of a loop"
    " from …_op_ld.sum and …_op_atom.sum"
)


def record(request: dict[str, Any], sass: list[str]) -> dict[str, Any]:
    """One record of a data file. request: with its counters; sass: the kernel's shared-memory instructions."""
    one, counters = INSTRUCTIONS[request["kernel"]], request["counters"]
    made: dict[str, Any] = {
        "sass": sass[0] if one.alone else ", ".join(sass[1:]),
        "ptx": one.ptx,
        "pattern": request["pattern"],
        "active": request["active"],
        "addresses": request["addresses"],
    }
    if one.off == "guard":
        made["off"] = "guard"
    if request.get("threads", LANES) != LANES:
        made["threads"] = request["threads"]
    if one.kind == "copy":
        made |= {
            "sources": request["sources"],
            "in_l1": "all" if one.name.endswith("touched") else "some" if one.name.endswith("mixed") else "none",
        }
        if "_srcsize" in one.name:
            made["sizes"] = [min(v, one.width) for v in request["values"]]
        if "_ignore" in one.name:
            made["ignored"] = sum(1 << lane for lane, value in enumerate(request["values"]) if value)
        if one.requests > 1:
            made["in_flight"] = one.requests
    if one.kind == "loop":
        made |= {
            "loop": one.ptx.split(".")[2],
            "width": one.width,
            "values": request["values"],
            **({"swaps": [2 * v & 0xFFFF for v in request["values"]]} if ".cas." in one.ptx else {}),
            "loads": counters["op_ld"],
            "atomics": counters["op_atom"],
            "wavefronts": counters["op_ld"] + counters["op_atom"],
        }
        return made
    made["wavefronts"] = counters[""] - counters["op_misc"]
    if "BYPASS" in made["sass"] and made["wavefronts"] == 0:
        made["wavefronts"] = None  # no counter sees these copies
    return made


def document(requests: list[dict[str, Any]], machine_code: dict[str, list[str]], device: str) -> dict[str, Any]:
    """The data file. device: "NVIDIA H200 (sm_90), driver …, Nsight Compute …, options"."""
    name, driver, profiler, options = device.split(", ", 3)
    records = [record(r, machine_code[r["kernel"]]) for r in requests]
    return {
        "device": name,
        "driver": driver.removeprefix("driver "),
        "profiler": f"{profiler}, {options}",
        "what": WHAT,
        "n": len(records),
        "requests": records,
    }
