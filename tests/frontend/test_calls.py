"""The targets of calls, and whether they return: the code itself sets the registers that hold the return address."""

from __future__ import annotations

import pytest

import ptxaudit
from ptxaudit.frontend.artifacts.cubin import CodeSection, Symbol
from ptxaudit.frontend.sass.builder import Context
from ptxaudit.frontend.sass.calls import find_calls
from ptxaudit.frontend.sass.disassemble import Line

BY_CALLER = """
    MOV R20, 0x20
    CALL.REL.NOINC 0x40
    EXIT
    NOP
    IADD3 R4, R4, 0x1, RZ
    RET.REL.NODEC R20 0x0
"""
# With one caller, ptxas sets the return address in the function.
BY_CALLEE = """
    NOP
    CALL.REL.NOINC 0x40
    EXIT
    NOP
    MOV R2, 0x20
    @P0 RET.REL.NODEC R2 0x0
    BRA 0x40
"""
COPIED = BY_CALLEE.replace("MOV R2, 0x20", "MOV R18, 0x20\n    IMAD.MOV.U32 R2, RZ, RZ, R18").replace(
    "BRA 0x40", "EXIT"
)
TWO_CALLERS = BY_CALLEE.replace("EXIT", "CALL.REL.NOINC 0x40")
ELSEWHERE = BY_CALLEE.replace("R2, 0x20", "R2, 0x30")
COMPUTED = BY_CALLER.replace("IADD3 R4, R4", "IADD3 R20, R20")
# A write to a return-address register on another path through the function does not affect this path.
TWO_WAYS = """
    MOV R20, 0x20
    CALL.REL.NOINC 0x40
    EXIT
    NOP
    @P0 BRA 0x90
    MOV R4, R20
    IADD3 R20, R4, 0x1, RZ
    MOV R5, 0x0
    RET.REL.NODEC R4 0x0
    MOV R2, R20
    RET.REL.NODEC R2 0x0
"""
MAY_BE_COMPUTED = TWO_WAYS.replace("RET.REL.NODEC R4 0x0", "@P1 RET.REL.NODEC R4 0x0")
WHERE_LANES_MEET = """
    MOV R20, 0x20
    CALL.REL.NOINC 0x40
    EXIT
    NOP
    BSSY B0, 0xa0
    @P0 BRA 0x80
    BSYNC B0
    NOP
    IADD3 R20, R20, 0x1, RZ
    BSYNC B0
    RET.REL.NODEC R20 0x0
"""
BY_TABLE = """
    MOV R20, 0x20
    CALL.REL.NOINC 0x40
    EXIT
    NOP
    @P0 BRA 0x70
    IADD3 R20, R20, 0x1, RZ
    BRX R6 -0x60
    EXIT
    RET.REL.NODEC R20 0x0
"""
NOT_WHERE_THEY_MEET = WHERE_LANES_MEET.replace("IADD3 R20, R20", "IADD3 R21, R20")
# Lanes that arrive at one BSYNC of a barrier do not continue with lanes that wait at another BSYNC, for which an
# earlier BSSY set it.
BARRIER_TWICE = """
    NOP
    CALL.REL.NOINC 0x40
    EXIT
    NOP
    MOV R20, 0x20
    BSSY B0, 0x80
    @P0 BRA 0x70
    BSYNC B0
    @P1 RET.REL.NODEC R20 0x0
    BSSY B0, 0xd0
    @P0 BRA 0xc0
    IADD3 R20, R4, 0x1, RZ
    BSYNC B0
    EXIT
"""
BARRIER_MOVED = BARRIER_TWICE.replace("IADD3 R20, R4, 0x1, RZ", "IADD3 R20, R4, 0x1, RZ\n    BMOV.32 B0, R7")
OPENED_ON_ONE_WAY = BARRIER_TWICE.replace("BSSY B0, 0xd0", "@P2 BSSY B0, 0xd0")
ENDLESS = BY_CALLER.replace("RET.REL.NODEC R20 0x0", "EXIT")
# Lanes leave the function in other ways: into the code before or after it, or into another function by a relocation.
JUMPS_OUT = BY_CALLER.replace("RET.REL.NODEC R20 0x0", "BRA 0x20")
JUMPS_AWAY = BY_CALLER.replace("RET.REL.NODEC R20 0x0", "JMP `(g)")
RUNS_OUT = BY_CALLER.replace("RET.REL.NODEC R20 0x0", "@P0 EXIT")
PADDED = ENDLESS + "    NOP\n    NOP\n"


@pytest.mark.parametrize(
    "code, expected",
    [
        (BY_CALLER, {0x10: ("call", 4)}),
        (BY_CALLEE, {0x10: ("call", 4)}),
        (ENDLESS, {0x10: ("branch", 4)}),
        (PADDED, {0x10: ("branch", 4)}),
        (JUMPS_OUT, {}),
        (JUMPS_AWAY, {}),
        (RUNS_OUT, {}),
        (COPIED, {0x10: ("call", 4)}),
        (TWO_CALLERS, {}),
        (ELSEWHERE, {}),
        (COMPUTED, {}),
        (TWO_WAYS, {0x10: ("call", 4)}),
        (MAY_BE_COMPUTED, {}),
        (WHERE_LANES_MEET, {}),
        (BY_TABLE, {}),
        (NOT_WHERE_THEY_MEET, {0x10: ("call", 4)}),
        (BARRIER_TWICE, {0x10: ("call", 4)}),
        (BARRIER_MOVED, {}),
        (OPENED_ON_ONE_WAY, {}),
    ],
    ids=(
        "the caller sets it",
        "the function has it",
        "never returns",
        "never returns, before padding",
        "jumps out of the function",
        "jumps into another function",
        "runs into what follows",
        "a copy of what the function has",
        "two callers",
        "another place",
        "computed",
        "two ways",
        "computed on one way",
        "computed before lanes meet",
        "computed before a jump by a table",
        "kept until lanes meet",
        "computed before lanes meet elsewhere",
        "computed where a barrier is put back",
        "computed where a barrier may be the one before",
    ),
)
def test_calls_whose_target_returns_are_found(code, expected):
    assert found(code) == expected


@pytest.mark.parametrize("code", (BY_CALLER, BY_CALLEE, COPIED, TWO_WAYS, NOT_WHERE_THEY_MEET))
def test_code_without_a_symbol_that_only_calls_enter_is_a_function(code):
    """ptxas names one of its two routines for the division of 64-bit integers."""
    assert found(code, named=False) == {0x10: ("call", 4)}
    assert found(code.replace("EXIT", "NOP", 1), named=False) == {0x10: ("jump", 4)}  # entered from above, too


@pytest.mark.parametrize("code", (ELSEWHERE, COMPUTED, MAY_BE_COMPUTED, WHERE_LANES_MEET, BY_TABLE))
def test_code_without_a_symbol_may_return_elsewhere(code):
    assert 0x10 not in found(code, named=False)


# ptxas leaves loops by a call of the code behind them (sm_75 to sm_89).
INTO_THE_MIDDLE = """
    BSSY B0, 0x40
    @!P0 CALL.REL.NOINC 0x30
    BRA 0x10
    BSYNC B0
    WARPSYNC 0xffffffff
    EXIT
"""


def test_call_of_code_in_the_middle_of_a_function_is_a_branch_unless_it_may_return():
    assert found(INTO_THE_MIDDLE, named=False) == {0x10: ("branch", 3)}
    assert (
        found(INTO_THE_MIDDLE.replace("EXIT", "RET.REL.NODEC R20 0x0"), named=False) == {}
    )  # nothing else leads there
    also_reached = INTO_THE_MIDDLE.replace("BRA 0x10", "@P1 BRA 0x10")
    assert found(also_reached, named=False) == {0x10: ("branch", 3)}
    assert found(also_reached.replace("EXIT", "RET.REL.NODEC R20 0x0"), named=False) == {0x10: ("jump", 3)}


def found(code: str, named: bool = True) -> dict[int, tuple[str, int]]:
    """The calls of a kernel and a function at 0x40. named: the function has a symbol."""
    lines = []
    for text in code.strip().splitlines():
        guard, _, rest = text.strip().partition(" ") if text.strip().startswith("@") else ("", "", text.strip())
        opcode, _, operands = rest.partition(" ")
        lines.append(Line(guard, opcode, operands))
    symbols = (Symbol("k", ".text.k", 0, 0x40, True), Symbol("$k$f", ".text.k", 0x40, 16 * len(lines) - 0x40, True))
    section = CodeSection("k", bytes(16 * len(lines)), True, symbols if named else symbols[:1])
    return find_calls(Context(section, 90, 0x210), [section], {"k": tuple(lines)}, {"k": 0})


# Routines with several exits, called from another routine: ptxas puts BSSY and BSYNC around the inner call.
NESTED = """
__device__ __noinline__ void leaf(unsigned* x) {{ {leaf} }}
__device__ __noinline__ unsigned middle(unsigned* g, const unsigned* s, int t) {{ leaf(g); return s[t]; }}
extern "C" __global__ void k(unsigned* out, unsigned* g) {{
    __shared__ unsigned s[256];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[t] = middle(g + t * 3, s, t * 2 & 255);
}}
"""
LEAVES = {
    "early": "if (x[0] < x[1]) return; x[0] -= x[1]; x[2] = x[0] * 3;",
    "on two ways": (
        "if (x[0] < x[1]) { for (unsigned i = 0; i < x[2]; i++) x[i + 9] = x[i] * 7; x[5] = atomicAdd(x + 4, 3);"
        " return; } for (unsigned i = 0; i < x[3]; i++) x[i + 19] = x[i] + i; x[6] = atomicMax(x + 5, 3);"
    ),
}


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("leaf", LEAVES)
def test_code_after_a_call_with_several_returns_runs_once(tmp_path, leaf, isa):
    path = tmp_path / "k.cu"
    path.write_text(NESTED.format(leaf=LEAVES[leaf]))
    report = ptxaudit.audit(path, isa=isa, launches=[ptxaudit.Launch("k", grid=1, block=64)])
    [load] = [site for site in report.sites if site.access == "load"]
    assert (load.status, load.requests, load.wavefronts) == ("exact", 2, 4)
