"""Pairing of kernels and sites across an upgrade or an edit: helpers, instances, copies, merged accesses.

The comments derive the figures; a site of `reports` has 8 requests of 8 wavefronts, without excess.
"""

from __future__ import annotations

import random

import pytest
from calls import calls_of
from msgspec import structs
from reports import kernel, open_site, report, site

import ptxaudit
from ptxaudit.engine.answer.result import Status
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.report.model import Frame, Source, Span
from ptxaudit.review.baseline import Ratchet, baseline_json, read_baseline
from ptxaudit.review.diff.kernelmatch import equal_arguments, match_kernels
from ptxaudit.review.diff.leftovers import moved
from ptxaudit.review.diff.reports import Nature, diff_reports
from ptxaudit.review.gate import judge
from ptxaudit.ui.render.changes import diff_markdown, diff_text


def at(line, access="load", text=None, inlined=(), file="/src/k.cu", **changes):
    """A site with the text of its line; inlined: (line, text) for each line of the kernel where it was inlined."""
    frames = tuple(Frame(file, number, "helper", told) for number, told in inlined)
    return site(line, access, source=Source(file, line, 0, text, frames), **changes)


def verdicts(old, new, **options):
    """(verdict, old sites, new sites, old wavefronts, new wavefronts) of each change."""
    (entry,) = diff_reports(report(kernel(*old, **options)), report(kernel(*new, **options))).kernels
    return [
        (str(c.verdict), len(c.olds), len(c.news), c.old and c.old.wavefronts, c.new and c.new.wavefronts)
        for c in entry.changes
    ]


# --- extraction of a helper -------------------------------------------------------------------

INLINE = """
extern "C" __global__ void k(const float* in, float* out, int n) {
    __shared__ float tile[32][PITCH];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * n + x];
    __syncthreads();
    float sum = 0;
    #pragma unroll
    for (int i = 0; i < 32; ++i) {
        sum += tile[x][i] * tile[i][y];
    }
    out[y * n + x] = sum;
}
"""
EXTRACTED = """
__device__ __forceinline__ float product(const float (*t)[PITCH], int row, int column) {
    float total = 0;
    #pragma unroll
    for (int step = 0; step < 32; ++step) {
        total += t[row][step] * t[step][column];
    }
    return total;
}

extern "C" __global__ void k(const float* in, float* out, int n) {
    __shared__ float tile[32][PITCH];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * n + x];
    __syncthreads();
    float sum = product(tile, x, y);
    out[y * n + x] = sum;
}
"""


def audited(source, pitch, isa):
    launch = ptxaudit.Launch("k", grid=1, block=(32, 32), params=[None, None, 32])
    return ptxaudit.audit(source, defines=[f"PITCH={pitch}"], isa=isa, launches=[launch])


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("pitch", [33, 32])
def test_extracted_helper_moves_its_sites(isa, pitch, tmp_path):
    """The helper has 64 loads behind another call, and one store.

    With rows of 32 floats, the 32 lanes of tile[x][i] are in one bank: an excess of 31 per request, for 32 copies in
    32 warps. The machine code has 8 LDS.128 instead, where the 8 lanes of each quarter-warp use the same quarter of
    the banks: 4 × 8 passes instead of 4.
    """
    excess = {("ptx", 32): 32 * 32 * 31, ("sass", 32): 8 * 32 * 28}.get((isa, pitch), 0)
    old, new = audited(INLINE, pitch, isa), audited(EXTRACTED, pitch, isa)
    diff = diff_reports(old, new)
    assert set(diff.counts) == {"moved"} and not diff.got_worse
    assert sum(site.excess for site in new.sites) == excess
    (tmp_path / "b.json").write_text(baseline_json(old))
    known = read_baseline(tmp_path / "b.json")
    verdict = judge(new, (), ratchet=Ratchet.of(known, new))
    assert not verdict.denials and not verdict.warnings and not Ratchet.of(known, new).stale()
    assert set(diff_reports(new, old).counts) == {"moved"}  # and back again


def test_extracted_helper_with_a_costlier_access_is_worse():
    """Seven of eight loads cost the same; the one that exists on both sides takes 64 wavefronts instead of 8."""
    old = [
        at(5, text="int a;"),
        *(at(10 + n, text=f"sum += tile[x][{n}];") for n in range(8)),
        at(30, "store", text="out[x] = sum;"),
    ]
    call = ((20, "sum = helper(tile, x);"),)
    new = [
        at(5, text="int a;"),
        *(at(1, text="total += t[row][n];", inlined=call, wavefronts=64 if n == 7 else 8) for n in range(8)),
        at(31, "store", text="out[x] = sum;"),
    ]
    found = verdicts(old, new)
    assert sorted(v for v, *_ in found) == [*["moved"] * 8, "same", "worse"]
    assert diff_reports(report(kernel(*old)), report(kernel(*new))).got_worse


def test_sites_do_not_match_across_unchanged_lines():
    """An access that was above the line `b` does not match one that is now below it, although they cost the same."""
    old = [at(5, text="a"), at(6, text="one"), at(7, text="b")]
    new = [at(5, text="a"), at(6, text="b"), at(1, text="two", inlined=((9, "call();"),))]
    assert [v[0] for v in verdicts(old, new)] == ["same", "moved", "new", "gone"]
    between = [at(5, text="a"), at(1, text="two", inlined=((6, "call();"),)), at(7, text="b")]
    assert [v[0] for v in verdicts(old, between)] == ["same", "moved", "same"]


def test_helper_extracted_to_a_header_moves_its_sites():
    old = [at(5, text="a"), at(6, text="x = s[i];"), at(9, text="b")]
    new = [
        at(5, text="a"),
        site(
            3, source=Source("/src/helper.cuh", 3, 0, "return t[j];", (Frame("/src/k.cu", 6, "get", "x = get(s, i);"),))
        ),
        at(9, text="b"),
    ]
    assert [v[0] for v in verdicts(old, new)] == ["same", "moved", "same"]


# --- instances of a template ------------------------------------------------------------------


def instance(name, *arguments):
    """The mangled name of void NAME<ARGUMENTS>(float*): types as they are, numbers as int."""
    return f"_Z{len(name)}{name}I{''.join(f'Li{a}E' if isinstance(a, int) else f'{len(a)}{a}' for a in arguments)}EvPf"


def blind(name, *costs, **changes):
    """A kernel without line information; costs: the wavefronts of its sites."""
    return kernel(*(site(None, wavefronts=cost, id=f"{name}{n}") for n, cost in enumerate(costs)), name=name, **changes)


def pairs(olds, news):
    return {(old and old.name, new and new.name) for old, new in match_kernels(tuple(olds), tuple(news))}


def test_template_instances_match_by_arguments_not_costs():
    """<bf16,5,2048,8> shares three of four arguments with <bf16,5,1024,8>, and its cost with <half,4,256,2>."""
    bf16, other = instance("layer", "bf16", 5, 2048, 8), instance("layer", "half", 4, 256, 1)
    bf16_new, other_new = instance("layer", "bf16", 5, 1024, 8), instance("layer", "half", 4, 256, 2)
    olds, news = (
        [blind(bf16, 8, 16, 64), blind(other, 32, 32, 32)],
        [blind(other_new, 8, 16, 64), blind(bf16_new, 32, 32, 32)],
    )
    assert pairs(olds, news) == {(bf16, bf16_new), (other, other_new)}


def test_instances_without_a_common_argument_do_not_match():
    one, other = instance("layer", "bf16", 5, 2048, 8), instance("layer", "half", 4, 256, 1)
    assert pairs([blind(one, 8, 16, 64)], [blind(other, 32, 32, 32)]) == {(None, other), (one, None)}
    assert pairs([blind(instance("one", 32), 8)], [blind(instance("one", 64), 16)]) == {
        (instance("one", 32), instance("one", 64))
    }  # one argument


def test_many_instances_match_their_nearest():
    """All 512 instances of a template have another block size now: two of their three arguments are equal."""
    types = ("half", "bf16", "f32", "f64")
    olds = [blind(instance("k", kind, size, 256), 8) for kind in types for size in range(128)]
    news = [blind(instance("k", kind, size, 512), 8) for kind in reversed(types) for size in range(128)]
    assert pairs(olds, news) == {
        (instance("k", kind, size, 256), instance("k", kind, size, 512)) for kind in types for size in range(128)
    }


@pytest.mark.parametrize(
    "old, new, share",
    [
        (("half", "5", "8"), ("half", "4", "8"), 2 / 3),
        (("half", "5"), ("half", "5"), 1),
        ((), (), 0),
        (("half",), ("bf16",), 0),
        (("half", "5", "8"), ("half", "5", "true", "8"), 3 / 4),
        (("a", "b"), ("b", "a"), 0),
    ],
)
def test_share_of_equal_arguments(old, new, share):
    assert equal_arguments(old, new) == share


def test_versioned_namespaces_are_one_kernel():
    """Libraries have one namespace per release: cub::CUB_200302_NS::scan<float> is cub::CUB_200500_NS::scan<float>."""
    names = [f"_ZN3cub13CUB_{number}_NS4scanIfEEvPf" for number in (200302, 200500)]
    assert pairs([blind(names[0], 8)], [blind(names[1], 64)]) == {tuple(names)}
    two = [f"_ZN{len(space)}{space}4scanIfEEvPf" for space in ("a", "b")]
    both = [blind(name, 8, 8, 64) for name in two]
    assert pairs(both, [blind("_ZN1c4scanIfEEvPf", 8, 8, 64)]) == {
        (two[0], "_ZN1c4scanIfEEvPf"),
        (two[1], None),
    }  # one of them


def test_kernels_pair_by_architecture_if_both_reports_share_one():
    old = [blind("k", 8, arch="sm_75", isa="sass"), blind("k", 16, arch="sm_80", isa="sass")]
    new = [blind("k", 16, arch="sm_80", isa="sass"), blind("k", 32, arch="sm_90", isa="sass")]
    matched = [(a and a.arch, b and b.arch) for a, b in match_kernels(tuple(old), tuple(new))]
    assert matched == [("sm_80", "sm_80"), (None, "sm_90"), ("sm_75", None)]
    assert [(a.arch, b.arch) for a, b in match_kernels(tuple(old[1:]), tuple(new[1:]))] == [("sm_80", "sm_90")]


def test_compiled_instances_without_lines_match(tmp_path):
    """Machine code without line information, three instances per library: rows of 32 floats are 32-way, of 33 free."""
    source = """
    template <typename T, int Pitch, int Block> __global__ void turn(const T* in, T* out) {
        __shared__ T s[32 * Pitch];
        s[threadIdx.x * Pitch] = in[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x];
    }
    """
    libraries = {
        "old": ["turn<float,32,128>", "turn<int,33,64>", "turn<float,33,64>"],
        "new": ["turn<int,33,256>", "turn<float,32,64>", "turn<float,33,128>"],
    }
    for name, instances in libraries.items():
        compiled = compile_source(source, instantiate=instances)
        plain = "\n".join(line for line in compiled.ptx.splitlines() if not line.lstrip().startswith((".loc", ".file")))
        (tmp_path / f"{name}.cubin").write_bytes(assemble(plain, "sm_90").cubin)
    reports = [
        ptxaudit.audit(str(tmp_path / f"{name}.cubin"), launches=[ptxaudit.Launch("*", grid=1, block=32)])
        for name in libraries
    ]
    found = {
        tuple(one.demangled.partition("<")[2].partition(">")[0] for one in (entry.old, entry.new))
        for entry in diff_reports(*reports).kernels
    }
    assert found == {
        ("float, 32, 128", "float, 32, 64"),
        ("int, 33, 64", "int, 33, 256"),
        ("float, 33, 64", "float, 33, 128"),
    }
    assert set(diff_reports(*reports).counts) == {"same"}


# --- copies, edits, merges --------------------------------------------------------------------


def copies(*told, line=10, text="a += s[i];", **changes):
    """Copies of one line: (active requests, wavefronts) of each; each has as many ideal wavefronts as requests."""
    return [
        at(line, text=text, id=f"{n}", requests=count, active_requests=count, wavefronts=cost, ideal=count, **changes)
        for n, (count, cost) in enumerate(told)
    ]


def test_copies_of_a_line_are_one_group_under_any_unrolling():
    """Twice as many copies with half as many requests each, and a remainder loop with 40 more.

    200 requests became 240, a fifth more; 8 wavefronts per request before, 4 after: 1,600 → 960.
    """
    old, new = copies(*[(100, 800)] * 2), copies(*[(50, 200)] * 4, (40, 160))
    assert verdicts(old, new) == [("better", 2, 5, 1600, 960)]
    assert verdicts(new, old) == [("worse", 5, 2, 960, 1600)]


def test_access_inserted_on_an_edited_line_hides_no_regression():
    """s[i] took 8 wavefronts and takes 64 now; t[j], inserted on the same line, takes the 8 that s[i] did before."""
    old, new = (
        [at(10, text="x = s[i];")],
        [at(10, text="x = s[32 * i] + t[j];", wavefronts=64), at(10, text="x = s[32 * i] + t[j];")],
    )
    assert verdicts(old, new) == [("worse", 1, 2, 8, 72)]
    clean = [
        at(10, text="x = s[i] + t[j];"),
        at(10, text="x = s[i] + t[j];", requests=16, active_requests=16, wavefronts=16, ideal=16),
    ]
    assert sorted(verdicts(old, clean)) == [
        ("new", 0, 1, None, 16),
        ("same", 1, 1, 8, 8),
    ]  # nothing conflicts: nothing is hidden


def test_merged_stores_are_one_group():
    """Four 4-byte stores on four lines, of 8 requests each, become one of 16 bytes: 4 × 8 = 32 wavefronts before and
    after.
    """
    old = [at(10 + n, "store", text=f"s[{n}] = v{n};") for n in range(4)]
    new = [at(10, "store", text="s[0] = v0;", width=16, opcode="STS.128", wavefronts=32, ideal=32)]
    assert verdicts(old, new) == [("widened", 4, 1, 32, 32)]
    assert verdicts(new, old) == [("narrowed", 1, 4, 32, 32)]
    worse = [structs.replace(new[0], wavefronts=64, excess=32)]
    assert verdicts(old, worse) == [("worse", 4, 1, 32, 64)]


def test_loads_of_two_lines_merged_at_lower_cost_are_better():
    """Two LDS of 64 requests each, all lanes on one word; LDS.64 of the pair takes 64 wavefronts, one per request."""
    told = {"requests": 64, "active_requests": 64, "ideal": 64, "wavefronts": 64}
    old = [at(45, text="mean = t[0];", **told), at(46, text="scale = t[1];", **told)]
    assert verdicts(old, [at(45, text="mean = t[0];", width=8, opcode="LDS.64", **told)]) == [("better", 2, 1, 128, 64)]


def test_merged_stores_match_without_line_information():
    """Eight stores in a row become two of 16 bytes."""
    old = [site(None, "store", id=f"{n}") for n in range(8)]
    new = [site(None, "store", id=f"{n}", width=16, opcode="STS.128", wavefronts=32, ideal=32) for n in range(2)]
    assert verdicts(old, new) == [("widened", 4, 1, 32, 32)] * 2


def test_distant_stores_are_not_matched_as_merged():
    old = [at(10, "store", text="s[0] = a;"), at(300, "store", text="s[1] = b;")]
    new = [at(10, "store", text="s[0] = a;", width=8, opcode="STS.64", wavefronts=16, ideal=16)]
    assert sorted(v[0] for v in verdicts(old, new)) == ["gone", "worse"]


def test_moved_bytes_are_summed_over_a_known_launch():
    unknown = open_site(Status.INVARIANT, width=4)
    assert (
        moved([site(1, width=16), site(2, width=4)]) == 8 * 20
        and moved([unknown, unknown]) == 8
        and moved([unknown, site(1)]) is None
    )
    assert moved([open_site(Status.UNREACHED, width=4), site(1)]) == 32


# --- cost of a kernel -------------------------------------------------------------------------


def worse(old, new, **options):
    return diff_reports(report(*old), report(*new), **options).got_worse


def other_source(of):
    return structs.replace(of, inputs=tuple(structs.replace(entry, sha256="1" * 64) for entry in of.inputs))


def test_more_wavefronts_with_less_excess_are_worse():
    """32 wavefronts with an excess of 24; 64 with an excess of 16: twice as many passes over the banks."""
    old, new = at(10, wavefronts=32), at(10, wavefronts=64, ideal=48)
    (entry,) = diff_reports(report(kernel(old)), report(kernel(new))).kernels
    assert [str(c.verdict) for c in entry.changes] == ["worse"] and entry.got_worse and entry.impact == 32
    assert [str(c.verdict) for c in diff_reports(report(kernel(new)), report(kernel(old))).kernels[0].changes] == [
        "better"
    ]
    excess = at(10, wavefronts=32, ideal=16)
    assert [str(c.verdict) for c in diff_reports(report(kernel(excess)), report(kernel(old))).kernels[0].changes] == [
        "worse"
    ]  # equally many passes, more of them excess


def test_new_kernel_is_worse_only_with_conflicts():
    clean, conflict = kernel(site(1)), kernel(site(2, wavefronts=256), name="new")
    assert worse([clean], [clean, conflict]) and not worse([clean], [clean, kernel(site(2), name="new")])


def test_new_access_is_worse_only_in_unchanged_source():
    """A new access of 8 wavefronts: unchanged source costs more, changed source does more."""
    old, new = report(kernel(at(1))), report(kernel(at(1), at(2)))
    assert diff_reports(old, new).got_worse and not diff_reports(old, other_source(new)).got_worse
    assert diff_reports(old, other_source(report(kernel(at(1), at(2, wavefronts=64))))).got_worse


def test_counterpart_launches_are_compared_in_total():
    """8 wavefronts for 8 requests on both sides, in launches with different parameters; the new kernel has one more."""
    more = structs.replace(kernel(at(1)).launch, params=(None, None, 64, 2))
    one = {"per_request": Span(1, 1), "ideal_per_request": Span(1, 1), "excess_per_request": Span(0, 0)}
    old, new = (
        report(kernel(at(1))),
        report(kernel(at(1, requests=16, active_requests=16, wavefronts=16, ideal=16, **one), launch=more)),
    )
    assert not diff_reports(old, new).got_worse
    diff = diff_reports(old, new, counterparts=True)
    assert diff.got_worse and diff.totals["wavefronts"] == (8, 16)


# --- in words ---------------------------------------------------------------------------------


def test_changed_number_of_requests_is_shown():
    """8 requests of one wavefront each became 16: there is no excess, but the cost doubled."""
    twice = at(10, requests=16, active_requests=16, wavefronts=16, ideal=16)
    assert "         = requests 8 → 16\n" in diff_text(diff_reports(report(kernel(at(10))), report(kernel(twice))))
    assert "requests" not in diff_text(diff_reports(report(kernel(at(10))), report(kernel(at(10, wavefronts=64)))))


def test_kernel_names_are_escaped_in_markdown():
    page = diff_markdown(diff_reports(report(), report(kernel(at(10), name="k", demangled="void k_1<float>()"))))
    assert "new kernel: void k\\_1&lt;float&gt;()" in page and "**`void k_1<float>()`**" in page


# --- speed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["extracted", "merged", "unrolled", "blind merged", "edited"])
def test_matching_4000_sites_takes_linear_calls(kind, monkeypatch):
    """Four times the sites take about four times the calls."""
    monkeypatch.undo()

    def sides(count):
        if kind == "extracted":
            return [at(10 + n, text=f"x{n} = s[{n}];") for n in range(count)], [
                at(1, text="return t[j];", inlined=((10 + n, f"x{n} = get({n});"),)) for n in range(count)
            ]
        if kind == "merged":
            old = [at(10 + n, "store", text=f"s[{n}] = v;") for n in range(count)]
            return old, [
                at(10 + n, "store", text=f"s[{n}] = v;", width=16, wavefronts=32, ideal=32) for n in range(0, count, 4)
            ]
        if kind == "blind merged":
            return [site(None, "store") for _ in range(count)], [
                site(None, "store", width=16, wavefronts=32, ideal=32) for _ in range(count // 4)
            ]
        if kind == "edited":
            rng = random.Random(count)
            return (
                [at(10 + n // 2, text=f"a{n // 2}", wavefronts=rng.choice((8, 16, 64))) for n in range(count)],
                [at(10 + n // 3, text=f"b{n // 3}", wavefronts=rng.choice((8, 16, 64))) for n in range(count)],
            )
        return copies(*[(16, 16)] * count), copies(*[(8, 9)] * (2 * count))

    def calls(count):
        old, new = sides(count)
        return calls_of(lambda: diff_reports(report(kernel(*old)), report(kernel(*new))))

    assert calls(4000) < 6 * calls(1000)


# --- code -------------------------------------------------------------------------------------


def coded(order, opcodes, **changes):
    return kernel(at(1, text="a"), code=ptxaudit.report.model.Code(opcodes, order), **changes)


@pytest.mark.parametrize(
    "old, new, nature",
    [
        (coded("a", {"LDS": 1, "FFMA": 2}), coded("a", {"LDS": 1, "FFMA": 2}), Nature.SAME),
        (coded("a", {"LDS": 1, "FFMA": 2}), coded("b", {"LDS": 1, "FFMA": 2}), Nature.RESCHEDULED),
        (coded("a", {"LDS": 1, "FFMA": 2}), coded("b", {"LDS": 1, "FFMA": 3}), Nature.CHANGED),
        (
            coded("a", {"LDS": 1}, registers=32),
            coded("b", {"LDS": 1}, registers=33),
            Nature.CHANGED,
        ),  # not only the order
        (coded("a", {"LDS": 1}), kernel(at(1)), None),
        (coded("a", {"LDS": 1}), coded("a", {"LDS": 1}, name="sum"), Nature.RENAMED),
        (coded("a", {"LDS": 1}), coded("b", {"LDS": 1}, name="sum"), Nature.RESCHEDULED),
    ],
)
def test_nature_of_a_code_change(old, new, nature):
    (entry,) = diff_reports(report(old), report(new)).kernels
    assert entry.nature is nature


def test_shifted_range_is_compared_per_request():
    invariant = open_site(
        Status.INVARIANT, per_request=Span(1, 1), ideal_per_request=Span(1, 1), excess_per_request=Span(0, 0)
    )
    twice = structs.replace(invariant, per_request=Span(2, 2), excess_per_request=Span(1, 1))
    (entry,) = diff_reports(report(kernel(invariant, launch=None)), report(kernel(twice, launch=None))).kernels
    assert entry.changes[0].impact == 1 and str(entry.changes[0].verdict) == "worse"
