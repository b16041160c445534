"""Checks a cubin for consistency, so that damage does not silently drop a kernel or an access.

    a function's symbol refers to a section without code
        ->  Fault("k", "k is a function without code: …")
    a section of code has no symbol, or one of another size
        ->  Fault("k", "the code of k has 512 bytes, but its symbol says 256")
    .nv.info lists something other than a function
        ->  Fault("", "…")

These rules hold for the output of ptxas and nvlink from CUDA 11.8 to 13.5, linked or not, with -g or without, and for
15,000 functions in NVIDIA's own libraries. (Mercury's copies, `.nv.merc.*`, share their bytes with the originals.)
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section

from ptxaudit.base.records import Record
from ptxaudit.frontend.artifacts.elf import WITHOUT_BYTES, content
from ptxaudit.frontend.artifacts.nvinfo import attributes, kernel_only

TEXT, INFO, PARAMETERS = ".text.", ".nv.info", ".nv.constant0."
BELONGS_TO_CODE = (f"{INFO}.", PARAMETERS, ".nv.shared.", ".rela.text.", ".rel.text.", ".nv.constant2.", ".nv.local.")
_RELOCATIONS = (".rela.text.", ".rel.text.")  # relocations of code
_RESERVED = ".nv.shared.reserved"  # shared memory that belongs to no function
_SHARES_NOTHING = (
    ".nv.merc.",
    ".nv.shared.",
)  # copies that share the originals' bytes; memory without bytes in the file
_EXECUTABLE, _LINKED = 4, 0x40  # SHF_EXECINSTR, SHF_INFO_LINK
_EXECUTABLE_SEGMENT = 1  # PF_X
_LISTS = (0x2F, 0x11, 0x12)  # in .nv.info, per function: registers, frame size, minimum stack size
_INSTRUCTION_BYTES = 16
_NEWEST_ABI = 8  # of CUDA 13
_FIRST_SPECIAL = 0xFF00  # section numbers from here on have special meanings


class Entry(Record):
    """A row of the symbol table.

    section: the section's number.
    entry: whether it is marked as a kernel.
    is_section: whether it is the symbol of a section.
    """

    name: str
    section: int
    offset: int
    size: int
    function: bool
    entry: bool
    is_section: bool = False


class Fault(Record):
    """function: the function that is unreliable; "" if the fault is not limited to one."""

    function: str
    what: str


def is_known(abi: int) -> bool:
    """Whether these rules are known to hold for cubins of that ABI version."""
    return abi <= _NEWEST_ABI


def faults(elf: ELFFile, sections: list[tuple[str, Section]], symbols: list[Entry], file: str) -> list[Fault]:
    """All contradictions within a cubin. sections: all, in order."""
    found: dict[Fault, None] = {}
    for rule in (
        _tables(elf, sections),
        _numbers(sections, symbols),
        _code(sections, symbols),
        _functions(sections, symbols),
        _overlaps(elf, sections),
        _loaded(elf, sections),
        _belongings(sections),
        _kernels(sections, symbols, file),
        _listed(sections, symbols, file),
    ):
        found.update(dict.fromkeys(rule))
    return list(found)


def _tables(elf: ELFFile, sections: list[tuple[str, Section]]) -> Iterator[Fault]:
    """Linked code has segments, whose table follows the section table; an object has none.

    Some kernels of cuBLAS (nvjet) are linked without segments: no offset for their table, and no relocations of code.
    """
    linked, segments = elf["e_type"] == "ET_EXEC", elf["e_phnum"] > 0
    left = any(name.startswith(_RELOCATIONS) and section["sh_size"] for name, section in sections)
    without = elf["e_phoff"] == 0 and not left
    if elf["e_type"] not in ("ET_EXEC", "ET_REL") or linked != segments and not (linked and without):
        yield Fault("", "it is neither a linked cubin nor an object")
    elif segments and elf["e_shoff"] + len(sections) * elf["e_shentsize"] != elf["e_phoff"]:
        yield Fault("", "its section table is incomplete")


def _numbers(sections: list[tuple[str, Section]], symbols: list[Entry]) -> Iterator[Fault]:
    if any(len(sections) <= symbol.section < _FIRST_SPECIAL for symbol in symbols):
        yield Fault("", "its symbols refer to sections that do not exist")


def _overlaps(elf: ELFFile, sections: list[tuple[str, Section]]) -> Iterator[Fault]:
    """Sections that share bytes with each other or with a table: one of them is misplaced."""
    spans = [
        (section["sh_offset"], section["sh_offset"] + section["sh_size"], name)
        for name, section in sections
        if section["sh_size"] and section["sh_type"] not in WITHOUT_BYTES and not name.startswith(_SHARES_NOTHING)
    ]
    spans += [
        (0, elf["e_ehsize"], "the header"),
        (elf["e_shoff"], elf["e_shoff"] + elf["e_shnum"] * elf["e_shentsize"], "the section headers"),
    ]
    end, last = 0, ""
    for start, stop, name in sorted(spans):
        if start < end:
            for one in (last, name):
                yield Fault(one.removeprefix(TEXT) if one.startswith(TEXT) else "", f"{last} and {name} overlap")
        if stop > end:
            end, last = stop, name


def _loaded(elf: ELFFile, sections: list[tuple[str, Section]]) -> Iterator[Fault]:
    """Linked code lies in an executable segment."""
    segments = [
        (segment["p_offset"], segment["p_offset"] + segment["p_filesz"])
        for segment in elf.iter_segments()
        if segment["p_type"] == "PT_LOAD" and segment["p_flags"] & _EXECUTABLE_SEGMENT
    ]
    for name, section in sections if elf["e_phnum"] else ():
        begin, end = section["sh_offset"], section["sh_offset"] + section["sh_size"]
        if (
            name.startswith(TEXT)
            and end > begin
            and not any(first <= begin and end <= last for first, last in segments)
        ):
            yield Fault(name.removeprefix(TEXT), f"{name} is outside the executable segment")


def _functions(sections: list[tuple[str, Section]], symbols: list[Entry]) -> Iterator[Fault]:
    """Every function lies in a section of code."""
    for symbol in symbols:
        if symbol.entry and not symbol.function:
            yield Fault(symbol.name, f"{symbol.name} is marked as a kernel, but is not a function")
        if not symbol.function or not symbol.section or symbol.section >= len(sections):
            continue
        name, section = sections[symbol.section]
        if not name.startswith(TEXT):
            yield Fault(symbol.name, f"{symbol.name} is a function without code: its symbol refers to section {name}")
        elif symbol.offset + symbol.size > section["sh_size"]:
            yield Fault(name.removeprefix(TEXT), f"{symbol.name} extends beyond its section")
        elif symbol.entry and name != TEXT + symbol.name:
            yield Fault(symbol.name, f"the kernel {symbol.name} is in the section of another function, {name}")


def _code(sections: list[tuple[str, Section]], symbols: list[Entry]) -> Iterator[Fault]:
    """Every section of code has a symbol of a function, of the same size."""
    entries = {symbol.name for symbol in symbols if symbol.entry}
    sizes: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for symbol in symbols:
        if symbol.function:
            sizes.setdefault((symbol.section, symbol.name), []).append((symbol.offset, symbol.size))
    for number, (name, section) in enumerate(sections):
        executable, is_code = bool(section["sh_flags"] & _EXECUTABLE), name.startswith(TEXT)
        own, size = name.removeprefix(TEXT), section["sh_size"]
        if executable != is_code or is_code and section["sh_type"] != "SHT_PROGBITS":
            yield Fault(
                own if is_code else "",
                f"the section {name} "
                + ("is not marked as code" if is_code else "is marked as code, but belongs to no function"),
            )
        elif is_code and (number, own) not in sizes:
            yield Fault(own, f"the code of {own} has no symbol")
        elif is_code and not size and own in entries:
            yield Fault(own, f"{own} is a kernel without code")
        elif is_code and (0, size) not in sizes[number, own]:
            yield Fault(own, f"the code of {own} has {size:,} bytes, but its symbol says {sizes[number, own][0][1]:,}")
        elif is_code and size % _INSTRUCTION_BYTES:
            yield Fault(own, f"the code of {own} has {size:,} bytes, which is not a multiple of the instruction size")


def _belongings(sections: list[tuple[str, Section]]) -> Iterator[Fault]:
    """A section that belongs to a function refers to a function with code, and each function has its .nv.info list."""
    lists = {name.removeprefix(f"{INFO}.") for name, _ in sections}
    for name, section in sections:
        if name.startswith(TEXT) and name.removeprefix(TEXT) not in lists:
            yield Fault(name.removeprefix(TEXT), f"{name.removeprefix(TEXT)} has no {INFO}")
        owner = (
            sections[section["sh_info"]][0]
            if section["sh_flags"] & _LINKED and section["sh_info"] < len(sections)
            else ""
        )
        if owner.startswith(TEXT) and not name.endswith(owner.removeprefix(".text")):
            yield Fault(owner.removeprefix(TEXT), f"the section {name} belongs to {owner}")
        prefix = next((one for one in BELONGS_TO_CODE if name.startswith(one)), None)
        if prefix is None or name.startswith(_RESERVED):
            continue
        own, number = name.removeprefix(prefix), section["sh_info"]
        if number >= len(sections) or sections[number][0] != TEXT + own:
            yield Fault(own, f"there is a section {name}, but {own} has no code")


def _kernels(sections: list[tuple[str, Section]], symbols: list[Entry], file: str) -> Iterator[Fault]:
    """Exactly the functions with a kernel's parameters are marked as kernels."""
    entries = {symbol.name for symbol in symbols if symbol.entry}
    names = Counter(name for name, _ in sections)
    for name, section in sections:
        if (
            name.startswith(PARAMETERS)
            or name.startswith(f"{INFO}.")
            and any(number in kernel_only for number, _ in attributes(content(section, file)))
        ):
            own = name.removeprefix(PARAMETERS).removeprefix(f"{INFO}.")
            if own not in entries:
                yield Fault(own, f"{own} has the parameters of a kernel, but is not marked as one")
    for own in entries:
        if names[PARAMETERS + own] != 1:
            yield Fault(own, f"the kernel {own} has no constant bank for its parameters")


def _listed(sections: list[tuple[str, Section]], symbols: list[Entry], file: str) -> Iterator[Fault]:
    """The module-wide list names only functions, and lists each kernel."""
    listed: set[str] = set()
    section = next((section for name, section in sections if name == INFO), None)
    for number, value in attributes(content(section, file)) if section is not None else ():
        if number in _LISTS and len(value) >= 4:
            (at,) = struct.unpack_from("<I", value)
            symbol = symbols[at] if at < len(symbols) else None
            if symbol is None or not symbol.function:
                yield Fault(
                    "",
                    f"{INFO} lists {symbol.name if symbol is not None and symbol.name else f'symbol {at}'}, which"
                    " is not a function",
                )
            else:
                listed.add(symbol.name)
    for symbol in symbols:
        if symbol.entry and symbol.name not in listed:
            yield Fault(symbol.name, f"the kernel {symbol.name} is not listed in {INFO}")
