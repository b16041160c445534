"""Violated, satisfied, or not judged: a proved verdict of a limit or rule holds for all values of the unknowns."""

from __future__ import annotations

import json
import random

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs
from reports import kernel, open_site, report, site

import ptxaudit
from ptxaudit.engine.answer.result import SiteResult, Status
from ptxaudit.report.assemble import excess_per_request
from ptxaudit.report.model import LaunchRecord, Local, MemorySite, Pairing, Problem, Site, Source, Span, Why
from ptxaudit.review import rules
from ptxaudit.review.figures import Judgement, above_ideal, against, total_above_ideal, ways
from ptxaudit.review.findings import Certainty
from ptxaudit.review.gate import Limit, Standing, judge, parse_limit
from ptxaudit.review.rules import find
from ptxaudit.ui.cli import main
from ptxaudit.ui.render.problems import gate_text

VIOLATED, SATISFIED, OPEN = Judgement.VIOLATED, Judgement.SATISFIED, Judgement.OPEN


# --- intervals ------------------------------------------------------------------------------


@given(low=st.integers(0, 40), more=st.one_of(st.none(), st.integers(0, 40)), limit=st.integers(1, 90))
def test_limit_judges_an_interval_as_all_of_its_values(low, more, limit):
    high = None if more is None else low + more
    meets = {value >= limit for value in range(low, (limit + 100 if high is None else high) + 1)}
    assert against((low, high), limit) is {(True,): VIOLATED, (False,): SATISFIED}.get(tuple(meets), OPEN)


groups = st.lists(st.integers(1, 8), min_size=1, max_size=4).map(tuple)  # wavefronts of each lane group of a request
launch = st.lists(groups, min_size=1, max_size=4).map(tuple)  # the requests of one site
worlds = st.lists(launch, min_size=1, max_size=5).map(tuple)  # the possible launches


def figures_of(requests) -> tuple[int, int, int]:
    """(largest excess of a request, most ways of a group, total excess)"""
    above = [sum(request) - len(request) for request in requests]
    return max(above), max(max(request) for request in requests), sum(above)


def as_site(possible, status: Status) -> Site:
    """The knowledge about a site that may be any of these: the hull of all."""
    every = [request for requests in possible for request in requests]
    costs, ideals = [sum(request) for request in every], [len(request) for request in every]
    sums = [(sum(map(sum, requests)), sum(map(len, requests)), len(requests)) for requests in possible]
    same = [len({one[k] for one in sums}) == 1 for k in range(3)]
    result = SiteResult(0, status, per_request=(min(costs), max(costs)), ideal_per_request=(min(ideals), max(ideals)))
    return open_site(
        status,
        per_request=Span(*result.per_request),
        ideal_per_request=Span(*result.ideal_per_request),
        excess_per_request=excess_per_request(result),
        requests=sums[0][2] if same[2] else None,
        active_requests=sums[0][2] if same[2] else None,
        bounds=(min(one[0] for one in sums), max(one[0] for one in sums)),
        ideal=sums[0][1] if same[1] else None,
    )


@given(
    possible=worlds,
    status=st.sampled_from([Status.BOUNDED, Status.CONDITIONAL, Status.DATA_DEPENDENT]),
    limit=st.integers(1, 30),
)
@settings(max_examples=600, deadline=None)
@example(possible=(((2,),), ((1, 1),)), status=Status.BOUNDED, limit=1)  # equal costs, different ideals
def test_proved_judgements_hold_in_every_case(possible, status, limit):
    one = as_site(possible, status)
    for figure, at in ((above_ideal(one), 0), (ways(one), 1), (total_above_ideal(one), 2)):
        meets = {figures_of(requests)[at] >= limit for requests in possible}
        judged = against(figure, limit)
        assert judged is OPEN or meets == {judged is VIOLATED}
    if len({request for requests in possible for request in requests}) == 1:  # nothing is unknown then
        assert above_ideal(one)[0] == above_ideal(one)[1] == figures_of(possible[0])[0]
    for name, at in (("excess", 0), ("ways", 1), ("total-excess", 2), ("PA001", 0)):
        verdict = judge(report(kernel(one)), [Limit(name, None if name == "PA001" else limit)])
        meets = {figures_of(requests)[at] >= (1 if name == "PA001" else limit) for requests in possible}
        assert meets == {True} if verdict.denials else verdict.unjudged or meets == {False}
        assert sum(verdict.standing.values()) == 1


@given(
    limits=st.lists(
        st.sampled_from(
            [
                "excess=1",
                "excess=4",
                "ways=2",
                "ways=9",
                "total-excess=20",
                "PA001",
                "PA002",
                "PA004",
                "PA005",
                "PA006",
                "PA010",
            ]
        ),
        min_size=1,
        max_size=4,
        unique=True,
    ),
    seed=st.integers(0, 1 << 20),
    strict=st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_each_site_in_scope_of_a_limit_is_counted_once(limits, seed, strict):
    rng = random.Random(seed)
    pool = [
        site(),
        site(wavefronts=64),
        open_site(Status.UNKNOWN),
        open_site(Status.UNREACHED, requests=0),
        site(access="store", wavefronts=16),
        open_site(Status.UNKNOWN, access="wgmma"),
        as_site((((1,),), ((4,),)), Status.BOUNDED),
        as_site((((2,),), ((4,),)), Status.DATA_DEPENDENT),
    ]
    sites = [structs.replace(rng.choice(pool), id=str(n)) for n in range(rng.randrange(1, 6))]
    verdict = judge(report(kernel(*sites)), [parse_limit(limit) for limit in limits], strict)
    of_figures = any("=" in limit for limit in limits)
    concerned = sum(
        of_figures or any(rules.RULES[limit].concerns(kernel(*sites), one) for limit in limits if "=" not in limit)
        for one in sites
    )
    assert sum(verdict.standing.values()) == concerned
    assert bool(verdict.standing.get(Standing.DENIED)) <= any(denial.certain for denial in verdict.denials)
    assert verdict.unjudged <= concerned and (not strict or not verdict.warnings)
    if any(denial.site is not None and not denial.certain for denial in (*verdict.denials, *verdict.warnings)):
        assert verdict.unjudged or verdict.standing.get(Standing.DENIED)


# --- kernels --------------------------------------------------------------------------------

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 k_param_0) .reqntid 32, 1, 1
{{
.reg .b32 %r<20>;
.reg .f32 %f<9>;
.reg .pred %p<4>;
.shared .align 16 .b8 s[65536];
mov.u32 %r1, %tid.x;
ld.param.u32 %r2, [k_param_0];
mov.u32 %r3, s;
{body}
ret;
}}
"""
LIMITS = [f"{name}={n}" for name in ("excess", "ways") for n in (1, 2, 3, 5, 9, 17)] + ["PA001", "PA006"]


def body_of(rng: random.Random) -> tuple[str, int]:
    """An access whose address or active lanes depend on a parameter; the bytes of its element."""
    width = rng.choice([4, 8, 16])
    a, b, c = rng.choice([1, 1, 2, 3, 8, 32]), rng.choice([0, 1, 2, 32]), rng.choice([0, 0, 1, 2])
    lines = [
        f"mad.lo.u32 %r4, %r1, {a}, 0;",
        f"mad.lo.u32 %r4, %r2, {b}, %r4;",
        "mul.lo.u32 %r5, %r1, %r2;",
        f"mad.lo.u32 %r4, %r5, {c}, %r4;",
        "and.b32 %r4, %r4, 1023;" if rng.random() < 0.3 else "",
        f"mad.lo.u32 %r6, %r4, {width}, %r3;",
    ]
    guard = rng.choice(["", "", "setp.lt.u32 %p1, %r1, %r2;", "and.b32 %r7, %r1, %r2; setp.eq.u32 %p1, %r7, 0;"])
    vector = {4: "ld.shared.f32 %f1", 8: "ld.shared.v2.f32 {%f1, %f2}", 16: "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}"}[
        width
    ]
    return "\n".join([*lines, guard, f"{'@%p1 ' if guard else ''}{vector}, [%r6];"]), width


@pytest.mark.parametrize("seed", range(40))
def test_proved_judgements_of_a_kernel_hold_for_every_parameter(seed):
    """With only the block specified, whatever is denied or passes does so for every value of the parameter."""
    text = KERNEL.format(body=body_of(random.Random(seed))[0])
    numbers = [*range(34), 64, 100]
    launches = [ptxaudit.Launch("k", grid=1, block=32, params=[n]) for n in numbers]
    exact = ptxaudit.audit(text, launches=launches)
    assert not exact.problems and all(one.sites[0].settled for one in exact.kernels)
    reached = [report(one) for one in exact.kernels if one.sites[0].active_requests]
    known = ptxaudit.audit(text)
    for limit in map(parse_limit, LIMITS):
        verdict = judge(known, [limit])
        denied = {bool(judge(one, [limit]).denials) for one in reached}
        assert verdict.unjudged or denied <= {bool(verdict.denials)}, (limit, known.sites[0])


# --- sites that a rule could not judge -----------------------------------------------------

WIDE = {"width": 16, "opcode": "ld.shared.v4.f32", "consecutive": True}
UNKNOWN = open_site(Status.UNKNOWN, reason="tex.2d")


def stands(rule: str, *sites: Site, **changes) -> list[str]:
    """The standing of each site under a rule."""
    verdict = judge(report(kernel(*sites, **changes)), [parse_limit(rule)])
    return sorted(str(standing) for standing, count in verdict.standing.items() for _ in range(count))


@pytest.mark.parametrize(
    "rule, one, standing",
    [
        ("PA001", site(), ["passed"]),
        ("PA001", site(wavefronts=64), ["denied"]),
        ("PA001", UNKNOWN, ["not judged"]),
        ("PA001", site(access="store"), []),
        ("PA001", open_site(Status.UNKNOWN, access="wgmma"), ["not judged"]),
        ("PA001", site(access="wgmma"), ["passed"]),
        ("PA002", open_site(Status.UNKNOWN, access="wgmma"), []),
        ("PA002", open_site(Status.UNKNOWN, access="bulk copy"), ["not judged"]),
        ("PA001", open_site(Status.UNKNOWN, access="other"), ["not judged"]),
        ("PA002", open_site(Status.UNKNOWN, access="other"), ["not judged"]),
        ("PA003", open_site(Status.UNKNOWN, access="mbarrier"), ["not judged"]),
        ("PA003", site(access="atomic", wavefronts=64), ["denied"]),
        ("PA004", open_site(Status.UNKNOWN, access="cp.async", opcode="cp.async.cg.shared.global"), ["not judged"]),
        ("PA002", open_site(Status.UNKNOWN, access="cp.async", opcode="cp.async.cg.shared.global"), []),
        ("PA002", open_site(Status.UNKNOWN, access="cp.async", opcode="LDGSTS.E.128"), ["not judged"]),
        ("PA004", open_site(Status.UNKNOWN, access="cp.async", opcode="LDGSTS.E.BYPASS.128"), ["not judged"]),
        ("PA005", site(access="cp.async", consecutive=True), ["denied"]),
        ("PA005", site(access="cp.async", consecutive=False), ["passed"]),
        ("PA005", site(access="cp.async", consecutive=None), ["not judged"]),
        ("PA005", site(access="cp.async", consecutive=True, width=16), []),
        ("PA006", site(unaligned=(), **WIDE), ["passed"]),
        ("PA006", site(unaligned=("n",), **WIDE), ["not judged"]),
        ("PA006", site(unaligned=None, **WIDE), ["not judged"]),
        ("PA006", site(status=Status.UNREACHED, **WIDE), ["passed"]),
        ("PA006", site(), []),
        ("PA006", open_site(Status.UNKNOWN, **WIDE), ["not judged"]),
        ("PA006", open_site(Status.INVARIANT, unaligned=(), **WIDE), ["passed"]),
        ("PA006", open_site(Status.INVARIANT, unaligned=("n",), **WIDE), ["not judged"]),
        ("PA006", open_site(Status.UNKNOWN, why=Why("misaligned", False), **WIDE), ["denied"]),
        ("PA007", site(**WIDE), ["not judged"]),
        ("PA007", site(), []),
        ("PA009", site(), ["passed"]),
        ("PA009", site(None), ["denied"]),
        ("PA010", site(), ["passed"]),
        ("PA010", open_site(Status.UNREACHED, requests=0), ["denied"]),
        ("PA010", UNKNOWN, ["not judged"]),
    ],
)
def test_each_rule_counts_its_unjudged_sites(rule, one, standing):
    assert stands(rule, one) == standing


def test_split_vector_is_judged_by_its_machine_code():
    vector, pieces = (
        site(id="v", **WIDE),
        [site(id=f"s{n}", opcode="LDS", offset=16 * n, ptx_line=None) for n in range(2)],
    )
    machine = kernel(*pieces, isa="sass")
    for pairing, standing in (
        (Pairing("split", 1, ("v",), ("s0", "s1")), {"denied": 1}),
        (Pairing("deleted", 1, ("v",), ()), {"passed": 1}),
        (None, {"denied": 1}),
    ):
        both = report(kernel(structs.replace(vector, pairing=pairing)), machine)
        assert {str(k): n for k, n in judge(both, [parse_limit("PA007")]).standing.items()} == standing


def test_rules_on_local_arrays_and_kernels_without_a_launch():
    by = [Local("ld.local.f32", "", by, None, 5, Source("/src/k.cu", 5)) for by in ("lane", "data")]
    assert stands("PA008", site(), local=tuple(by)) == ["denied", "not judged"] and stands("PA008", site()) == []
    assert stands("PA010", site(), launch=None) == []


def of_memory(status: Status = Status.EXACT, space: str = "global", **changes) -> MemorySite:
    known = dict(id="m", offset=16, ptx_line=None, opcode="ATOMG.E", text="", access="atomic", width=4, source=None)
    return MemorySite(**(known | {"status": status, "space": space, "requests": 4} | changes))


ALIKE = Why("several", False, parts=(Why("lanes-cost-alike", False),))


@pytest.mark.parametrize(
    "rule, one, changes, standing",
    [
        ("PA012", of_memory(same_address=1), {}, ["passed"]),
        ("PA012", of_memory(Status.BOUNDED, same_address=1), {}, ["passed"]),
        ("PA012", of_memory(Status.UNREACHED), {}, ["passed"]),
        ("PA012", of_memory(same_address=8), {}, ["denied"]),
        ("PA012", of_memory(same_address=8), {"isa": "ptx"}, ["not judged"]),
        ("PA012", of_memory(Status.INVARIANT, same_address=8), {}, ["denied"]),
        ("PA012", of_memory(Status.INVARIANT, same_address=8, why=ALIKE), {}, ["not judged"]),
        ("PA012", of_memory(Status.DATA_DEPENDENT), {}, ["not judged"]),
        ("PA012", of_memory(access="load"), {}, []),
        ("PA013", of_memory(kind="spill", space="local", requests=64), {}, ["denied"]),
        ("PA013", of_memory(kind="spill", space="local", requests=32), {}, ["passed"]),
        ("PA013", of_memory(kind="spill", space="local", requests=64), {"launch": None}, ["not judged"]),
        (
            "PA013",
            of_memory(kind="spill", space="local", requests=64),
            {"launch": LaunchRecord(None, None)},
            ["not judged"],
        ),
        ("PA013", of_memory(Status.UNKNOWN, kind="spill", space="local", requests=None), {}, ["not judged"]),
        ("PA013", of_memory(Status.UNREACHED, kind="spill", space="local"), {"launch": None}, ["passed"]),
        ("PA013", of_memory(space="local", opcode="STL", requests=64), {}, ["not judged"]),
        ("PA013", of_memory(space="local", opcode="STL", requests=32), {}, ["passed"]),
        ("PA013", of_memory(space="local", opcode="ST.E", requests=64), {}, []),
        ("PA013", of_memory(space="local", opcode="STL", kind="array", requests=64), {}, []),
    ],
)
def test_each_memory_rule_counts_its_unjudged_sites(rule, one, changes, standing):
    assert stands(rule, memory=(one,), **({"isa": "sass"} | changes)) == standing


def test_ideal_cost_does_not_imply_one_way():
    given = SiteResult(0, Status.INVARIANT, requests=2, active_requests=2, per_request=(1, 1), ideal_per_request=(1, 1))
    assert structs.replace(given, ways=32).counted().ways == 1  # in shared memory, one way per group
    assert structs.replace(given, ways=32, lanes=64).counted().ways is None
    assert structs.replace(given, ways=1, lanes=64).counted().ways == 1


def test_adjacent_scalars_that_may_conflict_are_not_judged():
    open_ = as_site((((1,),), ((4,),)), Status.BOUNDED)
    four = [
        structs.replace(open_, text=f"ld.shared.f32 %f{n}, [%r1+{n * 4}];", id=str(n), lane_step=16) for n in range(4)
    ]
    assert stands("PA005", *four) == ["not judged"] * 4
    assert [finding.certainty for finding in find(report(kernel(*four))) if finding.rule == "PA005"] == [
        Certainty.UNKNOWN
    ] * 4
    assert stands("PA005", *(structs.replace(one, lane_step=4) for one in four)) == ["passed"] * 4


def test_tried_block_shapes_prove_no_judgement():
    told = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k() SHAPE
{
.reg .b32 %r<4>;
.shared .align 4 .b8 s[4096];
mov.u32 %r1, %tid.x;
mov.u32 %r2, s;
mad.lo.u32 %r3, %r1, STRIDE, %r2;
st.shared.u32 [%r3], %r1;
ret;
}
"""
    for stride, expected in ((128, Standing.DENIED), (4, Standing.PASSED)):
        text = told.replace("STRIDE", str(stride))
        for shape, standing in (("", Standing.OPEN), (".reqntid 32, 1, 1", expected)):
            verdict = judge(
                ptxaudit.audit(text.replace("SHAPE", shape)), [parse_limit("excess=1"), parse_limit("PA002")]
            )
            assert verdict.standing == {standing: 1}


@pytest.mark.parametrize(
    "address, kind",
    [
        ("mov.u32 %r1, %tid.x; shl.b32 %r4, %r1, 4;", "by-shape"),
        ("mov.b32 %r5, %laneid; shl.b32 %r4, %r5, 9;", "by-last-warp"),
    ],
)
def test_copy_steps_depend_on_the_unspecified_block(address, kind):
    """Rows of 16 bytes take one step in a block of 32 lanes, four in one of 2 x 16, and one in a block of one lane."""
    text = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a)
{{
.reg .b32 %r<8>;
.reg .b64 %d<2>;
.shared .align 128 .b8 s[65536];
ld.param.u64 %d1, [a];
{address}
mov.u32 %r2, s;
add.u32 %r4, %r4, %r2;
cp.async.cg.shared.global [%r4], [%d1], 16;
ret;
}}
"""
    given = ptxaudit.audit(text)
    (free,) = given.sites
    assert free.status is Status.CONDITIONAL and kind in {why.kind for why in free.why.walk()}
    assert judge(given, [parse_limit("PA004")]).standing == {Standing.OPEN: 1} and free.conditions
    for block in ((32,), (1,), (2, 16), (4, 24), (2, 1, 24)):
        (one,) = ptxaudit.audit(text, launches=[ptxaudit.Launch("k", grid=1, block=block)]).sites
        assert (free.line_class_proved or 0) <= one.line_class_proved <= one.line_class_max <= free.line_class_max


def test_partial_vector_request_may_conflict_where_the_full_one_does_not():
    """Lanes 0 and 16 alone form one group, in which they conflict; all lanes form two groups without a conflict."""
    body = (
        "mad.lo.u32 %r4, %r1, 8, %r3;\nand.b32 %r7, %r1, %r2;\nsetp.eq.u32 %p1, %r7, 0;\n@%p1 ld.shared.v2.f32 {%f1,"
        " %f2}, [%r4];"
    )
    text = KERNEL.format(body=body)
    one = lambda n: ptxaudit.audit(text, launches=[ptxaudit.Launch("k", grid=1, block=32, params=[n])]).sites[0]
    assert (one(0).excess, one(15).active_requests, one(15).excess) == (0, 1, 1)
    assert judge(ptxaudit.audit(text), [parse_limit("excess=1")]).standing == {Standing.OPEN: 1}


# --- the closing line -----------------------------------------------------------------------


def line(limits, *sites, strict=False, problems=()):
    verdict = judge(report(kernel(*sites), problems=problems), [parse_limit(limit) for limit in limits], strict)
    return gate_text(verdict, strict, len(problems))


def test_closing_line_counts_unjudged_sites():
    loads, matrices = (
        [site(id=str(n)) for n in range(64)],
        [open_site(Status.UNKNOWN, access="wgmma", id=f"m{n}") for n in range(2)],
    )
    assert (
        line(["PA001"], *loads, *matrices)
        == "gate: nothing denied; 2 of 66 sites could not be judged (64 passed); --strict denies them"
    )
    assert (
        line(["PA001"], *loads, *matrices, strict=True)
        == "gate: 2 denials; 2 of 66 sites could not be judged (64 passed) and were denied (--strict)"
    )
    assert line(["PA001"], *loads) == "gate: nothing denied; all of 64 sites could be judged"
    assert line(["PA002"], *loads) == "gate: nothing denied; no site to judge"
    assert (
        line(["PA002"], *loads, site(access="store"))
        == "gate: nothing denied; all of 1 site concerned, of 65, could be judged"
    )
    assert (
        line(["excess=1"], site(), site(wavefronts=64))
        == "gate: 1 denial; all of 2 sites could be judged (1 passed, 1 denied)"
    )


def test_closing_line_counts_kernels_that_could_not_be_audited():
    broken = [Problem("no rule", kernel="k2", file="k.cu"), Problem("not PTX", file="cut.ptx")]
    assert (
        line(["excess=1"], site(), problems=broken)
        == "gate: nothing denied, but 2 problems above: not everything was checked; all of 1 site could be judged; "
        "and none of 2 kernels or files that could not be audited"
    )


def test_baseline_does_not_excuse_unjudged_sites(tmp_path):
    """Sites that it could not judge count as not judged, and are denied once they are proved."""
    from ptxaudit.review.baseline import Ratchet, baseline_json, read_baseline

    file = tmp_path / "b.json"
    at = lambda one: structs.replace(one, source=Source("/src/k.cu", 10, 0, "a();"), id="k")
    unknown, bad, good = at(UNKNOWN), at(site(wavefronts=64)), at(site())
    file.write_text(baseline_json(report(kernel(unknown))))
    for limits in ([], ["excess=1"], ["ways=2"], ["PA001"]):
        of = [parse_limit(limit) for limit in limits]
        found = {}
        for name, now in (("unknown", unknown), ("bad", bad), ("good", good)):
            new = report(kernel(now))
            found[name] = judge(new, of, ratchet=Ratchet.of(read_baseline(file), new))
        assert (
            not found["unknown"].denials
            and not found["unknown"].warnings
            and found["unknown"].standing == {Standing.OPEN: 1}
        )
        assert (
            len(found["bad"].denials) == 1
            and found["bad"].denials[0].certain
            and found["bad"].standing == {Standing.DENIED: 1}
        )
        assert not found["good"].denials and found["good"].standing == {Standing.PASSED: 1}


def test_strict_denies_only_sites_unjudged_since_the_baseline(tmp_path):
    """--strict only denies new sites, and the closing line says so."""
    from ptxaudit.review.baseline import Ratchet, baseline_json, read_baseline

    file = tmp_path / "b.json"
    old = structs.replace(UNKNOWN, source=Source("/src/k.cu", 10, 0, "a();"), id="k")
    more = structs.replace(UNKNOWN, source=Source("/src/k.cu", 20, 0, "b();"), id="m")
    file.write_text(baseline_json(report(kernel(old))))
    for limits in ([], [parse_limit("excess=1")], [parse_limit("PA001")]):

        def closing(*sites, strict):
            verdict = judge(new := report(kernel(*sites)), limits, strict, ratchet=Ratchet.of(read_baseline(file), new))
            return len(verdict.denials), gate_text(verdict, strict)

        for strict in (False, True):
            assert closing(old, strict=strict) == (
                0,
                "gate: nothing denied; 1 of 1 site could not be judged, as in the baseline",
            )
        assert closing(old, more, strict=False) == (
            0,
            (
                "gate: nothing denied; 2 of 2 sites could not be judged, 1 of them as in the baseline; --strict denies"
                " the others"
            ),
        )
        assert closing(old, more, strict=True) == (
            1,
            (
                "gate: 1 denial; 2 of 2 sites could not be judged, 1 of them as in the baseline; the others were denied"
                " (--strict)"
            ),
        )


def test_older_baseline_lists_unjudged_rules_as_findings(tmp_path):
    from ptxaudit.review.baseline import Ratchet, baseline_json, read_baseline

    file = tmp_path / "b.json"
    at = lambda one: structs.replace(one, source=Source("/src/k.cu", 10, 0, "a();"), id="k")
    document = json.loads(baseline_json(report(kernel(at(UNKNOWN)))))
    for entry in (document["kernels"][0], *document["kernels"][0]["sites"]):
        entry["rules"] += entry.pop("open")
    assert "PA001" in document["kernels"][0]["sites"][0]["rules"]
    file.write_text(json.dumps(document))
    new = report(kernel(at(site(wavefronts=64))))
    assert judge(new, [parse_limit("PA001")], ratchet=Ratchet.of(read_baseline(file), new)).denials


def test_strict_option_denies_unjudged_sites(tmp_path):
    (tmp_path / "k.ptx").write_text(
        KERNEL.format(body="mad.lo.u32 %r4, %r1, %r2, %r3;\nand.b32 %r4, %r4, 65532;\nld.shared.f32 %f1, [%r4];")
    )
    for strict, status, words in (((), 0, "--strict denies them"), (("--strict",), 1, "were denied (--strict)")):
        done = CliRunner().invoke(main, ["audit", str(tmp_path / "k.ptx"), "--fail-on", "PA001", *strict])
        assert done.exit_code == status and "1 of 1 site could not be judged" in done.stderr and words in done.stderr
