"""Counts the wavefronts of many requests at once: arrays in, arrays out.

    addresses (n, lanes) int64 bytes, active (n, lanes) bool   ->   low, high, ideal, ways (n,) int64

Words are counted without a loop over lanes: each lane's word becomes an integer whose remainder is its slot; sorting
those of a group makes equal words adjacent, so the first of each run is one distinct word, and one bincount over
(group, slot) counts them all. Requests are processed in chunks, so that memory does not grow with n beyond the
results.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.arrays import quotient, remainder
from ptxaudit.base.errors import InputError
from ptxaudit.hardware.banks import copies, few
from ptxaudit.hardware.machine_model import SOURCE_LINE, Count, Counted, Machine, Rule, Uncertainty
from ptxaudit.hardware.memory import sectors
from ptxaudit.hardware.scores import Scores, first_with
from ptxaudit.ir.access import Access

CHUNK = 1 << 16  # lanes (or bins) per chunk: half a megabyte per int64 array, so that several stay in the cache
_NOTHING = np.iinfo(np.int64).max  # sorts after every word: an inactive lane
UNKNOWN = -1

# the ufuncs themselves: an array's methods take a microsecond longer, and requests often come one by one
_any, _most, _sum = np.logical_or.reduce, np.maximum.reduce, np.add.reduce


class _Part(NamedTuple):
    """Sums over the groups of each request, (n,) each; ways of the worst group before the factor."""

    low: np.ndarray
    high: np.ndarray
    groups: np.ndarray
    ways: np.ndarray


def score(
    machine: Machine,
    access: Access,
    addresses: np.ndarray,
    active: np.ndarray,
    sources: np.ndarray | None = None,
    *,
    zero_filled: np.ndarray | None = None,
    in_l1: bool | None = None,
    clustered: bool = False,
) -> Scores:
    """Scores n requests of one opcode.

    addresses: (n, lanes) int64 bytes, possibly negative (relative to an invariant base), arbitrary for inactive
    lanes.
    active: (n, lanes) bool. sources: (n, lanes) int64, the source addresses of a cp.async, or None.
    zero_filled: (n, lanes) bool, lanes of a cp.async that write zeros instead of copying; None = none, or unknown for
    a ZFILL. in_l1: whether all source lines of a cp.async.ca are in L1, or none is (sources are then whole
    addresses); None = unknown. clustered: the launch has clusters of several blocks, in which wide generic loads were
    observed to merge: a range if that matters. Raises InputError if the machine has no rule for the access, or an
    active lane is misaligned.
    """
    if (clustered or access.clustered) and access.operation == "generic load":
        return _perhaps_merged(machine, replace(access, clustered=False), addresses, active)
    rule = _rule(machine, access)
    if access.space != "shared":
        return sectors.score(rule, access, addresses, active, sources, machine.evidence(access))
    n, lanes = addresses.shape
    step = max(1, CHUNK // _numbers(rule.count, lanes))
    if n <= step:
        return _score(machine, access, rule, addresses, active, sources, zero_filled, in_l1)
    parts = []
    for start in range(0, n, step):
        rows = slice(start, start + step)
        parts.append(
            _score(
                machine,
                access,
                rule,
                addresses[rows],
                active[rows],
                None if sources is None else sources[rows],
                None if zero_filled is None else zero_filled[rows],
                in_l1,
            )
        )
    return _joined(parts)


def _joined(parts: list[Scores]) -> Scores:
    """The scores of all chunks."""
    evidence = "measured" if all(p.evidence == "measured" for p in parts) else "by rule"

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(p, name) for p in parts])

    def of_all(name: str) -> np.ndarray | None:
        return None if getattr(parts[0], name) is None else joined(name)

    return Scores(
        joined("low"),
        joined("high"),
        joined("ideal"),
        joined("ways"),
        of_all("lines"),
        of_all("lines_ideal"),
        evidence,
        of_all("lines_low"),
    )


def passes(machine: Machine, access: Access, lanes: np.ndarray) -> np.ndarray:
    """(n,): wavefronts of each request without conflicts: of its groups that have one of `lanes`, (n, lanes) bool."""
    rule = _rule(machine, access)
    if access.space != "shared":  # lanes that access other memory touch no sector of this one
        return np.zeros(len(lanes), np.int64)
    n, width = lanes.shape
    groups = -(-width // rule.count.lanes)
    padded = np.pad(lanes, ((0, 0), (0, groups * rule.count.lanes - width)))
    some = padded.reshape(n, groups, rule.count.lanes).any(2).sum(1)
    result: np.ndarray = some * max(1, rule.count.factor) * rule.split
    return result


def _perhaps_merged(machine: Machine, access: Access, addresses: np.ndarray, active: np.ndarray) -> Scores:
    """A generic load in a launch with clusters: from the cost of LDS to that of a generic load without clusters."""
    merged, apart = score(machine, _as_shared(access), addresses, active), score(machine, access, addresses, active)
    low, high = np.minimum(merged.low, apart.low), np.maximum(merged.high, apart.high)
    ideal = np.minimum(merged.ideal, apart.ideal)
    sure = (low == high) & (merged.ideal == apart.ideal) & (merged.ways == apart.ways)
    return Scores(low, high, ideal, np.where(sure, apart.ways, UNKNOWN), None, None, apart.evidence)


@lru_cache(maxsize=1024)
def _as_shared(access: Access) -> Access:
    return replace(access, operation="load", generic=False)


@lru_cache(maxsize=4096)
def _rule(machine: Machine, access: Access) -> Rule:
    reason = machine.refusal(access)
    if reason:
        raise InputError(f"{access.opcode} is not scored: {reason}")
    return machine.known_rule(access)


def _numbers(count: Count, lanes: int) -> int:
    """The size of the longest array that one request needs."""
    return max(lanes, _bins(count, lanes))


def _bins(count: Count, lanes: int) -> int:
    return -(-lanes // count.lanes) * count.slots


def _score(
    machine: Machine,
    access: Access,
    rule: Rule,
    addresses: np.ndarray,
    active: np.ndarray,
    sources: np.ndarray | None,
    zero_filled: np.ndarray | None,
    in_l1: bool | None,
) -> Scores:
    """Scores one chunk."""
    whole = active
    if access.address_lanes is not None:
        addresses, active = addresses[:, : access.address_lanes], active[:, : access.address_lanes]
    _check_alignment(access, addresses, active)
    evidence = machine.evidence(access)
    copying = active if zero_filled is None else active & ~zero_filled
    if rule.count.what is Counted.LINES:  # zeros are stored separately, and count for no line
        return _score_lines(rule.count, addresses, active, copying, access.zero_fill and zero_filled is None, evidence)
    zeros = None if zero_filled is None else active & zero_filled
    if rule.uncertainty is Uncertainty.SOURCES and sources is not None:
        low, high, ideal, ways = _copies(rule.count, addresses, copying, sources, in_l1, zeros)
    else:
        part = _count(rule.count, addresses, copying)
        low, high, ways, ideal = part.low, part.high, part.ways, part.groups
        if rule.uncertainty is not Uncertainty.NONE:
            low, high, ways = _with_uncertainty(rule, part, addresses, copying)
        if zeros is not None:
            figures = low, high, ideal, ways
            low, high, ideal, ways = _beside_zeros(rule.count, addresses, copying, zeros, figures)
    if zeros is None and access.zero_fill:  # which lanes copy and which write zeros is not specified
        low, high = np.minimum(low, _count(rule.count, addresses, active).low), active.sum(1)
    if access.address_lanes is not None and not whole.all():
        # undefined by PTX if lanes are off; each row may still be read, and an H200 counted nothing
        part_of_warp = ~whole.all(1)
        high = high + np.where(whole.any(1), (~active).sum(1), 0)
        low, ideal = np.where(part_of_warp, 0, low), np.where(part_of_warp, 0, ideal)
        evidence = "by rule"
    if access.may_count or access.may_combine:
        low = _rewritten(access, rule, part, addresses, active)
    if rule.split > 1:
        low, high, ideal = low * rule.split, high * rule.split, ideal * rule.split
    if rule.count.factor > 1:
        ideal = ideal * rule.count.factor
    if high is not low:
        ways = np.where(low == high, ways, UNKNOWN) if rule.uncertainty is not Uncertainty.WAYS else ways
    return Scores(low, high, ideal, ways, None, None, evidence)


def _beside_zeros(
    count: Count,
    addresses: np.ndarray,
    copying: np.ndarray,
    zeros: np.ndarray,
    copies: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(low, high, ideal, ways) of copies in which some lanes write zeros, which may pass with the copies
    (`copies.beside_zeros`). copies: the figures of the lanes that copy.
    """
    mixed, active = _any(copying, 1) & _any(zeros, 1), copying | zeros
    low, high, ideal, ways = _and_zeros(count, addresses, zeros, *copies)
    alike = _count(count, addresses, active)
    low = np.where(mixed, np.maximum(copies[0], alike.low), low)
    high = np.where(mixed, active.sum(1), high)
    return low, high, np.where(mixed, alike.groups, ideal), np.where(mixed, np.maximum(ways, alike.ways), ways)


def _check_alignment(access: Access, addresses: np.ndarray, active: np.ndarray) -> None:
    if (found := first_with(access.align - 1, addresses, active)) is not None:
        lane, address = found
        raise InputError(
            f"{access.opcode}: lane {lane}'s address {address} is not a multiple of {access.align}",
            f"an access of {access.width} bytes is aligned to them; the hardware faults otherwise",
        )


# --- the kinds of counting ----------------------------------------------------------------------


def _count(count: Count, addresses: np.ndarray, active: np.ndarray) -> _Part:
    """Wavefronts, groups with an active lane, and the worst group of each request."""
    if count.lanes == 1:
        lanes = active.sum(1)
        some = (lanes > 0).astype(np.int64)
        return _Part(lanes * count.factor, lanes * count.factor, lanes, some)
    if addresses.size <= few.MOST.get(count.what, -1):
        return _Part(*few.count(count, addresses, active))
    if count.what is Counted.STEPS:
        from ptxaudit.hardware.banks.broadcast import steps

        return _Part(*steps(count, addresses, active))
    if count.what is Counted.ONCE:
        groups = _any(active.reshape(len(active), active.shape[1] // count.lanes, count.lanes), 2).sum(1)
        return _Part(groups * count.factor, groups * count.factor, groups, np.minimum(groups, 1))
    each = _fullest_of_groups(count, addresses, active)
    if each.shape[1] == 1:
        ways = each[:, 0]
        sums, groups = ways, np.minimum(ways, 1)
    else:
        ways, sums, groups = _most(each, 1), _sum(each, 1), _sum(each > 0, 1)
    if count.factor > 1:
        sums = sums * count.factor
    return _Part(sums, sums, groups, ways)


def _fullest_of_groups(count: Count, addresses: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n, groups): the number of words, or lanes, in the fullest slot of each group."""
    merged = pairs_agree(addresses, active) if count.paired else np.zeros(len(addresses), bool)
    if merged.all():
        return _fullest(count, count.paired or count.lanes, addresses, active)
    each = _fullest(count, count.lanes, addresses, active)
    if merged.any():
        each[merged] = 0
        together = _fullest(count, count.paired, addresses[merged], active[merged])
        each[merged, : together.shape[1]] = together
    return each


def _fullest(count: Count, size: int, addresses: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n, groups): the same, for groups of `size` lanes."""
    n, lanes = addresses.shape
    if missing := -lanes % size:
        addresses, active = (np.pad(array, ((0, 0), (0, missing))) for array in (addresses, active))
    addresses, counted = addresses.reshape(-1, size), active.reshape(-1, size)
    units = quotient(addresses, count.unit)
    if count.what is Counted.WORDS:  # equal units become adjacent: the first of each run is a word
        if count.row != count.unit * count.slots:
            units = quotient(addresses, count.row) * count.slots + remainder(units, count.slots)
        units = np.where(counted, units, _NOTHING)
        units.sort(1)
        counted = units != _NOTHING
        counted[:, 1:] &= units[:, 1:] != units[:, :-1]
    bins = remainder(units, count.slots)
    bins += np.arange(0, len(units) * count.slots, count.slots)[:, None]
    found = np.bincount(bins[counted], minlength=len(units) * count.slots).reshape(-1, count.slots)
    # the maximum of a few long rows is faster than that of many short ones
    each: np.ndarray = _most(np.ascontiguousarray(found.T), 0).reshape(n, -1)
    return each


@lru_cache(maxsize=256)
def group_of_lane(size: int, lanes: int) -> np.ndarray:
    """(lanes,): the index of each lane's group of `size` lanes."""
    return np.arange(lanes) // size


def pairs_agree(addresses: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n,) bool: whether every active lane has an inactive or equal partner i^1, or every one has such an i^2."""
    n, lanes = addresses.shape
    differ = []
    for distance in (1, 2):
        a = addresses.reshape(n, lanes // (2 * distance), 2, distance)
        b = active.reshape(a.shape)
        apart = a[:, :, 0] != a[:, :, 1]
        apart &= b[:, :, 0]
        apart &= b[:, :, 1]
        differ.append(_any(apart.reshape(n, lanes // 2), 1))
    result: np.ndarray = ~(differ[0] & differ[1])
    return result


# --- ranges ---------------------------------------------------------------------------------


def _with_uncertainty(
    rule: Rule, part: _Part, addresses: np.ndarray, active: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(low, high, ways) for a rule that may give a range."""
    if rule.uncertainty is Uncertainty.SOURCES:  # the sources are not specified
        return part.low, active.sum(1), part.ways
    assert rule.second is not None
    if rule.uncertainty is Uncertainty.WAYS:  # the same count plus extra wavefronts in each group
        ways = part.ways + rule.second.extra * (part.ways > 0)
        return np.maximum(part.low, ways), part.high + rule.second.extra * part.groups, ways
    second = _count(rule.second, addresses, active)
    if rule.uncertainty is Uncertainty.PASSES:  # each pass serves at least one lane of each bank, or of each word
        passes = (
            _most_on_one_unit(rule.count, addresses, active)
            if rule.turns is None
            else _count(rule.turns, addresses, active).high
        )
        return part.low, passes * (part.high + second.high), part.ways
    return part.low, second.high, part.ways


def _copies(
    count: Count,
    addresses: np.ndarray,
    active: np.ndarray,
    sources: np.ndarray,
    in_l1: bool | None,
    zeros: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(low, high, groups with an active lane, ways) of cp.async.ca with specified sources.

    active: the lanes that copy; zeros: the lanes that write zeros.
    """
    if addresses.size <= few.MOST_OF_COPIES:
        return few.copies(count, addresses, active, sources, in_l1, zeros)
    figures = (
        copies.between(count, addresses, active, sources)
        if in_l1 is None
        else copies.alone(count, addresses, active, sources, in_l1)
    )
    apart = figures if zeros is None else _and_zeros(count, addresses, zeros, *figures)
    if zeros is None or in_l1 is False:
        return apart
    return _where_mixed(count, addresses, active, sources, in_l1, zeros, apart)


def _where_mixed(
    count: Count,
    addresses: np.ndarray,
    active: np.ndarray,
    sources: np.ndarray,
    in_l1: bool | None,
    zeros: np.ndarray,
    apart: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The figures if zeros pass with the copies of their group whose sources are in L1, but not with other copies.

    apart: the figures if zeros always pass separately. If a group reads one line, it is in L1 or not; of several
    lines, some may be.
    """
    groups = addresses.shape[1] // count.lanes
    of_groups = [array.reshape(-1, count.lanes) for array in (addresses, active, sources, zeros)]
    mixed = np.flatnonzero(_any(of_groups[1], 1) & _any(of_groups[3], 1))
    if not len(mixed):
        return apart
    to, copying, source, zero = (array[mixed] for array in of_groups)
    least, greatest, most = copies.beside_zeros(count, to, copying, zero, source)
    alone = copies.alone(count, to, copying, source, True) if in_l1 else copies.between(count, to, copying, source)
    stored = _count(count, to, zero).low
    greatest = np.maximum(alone[1] + stored, greatest)
    if in_l1 is None:
        line, some = source // SOURCE_LINE, copying | zero
        one = np.where(copying, line, line.max()).min(1) == np.where(copying, line, line.min()).max(1)
        least = np.where(one, np.minimum(alone[0] + stored, least), np.maximum(alone[0], _count(count, to, some).low))
        greatest = np.where(one, greatest, some.sum(1))
    low, high, ideal, ways = (array.copy() for array in apart)
    request = mixed // groups
    np.add.at(low, request, least - alone[0] - stored)
    np.add.at(high, request, greatest - alone[1] - stored)
    np.add.at(ideal, request, -1)
    np.maximum.at(ways, request, most)
    return low, high, ideal, ways


def _and_zeros(
    count: Count,
    addresses: np.ndarray,
    zeros: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    ideal: np.ndarray,
    ways: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The figures if zeros are written separately from the copies."""
    part = _count(count, addresses, zeros)
    return low + part.low, high + part.high, ideal + part.groups, np.maximum(ways, part.ways)


def _rank_in_run(ordered: np.ndarray) -> np.ndarray:
    """(n, lanes): 0, 1, 2, … within each run of equal values of a sorted row."""
    at = np.arange(ordered.shape[1])
    starts = np.zeros(ordered.shape, np.int64)
    starts[:, 1:] = np.where(ordered[:, 1:] != ordered[:, :-1], at[1:], 0)
    return at - np.maximum.accumulate(starts, axis=1)


def _most_on_one_unit(count: Count, addresses: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n,): the maximum number of active lanes on the same unit."""
    if addresses.size <= few.MOST[Counted.LANES]:
        return few.most_on_one_unit(count, addresses, active)
    ordered = np.where(active, addresses // count.unit, _NOTHING)
    ordered.sort(1)
    result: np.ndarray = np.where(ordered != _NOTHING, _rank_in_run(ordered) + 1, 0).max(1)
    return result


def _rewritten(access: Access, rule: Rule, part: _Part, addresses: np.ndarray, active: np.ndarray) -> np.ndarray:
    """The low end for a PTX atomic that ptxas may turn into less than one ATOMS per lane (see `access`)."""
    if access.may_count:
        words = Count(Counted.WORDS, rule.count.lanes, rule.count.unit, rule.count.slots, rule.count.row)
        result: np.ndarray = np.minimum(part.low, _count(words, addresses, active).low)
        return result
    low = np.where(active, addresses, _NOTHING).min(1)
    one = (np.where(active, addresses, low[:, None]) == low[:, None]).all(1)
    return np.where(one, np.minimum(part.low, 1), part.low)


# --- cp.async.cg ----------------------------------------------------------------------------


def _score_lines(
    count: Count, addresses: np.ndarray, active: np.ndarray, copying: np.ndarray, perhaps_none: bool, evidence: str
) -> Scores:
    """k = max over c of the pairs (group, destination line) with line mod `slots` = c; the wavefronts are unknown."""
    k = _line_class_max(count, addresses, copying)
    unknown = _any(active, 1) * UNKNOWN
    return Scores(
        unknown, unknown, unknown, unknown, k, _any(copying, 1) * 1, evidence, np.zeros_like(k) if perhaps_none else k
    )


def _line_class_max(count: Count, addresses: np.ndarray, active: np.ndarray) -> np.ndarray:
    if addresses.size <= few.MOST[Counted.LINES]:
        return few.line_class_max(count, addresses, active)
    n, lanes = addresses.shape
    groups = -(-lanes // count.lanes)
    keys = np.where(active, addresses // count.row * groups + group_of_lane(count.lanes, lanes), _NOTHING)
    keys.sort(1)
    first = np.ones(keys.shape, bool)
    first[:, 1:] = keys[:, 1:] != keys[:, :-1]
    first &= keys != _NOTHING
    classes = remainder(keys // groups, count.slots) + np.arange(n)[:, None] * count.slots
    result: np.ndarray = np.bincount(classes[first], minlength=n * count.slots).reshape(n, count.slots).max(1)
    return result
