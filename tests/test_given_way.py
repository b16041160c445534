"""Requests behind a YIELD of some lanes: those that wait for them may go on without them, so that no request is of all
for certain.
"""

import pytest
from convergence_programs import MORE, T, _Kernel

from ptxaudit.engine.answer.result import Status
from ptxaudit.engine.evaluate import evaluate
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir

LANE, LEFT, MASK, COUNT, ADDRESS = (ir.Reg(f"R{n}", 32) for n in (0, 9, 10, 11, 4))
B0 = ir.Reg("B0", 32)


def claim(*behind: str, trips=(LANE, ir.Const(1)), stride=128, counted=False):
    """What is said of a store behind a loop with a YIELD that each lane runs (a & b) + 1 times; trips: a, b.

    behind: what comes before the store. counted: the lanes that are active there, as many, times the lane's number are
    its address.
    """
    k = _Kernel()
    k.put("S2R R0, SR_TID.X", ir.Op("mov", (LANE,), (ir.Special("tid.x"),)))
    k.put("LOP3", ir.Op("and", (LEFT,), trips), ir.Op("add", (LEFT,), (LEFT, ir.Const(1))))
    k.put("IMAD R4, R0, stride, RZ", ir.Op("mul", (ADDRESS,), (LANE, ir.Const(stride))))
    k.put("BSSY B0", control=ir.Control("open", (7,), None, B0))
    k.put("YIELD", control=ir.Control("yield"))
    k.put(
        "IADD3 R9, R9, -0x1, RZ",
        ir.Op("add", (LEFT,), (LEFT, ir.Const(0xFFFFFFFF))),
        ir.Op("setp.ne", (MORE,), (LEFT, ir.Const(0)), 32),
    )
    k.put("@P1 BRA", control=ir.Control("branch", (4,), ir.Guard(MORE)))
    k.put("BSYNC B0", control=ir.Control("sync", (), None, B0))
    for text in behind:
        k.put(text, control=ir.Control("warpsync"))
    if counted:
        k.put("VOTE.ANY R10, PT, PT", ir.Op("vote.ballot", (MASK,), (ir.Const(1, 1),)))
        k.put(
            "POPC R11, R10",
            ir.Op("popc", (COUNT,), (MASK,)),
            ir.Op("mul", (T,), (COUNT, LANE)),
            ir.Op("shl", (ADDRESS,), (T, ir.Const(2))),
        )
    store = len(k.out)
    k.put("STS [R4], RZ", ir.Op("store", (), (ADDRESS, ir.Const(0)), 32, space="shared"), site=ir.Site("STS", ADDRESS))
    k.put("EXIT", control=ir.Control("exit"))
    function = ir.Function("program", "sass", "sm_90", tuple(k.out), shared_static=8192)
    result = evaluate(
        function,
        graph.build(function),
        launch=Launch("program", grid=(1,), block=(32,), param_bytes=b""),
        machine=machines.get("sm_90"),
    )
    return next(site for site in result.sites if site.index == store)


def test_a_request_may_be_of_a_few_lanes():
    site = claim()
    assert site.status is not Status.EXACT
    assert site.per_request == (1, 32)


def test_how_many_lanes_are_active_is_not_known():
    site = claim(counted=True)
    assert site.status is not Status.EXACT
    assert site.per_request is None or site.per_request[0] <= 1


@pytest.mark.parametrize("counted", [False, True])
def test_all_lanes_that_name_all_are_together_again(counted):
    site = claim("WARPSYNC.ALL", counted=counted)
    assert (site.status, site.requests, site.wavefronts) == (Status.EXACT, 1, 32)


def test_lanes_that_yield_together_stay_together():
    site = claim(trips=(ir.Const(1), ir.Const(1)))
    assert (site.status, site.requests, site.wavefronts) == (Status.EXACT, 1, 32)


def test_a_conflict_free_store_stays_so_whoever_is_together():
    assert claim(stride=4).per_request == (1, 1)
