"""A launch of a kernel: its grid, block and parameters, checked against CUDA's limits.

    Launch("gemm", grid=(4, 2), block=(16, 16), params=[None, None, 1024])

`launch_file` reads and writes launches as TOML, `parameters` packs the values into the bytes
that the kernel sees.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from ptxaudit.base.demangle import demangle, split_name
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.launch.buffers import Buffer, Places, is_buffer
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
)  # bytes of a block, on sm_90 and sm_100: "Technical Specifications per Compute Capability" of the guide
MAX_CLUSTER = 16  # blocks; more than 8 only where a kernel allows the non-portable size

Dims = tuple[int, int, int]


@dataclass(frozen=True)
class Launch:
    """One launch. kernel: a mangled or demangled name, or a glob.

    grid, block, cluster: 1 to 3 numbers, kept as three; None (or "?") where not told.
    dynamic_shared: bytes; None (or "?") where not told.
    params: values by position; None (or "?") for a pointer or a value that is not told. What a pointer
    points to is told by a NumPy array, or a table as launch files have it; kept as `buffers.Buffer`.
    named: single values by position or PTX name: {"3": 1024}; by the source's names after `with_positions`.
    param_bytes: the raw parameter buffer, instead of params; bytes, or hexadecimal digits.
    symbols: what `__constant__` and `__device__` variables hold when the kernel starts, by name: a number, a list of
    numbers, or contents as of a pointer; "?" where the host has written what is not told.
    file, line: where it was read, for messages. label: what its maker finds it again by.
    Raises InputError for what CUDA would refuse to launch.
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
    file: str | None = field(default=None, compare=False)
    line: int | None = field(default=None, compare=False)
    label: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        put = lambda name, value: object.__setattr__(self, name, value)  # frozen: fields are normalised once, here
        if not isinstance(self.kernel, str) or not self.kernel.strip():
            raise self.error("a launch needs the name of a kernel", 'or kernel = "*" for all of them')
        for name in ("grid", "block", "cluster"):
            put(name, self._dims(name, getattr(self, name)))
        self._check_limits()
        if self.dynamic_shared == "?":
            put("dynamic_shared", None)
        dynamic = self.dynamic_shared
        if dynamic is not None and (isinstance(dynamic, bool) or not isinstance(dynamic, int) or dynamic < 0):
            raise self.error(
                f"dynamic_shared is {dynamic!r}, not a number of bytes",
                "write it as bytes: dynamic_shared = 2048",
                "dynamic_shared",
            )
        if self.params is not None:
            if isinstance(self.params, (str, bytes)) or not isinstance(self.params, Sequence):
                raise self.error(
                    f"params is {self.params!r}, not a list",
                    'write one value for each parameter: params = ["?", 1024]',
                    "params",
                )
            put("params", tuple(tuple(value) if isinstance(value, list) else value for value in self.params))
        if isinstance(self.param_bytes, str):
            put("param_bytes", self._hex(self.param_bytes))
        if self.params is not None and self.param_bytes is not None:
            raise self.error("both params and param_bytes are given", "keep one of the two", "params")
        if not isinstance(self.symbols, Mapping):
            raise self.error(
                f"symbols is {self.symbols!r}, not names with values", "write it as symbols = {pitch = 33}", "symbols"
            )
        places = Places(list(self.told_buffers))
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

    def error(self, what: str, hint: str = "", setting: str = "") -> InputError:
        """An InputError at the place that this launch was read from, about one of its settings."""
        return InputError(what, hint, self.file, self.line, setting=setting)

    def _placed(self, value: Any, name: str, setting: str, places: Places) -> Any:
        """A value, what is told of memory as a Buffer with its address."""
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

    @property
    def buffers(self) -> tuple[tuple[int, np.ndarray], ...]:
        """(address, bytes) of each buffer that is told: what memory holds there when the kernel starts.
        The bytes are a read-only array of uint8; the addresses are those in the parameters; no two overlap."""
        in_symbols = tuple(value for value in self.symbols.values() if isinstance(value, tuple))
        found = {one.address: one.data for one in _buffers_in((self.params, tuple(self.named.values()), in_symbols))}
        return tuple(sorted(found.items(), key=lambda pair: pair[0]))

    @property
    def told_buffers(self) -> Iterator[Buffer]:
        """What is told as the contents of memory: `buffers`, and what variables hold."""
        return _buffers_in((self.params, tuple(self.named.values()), tuple(self.symbols.values())))

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
                    "leave out the dimensions that are not used",
                    name,
                )
        ones = (1,) * (len(DIMENSIONS) - len(numbers))
        return tuple(int(number) for number in numbers) + ones  # type: ignore[return-value]

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
                        "CUDA refuses such a launch",
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
    def _pattern(self) -> str:
        return _squeeze(self.kernel)

    def matches(self, kernel: str) -> bool:
        """Whether this launch is of the kernel with that mangled name."""
        return any(name == self._pattern or fnmatchcase(name, self._pattern) for name in names_of(kernel))

    def refused_by(self, function: ir.Function) -> tuple[str, ...]:
        """Why CUDA would not launch this kernel so, a sentence each: its launch bounds, its shared memory."""
        why = []
        if self.block is not None:
            threads, shape = prod(self.block), "x".join(map(str, self.block))
            if function.block is not None and function.block != self.block:
                why.append(
                    f"the kernel is compiled for blocks of {'x'.join(map(str, function.block))} threads, not of {shape}"
                )
            elif function.max_threads is not None and threads > function.max_threads:
                why.append(
                    f"the kernel is compiled for at most {function.max_threads} threads a block (__launch_bounds__),"
                    f" and this has {threads}"
                )
        shared = function.shared_static + (self.dynamic_shared or 0)
        if shared > MOST_SHARED:
            why.append(f"no block has {shared:,} bytes of shared memory: {MOST_SHARED:,} is the most of any GPU")
        return tuple(f"CUDA would refuse this launch: {sentence}" for sentence in why)

    def buffer(self, function: ir.Function) -> tuple[bytes, bytes]:
        """The kernel's parameter buffer, and for each of its bytes 1 where it is told, else 0.

        Raises InputError for too few or too many parameters and for values that do not fit.
        """
        from ptxaudit.frontend.launch.parameters import pack

        return pack(self, function)


def _buffers_in(value: Any) -> Iterator[Buffer]:
    if isinstance(value, Buffer):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _buffers_in(item)


def _squeeze(name: str) -> str:
    """Without blanks: the demangler writes `gemm<float, 8>`, people `gemm<float,8>`."""
    return "".join(name.split())


def names_of(kernel: str) -> list[str]:
    """The spellings by which a kernel can be named, without blanks:
    mangled, demangled, without parameters, without template arguments."""
    head, _ = split_name(kernel)
    bare = head[: _template_start(head)]
    return list(dict.fromkeys(_squeeze(name) for name in (kernel, demangle(kernel), head, bare)))


def _template_start(head: str) -> int:
    """Where the template arguments of the last name begin: 10 for "ns::A<1>::k<float>"."""
    depth = 0
    if not head.endswith(">"):
        return len(head)
    for index in range(len(head) - 1, -1, -1):
        depth += {">": 1, "<": -1}.get(head[index], 0)
        if depth == 0:
            return index
    return len(head)


def same_name(name: str, key: str) -> bool:
    """Whether a user may mean the variable with that mangled name."""
    return _squeeze(key) in (name, _squeeze(demangle(name)))


def match(launches: Iterable[Launch], kernel: str) -> list[Launch]:
    """The launches of the kernel with that mangled name, in order: each is a result of its own."""
    return [launch for launch in launches if launch.matches(kernel)]


def without_kernel(launches: Iterable[Launch], kernels: Sequence[str]) -> list[InputError]:
    """An error for each launch that is of none of these kernels (mangled names)."""
    known = {name: split_name(name)[0] for name in kernels}
    errors = []
    for launch in launches:
        if any(launch.matches(name) for name in kernels):
            continue
        close = difflib.get_close_matches(launch.kernel, known.values(), n=1, cutoff=0.5)
        hint = (
            f"did you mean {close[0]}?"
            if close
            else "its kernels are " + (", ".join(list(known.values())[:8]) or "none")
        )
        errors.append(launch.error(f"there is no kernel {launch.kernel!r}", hint))
    return errors
