"""Reads Nsight Compute's CSV exports: the source page, and the raw page for the hardware counters.

    ncu --import r.ncu-rep --page source --csv > source.csv      instructions with their figures, one table per launch
    ncu --import r.ncu-rep --page raw --csv > raw.csv            one line per launch, with grid, block and counters

    "Kernel Name","k"                                        ┐
    "Address","Source","Instructions Executed",…             ├─▶  Profile("k", (Counted(0x1c0, "LDS R0, [R2]", …), …))
    "0x7f41ab7a01c0","      LDS R0, [R2]","4",…              ┘

Columns are found by name, in any order; unknown ones are ignored. Versions of ncu differ in the names, and 2025.3
writes every table of the source page twice.
https://docs.nvidia.com/nsight-compute/NsightComputeCli/index.html#output-pages
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec.structs import replace

from ptxaudit.base import files, limits
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.base.words import bare_name
from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES
from ptxaudit.review.compare import Counted, Profile

EXPORT = "export it with: ncu --import REPORT.ncu-rep --page source --csv > source.csv"
PROFILE = "profile with: ncu --section SourceCounters -o REPORT …"

# The columns that are read: their possible names, reduced to letters and digits.
COLUMNS = {
    "address": ("address", "offset", "pc"),
    "number": ("",),  # "#"
    "text": ("source", "sass"),
    "requests": ("instructionsexecuted", "instexecuted"),
    "wavefronts": ("l1wavefrontsshared", "memoryl1wavefrontsshared"),
    "ideal": ("l1wavefrontssharedideal", "memoryl1wavefrontssharedideal"),
    "sectors": ("l2theoreticalsectorsglobal", "memoryl2theoreticalsectorsglobal"),
    "tag_requests": ("l1tagrequestsglobal", "memoryl1tagrequestsglobal"),
}
COUNTER = re.compile(r"l1tex__data_pipe_lsu_wavefronts_mem_shared(?:_(op_\w+?))?\.sum$")
UNNAMED = "(anonymous namespace)"
_TAGS = re.compile(r"\[[\w:,]+\]")
_QUALIFIERS = re.compile(r"\b(?:\w+::|const\b)")
_RESULTS = re.compile(r"\b(?:void|bool|char|short|int|long|float|double|unsigned|signed) (?=\w+::)")
_SUFFIXES = re.compile(r"(?<=\d)[ul]+\b")
_INSTANCE = re.compile(r"\(instance (\d+)\)")
_PARENTHESES = re.compile(r"\([^()]*\)")
_NAMED = re.compile(r"&\((\w[^()]*)\)")  # a function as a template argument
_BRACKETS = str.maketrans("", "", "[]{}")
_CAST = re.compile(r"\((?:bool|char|short|int|long|unsigned [a-z ]+|signed [a-z ]+|long long)\)(?=-?\w)")

Cells = Sequence[str]
Table = tuple[str, Cells, list[Cells], int]  # kernel, header, rows, line of the header


class Export(Record):
    """The content of some files. profiles: from source pages, in order; launches: the lines of raw pages."""

    profiles: tuple[Profile, ...] = ()
    launches: tuple[Profile, ...] = ()


def read_profiles(files: Iterable[str | Path]) -> list[Profile]:
    """The launches of source pages, completed from raw pages.

    Raises InputError for a file that is neither, and if there is no source page.
    """
    names = [str(file) for file in files]
    exports = [parse_export(_text(name), name) for name in names]
    profiles = [profile for export in exports for profile in export.profiles]
    if not profiles:
        raise InputError("it has no source page, and so no figures by instruction", EXPORT, names[0] if names else None)
    return _joined(profiles, [launch for export in exports for launch in export.launches])


def parse_export(text: str, file: str | None = None) -> Export:
    """The tables of one file, from either page."""
    profiles: list[Profile] = []
    launches: list[Profile] = []
    before: tuple[str, list[Cells]] | None = None
    for kernel, header, rows, line in _readable(_tables(text), file):
        names = ["".join(filter(str.isalnum, name)).lower() for name in header]
        if _column(names, "text") is None:
            launches += _launches(header, rows)
        elif (kernel, rows) == before:
            before = None  # the same table again, including sampled figures
        else:
            before = (kernel, rows)
            profiles.append(Profile(kernel, tuple(_counted(names, rows, file, line))))
    if not profiles and not launches:
        raise InputError("this is not a CSV export of Nsight Compute's source or raw page", EXPORT, file)
    return Export(tuple(profiles), tuple(launches))


def _text(file: str) -> str:
    try:
        return files.read_bytes(file, limits.DOCUMENT).decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read the profile: {error.strerror}", "check the path", file) from None
    except UnicodeDecodeError:
        hint = "an .ncu-rep file is not CSV; " + EXPORT if file.endswith("rep") else EXPORT
        raise InputError("this is not CSV: the file is not UTF-8 text", hint, file) from None


def _readable(tables: Iterable[Table], file: str | None) -> Iterator[Table]:
    """The tables. Raises InputError where the CSV is invalid, such as in an unterminated cell."""
    try:
        yield from tables
    except csv.Error as error:
        raise InputError(f"this is not CSV: {error}", EXPORT, file) from None


def _tables(text: str) -> Iterator[Table]:
    """(kernel, header, rows, line of the header) of each table; text between tables is skipped."""
    kernel, start = "", 0
    header: Cells | None = None
    rows: list[Cells] = []
    lines = csv.reader(io.StringIO(text))
    for cells in lines:
        if len(cells) >= 2 and cells[0] == "Kernel Name" and not any(cells[2:]):
            if header:
                yield kernel, header, rows, start
            kernel, header, rows = cells[1], None, []
        elif _is_header(cells):
            if header:
                yield kernel, header, rows, start
            header, rows, start = cells, [], lines.line_num
        elif header and len(cells) >= len(header) > 1:
            rows.append(cells)
    if header:
        yield kernel, header, rows, start


def _is_header(cells: Cells) -> bool:
    return {"Address", "Source"} <= {*cells} or {"#", "Source"} <= {*cells} or {"ID", "Kernel Name"} <= {*cells}


def _column(names: Sequence[str], what: str) -> int | None:
    return next((names.index(name) for name in COLUMNS[what] if name in names), None)


# --- the source page ----------------------------------------------------------------------------


def _counted(names: Sequence[str], rows: list[Cells], file: str | None, line: int) -> Iterable[Counted]:
    """The instructions of one table."""
    at = {what: _column(names, what) for what in COLUMNS}
    if at["requests"] is None:
        raise InputError("the source page has no column 'Instructions Executed'", PROFILE, file, line)
    column = at["text"]
    assert column is not None  # ensured by `_is_header`
    rows = [cells for cells in rows if cells[column].strip()]
    places = [_place(cells, at, file) for cells in rows]
    start = min(places, default=0)
    for cells, place in zip(rows, places, strict=True):
        figure = {
            what: None if (place_of := at[what]) is None else _number(cells[place_of])
            for what in ("requests", "wavefronts", "ideal", "sectors", "tag_requests")
        }
        text = " ".join(cells[column].split())
        yield Counted(
            place - start,
            text,
            figure["requests"] or 0,
            figure["wavefronts"],
            figure["ideal"],
            figure["sectors"],
            figure["tag_requests"],
        )


def _place(cells: Cells, at: dict[str, int | None], file: str | None) -> int:
    """The address of an instruction, or its line number times the instruction size if there is no such column: bytes
    from any start."""
    text = cells[at["address"] if at["address"] is not None else at["number"] or 0]
    try:
        return int(text, 0) if at["address"] is not None else int(text) * INSTRUCTION_BYTES
    except ValueError:
        raise InputError(
            f"{text!r} is not the address of an instruction", "export the SASS table: --print-source sass", file
        ) from None


def _number(text: str) -> int:
    """ "6,848", "4.00"; 0 for "-" and ""."""
    try:
        return round(float(text.replace(",", "").replace("'", "")))
    except (ValueError, OverflowError):  # "inf"
        return 0


# --- the raw page -------------------------------------------------------------------------------


def _launches(header: Cells, rows: list[Cells]) -> Iterable[Profile]:
    """One launch per line, without instructions; the line of units has no ID."""
    column = {name: at for at, name in enumerate(header)}
    counters = {match[1] or "": at for name, at in column.items() if (match := COUNTER.match(name))}
    for cells in rows:
        if cells[column["ID"]].strip():
            dims = [_dims(cells[column[name]]) if name in column else None for name in ("Grid Size", "Block Size")]
            counted = {kind: _number(cells[at]) for kind, at in counters.items() if cells[at].strip()}
            yield Profile(cells[column["Kernel Name"]], (), counted, *dims)


def _dims(text: str) -> tuple[int, ...] | None:
    """ "(256, 1, 1)" -> (256, 1, 1)."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", text))
    return numbers or None


def _joined(profiles: list[Profile], launches: list[Profile]) -> list[Profile]:
    """Each profile with the counters of its launch, kernel by kernel in order, unless their numbers differ. The two
    pages spell names differently: k<(int)8> and k<8>, a::b::k<const float *> and b::k<float const*>."""
    out = list(profiles)
    for alike in (spelled, simplified):
        waiting: dict[str, deque[Profile]] = defaultdict(deque)
        for launch in launches:
            waiting[alike(launch.kernel)].append(launch)
        left = defaultdict[str, list[int]](list)
        for at, profile in enumerate(out):
            left[alike(profile.kernel)].append(at)
        taken = set()
        for name, places in left.items():
            if len(waiting[name]) == len(places):
                for at, launch in zip(places, waiting[name], strict=True):
                    out[at] = replace(out[at], counters=launch.counters, grid=launch.grid, block=launch.block)
                    taken.add(id(launch))
        launches = [launch for launch in launches if id(launch) not in taken]
    return out


@lru_cache(maxsize=4096)
def spelled(name: str) -> str:
    """ "void a::k<(int)8, (bool)1>(float *)" and "a::k<8, true>(float*)" -> "a::k<8,1>"; ABI tags, written
    k[abi:v1][abi:x], k[abi:v1,x] and k[v1,x], are removed, as is the comma before an empty argument pack,
    "a::k<8, >"."""
    name = "".join(_CAST.sub("", _TAGS.sub("", bare_name(name.replace("<unnamed>", UNNAMED)))).split())
    return name.replace("true", "1").replace("false", "0").replace(",>", ">").replace("<,", "<")


@lru_cache(maxsize=4096)
def simplified(name: str) -> str:
    """As `spelled`, without what a page may omit or spell differently: namespaces, `const`, types of parameters and
    of results within a name, casts to enumerations.

    "k<a::pair<const float *>, (a::Kind)1, void f<int>(T1)::[lambda() (instance 2)]>", as in the profiler, and
    "k<pair<float const*>, 1, f<int>(int)::{lambda()#2}>"  ->  "k<pair<float*>,1,f<int>::lambda#2>".
    """
    bare = bare_name(name.replace("<unnamed>", UNNAMED)).replace(UNNAMED + "::", "")
    bare = _INSTANCE.sub(r"#\1", _QUALIFIERS.sub("", _RESULTS.sub("", bare)))
    while (shorter := _PARENTHESES.sub("", _NAMED.sub(r"&\1", bare))) != bare:
        bare = shorter
    return _SUFFIXES.sub("", spelled(bare)).translate(_BRACKETS)
