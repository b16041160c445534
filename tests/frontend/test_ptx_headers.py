"""PTX without the bodies of its functions describes its kernels in the same way."""

from __future__ import annotations

from machine_code import PROLOGUE

from ptxaudit.frontend.ptx.headers import without_bodies
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module

TEXT = (
    PROLOGUE.format(arch="sm_90")
    + """
.extern .func (.param .b32 r) elsewhere (.param .b32 a);
.const .align 4 .b8 table[4] = {1, 2, 3, 4};
.extern .shared .align 16 .b8 dynamic[];
.func helper(.param .b32 a) { .reg .b32 %r<2>; { .reg .b32 %q; } ret; } // a brace: }
/* .entry commented(.param .u64 p) { */
.visible .entry first(.param .u64 .ptr .align 16 p, .param .align 4 .b8 s[12])
.maxntid 64, 2, 1
{ .reg .b32 %r<3>; .shared .b8 a[16]; .pragma "nounroll"; { .reg .b32 %q; } L: mov.u32 %r1, %tid.x; @!%r2 bra L; ret; }
.entry second() .reqntid 32 { ret; }
.file 1 "a{b.cu"
"""
)


def said(text: str) -> list:
    return [
        (k.name, k.parameters, k.block, k.max_threads, [v.name for v in k.variables if not v.size])
        for k in lift_module(parse_module(text)).kernels()
    ]


def test_ptx_without_bodies_describes_the_same_kernels():
    left = without_bodies(TEXT)
    assert "mov.u32" not in left and ".pragma" not in left and len(left) < len(TEXT)
    assert said(left) == said(TEXT.replace("@!%r2 bra L; ", "")) and len(said(left)) == 2


def test_truncated_ptx_keeps_its_text():
    assert without_bodies(TEXT[: TEXT.index("L: mov")]).endswith("{ .reg .b32 %q; } ")
