"""From inputs to a report: what is read, what is selected, and that nothing bad stops the rest."""

from __future__ import annotations

import json
import struct
from types import SimpleNamespace

import pytest
from kernels import COLUMN, PITCH, PTX
from reports import validate

import ptxaudit
from ptxaudit import InputError, Launch
from ptxaudit.frontend.inputs import expand, kind_of, read
from ptxaudit.pipeline import kernels
from ptxaudit.report.model import Report

LAUNCH = Launch("stride", grid=2, block=64, params=[None, 7])


def audit(inputs, **options) -> Report:
    report = ptxaudit.audit(inputs, **options)
    validate(json.loads(report.to_json()))
    return report


def clean(inputs, **options) -> Report:
    report = audit(inputs, **options)
    assert report.problems == ()
    return report


def figures(report):
    return [
        (site.access, str(site.status), site.requests, site.wavefronts, site.ideal, site.ways) for site in report.sites
    ]


# --- inputs ---------------------------------------------------------------------------------


def test_source_file_is_compiled_and_scored(tmp_path):
    path = tmp_path / "column.cu"
    path.write_text(COLUMN)
    report = clean(str(path), launches=[Launch("column", grid=1, block=32)])
    assert figures(report) == [("store", "exact", 1, 32, 1, 32), ("load", "exact", 1, 1, 1, 1)]
    (entry,) = report.inputs
    assert (
        (entry.path, entry.kind) == (str(path), "cuda")
        and entry.toolchain.startswith("nvrtc ")
        and len(entry.sha256) == 64
    )
    store = report.sites[0]
    assert store.id == "column@column.cu:4:ptx.store"
    assert (store.source.file, store.source.line, store.source.text) == (str(path), 4, "s[tid * 32] = in[tid];")
    assert store.cause == "32 lanes (0-31) conflict in one bank: stride 128 bytes"


SAME = [("store", "exact", 4, 8, 4, 2), ("load", "exact", 4, 4, 4, 1)]


@pytest.mark.parametrize(
    "given",
    [
        PTX,
        PTX.encode(),
        bytearray(PTX.encode()),
        SimpleNamespace(code=PTX.encode() + b"\0", name="k"),
        SimpleNamespace(code=PTX),
    ],
    ids=["text", "bytes", "bytearray", "object with bytes", "object with text"],
)
def test_ptx_text_and_bytes_are_audited(given):
    assert figures(clean(given, launches=[LAUNCH])) == SAME


def test_ptx_object_of_cuda_core_is_audited():
    from cuda.core import ObjectCode

    assert figures(clean(ObjectCode.from_ptx(PTX.encode(), name="k"), launches=[LAUNCH])) == SAME


def test_standard_input_is_audited(monkeypatch):
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PTX.encode())))
    report = clean("-", launches=[LAUNCH])
    assert figures(report) == SAME and report.inputs[0].path == "<stdin>"


def test_folder_is_read_in_order_without_hidden_folders(tmp_path):
    for name in ("b/two.ptx", "a.ptx", ".hidden/no.ptx", "b/readme.txt", "b/.cache/x/no.ptx"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(PTX)
    assert [entry.path for entry in clean(tmp_path).inputs] == [str(tmp_path / "a.ptx"), str(tmp_path / "b/two.ptx")]


# --- compiled files -------------------------------------------------------------------------


def cubin(arch="sm_90"):
    from ptxaudit.frontend.compile.nvrtc import compile_source

    return compile_source(COLUMN, arch=arch, name="column.cu").cubin


def fatbin(*images):
    """A fat binary of uncompressed (kind, sm, data) entries: 1 is PTX, 2 a cubin. Layout: `artifacts.container`."""
    body = b""
    for kind, sm, data in images:
        data += bytes(-len(data) % 8)
        header = bytearray(64)
        struct.pack_into("<HHIQI", header, 0, kind, 0x101, len(header), len(data), 0)
        struct.pack_into("<I", header, 28, sm)
        body += bytes(header) + data
    return struct.pack("<4sHHQ", bytes.fromhex("50ed55ba"), 1, 16, len(body)) + body


COLUMN_FIGURES = [("store", "exact", 1, 32, 1, 32), ("load", "exact", 1, 1, 1, 1)]
ONE_WARP = Launch("*", grid=1, block=32)


def test_cubin_is_audited_from_file_and_bytes(tmp_path):
    path = tmp_path / "k.cubin"
    path.write_bytes(cubin())
    for given in (path, path.read_bytes()):
        report = clean(given, launches=[ONE_WARP])
        assert (
            figures(report) == COLUMN_FIGURES and report.kernels[0].isa == "sass" and report.inputs[0].kind == "cubin"
        )
    assert "there is no PTX in it" in audit(path, isa="ptx").problems[0].what


def test_folder_of_cubins_is_disassembled_in_one_process(tmp_path, monkeypatch):
    from ptxaudit.frontend.sass import disassemble

    code, runs = cubin(), []
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.cubin").write_bytes(code + name.encode())
    (tmp_path / "broken.cubin").write_bytes(b"junk")
    disassemble.kept.clear()
    monkeypatch.setattr(disassemble, "_run", lambda *a, run=disassemble._run: runs.append(a) or run(*a))
    report = audit(tmp_path, launches=[ONE_WARP])
    assert figures(report) == COLUMN_FIGURES * 3
    assert len(runs) == 1 and len(report.problems) == 1


def test_fat_binary_images_are_selected_by_arch_and_isa(tmp_path):
    data = fatbin((2, 90, cubin()), (2, 80, cubin("sm_80")), (1, 80, PTX.encode()))
    path = tmp_path / "k.bin"
    path.write_bytes(data)

    def kernels(**options):
        return [(kernel.isa, kernel.arch) for kernel in clean(path, **options).kernels]

    assert kernels() == [("sass", "sm_90"), ("sass", "sm_80")]
    assert kernels(arch="sm_80") == [("sass", "sm_80")]
    assert kernels(isa="ptx") == [("ptx", "sm_80")]
    assert kernels(arch="sm_80", isa="both") == [("sass", "sm_80"), ("ptx", "sm_80")]
    assert "cubin for sm_90, cubin for sm_80, ptx for sm_80" in audit(path, arch="sm_75").problems[0].hint
    assert kernels() == [
        (kernel.isa, kernel.arch) for kernel in clean(tmp_path).kernels
    ]  # found in a folder by its content


def test_bad_image_leaves_the_others():
    report = audit(fatbin((1, 80, b".version 8.0\n.nonsense"), (1, 80, PTX.encode())))
    assert len(report.kernels) == 1 and len(report.problems) == 1


def test_program_without_device_code_is_an_error_except_in_a_folder(tmp_path):
    (tmp_path / "k.ptx").write_text(PTX)
    (tmp_path / "host.o").write_bytes(b"\x7fELF" + bytes(14) + b"\x3e\0" + bytes(80))
    assert "no device code" in audit(tmp_path / "host.o").problems[0].what
    assert len(clean(tmp_path).kernels) == 1


@pytest.mark.parametrize(
    "path, data, kind",
    [
        ("k.cu", b"__global__", "cuda"),
        ("k.ptx", b"nonsense", "ptx"),
        ("k", b"// c\n/* x */ .version 8.0\n", "ptx"),
        ("k.txt", b"\xef\xbb\xbf.version 8.0", "ptx"),
        ("k", b"__global__ void k() {}", "cuda"),
        ("k", b"hello", "text"),
        ("k", b"\x7fELF" + bytes(14) + b"\xbe\0", "cubin"),
        ("a.out", b"\x7fELF" + bytes(14) + b"\x3e\0", "host"),
        ("k.cubin", b"junk", "cubin"),
        ("k", bytes.fromhex("50ed55ba"), "fatbin"),
        ("k.cu", b"\x7fELF" + bytes(14) + b"\xbe\0", "cubin"),
    ],
)
def test_kind_of_file_follows_from_its_content(path, data, kind):
    assert kind_of(path, data) == kind


def test_unsupported_input_is_rejected():
    with pytest.raises(InputError, match="a int cannot be audited"):
        read(3)
    with pytest.raises(InputError, match="no such file"):
        read("/nowhere/k.cu")
    assert list(expand("/nowhere/k.cu")) == ["/nowhere/k.cu"]


# --- options --------------------------------------------------------------------------------


def test_machine_and_arch_select_the_rules():
    assert clean(PTX).kernels[0].machine == "sm_80"
    assert clean(PTX, arch="sm_90").kernels[0].machine == "sm_90"
    kepler = clean(PTX, machine="kepler-8byte", launches=[LAUNCH])
    assert kepler.kernels[0].machine == "kepler-8byte"
    assert kepler.sites[0].wavefronts == 4  # 8-byte banks: a stride of 8 bytes is free


def test_kernels_are_selected_by_name_and_glob():
    two = PTX + PTX.partition(".address_size 64")[2].replace("stride", "other")
    assert [kernel.name for kernel in clean(two, kernels="oth*").kernels] == ["other"]
    assert [kernel.name for kernel in clean(two, kernels=["other", "stride"]).kernels] == ["stride", "other"]


def test_an_option_of_several_may_be_one_or_none():
    (kernel,) = clean(PTX, launches=LAUNCH, kernels=None, include=None).kernels
    assert str(kernel.launch) == "grid 2, block 64"
    assert clean(PTX, launches=None).kernels[0].launch is None


def test_several_launches_of_one_kernel_are_several_results():
    report = clean(PTX, launches=[LAUNCH, Launch("*", grid=1, block=32)])
    assert [str(kernel.launch) for kernel in report.kernels] == ["grid 2, block 64", "grid 1, block 32"]
    assert report.kernels[0].sites[0].id == report.kernels[1].sites[0].id
    assert report.kernels[0].launch.params == (None, 7) and report.kernels[1].launch.params is None


def test_named_parameters_are_reported_by_position():
    report = clean(PTX, launches=[Launch("*", grid=1, block=32, named={"stride_param_1": 7})])
    assert report.kernels[0].launch.params == (None, 7)


def test_report_without_a_launch_has_assumptions_and_no_exact_site():
    (kernel,) = clean(PTX).kernels
    assert kernel.launch is None and kernel.assumed
    assert "exact" not in kernel.totals.status


def test_launch_with_only_a_block_is_used():
    (kernel,) = clean(PTX, launches=[Launch("*", block=32)]).kernels
    assert [str(site.status) for site in kernel.sites] == ["invariant", "invariant"]
    assert (kernel.launch.block, kernel.launch.grid) == ((32, 1, 1), None)
    assert kernel.sites[0].excess_per_request.low == kernel.sites[0].excess_per_request.high == 1


def test_source_is_audited_in_both_instruction_sets(tmp_path):
    path = tmp_path / "column.cu"
    path.write_text(COLUMN)
    report = clean(path, isa="both", launches=[Launch("column", grid=1, block=32)])
    assert [kernel.isa for kernel in report.kernels] == ["ptx", "sass"]
    sass = report.kernels[1].sites
    assert [site.access for site in sass] == ["store", "load"]
    assert all(site.offset is not None and site.ptx_line is None for site in sass)
    assert len({site.id for site in report.sites}) == 4


def test_unrolled_copies_have_distinct_ids(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(
        COLUMN.replace("s[tid * 32] = in[tid];", "for (int i = 0; i < 3; ++i) s[tid * 32 + 2 * i] = in[tid + i];")
    )
    ids = [site.id for site in clean(path).sites if site.access == "store"]
    assert ids == ["column@k.cu:4:ptx.store", "column@k.cu:4:ptx.store.2", "column@k.cu:4:ptx.store.3"]


def test_site_ids_are_independent_of_other_code(tmp_path):
    def ids(text):
        path = tmp_path / "k.cu"
        path.write_text(text)
        return {site.id for site in clean(path, kernels="column").sites}

    assert (
        ids(COLUMN)
        == ids(COLUMN + PITCH)
        == ids(COLUMN.replace("__syncthreads();", "__syncthreads(); __threadfence();"))
    )


def test_assumptions_by_name_position_and_wildcard(monkeypatch):
    seen = []
    evaluate = kernels.engine.evaluate
    monkeypatch.setattr(
        kernels.engine, "evaluate", lambda *a, facts, **k: seen.append(facts.aligned) or evaluate(*a, facts=facts, **k)
    )
    clean(PTX, assume={"stride_param_0": 16, "1": 4, "*": 8})
    clean(PITCH, assume={"out": 32})
    assert seen == [{"stride_param_0": 16, "stride_param_1": 4, "*": 8}, {"out": 32}]
    (problem,) = audit(PTX, assume={"nothing": 4}).problems
    assert "--assume nothing" in problem.what


@pytest.mark.parametrize(
    "option, what",
    [
        ({"isa": "mips"}, "no instruction set 'mips'"),
        ({"jobs": 0}, "jobs is 0"),
        ({"budget": 0}, "budget is 0"),
        ({"compiler": "hipcc"}, "no compiler 'hipcc'"),
        ({"arch": "sm_1"}, "sm_1"),
        ({"machine": "abacus"}, "abacus"),
    ],
)
def test_unusable_option_is_rejected(option, what):
    with pytest.raises(InputError, match=what):
        ptxaudit.audit(PTX, **option)


def test_unknown_option_raises():
    with pytest.raises(TypeError, match="colour"):
        ptxaudit.audit(PTX, colour="red")


# --- errors ---------------------------------------------------------------------------------


def test_bad_input_does_not_stop_the_others(tmp_path):
    (tmp_path / "bad.ptx").write_text(PTX[: len(PTX) // 2])
    report = audit([tmp_path / "bad.ptx", "/nowhere.cu", PTX, b""], launches=[LAUNCH])
    assert figures(report) == SAME
    assert [problem.file for problem in report.problems] == [str(tmp_path / "bad.ptx"), "/nowhere.cu", "<bytes>"]
    assert all(problem.what and problem.hint for problem in report.problems)


@pytest.mark.parametrize("stage", ["link", "engine.evaluate", "graph.build", "kernel_entry"])
def test_fault_in_a_kernel_becomes_a_problem(monkeypatch, stage):
    def broken(*args, **options):
        raise KeyError("r7")

    monkeypatch.setattr(f"ptxaudit.pipeline.kernels.{stage}", broken)
    report = audit(PTX)
    (problem,) = report.problems
    assert problem.kernel == "stride" and "KeyError: 'r7'" in problem.what and "PTXAUDIT_DEBUG=1" in problem.hint
    monkeypatch.setenv("PTXAUDIT_DEBUG", "1")
    with pytest.raises(KeyError):
        ptxaudit.audit(PTX)


def test_launch_rejected_by_one_kernel_leaves_the_other():
    two = PTX + PTX.partition(".address_size 64")[2].replace("stride", "other").replace(
        ", .param .u32 other_param_1", ""
    )
    report = audit(two, launches=[Launch("*", grid=1, block=32, params=[None])])
    assert [kernel.name for kernel in report.kernels] == ["other"]
    (problem,) = report.problems
    assert problem.kernel == "stride" and "too few parameters" in problem.what


def test_launches_and_names_of_no_kernel_are_problems():
    report = audit(PTX, launches=[Launch("strude", grid=1, block=1)], kernels=["str*", "nothing"])
    assert [problem.what for problem in report.problems] == [
        "there is no kernel 'nothing'",
        "there is no kernel 'strude'",
    ]
    assert "stride" in report.problems[1].hint
    assert len(report.kernels) == 1


def test_launch_of_an_unreadable_kernel_is_no_second_problem(tmp_path):
    (tmp_path / "bad.ptx").write_text("garbage")
    report = audit([tmp_path / "bad.ptx"], launches=[LAUNCH])
    assert len(report.problems) == 1


def test_parallel_jobs_give_the_same_report(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.ptx").write_text(PTX)
    (tmp_path / "c.ptx").write_text("garbage")
    files = [tmp_path / f"{name}.ptx" for name in ("c", "b", "a")]
    assert audit(files, jobs=2, launches=[LAUNCH]) == audit(files, launches=[LAUNCH])


def test_progress_is_reported_step_by_step():
    steps = []
    ptxaudit.audit(PTX, progress=steps.append)
    assert steps == ["reading <string>", "<string>: stride"]


def test_package_exports_its_names_lazily():
    import subprocess
    import sys

    heavy = "numpy networkx lark rich cuda click"
    code = (
        f"import sys, ptxaudit; print([m for m in {heavy.split()} if m in sys.modules]); ptxaudit.audit;"
        " print(dir(ptxaudit))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, names = done.stdout.splitlines()
    assert first == "[]" and "score_request" in names
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ptxaudit.nothing  # noqa: B018


def test_edited_source_shows_its_new_lines(tmp_path):
    file = tmp_path / "k.cu"
    texts = []
    for stride in (32, 33):
        file.write_text(
            f'extern "C" __global__ void k() {{\n__shared__ volatile int s[2048];\ns[threadIdx.x * {stride}] = 1; }}\n'
        )
        texts += [site.source.text for site in audit(file).sites]
    assert texts == ["s[threadIdx.x * 32] = 1; }", "s[threadIdx.x * 33] = 1; }"]


@pytest.mark.parametrize(
    "launch, why",
    [
        ({"block": 128}, "at most 64 threads per block (__launch_bounds__), but this has 128"),
        ({"block": 64, "dynamic_shared": 300_000}, "no block has 300,256 bytes of shared memory"),
        ({"block": 64}, None),
    ],
)
def test_launch_that_cuda_refuses_is_noted(launch, why):
    source = """__global__ void __launch_bounds__(64) k(float* o) {
        __shared__ float s[64]; s[threadIdx.x] = 1; __syncthreads(); o[threadIdx.x] = s[threadIdx.x ^ 1]; }
    """
    (entry,) = clean(source, launches=[Launch("*", grid=1, **launch)]).kernels
    assert (why is None and not entry.notes) or why in entry.notes[0]
