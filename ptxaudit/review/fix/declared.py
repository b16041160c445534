"""Finds the declaration of a shared array in the source: its dimensions and its element.

    variable _ZZ9transposeIfLi32ELi33EEvPKT_PS0_iE4tile of 4,224 bytes, `__shared__ T tile[Tile][Pitch];`
 -> Declared(dims=(32, 33), element=4, rows=(132,))

Names of dimensions are looked up among template arguments (in the mangled name) and constants of the file, then of the
files that it includes. One dimension without a value follows from the variable's size if the size of the element is
known. A declaration whose sizes do not add up is not used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial
from math import prod

from ptxaudit.base.demangle import bracket_depths, demangle
from ptxaudit.base.records import Record
from ptxaudit.pipeline.kernels import Examined
from ptxaudit.review.fix.arrays import Array
from ptxaudit.review.fix.cpp import SIZES, Declaration, Text, read, value_of

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_MOST_FILES = 100  # that a kernel's sources include

Headers = Callable[[], Mapping[str, str]]  # `constants_of`


class Declared(Record, eq=False):
    """An array's declaration. dims: its numbers, outermost first, () if it is not an array; element: bytes; names:
    the values of its function's template parameters."""

    text: Text
    declaration: Declaration
    dims: tuple[int, ...]
    element: int
    names: dict[str, str]

    @property
    def place(self) -> tuple[str, int]:
        """File, and place of the name in its text."""
        return self.declaration.file, self.declaration.place

    @property
    def rows(self) -> tuple[int, ...]:
        """The stride in bytes of each dimension but the last, innermost first: 68 and 1088 for float[2][16][17]."""
        return tuple(self.element * prod(self.dims[k:]) for k in range(len(self.dims) - 1, 0, -1))

    @property
    def type(self) -> str:
        """The type of the element as the source spells it; for a template parameter its argument."""
        return self.names.get(self.declaration.type.text, self.declaration.type.text)


def declared(examined: Examined, wanted: Container[str] | None = None) -> dict[str, Declared]:
    """variable -> its declaration, for the shared variables of a kernel whose declaration is found. wanted: only
    these; None = all."""
    variables = (v for v in examined.function.variables if v.space.startswith("shared") and v.size)
    sizes = {v.name: v.size for v in variables if wanted is None or v.name in wanted}
    texts = {file: text for file in _files(examined) if (text := examined.lines.text(file))} if sizes else {}
    sources = {file: text for file, text in texts.items() if _has_shared(text)}
    headers = cache(partial(constants_of, texts, examined.lines.text))
    found = ((name, _declared(name, size, sources, headers)) for name, size in sizes.items())
    return {name: where for name, where in found if where is not None}


@lru_cache(maxsize=8)
def _has_shared(text: str) -> bool:
    """A source may declare shared variables. Cached, as it is called for each kernel of a file, which may be long."""
    return "__shared__" in text


def _declared(variable: str, size: int, sources: Mapping[str, str], headers: Headers) -> Declared | None:
    """The declaration of a variable of this size; None if none is found, or several match."""
    scope, _, name = demangle(variable).rpartition("::")
    if demangle(variable) == variable:
        scope, name = "", variable
    function, arguments = _function(scope)
    found = []
    for file, text in sources.items():
        if name in text:
            here = read(text, file)
            found += [
                (here, d)
                for d in here.declarations
                if d.name == name and d.function in (function, "" if not scope else None)
            ]
    if len(found) != 1:
        return None
    here, declaration = found[0]
    names = dict(zip(declaration.templates, arguments)) if len(arguments) >= len(declaration.templates) else {}
    return _sized(here, declaration, names, size, headers)


def _files(examined: Examined) -> Iterable[str]:
    """Source files of the kernel's sites, the input first, each once."""
    places = [site.source for site in examined.entry.sites if site.source is not None]
    named = (file for place in places for file in (place.file, *(frame.file for frame in place.inlined)))
    found: dict[str, str] = {}
    for file in dict.fromkeys((examined.entry.input, *named)):
        found.setdefault(os.path.realpath(file), file)
    return found.values()


def constants_of(texts: Mapping[str, str], load: Callable[[str], str | None]) -> dict[str, str]:
    """name -> text of its value: constants of the files that the sources include by `#include "…"`, transitively,
    where all that define the name agree. load: the text of a file, None if it cannot be read."""
    work = [path for file, text in texts.items() for path in _included(file, text)]
    seen: dict[str, str | None] = dict(texts)
    found: dict[str, str] = {}
    unlike: set[str] = set()
    while work and len(seen) < _MOST_FILES:
        file = work.pop()
        if file in seen:
            continue
        text = seen[file] = load(file)
        work += _included(file, text) if text else ()
    for file, text in seen.items():
        for name, value in read(text, file).constants.items() if text else ():
            if found.setdefault(name, value) != value:
                unlike.add(name)
    return {name: value for name, value in found.items() if name not in unlike}


@lru_cache(maxsize=64)
def _included(file: str, text: str) -> tuple[str, ...]:
    """Paths of the files that a file includes from its own folder."""
    return tuple(os.path.normpath(os.path.join(os.path.dirname(file), name)) for name in _INCLUDE.findall(text))


def _function(scope: str) -> tuple[str, list[str]]:
    """(name, template arguments) of the function in a demangled scope: "void a::f<float, 3>(int)" -> ("f", ["float",
    "3"])."""
    depths = bracket_depths(scope)
    end = next((k for k in range(len(scope) - 1, -1, -1) if depths[k] == 0 and scope[k] == "("), len(scope))
    head = scope[:end]
    arguments: list[str] = []
    if head.endswith(">"):
        start = max(k for k in range(len(head)) if depths[k] == 0 and head[k] == "<")
        arguments, head = list(_split(head[start + 1 : -1])), head[:start]
    return head.rpartition("::")[2].rpartition(" ")[2], arguments


def _split(text: str) -> Iterator[str]:
    depths, start = bracket_depths(text), 0
    for k, letter in enumerate(text):
        if letter == "," and depths[k] == 0:
            yield text[start:k].strip()
            start = k + 1
    yield text[start:].strip()


def _sized(text: Text, declaration: Declaration, names: dict[str, str], size: int, headers: Headers) -> Declared | None:
    """The declaration with its numbers; None if they do not add up to `size` bytes."""
    known = {**text.constants, **names}
    dims = [value_of(dim.text, known) for dim in declaration.dims]
    if None in dims:  # headers may be long, and are seldom needed
        known = {**headers(), **known}
        dims = [value_of(dim.text, known) for dim in declaration.dims]
    element = SIZES.get(names.get(declaration.type.text, declaration.type.text))
    if dims.count(None) == 1 and element:
        others = element * prod(dim for dim in dims if dim)
        dims[dims.index(None)] = size // others if others and size % others == 0 else None
    stated = tuple(dim for dim in dims if dim is not None)
    if len(stated) < len(dims) or declaration.external or prod(stated) <= 0 or size % prod(stated):
        return None
    each = size // prod(stated)
    return Declared(text, declaration, stated, each, names) if element in (None, each) else None


def plain_variables(found: dict[str, Declared]) -> Iterator[str]:
    """Variables that are arrays of elements, not a single structure."""
    yield from (name for name, d in found.items() if d.dims and not d.declaration.body)


def rows_of(array: Array, found: Declared | None) -> tuple[int, ...]:
    """Bytes of rows by the declaration; if the element is a structure, it is a row itself."""
    if found is None or array.part:
        return ()
    return (*found.rows, *((found.element,) if found.element > array.width else ()))
