"""The twin where lanes and warps deal with each other: member masks, waits, barriers, calls; and what it does not know."""

from __future__ import annotations

import pytest
from twin import compare
from twin.run import Machine, Waiting

HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
WARP, TWO_WARPS, ONE = (32, 1, 1), (64, 1, 1), (1, 1, 1)
LANES = range(32)


def kernel(body: str, before: str = "") -> str:
    return (
        HEAD
        + f"{before}.entry k() {{ .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .pred %p<6>;\n"
        + ".shared .align 16 .b8 s[1024];\nmov.u32 %r0, %tid.x; mov.u32 %r1, %laneid; mov.u32 %r2, s;\n"
        + f"{body}\nret; }}\n"
    )


def run(text: str, block=WARP, **options) -> dict[int, list[dict[int, int]]]:
    """warp -> the addresses of each of its requests, without the offset of s."""
    machine = Machine(text, "k", ONE, block, b"", **options)
    start = machine.places["shared", "s"]
    out: dict[int, list[dict[int, int]]] = {}
    for request in machine.run():
        out.setdefault(request.warp, []).append({l: a - start for l, a in request.addresses.items()})
    return out


def results(operation: str) -> list[int]:
    """%r9 of each lane, which is used as an address: at most 255."""
    text = kernel(f"{operation}\nshl.b32 %r10, %r9, 2; add.u32 %r10, %r10, %r2; ld.shared.u32 %r11, [%r10];")
    ((addresses,),) = run(text).values()
    return [addresses[l] // 4 for l in LANES]


OF_EIGHT = "and.b32 %r3, %r1, 24; mov.u32 %r4, 255; shl.b32 %r4, %r4, %r3;"  # the mask of each lane's eight lanes


@pytest.mark.parametrize(
    "operation, expected",
    [
        ("redux.sync.max.u32 %r9, %r1, %r4;", [l | 7 for l in LANES]),
        ("redux.sync.add.u32 %r9, %r1, %r4;", [sum(range(l & 24, (l & 24) + 8)) for l in LANES]),
        (
            "setp.gt.u32 %p1, %r1, 9; vote.sync.all.pred %p2, %p1, %r4; selp.b32 %r9, 1, 0, %p2;",
            [int(l >= 16) for l in LANES],
        ),
        (
            "setp.gt.u32 %p1, %r1, 9; vote.sync.ballot.b32 %r9, %p1, %r4; popc.b32 %r9, %r9;",
            [0] * 8 + [6] * 8 + [8] * 16,
        ),
        ("and.b32 %r5, %r1, 1; match.any.sync.b32 %r9, %r5, %r4; popc.b32 %r9, %r9;", [4] * 32),
        ("shr.u32 %r5, %r1, 3; match.all.sync.b32 %r9|%p1, %r5, %r4; popc.b32 %r9, %r9;", [8] * 32),
        ("elect.sync %r9|%p1, %r4;", [l & 24 for l in LANES]),
        ("shfl.sync.idx.b32 %r9|%p1, %r1, 3, 0x181f, %r4;", [l & 24 | 3 for l in LANES]),
    ],
)
def test_lanes_with_different_member_masks_are_separate_groups(operation, expected):
    assert results(OF_EIGHT + operation) == expected


def test_labels_are_local_to_their_scope():
    block = "{ .reg .pred %q; setp.ge.u32 %q, %r3, 8; @%q bra W; add.u32 %r3, %r3, 4; W: ld.shared.u32 %r4, [%r2]; }"
    assert len(run(kernel(f"mov.u32 %r3, 0; {block} {block} {block}"))[0]) == 3


def test_warp_may_spin_on_another_warp():
    """Warp 0 spins on a word that warp 1 writes after it; both then read the same place."""
    text = kernel("""
        setp.lt.u32 %p1, %r0, 32; @!%p1 bra $WRITE;
        $SPIN: ld.volatile.shared.u32 %r3, [%r2+4]; setp.ne.u32 %p2, %r3, 64; @%p2 bra $SPIN;
        add.u32 %r4, %r2, %r3; ld.shared.u32 %r5, [%r4]; ret;
        $WRITE: st.volatile.shared.u32 [%r2+4], 64;""")
    requests = run(text, TWO_WARPS, most_steps=20_000)
    assert requests[0][-1] == dict.fromkeys(LANES, 64)


def test_lanes_may_spin_on_lanes_of_their_warp():
    """Lane 0 releases what the others spin on, further down in the code."""
    text = kernel("""
        setp.eq.u32 %p1, %r1, 0; @%p1 bra $WRITE;
        $SPIN: ld.volatile.shared.u32 %r3, [%r2+4]; setp.ne.u32 %p2, %r3, 64; @%p2 bra $SPIN; ret;
        $WRITE: st.volatile.shared.u32 [%r2+4], 64;""")
    assert run(text, most_steps=20_000)[0][-1] == dict.fromkeys(range(1, 32), 4)


@pytest.mark.parametrize("pause", ["", "nanosleep.u32 32;", "mov.u32 %r5, %r3;"])
def test_endless_spinning_is_reported(pause):
    text = kernel(f"""
        setp.lt.u32 %p1, %r0, 32; @!%p1 bra $END;
        $SPIN: {pause} ld.volatile.shared.u32 %r3, [%r2+4]; setp.ne.u32 %p2, %r3, 64; @%p2 bra $SPIN;
        $END:""")
    with pytest.raises(Waiting, match=r"these wait for ever: warp 0 at line \d+, "):
        run(text, TWO_WARPS, most_steps=200_000)


def test_long_loop_is_not_taken_for_spinning():
    """A loop of many turns whose registers change."""
    text = kernel("""
        mov.u32 %r3, 0;
        $LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 5000; @%p1 bra $LOOP;
        ld.shared.u32 %r4, [%r2];""")
    assert run(text, TWO_WARPS)[1] == [dict.fromkeys(LANES, 0)]


def test_mbarrier_phases_by_state_and_by_parity():
    """Warp 0 waits for warp 1's arrival in each of two phases, by state and by parity."""
    text = kernel("""
        setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r2], 64; bar.sync 0;
        mbarrier.arrive.shared.b64 %rd1, [%r2];
        mbarrier.test_wait.shared.b64 %p2, [%r2], %rd1; selp.b32 %r3, 64, 0, %p2;
        $WAIT: mbarrier.try_wait.shared.b64 %p3, [%r2], %rd1; @!%p3 bra $WAIT;
        mbarrier.test_wait.parity.shared.b64 %p4, [%r2], 0; selp.b32 %r4, 128, 0, %p4;
        mbarrier.test_wait.parity.shared.b64 %p4, [%r2], 1; selp.b32 %r5, 256, 0, %p4;
        add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r2; ld.shared.u32 %r6, [%r3];""")
    assert run(text, TWO_WARPS) == {0: [dict.fromkeys(LANES, 128)], 1: [dict.fromkeys(LANES, 64 + 128)]}


def test_lanes_waiting_at_an_mbarrier_let_others_arrive():
    """Half a warp waits at a barrier at which the other half, further down in the code, has to arrive."""
    text = kernel("""
        setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r2], 32;
        setp.lt.u32 %p2, %r1, 16; @!%p2 bra $OTHERS;
        mbarrier.arrive.shared.b64 %rd1, [%r2];
        $WAIT: mbarrier.try_wait.shared.b64 %p3, [%r2], %rd1; @!%p3 bra $WAIT;
        ld.shared.u32 %r6, [%r2+64]; bra $END;
        $OTHERS: mbarrier.arrive_drop.shared.b64 _, [%r2];
        $END:""")
    assert run(text)[0] == [dict.fromkeys(range(16), 64)]


def test_bulk_copy_completes_an_mbarrier_phase():
    text = kernel(
        """
        setp.eq.u32 %p1, %r0, 0; @!%p1 bra $END;
        mbarrier.init.shared.b64 [%r2], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 16;
        mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0; selp.b32 %r4, 1, 0, %p2;
        mov.u64 %rd1, data; add.u32 %r3, %r2, 32;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 16, [%r2];
        $WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0; @!%p3 bra $WAIT;
        ld.shared.u32 %r5, [%r3+4]; add.u32 %r5, %r5, %r4; add.u32 %r5, %r5, %r2; ld.shared.u8 %r6, [%r5];
        $END:""",
        ".global .align 16 .b32 data[4] = {1, 99, 3, 4};\n",
    )
    assert run(text)[0][-1] == {0: 99}


def test_mbarrier_without_enough_arrivals_is_reported():
    text = kernel("""
        setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r2], 33;
        mbarrier.arrive.shared.b64 %rd1, [%r2];
        $WAIT: mbarrier.try_wait.shared.b64 %p3, [%r2], %rd1; @!%p3 bra $WAIT;""")
    with pytest.raises(Waiting, match="these wait for ever: warp 0"):
        run(text)


ROUTINES = """
.func (.param .b32 r) first(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 64; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) second(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 128; st.param.b32 [r], %x; ret; }
.global .align 8 .u64 both[2] = {first, second};
"""
CALL = """{ .param .b32 given; .param .b32 got; st.param.b32 [given], %r2;
    p: .callprototype (.param .b32 _) _ (.param .b32 _); call (got), %rd3, (given), p; ld.param.b32 %r4, [got]; }
    ld.shared.u32 %r5, [%r4];"""


@pytest.mark.parametrize(
    "pointer",
    [
        "mov.u64 %rd1, first; mov.u64 %rd2, second; selp.b64 %rd3, %rd1, %rd2, %p1;",
        "selp.b64 %rd1, 0, 8, %p1; mov.u64 %rd2, both; add.u64 %rd2, %rd2, %rd1; ld.global.u64 %rd3, [%rd2];",
    ],
)
def test_calls_through_pointers_differ_by_lane(pointer):
    text = kernel(f"setp.lt.u32 %p1, %r1, 16; {pointer} {CALL}", ROUTINES)
    assert run(text)[0] == [{l: 64 if l < 16 else 128 for l in LANES}]


def test_ldmatrix_transposes_what_stmatrix_stored():
    """What stmatrix stores by rows, ldmatrix loads; transposed, the rows are columns."""
    text = kernel("""
        and.b32 %r3, %r1, 7; shl.b32 %r3, %r3, 4; add.u32 %r3, %r3, %r2;
        stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%r1};
        ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r4}, [%r3];
        and.b32 %r4, %r4, 65535; add.u32 %r4, %r4, %r2; ld.shared.u8 %r5, [%r4];""")
    column = {2 * (l % 4): l // 4 for l in LANES}  # lane l has row l / 4, columns 2 * (l % 4): the value is l there
    assert set(column) == {0, 2, 4, 6}
    # Transposed, lane l has column l / 4 of row 2 * (l % 4); even columns hold lane numbers.
    assert run(text)[0][-1] == {l: 4 * (2 * (l % 4)) + l // 8 if l // 4 % 2 == 0 else 0 for l in LANES}


def test_disagreement_about_an_unmodelled_opcode_is_unchecked():
    """A disagreement that a guess decides is not checked; any other is still wrong."""
    text = kernel("""
        mapa.shared::cluster.u32 %r3, %r2, 1; sub.u32 %r3, %r3, %r2; and.b32 %r3, %r3, 508;
        add.u32 %r4, %r3, %r2; ld.shared.u8 %r5, [%r4];
        shl.b32 %r6, %r1, 3; add.u32 %r6, %r6, %r2; ld.shared.u32 %r7, [%r6];""")
    function, flow = compare.lifted(text)
    launch = compare.Launch("k", grid=ONE, block=WARP, params=[])
    answer = [
        compare.Figure(compare.Status.EXACT, "", 1, 1, 7, 1, None, None, site.place, site.text)
        for site in compare.answered(function, flow, launch)
    ]
    verdict = compare.launched(text, function, flow, launch, answer=answer)
    assert len(verdict.wrong) == 1 and "ld.shared.u32" in verdict.wrong[0]
    assert len(verdict.unchecked) == 1 and verdict.unchecked[0].endswith(
        "(the twin does not know mapa.shared::cluster.u32)"
    )
