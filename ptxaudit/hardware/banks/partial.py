"""The most that a request costs of whose addresses some bits are known.

    32 lanes at 4·lane + 128·(not known)       ->  1: each lane has a bank of its own, in whatever row
    32 lanes at 252 or 764, which is not known ->  2: there are two words in the one bank

In a slot, a lane may be whose known bits do not rule it out; it may have as many words there as the unknown bits above
the slot's give. So at most so many words meet in a slot as there are lanes,
as all kinds of lanes there have words, and as the bits above the slot's that are not the same in all lanes tell apart.
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.arrays import distinct_rows
from ptxaudit.hardware.machine_model import Count, Counted, Machine, Uncertainty
from ptxaudit.ir.access import Access

MOST_KINDS = 256  # of rows that are looked at: of a launch with more, the bounds by lanes hold


def most(
    machine: Machine, access: Access, bits: np.ndarray, unknown: np.ndarray, active: np.ndarray
) -> np.ndarray | None:
    """(n,): the most wavefronts of each request, or None where the machine's rule does not come from words and slots
    alone.

    bits, unknown: (n, lanes) int64, the known bits of the addresses, and those that are not. (Adding one multiple of
    the rule's shift to all lanes changes nothing.) active: (n, lanes) bool, lanes that may take part.
    """
    rule = machine.known_rule(access)
    count = rule.count
    plain = (
        rule.uncertainty is Uncertainty.NONE
        and count.what in (Counted.WORDS, Counted.LANES)
        and not count.extra
        and count.lanes > 1
        and count.row % (count.unit * count.slots) == 0
        and all(n & n - 1 == 0 for n in (count.unit, count.slots))
    )
    if not plain or access.address_lanes is not None or access.zero_fill or access.clustered:
        return None
    bits, unknown = np.where(active, bits, 0), np.where(active, unknown, -1)
    kinds, which = distinct_rows([bits, unknown])
    if len(kinds) > MOST_KINDS:
        return None
    each = [_of_one(count, *row) for row in zip(bits[kinds], unknown[kinds])]
    return np.array(each, np.int64)[which] * max(1, count.factor) * rule.split


def _of_one(count: Count, bits: np.ndarray, unknown: np.ndarray) -> int:
    """The sum over the groups of one request; -1 in `unknown`: the lane takes no part."""
    total = 0
    for start in range(0, len(bits), count.lanes):
        taking = np.flatnonzero(unknown[start : start + count.lanes] != -1) + start
        if len(taking):
            total += _of_group(count, bits[taking], unknown[taking])
    return total


def _of_group(count: Count, bits: np.ndarray, unknown: np.ndarray) -> int:
    """The most units that may meet in a slot."""
    slots = np.arange(count.slots)
    above = count.unit * count.slots - 1
    there = ((bits // count.unit)[:, None] ^ slots) & ~(unknown // count.unit)[:, None] & count.slots - 1
    may = there == 0  # (lanes, slots)
    meeting = may.sum(0)
    if count.what is Counted.LANES:
        return int(meeting.max())
    rows = np.stack([bits & ~above, unknown & ~above], axis=1)
    kinds, kind = np.unique(rows, axis=0, return_inverse=True)
    words = np.zeros(count.slots, np.int64)
    for k, (_, open_bits) in enumerate(kinds.tolist()):
        several = 1 << min(bin(open_bits & 0xFFFFFFFF).count("1"), 6)
        words += np.minimum(may[kind.reshape(-1) == k].sum(0), several)
    differ = int(np.bitwise_or.reduce(kinds[:, 1] | kinds[:, 0] ^ kinds[0, 0])) & 0xFFFFFFFF
    of_all = 1 << min(differ.bit_count(), 6)  # words that all kinds of lanes together may have there
    return int(np.minimum(np.minimum(meeting, words), of_all).max())
