"""What is known where a block begins, why that is not more, and what remains of it where ways meet.

State(registers, mask: lanes 0–15, exact: False, undecided_by: ("loaded from memory",))
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field

from ptxaudit.base.arrays import anywhere
from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.known_bits import either, known_part, with_bits
from ptxaudit.engine.domain.lane_classes import WHOLE
from ptxaudit.engine.domain.value import Value, because, common_zeros, modulo, opaque, term_zeros
from ptxaudit.engine.memory.registers import Name, Registers, called
from ptxaudit.engine.ops import packed
from ptxaudit.ir.reasons import Kind, Reason

MOST_UNDECIDED = 16  # reasons kept of why the lanes that take part are not known
WORTH_KEEPING = 5  # low bits of a value, or of an index of words, that tell its bank (32 banks)

# unknowns that are one number for the whole kernel, in whatever trip they are read
OUTER = frozenset(
    ("parameter", "symbol", "pointer", "shared", "block", "block shape", "variable", "window", "function")
)


class State(Struct, eq=False):
    """What is known where a block begins. mask: lanes that may be active; exact: they are; undecided_by: the branches
    that are not and led here, as reasons; classes: where it is not exact, which lanes come together or not at all
    (`lane_classes`), None: any may without the others; one_group: those that come are together, none of them later;
    single: one at most comes; in_step: none comes in another trip of a loop than those that it is together with."""

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
        """What is known of whether lanes of the mask come."""
        return self.exact, self.undecided_by, self.classes, self.one_group, self.single, self.in_step

    @coming.setter
    def coming(self, known: tuple[bool, tuple[Reason, ...], np.ndarray | None, bool, bool, bool]) -> None:
        self.exact, self.undecided_by, self.classes, self.one_group, self.single, self.in_step = known

    @property
    def grouped(self) -> bool:
        """The lanes that come are together."""
        return self.exact or self.one_group

    @property
    def parts(self) -> np.ndarray | None:
        """The lanes that come together."""
        return WHOLE if self.exact else self.classes

    def copy(self) -> State:
        """A state that is somebody else's to change."""
        return State(
            Registers(self.registers.rows, dict(self.registers.values)),
            self.mask,
            *self.coming,
        )

    def of(self, mask: np.ndarray) -> State:
        """The same with other lanes, to be sent on: the registers are this one's."""
        return State(self.registers, mask, *self.coming)

    def weaken(self, *why: Reason) -> None:
        """Fewer lanes may be active, because of these."""
        self.exact, self.undecided_by, self.classes = False, either_undecided(self.undecided_by, why), None
        self.one_group = False

    def diverge(self, *why: Reason) -> None:
        """Lanes may go on in several groups, because of these."""
        self.weaken(*why)
        self.in_step = False


class Branches(Struct, eq=False):
    """How the branches of the blocks were taken: "divergent" (known, by lanes of one warp differently),
    "uniform" (not known, all lanes alike), "varying" (not known, by lane)."""

    kinds: dict[int, frozenset[str]] = field(default_factory=dict)

    def put(self, block: int, kind: str) -> None:
        self.kinds[block] = self.kinds.get(block, frozenset()) | {kind}

    def any(self, block: int, *kinds: str) -> bool:
        return not self.kinds.get(block, frozenset()).isdisjoint(kinds)


# --- what is not decided ---------------------------------------------------------------------


def either_undecided(a: tuple[Reason, ...], b: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """What may be said of lanes that come from two places: the first few reasons, one from data among them if any
    is.
    """
    if a is b or not b:
        return a
    every = tuple({id(d): d for d in a + b}.values())
    if len(every) <= MOST_UNDECIDED:
        return every
    kept = every[:MOST_UNDECIDED]
    data = () if any(d.data for d in kept) else tuple(d for d in every[MOST_UNDECIDED:] if d.data)[:1]
    return kept[: MOST_UNDECIDED - len(data)] + data


# --- what remains of values -----------------------------------------------------------------


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
    """a where it equals b lane by lane, opaque elsewhere, but for bits that both have. kind: of the reason."""
    cause = next((d for d in undecided_by if d.data), undecided_by[0] if undecided_by else None)
    why = because(a, b) or Reason(kind, given=(called(name),), cause=cause)
    if a.base.dtype != bool and a.poison is None and b.poison is None:
        difference = affine.subtract(a, b)
        if difference.poison is None and (common_zeros(difference) >= WORTH_KEEPING or difference.valid is not None):
            return modulo(a, common_zeros(difference), why)
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
