"""How fast requests are scored: one at a time, a handful, and 100,000 in one call; process time, best of several runs.

    python bench/scoring.py
"""

from __future__ import annotations

import time

import numpy as np

from ptxaudit import score_request, score_requests

OPCODES = ("LDS", "LDS.64", "LDS.128", "STS.128", "ATOMS.ADD", "LDSM.16.M88.4", "LDGSTS.E.128", "LDGSTS.E.BYPASS.128")
MANY = 100_000
LANES = 32


def best(call, times: int, runs: int) -> float:
    """Seconds of one call: the best of several runs of `times` calls."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        for _ in range(times):
            call()
        found.append((time.process_time() - start) / times)
    return min(found)


def figures(opcode: str) -> tuple[float, float, float]:
    """Seconds of one request, of eight in one call, and of MANY in one call."""
    from ptxaudit.banks import classify

    rng = np.random.default_rng(1)
    width = classify(opcode).width
    rows = rng.integers(0, 512, (MANY, LANES)) * width
    sources = rng.integers(0, 512, (MANY, LANES)) * width if opcode.startswith("LDGSTS") else None
    one = rows[0].tolist()
    from_one = None if sources is None else sources[0].tolist()
    few, from_few = rows[:8], None if sources is None else sources[:8]
    return (best(lambda: score_request(opcode, one, sources=from_one), 300, 7),
            best(lambda: score_requests(opcode, few, sources=from_few), 300, 7),
            best(lambda: score_requests(opcode, rows, sources=sources), 1, 3))


def main() -> None:
    print(f"{'opcode':22}{'one':>10}{'eight':>10}{MANY:>12,}")
    for opcode in OPCODES:
        one, eight, many = figures(opcode)
        print(f"{opcode:22}{one * 1e6:>7.0f} µs{eight * 1e6:>7.0f} µs{many:>10.2f} s")


if __name__ == "__main__":
    main()
