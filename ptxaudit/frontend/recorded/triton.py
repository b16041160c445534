"""Reads the metadata that Triton keeps of a compiled kernel: warps per block, and shared memory.

    ~/.triton/cache/…/k.json   {"name": "k", "num_warps": 4, "shared": 16640, "target": {"backend": "cuda", …}, …}
    -> Launch("k", block=(128,), dynamic_shared=16640, code="….cubin")

A CompiledKernel has the same in `.metadata`, and its code in `.asm`. Triton launches a kernel with 32 threads per
warp (triton/backends/nvidia/driver.py: blockDimX = 32 * num_warps) and allocates all its shared memory dynamically;
`num_ctas` above 1 is the number of blocks in a cluster.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxaudit.base import limits
from ptxaudit.base.errors import InputError

if TYPE_CHECKING:
    from ptxaudit.frontend.launch.launch import Launch

THREADS = 32  # per warp
MOST_WARPS, MOST_BLOCKS = 32, 16  # per block; per cluster
_KEYS = ("name", "num_warps", "shared", "target")  # no other file beside a cubin has all of these


class Asm:
    """One form of a CompiledKernel; `.code` is bytes or text, as in cuda.core's ObjectCode.

    both: PTX and machine code are examined together.
    """

    def __init__(self, name: str, code: bytes | str, launches: tuple[Launch, ...], both: bool) -> None:
        self.name, self.code, self.launches, self.both = name, code, launches, both


def is_compiled(given: Any) -> bool:
    """Whether this is an object like Triton's CompiledKernel."""
    return isinstance(getattr(given, "asm", None), Mapping) and hasattr(given, "metadata")


def forms_of(given: Any, isa: str | None) -> list[Asm]:
    """The code of a CompiledKernel: machine code, PTX if requested, or both.

    Raises InputError if it has none of these.
    """
    kinds = {None: ("cubin",), "sass": ("cubin",), "ptx": ("ptx",)}.get(isa, ("cubin", "ptx"))
    if isa is None and "cubin" not in given.asm:
        kinds = ("ptx",)
    facts = _mapping(given.metadata)
    name = str(facts.get("name") or type(given).__name__)
    path = f"<object {name}>"
    there = [kind for kind in kinds if isinstance(given.asm.get(kind), (bytes, str))]
    if not there:
        has = ", ".join(map(str, given.asm)) or "nothing"
        raise InputError(
            f"this {type(given).__name__} has no code for an NVIDIA GPU: .asm has {has}",
            'compile it with a target such as GPUTarget("cuda", 90, 32)',
            path,
        )
    launches = _launches(facts, path, path)
    return [Asm(name, given.asm[kind], launches, len(there) > 1) for kind in there]


def launches_beside(code: str) -> tuple[Launch, ...]:
    """The launch described by the metadata beside a file of Triton's cache; () for a file without metadata.

    Raises InputError if Triton's metadata has invalid values.
    """
    file = Path(code).with_suffix(".json")
    try:
        if not file.is_file() or file.stat().st_size > limits.SETTINGS.most:
            return ()
        facts = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return ()
    if not isinstance(facts, dict) or not all(key in facts for key in _KEYS):
        return ()
    return _launches(facts, os.fspath(code), os.fspath(file))


def _mapping(metadata: Any) -> dict[str, Any]:
    """Metadata as a dictionary, from a named tuple, a mapping, or an object with attributes."""
    if isinstance(metadata, Mapping):
        return dict(metadata)
    if hasattr(metadata, "_asdict"):
        return dict(metadata._asdict())
    return dict(getattr(metadata, "__dict__", {}))


def _launches(facts: dict[str, Any], code: str, place: str) -> tuple[Launch, ...]:
    from ptxaudit.frontend.launch.launch import Launch

    target = facts.get("target")
    backend = target.get("backend") if isinstance(target, Mapping) else getattr(target, "backend", None)
    if backend != "cuda":
        return ()
    warps = _number(facts, "num_warps", 1, MOST_WARPS, place)
    shared = _number(facts, "shared", 0, limits.IMAGE.most, place)
    blocks = _number(facts, "num_ctas", 1, MOST_BLOCKS, place) if "num_ctas" in facts else 1
    name = facts.get("name")
    if not isinstance(name, str) or not name.strip():
        raise _wrong("name", name, place)
    cluster = (blocks, 1, 1) if blocks > 1 else None
    return (Launch(escaped(name), block=(THREADS * warps, 1, 1), dynamic_shared=shared, cluster=cluster, code=code),)


def _number(facts: dict[str, Any], key: str, least: int, most: int, place: str) -> int:
    value = facts.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _wrong(key, value, place)
    return value


def _wrong(key: str, value: Any, place: str) -> InputError:
    shown = repr(value)
    return InputError(
        f"{key} is {shown if len(shown) <= 60 else shown[:60] + '…'}, which Triton does not write",
        "the file is damaged: let Triton compile the kernel again, or remove it",
        place,
    )


def escaped(name: str) -> str:
    """A name as a glob pattern that matches only itself."""
    import glob

    return glob.escape(name)
