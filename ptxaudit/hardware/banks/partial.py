"""The maximum cost of a request for whose addresses only some bits are known.

    32 lanes at 4·lane + 128·(unknown)         ->  1: each lane has its own bank, in whichever row
    32 lanes at 252 or 764, which is unknown   ->  2: the one bank has two words

A lane may be in each slot that its known bits do not rule out, with as many different words there as its unknown bits
above the slot's allow. The number of words in a slot is therefore at most the number of lanes that may be there; the
sum over kinds of lanes (those with equal known and unknown upper bits) of the words that each kind may have there;
and the number of values of the upper bits that are not known to be equal in all lanes.
"""

from __future__ import annotations

import numpy as np

from ptxaudit.base.arrays import distinct_rows
from ptxaudit.hardware.machine_model import Count, Counted, Machine, Uncertainty
from ptxaudit.ir.access import Access

MOST_KINDS = 256  # of rows to examine: for a launch with more, only the bounds by lanes hold


def most(
    machine: Machine, access: Access, bits: np.ndarray, unknown: np.ndarray, active: np.ndarray
) -> np.ndarray | None:
    """(n,): the maximum wavefronts of each request; None if the rule does not depend on words and slots alone.

    bits, unknown: (n, lanes) int64, the known bits of the addresses, and the mask of unknown ones. (Adding a common
    multiple of the rule's shift to all lanes changes nothing.) active: (n, lanes) bool, lanes that may be active.
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
    """The sum over the groups of one request; -1 in `unknown`: the lane is inactive."""
    total = 0
    for start in range(0, len(bits), count.lanes):
        taking = np.flatnonzero(unknown[start : start + count.lanes] != -1) + start
        if len(taking):
            total += _of_group(count, bits[taking], unknown[taking])
    return total


def _of_group(count: Count, bits: np.ndarray, unknown: np.ndarray) -> int:
    """The maximum number of units that may be in one slot."""
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
