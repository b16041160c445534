"""Executing trips of a loop side by side gives the same results as executing them one after the other."""

import pytest

import ptxaudit
from ptxaudit.engine.exec import side_by_side
from ptxaudit.engine.exec.side_by_side import SideBySide

KERNEL = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n) {
    .reg .pred %p<9>; .reg .b32 %r<30>;
    .local .align 4 .b8 kept[64];
    .shared .align 16 .b8 tile[32768];
    ld.param.u32 %r20, [n];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mov.u32 %r3, 0;
    mov.u32 %r4, 0;
    mov.u32 %r12, 5;
LOOP:
    BODY
NEXT:
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, %r20;
    @%p1 bra LOOP;
END:
    shl.b32 %r5, %r4, 2;
    and.b32 %r5, %r5, 4095;
    add.u32 %r5, %r5, %r2;
    ld.shared.u32 %r6, [%r5];
    ret;
}
"""
SWIZZLED = "xor.b32 %r7, %r1, %r3; and.b32 %r7, %r7, 1023; mad.lo.u32 %r8, %r7, 12, %r2; ld.shared.u32 %r9, [%r8];"

SIDE_BY_SIDE = {
    "lanes from the counter on": """setp.lt.u32 %p2, %r1, %r3; @%p2 bra NEXT;
        mad.lo.u32 %r8, %r1, 132, %r2; st.shared.u32 [%r8], %r1;""",
    "an index that is no multiple of the counter": SWIZZLED,
    "lanes under a predicate": "setp.gt.u32 %p2, %r1, %r3; @%p2 st.shared.u32 [%r2], %r1;" + SWIZZLED,
    "a register that goes along": "add.u32 %r4, %r4, 33;" + SWIZZLED,
    "a loop inside, of as many trips as the counter says": """mov.u32 %r10, 0;
        INNER: xor.b32 %r7, %r1, %r10; mad.lo.u32 %r8, %r7, 8, %r2; ld.shared.u32 %r9, [%r8];
        add.u32 %r10, %r10, 1; setp.le.u32 %p3, %r10, %r3; @%p3 bra INNER;""",
    "a register that is written first": "mul.lo.u32 %r11, %r3, %r3; mov.u32 %r13, %r11;"
    " and.b32 %r13, %r13, 255; mad.lo.u32 %r8, %r13, %r1, %r2; ld.shared.u8 %r9, [%r8];",
    "lanes that meet, and a barrier of the warp": "setp.lt.u32 %p2, %r1, %r3; @%p2 bra MEET; add.u32 %r14, %r1, 1;"
    f"MEET: bar.warp.sync 0xffffffff; {SWIZZLED}",
    "a local variable": "st.local.u32 [kept], %r3; ld.local.u32 %r14, [kept]; xor.b32 %r14, %r14, %r1;"
    "and.b32 %r14, %r14, 255; mad.lo.u32 %r8, %r14, 20, %r2; ld.shared.u32 %r9, [%r8];",
}

ONE_BY_ONE = {
    "a register that has no step": "mad.lo.u32 %r4, %r4, 3, 1;" + SWIZZLED,
    "one that takes a step in some trips": "and.b32 %r10, %r3, 16; setp.ne.u32 %p2, %r10, 0; @%p2 bra.uni STAY;"
    f"add.u32 %r4, %r4, 4; STAY: {SWIZZLED}",
    "one that takes a step in some lanes": "setp.lt.u32 %p2, %r1, %r3; @%p2 add.u32 %r4, %r4, 4;" + SWIZZLED,
    "an index that is not known": "ld.shared.u32 %r10, [%r2]; xor.b32 %r10, %r10, %r1; and.b32 %r10, %r10, 255;"
    " add.u32 %r10, %r10, %r2; ld.shared.u8 %r9, [%r10];",
    "lanes that leave": f"setp.lt.u32 %p2, %r1, %r3; @%p2 bra END; {SWIZZLED}",
    "another loop's value": "st.local.u32 [kept+4], %r4; add.u32 %r4, %r4, %r3; ld.local.u32 %r14, [kept+4];"
    " xor.b32 %r14, %r14, %r1; and.b32 %r14, %r14, 255; add.u32 %r8, %r14, %r2; ld.shared.u8 %r9, [%r8];",
}


@pytest.fixture
def done(monkeypatch):
    """The number of trips that were executed at once, for each attempt."""
    trips, found = side_by_side._Attempt.trips, []

    def counted(attempt):
        found.append(trips(attempt))
        return found[-1]

    monkeypatch.setattr(side_by_side._Attempt, "trips", counted)
    return found


def report_of(tmp_path, body, block, trips):
    source = tmp_path / "k.ptx"
    source.write_text(KERNEL.replace("BODY", body))
    report = ptxaudit.audit(source, launches=[ptxaudit.Launch("k", grid=(3,), block=block, params=[trips])])
    assert not report.problems
    return report.to_dict()["kernels"]


@pytest.mark.parametrize("block", [(32,), (96,), (40,)], ids=str)
@pytest.mark.parametrize("body", [*SIDE_BY_SIDE.values(), *ONE_BY_ONE.values()], ids=[*SIDE_BY_SIDE, *ONE_BY_ONE])
def test_trips_side_by_side_give_the_report_of_sequential_trips(tmp_path, monkeypatch, body, block):
    found = report_of(tmp_path, body, block, 40)
    monkeypatch.setattr(SideBySide, "several", lambda *_: False)
    assert found == report_of(tmp_path, body, block, 40)


@pytest.mark.parametrize("body", SIDE_BY_SIDE.values(), ids=SIDE_BY_SIDE)
def test_most_trips_are_executed_side_by_side(tmp_path, done, body):
    (kernel,) = report_of(tmp_path, body, (32,), 40)
    assert sum(done) > 30
    assert {site["status"] for site in kernel["sites"]} == {"exact"}


@pytest.mark.parametrize("body", ONE_BY_ONE.values(), ids=ONE_BY_ONE)
def test_trip_that_refutes_the_prediction_is_executed_alone(tmp_path, done, body):
    report_of(tmp_path, body, (32,), 40)
    assert sum(done) <= 20


def test_hundred_thousand_trips_take_few_steps(tmp_path, done):
    """Executed one after the other, they would take a hundred times as many arrays."""
    (kernel,) = report_of(tmp_path, SWIZZLED, (32,), 100_000)
    assert sum(done) > 99_000 and len(done) < 100
    swizzled = kernel["sites"][0]
    assert (swizzled["requests"], swizzled["status"]) == (300_000, "exact")
