"""Turns cubins into modules, a portion at a time, with many per process of the disassembler.

    for portion in portions([Content("a.cubin", …), Content("b.cubin", …)]):
        portion.path, portion.module, portion.errors

The disassembler takes a third of a second to start and then prints 40,000 instructions a second. The code of many
small cubins therefore goes through one process, and a large cubin through several, so that memory does not grow with
the input. While one batch is audited, the next is disassembled.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.faults import as_input_error
from ptxaudit.base.records import Record
from ptxaudit.frontend.artifacts.usage import Usage, usage
from ptxaudit.frontend.inputs import Content
from ptxaudit.ir import nodes as ir

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from ptxaudit.frontend.artifacts.cubin import CodeSection, Cubin
    from ptxaudit.frontend.sass.disassemble import Line
    from ptxaudit.frontend.sass.lift import Memo, Positions
    from ptxaudit.report.pairing import PtxMap

BATCH_BYTES = 2 << 20  # code of one batch: 130,000 instructions, about 3 s of the disassembler
PORTION_BYTES = 128 << 10  # code of one portion, which is lifted as a whole: an instruction takes a kilobyte
MOST_KNOWN = 50_000  # lines whose lowering is kept for the next portion or cubin

Code = dict[str, "tuple[Line, ...] | InputError"]  # by function
Wanted = Callable[[Content, str], bool]  # an input, a kernel's mangled name -> whether it is selected
Item = TypeVar("Item")


def everything(content: Content, name: str) -> bool:
    """Selects all kernels."""
    return True


@lru_cache(1)
def _lowered(sm: int) -> Memo:
    """The lowering of each line, shared by all cubins of the architecture that was read last."""
    return {}


class _Image:
    """A cubin with what all its portions share."""

    def __init__(self, cubin: Cubin) -> None:
        self.cubin = cubin

    @cached_property
    def positions(self) -> Positions:
        from ptxaudit.frontend.sass.lift import positions

        return positions(self.cubin)

    @cached_property
    def lowered(self) -> Memo:
        return _lowered(self.cubin.sm)

    @cached_property
    def usage(self) -> dict[str, Usage]:
        return usage(self.cubin.elf)

    @cached_property
    def known(self) -> PtxMap | None:
        from ptxaudit.report.pairing import ptx_map

        return ptx_map(self.cubin)


class Portion(Record):
    """Some kernels of a cubin with the functions that they call.

    path, key: of the content that it was cut from; key is its `id`. (The content itself may be freed.) names: the
    kernels of the whole cubin, selected or not, in its first portion; () in the others; error: why nothing of it is
    available; faults: where the cubin contradicts itself, in its first portion.
    """

    path: str
    key: int
    names: tuple[str, ...] = ()
    error: InputError | None = None
    faults: tuple[InputError, ...] = ()
    _image: _Image | None = None
    _functions: tuple[CodeSection, ...] = ()
    _code: Code | None = None

    @property
    def code_bytes(self) -> int:
        return sum(len(function.code) for function in self._functions)

    @property
    def cubin(self) -> Cubin | None:
        """The cubin with the functions of this portion only."""
        return replace(self._image.cubin, functions=self._functions) if self._image else None

    @property
    def usage(self) -> dict[str, Usage]:
        """The resources that each function of the cubin uses."""
        return self._image.usage if self._image else {}

    @property
    def known(self) -> PtxMap | None:
        """ptxas's map from the cubin to PTX, where it has one."""
        return self._image.known if self._image else None

    @property
    def errors(self) -> tuple[InputError, ...]:
        """One for each function that did not decode; in the first portion also the cubin's faults."""
        found = [*self.faults, *(lines for lines in (self._code or {}).values() if isinstance(lines, InputError))]
        return tuple(dataclasses.replace(error, file=self.path) for error in found)

    @property
    def module(self) -> ir.Module | None:
        """The functions, lifted; None where none was selected. Raises InputError if nothing decodes."""
        from ptxaudit.frontend.sass.lift import lift_module

        if self.error is not None:
            raise self.error
        if self._image is None or self._code is None:
            return None
        if len(self._image.lowered) > MOST_KNOWN:
            self._image.lowered.clear()
        cubin = replace(self._image.cubin, functions=self._functions)
        return lift_module(cubin, self._code, self._image.positions, self._image.lowered)


def portions(contents: Iterable[Content], wanted: Wanted = everything) -> Iterator[Portion]:
    """The selected functions of some cubins, in order; at least one portion for each. The disassembler starts at
    once."""
    import_module(
        "ptxaudit.frontend.sass.disassemble"
    )  # here, because two threads that import at the same time wait for each other
    return _single(one_ahead(_batches(contents, wanted)))


def _single(batches: Iterator[list[Portion]]) -> Iterator[Portion]:
    import_module("ptxaudit.frontend.sass.lift")  # needed next: imported while the disassembler runs
    for batch in batches:
        batch.reverse()
        while batch:
            yield batch.pop()  # a portion can be freed once audited


def module(data: bytes, file: str, code: Code | None = None) -> tuple[ir.Module, tuple[InputError, ...]]:
    """The module of a small cubin, as one portion, and an error for each function that did not decode.

    code: what `disassembled` returned for it. Raises InputError if it cannot be read, or if nothing in it decodes.
    """
    content = Content(file, "cubin", data)
    image = _image(content)
    portion = Portion(file, 0, (), None, image.cubin.faults, image, image.cubin.functions, code)
    if code is None:
        (portion,) = _decoded([portion])
    lifted = portion.module
    assert lifted is not None  # it has an image and code
    return lifted, portion.errors


def disassembled(cubins: Sequence[bytes | None]) -> list[Code | None]:
    """The code of several small cubins, by one process of the disassembler for each architecture; None where there is
    no cubin, or where `module` will report what is wrong with it."""
    from ptxaudit.frontend.artifacts.cubin import read_cubin
    from ptxaudit.frontend.sass.disassemble import disassemble

    out: list[Code | None] = [None for _ in cubins]
    read = {}
    for at, data in enumerate(cubins):
        with suppress(InputError):
            if data:
                read[at] = read_cubin(data, "")
    with suppress(InputError):
        for at, code in zip(read, disassemble(list(read.values())), strict=True):
            out[at] = code
    return out


def one_ahead(stream: Iterator[Item]) -> Iterator[Item]:
    """The items of a stream, each computed in a thread while the previous one is used; the first starts now."""
    from concurrent.futures import ThreadPoolExecutor

    pool, done = ThreadPoolExecutor(1), object()
    return _results(pool, pool.submit(next, stream, done), stream, done)


def _results(pool: ThreadPoolExecutor, step: Future[Any], stream: Iterator[Item], done: object) -> Iterator[Item]:
    # Not `with pool`: a stream that is abandoned midway is closed wherever the garbage collector runs, and waiting for
    # the thread there is a deadlock if the interpreter is just starting or ending a thread. A pool without an owner
    # ends by itself.
    while (item := step.result()) is not done:
        step = pool.submit(next, stream, done)
        yield item


def _image(content: Content) -> _Image:
    from ptxaudit.frontend.artifacts.cubin import read_cubin

    return _Image(read_cubin(bytes(content.data), content.path))


def _batches(contents: Iterable[Content], wanted: Wanted) -> Iterator[list[Portion]]:
    batch: list[Portion] = []
    size = 0
    for content in contents:
        for portion in _cut(content, wanted):
            if batch and size + portion.code_bytes > BATCH_BYTES:
                yield _decoded(batch)
                batch, size = [], 0
            batch.append(portion)
            size += portion.code_bytes
    if batch:
        yield _decoded(batch)


def _cut(content: Content, wanted: Wanted) -> Iterator[Portion]:
    """The portions of one cubin; nothing is disassembled yet."""
    of = content.path, id(content)
    try:
        image = _image(content)
    except Exception as error:  # faults too: they would end the stream, and with it all later files
        yield Portion(*of, error=as_input_error(error))
        return
    functions = {function.name: function for function in image.cubin.functions}
    names = tuple(name for name, function in functions.items() if function.entry)
    with_first = names, image.cubin.faults
    chosen: dict[str, CodeSection] = {}
    size, first = 0, True
    anywhere = _through_pointers(image.cubin, functions)
    for name in (name for name in names if wanted(content, name)):
        for function in (*_called(functions[name], functions), *anywhere):
            if function.name not in chosen:
                chosen[function.name] = function
                size += len(function.code)
        if size > PORTION_BYTES + sum(len(function.code) for function in anywhere):
            listed, faults = with_first if first else ((), ())
            yield Portion(*of, listed, None, faults, image, tuple(chosen.values()))
            chosen, size, first = {}, 0, False
    if chosen:
        listed, faults = with_first if first else ((), ())
        yield Portion(*of, listed, None, faults, image, tuple(chosen.values()))
    elif first:
        yield Portion(*of, names, None, image.cubin.faults)


def _called(function: CodeSection, functions: dict[str, CodeSection]) -> list[CodeSection]:
    """A function and all functions that its code refers to, directly or indirectly."""
    out = {function.name: function}
    waiting = [function]
    while waiting:
        for relocation in waiting.pop().relocations:
            other = functions.get(relocation.symbol.section.removeprefix(".text."))
            if other is not None and other.name not in out:
                out[other.name] = other
                waiting.append(other)
    return list(out.values())


def _through_pointers(cubin: Cubin, functions: dict[str, CodeSection]) -> list[CodeSection]:
    """The functions that a kernel may call without a reference in its code: memory may contain pointers to them."""
    from ptxaudit.frontend.artifacts.cubin import addresses_taken

    taken = cubin.addressed | addresses_taken(functions.values())
    out = {other.name: other for name in functions if name in taken for other in _called(functions[name], functions)}
    return [function for function in out.values() if not function.entry]


def _decoded(batch: list[Portion]) -> list[Portion]:
    """The portions with their code; runs one process of the disassembler for each architecture."""
    from ptxaudit.frontend.sass.disassemble import disassemble

    out = list(batch)
    for sm in sorted({portion.cubin.sm for portion in batch if portion.cubin}):
        places = [at for at, portion in enumerate(batch) if portion.cubin and portion.cubin.sm == sm]
        try:
            code = disassemble([cubin for at in places if (cubin := batch[at].cubin) is not None])
        except Exception as error:
            for at in places:
                out[at] = replace(batch[at], error=dataclasses.replace(as_input_error(error), file=batch[at].path))
            continue
        for at, lines in zip(places, code, strict=True):
            out[at] = replace(batch[at], _code=lines)
    return out
