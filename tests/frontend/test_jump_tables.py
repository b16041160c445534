"""Branches whose targets the file does not list (ptxas of CUDA 11.8 leaves offsets in `.nv.info` at 0): measured,
kernels of tests/data/releases_sm90.
"""

import struct

import pytest
from sass_text import line

from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES, CodeSection, Symbol
from ptxaudit.frontend.artifacts.nvinfo import KernelInfo
from ptxaudit.frontend.sass.builder import Context
from ptxaudit.frontend.sass.jump_tables import listed_targets

CODE = """
S2R R0, SR_TID.X
LDC R2, c[0x2][R6]
SHF.R.S32.HI R3, RZ, 0x1f, R2
MOV R4, R2
BRX R4 -0x50
EXIT
EXIT
EXIT
"""
JUMP = 0x40
TABLE = struct.pack("<5I", 0x50, 0x70, 0x54, 0x60, 0x1000)  # two words are not instructions of the function


def targets(listed, code=CODE, table=TABLE):
    lines = tuple(line(text) for text in code.strip().splitlines())
    size = len(lines) * INSTRUCTION_BYTES
    section = CodeSection(
        "k",
        bytes(size),
        True,
        (Symbol("k", ".text.k", 0, size, True),),
        KernelInfo(branches={JUMP: listed}),
        {2: table},
    )
    return listed_targets(Context(section, 90, 0x210), lines).get(JUMP, ())


def test_indexed_branch_takes_its_listed_targets():
    assert targets((0x60, 0x70)) == (0x60, 0x70)


@pytest.mark.parametrize("listed", [(0, 0, 0), (0x50, 0x60, 0)])
def test_unrelocated_targets_are_read_from_the_table(listed):
    assert targets(listed) == (0x50, 0x70, 0x60)


@pytest.mark.parametrize(
    "old, new",
    [
        ("S2R R0, SR_TID.X", "@P0 BRA 0x30"),  # the copy may be reached without the load
        ("MOV R4, R2", "IADD3 R4, R2, R0, RZ"),
        ("MOV R4, R2", "@P0 MOV R4, R2"),
        ("SHF.R.S32.HI R3, RZ, 0x1f, R2", "CALL.REL.NOINC 0x60"),
        ("c[0x2][R6]", "c[0x3][R6]"),  # the host may write it
        ("c[0x2][R6]", "c[0x4][R6]"),  # the file does not contain it
    ],
)
def test_indexed_branch_on_an_unknown_register_has_no_targets(old, new):
    assert targets((0, 0), CODE.replace(old, new)) == ()
