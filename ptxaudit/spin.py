"""Plays one warp's atomic loop pass by pass: what ptxas makes of shared float and 64-bit atomics.

    play(8, "add", addresses, values)  ->  Played(loads=24, atomics=48, passes=15)

There are two such loops. 32 and 64 bits: load, compute, ATOMS.CAST.SPIN, again for the lanes that failed.
In a pass the first waiting lane of each bank (of each 8-byte pair of banks, a half-warp) tries to swap; it fails
if the other half-warp has just changed its word. A pass costs 2 wavefronts a group, and the load of the lanes
that are left. 16 bits: one load, then ATOMS.CAS on the word around, which returns the word to try with next;
every lane tries in each pass, which costs twice the most lanes in one bank.

Measured on an H200: the loads and atomics of every loop in tests/data/calibration_sm90.json.gz are these.
No other warp updates the words meanwhile, else there are more passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ptxaudit import machines
from ptxaudit.banks import classify, score

_MASK = (1 << 64) - 1
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda old, value: old + value & _MASK, "min": min, "max": max,
    "and": lambda old, value: old & value, "or": lambda old, value: old | value, "xor": lambda old, value: old ^ value,
}
_SETTLED = {"min": lambda old, value: value >= old, "max": lambda old, value: value <= old}     # no swap is needed
_WORD = 4


@dataclass(frozen=True)
class Played:
    """Wavefronts of the loads and of the atomics, and the passes."""

    loads: int
    atomics: int
    passes: int

    @property
    def wavefronts(self) -> int:
        return self.loads + self.atomics


def play(width: int, operation: str, addresses: Sequence[int], values: Sequence[int], active: int = 0xFFFF_FFFF, arch: str = "sm_90") -> Played:
    """One warp's loop on zeroed memory. width: 2, 4 or 8 bytes; values: as integers (a float's sum differs, not whether it changes)."""
    return _words(operation, addresses, values, active, arch) if width < _WORD else _spins(width, operation, addresses, values, active, arch)


def _spins(width, operation, addresses, values, active, arch) -> Played:
    size = "" if width == _WORD else f".{8 * width}"
    rule = machines.get(arch).rule(classify(f"ATOMS.CAST.SPIN{size}"))
    memory: dict[int, int] = dict.fromkeys(addresses, 0)
    waiting = [lane for lane in range(len(addresses)) if active >> lane & 1]
    loads = atomics = passes = 0
    while waiting:
        passes += 1
        loads += _cost(f"LDS{size}", addresses, waiting, arch)
        loaded = {lane: memory[addresses[lane]] for lane in waiting}
        settled = _SETTLED.get(operation, lambda old, value: False)
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


def _words(operation, addresses, values, active, arch) -> Played:
    words = [address // _WORD * _WORD for address in addresses]
    shifts = [8 * (address % _WORD) for address in addresses]
    memory: dict[int, int] = dict.fromkeys(words, 0)
    waiting = [lane for lane in range(len(addresses)) if active >> lane & 1]
    loads, atomics, passes = _cost("LDS", words, waiting, arch), 0, 0
    known = {lane: 0 for lane in waiting}
    while waiting:
        passes += 1
        atomics += _cost("ATOMS.CAS", words, waiting, arch)
        left = []
        for lane in waiting:
            now = memory[words[lane]]
            if now == known[lane]:
                half = OPERATIONS[operation](now >> shifts[lane] & 0xFFFF, values[lane]) & 0xFFFF
                memory[words[lane]] = now & ~(0xFFFF << shifts[lane]) | half << shifts[lane]
            else:
                known[lane] = now
                left.append(lane)
        waiting = left
    return Played(loads, atomics, passes)


def _cost(opcode: str, addresses, lanes: list[int], arch: str) -> int:
    on = np.zeros((1, len(addresses)), bool)
    on[0, lanes] = True
    return int(score(machines.get(arch), classify(opcode), np.array([addresses], np.int64), on).low[0])
