"""Specified contents of memory that a launch's pointers point to, and the addresses assigned to them.

    params = [{file = "idx.npy"}, {values = [3, 1, 2], type = "i32"}, "?", 3]
    -> the parameters 0x700000000000, 0x700100001000, not specified, 3
       launch.buffers = ((0x700000000000, array([…], uint8)), (0x700100001000, array([3, 0, 0, 0, 1, …], uint8)))

A buffer holds the contents of memory when the kernel starts. Its address is invented: a multiple of 256, as from
cudaMalloc, with a gap between buffers, so that an out-of-bounds index into one does not fall into another. In a
recorded launch, memory keeps the addresses of the recorded program (`at_address`).
"""

from __future__ import annotations

import hashlib
import os
import tokenize
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxaudit.base import files, limits
from ptxaudit.base.errors import InputError

if TYPE_CHECKING:
    import numpy as np

ALIGNMENT = 256  # bytes, as cudaMalloc guarantees
FIRST_ADDRESS = 0x7000_0000_0000
GAP = 1 << 32  # bytes left free after each buffer
_OTHERWISE = 0x7FFF_FFFF_FF00  # all bits of an address above the alignment

TYPES = {f"{letter}{bits}": f"<{letter}{bits // 8}" for letter in "iu" for bits in (8, 16, 32, 64)}
TYPES |= {f"f{bits}": f"<f{bits // 8}" for bits in (16, 32, 64)}
_ZIP_MAGIC = b"PK"
# Exceptions that numpy raises for an invalid header, which it parses as a Python literal.
_UNREADABLE = (
    ValueError,
    EOFError,
    OSError,
    OverflowError,
    MemoryError,
    SyntaxError,
    TypeError,
    LookupError,
    AttributeError,
    RecursionError,
    tokenize.TokenError,
)
_LONGEST_WHY = 200  # characters of numpy's message
_CONTENTS = ("file", "values", "zeros")
_HINT = (
    'write {file = "idx.npy"}, {file = "idx.bin", type = "i32"}, {values = [3, 1, 2], type = "i32"} or {zeros = 256,'
    ' type = "i32"}'
)


@dataclass(frozen=True, eq=False)
class Buffer:
    """The contents of a memory buffer.

    data: its bytes, a read-only array of uint8.
    type, shape: of its elements ("i32", (1024,)).
    origin: the file it was read from, or None.
    address: its assigned address; 0 until it is placed. invented: it was assigned by `Places`, and may be another.
    """

    data: np.ndarray
    type: str
    shape: tuple[int, ...]
    origin: str | None = None
    address: int = 0
    invented: bool = False

    @property
    def size(self) -> int:
        """In bytes."""
        return self.data.size

    def record(self) -> dict[str, Any]:
        """Its entry in a report: a digest identifies the contents, which are not included."""
        return {
            "type": self.type,
            "shape": list(self.shape),
            "bytes": self.size,
            "file": self.origin,
            "sha256": hashlib.sha256(self.data.data).hexdigest(),
        }

    def __repr__(self) -> str:
        return f"Buffer({'x'.join(map(str, self.shape))} {self.type} at {self.address:#x})"


def is_buffer(value: Any) -> bool:
    """Whether a parameter's value specifies memory contents: a table of a launch file, a NumPy array, a tensor."""
    return (
        isinstance(value, (Buffer, Mapping)) or hasattr(value, "__array_interface__") and getattr(value, "ndim", 0) > 0
    )


def read(value: Any, launch_file: str | None = None) -> Buffer:
    """The contents that a parameter's value specifies. Files are relative to the folder of the launch file.

    Raises ValueError with a description of the error.
    """
    import numpy as np

    if isinstance(value, Buffer):
        return value
    if not isinstance(value, Mapping):
        return _buffer(np.asarray(value))
    if unknown := set(value) - {*_CONTENTS, "type"}:
        raise ValueError(f"a buffer has no key {sorted(unknown)[0]!r}; {_HINT}")
    if sum(key in value for key in _CONTENTS) != 1:
        raise ValueError(f"a buffer has either a file or values or zeros; {_HINT}")
    if "file" in value:
        return _from_file(value["file"], value.get("type"), launch_file)
    if "zeros" in value:
        return _zeros(value["zeros"], value.get("type", "i32"))
    return _from_values(value["values"], value.get("type"))


def at_address(value: Any, launch_file: str | None = None) -> Buffer:
    """The contents at an address: a table as for a pointer, with an additional address.

    Raises ValueError with a description of the error.
    """
    if not isinstance(value, Mapping) or "address" not in value:
        raise ValueError(f"{value!r} has no address")
    address = value["address"]
    if isinstance(address, bool) or not isinstance(address, int) or not 0 < address < 1 << 64:
        raise ValueError(f"address is {address!r}, not a number of 64 bits")
    rest = {key: one for key, one in value.items() if key != "address"}
    return replace(read(rest, launch_file), address=address)


def _zeros(count: Any, type: str) -> Buffer:
    import numpy as np

    dtype = np.dtype(_dtype(type))
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"zeros is {count!r}, not a number of elements")
    _check_size(count * dtype.itemsize)
    return _buffer(np.zeros(count, dtype), own=True)


def _dtype(name: Any) -> str:
    if name not in TYPES:
        raise ValueError(f"there is no type {name!r}: it is one of {', '.join(TYPES)}")
    return TYPES[name]


def _from_values(values: Any, name: str | None) -> Buffer:
    import numpy as np

    if not isinstance(values, (list, tuple)) or not values:
        raise ValueError(f"values is {values!r}, not a list of numbers")
    try:
        plain = np.array(values)
        if plain.dtype.kind not in "iufb":
            raise ValueError
        array = np.array(values, _dtype(name or ("f32" if plain.dtype.kind == "f" else "i32")))
    except OverflowError as error:
        raise ValueError(f"values do not fit {name or 'i32'}: {error}") from None
    except (ValueError, TypeError) as error:
        raise ValueError(
            str(error) if "there is no type" in str(error) else "values are not numbers in rows of one length"
        ) from None
    if plain.dtype.kind == "f" and array.dtype.kind != "f" and (plain != array).any():
        raise ValueError(f"values have fractions, which {name} cannot hold")
    return _buffer(array, own=True)


def _check_size(size: int) -> None:
    if size > limits.BUFFER.most:
        raise ValueError(f"{size:,} bytes are more than the {limits.BUFFER.most:,} of the limit `{limits.BUFFER.name}`")


def _from_file(name: Any, type: str | None, launch_file: str | None) -> Buffer:
    import numpy as np

    if not isinstance(name, (str, os.PathLike)):
        raise ValueError(f"file is {name!r}, not a path")
    folder = Path(launch_file).parent if launch_file and not launch_file.startswith("<") else Path()
    path = folder / name
    try:
        if path.suffix == ".npy":
            array = _loaded(path)
            if type is not None and array.dtype != np.dtype(_dtype(type)):
                raise ValueError(f"{path} has elements of {array.dtype}, not {type}")
        elif type is None:
            raise ValueError(
                f'{path} is not an .npy file: specify the type of its elements, {{file = "{name}", type = "i32"}}'
            )
        else:
            array = np.frombuffer(files.read_bytes(path, limits.BUFFER, regular=True), _dtype(type))
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    except InputError as error:
        raise ValueError(f"cannot read {path}: {error.what}") from None
    return _buffer(array, str(path))


def _loaded(path: Path) -> np.ndarray:
    """The array of an .npy file: mapped, so that a header with an excessive size takes no memory."""
    import numpy as np

    with files.opened(path, regular=True) as file:
        limits.BUFFER.check(os.fstat(file.fileno()).st_size, "the file is too long")
        if file.peek(len(_ZIP_MAGIC)).startswith(_ZIP_MAGIC):
            raise ValueError(
                f"cannot read {path}: this is an .npz archive of several arrays; save a single array with numpy.save"
            )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.lib.format.open_memmap(path, mode="r")
    except _UNREADABLE as error:
        why = (
            "it holds Python objects, which are never loaded: allow_pickle=False"
            if "Python objects" in str(error)
            else (f"this is not an .npy file, or it is truncated ({str(error).partition(chr(10))[0][:_LONGEST_WHY]})")
        )
        raise ValueError(f"cannot read {path}: {why}") from None


def _buffer(array: np.ndarray, origin: str | None = None, own: bool = False) -> Buffer:
    """own: the caller passes ownership of the array, so that it need not be copied."""
    import numpy as np

    if array.dtype.kind not in "iufbcV" or array.dtype.hasobject:
        raise ValueError(f"an array of {array.dtype} is not the contents of memory")
    if not array.size:
        raise ValueError("the array is empty")
    _check_size(array.nbytes)
    little = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
    data = little.reshape(-1).view(np.uint8)
    data = data if own else data.copy()
    data.flags.writeable = False
    name = next((name for name, code in TYPES.items() if np.dtype(code) == little.dtype), str(little.dtype))
    return Buffer(data, name, array.shape, origin)


def elsewhere(address: int) -> int:
    """Another address than an invented one, which differs in all its bytes but the lowest and the highest two."""
    return address ^ _OTHERWISE


class Places:
    """Assigns addresses to buffers, in order; the same object passed twice is one buffer."""

    def __init__(self, taken: list[Buffer]) -> None:
        self._next = max((one.address + one.size for one in taken), default=FIRST_ADDRESS - GAP)
        self._known: dict[int, Buffer] = {}
        self._kept: list[Any] = []  # keeps objects alive, so that no id is reused

    def placed(self, value: Any, launch_file: str | None) -> Buffer:
        """The buffer of a parameter's value, with its address. Raises ValueError like `read`."""
        if isinstance(value, Buffer) and value.address:
            return value
        if id(value) not in self._known:
            buffer = read(value, launch_file)
            address = -(-(self._next + GAP) // ALIGNMENT) * ALIGNMENT
            self._next = address + buffer.size
            self._kept.append(value)
            self._known[id(value)] = replace(buffer, address=address, invented=True)
        return self._known[id(value)]
