"""Turns one input into modules of operations: compiles sources, opens containers, parses, lifts.

Content("k.cu", "cuda", b"__global__ …")  ->  Loaded(modules=(ir.Module(…),), toolchain="nvrtc 13.5", …)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import field
from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.faults import as_input_error
from ptxaudit.base.records import Record
from ptxaudit.base.work import Account
from ptxaudit.frontend.artifacts.too_old import TooOld, by_architecture
from ptxaudit.frontend.artifacts.usage import Usage
from ptxaudit.frontend.compile import toolchains
from ptxaudit.frontend.compile.compile_commands import Flags, macro_name
from ptxaudit.frontend.inputs import Content
from ptxaudit.frontend.launch.matching import match
from ptxaudit.frontend.launch.signature import numbered_name, short_name, with_source_names
from ptxaudit.frontend.options import DEFAULT_ARCH, Options, chosen
from ptxaudit.frontend.source_text import SourceLines, decode
from ptxaudit.ir import nodes as ir
from ptxaudit.pipeline.machine_code import Code, Portion, portions
from ptxaudit.pipeline.machine_code import module as machine_module
from ptxaudit.report.spills import REMARKS, compiled_usage, named_by, without_remarks

if TYPE_CHECKING:
    from ptxaudit.frontend.artifacts.container import Image
    from ptxaudit.frontend.compile.compiled import Compiled
    from ptxaudit.report.pairing import PtxMap

LEFT_OUT = "the build also uses {}, which the audit leaves out: its code may differ"


class Loaded(Record):
    """modules: one per instruction set and image; toolchain: the compilers, where known; notes: sentences for every
    kernel; lines: reads source lines for display; errors: one for each function that was left out; usage: the
    resources of each machine-code function; names: kernels that exist, selected or not, besides those in the modules;
    known: ptxas's map from machine code to PTX, if both are audited; log: the compiler's warnings; account: the steps
    spent on reading, where each kernel's account begins."""

    modules: tuple[ir.Module, ...]
    toolchain: str | None = None
    notes: tuple[str, ...] = ()
    lines: SourceLines = field(default_factory=SourceLines)
    errors: tuple[InputError, ...] = ()
    usage: dict[str, Usage] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    known: PtxMap | None = None
    log: str = ""
    account: Account = field(default_factory=Account)

    def parameter_positions(self, function: ir.Function) -> dict[str, int]:
        """Every name of a kernel's parameters -> its position. Names: the position, the PTX name, the source name
        and, if unambiguous, its name in formulas."""
        called = [
            (short_name(function.name, numbered_name(function.name, at), at), str(at), numbered_name(function.name, at))
            for at, _ in enumerate(function.parameters)
        ]
        positions = {name: at for at, names in enumerate(called) for name in names}
        return positions | {parameter.name: at for at, parameter in enumerate(function.parameters)}


def load(content: Content, options: Options, code: Cubins | None = None) -> Iterator[Loaded]:
    """The modules of an input, a portion at a time; `code` has the cubins that are disassembled together.

    Raises InputError where it has none.
    """
    match content.kind:
        case "cuda":
            yield loaded_of(compiled_of(content, options), content, options)
        case "ptx":
            yield _from_ptx(content, options)
        case "cubin":
            yield from _from_cubin(content, options, code or Cubins([content], options))
        case "fatbin" | "host" | "cache":
            yield from _from_container(content, options)
        case _:
            raise _no_code(content.path)


def wanted(options: Options, content: Content, name: str) -> bool:
    """Whether a kernel is selected; in a recorded file those that were launched are, unless kernels are named."""
    recorded = any(launch.grid is not None for launch in content.launches) and not options.kernels
    return chosen(options, name) and (not recorded or bool(match(content.launches, name)))


def _no_code(path: str) -> InputError:
    hint = "name source .cu and PTX .ptx; PTX begins with a .version directive"
    if Path(path).suffix.lower() in (".py", ".ipynb"):
        hint = "name what the program compiles: a Triton, CuPy or Numba cache folder, a cubin, or a .cu file"
    return InputError("this is neither CUDA source nor PTX nor a file with device code", hint, path)


class Cubins:
    """The cubins among the inputs, in order: many go through one process of the disassembler."""

    def __init__(self, contents: Iterable[Content], options: Options) -> None:
        cubins = [content for content in contents if content.kind == "cubin"]
        self._stream = portions(cubins, partial(wanted, options)) if cubins else iter(())
        self._next: Portion | None = None

    def of(self, content: Content) -> Iterator[Portion]:
        """The portions of the next cubin."""
        portion, self._next = self._next or next(self._stream, None), None
        while portion is not None and portion.key != id(content):  # left over from a cubin that raised an error
            portion = next(self._stream, None)
        while portion is not None and portion.key == id(content):
            yield portion
            portion = next(self._stream, None)
        self._next = portion


def compiled_of(content: Content, options: Options) -> Compiled:
    """Compiles a source by NVRTC; by nvcc if requested, or if nvcc is installed and the source has host code. Raises
    InputError if it does not compile."""
    if options.compiler == "nvcc":
        tool = toolchains.get("nvcc", options.toolchain) if options.toolchain else None
        return _compiled_by_nvcc(content, options, tool)
    from ptxaudit.frontend.compile.compiler_log import HostCode
    from ptxaudit.frontend.compile.nvrtc import compile_source

    tool = toolchains.get("nvrtc", options.toolchain) if options.toolchain else None
    try:
        return _compiled_by(compile_source, content, options, tool)
    except HostCode as error:
        from ptxaudit.frontend.compile.nvcc import at_hand

        nvcc = at_hand(options.toolchain) if options.compiler is None else None
        if nvcc is None:
            raise
        compiled = _compiled_by_nvcc(content, options, nvcc)
        return replace(compiled, notes=(f"compiled by nvcc, because it has host code ({error.code})", *compiled.notes))


def _compiled_by_nvcc(content: Content, options: Options, tool: toolchains.Tool | None) -> Compiled:
    from ptxaudit.frontend.compile.nvcc import compile_source

    return _compiled_by(compile_source, content, options, tool)


def _compiled_by(
    compile_source: Callable[..., Compiled], content: Content, options: Options, tool: toolchains.Tool | None
) -> Compiled:
    text = decode(bytes(content.data), content.path)
    flags = options.commands.get(os.path.realpath(content.path), Flags())
    compiled = _reassembled(
        compile_source(
            Path(content.path) if content.is_file else _with_line_break(text),
            arch=options.arch or DEFAULT_ARCH,
            include=(*flags.include, *options.include),
            defines=(*flags.defines, *options.defines),
            std=flags.std or options.std,
            instantiate=options.instantiate,
            options=(*_passed_on(flags, options), *(() if tool is None or named_by(tool.version) else (REMARKS,))),
            name=content.path,
            tool=tool,
        ),
        options,
        flags,
    )
    notes = (LEFT_OUT.format(", ".join(flags.ignored)),) if flags.ignored else ()
    return replace(compiled, notes=(*notes, *compiled.notes))


def _passed_on(flags: Flags, options: Options) -> tuple[str, ...]:
    """The options of a build that NVRTC and nvcc have in common. Macros that the user defines stay defined."""
    defined = set(map(macro_name, options.defines))
    return (
        *(f"--undefine-macro={name}" for name in flags.undefines if name not in defined),
        *(f"--pre-include={header}" for header in flags.headers),
        *flags.code,
        *(f"--ptxas-options={option}" for option in flags.ptxas),
    )


def loaded_of(compiled: Compiled, content: Content, options: Options, code: Code | None = None) -> Loaded:
    """The modules of a compiled source. code: its machine code, if it has already been disassembled."""
    text = decode(bytes(content.data), content.path)
    modules: list[ir.Module] = []
    errors: tuple[InputError, ...] = ()
    account = Account()
    isa = options.isa or ("sass" if options.ptxas else "ptx")
    if isa in ("ptx", "both"):
        modules.append(_ptx_module(compiled.ptx, content.path, account))
    if isa in ("sass", "both"):
        if compiled.cubin is None:
            raise InputError(
                f"{compiled.arch} is a virtual architecture: there is no machine code for it",
                f"name a real one: --arch {compiled.arch.replace('compute', 'sm')}",
                content.path,
            )
        module, errors = machine_module(compiled.cubin, content.path, code)
        modules.append(module)
    lines = SourceLines({compiled.file: text})
    named = tuple(with_source_names(module, text) for module in modules)
    return Loaded(
        named,
        compiled.compiler,
        compiled.notes,
        lines,
        errors,
        compiled_usage(compiled.cubin or b"", compiled.version, compiled.log),
        known=_known(compiled.cubin, options),
        log=without_remarks(compiled.log),
        account=account,
    )


def _with_line_break(text: str) -> str:
    """Marks a string as text, not a path, by the compilers' convention: it contains a line break."""
    return text if "\n" in text else text + "\n"


def _reassembled(compiled: Compiled, options: Options, flags: Flags) -> Compiled:
    """The result with machine code that the requested ptxas makes of the same PTX."""
    if not options.ptxas:
        return compiled
    arch = compiled.arch.replace("compute", "sm")
    from ptxaudit.frontend.compile.ptxas import assemble

    tool = toolchains.get("ptxas", options.ptxas)
    registers = [option for option in flags.code if option.startswith("--maxrregcount")]
    remarks = () if named_by(tool.version) else ("-v",)
    made = assemble(compiled.ptx, arch, (*remarks, *registers, *flags.ptxas), compiled.file, tool)
    return replace(
        compiled,
        cubin=made.cubin,
        compiler=f"{compiled.compiler}, ptxas {tool.version}",
        log="\n".join(filter(None, (without_remarks(compiled.log), made.log))),
    )


def _from_ptx(content: Content, options: Options) -> Loaded:
    isa = options.isa or ("sass" if options.ptxas else "ptx")
    if isa == "sass" and not options.ptxas:
        raise InputError(
            "this is PTX: there is no machine code in it",
            "audit the cubin, or assemble it: --isa both",
            content.path,
        )
    text = decode(bytes(content.data), content.path)
    account = Account()
    module = _ptx_module(text, content.path, account)
    has_own = not options.ptxas and content.has_beside(".cubin")
    if isa == "ptx" or has_own:
        return Loaded((module,), module.producer or None, _newer(module), account=account)
    from ptxaudit.frontend.compile.ptxas import assemble

    tool = toolchains.get("ptxas", options.ptxas)
    assembled = assemble(text, options.arch, () if named_by(tool.version) else ("-v",), content.path, tool)
    machine, errors = machine_module(assembled.cubin, content.path)
    made_by = f"ptxas {assembled.tool.version}"
    modules = (module, machine) if isa == "both" else (machine,)
    return Loaded(
        modules,
        f"{module.producer}, {made_by}" if module.producer else made_by,
        _newer(module),
        errors=errors,
        usage=compiled_usage(assembled.cubin, tool.version, assembled.log),
        known=_known(assembled.cubin, options),
        account=account,
    )


def _newer(module: ir.Module) -> tuple[str, ...]:
    """A note on PTX that parsed although its version is newer than the grammar."""
    from ptxaudit.frontend.ptx.versions import NEWEST, is_newer

    if not is_newer(module.version):
        return ()
    return (f"the file is PTX {module.version}; this version of ptxaudit was tested with PTX up to {NEWEST}",)


def _from_cubin(content: Content, options: Options, code: Cubins) -> Iterator[Loaded]:
    if options.isa == "ptx":
        raise InputError("this is a cubin: there is no PTX in it", "leave out --isa", content.path)
    alone = not content.has_beside(".ptx")
    for portion in code.of(content):
        if portion.error is not None:
            raise portion.error
        yield _or_error(partial(_from_portion, portion, options, alone))


def _from_portion(portion: Portion, options: Options, alone: bool) -> Loaded:
    """Some kernels of a cubin. Raises InputError if it cannot be read or disassembled.

    alone: no PTX file lies beside it; with --isa both, the PTX embedded in its line information is audited then.
    """
    module = portion.module
    if module is None:
        return Loaded((), names=portion.names, errors=portion.errors)
    known = portion.known if options.isa == "both" else None
    modules: tuple[ir.Module, ...] = (module,)
    account = Account()
    if known and alone and known.text:
        with suppress(InputError):  # it exists for debuggers: nothing guarantees that it is complete
            modules += (_of_kernels(_ptx_module(known.text, portion.path, account), module),)
    return Loaded(
        modules,
        module.producer or None,
        errors=portion.errors,
        usage=portion.usage,
        names=portion.names,
        known=known,
        account=account,
    )


def _of_kernels(ptx: ir.Module, module: ir.Module) -> ir.Module:
    """The PTX with only those of its kernels that are in this portion of the machine code."""
    return replace(
        ptx,
        functions={
            name: function for name, function in ptx.functions.items() if not function.entry or name in module.functions
        },
    )


def _known(cubin: bytes | None, options: Options) -> PtxMap | None:
    if cubin is None or options.isa != "both":
        return None
    from ptxaudit.frontend.artifacts.cubin import read_cubin
    from ptxaudit.report.pairing import ptx_map

    return ptx_map(read_cubin(cubin, ""))


def _from_container(content: Content, options: Options) -> Iterator[Loaded]:
    """The images of a fat binary, object, program, library or archive that --arch and --isa select.

    Machine code comes first, one architecture after the other, so that equal code is disassembled together; then PTX.
    """
    from ptxaudit.frontend.artifacts.container import images, read_images

    taken = selected(content, options)
    failed: list[InputError] = []

    def contents(kind: str) -> Iterator[Content]:
        for image, data in read_images([image for image in taken if image.kind == kind]):
            if isinstance(data, InputError):
                failed.append(data)
            else:
                yield Content(image.name, kind, data, content.launches)

    old: list[TooOld] = []
    for portion in portions(contents("cubin"), partial(wanted, options)):
        if isinstance(portion.error, TooOld):  # a library may have hundreds of these
            old.append(portion.error)
        else:
            yield _or_error(lambda: _from_portion(portion, options, alone=all(image.kind != "ptx" for image in taken)))
    for piece in contents("ptx"):
        account = Account()
        yield _or_error(
            lambda: Loaded((_ptx_module(decode(bytes(piece.data), piece.path), piece.path, account),), account=account)
        )
    failed += [image.damage for image in taken if image.damage]
    if old:
        ptx = any(image.kind == "ptx" for image in images(content.path, content.data))
        failed += by_architecture(old, content.path, ptx)
    if failed:
        yield Loaded((), errors=tuple(failed))


def _or_error(read: Callable[[], Loaded]) -> Loaded:
    """Turns an error in one image into a value, so that the other images are still read."""
    try:
        return read()
    except Exception as error:
        return Loaded((), errors=(as_input_error(error),))


def selected(content: Content, options: Options, kinds: set[str] | None = None) -> list[Image]:
    """The images of a compiled file that --arch and --isa select, machine code first and grouped by architecture; and
    all damaged images.

    kinds: "cubin" and "ptx", instead of the kinds that --isa selects. Raises InputError if there is none.
    """
    from ptxaudit.frontend.artifacts.container import images

    found = images(content.path, content.data)
    kinds = kinds or _kinds(found, options)
    taken = [image for image in found if options.arch in (None, image.arch) and image.kind in kinds or image.damage]
    if all(image.damage for image in taken):
        there = ", ".join(dict.fromkeys(f"{image.kind} for {image.arch}" for image in found if not image.damage))
        raise InputError("there is no such image in this file", f"it has {there}; see --arch and --isa", content.path)
    order = list(dict.fromkeys(image.arch for image in taken))
    return sorted(taken, key=lambda image: (image.kind != "cubin", order.index(image.arch)))


def _kinds(found: Iterable[Image], options: Options) -> set[str]:
    """Machine code where there is any, unless --isa says otherwise."""
    if options.isa is None:
        kinds = {image.kind for image in found if options.arch in (None, image.arch)}
        return {"cubin"} if "cubin" in kinds else kinds
    return {"ptx": {"ptx"}, "sass": {"cubin"}, "both": {"ptx", "cubin"}}[options.isa]


def _ptx_module(text: str, file: str, account: Account) -> ir.Module:
    from ptxaudit.frontend.ptx.lift import lift_module
    from ptxaudit.frontend.ptx.parse import parse_module

    return lift_module(parse_module(text, file), account)
