"""What each PTX access became in the machine code, with ptxas's own map and without it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from reports import validate

import ptxaudit
from ptxaudit.report import pairing
from ptxaudit.report.reader import report_from_dict
from ptxaudit.review.rules import find
from ptxaudit.ui.render.pairs import pairs_text

HEAD = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{ .reg .u32 %r<20>; .reg .f32 %f<40>; .reg .u64 %d<3>; .reg .pred %q; .shared .align 16 .b8 a[8192];
  ld.param.u64 %d1, [p]; cvta.to.global.u64 %d1, %d1; ld.param.u32 %r9, [n]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
  mov.u32 %r2, a; mad.lo.u32 %r3, %r1, 16, %r2; mad.lo.u32 %r4, %r1, 4, %r2; mov.u32 %r5, 0; mov.f32 %f0, 0f00000000;
  ld.global.f32 %f1, [%d1]; ld.global.f32 %f2, [%d1+512]; ld.global.f32 %f3, [%d1+1024]; ld.global.f32 %f4, [%d1+2048];
"""
TAIL = " bar.sync 0; st.global.f32 [%d1], %f0; ret; }\n"

MERGED = (
    "st.shared.f32 [%r3], %f1;\nst.shared.f32 [%r3+4], %f2;\nst.shared.f32 [%r3+8], %f3;\nst.shared.f32 [%r3+12],"
    " %f4;\n"
)
KEPT = "st.shared.f32 [%r4], %f1; bar.sync 0;\nld.shared.v4.f32 {%f5, %f6, %f7, %f8}, [%r3];\n" + "".join(
    f"add.f32 %f0, %f0, %f{k};" for k in (5, 6, 7, 8)
)
UNROLLED = """LOOP:
ld.shared.f32 %f5, [%r4];
add.f32 %f0, %f0, %f5; add.u32 %r4, %r4, 256; add.u32 %r5, %r5, 1; setp.lt.u32 %q, %r5, 4; @%q bra LOOP;
"""
NARROWED = "ld.shared.v4.f32 {%f5, %f6, %f7, %f8}, [%r3];\nadd.f32 %f0, %f5, %f8;\n"
DELETED = "ld.shared.f32 %f5, [%r4];\nld.shared.f32 %f6, [%r4+128];\nmov.f32 %f0, %f6;\n"
HOISTED = """LOOP:
ld.shared.f32 %f5, [%r3];
fma.rn.f32 %f0, %f0, %f5, %f1; add.u32 %r5, %r5, 1; setp.lt.u32 %q, %r5, %r9; @%q bra LOOP;
"""
CASES = {
    # body -> (what, times, PTX accesses, machine accesses, hoisted), in PTX order
    "merged": (MERGED, [("merged", 4, 4, 1, False)]),
    "kept": (KEPT, [("kept", 1, 1, 1, False), ("kept", 1, 1, 1, False)]),
    "unrolled": (UNROLLED, [("unrolled", 4, 1, 4, False)]),
    "narrowed": (NARROWED, [("narrowed", 2, 1, 2, False)]),
    "deleted": (DELETED, [("deleted", 1, 1, 0, False), ("kept", 1, 1, 1, False)]),
    "hoisted": (HOISTED, [("unrolled", 4, 1, 4, True)]),  # ptxas unrolls this loop into several: a load before each
}


def both(body: str):
    report = ptxaudit.audit(HEAD + body + TAIL, isa="both")
    assert not report.problems, report.problems
    return report


def pairings(report) -> list:
    return list(dict.fromkeys(site.pairing for kernel in report.kernels for site in kernel.sites))


@pytest.mark.parametrize("body, expected", CASES.values(), ids=CASES)
def test_access_is_paired_with_its_machine_code(body, expected):
    report = both(body)
    found = pairings(report)
    assert [(p.what, p.times, len(p.ptx), len(p.sass), p.hoisted) for p in found] == expected
    assert {p.by for p in found} == {"ptxas"}
    document = report.to_dict()
    validate(document)
    assert report_from_dict(document).kernels == report.kernels
    ptx, sass = report.kernels
    ids = {site.id for site in report.sites}
    for kernel, other in ((ptx, "sass"), (sass, "ptx")):
        for site in kernel.sites:
            others = getattr(site.pairing, other)
            assert site.pairs_with == (others[0] if others else None) and set(others) <= ids


@pytest.mark.parametrize("case", ("merged", "kept", "unrolled", "narrowed"))
def test_accesses_without_ptxas_map_pair_by_position(case, monkeypatch):
    """The accesses of a source line pair by the bytes that they cover; the positions imitate `-lineinfo`."""
    known = pairings(both(CASES[case][0]))
    side = pairing.side

    def blind(function, flow, entry, known):
        lines = {"load": 1, "store": 2}
        accesses = tuple(
            replace(a, place=("k.cu", lines[a.access], ())) for a in side(function, flow, entry, known).accesses
        )
        return pairing.Side(accesses, None)

    monkeypatch.setattr(pairing, "side", blind)
    found = pairings(both(CASES[case][0]))
    assert [replace(p, by="ptxas") for p in found] == known and {p.by for p in found} == {"position"}


def test_text_has_a_line_per_kind_of_pairing():
    (block,) = pairs_text(both(MERGED + KEPT.replace("st.shared.f32 [%r4], %f1; ", "")))
    lines = block.splitlines()
    assert lines[0] == "machine code that ptxas made of k (sm_90)"
    assert ["merged ×4" in line and "st.shared.f32 ×4" not in line for line in lines[2:]].count(True) <= 1
    assert any("STS.128 at +0x" in line and "merged ×4" in line for line in lines)
    assert any("ld.shared.v4.f32" in line and "kept" in line and "LDS.128" in line for line in lines)


def test_one_instruction_set_has_no_pairing():
    report = ptxaudit.audit(HEAD + MERGED + TAIL)
    assert all(site.pairing is None and site.pairs_with is None for site in report.sites) and not pairs_text(report)


def test_files_of_a_triton_cache_are_paired(tmp_path):
    from ptxaudit.frontend.compile.ptxas import assemble

    (tmp_path / "k.ptx").write_text(HEAD + MERGED + TAIL)
    (tmp_path / "k.cubin").write_bytes(assemble(HEAD + MERGED + TAIL).cubin)
    assert [(p.what, p.times) for p in pairings(ptxaudit.audit(tmp_path, isa="both"))] == [("merged", 4)]


def test_kernels_with_one_name_in_several_files_are_not_confused(tmp_path):
    from ptxaudit.frontend.compile.ptxas import assemble

    for name, body in (("a", MERGED), ("b", NARROWED)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "k.ptx").write_text(HEAD + body + TAIL)
        (tmp_path / name / "k.cubin").write_bytes(assemble(HEAD + body + TAIL).cubin)
    report = ptxaudit.audit(tmp_path, isa="both")
    one, other = sorted(pairs_text(report))
    assert "st.shared.f32 ×4" in one + other and "ld.shared.v4.f32" in one + other
    assert ("st.shared" in one, "ld.shared" in one) == ("ld.shared" in other, "st.shared" in other)
    split = [finding for finding in find(report) if finding.rule == "PA007"]
    assert [finding.certain for finding in split] == [True] and "machine code has" in split[0].what


def test_cubin_with_line_information_contains_its_ptx(tmp_path):
    from ptxaudit.frontend.compile.ptxas import assemble

    (tmp_path / "k.cubin").write_bytes(assemble(HEAD + MERGED + TAIL, "sm_90", ["--generate-line-info"]).cubin)
    report = ptxaudit.audit(tmp_path / "k.cubin", isa="both")
    assert not report.problems and sorted(kernel.isa for kernel in report.kernels) == ["ptx", "sass"]
    assert [(p.what, p.times, p.by) for p in pairings(report)] == [("merged", 4, "ptxas")]
    assert [kernel.isa for kernel in ptxaudit.audit(tmp_path / "k.cubin").kernels] == ["sass"]
