"""The abstract state at the beginning of a block, why it is not more precise, and what of it survives a join.

State(registers, mask: lanes 0–15, exact: False, undecided_by: ("loaded from memory",))
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field

from ptxaudit.base.arrays import anywhere, throughout
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.known_bits import either, folded, has_constants, known_part, with_bits
from ptxaudit.engine.domain.lane_classes import WHOLE
from ptxaudit.engine.domain.value import Value, because, common_zeros, modulo, opaque, same_terms, term_zeros
from ptxaudit.engine.memory.registers import Name, Registers, called
from ptxaudit.engine.ops import packed
from ptxaudit.ir.reasons import Kind, Reason

MOST_UNDECIDED = 16  # reasons kept of why the active lanes are unknown
WORTH_KEEPING = 5  # low bits of a value, or of an index of words, that determine its bank (32 banks)
OF_WIDEST = 3  # … of an index of 16 bytes

# unknowns that are one number for the whole kernel, in whatever trip they are read
OUTER = frozenset(
    ("parameter", "symbol", "pointer", "shared", "block", "block shape", "variable", "window", "function")
)


class State(Struct, eq=False):
    """The abstract state at the beginning of a block.

    mask: lanes that may be active; exact: they are; undecided_by: the unknown branches that led here, as reasons.
    classes: if not exact, the lanes that are active together or not at all (`lane_classes`), None: any subset may be
    active. one_group: all active lanes are together, and none arrives later. single: at most one lane is active.
    in_step: no lane arrives in another trip of a loop than the lanes it is together with.
    """

    registers: Registers
    mask: np.ndarray
    exact: bool = True
    undecided_by: tuple[Reason, ...] = ()
    classes: np.ndarray | None = None
    one_group: bool = True
    single: bool = False
    in_step: bool = True

    @property
    def coming(self) -> tuple[bool, tuple[Reason, ...], np.ndarray | None, bool, bool, bool]:
        """What is known of which lanes of the mask are active."""
        return self.exact, self.undecided_by, self.classes, self.one_group, self.single, self.in_step

    @coming.setter
    def coming(self, known: tuple[bool, tuple[Reason, ...], np.ndarray | None, bool, bool, bool]) -> None:
        self.exact, self.undecided_by, self.classes, self.one_group, self.single, self.in_step = known

    @property
    def grouped(self) -> bool:
        """The active lanes are together."""
        return self.exact or self.one_group

    @property
    def parts(self) -> np.ndarray | None:
        """The classes of lanes that are active together."""
        return WHOLE if self.exact else self.classes

    def copy(self) -> State:
        """A state that can be changed independently."""
        return State(
            Registers(self.registers.rows, dict(self.registers.values)),
            self.mask,
            *self.coming,
        )

    def of(self, mask: np.ndarray) -> State:
        """The same state with other lanes, to be passed on; it shares the registers."""
        return State(self.registers, mask, *self.coming)

    def weaken(self, *why: Reason) -> None:
        """Records that fewer lanes may be active, for these reasons."""
        self.exact, self.undecided_by, self.classes = False, either_undecided(self.undecided_by, why), None
        self.one_group = False

    def diverge(self, *why: Reason) -> None:
        """Records that lanes may continue in several groups, for these reasons."""
        self.weaken(*why)
        self.in_step = False


class Branches(Struct, eq=False):
    """How the branches of the blocks were taken: "divergent" (known, lanes of one warp differ), "uniform" (unknown, all
    lanes agree), "varying" (unknown, lanes may differ).
    """

    kinds: dict[int, frozenset[str]] = field(default_factory=dict)

    def put(self, block: int, kind: str) -> None:
        self.kinds[block] = self.kinds.get(block, frozenset()) | {kind}

    def any(self, block: int, *kinds: str) -> bool:
        return not self.kinds.get(block, frozenset()).isdisjoint(kinds)


# --- unknown branches ------------------------------------------------------------------------


def either_undecided(a: tuple[Reason, ...], b: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """The reasons for lanes from two paths: the first few, including one that is data, if there is any."""
    if a is b or not b:
        return a
    every = tuple({id(d): d for d in a + b}.values())
    if len(every) <= MOST_UNDECIDED:
        return every
    kept = every[:MOST_UNDECIDED]
    data = () if any(d.data for d in kept) else tuple(d for d in every[MOST_UNDECIDED:] if d.data)[:1]
    return kept[: MOST_UNDECIDED - len(data)] + data


# --- values after a join --------------------------------------------------------------------


def without_trips(value: Value, why: Reason) -> Value:
    """A value whose trip counts differ between lanes: known up to the multiples that a trip adds."""
    if value.base.dtype == bool:
        return opaque(1, why)
    kept = tuple(t for t in value.terms if t[0].kind in OUTER)
    gone = Value(np.zeros((1, 1), value.base.dtype), tuple(t for t in value.terms if t[0].kind not in OUTER))
    return modulo(Value(value.base, kept, value.valid, value.poison, value.why), term_zeros(gone), why)


def lanes_that_agree(
    name: Name, a: Value, b: Value, undecided_by: tuple[Reason, ...] = (), kind: Kind = Kind.ONE_OF_TWO_BY_LANE
) -> Value:
    """a where it equals b lane by lane, elsewhere opaque except for the bits that both share. kind: of the reason."""
    cause = next((d for d in undecided_by if d.data), undecided_by[0] if undecided_by else None)
    why = because(a, b) or Reason(kind, given=(called(name),), cause=cause)
    if (has_constants(a) or has_constants(b)) and not same_terms(a.terms, b.terms):
        a, b = folded(a), folded(b)
    if a.base.dtype != bool and a.poison is None and b.poison is None:
        difference = affine.subtract(a, b)
        zeros = common_zeros(difference)
        if difference.poison is None and (
            zeros >= WORTH_KEEPING
            or difference.valid is not None
            or zeros >= OF_WIDEST
            and throughout(difference.base != 0)  # else the lanes that agree are known in full
        ):
            return modulo(a, zeros, why)
    if a.valid is not None or b.valid is not None:
        nothing = opaque(a.bits, why)
        return nothing if a.terms or b.terms else with_bits(nothing, either(known_part(a), known_part(b)))
    if a.base.dtype == bool:
        differ = a.base ^ b.base
        if a.terms or b.terms:
            return opaque(1, Reason(kind, given=(name,)))
    else:
        difference = affine.subtract(a, b)
        differ = difference.base != 0
        for _, c in difference.terms:
            differ = differ | (c != 0)
        if difference.poison is not None:  # a or b, or too many unknowns
            differ = differ | difference.poison
    for v in (a, b):
        if v.poison is not None:
            differ = differ | v.poison
    out = Value(a.base, a.terms, None, differ if anywhere(differ) else None, why)
    if out.poison is None or a.base.dtype == bool or a.alternatives is not None or b.alternatives is not None:
        return out
    if a.terms or b.terms:
        return packed.agreed(a, b, out) or out
    return with_bits(out, either(known_part(a), known_part(b)))
