"""A kernel's instructions by class, and the widths of its memory accesses, computed from its opcode counts.

{"LDS.128": 4, "FFMA": 64, "LDG.E": 2}  ->  mix     {"shared-load": 4, "float": 64, "global-load": 2}
                                            widths  {"shared": {16: 4}, "global": {4: 2}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptxaudit.hardware.opcode_classes import CLASSES, SPACES, class_of, width_of


def mix(opcodes: Mapping[str, int]) -> dict[str, int]:
    """The number of instructions of each class that occurs, in the order of CLASSES."""
    found = dict.fromkeys(CLASSES, 0)
    for opcode, count in opcodes.items():
        found[class_of(opcode)] += count
    return {name: count for name, count in found.items() if count}


def widths(opcodes: Mapping[str, int]) -> dict[str, dict[int, int]]:
    """space -> bytes per lane -> number of loads and stores of that width, ascending."""
    found: dict[str, dict[int, int]] = {}
    for opcode, count in opcodes.items():
        if (width := width_of(opcode)) is not None:
            of_space = found.setdefault(class_of(opcode).rpartition("-")[0], {})
            of_space[width] = of_space.get(width, 0) + count
    return {space: dict(sorted(found[space].items())) for space in SPACES if space in found}


def mean_width(opcodes: Mapping[str, int], spaces: Iterable[str]) -> float | None:
    """The mean width of the loads and stores in these spaces, in bytes per lane; None if there are none."""
    both = [
        (width, count)
        for space, of_space in widths(opcodes).items()
        if space in spaces
        for width, count in of_space.items()
    ]
    accesses = sum(count for _, count in both)
    return sum(width * count for width, count in both) / accesses if accesses else None
