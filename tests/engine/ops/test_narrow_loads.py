"""A byte that all lanes load is in 0 to 255, or in -128 to 127, and the answers use that range."""

from __future__ import annotations

import pytest
from machine_code import from_ptx

import ptxaudit

BODY = """.visible .entry k() {{
    .reg .b32 %r<9>; .reg .pred %p; .shared .align 16 .b8 s[4096];
    mov.u32 %r1, %tid.x; mov.u32 %r2, s;
    ld.shared.{type} %r3, [%r2+4032];
    setp.{relation} %p, %r3, {number};
    @%p bra done;
    mad.lo.u32 %r4, %r1, 4, %r2; st.shared.u32 [%r4], %r3;
done:
    ret;
}}
"""
HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n"


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize(
    "kind,relation,number,status",
    [
        ("u8", "gt.s32", 255, "exact"),
        ("u8", "gt.s32", 254, "invariant"),
        ("u8", "lt.s32", 0, "exact"),
        ("s8", "gt.s32", 127, "exact"),
        ("s8", "lt.s32", 0, "invariant"),
        ("s8", "lt.s32", -128, "exact"),
        ("s8", "gt.u32", 255, "invariant"),
        ("u16", "ge.u32", 65536, "exact"),
        ("u16", "ge.u32", 65535, "invariant"),
        ("s16", "le.s32", -32769, "exact"),
    ],
)
def test_comparison_is_decided_by_the_range_of_a_narrow_load(kind, relation, number, status, isa):
    body = BODY.format(type=kind, relation=relation, number=number)
    code = HEAD + body if isa == "ptx" else from_ptx(body)
    _, site = ptxaudit.audit(code, launches=[ptxaudit.Launch("k", grid=2, block=64)]).sites
    assert str(site.status) == status and (status != "exact" or site.requests == 4)
    assert "wraps" not in (site.reason or "")
