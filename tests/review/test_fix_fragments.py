"""Arrays that wmma loads: all rows of a fragment have the same pitch, so rows can be padded but not permuted."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import ptxaudit
from ptxaudit.frontend.options import Options
from ptxaudit.review.fix.run import fix
from ptxaudit.ui.render.fixes import fix_text

# rows of 16 halves, 32 bytes: rows 0 and 4 of a matrix conflict in one bank
SOURCE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {{ .reg .b32 %r<12>; .shared .align 32 .b8 s[1024];
mov.u32 %r1, s;
wmma.load.{}.sync.aligned.row.m16n16k16.shared.f16 {{%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}}, [%r1], {};
ret; }}
"""


@pytest.mark.parametrize("operand", ("a", "b"))
def test_fragment_rows_are_padded_not_swizzled(tmp_path, operand) -> None:
    (tmp_path / "k.ptx").write_text(SOURCE.format(operand, 16))
    launch = ptxaudit.Launch("k", grid=1, block=32)
    report = fix([tmp_path / "k.ptx"], Options(launches=(launch,), cache=False))
    (array,) = report.arrays
    (repair,) = array.repairs
    assert repair.kind == "pad" and "48 bytes instead of 32, also as the leading dimension" in repair.summary
    (now,) = ptxaudit.audit(tmp_path / "k.ptx", launches=[launch]).sites
    (tmp_path / "k.ptx").write_text(SOURCE.format(operand, 24))  # as the repair says: 48 bytes
    (after,) = ptxaudit.audit(tmp_path / "k.ptx", launches=[launch]).sites
    assert (now.excess, after.excess, repair.excess) == (4, 0, 0) and after.wavefronts == repair.wavefronts


def test_unfinished_search_is_stated(tmp_path) -> None:
    (tmp_path / "k.ptx").write_text(SOURCE.format("a", 16))
    report = fix([tmp_path / "k.ptx"], Options(launches=(ptxaudit.Launch("k", grid=1, block=32),), cache=False))
    assert report.arrays[0].ended is None and "the search ended" not in fix_text(report)
    left = replace(report, arrays=(replace(report.arrays[0], ended=640_000),))
    assert "the search ended after 640,000 steps: an untried layout may cost less" in fix_text(left)
