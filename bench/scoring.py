"""Times scoring requests: one at a time, a handful, and 100,000 in one call; process time, best of several runs.

    python bench/scoring.py

Each kind of counting with its slowest data; single requests are all different, and more than any cache holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ptxaudit import score_request, score_requests

MANY = 100_000
HANDFUL = 8
SINGLES = 3_000
LANES = 32
LINE = 128  # bytes per source line

Units = Callable[[np.random.Generator], np.ndarray]


def _random(units: int) -> Units:
    """Random units below a limit."""
    return lambda rng: rng.integers(0, units, (MANY, LANES))


def _in_lines(lines: int) -> Callable[[int], Units]:
    """Random units in this many source lines."""
    return lambda width: _random(lines * LINE // width)


@dataclass(frozen=True)
class Case:
    """One opcode with its slowest data. units: addresses, in units of its width; sources: the same for a cp.async."""

    opcode: str
    data: str = "random"
    machine: str = "sm_90"
    units: Units = _random(512)
    sources: Callable[[int], Units] | None = None
    in_l1: bool | None = None
    zero_filled: bool = False

    @property
    def name(self) -> str:
        return f"{self.opcode}, {self.data}" + (f", {self.machine}" if self.machine != "sm_90" else "")


COPIES = tuple(
    Case(opcode, data, sources=_in_lines(lines), in_l1=in_l1, zero_filled=zeros)
    for opcode in ("LDGSTS.E", "LDGSTS.E.64", "LDGSTS.E.128")
    for data, lines, in_l1, zeros in (
        ("from 4 lines", 4, None, False),
        ("from many lines", 4096, None, False),
        ("from 4 lines, some zero-filled", 4, None, True),
        ("from many lines, none in L1", 4096, False, False),
        ("from many lines, all in L1", 4096, True, False),
    )
)
CASES = (
    Case("LDS"),
    Case("LDS.64"),
    Case("LDS.128"),
    Case("LDS.128", "one word", units=_random(1)),
    Case("STS.128"),
    Case("ATOMS.ADD"),
    Case("LDSM.16.M88.4"),
    Case("atom.shared.add.f64"),
    Case("atom.shared.cas.b16"),
    Case("LDGSTS.E.BYPASS.128"),
    Case("ld.shared.v4.f32", machine="kepler-4byte"),
    Case("ld.shared.f32", "few words", "tesla", _random(8)),
    Case("ld.shared.f32", machine="tesla"),
    Case("ld.shared.f32", machine="banks=12,word=4,threads=32,broadcast=one"),
    *COPIES,
)


@dataclass(frozen=True)
class Seconds:
    """Seconds for one request, for HANDFUL in one call, and for MANY in one call."""

    one: float
    handful: float
    many: float


def best(call: Callable[[], object], runs: int) -> float:
    """Seconds per call, the best of several."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def measure(case: Case) -> Seconds:
    from ptxaudit.hardware.banks import classify

    rng = np.random.default_rng(1)
    width = classify(case.opcode).width
    arrays = {"addresses": case.units(rng) * width}
    if case.sources:
        arrays["sources"] = case.sources(width)(rng) * width
    if case.zero_filled:
        arrays["zero_filled"] = rng.integers(0, 1 << LANES, MANY)
    rest = {"machine": case.machine, "in_l1": case.in_l1}

    def call(n: int) -> Callable[[], object]:
        some = {name: array[:n] for name, array in arrays.items()}
        return lambda: score_requests(case.opcode, **some, **rest)

    requests = [
        dict(zip(arrays, row, strict=True))
        for row in zip(*(array[:SINGLES].tolist() for array in arrays.values()), strict=True)
    ]

    def singles() -> None:
        for request in requests:
            score_request(case.opcode, **request, **rest)

    return Seconds(best(singles, 3) / SINGLES, best(call(HANDFUL), 300), best(call(MANY), 3))


def main() -> None:
    print(f"{'request':64}{'one':>10}{HANDFUL:>10}{MANY:>12,}")
    for case in CASES:
        found = measure(case)
        print(f"{case.name:64}{found.one * 1e6:>7.0f} µs{found.handful * 1e6:>7.0f} µs{found.many:>10.2f} s")


if __name__ == "__main__":
    main()
