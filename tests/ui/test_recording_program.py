"""Programs recorded from beginning to end on a driver without a GPU: with the real cuda.core, and through CUPTI."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import run as here
from paths import ROOT
from recorded import SOURCES, TRITON_CACHE, built, cupti, driver, launched, launches, record

from ptxaudit.base.errors import InputError
from ptxaudit.ui.recording import driver as injection
from ptxaudit.ui.recording.program import PATH, recorded, run

CUDA_CORE = """
import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
device = Device(0); device.set_current(); stream = device.create_stream()
source = '''template <int N> __global__ void k(int* p, int n) {
    __shared__ int s[1024];
    s[threadIdx.x * N] = n;
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x];
}'''
made = Program(source, "c++", ProgramOptions(arch="sm_90", lineinfo=True)).compile("cubin", name_expressions=("k<4>", "k<8>"))
for grid in (4, 4, 5):
    launch(stream, LaunchConfig(grid=grid, block=64, shmem_size=16), made.get_kernel("k<4>"), 0x7F0000001000, np.int32(5))
launch(stream, LaunchConfig(grid=(4, 2), cluster=2, block=32), made.get_kernel("k<8>"), 0x7F0000001000, np.int32(-5))
text = Program(source, "c++", ProgramOptions(arch="compute_90")).compile("ptx", name_expressions=("k<4>",))
launch(stream, LaunchConfig(grid=1, block=32), text.get_kernel("k<4>"), 0, np.int32(7))
"""
EXPECTED = {  # (kernel, grid, block, cluster, shared, parameters): count
    ("_Z1kILi4EEvPii", (4, 1, 1), (64, 1, 1), None, 16, (0x7F0000001000, 5)): 2,
    ("_Z1kILi4EEvPii", (5, 1, 1), (64, 1, 1), None, 16, (0x7F0000001000, 5)): 1,
    ("_Z1kILi8EEvPii", (8, 2, 1), (32, 1, 1), (2, 1, 1), 0, (0x7F0000001000, -5)): 1,
    ("_Z1kILi4EEvPii", (1, 1, 1), (32, 1, 1), None, 0, (0, 7)): 1,
}


@pytest.fixture(scope="module")
def gpu(tmp_path_factory):
    """The environment of a driver without a GPU, whose kernels take a pointer and a number."""
    return driver(tmp_path_factory.mktemp("driver")) | {"PTXAUDIT_FAKE_SIZES": "8,4"}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(CUDA_CORE)
    return path


@pytest.fixture(scope="module")
def through_cupti(gpu, tmp_path_factory):
    return gpu | {
        "PTXAUDIT_CUPTI": cupti(tmp_path_factory.mktemp("cupti")),
        "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")),
    }


def test_cuda_core_launches_are_recorded_and_audited(gpu, program, tmp_path):
    done = record(["--via", "frameworks", "--", sys.executable, program], gpu, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "recorded in ptxaudit-record: 4 distinct launches of 5, of 3 kernels" in done.stderr
    folder = tmp_path / "ptxaudit-record"
    assert launched(folder) == EXPECTED
    assert {path.suffix for path in (folder / "code").iterdir()} == {".cubin", ".ptx"}
    # k<4> with a block of 64: 32 lanes, 16 bytes apart, use 8 banks
    assert (
        "grid 4, block 64" in done.stdout
        and "lanes 0, 8, 16 and 24 conflict in one bank: stride 16 bytes" in done.stdout
    )
    assert "launched 2 times, as recorded" in done.stdout


def test_audit_options_apply_to_the_recording(gpu, program, tmp_path):
    given = ["--via", "frameworks", "--format", "json", "--report", "r.json", "--isa", "both", "--fail-on", "ways=8"]
    done = record([*given, "--", sys.executable, program], gpu, tmp_path)
    assert done.returncode == 1 and "denied by ways=8" in done.stderr and done.stdout == ""
    report = json.loads((tmp_path / "r.json").read_text())
    assert {kernel["isa"] for kernel in report["kernels"]} >= {"sass"}
    (tmp_path / "x.py").write_text(f"import runpy; runpy.run_path({str(program)!r}); raise SystemExit(5)")
    done = record([*given, "--", sys.executable, "x.py"], gpu, tmp_path)
    assert done.returncode == 5 and "denied by ways=8" in done.stderr  # the program's own status takes precedence


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fail-on", "wayz=3"], "wayz"),
        (["--no-audit", "--format", "json"], "--no-audit makes no report to which --format=json could apply"),
        (["--format", "yaml"], "'yaml' is not one of"),
    ],
)
def test_invalid_audit_option_is_reported_before_the_program_runs(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    assert message in here("record", *options, "--", "touch", "ran", status=2).stderr and not list(tmp_path.iterdir())


def test_driver_records_the_same_launches(through_cupti, program, tmp_path):
    done = record(["--no-audit", "--via", "driver", "-o", "r", "--", sys.executable, program], through_cupti, tmp_path)
    assert done.returncode == 0, done.stderr
    expected = {key for key in EXPECTED if key[1] != (1, 1, 1)}  # once loaded, PTX is machine code there
    assert {key for key in launched(tmp_path / "r") if key[1] != (1, 1, 1)} == expected
    assert done.stdout == ""


def test_c_program_is_recorded(through_cupti, tmp_path):
    """A C program that loads a kernel twice, launches it with parameters in both forms, and unloads it."""
    libcuda = f"-L{through_cupti['LD_LIBRARY_PATH']}"
    app = built(SOURCES / "program.c", tmp_path / "app", libcuda, "-l:libcuda.so.1")
    cubins = [TRITON_CACHE / name / f"{name}.cubin" for name in ("transpose", "both_ways")]
    environment = through_cupti | {"PTXAUDIT_FAKE_SIZES": "8,8,4,4,8,8"}
    done = record(["--arrays", "4096", "--via", "driver", "-o", "r", "--", app, *cubins], environment, tmp_path)
    assert done.returncode == 7, done.stderr  # the program's own status
    all_launches = launches(tmp_path / "r")
    assert [(one["kernel"], one["grid"], one["count"]) for one in all_launches] == [
        ("transpose", [4, 4, 1], 3),
        ("transpose", [1, 1, 1], 1),
        ("both_ways", [2, 1, 1], 1),
    ]
    for one in all_launches[:2]:
        assert len(one["memory"]) == 1 and one["memory"][0]["address"] == one["params"][0]
        assert one["params"][2:] == ["80000000", "0000003f", 0, 0]
    assert "params" not in all_launches[2] and "6 were seen, but it has 5" in done.stderr  # all have six here
    files = {one["memory"][0]["file"] for one in all_launches}
    assert len(files) == 2  # data written between the launches make another array
    import numpy as np

    first = np.load(tmp_path / "r" / all_launches[0]["memory"][0]["file"])
    assert first.view("<i4").tolist() == list(range(256))
    assert "transpose" in done.stdout and "both_ways" in done.stdout


def test_cupti_in_use_by_another_profiler_is_reported(through_cupti, program, tmp_path):
    busy = through_cupti | {"PTXAUDIT_FAKE_CUPTI_BUSY": "1"}
    done = record(["--via", "driver", "-o", "r", "--", sys.executable, program], busy, tmp_path)
    assert done.returncode == 2 and "nothing was recorded" in done.stderr
    assert "CUPTI does not let this program be recorded: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS" in done.stderr


def test_launches_beyond_the_limit_are_summarised(gpu, tmp_path):
    (tmp_path / "p.py").write_text(
        CUDA_CORE.split("for grid in")[0] + "for n in range(20): launch(stream, "
        "LaunchConfig(grid=1, block=32), made.get_kernel('k<4>'), 0, np.int32(n))\n"
    )
    done = record(["--no-audit", "--launches", "3", "--via", "frameworks", "--", sys.executable, "p.py"], gpu, tmp_path)
    assert (
        "3 distinct launches of 20, of 1 kernel" in done.stderr and "17 launches with other parameters" in done.stderr
    )


def test_arrays_of_a_launch_are_captured(gpu, tmp_path):
    (tmp_path / "p.py").write_text(
        "import ctypes\ncuda = ctypes.CDLL('libcuda.so.1'); cuda.cuInit(0); p = ctypes.c_uint64()\n"
        "cuda.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(64)); ctypes.memmove(p.value, bytes(range(64)), 64)\n"
        + CUDA_CORE.split("for grid in")[0]
        + "for n in (0, 8): launch(stream, LaunchConfig(grid=1, block=32), made.get_kernel('k<4>'), p.value + n, np.int32(1))\n"
    )
    import numpy as np

    kept: list[list[int]]  # a larger allocation is kept from the pointer on
    for most, kept in (
        (0, []),
        (40, [[*range(40)], [*range(8, 48)]]),
        (60, [[*range(60)], [*range(8, 64)]]),
        (64, [[*range(64)]] * 2),
    ):
        done = record(
            ["--no-audit", "--arrays", most, "--via", "frameworks", "--", sys.executable, "p.py"], gpu, tmp_path
        )
        assert done.returncode == 0, done.stderr
        memory = [one["memory"] for one in launches(tmp_path / "ptxaudit-record") if "memory" in one]
        files = [np.load(tmp_path / "ptxaudit-record" / one["file"]) for (one,) in memory]
        assert [file.tolist() for file in files] == kept
    captured = gpu | {"PTXAUDIT_FAKE_CAPTURE": "1"}
    done = record(
        ["--no-audit", "--arrays", 64, "--via", "frameworks", "--", sys.executable, "p.py"], captured, tmp_path
    )
    assert "captured into a graph" in done.stderr and "memory" not in launches(tmp_path / "ptxaudit-record")[0]


# --- watch -------------------------------------------------------------------------------------------


def test_watch_records_existing_objects_and_restores_patches(gpu, tmp_path):
    program = (
        CUDA_CORE.split("for grid in")[0]
        + """
import ptxaudit
from ptxaudit.base.errors import InputError
config, early, own = LaunchConfig(grid=4, block=64), made.get_kernel("k<4>"), (launch, type(made).get_kernel)
launch(stream, config, early, 0, np.int32(1))
with ptxaudit.watch() as w:
    kernel = made.get_kernel("k<8>")
    for _ in range(3): launch(stream, config, kernel, 0, np.int32(2))
    try:
        w.launches
    except InputError as error:
        print("open:", error.what)
    launch(stream, config, early, 0, np.int32(3))
assert (launch, type(made).get_kernel) == own
launch(stream, config, kernel, 0, np.int32(4))
(only,) = w.launches
print(only.kernel, only.grid, only.count, only.params[1])
print(w.recording.launches, *w.notes)
print([(str(site.status), site.wavefronts) for site in w.audit().sites][:1])
with ptxaudit.watch("kept") as outer:
    with ptxaudit.watch() as inner:
        launch(stream, config, kernel, 0, np.int32(5))
    launch(stream, config, kernel, 0, np.int32(6))
print(len(inner.launches), len(outer.launches))
with ptxaudit.watch() as nothing: pass
print(nothing.launches, nothing.recording.empty)
"""
    )
    (tmp_path / "p.py").write_text(program)
    done = subprocess.run([sys.executable, "p.py"], env=gpu, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "open: this recording has not finished"
    assert lines[1] == "_Z1kILi8EEvPii (4, 1, 1) 3 2"
    assert lines[2].startswith("1 a kernel was launched through cuda.core whose code was not seen")
    # two warps per block, four blocks; 32 lanes, 32 bytes apart, are 8 per bank
    assert lines[3] == "[('exact', 64)]" and lines[4] == "1 2" and lines[5] == "() True"
    assert len(launches(tmp_path / "kept")) == 2


@pytest.mark.parametrize("wrong", [{"arrays": -1}, {"arrays": "4"}, {"launches": 0}, {"launches": True}])
def test_invalid_watch_options_are_rejected(wrong):
    import ptxaudit

    with pytest.raises(InputError, match=next(iter(wrong))):
        ptxaudit.watch(**wrong)


# --- the program itself ------------------------------------------------------------------------------

QUIET = ["--no-audit", "--via", "frameworks"]


def plain(arguments, cwd, **more):
    return record([*QUIET, *arguments], os.environ | {"PYTHONPATH": str(ROOT)}, cwd, **more)


def test_program_keeps_its_input_output_and_status(tmp_path):
    script = "import sys; print(sys.stdin.read(), end=''); print('two', file=sys.stderr); sys.exit(3)"
    done = plain(["--", sys.executable, "-c", script], tmp_path, input="one")
    assert (done.returncode, done.stdout) == (3, "one") and done.stderr.startswith("two\n")
    assert "nothing was recorded: the program ended with status 3" in done.stderr


def test_program_without_launches_is_reported(tmp_path):
    done = plain(["--", "true"], tmp_path)
    assert (
        done.returncode == 2 and "nothing was recorded: no kernel that the program compiled or launched" in done.stderr
    )


def test_killed_program_returns_its_signal_status(tmp_path):
    done = plain(["--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], tmp_path)
    assert done.returncode == 128 + 9


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP])
def test_signals_are_forwarded_to_the_program(tmp_path, number):
    script = (
        "import signal, sys, time; number = int(sys.argv[1])\n"
        "signal.signal(number, lambda *a: sys.exit(40))\n"
        "print('ready', flush=True); time.sleep(60)\n"
    )
    command = [sys.executable, "-m", "ptxaudit", "record", *QUIET, "--", sys.executable, "-c", script, str(int(number))]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 40


def test_terminated_program_returns_the_shells_status(tmp_path):
    command = [sys.executable, "-m", "ptxaudit", "record", *QUIET, "--", "sleep", "60"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("ptxaudit-record/.events-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.terminate()
    assert process.wait(60) == 128 + signal.SIGTERM


def test_program_ends_on_a_broken_pipe(tmp_path):
    done = plain(["--", "sh", "-c", "yes | head -n 1"], tmp_path)
    assert done.stdout == "y\n" and "Broken pipe" not in done.stderr


def test_other_sitecustomize_is_still_run(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import sys; sys.customized = 5\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(ROOT)])}
    script = "import sys, sitecustomize; print(sys.customized, sitecustomize.__file__, 'ptxaudit' in sys.modules)"
    done = record([*QUIET, "--", sys.executable, "-c", script], environment, tmp_path)
    assert done.stdout.split() == ["5", str(tmp_path / "site" / "sitecustomize.py"), "True"]


def test_recording_adds_no_packages_to_another_environment(tmp_path):
    """No package of this package's environment becomes importable there."""
    script = (
        "import sys, ptxaudit.ui.recording.inside; print(len([m for m in sys.modules if 'msgspec' in m]),"
        " len(sys.path))"
    )
    environment = recorded({"PATH": os.environ["PATH"]}, str(tmp_path), None, "auto", 0, 32)
    python = [sys.executable, "-S"]  # no site-packages; sitecustomize is imported by hand, as `site` would do
    start = f"import sys; before = len(sys.path); sys.path.insert(0, {str(PATH)!r}); import sitecustomize; {script}"
    done = subprocess.run([*python, "-c", start], env=environment, capture_output=True, text=True)
    assert done.stdout.split()[0] == "0", done.stderr
    assert not any("site-packages" in line for line in done.stdout.splitlines())


def test_fault_at_startup_does_not_end_the_program(tmp_path):
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(PATH),
        "PTXAUDIT_RECORD": str(tmp_path),
        "PTXAUDIT_RECORD_ARRAYS": "many",
    }
    done = subprocess.run([sys.executable, "-c", "print('runs')"], env=environment, capture_output=True, text=True)
    assert done.stdout == "runs\n" and "this program is not recorded: ValueError" in done.stderr


def test_startup_imports_few_modules():
    script = "import sys; print(len([m for m in sys.modules if m.startswith('ptxaudit')]), 'ctypes' in sys.modules)"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PATH), "PTXAUDIT_RECORD": "/nonexistent"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    modules, ctypes = done.stdout.split()
    assert int(modules) < 20 and not any(name in done.stdout for name in ("adapters.triton", "adapters.cupy"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing the program to run"),
        (["--", "there-is-no-such-program"], "there is no program 'there-is-no-such-program'"),
        (["--", "./data.txt"], "./data.txt is no program"),
        (["-o", "data.txt", "--", "true"], "cannot be written there"),
        (["-o", ".", "--", "true"], "this folder contains something else"),
        (["--arrays", "-1", "--", "true"], "-1"),
        (["--launches", "0", "--", "true"], "0"),
    ],
)
def test_unrecordable_command_is_rejected(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.txt").write_text("1")
    assert message in here("record", *QUIET, *arguments, status=2).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["data.txt"]


def test_file_that_cannot_be_executed_is_reported(tmp_path):
    (tmp_path / "broken").write_bytes(b"\x7fELF")
    (tmp_path / "broken").chmod(0o755)
    with pytest.raises(InputError, match="cannot be started"):
        run([str(tmp_path / "broken")], str(tmp_path), "frameworks")


# --- the library that is built -----------------------------------------------------------------------


@pytest.fixture
def built_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if not any(Path(include, "cupti.h").is_file() for include in injection_headers()):
        pytest.skip("NOT RUN: there are no headers of CUPTI (nvidia-cuda-cupti)")
    monkeypatch.setenv("PTXAUDIT_CUPTI", "libcupti.so")


def injection_headers():
    from recorded import headers

    return headers()


@pytest.mark.usefixtures("built_anew")
def test_injection_library_is_built_once(monkeypatch):
    if not (shutil.which("cc") or shutil.which("gcc")):
        pytest.skip("NOT RUN: there is no C compiler")
    first = injection.built()
    assert Path(first.path).is_file() and Path(first.path).stat().st_mode & 0o022 == 0
    monkeypatch.setattr(injection, "_build", lambda *given: pytest.fail("built again"))
    assert injection.built() == first


@pytest.mark.usefixtures("built_anew")
def test_missing_c_compiler_is_reported(monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(InputError, match="no C compiler was found to build the library") as caught:
        injection.built()
    assert "install gcc or clang" in caught.value.hint and "--via frameworks" in caught.value.hint


@pytest.mark.parametrize(
    ("compiler", "message"), [("/nonexistent/cc", "cannot be run"), ("false", "does not build the library")]
)
@pytest.mark.usefixtures("built_anew")
def test_failing_c_compiler_is_reported(monkeypatch, compiler, message):
    monkeypatch.setenv("CC", shutil.which(compiler) or compiler)
    with pytest.raises(InputError, match=message):
        injection.built()


def test_missing_cupti_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(injection, "roots", lambda: iter(()))
    monkeypatch.delenv("PTXAUDIT_CUPTI", raising=False)
    with pytest.raises(InputError, match=r"cupti.h and libcupti.so and cuda.h not found") as caught:
        injection.built()
    assert "nvidia-cuda-cupti" in caught.value.hint


def test_injection_library_of_another_tool_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_INJECTION64_PATH", "/opt/nsight/lib.so")
    with pytest.raises(InputError, match="CUDA_INJECTION64_PATH is set already"):
        run(["true"], str(tmp_path), "driver")
    ended = run(["true"], str(tmp_path), "auto")
    assert ended.status == 0 and "is set already" in ended.notes[0]


def test_each_process_records_by_driver_or_by_frameworks(tmp_path):
    library = injection.Library("/lib/record.so", "/lib/cupti.so")
    auto = recorded({}, "raw", library, "auto", 0, 32)
    assert auto["CUDA_INJECTION64_PATH"] == auto["PTXAUDIT_RECORD_DRIVER"] == "/lib/record.so"
    script = "import os; print(os.environ.get('CUDA_INJECTION64_PATH'))"
    more = {"PATH": os.environ["PATH"], "PTXAUDIT_RECORD": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=auto | more, capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"
    only = recorded({}, "raw", library, "driver", 0, 32)
    assert "PYTHONPATH" not in only and "PTXAUDIT_RECORD_DRIVER" not in only
    assert "CUDA_INJECTION64_PATH" not in recorded({}, "raw", None, "frameworks", 0, 32)


def test_launches_invisible_to_python_are_left_to_the_driver(tmp_path):
    (tmp_path / "jax.py").write_text("__version__ = '0.5'\n")
    library = tmp_path / "record.so"
    library.write_text("")
    environment = recorded(
        {"PATH": os.environ["PATH"]}, str(tmp_path), injection.Library(str(library), ""), "auto", 0, 32
    )
    script = (
        "import os; print(os.environ.get('CUDA_INJECTION64_PATH')); import jax;"
        " print(os.environ.get('CUDA_INJECTION64_PATH'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["None", str(library)]
    assert any("inside of XLA" in file.read_text() for file in tmp_path.glob("events-*.jsonl"))
