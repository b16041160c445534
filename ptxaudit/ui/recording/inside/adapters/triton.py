"""Triton: each CompiledKernel when it is created, and each call of the launcher in its `run`.

`kernel[grid](…)`, the autotuner and Inductor's own launchers all make this call, in all versions:

    run(gridX, gridY, gridZ, stream, function, packed_metadata, launch_metadata, enter_hook, exit_hook, *arguments)

The arguments are those of the signature, in order. The launcher (triton/backends/nvidia/driver.py, make_launcher)
passes all but the constants to the kernel, by type. Parameters after them (scratch memory) are not recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from types import ModuleType
from typing import Any

from ptxaudit.ui.recording.inside.hooks import Patches
from ptxaudit.ui.recording.inside.log import Code, Site
from ptxaudit.ui.recording.inside.memory import Extent
from ptxaudit.ui.recording.inside.recorder import Recorder, Seen
from ptxaudit.ui.recording.inside.values import ALIGNED, FLOATS, bits

NAME, PACKAGE, DISTRIBUTIONS = "Triton", "triton", ("triton", "pytorch-triton")
KNOWN = ("3.2", "3.10")

WARP = 32  # threads
TENSOR_MAP_BYTES = 128
_BEFORE = 4  # packed metadata, launch metadata and two hooks precede the arguments
_KINDS = {"fp16": "f16", "bf16": "bf16", "fp32": "f32", "f32": "f32", "fp64": "f64"}
_STRUCTURES = ("tensordesc", "nvTmaDesc")
_INTEGERS = ("i1", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64")


def attach(module: ModuleType, recorder: Recorder, patches: Patches) -> str | None:
    kernel_type = module.CompiledKernel
    made, run = kernel_type.__init__, vars(kernel_type).get("run")

    def __init__(kernel: Any, *arguments: Any, **named: Any) -> None:
        made(kernel, *arguments, **named)
        recorder.guarded("a kernel of Triton", lambda: recorder.compiled(_code(kernel)))

    def launcher(kernel: Any) -> Any:
        known = vars(kernel).get("_ptxaudit_launcher")
        if known is not None:
            return known
        found = run.__get__(kernel) if isinstance(run, property) else vars(kernel).get("run")
        if found is None:
            return None
        known = recorder.guarded("launches of Triton", lambda: Launcher(found, _Plan(kernel), recorder))
        vars(kernel)["_ptxaudit_launcher"] = known
        return known or found

    def put(kernel: Any, value: Any) -> None:
        vars(kernel)["run"] = value
        vars(kernel).pop("_ptxaudit_launcher", None)

    patches.set(kernel_type, "__init__", __init__)
    patches.set(kernel_type, "run", property(launcher, None if isinstance(run, property) else put))
    return None


class Launcher:
    """Wraps a launcher of Triton and records its calls; otherwise behaves like it."""

    def __init__(self, launch: Callable[..., Any], plan: _Plan, recorder: Recorder) -> None:
        self.launch, self._plan, self._recorder = launch, plan, recorder
        self._seen = Seen(recorder)

    def __call__(self, x: int, y: int, z: int, stream: int, function: Any, *rest: Any, **named: Any) -> Any:
        recorder = self._recorder
        if not recorder.logs or x <= 0 or y <= 0 or z <= 0:
            return self.launch(x, y, z, stream, function, *rest, **named)
        key = self._plan.key(x, y, z, rest)
        counted = self._seen.get(key)
        if counted is not None:
            out = self.launch(x, y, z, stream, function, *rest, **named)
            for one in counted:
                one.again()
            return out
        tokens = recorder.guarded(
            "a launch of Triton", lambda: self._plan.begin(recorder, (x, y, z), stream, rest[_BEFORE:])
        )
        out = self.launch(x, y, z, stream, function, *rest, **named)
        self._seen.add(key, tokens)
        return out

    def __getattr__(self, name: str) -> Any:
        return getattr(self.launch, name)


class _Plan:
    """How to read the launches of one kernel, determined once."""

    def __init__(self, kernel: Any) -> None:
        metadata = kernel.metadata
        code = _code(kernel)
        blocks = getattr(metadata, "cluster_dims", None) or (getattr(metadata, "num_ctas", 1), 1, 1)
        self._cluster = tuple(int(one) for one in blocks)
        constants = _constants(kernel.src)
        self._kinds = [(kind, at in constants) for at, kind in enumerate(kernel.src.signature.values())]
        descriptors = list(getattr(metadata, "tensordesc_meta", None) or ())
        kinds: list[str] = []
        for kind, left_out in self._kinds:
            if not _add_kinds(kind, left_out, kinds, descriptors):
                break  # no parameter from here on is recorded
        taken = [(at, kind) for at, (kind, left_out) in enumerate(self._kinds, _BEFORE) if not left_out]
        taken = [(at, kind) for at, kind in taken if kind != "constexpr"]
        self._plain = all(isinstance(kind, str) and kind.partition("<")[0] not in _STRUCTURES for _, kind in taken)
        self._pointers = [at for at, kind in taken if kind[0] == "*"]
        self._floats = [at for at, kind in taken if isinstance(kind, str) and _KINDS.get(kind) in FLOATS]
        numbers = [at for at, kind in taken if kind[0] != "*" and at not in self._floats]
        self._numbers = itemgetter(*numbers or [0])
        cluster = self._cluster if max(self._cluster) > 1 else None
        self._site: Site | None = None
        if code is not None and len(self._cluster) == 3:
            shape = (WARP * int(metadata.num_warps), 1, 1)
            self._site = Site(code, metadata.name, kinds, shape, cluster, int(metadata.shared))  # type: ignore[arg-type]

    def key(self, x: int, y: int, z: int, rest: tuple[Any, ...]) -> Any:
        """A key that is equal for launches that are recorded as one, or None if they must be examined in full."""
        if not self._plain:
            return None
        key = [x, y, z]
        try:
            for at in self._pointers:
                one = rest[at]
                key.append((one.data_ptr() if one.__class__ is not int and one is not None else one or 0) & ALIGNED)
            return self._numbers(rest), *key, *[bits(float(rest[at])) for at in self._floats]
        except Exception:
            return None

    def begin(self, recorder: Recorder, grid: tuple[int, int, int], stream: int, arguments: Iterable[Any]) -> Any:
        if self._site is None:
            return None
        values: list[Any] = []
        extents: list[Extent] = []
        for (kind, left_out), argument in zip(self._kinds, arguments):
            if not _add_values(kind, left_out, argument, values, extents if recorder.wants_arrays else None):
                break
        x, y, z = (number * blocks for number, blocks in zip(grid, self._cluster))
        return recorder.begin(self._site, (x, y, z), values, extents=extents, stream=stream)


def _code(kernel: Any) -> Code | None:
    """The machine code of a kernel, or None if it is not for an NVIDIA GPU."""
    cubin, ptx = kernel.asm.get("cubin"), kernel.asm.get("ptx")
    if not isinstance(cubin, bytes):
        return None
    known = vars(kernel).get("_ptxaudit_code")
    if known is None:
        text = ptx.encode() if isinstance(ptx, str) else None
        known = vars(kernel)["_ptxaudit_code"] = Code(cubin, ".cubin", NAME, kernel.metadata.name, text)
    return known  # type: ignore[no-any-return]


def _constants(source: Any) -> set[int]:
    """Positions of the arguments that are constants although their type does not say so.

    Before Triton 3.3, the signature has every argument that is not a constexpr. Since then, constants are "constexpr"
    in the signature, and the keys here are paths.
    """
    names = list(source.signature)
    return {names.index(key) for key in getattr(source, "constants", None) or {} if key in names}


def _add_kinds(kind: Any, left_out: bool, kinds: list[str], descriptors: list[Any]) -> bool:
    """Appends the kinds of the parameters that an argument becomes. Returns False if they are not known."""
    if left_out or kind == "constexpr":
        return True
    if isinstance(kind, (tuple, list)):
        return all(_add_kinds(one, False, kinds, descriptors) for one in kind)
    if kind.startswith("*"):
        kinds.append("p")
    elif kind in _INTEGERS or kind in _KINDS:
        kinds.append(_KINDS.get(kind, kind))
    elif kind == "nvTmaDesc":
        kinds.append(f"?{TENSOR_MAP_BYTES}")
    elif kind.startswith("tensordesc") and descriptors:
        meta, rank = descriptors.pop(0), _rank(kind)
        if meta is None or meta.get("fp4_padded"):  # passed in another form
            return False
        kinds += [f"?{TENSOR_MAP_BYTES}", *["i32"] * rank, *["i64"] * rank]
    else:
        return False
    return True


def _rank(kind: str) -> int:
    """The number of dimensions of "tensordesc<fp16[64, 32]>"."""
    return kind.partition("[")[2].partition("]")[0].count(",") + 1


def _add_values(kind: Any, left_out: bool, argument: Any, values: list[Any], extents: list[Extent] | None) -> bool:
    """Appends the values of the parameters that an argument becomes."""
    if left_out or kind == "constexpr":
        return True
    if isinstance(kind, (tuple, list)):
        return all(_add_values(one, False, part, values, extents) for one, part in zip(kind, argument))
    if kind.startswith("*"):
        values.append(_address(argument))
        if extents is not None and values[-1]:
            extents.append(_extent(argument, values[-1]))
    elif kind == "nvTmaDesc":
        values.append(None)
    elif kind.startswith("tensordesc"):
        values += [None, *map(int, argument.shape), *map(int, argument.strides)]
        if extents is not None:
            extents.append(_extent(argument.base, _address(argument.base)))
    else:
        values.append(argument)
    return True


def _address(argument: Any) -> int:
    if argument is None:
        return 0
    return argument if isinstance(argument, int) else int(argument.data_ptr())


def _extent(argument: Any, address: int) -> Extent:
    """The memory of a tensor. For any other argument, the driver determines the size."""
    try:
        strides, shape, size = argument.stride(), argument.shape, argument.element_size()
        last = sum((extent - 1) * stride for extent, stride in zip(shape, strides))
        return Extent(address, (last + 1) * size if all(shape) else 0, _TYPES.get(str(argument.dtype), ""))
    except (AttributeError, TypeError):
        return Extent(address)


_TYPES: Mapping[str, str] = {
    **{f"torch.{name}{bits}": f"<{name[0]}{bits // 8}" for name in ("int", "float") for bits in (16, 32, 64)},
    "torch.int8": "|i1",
    "torch.uint8": "|u1",
    "torch.bool": "|b1",
}
