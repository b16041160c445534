"""Answers that are unknown only because the launch is not specified: a range, and what to specify."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import ptxaudit

PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{{
    .reg .b32 %r<9>;
    .reg .b64 %rd<3>;
    .shared .align 4 .b8 s[16384];
    ld.param.u64 %rd1, [k_param_0];
    ld.param.u32 %r1, [k_param_1];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, s;
    {body}
    st.shared.u32 [%r8], %r1;
    ret;
}}
"""
DIVIDED = "rem.s32 %r4, %r2, %r1; shl.b32 %r5, %r4, 2; add.s32 %r8, %r3, %r5;"
SQUARED = (
    "mul.lo.s32 %r4, %r1, %r1; rem.s32 %r4, %r4, 7; mul.lo.s32 %r4, %r4, %r2; rem.s32 %r4, %r4, 1000; shl.b32 %r5, %r4,"
    " 2; add.s32 %r8, %r3, %r5;"
)
LOADED = (
    "ld.global.u32 %r6, [%rd1]; add.s32 %r6, %r6, %r2; rem.s32 %r4, %r6, %r1; shl.b32 %r5, %r4, 2; add.s32 %r8, %r3,"
    " %r5;"
)


def site(body, **options):
    (only,) = ptxaudit.audit(PTX.format(body=body), **options).sites
    return only


@pytest.mark.parametrize("body", [DIVIDED, SQUARED])
def test_unspecified_parameter_gives_a_range_and_is_named(body):
    found = site(body, launches=[ptxaudit.Launch("k", block=64)])
    assert found.status == "bounded" and (found.per_request.low, found.per_request.high) == (1, 32)
    assert found.reason.startswith("depends on parameter 1, which is not specified (--param 1): ")


def test_unspecified_block_is_named_beside_the_parameter():
    assert "(--param 1, --block)" in site(DIVIDED).reason


def test_specified_parameter_makes_the_site_exact():
    assert site(DIVIDED, launches=[ptxaudit.Launch("k", grid=1, block=64, params=[None, 5])]).status == "exact"


GUARDED = ".reg .pred %p; setp.gt.s32 %p, %r1, 70; @%p exit; mad.lo.u32 %r8, %r2, 4, %r3;"
MASKED = "mul.lo.s32 %r4, %r2, %r1; and.b32 %r4, %r4, 508; shl.b32 %r5, %r4, 2; add.s32 %r8, %r3, %r5;"


@pytest.mark.parametrize("body, status", [(GUARDED, "invariant"), (MASKED, "bounded")])
def test_reason_names_the_parameters_that_alone_decide(body, status):
    launch = ptxaudit.Launch("k", grid=1, block=64)
    found = site(body, launches=[launch])
    assert found.status == status
    assert found.reason.startswith("depends on parameter 1, which is not specified (--param 1): ")
    assert site(body, launches=[dataclasses.replace(launch, params=(None, 5))]).status == "exact"


def test_access_outside_shared_memory_names_no_parameter():
    body = (
        ".reg .pred %p; setp.gt.s32 %p, %r1, 70; @%p exit; cvta.to.global.u64 %rd2, %rd1; cvta.global.u64 %rd1, %rd2;"
        " st.u32 [%rd1], %r1; mov.u32 %r8, %r3;"
    )
    far, _ = ptxaudit.audit(PTX.format(body=body), launches=[ptxaudit.Launch("k", grid=1, block=64)]).sites
    assert far.status == "invariant" and far.reason == "a generic access that never goes to shared memory"


def test_parameter_is_not_named_where_loaded_data_decides():
    assert "(--param 1)" not in site(LOADED, launches=[ptxaudit.Launch("k", block=64)]).reason


def test_reason_suggests_specifying_the_data():
    found = site(LOADED, launches=[ptxaudit.Launch("k", block=64, params=[None, 3])])
    assert found.status == "data-dependent" and found.reason.endswith("; specify the data (--param 0=@FILE)")
    told = ptxaudit.Launch("k", block=64, grid=1, params=[np.arange(64, dtype="i4"), 3])
    assert "--param" not in site(LOADED, launches=[told]).reason


ADDRESS = 0x7F0000000000
THROUGH_SHARED = (
    "ld.global.u32 %r6, [%rd1]; st.shared.u32 [%r3], %r6; bar.sync 0; ld.shared.u32 %r5, [%r3]; and.b32 %r5, %r5, 252;"
    " mad.lo.u32 %r8, %r5, %r2, %r3;"
)
WRITTEN = LOADED + " st.global.u32 [%rd1], %r6;"


def test_reason_suggests_capturing_the_data_at_an_address():
    found = site(LOADED, launches=[ptxaudit.Launch("k", block=64, grid=1, params=[ADDRESS, 3])])
    assert found.status == "data-dependent" and found.reason.endswith(
        f"; the data of parameter 0 ({ADDRESS:#x}) can be captured (ptxaudit record --arrays BYTES) or specified"
        " (memory at"
        f" {ADDRESS:#x} in the launch file)"
    )
    told = {"address": ADDRESS, "values": list(range(64)), "type": "u32"}
    assert site(LOADED, launches=[ptxaudit.Launch("k", 1, 64, params=[ADDRESS, 3], memory=[told])]).status == "exact"


def test_data_that_passes_through_shared_memory_is_traced_to_its_parameter():
    *_, found = ptxaudit.audit(
        PTX.format(body=THROUGH_SHARED), launches=[ptxaudit.Launch("k", block=64, grid=1, params=[None, 3])]
    ).sites
    assert found.status == "data-dependent" and found.reason.endswith("; specify the data (--param 0=@FILE)")


def test_data_that_the_kernel_overwrites_is_not_suggested():
    found = site(WRITTEN, launches=[ptxaudit.Launch("k", block=64, grid=1, params=[None, 3])])
    assert found.status == "data-dependent" and "can be given" not in found.reason
    assert found.reason.endswith("; the data of parameter 0 decides it")


def test_reason_names_parameters_as_in_the_source():
    source = """
    extern "C" __global__ void k(float* out, int columns) {
        __shared__ float s[4096];
        s[threadIdx.x % columns] = out[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x];
    }
    """
    store, _ = ptxaudit.audit(source, launches=[ptxaudit.Launch("k", block=64)]).sites
    assert store.status == "bounded" and "depends on columns, which is not specified (--param columns)" in store.reason


IN_A_STRUCT = PTX.replace(".param .u64 k_param_0", ".param .align 8 .b8 k_param_0[24]").replace(
    "[k_param_0]", "[k_param_0+16]"
)
TWO = """\
.version 8.0
.target sm_90
.address_size 64
.global .align 4 .b8 table[64];
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 counter)
{{
    .reg .b32 %r<9>;
    .reg .b64 %rd<5>;
    .reg .pred %p<2>;
    .shared .align 4 .b8 s[16384];
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [counter];
    mov.u64 %rd4, table;
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, s;
    {body}
    ret;
}}
"""
RUNS_BY_B = (
    "ld.global.u32 %r4, [%rd2]; setp.eq.u32 %p1, %r4, 0; @%p1 bra done; shl.b32 %r5, %r2, 2; add.s32 %r6, %r3, %r5;"
    " st.shared.u32 [%r6], %r2; st.global.u32 [%rd1], %r2; st.global.u32 [%rd2], %r2; done:"
)
THROUGH_B = (
    "ld.global.u32 %r4, [%rd1]; st.shared.u32 [%r3], %r4; bar.sync 0; ld.global.u32 %r5, [%rd2]; add.u32 %r5, %r5, %r2;"
    " rem.u32 %r5, %r5, 100; shl.b32 %r5, %r5, 2; add.s32 %r6, %r3, %r5; st.shared.u32 [%r6], %r4;"
    " st.global.u32 [%rd1], %r4; st.global.u32 [%rd2], %r4;"
)
TICKET = (
    "atom.global.add.u32 %r4, [%rd3], 1; shl.b32 %r5, %r4, 2; add.s32 %r6, %r3, %r5; st.shared.u32 [%r6], %r2;"
    " st.global.u32 [%rd2], %r4;"
)
TABLED = (
    "ld.global.u32 %r4, [%rd4+4]; mul.lo.u32 %r4, %r4, %r2; rem.u32 %r5, %r4, 1000; shl.b32 %r5, %r5, 2;"
    " add.s32 %r6, %r3, %r5; st.shared.u32 [%r6], %r2;"
)


def reason_of(text):
    *_, last = ptxaudit.audit(text, launches=[ptxaudit.Launch("k", block=64, grid=2)]).sites
    return last.reason


def test_pointer_in_a_struct_is_named_by_its_offset():
    assert reason_of(IN_A_STRUCT.format(body=LOADED)).endswith("; the data of parameter 0, byte 16 decides it")


BY_B = (
    "ld.global.u32 %r4, [%rd2]; rem.u32 %r5, %r4, 100; mad.lo.u32 %r5, %r5, %r2, 0; shl.b32 %r5, %r5, 2;"
    " add.s32 %r6, %r3, %r5; st.shared.u32 [%r6], %r4; "
)
DATA = np.arange(64, dtype="i4")
TOO = "which may point into the specified data of b: specify what"


@pytest.mark.parametrize(
    "stores, params, hint",
    [
        ("st.global.u32 [%rd1], %r4;", (None, DATA), f"through a, {TOO} it points to, too (--param a=@FILE)"),
        ("st.global.u32 [%rd1], %r4;", (4096, DATA), None),  # no memory is so low
        (
            "st.global.u32 [%rd1], %r4; red.global.add.u32 [%rd3], 1;",
            (None, DATA),
            f"through a and counter, {TOO} they point to, too (--param a=@FILE, --param counter=@FILE)",
        ),
        (
            "st.global.u32 [%rd1], %r4; red.global.add.u32 [%rd3], 1;",
            (ADDRESS, DATA),
            f"through counter, {TOO} it points to, too (--param counter=@FILE)",
        ),
        ("st.global.u32 [%rd2], %r4;", (None, DATA), "the kernel may change the specified data of b"),
        ("st.global.u32 [%rd1], %r4;", (DATA + 1, DATA), None),
        ("st.global.u32 [%rd1], %r4;", (ADDRESS, DATA), None),
        ("", (None, DATA), None),
    ],
)
def test_reason_names_the_pointers_that_may_overwrite_specified_data(stores, params, hint):
    """Not that data, which is specified, but the pointers through which the kernel may overwrite it."""
    launch = ptxaudit.Launch("k", block=64, grid=2, params=[*params, None])
    (found,) = ptxaudit.audit(TWO.format(body=BY_B + stores), launches=[launch]).sites
    if hint is None:
        assert found.status == "exact"
    else:
        assert found.status == "data-dependent" and found.reason.endswith(hint)
        assert "--param b" not in found.reason and "decides" not in found.reason


def test_specified_data_with_an_unknown_index_is_not_suggested_again():
    body = "ld.global.u32 %r7, [%rd1]; and.b32 %r7, %r7, 60; cvt.u64.u32 %rd1, %r7; add.u64 %rd2, %rd2, %rd1; " + BY_B
    launch = ptxaudit.Launch("k", block=64, grid=2, params=[None, DATA, None])
    (found,) = ptxaudit.audit(TWO.format(body=body), launches=[launch]).sites
    assert found.status == "data-dependent" and found.reason.endswith("; specify the data (--param a=@FILE)")


@pytest.mark.parametrize(
    "body,names",
    [
        (RUNS_BY_B, "b"),
        (THROUGH_B, "b"),  # and not a, which is in shared memory, too
        (TICKET, "counter"),
        (TABLED, "variable table"),
    ],
)
def test_deciding_data_is_named_even_if_it_cannot_be_specified(body, names):
    assert reason_of(TWO.format(body=body)).endswith(f"; the data of {names} decides it")
