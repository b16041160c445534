"""Lower bounds on the cost of any layout.

Theory. A layout that keeps vectors of `unit` bytes whole and aligned moves a word only to places that are the same
modulo `unit`. Words thus fall into as many classes as a unit has words, and each class can only use every (unit /
4)-th bank. So a group of lanes that accesses n distinct words of one class costs at least n / (slots of that class),
for any map:

    float tile[32][36], stored by float4, a column read      32 words of one class, 8 banks: 4 wavefronts at best
    the same, stored by float                                32 words, 32 banks: 1

Where lanes are counted instead of words (atomics, copies), n is the number of lanes, and lanes on one word stay on
one: their number is a bound as well. There may be no layout that meets these bounds for all requests; the layouts of
a family are compared with each other (`search`).
"""

from __future__ import annotations

import numpy as np

from ptxaudit.hardware.banks import Access, Machine
from ptxaudit.hardware.banks.count import group_of_lane, pairs_agree
from ptxaudit.hardware.machine_model import Counted


def least(machine: Machine, access: Access, offsets: np.ndarray, active: np.ndarray, unit: int) -> np.ndarray:
    """(m,) wavefronts that each request of an access costs at least under any layout that keeps vectors of `unit`
    bytes whole. offsets, active: (m, lanes) bytes within the array, and the active lanes."""
    count = machine.known_rule(access).count
    nothing = np.zeros(len(offsets), np.int64)
    if count.what not in (Counted.WORDS, Counted.LANES) or count.lanes == 1 or count.row != count.unit * count.slots:
        return nothing
    lanes = access.address_lanes or offsets.shape[1]
    offsets, active = offsets[:, :lanes], active[:, :lanes]
    classes = max(1, unit // count.unit)
    slots = max(1, count.slots // classes)
    units = offsets // count.unit
    number = np.broadcast_to(group_of_lane(count.lanes, lanes), offsets.shape)
    if count.paired:
        number = np.where(pairs_agree(offsets, active)[:, None], group_of_lane(count.paired, lanes), number)
    row = np.arange(len(offsets))[:, None]
    # one number per request, group of lanes and class
    bins = (row * (lanes // count.lanes) + number) * classes + units % classes
    span = int(units.max(initial=0)) + 1
    on_unit, several = np.unique((bins * span + units)[active], return_counts=True)
    each = np.ones_like(several) if count.what is Counted.WORDS else several
    per_class = np.bincount(on_unit // span, each, minlength=len(offsets) * (lanes // count.lanes) * classes)
    most = -(-per_class // slots)
    if count.what is Counted.LANES:
        np.maximum.at(most, on_unit // span, several)
    of_group = most.reshape(len(offsets), lanes // count.lanes, classes).max(axis=2)
    result: np.ndarray = (of_group.sum(axis=1) * count.factor).astype(np.int64)
    return result
