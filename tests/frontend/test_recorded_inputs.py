"""Files beside code are used with it: recordings, Triton's metadata, and the keys of launch files that they need."""

from __future__ import annotations

import json
import shutil
from collections import namedtuple
from html import escape
from types import SimpleNamespace

import numpy as np
import pytest
from machine_code import from_ptx
from pages import data_of
from recorded import TRITON_CACHE

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.launch_file import read_launches
from ptxaudit.frontend.sass import lift as lift_sass
from ptxaudit.ui.render.checked import Checked
from ptxaudit.ui.render.html import html

# Lane i reads s[index[i]]: the content of the array determines the banks.
GATHER = """.visible .entry {name}(.param .u64 p, .param .u32 step) { .reg .b64 %d<4>; .reg .b32 %r<9>; .shared .b32 s[1024];
ld.param.u64 %d1, [p]; cvta.to.global.u64 %d1, %d1; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;
ld.global.nc.u32 %r2, [%d3]; ld.param.u32 %r6, [step]; mul.lo.u32 %r2, %r2, %r6; shl.b32 %r3, %r2, 2; mov.u32 %r4, s;
add.u32 %r3, %r3, %r4; ld.shared.b32 %r5, [%r3]; st.global.b32 [%d3], %r5; ret; }
"""
ADDRESS = 0x7F1234560000


def recording(folder, text, names=("k",)):
    """A recording with files of code, one kernel each."""
    (folder / "code").mkdir(parents=True)
    for at, name in enumerate(names):
        (folder / "code" / f"{name}-{at}.cubin").write_bytes(from_ptx(GATHER.replace("{name}", name)))
    (folder / "recorded.toml").write_text(text)
    return folder


def table(name="k", code="code/k-0.cubin", **more):
    lines = {"kernel": f'"{name}"', "code": f'"{code}"', "count": 3, "grid": [2, 1, 1], "block": [32, 1, 1]} | more
    return "[[launch]]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items())


@pytest.mark.parametrize("given", [".", "recorded.toml", "code/k-0.cubin"])
def test_recording_is_audited_with_its_launches(tmp_path, given):
    folder = recording(tmp_path / "r", table(params="[0x7f1234560000, 0]"))
    report = ptxaudit.audit(str(folder / given) if given != "." else folder)
    (site,) = report.sites
    (kernel,) = report.kernels
    assert not report.problems and kernel.launch.grid == (2, 1, 1) and kernel.launch.params == (ADDRESS, 0)
    assert (str(site.status), site.requests, site.wavefronts) == ("exact", 2, 2)
    assert kernel.notes == ("launched 3 times, as recorded",)


def test_recorded_memory_decides_data_dependent_sites(tmp_path):
    told = '[{address = 0x7f1234560000, file = "arrays/a.npy"}]'
    folder = recording(tmp_path / "r", table(params="[0x7f1234560000, 1]", memory=told))
    (folder / "arrays").mkdir()
    for array, wavefronts in ((np.arange(32, dtype="i4"), 2), (np.arange(32, dtype="i4") * 32, 64)):
        np.save(folder / "arrays" / "a.npy", array)
        report = ptxaudit.audit(folder)
        assert [(str(site.status), site.wavefronts) for site in report.sites] == [("exact", wavefronts)]
        assert not any("256" in sentence for kernel in report.kernels for sentence in kernel.assumed)
        assert [kernel.notes for kernel in report.kernels] == [
            ("launched 3 times, as recorded; its data are those of the first time",)
        ]


def test_recorded_launch_belongs_to_the_file_it_names(tmp_path):
    text = table(params="[0, 0]") + table(code="code/k-1.cubin", grid=[5], params="[0, 0]")
    report = ptxaudit.audit(recording(tmp_path / "r", text, ["k", "k"]))
    assert [(kernel.input[-9:], kernel.launch.grid) for kernel in report.kernels] == [
        ("k-0.cubin", (2, 1, 1)),
        ("k-1.cubin", (5, 1, 1)),
    ]


def test_launch_of_a_kernel_that_its_code_lacks_is_a_problem(tmp_path):
    report = ptxaudit.audit(recording(tmp_path / "r", table(params="[0, 0]") + table("gone", params="[0, 0]")))
    (problem,) = report.problems
    assert len(report.sites) == 1
    assert (problem.what, problem.hint) == ("there is no kernel 'gone'", "its kernels are k")
    assert (problem.file, problem.line, problem.kernel) == (str(tmp_path / "r" / "recorded.toml"), 8, "gone")


def test_unlaunched_kernels_are_omitted_unless_named(tmp_path, monkeypatch):
    """They are not even lifted: the machine code of a library has hundreds, of which a program launches a few."""
    lifted, lift = [], lift_sass.lift_function
    note = lambda cubin, sections, *rest: lifted.append(sections[0].name) or lift(cubin, sections, *rest)
    monkeypatch.setattr(lift_sass, "lift_function", note)
    folder = recording(tmp_path / "r", table(params="[0, 0]"))
    two = GATHER.replace("{name}", "k") + GATHER.replace("{name}", "other").replace(" s[", " s2[").replace(
        ", s;", ", s2;"
    )
    (folder / "code" / "k-0.cubin").write_bytes(from_ptx(two))
    assert [kernel.name for kernel in ptxaudit.audit(folder).kernels] == ["k"] == lifted
    assert {kernel.name for kernel in ptxaudit.audit(folder, kernels=["*"]).kernels} == {"k", "other"}


def test_users_launches_replace_recorded_ones(tmp_path):
    folder = recording(tmp_path / "r", table(params="[0, 0]"))
    report = ptxaudit.audit(folder, launches=[Launch("k", grid=7, block=32, params=[0, 0])])
    assert [kernel.launch.grid for kernel in report.kernels] == [(7, 1, 1)]


def test_recording_without_launches_is_audited_as_code(tmp_path):
    folder = recording(tmp_path / "r", "# compiled only\n")
    assert [kernel.launch for kernel in ptxaudit.audit(folder).kernels] == [None]
    shutil.rmtree(folder / "code")
    (folder / "code").mkdir()
    with pytest.raises(InputError, match="this folder has no recording"):
        ptxaudit.audit(folder)


WRONG = {
    "no such file": (table(code="code/gone.cubin"), 3, "there is no file 'code/gone.cubin'"),
    "code": (table(code="k").replace('"k"\ncount', "7\ncount"), 3, "code is 7"),
    "count": (table(count=0), 4, "count is 0"),
    "memory": (table(memory="7"), 7, "memory is 7, not a list"),
    "no address": (table(memory="[{zeros = 4}]"), 7, "has no address"),
    "address": (table(memory='[{address = "x", zeros = 4}]'), 7, "address is 'x'"),
    "nothing": (table(memory="[{address = 4096}]"), 7, "either a file or values or zeros"),
    "command": ("command = 7\n" + table(), 1, "command is not text"),
    "overlap": (
        table(memory="[{address = 4096, zeros = 9}, {address = 4100, zeros = 2}]"),
        7,
        "the entry at 0x1004 begins inside the 36 bytes at 0x1000",
    ),
    "made up": (
        table(memory="[{address = 4096, zeros = 9}]", params="[{zeros = 4}, 0]"),
        7,
        "contents without an address",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_error_in_a_recorded_launch_has_its_line(tmp_path, case):
    text, line, message = WRONG[case]
    folder = recording(tmp_path / "r", text)
    for read in (lambda: read_launches(folder / "recorded.toml"), lambda: ptxaudit.audit(folder)):
        with pytest.raises(InputError) as caught:
            read()
        assert message in str(caught.value)
        assert caught.value.line == line and caught.value.file.endswith("recorded.toml")
    (problem,) = ptxaudit.audit([folder, TRITON_CACHE / "transpose"]).problems
    assert message in problem.what and problem.line == line


# --- Triton ---------------------------------------------------------------------------------------

PLACES = {"transpose": 14, "both_ways": 22}  # the line of each store, in triton_kernels.py


def test_triton_cache_has_block_sizes_and_python_lines():
    report = ptxaudit.audit(TRITON_CACHE)
    assert not report.problems
    found = {k.name: (k.launch.grid, k.launch.block, k.launch.dynamic_shared) for k in report.kernels}
    assert found == {"transpose": (None, (128, 1, 1), 4096), "both_ways": (None, (256, 1, 1), 16384)}
    for kernel in report.kernels:
        assert {site.source.line for site in kernel.sites} == {PLACES[kernel.name]}
        assert {str(site.status) for site in kernel.sites} == {"invariant"}


def test_users_launch_is_completed_by_tritons_metadata():
    launch = Launch("transpose", grid=(4, 4), params=[None, None, 128, 0.5, None, None])
    report = ptxaudit.audit(TRITON_CACHE / "transpose", launches=[launch])
    (kernel,) = report.kernels
    assert kernel.launch.block == (128, 1, 1) and kernel.launch.dynamic_shared == 4096
    assert {(str(site.status), site.requests) for site in kernel.sites} == {("exact", 64)}


def compiled_kernel(name="transpose", **more):
    """An object like Triton's CompiledKernel, from a cache entry."""
    folder = TRITON_CACHE / name
    metadata = json.loads((folder / f"{name}.json").read_text()) | more
    target = metadata["target"]
    metadata["target"] = SimpleNamespace(**target) if isinstance(target, dict) else target
    asm = {"ttir": "module {}", "ptx": (folder / f"{name}.ptx").read_text()}
    asm["cubin"] = (folder / f"{name}.cubin").read_bytes()
    return SimpleNamespace(asm=asm, metadata=namedtuple("KernelMetadata", sorted(metadata))(**metadata))


@pytest.mark.parametrize(("isa", "found"), [(None, ["sass"]), ("ptx", ["ptx"]), ("both", ["sass", "ptx"])])
def test_compiled_kernel_object_is_audited(isa, found):
    report = ptxaudit.audit(compiled_kernel(), isa=isa)
    assert not report.problems and [kernel.isa for kernel in report.kernels] == found
    for kernel in report.kernels:
        assert kernel.input == "<object transpose>" and kernel.launch.block == (128, 1, 1) and len(kernel.sites) == 16
        assert all(site.pairs_with for site in kernel.sites) == (isa == "both")


def test_compiled_kernel_for_another_vendor_is_rejected():
    kernel = compiled_kernel()
    del kernel.asm["cubin"], kernel.asm["ptx"]
    kernel.asm["hsaco"] = b"\x7fELF"
    with pytest.raises(InputError, match=r"no code for an NVIDIA GPU: .asm has ttir, hsaco"):
        ptxaudit.audit(kernel)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("num_warps", 0, "num_warps is 0, which Triton does not write"),
        ("num_warps", "4", "num_warps is '4'"),
        ("shared", -1, "shared is -1"),
        ("num_ctas", 99, "num_ctas is 99"),
        ("name", "", "name is ''"),
        ("name", ["x" * 10_000], "…, which Triton does not write"),
    ],
)
def test_invalid_metadata_is_a_problem_of_its_file(tmp_path, key, value, message):
    shutil.copytree(TRITON_CACHE / "transpose", tmp_path / "cache")
    file = tmp_path / "cache" / "transpose.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
    (problem,) = ptxaudit.audit([tmp_path / "cache", TRITON_CACHE / "both_ways"]).problems
    assert message in problem.what and problem.file == str(file) and len(problem.what) < 200


@pytest.mark.parametrize("text", ["", "[]", "{", '{"name": "transpose"}', "\x00", "[" * 100_000, '{"a": 1e999}'])
def test_json_that_is_not_tritons_is_ignored(tmp_path, text):
    shutil.copytree(TRITON_CACHE / "transpose", tmp_path / "cache")
    (tmp_path / "cache" / "transpose.json").write_text(text)
    report = ptxaudit.audit(tmp_path / "cache")
    assert not report.problems and [kernel.launch for kernel in report.kernels] == [None]


def test_metadata_for_another_gpu_are_ignored(tmp_path):
    assert ptxaudit.audit(compiled_kernel(target={"backend": "hip", "arch": "gfx942"})).kernels[0].launch is None


def test_cached_result_depends_on_the_metadata_beside_the_code(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(TRITON_CACHE / "transpose", tmp_path / "t")
    blocks = []
    for warps in (4, 4, 2):
        file = tmp_path / "t" / "transpose.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"num_warps": warps}))
        blocks.append(ptxaudit.audit(tmp_path / "t", cache=True).kernels[0].launch.block[0])
    assert blocks == [128, 128, 64]


def test_report_page_names_the_recorded_program(tmp_path):
    """Also where the same code was audited before, as part of another program's recording."""
    for program in ("python <b>a</b>.py", "python other.py"):
        folder = recording(tmp_path / program[7:10].strip("<>"), f'command = "{program}"\n' + table(params='["?", 0]'))
        report = ptxaudit.audit(folder, cache=True)
        assert [entry.command for entry in report.inputs] == [program]
        assert ptxaudit.Report.from_dict(report.to_dict()).inputs == report.inputs
        page = html(Checked(report))
        assert data_of(page)["recorded"] == [program] and f"Recorded: <code>{escape(program)}</code>" in page
    assert ptxaudit.audit(folder / "code" / "k-0.cubin").inputs[0].command == "python other.py"
    assert ptxaudit.audit((folder / "code" / "k-0.cubin").read_bytes()).inputs[0].command is None
