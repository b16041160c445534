"""Numbers that a kernel writes to shared memory and reads back: known where the order decides them, otherwise unknown.

Each kernel here has 64 threads in two warps, a table, and an array `s` that the table's numbers index. The last site
is the access that they decide. Exact answers are compared with the twin, with its warps in several orders.
"""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict

import numpy as np
import pytest
from read_back import HEAD, TURNS, USE, sites_of, told
from twin import compare, tables
from twin.code import flatten

from ptxaudit.base.work import Account
from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.result import Status
from ptxaudit.frontend.artifacts.cubin import read_cubin
from ptxaudit.frontend.artifacts.lines import ptx_lines
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.sass.disassemble import disassemble
from ptxaudit.frontend.sass.lift import lift_module
from ptxaudit.ir import graph
from ptxaudit.ir.link import link

RANDOM = 24  # kernels of tests/support/twin/tables.py; bench/fuzz.py runs the other generator
MACHINE_CODE = 32
KNOWN = {
    "a permutation": "st.shared.u32 [%r5], %r7;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];",
    "a barrier that counts all threads": (
        "st.shared.u32 [%r5], %r7;\nbarrier.sync.aligned 3, 64;\nld.shared.u32 %r20, [%r12];"
    ),
    "a barrier that reduces": "st.shared.u32 [%r5], %r7;\nbar.red.popc.u32 %r30, 0, %p1;\nld.shared.u32 %r20, [%r12];",
    "a barrier under a predicate": (
        "st.shared.u32 [%r5], %r7;\n@%p1 bar.sync 0, 64;\n@!%p1 bar.sync 0, 64;\nld.shared.u32 %r20, [%r12];"
    ),
    "a barrier whose count is in a register": (
        "mov.u32 %r30, %ntid.x;\nst.shared.u32 [%r5], %r7;\nbar.sync 2, %r30;\nld.shared.u32 %r20, [%r12];"
    ),
    "a barrier whose number is in a register": (
        "mov.u32 %r30, %ntid.x;\nmov.u32 %r31, 2;\nst.shared.u32 [%r5], %r7;\nbarrier.sync %r31, %r30;\n"
        "ld.shared.u32 %r20, [%r12];"
    ),
    "the same thread": "st.shared.u32 [%r5], %r7;\nld.shared.u32 %r20, [%r5];",
    "a quarter of the warp behind its barrier": (
        "st.shared.u32 [%r5], %r7;\nand.b32 %r30, %r1, 24;\nmov.b32 %r31, 0xff;\nshl.b32 %r31, %r31, %r30;\nbar.warp.sync %r31;\n"
        "ld.shared.u32 %r20, [%r10];"
    ),
    "a quarter that is overwritten behind two barriers": (
        "and.b32 %r30, %r1, 24;\nmov.b32 %r31, 0xff;\nshl.b32 %r31, %r31, %r30;\nst.shared.u32 [%r5], %r13;\nbar.warp.sync %r31;\n"
        "ld.shared.u32 %r20, [%r10];\nbar.warp.sync %r31;\nst.shared.u32 [%r10], %r7;\nbar.warp.sync %r31;\n"
        "ld.shared.u32 %r32, [%r5];\nadd.u32 %r20, %r20, %r32;"
    ),
    "the same warp behind its barrier": "st.shared.u32 [%r5], %r7;\nbar.warp.sync -1;\nld.shared.u32 %r20, [%r10];",
    "a parameter": "mul.lo.u32 %r7, %r1, %r4;\nst.shared.u32 [%r5], %r7;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];",
    "a table that is read by another width": (
        "mad.lo.u32 %r30, %r1, 257, 5; cvt.u16.u32 %h1, %r30; mad.lo.u32 %r31, %r1, 2, %r2;\n"
        "st.shared.u16 [%r31], %h1;\nbar.sync 0;\nadd.u32 %r32, %r2, %r13;\nld.shared.u8 %r20, [%r32];"
    ),
    "a vector": (
        "mad.lo.u32 %r30, %r1, 8, %r2;\nst.shared.v2.u32 [%r30], {%r7, %r13};\nbar.sync 0;\nmad.lo.u32 %r31, %r13, 8,"
        " %r2;\nld.shared.u32 %r20, [%r31+4];"
    ),
    "a generic address": (
        "cvt.u64.u32 %rd2, %r5; cvta.shared.u64 %rd3, %rd2;\nst.u32 [%rd3], %r7;\nbar.sync 0;\nld.shared.u32 %r20,"
        " [%r12];"
    ),
    "one thread fills it": (
        "mov.u32 %r30, 0;\n@!%p2 bra D;\nL: mad.lo.u32 %r31, %r30, 4, %r2; mul.lo.u32 %r32, %r30, 5;\nst.shared.u32"
        " [%r31], %r32;\nadd.u32 %r30, %r30, 1; setp.lt.u32 %p3, %r30, 64;\n@%p3 bra L;\nD: bar.sync 0;\nld.shared.u32"
        " %r20, [%r12];"
    ),
    "all write the same": (
        "st.shared.u32 [%r2], %r4;\nbar.sync 0;\nld.shared.u32 %r30, [%r2];\nmul.lo.u32 %r20, %r30, %r1;"
    ),
    "twice": (
        "st.shared.u32 [%r5], %r7;\nbar.sync 0;\nld.shared.u32 %r30, [%r12];\nbar.sync 0;\nst.shared.u32 [%r5],"
        " %r30;\nbar.sync 0;\nld.shared.u32 %r20, [%r10];"
    ),
    "a prefix sum": (
        "st.shared.u32 [%r5], %r8;\nmov.u32 %r30, 1;\nL: bar.sync 0;\nmov.u32 %r31, 0; setp.ge.u32 %p3, %r1, %r30;"
        " sub.u32 %r32, %r1, %r30; mad.lo.u32 %r33, %r32, 4, %r2;\n@%p3 ld.shared.u32 %r31, [%r33];\nbar.sync"
        " 0;\nld.shared.u32 %r34, [%r5];\nadd.u32 %r34, %r34, %r31;\nst.shared.u32 [%r5], %r34;\nshl.b32 %r30, %r30, 1;"
        " setp.lt.u32 %p4, %r30, 64;\n@%p4 bra L;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];"
    ),
    "overwritten behind a barrier by something unknown": (
        "st.shared.u32 [%r5], %r7;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];\nbar.sync 0;\nld.global.u32 %r30,"
        " [%rd1];\nst.shared.u32 [%r5], %r30;"
    ),
    "an unknown place behind a barrier": (
        "st.shared.u32 [%r5], %r7;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];\nbar.sync 0;\nld.global.u32 %r30,"
        " [%rd1];\nand.b32 %r30, %r30, 1020; add.u32 %r31, %r30, %r2;\nst.shared.u32 [%r31], %r1;"
    ),
    "threads that have ended": (
        "setp.gt.u32 %p3, %r1, 47;\n@%p3 exit;\nst.shared.u32 [%r5], %r7;\nbar.sync 0;\nxor.b32 %r30, %r1, 15;"
        " mad.lo.u32 %r31, %r30, 4, %r2;\nld.shared.u32 %r20, [%r31];"
    ),
}

KNOWN |= {
    "an unknown place in another array": (
        "st.shared.u32 [%r5], %r7;\nld.global.u32 %r30, [%rd1];\nand.b32 %r30, %r30, 1020; add.u32 %r31, %r30,"
        " %r3;\nst.shared.u32 [%r31], %r1;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];"
    ),
    "an unknown place in part of the table": (
        "st.shared.u32 [%r5], %r7;\nld.global.u8 %r30, [%rd1];\nand.b32 %r32, %r30, 127; mad.lo.u32 %r31, %r32, 4,"
        " %r2;\nred.shared.add.u32 [%r31], 1;\nst.shared.u32 [%r5+512], %r7;\nbar.sync 0;\nld.shared.u32 %r20,"
        " [%r12+512];"
    ),
}

OPEN = {
    "no barrier": ("st.shared.u32 [%r5], %r7;\nld.shared.u32 %r20, [%r12];", "writes between the same barriers"),
    "no barrier of the warp": (
        "st.shared.u32 [%r5], %r7;\nld.shared.u32 %r20, [%r10];",
        "writes between the same barriers",
    ),
    "a barrier of half the warp": (
        "st.shared.u32 [%r5], %r7;\nbar.warp.sync 0xffff;\nld.shared.u32 %r20, [%r10];",
        "writes between the same barriers",
    ),
    "a barrier of pairs that do not read from each other": (
        "mov.b32 %r31, 3;\nand.b32 %r30, %r1, 30;\nshl.b32 %r31, %r31, %r30;\nst.shared.u32 [%r5], %r7;\n"
        "bar.warp.sync %r31;\nxor.b32 %r32, %r1, 2;\nmad.lo.u32 %r33, %r32, 4, %r2;\nld.shared.u32 %r20, [%r33];",
        "writes between the same barriers",
    ),
    "a barrier whose count is in a register, of one warp": (
        "mov.u32 %r30, %ntid.x;\nshr.u32 %r30, %r30, 1;\nst.shared.u32 [%r5], %r7;\nbar.sync 2, %r30;\nld.shared.u32 %r20, [%r12];",
        "writes between the same barriers",
    ),
    "a barrier whose number is unknown": (
        "ld.global.u32 %r30, [%rd1];\nst.shared.u32 [%r5], %r7;\nbar.sync %r30;\nld.shared.u32 %r20, [%r12];",
        "writes between the same barriers",
    ),
    "a barrier of one warp": (
        "st.shared.u32 [%r5], %r7;\nbar.sync 1, 32;\nld.shared.u32 %r20, [%r12];",
        "writes between the same barriers",
    ),
    "a barrier that some only arrive at": (
        "st.shared.u32 [%r5], %r7;\n@%p1 bar.arrive 0, 64;\n@!%p1 bar.sync 0, 64;\nld.shared.u32 %r20, [%r12];",
        "writes between the same barriers",
    ),
    "another barrier of the same number": (
        "st.shared.u32 [%r5], %r7;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];\nbar.sync 0, 32;",
        "writes between the same barriers",
    ),
    "overwritten without a barrier": (
        "st.shared.u32 [%r5], %r7;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];\nst.shared.u32 [%r5], %r13;",
        "writes between the same barriers",
    ),
    "overwritten earlier in the order of the run": (
        (
            "st.shared.u32 [%r5], %r7;\nbar.sync 0;\n@%p1 bra A;\nst.shared.u32 [%r12], %r13;\nA: ld.shared.u32 %r20,"
            " [%r5];"
        ),
        "writes between the same barriers",
    ),
    "an unknown place": (
        (
            "st.shared.u32 [%r5], %r7;\nld.global.u32 %r30, [%rd1];\nand.b32 %r30, %r30, 1020; add.u32 %r31, %r30,"
            " %r2;\nst.shared.u32 [%r31], %r1;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];"
        ),
        "a store to an unknown address",
    ),
    "outside of its array": (
        "st.shared.u32 [%r5], %r7;\nst.shared.u32 [%r5+1020], %r1;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];",
        "a store to an unknown address",
    ),
    "a value that is loaded": (
        (
            "st.shared.u32 [%r5], %r7;\nbar.sync 0;\nld.global.u32 %r30, [%rd1];\nst.shared.u32 [%r5], %r30;\nbar.sync"
            " 0;\nld.shared.u32 %r20, [%r12];"
        ),
        "an unknown value was stored",
    ),
    "half a word that is loaded": (
        (
            "st.shared.u32 [%r5], %r7;\nbar.sync 0;\nld.global.u32 %r30, [%rd1]; cvt.u16.u32 %h1, %r30;\nst.shared.u16"
            " [%r5+2], %h1;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];"
        ),
        "an unknown value was stored",
    ),
    "threads that disagree": (
        (
            "and.b32 %r30, %r1, 1; mad.lo.u32 %r31, %r30, 4, %r2;\nst.shared.u32 [%r31], %r7;\nbar.sync"
            " 0;\nld.shared.u32 %r20, [%r31];"
        ),
        "different values in no defined order",
    ),
    "both sides of a branch": (
        (
            "and.b32 %r30, %r1, 1; setp.eq.u32 %p3, %r30, 0;\n@%p3 bra A;\nst.shared.u32 [%r10], %r4;\nbra B;\nA:"
            " st.shared.u32 [%r5], %r7;\nB: bar.sync 0;\nld.shared.u32 %r20, [%r12];"
        ),
        "different values in no defined order",
    ),
    "an unknown place that reaches into the next array": (
        (
            "st.shared.u32 [%r5], %r7;\nld.global.u32 %r30, [%rd1];\nand.b32 %r30, %r30, 1023; add.u32 %r31, %r30,"
            " %r2;\nst.shared.u32 [%r31], %r1;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];"
        ),
        "a store to an unknown address",
    ),
    "an atomic operation": (
        (
            "st.shared.u32 [%r5], %r7;\nbar.sync 0;\nld.global.u32 %r30, [%rd1];\nred.shared.add.u32 [%r5],"
            " %r30;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];"
        ),
        "an unknown value was stored",
    ),
    "a copy": (
        (
            "cp.async.ca.shared.global [%r5], [%rd1], 4;\nst.shared.u32 [%r5], %r7;\nbar.sync 0;\nld.shared.u32 %r20,"
            " [%r12];"
        ),
        "an asynchronous copy fills",
    ),
    "nobody": (
        "st.shared.u32 [%r5], %r7;\nbar.sync 0;\nld.shared.u32 %r20, [%r12+512];",
        "that no known store wrote",
    ),
    "perhaps": (
        (
            "ld.global.u32 %r30, [%rd1]; setp.eq.u32 %p3, %r30, 0;\nst.shared.u32 [%r5], %r7;\nbar.sync 0;\n@%p3"
            " st.shared.u32 [%r5], %r13;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];"
        ),
        "an unknown value was stored",
    ),
    "behind a branch that is not known": (
        (
            "ld.global.u32 %r30, [%rd1]; setp.eq.u32 %p3, %r30, 0;\nst.shared.u32 [%r5], %r7;\n@%p3 bra"
            " A;\nst.shared.u32 [%r5], %r13;\nA: bar.sync 0;\nld.shared.u32 %r20, [%r12];"
        ),
        "a store to an unknown address",
    ),
    "a barrier object": (
        (
            "st.shared.u32 [%r5], %r7;\nbar.sync 0;\nand.b32 %r30, %r5, -8;\nmbarrier.init.shared.b64 [%r30], 64;\n"
            "bar.sync 0;\nld.shared.u32 %r20, [%r12];"
        ),
        "an unknown value was stored",
    ),
    "a form of mbarrier without a meaning": (
        (
            ".shared .align 8 .b64 bar; mov.u32 %r30, bar;\nmbarrier.reset.shared.b64 [%r30], 64;\nst.shared.u32 [%r5],"
            " %r7;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];"
        ),
        "where or when mbarrier.reset.shared.b64 writes is unknown",
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_ordered_shared_memory_contents_are_exact(name):
    for turn in TURNS:
        verdict, last = told(KNOWN[name], turn)
        assert not verdict.wrong, verdict.wrong
        assert verdict.exact == verdict.sites - ("in part of the table" in name), (
            verdict.others
        )  # except that atomic operation
        assert last.status is Status.EXACT


@pytest.mark.parametrize("name", OPEN)
def test_unordered_shared_memory_contents_are_data_dependent(name):
    body, reason = OPEN[name]
    verdict, last = told(body)
    assert last.status is Status.DATA_DEPENDENT, last
    assert reason in str(last.reason)
    assert not verdict.wrong


BARRIER = """
.shared .align 8 .b64 bar; .reg .b64 %state; mov.u32 %r30, bar;
st.shared.u32 [%r5], %r7; setp.ne.u32 %p3, %r1, 0; @%p3 bra A; mbarrier.init.shared.b64 [%r30], 64; A: bar.sync 0;
mbarrier.arrive.shared.b64 %state, [%r30];
W: mbarrier.try_wait.shared.b64 %p3, [%r30], %state; @!%p3 bra W;
ld.shared.u32 %r20, [%r12];
"""


def test_barrier_objects_leave_the_other_shared_memory_as_it_is():
    for turn in TURNS:
        verdict, last = told(BARRIER, turn)
        assert not verdict.wrong
        assert last.status is Status.EXACT


def test_spin_on_a_flag_of_another_warp_terminates():
    """The flag is assumed to be zero at first, and no longer once nothing changes.

    What it does not decide stays known.
    """
    body = (
        "mov.u32 %r30, 0;\nst.shared.u32 [%r2+512], %r30;\nst.shared.u32 [%r5], %r7;\nbar.sync 0;\n@%p1 bra S;\nW:"
        " ld.shared.u32 %r31, [%r2+512]; setp.eq.u32 %p3, %r31, 0;\n@%p3 bra W;\nbra G;\nS: st.shared.u32 [%r2+512],"
        " %r4;\nG: ld.shared.u32 %r20, [%r12];"
    )
    begin = time.perf_counter()
    *_, spin, flag, table, last = sites_of(body)
    assert time.perf_counter() - begin < 2
    assert [s.status for s in (flag, table, last)] == [Status.EXACT] * 3
    assert spin.status is Status.INVARIANT and spin.requests is None and spin.reason.data  # unknown number of spins


def test_table_that_depends_on_the_block_index():
    """Each block is executed with known numbers; above a limit on the blocks the answer stays open."""
    body = (
        "mov.u32 %r30, %ctaid.x; mul.lo.u32 %r7, %r1, %r30;\nst.shared.u32 [%r5], %r7;\nbar.sync 0;\nld.shared.u32"
        " %r20, [%r12];"
    )
    verdict, last = told(body, grid=(33, 1, 1))
    assert not verdict.wrong and verdict.exact == verdict.sites
    assert last.requests == 66 and last.wavefronts > 66
    assert sites_of(body, (1 << 16, 1, 1))[-1].status is Status.DATA_DEPENDENT


def test_million_blocks_without_block_dependent_contents():
    """Only stored values count: a comparison with the block index separates blocks, but not the warps of one."""
    body = (
        "mov.u32 %r30, %ctaid.x; setp.lt.u32 %p3, %r30, 777; selp.u32 %r7, %r7, %r8, %p3;\nst.shared.u32 [%r5],"
        " %r7;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];"
    )
    last = sites_of(body, (1 << 20, 1, 1))[-1]
    few = told(body, grid=(2, 1, 1))[1]
    assert last.status is Status.EXACT and last.requests == 2 << 20
    assert few.wavefronts == 4 * 1  # 33 words apart: no conflict
    assert last.wavefronts == 777 * 2 + ((1 << 20) - 777) * 2  # at most eight words, each in its own bank


def test_buffer_contents_copied_through_shared_memory():
    """The numbers of a specified buffer pass through shared memory."""
    body = (
        "mad.wide.u32 %rd2, %r1, 4, %rd1;\nld.global.nc.u32 %r7, [%rd2];\nst.shared.u32 [%r5], %r7;\nbar.sync"
        " 0;\nld.shared.u32 %r20, [%r12];"
    )
    for stride, wavefronts in ((1, 2), (2, 4), (32, 64)):
        last = sites_of(body, p=np.arange(64, dtype=np.uint32) * stride)[-1]
        assert (last.status, last.wavefronts) == (Status.EXACT, wavefronts)
    assert told(body)[1].status is Status.DATA_DEPENDENT


def test_million_trip_loop_that_only_reads_a_table():
    """The table does not change: a million trips cost no more than ten."""
    body = (
        "st.shared.u32 [%r5], %r7;\nbar.sync 0;\nmov.u32 %r30, 0;\nL: ld.shared.u32 %r31, [%r12];\nmad.lo.u32 %r32,"
        " %r31, 4, %r3;\nst.shared.u32 [%r32], %r1;\nadd.u32 %r30, %r30, 1; setp.lt.u32 %p3, %r30, 1000000;\n@%p3 bra"
        " L;\nmov.u32 %r20, %r31;"
    )
    sites = sites_of(body, account=Account.for_budget(2.0))
    assert [s.status for s in sites] == [Status.EXACT] * 4
    assert sites[2].requests == 2_000_000


def test_shared_variables_of_one_name_in_two_functions():
    """A function's table is not the kernel's."""
    text = HEAD.replace(
        ".visible",
        ".func f() { .reg .b32 %r<9>; .shared .align 4 .b8 table[1024]; mov.u32 %r1, table; mov.u32 %r2, %tid.x;"
        " mad.lo.u32 %r1, %r2, 4, %r1;\nst.shared.u32 [%r1], 0; ret; }\n.visible",
        1,
    )
    text += "st.shared.u32 [%r5], %r7;\ncall f;\nbar.sync 0;\nld.shared.u32 %r20, [%r12];" + USE.replace(
        "4, %r3", "32, %r3"
    ).replace("16384", "65536")
    verdict = compare.full(text, "k", (1, 1, 1), (64, 1, 1), [9, None])
    assert not verdict.wrong and verdict.exact == verdict.sites


def test_table_contents_without_a_launch_are_data_dependent():
    function, flow = compare.lifted(HEAD + KNOWN["a permutation"] + USE, "k")
    assert engine.evaluate(function, flow, machine=compare.MACHINE).sites[-1].status is Status.DATA_DEPENDENT


@pytest.mark.parametrize("start", range(0, RANDOM, 12))
def test_random_tables_match_the_twin_in_any_warp_order(start):
    exact = sites = 0
    for seed in range(start, start + 12):
        text, grid, block, params = tables.kernel(seed)
        function, flow = compare.lifted(text, "k")
        launch = Launch("k", grid=grid, block=block, params=params)
        answer = compare.answered(function, flow, launch)
        for turn in (None, 1):
            verdict = compare.launched(
                text, function, flow, launch, seed, answer=answer, turns=turn, most_steps=400_000
            )
            assert not verdict.wrong, "\n".join(verdict.wrong)
        exact, sites = exact + verdict.exact, sites + verdict.sites
    assert exact > 0.6 * sites


def test_random_tables_in_machine_code_match_the_twin():
    """The same through ptxas: sums of wavefronts by PTX line, where the same lanes act together as in the twin."""
    kernels = []
    for seed in range(MACHINE_CODE):
        text, grid, block, params = tables.kernel(seed)
        kernels.append((seed, re.sub(r"\b(ld|st)\.shared\.", r"\1.volatile.shared.", text), grid, block, params))
    cubins = [read_cubin(assemble(text, "sm_90").cubin, f"{seed}.cubin") for seed, text, *_ in kernels]
    count: Counter = Counter()
    for (seed, text, grid, block, params), cubin, code in zip(kernels, cubins, disassemble(cubins)):
        module = lift_module(cubin, code)
        function = link(module, module.functions["k"])
        buffer = compare.parameter_buffer(flatten(text)[0]["k"], params, seed)
        result = engine.evaluate(
            function,
            graph.build(function),
            launch=Launch("k", grid=grid, block=block, param_bytes=buffer),
            machine=compare.MACHINE,
        )
        lines = ptx_lines(cubin)
        by_line = defaultdict(list)
        for site in result.sites:
            by_line[lines.at("k", function.instructions[site.index].place).line].append(site)
        seen, _ = compare.watch(text, "k", grid, block, buffer, seed=seed, turns=1)
        for line, sites in by_line.items():
            count["sites"] += len(sites)
            if any(s.status not in (Status.EXACT, Status.UNREACHED) for s in sites):
                continue
            count["exact"] += len(sites)
            mine = seen.get(line, compare.Seen())
            if re.search(r"\b(red|atom)\.", text.splitlines()[line - 1]):
                count["combined"] += 1  # by lane or by warp: ptxas may reduce what a warp adds to one word
                continue
            if sum(s.active_requests for s in sites) != mine.active or mine.low != mine.high:
                count["apart"] += 1  # ptxas keeps other lanes together
                continue
            assert sum(s.wavefronts for s in sites) == mine.low, f"seed {seed}: {text.splitlines()[line - 1].strip()}"
    assert count["exact"] > 0.6 * count["sites"] and count["apart"] < 0.05 * count["sites"], count
