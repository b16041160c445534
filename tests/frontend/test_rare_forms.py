"""Forms of instructions and operands that compilers rarely emit, and numbers that push them to their limits."""

from __future__ import annotations

import numpy as np
import pytest
from machine_code import PROLOGUE, from_ptx

import ptxaudit
from ptxaudit.engine.answer.assumptions import RETRIES
from ptxaudit.engine.memory.generic import HOST_POINTERS

KERNEL = """.visible .entry k({parameters}) .reqntid {block}, 1, 1
{{ .reg .b32 %r<40>, %a, %x, %y, %z; .reg .f32 %f<20>; .reg .b64 %d<20>; .reg .pred %p, %q;
 .shared .align 128 .b8 s[32768];
 mov.u32 %x, %tid.x; mov.u32 %a, s;
 {body}
 ret; }}
"""
BY_LANE = "shl.b32 %y, %y, 2; mul.lo.u32 %y, %y, %x; add.u32 %a, %a, %y; ld.shared.u32 %z, [%a];"  # %y words apart


def site_of(body, parameters=".param .u32 n", params=None, block=32, isa="ptx", before="", told=True):
    code = before + KERNEL.format(parameters=parameters, body=body, block=block)
    content = PROLOGUE.format(arch="sm_90") + code if isa == "ptx" else from_ptx(code)
    launches = [ptxaudit.Launch("k", grid=(1,), block=(block,), params=params)] if told else []
    return ptxaudit.audit(content, isa=isa, arch="sm_90", launches=launches).sites[-1]


def may_take(site, wavefronts):
    per = site.per_request
    return per is None or per.low <= wavefronts <= per.high


@pytest.mark.parametrize("length", (32, 33, 34))
def test_sign_extension_length_wraps_modulo_32(length):
    """szext.wrap, SGXT.W: the length is taken modulo 32, also for an unknown number."""
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
        ("2 * 0x8000000000000000 >> 1", 0),
        ("0x7fffffffffffffff + 1 >> 63", -1),
        ("-1 == 0xffffffffffffffff", 1),
        ("7 - 8U >> 1", 0x7FFFFFFFFFFFFFFF),
        ("!2", 0),
        ("!0", 1),
    ],
)
def test_constant_expressions_are_signed_or_unsigned_64_bit(expression, number):
    """The expected numbers are those of ptxas 13."""
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
def test_moved_product_may_be_contracted(between):
    """ptxas turns all of these (except the last) into an FFMA. The remainder of the product then decides %y."""
    body = "ld.param.u32 %r0, [n];" + PRODUCT + "mov.b32 %r4, %f4;" + between + REST
    assert site_of(body.format(how=""), params=[7]).status != "exact"
    assert site_of(body.format(how=".rn"), params=[7]).status == "exact"


def test_rounded_product_is_not_contracted():
    between = "cvt.rni.f32.f32 %f5, %f4;"
    body = "ld.param.u32 %r0, [n];" + PRODUCT + between + REST
    assert site_of(body.format(how=""), params=[7]).status == "exact"


@pytest.mark.parametrize("upper", ("%r1", "0"))
def test_copy_sources_with_unknown_upper_words_are_not_exact(upper):
    """Lanes with equal lower words, or lower words in one line, may read from any line."""
    body = "ld.param.u64 %d1, [n]; mul.wide.u32 %d2, %x, 4; add.u64 %d2, %d1, %d2; ld.global.u32 %r1, [%d2];"
    body += "shl.b32 %r2, %x, 2; mov.u32 %r3, %ctaid.x; shl.b32 %r3, %r3, 7; add.u32 %r3, %r2, %r3;"
    body += f"mov.b64 %d3, {{%r3, {upper}}}; add.u32 %a, %a, %r2; cp.async.ca.shared.global [%a], [%d3], 4;"
    content = PROLOGUE.format(arch="sm_90") + KERNEL.format(parameters=".param .u64 n", body=body, block=32)
    launches = [ptxaudit.Launch("k", grid=(4,), block=(32,), params=[None])]
    (site,) = ptxaudit.audit(content, isa="ptx", arch="sm_90", launches=launches).sites
    assert (site.status == "exact") is (upper == "0")
    assert upper == "0" or may_take(site, 32)


RECURSIVE = """.visible .func (.param .b32 total) f(.param .b32 n)
{ .reg .b32 %r<9>; .reg .pred %p; .local .align 4 .b8 depot[8];
 ld.param.b32 %r1, [n]; st.local.u32 [depot], %r1; mov.u32 %r5, 0; setp.eq.u32 %p, %r1, 0; @%p bra END;
 sub.u32 %r2, %r1, 1;
 { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), f, (a); ld.param.b32 %r5, [b]; }
 END: ld.local.u32 %r3, [depot]; add.u32 %r3, %r3, %r5; st.param.b32 [total], %r3; ret; }
"""


def test_recursive_calls_have_separate_local_variables():
    """3 + 2 + 1: the caller's variables are intact when the callee returns."""
    body = "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 3; call (b), f, (a); ld.param.b32 %y, [b]; }" + BY_LANE
    site = site_of(body, before=RECURSIVE, params=[0])
    assert (site.status, site.wavefronts) == ("exact", 2)
    assert site_of(body + "st.shared.u32 [%a], %z;", before=RECURSIVE, params=[0], isa="sass").wavefronts == 2  # by R1


@pytest.mark.parametrize(("block", "several"), ((32, False), (64, True)))
@pytest.mark.parametrize("told", (True, False))
def test_atomic_loop_of_several_warps_states_its_assumption(block, several, told):
    code = KERNEL.format(parameters="", body="red.shared.add.f32 [%a], %f0;", block=block)
    launches = [ptxaudit.Launch("k", grid=(1,), block=(block,), params=[])] if told else []
    report = ptxaudit.audit(PROLOGUE.format(arch="sm_90") + code, isa="ptx", arch="sm_90", launches=launches)
    assert (RETRIES in report.kernels[0].assumed) is several


@pytest.mark.parametrize(("guard", "wavefronts"), (("@%p", 17), ("@!%p", 16), ("", 1)))
def test_guarded_indexed_branch_falls_through_in_other_lanes(guard, wavefronts):
    body = "setp.lt.u32 %p, %x, 16; mov.u32 %r1, 1; T: .branchtargets A, B; mov.u32 %y, 3;"
    body += f"{guard} brx.idx %r1, T; mov.u32 %y, 32; bra C; A: mov.u32 %y, 5; bra C; B: mov.u32 %y, 1; C: "
    assert site_of(body + "bar.warp.sync -1;" + BY_LANE, params=[0]).wavefronts == wavefronts


@pytest.mark.parametrize("apart", (1 << 36, 1 << 37, (1 << 37) + 64))
def test_distant_copy_sources_are_counted_per_sector(apart):
    """Two lanes write to each sector of shared memory, from one sector each."""
    body = "ld.param.u64 %d1, [n]; ld.param.u64 %d2, [m]; and.b32 %r1, %x, 1; setp.eq.u32 %p, %r1, 0;"
    body += "selp.b64 %d3, %d1, %d2, %p; shr.u32 %r2, %x, 1; mul.wide.u32 %d4, %r2, 32; add.u64 %d3, %d3, %d4;"
    body += "mad.lo.u32 %a, %x, 16, %a; cp.async.cg.shared.global [%a], [%d3], 16;"
    code = KERNEL.format(parameters=".param .u64 n, .param .u64 m", body=body, block=32)
    launches = [ptxaudit.Launch("k", grid=(1,), block=(32,), params=[1 << 44, (1 << 44) + apart])]
    content = PROLOGUE.format(arch="sm_90") + code
    report = ptxaudit.audit(content, isa="ptx", arch="sm_90", launches=launches, space="all")
    assert [site.sectors for site in report.kernels[0].memory] == [32]


@pytest.mark.parametrize(("cluster", "known"), ((None, False), ((1, 1, 1), False), ((2, 1, 1), True)))
def test_explicit_cluster_of_one_block_is_unknown_unless_specified(cluster, known):
    body = "mov.pred %p, %is_explicit_cluster; selp.u32 %y, 32, 1, %p;" + BY_LANE
    content = PROLOGUE.format(arch="sm_90") + KERNEL.format(parameters="", body=body, block=32)
    launches = [ptxaudit.Launch("k", grid=(2,), block=(32,), params=[], cluster=cluster)]
    (site,) = ptxaudit.audit(content, isa="ptx", arch="sm_90", launches=launches).sites
    assert (site.status == "exact") is known and may_take(site, 32)


@pytest.mark.parametrize("block", (32, 64))
def test_two_warp_barriers_on_different_paths_are_not_exact(block):
    """Which of them continue together, ptxas decides: no number of requests is claimed."""
    body = "mov.u32 %r1, %laneid; setp.eq.u32 %p, %r1, 0; @!%p bra ALL; bar.warp.sync -1; st.shared.u32 [%a+32], %x;"
    body += "ALL: bar.warp.sync -1; st.shared.u32 [%a+64], %x;"
    code = KERNEL.format(parameters="", body=body, block=block)
    launches = [ptxaudit.Launch("k", grid=(1,), block=(block,), params=[])]
    sites = ptxaudit.audit(PROLOGUE.format(arch="sm_90") + code, isa="ptx", arch="sm_90", launches=launches).sites
    assert [site.requests for site in sites] == [None, None]
    assert all(site.per_request.low <= 1 <= site.per_request.high for site in sites)


@pytest.mark.parametrize("space", ("global", "const", "shared", "local"))
def test_host_pointers_to_constant_memory_are_excluded_by_assumption(space):
    """ptxas compares an address with the limits of constant memory, which the launch does not specify."""
    body = f"ld.param.u64 %d1, [n]; isspacep.{space} %p, %d1; selp.u32 %y, 32, 1, %p;" + BY_LANE
    code = PROLOGUE.format(arch="sm_90") + KERNEL.format(parameters=".param .u64 n", body=body, block=32)
    launches = [ptxaudit.Launch("k", grid=(1,), block=(32,), params=[None])]
    report = ptxaudit.audit(code, isa="ptx", arch="sm_90", launches=launches)
    assert (HOST_POINTERS in report.kernels[0].assumed) is (space in ("global", "const"))


@pytest.mark.parametrize(("cluster", "exact"), ((None, True), ((1, 1, 1), True), ((2, 1, 1), False)))
def test_shared_addresses_contain_the_cluster_rank(cluster, exact):
    """S2UR UR5, SR_CgaCtaId; ULEA UR4, UR5, 0x400, 0x18"""
    body = "shr.u32 %r1, %a, 24; setp.eq.u32 %p, %r1, 0; selp.u32 %y, 1, 32, %p;" + BY_LANE
    content = PROLOGUE.format(arch="sm_90") + KERNEL.format(parameters="", body=body, block=32)
    launches = [ptxaudit.Launch("k", grid=(2,), block=(32,), params=[], cluster=cluster)]
    (site,) = ptxaudit.audit(content, isa="ptx", arch="sm_90", launches=launches).sites
    assert (site.status == "exact") is exact and (exact or may_take(site, 32))


@pytest.mark.parametrize(
    ("between", "exact"), (("prefetch.global.L2 [%d1];", True), ("discard.global.L2 [%d1], 128;", False))
)
def test_discarded_memory_is_unknown(between, exact):
    body = f"ld.param.u64 %d1, [n]; {between} ld.global.u32 %y, [%d1]; and.b32 %y, %y, 31;" + BY_LANE
    site = site_of(body, ".param .u64 n", params=[np.full(32, 2, np.uint32)])
    assert (site.status == "exact") is exact


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ("sub.cc.u32 %r2, %r0, 3; addc.u32 %y, 0, 1;", (1, 2)),  # 1 + (no borrow)
        ("add.cc.u32 %r2, %r0, -3; subc.u32 %y, 5, 0;", (4, 5)),  # 5 - (no carry)
        ("sub.cc.u32 %r2, %r0, 3; subc.u32 %y, 5, 0;", (4, 5)),
        ("sub.cc.u32 %r2, %r0, 3; madc.lo.u32 %y, %r1, 2, 0;", (2, 3)),
        ("sub.cc.u32 %r2, %r0, 3; subc.cc.u32 %r2, 0, 0; addc.u32 %y, 1, 0;", (1, 2)),
    ],
)
def test_subtraction_carry_equals_no_borrow(code, number):
    """In ptxas a - b is a + ~b + 1: the flag is set if there is no borrow, and an addition reads it this way."""
    body = "ld.param.u32 %r0, [n]; mov.u32 %r1, 1;" + code + "add.u32 %y, %y, -1; shl.b32 %y, 1, %y;" + BY_LANE
    for n, y in zip((2, 3), number):
        machine = site_of(body + "st.shared.u32 [%a], %z;", params=[n], isa="sass")
        assert site_of(body, params=[n]).wavefronts == machine.wavefronts == 2 ** (y - 1)


@pytest.mark.parametrize(
    "opcode", ("bfe.u64 %d1, %d1, %r1, 5;", "bfe.u64 %d1, %d1, 3, %r1;", "bfi.b64 %d1, %d1, %d1, %r1, 5;")
)
def test_bit_fields_of_64_bits_beyond_255_are_undefined(opcode):
    """ptxas does not truncate them: a shift by 259 results in 0."""
    body = (
        f"ld.param.u32 %r1, [n]; mov.u64 %d1, 0x123456789; {opcode} cvt.u32.u64 %y, %d1; and.b32 %y, %y, 31;" + BY_LANE
    )
    assert site_of(body, params=[3]).status == "exact"
    assert site_of(body, params=[256 + 3]).status != "exact"
