"""What a report states for every request of a site also holds for requests that are not among its patterns, and nothing
is stated for unknown addresses.
"""

from __future__ import annotations

import numpy as np
import pytest
from machine_code import PROLOGUE

import ptxaudit
from ptxaudit.engine.answer.common import in_common
from ptxaudit.engine.answer.record import SHOWN
from ptxaudit.engine.answer.result import Common
from ptxaudit.hardware.memory.opcodes import classify
from ptxaudit.report.assemble import consecutive, lane_step
from ptxaudit.review import rules

TRIPS = SHOWN + 4  # each trip has one lane less, so that all requests are distinct; the last one differs
KERNEL = """.visible .entry k(.param .u64 a) .reqntid 32, 1, 1
{{ .reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p<4>; .reg .f32 %f<5>; .shared .align 16 .b8 s[4096];
  ld.param.u64 %rd1, [a];
  mov.u32 %r1, %tid.x; mov.u32 %r2, s; mov.u32 %r3, 0;
L:
  sub.u32 %r4, 32, %r3; setp.lt.u32 %p1, %r1, %r4; setp.eq.u32 %p2, %r3, {last};
  {body}
  add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, {trips}; @%p3 bra L;
  ret; }}
"""
SWAPPED = """xor.b32 %r5, %r1, 1; selp.b32 %r6, %r5, %r1, %p2; shl.b32 %r7, %r6, 2; add.u32 %r8, %r2, %r7;
  @%p1 ld.shared.f32 %f1, [%r8];"""
OFF = """selp.b32 %r6, {off}, 0, %p2; mul.lo.u32 %r7, %r1, {stride}; add.u32 %r7, %r7, %r6; cvt.u64.u32 %rd2, %r7;
  add.s64 %rd3, %rd1, %rd2;
"""
FOUR = "".join(f"@%p1 ld.global.f32 %f{n + 1}, [%rd3+{4 * n}];\n" for n in range(4))


def report_of(body, last=TRIPS - 1, trips=TRIPS, **options):
    content = PROLOGUE.format(arch="sm_90") + KERNEL.format(body=body, last=last, trips=trips)
    launches = [ptxaudit.Launch("k", grid=(1,), block=(32,))]
    return ptxaudit.audit(content, isa="ptx", arch="sm_90", launches=launches, cache=False, **options)


def certainties(report, rule):
    return [str(finding.certainty) for finding in rules.find(report) if finding.rule == rule]


@pytest.mark.parametrize("last, adjacent", [(TRIPS - 1, False), (TRIPS, True)])
def test_consecutive_requires_adjacent_lanes_in_every_request(last, adjacent):
    (site,) = report_of(SWAPPED, last, patterns=True).sites
    assert site.distinct == TRIPS > len(site.patterns)
    assert site.consecutive is adjacent and site.lane_step == 4


@pytest.mark.parametrize("last, found", [(TRIPS - 1, []), (TRIPS, ["certain"])])
def test_alignment_holds_for_every_request(last, found):
    report = report_of(OFF.format(off=4, stride=16) + FOUR, last, space="global", assume={"*": 256})
    assert certainties(report, "PA014") == found
    assert report.kernels[0].memory[0].aligned == (4 if last < TRIPS else 16)


def test_misalignment_is_found_in_requests_without_a_pattern():
    site = report_of(OFF.format(off=16, stride=4) + FOUR, space="global", assume={"*": 256}).kernels[0].memory[0]
    assert site.misaligned is True
    site = report_of(OFF.format(off=16, stride=4) + FOUR, space="global").kernels[0].memory[0]
    assert site.misaligned is None


@pytest.mark.parametrize("assumed, found", [({}, ["possible"]), ({"*": 8}, ["possible"]), ({"*": 16}, ["certain"])])
def test_exact_sector_count_does_not_imply_alignment(assumed, found):
    """All lanes load from one address: 1 sector for any alignment."""
    body = "mov.u64 %rd3, %rd1;" + FOUR
    report = report_of(body, trips=1, space="global", assume=assumed)
    assert {str(site.status) for site in report.kernels[0].memory} == {"exact"}
    assert certainties(report, "PA014") == found


def test_requests_at_unknown_addresses_have_no_common_properties():
    """In one of two trips the address is loaded from memory."""
    body = """ld.global.u32 %r9, [%rd1]; selp.b32 %r6, %r9, 0, %p2; shl.b32 %r7, %r1, 2; add.u32 %r7, %r7, %r6;
      add.u32 %r8, %r2, %r7; xor.b32 %r8, %r8, %r6; @%p1 ld.shared.f32 %f1, [%r8];"""
    (site,) = report_of(body, last=1, trips=2).sites
    assert site.status == "data-dependent"
    assert site.consecutive is None and site.lane_step is None and site.lane_step_most == 4


def test_alternative_addresses_of_equal_cost_are_not_consecutive():
    """The last bit of an approximate result may swap lanes: one wavefront either way, but neighbours are adjacent or
    not.
    """
    body = """mov.f32 %f1, 0f3FA66666; ex2.approx.f32 %f1, %f1; mov.b32 %r9, %f1; and.b32 %r9, %r9, 1;
      xor.b32 %r9, %r9, %r1; shl.b32 %r9, %r9, 2; add.u32 %r8, %r2, %r9; ld.shared.f32 %f1, [%r8];"""
    (site,) = report_of(body, trips=1, machine="sm_80").sites
    assert (site.status, site.wavefronts) == ("exact", 1)
    assert site.consecutive is None and site.lane_step is None


COPY = """mov.u32 %r9, %tid.y; mov.u32 %r10, %ntid.x; mad.lo.u32 %r9, %r9, %r10, %r1; shl.b32 %r9, %r9, {by};
  add.u32 %r8, %r2, %r9; {access}"""


@pytest.mark.parametrize("by, consecutive", [(2, None), (4, False)])
def test_tried_block_shapes_do_not_prove_consecutive_lanes(by, consecutive):
    """In the shapes that are tried, neighbours are 4 or 16 bytes apart: nothing is proved for others."""
    body = COPY.format(by=by, access="ld.shared.f32 %f1, [%r8];")
    content = PROLOGUE.format(arch="sm_90") + KERNEL.format(body=body, last=0, trips=1).replace(".reqntid 32, 1, 1", "")
    (site,) = ptxaudit.audit(content, isa="ptx", arch="sm_90", cache=False).sites
    assert (site.consecutive, site.lane_step, site.lane_step_most) == (consecutive, None, 1 << by)


@pytest.mark.parametrize("seed", range(50))
def test_common_properties_hold_for_each_request(seed):
    choose = np.random.default_rng(seed)
    access = classify("LDG.E", "global")
    addresses = np.arange(32) * choose.choice([4, 16, 64]) + choose.choice([0, 4, 16, 100], (5, 1))
    addresses[0] += choose.choice([0, 4]) * (np.arange(32) == 3)
    active = choose.random((5, 32)) < choose.choice([0.1, 0.5, 1.0])
    active[:, choose.integers(0, 32)] = True
    steps = choose.choice([4, 16, 128], (5, 1))
    found = in_common(access, addresses, active, steps, np.zeros((5, 1), np.int64))
    apart = [int(a) - int(b) for row, on in zip(addresses, active) for a in row[on] for b in row[on]]
    assert lane_step(found) == max(
        (s for s in (1 << n for n in range(20)) if any(apart) and not any(a % s for a in apart)), default=None
    )
    adjacent = all(
        (row[on] - row[on][0] == 4 * (np.flatnonzero(on) - np.flatnonzero(on)[0])).all()
        for row, on in zip(addresses, active)
    )
    assert consecutive(found, 4) is adjacent
    for _ in range(20):
        there = (addresses + steps * choose.integers(0, 9, (5, 1)))[active]
        assert not (there % found.aligned).any()
        assert found.split is not False or all(
            len(set((row[on] - row[on].min()) // 32)) >= len(set(row[on] // 32)) for row, on in zip(addresses, active)
        )


def test_common_properties_of_two_sets_are_united():
    one, other = Common(True, 4, 0, 128, False), Common(None, 8, 16, 32, None, complete=False)
    assert one.united(other) == Common(None, 12, 16, 32, None, complete=False)
    assert one.united(Common(False, 0, 0, 64, True)) == Common(False, 4, 0, 64, True)
    assert (one.aligned, other.aligned, one.united(Common(True, 4, 24, 128)).aligned) == (128, None, 8)


VECTOR = """.visible .entry k(.param .u64 a, .param .u32 n, .param .u32 m)
{{ .reg .b32 %r<9>; .reg .f32 %f<5>; .reg .b64 %rd<4>; .reg .pred %p<2>; .shared .align 16 .b8 s[4096];
  ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m]; ld.param.u64 %rd1, [a]; mov.u32 %r5, %ctaid.x;
  shl.b32 %r1, %r1, {shift}; mov.u32 %r3, s; add.u32 %r3, %r3, %r1;
  {body}
  ret; }}
"""
LOAD = "ld.{space}.v4.f32 {{%f1, %f2, %f3, %f4}}, [{address}];"
SHARED = LOAD.format(space="shared", address="%r3")
GENERIC = "cvt.u64.u32 %rd2, %r3; cvta.shared.u64 %rd2, %rd2; " + LOAD.format(space="", address="%rd2").replace(
    "..", "."
)
GLOBAL = "cvt.u64.u32 %rd2, %r1; add.u64 %rd2, %rd1, %rd2; " + LOAD.format(space="global", address="%rd2")
BLOCKS = "mul.wide.u32 %rd2, %r5, 4; add.u64 %rd2, %rd1, %rd2; " + LOAD.format(space="global", address="%rd2")


def aligned_vectors(body, shift, params=(None, None, None), grid=(1,), space="shared"):
    """(status, PA006) of the only access."""
    content = PROLOGUE.format(arch="sm_90") + VECTOR.format(body=body, shift=shift)
    launch = ptxaudit.Launch("k", grid=grid, block=(64,), params=params)
    options = {"isa": "ptx", "arch": "sm_90", "space": space, "cache": False, "assume": {"*": 256}}
    report = ptxaudit.audit(content, launches=[launch], **options)
    (kernel,) = report.kernels
    (site,) = kernel.accesses
    return str(site.status), certainties(report, "PA006")


@pytest.mark.parametrize("body, space", [(SHARED, "shared"), (GENERIC, "shared"), (GLOBAL, "global")])
def test_exact_vector_may_be_misaligned_by_an_unknown_offset(body, space):
    assert aligned_vectors(body, 2, space=space) == ("exact", ["possible"])
    assert aligned_vectors(body, 4, space=space) == ("exact", [])
    assert aligned_vectors(body, 2, (None, 4, None), space=space) == ("exact", [])
    assert aligned_vectors(body, 2, (None, 1, None), space=space) == ("unknown", ["certain"])


def test_alignment_of_known_blocks_is_certain():
    assert aligned_vectors(BLOCKS, 2, space="global") == ("exact", [])
    assert aligned_vectors(BLOCKS, 2, grid=(2,), space="global")[1] == ["certain"]
