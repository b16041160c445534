"""Reads the counts of a GPU as profiles with which a report can be compared.

    for one in load(folder, ["part-0.json.gz"]): one.entry["build"], one.profile

A profiler locates instructions by their addresses in memory, where the sections of a cubin are in any order, with
gaps. `locate` finds where each section began: its opcodes match, in order, all instructions that ran there. Sections
with the same opcodes (two virtual methods, `__iAtomicAdd` and `__uAtomicAdd`) may be interchanged: nothing is claimed
about them.
"""

from __future__ import annotations

import gzip
import json
import re
import tarfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from bench.adversary.plan import CUBINS, PTX
from ptxaudit.base.errors import InputError
from ptxaudit.engine.answer.result import KernelResult
from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES, Cubin, read_cubin
from ptxaudit.frontend.sass.disassemble import Line, disassemble
from ptxaudit.frontend.sass.lift import lift_module
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir
from ptxaudit.ir.link import link
from ptxaudit.pipeline.memory_sites import memories, with_sites
from ptxaudit.review.compare import Counted, Profile

ALIGNED = 128  # bytes: code sections begin at multiples
TOGETHER = 40  # cubins per process of the disassembler


class NotLocated(Exception):
    """The instructions that ran fit no arrangement of the cubin's sections."""


@dataclass(frozen=True)
class Counts:
    """One machine instruction that ran. threads: lanes whose predicate held, summed; wavefronts: of it alone; memory:
    its sectors of global memory, their ideal, its sectors of local memory and its tag requests, if they were counted.
    """

    section: str
    offset: int
    warps: int
    threads: int
    wavefronts: int = 0
    ideal: int = 0
    text: str = ""
    memory: tuple[int, ...] = (0, 0, 0, 0)


class Shared:
    """Shared by all launches of a cubin: its kernels, each linked with its callees, and their graphs."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self._kernels: dict[tuple[str, str], tuple[ir.Function, graph.Graph]] = {}
        self._answers: dict[tuple[str, str], KernelResult] = {}

    def kernel(self, name: str, space: str = "shared") -> tuple[ir.Function, graph.Graph]:
        """The kernel with sites in the memories that `space` selects."""
        if (name, space) not in self._kernels:
            function = with_sites(link(self.module, self.module.functions[name]), memories(space))
            self._kernels[name, space] = function, graph.build(function)
        return self._kernels[name, space]

    def without_launch(self, name: str, evaluate: Callable[[], KernelResult], space: str = "shared") -> KernelResult:
        """The answer for a kernel without a launch, which all of its launches share."""
        if (name, space) not in self._answers:
            self._answers[name, space] = evaluate()
        return self._answers[name, space]


@dataclass(frozen=True)
class Truth:
    """One measured launch.

    ran: every instruction that ran, those of shared memory with their wavefronts; alike: sections that cannot be
    distinguished from others, with their sizes in bytes.
    """

    entry: Mapping[str, Any] = field(repr=False)
    cubin: Cubin = field(repr=False)
    shared: Shared = field(repr=False)
    ptx: str = field(repr=False)
    ran: tuple[Counts, ...] = field(repr=False)
    alike: Mapping[str, int] = field(repr=False, default_factory=dict)

    def __str__(self) -> str:
        e = self.entry
        shape = "x".join(map(str, e["grid"])) + " blocks of " + "x".join(map(str, e["block"]))
        return f"seed {e['seed']} {e['build']} #{e['number']} ({shape})"

    @property
    def module(self) -> ir.Module:
        return self.shared.module

    @cached_property
    def starts(self) -> dict[str, int]:
        """The start of each section in the engine's numbering of the kernel's instructions, in bytes."""
        return starts_of(self.module.functions[self.entry["kernel"]])

    def placed(self) -> Iterator[tuple[int, Counts]]:
        """(the engine's place, counts) of the instructions that ran in sections listed with the kernel."""
        for one in self.ran:
            if one.section in self.starts and one.section not in self.alike:
                yield self.starts[one.section] + one.offset, one

    @property
    def elsewhere(self) -> list[Counts]:
        """Shared-memory instructions that ran in functions that the engine does not list with the kernel."""
        return [
            one
            for one in self.ran
            if one.section not in self.starts and one.section not in self.alike and one.wavefronts
        ]

    def told(self, place: int) -> bool:
        """Whether the instruction that ran at a place of the engine's numbering is known: its section is unique."""
        starts = self.starts
        return not any(
            starts[name] <= place < starts[name] + size for name, size in self.alike.items() if name in starts
        )

    @cached_property
    def profile(self) -> Profile:
        e = self.entry
        counted = tuple(Counted(place, one.text, one.warps, one.wavefronts, one.ideal) for place, one in self.placed())
        counters = {kind.removeprefix("_"): round(value) for kind, value in e["hardware"].items() if value is not None}
        return Profile(e["kernel"], counted, counters, tuple(e["grid"]), tuple(e["block"]))


def starts_of(function: ir.Function) -> dict[str, int]:
    """{section: byte offset} in the numbering of a kernel that is lifted with its callees; its own section is at 0."""
    starts = {function.name: 0}
    for note in function.notes:
        name, called, rest = note.replace(" may be called; ", " is called; ").partition(
            " is called; its code follows from offset "
        )
        if called:
            starts[name] = int(rest.removesuffix(" on"), 16)
    return starts


# --- sections -----------------------------------------------------------------------------------


def exchangeable(sections: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """{section: size in bytes} of the sections with the same opcodes as another."""
    same = Counter(tuple(code) for code in sections.values())
    return {name: len(code) * INSTRUCTION_BYTES for name, code in sections.items() if same[tuple(code)] > 1}


def locate(
    places: Sequence[int],
    opcodes: Mapping[int, str],
    sections: Mapping[str, Sequence[str]],
    kernel: str,
    accesses: Set[int] = frozenset(),
) -> dict[str, int]:
    """{section: where it begins} for every section in which something ran. Raises NotLocated.

    places: of the instructions that ran, ascending; opcodes: by place; sections: the opcodes of each, including
    `kernel`; accesses: places that had wavefronts of shared memory. A section runs from its first instruction on, so
    that the lowest place not yet in a section is the beginning of one.
    """
    found: dict[str, int] = {}
    if not _arrange(places, 0, opcodes, accesses, sections, found, [MOST_TRIES]) or kernel not in found:
        raise NotLocated(f"{len(places)} instructions that ran fit no arrangement of {len(sections)} sections")
    return found


MOST_TRIES = 20_000


def _arrange(
    places: Sequence[int],
    at: int,
    opcodes: Mapping[int, str],
    accesses: Set[int],
    sections: Mapping[str, Sequence[str]],
    found: dict[str, int],
    tries: list[int],
) -> bool:
    """Finds sections for places[at:], trying first the one that covers most; adds them to `found`."""
    if at == len(places):
        return True
    if (places[at] - places[0]) % ALIGNED:
        return False
    fits = ((name, _fits(places, at, opcodes, accesses, code)) for name, code in sections.items() if name not in found)
    for name, count in sorted((fit for fit in fits if fit[1]), key=lambda fit: -fit[1]):
        tries[0] -= 1
        found[name] = places[at]
        if tries[0] > 0 and _arrange(places, at + count, opcodes, accesses, sections, found, tries):
            return True
        del found[name]
    return False


def _fits(places: Sequence[int], at: int, opcodes: Mapping[int, str], accesses: Set[int], code: Sequence[str]) -> int:
    """How many instructions ran in a section that begins at places[at]; 0 if the opcodes there differ.

    The profiler has no text for functions that are only reached through tables. There, control flow decides: an
    instruction that does not branch is followed by the next one, and an instruction that had wavefronts of shared
    memory must be able to access it.
    """
    base = places[at]
    end = bisect_left(places, base + len(code) * INSTRUCTION_BYTES)
    ran = [(place - base) // INSTRUCTION_BYTES for place in islice(places, at, end)]
    if any(opcodes[place] not in ("", code[number]) for place, number in zip(islice(places, at, end), ran)):
        return 0
    if any(
        place in accesses and not _ACCESSES.match(code[number]) for place, number in zip(islice(places, at, end), ran)
    ):
        return 0
    blind = not any(opcodes[place] for place in islice(places, at, end))
    if blind and not all(
        after == number + 1 or _BRANCHES.match(code[number]) for number, after in zip(ran, [*ran[1:], None])
    ):
        return 0
    return len(ran)


_ACCESSES = re.compile(r"(LD|LDS|LDSM|LDGSTS|ST|STS|STSM|STAS|ATOM|ATOMS|SYNCS|ARRIVES)(\.|$)|UBLK|UTMA|[A-Z]+GMMA")
_BRANCHES = re.compile(r"BRA|BRX|JMP|JMX|RET|EXIT|CALL|BREAK|BSYNC|WARPSYNC|YIELD|BPT|KILL|NANOSLEEP")


def ran_of(
    entry: Mapping[str, Any], opcodes: Mapping[str, str], sections: Mapping[str, Sequence[Line]]
) -> Iterator[Counts]:
    """The instructions that ran, by section and offset."""
    rows = [row for row in zip(*entry["executed"]) if row[1]]
    places = [place for place, _, _ in rows]
    codes = {name: [line.opcode for line in lines] for name, lines in sections.items()}
    sites = {offset: (wavefronts, ideal) for offset, _, wavefronts, ideal, _, _ in entry["sites"]}
    memory = {place: tuple(figures) for place, *figures in entry.get("memory", ())}
    accesses = {place for place, (wavefronts, _) in sites.items() if wavefronts}
    starts = locate(places, {int(place): opcode for place, opcode in opcodes.items()}, codes, entry["kernel"], accesses)
    order = sorted(((start, name) for name, start in starts.items()), reverse=True)
    for place, executed, lanes in rows:
        start, name = next((start, name) for start, name in order if start <= place)
        text = sections[name][(place - start) // INSTRUCTION_BYTES].text
        of_memory = memory.get(place, (0, 0, 0, 0))
        yield Counts(name, place - start, executed, lanes, *sites.get(place, (0, 0)), text, of_memory)


# --- files --------------------------------------------------------------------------------------


def load(folder: Path, results: Iterable[Path], only: frozenset[str] = frozenset()) -> Iterator[Truth]:
    """The measured launches in a plan's folder, by files of results, of the cubins in `only` or all.

    Those that cannot be read are printed and left out.
    """
    documents = [json.loads(gzip.decompress(Path(path).read_bytes())) for path in results]
    code = code_of(documents)
    by_cubin: dict[str, list[dict[str, Any]]] = {}
    for document in documents:
        for entry in document["launches"]:
            if only and entry["cubin"] not in only:
                continue
            by_cubin.setdefault(entry["cubin"], []).append(entry)
    files = members(folder / CUBINS, set(by_cubin))
    texts = (
        members(folder / PTX, {name.replace(".cubin", ".ptx") for name in by_cubin}) if (folder / PTX).is_file() else {}
    )
    order = list(by_cubin)
    for names in (order[at : at + TOGETHER] for at in range(0, len(order), TOGETHER)):
        cubins = [read_cubin(files[name], name) for name in names]
        for cubin, lines in zip(cubins, disassemble(cubins), strict=True):
            shared = Shared(lift_module(cubin, lines))
            sections = {name: section for name, section in lines.items() if not isinstance(section, InputError)}
            alike = exchangeable({name: [line.opcode for line in section] for name, section in sections.items()})
            for entry in by_cubin[cubin.file]:
                try:
                    ran = tuple(ran_of(entry, code[cubin.file], sections))
                except NotLocated as error:
                    print(f"seed {entry['seed']} {entry['build']}: {error}")
                    continue
                yield Truth(
                    entry, cubin, shared, texts.get(cubin.file.replace(".cubin", ".ptx"), b"").decode(), ran, alike
                )


def code_of(documents: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """{cubin: {place: opcode}}; the launches of a cubin, and the code that ran, may be in several documents."""
    code: dict[str, dict[str, str]] = {}
    for document in documents:
        for cubin, opcodes in document["code"].items():
            code.setdefault(cubin, {}).update(opcodes)
    return code


def members(path: Path, names: set[str]) -> dict[str, bytes]:
    """The named files of an archive."""
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive if member.name in names}
