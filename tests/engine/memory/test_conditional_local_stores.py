"""A store that may not be executed, or is skipped, invalidates the locations in local memory that it may reach, and no
others.
"""

from __future__ import annotations

import pytest

import ptxaudit

PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in)
{{
    .reg .b32 %r<9>; .reg .b64 %rd<6>; .reg .pred %p<3>;
    .shared .align 16 .b8 s[4096];
    .local .align 16 .b8 d[64];
    ld.param.u64 %rd1, [in];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    setp.gt.u32 %p1, %r2, 1000;
    mov.u32 %r4, s;
    mad.lo.u32 %r3, %r1, 8, %r4;
    mov.u64 %rd4, d;
    st.local.u32 [%rd4], %r3;
    {body}
    ld.local.u32 %r6, [%rd4];
    st.shared.u32 [%r6], %r2;
    ret;
}}
"""


@pytest.mark.parametrize(
    "stores,status",
    [
        ("st.local.u32 [%rd4+8], %r2;", "exact"),
        ("st.local.v2.u32 [%rd4+8], {%r2, %r2};", "exact"),
        ("st.global.u32 [%rd3], %r1;", "exact"),
        ("st.local.u32 [%rd4], %r2;", "bounded"),
        ("st.local.u8 [%rd4+3], %r2;", "bounded"),
        ("st.local.u64 [%rd4], %rd3;", "bounded"),
        ("st.u32 [%rd3], %r1;", "bounded"),  # a loaded pointer may lead anywhere
    ],
)
@pytest.mark.parametrize("around", ["@%p1 {}", "@%p1 bra over; {} over:"])
def test_conditional_store_keeps_other_local_memory(stores, status, around):
    if "st.u32" in stores:
        stores = stores.replace("%rd3", "%rd5")
    loaded = "cvta.local.u64 %rd5, %rd4; ld.global.u64 %rd5, [%rd1];"
    report = ptxaudit.audit(
        PTX.format(body=f"{loaded} {around.format(stores)}"),
        launches=[ptxaudit.Launch("k", grid=3, block=64, params=[None])],
    )
    site = report.sites[-1]
    assert (str(site.status), site.requests) == (status, 6)
    assert site.wavefronts == (12 if status == "exact" else None)


def test_generic_store_cannot_reach_local_memory_without_its_generic_address():
    body = "ld.global.u64 %rd5, [%rd1]; @%p1 st.u32 [%rd5], %r1;"
    report = ptxaudit.audit(PTX.format(body=body), launches=[ptxaudit.Launch("k", grid=3, block=64, params=[None])])
    assert str(report.sites[-1].status) == "exact"


@pytest.mark.parametrize("place,status", [("%rd4", "exact"), ("%rd4+-8", "bounded")])
def test_inference_follows_a_store_whose_address_changes_on_its_path(place, status):
    body = f"@%p1 bra over; add.u64 %rd4, %rd4, 8; st.local.u32 [{place}], %r2; sub.u64 %rd4, %rd4, 8; over:"
    report = ptxaudit.audit(PTX.format(body=body), launches=[ptxaudit.Launch("k", grid=3, block=64, params=[None])])
    site = report.sites[-1]
    assert (str(site.status), site.requests) == (status, 6)
    assert site.wavefronts == (12 if status == "exact" else None)


def test_local_store_at_an_unknown_address_invalidates_local_memory():
    body = "cvt.u64.u32 %rd5, %r2; and.b64 %rd5, %rd5, 4; add.u64 %rd5, %rd5, %rd4; @%p1 st.local.u32 [%rd5], %r2;"
    report = ptxaudit.audit(PTX.format(body=body), launches=[ptxaudit.Launch("k", grid=3, block=64, params=[None])])
    assert str(report.sites[-1].status) == "bounded"
