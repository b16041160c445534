"""Adjacent accesses form one run only if the code between them permits merging them."""

from __future__ import annotations

import pytest
from machine_code import PROLOGUE

import ptxaudit

KERNEL = """.visible .entry k(.param .u64 in, .param .u64 out)
{{ .reg .b64 %a, %b, %i; .reg .b32 %x, %u, %v, %w; .reg .pred %p; .shared .align 8 .b8 s[64];
 ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; mov.u32 %x, %tid.x; mul.wide.u32 %i, %x, 8; add.u64 %a, %a, %i; add.u64 %b, %b, %i;
 setp.lt.u32 %p, %x, 8; mov.u32 %w, 5;
 {body}
 st.global.u32 [%b+64], %u; st.global.u32 [%b+96], %v; ret; }}
"""
LOADS = "ld.global.u32 %u, [%a]; {} ld.global.u32 %v, [%a+4];"
PROMISED = "ld.global.nc.u32 %u, [%a]; {} ld.global.nc.u32 %v, [%a+4];"
STORES = "mov.u32 %u, 1; mov.u32 %v, 2; st.global.u32 [%a], %u; {} st.global.u32 [%a+4], %v;"


def vectors(body: str) -> set[int]:
    """The widths in bytes of the vectors that a body's accesses could form, except those through %b."""
    launch = ptxaudit.Launch("k", grid=1, block=32)
    text = PROLOGUE.format(arch="sm_90") + KERNEL.format(body=body)
    report = ptxaudit.audit(text, isa="ptx", space="global", launches=[launch], assume={"*": 256})
    return {site.vector for kernel in report.kernels for site in kernel.memory if site.vector is not None}


@pytest.mark.parametrize("accesses", (LOADS, STORES))
@pytest.mark.parametrize(
    "between",
    (
        "membar.gl;",
        "fence.acq_rel.gpu;",
        "ld.acquire.gpu.global.u32 %w, [%b];",
        "st.release.gpu.global.u32 [%b], %w;",
        "ld.volatile.global.u32 %w, [%b];",
        "\nld.acquire.cta.shared.u32 %w, [s];\n",
        "\natom.acq_rel.cta.shared.add.u32 %w, [s], 1;\n",
        "st.global.u16 [%a+4], %x;",
        "st.global.v2.u32 [%a], {%w, %w};",
        "st.global.u32 [%b], %w;",
        "st.u32 [%b], %w;",
        "red.global.add.u32 [%b], %w;",
        "atom.global.add.u32 %w, [%b], 1;",
        "bar.sync 0;",
        "bar.warp.sync -1;",
        "mbarrier.test_wait.shared.b64 %p, [s], %i;",
        "cp.async.bulk.prefetch.L2.global [%b], 16;",
    ),
)
def test_intervening_code_prevents_merging(between, accesses):
    assert vectors(accesses.format(between)) == set()


def test_first_two_of_three_stores_are_adjacent():
    assert vectors(STORES.format("st.global.u32 [%a+4], %w;")) == {8}


@pytest.mark.parametrize("between", ("ld.global.u32 %w, [%b];", "ld.u32 %w, [%b];", "ld.global.u32 %w, [%a+4];"))
def test_load_between_stores_prevents_merging_them(between):
    assert vectors(STORES.format(between)) == set()
    assert vectors(LOADS.format(between)) == {8}


@pytest.mark.parametrize("accesses", (LOADS, STORES))
@pytest.mark.parametrize(
    "between",
    (
        "",
        "add.u32 %w, %w, 1;",
        "st.shared.u32 [s], %w;",
        "st.global.u32 [%a+8], %w;",
        "ld.global.u32 %w, [%a+8];",
        "ld.global.nc.u32 %w, [%b];",
        "ld.const.u32 %w, [table];",
    ),
)
def test_harmless_code_permits_merging(between, accesses):
    extra = ".const .u32 table[1] = {7};\n" if "table" in between else ""
    launch = ptxaudit.Launch("k", grid=1, block=32)
    text = PROLOGUE.format(arch="sm_90") + extra + KERNEL.format(body=accesses.format(between))
    report = ptxaudit.audit(text, isa="ptx", space="global", launches=[launch], assume={"*": 256})
    assert {site.vector for kernel in report.kernels for site in kernel.memory if site.vector} == {8}


def test_load_of_unwritten_memory_moves_before_stores():
    assert vectors(PROMISED.format("st.global.u32 [%b], %w;")) == {8}
    assert vectors(PROMISED.format("membar.gl;")) == set()
