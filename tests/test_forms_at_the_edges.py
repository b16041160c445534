"""Forms of instructions and of operands that compilers seldom write, and numbers that take them to their limits."""

from __future__ import annotations

import pytest
from machine_code import PROLOGUE

import ptxaudit

KERNEL = """.visible .entry k({parameters}) .reqntid {block}, 1, 1
{{ .reg .b32 %r<40>, %a, %x, %y, %z; .reg .f32 %f<20>; .reg .b64 %d<20>; .reg .pred %p, %q;
 .shared .align 128 .b8 s[32768];
 mov.u32 %x, %tid.x; mov.u32 %a, s;
 {body}
 ret; }}
"""
BY_LANE = "shl.b32 %y, %y, 2; mul.lo.u32 %y, %y, %x; add.u32 %a, %a, %y; ld.shared.u32 %z, [%a];"  # %y words apart


def site_of(body, parameters=".param .u32 n", params=None, block=32, isa="ptx", before="", told=True):
    content = PROLOGUE.format(arch="sm_90") + before + KERNEL.format(parameters=parameters, body=body, block=block)
    launches = [ptxaudit.Launch("k", grid=(1,), block=(block,), params=params)] if told else []
    return ptxaudit.audit(content, isa=isa, arch="sm_90", launches=launches).sites[-1]


def may_take(site, wavefronts):
    per = site.per_request
    return per is None or per.low <= wavefronts <= per.high


@pytest.mark.parametrize("length", (32, 33, 34))
def test_a_length_that_wraps_around(length):
    """szext.wrap, SGXT.W: of a number that is not specified, too, it takes the length modulo 32."""
    body = f"ld.param.u32 %r0, [n]; and.b32 %r0, %r0, 31; szext.wrap.u32 %y, %r0, {length};"
    body += "sub.u32 %y, %y, %r0; and.b32 %y, %y, 32; max.u32 %y, %y, 1;" + BY_LANE
    assert site_of(body, params=[7]).wavefronts == 32
    assert may_take(site_of(body, told=False), 32) and may_take(site_of(body), 32)


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        ("~0 >> 60", 0xF),
        ("(1<<63)>>63", -1),
        ("-1 < 1U", 0),
        ("-1 / 2U", 0x7FFFFFFFFFFFFFFF),
        ("-7 / 2", -3),
        ("-7 % 3", 0),
        ("-5 % 3U", 2),
        ("-1 >> 1", -1),
        ("(.u64)(-1) >> 63", 1),
        ("(.s64)(0xFFFFFFFFFFFFFFFF) >> 63", -1),
        ("0x8000000000000000 >> 63", 1),
        ("(-8 & -1) >> 4", -1),
        ("~0 < 1", 0),
        ("1 << 63 < 0", 1),
        ("-(1U) >> 1", 0x7FFFFFFFFFFFFFFF),
        ("(1U == 1) - 2 >> 1", -1),
        ("(1 ? -1 : 1U) >> 1", -1),
        ("2 * 0x8000000000000000 >> 1", 0),
        ("0x7fffffffffffffff + 1 >> 63", -1),
        ("-1 == 0xffffffffffffffff", 1),
        ("7 - 8U >> 1", 0x7FFFFFFFFFFFFFFF),
    ],
)
def test_constant_expressions_have_64_bits_and_a_sign_or_none(expression, number):
    """The numbers are those of ptxas 13."""
    body = f"mov.u64 %d0, {expression}; setp.eq.s64 %p, %d0, {number}; @%p ld.shared.u32 %z, [%a];"
    assert site_of(body, params=[0]).wavefronts == 1


PRODUCT = "cvt.rn.f32.u32 %f1, %r0; mov.f32 %f2, 0f3F800001; mul{how}.f32 %f4, %f1, %f2;"
REST = "sub.f32 %f6, %f5, %f1; mov.b32 %y, %f6; shr.u32 %y, %y, 23; and.b32 %y, %y, 31;" + BY_LANE


@pytest.mark.parametrize(
    "between",
    [
        "mov.f32 %f5, %f4;",
        "mov.b32 %r5, %f4; mov.b32 %f5, %r5;",
        "mov.b64 %d1, {{%f4, %f1}}; mov.b64 {{%f5, _}}, %d1;",
        "and.b32 %r5, %r4, -1; mov.b32 %f5, %r5;",
        "min.f32 %f5, %f4, %f4;",
        "cvt.f32.f32 %f5, %f4;",
        "mul.rn.f32 %f5, %f4, 0f3F800000;",
        "{{ .local .b8 l[4]; st.local.f32 [l], %f4; ld.local.f32 %f5, [l]; }}",
        "bra THERE; HERE: mov.f32 %f5, %f7; bra ON; THERE: mov.f32 %f7, %f4; bra HERE; ON:",
    ],
)
def test_a_product_that_is_moved_may_be_fused_with_a_sum(between):
    """ptxas makes an FFMA of all of these (but the last). What is left of the product by then decides %y."""
    body = "ld.param.u32 %r0, [n];" + PRODUCT + "mov.b32 %r4, %f4;" + between + REST
    assert site_of(body.format(how=""), params=[7]).status != "exact"
    assert site_of(body.format(how=".rn"), params=[7]).status == "exact"


def test_a_product_that_is_rounded_is_not_fused():
    between = "cvt.rni.f32.f32 %f5, %f4;"
    body = "ld.param.u32 %r0, [n];" + PRODUCT + between + REST
    assert site_of(body.format(how=""), params=[7]).status == "exact"


@pytest.mark.parametrize("upper", ("%r1", "0"))
def test_sources_of_a_copy_whose_upper_words_are_not_known(upper):
    """Lanes with one lower word, or lower words of one line, may read anywhere."""
    body = "ld.param.u64 %d1, [n]; mul.wide.u32 %d2, %x, 4; add.u64 %d2, %d1, %d2; ld.global.u32 %r1, [%d2];"
    body += "shl.b32 %r2, %x, 2; mov.u32 %r3, %ctaid.x; shl.b32 %r3, %r3, 7; add.u32 %r3, %r2, %r3;"
    body += f"mov.b64 %d3, {{%r3, {upper}}}; add.u32 %a, %a, %r2; cp.async.ca.shared.global [%a], [%d3], 4;"
    content = PROLOGUE.format(arch="sm_90") + KERNEL.format(parameters=".param .u64 n", body=body, block=32)
    launches = [ptxaudit.Launch("k", grid=(4,), block=(32,), params=[None])]
    (site,) = ptxaudit.audit(content, isa="ptx", arch="sm_90", launches=launches).sites
    assert (site.status == "exact") is (upper == "0")
    assert upper == "0" or may_take(site, 32)
