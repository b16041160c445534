"""Operations across lanes where the active lanes are not known, and uniform registers, which are one number per warp."""

import pytest
from sass_text import function_of

from ptxaudit.engine.answer.result import SiteResult, Status
from ptxaudit.engine.evaluate import evaluate
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware import machines
from ptxaudit.ir import graph


def sites(listing: str, threads: int = 32) -> tuple[SiteResult, ...]:
    """The results for the accesses of a kernel of one block."""
    function = function_of(listing, shared_static=65536)
    return evaluate(
        function,
        graph.build(function),
        launch=Launch("k", grid=(1,), block=(threads,)),
        machine=machines.get("sm_90"),
    ).sites


BY_DATA = """
S2R R0, SR_TID.X
IMAD.SHL.U32 R4, R0, 0x4, RZ
LDG.E R2, [R4.64]
ISETP.NE.AND P1, PT, R2, RZ, PT
MOV R5, 0xffffffff
{}
ISETP.NE.AND P2, PT, R5, -0x1, P1
SEL R6, R4, RZ, P2
IMAD.SHL.U32 R6, R6, 0x20, RZ
STS [R6], RZ
EXIT
"""


@pytest.mark.parametrize("operation", ["@P1 VOTE.ANY R5, PT, PT", "@P1 VOTE.ALL R5, PT, PT", "@P1 REDUX.OR UR4, R5"])
def test_operation_across_lanes_under_an_unknown_guard_counts_unknown_lanes(operation):
    """The lanes with P1 are unknown, so that R5 need not name all of them."""
    move = "\n@P1 MOV R5, UR4" if "UR4" in operation else ""
    (site,) = sites(BY_DATA.format(operation.replace("R5", "R0") + move if move else operation))
    assert (site.status, site.per_request) == (Status.DATA_DEPENDENT, (1, 32))


def test_operation_across_lanes_under_a_guard_that_the_warp_agrees_on_counts_all_lanes():
    """Where the guard holds, all lanes vote."""
    listing = BY_DATA.format("@P1 VOTE.ANY R5, PT, PT").replace("[R4.64]", "[RZ.64]")
    (site,) = sites(listing)
    assert site.per_request == (1, 1)


# R9: unknown by lane. UR4: of one lane, so that the rows of all lanes move together
MOVED = """
S2R R0, SR_TID.X
IMAD.SHL.U32 R4, R0, 0x4, RZ
LDG.E R9, [R4.64]
{}
IMAD.SHL.U32 R6, R9, 0x80, RZ
MOV R7, UR4
IMAD R8, R7, 0x80, R4
STS [R8], RZ
EXIT
"""


def test_uniform_register_holds_an_unknown_number_of_one_lane():
    (site,) = sites(MOVED.format("R2UR UR4, R9"))
    assert (site.status, site.per_request) == (Status.EXACT, (1, 1))


def test_uniform_register_that_some_lanes_write_holds_the_number_of_one_of_them():
    """Lanes whose data is zero skip the R2UR: whose R0 it reads is not known, and each value gives another address."""
    listing = """
S2R R0, SR_TID.X
IMAD.SHL.U32 R4, R0, 0x4, RZ
LDG.E R9, [R4.64]
UMOV UR4, 0x0
BSSY B0, 0x80
ISETP.NE.AND P1, PT, R9, RZ, PT
@!P1 BRA 0x80
R2UR UR4, R0
BSYNC B0
MOV R7, UR4
ISETP.NE.AND P2, PT, R7, RZ, PT
SEL R8, R4, RZ, P2
IMAD.SHL.U32 R8, R8, 0x20, RZ
STS [R8], RZ
EXIT
"""
    (site,) = sites(listing)
    assert site.per_request == (1, 32)


def test_branch_is_uniform_if_all_active_lanes_agree():
    """The second warp has left, with predicates that differ by lane; the loop of the first ends for all lanes at once."""
    listing = """
S2R R0, SR_TID.X
ISETP.GE.U32.AND P1, PT, R0, 0x20, PT
ISETP.GT.U32.AND P2, PT, R0, 0x28, PT
@P1 EXIT
IMAD.SHL.U32 R4, R0, 0x4, RZ
LDG.E R9, [RZ.64]
IADD3 R9, R9, -0x1, RZ
STS [R4], RZ
ISETP.NE.AND P2, PT, R9, RZ, PT
@P2 BRA 0x60
EXIT
"""
    (site,) = sites(listing, 64)
    assert site.status is Status.INVARIANT and site.per_request == (1, 1)


def test_lanes_that_yield_together_let_none_go_that_diverge_behind_them():
    """The second STS: all lanes have yielded before some branch to the BSYNC, where nothing lets them go."""
    listing = """
S2R R0, SR_TID.X
IMAD.SHL.U32 R4, R0, 0x80, RZ
LDG.E R9, [R4.64]
BSSY B0, 0xb0
YIELD
LDG.E R8, [RZ.64]
ISETP.NE.AND P1, PT, R8, RZ, PT
@P1 BRA 0x40
ISETP.NE.AND P2, PT, R9, RZ, PT
@P2 BRA 0xb0
STS [R4], RZ
BSYNC B0
STS [R4], RZ
EXIT
"""
    first, second = sites(listing)
    assert first.status is Status.DATA_DEPENDENT
    assert second.per_request == (32, 32)
