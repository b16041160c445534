"""A sum that ptxas may contract with a product has both results, or none, whatever stands between the two.

ptxas turns those in `FUSED` into an FFMA. Other sums have one result.
"""

from __future__ import annotations

from functools import cache

import pytest
from machine_code import PROLOGUE, from_ptx, lines_of

from ptxaudit import Launch, audit
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module

# The sum's second operand is a parameter c. %f3 is a product of parameters, %f2 is c, %p1 is unknown to ptxas.
FUNCTIONS = """.func (.reg .f32 %ret) same(.reg .f32 %a) { mov.f32 %ret, %a; ret; }
.func (.reg .f32 %ret) less(.reg .f32 %a, .reg .f32 %b) { sub.f32 %ret, %a, %b; ret; }
"""
KERNEL = """.visible .entry {name}(.param .u64 p, .param .f32 x, .param .f32 c)
{{ .reg .f32 %f<20>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p<5>; .reg .f64 %fd<4>;
.shared .align 4 .b8 table[8192]; .local .align 4 .b8 own[16];
mov.u32 %r1, %tid.x; ld.param.u64 %rd3, [p]; ld.param.f32 %f1, [x]; ld.param.f32 %f2, [c]; setp.lt.u32 %p1, %r1, 64;
mul.f32 %f3, %f1, %f1;
{between} {sum}
mul.f32 %f6, %f5, 0f4D000000; cvt.rzi.u32.f32 %r2, %f6; shl.b32 %r2, %r2, 2; mul.lo.u32 %r3, %r1, %r2;
mov.u32 %r4, table; add.u32 %r5, %r4, %r3; st.shared.u32 [%r5], %r1;
ret; }}
"""
SUM = "sub.f32 %f5, %f4, %f2;"
BITS = "mov.b32 %r7, %f3; {} mov.b32 %f4, %r7;"

FUSED = {
    "mov": "mov.f32 %f4, %f3;",
    "bits": BITS.format(""),
    "neg": "neg.f32 %f4, %f3;",
    "neg twice": "neg.f32 %f4, %f3; neg.f32 %f4, %f4;",
    "abs": "abs.f32 %f4, %f3;",
    "max": "max.f32 %f4, %f3, %f3;",
    "cvt": "cvt.f32.f32 %f4, %f3;",
    "true selp": "setp.eq.u32 %p2, %r1, %r1; selp.f32 %f4, %f3, %f2, %p2;",
    "equal selp": "selp.f32 %f4, %f3, %f3, %p1;",
    "slct": "slct.f32.s32 %f4, %f3, %f2, 5;",
    "pack": "mov.b64 %rd1, {%f3, %f2}; mov.b64 {%f4, %f7}, %rd1;",
    "local": "mov.u64 %rd2, own; st.local.f32 [%rd2], %f3; ld.local.f32 %f4, [%rd2];",
    "xor": BITS.format("xor.b32 %r7, %r7, 0x80000000;"),
    "and": BITS.format("and.b32 %r7, %r7, 0xffffffff;"),
    "or": BITS.format("or.b32 %r7, %r7, %r7;"),
    "add": BITS.format("add.u32 %r7, %r7, 5; sub.u32 %r7, %r7, 5;"),
    "mad": BITS.format("mad.lo.u32 %r7, %r7, 1, 0;"),
    "bfe": BITS.format("bfe.u32 %r7, %r7, 0, 32;"),
    "bfi": BITS.format("bfi.b32 %r7, %r7, %r1, 0, 32;"),
    "shf": BITS.format("shf.l.wrap.b32 %r7, %r7, %r7, 0;"),
    "min of bits": BITS.format("min.s32 %r7, %r7, %r7;"),
    "wider": BITS.format("cvt.u64.u32 %rd2, %r7; cvt.u32.u64 %r7, %rd2;"),
    "times one": "mul.rn.f32 %f4, %f3, 0f3F800000;",
    "times one in a register": "mov.f32 %f9, 0f3F800000; mul.rn.f32 %f4, %f3, %f9;",
    "product of a product": "mul.f32 %f4, %f3, %f1;",
    "quotient": "div.approx.f32 %f4, %f1, %f2;",
    "full quotient": "div.full.f32 %f4, %f1, %f2;",
    "constant quotient": "div.approx.f32 %f4, %f1, 0f40400000;",
    "quotient by one": "div.full.f32 %f4, %f3, 0f3F800000;",
    "reciprocal": "rcp.approx.f32 %f4, %f1;",
}
PERHAPS = {  # no known release fuses these
    "call": ("call (%f4), same, (%f3);", SUM),
    "sum in a call": ("", "call (%f5), less, (%f3, %f2);"),
    "guard": ("mov.f32 %f4, %f2; @%p1 mov.f32 %f4, %f3;", SUM),
    "ways": ("mov.f32 %f4, %f2; @%p1 bra L; mov.f32 %f4, %f3; L:", SUM),
    "shared": ("mov.u32 %r9, table; st.shared.f32 [%r9+8188], %f3; ld.shared.f32 %f4, [%r9+8188];", SUM),
    "generic": ("st.f32 [%rd3], %f3; ld.global.f32 %f4, [%rd3];", SUM),
    "shuffle": (BITS.format("shfl.sync.idx.b32 %r7, %r7, 0, 31, 0xffffffff;"), SUM),
    "sum of nothing": ("add.rn.f32 %f4, %f3, 0f80000000;", SUM),
    "fma of nothing": ("fma.rn.f32 %f4, %f3, 0f3F800000, 0f80000000;", SUM),
    "fma of zero": ("fma.rn.f32 %f4, 0f00000000, %f1, %f3;", SUM),
    "second operand": ("mov.f32 %f4, %f3;", "add.f32 %f5, %f2, %f4;"),
}
NEVER = {
    "rounded product": ("mul.rn.f32 %f4, %f1, %f1;", SUM),
    "rounded sum": ("", "sub.rn.f32 %f5, %f3, %f2;"),
    "fma": ("fma.rn.f32 %f4, %f3, 0f3F800000, 0f3F000000;", SUM),
    "fma of a product": ("fma.rn.f32 %f4, 0f40000000, 0f3F000000, %f3;", SUM),
    "twice": ("mul.rn.f32 %f4, %f3, 0f40000000;", SUM),
    "sum of a register": ("mov.f32 %f9, 0f80000000; add.rn.f32 %f4, %f3, %f9;", SUM),
    "constant more": ("add.rn.f32 %f4, %f3, 0f3F800000;", SUM),
    "parameters": ("mov.f32 %f4, %f1;", SUM),
    "sum of sums": ("add.f32 %f4, %f1, %f2;", SUM),
    "integer": ("cvt.rzi.s32.f32 %r7, %f3; cvt.rn.f32.s32 %f4, %r7;", SUM),
    "chosen by it": ("setp.lt.f32 %p2, %f3, %f2; selp.f32 %f4, %f1, %f2, %p2;", SUM),
    "loaded from where it is not": ("st.global.f32 [%rd3], %f3; mov.u64 %rd2, own; ld.local.f32 %f4, [%rd2];", SUM),
    "product of the sum": ("add.f32 %f4, %f1, %f2;", "mul.f32 %f5, %f4, %f2;"),
}


def kernel(between: str, added: str, name: str = "k") -> str:
    return KERNEL.format(between=between, sum=added, name=name)


def open_sums(body: str) -> list[str]:
    """The sums of a module that are not computed as they are written."""
    functions = lift_module(parse_module(PROLOGUE.format(arch="sm_90") + FUNCTIONS + body)).functions.values()
    names = [op.name for f in functions for i in f.instructions for op in i.ops]
    return [name for name in names if "perhaps fused" in name or name.endswith(".contracted")]


@cache
def machine_code(arch: str) -> dict[str, list[str]]:
    """The machine code of each kernel in `FUSED`, compiled as one module."""
    body = "".join(kernel(between, SUM, f"k{n}") for n, between in enumerate(FUSED.values()))
    lines = lines_of(from_ptx(body, arch))[1]
    return {name: [line.text for line in lines[f"k{n}"]] for n, name in enumerate(FUSED)}


@pytest.mark.parametrize("arch", ("sm_75", "sm_90", "sm_120"))
def test_ptxas_contracts_product_and_sum(arch):
    for name, code in machine_code(arch).items():
        assert any("FFMA" in line for line in code) and not any("FADD" in line for line in code), name


@pytest.mark.parametrize("arch", ("sm_75", "sm_90", "sm_120"))
def test_ptxas_does_not_contract_a_sum_with_a_zero_register(arch):
    code = lines_of(from_ptx(kernel(*NEVER["sum of a register"]), arch))[1]["k"]
    assert sum("FADD" in line.text for line in code) == 2


@pytest.mark.parametrize("name", FUSED)
def test_contracted_sum_is_not_computed_as_written(name):
    assert open_sums(kernel(FUSED[name], SUM))


@pytest.mark.parametrize("name", PERHAPS)
def test_possibly_contracted_sum_is_not_computed_as_written(name):
    assert open_sums(kernel(*PERHAPS[name]))


@pytest.mark.parametrize("name", NEVER)
def test_sum_that_is_never_contracted_is_known(name):
    assert not open_sums(kernel(*NEVER[name]))


def test_contracted_sum_is_exact_only_in_machine_code():
    """x*x - c is 0 if the product is rounded, and takes 8 wavefronts if it is not."""
    launch = Launch("k", grid=1, block=32, params=[None, 1.000244140625, 1.00048828125])
    report = audit(
        PROLOGUE.format(arch="sm_90") + kernel(FUSED["mov"], SUM), arch="sm_90", launches=[launch], isa="both"
    )
    by_isa = {k.isa: k.sites[-1] for k in report.kernels}
    assert by_isa["ptx"].status != "exact"
    assert by_isa["sass"].status == "exact" and by_isa["sass"].wavefronts == 8


def both(body: str, *parameters: float) -> dict[str, tuple[str, int | None]]:
    """(status, wavefronts) of the store, by instruction set."""
    launch = Launch("k", grid=1, block=32, params=[None, *parameters])
    report = audit(PROLOGUE.format(arch="sm_90") + FUNCTIONS + body, arch="sm_90", launches=[launch], isa="both")
    return {k.isa: (str(k.sites[-1].status), k.sites[-1].wavefronts) for k in report.kernels}


# How the sum depends on the product of x = 3, and c: the products are exact.
FOLLOWED = {
    "mov": ("mov.f32 %f4, %f3;", SUM, 8.0),
    "bits": (BITS.format(""), SUM, 8.0),
    "neg": ("neg.f32 %f4, %f3;", "add.f32 %f5, %f4, %f2;", 10.0),
    "abs": ("abs.f32 %f4, %f3;", SUM, 8.0),
    "second operand": ("mov.f32 %f4, %f3;", "sub.f32 %f5, %f2, %f4;", 10.0),
    "guard": ("mov.f32 %f4, %f2; @%p1 mov.f32 %f4, %f3;", SUM, 8.0),
    "product of a product": ("mul.f32 %f4, %f3, %f1;", SUM, 26.0),
    "both": ("mul.f32 %f4, %f1, %f1;", "mul.f32 %f9, %f2, %f2; sub.f32 %f5, %f4, %f9;", 2.0),
    "saturated": ("mov.f32 %f4, %f3;", "sub.sat.f32 %f5, %f4, %f2;", 1.0),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_sum_of_an_exact_product_is_known(name):
    between, added, c = FOLLOWED[name]
    found = both(kernel(between, added), 3.0, c)
    assert found["ptx"] == found["sass"] and found["sass"][0] == "exact"


@pytest.mark.parametrize("x, c", [(1.000244140625, 1.00048828125), (1.0 + 2.0**-20, 1.0)])
def test_sum_of_an_inexact_product_has_both_results(x, c):
    found = both(kernel(FUSED["mov"], SUM), x, c)
    assert found["ptx"][0] != "exact" or found["ptx"] == found["sass"]


def test_factor_of_one_does_not_prevent_contraction():
    """Of (x · x) · y with y = 1, ptxas may fuse x · x where it knows y."""
    between = "mov.f32 %f9, 0f3F800000; mul.f32 %f4, %f3, %f9;"
    assert both(kernel(between, SUM), 3.0, 8.0)["ptx"][0] != "exact"


def test_product_of_another_format_is_not_contracted():
    assert not open_sums(
        kernel("cvt.f64.f32 %fd1, %f3; add.f64 %fd2, %fd1, %fd1; cvt.rn.f32.f64 %f4, %fd2;", "mov.f32 %f5, %f4;")
    )


def test_product_in_one_kernel_is_not_contracted_in_another():
    one, other = kernel(FUSED["mov"], "st.shared.f32 [table], %f4;"), kernel("mov.f32 %f4, %f1;", SUM)
    both = one + other[other.index(".visible") :].replace(" k(", " k2(")
    assert not open_sums(both)
