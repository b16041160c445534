"""The contents of `__constant__` and `__device__` variables that a launch specifies, as cudaMemcpyToSymbol writes them.

    Launch("k", …, symbols={"pitch": 33, "table": np.arange(64, dtype="i4"), "other": "?"})

A number or a list of numbers is packed like a parameter of the variable's size. An array, a file or zeros specify its
first bytes, and the rest stays as in the file. "?" means that the contents differ from the file's and are unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxaudit.base.demangle import demangle, split_name
from ptxaudit.base.records import Record
from ptxaudit.frontend.launch.buffers import Buffer, Places
from ptxaudit.frontend.launch.kernel_names import same_name
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.parameters import encode, specified
from ptxaudit.ir import nodes as ir

if TYPE_CHECKING:
    import numpy as np


class Symbols(Record):
    """The specified contents of variables.

    constants: name of a variable -> (its first bytes, 1 for each that is specified), or None if its contents are
    unknown.
    variables: name of a variable in global memory -> (its address, its first bytes as uint8).
    """

    constants: dict[str, tuple[bytes, bytes] | None]
    variables: dict[str, tuple[int, np.ndarray]]


NOTHING_SPECIFIED = Symbols({}, {})


def symbols_of(launch: Launch, function: ir.Function) -> Symbols:
    """The contents that the launch specifies for the variables that the kernel can name.

    Raises InputError, at the launch's position, for a name that no variable has and for contents that do not fit.
    """
    constants: dict[str, tuple[bytes, bytes] | None] = {}
    variables: dict[str, tuple[int, np.ndarray]] = {}
    places = Places(list(launch.specified_buffers))
    for key, value in launch.symbols.items():
        variable = _variable(launch, function, key)
        content = _content(launch, variable, key, value) if specified(value) else None
        if variable.space != "global":
            constants[variable.name] = content
        elif content is not None:
            if not all(content[1]):
                raise launch.error(
                    f"symbol {key}: ?? is for bytes of constant memory",
                    "specify all bytes of a variable in global memory",
                )
            buffer = places.placed(value if isinstance(value, Buffer) else _bytes(content[0]), launch.file)
            variables[variable.name] = buffer.address, buffer.data
    return Symbols(constants, variables)


def _bytes(content: bytes) -> np.ndarray:
    import numpy as np

    return np.frombuffer(content, np.uint8)


def _content(launch: Launch, variable: ir.Variable, key: str, value: object) -> tuple[bytes, bytes]:
    if isinstance(value, Buffer):
        if value.size > variable.size:
            raise launch.error(
                f"symbol {key}: {value.size} bytes are given, but it has {variable.size}", "check its type"
            )
        return value.data.tobytes(), b"\1" * value.size
    try:
        return encode(value, variable.size, "")
    except ValueError as error:
        raise launch.error(f"symbol {key} ({variable.size} bytes): {error}") from None


def _variable(launch: Launch, function: ir.Function, key: str) -> ir.Variable:
    of_module = [v for v in function.variables if v.space == "global" or v.space.startswith("const") and v.rewritable]
    found = [v for v in of_module if same_name(v.name, key)]
    if len(found) == 1:
        return found[0]
    name = split_name(function.name)[0]
    if found:
        raise launch.error(f"{name} has several variables {key!r}", "write one of " + ", ".join(v.name for v in found))
    names = ", ".join(demangle(v.name) for v in of_module[:8])
    raise launch.error(
        f"{name} reads no __constant__ or __device__ variable {key!r}",
        f"it has {names}" if names else "the file names none",
    )
