"""The abstract value of a register: for every lane of many warps known, affine in uniform unknowns, or opaque.

    value[row, lane]  =  base[row, lane]  +  Σ  coeff[row, lane] · u        (mod 2**valid)

A *row* is one warp (of one class of blocks). Each `u` is a `Uniform`: an unknown number that is the same in all lanes
of one request (an unspecified parameter, a pointer, a block index, a loop counter). Arithmetic is modulo 2**bits, as
in the hardware, so base and coefficients are unsigned arrays that wrap.

Three properties make this small domain strong enough for real index arithmetic:

- Arrays broadcast. A value that is the same in all lanes has one column, one that is the same in all warps has one
  row: uniformity needs no analysis, it is the shape.
- `valid`: the form holds modulo 2**valid. The low bits of sums and products depend only on low bits, so `cvt.s64.s32`
  of a wrapping sum loses the upper half but not the lower, and truncating it back loses nothing.
- Uniform values stay uniform. An operation on uniform values that has no affine form yields a *derived* unknown,
  named by the expression (`n/4`), which is the same for the same operands.

`poison` marks lanes whose value is unknown, and `why` names the instruction that made it so. Some bits of such a lane
may still be known (`sure`), such as predicates that ptxas keeps in the bits of a register, or a digit beside an index
(`known_bits`); in a value with unknowns they are bits of the value less its unknowns. Or the lane holds one of a few
numbers (`alternatives`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.domain.lanes import ROWS_AT_HAND
from ptxaudit.engine.domain.outcomes import Alternatives
from ptxaudit.ir.reasons import Kind, Reason, sentence

DTYPES: dict[int, type[Any]] = {1: np.bool_, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
BITS = {np.dtype(t): b for b, t in DTYPES.items()}
SIGNED: dict[int, type[Any]] = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
NO_LANE_ALONE = (False, False)
BITS_OF_SUMS = 64  # width of the integers in which ranges are added up
SAFE = 1 << 58  # sums of MAX_TERMS products below it stay below 2**62
POINTER_LIMIT = 2**57  # device addresses are below this
POINTER_BYTES = 8
ADDRESS_BITS = 32  # width of an address in shared or local memory
MAX_TERMS = 12  # more unknowns are merged, or the value is given up: no handwritten index expression has more


@dataclass(frozen=True, slots=True, eq=False)
class Uniform:
    """An unknown number that all lanes of a request share.

    name: its name in formulas, which decides nothing. bits: its width. zeros: known low zero bits.
    low, high: its range as a signed integer, inclusive; None = unknown.
    kind: "parameter" | "symbol" (a variable that the host writes) | "pointer" | "variable" | "window" (where a state
        space begins among generic addresses) | "block" | "block shape" | "shared" | "loop" | "rounds" | "loaded" |
        "choice" | "bit" | "extension" | "derived" | "special".
    key: distinguishes it, together with the kind, from all others (a definition, an execution; it may contain other
        unknowns).
    data: it depends on data that is not specified (as opposed to a property of the launch).
    address: it may be an address or the difference of two addresses (as opposed to a count).
    blocks: one bit per dimension of the block index from which it is computed.
    launch_wide: it is one number in the whole launch, whichever block, warp or trip computes it.
    """

    name: str
    bits: int = 32
    zeros: int = 0
    low: int | None = None
    high: int | None = None
    kind: str = "derived"
    key: Any = None
    data: bool = False
    address: bool = False
    blocks: int = 0
    launch_wide: bool = False
    _hash: int = field(init=False, repr=False, default=0)
    _identity: bytes = field(init=False, repr=False, default=b"")

    def __post_init__(self) -> None:
        if self.key is None:
            raise TypeError(f"nothing tells the unknown {self.name} from others: it has no key")
        object.__setattr__(self, "_hash", hash((self.kind, self.key)))

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Uniform)
            and self._hash == other._hash
            and self.identity == other.identity
            and (self.zeros, self.low, self.high) == (other.zeros, other.low, other.high)
        )

    def __hash__(self) -> int:
        return self._hash

    @property
    def identity(self) -> bytes:
        """16 bytes that distinguish it from other unknowns: a digest of its kind, width and key alone.

        Keys nest deeply, so each is digested once.
        """
        if not self._identity:
            digest = blake2b(f"{self.kind}|{self.bits}|".encode() + _identity(self.key), digest_size=16).digest()
            object.__setattr__(self, "_identity", digest)
        return self._identity


def _identity(key: object) -> bytes:
    """An injective encoding of a key as bytes."""
    if isinstance(key, tuple):
        return b"(" + b"".join(_identity(part) + b"," for part in key) + b")"
    identity = key if isinstance(key, bytes) else getattr(key, "identity", None)
    return repr(key).encode() if identity is None else b"<" + identity.hex().encode() + b">"


Terms = tuple[tuple[Uniform, np.ndarray], ...]


class Value:
    """An abstract value, as the module describes it. base: an unsigned array broadcastable to (rows, lanes)."""

    __slots__ = ("base", "terms", "valid", "poison", "why", "sure", "alternatives", "classes", "lone")

    def __init__(
        self,
        base: np.ndarray,
        terms: Terms = (),
        valid: int | None = None,
        poison: np.ndarray | None = None,
        why: Reason | None = None,
        sure: np.ndarray | None = None,
        alternatives: Alternatives | None = None,
        classes: np.ndarray | None = None,
    ):
        self.base = base
        self.terms = terms  # tuple of (Uniform, coefficient array), no zero coefficients
        self.valid = valid  # None = all bits
        self.poison = poison  # None or bool array broadcastable to (rows, lanes)
        self.why = why
        self.sure = sure  # None or array: bits of `base` that hold in poisoned lanes too
        # None, or the numbers of which poisoned lanes hold one; code that ignores alternatives sees poison
        self.alternatives = alternatives
        self.lone = NO_LANE_ALONE  # of a predicate: whether at most one lane is true, whether at most one is false
        self.classes = classes  # None, or which lanes hold equal values where these are unknown (`lane_classes`)

    @property
    def bits(self) -> int:
        return BITS[self.base.dtype]

    @property
    def elements(self) -> int:
        """The number of elements in its arrays."""
        size = self.base.size * (1 + len(self.terms))
        if self.poison is not None:
            size += self.poison.size
        return size if self.sure is None else size + self.sure.size

    @property
    def known(self) -> bool:
        """Whether every lane is fully known: no unknowns, no poison, all bits."""
        return not self.terms and self.poison is None and self.valid is None

    @property
    def uniform(self) -> bool:
        """Whether its shape shows that it is the same in all lanes."""
        return (
            self.base.shape[1] == 1
            and all(c.shape[1] == 1 for _, c in self.terms)
            and (self.poison is None or self.poison.shape[1] == 1)
        )

    def __repr__(self) -> str:
        text = f"base{self.base.shape}={self.base.flat[0]}…" if self.base.size > 1 else str(self.base.flat[0])
        for u, c in self.terms:
            text += f" + {c.flat[0]}{'…' if c.size > 1 else ''}·{u.name}"
        if self.valid is not None:
            text += f" (mod 2^{self.valid})"
        if self.poison is not None:
            text += f" [opaque: {sentence(self.why) or '?'}]"
        return f"Value({text})"


def known(base: np.ndarray) -> Value:
    return Value(base)


def known_in(value: Value, mask: np.ndarray) -> np.ndarray | None:
    """The numbers of a value, shaped as the mask, if it is known in all lanes of the mask; in other lanes they mean
    nothing."""
    unknown = [part for _, part in value.terms] + ([] if value.poison is None else [value.poison])
    if value.valid is not None or any(anywhere((np.broadcast_to(part, mask.shape) != 0) & mask) for part in unknown):
        return None
    return np.broadcast_to(value.base, mask.shape)


@lru_cache(1 << 14)
def constant(number: int, bits: int) -> Value:
    """A value that is the same everywhere."""
    base = np.full((1, 1), bool(number & 1)) if bits == 1 else np.full((1, 1), number & ((1 << bits) - 1), DTYPES[bits])
    base.setflags(write=False)
    return Value(base)


def unknown(symbol: Uniform, bits: int | None = None) -> Value:
    """The value of one uniform unknown."""
    dtype = DTYPES[bits or symbol.bits]
    return Value(np.zeros((1, 1), dtype), ((symbol, np.ones((1, 1), dtype)),))


EVERYWHERE = np.ones((1, 1), bool)
EVERYWHERE.setflags(write=False)
NOWHERE = np.zeros((1, 1), bool)
NOWHERE.setflags(write=False)
_NOTHING = {bits: constant(0, bits).base for bits in DTYPES}


def opaque(bits: int, why: Reason | None) -> Value:
    """A value that is unknown in every lane."""
    return Value(_NOTHING.get(bits, _NOTHING[64]), poison=EVERYWHERE, why=why)


def is_number(value: Value) -> bool:
    """Whether the value is plain known numbers and nothing else, as most values are."""
    return (
        type(value) is Value
        and value.poison is None
        and not value.terms
        and value.valid is None
        and value.alternatives is None
    )


def wholly_opaque(value: Value) -> bool:
    """Whether nothing is known of the value in any lane."""
    poison = value.poison
    if poison is None or value.sure is not None:
        return False
    return poison is EVERYWHERE or value.valid is None and throughout(poison)


def low_zeros(number: int, bits: int = 64) -> int:
    """The number of low zero bits of an integer (bits for 0)."""
    return (number & -number).bit_length() - 1 if number else bits


def some(array: np.ndarray) -> bool:
    """Whether any element is nonzero. Fast for a single number, which most arrays here are."""
    return bool(array.item()) if array.size == 1 else anywhere(array)


def ends_of(array: np.ndarray) -> tuple[int, int]:
    """The least and the greatest element. Fast for a single number."""
    if array.size == 1:
        return (number := int(array.item())), number
    return int(array.min()), int(array.max())


def array_zeros(array: np.ndarray) -> int:
    """Low zero bits that all elements share."""
    if array.dtype == bool:
        return 0 if some(array) else 1
    bits = array.item() if array.size == 1 else int(np.bitwise_or.reduce(array, axis=None))
    return low_zeros(bits, BITS[array.dtype])


def active_zeros(array: np.ndarray, active: np.ndarray) -> int:
    """Low zero bits that the elements of all active lanes share. active: (rows, lanes)."""
    return array_zeros(array if array.shape[1] == 1 else np.where(active, array, array.dtype.type(0)))


def term_zeros(value: Value) -> int:
    """The number of low bits that the unknowns do not reach: the base alone determines them."""
    bits = value.bits
    zeros = bits if value.valid is None else value.valid
    for u, c in value.terms:
        zeros = min(zeros, u.zeros + array_zeros(c))
    return min(zeros, bits)


def common_zeros(value: Value) -> int:
    """The number of low bits that are zero in every lane."""
    return min(term_zeros(value), array_zeros(value.base))


def combine_terms(a: Terms, b: Terms, sign: int = 1, most: int = MAX_TERMS) -> Terms | None:
    """The terms of a + b or a − b, without zero coefficients; None if there are more than `most`."""
    if not b:
        return a
    merged = dict(a)
    for u, c in b:
        if u in merged:
            c = merged[u] + c if sign > 0 else merged[u] - c
        elif sign < 0:
            c = np.zeros_like(c) - c
        merged[u] = c
    terms = tuple([(u, c) for u, c in merged.items() if some(c)])
    return terms if len(terms) <= most else None


def least(a: int | None, b: int | None) -> int | None:
    """The smaller of two numbers either of which may be None, such as `valid` widths (None = all bits)."""
    if a is None:
        return b
    return a if b is None else min(a, b)


def either(a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray | None:
    """The poison of a result that needs both operands."""
    if a is None or b is EVERYWHERE:
        return b
    return a if b is None or a is EVERYWHERE else a | b


def sure_bits(value: Value) -> np.ndarray:
    """The bits of `base` that are known to hold in each lane."""
    if value.valid is not None:
        return _NOTHING[value.bits]
    everything = constant(-1, value.bits).base
    if value.poison is None:
        return everything
    sure = _NOTHING[value.bits] if value.sure is None else value.sure
    return sure if value.poison is EVERYWHERE else np.where(value.poison, sure, everything)


def mapped(value: Value, change: Callable[[np.ndarray], np.ndarray]) -> Value:
    """The value with `change` applied to each of its arrays, for example to select rows or lanes."""
    poison, sure = (None if array is None else change(array) for array in (value.poison, value.sure))
    terms = tuple([(u, change(c)) for u, c in value.terms])
    return Value(change(value.base), terms, value.valid, poison, value.why, sure)


def chosen(choose: Callable[[np.ndarray, np.ndarray], np.ndarray], a: Value, b: Value) -> Value:
    """One of two values in each row and lane, without alternatives. choose: merges two arrays (rows, lanes)."""
    nothing = constant(0, a.bits).base
    mine, others = dict(a.terms), dict(b.terms)
    unknowns = {**mine, **others} if others else mine
    terms = [(u, c) for u in unknowns if anywhere(c := choose(mine.get(u, nothing), others.get(u, nothing)))]
    poison = sure = None
    if a.poison is not None or b.poison is not None:
        poison = choose(*(NOWHERE if v.poison is None else v.poison for v in (a, b)))
        poison = poison if anywhere(poison) else None
    if a.sure is not None or b.sure is not None:
        sure = choose(sure_bits(a), sure_bits(b))
    why = None if poison is None and a.valid is None and b.valid is None else because(a, b)
    return Value(choose(a.base, b.base), tuple(terms), least(a.valid, b.valid), poison, why, sure)


def signed(array: np.ndarray) -> np.ndarray:
    """The same bits read as two's complement."""
    return array.view(SIGNED[BITS[array.dtype]])


def resize(array: np.ndarray, bits: int) -> np.ndarray:
    """Zero-extends or truncates an array to a width."""
    if bits == 1:
        return array if array.dtype == bool else (array & 1).astype(bool)
    return array if array.dtype == DTYPES[bits] else array.astype(DTYPES[bits])


def words_at(data: np.ndarray, at: np.ndarray, bits: int) -> np.ndarray:
    """The little-endian number at each byte offset of `data` (uint8), whose last byte is repeated past its end."""
    out = np.zeros(at.shape, DTYPES[bits])
    for k in range(bits // 8):
        out |= data[np.minimum(at + k, len(data) - 1)].astype(DTYPES[bits]) << DTYPES[bits](8 * k)
    return out


def span(value: Value) -> tuple[int, int] | None:
    """The range of base + Σ coeff·u as signed integers without wrapping, or None if unbounded."""
    if value.poison is not None or value.valid is not None or value.base.dtype == bool:
        return None
    low, high = ends_of(signed(value.base))
    for u, c in value.terms:
        if u.low is None or u.high is None:
            return None
        least_c, most_c = ends_of(signed(c))
        ends = [least_c * u.low, least_c * u.high, most_c * u.low, most_c * u.high]
        low += min(ends)
        high += max(ends)
    return low, high


def lane_ends(value: Value, is_signed: bool = True) -> tuple[np.ndarray, np.ndarray] | None:
    """The bounds of base + Σ coeff·u in each lane as integers without wrapping, two arrays (n, lanes) of int64.

    None if unbounded. is_signed: how the base is read.
    """
    if value.poison is not None or value.valid is not None or value.base.dtype == bool:
        return None
    if not is_signed and anywhere(value.base >= SAFE):
        return None
    low = high = (signed(value.base) if is_signed else value.base).astype(np.int64)
    if value.bits == BITS_OF_SUMS and max(map(abs, ends_of(low))) >= 1 << BITS_OF_SUMS - 2:
        return None  # the sum may wrap
    for u, c in value.terms:
        c = signed(c).astype(np.int64)
        if u.low is None or u.high is None or max(map(abs, ends_of(c))) >= SAFE // max(1, abs(u.low), abs(u.high)):
            return None
        low, high = low + np.minimum(c * u.low, c * u.high), high + np.maximum(c * u.low, c * u.high)
    return low, high


def is_block_index(u: Uniform) -> bool:
    """The unknown is %ctaid in one dimension."""
    return u.kind == "block" and isinstance(u.key, tuple) and u.key[0] == "ctaid"


def lane_spans(value: Value) -> tuple[np.ndarray, np.ndarray] | None:
    """As `lane_ends`, read as unsigned; None if the sum may wrap."""
    ends = lane_ends(value, is_signed=False)
    if ends is None or ends[0].min() < 0 or value.bits < 64 and ends[1].max() >= 1 << value.bits:
        return None
    return ends


def wrapped_spans(value: Value) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """(lower and upper bound of the number in each lane, read as unsigned, how often base + Σ coeff·u wraps there).

    None if it may wrap more often or less. A stack pointer less the size of a frame is a sum that wraps once.
    """
    ends = lane_ends(value, is_signed=False)
    if ends is None or value.bits >= BITS_OF_SUMS:
        return None
    wraps: np.ndarray = ends[0] >> value.bits
    if anywhere(wraps != ends[1] >> value.bits):
        return None
    return ends[0] - (wraps << value.bits), ends[1] - (wraps << value.bits), wraps


def fits_signed(value: Value) -> bool:
    """Whether no lane wraps, read as signed, so that the form is also an equation of integers."""
    s = span(value)
    return s is not None and -(1 << (value.bits - 1)) <= s[0] and s[1] < 1 << (value.bits - 1)


def same_terms(a: Terms, b: Terms) -> bool:
    """Whether both have the same unknowns with equal coefficients in every lane."""
    other = dict(b)
    return len(a) == len(b) and all(u in other and _equal(c, other[u]) for u, c in a)


def same(a: Value, b: Value) -> bool:
    """Whether two values of as many warps are equal in every lane whatever the unknowns are."""
    if a is b:
        return True
    if a.poison is not None or b.poison is not None or a.valid != b.valid:
        return False
    return a.base.dtype == b.base.dtype and _equal(a.base, b.base) and same_terms(a.terms, b.terms)


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether arrays are equal everywhere. Their numbers of rows must agree, unless one is 1."""
    return (len(a) == len(b) or 1 in (len(a), len(b))) and throughout(a == b)


def because(*values: Value) -> Reason | None:
    """Why a result of these values is unknown: the first reason, preferably one caused by unspecified data.

    That other warps have not written a register is the last reason to be given.
    """
    first: Reason | None = None
    for v in values:
        if v.why is not None:
            if v.why.data:
                return v.why
            if first is None or first.kind is Kind.UNWRITTEN_IN_SOME and v.why.kind is not Kind.UNWRITTEN_IN_SOME:
                first = v.why
    if first is None:
        return None
    decided_by_data = next((u for v in values for u, _ in v.terms if u.data), None)
    return first if decided_by_data is None else first.beside(decided_by_data)


def modulo(value: Value, zeros: int, why: Reason) -> Value:
    """What remains known of a value after adding a multiple of 2**zeros that differs by lane."""
    if value.poison is not None or zeros <= 0 or value.base.dtype == bool:
        return opaque(value.bits, value.why or why)
    valid = min(zeros, value.bits if value.valid is None else value.valid)
    return value if valid >= value.bits else Value(value.base, value.terms, valid, None, value.why or why)


def lane_uniform(array: np.ndarray) -> bool:
    """Whether all columns are equal."""
    return array.shape[1] == 1 or throughout(array == array[:, :1])


def squeeze(value: Value) -> Value:
    """Drops columns that repeat the first, so that the shape shows the uniformity."""
    if not value.terms and (value.base.shape[1] == 1 or not lane_uniform(value.base)):
        return value
    return mapped(value, lambda array: array[:, :1] if array.shape[1] > 1 and lane_uniform(array) else array)


def as_uniform(value: Value) -> Value | None:
    """The value with one column, if it is the same in all lanes of a warp and unknown only in its terms."""
    if value.poison is not None or value.valid is not None:
        return None
    flat = value if value.uniform else squeeze(value)
    return flat if flat.uniform else None


def one_per_warp(value: Value, one: Uniform) -> Value:
    """The value with `one` in the warps in which lanes are unknown, where all lanes of a warp have the same number."""
    if value.poison is None:
        return value
    unclear = np.logical_or.reduce(value.poison, axis=1, keepdims=True)
    if throughout(unclear):
        return unknown(one, value.bits)
    nothing, once = (value.base.dtype.type(n) for n in (0, 1))
    terms = tuple([(u, d) for u, c in value.terms if anywhere(d := np.where(unclear, nothing, c))])
    return squeeze(
        Value(np.where(unclear, nothing, value.base), (*terms, (one, np.where(unclear, once, nothing))), value.valid)
    )


def fingerprint(value: Value) -> bytes:
    """A key of 16 bytes that names derived unknowns: equal keys mean equal values.

    It is a digest because it becomes part of the keys of values derived from this one, twice in a sum of both. For
    numbers that differ by row it includes which rows these are: warp 1 may be the first of some warps, and later the
    second of others that hold the same numbers.
    """
    digest = blake2b(digest_size=16)
    differ = False

    def add(array: np.ndarray) -> None:
        nonlocal differ
        differ = differ or len(array) > 1
        digest.update(f"{array.shape}{array.dtype.char}".encode())
        digest.update(array.tobytes())

    add(value.base)
    for identity, c in sorted(((u.identity, c) for u, c in value.terms), key=lambda term: term[0]):
        digest.update(identity)
        add(c)
    digest.update(str(value.valid).encode())
    if differ:
        digest.update(ROWS_AT_HAND.key)
    return digest.digest()


def sign_extended(bits: int, a: np.ndarray) -> np.ndarray:
    """Numbers of any width, or predicates, sign-extended or truncated to `bits` bits."""
    if a.dtype == bool:
        extended: np.ndarray = np.where(a, DTYPES[bits]((1 << bits) - 1), DTYPES[bits](0))
        return extended
    if BITS[a.dtype] >= bits:
        return resize(a, bits)
    return signed(a).astype(SIGNED[bits]).view(DTYPES[bits])
