"""Divides an audit into pieces for several processes, and joins their results.

    ["lib.so"] for 4      ->  4 pieces of lib.so, each with every kernel whose name's checksum is one of 0 to 3 modulo 4
    300 files for 4       ->  16 pieces of 19 files

If there are fewer files than processes, the kernels of a file are divided: each piece reads the file and examines its
own kernels. The results are joined in the order of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import field

from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.frontend.inputs import Content, read
from ptxaudit.frontend.options import Options, Share
from ptxaudit.frontend.source_text import decode
from ptxaudit.pipeline.collect import Part, joined_inputs, silent
from ptxaudit.report.counterparts import stem
from ptxaudit.report.model import Kernel

PIECES_A_WORKER = 4  # of files, which a process takes one after the other
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")

Place = tuple[str, str, str]  # instruction set, architecture ("" where the file does not say), name


class Piece(Record):
    """The unit of work of a process. share: the kernels of these files; None: all."""

    files: tuple[Any, ...]
    share: Share | None = None


class Whole(Record):
    """Pieces that become one part. order: the position of each kernel in the divided file."""

    pieces: tuple[Piece, ...]
    order: dict[Place, int] = field(default_factory=dict)

    def joined(self, parts: Sequence[Part]) -> Part:
        """The results of the pieces, as a single process would give them."""
        if len(parts) == 1:
            return parts[0]
        whole = Part(inputs=joined_inputs(parts))
        for part in parts:
            whole.names_of |= part.names_of
            for file, names in part.parameters_of.items():
                whole.parameters_of.setdefault(file, set()).update(names)
            whole.kernels += part.kernels
            whole.problems += [problem for problem in part.problems if problem not in whole.problems]
            whole.passing += [problem for problem in part.passing if problem not in whole.passing]
            whole.failed = whole.failed or part.failed
        whole.kernels.sort(key=self._place)
        by_name = {name: at for (_, _, name), at in reversed(self.order.items())}
        whole.problems.sort(key=lambda problem: by_name.get(problem.kernel or "", -1))
        return whole

    def _place(self, kernel: Kernel) -> int:
        exactly = self.order.get((kernel.isa, kernel.arch, kernel.name))
        return self.order.get((kernel.isa, "", kernel.name), len(self.order)) if exactly is None else exactly


def divided(files: Sequence[Any], options: Options, workers: int) -> list[Whole]:
    """Divides files into pieces for a number of processes."""
    if len(files) < workers and options.isa != "both":  # both: a kernel's two views are paired within one piece
        return [_of_file(file, options, -(-workers // len(files))) for file in files]
    size = max(1, -(-len(files) // (PIECES_A_WORKER * workers)))
    return [Whole((Piece(tuple(some)),)) for some in batches(files, options, size)]


def batches(files: Sequence[Any], options: Options, size: int) -> Iterator[Sequence[Any]]:
    """The files, `size` at a time; more where that would separate files whose kernels are paired."""
    stems = [stem(str(file)) for file in files] if options.isa == "both" else []
    last = {of: at for at, of in enumerate(stems)}
    start = 0
    while start < len(files):
        end, at = min(start + size, len(files)), start
        while stems and at < end:
            end, at = max(end, last[stems[at]] + 1), at + 1
        yield files[start:end]
        start = end


def _of_file(file: Any, options: Options, workers: int) -> Whole:
    try:
        content = read(file)
        places = [] if _is_kept(content, options) else list(_kernels(content, options))
    except InputError:  # reported by the process that audits it
        places = []
    count = min(workers, len({name for _, _, name in places}))
    if count < 2:
        return Whole((Piece((file,)),))
    order: dict[Place, int] = {}
    for at, (isa, arch, name) in enumerate(places):
        order.setdefault((isa, arch, name), at)
        order.setdefault((isa, "", name), at)
    return Whole(tuple(Piece((file,), (at, count)) for at in range(count)), order)


def _is_kept(content: Content, options: Options) -> bool:
    """Its results are in the cache."""
    if not options.cache:
        return False
    from ptxaudit.review.result_cache import ResultCache

    return ResultCache(options).get(content).part is not None


def _kernels(content: Content, options: Options) -> Iterator[Place]:
    """The kernels of a file in order, without their code; none for a source, which each piece would have to compile."""
    if content.kind == "ptx":
        from ptxaudit.frontend.ptx.headers import without_bodies

        for found in _ENTRY.finditer(without_bodies(decode(bytes(content.data), content.path))):
            yield "ptx", "", found[1]
    elif content.kind in ("cubin", "fatbin", "host"):
        from ptxaudit.pipeline.contents import kernels_of

        for one in kernels_of(content, options, Part(), silent):
            if one.image is not None:
                yield "sass" if one.image.kind == "cubin" else "ptx", one.image.arch, one.function.name
