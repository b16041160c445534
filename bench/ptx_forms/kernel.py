"""The kernel that executes programs: loads of their inputs, each program, and stores of its results.

Result k of a lane is a number of 64 bits at OUT + k * STRIDE + 8 * lane.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from bench.ptx_forms import inputs
from bench.ptx_forms.programs import Program
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile.ptxas import assemble

ARCH = "sm_90"
STRIDE = 8 * inputs.LANES
_REGISTER = re.compile(r"%([a-z]+\d*(?:x2)?)_(\d)\b")
_ERROR = re.compile(r"line (\d+); (?:error|fatal)")
SLOTS = {
    f"%{kind}_{k}": i * inputs.POSITIONS + k for i, kind in enumerate(inputs.CLASSES) for k in range(inputs.POSITIONS)
}


def source(programs: Sequence[Program], version: str = "8.8") -> tuple[str, list[range]]:
    """(PTX of a kernel with the programs, the lines of each)."""
    used = sorted({m[0] for p in programs for line in p.lines for m in _REGISTER.finditer(line) if m[0] in SLOTS})
    lines = [
        f".version {version}",
        f".target {ARCH}",
        ".address_size 64",
        ".visible .entry k(.param .u64 pin, .param .u64 pout)",
        "{",
    ]
    for register in used:
        width = inputs.bits(register[1:].rpartition("_")[0])
        lines.append(f".reg .{'pred' if width == 1 else f'b{width}'} {register};")
    lines += [
        ".reg .b64 %in, %out, %at; .reg .b32 %thread, %bit;",
        "ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];",
    ]
    lines += ["mov.u32 %thread, %tid.x; mul.wide.u32 %at, %thread, 8; add.u64 %in, %in, %at; add.u64 %out, %out, %at;"]
    for register in used:
        width = inputs.bits(register[1:].rpartition("_")[0])
        place = f"[%in+{SLOTS[register] * STRIDE}]"
        if width == 1:
            lines.append(f"ld.global.b32 %bit, {place}; and.b32 %bit, %bit, 1; setp.ne.u32 {register}, %bit, 0;")
        else:
            lines.append(f"ld.global.b{width} {register}, {place};")
    places, slot = [], 0
    for program in programs:
        lines.append(
            "{ .reg .pred %o_1_<4>; .reg .b16 %o_16_<4>; .reg .b32 %o_32_<4>; .reg .b64 %o_64_<4>; .reg .b32 %word;"
        )
        places.append(range(len(lines) + 1, len(lines) + 1 + len(program.lines)))
        lines += program.lines
        for register, width in program.results:
            at = f"[%out+{slot * STRIDE}]"
            slot += 1
            lines.append(
                f"selp.u32 %word, 1, 0, {register}; st.global.b32 {at}, %word;"
                if width == 1
                else f"st.global.b{width} {at}, {register};"
            )
        lines.append("}")
    return "\n".join([*lines, "ret;", "}", ""]), places


def accepted(programs: Sequence[Program], at_once: int = 400) -> list[Program]:
    """The programs that ptxas accepts."""
    groups = [list(programs[k : k + at_once]) for k in range(0, len(programs), at_once)]
    with ThreadPoolExecutor(2) as pool:
        return [p for group in pool.map(_accepted, groups) for p in group]


def _accepted(group: list[Program]) -> list[Program]:
    while group:
        text, places = source(group)
        try:
            assemble(text, ARCH, ("-O0",))
            return group
        except InputError as error:
            wrong = {int(n) for n in _ERROR.findall(error.detail or "")}
        left = [p for p, place in zip(group, places) if wrong.isdisjoint(place)]
        if len(left) == len(group):
            if len(group) == 1:
                return []
            half = len(group) // 2
            return _accepted(group[:half]) + _accepted(group[half:])
        group = left
    return []
