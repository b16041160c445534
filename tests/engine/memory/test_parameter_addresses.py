"""Parameters read through generic addresses, as by functions that take a pointer to a `__grid_constant__` structure.

The values that the launch specifies are known there too, and no such access is one to shared memory.
"""

from __future__ import annotations

import struct

import pytest
from machine_code import PROLOGUE, from_ptx

import ptxaudit

CALLED = """.func (.reg .b32 %o) of(.reg .b64 %p, .reg .b32 %x)
{ .reg .b32 %a, %b; ld.u32 %a, [%p+8]; ld.u32 %b, [%p+12]; mul.lo.u32 %a, %a, %x; mad.lo.u32 %o, %b, 4, %a; ret; }
"""
KERNEL = """.visible .entry k(.param .align 16 .b8 p[64], .param .u64 g)
{{ .reg .b64 %g, %a, %b, %q, %s; .reg .b32 %x, %w<9>; .reg .pred %p, %i; .shared .align 16 .b8 s[8192];
 ld.param.u64 %g, [g]; mov.u32 %x, %tid.x; mov.b64 %a, p; cvta.param.u64 %a, %a; setp.lt.u32 %p, %x, 16;
 mov.u32 %w3, s; cvt.u64.u32 %s, %w3; cvta.shared.u64 %s, %s;
 {pitch}
 mul.lo.u32 %w2, %w1, %x; add.u32 %w3, %w3, %w2; ld.shared.u32 %w4, [%w3]; st.global.u32 [%g], %w4;
 ret; }}
"""
HERE = "ld.u32 %w1, [%q];"
G = 0x7F00_0000_0000
WORDS = [0, 4, 8, 3, 128, 0, 0, 0, *range(8)]
PARAMS = struct.pack("16I", *WORDS)


def sites(body, target="ptx", params=(PARAMS, G)):
    arch = "sm_90" if target == "ptx" else target
    content = PROLOGUE.format(arch=arch) + body if target == "ptx" else from_ptx(body, arch)
    launch = ptxaudit.Launch("k", grid=(1,), block=(32,), params=list(params))
    found = ptxaudit.audit(content, isa="ptx" if target == "ptx" else "sass", arch=arch, launches=[launch]).sites
    of_shared = [site for site in found if site.opcode.startswith(("ld.shared", "LDS"))]
    return of_shared[0], [site for site in found if site not in of_shared]


@pytest.mark.parametrize("target", ("ptx", "sm_90", "sm_100", "sm_120"))
def test_function_reads_its_callers_parameters_through_a_pointer(target):
    body = CALLED + KERNEL.format(pitch="call (%w1), of, (%a, %x); mov.u32 %x, 1;")
    read, generic = sites(body, target)
    assert (read.status, read.wavefronts) == ("exact", 2), read  # 8 bytes between lanes
    assert [(one.status, one.reason_kind, one.wavefronts) for one in generic] == [("exact", "never-shared", 0)] * 2


@pytest.mark.parametrize("target", ("ptx", "sm_90"))
def test_unspecified_parameter_read_through_a_pointer_is_uniform(target):
    body = CALLED + KERNEL.format(pitch="call (%w1), of, (%a, %x); mov.u32 %x, 1;")
    read, generic = sites(body, target, (None, None))
    assert read.status in ("bounded", "conditional") and "parameter 0" in read.reason or "p[8:12]" in read.reason, (
        read.reason
    )
    assert {one.reason_kind for one in generic} == {"never-shared"}


@pytest.mark.parametrize(
    ("pitch", "wavefronts"),
    [
        ("add.u64 %q, %a, 4;", 1),
        ("add.u64 %b, %a, 16; selp.b64 %q, %b, %a, %p;", 16),  # lanes 0 to 15 at 128·lane, all others at 0
        ("and.b32 %w5, %x, 1; mul.wide.u32 %b, %w5, 4; add.u64 %q, %a, %b;", 1),  # 0 in even lanes, else 4·lane
    ],
)
def test_lanes_read_parameters_at_their_own_addresses(pitch, wavefronts):
    read, _ = sites(KERNEL.format(pitch=pitch + HERE))
    assert (read.status, read.wavefronts) == ("exact", wavefronts), read


@pytest.mark.parametrize("other", ("%g", "%s"))
def test_pointer_that_may_leave_the_parameters_reads_an_unknown(other):
    chosen = f"ld.global.u32 %w5, [%g]; setp.eq.u32 %i, %w5, 7; selp.b64 %q, %a, {other}, %i;"
    read, generic = sites(KERNEL.format(pitch=chosen + HERE))
    assert read.wavefronts is None and read.per_request.high == 32, read
    (one,) = generic
    if other == "%s":
        assert one.wavefronts is None and one.per_request.low == 0, one
    else:
        assert one.reason_kind == "never-shared", one


@pytest.mark.parametrize(
    ("space", "known"), [("shared", True), ("local", True), ("global", False), ("param::entry", False)]
)
def test_isspacep_of_a_parameter_address(space, known):
    """It is no address of shared or local memory; whether it counts as global memory is not clearly documented."""
    read, _ = sites(KERNEL.format(pitch=f"isspacep.{space} %i, %a; selp.b32 %w1, 128, 4, %i;"))
    assert read.wavefronts == (1 if known else None), read
