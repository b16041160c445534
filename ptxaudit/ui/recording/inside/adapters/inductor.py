"""torch.compile: Inductor launches most of its Triton kernels itself, without Triton's launcher.

    StaticallyLaunchedCudaKernel.load_kernel(device)                  the path of the machine code is still known
    StaticallyLaunchedCudaKernel.run(x, y, z, stream, *arguments)     `arg_tys` has one letter per argument

The other kernels go through Triton's launcher, which the Triton adapter records.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ptxaudit.ui.recording.inside.adapters.triton import WARP, _address, _extent
from ptxaudit.ui.recording.inside.hooks import Patches
from ptxaudit.ui.recording.inside.log import Code, Site
from ptxaudit.ui.recording.inside.recorder import Recorder, Seen
from ptxaudit.ui.recording.inside.values import distinct

NAME, PACKAGE, DISTRIBUTIONS = "torch", "torch", ("torch",)
KNOWN = ("2.7", "2.16")

# The letters of `arg_tys` (StaticallyLaunchedCudaKernel.type_mappings). "f" once stood for half floats, too: if the
# kernel's parameter has another size, no value is recorded.
_KINDS = {"O": "p", "b": "i8", "h": "i16", "i": "i32", "l": "i64", "B": "u8", "H": "u16", "I": "u32", "K": "u64"}
_KINDS |= {"e": "f16", "y": "bf16", "f": "f32", "d": "f64"}


def attach(module: ModuleType, recorder: Recorder, patches: Patches) -> str | None:
    kernel_type = getattr(module, "StaticallyLaunchedCudaKernel", None)
    if kernel_type is None:
        return f"{NAME} has no StaticallyLaunchedCudaKernel here: Inductor's launches through it are not recorded"
    load, run = kernel_type.load_kernel, kernel_type.run

    def load_kernel(kernel: Any, *arguments: Any, **named: Any) -> Any:
        recorder.guarded("a kernel of Inductor", lambda: _remember(kernel, recorder))
        return load(kernel, *arguments, **named)

    def recorded_run(kernel: Any, x: int, y: int, z: int, stream: int, *arguments: Any) -> Any:
        if not recorder.logs or x <= 0 or y <= 0 or z <= 0:
            return run(kernel, x, y, z, stream, *arguments)
        site, seen = _sites.get(_key(kernel)) or (None, Seen(recorder))
        values = recorder.guarded("a launch of Inductor", lambda: _values(site, arguments))
        key = None if values is None else (x, y, z, *values[1])
        counted = seen.get(key)
        if counted is not None:
            out = run(kernel, x, y, z, stream, *arguments)
            for one in counted:
                one.again()
            return out
        tokens = recorder.guarded(
            "a launch of Inductor", lambda: _begin(recorder, kernel, site, (x, y, z), stream, arguments, values)
        )
        out = run(kernel, x, y, z, stream, *arguments)
        seen.add(key, tokens)
        return out

    patches.set(kernel_type, "load_kernel", load_kernel)
    patches.set(kernel_type, "run", recorded_run)
    return None


_sites: dict[str, tuple[Site, Seen]] = {}  # by the kernel's hash, which survives pickling


def _remember(kernel: Any, recorder: Recorder) -> None:
    """Keeps the code before it is loaded, because its path is forgotten then."""
    if _key(kernel) in _sites:
        return
    data = getattr(kernel, "cubin_raw", None)
    if not isinstance(data, bytes) and getattr(kernel, "cubin_path", None):
        with open(kernel.cubin_path, "rb") as file:
            data = file.read()
    if not isinstance(data, bytes):
        return
    kinds = []
    for letter in kernel.arg_tys:
        if letter not in _KINDS:
            break
        kinds.append(_KINDS[letter])
    code = Code(data, ".cubin", "Triton", kernel.name)
    shape = (WARP * int(kernel.num_warps), 1, 1)
    _sites[_key(kernel)] = Site(code, kernel.name, kinds, shape, None, int(kernel.shared)), Seen(recorder)
    recorder.compiled(code)


def _key(kernel: Any) -> str:
    return f"{kernel.hash} {kernel.name}"


def _values(site: Site | None, arguments: tuple[Any, ...]) -> tuple[list[Any], list[Any]] | None:
    """The values of the parameters, and the part of them that distinguishes launches."""
    if site is None:
        return None
    values = [_address(one) if kind == "p" else one for kind, one in zip(site.kinds, arguments)]
    return values, [distinct(kind, one) for kind, one in zip(site.kinds, values)]


def _begin(
    recorder: Recorder,
    kernel: Any,
    site: Site | None,
    grid: tuple[int, int, int],
    stream: int,
    arguments: tuple[Any, ...],
    values: tuple[list[Any], list[Any]] | None,
) -> Any:
    if site is None or values is None:
        recorder.note(
            f"the code of {kernel.name}, a kernel of Inductor, was not seen: start recording before it is created"
        )
        return None
    extents = [
        _extent(one, address)
        for kind, one, address in zip(site.kinds, arguments, values[0])
        if kind == "p" and address and recorder.wants_arrays
    ]
    return recorder.begin(site, grid, values[0], extents=extents, stream=stream)
