"""Some of what was measured, as data of the tests: the results of one warp.

programs: JSON; inputs: (registers, lanes); index: of each execution, its program; values: of each width, the results of
all executions, in order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random

import numpy as np

from bench.ptx_forms import check, plan
from bench.ptx_forms.check import Compared
from bench.ptx_forms.programs import Program
from ptxaudit.engine.domain.value import DTYPES

AT_ONCE = 500
ONCE_WRONG = {
    "a set under a predicate, whose result is converted": r"@.*set\.\w+\.(\w+\.)?(f32|u32\.f16|bf16\.bf16)",
    "one predicate for both results": r"setp.* (%o_1_0)\|\1",
    "a float in a wider register": r"cvt\.r.*\.f(16|32) %\w+, %b64_0",
    "the sign of a NaN": r"(abs|neg)\.f(16|32)",
    "a minimum of equal operands, or of signalling NaN": r"(min|max)\.(ftz\.)?(f32|f64|f16|bf16x2)",
    "a product with one": r"mul\.f32 .*0f[3B]F800000|div\.(approx|full)\.f32 .*0f3F800000",
    "64-bit NaN": r"(mul|sub)\.r.\.f64 .*0d",
    "a copy by cvt": r"cvt\.(ftz\.)?f(32\.f32|64\.f64)",
    "fns from no bit": r"fns",
    "a count of which ptxas takes 16 bits": r"sh[lr]\.[bus]16 .*-2147483648",
}
"""What was wrong before, as a regular expression of programs."""
OF_EACH = 12  # programs of each of these


def keep(folder: Path, out: Path, most: int, file: Path) -> int:
    """Writes some programs, at least one of each opcode, with the results of a warp; returns their number."""
    programs = [p for group in plan.read(folder) for p in group]
    starts = np.cumsum([0, *(len(p.results) for p in programs)])
    found = check.truths(out)
    differ = set(np.searchsorted(starts, np.flatnonzero((found["O3"] != found["O0"]).any(axis=1)), "right") - 1)
    chosen = _chosen(programs, differ, most)
    index, rows = [], []
    for level in plan.LEVELS:
        for at, k in enumerate(chosen):
            if level == "O3" or k in differ:
                index.append(at)
                rows += [(bits, found[level][starts[k] + j]) for j, (_, bits) in enumerate(programs[k].results)]
    values = {str(w): np.array([r[: check.WARP] for bits, r in rows if bits == w], np.uint64) for w in (1, 16, 32, 64)}
    np.savez_compressed(
        file,
        programs=np.frombuffer(json.dumps([asdict(programs[k]) for k in chosen]).encode(), np.uint8),
        inputs=np.load(folder / plan.INPUTS)[:, : check.WARP],
        index=np.array(index, np.uint16),
        **{width: v.astype(DTYPES[int(width)]) for width, v in values.items()},
    )
    return len(chosen)


def _chosen(programs: list[Program], differ: set[int], most: int) -> list[int]:
    rng, by_opcode = Random(1), {p.opcode: k for k, p in reversed(list(enumerate(programs)))}
    out = set(by_opcode.values()) | differ
    for pattern in ONCE_WRONG.values():
        matching = [k for k, p in enumerate(programs) if re.search(pattern, p.text)]
        out.update(rng.sample(matching, min(OF_EACH, len(matching))))
    rest = sorted(set(range(len(programs))) - out)
    return sorted(out | set(rng.sample(rest, max(0, min(most - len(out), len(rest))))))


def kept(file: Path) -> Iterator[Compared]:
    """The comparison of every execution that `keep` wrote."""
    data = np.load(file)
    programs = [Program.of(p) for p in json.loads(data["programs"].tobytes())]
    before = check.initial(check.inputs_of(data["inputs"]))
    lifted = [one for k in range(0, len(programs), AT_ONCE) for one in check.lifted(programs[k : k + AT_ONCE])]
    values = {int(w): iter(data[w]) for w in ("1", "16", "32", "64")}
    for k in data["index"]:
        truths = np.stack([next(values[bits]).astype(np.uint64) for _, bits in programs[k].results])
        yield check.compared(programs[k], lifted[k], before, truths)
