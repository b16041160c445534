"""Kernels that were once answered wrongly, or never.

Known values of a warp diverge its lanes, and unknown ones advance some of them. Each kernel is compared with the twin
for several values of what is not specified.
"""

from __future__ import annotations

import pytest
from twin import compare
from twin.code import flatten

from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.result import Status

BLOCK = (64, 1, 1)
NUMBERS = [(0, 1), (1, 1), (2, 5), (5, 2), (10, 3), (7, 7), (3, 9)]

# Two exits: the first returns where its guard holds.
ROUTINE = """
.func (.param .b32 out) place(.param .b32 i, .param .b32 n)
{
.reg .pred %p;
.reg .b32 %i, %n, %at;
ld.param.b32 %i, [i];
ld.param.b32 %n, [n];
shl.b32 %at, %i, 2;
st.param.b32 [out], %at;
setp.lt.u32 %p, %n, 4;
@%p ret;
shl.b32 %at, %i, 7;
st.param.b32 [out], %at;
ret;
}
"""
CALLED_WITH = """
.param .b32 out, i, n;
st.param.b32 [i], %r5;
st.param.b32 [n], {};
call.uni (out), place, (i, n);
ld.param.b32 %r11, [out];
add.u32 %r11, %r11, %r2;
ld.shared.u32 %r20, [%r11];
ret;
"""
# %r5: the lane, %r6: 128 bytes per lane, %r8: an address that far into the array; %p3: the first eight lanes; %r3,
# %r4: not specified
START = """
.visible .entry k(.param .u32 a, .param .u32 b) .reqntid 64, 1, 1
{
.reg .pred %p<9>;
.reg .b32 %r<30>;
.shared .align 16 .b8 s[32768];
mov.u32 %r2, s;
ld.param.u32 %r3, [a];
ld.param.u32 %r4, [b];
mov.u32 %r5, %laneid;
shl.b32 %r6, %r5, 7;
add.u32 %r8, %r2, %r6;
setp.lt.u32 %p3, %r5, 8;
mov.u32 %r10, 0;
"""

KERNELS = {
    "a routine that returns early in all lanes or none": CALLED_WITH.format("%r3"),
    "a routine that returns early in some lanes": CALLED_WITH.format("%r5"),
    "a routine that always returns early": CALLED_WITH.format("3"),
    "if (lane >= 8 || n > 4)": (
        """
        @!%p3 bra X;
        setp.gt.u32 %p4, %r3, 4;
        @!%p4 bra Z;
     X: ld.shared.u32 %r20, [%r8];
     Z: ret;"""
    ),
    "some lanes return": (
        """
        @!%p3 bra X;
        setp.gt.u32 %p4, %r3, 4;
        @%p4 exit;
     X: ld.shared.u32 %r20, [%r8];
        ret;"""
    ),
    "lanes on two ways through a loop leave it from each": (
        """
     L: ld.shared.u32 %r20, [%r8];
        add.u32 %r10, %r10, 1;
        @%p3 bra A;
        setp.ge.u32 %p4, %r10, %r3;
        @%p4 bra O;
        bra H;
     A: setp.ge.u32 %p5, %r10, %r4;
        @%p5 bra O;
     H: bra L;
     O: mad.lo.u32 %r12, %r10, %r6, %r2;
        ld.shared.u32 %r20, [%r12];
        ret;"""
    ),
    "some lanes leave an inner loop and the outer one": (
        """
     L: mov.u32 %r11, 0;
     I: ld.shared.u32 %r20, [%r8];
        @!%p3 bra J;
        setp.gt.u32 %p5, %r11, %r3;
        @%p5 bra N;
     J: add.u32 %r11, %r11, 1;
        setp.lt.u32 %p4, %r11, 3;
        @%p4 bra I;
        mad.lo.u32 %r12, %r11, %r6, %r2;
        ld.shared.u32 %r20, [%r12];
     N: add.u32 %r10, %r10, 1;
        mad.lo.u32 %r12, %r11, %r6, %r2;
        ld.shared.u32 %r20, [%r12];
        setp.lt.u32 %p2, %r10, %r4;
        @%p2 bra L;
        ret;"""
    ),
    "a register that no lane has written when the loop begins": (
        """
     L: shr.u32 %r12, %r3, %r10;
        and.b32 %r12, %r12, 1;
        setp.eq.u32 %p1, %r12, 0;
        mul.lo.u32 %r14, %r6, %r10;
        @%p1 bra M;
        mov.u32 %r13, %r14;
     M: setp.le.u32 %p4, %r10, 1;
        @%p4 bra N;
        sub.u32 %r15, %r13, %r14;
        add.u32 %r16, %r2, %r15;
        ld.shared.u32 %r20, [%r16+16384];
     N: add.u32 %r10, %r10, 1;
        setp.lt.u32 %p2, %r10, %r4;
        @%p2 bra L;
        ret;"""
    ),
    "a counted loop: all lanes or none change the step": (
        """
        mov.u32 %r11, 4;
     L: setp.gt.u32 %p4, %r3, %r10;
        @%p4 bra M;
        shl.b32 %r11, %r11, 1;
     M: mad.lo.u32 %r12, %r5, %r11, %r2;
        ld.shared.u32 %r20, [%r12];
        add.u32 %r10, %r10, 1;
        setp.lt.u32 %p2, %r10, 4;
        @%p2 bra L;
        mad.lo.u32 %r12, %r5, %r11, %r2;
        ld.shared.u32 %r20, [%r12];
        ret;"""
    ),
    "a counted loop: some lanes change the step": (
        """
        mov.u32 %r11, 4;
     L: add.u32 %r13, %r5, %r10;
        setp.gt.u32 %p4, %r13, %r3;
        @%p4 bra M;
        add.u32 %r11, %r11, 4;
     M: mad.lo.u32 %r12, %r5, %r11, %r2;
        ld.shared.u32 %r20, [%r12];
        mad.lo.u32 %r12, %r10, 4, %r8;
        @%p4 ld.shared.u32 %r20, [%r12];
        add.u32 %r10, %r10, 1;
        setp.lt.u32 %p2, %r10, 4;
        @%p2 bra L;
        mad.lo.u32 %r12, %r5, %r11, %r2;
        ld.shared.u32 %r20, [%r12];
        ret;"""
    ),
    "a counted loop: lanes leave it by number": (
        """
        mov.u32 %r11, 4;
        shr.u32 %r13, %r5, 3;
     L: setp.gt.u32 %p4, %r3, %r10;
        @%p4 bra M;
        shl.b32 %r11, %r11, 1;
     M: mad.lo.u32 %r12, %r5, %r11, %r2;
        ld.shared.u32 %r20, [%r12];
        setp.ge.u32 %p5, %r10, %r13;
        @%p5 bra O;
        add.u32 %r10, %r10, 1;
        bra L;
     O: mad.lo.u32 %r12, %r5, %r11, %r2;
        ld.shared.u32 %r20, [%r12];
        mad.lo.u32 %r12, %r10, %r6, %r2;
        ld.shared.u32 %r20, [%r12];
        ret;"""
    ),
    "a counted loop: left in a certain trip from a way that all lanes take or none": (
        """
     L: setp.gt.u32 %p4, %r3, 4;
        @%p4 bra M;
        setp.eq.u32 %p5, %r10, 2;
        @%p5 bra O;
     M: ld.shared.u32 %r20, [%r8];
        add.u32 %r10, %r10, 1;
        setp.lt.u32 %p2, %r10, 4;
        @%p2 bra L;
     O: mul.lo.u32 %r12, %r5, %r10;
        mad.lo.u32 %r12, %r12, 4, %r2;
        ld.shared.u32 %r20, [%r12];
        ret;"""
    ),
    "a counted loop: left in a certain trip from a way that some lanes take": (
        """
     L: setp.gt.u32 %p4, %r3, %r5;
        @%p4 bra M;
        setp.eq.u32 %p5, %r10, 2;
        @%p5 bra O;
     M: ld.shared.u32 %r20, [%r8];
        add.u32 %r10, %r10, 1;
        setp.lt.u32 %p2, %r10, 4;
        @%p2 bra L;
     O: mul.lo.u32 %r12, %r5, %r10;
        mad.lo.u32 %r12, %r12, 4, %r2;
        ld.shared.u32 %r20, [%r12];
        ld.shared.u32 %r20, [%r8];
        ret;"""
    ),
    "a counted loop around one of unknown trips": (
        """
        mov.u32 %r11, 4;
     L: mov.u32 %r13, 0;
     I: add.u32 %r11, %r11, 4;
        add.u32 %r13, %r13, 1;
        setp.lt.u32 %p4, %r13, %r3;
        @%p4 bra I;
        mad.lo.u32 %r12, %r5, %r11, %r2;
        ld.shared.u32 %r20, [%r12];
        shl.b32 %r14, %r5, %r10;
        mad.lo.u32 %r12, %r14, 4, %r2;
        ld.shared.u32 %r20, [%r12];
        add.u32 %r10, %r10, 1;
        setp.lt.u32 %p2, %r10, 3;
        @%p2 bra L;
        ret;"""
    ),
    "a counted loop around one that lanes leave in different trips": (
        """
        mov.u32 %r11, 4;
     L: mov.u32 %r13, %r5;
     I: add.u32 %r11, %r11, 4;
        ld.shared.u32 %r20, [%r8];
        add.u32 %r13, %r13, 1;
        setp.lt.u32 %p4, %r13, %r3;
        @%p4 bra I;
        mad.lo.u32 %r12, %r5, %r11, %r2;
        ld.shared.u32 %r20, [%r12];
        shl.b32 %r14, %r5, %r10;
        mad.lo.u32 %r12, %r14, 4, %r2;
        ld.shared.u32 %r20, [%r12];
        add.u32 %r10, %r10, 1;
        setp.lt.u32 %p2, %r10, 3;
        @%p2 bra L;
        ret;"""
    ),
    "a counted loop: some lanes go on with the next trip at once": (
        """
        mov.u32 %r11, 4;
     L: setp.ge.u32 %p2, %r10, 4;
        @%p2 bra O;
        add.u32 %r10, %r10, 1;
        setp.gt.u32 %p4, %r5, %r3;
        @%p4 bra L;
        add.u32 %r11, %r11, 4;
        ld.shared.u32 %r20, [%r8];
        bra L;
     O: mad.lo.u32 %r12, %r5, %r11, %r2;
        ld.shared.u32 %r20, [%r12];
        ld.shared.u32 %r20, [%r8];
        ret;"""
    ),
    "a counted loop in a counted loop: all lanes leave the inner one or none": (
        """
     L: mov.u32 %r13, 0;
     I: add.u32 %r14, %r13, %r10;
        setp.eq.u32 %p4, %r14, %r3;
        @%p4 bra J;
        mad.lo.u32 %r12, %r14, %r6, %r2;
        ld.shared.u32 %r20, [%r12];
        add.u32 %r13, %r13, 1;
        setp.lt.u32 %p5, %r13, 3;
        @%p5 bra I;
     J: mul.lo.u32 %r12, %r5, %r13;
        mad.lo.u32 %r12, %r12, 4, %r2;
        ld.shared.u32 %r20, [%r12];
        add.u32 %r10, %r10, 1;
        setp.lt.u32 %p2, %r10, 3;
        @%p2 bra L;
        ret;"""
    ),
}

# Writes under an unknown predicate: (code, whether a request's cost is one number). %p1: n > 4, uniform.
GUARDED = {
    "computed and read under one predicate": (
        "@%p1 mul.lo.u32 %r12, %r5, 8;\n@%p1 add.u32 %r12, %r12, %r2;\n@%p1 ld.shared.u32 %r20, [%r12];",
        True,
    ),
    "a copy of it": ("@%p1 mad.lo.u32 %r12, %r5, 8, %r2;\nmov.u32 %r13, %r12;\n@%p1 ld.shared.u32 %r20, [%r13];", True),
    "read under the opposite": (
        "@%p1 mad.lo.u32 %r12, %r5, 8, %r2;\n@!%p1 ld.shared.u32 %r20, [%r12];",
        True,
    ),  # its earlier value
    "read always": ("@%p1 mad.lo.u32 %r12, %r5, 8, %r2;\nld.shared.u32 %r20, [%r12];", False),
    "the predicate is another one by then": (
        "@%p1 mad.lo.u32 %r12, %r5, 8, %r2;\nsetp.gt.u32 %p1, %r4, 4;\n@%p1 ld.shared.u32 %r20, [%r12];",
        False,
    ),
    "the register is written once more": (
        "@%p1 mad.lo.u32 %r12, %r5, 8, %r2;\n@%p3 mad.lo.u32 %r12, %r5, 128, %r2;\n@%p1 ld.shared.u32 %r20, [%r12];",
        True,
    ),
    "written under another predicate in between": (
        (
            "@%p1 mad.lo.u32 %r12, %r5, 8, %r2;\nsetp.gt.u32 %p2, %r4, 4;\n@%p2 mad.lo.u32 %r12, %r5, 128, %r2;\n@%p1"
            " ld.shared.u32 %r20, [%r12];"
        ),
        False,
    ),
    "it goes through other lanes": (
        (
            "@%p1 mad.lo.u32 %r12, %r5, 8, %r2;\nsetp.gt.u32 %p2, %r3, %r5;\n@%p2 mad.lo.u32 %r13, %r5, 128, %r2;\n@%p2"
            " shfl.sync.bfly.b32 %r14, %r13, 1, 31, -1;\n@%p2 add.u32 %r15, %r13, 4;\n@%p2 ld.shared.u32 %r20, [%r15];"
        ),
        False,
    ),
}
for name, (code, _) in GUARDED.items():
    KERNELS[f"under a predicate: {name}"] = f"setp.gt.u32 %p1, %r3, 4;\nmad.lo.u32 %r12, %r5, 4, %r2;\n{code}\nret;"


@pytest.mark.parametrize("name", GUARDED)
def test_value_written_and_read_under_one_predicate_is_known(name):
    code, one_number = GUARDED[name]
    function, flow = compare.lifted(
        f".version 8.5\n.target sm_90\n.address_size 64\n{START}{KERNELS[f'under a predicate: {name}']}\n}}\n"
    )
    [site] = engine.evaluate(function, flow, machine=compare.MACHINE).sites
    assert (site.status == Status.INVARIANT) == one_number, (site.status, site.per_request, site.reason)


@pytest.mark.parametrize("test", ("setp.gt.u32 %p4, %r3, %r10;", "setp.gt.u32 %p4, %r3, %r5;"))
@pytest.mark.parametrize(("trips", "high"), ((1, 1), (3, 4), (5, 16)))
def test_counted_loop_is_unrolled_past_undecided_branches(test, trips, high):
    """4, 8, 16 … bytes between lanes, whichever path they take."""
    body = f"""
        mov.u32 %r11, 4;
     L: {test}
        @%p4 bra M;
        ld.shared.u32 %r20, [%r2];
     M: mad.lo.u32 %r12, %r5, %r11, %r2;
        st.shared.u32 [%r12], %r3;
        shl.b32 %r11, %r11, 1;
        add.u32 %r10, %r10, 1;
        setp.lt.u32 %p2, %r10, {trips};
        @%p2 bra L;
        ret;"""
    function, flow = compare.lifted(f".version 8.5\n.target sm_90\n.address_size 64\n{START}{body}\n}}\n")
    _, site = engine.evaluate(function, flow, machine=compare.MACHINE).sites
    assert site.per_request == (1, high), (site.status, site.reason)


@pytest.mark.parametrize("name", KERNELS)
def test_answers_hold_for_every_value_of_the_unknowns(name):
    text = f".version 8.5\n.target sm_90\n.address_size 64\n{ROUTINE}{START}{KERNELS[name]}\n}}\n"
    function, flow = compare.lifted(text)
    codes, _ = flatten(text)
    sites = compare.figures(function, engine.evaluate(function, flow, machine=compare.MACHINE))
    for numbers in NUMBERS:
        seen, _ = compare.watch(text, "k", (1, 1, 1), BLOCK, compare.parameter_buffer(codes["k"], numbers))
        for site in sites:
            s = seen.get(site.place, compare.Seen())
            assert not compare.ranges(site, s), (site, numbers)
            assert not (site.status == Status.UNREACHED and s.requests), (site, numbers)


@pytest.mark.parametrize(
    "step",
    [
        "mul.lo.u32 %r13, %r11, %r12;",
        "setp.eq.u32 %p1, %r12, %r3;\nselp.b32 %r13, %r11, %r12, %p1;\nadd.u32 %r13, %r13, %r12;",
    ],
)
def test_names_of_unknowns_grow_linearly_with_trips(step):
    """Numbers computed from two unknowns, forty times in a row."""
    body = f"""
        mov.u32 %r11, %r3;
        mov.u32 %r12, %r4;
     L: min.u32 %r15, %r12, 77;
        mad.lo.u32 %r14, %r15, %r6, %r2;
        ld.shared.u32 %r20, [%r14];
        {step}
        mov.u32 %r11, %r12;
        mov.u32 %r12, %r13;
        add.u32 %r10, %r10, 1;
        setp.lt.u32 %p2, %r10, 40;
        @%p2 bra L;
        ret;"""
    function, flow = compare.lifted(f".version 8.5\n.target sm_90\n.address_size 64\n{START}{body}\n}}\n")
    assert engine.evaluate(function, flow, machine=compare.MACHINE).sites[0].reason
