"""Launch files: their content, their errors, and the template that is written for the user."""

import pytest
from click.testing import CliRunner

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.launch_file import read_launches, write_launches
from ptxaudit.ir import nodes as ir
from ptxaudit.ui.cli import main

FULL = """\
[[launch]]
kernel = "gemm_*"
grid = [4, 2]
block = [16, 16]
cluster = [2, 1, 1]
dynamic_shared = 2048
params = ["?", 1024, 0.5, [1, 2], "00ff"]

[[launch]]
kernel = "copy"
block = 64
param_bytes = "00e0a4f7 7f7f0000"
"""


def read(tmp_path, text):
    path = tmp_path / "launch.toml"
    path.write_text(text)
    return read_launches(path)


def test_launch_file_with_every_key_is_read(tmp_path):
    assert read(tmp_path, FULL) == [
        Launch(
            "gemm_*",
            grid=(4, 2),
            block=(16, 16),
            cluster=(2, 1, 1),
            dynamic_shared=2048,
            params=["?", 1024, 0.5, [1, 2], "00ff"],
        ),
        Launch("copy", block=64, param_bytes=bytes.fromhex("00e0a4f77f7f0000")),
    ]
    assert [launch.line for launch in read(tmp_path, FULL)] == [1, 9]


BAD = {
    "no TOML": ("[[launch]]\nkernel = \n", 2, "this is not TOML", ""),
    "cut off": ('[[launch]]\nkernel = "k', 2, "this is not TOML", ""),
    "empty": ("\n", None, "empty", ""),
    "no launch": ("title = 'x'\n", None, "no [[launch]]", "ptxaudit launches"),
    "another table": ("[[launch]]\nkernel = 'k'\n[other]\n", 3, "unknown table or key 'other'", "launch"),
    "one bracket": ("[launch]\nkernel = 'k'\n", 1, "not an array of tables", "two brackets"),
    "a misspelt key": (
        "[[launch]]\nkernel = 'k'\n[[launch]]\nkernel = 'q'\nblok = 4\n",
        5,
        "no 'blok'",
        "did you mean block?",
    ),
    "no kernel": ("[[launch]]\nkernel = 'k'\n\n[[launch]]\nblock = 4\n", 4, "names no kernel", 'kernel = "NAME"'),
    "a block that is too large": (
        "[[launch]]\nkernel = 'k'\n[[launch]]\nkernel = 'q'\nblock = [64, 32]\n",
        5,
        "2048 threads",
        "",
    ),
    "a grid of nothing": ("[[launch]]\ngrid = [1, 0]\nkernel = 'k'\n", 2, "grid.y is 0", ""),
    "a cluster that does not divide": ("[[launch]]\nkernel = 'k'\ncluster = 2\ngrid = 3\n", 4, "not a multiple", ""),
    "both kinds of parameters": ("[[launch]]\nkernel = 'k'\nparams = []\nparam_bytes = ''\n", 3, "both", "keep one"),
    "inline": ("launch = [{kernel = 'k', block = 0}]\n", None, "block.x is 0", ""),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_in_a_launch_file_have_a_line_and_a_hint(tmp_path, case):
    text, line, what, hint = BAD[case]
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    error = caught.value
    assert what in error.what and hint in error.hint
    assert (error.file, error.line) == (str(tmp_path / "launch.toml"), line)


def test_template_lists_all_keys_unspecified(tmp_path):
    kernels = [
        ir.Function(
            "_Z4gemmPKfi",
            "ptx",
            "sm_90",
            (),
            parameters=(ir.Parameter("a", 0, 8, ".u64", True), ir.Parameter("n", 8, 4, ".u32")),
            variables=(ir.Variable("tile", "shared", 0),),
            max_threads=512,
        ),
        ir.Function("copy", "sass", "sm_90", (), block=(32, 4, 1), cluster=(2, 1, 1)),
    ]
    text = write_launches(kernels, "k.cu")
    for said in (
        "gemm(float const*, int)",
        "0 float const* a: .u64, 8 bytes at 0",
        "1 int n: .u32, 4 bytes at 8",
        "at most 512 threads",
        "k.cu",
    ):
        assert said in text
    assert read(tmp_path, text) == [
        Launch("_Z4gemmPKfi", params=["?", "?"]),
        Launch("copy", block=(32, 4), cluster=2, params=[]),
    ]


def test_launches_command_writes_a_template(tmp_path):
    source = tmp_path / "k.cu"
    source.write_text(
        "template <int N> __global__ void __launch_bounds__(128) fill(float *a, float x) { a[threadIdx.x] = x * N; }\n"
    )
    out = tmp_path / "launch.toml"
    done = CliRunner().invoke(main, ["launches", str(source), "--instantiate", "fill<3>", "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "at most 128 threads" in out.read_text() and "1 float x: .f32" in out.read_text()
    assert read_launches(out) == [Launch("_Z4fillILi3EEvPff", params=["?", "?"])]
    assert CliRunner().invoke(main, ["launches", str(source)]).exit_code == 2
    assert (
        CliRunner().invoke(main, ["launches", str(source), "--instantiate", "fill<3>", "-o", str(tmp_path)]).exit_code
        == 2
    )
