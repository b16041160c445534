"""Calls through pointers: tables of functions in constant and global memory, virtual functions, and the figures that
remain unknown because the pointer or the content of the table is.
"""

from __future__ import annotations

from collections import Counter

import pytest
from machine_code import from_cuda

import ptxaudit
from ptxaudit.review.gate import judge, parse_limit

TABLE = """
typedef int (*Function)(int*, int);
__device__ __noinline__ int twice(int* s, int t) {{ return s[t * 2]; }}
__device__ __noinline__ int fourfold(int* s, int t) {{ s[t * 4] = t; return 0; }}
__device__ __noinline__ int leaves(int* s, int t) {{ if (t & 1) asm volatile("exit;"); return s[t]; }}
static {where} Function table[3] = {{twice, fourfold, leaves}};
extern "C" __global__ void k(int* out, int which) {{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    int v = table[{index}](s, t);
    __syncthreads();
    s[t * 2 & 255] = v;
    __syncthreads();
    out[t] = s[t ^ 1];
}}
"""
WHERE = ("__device__", "__constant__")
BY_LANE, BY_WARP, SPECIFIED = "t & 1", "t >> 5", "which"


def audit(
    tmp_path,
    source: str,
    isa: str,
    params=None,
    block: int = 64,
    front: tuple[str, ...] = (),
    back: tuple[str, ...] = (),
):
    """The report on a source. front, back: options of NVRTC and of ptxas."""
    path = tmp_path / "k.cu"
    path.write_text(source)
    if front or back:
        path = tmp_path / "k.cubin"
        path.write_bytes(from_cuda(source, "sm_90", back, front))
    return ptxaudit.audit(path, isa=isa, launches=[ptxaudit.Launch("k", grid=1, block=block, params=params)])


def figures(report) -> list[tuple]:
    return sorted((str(s.status), s.requests, s.wavefronts) for s in report.sites)


def exact(report) -> Counter:
    """The number of exact sites per (requests, wavefronts), without sites that only access other memory."""
    return Counter(
        (s.requests, s.wavefronts)
        for s in report.sites
        if s.status in ("exact", "unreached") and (s.wavefronts or not s.requests)
    )


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("where", WHERE)
def test_indirect_call_sends_each_lane_to_its_target(tmp_path, where, isa):
    """Every other lane calls `twice`, the others `fourfold`: one request per warp and function."""
    report = audit(tmp_path, TABLE.format(where=where, index=BY_LANE), isa)
    assert figures(report) == [
        ("exact", 2, 2),
        ("exact", 2, 2),
        ("exact", 2, 4),
        ("exact", 2, 4),
        ("exact", 2, 8),
        ("unreached", 0, 0),
    ]
    assert any("table" in sentence for kernel in report.kernels for sentence in kernel.assumed)


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("where", WHERE)
def test_indirect_call_of_a_different_function_in_each_warp(tmp_path, where, isa):
    """Warps 0, 1 and 2 call one function each; every other lane of warp 2 exits."""
    found = exact(audit(tmp_path, TABLE.format(where=where, index=BY_WARP), isa, block=96))
    assert found <= Counter([(1, 1), (1, 2), (1, 4), (3, 3), (3, 3), (3, 6)])
    assert found >= Counter(
        [(1, 1), (1, 2), (1, 4), (3, 3), (3, 3)]
    )  # the index after the call may be reloaded from a spill


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("where", WHERE)
def test_specified_parameter_selects_the_called_function(tmp_path, where, isa):
    source = TABLE.format(where=where, index=SPECIFIED)
    for which, called in enumerate([(2, 4), (2, 8), (2, 2)]):
        found = exact(audit(tmp_path, source, isa, params=[None, which]))
        assert found[0, 0] == 2 and found >= Counter([called, (2, 2)])


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("where", WHERE)
def test_unknown_call_target_leaves_no_exact_site_after_the_call(tmp_path, where, isa):
    """In one of the three functions lanes exit: sites after the call have a range, and so have those in callees."""
    report = audit(tmp_path, TABLE.format(where=where, index=SPECIFIED), isa)
    before, *rest = report.sites
    assert (before.status, before.requests) == ("exact", 2) and len(rest) == 5
    assert all(
        s.status in ("data-dependent", "conditional", "unknown", "invariant") and s.requests is None for s in rest
    )


KINDS = {
    "debug": (("-G",), ("-g",)),
    "O0": ((), ("-O0",)),
    "relocatable": (("-rdc=true",), ("-c",)),
    "O3": ((), ("-O3",)),
}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("kind", KINDS)
def test_indirect_calls_in_relocatable_and_debug_machine_code(tmp_path, where, kind):
    """Sites in callees have figures, or a reason; none is omitted, and none is wrong. Without a barrier around the
    call, as at -G, lanes that call different functions return diverged.
    """
    front, back = KINDS[kind]
    report = audit(tmp_path, TABLE.format(where=where, index=BY_LANE), "sass", front=front, back=back)
    assert exact(report) <= Counter([(2, 2), (2, 2), (2, 4), (2, 4), (2, 8), (0, 0), (0, 0)])
    assert len(report.sites) >= 6 and exact(report)[2, 2] >= 1


REWRITTEN = TABLE.replace("int v =", "if (which == 7) table[t & 1] = table[2]; int v =")


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_function_table_written_by_the_kernel_is_unknown(tmp_path, isa):
    report = audit(tmp_path, REWRITTEN.format(where="__device__", index=BY_LANE), isa)
    assert sum(s.status == "exact" for s in report.sites) == 1  # before the call


MISUSED = TABLE.replace("s[t * 2 & 255] = v;", "s[t * (1 + ((int)(long long)table[t & 1] >> 7 & 1)) & 255] = v;")


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_address_of_a_function_used_as_data_decides_no_figure(tmp_path, isa):
    """Addresses of functions are invented: a result that depends on them is no figure."""
    report = audit(tmp_path, MISUSED.format(where="__device__", index=BY_LANE), isa)
    decided = [s for s in report.sites if "the addresses of functions" in s.reason]
    assert (
        decided
        if isa == "ptx"
        else not any(s.status == "exact" and s.requests == 2 and s.wavefronts == 6 for s in report.sites)
    )


VIRTUAL = """
struct Base {{ __device__ virtual int go(int* s, int t) {{ return s[t * 2]; }} int x; }};
struct Derived : Base {{ __device__ int go(int* s, int t) override {{ s[t * 4] = x; return 3; }} }};
extern "C" __global__ void k(int* out, int which) {{
    __shared__ int s[256];
    int t = threadIdx.x;
    Base base; Derived derived; base.x = 1; derived.x = 2;
    Base* object = {choice} ? &base : (Base*)&derived;
    int v = object->go(s, t);
    __syncthreads();
    s[t * 2 & 255] = v;
    __syncthreads();
    out[t] = s[t ^ 1];
}}
"""


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_virtual_calls_are_resolved(tmp_path, isa):
    found = exact(audit(tmp_path, VIRTUAL.format(choice="(t & 1)"), isa))
    del found[0, 0]  # the loads of the objects' tables
    assert found <= Counter([(2, 2), (2, 4), (2, 4), (2, 8)])
    assert len(found) >= (3 if isa == "ptx" else 1)


PTX = """
.version 8.0
.target sm_90
.address_size 64
.extern .func elsewhere ();
.shared .align 4 .b8 s[4096];
.func hidden ()
{{
    .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    shl.b32 %r1, %r1, 3;
    mov.u32 %r2, s;
    add.u32 %r2, %r2, %r1;
    ld.shared.u32 %r3, [%r2];
    ret;
}}
.global .u64 table[1] = {{hidden}};
.visible .entry k(.param .u64 out)
{{
    .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, s;
    mad.lo.u32 %r3, %r1, 4, %r2;
    st.shared.u32 [%r3], %r1;
    setp.lt.u32 %p1, %r1, {callers};
    @!%p1 bra behind;
    {call}
behind:
    mad.lo.u32 %r4, %r1, 8, %r2;
    st.shared.u32 [%r4], %r1;
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], %r3;
    ret;
}}
"""
UNKNOWN_CALLS = {  # the pointer may lead to a function of the other object
    "elsewhere": "call elsewhere;",
    "a pointer out of memory": (
        "ld.param.u64 %rd2, [out]; ld.global.u64 %rd3, [%rd2]; prototype: .callprototype _ (); call %rd3, (),"
        " prototype; @%p1 bra behind; call elsewhere;"
    ),
}


@pytest.mark.parametrize("call", UNKNOWN_CALLS)
def test_unresolved_call_leaves_no_count_after_it(tmp_path, call):
    path = tmp_path / "k.ptx"
    path.write_text(PTX.format(call=UNKNOWN_CALLS[call], callers=20))
    report = ptxaudit.audit(path, launches=[ptxaudit.Launch("k", grid=1, block=64)])
    before, behind, hidden = sorted(report.sites, key=lambda s: (s.ptx_line < 20, s.ptx_line))
    assert (before.status, before.requests, before.wavefronts) == ("exact", 2, 2)
    assert behind.requests is None and behind.per_request.low <= 1 and behind.per_request.high == 2
    assert hidden.access == "load" and hidden.requests is None and hidden.status in ("unknown", "data-dependent")


@pytest.mark.parametrize("call", UNKNOWN_CALLS)
def test_unresolved_call_that_no_lane_makes_changes_nothing(tmp_path, call):
    path = tmp_path / "k.ptx"
    path.write_text(PTX.format(call=UNKNOWN_CALLS[call], callers=0))
    report = ptxaudit.audit(path, launches=[ptxaudit.Launch("k", grid=1, block=64)])
    assert sorted((str(s.status), s.requests) for s in report.sites) == [("exact", 2), ("exact", 2), ("unreached", 0)]


def test_gate_counts_sites_in_unresolved_callees_as_unjudged(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_text(PTX.format(call=UNKNOWN_CALLS["elsewhere"], callers=20))
    report = ptxaudit.audit(path, launches=[ptxaudit.Launch("k", grid=1, block=64)])
    verdict = judge(report, [parse_limit("PA001")], strict=True)
    assert verdict.sites == 3 and verdict.unjudged >= 1


WRITTEN = """
.version 8.0
.target sm_90
.address_size 64
.shared .align 16 .b8 s[4096];
.func f (.param .b32 t)
{{ .reg .b32 %r<4>; ld.param.b32 %r1, [t]; mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 4, %r2; ld.shared.u32 %r3, [%r2];
   ret; }}
.func g (.param .b32 t)
{{ .reg .b32 %r<4>; ld.param.b32 %r1, [t]; mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 128, %r2; ld.shared.u32 %r3, [%r2];
   ret; }}
.global .align 8 .u64 functions[2] = {{f, g}};
.global .align 8 .u64 first = functions;
.const .align 8 .u64 constant = generic(functions);
.visible .entry k(.param .u64 p)
{{
    .reg .b32 %r<4>; .reg .b64 %d<8>; .local .align 8 .b8 l[16]; .shared .align 16 .b8 b[16];
    ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, b; mov.u64 %d2, l;
    mov.u64 %d3, functions; mov.u64 %d4, g;
    {store}
    ld.global.u64 %d5, [functions];
    {{ .param .b32 t; st.param.b32 [t], %r1; prototype: .callprototype _ (.param .b32 _); call %d5, (t), prototype; }}
    ret;
}}
"""
STORES = {  # of the second function to the first entry of the table
    "none": "",
    "elsewhere": "st.global.u64 [%d1], %d4;",
    "by its address": "st.global.u64 [%d3], %d4;",
    "through local memory": "st.local.u64 [%d2], %d3; ld.local.u64 %d6, [%d2]; st.global.u64 [%d6], %d4;",
    "through shared memory": "st.shared.u64 [%r2], %d3; ld.shared.u64 %d6, [%r2]; st.global.u64 [%d6], %d4;",
    "through global memory": "st.global.u64 [%d1], %d3; ld.global.u64 %d6, [%d1]; st.global.u64 [%d6], %d4;",
    "by a pointer of the file": "ld.global.u64 %d6, [first]; st.global.u64 [%d6], %d4;",
    "by a constant pointer": "ld.const.u64 %d6, [constant]; st.global.u64 [%d6], %d4;",
    "by a bulk copy": "cp.async.bulk.global.shared::cta.bulk_group [%d3], [%r2], 16;",
}


@pytest.mark.parametrize("store", STORES)
def test_function_table_that_a_store_may_change_is_not_read_from_the_file(tmp_path, store):
    path = tmp_path / "k.ptx"
    path.write_text(WRITTEN.format(store=STORES[store]))
    report = ptxaudit.audit(path, isa="ptx", launches=[ptxaudit.Launch("k", grid=1, block=32, params=[None])])
    called = [site.status for site in report.sites if site.ptx_line in (7, 10)]
    if store in ("none", "elsewhere"):
        assert sorted(called) == ["exact", "unreached"] and "functions" in "".join(report.kernels[0].assumed)
    else:
        assert called == ["invariant"] * 2 and not report.kernels[0].assumed


OF_THE_ADDRESS = (
    "and.b64 %d5, %d4, {mask}; cvt.u32.u64 %r3, %d5; mul.lo.u32 %r3, %r3, %r1; and.b32 %r3, %r3, 1023;"
    " mad.lo.u32 %r3, %r3, 4, %r2; ld.shared.u32 %r3, [%r3];"
)


@pytest.mark.parametrize("mask", (16, 64, 112, 256))
def test_bits_of_a_function_address_decide_no_figure(tmp_path, mask):
    """In code compiled as a whole, functions start within the kernel's section, at any instruction."""
    path = tmp_path / "k.ptx"
    path.write_text(WRITTEN.format(store=OF_THE_ADDRESS.format(mask=mask)))
    report = ptxaudit.audit(path, isa="ptx", launches=[ptxaudit.Launch("k", grid=1, block=32, params=[None])])
    (site,) = (site for site in report.sites if site.ptx_line > 12)
    assert site.status == "unknown" and "addresses of functions" in site.reason


RECURSIVE = """
__device__ __noinline__ int go(int* s, int n, int t) {
    s[t * 2 + 256] += n;
    if (n <= 1) return 1;
    int r = n * go(s, n - 1, t);
    s[t] = r;
    return r;
}
extern "C" __global__ void k(int* out, int n) {
    __shared__ int s[512];
    int t = threadIdx.x;
    int v = go(s, n + (t & 1), t);
    __syncthreads();
    s[t * 4] = v;
    __syncthreads();
    out[t] = s[t ^ 1];
}
"""


def test_recursion_of_known_depth_is_exact(tmp_path):
    """Even lanes recurse three deep, odd lanes four; on the way back lanes reconverge at each depth."""
    report = audit(tmp_path, RECURSIVE, "ptx", params=[None, 3])
    assert exact(report) == Counter([(8, 16), (8, 16), (6, 6), (2, 8), (2, 2)])


@pytest.mark.parametrize("params", ([None, 3], None), ids=("told", "not specified"))
def test_recursion_in_machine_code_has_no_wrong_count(tmp_path, params):
    report = audit(tmp_path, RECURSIVE, "sass", params=params)
    assert exact(report) <= Counter([(8, 16), (8, 16), (6, 6), (2, 8), (2, 2)]) and len(report.sites) == 5


def test_recursion_of_unknown_depth_has_no_counts(tmp_path):
    report = audit(tmp_path, RECURSIVE, "ptx")
    inside = [s for s in report.sites if s.source.line < 9]
    assert len(inside) == 3 and all(s.requests is None for s in inside)


# One branch decides whether to recurse, and all accesses come after it, in every activation.
BEHIND = """
__device__ __noinline__ int go(int* s, int n, int t) {
    int r = t;
    if (n) r += go(s, n - 1, t) * 3;
    s[t * 2 + (r & 1)] = r;
    return r;
}
extern "C" __global__ void k(int* out, int n) {
    __shared__ int s[512];
    out[threadIdx.x] = go(s, n, threadIdx.x);
}
"""


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_code_after_a_recursive_call_runs_in_every_activation(tmp_path, isa):
    """Seed 4126 of bench/adversary: only the outer activation was counted if the recursion depth was unknown."""
    (told,) = audit(tmp_path, BEHIND, isa, params=[None, 3]).sites
    (open_,) = audit(tmp_path, BEHIND, isa).sites
    assert told.requests in (8, None) and open_.requests is None


DISCARDED = """.version 8.0
.target sm_90
.address_size 64
.func (.reg .b32 r) fourfold(.reg .b32 a) { .reg .b64 %q; cvt.u64.u32 %q, a; shr.u64 %q, %q, 30; cvt.u32.u64 r, %q; add.u32 r, r, 1; ret; }
.func (.reg .b64 r) wide(.reg .b64 a) { mov.b64 r, a; exit; }
.global .u64 table[2] = {fourfold, wide};
.visible .entry k(.param .u64 p)
{ .reg .b64 %f; .reg .b32 %x, %y, %a, %b; .shared .align 4 .b8 s[4096];
 mov.u32 %x, %tid.x; mov.u32 %b, s; mov.u32 %y, 4; ld.global.u64 %f, [table];
 PROTO: .callprototype (.reg .b32 _) _ (.reg .b32 _);
 CALL
 mul.lo.u32 %a, %y, %x; shl.b32 %a, %a, 2; add.u32 %a, %a, %b; st.shared.u32 [%a], %x; ret; }
"""


@pytest.mark.parametrize(
    "call",
    (
        "call (_), fourfold, (%x);",
        "call (_), %f, (%x), PROTO;",
        "call (_), %f, (-1), PROTO;",
        "call (%y), fourfold, (-1);",
        "call (%y), %f, (-1), PROTO;",
    ),
)
def test_indirect_call_with_constant_arguments_and_discarded_results(tmp_path, call):
    """Calls the first function of the table, with 32 bits: the next one returns to no caller."""
    path = tmp_path / "k.ptx"
    path.write_text(DISCARDED.replace("CALL", call))
    sites = ptxaudit.audit(path, isa="both", launches=[ptxaudit.Launch("k", grid=1, block=32)]).sites
    assert [(site.status, site.requests, site.wavefronts) for site in sites] == [("exact", 1, 4)] * 2
