"""Says in words why a request costs more than its ideal: which lanes meet, and the stride that brings them there.

    lanes read 128 bytes apart   ->  "32 lanes (0, 1, 2 … 31) meet in one bank: stride 128 bytes"
    rows of 2 lanes, 64 bytes     ->  "lanes 0 and 4 meet in one bank: stride 16 bytes for 2 lanes, 64 bytes from these to the next 2"

Looks at the worst pattern that the lane engine kept, and groups its lanes as the machine's rule
does. Patterns are known up to a uniform shift, so no bank is named by its number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ptxaudit import banks
from ptxaudit.errors import InputError
from ptxaudit.lanes.result import Pattern, SiteResult
from ptxaudit.machine_model import Count, Counted, Machine
from ptxaudit.render.words import listing

MOST_NAMED = 4               # lanes named one by one; of more, the first three and the last

# cp.async.cg on an H200: k up to this -> cycles a request as measured for 108 patterns; k between
# two measured values has the interval that they span
CYCLES_OF_LINES = (
    (1, "7.1 to 7.3"), (2, "9.7 to 10.6"), (3, "12 to 13.1"), (4, "14.1 to 15.3"), (5, "45 to 46"), (8, "47 to 56"),
    (13, "57 to 73"), (15, "57 to 74"), (16, "73 to 74"), (31, "73 to 105"), (32, "103 to 105"),
)


@dataclass(frozen=True)
class Meeting:
    """The lanes of one group that meet in the fullest slot: one lane a word, or all of one word."""

    lanes: tuple[int, ...]
    one_word: bool


def cause_of(machine: Machine, opcode: str, result: SiteResult) -> str:
    """A sentence, or "" where the site costs its ideal or nothing is known of its addresses."""
    try:
        access = banks.classify(opcode)
    except InputError:
        return ""
    rule = machine.rule(access)
    if rule is None:
        return ""
    if rule.count.what is Counted.LINES:
        return _lines_sentence(result)
    pattern = max(result.patterns, key=lambda p: (p.low - p.ideal, p.high - p.ideal), default=None)
    if pattern is None or pattern.high <= pattern.ideal:
        return ""
    meeting = meet(rule.count, pattern)
    if len(meeting.lanes) < 2:
        return ""
    who = _lanes_text(meeting.lanes)
    steps = stride_text(pattern)
    if meeting.one_word:
        return f"{who} are on one word and take turns"
    matrix = ", each the address of a matrix row" if access.access in ("ldmatrix", "stmatrix") else ""
    return f"{who} meet in one bank{matrix}" + (f": {steps}" if steps else "")


def _lines_sentence(result: SiteResult) -> str:
    """What is known of cp.async.cg in place of wavefronts."""
    no_counter = "no counter sees cp.async.cg: a profiler shows 0 wavefronts and 0 conflicts whatever the pattern"
    k = result.line_class_max
    if not k:
        return no_counter
    cycles = next((cycles for most, cycles in CYCLES_OF_LINES if k <= most), "over 105")
    figures = f"what counts is k = {k}, {cycles} cycles a request on sm_90"
    best = f", where k = 1 takes {CYCLES_OF_LINES[0][1]}" if k > 1 else ", the best there is"
    total = "" if result.lines is None or result.lines == result.lines_ideal else f"; k sums to {result.lines:,}, ideal {result.lines_ideal:,}"
    return f"{no_counter}; {figures}{best}{total}"


def meet(count: Count, pattern: Pattern) -> Meeting:
    """The fullest slot of the fullest group of a request."""
    active = np.flatnonzero(pattern.active)
    size = count.paired if count.paired and _in_pairs(pattern) else count.lanes
    slot = pattern.addresses // count.unit % count.slots
    row = pattern.addresses // count.row
    unit = pattern.addresses // count.unit
    best = Meeting((), False)
    for group in range(0, len(pattern.active), size):
        lanes = active[(active >= group) & (active < group + size)]
        for place in np.unique(slot[lanes]):
            here = lanes[slot[lanes] == place]
            if count.what is Counted.LANES:
                found = Meeting(tuple(map(int, here)), len(np.unique(unit[here])) == 1)
            else:
                first = np.unique(row[here], return_index=True)[1]
                found = Meeting(tuple(map(int, here[np.sort(first)])), False)
            if len(found.lanes) > len(best.lanes):
                best = found
    return best


def _in_pairs(pattern: Pattern) -> bool:
    """Every active lane agrees with lane i^1, or every one with i^2; inactive lanes agree with anything."""
    lanes = np.arange(len(pattern.active))
    for step in (1, 2):
        other = lanes ^ step
        agree = ~pattern.active | ~pattern.active[other] | (pattern.addresses == pattern.addresses[other])
        if agree.all():
            return True
    return False


def _lanes_text(lanes: tuple[int, ...]) -> str:
    if len(lanes) <= MOST_NAMED:
        return "lanes " + listing([str(lane) for lane in lanes])
    head = ", ".join(str(lane) for lane in lanes[:3])
    return f"{len(lanes)} lanes ({head} … {lanes[-1]})"


def stride_text(pattern: Pattern) -> str:
    """How the addresses step from lane to lane, in bytes; "" where no step repeats."""
    active = np.flatnonzero(pattern.active)
    addresses = pattern.addresses[active].astype(np.int64)
    if len(active) < 2 or (np.diff(active) != 1).any():
        return ""
    steps = np.diff(addresses)
    if (steps == steps[0]).all():
        return f"stride {steps[0]} bytes"
    for columns in (2, 4, 8, 16):
        rows = len(addresses) // columns
        if rows < 2 or len(addresses) % columns or active[0] % columns:
            continue
        table = addresses.reshape(rows, columns)
        across, down = np.diff(table, axis=1), np.diff(table[:, 0])
        if (across == across[0, 0]).all() and (down == down[0]).all():
            inner = "one address" if across[0, 0] == 0 else f"stride {across[0, 0]} bytes"
            return f"{inner} for {columns} lanes, {down[0]} bytes from these to the next {columns}"
    return ""
