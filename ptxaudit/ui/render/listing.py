"""Writes the kernels of the inputs for `ptxaudit audit --list`, in pieces, as there may be a hundred thousand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from textwrap import indent
from typing import Any

from msgspec import to_builtins

from ptxaudit.base import printable
from ptxaudit.base.demangle import demangle
from ptxaudit.base.printable import one_line
from ptxaudit.base.words import plural
from ptxaudit.pipeline.contents import Image, Listed


def listing_text(kernels: Iterable[Listed]) -> Iterator[str]:
    """One block per kernel: its name, then its figures; a line precedes the kernels of each image."""
    image, count = None, 0
    for count, listed in enumerate(kernels, 1):
        lines = [image_text(listed.image)] if listed.image is not None and listed.image != image else []
        image = listed.image
        yield "\n".join([*lines, *_block(listed, "  " if image else "")]) + "\n"
    yield plural(count, "kernel") + "\n"


def image_text(image: Image) -> str:
    """ "libk.so#3: cubin for sm_90, 18,432 bytes (compressed), with line information, made by CUDA 13.0"."""
    facts = [
        f"{image.kind} for {image.arch}",
        plural(image.size, "byte") + (" (compressed)" if image.compressed else ""),
    ]
    facts.append("with line information" if image.lines else "without line information")
    if image.producer:
        facts.append(f"made by {image.producer}")
    return one_line(f"{PurePath(image.name).name}: {', '.join(facts)}")


def _block(listed: Listed, margin: str) -> list[str]:
    function = listed.function
    facts = [] if listed.image else [PurePath(listed.input).name, f"{function.arch} {function.isa}"]
    if listed.sites is not None:
        facts.append(plural(listed.sites, "shared-memory site"))
    if listed.code is not None:
        facts.append(f"{plural(listed.code, 'byte')} of code")
    if listed.registers is not None:
        facts.append(plural(listed.registers, "register"))
    facts.append(plural(len(function.parameters), "parameter"))
    if function.shared_static:
        facts.append(f"{plural(function.shared_static, 'byte')} of static shared memory")
    if function.block:
        facts.append("block " + "×".join(map(str, function.block)))
    elif function.max_threads:
        facts.append(f"at most {function.max_threads} threads")
    name = demangle(function.name)
    return [
        margin + one_line(line)
        for line in (name, *([f"  {function.name}"] if name != function.name else []), "  " + " · ".join(facts))
    ]


def listing_json(kernels: Iterable[Listed]) -> Iterator[str]:
    """The same as a JSON list. sites: null for machine code, which a listing does not disassemble."""
    before = "["
    for listed in kernels:
        yield before + "\n" + indent(json.dumps(printable.plain(_record(listed)), indent=2, ensure_ascii=False), "  ")
        before = ","
    yield "\n]\n" if before == "," else "[]\n"


def _record(listed: Listed) -> dict[str, Any]:
    function = listed.function
    return {
        "name": function.name,
        "demangled": demangle(function.name),
        "isa": function.isa,
        "arch": function.arch,
        "input": listed.input,
        "image": to_builtins(listed.image) if listed.image else None,
        "sites": listed.sites,
        "code": listed.code,
        "registers": listed.registers,
        "shared_static": function.shared_static,
        "block": function.block,
        "max_threads": function.max_threads,
        "parameters": [
            {"name": p.name, "offset": p.offset, "size": p.size, "type": p.type, "pointer": p.pointer}
            for p in function.parameters
        ],
    }
