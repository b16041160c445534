"""A call of the device runtime hides nothing: printing for a failed assertion does not re-enter the program's
functions.
"""

from machine_code import PROLOGUE, from_ptx

import ptxaudit

PTX = """
.version 8.0
.target sm_90
.address_size 64
.extern .func {name} (.param .b64 m);
.func (.param .b32 r) twice (.param .b32 a)
{{
    .reg .b32 %r<4>;
    .shared .align 4 .b8 t[4096];
    ld.param.u32 %r1, [a];
    mov.u32 %r2, t;
    add.u32 %r2, %r2, %r1;
    ld.shared.u32 %r3, [%r2];
    st.param.b32 [r], %r3;
    ret;
}}
.visible .entry k(.param .u64 out)
{{
    .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p1, %r1, {last};
    @!%p1 bra fine;
    {{ .param .b64 m0; st.param.b64 [m0], 0; call {name}, (m0); }}
fine:
    shl.b32 %r1, %r1, 3;
    {{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call (y), twice, (x); ld.param.b32 %r2, [y]; }}
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], %r2;
    ret;
}}
"""


def load(name: str, tmp_path, last: int = 1023):
    """The access of `twice`. last: the last thread that does not call the function of that name."""
    path = tmp_path / "k.ptx"
    path.write_text(PTX.format(name=name, last=last))
    (site,) = ptxaudit.audit(path, launches=[ptxaudit.Launch("k", grid=(1,), block=(64,), params=[None])]).sites
    return site


def test_failed_assertion_does_not_continue(tmp_path):
    site = load("__assertfail", tmp_path)
    assert (str(site.status), site.requests, site.wavefronts) == ("exact", 2, 4)


def test_unmodelled_function_may_call_any_function(tmp_path):
    site = load("elsewhere", tmp_path, last=7)
    assert str(site.status) == "unknown" and "an unmodelled call" in site.reason


def test_unmodelled_function_that_no_thread_calls_has_no_effect(tmp_path):
    site = load("elsewhere", tmp_path)
    assert (str(site.status), site.requests, site.wavefronts) == ("exact", 2, 4)


PRINTING = """
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[4] = {120, 0, 0, 0};
.visible .entry k(.param .u64 data, .param .u32 n)
{
    .reg .b32 %r<10>; .reg .b64 %d<6>; .reg .pred %p<4>;
    .shared .align 4 .b8 t[8192]; .local .align 8 .b8 kept[8];
    mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; ld.param.u64 %d1, [data];
    mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2; ld.global.u32 %r3, [%d2];
    mov.u64 %d5, kept; shl.b32 %r8, %r1, 3; st.local.u32 [%d5], %r8;
    mov.b32 %r4, 0; mov.u32 %r5, t; shl.b32 %r6, %r1, 4; add.u32 %r5, %r5, %r6;
again:
    setp.gt.u32 %p1, %r3, %r4;
    @%p1 bra quiet;
    mov.u64 %d3, text; cvta.global.u64 %d4, %d3;
    { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %d4; st.param.b64 [a], 0;
      call.uni (r), vprintf, (f, a); ld.param.b32 %r7, [r]; }
    add.u32 %r3, %r3, %r7;
quiet:
    ld.shared.u32 %r7, [%r5]; add.u32 %r3, %r3, %r7;
    add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r2;
    @%p2 bra again;
    ld.local.u32 %r9, [%d5]; mov.u32 %r7, t; add.u32 %r7, %r7, %r9; st.shared.u32 [%r7], %r3;
    ret;
}
"""


def test_printf_preserves_registers_and_local_memory():
    """After a call of the runtime, code reads what it wrote before the call; the call's result is unknown."""
    launch = ptxaudit.Launch("k", grid=(1,), block=(64,), params=[None, 5])
    for source, more in ((PROLOGUE.format(arch="sm_90") + PRINTING, {"arch": "sm_90"}), (from_ptx(PRINTING), {})):
        load, store = ptxaudit.audit(source, launches=[launch], **more).sites
        assert (str(load.status), load.requests, load.wavefronts) == ("exact", 10, 40)
        assert (str(store.status), store.requests, store.wavefronts) == ("exact", 2, 4)
