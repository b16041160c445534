"""CuPy: every module that it loads and every launch, through subclasses of its own classes.

    cupy.cuda.function.Module.load(code), .get_function(name)
    Function(grid, block, arguments, shared_mem, stream, …), Function.linear_launch(size, arguments, …)

RawKernel, RawModule, ElementwiseKernel, ReductionKernel, fused and JIT kernels all compile through
cupy/cuda/compiler.py, which creates a `function.Module`, and launch through a Function of that module. Both are
extension classes whose methods a subclass can override. `_pointer` in cupy/cuda/function.pyx defines how an argument
becomes a parameter.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from ptxaudit.ui.recording.inside.hooks import Patches
from ptxaudit.ui.recording.inside.log import Code, Dims, Site
from ptxaudit.ui.recording.inside.memory import Extent
from ptxaudit.ui.recording.inside.recorder import Recorder, Seen
from ptxaudit.ui.recording.inside.values import ALIGNED, bits

NAME, PACKAGE, DISTRIBUTIONS = "CuPy", "cupy", ("cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x")
KNOWN = ("13", "15")

ELF = b"\x7fELF"
_TABLES = struct.Struct("<32xQQ6xHHHH2x")  # of an ELF header
_NUMBERS = frozenset((int, float, bool, complex))
_MOST_BLOCKS = 0x7FFFFFFF  # in a linear launch
_source = threading.local()  # of the module being compiled


def attach(module: ModuleType, recorder: Recorder, patches: Patches) -> str | None:
    function: Any = module.function
    compile_ = module._compile_with_cache_cuda

    def compiled(source: Any, *arguments: Any, **named: Any) -> Any:
        _source.text = source if isinstance(source, str) else None
        try:
            return compile_(source, *arguments, **named)
        finally:
            _source.text = None

    # Other extension modules use the original classes: only modules created by the compiler are subclassed.
    patches.set(module, "_compile_with_cache_cuda", compiled)
    patches.set(module, "function", _Beside(function, Module=_module_class(function, recorder)))
    return None


class _Beside:
    """A module with some of its names replaced."""

    def __init__(self, module: Any, **names: Any) -> None:
        self._module = module
        self.__dict__.update(names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _module_class(function: Any, recorder: Recorder) -> type:
    """A subclass of CuPy's Module that records its code, and whose kernels record their launches."""
    module_type, Function = function.Module, _function_class(function.Function, recorder)

    class Module(module_type):  # type: ignore[misc, valid-type]
        """A module that records its code."""

        _ptxaudit_code: Code | None = None

        def load(self, code: Any) -> Any:
            out = super().load(code)
            self._ptxaudit_code = recorder.guarded("code of CuPy", lambda: _code(code))
            recorder.compiled(self._ptxaudit_code)
            return out

        def get_function(self, name: Any) -> Any:
            found = Function(self, name.decode() if isinstance(name, bytes) else name)
            found._ptxaudit_seen = Seen(recorder)
            found._ptxaudit_kernel = (self._ptxaudit_code, name.decode() if isinstance(name, bytes) else name)
            return found

    return _named_as(Module, module_type)


def _function_class(function_type: Any, recorder: Recorder) -> Any:
    """A subclass of CuPy's Function whose launches are recorded."""

    class Function(function_type):  # type: ignore[misc]
        """A kernel that records its launches."""

        def __call__(self, grid: Any, block: Any, arguments: Any, *rest: Any, **named: Any) -> Any:
            key = _key(recorder, arguments, grid, block, *rest, *named.items())
            counted = self._ptxaudit_seen.get(key)
            if counted is not None:
                out = super().__call__(grid, block, arguments, *rest, **named)
                for one in counted:
                    one.again()
                return out
            shared, stream, cooperative = _rest(rest, named, ("shared_mem", "stream", "enable_cooperative_groups"))
            tokens = recorder.guarded(
                "a launch of CuPy",
                lambda: _begin(
                    recorder,
                    self._ptxaudit_kernel,
                    None if cooperative else _at_least_one(grid),  # CuPy may reduce the grid of a cooperative launch
                    _at_least_one(block),
                    arguments,
                    shared,
                    stream,
                ),
            )
            out = super().__call__(grid, block, arguments, *rest, **named)
            self._ptxaudit_seen.add(key, tokens)
            return out

        def linear_launch(self, size: Any, arguments: Any, *rest: Any, **named: Any) -> Any:
            names = ("shared_mem", "block_max_size", "stream", "enable_cooperative_groups")
            shared, most, stream, cooperative = _rest(rest, named, names)
            most = 128 if most is None else int(most)
            blocks = min(_MOST_BLOCKS, -(-int(size) // most))
            tokens = None
            if size:
                grid = None if cooperative else (blocks, 1, 1)
                block = (min(most, int(size)), 1, 1)
                tokens = recorder.guarded(
                    "a launch of CuPy",
                    lambda: _begin(recorder, self._ptxaudit_kernel, grid, block, arguments, shared, stream),
                )
            out = super().linear_launch(size, arguments, *rest, **named)
            recorder.done(tokens)
            return out

    return _named_as(Function, function_type)


def _named_as(one: type, like: type) -> type:
    """The class, with the name by which the original is shown and pickled."""
    one.__name__, one.__qualname__, one.__module__ = like.__name__, like.__qualname__, like.__module__
    return one


def _code(data: Any) -> Code | None:
    data = bytes(data)
    data = _whole(data) if data.startswith(ELF) else data.rstrip(b"\0")
    return Code(data, ".cubin" if data.startswith(ELF) else ".ptx", NAME, None, None, getattr(_source, "text", None))


def _whole(cubin: bytes) -> bytes:
    """Appends the final byte, a zero, that CuPy's getCUBIN (nvrtc.pyx) drops as the end of a string.

    The driver reads that byte beyond the end of the object that CuPy passes.
    """
    programs, sections, program_size, programs_, section_size, sections_ = _TABLES.unpack_from(cubin)
    end = max(programs + program_size * programs_, sections + section_size * sections_)
    return cubin + b"\0" if end == len(cubin) + 1 else cubin


def _rest(rest: Sequence[Any], named: dict[str, Any], names: Sequence[str]) -> list[Any]:
    """Arguments by position or by name, None if not given."""
    return [rest[at] if at < len(rest) else named.get(name) for at, name in enumerate(names)]


def _at_least_one(dims: Any) -> Dims:
    x, y, z = (max(1, int(number)) for number in (*dims, 1, 1)[:3])
    return x, y, z


def _begin(
    recorder: Recorder,
    kernel: tuple[Code | None, str],
    grid: Dims | None,
    block: Dims,
    arguments: Sequence[Any],
    shared: Any,
    stream: Any,
) -> Any:
    code, name = kernel
    if code is None or not recorder.logs:
        return None
    found = [parameter(argument) for argument in arguments]
    kinds = tuple([kind for kind, _ in found])
    known = _sites.get((code.name, name, kinds))
    if known is None:
        known = _sites[code.name, name, kinds] = Site(code, name, kinds)
    number, extents = 0, []
    if recorder.wants_arrays:
        cupy: Any = sys.modules["cupy"]
        number = int(stream.ptr if stream is not None else cupy.cuda.get_current_stream().ptr)
        extents = [extent for extent in map(_extent, arguments) if extent is not None]
    return recorder.begin(known, grid, [value for _, value in found], block, int(shared or 0), extents, number)


_sites: dict[Any, Site] = {}


def _key(recorder: Recorder, arguments: Sequence[Any], *rest: Any) -> Any:
    """A key that is equal for launches that are recorded as one, or None if they must be examined in full."""
    if not recorder.logs:
        return None
    key = list(rest)
    try:
        for argument in arguments:
            kind = argument.__class__
            if kind in _NUMBERS or kind.__module__ == "numpy":
                key.append((kind, bits(argument)))
            else:
                key.append((argument.data.ptr & ALIGNED, argument.shape, argument.strides))
        hash(out := tuple(key))
        return out
    except Exception:
        return None


def parameter(argument: Any) -> tuple[str, Any]:
    """(kind, value) of an argument.

    The kernel's declared parameter may be shorter: the first bytes of an array's structure are its pointer, and those
    of a Python number are the number in a smaller type.
    """
    if argument is None:
        return "p", 0
    address = getattr(getattr(argument, "data", None), "ptr", None)
    if address is not None:  # cupy.ndarray: data, size, shape, strides (carray.cuh)
        tail = _words(argument.size, *argument.shape, *argument.strides).hex()
        return f"p{tail}", int(address)
    kind = type(argument).__name__
    if kind == "Indexer":  # size, shape, and an index that the kernel sets before it is read
        return "b", _words(argument.size, *argument.shape)
    if kind == "MemoryPointer":
        return "p", int(argument.ptr)
    if kind == "CScalar" and hasattr(argument, "descr"):
        return "b", ctypes.string_at(int(argument.ptr), argument.descr.itemsize)
    if hasattr(argument, "ptr") or kind.startswith("C"):  # a structure of unknown size
        return "?0", None
    return _scalar(argument)


def _words(*numbers: int) -> bytes:
    return b"".join(int(number).to_bytes(8, "little", signed=True) for number in numbers)


def _scalar(argument: Any) -> tuple[str, Any]:
    if isinstance(argument, bool):
        return "u8", int(argument)
    if isinstance(argument, int):
        return "u64" if argument >= 1 << 63 else "i64", argument
    if isinstance(argument, float):
        return "f64", argument
    numpy: Any = sys.modules["numpy"]
    return "b", numpy.asarray(argument).tobytes()


def _extent(argument: Any) -> Extent | None:
    """The memory that an argument points to."""
    if type(argument).__name__ == "MemoryPointer":
        return Extent(int(argument.ptr))
    address = getattr(getattr(argument, "data", None), "ptr", None)
    if address is None or not argument.size:
        return None
    steps = [(extent - 1) * stride for extent, stride in zip(argument.shape, argument.strides)]
    first, last = sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps)
    plain = argument.dtype.kind in "iufb" and argument.flags.c_contiguous
    return Extent(int(address) + first, last - first + argument.dtype.itemsize, argument.dtype.str if plain else "")
