"""Writes under an unknown predicate, and a branch on the same predicate that shows whether they took place.

On one path the register holds the written value, on the other the earlier one. The interpreter of tests/support/twin is the
reference.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from telling_twin import TOLD, hold

KERNEL = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u32 n)
{{
    .reg .b32 %r<20>; .reg .b64 %d<8>; .reg .pred %p<5>;
    .shared .align 128 .b8 s[16384];
    ld.param.u64 %d1, [in]; ld.param.u32 %r15, [n]; and.b32 %r15, %r15, 7;
    mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2; mov.u32 %r4, s;
    ld.global.u32 %r2, [%d3]; shl.b32 %r7, %r2, 2; and.b32 %r7, %r7, 0x3ffc; add.u32 %r7, %r7, %r4;
    mad.lo.u32 %r3, %r1, 8, %r4; mad.lo.u32 %r9, %r1, 128, %r4; mov.u32 %r8, %r7;
    mad.lo.u32 %r16, %r1, 4, %r4;
    setp.gt.u32 %p1, %r15, 3; setp.gt.u32 %p3, %r15, 5; and.b32 %r10, %r2, 1; setp.eq.u32 %p2, %r10, 1;
    {body}
    ret;
}}
"""
STORE = "st.shared.u32 [%r8], %r1;"
BODIES = {  # the code that follows, and the number of sites with one cost per request
    "taken": (f"@%p1 mov.u32 %r8, %r3; @%p1 bra L; bra.uni X; L: {STORE} X:", 1),
    "not taken": (f"@!%p1 mov.u32 %r8, %r3; @%p1 bra X; {STORE} X:", 1),
    "both": (f"mov.u32 %r8, %r9; @%p1 mov.u32 %r8, %r3; @%p1 bra L; {STORE} bra.uni X; L: {STORE} X:", 2),
    "the other way": (f"@%p1 mov.u32 %r8, %r3; @!%p1 bra L; bra.uni X; L: {STORE} X:", 0),
    "another predicate": (f"@%p1 mov.u32 %r8, %r3; @%p3 bra L; bra.uni X; L: {STORE} X:", 0),
    "predicate anew": (
        f"@%p1 mov.u32 %r8, %r3; setp.lt.u32 %p1, %r15, 6; @%p1 bra L; bra.uni X; L: {STORE} X:",
        0,
    ),
    "written again": (
        f"@%p1 mov.u32 %r8, %r3; @%p3 mov.u32 %r8, %r7; @%p1 bra L; bra.uni X; L: {STORE} X:",
        0,
    ),
    "by lane": (f"@%p2 mov.u32 %r8, %r3; @%p2 bra L; bra.uni X; L: {STORE} X:", 0),
    "by lane, and all": (f"@%p2 mov.u32 %r8, %r3; @%p2 bra L; bra.uni X; L: {STORE} X: {STORE}", 0),
    "by lane, within": (
        "setp.gt.u32 %p4, %r1, 19; @%p4 bra X; mov.u32 %r8, %r9; @%p2 mov.u32 %r8, %r3; @%p2 bra L; add.u32 %r8, %r8,"
        " 4;"
        f" bra.uni Y; L: add.u32 %r8, %r8, 8; Y: {STORE} X: {STORE}",
        0,
    ),
    "kept in a register": (
        "@%p2 mov.u32 %r8, %r16; selp.u32 %r11, 16, 0, %p2; or.b32 %r11, %r11, 1; setp.lt.u32 %p2, %r15, 6; "
        f"and.b32 %r12, %r11, 16; setp.ne.u32 %p4, %r12, 0; @%p4 {STORE}",
        1,
    ),
    "kept beside others": (
        "mov.u32 %r11, %r2; and.b32 %r11, %r11, 0xfffffffe; @%p2 or.b32 %r11, %r11, 1; @%p3 or.b32 %r11, %r11, 64; "
        "and.b32 %r12, %r11, 1; setp.eq.u32 %p4, %r12, 1; setp.lt.u32 %p2, %r15, 6; @%p4 mov.u32 %r8, %r16; "
        f"shr.u32 %r13, %r11, 0; and.b32 %r13, %r13, 1; setp.ne.u32 %p1, %r13, 0; @%p1 {STORE}",
        1,
    ),
    "kept as its opposite": (
        "@!%p2 mov.u32 %r8, %r16; selp.u32 %r11, 0, 16, %p2; shl.b32 %r11, %r11, 3; "
        f"and.b32 %r12, %r11, 128; setp.eq.u32 %p4, %r12, 0; @!%p4 {STORE}",
        1,
    ),
    "kept, its opposite asked": (
        "@%p2 mov.u32 %r8, %r16; selp.u32 %r11, 16, 0, %p2; "
        f"and.b32 %r12, %r11, 16; setp.eq.u32 %p4, %r12, 0; @%p4 {STORE}",
        0,
    ),
    "kept, another bit asked": (
        "@%p2 mov.u32 %r8, %r16; and.b32 %r11, %r2, 0xfffffff7; @%p2 or.b32 %r11, %r11, 8; "
        f"and.b32 %r12, %r11, 24; setp.ne.u32 %p4, %r12, 0; @%p4 {STORE}",
        0,
    ),
    "kept where it is another": (
        "@%p2 mov.u32 %r8, %r16; and.b32 %r10, %r2, 2; setp.ne.u32 %p2, %r10, 0; selp.u32 %r11, 16, 0, %p2; "
        f"and.b32 %r12, %r11, 16; setp.ne.u32 %p4, %r12, 0; @%p4 {STORE}",
        0,
    ),
    "kept under another": (
        "@%p2 mov.u32 %r8, %r16; shr.u32 %r11, %r2, 3; @%p3 selp.u32 %r11, 16, 0, %p2; "
        f"and.b32 %r12, %r11, 16; setp.ne.u32 %p4, %r12, 0; @%p4 {STORE}",
        0,
    ),
    "kept, and lost in some lanes": (
        "@%p2 mov.u32 %r8, %r16; selp.u32 %r11, 16, 0, %p2; setp.gt.u32 %p4, %r1, 19; @%p4 mov.u32 %r11, 16; "
        f"and.b32 %r12, %r11, 16; setp.ne.u32 %p4, %r12, 0; @%p4 {STORE}",
        0,
    ),
    "kept, and mixed with data": (
        "@%p2 mov.u32 %r8, %r16; selp.u32 %r11, 16, 0, %p2; shl.b32 %r10, %r2, 2; xor.b32 %r11, %r11, %r10; "
        f"and.b32 %r12, %r11, 16; setp.ne.u32 %p4, %r12, 0; @%p4 {STORE}",
        0,
    ),
    "kept, and written anew": (
        "@%p2 mov.u32 %r8, %r16; selp.u32 %r11, 16, 0, %p2; @%p2 mov.u32 %r8, %r7; "
        f"and.b32 %r12, %r11, 16; setp.ne.u32 %p4, %r12, 0; @%p4 {STORE}",
        0,
    ),
    "kept from trip to trip": (
        "mov.u32 %r5, 0; mov.u32 %r11, 0; L: and.b32 %r12, %r11, 16; setp.ne.u32 %p4, %r12, 0; shr.u32 %r10, %r2, %r5; "
        "and.b32 %r10, %r10, 1; setp.eq.u32 %p2, %r10, 1; mov.u32 %r8, %r7; @%p2 mov.u32 %r8, %r16; "
        f"selp.u32 %r11, 16, 0, %p2; @%p4 {STORE} add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 3; @%p3 bra L;",
        0,
    ),
    "written again under one that is known under it": (
        "mov.u32 %r8, %r7; setp.gt.u32 %p4, %r1, 99; @%p2 setp.gt.u32 %p4, %r15, 3; @%p2 mov.u32 %r8, %r16; "
        f"@%p4 add.u32 %r8, %r16, 4096; @%p2 {STORE}",
        1,
    ),
    "written again under its opposite": (
        "mov.u32 %r8, %r7; setp.lt.u32 %p4, %r1, 99; @%p2 setp.gt.u32 %p4, %r15, 3; @%p2 mov.u32 %r8, %r16; "
        f"@!%p4 add.u32 %r8, %r16, 4096; @%p2 {STORE}",
        1,
    ),
    "written again, and the opposite asked": (
        "mov.u32 %r8, %r7; setp.gt.u32 %p4, %r1, 99; @%p2 setp.gt.u32 %p4, %r15, 3; @%p2 mov.u32 %r8, %r16; "
        f"@%p4 add.u32 %r8, %r16, 4096; @!%p2 {STORE}",
        0,
    ),
    "written again under one by lane": (
        "mov.u32 %r8, %r7; and.b32 %r10, %r2, 2; setp.gt.u32 %p4, %r1, 99; @%p2 setp.ne.u32 %p4, %r10, 0; "
        f"@%p2 mov.u32 %r8, %r16; @%p4 mov.u32 %r8, %r7; @%p2 {STORE}",
        0,
    ),
    "written again, the predicate anew": (
        "mov.u32 %r8, %r7; and.b32 %r10, %r2, 2; setp.gt.u32 %p4, %r1, 99; @%p2 setp.gt.u32 %p4, %r15, 3; "
        f"@%p2 mov.u32 %r8, %r16; setp.ne.u32 %p4, %r10, 0; @%p4 mov.u32 %r8, %r9; @%p2 {STORE}",
        0,
    ),
    "in a loop": (
        "mov.u32 %r5, 0; L: mov.u32 %r8, %r7; @%p1 mov.u32 %r8, %r3; add.u32 %r5, %r5, 1; @!%p1 bra M; "
        f"{STORE} M: setp.lt.u32 %p3, %r5, 3; @%p3 bra L;",
        1,
    ),
}


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("name", BODIES)
def test_values_after_predicated_writes_agree_with_the_interpreter(name, told):
    body, alike = BODIES[name]
    hold(KERNEL.format(body=body.replace("; ", ";\n")), told, alike, seed=3)


def packing(seed: int) -> str:
    """Straight-line code that packs truth values into bits of registers, and whose unpacked bits guard address
    operations.
    """
    rng = Random(seed)
    predicate, word = (lambda: f"%p{rng.randint(1, 4)}"), (lambda: f"%r{rng.randint(10, 13)}")
    guard = lambda: rng.choice(("", f"@{predicate()} ", f"@!{predicate()} ", f"@{predicate()} "))
    bit = lambda: 1 << rng.randint(0, 4)
    kinds: list[Callable[[], str]] = [
        lambda: f"{guard()}mov.u32 %r8, {rng.choice(('%r16', '%r16', '%r7', '%r9'))};",
        lambda: f"selp.u32 {word()}, {rng.choice((0, bit(), 9))}, {rng.choice((0, 0, bit()))}, {predicate()};",
        lambda: f"{guard()}or.b32 {(w := word())}, {rng.choice((w, word()))}, {bit()};",
        lambda: f"{guard()}and.b32 {(w := word())}, {w}, {0xFFFFFFFF ^ bit()};",
        lambda: f"{guard()}xor.b32 {word()}, {word()}, {rng.choice((bit(), word()))};",
        lambda: f"shl.b32 {word()}, {word()}, {rng.randint(0, 2)}; shr.u32 {word()}, {word()}, {rng.randint(0, 2)};",
        lambda: f"and.b32 %r14, {word()}, {bit()}; setp.{rng.choice(('ne', 'eq'))}.u32 {predicate()}, %r14, 0;",
        lambda: f"and.b32 %r14, {word()}, {(b := bit())}; {guard()}setp.eq.u32 {predicate()}, %r14, {b};",
        lambda: f"{guard()}not.pred {predicate()}, {predicate()};",
        lambda: f"{guard()}mov.u32 {word()}, {word()};",
        lambda: f"@{predicate()} {STORE}",
    ]
    start = "mov.u32 %r8, %r16; setp.gt.u32 %p4, %r1, 19; mov.u32 %r10, 0; mov.u32 %r11, %r2; shr.u32 %r12, %r2, 5; "
    lines = [rng.choice(kinds)() for _ in range(rng.randint(12, 30))]
    if rng.random() < 0.4:
        at = rng.randrange(len(lines))
        lines[at:at] = ["mov.u32 %r5, 0; L:"]
        lines += ["add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 3; @%p3 bra L;"]
    return start + "mov.u32 %r13, %r15; " + " ".join([*lines, f"@{predicate()} {STORE}"])


def nested(seed: int) -> str:
    """Straight-line code that writes predicates and an address under predicates, some of them again."""
    rng = Random(seed)
    predicate = lambda: f"%p{rng.randint(1, 4)}"
    guard = lambda: rng.choice(("", f"@{predicate()} ", f"@!{predicate()} ", f"@{predicate()} "))
    truth = (
        "gt.u32 {}, %r15, 3",
        "gt.u32 {}, %r15, 5",
        "gt.u32 {}, %r1, 99",
        "lt.u32 {}, %r1, 99",
        "ne.u32 {}, %r10, 0",
    )
    kinds: list[Callable[[], str]] = [
        lambda: f"{guard()}setp.{rng.choice(truth).format(predicate())};",
        lambda: f"{guard()}mov.u32 %r8, {rng.choice(('%r16', '%r16', '%r9'))};",
        lambda: f"{guard()}add.u32 %r8, %r16, {rng.choice((4096, 8192))};",
        lambda: f"{guard()}add.u32 %r8, %r8, 128;",
        lambda: f"@{rng.choice(('', '!'))}{predicate()} {STORE}",
    ]
    lines = [rng.choice(kinds)() for _ in range(rng.randint(10, 24))]
    start = "mov.u32 %r8, %r16; setp.gt.u32 %p4, %r1, 19; shr.u32 %r10, %r2, 1; and.b32 %r10, %r10, 1; "
    return start + " ".join([*lines, f"@{predicate()} {STORE}"])


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("seed", range(16))
def test_writes_under_different_predicates_are_not_confused(seed, told):
    hold(KERNEL.format(body=nested(seed).replace("; ", ";\n")), told, None, seed=3)


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("seed", range(12))
def test_packed_truth_values_are_not_confused(seed, told):
    hold(KERNEL.format(body=packing(seed).replace("; ", ";\n")), told, None, seed=3)
