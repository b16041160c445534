"""Validates and scores requests given by hand: one opcode, an address per lane, and a machine.

score_request("ld.shared.v4.b32", range(0, 512, 16)).wavefronts     4
score_requests("LDS.64", addresses).low                             an array with one figure per row
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from ptxaudit.base import display
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import KeyedRecord
from ptxaudit.hardware import machines
from ptxaudit.hardware.banks import classify
from ptxaudit.hardware.banks.count import score
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.hardware.scores import Scores, first_with
from ptxaudit.ir.access import Access

DEFAULT_ARCH = "sm_90"
ADDRESS_BITS = 32  # of a shared address; the hardware's windows are smaller
SOURCE_BITS = 62  # of a source address; today's GPUs have fewer


Numbers = Iterable[Any]  # of integers, or of rows of them, including arrays; checked when they are read
Masks = int | Iterable[Any]


class Score(KeyedRecord):
    """The cost of one request.

    wavefronts: exact, or None if only a range is known. bounds: (low, high) wavefronts, equal if exact; None for
    cp.async.cg, which no counter sees. ideal: wavefronts without any conflict.
    ways: the most wavefronts of one group; None if unknown. evidence: "measured" | "by rule".
    line_class_max, lines_ideal: cp.async.cg's k and its ideal; None for other accesses.
    machine: its name. access: the decoded opcode. note: what the figure assumes, or "".
    """

    wavefronts: int | None
    bounds: tuple[int, int] | None
    ideal: int | None
    ways: int | None
    evidence: str
    line_class_max: int | None
    lines_ideal: int | None
    machine: str
    access: Access
    note: str = ""
    request: tuple[Any, ...] | None = None  # arrays: addresses, active lanes, sources; not part of the cost

    def key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__struct_fields__ if name != "request")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name != "request")
        return f"Score({shown})"

    def _repr_html_(self) -> str:
        return display.html("score_html", self)

    @property
    def excess(self) -> int | None:
        """Wavefronts above the ideal, if exact."""
        return None if self.wavefronts is None or self.ideal is None else self.wavefronts - self.ideal


def score_request(
    opcode: str,
    addresses: Numbers,
    active: int | None = None,
    arch: str | None = None,
    sources: Numbers | None = None,
    *,
    machine: str | Machine | None = None,
    operand: int | None = None,
    zero_filled: int = 0,
    in_l1: bool | None = None,
) -> Score:
    """The cost of one request of one warp.

    opcode: PTX (`st.shared.v2.u32`, `cp.async.ca.shared.global 8`) or SASS (`LDS.128`). A PTX atomic is scored as
        its plain ATOMS; `operand` is the constant it adds, where that is known: for 1, ptxas may count lanes together.
    addresses: as many integers as the machine schedules threads together (32 for NVIDIA's), bytes in shared memory.
    active: a mask, bit i for lane i; None = all lanes. arch: "sm_90" (the default), or machine: its name instead.
    sources: a cp.async's global addresses, likewise. zero_filled: the lanes of a cp.async that write zeros, a mask.
    in_l1: all source lines of a cp.async.ca are in L1 (True) or none is (False); None = not known, which may give a
    range. Raises InputError for anything that is not a request: unknown names, misaligned or negative addresses, …
    """
    model, access = _chosen(opcode, arch, machine, operand)
    row = _row(addresses, model)
    on = _mask_row(active, model.lanes, "active mask")
    _check_range(row, on, "address", ADDRESS_BITS)
    from_row = None if sources is None else _sources(access, sources, row.shape, on)
    zeros = (
        None if not zero_filled and not access.zero_fill else _mask_row(zero_filled, model.lanes, "zero-filled mask")
    )
    _check_copy(access, zeros)
    scores = score(model, access, row, on, from_row, zero_filled=zeros, in_l1=in_l1)
    low, high = scores.low.item(), scores.high.item()
    ideal, ways = scores.ideal.item(), scores.ways.item()
    note = _note(access, high)
    request = row[0], on[0], None if from_row is None else from_row[0]
    if scores.lines is not None and scores.lines_low is not None and scores.lines_ideal is not None:
        k, k_low = scores.lines.item(), scores.lines_low.item()
        if k_low != k:
            note = f"k is {k_low} to {k}: which lanes write zeros is not specified, and those count for no line"
        elif zeros is not None:
            note = _of_zeros(model, access, row, on & zeros) or note
        ks = k if k_low == k else None, scores.lines_ideal.item()
        return Score(None, None, None, None, scores.evidence, *ks, model.name, access, note, request)
    exact, shown_ways = low if low == high else None, None if ways < 0 else ways
    return Score(exact, (low, high), ideal, shown_ways, scores.evidence, None, None, model.name, access, note, request)


def _row(addresses: Numbers, model: Machine) -> np.ndarray:
    """(1, lanes): the addresses of one request."""
    row = _integers(addresses, "addresses")
    if row.shape != (model.lanes,):
        raise InputError(
            f"{row.size if row.ndim == 1 else 'nested'} addresses for {model.lanes} lanes of {model.name}",
            f"give {model.lanes} addresses, those of inactive lanes too",
        )
    return row[None, :]


def _of_zeros(model: Machine, access: Access, row: np.ndarray, zeros: np.ndarray) -> str:
    """The note on the zeros written by a copy whose own cost no counter sees; "" if there are none."""
    stored = score(model, classify(f"st.shared.b{8 * (access.width or 0)}"), row, zeros).low.item()
    wavefronts = f"{stored} wavefront{'' if stored == 1 else 's'}"
    return f"the zeros are stored apart: {wavefronts}, which a counter does see" if stored else ""


def score_requests(
    opcode: str,
    addresses: Numbers,
    active: Masks | None = None,
    arch: str | None = None,
    sources: Numbers | None = None,
    *,
    machine: str | Machine | None = None,
    operand: int | None = None,
    zero_filled: Masks | None = None,
    in_l1: bool | None = None,
) -> Scores:
    """The costs of n requests of one opcode: arrays (n,) of low, high, ideal, ways (`banks.Scores`).

    addresses, sources: (n, lanes) integers. active, zero_filled: n masks as integers, or (n, lanes) booleans; None =
    all lanes, no lanes. The other arguments, and what is raised, as for `score_request`.
    """
    model, access = _chosen(opcode, arch, machine, operand)
    rows = _integers(addresses, "addresses")
    if rows.ndim != 2 or rows.shape[1] != model.lanes:
        raise InputError(
            f"addresses of shape {rows.shape} for requests of {model.lanes} lanes of {model.name}",
            f"give an array of shape (n, {model.lanes})",
        )
    on = _mask_rows(active, rows.shape, True, "active masks")
    _check_range(rows, on, "address", ADDRESS_BITS)
    from_rows = None if sources is None else _sources(access, sources, rows.shape, on)
    zeros = (
        None
        if zero_filled is None and not access.zero_fill
        else _mask_rows(zero_filled, rows.shape, False, "zero-filled masks")
    )
    _check_copy(access, zeros)
    return score(model, access, rows, on, from_rows, zero_filled=zeros, in_l1=in_l1)


# --- checking -------------------------------------------------------------------------------


def _chosen(
    opcode: str, arch: str | None, machine: str | Machine | None, operand: int | None
) -> tuple[Machine, Access]:
    """The specified machine and access."""
    if machine is None:
        model = machines.get(arch or DEFAULT_ARCH)
    elif arch is not None:
        raise InputError("both arch and machine are given", "give one of them")
    else:
        model = machine if isinstance(machine, Machine) else machines.get(machine)
    if operand is not None and type(operand) is not int:
        raise InputError(f"operand {operand!r} is not an integer")
    plain = operand is None and not (isinstance(opcode, str) and " " in opcode.strip())
    return model, classify(opcode, operand, plain)


def _integers(values: Numbers, name: str) -> np.ndarray:
    """An int64 array. Rejects floats, text and numbers that do not fit."""
    try:
        array = np.asarray(values if isinstance(values, (list, tuple, np.ndarray)) else list(values))
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} are not integers", "give integers, in bytes") from None
    if array.dtype == np.int64:
        return array
    if array.dtype.kind not in "iu" and array.size:
        raise InputError(f"{name} are not integers of at most 64 bits", "give integers, in bytes")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and (array > np.iinfo(np.int64).max).any():
        raise InputError(f"{name} are not integers of at most 63 bits", "give integers, in bytes")
    return array.astype(np.int64)


def _check_range(rows: np.ndarray, on: np.ndarray, name: str, bits: int) -> None:
    """Raises InputError unless every active lane's number is from 0 to 2**bits - 1."""
    if (found := first_with(-(1 << bits), rows, on)) is not None:
        lane, number = found
        raise InputError(f"lane {lane}'s {name} is {number}", f"addresses are from 0 to 2**{bits} - 1 bytes")


def _check_copy(access: Access, zeros: np.ndarray | None) -> None:
    if zeros is not None and access.access != "cp.async":
        raise InputError(f"{access.opcode} has no zero-filled lanes", "zero-filled lanes are for cp.async and LDGSTS")


def _sources(access: Access, sources: Numbers, shape: tuple[int, int], on: np.ndarray) -> np.ndarray:
    if access.access != "cp.async":
        raise InputError(f"{access.opcode} has no source addresses", "sources are for cp.async and LDGSTS")
    rows = _integers(sources, "sources")
    rows = rows[None, :] if rows.ndim == 1 else rows
    if rows.shape != shape:
        raise InputError(
            f"{rows.shape[-1] if rows.ndim else 0} sources for {shape[1]} lanes", "give one source per address"
        )
    if first_with(access.align - 1 | -(1 << SOURCE_BITS), rows, on) is not None:
        _check_range(rows, on, "source address", SOURCE_BITS)
        misaligned = first_with(access.align - 1, rows, on)
        assert misaligned is not None
        lane, number = misaligned
        raise InputError(f"{access.opcode}: lane {lane}'s source {number} is not a multiple of {access.align}")
    return rows


@lru_cache(maxsize=1024)
def _row_of_mask(mask: int, lanes: int) -> np.ndarray:
    octets = np.frombuffer(mask.to_bytes(-(-lanes // 8), "little"), np.uint8)
    row = np.unpackbits(octets, count=lanes, bitorder="little").view(bool)[None, :]
    row.flags.writeable = False  # shared between calls
    return row


def _mask_row(mask: Any, lanes: int, name: str) -> np.ndarray:
    """(1, lanes) bool from an integer mask or a row of booleans; None = all lanes."""
    if mask is None:
        return _row_of_mask((1 << lanes) - 1, lanes)
    if isinstance(mask, (list, tuple, np.ndarray)) and np.ndim(mask) == 1:
        return _mask_rows([mask], (1, lanes), True, name)
    try:
        bits = operator.index(mask)
    except TypeError:
        raise InputError(f"{name} {mask!r} is not an integer") from None
    if bits < 0 or bits >> lanes:
        raise InputError(
            f"{name} {bits:#x} has bits beyond the {lanes} lanes", f"bit i is lane i: at most {(1 << lanes) - 1:#x}"
        )
    return _row_of_mask(bits, lanes)


def _mask_rows(masks: Masks | None, shape: tuple[int, int], default: bool, name: str) -> np.ndarray:
    """(n, lanes) bool."""
    n, lanes = shape
    if masks is None:
        return np.full(shape, default)
    try:
        array = np.asarray(masks)
    except ValueError:
        raise InputError(f"{name} are of different lengths") from None
    if array.dtype == bool and array.shape == shape:
        return array
    if array.shape == () and array.dtype.kind in "iu":
        return np.repeat(_mask_row(array.item(), lanes, name), n, axis=0)
    if array.shape != (n,) or array.dtype.kind not in "iuO":
        raise InputError(
            f"{name} of shape {array.shape} for {n} requests", f"give n integers, or booleans of shape (n, {lanes})"
        )
    if lanes < 63 and array.dtype.kind in "iu":  # bit by bit if masks fit into the array's integers
        if ((array < 0) | (array >> np.uint8(lanes) != 0)).any():
            raise InputError(
                f"{name} have bits beyond the {lanes} lanes", f"bit i is lane i: at most {(1 << lanes) - 1:#x}"
            )
        result: np.ndarray = array.astype(np.int64)[:, None] >> np.arange(lanes) & 1 == 1
        return result
    return np.concatenate([_mask_row(mask, lanes, name) for mask in array.tolist()]) if n else np.zeros(shape, bool)


def _note(access: Access, figure: int) -> str:
    """The assumption of a PTX atomic's figure: that it becomes its plain ATOMS."""
    if access.isa != "ptx" or access.operation != "atomic" or figure <= 1:
        return ""
    if access.may_count or access.may_combine:
        return ""
    rewrite = classify(access.opcode).rewrite
    return f"as {access.sass}; it may cost less: {rewrite}" if rewrite else ""
