"""Upper bounds for requests whose addresses are known only in some bits (tristate numbers: `domain.known_bits`).

address 4·lane + (anything & 0x380)   ->   1 wavefront, whatever it is in each lane
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ptxaudit.base.arrays import throughout
from ptxaudit.engine.domain.known_bits import Tristate, add, folded, has_constants, known_part, resized
from ptxaudit.engine.domain.lanes import LANES, varies
from ptxaudit.engine.domain.value import ADDRESS_BITS, Value, array_zeros
from ptxaudit.hardware.banks import partial
from ptxaudit.hardware.machine_model import Machine
from ptxaudit.ir.access import Access


def moves_nothing(address: Value, lanes: np.ndarray, shift: int) -> bool:
    """The unknowns of the address move all lanes together, by amounts that change no count."""
    return all(1 << u.zeros + array_zeros(c) >= shift and not varies(c, lanes) for u, c in address.terms)


def most_wavefronts(
    machine: Machine, access: Access, address: Value, offset: int, lanes: np.ndarray
) -> np.ndarray | None:
    """(n,): the most that each request costs, from the known bits of address + offset; None if they imply no bound.

    lanes: (n, LANES) bool, those that may be active.
    """
    shift = machine.invariant_shift(access)
    if address.alternatives is not None or address.poison is None and address.valid is None:
        return None
    if not moves_nothing(address, lanes, shift):
        return most_wavefronts(machine, access, folded(address), offset, lanes) if has_constants(address) else None
    part = known_part(address)
    part = add(part, Tristate(*(np.full((1, 1), number, part.bits.dtype) for number in (offset % shift, 0))))
    part = resized(part, ADDRESS_BITS)
    if throughout(part.unknown == np.uint32(0xFFFFFFFF)):
        return None
    bits, unknown = (np.full(lanes.shape, each, each.dtype) for each in (part.bits, part.unknown))
    return _most(machine, access, bits.tobytes(), unknown.tobytes(), lanes.tobytes())


@lru_cache(1 << 10)
def _most(machine: Machine, access: Access, bits: bytes, unknown: bytes, lanes: bytes) -> np.ndarray | None:
    """The same for arrays as bytes: cached, as an access in a loop repeats the query on every trip."""
    taking = np.frombuffer(lanes, bool).reshape(-1, LANES)
    set_bits, open_bits = (
        np.frombuffer(array, np.uint32).reshape(taking.shape).astype(np.int64) for array in (bits, unknown)
    )
    return partial.most(machine, access, set_bits, open_bits, taking)
