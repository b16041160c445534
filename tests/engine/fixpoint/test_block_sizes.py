"""With no block specified, claims about a request hold for every block that a launch may have."""

from __future__ import annotations

from random import Random

import pytest
from machine_code import PROLOGUE, from_ptx

import ptxaudit
from ptxaudit.report.model import Kernel, Site

FRAME = """.visible .entry k(.param .u64 out) {bounds}
{{ .reg .b64 %o, %d<4>; .reg .b32 %x, %y, %z, %nx, %ny, %l, %t, %a, %s, %w<9>; .reg .pred %p; .shared .align 16 .b8 s[16384];
 ld.param.u64 %o, [out]; mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z; mov.u32 %nx, %ntid.x; mov.u32 %ny, %ntid.y;
 mov.u32 %l, %laneid; mad.lo.u32 %t, %z, %ny, %y; mad.lo.u32 %t, %t, %nx, %x; mov.u32 %s, s;
 {body}
 ret; }}
"""
USE = "add.u32 %w1, %w1, %w2; add.u32 %w3, %w3, %w4; add.u32 %w1, %w1, %w3; st.global.u32 [%o], %w1;"
QUADS = "ld.shared.v4.u32 {%w1, %w2, %w3, %w4}, [%a]; " + USE
WORD = "ld.shared.u32 %w1, [%a]; st.global.u32 [%o], %w1;"
PAIR = "st.shared.v2.u32 [%a], {%x, %l};"
SLOT = "and.b32 %a, %a, 1023; mad.lo.u32 %a, %a, {size}, %s;"

NOT_FULL = "words of a warp that is not full"
BODIES = {
    "quads by thread": f"mov.u32 %a, %t; {SLOT.format(size=16)} {QUADS}",
    "quads by lane": f"mad.lo.u32 %a, %l, 16, %s; {QUADS}",
    "pairs by thread": f"mov.u32 %a, %t; {SLOT.format(size=8)} {PAIR}",
    "words by thread": f"mov.u32 %a, %t; {SLOT.format(size=4)} {WORD}",
    "words by x": f"mov.u32 %a, %x; {SLOT.format(size=4)} {WORD}",
    "words by x, far apart": f"mul.lo.u32 %a, %x, 33; {SLOT.format(size=4)} {WORD}",
    "a tile of 32 and one": f"mad.lo.u32 %a, %y, 33, %x; {SLOT.format(size=4)} {WORD}",
    "quads by thread and x": f"mad.lo.u32 %a, %t, 48, %x; and.b32 %a, %a, 63; {SLOT.format(size=16)} {QUADS}",
    "one word": "mov.u32 %a, %s; " + WORD,
    "a counter": "atom.shared.exch.b32 %w1, [%s], %x; st.global.u32 [%o], %w1;",
    "a quad of the first": f"setp.ne.u32 %p, %x, 0; @%p ret; mov.u32 %a, %s; {QUADS}",
    "quads of some lanes": f"setp.gt.u32 %p, %t, 40; @%p ret; mad.lo.u32 %a, %l, 16, %s; {QUADS}",
    "a step that x chose": (
        "mov.u32 %a, 64; and.b32 %w5, %x, 32; setp.eq.u32 %p, %w5, 0; @%p bra L; mov.u32 %a, 4; L: mad.lo.u32 %a, %a,"
        f" %l, %s; {WORD}"
    ),
    "a step that y chose": (
        f"mov.u32 %a, 128; setp.gt.u32 %p, %y, 0; @%p bra L; mov.u32 %a, 4; L: mad.lo.u32 %a, %a, %l, %s; {WORD}"
    ),
    NOT_FULL: (f"activemask.b32 %w5; setp.eq.u32 %p, %w5, -1; @%p ret; mov.u32 %a, %y; {SLOT.format(size=64)} {WORD}"),
    "a step by the lanes there are": (
        f"activemask.b32 %w5; popc.b32 %w5, %w5; add.u32 %w5, %w5, 1; mul.lo.u32 %a, %l, %w5; {SLOT.format(size=4)}"
        f" {WORD}"
    ),
}
SHAPES = [
    (32,),
    (64,),
    (1,),
    (7,),
    (16,),
    (31,),
    (33,),
    (48,),
    (100,),
    (1024,),
    (16, 16),
    (8, 8),
    (3, 5, 7),
    (1, 1, 9),
    (12, 3),
    (48, 2),
    (33, 3),
    (5, 13),
    (2, 2, 2),
    (40, 4, 3),
    (1, 1024 // 8, 8),
]
SOME = Random(7)
SHAPES += [
    (x, y, z)
    for x, y, z in ((SOME.randint(1, 70), SOME.randint(1, 9), SOME.randint(1, 4)) for _ in range(8))
    if x * y * z <= 1024
]


COPIES = {
    f"copies {apart} bytes apart": f"mad.lo.u32 %a, %l, {apart}, %s; cp.async.cg.shared.global [%a], [%o], 16;"
    for apart in (0, 512)
}


def kernels(body: str, isa: str, shapes: list, bounds: str = "") -> list[Kernel]:
    text = FRAME.format(body=(BODIES | COPIES)[body], bounds=bounds)
    content = from_ptx(text) if isa == "sass" else PROLOGUE.format(arch="sm_90") + text
    launches = [ptxaudit.Launch("k", grid=(1,), block=block, params=[None]) for block in shapes]
    return list(ptxaudit.audit(content, isa=isa, arch="sm_90", launches=launches).kernels)


def only(kernel: Kernel) -> Site:
    (site,) = kernel.sites
    return site


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize("body", BODIES)
def test_request_range_holds_for_every_block_shape(body: str, isa: str) -> None:
    (untold,) = kernels(body, isa, [])
    said, told = only(untold), kernels(body, isa, SHAPES)
    seen = set()
    for kernel, shape in zip(told, SHAPES, strict=True):
        site = only(kernel)
        assert site.status == "exact" or body == NOT_FULL and site.status == "unreached", (shape, site.reason)
        if not site.active_requests:
            continue
        seen |= {site.per_request.low, site.per_request.high}
        assert said.per_request.low <= site.per_request.low and site.per_request.high <= said.per_request.high, (
            shape,
            site,
            said,
        )
        if said.ideal_per_request is not None:
            ideal = said.ideal_per_request
            assert ideal.low <= site.ideal_per_request.low and site.ideal_per_request.high <= ideal.high, (
                shape,
                site,
                said,
            )
    if said.conditions:  # the cases together cover every block
        assert (min(c.low for c in said.conditions), max(c.high for c in said.conditions)) == (
            said.per_request.low,
            said.per_request.high,
        )
    assert said.status in ("conditional", "bounded") or said.status == "invariant" and len(seen) == 1, (said, seen)


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_requests_independent_of_the_block_keep_their_range(isa: str) -> None:
    assert (only(kernels("one word", isa, [])[0]).status, only(kernels("one word", isa, [])[0]).per_request.high) == (
        "invariant",
        1,
    )
    assert only(kernels("quads by lane", isa, [])[0]).per_request == ptxaudit.report.model.Span(1, 4)
    assert only(kernels("a quad of the first", isa, [])[0]).per_request == ptxaudit.report.model.Span(
        1, 2
    )  # 2: a block of 1 × 4 × 8


@pytest.mark.parametrize("isa", ("ptx", "sass"))
@pytest.mark.parametrize(("apart", "steps"), [(0, (1, 4)), (512, (8, 32))])
def test_copy_in_a_narrow_block_takes_fewer_steps(isa: str, apart: int, steps: tuple[int, int]) -> None:
    """cp.async.cg: k, with 8 lanes and with 32."""
    (said,) = map(only, kernels(f"copies {apart} bytes apart", isa, []))
    told = [only(kernel).line_class_max for kernel in kernels(f"copies {apart} bytes apart", isa, [(8,), (32,)])]
    assert tuple(told) == steps and said.line_class_max == steps[1]
    assert (said.status, said.requests) == ("conditional", None)


@pytest.mark.parametrize("isa", ("ptx", "sass"))
def test_reqntid_determines_the_block(isa: str) -> None:
    bounds = ".reqntid 64, 1, 1"
    for body, cost in (("quads by thread", 4), ("quads by lane", 4), ("pairs by thread", 2), ("words by x", 1)):
        site = only(kernels(body, isa, [], bounds)[0])
        assert (site.status, site.per_request) == ("invariant", ptxaudit.report.model.Span(cost, cost)), (body, site)
    assert only(kernels("quads by thread", isa, [], ".reqntid 40, 1, 1")[0]).per_request == ptxaudit.report.model.Span(
        1, 4
    )
    assert only(kernels("quads by thread", isa, [], ".maxntid 64, 1, 1")[0]).per_request.low == 1  # an upper bound
