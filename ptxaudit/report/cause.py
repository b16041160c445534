"""Explains in words why a request costs more than its ideal: which lanes conflict, and the stride that causes it.

    lanes read 128 bytes apart  ->  "32 lanes (0-31) conflict in one bank: stride 128 bytes"
    rows of 2 lanes, 64 bytes   ->  "lanes 0 and 4 conflict in one bank: stride 16 bytes within 2 lanes, 64 bytes to the
                                    next 2"

The explanation describes the worst pattern that the engine kept, as `banks.groups` splits it. Patterns are known up
to a uniform shift, so banks are not numbered.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.base.words import listing
from ptxaudit.engine.answer.result import Pattern, SiteResult
from ptxaudit.hardware import banks
from ptxaudit.hardware.accesses import as_cached_copy
from ptxaudit.hardware.banks.anatomy import lanes_in
from ptxaudit.hardware.machine_model import Counted, Machine
from ptxaudit.report import copy_words

ONE_WORD = "access one word and are serialised"

MOST_NAMED = 4  # lanes listed individually; of more, the first three and the last


def cause_of(machine: Machine, access: banks.Access | None, result: SiteResult) -> str:
    """A sentence; "" where the site costs its ideal, or its addresses or its opcode's rule are unknown."""
    rule = None if access is None else machine.rule(access)
    if access is None or rule is None:
        return ""
    if rule.count.what is Counted.LINES:
        return _of_copy(machine, access, result)
    pattern = max(result.patterns, key=lambda p: (p.low - p.ideal, p.high - p.ideal), default=None)
    if pattern is None or pattern.high <= pattern.ideal:
        return ""
    lanes, one_word = meeting(machine, access, pattern)
    if len(lanes) < 2:
        return ""
    who = _lanes_text(lanes)
    if one_word:
        return f"{who} {ONE_WORD}"
    steps = stride_text(pattern)
    matrix = ", each with the address of a matrix row," if access.access in ("ldmatrix", "stmatrix") else ""
    return f"{who}{matrix} conflict in one bank" + (f": {steps}" if steps else "")


def _of_copy(machine: Machine, access: banks.Access, result: SiteResult) -> str:
    """For cp.async.cg, instead of wavefronts: its steps, their cycles, and alternatives that take fewer."""
    k = result.line_class_max
    if not k:
        return ""
    parts = [": ".join(filter(None, (copy_words.steps(result), copy_words.cycles(machine, k))))]
    if k > 1:
        parts += [copy_words.BEST, copy_as_ca(machine, access, result.patterns)]
    return "; ".join(filter(None, parts))


def copy_as_ca(machine: Machine, access: banks.Access, patterns: Sequence[Pattern]) -> str:
    """The cost of cp.async.ca for the worst of the destinations, from sources that add no cost; "" where unknown."""
    if not patterns:
        return ""
    addresses, active = (np.stack([getattr(p, name) for p in patterns]) for name in ("addresses", "active"))
    copy = as_cached_copy(access)
    return copy_words.as_ca(machine, int(banks.score(machine, copy, addresses, active).low.max()))


def meeting(machine: Machine, access: banks.Access, pattern: Pattern) -> tuple[tuple[int, ...], bool]:
    """(conflicting lanes in the fullest bank of the costliest group, whether they access one word).

    Where lanes on one word are served together, one lane represents each word.
    """
    busy = [group for group in banks.groups(machine, access, pattern.addresses, pattern.active) if group.slots]
    if not busy:
        return (), False
    costliest = max(busy, key=lambda group: group.wavefronts or 0)
    if machine.known_rule(access).count.what is Counted.LANES:
        words = max(costliest.slots.values(), key=lanes_in)
        return tuple(sorted(lane for lanes in words.values() for lane in lanes)), len(words) == 1
    words = max(costliest.slots.values(), key=len)
    return tuple(sorted(lanes[0] for lanes in words.values())), False


def _lanes_text(lanes: tuple[int, ...]) -> str:
    """ "lanes 0 and 16", "32 lanes (0-31)", "16 lanes (0, 2, 4 … 30)"."""
    if len(lanes) <= MOST_NAMED:
        return "lanes " + listing([str(lane) for lane in lanes])
    if lanes[-1] - lanes[0] == len(lanes) - 1:
        return f"{len(lanes)} lanes ({lanes[0]}-{lanes[-1]})"
    return f"{len(lanes)} lanes ({', '.join(map(str, lanes[:3]))} … {lanes[-1]})"


def stride_text(pattern: Pattern) -> str:
    """The step of the addresses from lane to lane, in bytes; "" where they have no regular step."""
    active = np.flatnonzero(pattern.active)
    addresses = pattern.addresses[active].astype(np.int64)
    if len(active) < 2 or anywhere(np.diff(active) != 1):
        return ""
    steps = np.diff(addresses)
    if throughout(steps == steps[0]):
        return f"stride {steps[0]} bytes"
    for columns in (2, 4, 8, 16):
        rows = len(addresses) // columns
        if rows < 2 or len(addresses) % columns or active[0] % columns:
            continue
        table = addresses.reshape(rows, columns)
        across, down = np.diff(table, axis=1), np.diff(table[:, 0])
        if throughout(across == across[0, 0]) and throughout(down == down[0]):
            inner = "one address" if across[0, 0] == 0 else f"stride {across[0, 0]} bytes"
            return f"{inner} within {columns} lanes, {down[0]} bytes to the next {columns}"
    return ""
