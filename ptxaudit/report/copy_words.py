"""Describes the cost of cp.async.cg, which no profiler counts, in steps.

Each 8 lanes write the 128-byte lines that they need; lines a multiple of 512 bytes apart are written one after
another. Their number is the number of steps (`line_class_max`, the k of docs/hardware.md).
"""

from __future__ import annotations

from typing import Protocol

from ptxaudit.hardware.machine_model import Machine

BEST = "for 1 step, let each 8 neighbouring lanes fill one 128-byte line (XOR swizzle, no padding)"


class Copy(Protocol):
    """The figures of one site, as in a report."""

    @property
    def line_class_max(self) -> int | None: ...
    @property
    def line_class_proved(self) -> int | None: ...
    @property
    def lines(self) -> int | None: ...
    @property
    def lines_ideal(self) -> int | None: ...


def steps(copy: Copy) -> str:
    """ "8 steps per request instead of 1; 64 over the launch instead of 8"; "" where it is unknown."""
    k = copy.line_class_max
    if not k:
        return ""
    text = f"{k} steps per request instead of 1" if k > 1 else "1 step per request, the minimum"
    if copy.line_class_proved != k:
        text = f"at most {text}"
        if copy.line_class_proved:
            text += f" ({copy.line_class_proved} is proved for some request)"
    if copy.lines is not None and copy.lines != copy.lines_ideal:
        text += f"; {copy.lines:,} over the launch instead of {copy.lines_ideal:,}"
    return text


def cycles(machine: Machine, k: int) -> str:
    """The cycles of a request of k steps, and of one step: "46.6 to 56.2 cycles instead of 7 to 7.4, or, if …"; ""
    where it was not measured."""
    texts = []
    for fresh in (False, True):
        these, best = machine.cycles_of(k, fresh=fresh), machine.cycles_of(1, fresh=fresh)
        if these is None or best is None:
            break
        texts.append(_range(these) + " cycles" * (not fresh) + (f" instead of {_range(best)}" if k > 1 else ""))
    return ", or, if it reads new data each time, ".join(texts)


def as_ca(machine: Machine, wavefronts: int) -> str:
    """The cost of cp.async.ca instead, from consecutive sources; "" where it was not measured."""
    if machine.measurements.copy_cycles is None:
        return ""
    each, once = machine.measurements.copy_cycles
    cycles = f"{each * wavefronts + once:.1f}"
    return f"as cp.async.ca, from consecutive sources: at most {wavefronts} wavefronts, about {cycles} cycles"


def explained(machine: Machine, k: int) -> list[str]:
    """Explains steps, once for all such copies. k: their maximum."""
    lines = [
        "profilers do not count its wavefronts or conflicts; each 8 lanes write the 128-byte lines that they need, and"
        " lines a multiple of 512 bytes apart are written one after another, in steps (k)"
    ]
    if measured := cycles(machine, k):
        lines.append(f"{k} {'steps take' if k > 1 else 'step takes'} {measured} (measured)")
    return [*lines, BEST] if k > 1 else lines


def _range(ends: tuple[float, float]) -> str:
    low, high = ends
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
