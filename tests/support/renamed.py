"""PTX with all declared names changed: parameters, variables, registers, labels, functions.

renamed(".visible .entry k(.param .u64 p) { .reg .b32 %r<3>; L: bra L; }", Random(1))
-> (".visible .entry shared_window_hi4(.param .u64 trip1_2) { .reg .b32 %cc7_<3>; loaded3: bra loaded3; }", {"k":
"shared_window_hi4", …})
"""

from __future__ import annotations

import re
from random import Random

# Names that the engine uses internally, and similar ones.
WORDS = (
    "my_shared_window",
    "shared_window_hi",
    "shared_window",
    "local_window_lo",
    "window",
    "loaded",
    "trip1",
    "ctaid",
    "tid",
    "laneid",
    "hi",
    "wraps",
    "k",
    "param",
    "stack",
    "R1",
    "UR4",
    "P0",
    "B0",
    "t0",
    "RZ",
    "choice",
    "bit0",
    "phase",
    "budget",
    "local",
    "shared",
    "generic",
    "cga_ctaid",
    "load",
    "store",
    "call",
    "malloc_",
    "vote",
    "way3",
    "reduced",
    "x_param_0",
    "_Z3foov",
    "block_shape",
    "not_known",
    "c0x0",
    "root",
    "wmma0",
    "derived",
    "upper_half",
)
_DECLARED = re.compile(
    r"(?<![\w.:])\.(?:reg|shared|local|global|const|param)\b(?:\s*\.\w+(?:\s+\d+)?|\s*\.ptr)*\s+([^;){]+)"
)
_QUALIFIER = re.compile(r"\.\w+(?:\s+\d+\b)?")
_FUNCTION = re.compile(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([A-Za-z_$%][\w$]*)")
_LABEL = re.compile(r"(?:^|[;{}])\s*([A-Za-z_$%][\w$]*)\s*:(?!:)", re.M)
_NAME = re.compile(r"(?<![\w$%.])([A-Za-z_$%][\w$]*)")
_STRING = re.compile(r'("[^"\n]*")')


def names(ptx: str) -> set[str]:
    """All names that the module declares; a range of registers by its prefix and "<"."""
    found = set(_FUNCTION.findall(ptx)) | set(_LABEL.findall(ptx))
    for declared in _DECLARED.findall(ptx):
        for part in re.split(r",(?![^{]*\})", declared.partition("=")[0]):
            match = re.match(r"\s*([A-Za-z_$%][\w$]*)\s*(<?)", _QUALIFIER.sub(" ", part))
            if match:
                found.add(match[1] + match[2])
    return found


def renamed(ptx: str, rng: Random) -> tuple[str, dict[str, str]]:
    """The module with other names, and the new name of each."""
    ptx = re.sub(r"//[^\n]*", "", ptx)
    new: dict[str, str] = {}
    for at, name in enumerate(sorted(names(ptx))):
        plain = name.removesuffix("<")
        stem = f"{rng.choice(WORDS)}{rng.choice('_$')}{at}" + ("_" if name.endswith("<") else "")
        new[name] = ("%" if plain.startswith("%") else rng.choice(("", "_", "$")) if not stem[0] == "_" else "") + stem
    ranges = sorted((n[:-1] for n in new if n.endswith("<")), key=len, reverse=True)

    def changed(match: re.Match) -> str:
        name = match[1]
        if name in new and not match.string[match.end() :].startswith("<"):
            return new[name]
        if name + "<" in new:
            return new[name + "<"]
        for prefix in ranges:
            if name.startswith(prefix) and name[len(prefix) :].isdigit():
                return new[prefix + "<"] + name[len(prefix) :]
        return name

    pieces = _STRING.split(ptx)
    return "".join(piece if at % 2 else _NAME.sub(changed, piece) for at, piece in enumerate(pieces)), {
        name.removesuffix("<"): now for name, now in new.items()
    }
