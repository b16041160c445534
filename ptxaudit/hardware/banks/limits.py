"""Bounds the cost of a request with unknown addresses, from the number of its active lanes.

bounds(sm_90, LDS.128, 32, 32) -> (2, 32)     from merged and conflict-free to all in one bank
bounds(sm_90, STS.128, 1, 32)  -> (1, 32)
"""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.hardware.machine_model import Count, Counted, Machine, Rule, Uncertainty
from ptxaudit.hardware.memory import sectors
from ptxaudit.ir.access import Access


@lru_cache(maxsize=8192)
def bounds(
    machine: Machine,
    access: Access,
    lanes_low: int,
    lanes_high: int,
    zero_filled: bool = False,
    clustered: bool = False,
) -> tuple[int, int]:
    """(fewest, most) wavefronts of one request with lanes_low to lanes_high active lanes, whatever the addresses.

    For cp.async.cg the bounds of k; zero_filled: its lanes may write zeros instead of copying. clustered: as for
    `score`. Raises InputError if the machine does not score the access, or not 0 <= lanes_low <= lanes_high <=
    machine.lanes.
    """
    reason = machine.refusal(access)
    if reason:
        raise InputError(f"{access.opcode} is not scored: {reason}")
    if not 0 <= lanes_low <= lanes_high <= machine.lanes:
        raise InputError(f"{lanes_low} to {lanes_high} active lanes of {machine.lanes}")
    rule = machine.known_rule(access)
    if access.space != "shared":
        return sectors.bounds(rule, access, lanes_low, lanes_high)
    low, high = lanes_low, lanes_high
    rows = machine.lanes
    if access.address_lanes is not None:
        rows = access.address_lanes
        low = rows if lanes_low == machine.lanes else 0  # undefined if lanes are off: perhaps nothing is read,
        high = rows if lanes_high else 0  # perhaps every row
    if rule.count.what is Counted.LINES and (zero_filled or access.zero_fill):
        low = 0
    fewest = _fewest(rule.count, low)
    if (clustered or access.clustered) and access.operation == "generic load":
        fewest = min(fewest, _fewest(machine.known_rule(replace(access, operation="load")).count, low))
    if access.may_combine:
        fewest = min(fewest, 1)
    elif access.may_count:
        fewest = min(fewest, _fewest(_as_words(rule.count), low))
    if rule.uncertainty is Uncertainty.WAYS and low:
        assert rule.second is not None
        fewest = max(fewest, 1 + rule.second.extra)
    return fewest * rule.split, _most(rule, high, rows) * rule.split


def _as_words(count: Count) -> Count:
    return Count(Counted.WORDS, count.lanes, count.unit, count.slots, count.row)


def _fewest(count: Count, lanes: int) -> int:
    """As few groups as the lanes fit into, each without a conflict."""
    if count.what is Counted.LINES:
        return min(lanes, 1)
    groups = -(-lanes // (count.paired or count.lanes))
    if count.what is Counted.LANES:
        groups = max(groups, -(-lanes // count.slots))
    return groups * count.factor


def _most(rule: Rule, lanes: int, of: int) -> int:
    """Every lane has its own word, all in one bank; up to `of` lanes could be active."""
    if rule.uncertainty is Uncertainty.PASSES:
        assert rule.second is not None
        if rule.turns is None:  # all lanes on one word: one pass per lane, each serving every lane
            return lanes * (rule.count.factor + lanes * rule.second.factor)
        return lanes * (
            lanes * rule.count.factor + _most_of(rule.second, lanes, of)
        )  # all on separate words in one bank
    return _most_of(rule.second or rule.count, lanes, of)


def _most_of(count: Count, lanes: int, of: int) -> int:
    groups = min(lanes, -(-of // count.lanes))
    if count.what is Counted.ONCE:
        return groups * count.factor
    return lanes * count.factor + groups * count.extra
