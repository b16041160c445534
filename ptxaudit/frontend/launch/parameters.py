"""Packs the parameter values of a launch into the bytes that the kernel reads.

    params = ["?", 1024, 0.5]     parameters .u64 at 0, .u32 at 8, .f32 at 12
    -> data  00 00 00 00 00 00 00 00 | 00 04 00 00 | 00 00 00 3f
       known  0  0  0  0  0  0  0  0 |  1  1  1  1 |  1  1  1  1

A value is converted by its parameter's PTX type; without one (machine code), by the type in the kernel's C++ name,
and without such a name by the value's own type.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ptxaudit.base.demangle import split_name
from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import whole
from ptxaudit.frontend.launch.buffers import Buffer
from ptxaudit.ir import nodes as ir


def specified(value: Any) -> bool:
    """Whether a launch specifies this value; None and "?" mean that it does not."""
    return not (value is None or isinstance(value, str) and value.strip() == "?")


ADDRESS_BYTES = 8
_FLOAT_CODES = {2: "<e", 4: "<f", 8: "<d"}  # by size in bytes
_FLOAT_TYPES = {".f16", ".f32", ".f64", "float", "double", "__half", "half"}
_INTEGER_TYPE = re.compile(
    r"\.[us](8|16|32|64)|bool|(?:unsigned |signed )?(?:char|short|int|long|long long)|u?int\d+_t|size_t|.*\*"
)


class Specified(Protocol):
    """A launch's specification of parameters: see `launch.Launch`."""

    @property
    def params(self) -> tuple[Any, ...] | None: ...

    @property
    def named(self) -> Mapping[str, Any]: ...

    @property
    def param_bytes(self) -> bytes | None: ...

    @property
    def file(self) -> str | None:
        """The launch file that it was read from, if any."""

    def error(self, what: str, hint: str = "", setting: str = "") -> InputError: ...


def pack(launch: Specified, function: ir.Function) -> tuple[bytes, bytes]:
    """(data, known), both as long as the parameter buffer; known is 1 for specified bytes, else 0.

    Raises InputError, at the launch's position, for too few or too many parameters, a value that does not fit its
    parameter, and an unknown parameter name.
    """
    parameters = function.parameters
    size = max((p.offset + p.size for p in parameters), default=0)
    if launch.param_bytes is not None:
        return _raw(launch, function, size)
    data, known = bytearray(size), bytearray(size)
    for index, value in _values(launch, function).items():
        parameter = parameters[index]
        try:
            bits, specified = encode(value, parameter.size, kind_of(function, index))
        except ValueError as error:
            raise launch.error(
                f"parameter {index} of {_name(function)} ({describe(parameter)}): {error}",
                _how_to_write(launch) if isinstance(value, str) else "",
            ) from None
        data[parameter.offset : parameter.offset + parameter.size] = bits
        known[parameter.offset : parameter.offset + parameter.size] = specified
    return bytes(data), bytes(known)


def _how_to_write(launch: Specified) -> str:
    if launch.file is None:
        return "a number is 1024 or 0.5, an unknown value ?, the data behind a pointer @FILE"
    return 'a number is 1024 or 0.5, an unknown value "?", the data behind a pointer {file = "FILE", type = "u32"}'


def describe(parameter: ir.Parameter) -> str:
    """Type, size and place of a parameter: ".u32, 4 bytes at 16"."""
    plural = "" if parameter.size == 1 else "s"
    return f"{parameter.type or 'no type in the binary'}, {parameter.size} byte{plural} at {parameter.offset}"


def _name(function: ir.Function) -> str:
    return split_name(function.name)[0]


def _raw(launch: Specified, function: ir.Function, size: int) -> tuple[bytes, bytes]:
    raw = launch.param_bytes or b""
    padding = -size % 8  # capture tools record whole words of the buffer
    if not size <= len(raw) <= size + padding:
        raise launch.error(
            f"param_bytes has {len(raw)} bytes; the parameters of {_name(function)} are {size}",
            "record it again for this build of the kernel",
        )
    return raw[:size], b"\1" * size


def _values(launch: Specified, function: ir.Function) -> dict[int, Any]:
    """The specified values, by position."""
    count = len(function.parameters)
    values: dict[int, Any] = {}
    if launch.params is not None:
        if len(launch.params) != count:
            few = "few" if len(launch.params) < count else "many"
            have = "; ".join(f"{i} {p.name}: {describe(p)}" for i, p in enumerate(function.parameters)) or "none"
            raise launch.error(
                f"too {few} parameters: the launch has {len(launch.params)}, {_name(function)} takes {count}",
                f"it takes {have}",
            )
        values.update(enumerate(launch.params))
    for key, value in launch.named.items():
        values[_position(launch, function, key)] = value
    return {index: value for index, value in values.items() if specified(value)}


def _position(launch: Specified, function: ir.Function, key: str) -> int:
    names = [parameter.name for parameter in function.parameters]
    if (number := whole(key)) is not None and number < len(names):
        return number
    if key in names:
        return names.index(key)
    raise launch.error(
        f"{_name(function)} has no parameter {key!r}",
        f"it has {', '.join(names)}: name one, or its position from 0" if names else "it takes none",
    )


def kind_of(function: ir.Function, index: int) -> str:
    """How a value is converted: as "float", as "integer", or, for "", by its own type."""
    parameter = function.parameters[index]
    name = parameter.type
    if not name or name.startswith(".b"):
        types = split_name(function.name)[1]
        name = types[index] if len(types) == len(function.parameters) else ""
    if parameter.pointer:
        return "integer"
    if name in _FLOAT_TYPES:
        return "float"
    return "integer" if _INTEGER_TYPE.fullmatch(name) else ""


def encode(value: Any, size: int, kind: str) -> tuple[bytes, bytes]:
    """(bytes, known) of one parameter of `size` bytes. kind: "float", "integer" or "" (by the value's own type).

    value: a number; a buffer, which stands for its address; bytes; a string of hexadecimal digits, with `??` for an
    unspecified byte; or a list of numbers, which divide the parameter evenly. Raises ValueError if it does not fit.
    """
    if isinstance(value, Buffer):
        return _buffer(value, size, kind), b"\1" * size
    if isinstance(value, (bytes, bytearray)):
        if len(value) != size:
            raise ValueError(f"{len(value)} bytes are given for {size}")
        return bytes(value), b"\1" * size
    if isinstance(value, str):
        return _hex(value, size)
    if isinstance(value, Sequence) or hasattr(value, "tolist") and getattr(value, "ndim", False):
        return _elements(list(value), size)
    return _number(value, size, kind), b"\1" * size


def _buffer(buffer: Buffer, size: int, kind: str) -> bytes:
    """The buffer's address, or its bytes if the parameter is a structure of that size."""
    if size == ADDRESS_BYTES and kind == "" and buffer.size == size:
        raise ValueError("8 bytes may be a structure or a pointer; write a structure as a list of numbers")
    if size != ADDRESS_BYTES and buffer.size == size:
        return buffer.data.tobytes()
    return _address(buffer, size)


def _address(buffer: Buffer, size: int) -> bytes:
    if size != ADDRESS_BYTES:
        raise ValueError(f"{buffer.size} bytes are given for {size}, which is not a pointer")
    return buffer.address.to_bytes(size, "little")


def _hex(text: str, size: int) -> tuple[bytes, bytes]:
    digits = "".join(text.split()).removeprefix("0x").replace("_", "")
    pairs = [digits[i : i + 2] for i in range(0, len(digits), 2)]
    if not all(re.fullmatch(r"[0-9a-fA-F]{2}|\?\?", pair) for pair in pairs):
        raise ValueError(
            f'{text!r} is neither a number, nor "?", nor pairs of hexadecimal digits (?? for a byte not specified)'
        )
    if len(pairs) != size:
        raise ValueError(f"{text!r} has {len(pairs)} bytes for {size}")
    known = [pair != "??" for pair in pairs]
    return bytes(int(pair, 16) if specified else 0 for pair, specified in zip(pairs, known)), bytes(known)


def _elements(values: list[Any], size: int) -> tuple[bytes, bytes]:
    if not values or size % len(values) or size // len(values) not in (1, 2, 4, 8):
        raise ValueError(
            f"{len(values)} numbers do not share {size} bytes evenly; write a string of hexadecimal digits instead"
        )
    width = size // len(values)
    parts = [(_number(v, width, ""), b"\1" * width) if specified(v) else (b"\0" * width, b"\0" * width) for v in values]
    return b"".join(data for data, _ in parts), b"".join(known for _, known in parts)


def _number(value: Any, size: int, kind: str) -> bytes:
    if isinstance(value, Buffer):
        return _address(value, size)
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    if not isinstance(value, (bool, int, float)):
        raise ValueError(f"{value!r} is not a number")
    if kind == "float" or kind == "" and isinstance(value, float):
        if size not in _FLOAT_CODES or kind == "" and size == 2:  # ambiguous: __half or __nv_bfloat16
            raise ValueError(f"{value!r} cannot be put into {size} bytes; write a string of hexadecimal digits instead")
        try:
            return struct.pack(_FLOAT_CODES[size], value)
        except OverflowError:
            raise ValueError(f"{value!r} does not fit a float of {size} bytes") from None
    if isinstance(value, float):
        raise ValueError(f"{value!r} is not a whole number")
    if size not in (1, 2, 4, 8):
        raise ValueError(
            f"a structure of {size} bytes takes a list of numbers or a string of hexadecimal digits, not {value!r}"
        )
    if not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
        raise ValueError(f"{value} does not fit {size} bytes")
    return (value % (1 << (8 * size))).to_bytes(size, "little")
