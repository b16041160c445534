"""Single PTX instructions, every form that the frontend supports, against what an H100 computed (bench/ptx_forms).

ptxas assembled them at -O3 and -O0; whatever the engine knows of a result equals the GPU's.
"""

from __future__ import annotations

import re

import pytest
from paths import DATA

from bench.ptx_forms.keep import ONCE_WRONG, kept
from bench.ptx_forms.opcodes import LEFT_OUT, ROWS
from ptxaudit.frontend.ptx.lift import meaning

KEPT = DATA / "ptx_forms_sm90.npz"
KNOWN = 0.85  # share of the results that are known, at least


@pytest.fixture(scope="module")
def compared():
    return list(kept(KEPT))


def test_known_results_of_ptx_instructions_equal_the_gpu(compared):
    assert not [f"{one.program.text}: {one.wrong[0]}" for one in compared if one.wrong]


def test_most_results_are_known(compared):
    certain = sum(one.certain for one in compared)
    assert certain >= KNOWN * (certain + sum(one.open_ + one.listed for one in compared))


def test_every_row_is_among_them(compared):
    assert {one.program.opcode.partition(".")[0] for one in compared} >= ROWS.keys() - LEFT_OUT


@pytest.mark.parametrize("what", ONCE_WRONG)
def test_forms_that_were_wrong_once_are_among_them(compared, what):
    assert any(re.search(ONCE_WRONG[what], one.program.text) for one in compared)


@pytest.mark.parametrize("opcode", ["madc.hi.s16", "madc.hi.u16", "cvt.rp.ftz.f16.f32", "cvt.rm.ftz.sat.f16.f32"])
def test_forms_that_ptxas_translates_otherwise_are_not_supported(opcode):
    assert meaning(opcode) is None
