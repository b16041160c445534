"""What the host writes into the module's variables before a launch: specified, or a stated assumption about the file.

Exact figures are compared with addresses computed here, for 64 threads in two warps.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import ptxaudit
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.launch_file import read_launches
from ptxaudit.report.reader import read_report
from ptxaudit.ui.cli import main

SOURCE = """
__constant__ int pitch;
__constant__ int table[32] = {0, 32, 64, 96, 128, 160, 192, 224};
__constant__ int order[32];
__device__ int places[32];
__device__ int written[32];
namespace tiles { __constant__ short steps[4] = {1, 2, 3, 4}; }

extern "C" __global__ void strided(int* out) {
    extern __shared__ int s[];
    out[threadIdx.x] = s[threadIdx.x * pitch];
}
extern "C" __global__ void looked_up(int* out) {
    extern __shared__ int s[];
    out[threadIdx.x] = s[table[threadIdx.x & 7]];
}
extern "C" __global__ void in_order(int* out) {
    extern __shared__ int s[];
    out[threadIdx.x] = s[order[threadIdx.x & 31] & 4095];
}
extern "C" __global__ void stepped(int* out) {
    extern __shared__ int s[];
    out[threadIdx.x] = s[threadIdx.x * tiles::steps[threadIdx.x >> 5]];
}
extern "C" __global__ void in_places(int* out) {
    extern __shared__ int s[];
    out[threadIdx.x] = s[places[threadIdx.x & 31] & 4095];
}
extern "C" __global__ void rewritten(int* out) {
    extern __shared__ int s[];
    written[threadIdx.x & 31] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[written[threadIdx.x & 15] & 4095];
}
"""
LANES = np.arange(32, dtype=np.int32)
OUT = np.zeros(64, np.int32)
ASSUMED = "constant memory: {} the file gives {}, the host writes nothing else there before the launch"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("symbols") / "symbols.cu"
    file.write_text(SOURCE)
    return str(file)


def audited(path, kernel, isa, symbols, out=OUT):
    launch = Launch(kernel, grid=1, block=64, params=[out], symbols=symbols)
    [entry] = ptxaudit.audit(path, isa=isa, kernels=(kernel,), launches=[launch]).kernels
    [load] = [site for site in entry.sites if site.access == "load"]
    return load, [sentence for sentence in entry.assumed if sentence.startswith("constant")]


def cost(words):
    """The wavefronts of one request whose lanes read these words."""
    return ptxaudit.score_request("ld.shared.b32", (4 * np.asarray(words)).tolist(), arch="sm_90").wavefronts


BOTH = pytest.mark.parametrize("isa", ("ptx", "sass"))


@BOTH
def test_initial_value_of_a_variable_is_assumed_and_reported(path, isa):
    load, assumed = audited(path, "looked_up", isa, {})
    assert (load.status, load.wavefronts) == ("exact", 2 * 8)
    assert assumed == [ASSUMED.format("table holds what", "it")]
    load, assumed = audited(path, "stepped", isa, {})
    assert (load.status, load.wavefronts) == ("exact", cost(LANES) + cost(2 * (LANES + 32)))
    assert assumed == [ASSUMED.format("tiles::steps holds what", "it")]


@BOTH
def test_specified_symbol_replaces_the_initial_value(path, isa):
    load, assumed = audited(path, "looked_up", isa, {"table": 8 * np.arange(32, dtype=np.int32)})
    assert (load.status, load.wavefronts, assumed) == ("exact", 2 * cost(8 * (LANES & 7)), [])
    load, assumed = audited(path, "stepped", isa, {"tiles::steps": [32, 16, 0, 0]})
    assert (load.status, load.wavefronts, assumed) == ("exact", cost(32 * LANES) + cost(16 * (LANES + 32)), [])


@BOTH
def test_partly_specified_symbol_keeps_the_rest_of_the_initial_value(path, isa):
    load, assumed = audited(path, "looked_up", isa, {"table": np.zeros(4, np.int32)})
    assert (load.status, load.wavefronts) == ("exact", 2 * cost([0, 0, 0, 0, 128, 160, 192, 224] * 4))
    assert assumed == [ASSUMED.format("table holds what", "it")]


@BOTH
def test_symbol_written_by_the_host_is_unknown(path, isa):
    load, assumed = audited(path, "looked_up", isa, {"table": "?"})
    assert load.status == "data-dependent" and load.bounds == (2, 64) and assumed == []
    load, assumed = audited(path, "in_order", isa, {})
    assert load.status == "data-dependent" and assumed == []
    load, assumed = audited(
        path, "stepped", isa, {"tiles::steps": "20 00 ?? ?? ?? ?? ?? ??"}
    )  # the second warp's is not specified
    assert load.status != "exact" and load.bounds[0] <= 32 + 1 and load.bounds[1] >= 32 + 32


@BOTH
def test_unspecified_symbol_is_named_with_its_option(path, isa):
    [entry] = ptxaudit.audit(path, isa=isa, kernels=("strided",)).kernels
    [load] = [site for site in entry.sites if site.access == "load"]
    assert load.status == "conditional" and "--symbol pitch" in load.reason
    cases = {case.when.split(": ")[-1]: case.high for case in load.conditions}
    assert cases["pitch mod 32 in {0}, unless pitch mod 1073741824 in {0}"] == 32
    assert cases["pitch mod 1073741824 in {0}"] == 1  # all lanes at one word
    for pitch in (32, 33, 24):
        load, _ = audited(path, "strided", isa, {"pitch": pitch})
        assert (load.status, load.wavefronts) == ("exact", cost(pitch * LANES) + cost(pitch * (LANES + 32)))


@BOTH
def test_unspecified_array_element_is_named_by_its_array(tmp_path, isa):
    path = tmp_path / "k.cu"
    path.write_text(
        """__constant__ int pitches[4];
extern "C" __global__ void k(int* out) { extern __shared__ int s[]; out[threadIdx.x] = s[threadIdx.x * pitches[2]]; }"""
    )
    [load] = ptxaudit.audit(path, isa=isa).sites
    assert "depends on pitches[8:12], which is not specified (--symbol pitches)" in load.reason


@BOTH
def test_symbols_in_global_memory(path, isa):
    assert audited(path, "in_places", isa, {})[0].status == "data-dependent"
    places = LANES * 32
    assert audited(path, "in_places", isa, {"places": places})[0].wavefronts == 2 * 32
    assert (
        audited(path, "in_places", isa, {"places": places}, out="?")[0].status == "data-dependent"
    )  # `out` may point there
    assert audited(path, "rewritten", isa, {"written": places})[0].status == "data-dependent"


def test_symbols_from_the_command_line_and_launch_file_are_reported(path, tmp_path):
    np.save(tmp_path / "order.npy", 32 * LANES)
    (tmp_path / "launch.toml").write_text(
        '[[launch]]\nkernel = "in_order"\ngrid = 1\nblock = 64\nparams = ["?"]\n[launch.symbols]\norder = {file ='
        ' "order.npy"}\npitch = "?"\n'
    )
    by_file = ["audit", path, "--kernel", "in_order", "--launch", str(tmp_path / "launch.toml"), "--format", "json"]
    by_option = [
        "audit",
        path,
        "--kernel",
        "in_order",
        "--grid",
        "1",
        "--block",
        "64",
        "--symbol",
        f"order=@{tmp_path / 'order.npy'}",
        "--format",
        "json",
    ]
    for arguments in (by_file, by_option):
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.output
        report = json.loads(done.stdout)
        [kernel] = report["kernels"]
        assert kernel["launch"]["symbols"]["order"]["buffer"]["bytes"] == 128
        assert [site["wavefronts"] for site in kernel["sites"]] == [64]
        (tmp_path / "report.json").write_text(done.stdout)
        assert read_report(tmp_path / "report.json").to_dict() == report


@pytest.mark.parametrize(
    "symbols, what, hint",
    [
        ({"patch": 33}, "no __constant__ or __device__ variable 'patch'", "pitch, table, order"),
        ({"pitch": np.zeros(2, np.int32)}, "symbol pitch: 8 bytes are given, but it has 4", "type"),
        ({"pitch": 1 << 40}, "symbol pitch (4 bytes)", ""),
        ({"places": "?? " * 128}, "symbol places: ?? is for bytes of constant memory", "all bytes"),
    ],
)
def test_symbols_of_wrong_size_or_name_are_errors(path, symbols, what, hint):
    report = ptxaudit.audit(
        path, kernels=("in_places",), launches=[Launch("in_places", grid=1, block=64, symbols=symbols)]
    )
    [problem] = report.problems
    assert what in problem.what and hint in problem.hint


def test_symbols_must_map_names_to_values():
    with pytest.raises(ptxaudit.InputError, match="not names with values"):
        Launch("k", symbols=[33])


def test_launch_template_lists_host_written_symbols(path, tmp_path):
    done = CliRunner().invoke(main, ["launches", path, "-o", str(tmp_path / "launch.toml")])
    assert done.exit_code == 0, done.output
    launches = read_launches(tmp_path / "launch.toml")
    assert all(launch.symbols == {"pitch": "?", "order": "?"} for launch in launches) and len(launches) == 6
    audited_again = ptxaudit.audit(path, launches=launches)
    assert not audited_again.problems
