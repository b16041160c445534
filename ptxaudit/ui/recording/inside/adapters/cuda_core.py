"""cuda.core: the code from `Program.compile`, the kernels from `ObjectCode.get_kernel`, and their launches.

    launch(stream, config, kernel, *arguments)

The arguments are read as `launch` itself packs them, by its `ParamHolder`: an array of addresses, one per parameter,
whose sizes the driver knows (`Kernel.arguments_info`). Numba-CUDA launches its kernels through this, too.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections import deque
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ptxaudit.ui.recording.inside.hooks import Patches
from ptxaudit.ui.recording.inside.log import Code, Dims, Site
from ptxaudit.ui.recording.inside.memory import Extent, is_pointer
from ptxaudit.ui.recording.inside.recorder import Recorder, Seen
from ptxaudit.ui.recording.inside.values import ALIGNED, bits

NAME, PACKAGE, DISTRIBUTIONS = "cuda.core", "cuda.core", ("cuda-core",)
KNOWN = ("0.3", "2")

SUFFIXES = {"cubin": ".cubin", "ptx": ".ptx", "fatbin": ".fatbin"}
_ADDRESS_BYTES = 8
_NUMBERS = frozenset((int, float, bool, complex))
MOST_KEPT = 1024  # objects
_LOW = 1 << 32  # a smaller number is never taken for an address


class _ByIdentity:
    """A map from objects, by identity, that keeps a value as long as its object lives.

    Objects are not compared: hashing an ObjectCode loads it, and a kernel is equal to another with the same name,
    which may die earlier. Objects without weak references are kept alive, the latest MOST_KEPT of them.
    """

    def __init__(self) -> None:
        self._values: dict[int, tuple[Callable[[], Any], Any]] = {}
        self._kept: deque[int] = deque()

    def get(self, one: Any) -> Any:
        found = self._values.get(id(one))
        return found[1] if found is not None and found[0]() is one else None

    def put(self, one: Any, value: Any) -> None:
        number = id(one)
        try:
            self._values[number] = weakref.ref(one, lambda gone: self._values.pop(number, None)), value
        except TypeError:
            self._keep(number, one, value)

    def _keep(self, number: int, one: Any, value: Any) -> None:
        if number not in self._values:
            self._kept.append(number)
        self._values[number] = (lambda: one), value
        if len(self._kept) > MOST_KEPT:
            del self._values[self._kept.popleft()]


_kernels, _codes = _ByIdentity(), _ByIdentity()


class _Found:
    """A kernel and its code. sizes: of its parameters, in bytes, once queried."""

    def __init__(self, code: Code | None, name: str, recorder: Recorder) -> None:
        self.code, self.name, self.seen = code, name, Seen(recorder)
        self.sizes: list[int] | None = None
        self.sites: dict[Any, Site] = {}


def attach(module: ModuleType, recorder: Recorder, patches: Patches) -> str | None:
    part = module.__name__.rpartition(".")[2]
    {"_module": _watch_kernels, "_program": _watch_programs, "_launcher": _watch_launches}[part](
        module, recorder, patches
    )
    return None


def _watch_programs(module: ModuleType, recorder: Recorder, patches: Patches) -> None:
    compile_ = module.Program.compile

    def compile(program: Any, *arguments: Any, **named: Any) -> Any:
        made = compile_(program, *arguments, **named)
        recorder.guarded("code of cuda.core", lambda: recorder.compiled(_code(made)))
        return made

    patches.set(module.Program, "compile", compile)


def _watch_kernels(module: ModuleType, recorder: Recorder, patches: Patches) -> None:
    get = module.ObjectCode.get_kernel

    def get_kernel(code: Any, name: Any) -> Any:
        kernel = get(code, name)
        recorder.guarded("a kernel of cuda.core", lambda: _remember(kernel, code, name, recorder))
        return kernel

    patches.set(module.ObjectCode, "get_kernel", get_kernel)


def _watch_launches(module: ModuleType, recorder: Recorder, patches: Patches) -> None:
    launch_ = module.launch

    def launch(stream: Any, config: Any, kernel: Any, *arguments: Any) -> Any:
        if not recorder.logs:
            return launch_(stream, config, kernel, *arguments)
        found = _kernels.get(kernel)
        key = None if found is None else _key(config, arguments)
        counted = None if found is None else found.seen.get(key)
        if counted is not None:
            out = launch_(stream, config, kernel, *arguments)
            for one in counted:
                one.again()
            return out
        tokens = recorder.guarded(
            "a launch of cuda.core", lambda: _begin(recorder, found, stream, config, kernel, arguments)
        )
        out = launch_(stream, config, kernel, *arguments)
        if found is not None:
            found.seen.add(key, tokens)
        return out

    launch.__doc__ = launch_.__doc__
    patches.set_everywhere(module, "launch", launch)


def _remember(kernel: Any, code: Any, name: Any, recorder: Recorder) -> None:
    mangled = _symbols(code).get(name, name)
    mangled = mangled.decode() if isinstance(mangled, bytes) else str(mangled)
    _kernels.put(kernel, _Found(_code(code), mangled, recorder))


def _symbols(code: Any) -> dict[Any, Any]:
    found = getattr(code, "symbol_mapping", None)
    return dict(getattr(code, "_sym_map", None) or {}) if found is None else found


def _code(made: Any) -> Code | None:
    """The code of an ObjectCode, or None if it is linked or compiled further before it is launched."""
    known: Code | None = _codes.get(made)
    if known is not None:
        return known
    suffix = SUFFIXES.get(str(getattr(made, "code_type", "") or getattr(made, "_code_type", "")))
    data = made.code if suffix else None
    if isinstance(data, (str, os.PathLike)):
        with open(data, "rb") as file:
            data = file.read()
    if data and suffix == ".ptx":
        data = (data.encode() if isinstance(data, str) else bytes(data)).rstrip(b"\0")
    code = Code(bytes(data), suffix, NAME) if suffix and data else None
    _codes.put(made, code)
    return code


def _key(config: Any, arguments: tuple[Any, ...]) -> Any:
    """A key that is equal for launches that are recorded as one, or None if they must be examined in full."""
    key = [config.grid, config.block, config.cluster, config.shmem_size]
    try:
        for argument in arguments:
            kind = argument.__class__
            if kind in _NUMBERS or kind.__module__ == "numpy":
                key.append((kind, bits(argument)))
            else:
                key.append((kind, int(argument.handle) & ALIGNED))
        hash(out := tuple(key))
        return out
    except Exception:
        return None


def _begin(
    recorder: Recorder, found: _Found | None, stream: Any, config: Any, kernel: Any, arguments: tuple[Any, ...]
) -> Any:
    if found is None or found.code is None:
        recorder.note(
            "a kernel was launched through cuda.core whose code was not seen: start recording before it is created, or"
            " record through the driver (--via driver)"
        )
        return None
    if found.sizes is None:
        found.sizes = _sizes(kernel)
    kinds, values, extents = _parameters(found.sizes, arguments)
    grid, cluster = _shape(config)
    block = _three(config.block)
    key = (kinds, cluster)
    site = found.sites.get(key)
    if site is None:
        site = found.sites[key] = Site(found.code, found.name, kinds, None, cluster)
    number = _number(getattr(stream, "handle", 0)) if recorder.wants_arrays else 0
    shared = int(config.shmem_size or 0)
    return recorder.begin(site, grid, values, block, shared, extents if recorder.wants_arrays else (), number)


def _sizes(kernel: Any) -> list[int]:
    """The size of each parameter, in bytes; empty if the driver does not know."""
    try:
        return [int(info.size) for info in kernel.arguments_info]
    except Exception:  # a driver before 12.4: parameters are not recorded
        return []


def _parameters(sizes: list[int], arguments: tuple[Any, ...]) -> tuple[tuple[str, ...], list[Any], list[Extent]]:
    """Kinds and values of the parameters, and the memory that they point to."""
    from importlib import import_module

    if not arguments or len(arguments) != len(sizes):
        return (), [], []
    home = "cuda.core" if "cuda.core._kernel_arg_handler" in _modules() else "cuda.core.experimental"
    holder = import_module(f"{home}._kernel_arg_handler").ParamHolder(arguments)
    places = (ctypes.c_void_p * len(sizes)).from_address(int(holder.ptr))
    kinds: list[str] = []
    values: list[Any] = []
    extents: list[Extent] = []
    for place, size, argument in zip(places, sizes, arguments):
        data = ctypes.string_at(place, size)
        number = int.from_bytes(data, "little")
        extent = _extent(argument, number) if size == _ADDRESS_BYTES else None
        if extent is not None:
            extents.append(extent)
        kinds.append("p" if extent is not None else "b")
        values.append(number if extent is not None else data)
    return tuple(kinds), values, extents


def _modules() -> Any:
    import sys

    return sys.modules


def _extent(argument: Any, number: int) -> Extent | None:
    """The memory that a parameter points to, or None if it is not a pointer."""
    size = getattr(argument, "size", None)
    if hasattr(argument, "handle") and isinstance(size, int):  # a Buffer
        return Extent(number, size)
    if not isinstance(argument, int) or number < _LOW or not is_pointer(number):
        return None
    return Extent(number)


def _shape(config: Any) -> tuple[Dims, Dims | None]:
    """(grid in blocks, cluster): for a launch with clusters, as cuda.core passes it to the driver."""
    if not config.cluster:
        return _three(config.grid), None
    from importlib import import_module

    native = import_module(type(config).__module__)._to_native_launch_config(config)
    return (native.gridDimX, native.gridDimY, native.gridDimZ), _three(config.cluster)


def _three(dims: Any) -> Dims:
    numbers = (dims,) if isinstance(dims, int) else tuple(dims)
    x, y, z = (*map(int, numbers), 1, 1)[:3]
    return x, y, z


def _number(handle: Any) -> int:
    try:
        return int(handle)
    except (TypeError, ValueError):
        return 0
