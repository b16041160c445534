"""`ptxaudit fix` on kernels: each repaired to its optimum, the changed source compiled and audited again; and
rejections.
"""

from __future__ import annotations

import json

import jsonschema
import pytest
from click.testing import CliRunner
from fix_kernels import GEMM, GEMM_LAUNCH, STRUCTURES, TWO_WORDS, UNUSED_PADDING, VECTORS, ldmatrix, transpose

import ptxaudit
from ptxaudit.base import resources
from ptxaudit.base.errors import InputError
from ptxaudit.engine.answer import kept
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.options import Options
from ptxaudit.review.fix.patch import patch
from ptxaudit.review.fix.run import find_repairs, fix
from ptxaudit.ui.cli import main
from ptxaudit.ui.render.fixes import closing, fix_text

SCHEMA = json.loads(resources.data("report/schemas/fix-1.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def of_ptx(options: dict) -> dict:
    """Selects an architecture for which no machine code is made, since no test reads it."""
    return options if options.get("isa", "ptx") != "ptx" else {"arch": "compute_90"} | options


def repaired(source: str, launch: Launch | None, file: str = "k.cu", **options):
    """(arrays with repairs, the patch) of a source that is written to a file."""
    with open(file, "w") as out:
        out.write(source)
    made = Options(launches=[launch] if launch else [], **of_ptx(options))
    found, kernels, part = find_repairs([file], made)
    assert part.problems == []
    return found, patch(found, kernels, [file], made)


def audited(text: str, launch: Launch, **options):
    return ptxaudit.audit(text, launches=[launch], **of_ptx(options))


def applied(diff: str, source: str) -> str:
    """The source after a unified diff, as `patch -p1` leaves it."""
    lines, out, at = source.splitlines(keepends=True), [], 0
    for line in diff.splitlines(keepends=True):
        if line.startswith(("---", "+++", "\\")):
            continue
        if line.startswith("@@"):
            start = int(line.split()[1][1:].split(",")[0]) - 1
            out += lines[at:start]
            at = start
        elif line.startswith("+"):
            out.append(line[1:])
        else:
            assert lines[at] == line[1:]
            out += [line[1:]] if line.startswith(" ") else []
            at += 1
    return "".join([*out, *lines[at:]])


# --- the cases, each to its optimum -------------------------------------------------------------

CASES = {
    "float 32 x 32": (*transpose("float", 32, 32), "pad", 128),
    "float 16 x 16": (*transpose("float", 16, 16), "swizzle", 0),
    "float 16 x 17": (*transpose("float", 16, 17), "swizzle", -64),
    "double 16 x 16": (*transpose("double", 16, 16), "pad", 128),
    "double 16 x 18": (*transpose("double", 16, 18), "pad", -128),
    "structures": (STRUCTURES, Launch("pairs", grid=3, block=256), "split", 0),
    "gemm with skew": (GEMM, GEMM_LAUNCH, "pad", -4096),
    "ldmatrix, rows of 64 bytes": (*ldmatrix(32, False), "swizzle", 0),
    "ldmatrix.trans, rows of 64 bytes": (*ldmatrix(32, True), "swizzle", 0),
    "ldmatrix, rows of 128 bytes": (*ldmatrix(64, False), "pad", 1024),
    "ldmatrix.trans, rows of 128 bytes": (*ldmatrix(64, True), "pad", 1024),
    "padding that is not used": (
        UNUSED_PADDING,
        Launch("swap<float>", grid=1, block=256, params=[None, None, 16]),
        "pad",
        0,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_kernel_is_repaired_to_its_optimum_and_the_changed_source_has_it(case, here) -> None:
    source, launch, kind, more = CASES[case]
    found, made = repaired(source, launch)
    array = max(found, key=lambda one: one.now.excess)
    best = array.repairs[0]
    assert array.now.excess > 0 and best.figure.excess == 0 and best.optimum and best.floor
    assert (best.code.kind, best.bytes) == (kind, more)
    assert [(one.found.array.name, one.figure) for one in made.applied] == [
        (array.array.name, best.figure)
    ] and not made.refused
    before, after = audited(source, launch), audited(applied(made.diff, source), launch)
    saved = array.now.low - best.figure.low
    assert (
        sum(kernel.totals.wavefronts for kernel in before.kernels)
        - sum(kernel.totals.wavefronts for kernel in after.kernels)
        == saved
    )
    assert sum(kernel.totals.excess for kernel in after.kernels) == 0
    assert all(
        new.shared_static == old.shared_static + more for old, new in zip(before.kernels, after.kernels, strict=True)
    )


def test_vector_stores_limit_columns_to_eight_slots(here) -> None:
    """Rows filled by float4 have at best a 4-way conflict; stored by float, none."""
    found, _ = repaired(VECTORS, Launch("columns", grid=1, block=256))
    (array,) = found
    assert array.now.excess == 32 * 31 and array.floor.low == 32 + 32 * 4
    kept = next(repair for repair in array.repairs if repair.code.kind != "narrow")
    assert kept.figure.low == array.floor.low and kept.figure.excess == 32 * 3 and kept.floor
    narrow = next(repair for repair in array.repairs if repair.code.kind == "narrow")
    assert narrow.figure.excess == 0 and narrow.figure.low == 32 + 32
    report = CliRunner().invoke(main, ["fix", "k.cu", "--grid", "1", "--block", "256", "--no-config"])
    assert "no layout goes below 160" in report.output and "store 4 bytes at a time instead of 16" in report.output


def test_adjacent_words_are_widened_to_one_load(here) -> None:
    """In machine code, where ptxas could not know that the first is aligned to eight bytes."""
    found, _ = repaired(TWO_WORDS, Launch("both", grid=1, block=256, params=[None, None, 2]), isa="sass")
    wide = next(repair for repair in found[0].repairs if repair.code.kind == "widen")
    assert wide.figure.excess == 0 and wide.figure.low < found[0].now.low
    assert wide.code.extra == ("// line 8: one load of 8 bytes instead of 2",)
    odd, _ = repaired(TWO_WORDS, Launch("both", grid=1, block=256, params=[None, None, 1]), isa="sass")
    assert not any(repair.code.kind == "widen" for repair in odd[0].repairs)


def test_unused_padding_is_named(here) -> None:
    found, _ = repaired(UNUSED_PADDING, Launch("swap<float>", grid=1, block=256, params=[None, None, 16]))
    assert found[0].hints == (
        (
            "declared with rows of 17 elements, indexed with rows of 16: the padding of block is unused; with 17 16"
            " excess would remain"
        ),
    )


def test_conflicting_copy_sources_are_named(here) -> None:
    source = """
extern "C" __global__ void copies(const float* in, float* out) {
    __shared__ alignas(16) float s[1024];
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[4 * threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(to), "l"(in + 16 * threadIdx.x));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
"""
    found, _ = repaired(source, Launch("copies", grid=1, block=256), assume={"0": 256})
    assert "the source slots collide" in found[0].hints[0]


# --- without a launch ---------------------------------------------------------------------------


def test_repair_without_a_launch_is_proved_for_every_launch(here) -> None:
    source = transpose("float", 32, 32)[0].replace(
        'extern "C" __global__ void', 'extern "C" __global__ void __launch_bounds__(1024)'
    )
    found, _ = repaired(source, None)
    (array,) = found
    assert not array.counted and (array.now.low, array.now.excess) == (33, 31)
    best = array.repairs[0]
    assert best.figure.excess == 0 and best.proved_for.startswith("every launch whose warps are 32 threads along x")


STAGES = """
extern "C" __global__ void __launch_bounds__(128) stages(const float* in, float* out, int n) {
    __shared__ float ring[4][64][{pitch}];
    for (int i = 0; i < n; ++i) {
        for (int r = 0; r < 64; r += 4) ring[i % 4][r + threadIdx.x / 32][threadIdx.x % 32] = in[i * 2048 + r * 32 + threadIdx.x];
        __syncthreads();
        for (int c = 0; c < 16; ++c) out[(i * 16 + c) * 128 + threadIdx.x] = ring[i % 4][threadIdx.x % 64][c];
        __syncthreads();
    }
}
"""


@pytest.mark.parametrize("size, assumed", [(1024, False), (512, True)])
def test_repair_states_that_accesses_stay_inside_the_array(size, assumed, here) -> None:
    """Without a specified block: a block of 1,024 threads fills one array exactly and would exceed the other."""
    source = """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float s[SIZE];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[(threadIdx.x & 15) * 32];
}"""
    found, _ = repaired(source.replace("SIZE", str(size)), None)
    assert found[0].repairs
    for repair in found[0].repairs:
        assert ("as long as accesses stay inside the array" in repair.proved_for) is assumed


def test_repair_is_proved_for_every_residue_of_an_unknown_offset(here) -> None:
    """The stage is an unknown multiple of 8,192 bytes, or of 8,448: a swizzle of 1,024 bytes is checked at every
    residue.
    """
    for pitch in (32, 36):
        source = STAGES.replace("{pitch}", str(pitch))
        found, _ = repaired(source, Launch("stages", block=128))
        array = found[0]
        assert not array.counted and array.repairs
        for repair in array.repairs:
            assert repair.proved_for.startswith("every launch with blocks of 128 threads")
        best = array.repairs[0]
        for trips in (1, 3, 7):  # with everything specified, no request costs more than was proved
            launch = Launch("stages", grid=1, block=128, params=[None, None, trips])
            (now,) = repaired(source, launch)[0]
            then = next(r for r in now.repairs if r.code.summary == best.code.summary)
            assert then.figure.excess == 0 == best.figure.excess


# --- rejections -------------------------------------------------------------------------------

REFUSED = {
    "data": (
        """
extern "C" __global__ void k(const int* at, float* out) {
    __shared__ float s[1024];
    s[threadIdx.x * 32] = out[threadIdx.x];
    s[at[threadIdx.x]] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}""",
        {},
        "k.cu:5: st.shared.u32 may access it at an unknown offset: a value loaded from memory at k.cu:5",
    ),
    "outside": (
        """
extern "C" __global__ void k(float* out) {
    __shared__ float s[1024];
    s[threadIdx.x * 32] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}""",
        {"block": 64},
        "outside of it",
    ),
    "pitch": (
        """
extern "C" __global__ void k(float* out, int pitch) {
    __shared__ float s[4096];
    s[threadIdx.x * pitch] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * 32];
}""",
        {"params": [None, None]},
        "pitch multiplies the lane",
    ),
    "bulk copy": (
        """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ alignas(128) float s[1024];
    __shared__ unsigned long long bar;
    unsigned to = (unsigned)__cvta_generic_to_shared(s), b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" :: "r"(to), "l"(in), "r"(b) : "memory");
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * 32];
}""",
        {},
        "cp.async.bulk",
    ),
    "escaped": (
        """
__device__ float* volatile where;
extern "C" __global__ void k(float* out) {
    __shared__ float s[1024];
    s[threadIdx.x * 32] = out[threadIdx.x];
    where = s;
    __syncthreads();
    *where = 1.0f;
    out[threadIdx.x] = s[threadIdx.x];
}""",
        {},
        "may access it",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_unprovable_repair_is_refused_with_a_reason(case, here) -> None:
    source, launch, why = REFUSED[case]
    found, made = repaired(source, Launch("k", **{"grid": 1, "block": 32} | launch))
    array = next(one for one in found if one.array.name == "s")
    assert why in array.refused and array.repairs == () and not made.diff


def test_array_read_by_a_descriptor_is_refused(here) -> None:
    source = """
extern "C" __global__ void __launch_bounds__(128) k(float* out) {
    __shared__ alignas(1024) unsigned char s[8192];
    __shared__ float other[1024];
    other[threadIdx.x * 8] = out[threadIdx.x];
    *reinterpret_cast<float*>(&s[threadIdx.x * 64]) = out[threadIdx.x];
    __syncthreads();
    unsigned long long d = (unsigned)__cvta_generic_to_shared(s) >> 4 | 1ull << 62;
    float a[4] = {};
    asm volatile("wgmma.fence.sync.aligned;");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"
                 : "+f"(a[0]), "+f"(a[1]), "+f"(a[2]), "+f"(a[3]) : "l"(d));
    out[threadIdx.x] = a[0] + a[1] + a[2] + a[3] + other[threadIdx.x];
}"""
    found, _ = repaired(source, Launch("k", grid=1, block=128), arch="sm_90a")
    by_name = {one.array.name: one for one in found}
    assert "wgmma" in by_name["s"].refused
    assert by_name["other"].repairs[0].figure.excess == 0  # its address does not reach the wgmma


UNCOUNTED = {
    "a barrier object in the same structure": (
        """
struct Stage { float a[512]; unsigned long long bar; };
extern "C" __global__ void __launch_bounds__(32) k(const float* in, float* out) {
    __shared__ Stage s;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"((unsigned)__cvta_generic_to_shared(&s.bar)));
    s.a[threadIdx.x * 16] = in[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = s.a[threadIdx.x * 16];
}""",
        "mbarrier.init.shared::cta.b64",
        "operation on a barrier object",
    ),
    "a bulk copy": (
        """
extern "C" __global__ void __launch_bounds__(32) k(const float* in, float* out) {
    __shared__ alignas(128) float s[1024];
    __shared__ unsigned long long bar;
    unsigned to = (unsigned)__cvta_generic_to_shared(s), b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" :: "r"(to), "l"(in), "r"(b) : "memory");
    __syncwarp();
    float sum = 0;
    for (int i = 0; i < 32; ++i) sum += s[threadIdx.x * 32 + i];
    out[threadIdx.x] = sum;
}""",
        "cp.async.bulk",
        "UBLKCP",
    ),
    "a neighbour's reads": (
        """
__device__ void meet() { __cluster_barrier_arrive(); __cluster_barrier_wait(); }
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(const float* in, float* out) {
    __shared__ float s[1024];
    s[threadIdx.x * 32] = in[threadIdx.x];
    meet();
    out[threadIdx.x] = ((float*)__cluster_map_shared_rank(s, __clusterRelativeBlockRank() ^ 1))[threadIdx.x * 32];
    meet();
}""",
        "may access it",
        "may access it",
    ),
}


@pytest.mark.parametrize("case", UNCOUNTED)
def test_array_with_an_uncounted_access_is_refused(case, here) -> None:
    source, *whys = UNCOUNTED[case]
    for isa, why in zip(("ptx", "sass"), whys):
        found, made = repaired(source, None, isa=isa)
        assert found and all(
            why in array.refused and array.repairs == () and array.now.excess > 0 for array in found
        ), [array.refused for array in found]


def test_machine_code_arrays_are_the_accessed_byte_ranges(here) -> None:
    source, launch = transpose("float", 32, 32)
    found, made = repaired(source, launch, isa="sass")
    (array,) = found
    assert array.array.name.startswith("shared memory, bytes 0 to") and array.repairs[0].figure.excess == 0
    assert made.refused[0][1] == "its declaration was not found in the source"


# --- limits, the command ------------------------------------------------------------------------


def test_shared_memory_limit_excludes_larger_repairs(here) -> None:
    source, launch = transpose("float", 32, 32)
    (here / "k.cu").write_text(source)
    options = Options(launches=[launch])
    kinds = lambda limit: [repair.code.kind for repair in find_repairs(["k.cu"], options, limit=limit)[0][0].repairs]
    assert "pad" in kinds(None) and "pad" in kinds(4224) and "pad" not in kinds(4223) and "swizzle" in kinds(4096)


def test_repairs_keep_static_shared_memory_below_48_kilobytes(here) -> None:
    source = """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float s[384][32];
    for (int i = threadIdx.x; i < 384 * 32; i += 32) s[i / 32][i % 32] = in[i];
    __syncthreads();
    for (int i = 0; i < 384; i += 32) out[i + threadIdx.x] = s[i + threadIdx.x][0];
}"""
    found, _ = repaired(source, Launch("k", grid=1, block=32))
    assert found[0].repairs and all(repair.bytes <= 0 for repair in found[0].repairs)


@pytest.mark.parametrize(
    ("dynamic", "padded"), [(1024, True), (227 * 1024 - 4096 - 128, True), (227 * 1024 - 4096, False)]
)
def test_repairs_leave_room_for_dynamic_shared_memory(dynamic, padded, here) -> None:
    source = """
extern __shared__ float rest[];
extern "C" __global__ void k(float* out) {
    __shared__ float s[32][32];
    for (int i = 0; i < 32; i++) s[i][threadIdx.x] = rest[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 32; i++) out[i] = s[threadIdx.x][i];
}"""
    for limit in (None, 1 << 20):  # a limit does not raise that of the architecture
        (here / "k.cu").write_text(source)
        launch = Launch("k", grid=1, block=32, dynamic_shared=dynamic)
        (found,), _, _ = find_repairs(["k.cu"], Options(launches=[launch], arch="compute_90"), limit=limit)
        assert found.repairs and all(repair.after.blocks_per_sm for repair in found.repairs)
        assert ("pad" in {repair.code.kind for repair in found.repairs}) is padded


def test_fix_names_kernels_that_share_the_declaration_and_do_not_fit(here) -> None:
    source = """
__device__ inline void turn(const float* in, float* out) {
    __shared__ float s[32][32];
    for (int i = 0; i < 32; i++) s[i][threadIdx.x] = in[i * 32 + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 32; i++) out[i * 32 + threadIdx.x] = s[threadIdx.x][i];
}
extern "C" __global__ void one(const float* in, float* out) { turn(in, out); }
extern "C" __global__ void full(const float* in, float* out) { turn(in, out); }
"""
    (here / "k.cu").write_text(source)
    launches = [
        Launch(name, grid=1, block=32, dynamic_shared=dynamic)
        for name, dynamic in (("one", 0), ("full", 227 * 1024 - 4096))
    ]
    found, _, _ = find_repairs(["k.cu"], Options(launches=launches, arch="compute_90"))
    (one,) = (one for one in found if one.examined.entry.name == "one")
    pad = next(repair for repair in one.repairs if repair.code.kind == "pad")
    assert pad.also == ("it does not fit into the shared memory of full, with the same declaration",)


def test_fix_json_is_valid(here) -> None:
    runner = CliRunner()
    for name, (source, _launch, *_) in {
        "a": CASES["float 16 x 16"],
        "b": CASES["structures"],
        "c": (REFUSED["data"][0], None),
    }.items():
        (here / f"{name}.cu").write_text(source)
        result = runner.invoke(
            main,
            [
                "fix",
                f"{name}.cu",
                "--grid",
                "1",
                "--block",
                "16,16" if name == "a" else "32",
                "--format",
                "json",
                "--no-config",
                "--patch",
                f"{name}.diff",
            ],
        )
        assert result.exit_code == 0, result.output
        document = json.loads(result.stdout)
        jsonschema.validate(document, SCHEMA)
        assert document["arrays"] and document["patch"] is not None
        for array in document["arrays"]:
            assert (array["refused"] is None) == bool(array["repairs"])
            for repair in array["repairs"]:
                assert repair["proved"] and repair["excess"] < array["excess"]
    assert (here / "a.diff").read_text().startswith("--- a/a.cu\n+++ b/a.cu\n")


def test_site_selects_the_arrays_that_it_accesses(here) -> None:
    source = """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ float a[1024], b[1024];
    a[threadIdx.x * 32] = in[threadIdx.x];
    b[threadIdx.x * 16] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}"""
    (here / "k.cu").write_text(source)
    runner = CliRunner()
    launch = ["--grid", "1", "--block", "32", "--no-config"]
    names = lambda *site: [
        one["name"]
        for one in json.loads(runner.invoke(main, ["fix", "k.cu", *site, *launch, "--format", "json"]).stdout)["arrays"]
    ]
    assert names() == ["a", "b"] and names("k.cu:5") == ["b"] and names("k.cu:4") == ["a"]
    wrong = runner.invoke(main, ["fix", "k.cu", "k.cu:99", *launch])
    assert wrong.exit_code == 2 and "there is no shared-memory site at k.cu:99" in wrong.stderr


def test_fix_rejects_bad_input_with_status_2(here) -> None:
    runner = CliRunner()
    for arguments, words in (
        (["missing.cu"], "there is no such file"),
        (["k.cu", "--smem-limit", "0"], "Invalid value"),
        (["-", "--patch", "-"], "standard input"),
    ):
        result = runner.invoke(main, ["fix", *arguments, "--no-config"], input=transpose("float", 32, 32)[0])
        assert result.exit_code == 2 and words in result.stderr, result.stderr
    nothing = (
        'extern "C" __global__ void k(float* out) { __shared__ float s[32]; s[threadIdx.x] = 1.0f; __syncthreads();'
        " out[threadIdx.x] = s[threadIdx.x]; }\n"
    )
    (here / "free.cu").write_text(nothing)
    result = runner.invoke(main, ["fix", "free.cu", "--block", "32", "--grid", "1", "--no-config"])
    assert result.exit_code == 0 and result.output == "no shared array has excess\n"


def test_fix_is_callable_from_python(here) -> None:
    source, launch = transpose("float", 32, 32)
    report = fix([source], Options(launches=[launch]))
    jsonschema.validate(report.to_dict(), SCHEMA)
    assert report.arrays[0].repairs[0].summary == "pad the row to 33 floats"
    with pytest.raises(InputError, match="no shared-memory site"):
        fix([source], Options(launches=[launch]), site="k.cu:77")


# --- in the audit -------------------------------------------------------------------------------


def test_audit_shows_a_repair_under_each_conflict(here) -> None:
    source, launch = transpose("float", 32, 32)
    (here / "k.cu").write_text(source)
    runner = CliRunner()
    told = ["--grid", "4,2", "--block", "32,32", "--param", "n=128", "--no-config"]
    text = runner.invoke(main, ["audit", "k.cu", *told]).output
    assert "= fix: pad the row to 33 floats, 0 excess left, +128 bytes, proved for this launch" in text
    assert "fix:" not in runner.invoke(main, ["audit", "k.cu", *told, "--no-fixes"]).output
    sites = {
        site["access"]: site
        for site in json.loads(runner.invoke(main, ["audit", "k.cu", *told, "--format", "json"]).output)["kernels"][0][
            "sites"
        ]
    }
    assert sites["load"]["fix"]["declaration"] == "__shared__ float tile[32][33];" and sites["store"]["fix"] is None
    assert "fix: pad the row" in runner.invoke(main, ["audit", "k.cu", *told, "--format", "html"]).output
    sarif = json.loads(runner.invoke(main, ["audit", "k.cu", *told, "--format", "sarif"]).output)
    (change,) = [result for result in sarif["runs"][0]["results"] if result["ruleId"] == "PA001"][0]["fixes"][0][
        "artifactChanges"
    ]
    (replaced,) = change["replacements"]
    region = replaced["deletedRegion"]
    line = source.splitlines()[region["startLine"] - 1]
    assert (
        line[region["startColumn"] - 1 : region["endColumn"] - 1] == "32"
        and replaced["insertedContent"]["text"] == "33"
    )
    explained = runner.invoke(main, ["explain", "k.cu", "k.cu:6", *told]).output
    assert (
        "after, offsets by lane in bytes from the beginning of the array:" in explained
        and "lanes 0-31: 1 wavefront\n" in explained
    )


def test_sarif_has_no_automatic_fix_for_a_template(here) -> None:
    (here / "k.cu").write_text("""
template <int N> __device__ void turn(const float* in, float* out) {
    __shared__ float tile[N][N];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * N + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * N + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void k(const float* in, float* out) { turn<32>(in, out); }
""")
    sarif = json.loads(
        CliRunner()
        .invoke(main, ["audit", "k.cu", "--grid", "1", "--block", "32,32", "--format", "sarif", "--no-config"])
        .output
    )
    first = sarif["runs"][0]["results"][0]
    assert "fixes" not in first and "pad the row" in first["properties"]["fix"]


FLAT = """
extern "C" __global__ void flat(const float* in, float* out) {
    __shared__ float t[32][32];
    int i = threadIdx.x;
    t[i / 32][i % 32] = in[i];
    __syncthreads();
    out[i] = t[0][i % 32 * 32 + i / 32];
}
"""


@pytest.mark.parametrize("launch", [Launch("flat", grid=1, block=1024), Launch("flat", block=1024)])
def test_repair_not_expressible_in_the_source_is_not_offered(launch, here) -> None:
    """The layout is proved, but longer declared rows do not implement it in a source that indexes beyond its rows."""
    (here / "k.cu").write_text(FLAT)
    (array,) = fix(["k.cu"], Options(launches=[launch])).arrays
    assert array.repairs and all(repair.excess == 0 and not repair.compiled for repair in array.repairs)
    for repair in array.repairs:
        assert (
            "__shared__" not in repair.code
            and "element i of t, counted from its first, moves to element i" in repair.code
        )
        assert "a load of 4 bytes is not at its expected position" in repair.code
    sarif = (
        CliRunner()
        .invoke(main, ["audit", "k.cu", "--grid", "1", "--block", "1024", "--format", "sarif", "--no-config"])
        .output
    )
    assert all("fixes" not in result for result in json.loads(sarif)["runs"][0]["results"])


@pytest.mark.parametrize("launch", [Launch("turn", grid=(4, 2), block=(32, 32), params=[None, None, 128]), None])
def test_offered_code_is_compiled(launch, here) -> None:
    (here / "k.cu").write_text(transpose("float", 32, 32)[0])
    (array,) = fix(["k.cu"], Options(launches=[launch] if launch else [])).arrays
    assert len(array.repairs) > 1 and all(repair.compiled and "__shared__" in repair.code for repair in array.repairs)


def test_sarif_has_no_automatic_fix_for_a_shared_function(here) -> None:
    (here / "k.cu").write_text("""
__device__ void turn(const float* in, float* out, int pitch) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * pitch + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * pitch + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void k(const float* in, float* out) { turn(in, out, 32); }
""")
    sarif = json.loads(
        CliRunner()
        .invoke(main, ["audit", "k.cu", "--grid", "1", "--block", "32,32", "--format", "sarif", "--no-config"])
        .output
    )
    assert all("fixes" not in result for result in sarif["runs"][0]["results"])


# --- speed --------------------------------------------------------------------------------------


def test_array_with_many_sites_is_searched(here) -> None:
    for sites in (10, 200):
        body = "\n".join(f"    sum += s[(threadIdx.x * {32 + k % 3 * 32} + {k}) % 4096];" for k in range(sites - 1))
        source = f"""
extern "C" __global__ void k(const float* in, float* out) {{
    __shared__ float s[4096];
    for (int i = threadIdx.x; i < 4096; i += 256) s[i] = in[i];
    __syncthreads();
    float sum = 0;
{body}
    out[threadIdx.x] = sum;
}}"""
        options = Options(launches=[Launch("k", grid=8, block=256)])
        report = fix([source], options)
        assert len(report.arrays[0].sites) >= sites - 1


@pytest.mark.parametrize("isa", ["ptx", "sass"])
@pytest.mark.parametrize("most", [0, 1])
def test_fix_reports_sites_with_too_many_requests(most, isa, here, monkeypatch) -> None:
    """For a launch with too many requests to look for repairs, the report says so and names the site responsible."""
    monkeypatch.setattr(kept, "MOST_REQUESTS", most)
    source, launch = transpose("float", 32, 32)
    (here / "k.cu").write_text(source)
    report = fix(["k.cu"], Options(launches=[launch], isa=isa, arch="sm_90"))
    sites = ptxaudit.audit("k.cu", launches=[launch], isa=isa, arch="sm_90").sites
    assert {site.id for site in sites if site.excess} <= {id for array in report.arrays for id in array.sites}
    for array in report.arrays:
        assert "different addresses" in array.refused and array.excess and not array.repairs
    assert "refused" in closing(report) and "no shared array has excess" not in fix_text(report)
    jsonschema.validate(report.to_dict(), SCHEMA)
