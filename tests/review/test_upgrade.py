"""The commands for a compiler upgrade, on the releases' own wheels.

Tables of releases, bisection, formats, launches, bad input.
"""

from __future__ import annotations

import json
import re
import subprocess

import jsonschema
import pytest
from command_line import folder_with, run
from releases import having

from ptxaudit.base import resources
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import nvrtc, toolchains
from ptxaudit.frontend.compile import releases as package_index

# 64 threads, 2 warps. v: STS.128 takes 4 wavefronts per request (ideal 4), and so does LDS.128 in reverse order; t:
# STS of a column, with rows of 32 floats, takes 32 (ideal 1), LDS of consecutive floats 1. In all 2 × (4 + 4 + 32 +
# 1) = 82 wavefronts, 2 × 31 = 62 of them excess.
KERNEL = """
extern "C" __global__ void __launch_bounds__(64) k(const float4* in, float* out) {
    __shared__ float4 v[64];
    __shared__ float t[64 * 32];
    v[threadIdx.x] = in[threadIdx.x];
    t[threadIdx.x * 32] = 1;
    __syncthreads();
    float4 a = v[63 - threadIdx.x];
    out[threadIdx.x] = a.x + a.y + a.z + a.w + t[threadIdx.x];
}
"""
# One warp and one store: 1 wavefront with rows of 33 floats, 32 with rows of 32, which compilers since 12.9 see.
CHANGED_AT_12_9 = """
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1209
#define PITCH 32
#else
#define PITCH 33
#endif
extern "C" __global__ void column(float* out) {
    __shared__ float s[32 * PITCH];
    s[threadIdx.x * PITCH] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
"""
LAUNCH = ["--grid", "1", "--block", "64"]
WARP = ["--grid", "1", "--block", "32"]
NOW = toolchains.get("nvrtc").version


def schema(name):
    return jsonschema.Draft202012Validator(
        json.loads((resources.data("report/schemas") / f"{name}-1.schema.json").read_text())
    )


here = folder_with({"k.cu": KERNEL})


def under(*versions):
    return [word for version in versions for word in ("--toolchain", version)]


def columns(data, name, at=0):
    """A kernel's figure in each column of a matrix."""
    return [one["figures"] and one["figures"][name] for one in data["kernels"][at]["columns"]]


# --- a table of kernels by releases -----------------------------------------------------------


def test_releases_are_compared_in_one_table_of_kernels(here):
    having("12.4", "12.9")
    data = json.loads(run("diff", "k.cu", *LAUNCH, *under("12.4", "12.9", NOW), "--format", "json").stdout)
    schema("matrix").validate(data)
    assert [column["release"] for column in data["columns"]] == ["12.4", "12.9", NOW] and data["kernels"][0][
        "isa"
    ] == "sass"
    assert (
        columns(data, "wavefronts") == [82] * 3
        and columns(data, "excess") == [62] * 3
        and columns(data, "spills") == [0] * 3
    )
    assert all(columns(data, "registers")) and all(columns(data, "instructions")) and not data["got_worse"]
    text = run("diff", "k.cu", *LAUNCH, *under("12.4", "12.9", NOW), "--all").stdout
    assert text.startswith("k.cu under 3 releases: nothing got worse\n") and re.search(
        r"^  release +wavefronts +excess +ways +registers +spills +instructions +sites$", text, re.MULTILINE
    )
    assert len(re.findall(r"^  (?:12\.4|12\.9|1\d\.\d) +82 +62 +32 ", text, re.MULTILINE)) == 3


def test_releases_are_compared_for_several_architectures(here):
    data = json.loads(
        run(
            "diff", "k.cu", *LAUNCH, "--arch", "sm_80", "--arch", "sm_90", "--arch", "sm_120", "--format", "json"
        ).stdout
    )
    assert [(column["release"], column["arch"]) for column in data["columns"]] == [
        ("installed", f"sm_{n}") for n in (80, 90, 120)
    ]
    assert [kernel["arch"] for kernel in data["kernels"]] == ["sm_80", "sm_90", "sm_120"] and not data["steps"]
    assert [columns(data, "wavefronts", at) for at in range(3)] == [[82]] * 3
    both = run(
        "diff", "k.cu", *LAUNCH, "--arch", "sm_80", "--arch", "sm_90", "--isa", "sass", "--all"
    ).stdout  # two: site by site
    assert "4 sites: " in both and "wavefronts" in both and "k  sass" in both


def test_release_that_changes_a_figure_is_marked(here):
    having("12.4", "12.9")
    (here / "c.cu").write_text(CHANGED_AT_12_9)
    text = run("diff", "c.cu", *WARP, *under("12.4", "12.9", NOW), status=1).stdout
    assert text.startswith("c.cu under 3 releases: got worse at 12.9\n")
    assert "12.4 to 12.9: 1 worse, 1 same; excess 0 → 31 (+31), wavefronts 2 → 33 (+31)\n" in text
    assert re.search(r"^  12\.4 +2 +0 +1 ", text, re.MULTILINE) and re.search(
        r"^  12\.9.* +33 ▲ +31 ▲ +32 ▲ ", text, re.MULTILINE
    )
    markdown, page = (
        run("diff", "c.cu", *WARP, *under("12.4", "12.9", NOW), "--format", form, status=1).stdout
        for form in ("markdown", "html")
    )
    assert "| 33 ▲ | 31 ▲ | 32 ▲ |" in markdown and '<td class="bad">33 ▲</td>' in page
    limited = run("diff", "c.cu", *WARP, *under("12.4", "12.9", NOW), "--fail-on", "total-wavefronts+1551%")
    assert "denied" not in limited.stderr  # 31 of 2 are 1,550 %
    denied = run(
        "diff", "c.cu", *WARP, *under("12.4", "12.9", NOW), "--fail-on", "total-wavefronts+1550%", status=1
    ).stderr
    assert denied == "denied by 12.4 to 12.9: total-wavefronts+1550%: in total: wavefronts 2 → 33\n"


def test_unchanged_kernels_are_one_table(here):
    having("12.4", "12.8", "12.9")
    (here / "c.cu").write_text(
        CHANGED_AT_12_9 + KERNEL + KERNEL.replace("void __launch_bounds__(64) k(", "void __launch_bounds__(64) l(")
    )
    text = run("diff", "c.cu", *LAUNCH, *under("12.4", "12.8", "12.9"), "--isa", "ptx", status=1).stdout
    _, table = text.split("nothing changed in 2 kernels\n")
    assert re.findall(r"^  ([kl])  sm_90 ptx, grid 1, block 64 +82 +62 +32 ", table, re.MULTILINE) == ["k", "l"]
    assert (
        "\ncolumn  sm_90 ptx" in text and len(re.findall(r"^  release ", text, re.MULTILINE)) == 2
    )  # its own table, and the totals


def test_unavailable_release_leaves_the_others(here):
    result = run("diff", "k.cu", *LAUNCH, *under("1.0", "twelve", NOW), status=2)
    assert "1.0: there is no CUDA release '1.0' as wheels" in result.stdout and f"  {NOW} " in result.stdout
    assert result.stderr.count("error: there is no CUDA release") == 2
    data = json.loads(run("diff", "k.cu", *LAUNCH, *under("1.0", "twelve", NOW), "--format", "json", status=2).stdout)
    schema("matrix").validate(data)
    assert [column["had"] for column in data["columns"]] == [False, False, True] and columns(data, "wavefronts") == [
        None,
        None,
        82,
    ]


def test_file_that_one_release_rejects_is_compared_under_the_others(here):
    having("12.4", "12.9")
    (here / "k.cu").write_text(
        "#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ == 1209\n#error not with this one\n#endif\n" + KERNEL
    )
    result = run("diff", "k.cu", *LAUNCH, *under("12.4", "12.9", NOW), status=2)
    assert re.search(r"^12\.9: NVRTC 12\.9 cannot compile this: .*not with this one", result.stdout, re.MULTILINE)
    assert re.search(r"^  12\.9 +– +– .*cannot compile this", result.stdout, re.MULTILINE)
    assert (
        f"12.4 to {NOW}: " in result.stdout
        and len(re.findall(r"^  \S+ +82 +62 ", result.stdout, re.MULTILINE)) == 2
        and "k.cu:2" in result.stderr
    )
    both = run("diff", "k.cu", *LAUNCH, *under("12.4", "12.9"), status=2)  # one of the two sides is empty
    assert not both.stdout and "not with this one" in both.stderr


@pytest.mark.parametrize(
    "arguments, what",
    [
        (["--format", "sarif"], "does not support format sarif"),
        (["--old-launch", "x.toml"], "only one input is given"),
        (["--ptxas", "12.9", "--ptxas", "13.0"], "there are 3 --toolchain and 2 --ptxas"),
    ],
)
def test_unsupported_options_of_a_release_table_are_rejected(here, arguments, what):
    (here / "x.toml").write_text("")
    assert what in run("diff", "k.cu", *under("12.4", "12.9", NOW), *arguments, status=2).stderr


def test_ptx_is_compared_under_several_assemblers(here):
    having("12.9")
    (here / "k.ptx").write_text(nvrtc.compile_source("k.cu", tool=toolchains.get("nvrtc", "12.9")).ptx)
    now = toolchains.get("ptxas").version
    data = json.loads(
        run(
            "diff", "k.ptx", *LAUNCH, "--ptxas", "12.9", "--ptxas", "1.1", "--ptxas", now, "--format", "json", status=2
        ).stdout
    )
    assert [column["had"] for column in data["columns"]] == [True, False, True] and columns(data, "excess") == [
        62,
        None,
        62,
    ]


# --- bisect -----------------------------------------------------------------------------------


@pytest.fixture
def four(here, monkeypatch):
    """Four available releases, and one that is not available."""
    having("11.8", "12.4", "12.9")
    monkeypatch.setattr(package_index, "available", lambda kind: (("11.8", "12.4", "12.9", NOW), ""))
    (here / "c.cu").write_text(CHANGED_AT_12_9)
    return here


def test_bisect_finds_the_release_that_changed_a_figure(four):
    text = run("bisect", "c.cu", *WARP, "--good", "11.8", "--bad", NOW, status=1).stdout
    assert text.startswith(f"c.cu from 11.8 to {NOW}: 4 releases can be had, 4 were audited\n")
    assert re.search(r"^  column  sass  wavefronts +12\.9 +2 +33  after 12\.4$", text, re.MULTILINE)
    data = json.loads(run("bisect", "c.cu", *WARP, "--good", "11.8", "--bad", NOW, "--format", "json", status=1).stdout)
    schema("bisect").validate(data)
    found = {one["figure"]: (one["before"], one["first"], one["old"], one["new"]) for one in data["found"]}
    assert (
        found["wavefronts"] == ("12.4", "12.9", 2, 33)
        and found["excess"] == ("12.4", "12.9", 0, 31)
        and found["worse-sites"] == ("12.4", "12.9", 0, 1)
    )


def test_bisect_audits_only_needed_releases(four):
    """Two releases lie between 11.8 and the newest; the middle one decides wavefronts alone."""
    data = json.loads(
        run(
            "bisect",
            "c.cu",
            *WARP,
            "--good",
            "11.8",
            "--bad",
            NOW,
            "--figure",
            "wavefronts",
            "--format",
            "json",
            status=1,
        ).stdout
    )
    assert [one["audited"] for one in data["releases"]] == [True, True, True, True] and len(data["found"]) == 1
    same = json.loads(
        run(
            "bisect", "c.cu", *WARP, "--good", "11.8", "--bad", "12.4", "--figure", "wavefronts", "--format", "json"
        ).stdout
    )
    assert not same["found"] and [one["release"] for one in same["releases"]] == ["11.8", "12.4"]
    assert (
        "no figure changed"
        in run("bisect", "c.cu", *WARP, "--good", "11.8", "--bad", "12.4", "--figure", "wavefronts").stdout
    )


def test_bisect_names_releases_it_could_not_audit(four):
    """12.4 does not compile it: the change is in 12.4 or in 12.9."""
    (four / "c.cu").write_text(
        "#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ == 1204\n#error not with this one\n#endif\n"
        + CHANGED_AT_12_9
    )
    text = run("bisect", "c.cu", *WARP, "--good", "11.8", "--bad", NOW, "--figure", "excess", status=1).stdout
    assert re.search(
        r"^  column  sass  excess +12\.9 +0 +31  after 11\.8, or in 12\.4, which could not be audited$",
        text,
        re.MULTILINE,
    )
    assert "12.4: NVRTC 12.4 cannot compile this" in text


def test_bisect_audits_every_release_on_demand(four):
    """Worse in 12.4 only: a search between the ends misses it."""
    (four / "c.cu").write_text(CHANGED_AT_12_9.replace(">= 1209", "== 1204"))
    assert run("bisect", "c.cu", *WARP, "--good", "11.8", "--bad", NOW, "--figure", "wavefronts").exit_code == 0
    text = run(
        "bisect", "c.cu", *WARP, "--good", "11.8", "--bad", NOW, "--figure", "wavefronts", "--every", status=1
    ).stdout
    assert re.search(r"^  column  sass  wavefronts +12\.4 +2 +33  after 11\.8$", text, re.MULTILINE)


@pytest.mark.parametrize(
    "arguments, what",
    [
        (["k.cu", "--good", "13.0", "--bad", "12.4"], "13.0 is not before 12.4"),
        (["k.cu", "--good", "x", "--bad", "12.4"], "'x' is not a CUDA release"),
        (["k.cu", "--good", "11.8", "--bad", "12.4", "--figure", "wavefrnts"], "did you mean wavefronts?"),
        (["none.cu", "--good", "11.8", "--bad", "12.4"], "none.cu"),
        (["k.cu", "--good", "11.8", "--bad", "12.4", "--toolchain", "12.4"], "chooses the releases itself"),
        (["k.bin", "--good", "11.8", "--bad", "12.4"], "only CUDA source or PTX"),
    ],
)
def test_unsupported_arguments_of_bisect_are_rejected(four, arguments, what):
    (four / "k.bin").write_bytes(b"\0\1\2")
    assert what in run("bisect", *arguments, status=2).stderr


def test_bisect_with_an_unavailable_release_is_rejected(four):
    assert (
        "there is no CUDA release '1.0'" in run("bisect", "c.cu", *WARP, "--good", "1.0", "--bad", NOW, status=2).stderr
    )


PIP = (
    "nvidia-cuda-nvrtc (13.5.37)\nAvailable versions: 13.5.37, 13.4.92, 13.4.59, 13.3.33\n  INSTALLED: 13.5.37\n "
    " LATEST:    13.5.37\n"
)


def test_releases_of_a_package_index_are_listed(monkeypatch):
    def answer(command, **_):
        package = command[-1]
        if package.endswith("-cu11"):
            return subprocess.CompletedProcess(
                command, 1, "", "ERROR: No matching distribution found for nvidia-cuda-nvrtc-cu11"
            )
        text = PIP if not package.endswith("-cu12") else "Available versions: 12.9.86, 12.4.127, 12.4.99\n"
        return subprocess.CompletedProcess(command, 0, text, "")

    monkeypatch.setattr(
        package_index.toolchains, "find", lambda kind: (toolchains.Tool("nvrtc", "/nowhere/libnvrtc.so.12.6", "x"),)
    )
    monkeypatch.setattr(subprocess, "run", answer)
    assert package_index.available("nvrtc") == (("12.4", "12.6", "12.9", "13.3", "13.4", "13.5"), "")
    monkeypatch.setattr(
        subprocess,
        "run",
        lambda command, **_: subprocess.CompletedProcess(
            command, 1, "", "NewConnectionError: Failed to establish a new connection"
        ),
    )
    assert package_index.available("nvrtc") == (
        ("12.6",),
        "the package index could not be reached: only installed releases are known",
    )
    assert package_index.between(("11.8", "12.6", "12.9", "13.0"), "12.4", "13.0") == ["12.4", "12.6", "12.9", "13.0"]
    with pytest.raises(InputError):
        package_index.number_of("12")


# --- two sides --------------------------------------------------------------------------------

OLD_SIDE = """
extern "C" __global__ void column(float* out) {
    __shared__ float s[32 * 32];
    s[threadIdx.x * 32] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void gone(float* out) { __shared__ float s[64]; s[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] = s[63 - threadIdx.x]; }
"""
NEW_SIDE = (
    OLD_SIDE.replace("void gone", "void fresh")
    .replace("column(float* out) {", "column(float* out, int pitch) {")
    .replace("s[threadIdx.x * 32]", "s[threadIdx.x * pitch]")
)


@pytest.fixture
def sides(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.cu").write_text(OLD_SIDE)
    (tmp_path / "new.cu").write_text(NEW_SIDE)
    for name, entries in {
        "both.toml": [("column", 32, ""), ("gone", 64, ""), ("fresh", 64, "")],
        "old.toml": [("column", 32, ""), ("gone", 64, "")],
        "new.toml": [("column", 32, 'params = ["?", 33]\n'), ("fresh", 64, "")],
        "typo.toml": [("colum", 32, "")],
    }.items():
        (tmp_path / name).write_text(
            "".join(
                f'[[launch]]\nkernel = "{kernel}"\ngrid = 1\nblock = {block}\n{more}\n'
                for kernel, block, more in entries
            )
        )
    return tmp_path


def test_launch_of_a_kernel_on_one_side_is_accepted(sides):
    text = run("diff", "old.cu", "new.cu", "--launch", "both.toml").stdout
    assert "new kernel: fresh\n" in text and "gone kernel: gone\n" in text
    assert "there is no kernel 'colum'" in run("diff", "old.cu", "new.cu", "--launch", "typo.toml", status=2).stderr
    run("audit", "old.cu", "--format", "json", "--launch", "old.toml", "-o", "old.json")
    assert run("diff", "old.json", "new.cu", "--launch", "both.toml").exit_code == 0  # a report also has its kernels


def test_launch_file_per_side(sides):
    """The pitch is a parameter now: 33 instead of 32. The store's 32 wavefronts become 1; the load's 1 stays."""
    data = json.loads(
        run(
            "diff", "old.cu", "new.cu", "--old-launch", "old.toml", "--new-launch", "new.toml", "--format", "json"
        ).stdout
    )
    schema("diff").validate(data)
    assert data["totals"] == {"excess": [31, 0], "wavefronts": [33, 2]} and data["counts"] == {
        "new": 2,
        "gone": 2,
        "better": 1,
        "moved": 1,
    }
    entry = next(one for one in data["kernels"] if one["name"] == "column")
    assert entry["old_launch"]["params"] is None and entry["launch"]["params"] == [None, 33]
    assert (
        run("diff", "new.cu", "old.cu", "--old-launch", "new.toml", "--new-launch", "old.toml", status=1).exit_code == 1
    )
    assert (
        "there is no kernel 'fresh'"
        in run("diff", "old.cu", "new.cu", "--old-launch", "new.toml", "--new-launch", "new.toml", status=2).stderr
    )
    assert (
        "exclude each other"
        in run("diff", "old.cu", "new.cu", "--launch", "both.toml", "--new-launch", "new.toml", status=2).stderr
    )


def test_new_kernel_with_conflicts_fails_the_diff(sides):
    (sides / "new.cu").write_text(OLD_SIDE + OLD_SIDE.replace("column", "second").replace("gone", "third"))
    text = run("diff", "old.cu", "new.cu", *WARP, status=1).stdout
    assert "new kernels: second, third\n" in text and re.search(
        r"^  new +new\.cu:\d+ +st\.shared\.f32 +exact +32 +31 +32$", text, re.MULTILINE
    )


def test_code_of_a_changed_site_is_shown_side_by_side(sides):
    text = run(
        "diff", "old.cu", "new.cu", "--old-launch", "old.toml", "--new-launch", "new.toml", "--isa", "sass", "--code"
    ).stdout
    block = text[text.index("old   ") :].splitlines()
    assert re.match(r"      old +new$", "      " + block[0])
    both = [
        line
        for line in block
        if re.match(r"\s+> [0-9a-f]{4}  STS \[R\d+\], R\d+ +> [0-9a-f]{4}  STS \[R\d+\], R\d+$", line)
    ]
    assert len(both) == 1
    page = run(
        "diff",
        "old.cu",
        "new.cu",
        "--old-launch",
        "old.toml",
        "--new-launch",
        "new.toml",
        "--isa",
        "sass",
        "--kernel",
        "column",
        "--format",
        "html",
    ).stdout
    assert len(re.findall(r'<td class="mark">STS \[R\d+\], R\d+</td>', page)) == 2 and "code of both sides" in page
    assert (
        "code of both sides"
        not in run("diff", "old.cu", "new.cu", *WARP, "--kernel", "column", "--format", "html", "--no-code").stdout
    )


def test_code_of_compiled_files_is_shown(sides):
    for name, pitch in (("old", 33), ("new", 32)):
        (sides / f"{name}.cubin").write_bytes(nvrtc.compile_source(OLD_SIDE.replace("* 32", f"* {pitch}")).cubin)
    for _ in range(2):  # the second time from the cache
        text = run("diff", "old.cubin", "new.cubin", *WARP, "--kernel", "column", "--code", status=1).stdout
        assert re.search(r"^ +> [0-9a-f]{4}  STS .* +> [0-9a-f]{4}  STS ", text, re.MULTILINE)


def test_diff_of_compiled_files_uses_the_cache(sides, monkeypatch):
    from ptxaudit.review import kept_parts as pipeline

    monkeypatch.setenv("XDG_CACHE_HOME", str(sides / "cache"))
    monkeypatch.setenv("PTXAUDIT_CACHE", "1")
    (sides / "k.cubin").write_bytes(nvrtc.compile_source(OLD_SIDE).cubin)
    audited = []
    real = pipeline._audited
    monkeypatch.setattr(
        pipeline, "_audited", lambda inputs, **options: audited.append(list(inputs)) or real(inputs, **options)
    )
    from ptxaudit.review import result_cache

    result_cache._opened.cache_clear()
    try:
        first = run("diff", "k.cubin", "k.cubin", *WARP).stdout
        second = run("diff", "k.cubin", "k.cubin", *WARP).stdout
        assert first == second and audited == [["k.cubin"]]
        run("diff", "k.cubin", "k.cubin", *WARP, "--no-cache")
        assert audited == [["k.cubin"]] * 3
    finally:
        result_cache._opened.cache_clear()


def test_results_of_recompiled_releases_are_cached_by_code(sides, monkeypatch):
    from ptxaudit.pipeline import kernels, loading
    from ptxaudit.review import result_cache

    monkeypatch.setenv("XDG_CACHE_HOME", str(sides / "cache"))
    monkeypatch.setenv("PTXAUDIT_CACHE", "1")
    counted = {"compiled": 0, "examined": 0}

    def counting(what, function):
        def counted_call(*arguments):
            counted[what] += 1
            return function(*arguments)

        return counted_call

    monkeypatch.setattr(loading, "compiled_of", counting("compiled", loading.compiled_of))
    monkeypatch.setattr(kernels, "examine_kernels", counting("examined", kernels.examine_kernels))
    result_cache._opened.cache_clear()
    try:
        both = ["diff", "old.cu", *WARP, "--arch", "sm_80", "--arch", "sm_90", "--format", "json"]
        first = run(*both).stdout
        assert first == run(*both).stdout and counted == {"compiled": 4, "examined": 2}
        run(*both[:-2], "--format", "html")  # it also shows code, which is not cached
        assert counted == {"compiled": 6, "examined": 4}
    finally:
        result_cache._opened.cache_clear()


# --- formats ----------------------------------------------------------------------------------


def test_top_lists_the_greatest_impact(sides):
    source = "\n".join(
        f'extern "C" __global__ void k{n}(float* out) {{ __shared__ float s[32 * 33]; s[threadIdx.x * PITCH{n}] = 1;'
        " __syncthreads(); out[threadIdx.x] = s[threadIdx.x]; }"
        for n in range(6)
    )
    pitches = {"old": [33] * 6, "new": [33, 2, 32, 4, 8, 16]}  # 1, 2, 32, 4, 8, 16 wavefronts of one request
    for name, those in pitches.items():
        (sides / f"{name}.cu").write_text(
            "\n".join(f"#define PITCH{n} {pitch}" for n, pitch in enumerate(those)) + "\n" + source
        )
    text = run("diff", "old.cu", "new.cu", *WARP, status=1).stdout
    assert re.findall(r"^(k\d)  ptx", text, re.MULTILINE) == ["k2", "k5", "k4", "k3", "k1"]
    assert (
        text.index("12 sites: 5 worse")
        < text.index("in total: excess 0 → 57 (+57), wavefronts 12 → 69 (+57)")
        < text.index("k2  ptx")
    )
    top = run("diff", "old.cu", "new.cu", *WARP, "--top", "2", status=1).stdout
    assert re.findall(r"^(k\d)  ptx", top, re.MULTILINE) == ["k2", "k5"] and top.endswith(
        "and 3 more rows: leave out --top, or see --format json\n"
    )


def test_sarif_and_annotations_have_the_lines_of_changes(sides):
    (sides / "new.cu").write_text(
        OLD_SIDE.replace("32 * 32", "32 * 64")
        .replace("threadIdx.x * 32]", "threadIdx.x * 16]")
        .replace("float* out) {\n", "float* out) {\n    // a line\n", 1)
    )
    old = OLD_SIDE.replace("* 32]", "* 33]").replace("s[32 * 32", "s[32 * 33")
    (sides / "old.cu").write_text(old)
    sarif = json.loads(
        run(
            "diff",
            "old.cu",
            "new.cu",
            *WARP,
            "--kernel",
            "column",
            "--format",
            "sarif",
            "--fail-on",
            "wavefronts+1",
            status=1,
        ).stdout
    )
    results = sarif["runs"][0]["results"]
    assert [(one["ruleId"], one["level"]) for one in results] == [("diff-limit", "error"), ("diff-worse", "warning")]
    assert results[0]["message"]["text"] == "a limit is met: column: wavefronts 2 → 17 (wavefronts+1)."
    place = results[1]["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == (
        "new.cu",
        5,
    ) and "wavefronts 1 → 16, excess 0 → 15" in results[1]["message"]["text"]
    assert (
        results[1]["baselineState"] == "updated"
        and results[1]["partialFingerprints"]
        and sarif["runs"][0]["properties"]["gotWorse"]
    )
    lines = run(
        "diff", "old.cu", "new.cu", *WARP, "--kernel", "column", "--format", "github", status=1
    ).stdout.splitlines()
    assert lines == [line for line in lines if line.startswith("::")] and lines[0].startswith(
        "::warning file=new.cu,line=5,title=ptxaudit%3A costs more than before::st.shared.f32: wavefronts 1 → 16"
    )


def test_fingerprints_are_independent_of_inserted_lines(sides):
    def printed(source):
        (sides / "new.cu").write_text(source)
        data = json.loads(
            run("diff", "old.cu", "new.cu", *WARP, "--kernel", "column", "--format", "sarif", status=1).stdout
        )
        return [one["partialFingerprints"] for one in data["runs"][0]["results"]]

    (sides / "old.cu").write_text(OLD_SIDE.replace("* 32]", "* 33]").replace("s[32 * 32", "s[32 * 33"))
    assert printed(OLD_SIDE) == printed("// one\n// two\n" + OLD_SIDE) != []


def test_diff_page_is_self_contained(sides):
    (sides / "old.cu").write_text(OLD_SIDE.replace("* 32]", "* 33]").replace("s[32 * 32", "s[32 * 33"))
    (sides / "new.cu").write_text(OLD_SIDE.replace("gone(float* out)", "gone(float* out) /* <b> */"))
    page = (
        run("diff", "old.cu", "new.cu", *WARP, "--format", "html", "-o", "page.html", status=1)
        and (sides / "page.html").read_text()
    )
    assert (
        page.startswith("<!DOCTYPE html>")
        and '<h1 class="lead bad">ptxaudit: got worse</h1>' in page
        and '<td class="n bad">2 → 33</td>' in page
    )
    assert (
        page.index("in total:") < page.index("<table>") and re.search(r"https?:", page) is None and "src=" not in page
    )


# --- what else changed ------------------------------------------------------------------------


def test_diff_shows_lost_vector_width(tmp_path, monkeypatch):
    """One float4 per thread, then its four floats one by one: each LDG.128 and STS.128 becomes four of 4 bytes."""
    monkeypatch.chdir(tmp_path)
    head = 'extern "C" __global__ void k(const {0}* in, float* out) {{ __shared__ {0} s[128]; '
    tail = " __syncthreads(); out[threadIdx.x] = ((const volatile float*)s)[127 - threadIdx.x]; }\n"
    (tmp_path / "old.cu").write_text(head.format("float4") + "s[threadIdx.x] = in[threadIdx.x];" + tail)
    (tmp_path / "new.cu").write_text(
        head.format("float")
        + "for (int i = 0; i < 4; ++i) ((volatile float*)s)[threadIdx.x * 4 + i] = ((const volatile"
        " float*)in)[threadIdx.x * 4 + i];" + tail.replace("s)", "s)")
    )
    (tmp_path / "new.cu").write_text((tmp_path / "new.cu").read_text().replace("s[128]", "s[512]"))
    data = json.loads(
        run(
            "diff",
            "old.cu",
            "new.cu",
            *WARP,
            "--isa",
            "sass",
            "--format",
            "json",
            "--fail-on",
            "global-width-50%",
            status=1,
        ).stdout
    )
    (entry,) = data["kernels"]
    assert entry["old_widths"]["global"] == {"4": 1, "16": 1} and entry["new_widths"]["global"] == {"4": 5}
    assert entry["figures"]["global-width"] == [10, 4] and entry["figures"]["global-load"] == [1, 4]
    text = run("diff", "old.cu", "new.cu", *WARP, "--isa", "sass", status=1).stdout
    assert "global accesses by width: of 4 bytes 1 → 5, of 16 bytes 1 → 0" in text and "global-load 1 → 4" in text


def test_diff_shows_spills_caused_by_a_register_limit(tmp_path, monkeypatch):
    """96 values, in as many registers as needed, and in at most 64."""
    monkeypatch.chdir(tmp_path)
    body = (
        'extern "C" __global__ void {}k(const float* in, float* out, int n) {{\n float a[96];\n#pragma unroll\n for'
        " (int i = 0; i < 96; ++i) a[i] = in[threadIdx.x + i * 1024];\n#pragma unroll 1\n for (int k = 0; k < n; ++k)"
        " {{\n#pragma unroll\n for (int i = 0; i < 96; ++i) a[i] = a[i] * a[(i * 7 + 3) % 96] + in[k];\n }}\n#pragma"
        " unroll\n for (int i = 0; i < 96; ++i) out[threadIdx.x + i * 1024] = a[i];\n}}\n"
    )
    (tmp_path / "old.cu").write_text(body.format(""))
    (tmp_path / "new.cu").write_text(body.format("__launch_bounds__(1024) "))
    data = json.loads(
        run(
            "diff",
            "old.cu",
            "new.cu",
            "--isa",
            "sass",
            "--format",
            "json",
            "--fail-on",
            "spills+1",
            "--fail-on",
            "registers+1",
            status=1,
        ).stdout
    )
    (entry,) = data["kernels"]
    assert (
        entry["figures"]["spills"][0] == 0 < entry["figures"]["spills"][1]
        and entry["figures"]["registers"][1] <= 64 < entry["figures"]["registers"][0]
    )
    assert (
        entry["figures"]["local-store"][0] == 0 < entry["figures"]["local-store"][1]
        and entry["figures"]["stack"][1] > 0
    )
    result = run(
        "diff", "old.cu", "new.cu", "--isa", "sass", "--fail-on", "spills+1", "--fail-on", "registers+1", status=1
    )
    assert re.fullmatch(r"denied by spills\+1: k: spills 0 → [\d,]+\n", result.stderr) and re.search(
        r"^also: at most \d+ → \d+ registers, at most 0 → \d+ bytes of stack, 0 → [\d,]+ bytes of spills$",
        result.stdout,
        re.MULTILINE,
    )


def test_only_renamed_kernel_is_stated(sides):
    (sides / "new.cu").write_text(OLD_SIDE.replace("void column", "void pillar"))
    text = run("diff", "old.cu", "new.cu", *WARP, "--isa", "sass").stdout
    assert "only renamed kernel: column → pillar\n" in text and "\nrenamed" not in text


def test_many_compiler_errors_are_shortened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text("".join(f"__device__ int f{n}() {{ return missing{n}; }}\n" for n in range(99)))
    stderr = run("audit", "k.cu", status=2).stderr
    assert len(stderr.splitlines()) < 30 and re.search(
        r"… \d+ more lines, 99 errors in all; see a JSON report for the whole log", stderr
    )
    assert 'identifier "missing0" is undefined' in stderr
    assert "missing98" in json.loads(run("audit", "k.cu", "--format", "json", status=2).stdout)["problems"][0]["detail"]


def test_diff_shortens_long_kernel_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inner = "Pair<" * 40 + "int" + ", int>" * 40
    source = (
        "template <typename A, typename B> struct Pair {};\ntemplate <typename T, int N> __global__ void k(float* out)"
        " { __shared__ float s[64]; s[threadIdx.x] = N; __syncthreads(); out[threadIdx.x] = s[63 - threadIdx.x]; }\n"
    )
    for name, sizes in (("old", range(20)), ("new", range(20, 40))):
        (tmp_path / f"{name}.cu").write_text(
            source
            + "".join(f"template __global__ void k<{inner.replace('int>', 'int>', 1)}, {n}>(float*);\n" for n in sizes)
        )
    text = run("diff", "old.cu", "new.cu", *LAUNCH).stdout
    assert max(map(len, text.splitlines())) < 400
