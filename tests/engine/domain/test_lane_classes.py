"""Lanes that are active together because the value that decides it is equal in them, though unknown."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from machine_code import PROLOGUE
from twin import compare

import ptxaudit
from ptxaudit.engine.domain.lane_classes import WHOLE, classes_of, one_by_one, refined
from ptxaudit.engine.domain.value import Uniform, Value, known, opaque, unknown

KERNEL = """.visible .entry k(.param .u64 p, .param .u32 n, .param .u32 m)
{{ .reg .b32 %t, %n, %m, %a, %c, %r, %x, %y, %z, %w<8>; .reg .b64 %d; .reg .pred %p, %q, %o;
 .shared .align 512 .b8 s[8192];
 mov.u32 %t, %tid.x; ld.param.u32 %n, [n]; ld.param.u32 %m, [m]; ld.param.u64 %d, [p];
 and.b32 %c, %t, 7; shr.u32 %r, %t, 3; and.b32 %x, %t, 31; mov.u32 %a, s; mad.lo.u32 %a, %x, {stride}, %a;
 {body}
 ret; }}
"""
STORES = {
    4: "st.shared.b32 [%a], %t;",
    8: "st.shared.v2.b32 [%a], {{%t, %t}};",
    16: "st.shared.v4.b32 [%a], {{%t, %t, %t, %t}};",
}
BY_COLUMN = "shl.b32 %w0, %c, 3; setp.lt.s32 %p, %w0, %n;"
BY_ROW = "setp.lt.s32 %p, %r, %n;"
BLOCK = (64, 1, 1)
MOST = 1 << 32


def text_of(body, width=16, stride=16):
    return PROLOGUE.format(arch="sm_90") + KERNEL.format(
        stride=stride, body=body.replace("STORE", STORES[width].format())
    )


def site_of(body, width=16, stride=16, **launch):
    launches = [ptxaudit.Launch("k", grid=(2,), block=BLOCK, **launch)]
    (site,) = ptxaudit.audit(text_of(body, width, stride), isa="ptx", arch="sm_90", launches=launches).sites
    return site


def held(text, seed, numbers=()):
    """Checks claims against the twin for values of the numbers. Returns the statuses."""
    rng = Random(seed)
    verdict = compare.Verdict()
    launch = ptxaudit.Launch("k", grid=(2, 1, 1), block=BLOCK, params=[None] * 3)
    answer = compare.answered(*compare.lifted(text, "k"), launch)
    for values in [*numbers, (rng.randrange(70), rng.randrange(70)), (rng.randrange(MOST), rng.randrange(MOST))]:
        compare.partly(
            *(text, "k", (2, 1, 1), BLOCK, (None, *values), (False, False, False)),
            seed=seed,
            runs=1,
            rng=rng,
            verdict=verdict,
            answer=answer,
        )
    assert not verdict.wrong, "\n".join(verdict.wrong[:5])
    return verdict


@pytest.mark.parametrize(
    ("body", "each"),
    [
        (BY_COLUMN + "@%p STORE", (4, 4)),
        (BY_COLUMN + "@!%p STORE", (4, 4)),
        (BY_COLUMN + "@%p bra L; STORE L:", (4, 4)),
        (BY_COLUMN + "setp.ne.s32 %q, %m, %c; and.pred %p, %p, %q; @%p STORE", (4, 4)),
        (BY_COLUMN + "@!%p bra L; setp.ne.s32 %q, %m, %c; @%q STORE L:", (4, 4)),
        (BY_COLUMN + "setp.lt.s32 %q, %r, %m; and.pred %p, %p, %q; @%p STORE", (1, 4)),
        (BY_COLUMN + "@!%p bra L; setp.lt.s32 %q, %r, %m; @%q STORE L:", (1, 4)),
        (BY_ROW + "@%p STORE", (1, 4)),
        ("setp.lt.s32 %p, %t, %n; @%p STORE", (1, 4)),
        (
            "mul.wide.u32 %d, %c, 4; ld.param.u64 %d, [p]; ld.global.u32 %w0, [%d]; setp.lt.s32 %p, %c, %w0; @%p STORE",
            (4, 4),
        ),
        ("cvt.u64.u32 %d, %t; ld.global.u32 %w0, [%d]; setp.lt.s32 %p, %c, %w0; @%p STORE", (1, 4)),
    ],
)
def test_lanes_with_equal_predicate_sources_are_active_together(body, each):
    """(Each row of eight lanes is a quarter of a request of 16 bytes per lane.)"""
    site = site_of(body)
    assert (site.per_request.low, site.per_request.high) == each, (site.status, site.reason)
    assert (site.status == "invariant") is (each[0] == each[1])
    held(text_of(body), 5, [(n, m) for n in (0, 1, 8, 9, 40, 57, 64) for m in (0, 3, 9)])


@pytest.mark.parametrize(
    "change",
    [
        "ballot: setp.lt.s32 %q, %t, %n; vote.sync.ballot.b32 %w0, %q, -1; shr.u32 %w0, %w0, %t; and.b32 %w0, %w0, 1;",
        "shuffle: mov.b32 %w1, %n; @%o mov.b32 %w1, %t; shfl.sync.down.b32 %w0, %w1, 1, 31, -1; add.u32 %w0, %w0, %m;",
        "of a way: mov.b32 %w0, %c; setp.lt.s32 %q, %t, %n; @%q bra X; mov.b32 %w0, %m; X:",
        "left as it was: mov.b32 %w0, %m; setp.lt.s32 %q, %t, %n; @%q mov.b32 %w0, %n;",
        "in a loop: mov.b32 %w0, 0; and.b32 %w1, %n, 15; and.b32 %w2, %t, 3; add.u32 %w1, %w1, %w2;"
        " X: add.u32 %w0, %w0, %m; sub.u32 %w1, %w1, 1; setp.gt.s32 %q, %w1, 0; @%q bra X;",
    ],
)
def test_values_that_differ_by_lane_separate_classes(change):
    _, _, code = change.partition(": ")
    body = "setp.lt.s32 %o, %t, %m;" + code + "setp.lt.u32 %p, %w0, %n; @%p STORE"
    held(text_of(body), 7, [(n, m) for n in (0, 1, 5, 13, 33) for m in (0, 2, 9, 40)])


def test_lanes_that_exit_a_loop_in_different_trips_are_separate():
    body = (
        "and.b32 %w0, %n, 15; and.b32 %w1, %c, 3; add.u32 %w0, %w0, %w1; mov.b32 %y, 0;"
        "X: and.b32 %w2, %y, 1; setp.eq.s32 %q, %w2, %m; @!%q bra Y; STORE Y: add.u32 %y, %y, 1;"
        "setp.lt.s32 %p, %y, %w0; @%p bra X;"
    )
    held(text_of(body), 3, [(n, m) for n in (0, 1, 5) for m in (0, 1)])


ONE = "setp.eq.s32 %p, %x, %n;"  # at most one lane per warp


@pytest.mark.parametrize(
    ("body", "most"),
    [
        (ONE + "@%p STORE", 1),
        ("add.u32 %w0, %x, %m; setp.eq.s32 %p, %n, %w0; @%p STORE", 1),
        (ONE.replace("eq", "ne") + "@!%p STORE", 1),
        (ONE + "@!%p bra L; STORE L:", 1),
        (ONE + "@%p bra M; bra L; M: STORE L:", 1),
        (ONE + "setp.lt.s32 %q, %t, %m; and.pred %p, %p, %q; @%p STORE", 1),
        (ONE + "setp.lt.s32 %q, %t, %m; and.pred %p, %p, %q; @!%p bra L; STORE L:", 1),
        (ONE + "@!%p bra L; mov.b32 %y, 0; X: STORE add.u32 %y, %y, 1; setp.lt.u32 %q, %y, %m; @%q bra X; L:", 32),
        (ONE + "setp.eq.s32 %q, %x, %m; or.pred %p, %p, %q; @%p STORE", 32),
        (ONE + "@!%p STORE", 32),
        (ONE + "@%p bra L; STORE L:", 32),
        (ONE + "@%p bra M; setp.eq.s32 %q, %x, %m; @!%q bra L; M: STORE L:", 32),
        ("shr.u32 %w0, %x, 1; setp.eq.s32 %p, %w0, %n; @%p STORE", 32),
        ("mad.lo.u32 %w0, %x, %m, 0; setp.eq.s32 %p, %w0, %n; @%p STORE", 32),
        ("setp.eq.s32 %p, %c, %n; @%p STORE", 32),
    ],
)
def test_request_of_at_most_one_lane_takes_one_wavefront(body, most):
    site = site_of(body, width=4, stride=128)
    assert site.per_request.high == most or most > 1 and site.per_request.high > 1, (site.status, site.reason)
    assert (site.status == "invariant") is (most == 1)
    held(text_of(body, 4, 128), 11, [(n, m) for n in (0, 3, 31, 32) for m in (0, 1, 2, 3, 40)])


COPY = "ld.param.u64 %d, [p]; cp.async.cg.shared.global [%a], [%d], 16;"


@pytest.mark.parametrize(
    ("when", "stride", "steps", "status"),
    [
        ("setp.lt.s32 %p, %n, 5;", 16, 1, "invariant"),
        ("setp.lt.s32 %p, %n, 5;", 144, 8, "invariant"),
        (BY_COLUMN, 16, 1, "invariant"),
        (BY_COLUMN, 144, 8, "bounded"),  # a single column takes fewer
    ],
)
def test_steps_of_bypassing_copies_under_an_unknown_predicate(when, stride, steps, status):
    site = site_of(f"{when} @%p bra L; {COPY} L:", stride=stride)
    assert (site.status, site.line_class_max, site.wavefronts) == (status, steps, None), (site.status, site.reason)
    assert (site.line_class_proved == steps) is (status == "invariant") and site.per_request is None
    assert status == "bounded" or f"costs {steps} step" in site.reason


def test_copies_that_may_fill_zeros_are_bounded():
    body = "ld.param.u64 %d, [p]; cp.async.cg.shared.global [%a], [%d], 16, %n;"
    assert site_of(body).status == "bounded"


def random_body(rng):
    """A predicate computed from numbers that lanes share and from numbers of each lane, and a store that it guards."""
    lines = [f"mov.b32 %w{k}, {rng.choice(('%c', '%r', '%x', '%n', '%m', '%t', '5'))};" for k in range(8)]
    reg = lambda: f"%w{rng.randrange(8)}"
    for _ in range(rng.randrange(2, 9)):
        name = rng.choice(
            ("add.u32", "sub.u32", "mul.lo.u32", "and.b32", "xor.b32", "or.b32", "min.s32", "max.u32", "shl.b32")
        )
        lines.append(f"{name} {reg()}, {reg()}, {rng.choice((reg(), reg(), '3', '24'))};")
        if rng.random() < 0.3:
            lines.append(f"setp.{rng.choice(('lt', 'ge', 'ne'))}.u32 %q, {reg()}, {reg()};")
            lines.append(
                f"selp.b32 {reg()}, {reg()}, {reg()}, %q;"
                if rng.random() < 0.5
                else f"@%q add.u32 {reg()}, {reg()}, 1;"
            )
    compared = lambda p: f"setp.{rng.choice(('lt.s32', 'ge.u32', 'eq.s32', 'ne.s32'))} {p}, {reg()}, {reg()};"
    lines += [compared("%p"), compared("%q")]
    lines.append(
        rng.choice(
            (
                "@%p STORE",
                "and.pred %p, %p, %q; @!%p STORE",
                "@%p bra L; STORE L:",
                "@%p bra L; @%q bra L; STORE L:",
                "@%p bra L; @%q bra M; STORE M: mov.b32 %y, 1; L:",
                "@!%p bra L; mov.b32 %a, s; mad.lo.u32 %a, %c, 36, %a; L: STORE",
                "@%p bra L; mov.b32 %y, 1; bra M; L: mov.b32 %y, 2; M: setp.eq.s32 %q, %y, 1; @%q STORE",
            )
        )
    )
    return " ".join(lines)


@pytest.mark.parametrize("part", range(3))
def test_random_predicates_match_the_twin(part):
    rng = Random(part)
    settled = 0
    for seed in range(10):
        width = rng.choice((4, 8, 16))
        body = random_body(rng)
        settled += held(text_of(body, width, width * rng.choice((1, 2, 3, 9))), seed, [(1, 3), (8, 2)]).exact
    assert settled > 10


def test_classes_group_lanes_of_equal_values():
    lanes = np.arange(32, dtype=np.uint32)[None, :]
    n = Uniform("n", kind="parameter", key=("param", 0, 32))
    assert classes_of(unknown(n)) is WHOLE
    assert classes_of(known(lanes % 4)).tolist() == [[k % 4 for k in range(32)]]
    both = Value(lanes % 4, ((n, lanes // 16),))
    assert len({*classes_of(both)[0].tolist()}) == 8
    assert classes_of(opaque(32, None)) is None
    assert classes_of(Value(lanes % 4, valid=8)) is None
    assert refined(WHOLE, classes_of(both)) is classes_of(both)
    assert refined(classes_of(both), None) is None
    parts = list(one_by_one(np.ones((2, 32), bool), classes_of(both)))
    assert len(parts) == 8 and (np.sum(parts, axis=0) == 1).all() and all((p.sum(axis=1) == 4).all() for p in parts)
