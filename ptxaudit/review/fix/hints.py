"""Identifies mistakes that an array's declaration, addresses and copies reveal.

float tile[16][17], and addresses with rows of 64 bytes      "declared with rows of 17 floats, indexed with rows of 16"
cp.async.ca                                                   "destinations are free of conflicts, the source slots
                                                               collide"
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.work import Exhausted
from ptxaudit.hardware import banks
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.review.fix.arrays import Array, Use, place_of
from ptxaudit.review.fix.cost import Costs, NotProvable
from ptxaudit.review.fix.cpp import value_of
from ptxaudit.review.fix.declared import Declared
from ptxaudit.review.fix.layouts import Pad
from ptxaudit.review.fix.pitches import lane_steps


def hints_of(array: Array, declared: Declared | None, costs: Costs) -> tuple[str, ...]:
    """Sentences for a reader."""
    found = [_pitch(array, declared, costs)] if declared is not None and not array.part else []
    found += [_sources(use, costs.machine) for use in array.uses if use.access.operation == "cp.async"]
    return tuple(dict.fromkeys(hint for hint in found if hint))


def _pitch(array: Array, declared: Declared, costs: Costs) -> str:
    """The declaration's rows are longer than those that the addresses use."""
    row, element = _declared_row(declared), declared.element
    if row is None:
        return ""
    steps: Counter[int] = Counter()
    for use in array.uses:
        for r in use.requests:
            steps.update(step for step in lane_steps(r, max(element, use.access.width or 1)))
    unlike = [step for step in steps if step % element == 0 and row // 2 < step < row]
    if any(step % row == 0 for step in steps) or not unlike:
        return ""
    step = max(unlike, key=steps.__getitem__)
    said = (
        f"declared with rows of {row // element} elements, indexed with rows of {step // element}: the padding of"
        f" {declared.declaration.name} is unused"
    )
    try:
        return f"{said}; with {row // element} {costs.total(Pad(((step, row - step),))).excess:,} excess would remain"
    except (NotProvable, Exhausted):
        return said


def _declared_row(declared: Declared) -> int | None:
    """Bytes of a row, also for float[16 * (16 + 1)]: a factor that is a sum is a row with its padding."""
    if declared.rows:
        return declared.rows[0]
    text = declared.declaration.dims[0].text if declared.dims else ""
    factors = [
        value_of(factor, {**declared.text.constants, **declared.names})
        for factor in re.findall(r"\(([^()]*\+[^()]*)\)", text)
    ]
    found = [factor for factor in factors if factor and declared.dims[0] % factor == 0]
    return found[0] * declared.element if len(found) == 1 else None


def _sources(use: Use, machine: Machine) -> str:
    """A cp.async.ca whose destinations are free of conflicts, but not its sources."""
    for r in use.requests:
        if r.sources is None:
            continue
        try:
            alone = banks.score(
                machine,
                replace(use.access, zero_fill=False),
                r.offsets,
                r.active,
                np.where(r.active, r.offsets % 128, 0),
            )
            both = banks.score(machine, use.access, r.offsets, r.active, r.sources, zero_filled=r.filled)
        except InputError:
            continue
        if (both.low > alone.high).any() and (alone.high == alone.ideal).all():
            return (
                f"{place_of(use.site)}: the destinations of cp.async.ca are free of conflicts, the source slots"
                " collide: let each group of lanes read one 128-byte line, from an address that is a multiple of 128"
            )
    return ""
