"""Divergence and reconvergence in machine code, compared with random programs on an H100 (bench/convergence)."""

import gzip
import json
from collections import Counter

import pytest
from convergence_programs import claims
from machine_code import STATED
from paths import DATA

from bench.convergence import model
from bench.convergence.programs import LANES, Step, lane_words, random_program
from ptxaudit.base.status import Status
from ptxaudit.engine.evaluate import evaluate
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.hardware import machines
from ptxaudit.hardware.accesses import with_access
from ptxaudit.ir import graph
from ptxaudit.ir import nodes as ir

MEASURED = {
    f"{manner} in {what}": {name: dict(counts) for name, counts in every.items() if name.split("/")[0] == manner}
    for what in ("convergence", "switches")
    for every in [json.loads(gzip.decompress((DATA / f"{what}_sm90.json.gz").read_bytes()))["counts"]]
    for manner in sorted({name.split("/")[0] for name in every})
}
COUNTED = (Status.EXACT, Status.UNREACHED)
# minimum share of counted records: none are counted where lanes leave a barrier without BREAK, or others wait at it
SHARE = {"reused": 0.15, "yielding": 0.5, "careless": 0.6, "halfway": 0.7}
SHARE_OF_SWITCHES = {"flat": 0.4, "tables": 0.7}  # … or where groups may meet without one


def _program_of(name: str) -> tuple[tuple[Step, ...], list[tuple[int, int]]]:
    """(program, its lanes) of a trace."""
    manner, seed, warp = name.split("/")
    return random_program(int(seed), manner), lane_words(int(seed))[LANES * int(warp) : LANES * (int(warp) + 1)]


@pytest.mark.parametrize("of", MEASURED)
def test_requests_match_counts_of_random_barrier_programs(of):
    counted = every = 0
    for name, measured in MEASURED[of].items():
        for number, site in claims(*_program_of(name)).items():
            every += 1
            if site.status in COUNTED:
                counted += 1
                assert (site.requests or 0) == measured.get(number, 0), (name, number)
    assert counted >= (SHARE_OF_SWITCHES if of.endswith("switches") else SHARE).get(of.split()[0], 0.8) * every


def requests(*steps: Step, lanes=None) -> dict:
    """record -> its requests, or None where they are not counted."""
    found = claims(steps, lanes or [(lane & 1, 9) for lane in range(LANES)])
    return {number: site.requests if site.status in COUNTED else None for number, site in found.items()}


def test_lanes_reconverge_only_at_convergence_barriers():
    inside = (Step("open", 0, 4), Step("decide"), Step("branch", 0, 4, True), Step("record", 1))
    assert requests(*inside, Step("sync", 0), Step("record", 2)) == {1: 1, 2: 1}
    assert requests(Step("decide"), Step("branch", 0, 3, True), Step("record", 1), Step("record", 2)) == {1: 1, 2: 2}


SWITCH = (Step("switch", targets=(2, 4, 6, 6)), Step("nop"))
CASES = tuple(step for number in (2, 4, 6) for step in (Step("record", number), Step("exit")))


@pytest.mark.parametrize(
    "sizes, first",
    [
        ((8, 12, 12), 2),  # the case of lane 0
        ((17, 9, 6), 4),  # more than half go there: the case of the lowest of the others, although another has fewer
        ((16, 2, 14), 2),  # half are not more than half
    ],
)
def test_indirect_branch_takes_the_case_of_the_lowest_lane_first(sizes, first):
    lanes = [(case, 1) for case, size in enumerate(sizes) for _ in range(size)]
    records = model.run(SWITCH + CASES, lanes)
    assert records[0][0] == first
    assert requests(*SWITCH, *CASES, lanes=lanes) == {2: 1, 4: 1, 6: 1}


def test_branch_around_a_nop_diverges_lanes():
    assert requests(Step("decide"), Step("branch", 0, 3, True), Step("nop"), Step("record", 1)) == {1: 2}


def test_lanes_reconverge_after_yield_at_a_full_mask_warpsync():
    spin = (Step("decide"), Step("branch", 0, 3, True), Step("yield"), Step("nop"))
    assert requests(*spin, Step("record", 1)) == {1: None}
    assert requests(*spin, Step("warpsync_all"), Step("record", 1)) == {1: 1}
    assert requests(*spin, Step("warpsync", 0xFFFFFFFF), Step("record", 1)) == {1: 1}


def test_warpsync_masks_of_own_group_do_not_wait_for_others():
    """Lanes that wait for all at another WARPSYNC keep waiting for them (a kernel whose halves each synchronise)."""
    lanes = [(int(lane % 4 == 0), 9) for lane in range(LANES)]
    rest = sum(1 << lane for lane in range(LANES) if lane % 4)
    assert requests(
        Step("decide"),
        Step("branch", 0, 3, True),
        Step("warpsync", rest),
        Step("warpsync_all"),
        Step("record", 1),
        lanes=lanes,
    ) == {1: 1}


# traces that the plain machine does not explain: a YIELD, and barriers set while others wait at them
UNEXPLAINED = {"yielding": 7, "reused": 2, "careless": 1}


@pytest.mark.parametrize("of", MEASURED)
def test_reference_model_matches_counts(of):
    other = sum(
        Counter(number for number, _ in model.run(*_program_of(name))) != measured
        for name, measured in MEASURED[of].items()
    )
    assert other <= UNEXPLAINED.get(of.split()[0], 0)


def test_reference_model_passes_warpsync_when_no_named_lane_is_missing():
    """The 24 lanes whose mask names only themselves continue; the 8 that wait for all at the other WARPSYNC stay until
    they come.
    """
    lanes = [(int(lane % 4 == 0), 1) for lane in range(LANES)]
    rest = sum(1 << lane for lane in range(LANES) if lane % 4)
    program = (
        Step("decide"),
        Step("branch", 0, 3, True),
        Step("warpsync", rest),
        Step("warpsync_all"),
        Step("record", 1),
    )
    assert model.run(program, lanes) == [(1, (1 << LANES) - 1)]


def test_waiting_lanes_resume_when_others_run_past_the_end_of_the_code():
    low, address, barrier = ir.Reg("P0", 1), ir.Reg("R4", 32), ir.Reg("B0", 32)
    tid = ir.Special("tid.x")
    parts: list[dict] = [
        {"ops": (ir.Op("setp.lt.u", (low,), (tid, ir.Const(16))), ir.Op("shl", (address,), (tid, ir.Const(2))))},
        {"control": ir.Control("open", (3,), barrier=barrier)},
        {"control": ir.Control("branch", (6,), ir.Guard(low, True))},
        {"control": ir.Control("sync", barrier=barrier)},
        {
            "ops": (ir.Op("store", (), (address, ir.Const(0)), attrs=(32,), space="shared"),),
            "site": with_access(ir.Site("STS", address), ()),
        },
        {"control": ir.Control("exit")},
        {},  # the end of the code: lanes 16 and above end here
    ]
    code = tuple(ir.Instruction(k, 16 * k, "", "", **part) for k, part in enumerate(parts))
    function = ir.Function("k", "sass", "sm_90", code, shared_static=1024, **STATED)
    launch = Launch("k", grid=(1,), block=(32,))
    (site,) = evaluate(function, graph.build(function), launch=launch, machine=machines.get("sm_90")).sites
    assert (site.status, site.requests, site.wavefronts) == (Status.EXACT, 1, 1)
