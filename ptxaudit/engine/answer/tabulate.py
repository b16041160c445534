"""The cost of one abstract request: figures, or a table by the unknown that multiplies the lane.

    address 4·lane + n          ->  1 wavefront
    address 4·lane·pitch        ->  pitch mod 32 in 1, 3, 5, …: 1 wavefront;  in 2, 6, 10, …: 2;  …
    unknown address             ->  NoFigure

An address is first reduced to its `Place`, without what changes no count, so that many requests become one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np

from ptxaudit.base.arrays import anywhere
from ptxaudit.base.records import Record
from ptxaudit.base.status import Status
from ptxaudit.base.work import REQUEST, Account, elements
from ptxaudit.engine.answer.cases import Figure, Table
from ptxaudit.engine.answer.record import SiteRecord
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.alternatives import as_unknown
from ptxaudit.engine.domain.lanes import LANES, first_active, varies
from ptxaudit.engine.domain.value import (
    ADDRESS_BITS,
    EVERYWHERE,
    Uniform,
    Value,
    array_zeros,
    because,
    constant,
    low_zeros,
    resize,
    signed,
)
from ptxaudit.engine.memory.generic import Located
from ptxaudit.hardware.banks import Access
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.ir.reasons import Kind, Reason

GLOBAL_BITS = 64
MOST_RESIDUES = 256  # residues of a table of cases that are computed
MOST_MEETINGS = 2048  # numbers at which lanes may share words
TABULATING = "tabulating requests by an unknown"
MOST_COMMON = 20  # low zero bits of the lanes' distances that count, beyond those of the coefficients
EXTRA_SYMBOLS = 6  # bits and choices of which all combinations are computed


class Observation(Record, eq=False, dict=True):
    """One abstract request of a site.

    mask: (rows, LANES), the lanes that may be active; exact: they certainly are. base, offset: the address is their
    sum, computed on demand, as most observations are found in a cache first. located: of a generic access, where in
    shared memory it is; None: in shared memory in all lanes.
    """

    base: Value
    offset: int
    mask: np.ndarray
    exact: bool
    undecided_by: tuple[Reason, ...]
    space: str
    located: Located | None = None
    classes: np.ndarray | None = None  # lanes that are active together if not exact (`lane_classes`)
    single: bool = False  # at most one lane is active

    @cached_property
    def lanes(self) -> np.ndarray:
        """The lanes that may access shared memory."""
        return self.mask if self.located is None else self.located.lanes | self.located.open

    @cached_property
    def others(self) -> np.ndarray | None:
        """The lanes that access other memory in the same request; None if there are none."""
        others = None if self.located is None else self.mask & ~self.lanes
        return others if others is not None and anywhere(others) else None

    @cached_property
    def address(self) -> Value:
        return affine.add(self.base, constant(self.offset, self.base.bits)) if self.offset else self.base


class Counted(Record, eq=False):
    """A request with figures.

    table: the figures by the unknown that multiplies the lane, if there is one. wraps: as in `Place`. choices: they are
    of several requests, of which the access makes one.
    """

    record: SiteRecord
    table: Table | None = None
    wraps: bool = False
    choices: bool = False


class NoFigure(Exception):
    """A request has neither a figure nor a table."""

    def __init__(self, reason: Reason, status: Status):
        self.reason, self.status = reason, status


class Place(Record, eq=False):
    """An address as far as it decides the cost of a request, less a multiple of the invariant shift.

    numbers: broadcasts to (rows, lanes); zeros: the low bits that uniform unknowns do not change; line: if not 0, the
    numbers are known only modulo it; varying: unknowns with their coefficients per lane; code: the key that identifies
    the place; wraps: it holds unless lanes are gigabytes apart, as where a 32-bit index wraps around between them.
    """

    numbers: np.ndarray
    zeros: int
    line: int
    varying: tuple[tuple[Uniform, np.ndarray], ...]
    code: tuple[Any, ...]
    wraps: bool = False


def place_of(access: Access, o: Observation, shift: int, machine: Machine) -> Place:
    """The part of an observation's address that decides its cost.

    shift: the invariant shift of the machine's rule, in bytes. Raises NoFigure if the address is unknown.
    """
    value, moved = as_unknown(o.base), o.offset % shift
    line, wide, wraps = 0, min(value.bits, bits_of(access)), False
    if value.poison is not None and (value.poison is EVERYWHERE or anywhere(value.poison & o.lanes)):
        raise _not_known(value, moved, Kind.ADDRESS)
    if value.valid is not None and value.valid < wide:
        wraps = wide > ADDRESS_BITS and value.valid >= ADDRESS_BITS
        line = 0 if wraps else line_of(machine, access)
        if access.bypass or not wraps and (wide > ADDRESS_BITS or (1 << value.valid) % line):
            raise _not_known(value, moved, Kind.LOW_BITS)
    zeros, varying = ADDRESS_BITS, []
    for u, c in value.terms:
        common = array_zeros(c) if c.size > 1 else low_zeros(c.item())
        if common >= wide:  # multiples of 2**32: lanes of one request to shared memory agree on them
            continue
        if varies(c, o.lanes):
            varying.append((u, c))
        else:
            zeros = min(zeros, u.zeros + common)
    if wraps and varying:
        raise _not_known(value, moved, Kind.LOW_BITS)
    numbers = resize(value.base, wide)
    if moved:
        numbers = numbers + numbers.dtype.type(o.offset & (1 << wide) - 1)
    numbers = signed(numbers).astype(np.int64)
    if wraps:
        assert value.valid is not None
        numbers = _near(numbers, o.lanes, value.valid)
    numbers = numbers - int(numbers[0, 0]) // shift * shift
    code = zeros, line, wraps, numbers.shape, numbers.tobytes(), *((u, c.shape, c.tobytes()) for u, c in varying)
    return Place(numbers, zeros, line, tuple(varying), code, wraps)


def _near(numbers: np.ndarray, mask: np.ndarray, valid: int) -> np.ndarray:
    """(rows, lanes): the numbers modulo 2**valid, as close as possible to the first active lane's in each row."""
    first, half = first_active(numbers, mask), 1 << valid - 1
    near = first % (1 << ADDRESS_BITS) + (numbers - first + half) % (1 << valid) - half
    return np.broadcast_to(near, mask.shape)


def bits_of(access: Access) -> int:
    """The number of address bits that distinguish places."""
    return GLOBAL_BITS if access.space == "global" else ADDRESS_BITS


def _not_known(value: Value, moved: int, kind: Kind) -> NoFigure:
    """The exception for an unknown address.

    moved: an offset is added to the address; data among its terms makes the sum data, too (`because`).
    """
    why = (because(value) if moved else value.why) or Reason(kind)
    return NoFigure(why, Status.DATA_DEPENDENT if why.data else Status.UNKNOWN)


def scored(
    access: Access, place: Place, mask: np.ndarray, machine: Machine, group: str, exact: bool, account: Account
) -> Counted:
    """The figures of all rows of a group; an unknown that multiplies the lane is tabulated: the last of those that are
    one of a few numbers, if there is no other.

    group: its name, for the table; exact: the lanes of the mask are certainly active; account: pays for the work, or
    raises Exhausted. Raises NoFigure if several unknowns multiply the lane.
    """
    choices = [(u, c) for u, c in place.varying if u.low == 0 and u.high is not None and u.high <= 3]
    others = [(u, c) for u, c in place.varying if (u, c) not in choices]
    if place.varying and (len(others) > 1 or len(choices) > EXTRA_SYMBOLS or place.line):
        raise NoFigure(Reason(Kind.MULTIPLIES, unknowns=tuple(u for u, _ in place.varying)), Status.BOUNDED)
    if choices and not others:
        others.append(choices.pop())
    base = np.broadcast_to(place.numbers, mask.shape)
    factors = [
        np.broadcast_to(signed(resize(c, bits_of(access))).astype(np.int64), mask.shape) for _, c in choices + others
    ]
    account.spend(REQUEST + len(base), TABULATING)
    rows, weights = _distinct_rows(base, mask, factors, machine.invariant_shift(access))
    base, mask, factors = base[rows], mask[rows], [c[rows] for c in factors]
    variants = [base]
    for (u, _), c in zip(choices, factors):
        variants = [_wrapped(access, v + c * k) for v in variants for k in range((u.high or 0) + 1)]
    record = SiteRecord(machine, access, account, many_trips=True)  # no trips are counted here
    if others:
        return _tabulated(record, variants, others[0][0], factors[-1], mask, weights, place.zeros, group, exact)
    for v in variants:
        record.add(v, mask, weights, np.zeros(len(mask), np.int64), None, place.zeros, place.line)
    record.flush()
    return Counted(record, wraps=place.wraps, choices=bool(choices))


def _distinct_rows(
    base: np.ndarray, mask: np.ndarray, factors: list[np.ndarray], shift: int
) -> tuple[list[int], np.ndarray]:
    """The first of the rows that are equal up to a multiple of `shift`, and how many each represents: most warps differ
    only by such a multiple.
    """
    first = first_active(base, mask)
    columns = base - first // shift * shift, mask, *factors
    found: dict[tuple[bytes, ...], list[int]] = {}
    for row in range(len(base)):
        found.setdefault(tuple([column[row].tobytes() for column in columns]), []).append(row)
    return [same[0] for same in found.values()], np.array([len(same) for same in found.values()], np.int64)


def _tabulated(
    record: SiteRecord,
    variants: Sequence[np.ndarray],
    u: Uniform,
    c: np.ndarray,
    mask: np.ndarray,
    weights: np.ndarray,
    zeros: int,
    group: str,
    exact: bool,
) -> Counted:
    """The figure as a function of an unknown that multiplies the lane.

    Banks depend on the unknown modulo a period. So does whether two lanes share a word, except for the few numbers
    that bring two lanes within a word of each other. So this scores every residue, at a number far from all of those,
    and each of those separately.
    """
    machine, access = record.machine, record.access
    generic, numbers, period = _numbers(record, variants, u, c, mask)
    record.account.spend((len(generic) + len(numbers)) * REQUEST // 4, TABULATING)
    generic, numbers = _that_do_not_fault(generic, numbers, variants, c, mask, zeros, access, u, exact)
    every = [*generic, *numbers]
    record.account.spend(len(every) * (len(variants) + elements(len(variants) * c.size)), TABULATING)
    stacked = np.concatenate([_wrapped(access, v + c * n) for n in every for v in variants])
    times = len(every) * len(variants)
    each = np.tile(mask, (times, 1))
    record.add(stacked, each, np.tile(weights, times), np.zeros(len(stacked), np.int64), None, zeros)
    record.flush()
    some = mask.any(axis=1)
    figures = (
        SiteRecord(machine, access, record.account)
        .figures(stacked, each, zeros)
        .reshape(3, len(every), -1)[:, :, np.tile(some, len(variants))]
    )
    low, high, ideal, most = (
        f.tolist() for f in (figures[0].min(1), figures[1].max(1), figures[2].min(1), figures[2].max(1))
    )
    figure: dict[int, Figure] = {
        n: (low[k], high[k], ideal[k] if ideal[k] == most[k] else None) for k, n in enumerate(every)
    }
    usual = {n % period: figure[n] for n in generic}
    odd = {n: figure[n] for n in numbers if figure[n] != usual.get(n % period)}
    prefix = "" if group in ("the stated block", "the launch") else f"{group}: "
    turn, (least, most) = _turn(access, c, mask), _limits(u)
    if most - least < turn:
        return Counted(record, Table(u, prefix, period, 0, usual, odd))
    # other numbers wrap around to the same addresses
    return Counted(record, Table(u, prefix, period, turn, usual, {n % turn: figure for n, figure in odd.items()}))


def _wrapped(access: Access, addresses: np.ndarray) -> np.ndarray:
    """Addresses as signed numbers of as many bits as distinguish places."""
    if bits_of(access) > ADDRESS_BITS:
        return addresses
    half = 1 << ADDRESS_BITS - 1
    result: np.ndarray = (addresses + half) % (1 << ADDRESS_BITS) - half
    return result


def _turn(access: Access, c: np.ndarray, mask: np.ndarray) -> int:
    """The period of an unknown after which the distances between lanes repeat, as addresses wrap around: 2**30 for
    4·lane.

    (All lanes together have then moved by a multiple of every line.)
    """
    apart = np.where(mask, c - first_active(c, mask), 0)
    common = low_zeros(int(np.bitwise_or.reduce(apart, axis=None)))
    own = low_zeros(int(np.bitwise_or.reduce(np.where(mask, c, 0), axis=None)))
    return 1 << max(0, bits_of(access) - min(common, own + MOST_COMMON))


def _limits(u: Uniform) -> tuple[int, int]:
    """The least and the greatest value of an unknown."""
    return -1 << 31 if u.low is None else u.low, 1 << 31 if u.high is None else u.high


def _numbers(
    record: SiteRecord, variants: Sequence[np.ndarray], u: Uniform, c: np.ndarray, mask: np.ndarray
) -> tuple[list[int], list[int], int]:
    """(one number for each residue, far from all others; numbers to score separately; the period of the residues)."""
    machine, access = record.machine, record.access
    unit = 1 << low_zeros(int(np.bitwise_or.reduce(np.where(mask, c, 0), axis=None)))
    line = line_of(machine, access)
    period = line // gcd(unit, line)
    step = 1 << min(u.zeros, 31)
    if u.low is not None and u.high is not None and u.high - u.low <= MOST_RESIDUES * step:
        return [], list(range(-(-u.low // step) * step, u.high + 1, step)), period
    residues = range(0, period, gcd(step, period))
    if len(residues) > MOST_RESIDUES:
        raise NoFigure(Reason(Kind.MULTIPLIES, unknowns=(u,)), Status.BOUNDED)
    reach = max(access.width or 1, machine.known_rule(access).count.unit)
    meetings = _meetings(variants, c, mask, reach, u, step, _turn(access, c, mask), record.account)
    if meetings is None:
        raise NoFigure(Reason(Kind.MULTIPLIES, unknowns=(u,)), Status.BOUNDED)
    far = max([abs(n) for n in meetings], default=0)
    return [(far // period + 2) * period + r for r in residues], meetings, period


def _that_do_not_fault(
    generic: list[int],
    numbers: list[int],
    variants: Sequence[np.ndarray],
    c: np.ndarray,
    mask: np.ndarray,
    zeros: int,
    access: Access,
    u: Uniform,
    exact: bool,
) -> tuple[list[int], list[int]]:
    """The numbers that give aligned addresses: a launch that does not fault has no others.

    Raises NoFigure if the misaligned lanes may be inactive.
    """

    def faults(n: int) -> bool:
        for v in variants:
            address = v + c * n
            if 1 << zeros < access.align:  # the base aligns the common part of the addresses
                address = address - first_active(address, mask)
            if anywhere((address & access.align - 1 != 0) & mask):
                return True
        return False

    if access.align == 1:
        return generic, numbers
    wrong = {n for n in (*generic, *numbers) if faults(n)}
    left = [n for n in generic if n not in wrong], [n for n in numbers if n not in wrong]
    if wrong and (not exact or len(variants) > 1) or not any(left):  # the misaligned lanes may be inactive
        raise NoFigure(Reason(Kind.MAY_FAULT, given=(access.width,), unknowns=(u,)), Status.UNKNOWN)
    return left


def _meetings(
    variants: Sequence[np.ndarray],
    c: np.ndarray,
    mask: np.ndarray,
    reach: int,
    u: Uniform,
    step: int,
    turn: int,
    account: Account,
) -> list[int] | None:
    """The numbers at which two active lanes of a row are less than `reach` bytes apart, but not at every number.

    A number counts if u can be it or differ from it by a multiple of `turn` (`_turn`). None if there are too many. (At
    other numbers whose addresses wrap around, lanes are farther apart than shared memory is large.)
    """
    account.spend(REQUEST + elements(len(variants) * len(mask) * LANES * LANES), TABULATING)
    found: set[int] = set()
    first, second = np.triu_indices(LANES, 1)
    together = mask[:, first] & mask[:, second]
    slope = c[:, first] - c[:, second]
    use = together & (slope != 0)
    for v in variants:
        gap = np.broadcast_to(v, mask.shape)
        gap = gap[:, second] - gap[:, first]
        k, g = slope[use], gap[use]
        k, g = np.where(k < 0, -k, k), np.where(k < 0, -g, g)
        pairs = np.array(sorted(set(zip(k.tolist(), g.tolist()))), np.int64).reshape(-1, 2).T
        low, high = -((reach - 1 - pairs[1]) // pairs[0]), (pairs[1] + reach - 1) // pairs[0]
        for a, b in zip(low.tolist(), high.tolist()):
            found.update(n for n in range(-(-a // step) * step, b + 1, step))
            if len(found) > MOST_MEETINGS:
                return None
    least, most = _limits(u)
    return sorted(n for n in found if least + (n - least) % turn <= most)


def line_of(machine: Machine, access: Access) -> int:
    """The bytes after which banks and equal words repeat: figures depend on an address modulo this."""
    rule = machine.known_rule(access)
    counts = [c for c in (rule.count, rule.second) if c is not None]
    return max(max(c.row, c.unit * c.slots) for c in counts)
