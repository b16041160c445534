"""Assigns addresses to functions and to tables of them, to compute the targets of calls through pointers.

    .global .u64 table[2] = {f, g};     f -> 0x7f3000001390, table -> 0x10000000000100: the value of a load from the
                                        table is known

Code has no location before it is loaded; the addresses are invented, as are those of specified buffers. Nothing but
the choice of callees may depend on them: an answer is accepted only if two placements give it in which no bit of a
function's address is the same. Tables are assumed to keep their contents in the file if the kernel does not write
them; the report lists these tables.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxaudit.base.records import Record
from ptxaudit.ir.nodes import CODE, Address, Function, Variable

WORD_BYTES = 8  # size of a function's address in a table


class Placement(Record):
    """How addresses of code and variables are invented. code_step < 0: in descending order."""

    code: int
    code_step: int  # a multiple of 16, the size of an instruction: a function may begin within another's section
    data: int
    data_step: int  # a multiple of 8, with no more alignment than the variables' own


_CODE, _STEP, _BITS = 0x7F30_0000_0000, 0x1390, 0x7FFF_FFFF_FFF0  # those that the address of an instruction has
PLACEMENTS = (
    Placement(_CODE, _STEP, 0x10_0000_0000_0000, 0x1_0000_0100),
    Placement(_BITS - _CODE, -_STEP, 0x0C_5540_0000_0008, 0x1_0000_0028),  # of each function, all bits inverted
)


class CodeAddresses(Record):
    """functions: name -> address. tables: variable in global memory -> (address, bytes).
    constants: variable in constant memory -> bytes.
    """

    functions: dict[str, int]
    tables: dict[str, tuple[int, bytes]]
    constants: dict[str, bytes]


def placed(function: Function, placement: Placement) -> CodeAddresses:
    """The addresses for a linked kernel."""
    named = sorted(_named(function))
    functions = {name: placement.code + (at + 1) * placement.code_step for at, name in enumerate(named)}
    tables: dict[str, tuple[int, bytes]] = {}
    constants: dict[str, bytes] = {}
    for variable in function.variables:
        if variable.around is None:
            continue
        content = bytearray(variable.around)
        for offset, name in variable.functions:
            content[offset : offset + WORD_BYTES] = functions[name].to_bytes(WORD_BYTES, "little")
        if variable.space == "global":
            tables[variable.name] = placement.data + (len(tables) + 1) * placement.data_step, bytes(content)
        elif variable.space.startswith("const"):
            constants[variable.name] = bytes(content)
    return CodeAddresses(functions, tables, constants)


def _named(function: Function) -> set[str]:
    """The functions whose addresses its code or its variables contain."""
    out = {name for variable in function.variables for _, name in variable.functions}
    return out | {
        source.name
        for i in function.instructions
        for op in i.ops
        for source in op.src
        if type(source) is Address and source.space == CODE
    }


def tables_named(function: Function) -> Iterator[Variable]:
    """The function tables that the code refers to."""
    named = {source.name for i in function.instructions for op in i.ops for source in op.src if type(source) is Address}
    return (v for v in function.variables if v.around is not None and (v.name in named or v.address is not None))
