"""Paths that only trap or fail an assertion are removed: in a launch that completes, no lane takes them."""

from __future__ import annotations

import random

import pytest

import ptxaudit
from ptxaudit.frontend.artifacts.cubin import INSTRUCTION_BYTES, CodeSection, Relocation, Symbol
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.frontend.sass.builder import Context
from ptxaudit.frontend.sass.disassemble import Line
from ptxaudit.frontend.sass.runtime_calls import Backwards, runtime_calls
from ptxaudit.ir import aborts
from ptxaudit.ir.nodes import Control, Guard, Instruction, Reg

PTX = """
.version 8.0
.target sm_90
.address_size 64
.extern .func __assertfail (.param .b64 m);
.extern .func vprintf (.param .b64 m);
.func fails () {{ trap; ret; }}
.func perhaps () {{ .reg .b32 %q; .reg .pred %p; mov.u32 %q, %clock; setp.gt.u32 %p, %q, 9; @%p ret; trap; }}
.visible .entry k(.param .u64 in)
{{
    .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<3>;
    .shared .align 16 .b8 s[4096];
    ld.param.u64 %rd1, [in];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    setp.gt.u32 %p1, %r2, 1000;
    setp.gt.u32 %p2, %r2, 500;
    {check}
fine:
    mov.u32 %r4, s;
    mad.lo.u32 %r3, %r1, 8, %r4;
    st.shared.u32 [%r3], %r2;
    ret;
bad:
    {bad}
}}
"""
FAILS = "{ .param .b64 m0; st.param.b64 [m0], 0; call __assertfail, (m0); }"
PRINTS = "{ .param .b64 m0; st.param.b64 [m0], 0; call vprintf, (m0); }"


@pytest.mark.parametrize(
    "check,bad,exact",
    [
        (f"@!%p1 bra fine; {FAILS}", "trap;", True),
        ("@!%p1 bra fine; trap;", "trap;", True),
        ("@%p1 bra bad;", "trap;", True),
        ("@%p1 trap;", "trap;", True),
        ("@%p1 bra bad;", f"{PRINTS} @%p2 trap; trap;", True),
        ("@%p1 bra bad;", "@%p2 bra worse; trap; worse: st.shared.u32 [s], 7; trap;", True),
        ("@%p1 bra bad;", "@%p2 bra fine; trap;", True),  # all paths return from there
        ("@%p1 bra bad;", "@%p2 bra bad; trap;", True),  # lanes that do not trap loop forever
        ("@%p1 bra bad;", "@%p2 trap; bra bad;", True),
        ("@%p1 bra bad;", "bra bad;", False),  # no path aborts
        ("@!%p1 bra fine; call fails;", "trap;", True),
        ("@%p1 call fails;", "trap;", True),
        ("@%p1 bra bad;", "call fails; bra fine;", True),
        ("@%p1 bra bad;", "call perhaps; trap;", False),  # the callee is not analysed: lanes may return
        ("@%p1 bra bad;", "call perhaps; exit;", False),
        ("@%p1 bra bad;", "exit;", False),
        ("@%p1 bra bad;", "@%p2 exit; trap;", False),
        ("@%p1 bra bad;", "@%p2 bra bad; exit;", False),
    ],
)
def test_aborting_path_takes_no_lane(check, bad, exact):
    report = ptxaudit.audit(
        PTX.format(check=check, bad=bad), launches=[ptxaudit.Launch("k", grid=3, block=64, params=[None])]
    )
    (kernel,) = report.kernels
    site = next(s for s in kernel.sites if "%r3" in s.text)
    assert (str(site.status) == "exact") is exact
    if exact:
        assert (site.requests, site.wavefronts) == (6, 12)
    assert (aborts.NOTE in kernel.notes) is exact
    assert all(str(s.status) == "unreached" for s in kernel.sites if s is not site)


def test_kernel_that_always_aborts_is_unchanged():
    report = ptxaudit.audit(PTX.format(check="trap;", bad="trap;"))
    (kernel,) = report.kernels
    assert [str(s.status) for s in kernel.sites] == ["unreached"] and aborts.NOTE not in kernel.notes


SOURCE = """
#include <assert.h>
extern "C" __global__ void k(const unsigned* in, unsigned* out, unsigned n) {
    __shared__ unsigned s[1024];
    unsigned i = in[threadIdx.x];
    assert(i < n);
    s[threadIdx.x * 2] = i;
    __syncthreads();
    if (i == 7 && MESSAGE) printf("%u", i);
    out[i] = s[threadIdx.x * 2 ^ 2];
}
"""


@pytest.mark.parametrize("isa", ["ptx", "sass"])
def test_failed_assertion_of_a_compiled_kernel_takes_no_lane(isa, tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    launch = ptxaudit.Launch("k", grid=2, block=64, params=[None, None, 50])
    (kernel,) = ptxaudit.audit(path, arch="sm_90", isa=isa, launches=[launch], defines={"MESSAGE": "0"}).kernels
    assert [(str(s.status), s.requests, s.wavefronts) for s in kernel.sites] == [("exact", 4, 8)] * 2
    assert aborts.NOTE in kernel.notes


def test_call_of_printf_does_not_reenter_the_kernel(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    (kernel,) = ptxaudit.audit(path, arch="sm_90", isa="sass", defines={"MESSAGE": "1"}).kernels
    assert len(kernel.sites) == 2 and all("may lead there" not in (s.reason or "") for s in kernel.sites)


CALLING = ("MOV R2, 0x18", "LDC.64 R2, c[0x4][R2]", "MOV R9, 0x1", "CALL.ABS.NOINC R2", "EXIT")


@pytest.mark.parametrize(
    "lines,found",
    [
        (CALLING, {0x30: "__assertfail"}),
        (("NOP", "LDC.64 R2, c[0x4][0x18]", "NOP", "CALL.ABS.NOINC R2", "EXIT"), {0x30: "__assertfail"}),
        (("MOV R2, 0x20", *CALLING[1:]), {}),  # an address of another function
        ((*CALLING[:2], "MOV R3, 0x1", *CALLING[3:]), {}),  # half of the address is overwritten
        ((*CALLING[:2], "@P0 MOV R2, 0x1", *CALLING[3:]), {}),
        ((*CALLING[:2], "@P0 BRA 0x40", *CALLING[3:]), {0x30: "__assertfail"}),  # other lanes exit
        (("@P0 MOV R2, 0x18", *CALLING[1:]), {}),
        ((CALLING[0], "@P0 LDC.64 R2, c[0x4][R2]", *CALLING[2:]), {}),
        (("@P0 BRA 0x40", *CALLING), {}),  # a branch enters the sequence
        (("@P0 BRA 0x20", *CALLING), {}),
        (("BSSY B0, 0x40", "@P0 BRA 0x40", *CALLING[:2], "BSYNC B0", *CALLING[2:]), {}),
        (("BSSY B0, 0x40", *CALLING[:2], "@P0 BRA 0x50", "NOP", "BSYNC B0", *CALLING[2:]), {0x70: "__assertfail"}),
        ((*CALLING[:2], "@P0 BRA 0x50", *CALLING[3:], "NOP", "@P1 BRA 0x50", "BRA 0x30"), {0x30: "__assertfail"}),
        ((*CALLING[:2], "@P0 BRA 0x50", *CALLING[3:], "NOP", "@P1 MOV R3, R0", "BRA 0x30"), {}),
        ((*CALLING[:4], "@P0 BRA 0x30", "EXIT"), {0x30: "__assertfail"}),  # the callee preserves R2
        (("LDC.64 R6, c[0x4][0x18]", "NOP", "CALL.ABS.NOINC R6", "@P0 BRA 0x20", "EXIT"), {}),  # but not its results
        ((*CALLING[:4], "MOV R3, R3", "@P0 BRA 0x30", "EXIT"), {0x30: "__assertfail"}),
        ((CALLING[0], "LDC.64 R8, c[0x4][R2]", "MOV R2, R8", "MOV R3, R9", *CALLING[3:]), {0x40: "__assertfail"}),
        ((CALLING[0], "LDC.64 R8, c[0x4][R2]", "MOV R2, R9", "MOV R3, R8", *CALLING[3:]), {}),  # halves swapped
        ((CALLING[0], "LDC.64 R2, c[0x4][0x20]", "CALL.ABS.NOINC R2", CALLING[1], *CALLING[3:]), {}),  # after a call
        ((*CALLING[:4], "@P0 BRA 0x0", "EXIT"), {0x30: "__assertfail"}),
        ((*CALLING[:4], "@P0 BRA 0x10", "EXIT"), {}),
        ((*CALLING, "BRX R6 -0x50"), {}),  # the indirect branch may enter it
        (("MOV R20, 0x40", *CALLING, "RET.ABS.NODEC R20 0x0"), {}),
        (("MOV R20, 0x50", *CALLING, "RET.ABS.NODEC R20 0x0"), {0x40: "__assertfail"}),
        ((*CALLING, "BRA 0x40"), {0x30: "__assertfail"}),
    ],
)
def test_runtime_calls_read_their_address_from_the_constant_bank(lines, found):
    assert calls_of(lines) == found


def calls_of(lines):
    text = tuple(Line(*_parts(line)) for line in lines)
    places = ((0x18, "__assertfail"), (0x20, "other"))
    bank = tuple(Relocation(offset, 2, Symbol(name, "", 0, 0, True)) for offset, name in places)
    own = Symbol("k", ".text.k", 0, INSTRUCTION_BYTES * len(text), True)
    section = CodeSection("k", bytes(own.size), True, (own,), bank_relocations={4: bank})
    return runtime_calls(Context(section, 90, 0x210), text)


def _parts(line: str) -> tuple[str, str, str]:
    guard, _, rest = line.partition(" ") if line.startswith("@") else ("", "", line)
    opcode, _, operands = rest.partition(" ")
    return guard, opcode, operands


GUARD = Guard(Reg("p", 1))


def some_code(rng: random.Random) -> list[Instruction]:
    count = rng.randrange(2, 9)
    made: list[Control | None] = [
        rng.choice(
            (
                None,
                Control("exit"),
                Control("exit", aborts=True),
                Control("exit", guard=GUARD, aborts=True),
                Control("branch", (rng.randrange(count),)),
                Control("branch", (rng.randrange(count),), GUARD),
            )
        )
        for _ in range(count - 1)
    ]
    return [Instruction(k, k, "", "", None, (), c) for k, c in enumerate([*made, Control("exit")])]


def ends(code: list[Instruction], index: int, seen: tuple[int, ...] = ()) -> set[str]:
    """How the paths from an instruction end, enumerated one by one."""
    if index in seen:
        return {"never"}
    control, seen = code[index].control, (*seen, index)
    on = () if control is not None and control.guard is None else (index + 1,)
    if control is not None and control.kind == "branch":
        on = (*on, *control.targets)
    own = {"aborts" if control.aborts else "ends"} if control is not None and control.kind == "exit" else set()
    return own.union(*(ends(code, k, seen) for k in on))


@pytest.mark.parametrize("seed", range(300))
def test_doomed_blocks_abort_on_every_path(seed):
    code = some_code(random.Random(seed))
    ways = [ends(code, k) for k in range(len(code))]
    assert aborts._doomed(code) == ["aborts" in each and "ends" not in each for each in ways]


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_function_named_as_the_runtimes_is_executed(isa):
    """Its body decides, not the name that it shares with a function of the runtime."""
    text = PTX.format(check="@!%p1 bra fine; " + FAILS + " st.shared.u32 [%r3+64], %r2;", bad="ret;")
    text = text.replace(".extern .func __assertfail (.param .b64 m);", ".func __assertfail (.param .b64 m) { ret; }")
    text = text.replace("setp.gt.u32 %p1, %r2, 1000;", "setp.lt.u32 %p1, %r1, 7; mov.u32 %r3, s;")
    content = assemble(text, "sm_90").cubin if isa == "sass" else text
    report = ptxaudit.audit(content, isa=isa, launches=[ptxaudit.Launch("k", grid=1, block=32)])
    assert sorted(site.active_requests for site in report.sites) == [1, 1]
    assert not any("assertion" in note for note in report.kernels[0].notes)


def test_runtime_calls_are_found_in_linear_time(monkeypatch):
    """An address that depends on a number loaded at the start of the code is traced once, not from each call."""
    looked = []
    writes = Backwards._writes
    monkeypatch.setattr(Backwards, "_writes", lambda self, *given: looked.append(given) or writes(self, *given))
    counts = []
    for many in (50, 100):
        text = ["MOV R17, 0x18", *["LDC.64 R2, c[0x4][R17]", "NOP", "CALL.ABS.NOINC R2", "NOP"] * many, "EXIT"]
        looked.clear()
        assert len(calls_of(text)) == many
        counts.append(len(looked))
    assert counts[1] < 2.2 * counts[0]
