"""A file of measured instructions, small enough to be compared in every run of the tests.

texts (n,), codes (n, 16)             instructions
names (r,), before (r, warps, lanes)  the registers that they find
wavefronts (n,)                       of all warps, as Nsight Compute counts them for this instruction alone
index, register, digest (k,)          the registers that changed, by a CRC-32 of their numbers in all lanes; the
                                      last register is the digest of shared memory
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np

from bench.encodings.check import FURTHER, Measured, known, lifted, measured
from bench.shared_encodings.check import Shared, executed
from bench.shared_encodings.counts import counted

CHANGED = "is written, and no operation says so"


def keep(folder: Path, results: Path, counts: Path, most: int, file: Path) -> int:
    """Writes some of the instructions, and returns their number."""
    before, found = measured(folder, results)
    cost = counted(counts)
    found = [one for one in found if one.code in cost]
    chosen = [found[k] for k in sorted(Random(1).sample(range(len(found)), min(most, len(found))))]
    names = list(before)
    changed = [
        (k, names.index(name), digest(one.values[name]))
        for k, one in enumerate(chosen)
        for name in names
        if name == FURTHER or (one.values[name] != before[name]).any()
    ]
    index, register, digests = zip(*changed)
    np.savez_compressed(
        file,
        names=np.array(names),
        before=np.array([before[name] for name in names], np.uint32),
        texts=np.array([one.text for one in chosen]),
        codes=np.array([list(one.code) for one in chosen], np.uint8),
        wavefronts=np.array([cost[one.code][1] for one in chosen], np.uint32),
        index=np.array(index, np.uint32),
        register=np.array(register, np.uint8),
        digest=np.array(digests, np.uint32),
    )
    return len(chosen)


def digest(numbers: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(numbers, np.uint32).tobytes())


def compared(file: Path) -> Iterator[tuple[str, list[str], int, bool]]:
    """Of each instruction: its text, what differs, how many registers (and memory) are known in all lanes, and whether
    one number of wavefronts is claimed.
    """
    data = np.load(file)
    names = [str(name) for name in data["names"]]
    before = dict(zip(names, data["before"]))
    after: list[dict[str, int]] = [{} for _ in data["texts"]]
    for index, register, number in zip(data["index"], data["register"], data["digest"]):
        after[index][names[register]] = int(number)
    some = [Measured(str(text), bytes(code), {}) for text, code in zip(data["texts"], data["codes"])]
    for one, instruction, changed, wavefronts in zip(some, lifted(some), after, data["wavefronts"].tolist()):
        run = executed(before, one, instruction)
        wrong, sure = _differing(run, before, changed)
        low, high = run.cost(instruction)
        if not low <= wavefronts <= high:
            wrong.append(f"{wavefronts} wavefronts and not {low} to {high}")
        yield one.text, wrong, sure, low == high


def _differing(run: Shared, before: dict[str, np.ndarray], changed: dict[str, int]) -> tuple[list[str], int]:
    """(what differs, in words; how many registers are known in all lanes, with shared memory if it is)."""
    wrong = [f"{name} {CHANGED}" for name in changed if name != FURTHER and name not in run.written]
    sure = 0
    for name in run.written:
        numbers, where = known(run.registers[name], run.shape)
        if name in before and where.all():
            sure += 1
            if digest(numbers) != changed.get(name, digest(before[name])):
                wrong.append(f"{name} differs")
    if run.certain:
        sure += 1
        if digest(run.digest()) != changed[FURTHER]:
            wrong.append("shared memory differs")
    return wrong, sure
