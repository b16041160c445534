"""Writes the kernels of the inputs, for `ptxaudit audit --list`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from ptxaudit.demangle import demangle
from ptxaudit.pipeline import Listed
from ptxaudit.render.words import plural


def listing_text(kernels: Sequence[Listed]) -> str:
    """One block a kernel: its name, then its figures."""
    lines = []
    for listed in kernels:
        function = listed.function
        facts = [PurePath(listed.input).name, f"{function.arch} {function.isa}", plural(_sites(listed), "shared-memory site")]
        facts.append(plural(len(function.parameters), "parameter"))
        if function.shared_static:
            facts.append(f"{plural(function.shared_static, 'byte')} of static shared memory")
        if function.block:
            facts.append("block " + "×".join(map(str, function.block)))
        elif function.max_threads:
            facts.append(f"at most {function.max_threads} threads")
        lines.append(demangle(function.name))
        if demangle(function.name) != function.name:
            lines.append(f"  {function.name}")
        lines.append("  " + " · ".join(facts))
    return "\n".join([*lines, plural(len(kernels), "kernel")]) + "\n"


def listing_json(kernels: Sequence[Listed]) -> str:
    """The same as a JSON list."""
    return json.dumps([_record(listed) for listed in kernels], indent=2, ensure_ascii=False) + "\n"


def _record(listed: Listed) -> dict[str, Any]:
    function = listed.function
    return {
        "name": function.name,
        "demangled": demangle(function.name),
        "isa": function.isa,
        "arch": function.arch,
        "input": listed.input,
        "sites": _sites(listed),
        "shared_static": function.shared_static,
        "block": function.block,
        "max_threads": function.max_threads,
        "parameters": [
            {"name": p.name, "offset": p.offset, "size": p.size, "type": p.type, "pointer": p.pointer} for p in function.parameters
        ],
    }


def _sites(listed: Listed) -> int:
    return sum(instruction.site is not None for instruction in listed.function.instructions)
