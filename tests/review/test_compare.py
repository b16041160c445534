"""Comparing a report with a profile: verdicts on sites, kernels matched by name and code, Nsight Compute's CSV."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import jsonschema
import measured_kernels
import pytest
from click.testing import CliRunner
from msgspec import structs
from paths import SAMPLES
from reports import LAUNCH, kernel, report, site

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.engine.answer.result import Status
from ptxaudit.report.model import Condition, MemorySite, Span
from ptxaudit.review.compare import Counted, Profile, Verdict, compare, judge
from ptxaudit.review.ncu_csv import parse_export, read_profiles, simplified
from ptxaudit.review.profiles import _of_name, compare_all
from ptxaudit.ui.cli import main
from ptxaudit.ui.render.comparison import compared_text

SCHEMA = Path(ptxaudit.__file__).parent / "report" / "schemas" / "compare-1.schema.json"
TABLE = """\
"Kernel Name","{name}",
"Address","Source","# Samples","Instructions Executed","L1 Wavefronts Shared Ideal","L1 Wavefronts Shared"
"0x7f10","      LDC R1, c[0x0][0x28]","3","4","0","0"
"0x7f20","      LDS R0, [R2]","1","{requests}","4","{wavefronts}"
"0x7f30","@!P0  LDS.64 R0, [R2]","1","0","0","0"
"""


def at(offset=16, opcode="LDS", **changes):
    known = {"opcode": opcode, "text": f"{opcode} R0, [R2]", "offset": offset, "ptx_line": None}
    return structs.replace(site(None), **(known | changes))


def exact(requests=4, wavefronts=8, **changes):
    return at(
        status=Status.EXACT,
        requests=requests,
        active_requests=requests,
        wavefronts=wavefronts,
        ideal=4,
        excess=wavefronts - 4,
        **changes,
    )


def entry(*sites, name="k", **changes):
    return kernel(*sites, name=name, demangled=name, isa="sass", **changes)


def ranged(low, high, **changes):
    changes = {"requests": None, "reason": "loaded from memory", "status": Status.DATA_DEPENDENT} | changes
    return at(
        bounds=(low, high),
        active_requests=None,
        wavefronts=None,
        ideal=None,
        excess=None,
        ways=None,
        per_request=None,
        **changes,
    )


# --- one site -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ours, counted, verdict",
    [
        (exact(), (4, 8), Verdict.EQUAL),
        (exact(), (5, 8), Verdict.DIFFERS),
        (exact(), (4, 9), Verdict.DIFFERS),
        (exact(opcode="LDS.64"), (4, 9), Verdict.DISPUTED),
        (exact(opcode="LDS.U.128"), (4, 9), Verdict.DISPUTED),
        (exact(opcode="LD.E.64.STRONG.SYS"), (4, 9), Verdict.DISPUTED),
        (exact(opcode="LDG.E.64"), (4, 9), Verdict.DIFFERS),
        (exact(opcode="LDS.64"), (5, 8), Verdict.DIFFERS),
        (exact(opcode="STS.64"), (4, 9), Verdict.DIFFERS),
        (exact(opcode="LDGSTS.E.64"), (4, 9), Verdict.DISPUTED),
        (ranged(4, 16), (4, 16), Verdict.WITHIN),
        (ranged(4, 16), (4, 17), Verdict.DIFFERS),
        (ranged(4, 16, requests=4), (4, 5), Verdict.WITHIN),
        (ranged(4, 16, requests=4), (5, 5), Verdict.DIFFERS),
        (at(status=Status.UNREACHED, requests=0), (0, 0), Verdict.EQUAL),
        (at(status=Status.UNREACHED, requests=0), (1, 1), Verdict.DIFFERS),
    ],
)
def test_site_is_compared_with_its_counts(ours, counted, verdict) -> None:
    assert judge(ours, Counted(16, ours.text, *counted))[0] is verdict


def test_copy_past_the_caches_is_compared_by_requests() -> None:
    copy = ranged(0, 0, opcode="LDGSTS.E.BYPASS.128", requests=4, status=Status.BOUNDED)
    assert judge(copy, Counted(16, "", 4, 32))[0] is Verdict.REQUESTS
    assert judge(copy, Counted(16, "", 5, 32))[0] is Verdict.DIFFERS


def test_figures_per_request_bound_the_counted_sum() -> None:
    invariant = at(
        status=Status.INVARIANT,
        requests=None,
        active_requests=None,
        wavefronts=None,
        ideal=None,
        excess=None,
        per_request=Span(2, 2),
    )
    assert judge(invariant, Counted(16, "", 4, 8))[0] is Verdict.WITHIN
    assert judge(invariant, Counted(16, "", 4, 9))[0] is Verdict.DIFFERS


def test_unknown_lanes_are_cases_of_one_range() -> None:
    cases = (Condition("all lanes that can take part do", 1, 1, 1), Condition("fewer lanes do", 1, 2))
    figures = {"status": Status.DATA_DEPENDENT, "reason": "x", "requests": None, "wavefronts": None}
    lanes = at(per_request=Span(1, 2), conditions=cases, **figures)
    assert judge(lanes, Counted(16, "", 4, 8))[0] is Verdict.WITHIN
    assert judge(lanes, Counted(16, "", 4, 9))[0] is Verdict.DIFFERS
    assert judge(at(per_request=Span(1, 1), conditions=cases, **figures), Counted(16, "", 4, 8))[0] is Verdict.WITHIN


@pytest.mark.parametrize(
    "counter, verdict",
    [
        (None, Verdict.DISPUTED),
        (8, Verdict.DISPUTED),
        (12, Verdict.DIFFERS),  # the profiler was right after all
        (6, Verdict.DIFFERS),  # instructions cannot cost less than that
        (10, Verdict.DISPUTED),  # between the report and the profiler: it may include wavefronts that fill the L1
        (40, Verdict.DISPUTED),
    ],
)
def test_disputed_site_is_settled_by_the_launch_counter(counter, verdict) -> None:
    counters = {} if counter is None else {"op_ld": counter}
    result = compare(entry(exact(opcode="LDS.64")), Profile("k", (Counted(16, "LDS.64 R0, [R2]", 4, 12, 8),), counters))
    assert [row.verdict for row in result.rows] == [verdict]
    assert result.differs == (verdict is Verdict.DIFFERS)


def test_counter_is_inconclusive_if_profiler_errors_cancel() -> None:
    """LDS.128 with 16 lanes on one address costs 2 wavefronts instead of 1, and with pairs on three addresses 3 instead
    of 4.
    """
    sites = [exact(id=f"k+{at:#x}", offset=at, opcode="LDS.128", wavefronts=n) for at, n in ((16, 3), (32, 3))]
    counted = (Counted(16, "LDS.128", 4, 2), Counted(32, "LDS.128", 4, 4))
    result = compare(entry(*sites), Profile("k", counted, {"op_ld": 6}))
    assert {row.verdict for row in result.rows} == {Verdict.DISPUTED}


@pytest.mark.parametrize(("counter", "verdict"), [(8, Verdict.DISPUTED), (9, Verdict.DISPUTED), (7, Verdict.DIFFERS)])
def test_counter_off_by_one_wavefront_is_no_proof(counter, verdict) -> None:
    """Forty runs of one launch: 35 counted 300 wavefronts of loads, five counted 301, as did the profiler's own sum."""
    result = compare(
        entry(exact(opcode="LDS.128")), Profile("k", (Counted(16, "LDS.128", 4, 9, 8),), {"op_ld": counter})
    )
    assert [row.verdict for row in result.rows] == [verdict]


@pytest.mark.parametrize(
    ("figures", "counted", "agrees"),
    [
        ({"wavefronts": 0, "per_request": Span(0, 0)}, 4, True),  # all in other memory: one per request
        ({"wavefronts": 0, "per_request": Span(0, 0)}, 0, False),
        ({"wavefronts": 8, "per_request": Span(2, 2)}, 8, True),  # all in shared memory: their cost
        ({"wavefronts": 8, "per_request": Span(2, 2)}, 12, False),
        ({"wavefronts": 4, "per_request": Span(0, 2)}, 6, True),  # some of both
    ],
)
def test_atomic_counter_includes_other_memory(figures, counted, agrees) -> None:
    site = exact(opcode="ATOM.E.ADD.STRONG.GPU", access="atomic", **figures)
    profile = Profile("k", (Counted(16, site.text, 4, figures["wavefronts"]),), {"op_atom": counted})
    (total,) = compare(entry(site), profile).totals
    assert total.agrees == agrees


@pytest.mark.parametrize(
    ("sectors", "tags", "verdict"),
    [(1024, 4, "disputed"), (64, 0, "disputed"), (0, 7552, "disputed"), (64, 16, "differs"), (16, 4, "within")],
)
def test_sectors_inconsistent_with_tag_requests_are_disputed(sectors, tags, verdict) -> None:
    """A tag request covers one to four sectors of a line. Such counts occurred for `@!P0 LDGSTS.E.BYPASS.128` in 64
    warps, of which four had lanes that copy, and for an `@P0` one that copies in a kernel of CUTLASS.
    """
    ours = MemorySite(
        id="k+0x10",
        space="global",
        offset=16,
        ptx_line=None,
        opcode="LDGSTS.E.BYPASS.LTC128B.128",
        text="LDGSTS",
        access="cp.async",
        width=16,
        source=None,
        status=Status.BOUNDED,
        reason="",
        requests=64,
        bounds=(4, 32),
    )
    counted = Counted(16, "@!P0 LDGSTS", 64, 256, 256, sectors, tags)
    [row] = compare(structs.replace(entry(), memory=(ours,)), Profile("k", (counted,))).memory
    assert row.verdict == verdict
    assert ("contradict" in row.why) is (verdict == "disputed")


@pytest.mark.parametrize(
    ("text", "tags", "verdict"),
    [
        ("LDGSTS.E.BYPASS.LTC128B.128 desc[UR14][R12.64], P0, [R138]", 8192, "disputed"),
        ("@P2 LDGSTS.E.BYPASS.LTC128B.128 desc[UR14][R12.64], [R138]", 8192, "disputed"),
        ("LDGSTS.E.BYPASS.LTC128B.128 desc[UR14][R12.64], P0, [R138]", 4096, "differs"),
        ("LDGSTS.E.BYPASS.LTC128B.128 desc[UR14][R12.64], [R138]", 8192, "differs"),
    ],
)
def test_sectors_of_predicated_copies_are_disputed(text, tags, verdict) -> None:
    """The profiler counts this way for a matrix product of CUTLASS on an H100: 64 copies take 16,384 sectors; those
    guarded by P0 are reported with 15,136 to 16,256, and with the tag requests of the others.
    """
    ours = MemorySite(
        id="k+0x10",
        space="global",
        offset=16,
        ptx_line=None,
        opcode="LDGSTS.E.BYPASS.LTC128B.128",
        text=text,
        access="cp.async",
        width=16,
        source=None,
        status=Status.EXACT,
        reason="",
        requests=1024,
        sectors=16384,
        tag_requests=8192,
    )
    counted = Counted(16, text, 1024, 4096, 4096, 15136, tags)
    [row] = compare(structs.replace(entry(), memory=(ours,)), Profile("k", (counted,))).memory
    assert row.verdict == verdict


@pytest.mark.parametrize(("stores", "rest", "agrees"), [(120, 228, True), (124, 224, True), (124, 222, False)])
def test_copies_counted_among_stores_are_summed_with_copies(stores, rest, agrees) -> None:
    """In a launch of cp.async of 4 bytes on an H200, 120 wavefronts of stores and 228 of copies were counted as 124 and
    224.
    """
    store = exact(opcode="STS", access="store", wavefronts=120)
    copy = exact(id="k+0x20", offset=32, opcode="LDGSTS.E", access="cp.async", wavefronts=228)
    counters = {"": stores + rest + 144, "op_ld": 0, "op_st": stores, "op_atom": 0, "op_misc": 144}
    profile = Profile("k", (Counted(16, "STS", 4, 120), Counted(32, "LDGSTS.E", 4, 342)), counters)
    (of_copies,) = [total for total in compare(entry(store, copy), profile).totals if total.name == "copies"]
    assert (of_copies.agrees, of_copies.refutes) == (agrees, not agrees)


def test_profiled_instruction_missing_from_the_report_is_listed() -> None:
    result = compare(
        entry(exact()),
        Profile("k", (Counted(16, "LDS R0, [R2]", 4, 8), Counted(32, "STS [R2], R0", 4, 4), Counted(48, "FADD", 4, 0))),
    )
    assert [(row.verdict, row.offset) for row in result.rows] == [(Verdict.EQUAL, 16), (Verdict.UNLISTED, 32)]
    assert result.differs


# --- kernels ------------------------------------------------------------------------------------


def profile(name="k", requests=4, wavefronts=8, text="LDS R0, [R2]", **changes):
    return Profile(name, (Counted(0, "LDC R1, c[0x0][0x28]", 4, 0), Counted(16, text, requests, wavefronts)), **changes)


@pytest.mark.parametrize(
    "ours, theirs",
    [
        ("void a::k<8, true>(float*)", "void a::k<(int)8, (bool)1>(float *)"),
        ("void a::k<unsigned int, -1>(int)", "k"),
        ("k(float const*)", "k(const float *)"),
    ],
)
def test_kernel_matches_by_mangled_or_demangled_name(ours, theirs) -> None:
    result = compare_all(report(entry(exact(), name=ours)), [profile(theirs)])
    assert len(result.comparisons) == 1 and not result.differs


def test_launches_match_by_grid_then_order_then_agreement() -> None:
    large = {"launch": LAUNCH.__class__(grid=(9, 1, 1), block=(32, 1, 1))}
    entries = entry(exact()), entry(exact(requests=9), **large)
    other = profile(requests=9, grid=(9, 1, 1), block=(32, 1, 1))
    assert not compare_all(report(*entries), [other]).differs
    assert not compare_all(report(*entries), [profile(), profile(requests=9)]).differs
    assert not compare_all(report(*entries), [profile(requests=9)]).differs
    assert compare_all(report(*entries), [profile(requests=9), profile()]).differs


def test_launch_chosen_by_agreement_is_labelled() -> None:
    """A profile of fewer launches than the report has does not say which of them it is."""
    entries = entry(exact()), entry(exact(requests=9))
    assert "another number of them was profiled" in compared_text(compare_all(report(*entries), [profile()]))
    in_order = compare_all(report(*entries), [profile(), profile(requests=9)])
    assert [comparison.chosen_of for comparison in in_order.comparisons] == [1, 1]


def test_launches_of_each_shape_are_compared_in_order() -> None:
    """Whatever the order in which a report and a profile have the shapes: no entry is chosen, so a wrong one differs."""
    large = {"grid": (9, 1, 1), "block": (32, 1, 1)}
    entries = entry(exact()), entry(exact(requests=9)), entry(exact(), launch=LAUNCH.__class__(**large))
    small = {"grid": LAUNCH.grid, "block": LAUNCH.block}
    profiles = [profile(**large), profile(requests=9, **small), profile(**small)]
    report_of_all = report(*(structs.replace(one, launch=one.launch or LAUNCH) for one in entries))
    compared = compare_all(report_of_all, profiles)
    assert [comparison.chosen_of for comparison in compared.comparisons] == [1, 1, 1]
    assert [comparison.differs for comparison in compared.comparisons] == [False, True, True]


@pytest.mark.parametrize("requests", [4, 9])
def test_notes_of_a_kernel_that_differs_are_shown(requests) -> None:
    """Counts of a later launch are of other data than the report has."""
    note = "launched 2 times, as recorded; its data are those of the first time"
    text = compared_text(compare_all(report(entry(exact(), notes=(note,))), [profile(requests=requests)]))
    assert (note in text) == (requests != 4)


def test_launch_of_another_size_is_not_compared() -> None:
    """Its counts are not those of the report's launch, and tell nothing about it."""
    of = {"launch": LAUNCH.__class__(grid=(5, 1, 1), block=(32, 1, 1))}
    smaller = profile(requests=9, grid=(4, 1, 1), block=(32, 1, 1))
    result = compare_all(report(entry(exact(), **of)), [smaller, profile(grid=(5, 1, 1), block=(32, 1, 1))])
    assert len(result.comparisons) == 1 and not result.differs
    (problem,) = result.problems
    assert problem.what == (
        "k: profiled with 4×1×1 blocks of 32×1×1 threads, but launched with 5×1×1 blocks of 32×1×1 threads in the"
        " report"
    )


def test_profile_of_another_build_is_rejected() -> None:
    result = compare_all(report(entry(exact())), [profile(text="STS [R2], R0")])
    assert "at 0x10 the report has LDS, the profile STS" in result.problems[0].what
    assert not result.comparisons


def test_profile_without_a_kernel_of_the_report_is_rejected() -> None:
    with pytest.raises(InputError, match="no kernel of the profile is in the report: other"):
        compare_all(report(entry(exact())), [profile("other")])
    with pytest.raises(InputError, match="no machine code"):
        compare_all(report(kernel(exact(), isa="ptx")), [profile()])


# --- CSV ----------------------------------------------------------------------------------------


def table(name="k", requests=4, wavefronts=8):
    return TABLE.format(name=name, requests=requests, wavefronts=wavefronts)


def test_source_page_of_a_profile_is_read() -> None:
    text = "==PROF== Connected to process 1\n\n" + table() + table(wavefronts="1,024")
    first, second = parse_export(text).profiles
    assert first.counted[1] == Counted(16, "LDS R0, [R2]", 4, 8, 4)
    assert first.counted[2].offset == 32
    assert second.counted[1].wavefronts == 1024


def test_table_exported_twice_is_one_launch() -> None:
    assert len(parse_export(table() * 2).profiles) == 1
    assert len(parse_export(table() * 4).profiles) == 2
    assert len(parse_export(table() + table("j") + table()).profiles) == 3


def test_template_names_of_both_pages_are_matched(tmp_path) -> None:
    raw = '"ID","Kernel Name","Grid Size","l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"\n'
    raw += "".join(f'"{at}","void k<{at}, 1>(float *)","({at}, 1, 1)","{at}"\n' for at in (8, 9))
    source = "".join(table(f"void k<(int){at}, (bool)1>(float *)", requests=at) for at in (9, 8))
    for name, text in (("source.csv", source), ("raw.csv", raw)):
        (tmp_path / name).write_text(text)
    found = read_profiles([tmp_path / "source.csv", tmp_path / "raw.csv"])
    assert [(one.counted[1].requests, one.grid, one.counters) for one in found] == [
        (9, (9, 1, 1), {"op_ld": 9}),
        (8, (8, 1, 1), {"op_ld": 8}),
    ]


@pytest.mark.parametrize(
    "one, other",
    [
        ("void a::b::k<a::pair<(int)4>, const float *>(T1)", "void b::k<pair<4>, float const*>(float const*)"),
        ("m::k[abi:v1,cw5](Array<float, (int)2>)", "m::k[abi:v1][abi:cw5](Array<float, 2>)"),
        ("m::k[abi:v1,cw5](Array<float, (int)2>)", "k[v1,cw5](Array<float, 2>)"),
        (
            "void a::k<(a::Kind)1, void b::f<int>(T1)::[lambda(const int *) (instance 2)], (unsigned long)2>(T2)",
            "void a::k<(a::Kind)1, b::f<int>(int)::{lambda(int const*)#2}, 2ul>(int*)",
        ),
        ("void a::<unnamed>::k<int>(T1)", "void a::(anonymous namespace)::k<int>(int)"),
        ("void a::k<a::tuple<>, int *, >(T2, a::arg<T3>...)", "void a::k<a::tuple<>, int*>(int, )"),
        ("void k<, int *>(T2)", "void k<int*>(int)"),
        ("void k<&a::multiply>(const float *)", "void k<&(a::multiply(float const*, int))>(float const*)"),
    ],
)
def test_spellings_of_one_kernel_name_are_equal(one, other) -> None:
    assert simplified(one) == simplified(other)


@pytest.mark.parametrize(
    "one, other",
    [
        ("k<a::f(int)::{lambda()#1}>", "k<a::f(int)::{lambda()#2}>"),
        ("k<a::f(int)::{lambda()#1}>", "k<a::g(int)::{lambda()#1}>"),
        ("k<float, 1>", "k<float, 2>"),
        ("k<&f>(int)", "k<&(g(float*))>(int)"),
    ],
)
def test_names_of_two_kernels_remain_distinct(one, other) -> None:
    assert simplified(one) != simplified(other)


def test_template_instances_are_distinguished(tmp_path) -> None:
    raw = '"ID","Kernel Name","Grid Size"\n"0","void k<const float *, 1>(T1)","(8, 1, 1)"\n'
    raw += '"1","void k<const int *, 1>(T1)","(9, 1, 1)"\n'
    source = table("void n::k<const float *, (int)1>(T1)", requests=1)
    source += table("void n::k<const int *, (int)1>(T1)", requests=2)
    for name, text in (("source.csv", source), ("raw.csv", raw)):
        (tmp_path / name).write_text(text)
    found = read_profiles([tmp_path / "source.csv", tmp_path / "raw.csv"])
    assert [(one.counted[1].requests, one.grid) for one in found] == [(1, (8, 1, 1)), (2, (9, 1, 1))]
    kernels = [entry(name=f"void n::k<{kind} const*, 1>({kind} const*)") for kind in ("int", "float")]
    assert [[one.name for one in _of_name(kernels, found[at].kernel)] for at in (0, 1)] == [
        [kernels[1].name],
        [kernels[0].name],
    ]
    assert _of_name(kernels, "void n::k<double const*, 1>(double const*)") == []
    assert _of_name(kernels, "k") == kernels


def test_profile_columns_may_have_other_names_or_be_missing() -> None:
    text = '"Kernel Name","k",\n"#","Source","inst_executed"\n"1","LDC R1","4"\n"2","LDS R0, [R2]","4"\n'
    assert parse_export(text).profiles[0].counted[1] == Counted(16, "LDS R0, [R2]", 4, None, None)


@pytest.mark.parametrize(
    "text, what",
    [
        ("", "not a CSV export of Nsight Compute"),
        ("a,b\n1,2\n", "not a CSV export of Nsight Compute"),
        ('"Kernel Name","k",\n"Address","Source"\n"0x10","LDS"\n', "no column 'Instructions Executed'"),
        (
            '"Kernel Name","k",\n"Address","Source","Instructions Executed"\n"-","x = 1;","4"\n',
            "not the address of an instruction",
        ),
    ],
)
def test_file_that_is_no_source_page_is_rejected(text, what) -> None:
    with pytest.raises(InputError, match=what):
        parse_export(text, "x.csv")


def test_unreadable_profile_is_rejected(tmp_path) -> None:
    (tmp_path / "r.ncu-rep").write_bytes(b"\xff\xfe\0NVR")
    for name, what in (("r.ncu-rep", "not UTF-8"), ("missing.csv", "cannot read the profile")):
        with pytest.raises(InputError, match=what):
            read_profiles([tmp_path / name])


# --- end to end ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The report on two measured cubins, and Nsight Compute's exports of the same run."""
    folder = tmp_path_factory.mktemp("compare")
    for name in ("source.csv", "raw.csv"):
        (folder / name).write_bytes(
            gzip.decompress((measured_kernels.DATA / "profiles_sm90" / f"{name}.gz").read_bytes())
        )
    cubins = measured_kernels.cubins("samples_sm90")
    launches = []
    for name in ("transpose", "vector_merges"):
        (folder / f"{name}.cubin").write_bytes(cubins[f"{name}.cubin"])
        launches += ptxaudit.read_launches(SAMPLES / name / "launch.toml")
    audited = ptxaudit.audit([folder / "transpose.cubin", folder / "vector_merges.cubin"], launches=launches)
    (folder / "report.json").write_text(audited.to_json(), encoding="utf-8")
    return folder


def run(*arguments):
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def test_exported_profile_agrees_with_the_report(exported) -> None:
    result = run(exported / "report.json", exported / "source.csv", exported / "raw.csv")
    assert result.exit_code == 0, result.output
    assert "32 of 32 sites agree: 2 disputed, 30 equal" in result.output
    assert "the launch's counter agrees with the report (op_ld: 4, by instructions 8)" in result.output


def test_exported_profile_agrees_in_global_memory(exported) -> None:
    """The pointers of that program came from cudaMalloc: multiples of 256."""
    launches = [
        launch
        for name in ("transpose", "vector_merges")
        for launch in ptxaudit.read_launches(SAMPLES / name / "launch.toml")
    ]
    audited = ptxaudit.audit(
        [exported / "transpose.cubin", exported / "vector_merges.cubin"],
        launches=launches,
        space="all",
        assume={"*": 256},
    )
    (exported / "all.json").write_text(audited.to_json(), encoding="utf-8")
    result = run(exported / "all.json", exported / "source.csv", exported / "raw.csv", "--format", "json")
    assert result.exit_code == 0, result.output
    rows = [row for kernel in json.loads(result.output)["kernels"] for row in kernel["memory"]]
    assert len(rows) > 20 and {row["verdict"] for row in rows} == {"equal"}
    told = run(exported / "all.json", exported / "source.csv")
    assert "sectors" in told.output and "global memory" in told.output


def test_disputed_sites_without_the_raw_page_remain_disputed(exported) -> None:
    result = run(exported / "report.json", exported / "source.csv")
    assert result.exit_code == 0
    assert "no counter of this launch can decide" in result.output


def test_compare_json_is_valid(exported) -> None:
    result = run(exported / "report.json", exported / "source.csv", exported / "raw.csv", "--format", "json")
    document = json.loads(result.output)
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    assert document["counts"] == {"disputed": 2, "equal": 30}
    assert {kernel["name"] for kernel in document["kernels"]} >= {"v4_two_way", "float_32_pitch_33"}


def test_compare_detects_a_wrong_figure(exported, tmp_path) -> None:
    document = json.loads((exported / "report.json").read_text())
    wrong = next(
        site for kernel in document["kernels"] for site in kernel["sites"] if kernel["name"] == "float_32_pitch_33"
    )
    wrong["wavefronts"] += 1
    (tmp_path / "report.json").write_text(json.dumps(document))
    result = run(tmp_path / "report.json", exported / "source.csv")
    assert result.exit_code == 1
    assert "129 wavefronts in the report, 128 counted" in result.output


def test_compare_rejects_bad_input_with_a_message(exported) -> None:
    for arguments, words in (
        ((exported / "report.json", exported / "raw.csv"), "no source page"),
        ((exported / "source.csv", exported / "source.csv"), "not JSON"),
        ((exported / "report.json", exported / "missing.csv"), "cannot read the profile"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2 and words in result.output


@pytest.mark.parametrize("text", ['"Address","Source"\n"' + "x" * 200_000 + '","y"\n', '"' + "x" * 200_000])
def test_oversized_csv_cell_is_rejected(text):
    with pytest.raises(InputError, match="not CSV: field larger than"):
        parse_export(text, "p.csv")
