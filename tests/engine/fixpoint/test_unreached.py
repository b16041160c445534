"""With nothing specified, a site is reported as unreached only if that is proved."""

from __future__ import annotations

import pytest

import ptxaudit
from ptxaudit.engine.answer.result import Status
from ptxaudit.report.model import Span

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
REACHED_WHEN = (
    HEAD
    + """.visible .entry k() %s {
    .reg .b32 %%r<9>; .reg .pred %%p; .shared .align 16 .b8 s[4096];
    mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%tid.z; mov.u32 %%r4, %%laneid;
    setp.%s %%p, %s; @%%p bra DONE;
    st.shared.u32 [s+4], %%r1;
DONE: ret;
}
"""
)
DEBUG = (
    HEAD
    + """.visible .entry k(.param .u64 p) {
    .local .align 8 .b8 depot[16]; .reg .b64 %rd<9>; .reg .b32 %r<9>; .shared .align 16 .b8 s[64];
    mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1; ld.param.u64 %rd3, [p];
    st.u64 [%rd2], %rd3; mov.u32 %r2, s; cvta.shared.u64 %rd5, %rd3;
    mov.u64 %rd4, s; cvta.shared.u64 %rd5, %rd4;
    st.u64 [%rd2+8], %rd5; ld.u64 %rd6, [%rd2+8]; st.u32 [%rd6], %r1;
    ret;
}
"""
)


def statuses(text: str) -> list[Status]:
    report = ptxaudit.audit(text)
    assert not report.problems
    return [site.status for site in sorted(report.sites, key=lambda site: site.ptx_line)]


@pytest.mark.parametrize(
    ("compared", "operands"), [("ne.s32", "%r2, 77"), ("ne.s32", "%r3, 60"), ("ge.u32", "%r3, %r2")]
)
def test_site_reached_in_an_untried_block_shape_is_not_unreached(compared: str, operands: str) -> None:
    assert statuses(REACHED_WHEN % ("", compared, operands))[0] is not Status.UNREACHED


def test_site_reached_in_no_block_shape_is_unreached() -> None:
    assert statuses(REACHED_WHEN % ("", "lt.u32", "%r4, 32")) == [Status.UNREACHED]
    assert statuses(REACHED_WHEN % (".reqntid 64, 1, 1", "ne.s32", "%r2, 77")) == [Status.UNREACHED]
    assert statuses(REACHED_WHEN % (".reqntid 64, 1, 1", "ne.s32", "%r2, 64")) != [Status.UNREACHED]


def test_generic_stack_accesses_are_never_shared() -> None:
    """Code compiled with -G: everything is on the stack, and pointers are read back from it."""
    stack, kept, read, shared = sorted(ptxaudit.audit(DEBUG).sites, key=lambda s: (s.ptx_line, s.id))[:4]
    assert {site.reason_kind for site in (stack, kept, read)} == {"never-shared"}
    assert {(site.status, site.per_request) for site in (stack, kept, read)} == {(Status.INVARIANT, Span(0, 0))}
    assert shared.reason_kind != "never-shared" and shared.per_request != Span(0, 0)
