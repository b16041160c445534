"""A launch of a kernel: its grid, block and parameters, checked against CUDA's limits.

    Launch("gemm", grid=(4, 2), block=(16, 16), params=[None, None, 1024])

`launch_file` reads and writes launches as TOML; `parameters` packs the values into the bytes that the kernel sees.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING, Any

from ptxaudit.base.errors import InputError
from ptxaudit.base.exact import exactly
from ptxaudit.frontend.launch.buffers import Buffer, Places, at_address, elsewhere, is_buffer
from ptxaudit.frontend.launch.kernel_names import matches, names_of, squeeze
from ptxaudit.frontend.launch.parameters import pack
from ptxaudit.ir import nodes as ir

if TYPE_CHECKING:
    import numpy as np

DIMENSIONS = "xyz"

# CUDA C Programming Guide, "Features and Technical Specifications per Compute Capability".
MAX_THREADS = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MOST_SHARED = (
    227 << 10
)  # bytes per block on sm_90 and sm_100: "Technical Specifications per Compute Capability" of the guide
MAX_CLUSTER = 16  # blocks; more than 8 only if a kernel allows the non-portable size

Dims = tuple[int, int, int]


@dataclass(frozen=True)
class Launch:
    """One launch.

    kernel: a mangled or demangled name, or a glob.
    grid, block, cluster: 1 to 3 numbers, stored as three; None (or "?") if not specified.
    dynamic_shared: bytes; None (or "?") if not specified.
    params: values by position; None (or "?") for a pointer or value that is not specified. A NumPy array, or a table
    as in launch files, specifies the memory that a pointer points to; stored as `buffers.Buffer`.
    named: single values by position or PTX name: {"3": 1024}; by the source's names after `with_positions`.
    param_bytes: the raw parameter buffer, instead of params: bytes, or hexadecimal digits.
    symbols: the contents of `__constant__` and `__device__` variables when the kernel starts, by name: a number, a
    list of numbers, or contents as for a pointer; "?" if the host has written unspecified contents.
    memory: the contents of memory at real addresses when the kernel starts, for pointers specified as numbers: tables
    as for a pointer with an additional `address`; stored as `buffers.Buffer`.
    code: the kernel's file, if kernels of the same name are in several files; None = any.
    count: the number of recorded launches that are equal to this one.
    file, line: where it was read, for messages.
    label: identifies the launch for its creator.

    Raises InputError for a launch that CUDA would reject.
    """

    kernel: str = "*"
    grid: Dims | None = None
    block: Dims | None = None
    cluster: Dims | None = None
    dynamic_shared: int | None = None
    params: tuple[Any, ...] | None = None
    param_bytes: bytes | None = None
    named: Mapping[str, Any] = field(default_factory=dict, hash=False)
    symbols: Mapping[str, Any] = field(default_factory=dict, hash=False)
    memory: tuple[Buffer, ...] = field(default=(), hash=False)
    code: str | None = None
    count: int | None = None
    file: str | None = field(default=None, compare=False)
    line: int | None = field(default=None, compare=False)
    label: Any = field(default=None, compare=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Launch):
            return NotImplemented
        names = [one.name for one in fields(self) if one.compare]
        return all(exactly(getattr(self, name)) == exactly(getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        return hash((self.kernel, self.grid, self.block, self.cluster, exactly(self.params), self.param_bytes))

    def __post_init__(self) -> None:
        put: Callable[[str, Any], None] = partial(object.__setattr__, self)  # frozen: fields are normalised only here
        if not isinstance(self.kernel, str) or not self.kernel.strip():
            raise self.error("a launch needs the name of a kernel", 'or kernel = "*" for all of them')
        for name in ("grid", "block", "cluster"):
            put(name, self._dims(name, getattr(self, name)))
        self._check_limits()
        self._check_dynamic(put)
        self._check_params(put)
        if isinstance(self.param_bytes, str):
            put("param_bytes", self._hex(self.param_bytes))
        if self.params is not None and self.param_bytes is not None:
            raise self.error("both params and param_bytes are given", "keep one of the two", "params")
        if not isinstance(self.symbols, Mapping):
            raise self.error(
                f"symbols is {self.symbols!r}, not names with values", "write it as symbols = {pitch = 33}", "symbols"
            )
        self._check_origin()
        put("memory", tuple(self._at_address(value) for value in self.memory))
        places = Places(list(self.specified_buffers))
        if self.params is not None:
            put(
                "params",
                tuple(self._placed(value, f"params[{at}]", "params", places) for at, value in enumerate(self.params)),
            )
        put(
            "named",
            {str(key): self._placed(value, f"parameter {key}", "", places) for key, value in self.named.items()},
        )
        put(
            "symbols",
            {
                str(key): self._placed(
                    tuple(value) if isinstance(value, list) else value, f"symbol {key}", "symbols", places
                )
                for key, value in self.symbols.items()
            },
        )
        self._check_memory()

    def _check_dynamic(self, put: Callable[[str, Any], None]) -> None:
        dynamic: Any = self.dynamic_shared
        if dynamic == "?":
            put("dynamic_shared", dynamic := None)
        if dynamic is not None and (isinstance(dynamic, bool) or not isinstance(dynamic, int) or dynamic < 0):
            raise self.error(
                f"dynamic_shared is {dynamic!r}, not a number of bytes",
                "write it as bytes: dynamic_shared = 2048",
                "dynamic_shared",
            )

    def _check_params(self, put: Callable[[str, Any], None]) -> None:
        if self.params is not None:
            if isinstance(self.params, (str, bytes)) or not isinstance(self.params, Sequence):
                raise self.error(
                    f"params is {self.params!r}, not a list",
                    'write one value for each parameter: params = ["?", 1024]',
                    "params",
                )
            put("params", tuple(tuple(value) if isinstance(value, list) else value for value in self.params))

    def error(self, what: str, hint: str = "", setting: str = "") -> InputError:
        """An InputError about one of the settings, at the position that this launch was read from."""
        return InputError(what, hint, self.file, self.line, setting=setting)

    def _placed(self, value: Any, name: str, setting: str, places: Places) -> Any:
        """A value with its memory contents replaced by Buffers that have addresses."""
        if isinstance(value, tuple):
            return tuple(self._placed(item, name, setting, places) for item in value)
        if not is_buffer(value):
            return value
        try:
            return places.placed(value, self.file)
        except ValueError as error:
            raise self.error(
                f"{name}: {error}",
                'a parameter is a number, "?", or the contents of a buffer: {file = …}, {values = […]}, {zeros = N};'
                " files are relative to the launch file",
                setting,
            ) from None

    def _check_origin(self) -> None:
        """Checks the origin of the launch: the file of its kernel, how often it was seen, and memory contents."""
        if self.code is not None and (not isinstance(self.code, str) or not self.code.strip()):
            raise self.error(f"code is {self.code!r}, not the path of a file", 'write it as code = "k.cubin"', "code")
        count = self.count
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
            raise self.error(f"count is {count!r}, not a number of launches", "write it as count = 12", "count")
        if not isinstance(self.memory, (list, tuple)):
            raise self.error(
                f"memory is {self.memory!r}, not a list",
                'write it as memory = [{address = 0x7f0000000000, file = "in.npy"}]',
                "memory",
            )

    def _at_address(self, value: Any) -> Buffer:
        """The specified contents of memory at an address."""
        if isinstance(value, Buffer):
            return value
        try:
            return at_address(value, self.file)
        except ValueError as error:
            raise self.error(
                f"memory: {error}", 'write it as memory = [{address = 0x7f0000000000, file = "in.npy"}]', "memory"
            ) from None

    def _check_memory(self) -> None:
        """Checks that entries of memory do not overlap, and are not mixed with buffers at invented addresses."""
        if not self.memory:
            return
        ordered = sorted(self.memory, key=lambda one: one.address)
        for one, other in zip(ordered, ordered[1:]):
            if other.address < one.address + one.size:
                raise self.error(
                    f"memory: the entry at {other.address:#x} begins inside the {one.size:,} bytes at {one.address:#x}",
                    "specify each byte once",
                    "memory",
                )
        if sum(1 for _ in self.specified_buffers) > len(self.memory):
            raise self.error(
                "memory has contents at real addresses, but a parameter or symbol has contents without an address",
                "write the pointer as a number, and its contents as an entry of memory",
                "memory",
            )

    @property
    def buffers(self) -> tuple[tuple[int, np.ndarray], ...]:
        """(address, bytes) of each specified buffer: the contents of memory when the kernel starts.

        The bytes are a read-only array of uint8; the addresses are those in the parameters; no two buffers overlap.
        """
        in_symbols = tuple(value for value in self.symbols.values() if isinstance(value, tuple))
        places = (self.params, tuple(self.named.values()), in_symbols, self.memory)
        found = {one.address: one.data for one in _buffers_in(places)}
        return tuple(sorted(found.items(), key=lambda pair: pair[0]))

    @property
    def invents_addresses(self) -> bool:
        """Whether the address of any of `buffers` is invented."""
        return any(isinstance(one, Buffer) and one.invented for one in self.specified_buffers)

    @property
    def specified_buffers(self) -> Iterator[Buffer]:
        """All specified memory contents: `buffers`, and the contents of variables."""
        return _buffers_in((self.params, tuple(self.named.values()), tuple(self.symbols.values()), self.memory))

    def _dims(self, name: str, value: Any) -> Dims | None:
        if value is None or value == "?":
            return None
        numbers = (value,) if isinstance(value, int) else value
        if isinstance(numbers, str) or not isinstance(numbers, Sequence) or not 1 <= len(numbers) <= len(DIMENSIONS):
            raise self.error(f"{name} is {value!r}, not 1 to 3 numbers", f"write it as {name} = [32, 8]", name)
        numbers = tuple(numbers)
        for axis, number in zip(DIMENSIONS, numbers):
            if isinstance(number, bool) or not hasattr(number, "__index__"):
                raise self.error(
                    f"{name}.{axis} is {number!r}, not a whole number", f"write it as {name} = [32, 8]", name
                )
            if number < 1:
                raise self.error(
                    f"{name}.{axis} is {number}; it must be at least 1",
                    "leave out unused dimensions",
                    name,
                )
        x, y, z = [*map(int, numbers), *[1] * (len(DIMENSIONS) - len(numbers))]
        return x, y, z

    def _check_limits(self) -> None:
        for name, dims, limits in (("block", self.block, MAX_BLOCK), ("grid", self.grid, MAX_GRID)):
            for axis, number, limit in zip(DIMENSIONS, dims or (), limits):
                if number > limit:
                    raise self.error(
                        f"{name}.{axis} is {number}; CUDA allows at most {limit}",
                        "check the order of the dimensions",
                        name,
                    )
        if self.block and prod(self.block) > MAX_THREADS:
            shape = " x ".join(map(str, self.block))
            raise self.error(
                f"a block of {shape} has {prod(self.block)} threads; CUDA allows at most {MAX_THREADS}",
                "make the block smaller",
                "block",
            )
        if self.cluster:
            if prod(self.cluster) > MAX_CLUSTER:
                raise self.error(
                    f"a cluster of {prod(self.cluster)} blocks; CUDA allows at most {MAX_CLUSTER}",
                    "make the cluster smaller",
                    "cluster",
                )
            for axis, blocks, cluster in zip(DIMENSIONS, self.grid or (), self.cluster):
                if blocks % cluster:
                    raise self.error(
                        f"grid.{axis} = {blocks} is not a multiple of cluster.{axis} = {cluster}",
                        "CUDA rejects such a launch",
                        "grid",
                    )

    def _hex(self, text: str) -> bytes:
        try:
            return bytes.fromhex(text.removeprefix("0x"))
        except ValueError:
            raise self.error(
                "param_bytes is not pairs of hexadecimal digits",
                'write it as param_bytes = "00e0a4f7 10000000"',
                "param_bytes",
            ) from None

    @cached_property
    def pattern(self) -> str:
        """The kernel's name, which may have wildcards, without blanks."""
        return squeeze(self.kernel)

    def matches(self, kernel: str) -> bool:
        """Whether this launch is of the kernel with that mangled name."""
        return matches(self.pattern, names_of(kernel))

    def may_be_of(self, path: str) -> bool:
        """Whether this launch may be of a kernel in the file with that path."""
        return self.code is None or self.code == path or self._real_code == os.path.realpath(path)

    @cached_property
    def _real_code(self) -> str:
        return os.path.realpath(self.code or "")

    def refused_by(self, function: ir.Function) -> tuple[str, ...]:
        """Why CUDA would reject this launch of the kernel, one sentence each: its launch bounds, its shared memory."""
        why = []
        if self.block is not None:
            threads, shape = prod(self.block), "x".join(map(str, self.block))
            if function.block is not None and function.block != self.block:
                why.append(
                    f"the kernel is compiled for blocks of {'x'.join(map(str, function.block))} threads, not of {shape}"
                )
            elif function.max_threads is not None and threads > function.max_threads:
                why.append(
                    f"the kernel is compiled for at most {function.max_threads} threads per block (__launch_bounds__),"
                    f" but this has {threads}"
                )
        shared = function.shared_static + (self.dynamic_shared or 0)
        if shared > MOST_SHARED:
            why.append(f"no block has {shared:,} bytes of shared memory: {MOST_SHARED:,} is the largest on any GPU")
        return tuple(f"CUDA would reject this launch: {sentence}" for sentence in why)

    def elsewhere(self) -> Launch:
        """This launch with its buffers at other invented addresses (`buffers.elsewhere`)."""
        return self._with_buffers(lambda one: replace(one, address=elsewhere(one.address)))

    def without_buffers(self) -> Launch:
        """This launch without the numbers of pointers to buffers at invented addresses."""
        changed = self._with_buffers(lambda one: "?")
        contents = {key: value for key, value in self.symbols.items() if isinstance(value, Buffer)}  # of variables
        return replace(changed, symbols={**changed.symbols, **contents})

    def _with_buffers(self, change: Callable[[Buffer], Any]) -> Launch:
        return replace(
            self,
            params=_changed(self.params, change),
            named={key: _changed(value, change) for key, value in self.named.items()},
            symbols={key: _changed(value, change) for key, value in self.symbols.items()},
        )

    def buffer(self, function: ir.Function) -> tuple[bytes, bytes]:
        """The kernel's parameter buffer, and for each of its bytes 1 if it is specified, else 0.

        Raises InputError for too few or too many parameters and for values that do not fit.
        """
        return pack(self, function)


def _changed(value: Any, change: Callable[[Buffer], Any]) -> Any:
    """A value with another one for each buffer at an invented address."""
    if isinstance(value, Buffer):
        return change(value) if value.invented else value
    return tuple(_changed(item, change) for item in value) if isinstance(value, tuple) else value


def _buffers_in(value: Any) -> Iterator[Buffer]:
    if isinstance(value, Buffer):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _buffers_in(item)


def completed(launch: Launch, compiled: Launch) -> Launch:
    """A launch whose open settings are taken from those that a compiler fixed for all launches of its kernel."""
    fields = ("block", "cluster", "dynamic_shared")
    open_ = {name: getattr(compiled, name) for name in fields if getattr(launch, name) is None}
    return replace(launch, **open_)
