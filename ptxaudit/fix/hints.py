"""Names the mistake, where an array's declaration, its addresses and its copies show one.

    float tile[16][17], and addresses with rows of 64 bytes      "declared with rows of 17 floats, indexed with rows of 16"
    cp.async.ca                                                   "destinations are free of conflicts, the source slots collide"
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from ptxaudit import banks
from ptxaudit.errors import InputError
from ptxaudit.fix.arrays import Array, Use, place_of
from ptxaudit.fix.declared import Declared
from ptxaudit.fix.pitches import lane_steps
from ptxaudit.machine_model import Machine


def hints_of(array: Array, declared: Declared | None, machine: Machine) -> tuple[str, ...]:
    """Sentences for a reader."""
    found = [_pitch(array, declared)] if declared is not None and not array.part else []
    found += [_sources(use, machine) for use in array.uses if use.access.operation == "cp.async"]
    return tuple(dict.fromkeys(hint for hint in found if hint))


def _pitch(array: Array, declared: Declared) -> str:
    """The declaration has one length of rows, the addresses another, shorter one."""
    if not declared.rows:
        return ""
    row, element = declared.rows[0], declared.element
    steps: Counter[int] = Counter()
    for use in array.uses:
        for r in use.requests:
            steps.update(step for step in lane_steps(r, max(element, use.access.width or 1)))
    unlike = [step for step in steps if step % element == 0 and row // 2 < step < row]
    if any(step % row == 0 for step in steps) or not unlike:
        return ""
    step = max(unlike, key=steps.__getitem__)
    return f"declared with rows of {row // element} elements, indexed with rows of {step // element}: {declared.declaration.name} has {row - step} bytes a row that nothing uses"


def _sources(use: Use, machine: Machine) -> str:
    """A cp.async.ca whose destinations are free of conflicts, and whose sources are not."""
    for r in use.requests:
        if r.sources is None:
            continue
        try:
            alone = banks.score(machine, replace(use.access, zero_fill=False), r.offsets, r.active, np.where(r.active, r.offsets % 128, 0))
            both = banks.score(machine, use.access, r.offsets, r.active, r.sources, zero_filled=r.filled)
        except InputError:
            continue
        if (both.low > alone.high).any() and (alone.high == alone.ideal).all():
            return (f"{place_of(use.site)}: the destinations of cp.async.ca are free of conflicts, the source slots collide: let each group of lanes read one "
                    "128-byte line, from an address that is a multiple of 128")
    return ""
