"""Compares the rules with single requests that a GPU counted: how many agree, per instruction.

    compare(read(Path("requests.json.gz")))  ->  [Agreement("LDS.64", "", requests=123, exact=123, held=0, …), …]

A data file has `device` ("NVIDIA H200 (sm_90)"), `driver`, `profiler` and `requests`; bench/calibrate/records.py
describes the records. A request agrees *exactly* if the rules give one figure, equal to the counter's; it is *held*
if they give a range that contains the counter's; anything else is wrong.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from ptxaudit.base import files, limits
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.hardware import machines, spin
from ptxaudit.hardware.banks import classify
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.hardware.scoring import score_request, score_requests

HINT = "a file that `python -m bench.calibrate measure` wrote"
_KEYS = {"sass", "active", "addresses", "wavefronts"}
_MATRICES = ("LDSM", "STSM")
_EVERYONE = 0xFFFF_FFFF
_STORE = "STS.128"  # how cp.async.cg writes the zeros of lanes that copy nothing: all that a counter sees of it
_L1 = {"none": "sources not in L1", "all": "sources in L1", "some": "some sources in L1"}


class Wrong(Record):
    """A request that the rules get wrong: its index in the file, the count, the bounds from the rules."""

    place: int
    counted: int
    low: int
    high: int


class Agreement(Record):
    """How the requests of one instruction in one situation agree.

    unscored: requests that a counter saw but for which the rules have no figure. rule: the machine's rule in words.
    """

    opcode: str
    situation: str
    requests: int
    exact: int
    held: int
    unscored: int
    wrong: tuple[Wrong, ...]
    rule: str = ""


class Measurement(Record):
    """One data file: its origin, the machine whose rules apply, and its records."""

    file: str
    device: str
    driver: str
    profiler: str
    machine: Machine
    requests: list[dict[str, Any]]


def read(file: Path) -> Measurement:
    """The contents of a data file, plain or gzipped JSON. Raises InputError if it is invalid."""
    try:
        data = files.read_bytes(file, limits.DOCUMENT)
        document = json.loads(
            files.unzipped(data, limits.UNPACKED, str(file)) if data[:2] == files.GZIP_MAGIC else data
        )
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", HINT, str(file)) from None
    except (ValueError, RecursionError):
        raise InputError("it is not JSON", HINT, str(file)) from None
    requests = document.get("requests") if isinstance(document, dict) else None
    if not isinstance(requests, list) or not requests:
        raise InputError("it has no requests", HINT, str(file))
    for place, one in enumerate(requests):
        missing = _KEYS - set(one) if isinstance(one, dict) else _KEYS
        if missing:
            raise InputError(f"request {place} lacks {', '.join(sorted(missing))}", HINT, str(file))
    named = re.search(r"sm_\w+", str(document.get("device")))
    if named is None:
        raise InputError(
            f"its device, {document.get('device')!r}, does not name the architecture",
            'a device reads "NVIDIA H200 (sm_90)"',
            str(file),
        )
    return Measurement(
        str(file),
        document["device"],
        str(document.get("driver", "?")),
        str(document.get("profiler", "?")),
        machines.get(named[0]),
        requests,
    )


def compare(measurement: Measurement) -> list[Agreement]:
    """The agreement by instruction and situation, in the file's order, without requests that no counter saw."""
    by: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, one in enumerate(measurement.requests):
        if one["wavefronts"] is not None:
            by[one["ptx"] if "loop" in one else one["sass"], situation(one)].append(place)
    return [_agreement(measurement, opcode, where, places) for (opcode, where), places in by.items()]


def situation(one: dict[str, Any]) -> str:
    """The special circumstances of a request, in words: "sources in L1, 4 in flight"."""
    said = [_L1[one["in_l1"]]] if "in_l1" in one else []
    if "sizes" in one:
        said.append("source sizes")
    if "ignored" in one:
        said.append("ignore-src")
    if "in_flight" in one:
        said.append(f"{one['in_flight']} in flight")
    if "threads" in one or one["sass"].startswith(_MATRICES) and one["active"] != _EVERYONE:
        said.append("part of a warp")
    if "loop" in one:
        said.append("all passes")
    return ", ".join(said)


def _agreement(measurement: Measurement, opcode: str, where: str, places: list[int]) -> Agreement:
    low, high = _figures(measurement.machine, opcode, [measurement.requests[place] for place in places])
    counted = [measurement.requests[place]["wavefronts"] for place in places]
    exact = sum(a == b == n for a, b, n in zip(low, high, counted, strict=True))
    unscored = sum(b < 0 for b in high)
    wrong = tuple(
        Wrong(place, n, a, b)
        for place, n, a, b in zip(places, counted, low, high, strict=True)
        if not a <= n <= b and b >= 0
    )
    rule = measurement.machine.rule(classify(opcode, None, True))
    return Agreement(
        opcode,
        where,
        len(places),
        exact,
        len(places) - exact - unscored - len(wrong),
        unscored,
        wrong,
        rule.says if rule else "",
    )


def _figures(machine: Machine, opcode: str, requests: list[dict[str, Any]]) -> tuple[list[int], list[int]]:
    """(low, high) of each request, for loops, copies in flight and lanes that copy nothing too."""
    first, access = requests[0], classify(opcode, None, True)
    if "loop" in first:
        played = [
            spin.play(
                r["width"], r["loop"], r["addresses"], r["values"], r["active"], machine.name, swaps=r.get("swaps")
            ).wavefronts
            for r in requests
        ]
        return played, played
    if access.bypass:
        return _writes_of_bypass(machine, requests)
    copies = first.get("in_flight", 1)
    lanes = machine.lanes
    low = [0] * len(requests)
    high = [0] * len(requests)
    for i in range(copies):
        rows = slice(i * lanes, (i + 1) * lanes)
        more: dict[str, Any] = {}
        if "sources" in first:
            more["sources"] = [r["sources"][rows] for r in requests]
            more["in_l1"] = {"none": False, "all": True}.get(first.get("in_l1", "none"))
        if "sizes" in first:
            more["zero_filled"] = [
                sum(1 << lane for lane, size in enumerate(r["sizes"]) if size == 0) for r in requests
            ]
        if "ignored" in first:
            more["zero_filled"] = [r["ignored"] for r in requests]
        scores = score_requests(
            opcode, [r["addresses"][rows] for r in requests], [r["active"] for r in requests], machine=machine, **more
        )
        low = [a + b for a, b in zip(low, scores.low.tolist(), strict=True)]
        high = [a + b for a, b in zip(high, scores.high.tolist(), strict=True)]
    return low, high


def _writes_of_bypass(machine: Machine, requests: list[dict[str, Any]]) -> tuple[list[int], list[int]]:
    """What a counter sees of cp.async.cg: its zeros.

    If a lane copies only some of its bytes, it also sees one wavefront at least, and at most one per lane without
    zeros.
    """
    low, high = [], []
    for r in requests:
        width, lanes = classify(r["sass"]).width, [lane for lane in range(machine.lanes) if r["active"] >> lane & 1]
        sizes = r.get("sizes", [width] * machine.lanes)
        zeros = sum(1 << lane for lane in lanes if sizes[lane] == 0 or r.get("ignored", 0) >> lane & 1)
        figure = score_request(_STORE, r["addresses"], zeros, machine=machine).wavefronts
        assert figure is not None  # plain stores are exact
        some = any(0 < sizes[lane] < width for lane in lanes)
        low.append(figure + some)
        high.append(figure + (len(lanes) - zeros.bit_count() if some else 0))
    return low, high
