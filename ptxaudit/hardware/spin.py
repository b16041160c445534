"""Simulates one warp's atomic loop pass by pass: the code that ptxas generates for shared float and 64-bit atomics.

    play(8, "add", addresses, values)  ->  Played(loads=24, atomics=48, passes=15)

There are two such loops. 32 and 64 bits: load, compute, ATOMS.CAST.SPIN, repeated by the lanes that failed. In a
pass, the first waiting lane of each bank (each 8-byte pair of banks, per half-warp) tries to swap; it fails if the
other half-warp has just changed its word. A pass costs 2 wavefronts per group, and the load of the remaining lanes.
16 bits: one load, then ATOMS.CAS on the enclosing word, which returns the word to try next; every lane tries in each
pass, which costs twice the maximum number of lanes in one bank. A compare-and-swap of 16 bits repeats only if the
other half of its word has changed.

Measured on an H200: the loads and atomics of every loop in tests/data/calibration_sm90.json.gz agree. This assumes
that no other warp updates the words meanwhile, which would add passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ptxaudit.base.records import Record
from ptxaudit.hardware import machines
from ptxaudit.hardware.banks import classify, score

_MASK = (1 << 64) - 1
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda old, value: old + value & _MASK,
    "min": min,
    "max": max,
    "and": lambda old, value: old & value,
    "or": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
}
_SETTLED: dict[str, Callable[[int, int], bool]] = {
    "min": lambda old, value: value >= old,
    "max": lambda old, value: value <= old,
}  # no swap is needed
_WORD = 4
_HALF = 0xFFFF


def _never(old: int, value: int) -> bool:
    return False


class Played(Record):
    """Wavefronts of the loads and of the atomics, and the number of passes."""

    loads: int
    atomics: int
    passes: int

    @property
    def wavefronts(self) -> int:
        return self.loads + self.atomics


def play(
    width: int,
    operation: str,
    addresses: Sequence[int],
    values: Sequence[int],
    active: int = 0xFFFF_FFFF,
    arch: str = "sm_90",
    *,
    swaps: Sequence[int] | None = None,
) -> Played:
    """One warp's loop on zeroed memory.

    width: 2, 4 or 8 bytes. operation: one of OPERATIONS, or "cas" of 2 bytes, which compares with `values` and stores
    `swaps`. values: as integers (a float's sum has other bits, but changes in the same cases).
    """
    if width >= _WORD:
        return _spins(width, operation, addresses, values, active, arch)
    return _words(operation, addresses, values, active, arch, swaps)


def _spins(
    width: int, operation: str, addresses: Sequence[int], values: Sequence[int], active: int, arch: str
) -> Played:
    size = "" if width == _WORD else f".{8 * width}"
    rule = machines.get(arch).known_rule(classify(f"ATOMS.CAST.SPIN{size}"))
    memory: dict[int, int] = dict.fromkeys(addresses, 0)
    waiting = [lane for lane in range(len(addresses)) if active >> lane & 1]
    loads = atomics = passes = 0
    while waiting:
        passes += 1
        loads += _cost(f"LDS{size}", addresses, waiting, arch)
        loaded = {lane: memory[addresses[lane]] for lane in waiting}
        settled = _SETTLED.get(operation, _never)
        done = {lane for lane in waiting if settled(loaded[lane], values[lane])}
        trying = [lane for lane in waiting if lane not in done]
        atomics += _cost(f"ATOMS.CAST.SPIN{size}", addresses, trying, arch)
        first: dict[tuple[int, int], int] = {}
        for lane in trying:
            first.setdefault((lane // rule.count.lanes, addresses[lane] // rule.count.unit % rule.count.slots), lane)
        for lane in first.values():
            if memory[addresses[lane]] == loaded[lane]:
                memory[addresses[lane]] = OPERATIONS[operation](loaded[lane], values[lane])
                done.add(lane)
        waiting = [lane for lane in waiting if lane not in done]
    return Played(loads, atomics, passes)


def _words(
    operation: str, addresses: Sequence[int], values: Sequence[int], active: int, arch: str, swaps: Sequence[int] | None
) -> Played:
    words = [address // _WORD * _WORD for address in addresses]
    shifts = [8 * (address % _WORD) for address in addresses]
    memory: dict[int, int] = dict.fromkeys(words, 0)
    waiting = [lane for lane in range(len(addresses)) if active >> lane & 1]
    loads, atomics, passes = _cost("LDS", words, waiting, arch), 0, 0
    known = dict.fromkeys(waiting, 0)
    while waiting:
        passes += 1
        atomics += _cost("ATOMS.CAS", words, waiting, arch)
        left = []
        for lane in waiting:
            now, mask = memory[words[lane]], _HALF << shifts[lane]
            if swaps is not None:  # it compares with its own half; only a change of the other half makes it repeat
                known[lane] = known[lane] & ~mask | values[lane] << shifts[lane]
            if now == known[lane]:
                half = (
                    swaps[lane]
                    if swaps is not None
                    else OPERATIONS[operation](now >> shifts[lane] & _HALF, values[lane]) & _HALF
                )
                memory[words[lane]] = now & ~mask | half << shifts[lane]
            elif swaps is None or (now ^ known[lane]) & ~mask:
                known[lane] = now
                left.append(lane)
        waiting = left
    return Played(loads, atomics, passes)


def _cost(opcode: str, addresses: Sequence[int], lanes: list[int], arch: str) -> int:
    on = np.zeros((1, len(addresses)), bool)
    on[0, lanes] = True
    return int(score(machines.get(arch), classify(opcode), np.array([addresses], np.int64), on).low[0])
