"""Stores whose addresses are computed in every possible way.

The specified content of a buffer is trusted only if no store can reach it.
"""

from __future__ import annotations

import numpy as np
import pytest
from calls import calls_of
from machine_code import PROLOGUE, from_ptx

import ptxaudit
from ptxaudit.engine.memory.given import ASSUMED
from ptxaudit.engine.memory.origins import Origins
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.ir.graph import build
from ptxaudit.ir.link import link

INDEX = np.random.default_rng(3).permutation(32).astype(np.int32) * 2
OTHER = np.zeros(64, np.int32)
TABLE = np.zeros(64, np.uint32)

# a specified buffer is read as an index after a store to %q; %b and %c point to other specified buffers, %n is a
# specified number
KERNEL = """.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 n, .param .u32 low, .param .u32 high)
{{ .reg .b64 %a, %b, %c, %n, %q, %r, %t, %d<9>; .reg .b32 %x, %i, %lo, %hi, %low, %high, %w<9>; .reg .b16 %h<4>; .reg .f32 %f; .reg .pred %p, %z;
 .shared .align 8 .b8 s[512]; .local .align 8 .b8 l[64];
 ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; ld.param.u64 %n, [n]; ld.param.u32 %low, [low]; ld.param.u32 %high, [high];
 mov.u32 %x, %tid.x; mul.wide.u32 %t, %x, 4; setp.lt.u32 %p, %x, 7; add.u64 %r, %c, %t; ld.global.u32 %w0, [%r]; setp.eq.u32 %z, %w0, 9;
 {address}
 st{space}.u32 [%q], %x;
 bar.sync 0;
 add.u64 %r, %a, %t; ld.global.u32 %i, [%r]; mov.u32 %w1, s; mad.lo.u32 %w1, %i, 4, %w1; ld.shared.u32 %w2, [%w1]; st.global.u32 [%b], %w2; ret; }}
"""

HALVES = "ld.global.u32 %lo, [%c]; ld.global.u32 %hi, [%c+4];"
ANYWHERE = {
    "two halves out of memory": HALVES + "mov.b64 %q, {%lo, %hi};",
    "a vector of halves": "ld.global.v2.u32 {%lo, %hi}, [%c]; mov.b64 %q, {%lo, %hi}; add.u64 %q, %q, %t;",
    "halves that are shifted together": (
        HALVES + "cvt.u64.u32 %d1, %lo; cvt.u64.u32 %d2, %hi; shl.b64 %d2, %d2, 32; or.b64 %q, %d1, %d2;"
    ),
    "halves among the parameters": "mov.b64 %q, {%low, %high};",
    "a half of a parameter, and one out of memory": (
        "mov.b64 {%lo, %hi}, %b; ld.global.u32 %lo, [%c]; mov.b64 %q, {%lo, %hi};"
    ),
    "four quarters": "ld.global.v4.u16 {%h0, %h1, %h2, %h3}, [%c]; mov.b64 %q, {%h0, %h1, %h2, %h3};",
    "a pointer out of memory": "ld.global.u64 %q, [%c];",
    "a pointer out of memory and a number": "ld.global.u64 %q, [%c]; add.u64 %q, %q, %n;",
    "a pointer and a difference out of memory": "ld.global.u64 %q, [%c]; add.u64 %q, %q, %b;",
    "halves of a difference": HALVES + "mov.b64 %q, {%lo, %hi}; add.u64 %q, %q, %b;",
    "one of two, by lane": HALVES + "mov.b64 %q, {%lo, %hi}; selp.b64 %q, %b, %q, %p;",
    "one of two, by data": HALVES + "mov.b64 %q, {%lo, %hi}; selp.b64 %q, %q, %b, %z;",
    "one of many ways": (
        HALVES + "mov.u64 %q, %b; @%z bra L; @%p bra M; mov.b64 %q, {%lo, %hi}; M: add.u64 %q, %q, 4; L: bar.sync 1;"
    ),
    "one of two ways": HALVES + "mov.u64 %q, %b; @%z bra L; mov.b64 %q, {%lo, %hi}; L: add.u64 %q, %q, %t;",
    "a number alone": "cvt.u64.u32 %q, %low; shl.b64 %q, %q, 32;",
    "a pointer, twice": "mul.lo.u64 %q, %b, 2;",
    "a product": "cvt.u64.u32 %d1, %w0; mul.lo.u64 %q, %n, %d1;",
    "through shared memory": "ld.global.u64 %q, [%c]; st.shared.u64 [s], %q; bar.sync 0; ld.shared.u64 %q, [s];",
    "through local memory": "ld.global.u64 %q, [%c]; st.local.u64 [l], %q; ld.local.u64 %q, [l+0];",
    "halves from another lane": (
        HALVES
        + "shfl.sync.bfly.b32 %lo, %lo, 1, 31, -1; shfl.sync.bfly.b32 %hi, %hi, 1, 31, -1; mov.b64 %q, {%lo, %hi};"
    ),
    "what an exchange returns": "atom.global.exch.b64 %q, [%c], %n;",
    "a loop over a list": (
        "ld.global.u64 %q, [%c]; mov.u32 %w3, 0; L: ld.global.u64 %q, [%q]; add.u32 %w3, %w3, 1; setp.lt.u32 %p, %w3,"
        " %w0; @%p bra L;"
    ),
    "a loop that goes from one to the other": (
        "mov.u64 %q, %b; mov.u32 %w3, 0; L: mov.u64 %d1, %q; ld.global.u64 %q, [%d1]; add.u32 %w3, %w3, 1; "
        "setp.lt.u32 %p, %w3, %w0; @%p bra L;"
    ),
    "bits of a float": (
        "ld.global.f32 %f, [%c]; mov.b32 %lo, %f; ld.global.f32 %f, [%c+4]; mov.b32 %hi, %f; mov.b64 %q, {%lo, %hi};"
    ),
    "under a guard that was written since": (
        "ld.global.u64 %q, [%c]; @%p mov.u64 %q, %b; setp.eq.u32 %p, %w0, 3; @%p st.global.u32 [%q], %x; mov.u64 %q, %b;"
    ),
    "under a guard that is written again on a way between": (
        "ld.global.u64 %q, [%c]; @%p mov.u64 %q, %b; @%z bra L; setp.eq.u32 %p, %w0, 3; L: @%p st.global.u32 [%q], %x;"
        " mov.u64 %q, %b;"
    ),
    "under the guard of an earlier trip": (
        "ld.global.u64 %q, [%c]; mov.u32 %w3, 0; L: setp.eq.u32 %p, %w0, %w3; @%z bra M; @%p mov.u64 %q, %b; M: @%p"
        " st.global.u32 [%q], %x; add.u32 %w3, %w3, 1; setp.lt.u32 %p, %w3, 9; @%p bra L; mov.u64 %q, %b;"
    ),
    "under the opposite guard": (
        "ld.global.u64 %q, [%c]; @%p mov.u64 %q, %b; @!%p st.global.u32 [%q], %x; mov.u64 %q, %b;"
    ),
    "under a guard, and read without it": (
        "ld.global.u64 %q, [%c]; @%z mov.u64 %q, %b; add.u64 %d1, %q, %t; @%z st.global.u32 [%d1], %x; mov.u64 %q, %b;"
    ),
    "the buffer itself": "add.u64 %q, %a, 64;",
    "the buffer in some lanes": "selp.b64 %q, %a, %b, %p;",
}
KEPT = "mov.u64 %d8, l; st.local.u64 [%d8+8], %b;"
ANYWHERE |= {
    "kept on the stack, a half of it written": f"{KEPT} st.local.u32 [%d8+12], %w0; ld.local.u64 %q, [%d8+8];",
    "kept on the stack, or not": f"{KEPT} ld.global.u64 %d7, [%c]; @%z st.local.u64 [%d8+8], %d7; ld.local.u64 %q, [%d8+8];",
    "kept on the stack, and at a place by index": (
        f"{KEPT} ld.global.u64 %d7, [%c]; and.b64 %d6, %t, 8; add.u64 %d6, %d6, %d8; st.local.u64 [%d6], %d7;"
        " ld.local.u64 %q, [%d8+8];"
    ),
    "kept on the stack, its base moved": (
        f"{KEPT} ld.global.u64 %d7, [%c]; add.u64 %d8, %d8, 8; st.local.u64 [%d8], %d7; sub.u64 %d8, %d8, 8;"
        " ld.local.u64 %q, [%d8+8];"
    ),
    "kept on the stack, to which a pointer leads": (
        f"{KEPT} ld.global.u64 %d7, [%c]; cvta.local.u64 %d6, %d8; st.u64 [%d6+8], %d7; ld.local.u64 %q, [%d8+8];"
    ),
    "kept on the stack, in a loop": (
        f"{KEPT} mov.u32 %w3, 0; L: ld.local.u64 %q, [%d8+8]; ld.global.u64 %d7, [%c]; st.local.u64 [%d8+8], %d7;"
        " add.u32 %w3, %w3, 1; setp.lt.u32 %p, %w3, %w0; @%p bra L;"
    ),
    "kept as fewer bits": (
        "mov.u64 %d8, l; st.local.u32 [%d8], %b; ld.local.u32 %lo, [%d8]; ld.global.u32 %hi, [%c]; mov.b64 %q, {%lo, %hi};"
    ),
}
ELSEWHERE = {
    "kept on the stack": f"{KEPT} @%p bra L; st.local.u64 [%d8+16], %c; L: ld.local.u64 %q, [%d8+8]; add.u64 %q, %q, %t;",
    "kept on the stack as halves, before other things": (
        "mov.u64 %d8, l; mov.b64 {%lo, %hi}, %b; st.local.v2.u32 [%d8], {%lo, %hi}; ld.local.u32 %lo, [%d8];"
        " ld.local.u32 %hi, [%d8+4]; mov.b64 %q, {%lo, %hi}; st.local.v2.u32 [%d8], {%w0, %w0};"
        " ld.local.u32 %w3, [%d8]; add.u64 %q, %q, %t;"
    ),
    "a half, once": (
        "mov.b64 {%lo, %hi}, %b; mad.lo.u32 %hi, %hi, 1, 0; mul.lo.u32 %lo, 1, %lo; mov.b64 %q, {%lo, %hi};"
    ),
    "another buffer": "add.u64 %q, %b, %t;",
    "by a loaded index": "mul.wide.u32 %d1, %w0, 4; add.u64 %q, %b, %d1;",
    "by a loaded 64-bit index": "ld.global.u64 %d1, [%c]; shl.b64 %d1, %d1, 2; add.u64 %q, %b, %d1;",
    "by a told number": "add.u64 %q, %b, %n;",
    "one of two buffers": "selp.b64 %q, %b, %c, %z; add.u64 %q, %q, %t;",
    "moved in a loop": (
        "mov.u64 %q, %b; mov.u32 %w3, 0; L: add.u64 %q, %q, 4; add.u32 %w3, %w3, 1; setp.lt.u32 %p, %w3, %w0; @%p"
        " bra L;"
    ),
    "aligned": "add.u64 %q, %b, %t; and.b64 %q, %q, -16;",
    "shared memory": (
        "mov.u32 %w3, s; add.u32 %w3, %w3, 256; cvt.u64.u32 %q, %w3; cvta.shared.u64 %q, %q; add.u64 %q, %q, %t;"
    ),
    "local memory": "mov.u64 %q, l; cvta.local.u64 %q, %q; and.b64 %d1, %t, 31; add.u64 %q, %q, %d1;",
}


def load(address: str, space: str, isa: str, told=(INDEX, OTHER, TABLE, 8, 5, 7)):
    body = KERNEL.format(address=address, space=space)
    launch = ptxaudit.Launch("k", grid=(1,), block=(32,), params=list(told))
    content = from_ptx(body) if isa == "sass" else PROLOGUE.format(arch="sm_90") + body
    report = ptxaudit.audit(content, isa=isa, arch="sm_90", launches=[launch])
    return [
        site for site in report.sites if site.access == "load" and "shared" in site.opcode + "shared" * (isa == "sass")
    ][-1], report


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("space", (".global", ""))
@pytest.mark.parametrize("how", ANYWHERE)
def test_store_through_an_address_of_unknown_origin_invalidates_the_buffer(monkeypatch, how, space, isa):
    """Judged by its origins alone."""
    monkeypatch.setattr("ptxaudit.engine.exec.stores.stored", lambda *_: None)
    site, _ = load(ANYWHERE[how], space, isa)
    assert site.status == "data-dependent" and site.wavefronts is None, (site.status, site.wavefronts)


# With the zeros in TABLE these write to %b, or nowhere.
KNOWN_WHEN_EXECUTED = {
    "a pointer and a difference out of memory",
    "halves of a difference",
    "one of two, by data",
    "under a guard that was written since",
    "under a guard that is written again on a way between",
    "under the guard of an earlier trip",
    "under a guard, and read without it",
    "kept on the stack, or not",
    "kept on the stack, in a loop",
}


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("how", ANYWHERE)
def test_executed_store_invalidates_what_it_may_reach(how, isa):
    site, _ = load(ANYWHERE[how], ".global", isa)
    if site.status == "exact":
        assert how in KNOWN_WHEN_EXECUTED
        assert site.wavefronts == np.unique(INDEX % 32, return_counts=True)[1].max()
    else:
        assert site.status == "data-dependent" and site.wavefronts is None


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("space", (".global", ""))
@pytest.mark.parametrize("how", ELSEWHERE)
def test_store_to_another_buffer_keeps_the_buffer_contents(how, space, isa):
    if space and "memory" in how:
        pytest.skip("not an address of global memory")
    site, report = load(ELSEWHERE[how], space, isa)
    banks = np.unique(INDEX % 32, return_counts=True)[1].max()
    assert (site.status, site.wavefronts) == ("exact", banks), site.reason
    assert ASSUMED in report.kernels[0].assumed


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_store_through_an_unspecified_pointer_invalidates_the_buffer(isa):
    site, _ = load(ELSEWHERE["another buffer"], ".global", isa, (INDEX, None, TABLE, 8, 5, 7))
    assert site.status == "data-dependent"


def test_guarded_store_uses_the_origin_of_its_guarded_address():
    """The register's earlier values do not matter: ptxas rewrites registers under the guard of the code that reads
    them.
    """
    before = "ld.global.u64 %q, [%c]; @%z add.u64 %q, %b, %t; @%z st.global.u32 [%q], %x; mov.u64 %q, %b;"
    for between in ("", "@%p bra L; add.u32 %w3, %w0, 1; L:"):
        for ways in ("", "@%p bra N; add.u64 %q, %q, %t; bra M; N: ld.global.u64 %q, [%c+8]; M:"):
            text = before.replace("; @%z add", f"; {ways} @%z add").replace("; @%z st", f"; {between} @%z st")
            site, report = load(text, ".global", "ptx")
            assert site.status == "exact" and ASSUMED in report.kernels[0].assumed


def test_write_between_guarded_address_and_guarded_store_changes_the_origin():
    written = "ld.global.u64 %q, [%c];"
    for ways in (f"@%p bra L; {written} L:", f"@%p bra N; bra L; N: {written} L:"):
        site, _ = load(f"mov.u64 %q, %b; @%z add.u64 %q, %b, %t; {ways} @%z st.global.u32 [%q], %x;", ".global", "ptx")
        assert site.status == "data-dependent"


def test_paths_that_write_no_address_have_no_origin():
    site, _ = load("@%z bra L; @%p bra M; add.u64 %q, %b, %t; L: bar.sync 1; M: add.u64 %q, %q, 4;", "", "ptx")
    assert site.status == "exact"


def test_origins_are_found_in_linear_time():
    """A pointer that many branches may have advanced, read after each of them."""

    def calls(many):
        moved = "".join(
            f"setp.eq.u32 %z, %w0, {k}; @%z bra L{k}; add.u64 %q, %q, {4 * k}; L{k}: ld.u32 %w1, [%q];"
            for k in range(many)
        )
        text = PROLOGUE.format(arch="sm_90") + KERNEL.format(address="mov.u64 %q, %b;" + moved, space="")
        module = lift_module(parse_module(text, "k.ptx"))
        graph = build(link(module, module.functions["k"]))
        found = Origins(graph)
        generic = [site for site in graph.sites() if graph.function.site(site).space == "generic"]
        counted = calls_of(lambda: [found.spaces_of_site(site) for site in generic])
        assert {found.spaces_of_site(site) for site in generic} == {frozenset(("global",))}
        return counted

    assert calls(400) < 6 * calls(100)
