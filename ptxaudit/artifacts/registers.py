"""Reads how many registers a thread of each function of a cubin takes.

    registers(b"\\x7fELF…")  ->  {"_Z4gemmPf": 40}

The module-wide `.nv.info` has an attribute REGCOUNT (0x2f) a function: its symbol's number, and
the count. The symbol's number is in the low bytes of `sh_info` of the function's `.text.` section.
`cuobjdump --dump-resource-usage` prints the same as REG (tests/test_registers.py).
"""

from __future__ import annotations

import struct

from ptxaudit.artifacts.nvinfo import attributes

_SECTION = struct.Struct("<IIQQQQIIQQ")        # Elf64_Shdr
_REGCOUNT = 0x2F
_SYMBOL = 0xFFFFFF                             # the bits of sh_info that number the symbol
_TEXT = ".text."


def registers(cubin: bytes) -> dict[str, int]:
    """Registers a thread, by the function's mangled name; {} for what is no cubin."""
    try:
        (table,) = struct.unpack_from("<Q", cubin, 0x28)
        size, count, names_index = struct.unpack_from("<HHH", cubin, 0x3A)
        headers = [_SECTION.unpack_from(cubin, table + at * size) for at in range(count)]
        names_at = headers[names_index][4]
        symbols, counts = {}, {}
        for name_at, _, _, _, offset, length, _, info, _, _ in headers:
            name = cubin[names_at + name_at : cubin.index(b"\0", names_at + name_at)].decode()
            if name.startswith(_TEXT):
                symbols[info & _SYMBOL] = name.removeprefix(_TEXT)
            elif name == ".nv.info":
                values = (value for number, value in attributes(cubin[offset : offset + length]) if number == _REGCOUNT)
                counts = dict(struct.unpack_from("<II", value) for value in values)
        return {name: counts[symbol] for symbol, name in symbols.items() if symbol in counts}
    except (struct.error, IndexError, ValueError):
        return {}
