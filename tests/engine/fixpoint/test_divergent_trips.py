"""Lanes of a warp are in one trip of a loop where those that diverge in it wait for each other, and otherwise may not be.

Each kernel stores to a word that depends on the trip: one wavefront if all lanes are in one trip, and up to 32 if each
may be in another. Which lanes take a branch depends on an unspecified parameter.
"""

from __future__ import annotations

import re

import pytest
from sass_text import function_of

from ptxaudit.engine.evaluate import evaluate
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware import machines
from ptxaudit.ir.graph import build

AT_THE_HEAD = """
S2R R0, SR_TID.X
IMAD.SHL.U32 R8, R0, 0x4, RZ
MOV R9, RZ
BSSY B0, 0x80
IMAD R7, R9, 0x4, R8
ISETP.GE.AND P1, PT, R0, c[0x0][0x210], PT
@P1 BRA 0x80
STS [R7], R9
BSYNC B0
STS [R7], R9
IADD3 R9, R9, 0x1, RZ
ISETP.LT.AND P0, PT, R9, c[0x0][0x214], PT
@P0 BRA 0x30
EXIT
"""
IN_AN_INNER_LOOP = """
S2R R0, SR_TID.X
IMAD.SHL.U32 R8, R0, 0x4, RZ
MOV R11, RZ
IMAD R12, R0, c[0x0][0x210], RZ
MOV R9, RZ
BSSY B1, 0xd0
ISETP.GE.AND P0, PT, R0, c[0x0][0x218], PT
@P0 BRA 0xd0
IMAD R7, R9, 0x4, R8
STS [R7], R9
IADD3 R9, R9, 0x1, RZ
ISETP.LT.AND P0, PT, R9, R12, PT
@P0 BRA 0x80
BSYNC B1
IADD3 R11, R11, 0x1, RZ
ISETP.LT.AND P2, PT, R11, c[0x0][0x214], PT
@P2 BRA 0x40
EXIT
"""
LOOPS = {"at the head": (AT_THE_HEAD, "B0"), "in an inner loop": (IN_AN_INNER_LOOP, "B1")}


def costs(text: str) -> set[tuple[int, int] | None]:
    """(lowest, highest) number of wavefronts of a request of each site."""
    function = function_of(text)
    launch = Launch("k", grid=(1,), block=(64,))
    found = evaluate(function, build(function), launch=launch, machine=machines.get("sm_90"))
    return {site.per_request for site in found.sites}


@pytest.mark.parametrize("name", LOOPS)
def test_lanes_that_wait_for_each_other_are_in_one_trip(name: str) -> None:
    assert costs(LOOPS[name][0]) == {(1, 1)}


def test_barrier_that_is_opened_only_before_the_loop_holds_lanes_in_its_first_trip_only() -> None:
    """In later trips BSYNC waits for nobody."""
    assert (1, 32) in costs(AT_THE_HEAD.replace("@P0 BRA 0x30", "@P0 BRA 0x40"))


def test_lanes_that_leave_the_barrier_may_be_in_another_trip() -> None:
    body = AT_THE_HEAD.replace("0x80", "0x90").replace("STS [R7], R9\nBSYNC", "BREAK B0\nSTS [R7], R9\nBSYNC")
    assert (1, 32) in costs(body)


@pytest.mark.parametrize("name", LOOPS)
def test_lanes_that_do_not_wait_may_be_in_different_trips(name: str) -> None:
    text, barrier = LOOPS[name]
    without = re.sub(rf"^(BSSY|BSYNC) {barrier}\b.*$", "NOP", text, flags=re.MULTILINE)
    assert (1, 32) in costs(without)
