"""A call of the device runtime hides nothing: what a failed assertion prints does not come back into the program's
functions.
"""

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


def test_a_failed_assertion_leads_nowhere(tmp_path):
    site = load("__assertfail", tmp_path)
    assert (str(site.status), site.requests, site.wavefronts) == ("exact", 2, 4)


def test_another_functions_may_lead_anywhere(tmp_path):
    site = load("elsewhere", tmp_path, last=7)
    assert str(site.status) == "unknown" and "a call that is not modelled" in site.reason


def test_another_functions_that_no_thread_calls_leads_nowhere(tmp_path):
    site = load("elsewhere", tmp_path)
    assert (str(site.status), site.requests, site.wavefronts) == ("exact", 2, 4)
