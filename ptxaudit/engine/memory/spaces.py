"""The state space of each lane's generic address, as far as it is proved.

    window(shared) + 4·lane                          SHARED in all lanes
    window(shared) + … in odd lanes, out + … else    SHARED in odd lanes, GLOBAL in the others
    loaded + 4·lane                                  OPEN: a pointer from memory may point anywhere

A lane's address has one *base*, with coefficient 1: the window of a state space, a variable, or a pointer that the
host passed; everything else is assumed to be an offset within the object to which the base points. A term that may
itself be an address (a pointer from memory, a choice of two, the upper half of one) leaves the lane open. Where the
value is undecided, the operations that compute the address may decide (`origins`).
"""

from __future__ import annotations

import numpy as np

from ptxaudit.engine.domain.value import Uniform, Value, signed
from ptxaudit.engine.memory.environment import HIGH_WORD

# GLOBAL: variables and whatever the host points to, including constants; PARAM: the kernel's parameters
OPEN, SHARED, LOCAL, GLOBAL, PARAM = range(5)
OF = {"shared": SHARED, "local": LOCAL, "global": GLOBAL, "param": PARAM}
NEAR = 1 << 31  # bytes by which an index may move an address, as opposed to an unknown half of one
PARTS = ("low", "high", "whole")  # of the base of a window


def spaces_of(address: Value, origins: frozenset[str] | None = None) -> np.ndarray:
    """The space of each lane, in a shape that broadcasts to (rows, lanes).

    origins: the spaces in which the address may lie whatever its value; None: any.
    """
    found = _by_value(address)
    if origins is not None and len(origins) == 1:
        found = np.where(found == OPEN, OF[min(origins)], found)
    return found


def _by_value(address: Value) -> np.ndarray:
    arrays = [c for _, c in address.terms] + ([] if address.poison is None else [address.poison])
    shape = np.broadcast_shapes((1, 1), *(array.shape for array in arrays))
    if address.valid is not None and address.valid < address.bits:
        return np.zeros(shape, np.int8)
    window = {SHARED: np.zeros(shape, bool), LOCAL: np.zeros(shape, bool)}
    parameters = {part: np.zeros(shape, bool) for part in PARTS}
    sure, pointer, astray, number = (
        np.zeros(shape, bool),
        np.zeros(shape, bool),
        np.zeros(shape, bool),
        np.ones(shape, bool),
    )
    for u, c in address.terms:
        factor = signed(c)
        here = np.broadcast_to(factor != 0, shape)
        once = np.broadcast_to(factor == _unit(u), shape)
        number = number & (~here | np.broadcast_to(_stays_near(u, factor), shape))
        if u.kind == "window":
            if u.key[0] == "param":
                parameters[u.key[1]] |= once
            else:
                window[OF[u.key[0]]] |= once
            astray |= here & ~once
        elif u.kind == "variable" and u.address:
            astray |= sure & once
            sure |= once
        elif u.kind == "pointer" and u.address:
            pointer |= once
        elif u.kind != "extension":  # another address, or the upper half of one
            size = np.abs(factor)
            astray |= np.broadcast_to((size >= HIGH_WORD) | (size == 1) & u.address, shape)
    halves, whole = parameters["low"] & parameters["high"], parameters["whole"]
    some = parameters["low"] | parameters["high"] | whole
    shared, local = window[SHARED] & ~window[LOCAL] & ~sure, window[LOCAL] & ~window[SHARED] & ~sure
    out = np.where(shared & ~some, SHARED, np.where(local & ~some, LOCAL, OPEN))
    windows = window[SHARED] | window[LOCAL]
    out = np.where((sure | pointer) & ~windows & ~some, GLOBAL, out)
    out = np.where((halves ^ whole) & ~windows & ~sure & ~pointer, PARAM, out)
    out = np.where(number, GLOBAL, out)  # a specified pointer, or null, with an offset
    if address.poison is not None:
        astray = astray | np.broadcast_to(address.poison, shape)
    return np.where(astray, OPEN, out).astype(np.int8)


def _stays_near(u: Uniform, factor: np.ndarray) -> np.ndarray | bool:
    """Whether a multiple of an unknown is only an offset: of a count (a block index, a trip), and small enough."""
    if u.address or u.kind in ("window", "variable", "pointer", "extension") or u.low is None or u.high is None:
        return False
    most = (NEAR - 1) // max(abs(u.low), abs(u.high), 1)
    near: np.ndarray = (-most <= factor) & (factor <= most)
    return near


def _unit(u: Uniform) -> int:
    """The coefficient of the base of an address: machine code reads the upper word of a window as a separate number."""
    return HIGH_WORD if u.kind == "window" and u.key[1] == "high" else 1


def among_parameters(address: Value) -> Value | None:
    """The byte offset of a generic address from the kernel's first parameter; None if it is not among parameters."""
    windows = {u.key: c for u, c in address.terms if u.kind == "window"}
    if {key[1] for key in windows if key[0] == "param"} not in ({"whole"}, {"low", "high"}):
        return None
    if len(windows) < len(address.terms) or any(key[0] != "param" for key in windows):
        return None
    if not all((signed(c) == (HIGH_WORD if key[1] == "high" else 1)).all() for key, c in windows.items()):
        return None
    return within(address)


def within(address: Value) -> Value:
    """The address without the bases of windows: its offset in the window, in lanes where it lies in one."""
    rest = tuple(term for term in address.terms if term[0].kind != "window")
    if len(rest) == len(address.terms):
        return address
    return Value(address.base, rest, address.valid, address.poison, address.why, address.sure)
