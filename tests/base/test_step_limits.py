"""The cost of an analysis is limited in steps.

The answers are the same on every machine, and what was found before the steps ran out is kept.
"""

from __future__ import annotations

import ast
import itertools
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import measured_kernels
import numpy as np
import pytest
from long_kernel import HEAD, LONG, MACHINE, kernel

import ptxaudit
from ptxaudit.base.work import DEFAULT_BUDGET, STEPS_PER_SECOND, Account, Exhausted
from ptxaudit.engine import evaluate as engine
from ptxaudit.engine.answer.questions import with_questions
from ptxaudit.engine.answer.result import SiteResult, Status
from ptxaudit.engine.domain.value import Uniform, Value
from ptxaudit.engine.ops.halves import UpperHalf
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.ptx.lift import lift_module
from ptxaudit.frontend.ptx.parse import parse_module
from ptxaudit.hardware import machines
from ptxaudit.ir import graph
from ptxaudit.ir.link import link
from ptxaudit.ir.local_memory import lane_indexed
from ptxaudit.ir.reasons import Kind

PACKAGE = Path(ptxaudit.__file__).parent
CLOCKS = (
    "perf_counter",
    "monotonic",
    "process_time",
    "thread_time",
    "time",
    "time_ns",
    "perf_counter_ns",
    "monotonic_ns",
)


def evaluated(
    text: str, steps: int | None = None, launch: Launch | None = None
) -> tuple[tuple[SiteResult, ...], Account]:
    function = kernel(text)
    account = Account(steps)
    return (
        engine.evaluate(function, graph.build(function), launch=launch, machine=MACHINE, account=account).sites,
        account,
    )


def figures(site: SiteResult) -> tuple:
    return (
        site.index,
        site.status,
        str(site.reason),
        site.requests,
        site.wavefronts,
        site.excess,
        site.bounds,
        site.per_request,
        site.conditions,
    )


# --- the account ----------------------------------------------------------------------------


def test_account_raises_at_its_limit():
    account = Account(10)
    account.spend(10, "walking")
    with pytest.raises(Exhausted, match="walking: more than 10 steps") as caught:
        account.spend(1, "walking")
    assert (caught.value.what, caught.value.limit, caught.value.unit) == ("walking", 10, "steps")
    Account().spend(10**12, "anything")


def test_account_limits_held_bytes():
    account = Account(most=100)
    account.hold(100, "an array")
    with pytest.raises(Exhausted, match="100 bytes"):
        account.hold(1, "an array")


def test_part_of_an_account_is_charged_to_the_whole():
    account = Account(100)
    account.spend(20, "a")
    with account.part(0.25) as some:
        assert some.limit == 20
        some.spend(15, "b")
    assert account.spent == 35
    with pytest.raises(Exhausted), account.part(0.2) as some:
        some.spend(50, "c")
    assert account.spent == 48  # no more than the part
    with Account().part(0.5) as some:
        some.spend(10**12, "d")


def test_budget_in_seconds_is_a_number_of_steps():
    assert Account.for_budget(2).limit == 2 * STEPS_PER_SECOND
    assert Account.for_budget(None).limit is None
    assert Account.for_budget(None).share(0.5) == Account.for_budget(DEFAULT_BUDGET).share(0.5)


def test_kernel_account_starts_from_what_its_file_spent():
    file = Account()
    file.hold(60, "parameters")
    file.spend(5, "reading")
    kernel = file.begun(2 / STEPS_PER_SECOND)
    assert (kernel.limit, kernel.spent, kernel.held, kernel.most) == (2, 5, 60, file.most)
    with pytest.raises(Exhausted):
        kernel.spend(1, "walking")
    one, other = file.begun(), file.begun()
    one.hold(10, "an array")
    assert (one.held, other.held, file.held) == (70, 60, 60)


def test_account_within_a_smaller_limit_is_charged_to_the_whole():
    account = Account(most=100)
    initial = account.within(80)
    initial.hold(70, "initial values")
    with pytest.raises(Exhausted, match="80 bytes"):
        initial.hold(20, "initial values")
    assert account.held == 70
    with pytest.raises(Exhausted, match="100 bytes"):
        account.hold(40, "an array")
    account.hold(25, "an array")
    with pytest.raises(Exhausted, match="100 bytes"):
        initial.hold(10, "initial values")


# --- no clock -------------------------------------------------------------------------------

NAMED = re.compile(r"time|perf_counter|monotonic")  # in the text of a module that could read a clock
MAY_LOOK = {  # where a clock decides no answer
    "vendor.py": "ends a program that waits for input that never arrives, which is an error then",
    "nvrtc_worker.py": "sleeps between two looks at whether its parent is there",
    "pool_worker.py": "sleeps between two looks at whether its parent is there",
    "processes.py": "waits a moment for killed processes to be gone",
    "log.py": "names the file of a recorded process by when it began",
    "store.py": "notes when a value was used last: the oldest goes when the file is full",
}


def test_no_module_reads_a_clock():
    """A clock may stop an external program (`timeout`), which is then an error; it decides nothing else."""
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        if path.name in MAY_LOOK or not NAMED.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            module = node.module if isinstance(node, ast.ImportFrom) else ""
            assert not {"time", "datetime", "timeit"} & {*names, module}, path
            assert not (isinstance(node, ast.Attribute) and node.attr in CLOCKS[:4]), path


def test_result_is_independent_of_the_clock(monkeypatch):
    launch = Launch("k", grid=(2,), block=(64,), params=[None, 5])
    quick = [figures(s) for s in evaluated(LONG, 400_000, launch)[0]]
    hour = itertools.count(step=3600)
    for name in CLOCKS:
        monkeypatch.setattr(time, name, lambda: next(hour))
    assert [figures(s) for s in evaluated(LONG, 400_000, launch)[0]] == quick


# --- exhausted budgets ----------------------------------------------------------------------


def test_sites_before_exhaustion_keep_their_figures():
    before, inside, behind = evaluated(LONG, 400_000, Launch("k", grid=(2,), block=(32,), params=[None, 5]))[0]
    assert (before.status, before.wavefronts) == (Status.EXACT, 4)
    for site in (inside, behind):
        assert site.status is not Status.EXACT and site.requests is None
        assert "running the launch takes more than 359," in str(site.reason) and "--budget" in str(site.reason)


def test_exhausted_inference_leaves_later_blocks_unknown():
    """With nothing specified, blocks in program order."""
    _, whole = evaluated(_branches(64))
    sites, _ = evaluated(_branches(64), whole.spent // 2)
    answered = [s.status is not Status.UNKNOWN for s in sites]
    assert not any(answered) or answered == sorted(answered, reverse=True)
    assert all("takes more than" in str(s.reason) for s, known in zip(sites, answered) if not known)


@pytest.mark.parametrize("seconds", [1e-6, 1e-5, 1e-4, 1e-3])
def test_exhaustion_in_any_stage_lists_every_site(tmp_path, seconds):
    """Every site is listed, whatever was not finished."""
    (tmp_path / "k.ptx").write_text(LONG)
    for launches in ((), [Launch("k", grid=(2,), block=(32,), params=[None, 5])]):
        report = ptxaudit.audit(tmp_path / "k.ptx", budget=seconds, launches=launches)
        assert len(report.sites) == 3 and all(
            "--budget" in problem.hint and problem.kernel == "k" for problem in report.problems
        )
        assert bool(report.problems) is (seconds < 1e-4)  # where its callees, and so its sites, are unknown
        assert all("--budget" in s.reason for s in report.sites if s.status is Status.UNKNOWN)
        assert any(s.status is Status.UNKNOWN for s in report.sites)


def _partial(function, flow, launch, whole: tuple[SiteResult, ...], steps: int) -> int:
    """The number of sites that fewer steps answer; their answers are those of all steps."""
    sites = engine.evaluate(
        function, flow, launch=launch, machine=machines.get(function.arch), account=Account(steps)
    ).sites
    assert [s.index for s in sites] == [s.index for s in whole]
    for few, all_ in zip(sites, whole):
        if few.status is Status.EXACT or few.status is Status.UNREACHED and launch is not None:
            assert (few.requests, few.wavefronts, few.excess) == (all_.requests, all_.wavefronts, all_.excess)
        elif few.per_request is not None and all_.per_request is not None and min(few.per_request) >= 0:
            nobody = all_.reason is not None and all_.reason.of_kind(Kind.NO_SHAPE_REACHES)  # 0: no lane is active
            assert (
                few.per_request[0] <= all_.per_request[0] + bool(nobody) and all_.per_request[1] <= few.per_request[1]
            )
    return sum(s.status is not Status.UNKNOWN for s in sites)


@pytest.mark.parametrize("at", range(0, 60, 5))
def test_smaller_budget_gives_no_different_figure(at):
    """Measured kernels: each figure found with a part of the steps is the one found with all."""
    launch = measured_kernels.load("samples_sm90")[at]
    function = link(launch.module, launch.module.functions[launch.launch.kernel])
    flow = graph.build(function)
    for told in (launch.launch, None):
        account = Account()
        whole = engine.evaluate(function, flow, launch=told, machine=machines.get(function.arch), account=account).sites
        counts = [
            _partial(function, flow, told, whole, round(account.spent * part)) for part in (0.02, 0.1, 0.3, 0.6, 0.9)
        ]
        assert counts[0] <= counts[-1] <= len(whole)


SCRIPT = """
import json, sys
import ptxaudit
launches = [ptxaudit.Launch("k", grid=(2,), block=(64,), params=[None, 5]), ptxaudit.Launch("k", block=(48,))]
for seconds in map(float, sys.argv[2:]):
    print(json.dumps(ptxaudit.audit(sys.argv[1], budget=seconds, launches=launches).to_dict()["kernels"]))
"""
BUDGETS = (0.001, 0.02, 0.3)


@pytest.fixture(scope="module")
def said_by_processes(tmp_path_factory):
    """What each of two processes says, one line per budget; sets of names have another order in each process."""
    file = tmp_path_factory.mktemp("processes") / "k.ptx"
    file.write_text(LONG)
    return [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(file), *map(str, BUDGETS)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(PACKAGE.parent)},
        ).stdout.splitlines()
        for seed in ("1", "2")
    ]


@pytest.mark.parametrize("at", range(len(BUDGETS)), ids=map(str, BUDGETS))
def test_result_is_the_same_in_every_process(said_by_processes, at):
    one, other = (said[at] for said in said_by_processes)
    assert one == other and len(json.loads(one)) == 2


def test_budget_of_a_launch_is_independent_of_other_launches(tmp_path):
    (tmp_path / "k.ptx").write_text(LONG)
    one, other = (
        Launch("k", grid=(2,), block=(64,), params=[None, 5]),
        Launch("k", grid=(8,), block=(32,), params=[None, 7]),
    )
    alone = ptxaudit.audit(tmp_path / "k.ptx", budget=0.1, launches=[one]).kernels[0]
    assert ptxaudit.audit(tmp_path / "k.ptx", budget=0.1, launches=[other, one]).kernels[1].sites == alone.sites


def test_exhaustion_message_of_the_command(tmp_path):
    (tmp_path / "k.ptx").write_text(LONG)
    done = subprocess.run(
        [sys.executable, "-m", "ptxaudit", "audit", str(tmp_path / "k.ptx"), "--budget", "0.00001"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
        check=False,
    )
    assert done.returncode == 2 and "control flow takes more than 15 steps" in done.stdout, done
    assert (
        "error: analysing the control flow takes more than 15 steps" in done.stderr
        and "raise the limit: --budget SECONDS" in done.stderr
    )


# --- steps by size --------------------------------------------------------------------------


def _straight(n: int) -> str:
    """n accesses in a row."""
    return (
        HEAD
        + "".join(f"add.u32 %r{10 + i}, %r3, {4 * (i % 64)};\nst.shared.u32 [%r{10 + i}], %r1;\n" for i in range(n))
        + "ret;\n}\n"
    )


def _branches(n: int) -> str:
    """n conditional accesses, whose conditions are unknown without a launch."""
    body = "".join(
        f"setp.gt.s32 %p{i % 900}, %r4, {i};\n@%p{i % 900} bra L{i};\nadd.u32 %r{10 + i}, %r3, {4 * i};\n"
        f"st.shared.u32 [%r{10 + i}], %r1;\nL{i}:\n"
        for i in range(n)
    )
    return HEAD + body + "ret;\n}\n"


def _loops(n: int) -> str:
    """n loops in a row, whose numbers of trips only a launch specifies."""
    body = "".join(
        f"mov.u32 %r{10 + i}, 0;\nL{i}:\nmad.lo.u32 %r5, %r{10 + i}, 128, %r3;\nst.shared.u32 [%r5], %r1;\nadd.u32"
        f" %r{10 + i}, %r{10 + i}, 1;\nsetp.lt.u32 %p1, %r{10 + i}, %r4;\n@%p1 bra L{i};\n"
        for i in range(n)
    )
    return HEAD + body + "ret;\n}\n"


def _rewritten(n: int) -> str:
    """One register that is written n times, each time for an access."""
    return (
        HEAD
        + "".join(f"add.u32 %r5, %r3, {4 * (i % 64)};\nst.shared.u32 [%r5], %r1;\n" for i in range(n))
        + "ret;\n}\n"
    )


def _calls(n: int) -> str:
    """n calls of one function."""
    function = (
        ".func f(.param .b32 a) { .reg .b32 %r<9>; .shared .align 4 .b8 t[1024]; ld.param.u32 %r1, [a]; mov.u32 %r2, t;"
        " add.u32 %r2, %r2, %r1; st.shared.u32 [%r2], 0; ret; }\n"
    )
    call = "{ .param .b32 x; st.param.b32 [x], %r5; call f, (x); }\n"
    return HEAD.replace(".visible", function + ".visible", 1) + "mul.lo.u32 %r5, %r1, 4;\n" + call * n + "ret;\n}\n"


FAMILIES = {"straight": _straight, "branches": _branches, "loops": _loops, "rewritten": _rewritten, "calls": _calls}
LAUNCH = Launch("k", grid=(4,), block=(128,), params=[None, 7])


def steps_of(text: str, launch: Launch | None) -> int:
    """All steps, from linking to the questions."""
    module = lift_module(parse_module(text, "k.ptx"))
    structure, account = Account(), Account()
    function = link(module, module.functions["k"], structure)
    flow = graph.build(function, structure)
    lane_indexed(function, flow)
    with_questions(
        engine.evaluate(function, flow, launch=launch, machine=MACHINE, account=account),
        function,
        flow,
        MACHINE,
        launch,
        account,
    )
    return structure.spent + account.spent


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("launch", [None, LAUNCH], ids=["nothing specified", "a launch"])
def test_steps_are_linear_in_the_code(family, launch):
    small, large = (steps_of(FAMILIES[family](n), launch) for n in (60, 240))
    assert 2 * small < large < 5 * small


@pytest.mark.parametrize("family", FAMILIES)
def test_launch_is_charged_for_all_stages_of_its_kernel(family, tmp_path):
    """All stages draw on one account.

    The steps of the last stage alone are not enough, for either of two launches.
    """
    text = FAMILIES[family](60)
    module = lift_module(parse_module(text, "k.ptx"))
    account = Account()
    function = link(module, module.functions["k"], account)
    flow = graph.build(function, account)
    lane_indexed(function, flow)
    launch = account.begun()
    with_questions(
        engine.evaluate(function, flow, launch=LAUNCH, machine=MACHINE, account=launch),
        function,
        flow,
        MACHINE,
        LAUNCH,
        launch,
    )
    (tmp_path / "k.ptx").write_text(text)
    for steps, enough in ((4 * launch.spent, True), (launch.spent - account.spent + 1, False)):
        report = ptxaudit.audit(
            tmp_path / "k.ptx", budget=(steps + 0.5) / STEPS_PER_SECOND, launches=[LAUNCH, LAUNCH], machine=MACHINE.name
        )
        assert [all(site.status is not Status.UNKNOWN for site in one.sites) for one in report.kernels] == [
            enough,
            enough,
        ]


def test_steps_are_linear_in_array_elements():
    """For warps whose addresses differ by more than a shift: rows of arrays."""
    text = (
        HEAD + "mov.u32 %r5, %ctaid.x;\nmul.lo.u32 %r6, %r5, %r5;\nmul.lo.u32 %r6, %r6, %r1;\nand.b32 %r6, %r6,"
        " 1023;\nmad.lo.u32 %r7, %r6, 4, %r2;\nst.shared.u32 [%r7], %r1;\nret;\n}\n"
    )
    spent = [
        evaluated(text, None, Launch("k", grid=(blocks,), block=(256,), params=[None, 7]))[1].spent
        for blocks in (2048, 8192, 32_768)
    ]
    assert 3 < (spent[2] - spent[1]) / (spent[1] - spent[0]) < 5


@pytest.mark.parametrize(
    "more, arrays",
    [
        ({}, 1),
        ({"poison": np.zeros((64, 32), bool)}, 2),
        ({"poison": np.zeros((64, 32), bool), "sure": np.zeros((64, 32), np.uint32)}, 3),
        ({"terms": ((Uniform("n", key=1), np.ones((64, 32), np.uint32)),)}, 2),
    ],
)
def test_value_elements_count_every_array(more, arrays):
    value = Value(np.zeros((64, 32), np.uint32), **more)
    assert value.elements == arrays * 64 * 32
    whole = Value(np.zeros((64, 32), np.uint64))
    assert UpperHalf(whole, value).elements == value.elements + whole.elements


def test_steps_are_linear_in_trips():
    """A loop that is executed trip by trip costs the same number of steps for each trip."""
    text = (
        HEAD
        + "mov.u32 %r5, 0;\nmov.u32 %r6, 1;\nL:\nmad.lo.u32 %r6, %r6, 5, 1;\nand.b32 %r7, %r6, 1020;\nmad.lo.u32 %r7,"
        " %r7, %r1, %r2;\nst.shared.u32 [%r7], %r1;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, %r4;\n@%p1 bra"
        " L;\nret;\n}\n"
    )
    spent = np.array(
        [
            evaluated(text, None, Launch("k", grid=(1,), block=(32,), params=[None, trips]))[1].spent
            for trips in (100, 200, 400)
        ]
    )
    assert abs(spent[2] - spent[1] - 2 * (spent[1] - spent[0])) < 0.2 * spent[2]
