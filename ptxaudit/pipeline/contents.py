"""Lists the images and kernels of the inputs without auditing them.

    libk.so  ->  Listed("libk.so", function, Image("libk.so#3", "cubin", "sm_90", size=18_432, compressed=True, …)), …

In compiled files, kernels are read from ELF tables and the heads of PTX functions: nothing is disassembled, and
architectures too old for the disassembler are listed as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.frontend.artifacts.usage import NOTHING_KNOWN, usage
from ptxaudit.frontend.inputs import Content, read
from ptxaudit.frontend.options import Options, chosen
from ptxaudit.frontend.source_text import decode
from ptxaudit.ir import nodes as ir
from ptxaudit.pipeline.collect import Part, Progress, name_of, silent
from ptxaudit.pipeline.loading import load, selected

if TYPE_CHECKING:
    from ptxaudit.frontend.artifacts.cubin import Cubin


class Image(Record):
    """One piece of device code in a compiled file. kind: "cubin" | "ptx"; size: bytes in the file, compressed or not;
    lines: whether it has line information; producer: what made it, where recorded."""

    name: str
    kind: str
    arch: str
    size: int
    compressed: bool = False
    lines: bool = False
    producer: str = ""


class Listed(Record):
    """A kernel, the path of its input and, in compiled files, its image. The function has no instructions, because a
    library may have a hundred thousand kernels. sites: the number of its shared-memory accesses, None in compiled
    files; code: bytes of machine code; registers: per thread."""

    input: str
    function: ir.Function
    image: Image | None = None
    code: int | None = None
    registers: int | None = None
    sites: int | None = None


def listed(inputs: Sequence[Any], options: Options, part: Part, progress: Progress = silent) -> Iterator[Listed]:
    """The kernels of the inputs in order; an input that cannot be read is added to the problems of `part`."""
    for item in part.files_of(inputs, options.isa):
        with part.collecting(name_of(item)):
            yield from kernels_of(read(item), options, part, progress)


def _of_text(path: str, function: ir.Function) -> Listed:
    """A kernel of a parsed text, with the number of its sites and without its instructions."""
    sites = sum(instruction.site is not None for instruction in function.instructions)
    return Listed(path, replace(function, instructions=()), sites=sites)


def kernels_of(content: Content, options: Options, part: Part, progress: Progress) -> Iterator[Listed]:
    """The selected kernels of one input. Raises InputError if it cannot be read."""
    progress(f"reading {content.path}")
    if content.kind in ("cubin", "fatbin", "host", "cache"):
        yield from _compiled(content, options, part)
        return
    for loaded in load(content, options):
        for module in loaded.modules:
            for function in module.kernels():
                if chosen(options, function.name):
                    yield _of_text(content.path, function)


def _compiled(content: Content, options: Options, part: Part) -> Iterator[Listed]:
    from ptxaudit.frontend.artifacts.container import read_images
    from ptxaudit.frontend.artifacts.cubin import read_cubin

    kinds = {None: {"cubin", "ptx"}, "ptx": {"ptx"}, "sass": {"cubin"}, "both": {"cubin", "ptx"}}[options.isa]
    for image, data in read_images(selected(content, options, kinds)):
        with part.collecting(content.path):
            if isinstance(data, InputError):
                raise data
            facts = Image(image.name, image.kind, image.arch, image.size, image.compressed)
            if image.kind == "ptx":
                yield from _ptx(content, facts, data, options)
                continue
            cubin = read_cubin(data, image.name, oldest=0)
            for fault in cubin.faults:
                part.add_problem(fault, content.path)
            yield from _cubin(content, facts, cubin, data, options)


def _cubin(content: Content, image: Image, cubin: Cubin, data: bytes, options: Options) -> Iterator[Listed]:
    from ptxaudit.frontend.artifacts.lines import SOURCE_SECTION
    from ptxaudit.frontend.sass.lift import signature

    image = replace(
        image,
        lines=SOURCE_SECTION in cubin.sections,
        producer=cubin.producer or cubin.version and f"CUDA {cubin.version}",
    )
    taken = usage(data)
    for function in cubin.functions:
        if function.entry and chosen(options, function.name):
            yield Listed(
                content.path,
                signature(cubin, function),
                image,
                len(function.code),
                taken.get(function.name, NOTHING_KNOWN).registers,
            )


def _ptx(content: Content, image: Image, data: bytes, options: Options) -> Iterator[Listed]:
    from ptxaudit.frontend.ptx.headers import without_bodies

    headers = without_bodies(decode(data, image.name)).encode()
    for loaded in load(Content(image.name, "ptx", headers), Options()):
        image = replace(image, lines=b"\n\t.loc\t" in data or b".loc " in data, producer=loaded.toolchain or "")
        for module in loaded.modules:
            for function in module.kernels():
                if chosen(options, function.name):
                    yield Listed(content.path, replace(function, shared_static=0), image)  # declared in its body
