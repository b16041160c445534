"""Turns one input into modules of operations: compiles source, parses PTX, lifts.

    Content("k.cu", "cuda", b"__global__ …")  ->  Loaded(modules=(ir.Module(…),), toolchain="nvrtc 13.5", …)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxaudit import ir
from ptxaudit.assemble import SourceLines
from ptxaudit.errors import InputError
from ptxaudit.inputs import Content
from ptxaudit.options import DEFAULT_ARCH, Options
from ptxaudit.source_text import decode


@dataclass(frozen=True)
class Loaded:
    """modules: one an instruction set and image; toolchain: what compiled them, where known;
    notes: sentences for every kernel; lines: reads source lines for display."""

    modules: tuple[ir.Module, ...]
    toolchain: str | None = None
    notes: tuple[str, ...] = ()
    lines: SourceLines = field(default_factory=SourceLines)


def load(content: Content, options: Options) -> Loaded:
    """The modules of an input. Raises InputError where there are none to be had."""
    match content.kind:
        case "cuda":
            return _from_source(content, options)
        case "ptx":
            return _from_ptx(content, options)
    raise InputError(
        "this is neither CUDA source nor PTX",
        "name source .cu and PTX .ptx; PTX begins with a .version directive", content.path,
    )


def _from_source(content: Content, options: Options) -> Loaded:
    if options.compiler == "nvcc":
        from ptxaudit.nvcc import compile_source
    else:
        from ptxaudit.nvrtc import compile_source
    text = decode(content.data, content.path)
    compiled = compile_source(
        content.path if content.is_file else _with_line_break(text),
        arch=options.arch or DEFAULT_ARCH,
        include=options.include,
        defines=options.defines,
        std=options.std,
        instantiate=options.instantiate,
        name=content.path,
    )
    return Loaded(
        (_ptx_module(compiled.ptx, content.path),), compiled.compiler, compiled.notes,
        SourceLines({compiled.file: compiled.source}),
    )


def _with_line_break(text: str) -> str:
    """Text, not a path, by the compilers' convention: with a line break in it."""
    return text if "\n" in text else text + "\n"


def _from_ptx(content: Content, options: Options) -> Loaded:
    if options.isa in ("sass", "both"):
        raise InputError("this is PTX: there is no machine code in it", "leave out --isa, or audit the cubin", content.path)
    module = _ptx_module(decode(content.data, content.path), content.path)
    return Loaded((module,), module.producer or None)


def _ptx_module(text: str, file: str) -> ir.Module:
    from ptxaudit.ptx.lift import lift_module
    from ptxaudit.ptx.parse import parse_module

    return lift_module(parse_module(text, file))
