"""PyCUDA: the code of `module_from_buffer`, and `Function._launch_kernel`, which every launch goes through.

    function._launch_kernel(grid, block, parameters, shared, stream)

The parameters are one byte string, as the driver takes it (CU_LAUNCH_PARAM_BUFFER_POINTER). Pointers in it are 8-byte
aligned.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ptxaudit.ui.recording.inside.hooks import Patches
from ptxaudit.ui.recording.inside.log import Code, Dims, Site
from ptxaudit.ui.recording.inside.memory import Extent, is_pointer
from ptxaudit.ui.recording.inside.recorder import Recorder

NAME, PACKAGE, DISTRIBUTIONS = "PyCUDA", "pycuda", ("pycuda",)
KNOWN = ("2022", "2027")

ELF, FATBIN = b"\x7fELF", bytes.fromhex("50ed55ba")
_CODE, _SITE = "_ptxaudit_code", "_ptxaudit_site"


def attach(module: ModuleType, recorder: Recorder, patches: Patches) -> str | None:
    driver: Any = module
    load, get, launch = driver.module_from_buffer, driver.Module.get_function, driver.Function._launch_kernel

    def module_from_buffer(data: Any, *arguments: Any, **named: Any) -> Any:
        made = load(data, *arguments, **named)
        recorder.guarded("code of PyCUDA", lambda: _remember(made, data, recorder))
        return made

    def get_function(made: Any, name: Any) -> Any:
        found = get(made, name)
        recorder.guarded("a kernel of PyCUDA", lambda: _name(found, made, name))
        return found

    def launch_kernel(function: Any, grid: Any, block: Any, parameters: Any, shared: Any, stream: Any) -> Any:
        tokens = None
        if recorder.logs:
            tokens = recorder.guarded(
                "a launch of PyCUDA", lambda: _begin(recorder, function, grid, block, parameters, shared, stream)
            )
        out = launch(function, grid, block, parameters, shared, stream)
        recorder.done(tokens)
        return out

    patches.set(driver, "module_from_buffer", module_from_buffer)
    patches.set(driver.Module, "get_function", get_function)
    patches.set(driver.Function, "_launch_kernel", launch_kernel)
    return None


def _remember(made: Any, data: Any, recorder: Recorder) -> None:
    code = bytes(data)
    suffix = ".cubin" if code.startswith(ELF) else ".fatbin" if code.startswith(FATBIN) else ".ptx"
    code = code.rstrip(b"\0") if suffix == ".ptx" else code
    setattr(made, _CODE, Code(code, suffix, NAME))
    recorder.compiled(getattr(made, _CODE))


def _name(function: Any, made: Any, name: Any) -> None:
    code = getattr(made, _CODE, None)
    if code is not None:
        setattr(function, _SITE, Site(code, str(name), ("b",)))


def _begin(recorder: Recorder, function: Any, grid: Any, block: Any, parameters: Any, shared: Any, stream: Any) -> Any:
    site = getattr(function, _SITE, None)
    if site is None:
        recorder.note(
            "a kernel was launched through PyCUDA whose code was not seen: start recording before it is loaded, and"
            " load it with module_from_buffer or SourceModule, or record through the driver (--via driver)"
        )
        return None
    values = bytes(parameters)
    extents = _extents(values) if recorder.wants_arrays else []
    handle = int(getattr(stream, "handle", None) or 0)
    return recorder.begin(site, _three(grid), (values,), _three(block), int(shared or 0), extents, handle)


def _extents(values: bytes) -> list[Extent]:
    """The memory behind the addresses among the parameters. The driver decides which words are addresses."""
    words = [int.from_bytes(values[at : at + 8], "little") for at in range(0, len(values) - 7, 8)]
    return [Extent(word) for word in words if is_pointer(word)]


def _three(dims: Any) -> Dims:
    x, y, z = (*map(int, dims), 1, 1)[:3]
    return x, y, z
