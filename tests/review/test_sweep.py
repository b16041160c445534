"""--sweep: the syntax of axes, points compared with single audits, best and worst, table and JSON, bad input."""

import json
from functools import cache, partial
from pathlib import Path

import command_line
import jsonschema
import pytest
from command_line import folder_with

import ptxaudit
from ptxaudit.base import resources
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.report.model import Span
from ptxaudit.review.sweeps import MOST_POINTS, axis_of, parse_axis
from ptxaudit.ui.render.sweeps import sweep_text

PITCHED = """\
__global__ void pitched(const float* in, float* out, int pitch) {
    extern __shared__ float tile[];
    tile[threadIdx.y * pitch + threadIdx.x] = in[threadIdx.y * blockDim.x + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * blockDim.x + threadIdx.x] = tile[threadIdx.x * pitch + threadIdx.y];
}
"""
TILED = """\
#ifndef TILE
#define TILE 32
#endif
__global__ void tiled(const float* in, float* out) {
    __shared__ float tile[32][TILE];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""
SQUARE = Launch("*", grid=(4,), block=(32, 32))


@cache
def ptx(source=PITCHED):
    from ptxaudit.frontend.compile.nvrtc import compile_source

    return compile_source(source, name="k.cu").ptx


def validated(sweep):
    data = json.loads(sweep.to_json())
    schema = json.loads((resources.data("report/schemas") / "sweep-1.schema.json").read_text())
    jsonschema.validate(data, schema, jsonschema.Draft202012Validator)
    return data


# --- axes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, kind, key, values",
    [
        ("pitch=32:35", "param", "pitch", (32, 33, 34, 35)),
        ("pitch=32:72:20", "param", "pitch", (32, 52, 72)),
        ("n=1,2,4:6,0x10", "param", "n", (1, 2, 4, 5, 6, 16)),
        ("2=-1:1", "param", "2", (-1, 0, 1)),
        ("scale=0.5,2", "param", "scale", (0.5, 2)),
        ("block=32:96:32", "block", "block", ((32,), (64,), (96,))),
        ("block=16x16,32x8", "block", "block", ((16, 16), (32, 8))),
        ("grid=1:2,4x4x2", "grid", "grid", ((1,), (2,), (4, 4, 2))),
        ("cluster=2", "cluster", "cluster", ((2,),)),
        ("dynamic-shared=1024,2048", "dynamic_shared", "dynamic_shared", (1024, 2048)),
        ("-DTILE=16,32", "define", "TILE", ("16", "32")),
        ("D:TYPE=float,double", "define", "TYPE", ("float", "double")),
        ("-DTILE=16:18", "define", "TILE", (16, 17, 18)),
        ("n=1,1,2", "param", "n", (1, 2)),
    ],
)
def test_axes_are_parsed(text, kind, key, values):
    axis = parse_axis(text)
    assert (axis.kind, axis.key, axis.values) == (kind, key, values)


@pytest.mark.parametrize(
    "text, what",
    [
        ("pitch", "not NAME=VALUES"),
        ("=3", "not NAME=VALUES"),
        ("n=", "not NAME=VALUES"),
        ("n=3:1", "empty range"),
        ("n=1:9:0", "empty range"),
        ("n=a:b", "not a range"),
        ("n=1,,2", "empty value"),
        ("block=a", "not 1 to 3 numbers"),
        (f"n=0:{MOST_POINTS}", "more than"),
    ],
)
def test_malformed_axis_is_rejected(text, what):
    with pytest.raises(InputError, match=what):
        parse_axis(text)


def test_axes_from_python_values():
    assert axis_of("block", [(16, 16), 32]).values == ((16, 16), (32,))
    assert axis_of("pitch", range(3)).values == (0, 1, 2)
    with pytest.raises(InputError, match="no values"):
        axis_of("pitch", [])


# --- points -----------------------------------------------------------------------------------


def test_sweep_points_equal_single_audits():
    found = ptxaudit.sweep(PITCHED, {"block": [(32, 32), (16, 16), (64, 4)], "pitch": "32:36"}, launches=[SQUARE])
    data = validated(found)
    (kernel,) = data["kernels"]
    assert len(kernel["points"]) == 15 and not data["problems"]
    for point in kernel["points"]:
        launch = Launch("*", grid=4, block=point["at"]["block"], named={"2": point["at"]["pitch"]})
        totals = ptxaudit.audit(PITCHED, launches=[launch]).to_dict()["kernels"][0]["totals"]
        assert point["wavefronts"] == {"low": totals["wavefronts"], "high": totals["wavefronts"]}
        assert [point[name] for name in ("requests", "ideal", "ways")] == [
            totals[name] for name in ("requests", "ideal", "ways")
        ]


def test_best_and_worst_points_by_arithmetic():
    (kernel,) = ptxaudit.sweep(PITCHED, {"pitch": "32:40"}, launches=[SQUARE]).kernels
    # a column of lanes `pitch` words apart: as many ways as the greatest common divisor of pitch and 32 banks
    assert [point.wavefronts.low for point in kernel.points] == [
        128 + 128 * ways for ways in (32, 1, 2, 1, 4, 1, 2, 1, 8)
    ]
    assert (kernel.best, kernel.worst, kernel.equal_best, kernel.basis) == (1, 0, 4, "launch")
    assert kernel.points[0].most_at.endswith("ld.shared.f32") and kernel.points[1].most_at == ""


def test_points_without_a_grid_are_compared_per_request():
    (kernel,) = ptxaudit.sweep(PITCHED, {"pitch": "32:34"}, launches=[Launch("*", block=(32, 32))]).kernels
    assert kernel.basis == "request" and (kernel.best, kernel.worst) == (1, 0)
    assert [point.per_request.high for point in kernel.points] == [33, 2, 3] and kernel.points[0].wavefronts is None


def test_point_with_an_unspecified_parameter_is_a_range():
    (kernel,) = ptxaudit.sweep(PITCHED, {"block": [(32, 32), (16, 16)]}).kernels
    assert [point.per_request for point in kernel.points] == [Span(2, 33), Span(2, 18)] and kernel.best == 1
    assert (
        "up to 16.5 times ideal" in (text := sweep_text(ptxaudit.sweep(PITCHED, {"block": [(32, 32)]})))
        and "why: depends on pitch" in text
    )


def test_unknown_point_is_open_and_ranked_last(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(
        PITCHED.replace(
            "threadIdx.x * pitch + threadIdx.y", "pitch == 32 ? (int)__sinf(threadIdx.x) : 40 * threadIdx.x"
        )
    )
    (kernel,) = ptxaudit.sweep(path, {"pitch": [32, 33]}, launches=[SQUARE]).kernels
    assert [point.open for point in kernel.points] == [1, 0] and (kernel.best, kernel.worst) == (1, 0)
    assert "1 site open" in sweep_text(ptxaudit.sweep(path, {"pitch": [32]}, launches=[SQUARE]))


def test_swept_macros_are_compiled_for_each_value(tmp_path):
    (tmp_path / "t.cu").write_text(TILED)
    found = ptxaudit.sweep(
        tmp_path / "t.cu", {"-DTILE": [32, 33], "grid": [1, 2]}, launches=[Launch("*", block=(32, 32))]
    )
    (kernel,) = found.kernels
    assert [(point.at["-DTILE"], point.wavefronts.low) for point in kernel.points] == [
        (32, 1056),
        (32, 2112),
        (33, 64),
        (33, 128),
    ]
    assert kernel.best == 2 and kernel.equal_best == 2 and len(found.inputs) == 1
    validated(found)


def test_launch_that_cuda_refuses_is_a_point_without_figures():
    found = ptxaudit.sweep(PITCHED, {"block": [(64, 64), (32, 32)]}, launches=[Launch("*", grid=4, named={"2": 33})])
    (kernel,) = found.kernels
    assert "4096 threads" in kernel.points[0].refused and kernel.best == kernel.worst == 1 and not found.problems
    assert "refused" in sweep_text(found)


def test_every_launch_is_swept():
    launches = [SQUARE, Launch("pitched", grid=1, block=(16, 16))]
    kernels = ptxaudit.sweep(PITCHED, {"pitch": [32, 33]}, launches=launches).kernels
    assert [kernel.points[0].requests for kernel in kernels] == [256, 16]


def test_sweep_in_both_instruction_sets(tmp_path):
    (tmp_path / "k.cu").write_text(PITCHED)
    kernels = ptxaudit.sweep(tmp_path / "k.cu", {"pitch": [32, 33]}, isa="both", launches=[SQUARE]).kernels
    assert [(kernel.isa, kernel.best, kernel.points[0].wavefronts.low) for kernel in kernels] == [
        ("ptx", 1, 4224),
        ("sass", 1, 4224),
    ]


def test_problem_of_all_points_is_reported_once():
    found = ptxaudit.sweep(PITCHED, {"nothing": [1, 2, 3]}, launches=[SQUARE])
    assert len(found.problems) == 1 and "no parameter 'nothing'" in found.problems[0].what and found.kernels == ()
    assert [p.what for p in ptxaudit.sweep(["gone.ptx"], {"pitch": [1, 2]}).problems] == [
        "there is no such file or folder"
    ]
    assert (
        "there is no kernel 'other'"
        in ptxaudit.sweep(PITCHED, {"pitch": [1]}, launches=[Launch("other")]).problems[0].what
    )


@pytest.mark.parametrize(
    "axes, options, what",
    [
        ({}, {}, "nothing to sweep over"),
        ({"pitch": range(101), "n": range(101)}, {}, "10,201 launches"),
        ({"-DN": [1], "D:N": [2]}, {}, "names N twice"),
    ],
)
def test_impossible_sweep_is_rejected(axes, options, what):
    with pytest.raises(InputError, match=what):
        ptxaudit.sweep(PITCHED, axes, **options)


def test_raw_parameters_cannot_be_swept():
    with pytest.raises(InputError, match="no launch of this sweep is possible: param_bytes"):
        ptxaudit.sweep(PITCHED, {"pitch": [1]}, launches=[Launch("*", grid=1, block=32, param_bytes=b"\0" * 20)])


def test_open_point_names_the_parameter_to_specify():
    source = PITCHED.replace("* pitch", "% pitch")
    (swept,) = ptxaudit.sweep(source, {"block": [32, 64]}).kernels
    assert swept.points[0].open == 1 and "(--param pitch)" in swept.points[0].open_reason


def test_swept_macro_of_compiled_code_is_rejected(here):
    assert "--sweep -D has no effect" in run("k.ptx", "--sweep", "-DN=1,2", status=2).stderr


# --- the command ------------------------------------------------------------------------------

TABLE = """\
pitched(float const*, float*, int)
  k.ptx · sm_90 ptx · 3 launches

         pitch  sites    requests  wavefronts  ideal  excess  ways  most at
  worst  32     2 exact       256       4,224    256   3,968    32  k.cu:5 ld.shared.f32
  best   33     2 exact       256         256    256       0     1
         34     2 exact       256         384    256     128     2  k.cu:5 ld.shared.f32

pitched: best pitch=33 (no excess), worst pitch=32 (16.5 times ideal)
"""


run = partial(command_line.run, "audit")


here = folder_with({"k.ptx": ptx()})


def test_sweep_command_writes_a_table(here):
    assert run("k.ptx", "--grid", "4", "--block", "32,32", "--sweep", "2=32:34").stdout == TABLE.replace(
        "pitch  ", "2   ", 1
    ).replace("  32     2", "  32  2").replace("  33     2", "  33  2").replace("  34     2", "  34  2").replace(
        "best pitch=", "best 2="
    ).replace("worst pitch=", "worst 2=")


def test_sweep_table_equals_the_documented_one():
    found = ptxaudit.sweep(PITCHED, {"pitch": "32:34"}, launches=[SQUARE])
    assert sweep_text(found).replace("<string>:", "k.cu:").replace("<string>", "k.ptx") == TABLE


def test_sweep_command_writes_json(here):
    run("k.ptx", "--sweep", "block=32x8,16x16", "--sweep", "2=32,33", "--grid", "1", "--format", "json", "-o", "s.json")
    data = json.loads(Path("s.json").read_text())
    assert data["schema"] == "ptxaudit/sweep/1" and [point["at"] for point in data["kernels"][0]["points"]] == [
        {"block": [32, 8], "2": 32},
        {"block": [32, 8], "2": 33},
        {"block": [16, 16], "2": 32},
        {"block": [16, 16], "2": 33},
    ]


def test_long_sweep_shows_best_and_worst(here):
    text = run("k.ptx", "--sweep", "2=1:90", "--grid", "1", "--block", "32,32").stdout
    assert "the 10 best and the 10 worst" in text and len(text.splitlines()) == 2 + 1 + 1 + 1 + 20 + 2


@pytest.mark.parametrize(
    "options, what",
    [
        (["--sweep", "pitch"], "not NAME=VALUES"),
        (["--sweep", "2=1,2", "--fail-on", "excess=1"], "exclude each other"),
        (["--sweep", "2=1,2", "--format", "sarif"], "does not support format sarif"),
        (["--sweep", "nothing=1", "--block", "32"], "no parameter 'nothing'"),
        (["--sweep", "2=1", "--kernel", "other"], "there is no kernel 'other'"),
        (["--sweep", "block=2048"], "no launch of this sweep is possible: block.x is 2048"),
    ],
)
def test_conflicting_sweep_options_are_rejected(here, options, what):
    assert what in run("k.ptx", *options, status=2).stderr
