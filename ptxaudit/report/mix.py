"""Instructions of a kernel by class, and how wide its memory accesses are, from how many there are of each opcode.

{"LDS.128": 4, "FFMA": 64, "LDG.E": 2}  ->  mix     {"shared-load": 4, "float": 64, "global-load": 2}
                                            widths  {"shared": {16: 4}, "global": {4: 2}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptxaudit.hardware.opcode_classes import CLASSES, SPACES, class_of, width_of


def mix(opcodes: Mapping[str, int]) -> dict[str, int]:
    """How many instructions of each class there are, in the order of CLASSES; those that there are."""
    found = dict.fromkeys(CLASSES, 0)
    for opcode, count in opcodes.items():
        found[class_of(opcode)] += count
    return {name: count for name, count in found.items() if count}


def widths(opcodes: Mapping[str, int]) -> dict[str, dict[int, int]]:
    """space -> bytes a lane -> how many loads and stores of that width there are, narrow ones first."""
    found: dict[str, dict[int, int]] = {}
    for opcode, count in opcodes.items():
        if (width := width_of(opcode)) is not None:
            of_space = found.setdefault(class_of(opcode).rpartition("-")[0], {})
            of_space[width] = of_space.get(width, 0) + count
    return {space: dict(sorted(found[space].items())) for space in SPACES if space in found}


def mean_width(opcodes: Mapping[str, int], spaces: Iterable[str]) -> float | None:
    """The mean bytes a lane of the loads and stores of these spaces; None where there is none."""
    both = [
        (width, count)
        for space, of_space in widths(opcodes).items()
        if space in spaces
        for width, count in of_space.items()
    ]
    accesses = sum(count for _, count in both)
    return sum(width * count for width, count in both) / accesses if accesses else None
