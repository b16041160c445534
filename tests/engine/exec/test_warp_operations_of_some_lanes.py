"""Operations across lanes where the active lanes are not known, and uniform registers, which are one number per warp."""

import pytest
from sass_text import function_of

from ptxaudit.engine.answer.result import SiteResult, Status
from ptxaudit.engine.evaluate import evaluate
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware import machines
from ptxaudit.ir import graph


def sites(listing: str, threads: int = 32, launched: bool = True) -> tuple[SiteResult, ...]:
    """The results for the accesses of a kernel of one block; launched: executed, else inferred for its block."""
    function = function_of(listing, shared_static=65536, block=(threads, 1, 1))
    return evaluate(
        function,
        graph.build(function),
        launch=Launch("k", grid=(1,), block=(threads,)) if launched else None,
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


@pytest.mark.parametrize("launched", (True, False))
def test_branch_is_uniform_if_all_active_lanes_agree(launched):
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
    (site,) = sites(listing, 64, launched)
    assert site.status is Status.INVARIANT and site.per_request == (1, 1)


@pytest.mark.parametrize("launched", (True, False))
def test_lanes_that_yield_together_let_none_go_that_diverge_behind_them(launched):
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
    first, second = sites(listing, 32, launched)
    assert first.per_request == (1, 32)
    assert second.per_request == (32, 32)


INACTIVE = """
S2R R0, SR_TID.X
SHF.R.U32.HI R1, RZ, 0x5, R0
LDC R9, c[0x0][0x210]
MOV R5, R0
ISETP.NE.AND P1, PT, R1, RZ, PT
@P1 EXIT
MOV R5, RZ
IMAD.SHL.U32 R4, R0, 0x4, RZ
IMAD R6, R5, 0x8, R4
STS [R6], RZ
LDG.E R2, [RZ.64]
IMAD R5, R5, R9, R2
IMAD.SHL.U32 R5, R5, 0x10, RZ
ISETP.NE.AND P2, PT, R2, RZ, PT
@P2 BRA 0x80
EXIT
"""


@pytest.mark.parametrize("launched", (True, False))
def test_register_that_moves_alike_in_all_lanes_of_a_loop_is_one_number(launched):
    """The other warp has left with another number by lane: the STS moves by a multiple of 128 bytes, or not at all."""
    (site,) = sites(INACTIVE, 64, launched)
    assert (site.status, site.per_request) == (Status.INVARIANT, (1, 1))


SPILLED = """
S2R R0, SR_TID.X
LDC R1, c[0x0][0x28]
ISETP.GE.U32.AND P1, PT, R0, 0x20, PT
MOV R5, R0
@P1 EXIT
IMAD.SHL.U32 R4, R0, 0x10, RZ
MOV R5, RZ
STL [R1+0x8], R5
LDL R5, [R1+0x8]
R2UR UR5, R5
ULEA UR6, UR5, 0x4000, 0x3
IMAD.U32 R6, RZ, RZ, UR5
SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R6
@P0 BRA 0x130
SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R6
@!P0 NANOSLEEP.SYNCS 0x989680
@!P0 SYNCS.PHASECHK.TRANS64 P0, [UR6], R6
@!P0 BRA 0xe0
NOP
IMAD R7, R5, 0x400, R4
STS.128 [R7], R8
LDG.E R2, [RZ.64]
ISETP.NE.AND P2, PT, R5, 0x1, PT
IADD3 R5, R5, 0x1, RZ
SEL R5, R5, RZ, P2
STL [R1+0x8], R5
ISETP.NE.AND P3, PT, R2, RZ, PT
@P3 BRA 0x80
EXIT
"""


@pytest.mark.parametrize("launched", (True, False))
def test_stages_of_a_pipeline_whose_number_is_spilled_move_all_lanes_alike(launched):
    """A persistent loop: lanes wait at the barrier of the stage, all alike, and no lane of a warp is left behind."""
    found = [site for site in sites(SPILLED, 64, launched) if site.per_request != (0, 0)]
    assert [site.per_request for site in found] == [(4, 4)]


# UR9 is made of UR8, which the first warp writes, and others if UP0 holds; UP1 says for which of these it is not zero
UNWRITTEN = """
S2R R0, SR_TID.X
IMAD.SHL.U32 R4, R0, 0x8, RZ
LDG.E R9, [R4.64]
ISETP.GE.AND P0, PT, R0, 0x20, PT
@P0 BRA 0x060
UMOV UR8, 0x4
R2UR UR7, R9
UISETP.NE.AND UP0, UPT, UR7, 0x1, UPT
@UP0 UIADD3 UR8, UR7, UR7, URZ
UIMAD UR9, UR8, 0x3, URZ
UMOV UR10, URZ
@UP0 UIADD3 UR10, UR9, UR7, URZ
UISETP.NE.AND UP1, UPT, UR10, URZ, UPT
PLOP3.LUT P0, PT, PT, PT, UP1, 0x80, 0x0
@!P0 BRA 0x100
STS [R4], RZ
STS [R4+0x1000], RZ
EXIT
"""


@pytest.mark.parametrize("launched", [True, False])
def test_uniform_register_that_nothing_has_written_is_one_number(launched):
    some, every = sites(UNWRITTEN, threads=64, launched=launched)
    assert (some.status, some.per_request) == (Status.INVARIANT, (2, 2))
    assert (every.status, every.per_request) == (Status.EXACT if launched else Status.INVARIANT, (2, 2))


# Of two warps, the first gives all its lanes what its last lane has loaded. R9: of the other warp, its lanes' own data
OF_ONE_WARP = """
S2R R0, SR_TID.X
IMAD.SHL.U32 R4, R0, 0x8, RZ
LDG.E R9, [R4.64]
ISETP.GE.AND P0, PT, R0, 0x20, PT
@P0 BRA 0x0a0
SHFL.IDX PT, R9, R9, 0x1f, 0x1f
ISETP.GT.AND P1, PT, R9, 0x5, PT
@P1 BRA 0x090
STS [R4], RZ
STS [R4+0x1000], RZ
EXIT
"""


@pytest.mark.parametrize("launched", [True, False])
def test_number_of_one_lane_is_one_for_all_lanes_of_the_warps_that_are_there(launched):
    some, every = sites(OF_ONE_WARP, threads=64, launched=launched)
    assert (some.status, some.per_request) == (Status.INVARIANT, (2, 2))
    assert (every.status, every.per_request) == (Status.EXACT if launched else Status.INVARIANT, (2, 2))


# Lanes whose data is zero skip the R2UR. They are diverged from the others when each group copies UR4
COPIED_BEFORE_BSYNC = """
S2R R0, SR_TID.X
IMAD.SHL.U32 R4, R0, 0x4, RZ
LDG.E R9, [R4.64]
UMOV UR4, 0x20
BSSY B0, 0x090
ISETP.NE.AND P1, PT, R9, RZ, PT
@!P1 BRA 0x080
R2UR UR4, R9
MOV R5, UR4
BSYNC B0
IMAD R6, R5, 0x4, RZ
LOP3.LUT R6, R6, 0x1ffc, RZ, 0xc0, !PT
STS [R6], RZ
EXIT
"""


@pytest.mark.parametrize("launched", [True, False])
def test_uniform_register_that_diverged_groups_read_in_turn_differs_between_their_lanes(launched):
    """0x20 and a loaded number may be words of one bank."""
    (site,) = sites(COPIED_BEFORE_BSYNC, launched=launched)
    assert (site.status, site.per_request) == (Status.DATA_DEPENDENT, (1, 32))
