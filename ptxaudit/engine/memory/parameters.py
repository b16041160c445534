"""The parameters of a kernel: bytes that the launch specifies, and a named unknown for every other number.

ld.param.u32 r, [8]     param_bytes = … 00 04 00 00 …     ->   1024
                        not specified                     ->   the unknown `n`, the parameter at 8
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ptxaudit.engine.domain.value import (
    EVERYWHERE,
    POINTER_BYTES,
    POINTER_LIMIT,
    Uniform,
    Value,
    as_uniform,
    constant,
    fingerprint,
    low_zeros,
    opaque,
    unknown,
)
from ptxaudit.engine.memory.environment import Environment
from ptxaudit.engine.memory.pointers import pointer
from ptxaudit.engine.memory.references import Otherwise, ReadOnly, Reference
from ptxaudit.engine.memory.registers import Results, blend
from ptxaudit.engine.memory.spaces import among_parameters
from ptxaudit.frontend.launch.signature import short_name
from ptxaudit.ir.nodes import Function
from ptxaudit.ir.reasons import Kind, Reason

MOST_OFFSETS = 64  # different offsets in the lanes of one access


class Parameters(ReadOnly):
    """The memory of the state space "param"."""

    def load(self, at: Reference, otherwise: Otherwise) -> Results:
        return at.elements(lambda address: _anywhere(at.view.env, address, at.bits, at.index), otherwise)


class ParametersByAddress(ReadOnly):
    """The memory of generic addresses that are computed from the address of the parameters (`cvta.param`)."""

    def load(self, at: Reference, otherwise: Otherwise) -> Results:
        if not at.view.env.makes_parameter_addresses:
            return otherwise()
        return at.elements(lambda address: _by_address(at, address), otherwise)


def _by_address(at: Reference, address: Value) -> Value | None:
    place = among_parameters(address)
    return None if place is None else _anywhere(at.view.env, place, at.bits, at.index)


def parameter(env: Environment, offset: int, bits: int) -> Value:
    """Bits of the parameter buffer at a byte offset."""
    size = bits // 8
    if offset >= 0 and offset + size <= len(env.param_known) and all(env.param_known[offset : offset + size]):
        return constant(int.from_bytes(env.param_bytes[offset : offset + size], "little"), bits)
    if env.pointers:
        to_buffer = pointer(env.pointers, partial(_name, env.function), ("param",), offset, bits)
        if to_buffer is not None:
            return to_buffer
    name, at = _name(env.function, offset, size), _position(env.function, offset)
    if at is None:
        return unknown(Uniform(name, bits, key=("param", offset, bits), address=bits == 64, launch_wide=True))
    of = env.function.parameters[at]
    within = offset - of.offset
    is_pointer = of.pointer if of.pointer is not None else (bits == 64)
    stated = env.facts.aligned.get(of.name, 1)
    if of.pointer or of.pointer is None and of.size == POINTER_BYTES:
        stated = max(stated, env.facts.aligned.get("*", 1))
    if is_pointer and bits == 64 and within == 0 and size == of.size:
        zeros = low_zeros(max(stated, of.align))
        low, high = (0, POINTER_LIMIT) if of.pointer else (None, None)  # may be a number, even a negative one
        key = "param", offset, bits
        return unknown(Uniform(name, 64, zeros, low, high, "pointer", key, address=True, launch_wide=True))
    zeros = low_zeros(stated) if within == 0 else 0
    key = "param", offset, bits
    return unknown(
        Uniform(name, bits, zeros, kind="parameter", key=key, address=bits == 64, launch_wide=True),
    )


def _position(function: Function, offset: int) -> int | None:
    """The position of the parameter that contains a byte."""
    return next((k for k, p in enumerate(function.parameters) if p.offset <= offset < p.offset + p.size), None)


def _name(function: Function, offset: int, size: int) -> str:
    """The name of some bytes of the parameter buffer."""
    at = _position(function, offset)
    if at is None:
        return f"param[{offset}]" if 0 <= offset < 1 << 31 else "value set by the driver"  # before the parameters
    of = function.parameters[at]
    name, within = short_name(function.name, of.name, at), offset - of.offset
    return f"{name}[{within}:{within + size}]" if within or size != of.size else name


def _anywhere(env: Environment, address: Value, bits: int, index: int) -> Value:
    """As `parameter`, at an offset that may differ by warp and by lane."""
    known = _known_lanes(address)
    offsets = () if known is None else sorted(set(np.broadcast_to(address.base, known.shape)[known].flat))
    if known is not None and 0 < len(offsets) <= MOST_OFFSETS:  # (np.unique loads numpy.ma)
        first, *others = map(int, offsets)
        value = parameter(env, first, bits)
        for offset in others:
            value = blend(value, parameter(env, offset, bits), address.base == offset)
        return value if known.all() else blend(opaque(bits, Reason(Kind.PARAMETER_INDEX, index)), value, known)
    if (flat := as_uniform(address)) is not None:
        name, key = "a parameter at an unknown index", ("parameter at", fingerprint(flat), bits)
        return unknown(Uniform(name, bits, key=key, address=bits == 64))
    return opaque(bits, Reason(Kind.PARAMETER_INDEX, index))


def _known_lanes(value: Value) -> np.ndarray | None:
    """The lanes in which it is a number; None if it has unknowns or unknown high bits."""
    if value.terms or value.valid is not None:
        return None
    known = EVERYWHERE if value.poison is None else ~value.poison
    return np.broadcast_to(known, np.broadcast_shapes(known.shape, value.base.shape))
