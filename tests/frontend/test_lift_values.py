"""Lifted machine code computes the values of the source: random expressions, every architecture.

NVRTC and ptxas compile a kernel that stores a few dozen expressions of its parameters; the lifted instructions are
executed thread by thread (`sass_twin`) and every stored value is compared with Python's. MUFU.RCP is known only to a
unit in the last place, so each run is done with its result decreased, unchanged and increased by one: quotients must
not change.
"""

from __future__ import annotations

import struct
from random import Random

import pytest
from c_expressions import generate, kernel
from machine_code import from_cuda, from_ptx
from sass_twin import Thread

from ptxaudit.frontend.sass.lift import lift_cubin

ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
EXPRESSIONS, DEPTH = 24, 3
OUT = 0x7F0000001000
LAYOUT = struct.Struct("<QiiIIqQ")
VALUES = (
    {"a": 17, "b": -5, "c": 1000, "d": 0x80000001, "e": -12345678901, "f": 0xFEDCBA9876543210},
    {"a": -(1 << 31), "b": 2147483647, "c": 0xFFFFFFFF, "d": 0, "e": 3, "f": 5},
    {"a": 0, "b": 1, "c": 7, "d": 31, "e": 1 << 62, "f": 0x100000000},
)


def check(seed: int, arch: str, nudge: int) -> None:
    rng = Random(seed)
    expressions = [generate(rng, DEPTH) for _ in range(EXPRESSIONS)]
    function = lift_cubin(from_cuda(kernel("k", expressions), arch), "k.cubin").functions["k"]
    for position, values in enumerate(VALUES):
        for thread in (0, 13 + position):
            params = LAYOUT.pack(OUT, *(values[name] for name in "abcdef"))
            specials = {"tid.x": thread, "stack": 0x10000, "descriptor_lo": 0, "descriptor_hi": 0, "ntid.x": 32}
            memory = Thread(function, params, specials, nudge=nudge).run()
            env = dict(values, t=thread)
            for i, expression in enumerate(expressions):
                stored = sum(memory[OUT + 8 * i + k] << 8 * k for k in range(8))
                assert stored == expression.value(env) & (1 << 64) - 1, f"{arch} seed {seed} {env}: {expression.text}"


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("seed", range(2))
def test_random_expressions_compute_the_same_values(arch, seed):
    check(seed, arch, nudge=0)


@pytest.mark.parametrize("nudge", (-1, 1))
def test_division_is_independent_of_the_reciprocals_last_place(nudge):
    check(7, "sm_90", nudge)


SHORT = """extern "C" __global__ void k(unsigned *o, unsigned short n, unsigned short d)
{ o[0] = n / d; o[1] = n % d; o[2] = (unsigned char)n / (unsigned char)(d | 1); o[3] = (threadIdx.x & 0xfff) / (d & 31 | 1); }
"""


@pytest.mark.parametrize("nudge", (-1, 0, 1))
@pytest.mark.parametrize("arch", ("sm_90", "sm_100", "sm_120"))
def test_division_of_short_integers_is_exact(arch, nudge):
    """By one float product: the quotient is right for any last place of the reciprocal."""
    function = lift_cubin(from_cuda(SHORT, arch), "k.cubin").functions["k"]
    assert not any(op.name == "mufu.rcp.near" for instruction in function.instructions for op in instruction.ops)
    rng = Random(3)
    pairs = [(65535, 1), (65535, 65535), (65534, 65535), (0, 7), (1, 1)]
    for n, d in pairs + [(rng.getrandbits(16), rng.getrandbits(rng.randint(1, 16)) | 1) for _ in range(25)]:
        specials = {"tid.x": n & 0x3FF, "stack": 0x10000, "descriptor_lo": 0, "descriptor_hi": 0, "ntid.x": 1024}
        memory = Thread(function, struct.pack("<QHH", OUT, n, d), specials, nudge=nudge).run()
        stored = struct.unpack("<4I", bytes(memory[OUT + k] for k in range(16)))
        assert stored == (n // d, n % d, (n & 255) // (d & 255 | 1), (n & 0x3FF) // (d & 31 | 1)), (n, d)


PACKED = """.visible .entry k(.param .u64 out, .param .b64 x, .param .b64 y, .param .f32 z)
{ .reg .f32 %f<6>; .reg .b64 %d<9>; ld.param.u64 %d1, [out]; ld.param.b64 %d2, [x]; ld.param.b64 %d3, [y]; ld.param.f32 %f1, [z];
  add.rn.f32x2 %d4, %d2, %d3; mul.rn.f32x2 %d5, %d4, %d3; fma.rn.f32x2 %d6, %d5, %d2, %d4; mov.b64 {%f2, %f3}, %d6;
  mov.b64 %d7, {%f1, %f1}; fma.rn.f32x2 %d7, %d7, %d3, %d2; mov.b64 %d8, {0f3f800000, 0f3f800000}; add.rn.f32x2 %d7, %d7, %d8; st.global.b64 [%d1+16], %d7;
  max.f32 %f4, %f1, %f2, %f3; min.ftz.f32 %f5, %f1, %f2, %f3;
  st.global.b64 [%d1], %d6; st.global.f32 [%d1+8], %f4; st.global.f32 [%d1+12], %f5; ret; }
"""


@pytest.mark.parametrize("x, y, z", [((1.5, -2.0), (0.25, 3.0), 4.0), ((0.0, 7.0), (-1.0, 0.5), -9.0)])
def test_packed_floats_and_three_input_minima_are_computed(x, y, z):
    function = lift_cubin(from_ptx(PACKED, "sm_100"), "k.cubin").functions["k"]
    assert {"FFMA2", "FMNMX3", "FMNMX3.FTZ"} <= {instruction.opcode for instruction in function.instructions}
    memory = Thread(
        function,
        struct.pack("<Qfffff", OUT, *x, *y, z),
        {"tid.x": 0, "stack": 0x10000, "descriptor_lo": 0, "descriptor_hi": 0},
    ).run()
    stored = struct.unpack("<6f", bytes(memory[OUT + k] for k in range(24)))
    halves = tuple((a + b) * b * a + (a + b) for a, b in zip(x, y))
    assert stored == (*halves, max(z, *halves), min(z, *halves), *(z * b + a + 1 for a, b in zip(x, y)))


def test_matrix_load_result_is_loaded_data():
    """The result of a matrix load is loaded data, not the result of an unmodelled opcode."""
    body = """.visible .entry k(.param .u64 p) { .reg .u32 %r<9>; .shared .align 16 .b8 a[1024]; mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 31;
    mov.u32 %r2, a; mad.lo.u32 %r1, %r1, 16, %r2; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r3, %r4}, [%r1];
    and.b32 %r3, %r3, 1020; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r4; ret; }
    """
    import ptxaudit

    report = ptxaudit.audit(from_ptx(body), launches=[ptxaudit.Launch("k", grid=1, block=32)])
    assert [(site.access, str(site.status)) for site in report.sites] == [
        ("ldmatrix", "exact"),
        ("store", "data-dependent"),
    ]


_EXPONENTS = (0x7FFF, 0xFFFF, 0x7C00, 0xFC00, 0x7C01, 0x7E00, 0x0001, 0x8000, 0x3C00, 0xDEAD)
CONSTANTS = tuple(high << 16 | low for high in _EXPONENTS for low in _EXPONENTS)
SELECTED = (0x7FFFFFFF, 0x7F800001, 0xFFC00001, 0x7F800000, 0x3F812345, 0x00000001)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_integer_constants_built_by_float_instructions_are_exact(arch):
    """ptxas builds integers from two half floats (HFMA2) and selects them as floats (FSEL); the text does not show all
    bits of a NaN.
    """
    body = [
        (
            ".visible .entry k(.param .u64 out, .param .u32 n, .param .f32 z) { .reg .b32 %r<3>; .reg .u64 %d<2>; .reg"
            " .pred %p; .reg .f32 %f<3>;"
        ),
        "ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n]; setp.gt.s32 %p, %r1, 3; ld.param.f32 %f1, [z];",
    ]
    body += [f"mov.b32 %r2, {value:#x}; st.global.b32 [%d1+{4 * at}], %r2;" for at, value in enumerate(CONSTANTS)]
    body += [
        f"selp.f32 %f2, %f1, 0f{value:08X}, %p; st.global.f32 [%d1+{4 * at}], %f2;"
        for at, value in enumerate(SELECTED, len(CONSTANTS))
    ]
    function = lift_cubin(from_ptx("\n".join([*body, "ret; }\n"]), arch), "k.cubin").functions["k"]
    memory = Thread(
        function,
        struct.pack("<QIf", OUT, 1, 1.5),
        {"tid.x": 0, "stack": 0x10000, "descriptor_lo": 0, "descriptor_hi": 0},
    ).run()
    stored = struct.unpack(
        f"<{len(CONSTANTS + SELECTED)}I", bytes(memory[OUT + k] for k in range(4 * len(CONSTANTS + SELECTED)))
    )
    assert [hex(value) for value in stored] == [hex(value) for value in CONSTANTS + SELECTED]


@pytest.mark.parametrize("arch", ("sm_75", "sm_80", "sm_90"))
def test_global_reductions_are_no_shared_sites(arch):
    """RED is global on every architecture; if the state space is unknown, ptxas emits ATOM."""
    body = """.visible .entry k(.param .u64 p, .param .u64 g) { .reg .u64 %d<4>; .reg .u32 %r<2>; .reg .f32 %f<2>; ld.param.u64 %d1, [p];
    ld.param.u64 %d2, [g]; cvta.to.global.u64 %d1, %d1; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1;
    red.global.add.f32 [%d1], %f1; red.add.u32 [%d2], %r1; ret; }
    """
    function = lift_cubin(from_ptx(body, arch), "k.cubin").functions["k"]
    found = {
        instruction.opcode.partition(".")[0]: instruction.site is not None for instruction in function.instructions
    }
    assert found["ATOM"] and not found[{"sm_90": "REDG"}.get(arch, "RED")]
