"""Reads one cubin: functions, symbols, constant banks, relocations and resource usage, but no instructions.

    cubin = read_cubin(Path("k.cubin").read_bytes(), "k.cubin")
    cubin.arch                       "sm_90"
    cubin.functions[0].name          "_Z4gemmPf"
    cubin.functions[0].code          its instructions, 16 bytes each
    cubin.functions[0].banks[0]      the template of constant bank 0 (parameters are zero there)

A cubin is an ELF file with one `.text.<name>` section per function. The layout of its private sections is not
documented; this module relies on what `nvdisasm` prints of them and what ptxas writes for small sources
(tests/frontend/test_cubin.py compiles them).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from functools import cached_property

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, SymbolTableSection
from msgspec import field
from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.base.limits import IMAGE, NAME, UNPACKED
from ptxaudit.base.records import Record
from ptxaudit.frontend.artifacts.consistency import Entry, faults, is_known
from ptxaudit.frontend.artifacts.elf import WITHOUT_BYTES, content, opened, with_last_byte
from ptxaudit.frontend.artifacts.nvinfo import KernelInfo, read_info
from ptxaudit.frontend.artifacts.too_old import OLDEST_SM, TooOld

INSTRUCTION_BYTES = 16  # for every machine instruction since sm_70
ELF_MAGIC = b"\x7fELF"
_MACHINE_CUDA = 190
_NOTE = ".note.nv.tkinfo"  # the program that wrote the file, and its options
_ABI_VERSION_AT = 8  # in the header
_ABI_FLAGS_SHIFTED = 8  # since this ABI version (CUDA 13) the architecture is in bits 8..15 of e_flags
_ENTRY = 0x10  # STO_CUDA_ENTRY in a symbol's st_other
_NO_TYPE, _FUNCTION, _SECTION = 0, 2, 3  # symbol types, in the low bits of st_info
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATIONS = ((".rela", struct.Struct("<QQq")), (".rel", struct.Struct("<QQ")))
_RESERVED_SHARED = 1024  # bytes at the start of the window since sm_90; linked code counts them as static
_FIRST_SM_RESERVED = 90
CODE_PREFIX = ".text."
_INITIALISED = ".nv.global.init"
_CALL_RELOCATIONS = (75,)  # for the target of CALL.ABS (nvdisasm prints the function itself)
_DATA = (".nv.global", ".nv.constant")  # sections of variables in global and constant memory
MODULE_SHARED = ".nv_debug.shared"  # in objects of CUDA 13: shared variables that several functions may use
_TYPE_RELOCATABLE = "ET_REL"

# Exceptions that the ELF reader, which trusts its tables, raises for damaged ones.
UNREADABLE = (
    ELFError,
    struct.error,
    ValueError,
    LookupError,
    AttributeError,
    TypeError,
    ArithmeticError,
    AssertionError,
    MemoryError,
)


class Symbol(Record):
    """A named location: byte offset and size in its section ("" = undefined here)."""

    name: str
    section: str
    offset: int
    size: int
    function: bool = False


class Relocation(Record):
    """The address of `symbol` + `addend` belongs at byte `offset` of a section; `type` is a number."""

    offset: int
    type: int
    symbol: Symbol
    addend: int = 0


class CodeSection(Record):
    """One function: its code and its metadata. Offsets are bytes in `code`."""

    name: str
    code: bytes
    entry: bool
    symbols: tuple[Symbol, ...] = ()  # functions in the section, the function itself first
    info: KernelInfo = KernelInfo()
    banks: dict[int, bytes] = field(default_factory=dict)  # constant banks, including module-wide ones
    bank_relocations: dict[int, tuple[Relocation, ...]] = field(default_factory=dict)
    relocations: tuple[Relocation, ...] = ()
    constants: tuple[Symbol, ...] = ()  # __constant__ variables, in bank 3
    shared_static: int = 0  # bytes


class Cubin(Record):
    """One device code image. `elf` holds its bytes, for the line tables."""

    file: str
    arch: str  # "sm_90"
    sm: int  # 90
    relocatable: bool
    functions: tuple[CodeSection, ...]
    version: str = ""  # of the toolkit that made it, if stated
    producer: str = ""
    sections: frozenset[str] = frozenset()  # names of all sections
    faults: tuple[InputError, ...] = ()  # its contradictions; the affected functions are left out
    addressed: frozenset[str] = frozenset()  # functions whose addresses occur in data
    initial: dict[str, tuple[bytes, tuple[Relocation, ...]]] = field(default_factory=dict)
    # variable in global memory -> its initial bytes, and the relocations among them, by offset in the variable
    elf: bytes = b""

    def function(self, name: str) -> CodeSection | None:
        return next((f for f in self.functions if f.name == name), None)


def architecture(header: bytes) -> int | None:
    """The SM number in the first 64 bytes of a cubin, or None if they are not a cubin's."""
    if len(header) < 64 or header[:4] != ELF_MAGIC or struct.unpack_from("<H", header, 18)[0] != _MACHINE_CUDA:
        return None
    flags = struct.unpack_from("<I", header, 48)[0]
    number: int = (flags >> 8 if header[_ABI_VERSION_AT] >= _ABI_FLAGS_SHIFTED else flags) & 0xFF
    return number


def read_cubin(data: bytes, file: str, oldest: int = OLDEST_SM) -> Cubin:
    """The cubin in `data`. Raises InputError if it is not a cubin, or damaged, or below `oldest` (an SM number)."""
    IMAGE.check(len(data), "this cubin is too large", file)
    sm = architecture(data[:64])
    if sm is None:
        raise InputError("not a cubin: no ELF header for CUDA", "name a .cubin, or a file that embeds one", file)
    if sm < oldest:
        raise TooOld.of(sm, file)
    try:
        return _read(with_last_byte(data), file, sm)
    except UNREADABLE as error:
        raise InputError(
            "damaged cubin: its ELF tables cannot be read",
            "rebuild it, or copy it again",
            file,
            detail=f"{type(error).__name__}: {error}",
        ) from error


def _read(data: bytes, file: str, sm: int) -> Cubin:
    elf = opened(data, file)
    relocatable = elf["e_type"] == _TYPE_RELOCATABLE
    sections = _sections(elf, data, file)
    by_name = dict(sections)
    rows = _rows(elf, data, file)
    symbols, entries = _symbols(rows, [name for name, _ in sections])
    found = faults(elf, sections, rows, file) if is_known(data[_ABI_VERSION_AT]) else []
    errors = tuple(InputError(f"damaged cubin: {fault.what}", "rebuild it, or copy it again", file) for fault in found)
    unreliable = {fault.function for fault in found}

    reserved = _RESERVED_SHARED if sm >= _FIRST_SM_RESERVED and not relocatable else 0
    tables = _Tables(by_name, symbols, *_banks(by_name, symbols, file), file)
    of_section: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        if symbol.function:
            of_section.setdefault(symbol.section, []).append(symbol)
    functions = []
    for name, section in sections:
        own = name.removeprefix(CODE_PREFIX)
        if own != name and own not in unreliable and section["sh_size"]:
            inside = tuple(sorted(of_section.get(name, ()), key=lambda s: (s.offset, s.name != own)))
            functions.append(_code_section(section, own, inside, own in entries, reserved, tables))
    if errors and not functions:
        raise errors[0]
    version, producer = _producer(elf, by_name, file)
    if (made_for := _made_for(by_name, file)) not in (None, sm):
        raise InputError(
            f"damaged cubin: its header says sm_{sm}, its note sm_{made_for}", "rebuild it, or copy it again", file
        )
    return Cubin(
        file,
        f"sm_{sm}",
        sm,
        relocatable,
        tuple(functions),
        version,
        producer,
        frozenset(by_name),
        errors,
        _addressed(by_name, symbols, file),
        _initial(by_name, symbols, file),
        data,
    )


def _sections(elf: ELFFile, data: bytes, file: str) -> list[tuple[str, Section]]:
    """All sections with their names. Raises InputError if the file is truncated."""
    for table in ("sh", "ph"):
        if elf[f"e_{table}off"] + elf[f"e_{table}num"] * elf[f"e_{table}entsize"] > len(data):
            raise InputError("truncated cubin: its tables extend beyond the end of the file", "copy it again", file)
    sections = [(section.name, section) for section in elf.iter_sections()]
    for name, section in sections:
        if section["sh_type"] not in WITHOUT_BYTES and section["sh_offset"] + section["sh_size"] > len(data):
            raise InputError(
                f"truncated cubin: section {name} extends beyond the end of the file", "copy it again", file
            )
    return sections


class _Tables(Record, eq=False, dict=True):
    """Tables of the whole file. banks, bank_relocations: per function, and module-wide under ""."""

    by_name: dict[str, Section]
    symbols: list[Symbol]
    banks: dict[str, dict[int, bytes]]
    bank_relocations: dict[str, dict[int, tuple[Relocation, ...]]]
    file: str

    @cached_property
    def constants(self) -> tuple[Symbol, ...]:
        return tuple(s for s in self.symbols if s.section == ".nv.constant3" and s.size)


def _code_section(
    section: Section, own: str, inside: tuple[Symbol, ...], entry: bool, reserved: int, tables: _Tables
) -> CodeSection:
    """One section of machine code.

    own: its first function.
    inside: all of its functions, in order.
    reserved: bytes of shared memory reserved for the system.
    """
    by_name, file = tables.by_name, tables.file
    info, shared = by_name.get(f".nv.info.{own}"), by_name.get(f".nv.shared.{own}")
    relocations = _relocations(by_name, CODE_PREFIX + own, tables.symbols, file)
    elsewhere = {r.symbol for r in relocations if r.symbol.section == MODULE_SHARED}
    return CodeSection(
        name=own,
        code=content(section, file),
        entry=entry,
        symbols=inside,
        info=read_info(content(info, file)) if info else KernelInfo(),
        banks=tables.banks.get("", {}) | tables.banks.get(own, {}),
        bank_relocations=tables.bank_relocations.get("", {}) | tables.bank_relocations.get(own, {}),
        relocations=relocations,
        constants=tables.constants,
        shared_static=(max(0, shared["sh_size"] - reserved) if shared else 0) + sum(s.size for s in elsewhere),
    )


def _initial(
    by_name: dict[str, Section], symbols: list[Symbol], file: str
) -> dict[str, tuple[bytes, tuple[Relocation, ...]]]:
    """The initial contents of variables in global memory."""
    out, taken = {}, 0
    for name in (name for name in by_name if name.startswith(_INITIALISED)):
        whole, relocations = content(by_name[name], file), _relocations(by_name, name, symbols, file)
        for s in symbols:
            if s.section == name and s.size:
                own = tuple(
                    replace(r, offset=r.offset - s.offset)
                    for r in relocations
                    if s.offset <= r.offset < s.offset + s.size
                )
                out[s.name] = whole[s.offset : s.offset + s.size], own
                taken += len(out[s.name][0])
                UNPACKED.check(taken, "its variables share the same bytes", file)
    return out


def addresses_taken(functions: Iterable[CodeSection]) -> frozenset[str]:
    """The functions whose addresses the code takes, other than for calls."""
    return frozenset(
        r.symbol.section.removeprefix(CODE_PREFIX)
        for function in functions
        for r in function.relocations
        if r.type not in _CALL_RELOCATIONS
        and r.symbol.section.startswith(CODE_PREFIX)
        and r.symbol.section != CODE_PREFIX + function.name
    )


def _addressed(by_name: dict[str, Section], symbols: list[Symbol], file: str) -> frozenset[str]:
    """The functions whose addresses occur in the initial contents of variables."""
    data = [name for name in by_name if name.startswith(_DATA)]
    return frozenset(
        r.symbol.section.removeprefix(CODE_PREFIX)
        for name in data
        for r in _relocations(by_name, name, symbols, file)
        if r.symbol.section.startswith(CODE_PREFIX)
    )


def _rows(elf: ELFFile, data: bytes, file: str) -> list[Entry]:
    """The symbol table in order."""
    table = elf.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection) or not table["sh_size"]:
        raise InputError("stripped cubin: it has no symbol table", "keep the symbols of device code", file)
    if table["sh_entsize"] != SYMBOL.size or table["sh_size"] % SYMBOL.size:
        raise InputError("damaged cubin: its symbol table is incomplete", "rebuild it, or copy it again", file)
    out = []
    strings = content(table.stringtable, file)
    begin = table["sh_offset"]
    # not pyelftools' symbol objects: they drop the bit that marks kernels
    for name_at, kind, other, section, offset, size in SYMBOL.iter_unpack(data[begin : begin + table["sh_size"]]):
        name = name_in(strings, name_at)
        out.append(
            Entry(
                name,
                section,
                offset,
                size,
                kind & 0xF == _FUNCTION,
                bool(other & _ENTRY) and kind & 0xF != _NO_TYPE,
                kind & 0xF == _SECTION,
            )
        )
    return out


def name_in(strings: bytes, at: int) -> str:
    """A name in a string table. Raises ValueError if it is unterminated or too long."""
    return strings[at : strings.index(b"\0", at, at + NAME.most)].decode()


def _symbols(rows: list[Entry], names: list[str]) -> tuple[list[Symbol], set[str]]:
    """The symbols in order, and the names of kernels."""
    out, entries = [], set()
    for row in rows:
        section = names[row.section] if 0 < row.section < len(names) else ""
        name = section if row.is_section and not row.name else row.name
        out.append(Symbol(name, section, row.offset, row.size, row.function))
        if row.function and row.entry:
            entries.add(name)
    return out, entries


def _relocations(by_name: dict[str, Section], section: str, symbols: list[Symbol], file: str) -> tuple[Relocation, ...]:
    out = []
    for prefix, form in RELOCATIONS:
        table = by_name.get(prefix + section)
        if table is None:
            continue
        for fields in form.iter_unpack(content(table, file)):
            offset, info, *addend = fields
            out.append(Relocation(offset, info & 0xFFFFFFFF, symbols[info >> 32], addend[0] if addend else 0))
    return tuple(sorted(out, key=lambda r: r.offset))


def _banks(
    by_name: dict[str, Section], symbols: list[Symbol], file: str
) -> tuple[dict[str, dict[int, bytes]], dict[str, dict[int, tuple[Relocation, ...]]]]:
    """Contents and relocations of constant banks: {function or "": {bank: …}}."""
    contents: dict[str, dict[int, bytes]] = {}
    relocations: dict[str, dict[int, tuple[Relocation, ...]]] = {}
    for name, section in by_name.items():
        if not name.startswith(".nv.constant"):
            continue
        number, _, owner = name[len(".nv.constant") :].partition(".")
        if number.isdigit():
            contents.setdefault(owner, {})[int(number)] = content(section, file)
            found = _relocations(by_name, name, symbols, file)
            if found:
                relocations.setdefault(owner, {})[int(number)] = found
    return contents, relocations


def _made_for(by_name: dict[str, Section], file: str) -> int | None:
    """The SM number in the options of the assembler or linker, if the file states it."""
    note = by_name.get(_NOTE)
    found = re.search(rb"-arch[ =]sm_(\d+)", content(note, file)) if note is not None else None
    return int(found[1]) if found else None


def _producer(elf: ELFFile, by_name: dict[str, Section], file: str) -> tuple[str, str]:
    """(toolkit version, the compiler's own description), as far as the file states them."""
    note = by_name.get(_NOTE)
    if note is not None:
        words = [w.decode("ascii", "replace") for w in content(note, file).split(b"\0") if len(w) > 3]
        release = next((w for w in words if "release" in w), "")
        version = release.partition("release ")[2].partition(",")[0]
        return version, release
    number = elf["e_version"]
    if isinstance(number, int) and number >= 10:  # before CUDA 13 this held the version in tenths
        return f"{number // 10}.{number % 10}", ""
    return "", ""
