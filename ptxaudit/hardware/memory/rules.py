"""The rules of global and local memory, as rows of a machine's table: the count, the invariant shift, the evidence."""

from __future__ import annotations

from ptxaudit.hardware.machine_model import Count, Counted, Rule, Uncertainty

SECTOR = 32  # bytes
LINE = 128
WORD = 4  # bytes of a lane that are adjacent in local memory

_WIDTHS = (1, 2, 4, 8, 16, 32)
_SECTORS = Count(Counted.SECTORS, lanes=32, unit=LINE, slots=1, row=LINE)
_INTERLEAVED = Count(Counted.INTERLEAVED, lanes=32, unit=WORD, slots=1, row=WORD)
_BYPASS_WHY = (
    "depends on the destination of each lane's 16 bytes in shared memory: a source sector is transferred once for each"
    " 32-byte sector that it is written to"
)

SOURCE = "H100 memory"
MEMORY_RULES = (
    Rule(
        "global",
        _WIDTHS,
        _SECTORS,
        LINE,
        "the distinct 32-byte sectors that the active lanes touch; one tag request per 128-byte line",
        SOURCE,
    ),
    Rule(
        "global atomic",
        _WIDTHS,
        _SECTORS,
        LINE,
        "the distinct 32-byte sectors that the active lanes touch. (The unit's counter counts them again for each turn"
        " of lanes on one address)",
        SOURCE,
    ),
    Rule(
        "global bypass",
        (16,),
        _SECTORS,
        LINE,
        "a copy that bypasses the L1: the distinct pairs of a 32-byte source sector and a 32-byte sector of shared"
        " memory that it is written to",
        SOURCE,
        Uncertainty.SOURCES,
        why=_BYPASS_WHY,
    ),
    Rule(
        "local",
        (1, 2, 4, 8, 16),
        _INTERLEAVED,
        16,
        "word w of lane l is at 128 w + 4 l: the distinct sectors, four for a word that the whole warp accesses",
        SOURCE,
    ),
)

# machine instruction and bits per lane -> its sites in tests/data/memory_sm90, by kernel and place; a test counts them
MEASURED: dict[str, int] = {
    "ATOM.32": 6,
    "ATOM.64": 3,
    "LDG.128": 32,
    "LDG.16": 3,
    "LDG.32": 408,
    "LDG.64": 23,
    "LDG.8": 70,
    "LDGSTS.128": 5,
    "LDGSTS.32": 1,
    "LDGSTS.64": 1,
    "LDGSTS.BYPASS.128": 6,
    "LDL.128": 1,
    "LDL.32": 342,
    "LDL.64": 12,
    "LDL.8": 6,
    "RED.128": 1,
    "RED.32": 13,
    "RED.64": 4,
    "STG.128": 21,
    "STG.16": 3,
    "STG.32": 62,
    "STG.64": 13,
    "STG.8": 8,
    "STL.128": 61,
    "STL.32": 325,
    "STL.64": 11,
    "STL.8": 5,
}
