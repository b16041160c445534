"""Words of shared memory that atomic operations update: known afterwards where their order does not matter.

Exact answers are compared with the twin, with its warps in several orders; an open one has the reason.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from machine_code import ptx_of
from read_back import HEAD, TURNS, USE, sites_of, told
from twin.instructions import _atomic

import ptxaudit
from ptxaudit.base.work import Account
from ptxaudit.engine.answer.result import Status
from ptxaudit.engine.domain.value import DTYPES
from ptxaudit.engine.memory.updates import MIXED, Update, Updates
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.ir import nodes as ir

# `eighth` is one of eight words, each updated by eight lanes of both warps; `BEGIN` stores thread numbers there first.
BEGIN = (
    "mad.lo.u32 %r40, %r8, 4, %r2; setp.lt.u32 %p3, %r1, 8;\n@%p3 st.shared.u32 [%r5], %r7;\n"
    "mad.lo.u32 %r41, %r8, 8, %r2; mul.wide.u32 %rd5, %r7, 65537;\n@%p3 st.shared.u64 [%r41+512], %rd5;\nbar.sync 0;\n"
)
END = "bar.sync 0;\nld.shared.u32 %r20, [%r40];\nand.b32 %r20, %r20, 1023;"
END_WIDE = "bar.sync 0;\nld.shared.u64 %rd6, [%r41+512];\nshr.u64 %rd6, %rd6, 13; cvt.u32.u64 %r20, %rd6;\nand.b32 %r20, %r20, 1023;"
ONE = (
    "and.b32 %r50, %r1, 1; mad.lo.u32 %r50, %r50, 4, %r2;\nst.shared.u32 [%r50], 5;\nbar.sync 0;\n"  # and its neighbour
)
READ_ONE = "bar.sync 0;\nld.shared.u32 %r30, [%r50];\nmul.lo.u32 %r20, %r30, %r1; and.b32 %r20, %r20, 1023;"
FIRST = "@%p2 "  # one lane
LOW, HIGH = "@%p1 ", "@!%p1 "  # one warp

NARROW = ("add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32")
WIDE = ("add.u64", "min.u64", "min.s64", "max.u64", "max.s64", "and.b64", "or.b64", "xor.b64")
KNOWN = {kind: f"{BEGIN}red.shared.{kind} [%r40], %r13;\n{END}" for kind in NARROW}
KNOWN |= {
    kind: f"{BEGIN}mul.wide.u32 %rd7, %r13, 77777;\nred.shared.{kind} [%r41+512], %rd7;\n{END_WIDE}" for kind in WIDE
}
KNOWN |= {
    f"{kind} around {limit}": f"{BEGIN}red.shared.{kind}.u32 [%r40], {limit};\n{END}"
    for kind in ("inc", "dec")
    for limit in (0, 3, 100, 0xFFFFFFFF)
}
KNOWN |= {
    "negative numbers": f"{BEGIN}neg.s32 %r42, %r13;\nred.shared.min.s32 [%r40], %r42;\n{END}",
    "a result that is not used": f"{BEGIN}atom.shared.add.u32 %r42, [%r40], %r13;\n{END}",
    "several of one kind": (
        f"{BEGIN}red.shared.add.u32 [%r40], %r13;\n{LOW}red.shared.add.u32 [%r40], 3;\nred.shared.add.s32 [%r40], -1;\n"
        + END
    ),
    "kinds with a barrier between them": (
        f"{BEGIN}red.shared.add.u32 [%r40], %r13;\nbar.sync 0;\nred.shared.max.u32 [%r40], 300;\n{END}"
    ),
    "some lanes": (
        f"{BEGIN}and.b32 %r42, %r1, 3; setp.eq.u32 %p4, %r42, 1;\n@%p4 red.shared.xor.b32 [%r40], %r1;\n{END}"
    ),
    "on both sides of a branch": (
        f"{BEGIN}and.b32 %r42, %r1, 1; setp.eq.u32 %p4, %r42, 0;\n@%p4 bra A;\nred.shared.add.u32 [%r40], 7;\nbra B;\n"
        f"A: red.shared.add.u32 [%r40], %r1;\nB:\n{END}"
    ),
    "lanes that have ended": (f"{BEGIN}setp.gt.u32 %p4, %r1, 40;\n@%p4 exit;\nred.shared.add.u32 [%r40], %r13;\n{END}"),
    "a generic address": (
        f"{BEGIN}cvt.u64.u32 %rd7, %r40; cvta.shared.u64 %rd8, %rd7;\nred.add.u32 [%rd8], %r13;\n{END}"
    ),
    "in a loop": (
        f"{BEGIN}mov.u32 %r42, 0;\nL: red.shared.add.u32 [%r40], %r42;\nadd.u32 %r42, %r42, 1;"
        f" setp.lt.u32 %p4, %r42, 50;\n@%p4 bra L;\n{END}"
    ),
    "in a loop with barriers": (
        f"{BEGIN}mov.u32 %r42, 0;\nL: red.shared.add.u32 [%r40], %r42;\nbar.sync 0;\nld.shared.u32 %r43, [%r40];\n"
        f"red.shared.max.u32 [%r40+64], %r43;\nbar.sync 0;\nadd.u32 %r42, %r42, 1; setp.lt.u32 %p4, %r42, 20;\n"
        f"@%p4 bra L;\n{END}"
    ),
    "the same warp before its barrier": (
        f"{ONE}{LOW}red.shared.add.u32 [%r2], %r1;\nbar.warp.sync -1;\n{LOW}ld.shared.u32 %r31, [%r2];\n{READ_ONE}"
    ),
    "a store of the same thread": f"{ONE}{FIRST}st.shared.u32 [%r2], 9;\n{FIRST}red.shared.add.u32 [%r2], 4;\n{READ_ONE}",
    "exchanged by one thread": f"{ONE}{FIRST}atom.shared.exch.b32 %r31, [%r2], 11;\n{READ_ONE}",
    "exchanged for the same number": f"{ONE}{LOW}atom.shared.exch.b32 %r31, [%r2], 11;\n{READ_ONE}",
    "compared by one thread": f"{ONE}{FIRST}atom.shared.cas.b32 %r31, [%r2], 5, 12;\n{READ_ONE}",
    "compared with another number": f"{ONE}{FIRST}atom.shared.cas.b32 %r31, [%r2], 6, 12;\n{READ_ONE}",
    "kinds in the order of one thread": (
        f"{ONE}{FIRST}red.shared.add.u32 [%r2], 4;\n{FIRST}red.shared.max.u32 [%r2], 20;\n"
        f"{FIRST}red.shared.xor.b32 [%r2], 3;\n{READ_ONE}"
    ),
    "a byte that is stored behind a barrier": (
        f"{ONE}red.shared.add.u32 [%r2], 1;\nbar.sync 0;\nmov.u16 %h1, 1;\n{FIRST}st.shared.u8 [%r2+1], %h1;\n{READ_ONE}"
    ),
}

NO_ORDER = "different values in no defined order"
STORED = "an unknown value was stored"
OPEN = {
    "two kinds": (f"{BEGIN}red.shared.add.u32 [%r40], %r13;\nred.shared.max.u32 [%r40], 300;\n{END}", NO_ORDER),
    "two signs": (f"{BEGIN}red.shared.min.u32 [%r40], %r13;\nred.shared.min.s32 [%r40], -3;\n{END}", NO_ORDER),
    "a third kind": (
        f"{ONE}{FIRST}red.shared.add.u32 [%r2], 4;\n{FIRST}red.shared.max.u32 [%r2], 20;\n"
        f"{HIGH}red.shared.max.u32 [%r2], 20;\n{READ_ONE}",
        NO_ORDER,
    ),
    "two limits": (f"{ONE}{LOW}red.shared.inc.u32 [%r2], 5;\n{HIGH}red.shared.inc.u32 [%r2], 6;\n{READ_ONE}", NO_ORDER),
    "limits that differ by lane": (f"{ONE}red.shared.inc.u32 [%r2], %r1;\n{READ_ONE}", NO_ORDER),
    "two widths": (
        f"{BEGIN}mov.u64 %rd7, 1;\nred.shared.add.u64 [%r41+512], %rd7;\nred.shared.add.u32 [%r41+516], 1;\n{END_WIDE}",
        NO_ORDER,
    ),
    "a store of another warp": (
        f"{ONE}{FIRST}red.shared.add.u32 [%r2], 1;\n{HIGH}st.shared.u32 [%r2], 6;\n{READ_ONE}",
        NO_ORDER,
    ),
    "a store of another warp before it": (
        f"{ONE}{LOW}st.shared.u32 [%r2], 6;\n{HIGH}red.shared.add.u32 [%r2], 1;\n{READ_ONE}",
        NO_ORDER,
    ),
    "a store of what is there": (
        f"{ONE}{FIRST}st.shared.u32 [%r2], 6;\n{FIRST}red.shared.add.u32 [%r2], 1;\n{HIGH}st.shared.u32 [%r2], 7;\n{READ_ONE}",
        NO_ORDER,
    ),
    "a byte of another warp": (
        f"{ONE}mov.u16 %h1, 0;\n{FIRST}red.shared.add.u32 [%r2], 0xff00;\n{HIGH}st.shared.u8 [%r2+1], %h1;\nbar.sync 0;\n"
        "ld.shared.u8 %r20, [%r50+2];",
        NO_ORDER,
    ),
    "a byte that is stored twice": (  # first in order, then unordered: the carry into the next byte differs
        f"{ONE}mov.u16 %h1, 0xff;\n{FIRST}red.shared.add.u32 [%r2], 0x100;\n{FIRST}st.shared.u8 [%r2+1], %h1;\n"
        f"{HIGH}st.shared.u8 [%r2+1], %h1;\nbar.sync 0;\nld.shared.u8 %r20, [%r50+2];",
        NO_ORDER,
    ),
    "half of a word, then a byte of another warp": (
        f"{ONE}mov.u64 %rd7, 0x100000000; mov.u16 %h1, 0; and.b32 %r51, %r1, 1; add.u32 %r51, %r51, %r2;\n@%p2 st.shared.u64 [%r2], %rd7;\nbar.sync 0;\n"
        f"{FIRST}red.shared.max.u64 [%r2], %rd7;\n{FIRST}red.shared.add.u32 [%r2+4], 1;\n"
        f"{HIGH}st.shared.u8 [%r2+4], %h1;\nbar.sync 0;\nld.shared.u8 %r20, [%r51];",
        NO_ORDER,
    ),
    "an unknown operand": (f"{BEGIN}ld.global.u32 %r42, [%rd1];\nred.shared.add.u32 [%r40], %r42;\n{END}", STORED),
    "unknown content": (
        ONE.replace("[%r50], 5", "[%r50+8], 5") + "red.shared.add.u32 [%r2], 1;\n" + READ_ONE,
        "that no known store wrote",
    ),
    "perhaps": (
        f"{BEGIN}ld.global.u32 %r42, [%rd1]; setp.eq.u32 %p4, %r42, 0;\n@%p4 red.shared.add.u32 [%r40], 1;\n{END}",
        STORED,
    ),
    "behind a branch that is not known": (
        f"{BEGIN}ld.global.u32 %r42, [%rd1]; setp.eq.u32 %p4, %r42, 0;\n@%p4 bra A;\nred.shared.add.u32 [%r40], 1;\nA:\n{END}",
        "a store to an unknown address",
    ),
    "an unknown place in the table": (
        f"{BEGIN}ld.global.u8 %r42, [%rd1];\nand.b32 %r42, %r42, 7; mad.lo.u32 %r43, %r42, 4, %r2;\n"
        f"red.shared.add.u32 [%r43], 1;\n{END}",
        "a store to an unknown address",
    ),
    "read between the same barriers": (
        f"{ONE}red.shared.add.u32 [%r2], 1;\nld.shared.u32 %r30, [%r50];\nmul.lo.u32 %r20, %r30, %r1;",
        "writes between the same barriers",
    ),
    "read before it without a barrier": (
        f"{ONE}ld.shared.u32 %r30, [%r50];\nred.shared.add.u32 [%r2], 1;\nmul.lo.u32 %r20, %r30, %r1;",
        "writes between the same barriers",
    ),
    "another byte read before a store of one": (
        f"{ONE}{FIRST}red.shared.add.u32 [%r2], 0xff00;\nmov.u32 %r20, 0; mov.u16 %h1, 1;\n"
        f"{FIRST}ld.shared.u8 %r20, [%r2+2];\n{HIGH}st.shared.u8 [%r2+1], %h1;",
        "the value loaded at PTX line 17",
    ),
    "read in order, before another warp's": (
        f"{ONE}{FIRST}red.shared.add.u32 [%r2], 1;\n{LOW}bar.warp.sync -1;\nmov.u32 %r20, 0;\n"
        f"{LOW}ld.shared.u32 %r20, [%r50];\n{HIGH}red.shared.add.u32 [%r2], 1;",
        "writes between the same barriers",
    ),
    "its own result": (f"{BEGIN}atom.shared.add.u32 %r20, [%r40], 1;\nand.b32 %r20, %r20, 1023;", "an atomic"),
    "floats": (
        f"{BEGIN}mov.f32 %r42, 0f3F800000;\nred.shared.add.f32 [%r40], %r42;\n{END}".replace("mov.f32", "mov.b32"),
        STORED,
    ),
    "several that compare": (f"{ONE}atom.shared.cas.b32 %r31, [%r2], 5, %r1;\n{READ_ONE}", NO_ORDER),
    "several that exchange": (f"{ONE}{LOW}atom.shared.exch.b32 %r31, [%r2], %r1;\n{READ_ONE}", NO_ORDER),
    "exchanged by both warps": (f"{ONE}atom.shared.exch.b32 %r31, [%r2], 4;\n{READ_ONE}", NO_ORDER),
    "a copy": (
        f"{BEGIN}cp.async.ca.shared.global [%r40], [%rd1], 4;\nred.shared.add.u32 [%r40], 1;\n{END}",
        "an asynchronous copy fills",
    ),
}


OWN = "st.shared.u32 [%r5], %r7;\nbar.sync 0;\n"  # a word of each thread
USED = "and.b32 %r20, %r31, 1023;"
RETURNED = {  # of operations whose words are known before
    "words of their own": f"{OWN}atom.shared.add.u32 %r31, [%r5], %r13;\n{USED}",
    "twice": f"{OWN}atom.shared.add.u32 %r31, [%r5], %r13;\natom.shared.max.u32 %r31, [%r5], 40;\n{USED}",
    "some lanes": (
        f"{OWN}mov.u32 %r31, 3; and.b32 %r42, %r1, 3; setp.eq.u32 %p4, %r42, 1;\n"
        f"@%p4 atom.shared.exch.b32 %r31, [%r5], 7;\n{USED}"
    ),
    "compared": f"{OWN}atom.shared.cas.b32 %r31, [%r5], %r7, 99;\natom.shared.cas.b32 %r32, [%r5], 99, 1;\n"
    "add.u32 %r31, %r31, %r32;\n" + USED,
    "wide": (
        f"{BEGIN}mov.u64 %rd7, 77777; setp.lt.u32 %p4, %r1, 8; mov.u64 %rd6, 0;\n"
        "@%p4 atom.shared.add.u64 %rd6, [%r41+512], %rd7;\nshr.u64 %rd6, %rd6, 7; cvt.u32.u64 %r31, %rd6;\n" + USED
    ),
    "words of another warp behind a barrier": (
        f"{OWN}atom.shared.add.u32 %r31, [%r5], 5;\nbar.sync 0;\natom.shared.xor.b32 %r31, [%r12], %r31;\n{USED}"
    ),
    "one word by one thread": (
        f"{ONE}mov.u32 %r31, 0;\n{FIRST}atom.shared.add.u32 %r31, [%r2], 4;\n"
        f"{FIRST}atom.shared.add.u32 %r31, [%r2], %r31;\n{FIRST}st.shared.u32 [%r2+64], %r31;\nbar.sync 0;\n"
        "ld.shared.u32 %r31, [%r2+64];\nmul.lo.u32 %r31, %r31, %r1;\n" + USED
    ),
    "in a loop": (
        f"{OWN}mov.u32 %r42, 0;\nL: atom.shared.add.u32 %r31, [%r5], %r42;\nadd.u32 %r42, %r42, 1;"
        f" setp.lt.u32 %p4, %r42, 50;\n@%p4 bra L;\n{USED}"
    ),
    "added up in a loop": (
        f"{OWN}mov.u32 %r42, 0; mov.u32 %r43, 0;\nL: atom.shared.add.u32 %r31, [%r5], 3;\nadd.u32 %r43, %r43, %r31;"
        f"\nadd.u32 %r42, %r42, 1; setp.lt.u32 %p4, %r42, 40;\n@%p4 bra L;\nand.b32 %r20, %r43, 1023;"
    ),
    "a generic address": (
        f"{OWN}cvt.u64.u32 %rd7, %r5; cvta.shared.u64 %rd8, %rd7;\natom.add.u32 %r31, [%rd8], %r13;\n{USED}"
    ),
}
NOT_RETURNED = {
    "a word of several lanes": (f"{BEGIN}atom.shared.add.u32 %r31, [%r40], %r13;\n{USED}", "an atomic"),
    "a word of several lanes, to which they add nothing": (
        f"{BEGIN}{FIRST}red.shared.add.u32 [%r40], 1;\natom.shared.max.u32 %r31, [%r40], %r1;\n{USED}",
        "an atomic",
    ),
    "a word of both warps": (
        f"{ONE}mov.u32 %r31, 0; and.b32 %r42, %r1, 31; setp.eq.u32 %p4, %r42, 0;\n"
        f"@%p4 atom.shared.add.u32 %r31, [%r2], 1;\n{USED}",
        "an atomic",
    ),
    "a word of both warps, one after the other": (
        f"{ONE}mov.u32 %r31, 0; setp.eq.u32 %p4, %r1, 32;\n{FIRST}atom.shared.add.u32 %r31, [%r2], 1;\n"
        f"@%p4 atom.shared.add.u32 %r31, [%r2], 1;\n{USED}",
        "an atomic",
    ),
    "a word to which another warp stores": (
        f"{OWN}atom.shared.add.u32 %r31, [%r5], 1;\nst.shared.u32 [%r12], 5;\n{USED}",
        "an atomic",
    ),
    "an unknown word": (
        f"ld.global.u32 %r42, [%rd1];\nst.shared.u32 [%r5], %r42;\nbar.sync 0;\n"
        f"atom.shared.add.u32 %r31, [%r5], 1;\n{USED}",
        "an atomic",
    ),
    "floats": (
        f"{OWN}atom.shared.add.f32 %r31, [%r5], 0f3F800000;\n{USED}".replace("%r31, [%r5], 0f", "%f1, [%r5], 0f")
        .replace("atom", ".reg .f32 %f<3>; atom")
        .replace("and.b32 %r20, %r31", "mov.b32 %r31, %f1; and.b32 %r20, %r31"),
        "an atomic",
    ),
}


@pytest.mark.parametrize("name", RETURNED)
def test_results_of_atomic_operations_are_exact_where_no_order_decides_them(name):
    for turn in TURNS:
        verdict, last = told(RETURNED[name], turn)
        assert not verdict.wrong, verdict.wrong
        assert last.status is Status.EXACT, last


@pytest.mark.parametrize("name", NOT_RETURNED)
def test_results_of_atomic_operations_in_no_order_are_data_dependent(name):
    body, reason = NOT_RETURNED[name]
    for turn in TURNS:
        verdict, last = told(body, turn)
        assert last.status is Status.DATA_DEPENDENT, last
        assert reason in str(last.reason)
        assert not verdict.wrong


@pytest.mark.parametrize("name", KNOWN)
def test_commutative_updates_are_exact(name):
    for turn in TURNS:
        verdict, last = told(KNOWN[name], turn)
        assert not verdict.wrong, verdict.wrong
        assert last.status is Status.EXACT, last


@pytest.mark.parametrize("name", OPEN)
def test_noncommutative_updates_are_data_dependent(name):
    body, reason = OPEN[name]
    for turn in TURNS:
        verdict, last = told(body, turn)
        assert last.status is Status.DATA_DEPENDENT, last
        assert reason in str(last.reason)
        assert not verdict.wrong


def test_update_equals_lane_by_lane_execution():
    """Of several lanes per word, in every order of three of them."""
    rng = np.random.default_rng(5)
    op = lambda kind: ir.Op("atom", (None,), (), 32, (kind,))
    for kind, t, size in [(*k.split("."), 4) for k in (*NARROW, "inc.u32", "dec.u32")] + [
        (*k.split("."), 8) for k in WIDE
    ]:
        named, dtype = kind + (".s" if t[0] == "s" and kind in ("min", "max") else ""), DTYPES[size * 8]
        for top in (3, 20, 1 << size * 8):
            old, given = (rng.integers(0, top, n, dtype=dtype, endpoint=False) for n in (8, (8, 3)))
            if kind in ("inc", "dec"):
                given[:] = given[:, :1]
            update = Updates().of(op(named), size, given[:1].reshape(-1, 1), np.ones(3, bool))
            assert isinstance(update, Update) and update.number != MIXED
            together = update.together(given.reshape(-1, 1), np.ones(24, bool), np.arange(0, 24, 3))
            assert together[1].all() and (together[2] == 3).all()
            after = update.applied(old, together[0], together[2])
            for word, lanes, new in zip(old.tolist(), given.tolist(), after.tolist()):
                for order in itertools.permutations(lanes):
                    value = word
                    for number in order:
                        value = _atomic(kind, t, size * 8, value, [number])
                    assert value == new, (kind, t, word, order)


def test_words_updated_by_the_block_index_are_exact():
    """Each block is executed with known numbers."""
    body = f"mov.u32 %r42, %ctaid.x;\n{BEGIN}red.shared.add.u32 [%r40], %r42;\n{END}"
    for turn in TURNS:
        verdict, last = told(body, turn, (9, 1, 1))
        assert not verdict.wrong and last.status is Status.EXACT and last.requests == 18


COUNT, LOOK = (
    "red.shared.add.u32 [%r2], 3;\n",
    (
        "ld.shared.u32 %r31, [%r50];\nmul.lo.u32 %r33, %r31, %r1; and.b32 %r33, %r33, 1020; add.u32 %r33, %r33, %r3;\n"
        "ld.shared.u32 %r34, [%r33];\nmov.u32 %r31, 0; mov.u32 %r33, 0; mov.u32 %r34, 0;\n"
    ),
)
BAR = "bar.sync 0;\n"
TRIPS = {
    "counted": COUNT,
    "counted twice": COUNT + "@%p2 red.shared.add.u32 [%r2+4], 7;\n" + COUNT,
    "read behind it": COUNT + BAR + LOOK + BAR,
    "read before it": LOOK + BAR + COUNT + BAR,
    "read by the only thread that counts": FIRST + COUNT + LOOK.replace("ld.", "@%p2 ld."),
    "two kinds": COUNT + BAR + "red.shared.and.b32 [%r2], 255;\n" + BAR,
    "a maximum that is reached": "red.shared.max.u32 [%r2], 9;\n" + LOOK,
    "a maximum of what is counted": COUNT
    + BAR
    + "red.shared.max.u32 [%r2+4], 5000;\nred.shared.max.u32 [%r2], 4000;\n"
    + BAR,
    "stored and counted": "st.shared.u32 [%r50], 0;\n" + BAR + COUNT + BAR + "red.shared.add.u32 [%r2], -3;\n" + BAR,
    "a byte that is stored": f"{FIRST}{COUNT}mov.u16 %h1, 0;\n{FIRST}st.shared.u8 [%r2+2], %h1;\n",
    "words that overlap": f"{FIRST}{COUNT}mov.u64 %rd7, 1;\n{FIRST}red.shared.add.u64 [%r2], %rd7;\n",
    "a number that grows": "red.shared.add.u32 [%r2], %r30;\n",
}


@pytest.mark.parametrize("name", TRIPS)
def test_atomic_updates_in_a_loop_agree_with_the_interpreter(name):
    """In closed form, if each adds the same; else one by one."""
    body = (
        f"{ONE}mov.u32 %r30, 0; mov.u32 %r31, 0;\nL:\n{TRIPS[name]}add.u32 %r30, %r30, 1; setp.lt.u32 %p3, %r30, 60;\n"
        f"@%p3 bra L;\n{READ_ONE}"
    )
    for turn in TURNS:
        verdict, last = told(body, turn)
        assert not verdict.wrong, verdict.wrong
        assert last.status is Status.EXACT or name in ("a byte that is stored", "words that overlap")


@pytest.mark.parametrize("kind", ["add.u32", "max.u32", "xor.b32", "inc.u32"])
def test_million_trip_loop_that_updates_a_word(kind):
    """What a trip adds is multiplied; of other changes, the result is given up after some thousand trips."""
    other = LOOK.replace("[%r50]", "[%r5+512]")
    body = (
        f"st.shared.u32 [%r5+512], 1;\n{ONE}mov.u32 %r30, 0;\nL: red.shared.{kind} [%r5+512], 3;\nadd.u32 %r30, %r30, 1;"
        f" setp.lt.u32 %p3, %r30, 1000000;\n@%p3 bra L;\n{READ_ONE.replace('and.b32', other + 'and.b32', 1)}"
    )
    *_, one, counted, last = sites_of(body, account=Account.for_budget(5.0))
    assert one.status is last.status is Status.EXACT
    assert (counted.status is Status.EXACT) == (kind in ("add.u32", "max.u32"))


def test_long_loop_that_updates_an_unknown_word_is_closed():
    """The word stays unknown: a million trips cost no more than ten."""
    body = (
        "st.shared.u32 [%r5], %r7;\nbar.sync 0;\nmov.u32 %r30, 0;\nL: red.shared.add.u32 [%r5+512], %r30;\nadd.u32 %r30,"
        " %r30, 1; setp.lt.u32 %p3, %r30, 1000000;\n@%p3 bra L;\nld.shared.u32 %r20, [%r5];"
    )
    sites = sites_of(body, account=Account.for_budget(2.0))
    assert [s.status for s in sites] == [Status.EXACT] * 4 and sites[1].requests == 2_000_000


def test_tentative_round_leaves_no_trace():
    """Thread 32 stores in each trip what is there, behind a barrier. Before the second time that the loop is entered,
    thread 0 stores it, unordered with the load of thread 32, which reads that number or an older one.
    """
    body = (
        "setp.eq.u32 %p4, %r1, 32; mov.u32 %r32, 0; mov.u32 %r33, 3; mov.u32 %r20, 0;\n@%p2 st.shared.u32 [%r2], 3;\n"
        "bar.sync 0;\nO: setp.eq.u32 %p6, %r33, 9; and.pred %p6, %p6, %p2;\n@%p6 st.shared.u32 [%r2], 9;\nmov.u32 %r30, 0;\nL: mov.u32 %r31, 0;\n"
        "@%p4 ld.shared.u32 %r31, [%r2];\nbar.sync 0;\n@%p4 st.shared.u32 [%r2], 9;\nsetp.eq.u32 %p5, %r31, 9;\n"
        "@%p5 st.shared.u32 [%r3], %r1;\nadd.u32 %r30, %r30, 1; setp.lt.u32 %p3, %r30, 4;\n@%p3 bra L;\nbar.sync 0;\n"
        "@%p2 st.shared.u32 [%r2], 3;\nbar.sync 0;\nmov.u32 %r33, 9; add.u32 %r32, %r32, 1; setp.lt.u32 %p3, %r32, 2;\n@%p3 bra O;"
    )
    *_, by_value, _, _ = sites_of(body)
    assert by_value.status is not Status.EXACT


@pytest.mark.parametrize("machine", [False, True])
def test_update_in_another_block_of_the_cluster(machine):
    """It may update this block's words at any time."""
    body = (
        f"{BEGIN}mapa.shared::cluster.u32 %r42, %r40, 1;\nred.shared.add.u32 [%r40], 1;\n"
        f"red.relaxed.cluster.shared::cluster.add.u32 [%r42], 1;\n{END}"
    )
    text = (HEAD + body + USE).replace("ld.shared", "ld.volatile.shared")
    launch = Launch("k", grid=2, block=64, cluster=2, params=[9, None])
    for code in (text, assemble(text, "sm_90").cubin) if machine else (text,):
        last = ptxaudit.audit(code, launches=[launch]).sites[-1]
        assert str(last.status) not in ("exact", "invariant")


MACHINE_CODE = """
extern "C" __global__ void k(unsigned* out, unsigned n) {
  __shared__ unsigned bins[64], s[1024]; __shared__ int low[8];
  unsigned t = threadIdx.x;
  if (t < 64) bins[t] = 0; if (t < 8) low[t] = 100;
  __syncthreads();
  for (unsigned i = t; i < n; i += blockDim.x) {
    atomicAdd(&bins[i * i & 31], 1u); atomicAdd(&bins[32 + (i & 15)], i); atomicMin(&low[i & 7], (int)(i >> 3) - 20);
    atomicInc(&bins[48 + (i & 3)], 9u); atomicOr(&bins[52 + (i & 3)], 1u << (i & 7));
  }
  __syncthreads();
  out[t] = s[bins[t & 63] * t & 1023] + s[(unsigned)low[t & 7] * t & 1023];
}
"""


def test_updates_in_machine_code():
    """POPC.INC, ADD, MIN.S32, INC, OR: the indices are those of the source."""
    launch = Launch("k", grid=1, block=96, params=[None, 500])
    sites = ptxaudit.audit(assemble(ptx_of(MACHINE_CODE, "sm_90"), "sm_90").cubin, launches=[launch]).sites
    numbers, bins, low = np.arange(500), np.zeros(64, np.uint32), np.full(8, 100)
    for i in numbers.tolist():
        bins[i * i & 31] += 1
        bins[32 + (i & 15)] += i
        low[i & 7] = min(low[i & 7], (i >> 3) - 20)
        bins[48 + (i & 3)] = 0 if bins[48 + (i & 3)] >= 9 else bins[48 + (i & 3)] + 1
        bins[52 + (i & 3)] |= 1 << (i & 7)
    t = np.arange(96)
    words = bins[t & 63] * t & 1023, low[t & 7] * t & 1023
    wanted = [
        sum(ptxaudit.score_request("LDS", [int(w) * 4 for w in warp]).wavefronts for warp in of.reshape(-1, 32))
        for of in words
    ]
    loads = [s for s in sites if s.access == "load"]
    assert all(s.status == "exact" for s in sites), sites
    assert {s.opcode for s in sites} >= {"ATOMS.POPC.INC.32", "ATOMS.ADD", "ATOMS.MIN.S32", "ATOMS.INC", "ATOMS.OR"}
    assert sorted(s.wavefronts for s in loads[-2:]) == sorted(wanted)
