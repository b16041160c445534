"""wmma.load and wmma.store: the table of their expansion compared with ptxas, lane by lane, and with an H200's
counters.
"""

from __future__ import annotations

import gzip
import json

import pytest
from paths import DATA

import ptxaudit
from bench import fragments as bench
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.ptx import fragments
from ptxaudit.hardware.banks import classify
from ptxaudit.hardware.machines import NAMED

MEASURED = json.loads(gzip.decompress((DATA / "fragments_sm90.json.gz").read_bytes()))["launches"]
READ_OFF = dict(line.split(": ") for line in (DATA / "fragments_sm70.txt").read_text().splitlines())

FRAME = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{{
.reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .f32 %f<20>; .reg .pred %p; .shared .align 128 .b8 s[32768];
ld.param.u32 %r9, [n]; mov.u32 %r10, s;
{body}
ret;
}}"""
STORE = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}"


def sites(body: str, arch: str = "sm_90", **launch):
    """The sites of a kernel; with a block, of its whole launch."""
    launches = [Launch("k", params=[None, launch.pop("n", None)], **launch)] if launch else []
    report = ptxaudit.audit(FRAME.format(body=body), arch=arch, launches=launches)
    assert not report.problems
    return report.kernels[0].sites


# --- the table -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arch, generic, stride",
    [
        ("sm_75", False, "%r1"),
        ("sm_80", True, "256"),
        ("sm_90", False, "%r1"),
        ("sm_121", False, ""),
    ],
)
def test_fragment_table_equals_ptxas_output(arch, generic, stride):
    assert list(bench.differences(arch, None, generic, stride, (16,))) == []


def test_comparison_detects_a_wrong_fragment_table(monkeypatch):
    monkeypatch.setattr(fragments, "_transposed", lambda access, generation: False)
    fragments.requests.cache_clear()
    try:
        assert (
            len(list(bench.differences("sm_90", None, False, "", kinds=("s32", "f32")))) == 8
        )  # accumulators of m8n32k16: f32 and s32, c and d, row and col
    finally:
        fragments.requests.cache_clear()


@pytest.mark.parametrize("name", READ_OFF)
def test_fragments_before_sm_75_equal_those_of_older_ptxas(name):
    """The output of ptxas 11.8 and 12.9 for sm_70 and sm_72, read with the disassembler of CUDA 12.8, as newer ones
    support neither.
    """
    operand, shape, kind, layout = name.split("_")
    verb = "store" if operand == "d" else "load"
    for space in (".shared", ""):
        made = fragments.requests(f"wmma.{verb}.{operand}.sync.aligned.{layout}.{shape}{space}.{kind}", "volta")
        instruction = classify(made.opcode).sass.replace(".E", "").replace("LD.", "LDS.").replace("ST.", "STS.")
        instruction = {"LD": "LDS", "ST": "STS"}.get(instruction, instruction)
        steps = lambda numbers: " ".join(map(str, numbers))
        starts = " ".join(f"{row}+{byte}" for row, byte in sorted(made.starts))
        assert f"{instruction} row {steps(made.line)} byte {steps(made.byte)} at {starts}" == READ_OFF[name]


def test_fragment_accesses_of_every_generation_have_requests():
    for machine in NAMED.values():
        if machine.fragments and not machine.name[-1].isalpha():
            every = bench.accesses(machine.name, False) + bench.accesses(machine.name, True)
            assert all(fragments.requests(a.opcode, machine.fragments) for a in every)


# --- the hardware ----------------------------------------------------------------------------


def test_exact_fragment_figures_equal_the_counters():
    launches = MEASURED[::4]
    names = {name for name, *_ in launches}
    which = [a for generic in (False, True) for a in bench.accesses("sm_90", generic) if a.name in names]
    told = [Launch(name, grid=1, block=bench.WARP, params=[None, ldm]) for name, ldm, *_ in launches]
    report = ptxaudit.audit(bench.ptx("sm_90", which, "%r1"), arch="sm_90", launches=told)
    counted: dict[str, list] = {}
    for name, _, requests, loads, stores in launches:
        counted.setdefault(name, []).append((requests, loads + stores))
    found: dict[str, list] = {}
    for kernel in report.kernels:
        (site,) = kernel.sites
        assert (site.status, site.evidence) == ("exact", "measured")
        found.setdefault(kernel.name, []).append((site.requests, site.wavefronts))
    assert found == counted


# --- in a kernel -------------------------------------------------------------------------------


def test_fragment_access_in_a_loop_is_exact():
    """Four requests per trip; the branch back still leads to the loop's head."""
    (store, load) = sites(
        f"""
        mov.u32 %r1, 0;
        again: wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r10], {STORE}, 24;
        add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 5; @%p bra again;
        wmma.load.c.sync.aligned.col.m16n16k16.shared.f32 {STORE}, [%r10], 16;""",
        grid=3,
        block=64,
    )
    assert (store.status, store.requests, store.wavefronts, store.ideal) == (
        "exact",
        3 * 2 * 5 * 4,
        3 * 2 * 5 * 8,
        3 * 2 * 5 * 8,
    )
    assert (load.status, load.requests, load.wavefronts, load.ideal) == ("exact", 3 * 2 * 8, 3 * 2 * 32, 3 * 2 * 8)
    assert (store.access, store.width, load.width) == ("store", 8, 4)
    assert len({store.id, load.id}) == 2 and not store.id.endswith(".2")


def test_fragment_access_with_an_unspecified_stride_is_conditional():
    (load,) = sites(
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [s], %r9;"
    )
    assert load.status == "conditional" and load.access == "ldmatrix"
    assert [(case.low, case.high) for case in load.conditions if "mod 64 in {8, 24, 40, 56}" in case.when] == [(4, 4)]
    assert (load.per_request.low, load.per_request.high) == (4, 32)


def test_fragment_load_that_overwrites_its_address_is_exact():
    (load,) = sites(
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {%r10, %r9}, [%r10], %r9;", grid=1, block=32, n=48
    )
    assert (load.status, load.requests, load.wavefronts) == ("exact", 1, 2)


def test_fragment_expansion_depends_on_the_machine():
    body = "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [s], 24;"
    asked = {arch: sites(body, arch, grid=1, block=32)[0] for arch in ("sm_70", "sm_75", "sm_80")}
    assert [(site.access, site.requests, site.wavefronts) for site in asked.values()] == [
        ("load", 2, 16),
        ("ldmatrix", 2, 4),
        ("ldmatrix", 1, 4),
    ]
    (old,) = sites(body, "sm_60", grid=1, block=32)
    assert old.status == "unknown" and old.requests == 1 and "sm_70 to sm_121" in old.reason
    (missing,) = sites(
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%r1, %r2, %r3, %r4}, [s], 24;", "sm_75", grid=1, block=32
    )
    assert missing.status == "unknown" and "sm_70 to sm_121" in missing.reason


def test_unreached_fragment_access_is_listed_once():
    """Listed once, not once per instruction of its expansion."""
    (store,) = sites(
        f"bra done; wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [s], {STORE}, 24; done: add.u32 %r1, %r9, 1;"
    )
    assert store.status == "unreached"
