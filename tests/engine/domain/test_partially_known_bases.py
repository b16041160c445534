"""Requests whose base is known modulo a power of two, beside others, and with lanes known only up to a line: their sums
and ranges.
"""

from __future__ import annotations

import numpy as np
import pytest
from machine_code import PROLOGUE

import ptxaudit
from ptxaudit.base.work import Account
from ptxaudit.engine.answer.record import SiteRecord
from ptxaudit.engine.answer.tabulate import line_of
from ptxaudit.hardware import banks, machines

MACHINES = ("sm_90", "sm_75", "sm_61", "kepler-4byte", "kepler-8byte", "fermi")
OPCODES = (
    "ld.shared.u8",
    "ld.shared.u16",
    "ld.shared.u32",
    "ld.shared.v2.u32",
    "ld.shared.v4.u32",
    "st.shared.u16",
    "st.shared.u32",
)
KERNEL = """.visible .entry k(.param .u64 .ptr .global .align 256 in, .param .u32 n)
{{ .reg .pred %p; .reg .b16 %h; .reg .b32 %r<12>; .reg .b64 %rd<8>; .shared .align 4 .b8 tile[16384];
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [in];
  ld.param.u32 %r2, [n];
  {body}
DONE:
  ret; }}
"""
TWO_LANES = "setp.gt.u32 %p, %r1, 1; @%p bra DONE; "
TWICE = """mul.lo.s32 %r5, %r1, 130; shl.b32 %r7, %r2, 1; mov.u32 %r9, tile; mov.u32 %r3, 0; mov.u32 %r4, 0;
LOOP:
  add.s32 %r8, %r5, %r4; add.s32 %r10, %r9, %r8;
  ld.shared.u16 %h, [%r10+2];
  mov.u32 %r4, %r7; add.s32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 2; @%p bra LOOP;
"""
WALK = """mul.wide.u32 %rd2, %r1, 4; add.s64 %rd4, %rd1, %rd2; mul.wide.s32 %rd7, %r2, 4; mov.u32 %r3, 0;
LOOP:
  ld.global.u32 %r4, [%rd4];
  add.s64 %rd4, %rd4, %rd7; add.s32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 2; @%p bra LOOP;
"""
LINES = """mul.wide.u32 %rd2, %r1, 4; add.s64 %rd4, %rd1, %rd2; ld.global.u32 %r3, [%rd4];
  shl.b32 %r4, %r3, 7; shl.b32 %r5, %r1, 1; add.s32 %r6, %r4, %r5; shl.b32 %r7, %r2, 1; add.s32 %r8, %r6, %r7;
  mov.u32 %r9, tile; add.s32 %r10, %r9, %r8; ld.shared.u16 %h, [%r10+2];
"""


def audit(body, n=None, space="shared"):
    content = PROLOGUE.format(arch="sm_90") + KERNEL.format(body=body)
    launch = ptxaudit.Launch("k", grid=(1,), block=(32,), params=(None, n))
    report = ptxaudit.audit(content, isa="ptx", arch="sm_90", launches=[launch], space=space, cache=False)
    (kernel,) = report.kernels
    (site,) = kernel.sites if space == "shared" else kernel.memory
    return site


def figure(site):
    return site.sectors if hasattr(site, "sectors") else site.wavefronts


@pytest.mark.parametrize(
    "body, space", [(TWO_LANES + TWICE, "shared"), (WALK, "global")], ids=["two banks", "two places of an array"]
)
def test_equal_addresses_from_a_known_and_an_unknown_base_are_two_requests(body, space):
    """Only the second trip's base is unknown: its cost may differ from that of the first."""
    open_ended = audit(body, space=space)
    assert open_ended.status == "conditional" and open_ended.requests == 2
    seen = set()
    for n in range(66):
        site = audit(body, n, space)
        seen.add(figure(site))
        assert open_ended.bounds[0] <= figure(site) <= open_ended.bounds[1], n
    assert len(seen) > 1


def test_cases_of_the_base_include_requests_with_a_known_base():
    site = audit(TWO_LANES + TWICE)
    assert {(case.low, case.high) for case in site.conditions} == {(1, 1), (1, 2)}


def test_lanes_known_modulo_a_line_with_an_unaligned_base_are_a_range():
    """At residue 2 the two lanes have the same bank, and perhaps not the same word."""
    site = audit(TWO_LANES + LINES)
    odd = audit(TWO_LANES + LINES, 1)
    assert (odd.per_request.low, odd.per_request.high) == (1, 2)
    assert site.status not in ("exact", "invariant")
    assert (site.per_request.low, site.per_request.high) == (1, 2)
    assert {case.when: (case.low, case.high) for case in site.conditions} == {
        "base mod 4 in {0}": (1, 1),
        "base mod 4 in {2}": (1, 2),
    }


@pytest.mark.parametrize("seed", range(400))
def test_claims_about_lanes_known_modulo_a_line_hold_at_every_address(seed):
    choose = np.random.default_rng(seed)
    machine = machines.get(str(choose.choice(MACHINES)))
    access = banks.classify(str(choose.choice(OPCODES)))
    line, zeros = line_of(machine, access), int(choose.integers(0, 4))
    active = (choose.permutation(32) < choose.choice([2, 3, 8, 32]))[None, :]
    addresses = (choose.integers(0, choose.choice([4, 64]), (1, 32)) * access.width).astype(np.int64)
    record = SiteRecord(machine, access, Account())
    record.add(addresses, active, np.ones(1, np.int64), np.zeros(1, np.int64), None, zeros, line)
    claimed = record.totals()
    for _ in range(60):
        there = addresses + (int(choose.integers(0, 64)) << zeros) + choose.integers(0, 3, (1, 32)) * line
        if ((there % access.align != 0) & active).any():  # it would fault
            continue
        scores = banks.score(machine, access, np.where(active, there, 0), active, None)
        assert claimed.low <= scores.low[0] and scores.high[0] <= claimed.high
        assert claimed.ideal <= scores.ideal[0] <= claimed.ideal_most


OF_OTHER_LANES = """setp.lt.u32 %p, %r1, 20; mov.u32 %r9, tile; mad.lo.u32 %r10, %r1, 54, %r9;
  {other}
  @%p ld.shared.u8 %h, [%r10+1];"""


@pytest.mark.parametrize("other", ["@!%p mov.u32 %r10, %r2;", "@!%p mad.lo.u32 %r10, %r1, %r2, 1;", ""])
def test_unknown_in_inactive_lanes_does_not_affect_addresses(other):
    """A register that holds an address in some lanes, and in the others a number that the launch does not specify."""
    found = audit(OF_OTHER_LANES.format(other=other))
    row = [1 + 54 * lane for lane in range(32)]
    assert (found.status, found.wavefronts) == (
        "exact",
        ptxaudit.score_request("ld.shared.u8", row, 0xFFFFF).wavefronts,
    )


def test_unknown_in_active_lanes_affects_addresses():
    found = audit(OF_OTHER_LANES.format(other="@%p add.u32 %r10, %r10, %r2;"))
    assert found.status == "conditional"
